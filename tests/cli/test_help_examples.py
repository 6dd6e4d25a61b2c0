"""The lines that the help of each command ends with: they are typed here as they stand, in a copy of the examples."""

import shlex
import shutil
from pathlib import Path

import pytest
from tiers import first

from visa_lsp.cli.help_examples import EXAMPLES, HEADING
from visa_lsp.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[2]
TALKS = {"visa-lsp dap", "visa-lsp mcp", "visa-lsp exec"}  # with an editor, an agent, another program
WRONG = [
    "visa-lsp diff saxpy.visaasm average.visaasm --format json",  # what a difference looks like
]


@pytest.mark.parametrize("program", EXAMPLES)
def test_help_ends_with_three_examples(program, capsys):
    assert main([*program.split()[1:], "--help"]) == 0
    shown = capsys.readouterr().out.partition(HEADING)[2].splitlines()
    assert [line.strip() for line in shown[1:]] == [word for example in EXAMPLES[program] for word in example]
    assert len(EXAMPLES[program]) == 3


def test_every_command_that_there_is_has_examples():
    assert {f"visa-lsp {name}".strip() for name in ("", *COMMANDS)} - TALKS <= set(EXAMPLES)


@pytest.mark.parametrize("count", first(1, [1, 3]))
def test_every_example_works_where_it_says(here, capsys, count):
    shutil.copytree(ROOT / "examples", here, dirs_exist_ok=True)
    statuses = {}
    needed = {"gen": "GenX_IR", "compile": "ocloc", "import": "ocloc"}
    for line, _ in dict.fromkeys(example for examples in EXAMPLES.values() for example in examples[:count]):
        word, *argv = shlex.split(line)
        assert word == "visa-lsp"
        if argv[0] == "exec":  # its programs are the user's
            continue
        statuses[line] = main(argv)
        out, err = capsys.readouterr()
        tool = needed.get(argv[0])
        if tool is not None and shutil.which(tool) is None:
            assert (statuses.pop(line), f"{tool} is not installed" in err) == (2, True), line
            continue
        if argv[0] == "verify" and "libigc2-tools" in err:  # no iga64 of 2024 or later
            assert statuses.pop(line) == 2
            continue
        assert "internal error" not in err, line
        assert out or argv[0] in ("asm", "check", "zeinfo", "dis", "diff"), line
    wrong = {line for line, status in statuses.items() if status}
    assert wrong == set(WRONG) & statuses.keys()
    assert {statuses[line] for line in wrong} <= {1}
    written = {"saxpy.isa", "mandelbrot.isa", "mandelbrot.zebin", "mandelbrot", "saxpy.zeinfo.yaml"}
    assert count == 1 or written <= {path.name for path in here.iterdir()}
