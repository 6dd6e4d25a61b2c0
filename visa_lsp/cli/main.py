"""The command ``visa-lsp``: selects the subcommand and reports its errors.

A command is a module with the class of its options, ``Arguments``, and the function ``execute``. It is imported when the
command is called, so that no command pays for the imports of another.
Invariant: ``main`` returns an exit status and raises nothing, unless VISA_LSP_DEBUG is set.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final, NoReturn

from visa_lsp import __version__
from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_BROKEN_PIPE, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE
from visa_lsp.cli.exits import complain, print_error
from visa_lsp.cli.interrupts import end_at_interrupts, hear_interrupts
from visa_lsp.cli.parsing import COMMANDS, Program
from visa_lsp.cli.streams import OutputFull, OutputGone, escape_streams, give_up_output

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM: Final = Program(
    {
        "": lambda: import_module("visa_lsp.cli.serve"),
        "check": lambda: import_module("visa_lsp.cli.check"),
        "asm": lambda: import_module("visa_lsp.cli.asm"),
        "dis": lambda: import_module("visa_lsp.cli.dis"),
        "diff": lambda: import_module("visa_lsp.cli.diff"),
        "run": lambda: import_module("visa_lsp.cli.run"),
        "exec": lambda: import_module("visa_lsp.cli.exec"),
        "compare-runs": lambda: import_module("visa_lsp.cli.compare_runs"),
        "why": lambda: import_module("visa_lsp.cli.why"),
        "gen": lambda: import_module("visa_lsp.cli.gen"),
        "verify": lambda: import_module("visa_lsp.cli.verify"),
        "compile": lambda: import_module("visa_lsp.cli.compile"),
        "import": lambda: import_module("visa_lsp.cli.import_capture"),
        "zeinfo": lambda: import_module("visa_lsp.cli.zeinfo"),
        "stats": lambda: import_module("visa_lsp.cli.stats"),
        "read": lambda: import_module("visa_lsp.cli.read"),
        "prove": lambda: import_module("visa_lsp.cli.prove"),
        "explain": lambda: import_module("visa_lsp.cli.explain"),
        "dap": lambda: import_module("visa_lsp.cli.dap"),
        "mcp": lambda: import_module("visa_lsp.cli.mcp"),
        "completions": lambda: import_module("visa_lsp.cli.completions"),
        "help": lambda: import_module("visa_lsp.cli.help"),
    }
)
_ABOUT_PROGRAM: Final = ("completions", "help")
_MAX_ARGFILE_DEPTH: Final = 8


def program() -> NoReturn:
    """Run ``main`` and end the process with its exit status."""
    end_at_interrupts()
    status = main()
    end_at_interrupts()
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``visa-lsp`` with these arguments (the process's own by default) and return its exit status."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    with escape_streams():
        return _status_of(list(sys.argv[1:] if argv is None else argv))


def _status_of(argv: list[str]) -> int:
    """Execute a command line, report a failure of its output, and return the exit status."""
    try:
        status = _outcome_of(argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except (OutputGone, BrokenPipeError):
        give_up_output()
        return EXIT_BROKEN_PIPE
    except OutputFull as full:
        give_up_output()
        complain(f"cannot write to standard output: {full}")
        return EXIT_USAGE
    return status


def _outcome_of(argv: list[str]) -> int:
    """Execute a command line, report its errors, and return the exit status."""
    words = argv
    try:
        words = _with_argfiles(argv)
        return _dispatch(words)
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            return _report_failure(leaving.code, EXIT_USAGE, words)
        return leaving.code or 0
    except UserError as error:
        return _report_failure(str(error), EXIT_USAGE, words)
    except MemoryError as error:
        return _report_failure(f"not enough memory: {error}".removesuffix(": "), EXIT_USAGE, words)
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("VISA_LSP_DEBUG"):
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return _report_failure(f"internal error: {text} (set VISA_LSP_DEBUG=1 for a traceback)", EXIT_INTERNAL, words)


def _report_failure(message: str, status: int, words: Sequence[str]) -> int:
    """Report the error that ends a command and return its exit status."""
    complain(message)
    print_error(message, status, words)
    return status


def _open_streams() -> None:
    """Replace closed standard streams by the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - open until the process ends


def _dispatch(argv: list[str]) -> int:
    if argv == ["--version"]:
        print(f"visa-lsp {__version__}")
        return EXIT_OK
    command, rest = _command(argv)
    if command is None:
        return _serve(rest)
    args = PROGRAM.parser_of(command).parse_arguments(rest)
    hear_interrupts()
    about = (PROGRAM,) if command in _ABOUT_PROGRAM else ()
    return int(PROGRAM.module_of(command).execute(args, *about))


def _command(argv: list[str]) -> tuple[str | None, list[str]]:
    """Return the command and its arguments; ``--platform`` may precede the command, and ``--check`` follow options."""
    leading = 0
    while leading < len(argv) and argv[leading].partition("=")[0] == "--platform":
        leading += 1 if "=" in argv[leading] else 2
    word = argv[leading] if leading < len(argv) else ""
    if word in COMMANDS:
        return word, argv[:leading] + argv[leading + 1 :]
    end = argv.index("--") if "--" in argv else len(argv)
    if "--check" in argv[:end]:
        index = argv.index("--check")
        return "check", argv[:index] + argv[index + 1 :]
    return None, argv


def _with_argfiles(argv: list[str], depth: int = 0) -> list[str]:
    """Return the arguments with each ``@FILE`` replaced by the lines of that file; ``./@name`` is a file of that name."""
    out: list[str] = []
    for index, word in enumerate(argv):
        if word == "--":
            return out + argv[index:]
        if not word.startswith("@") or len(word) == 1:
            out.append(word)
            continue
        if depth >= _MAX_ARGFILE_DEPTH:
            raise UserError(f"{word}: argument files nested deeper than {_MAX_ARGFILE_DEPTH} levels")
        from visa_lsp.app.inputs import read_source
        from visa_lsp.text import lines_of

        lines = (line.strip() for line in lines_of(read_source(word[1:]).text))
        out += _with_argfiles([line for line in lines if line and not line.startswith("#")], depth + 1)
    return out


def _serve(argv: list[str]) -> int:
    if argv and not argv[0].startswith("-"):
        raise UserError(_no_such_command(argv[0]))
    args = PROGRAM.parser().parse_arguments(argv)
    hear_interrupts()
    return int(PROGRAM.module_of("").execute(args))


def _no_such_command(word: str) -> str:
    from visa_lsp.app.suggestions import did_you_mean

    if os.path.exists(word):  # noqa: PTH110 - the library for paths would be loaded only for this
        return f"unknown command {word!r}; to check that file: visa-lsp check {word}"
    return f"unknown command {word!r}{did_you_mean(word, COMMANDS) or '; known commands: ' + ', '.join(COMMANDS)}"
