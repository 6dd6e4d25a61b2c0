"""What a shell and a terminal get: colours, completions, the manual page, help."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from visa_lsp.app.visible_text import visible
from visa_lsp.cli.colours import ink_of
from visa_lsp.cli.main import COMMANDS, main

EXAMPLES = Path(__file__).parents[2] / "examples"
SGR = re.compile(r"\033\[[0-9;]*m")


@pytest.mark.parametrize(
    ("line", "coloured"),
    [
        ("run average.visaasm", "expected fault:"),
        ("why saxpy.visaasm --value y[37]", "#1"),
        ("read saxpy.visaasm", "if"),
        ("stats saxpy.visaasm", "needs up to 7 GRF rows"),
    ],
)
def test_reports_have_colours_on_demand_and_say_the_same(line, coloured, capsys, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("NO_COLOR", "1")
    main(line.split())
    plain = capsys.readouterr().out
    main([*line.split(), "--color", "always"])
    painted = capsys.readouterr().out
    assert SGR.sub("", painted) == plain
    assert re.search(rf"\033\[[0-9;]+m *{re.escape(coloured)}", painted)


def test_answers_of_proofs_have_colours(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = "k.visaasm:3: race refuted: two groups write y[0]\nk.visaasm: k: bounds: 2 proved, 1 unknown\n"
    assert ink_of("prove", "auto")(text) == text
    painted = visible(ink_of("prove", "always")(text))
    assert re.findall(r"\033\[1;3\dm(.*?)\033\[0m", painted) == ["refuted", "2 proved", "1 unknown"]


def test_files_get_no_colours(tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    assert main(["read", "saxpy.visaasm", "--color", "always", "-o", str(tmp_path / "k.txt")]) == 0
    assert "\033" not in (tmp_path / "k.txt").read_text()


def test_completions_exist_for_each_shell(capsys):
    for shell in ("bash", "zsh", "fish"):
        assert main(["completions", shell]) == 0
        script = capsys.readouterr().out
        assert all(name in script for name in COMMANDS)
        assert "--max-errors" in script or "-l max-errors" in script
        assert "TGLLP" in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_options_and_files(capsys, tmp_path):
    main(["completions", "bash"])
    tries = [["ru"], ["run", "saxpy.l"], ["run", "--engine", "j"], ["check", "--platform", "DG"], ["help", "exp"]]
    (tmp_path / "c.bash").write_text(capsys.readouterr().out)
    lines = ["source c.bash", "cd " + str(EXAMPLES)]
    for words in tries:
        lines += [
            f"COMP_WORDS=(visa-lsp {' '.join(words)}); COMP_CWORD={len(words)}; COMPREPLY=()",
            f"_shtab_visa_lsp visa-lsp {words[-1]} {words[-2] if len(words) > 1 else 'visa-lsp'}",
            'echo "${COMPREPLY[*]}"',
        ]
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.split("\n")[:5] == ["run", "saxpy.launch.yaml", "jit", "DG2", "explain"]


def test_the_manual_page_has_every_command_and_option(capsys):
    assert main(["help", "--man"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(".TH VISA-LSP 1")
    assert re.findall(r"^\.SS visa\\-lsp (\S+)$", page, re.MULTILINE) == [name.replace("-", "\\-") for name in COMMANDS]
    assert "\\fB\\-\\-max\\-errors\\fR \\fIN\\fR" in page
    requests = {line.split()[0] for line in page.splitlines() if line.startswith(("'", "."))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".B", ".br"}


def test_help_describes_a_command(capsys):
    main(["help", "zeinfo", "emit"])
    assert capsys.readouterr().out.startswith("usage: visa-lsp zeinfo emit")
    assert main(["help", "rnu"]) == 2
    assert capsys.readouterr().err == "visa-lsp: help: unknown command 'rnu'; did you mean 'run'?\n"


@pytest.mark.parametrize(
    ("line", "other"), [("run --device DG2 x", "--platform"), ("compile --platform DG2 x", "--device")]
)
def test_the_option_of_the_target_is_named(line, other, capsys):
    assert main(line.split()) == 2
    assert f"; the target is chosen by {other} (" in capsys.readouterr().err
