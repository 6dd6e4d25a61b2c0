"""What is made from the code is in the repository as the code has it; one command makes it anew."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from visa_lsp.generate import files
from visa_lsp.generate.__main__ import COMMAND, main

ROOT = Path(__file__).parents[1]
RULES = "docs/rules"


def test_nothing_is_stale():
    assert not list(files.stale()), f"stale: run {COMMAND}"


def test_pages_grammars_and_snippets_are_made_or_known_to_be_written_by_hand():
    by_hand = {
        f"vscode-extension/syntaxes/{name}.tmLanguage.json"
        for name in ("ze_info", "launch", "embedded", "visacode", "opencl")
    }
    made = set(files.generate_files())
    there = {
        path.relative_to(ROOT).as_posix()
        for folder, pattern in (
            (RULES, "*.md"),
            ("vscode-extension/syntaxes", "*.json"),
            ("vscode-extension/snippets", "*"),
            ("vscode-extension/schemas", "*"),
        )
        for path in (ROOT / folder).glob(pattern)
    }
    assert there - by_hand <= made
    assert {"docs/instructions.md", "docs/check.md", "vscode-extension/package.json"} <= made


def test_a_check_names_what_is_stale_and_a_run_mends_it(tmp_path, capsys):
    clone = tmp_path
    for name, text in files.generate_files().items():
        assert text is not None
        files.write(clone / name, text)
    package = clone / "vscode-extension" / "package.json"
    value = json.loads(package.read_text(encoding="utf-8"))
    value["contributes"]["configuration"]["properties"]["visa.platform"]["enum"].append("NEW")
    package.write_text(json.dumps(value, indent=2), encoding="utf-8")
    page = clone / "docs" / "check.md"
    page.write_text(page.read_text(encoding="utf-8").replace("a code quality report", "?"), encoding="utf-8")
    left = clone / RULES / "no-such-rule.md"
    left.write_text("# gone\n", encoding="utf-8")
    (clone / "docs" / "instructions.md").unlink()
    names = ["docs/check.md", "docs/instructions.md", f"{RULES}/{left.name}", "vscode-extension/package.json"]

    assert main(["--check"], clone) == 1
    assert left.exists()
    assert sorted(capsys.readouterr().out.splitlines()) == [f"{name}: stale; `{COMMAND}` mends it" for name in names]

    before = (clone / RULES / "README.md").stat().st_mtime_ns
    assert main([], clone) == 0
    said = sorted(capsys.readouterr().out.splitlines())
    assert said == [f"{name}: {'removed' if 'no-such' in name else 'written'}" for name in names]
    assert not left.exists()
    assert (clone / RULES / "README.md").stat().st_mtime_ns == before
    assert not list(clone.rglob(".generate-*"))

    assert main(["--check"], clone) == 0
    assert capsys.readouterr().out == "nothing is stale\n"


def test_no_other_room_needs_what_makes_files():
    package = ROOT / "visa_lsp"
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.is_relative_to(package / "generate") or "generate" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom | ast.Import):
                assert "visa_lsp.generate" not in ast.unparse(node), path
