"""What a start without options loads, and that it is read as the parser reads it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from visa_lsp import __version__
from visa_lsp.cli import asm, check, serve
from visa_lsp.cli.main import COMMANDS
from visa_lsp.cli.parsing import parser_of, parser_of_program
from visa_lsp.cli.plain import Plain


def plain(module, words):
    parser = Plain()
    module.add_arguments(parser)
    found = parser.parse_args(words)
    return None if found is None else vars(found)


def parsed(command, module, words):
    parser = parser_of(command, COMMANDS[command])
    module.add_arguments(parser)
    return vars(parser.parse_args(words))


@pytest.mark.parametrize("words", [[], ["a"], ["-"], ["a b", "", "-", "ü"], ["check", "a=b", "@"], ["a", "--output", "-"], ["--baseline", "f", "a", "b"]])  # fmt: skip
def test_a_plain_check_is_what_the_parser_reads(words):
    assert plain(check, words) == parsed("check", check, words)


@pytest.mark.parametrize("words", [["a"], ["a", "b"], ["a", "-o", "b"], ["-o", "", "a"], ["--output", "b", "--stdin-filename", "c", "-"], ["-o", "a", "-o", "b", "c"]])  # fmt: skip
def test_a_plain_assembly_is_what_the_parser_reads(words):
    assert plain(asm, words) == parsed("asm", asm, words)


def test_a_plain_start_of_the_server_is_what_the_parser_reads():
    parser = parser_of_program(COMMANDS, serve.add_arguments)
    read = vars(parser.parse_args([]))
    assert {**plain(serve, []), "platform": None} == read
    # As the main module starts it: the option says what is so without it.
    assert {**read, "stdio": True} == vars(parser.parse_args(["--stdio"]))


@pytest.mark.parametrize("words", [["--fix"], ["a", "-x"], ["--", "a"], ["a", "--"], ["--format", "json"]])
def test_other_checks_are_for_the_parser(words):
    assert plain(check, words) is None


OTHERS = (
    [], ["a", "-o"], ["-o", "-x", "a"], ["a", "-o", "b", "c"], ["a", "-ob"], ["a", "--output=b"], ["--zebin", "a"],
    ["--platform", "TGLLP", "a"], ["-h"], ["-o", "b"], ["--outpu", "b", "a"],
)  # fmt: skip


@pytest.mark.parametrize("words", OTHERS, ids=" ".join)
def test_other_assemblies_are_for_the_parser(words):
    assert plain(asm, words) is None


def loaded(*argv: str) -> set[str]:
    """The modules that a line loads, of those that take long."""
    code = (
        "import sys; from visa_lsp.cli.main import main; status = main(sys.argv[1:])\n"
        "slow = {'argparse', 'msgspec', 'pathlib', 'logging', 'lsprotocol', 'pygls', 'numpy', 'importlib.metadata'}\n"
        "print('\\n' + ' '.join(['loaded', *slow & set(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *argv], capture_output=True, text=True, timeout=60, check=True, input=""
    )
    return set(done.stdout.rpartition("loaded")[2].split())


def test_a_start_loads_only_what_it_needs(tmp_path):
    text = tmp_path / "k.visaasm"
    text.write_text('.version 4.1\n.kernel "k"\n    ret (M1, 1)\n', encoding="utf-8")
    assert loaded("--version") == set()
    assert loaded("--check", str(text)) == {"msgspec", "pathlib"}
    assert loaded("asm", str(text), "-o", str(tmp_path / "k.isa")) == {"msgspec", "pathlib"}


def test_the_version_is_the_same_either_way(capsys):
    parser = parser_of_program(COMMANDS, serve.add_arguments)
    with pytest.raises(SystemExit):
        parser.parse_args(["--version"])
    assert capsys.readouterr().out == f"visa-lsp {__version__}\n"
