"""The parsers of the commands, and of the program itself."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from visa_lsp import __version__
from visa_lsp.app.exits import EXIT_USAGE
from visa_lsp.app.suggestions import did_you_mean, seconds_of
from visa_lsp.cli.common import add_platform
from visa_lsp.cli.exits import print_error
from visa_lsp.cli.help_examples import example_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class CommandParser(argparse.ArgumentParser):
    """A parser whose complaints are one line, and whose help ends with examples.

    ``dashed`` are the options whose values may begin with a dash, with how many words follow each: options of other programs.
    """

    dashed: Mapping[str, int] = {}
    # Options that are taken off the line before the parser sees it.
    other_options: Sequence[str] = ()
    _words: Sequence[str] = ()

    # Narrower than the library's, which has overloads that nobody here calls.
    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As the library does it, but for the words that follow a ``dashed`` option: they are its values, whatever they are."""
        self._words = tuple(sys.argv[1:] if args is None else args)
        return super().parse_known_args(None if args is None else self._joined(args), namespace)

    def _joined(self, args: Sequence[str]) -> list[str]:
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
        """Return the help, and below it lines to be typed."""
        examples = example_lines(self.prog)
        return super().format_help() + (f"\n{examples}\n" if examples else "")

    def error(self, message: str) -> NoReturn:
        """Complain in one line, with the option that a misspelt one may have meant, and leave with status 2."""
        known = (*self._option_string_actions, *self.other_options)
        options = [word.partition("=")[0] for word in self._words if word.startswith("--")]
        unknown = next((option for option in options if option not in known), "")
        if unknown and "invalid choice" not in message:
            message += did_you_mean(unknown, known)
        print_error(message, EXIT_USAGE, self._words)
        self.exit(EXIT_USAGE, f"{self.prog}: {message} ({self.prog} --help tells more)\n")


def parser_of(command: str, description: str) -> CommandParser:
    """Return the parser of a command, without its options."""
    return CommandParser(prog=f"visa-lsp {command}", description=description, allow_abbrev=False)


def parser_of_program(commands: Mapping[str, str], add_arguments: Callable[[CommandParser], None]) -> CommandParser:
    """Return the parser for a line that names none of the commands; ``add_arguments`` declares the options of the server."""
    width = max(map(len, commands)) + 2
    parser = CommandParser(
        prog="visa-lsp",
        description="Language server for vISA on standard input and output, or one of the commands below.",
        epilog="commands:\n" + "\n".join(f"  {name:<{width}}{text}" for name, text in commands.items())
        + "\n\n@FILE stands for the arguments in FILE, one to a line. visa-lsp COMMAND --help tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="visa-lsp [COMMAND ...] [--check PATH...] [--tcp HOST:PORT] [--platform NAME] [--version]",
        allow_abbrev=False,
    )  # fmt: skip
    parser.other_options = ("--check",)
    parser.add_argument("--version", action="version", version=f"visa-lsp {__version__}")
    add_arguments(parser)
    add_platform(parser)
    return parser


def seconds_argument(text: str) -> float:
    """Return the ``type`` of an argparse option that takes a time limit. Raises ArgumentTypeError where it is none."""
    try:
        return seconds_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
