"""The command ``visa-lsp``: selects the subcommand and reports its errors.

A command is two functions: one declares its options, one executes it. Their module is imported when the command is
called, so that no command pays for the imports of another.
Invariant: ``main`` returns an exit status and raises nothing, unless VISA_LSP_DEBUG is set.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

from visa_lsp import __version__
from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_BROKEN_PIPE, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE
from visa_lsp.cli.exits import complain, print_error
from visa_lsp.cli.interrupts import end_at_interrupts, hear_interrupts
from visa_lsp.cli.parsing import parser_of, parser_of_program
from visa_lsp.cli.streams import OutputFull, OutputGone, escape_streams, give_up_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.cli.parsing import Command

COMMANDS: Final = {
    "check": "check texts and report findings (also: visa-lsp --check)",
    "asm": "assemble a text to an object",
    "dis": "disassemble an object to a text",
    "diff": "compare two programs, ignoring the names of variables and labels",
    "run": "run a kernel on the simulator",
    "exec": "run an OpenCL program with its kernels on the simulator, checked (needs Intel's ocloc and pocl)",
    "compare-runs": "run two programs at many sizes and find the smallest launch where they differ",
    "why": "explain how a value of a run, or a fault, came about",
    "gen": "show the machine code of a text, line by line (needs Intel's finalizer)",
    "verify": "run machine code beside its text and compare (needs Intel's iga64)",
    "compile": "compile OpenCL C to texts, machine code and launch files (needs Intel's ocloc)",
    "import": "write a captured enqueue of a real machine as a launch file (needs Intel's ocloc)",
    "zeinfo": "check ze_info, also against the kernels, or generate it",
    "stats": "print statistics of kernels: instructions, variables, register pressure",
    "read": "show kernels as structured pseudo-code",
    "prove": "prove that kernels have no race and stay in bounds, or find a launch that shows otherwise",
    "explain": "explain an instruction, a finding, a variable, or a term of the glossary",
    "dap": "debug a kernel on the simulator (a debug adapter for editors)",
    "mcp": "serve the tools to agents (a server of the Model Context Protocol)",
    "completions": "print the completions of a shell: bash, zsh or fish",
    "help": "print the help of a command, or the manual page",
}
_MAX_ARGFILE_DEPTH: Final = 8


def _check() -> Command:
    from visa_lsp.cli.check import add_arguments, check_command

    return add_arguments, check_command


def _asm() -> Command:
    from visa_lsp.cli.asm import add_arguments, asm_command

    return add_arguments, asm_command


def _dis() -> Command:
    from visa_lsp.cli.dis import add_arguments, dis_command

    return add_arguments, dis_command


def _diff() -> Command:
    from visa_lsp.cli.diff import add_arguments, diff_command

    return add_arguments, diff_command


def _run() -> Command:
    from visa_lsp.cli.run import add_arguments, run_command

    return add_arguments, run_command


def _exec() -> Command:
    from visa_lsp.cli.exec import add_arguments, exec_command

    return add_arguments, exec_command


def _compare_runs() -> Command:
    from visa_lsp.cli.compare_runs import add_arguments, compare_runs_command

    return add_arguments, compare_runs_command


def _why() -> Command:
    from visa_lsp.cli.why import add_arguments, why_command

    return add_arguments, why_command


def _gen() -> Command:
    from visa_lsp.cli.gen import add_arguments, gen_command

    return add_arguments, gen_command


def _verify() -> Command:
    from visa_lsp.cli.verify import add_arguments, verify_command

    return add_arguments, verify_command


def _compile() -> Command:
    from visa_lsp.cli.compile import add_arguments, compile_command

    return add_arguments, compile_command


def _import() -> Command:
    from visa_lsp.cli.import_capture import add_arguments, import_command

    return add_arguments, import_command


def _zeinfo() -> Command:
    from visa_lsp.cli.zeinfo import add_arguments, zeinfo_command

    return add_arguments, zeinfo_command


def _stats() -> Command:
    from visa_lsp.cli.stats import add_arguments, stats_command

    return add_arguments, stats_command


def _read() -> Command:
    from visa_lsp.cli.read import add_arguments, read_command

    return add_arguments, read_command


def _prove() -> Command:
    from visa_lsp.cli.prove import add_arguments, prove_command

    return add_arguments, prove_command


def _explain() -> Command:
    from visa_lsp.cli.explain import add_arguments, explain_command

    return add_arguments, explain_command


def _dap() -> Command:
    from visa_lsp.cli.dap import add_arguments, dap_command

    return add_arguments, dap_command


def _mcp() -> Command:
    from visa_lsp.cli.mcp import add_arguments, mcp_command

    return add_arguments, mcp_command


def _completions() -> Command:
    from visa_lsp.cli.completions import add_arguments, completions_command

    return add_arguments, partial(completions_command, COMMANDS, LOADERS)


def _help() -> Command:
    from visa_lsp.cli.help import add_arguments, help_command

    return add_arguments, partial(help_command, COMMANDS, LOADERS)


def _server() -> Command:
    from visa_lsp.cli.serve import add_arguments, serve

    return add_arguments, serve


# The empty key is a command line without a command.
LOADERS: Final = {
    "check": _check,
    "asm": _asm,
    "dis": _dis,
    "diff": _diff,
    "run": _run,
    "exec": _exec,
    "compare-runs": _compare_runs,
    "why": _why,
    "gen": _gen,
    "verify": _verify,
    "compile": _compile,
    "import": _import,
    "zeinfo": _zeinfo,
    "stats": _stats,
    "read": _read,
    "prove": _prove,
    "explain": _explain,
    "dap": _dap,
    "mcp": _mcp,
    "completions": _completions,
    "help": _help,
    "": _server,
}


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
    add_arguments, execute = LOADERS[command]()
    parser = parser_of(command, COMMANDS[command])
    add_arguments(parser)
    args = parser.parse_args(rest)
    hear_interrupts()
    return execute(args)


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
        at = argv.index("--check")
        return "check", argv[:at] + argv[at + 1 :]
    return None, argv


def _with_argfiles(argv: list[str], depth: int = 0) -> list[str]:
    """Return the arguments with each ``@FILE`` replaced by the lines of that file; ``./@name`` is a file of that name."""
    out: list[str] = []
    for at, word in enumerate(argv):
        if word == "--":
            return out + argv[at:]
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
    add_arguments, serve = LOADERS[""]()
    args = parser_of_program(COMMANDS, add_arguments).parse_args(argv)
    hear_interrupts()
    return serve(args)


def _no_such_command(word: str) -> str:
    from visa_lsp.app.suggestions import did_you_mean

    if os.path.exists(word):  # noqa: PTH110 - the library for paths would be loaded only for this
        return f"unknown command {word!r}; to check that file: visa-lsp check {word}"
    return f"unknown command {word!r}{did_you_mean(word, COMMANDS) or '; known commands: ' + ', '.join(COMMANDS)}"
