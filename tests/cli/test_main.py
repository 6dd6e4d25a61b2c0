"""The program itself: which command is meant, and what a user's mistake or our own looks like."""

from types import SimpleNamespace
from typing import Annotated

import pytest
from msgspec import field

from visa_lsp import __version__
from visa_lsp.cli import main as module
from visa_lsp.cli import options as opt
from visa_lsp.cli.main import main


@pytest.fixture
def called(monkeypatch):
    """Every command replaced by one that notes its arguments."""
    calls = []

    class Arguments(opt.CommandArguments, kw_only=True):
        paths: Annotated[list[str], opt.arg("PATH", "", "*")] = field(default_factory=list)
        flag: Annotated[bool, opt.flag("")] = False
        platform: opt.PlatformName = None

    def fake(name):
        return SimpleNamespace(Arguments=Arguments, execute=lambda args: calls.append((name or "serve", args)) or 0)

    monkeypatch.setattr(module.PROGRAM, "module_of", fake)
    return calls


@pytest.mark.parametrize(
    ("argv", "command", "paths", "platform"),
    [
        (["check", "a"], "check", ["a"], None),
        (["--check", "a", "b"], "check", ["a", "b"], None),
        (["--platform", "DG2", "--check", "a"], "check", ["a"], "DG2"),
        (["--platform=DG2", "asm", "a"], "asm", ["a"], "DG2"),
        (["--flag", "--check", "a"], "check", ["a"], None),
        (["dis", "--", "--check"], "dis", ["--check"], None),
        (["run", "asm"], "run", ["asm"], None),
        (["explain", "%sr0"], "explain", ["%sr0"], None),
        ([], "serve", [], None),
        (["--platform", "dg1"], "serve", [], "TGLLP"),
    ],
)
def test_command_is_found(called, argv, command, paths, platform):
    assert main(argv) == 0
    [(name, args)] = called
    assert (command, paths, platform) == (name, args.paths, args.platform)


@pytest.mark.parametrize("command", module.COMMANDS)
def test_every_command_has_options_and_a_function(command):
    own = module.PROGRAM.module_of(command)
    assert hasattr(own, "Arguments") or own.ACTIONS
    assert callable(own.execute)


def test_argument_files(called, here):
    (here / "args").write_text("# comment\n--flag\n\n  a file.visaasm\n@more\n")
    (here / "more").write_text("b\n")
    assert main(["check", "@args", "c"]) == 0
    assert called[0][1].paths == ["a file.visaasm", "b", "c"]
    assert called[0][1].flag


def test_help_keeps_the_names_of_commands_apart_from_what_they_do(printed):
    lines = printed("--help").splitlines()
    for name, what in module.COMMANDS.items():
        assert any(line.split(None, 1) == [name, what] for line in lines), name


@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["check", "--help"]])
def test_version_and_help(capsys, argv):
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == f"visa-lsp {__version__}\n" if argv == ["--version"] else "visa-lsp" in out


def failing(monkeypatch, error):
    def execute(args):
        raise error

    monkeypatch.setattr("visa_lsp.cli.check.execute", execute)


@pytest.mark.parametrize(
    ("error", "status", "lines"),
    [
        (KeyboardInterrupt(), 130, 0),
        (ValueError("our\nmistake"), 70, 1),
        (RecursionError("deep"), 70, 1),
        (MemoryError("1.00 GiB"), 2, 1),
        (SystemExit("words"), 2, 1),
        (SystemExit(3), 3, 0),
    ],
)
def test_no_traceback_gets_out(monkeypatch, capsys, error, status, lines):
    monkeypatch.delenv("VISA_LSP_DEBUG", raising=False)
    failing(monkeypatch, error)
    assert status == main(["check"])
    assert lines == len(capsys.readouterr().err.splitlines())


def test_debug_shows_where(monkeypatch):
    monkeypatch.setenv("VISA_LSP_DEBUG", "1")
    failing(monkeypatch, ValueError("ours"))
    with pytest.raises(ValueError, match="ours"):
        main(["check"])
