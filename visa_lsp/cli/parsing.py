"""The table of the commands, and the parsers of the commands and of the program itself."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from visa_lsp import __version__
from visa_lsp.app.exits import EXIT_USAGE
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.cli.exits import print_error
from visa_lsp.cli.help_examples import example_lines
from visa_lsp.cli.options import CommandArguments, declare

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
_TARGETS: Final = ("--platform", "--device")


class CommandParser(argparse.ArgumentParser):
    """A parser with errors of one line and examples at the end of its help.

    ``dashed`` maps options whose values may begin with a dash, such as options of other programs, to their numbers of
    values.
    """

    dashed: Mapping[str, int] = {}
    # Options that are removed before the parser runs.
    other_options: Sequence[str] = ()
    _words: Sequence[str] = ()

    def declare(self, arguments: type[CommandArguments]) -> None:
        """Declare the fields of a class of arguments, which are parsed to one."""
        self.dashed = declare(self, arguments)
        self.set_defaults(arguments=arguments)

    def parse_arguments(self, words: Sequence[str]) -> Any:
        """Return the arguments of a command line."""
        values = vars(self.parse_args(words))
        return values.pop("arguments")(**values)

    # Narrower than the library's signature, whose overloads are not used here.
    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse as the library does, but take the words after a ``dashed`` option as its values."""
        self._words = tuple(sys.argv[1:] if args is None else args)
        return super().parse_known_args(None if args is None else self._join(args), namespace)

    def _join(self, args: Sequence[str]) -> list[str]:
        out: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            count = self.dashed.get(word, 0)
            if word == "--" or count > len(rest):
                return [*out, word, *rest]
            out += [f"{word}={value}" for value in rest[:count]] or [word]
            del rest[:count]
        return out

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += did_you_mean(str(value), map(str, action.choices or ()))
            raise

    def format_help(self) -> str:
        """Return the help with the examples below it."""
        examples = example_lines(self.prog)
        return super().format_help() + (f"\n{examples}\n" if examples else "")

    def error(self, message: str) -> NoReturn:
        """Print the error in one line, suggest an option for a misspelt one, and exit with status 2."""
        options_of_parser = (*self._option_string_actions, *self.other_options)
        options = [word.partition("=")[0] for word in self._words if word.startswith("--")]
        unknown = next((option for option in options if option not in options_of_parser), "")
        if unknown and "invalid choice" not in message:
            target = next((target_option for target_option in _TARGETS if target_option in options_of_parser), "")
            message += (
                f"; the target is chosen by {target}"
                if unknown in _TARGETS and target
                else did_you_mean(unknown, options_of_parser)
            )
        print_error(message, EXIT_USAGE, self._words)
        self.exit(EXIT_USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


class Program:
    """The parsers of the program and its commands. ``modules`` has functions that load the module of a command.

    A module has ``Arguments``, or ``ACTIONS`` with those of commands below it, and ``execute``. The empty command is a command
    line without one.
    """

    def __init__(self, modules: Mapping[str, Callable[[], Any]]) -> None:
        self._modules = modules

    def module_of(self, command: str) -> Any:
        """Load the module of a command."""
        return self._modules[command]()

    def parser_of(self, command: str) -> CommandParser:
        """Return the parser of a command."""
        parser = CommandParser(prog=f"visa-lsp {command}", description=COMMANDS[command], allow_abbrev=False)
        self._declare(parser, command)
        return parser

    def _declare(self, parser: CommandParser, command: str) -> None:
        module = self.module_of(command)
        actions = getattr(module, "ACTIONS", {})
        if not actions:
            parser.declare(module.Arguments)
            return
        below = parser.add_subparsers(required=True, metavar="|".join(actions))
        for name, (text, arguments) in actions.items():
            below.add_parser(name, help=text, allow_abbrev=False).declare(arguments)

    def parser(self) -> CommandParser:
        """Return the parser of a command line without a command, with the options of the server."""
        width = max(map(len, COMMANDS)) + 2
        parser = CommandParser(
            prog="visa-lsp",
            description="Language server for vISA on standard input and output. Commands are listed below.",
            epilog="commands:\n"
            + "\n".join(f"  {name:<{width}}{text}" for name, text in COMMANDS.items())
            + "\n\n@FILE reads arguments from FILE, one per line. visa-lsp COMMAND --help describes a command.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            usage="visa-lsp [COMMAND ...] [--check PATH...] [--tcp HOST:PORT] [--platform NAME] [--version]",
            allow_abbrev=False,
        )
        parser.other_options = ("--check",)
        parser.add_argument("--version", action="version", version=f"visa-lsp {__version__}")
        parser.declare(self.module_of("").Arguments)
        return parser

    def whole_parser(self) -> CommandParser:
        """Return the parser of the program with those of its commands below it, which loads every command."""
        parser = self.parser()
        below = parser.add_subparsers(metavar="COMMAND")
        for name, text in COMMANDS.items():
            command = below.add_parser(name, prog=f"visa-lsp {name}", help=text, description=text, allow_abbrev=False)
            self._declare(command, name)
        return parser
