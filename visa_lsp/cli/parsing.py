"""The parsers of the commands, and of the program itself."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from visa_lsp import __version__
from visa_lsp.app.exits import EXIT_USAGE
from visa_lsp.app.suggestions import did_you_mean, seconds_of
from visa_lsp.cli.common import add_platform
from visa_lsp.cli.exits import print_error
from visa_lsp.cli.help_examples import example_lines

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
        known = (*self._option_string_actions, *self.other_options)
        options = [word.partition("=")[0] for word in self._words if word.startswith("--")]
        unknown = next((option for option in options if option not in known), "")
        if unknown and "invalid choice" not in message:
            target = next((one for one in _TARGETS if one in known), "")
            message += (
                f"; the target is chosen by {target}"
                if unknown in _TARGETS and target
                else did_you_mean(unknown, known)
            )
        print_error(message, EXIT_USAGE, self._words)
        self.exit(EXIT_USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


# The functions that declare the options of a command and execute it, and the function that loads them.
Command = tuple[Callable[[CommandParser], None], Callable[[argparse.Namespace], int]]
CommandLoader = Callable[[], Command]


def parser_of(command: str, description: str) -> CommandParser:
    """Return the parser of a command, without its options."""
    return CommandParser(prog=f"visa-lsp {command}", description=description, allow_abbrev=False)


def parser_of_program(commands: Mapping[str, str], add_arguments: Callable[[CommandParser], None]) -> CommandParser:
    """Return the parser of a command line without a command; ``add_arguments`` declares the options of the server."""
    width = max(map(len, commands)) + 2
    parser = CommandParser(
        prog="visa-lsp",
        description="Language server for vISA on standard input and output. Commands are listed below.",
        epilog="commands:\n" + "\n".join(f"  {name:<{width}}{text}" for name, text in commands.items())
        + "\n\n@FILE reads arguments from FILE, one per line. visa-lsp COMMAND --help describes a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="visa-lsp [COMMAND ...] [--check PATH...] [--tcp HOST:PORT] [--platform NAME] [--version]",
        allow_abbrev=False,
    )  # fmt: skip
    parser.other_options = ("--check",)
    parser.add_argument("--version", action="version", version=f"visa-lsp {__version__}")
    add_arguments(parser)
    add_platform(parser)
    return parser


def whole_parser(commands: Mapping[str, str], loaders: Mapping[str, CommandLoader]) -> CommandParser:
    """Return the parser of the program with those of its commands below it, which loads every command."""
    parser = parser_of_program(commands, loaders[""]()[0])
    below = parser.add_subparsers(metavar="COMMAND")
    for name, text in commands.items():
        one = below.add_parser(name, prog=f"visa-lsp {name}", help=text, description=text, allow_abbrev=False)
        loaders[name]()[0](one)
    return parser


def seconds_argument(text: str) -> float:
    """Return a time limit in seconds; the ``type`` of an argparse option. Raises ArgumentTypeError for other texts."""
    try:
        return seconds_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
