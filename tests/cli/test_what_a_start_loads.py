"""What a start loads."""

from __future__ import annotations

import json
import subprocess
import sys

from visa_lsp.cli.main import COMMANDS

# What takes long to load, and what a command does not need before it runs a kernel or answers an editor or an agent.
SLOW = {
    "numpy", "llvmlite", "pyarrow", "distributed", "z3", "ruamel", "tree_sitter", "pygls", "lsprotocol", "mcp", "jsonschema",
    "visa_lsp.lsp", "visa_lsp.dap", "visa_lsp.mcp", "visa_lsp.cluster", "visa_lsp.sim.jit",
}  # fmt: skip
START = {"logging", "importlib.metadata", *SLOW}
LINES = (
    "check k.visaasm --format sarif",
    "check k.visaasm bad.visaasm --format full --diff --statistics",
    "asm k.visaasm",
    "dis k.isa",
    "stats k.visaasm k.isa --format csv",
    "stats k.visaasm --max-pressure 1",
    "diff k.visaasm k.isa",
    "diff k.visaasm k.isa --format html",
    "explain mad V101 TGLLP",
    "compile k.cl --ocloc none",
    # `read` and `zeinfo` do nothing without NumPy and YAML.
    *(f"{command} --help" for command in COMMANDS if command not in ("read", "zeinfo")),
)


def first_loaded(folder, lines, slow) -> dict[str, list[str]]:
    """Return of lines that are typed in one process those that load modules that take long, with these modules."""
    code = (
        "import json, sys; from visa_lsp.cli.main import main\n"
        "lines, slow = map(json.loads, sys.argv[1:])\n"
        "found, seen = {}, set()\n"
        "for line in lines:\n"
        "    main(line.split())\n"
        "    new = {*slow} & {*sys.modules} - seen\n"
        "    seen |= new\n"
        "    found |= {line: sorted(new)} if new else {}\n"
        "print(chr(10) + json.dumps(found))"
    )
    command = [sys.executable, "-c", code, json.dumps(lines), json.dumps(sorted(slow))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, input="", cwd=folder)
    return json.loads(done.stdout.splitlines()[-1])


def test_a_start_loads_only_what_it_needs(tmp_path):
    (tmp_path / "k.visaasm").write_text('.version 4.1\n.kernel "k"\n    ret (M1, 1)\n', encoding="utf-8")
    (tmp_path / "bad.visaasm").write_text('.version 4.1\n.kernel "k"\n    RET (M1, 1)\n', encoding="utf-8")
    assert first_loaded(tmp_path, ["--version", "--check k.visaasm", "asm k.visaasm"], START) == {}
    assert first_loaded(tmp_path, LINES, SLOW) == {}
