"""The command ``visa-lsp help [COMMAND]``: prints the help of a command, or the manual page of the program."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_OK
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.cli.options import CommandArguments, arg, flag
from visa_lsp.cli.parsing import COMMANDS, CommandParser, Program


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    words: Annotated[list[str], arg("COMMAND", "command to describe, such as check or zeinfo emit", "*")] = field(default_factory=list)
    man: Annotated[bool, flag("print the manual page of all commands, to write to visa-lsp.1")] = False
# fmt: on


def execute(args: Arguments, program: Program) -> int:
    """Print the help. Raises UserError for an unknown command."""
    words: list[str] = args.words
    if args.man:
        from visa_lsp.cli.manual import manual_page

        print(manual_page(program.whole_parser()), end="")
        return EXIT_OK
    if words and words[0] not in COMMANDS:
        raise UserError(f"help: unknown command {words[0]!r}{did_you_mean(words[0], COMMANDS)}")
    if not words:
        return _print_help(program.parser(), [])
    return _print_help(program.parser_of(words[0]), words[1:])


def _print_help(parser: CommandParser, words: list[str]) -> int:
    """Print the help of a parser, or of the one below it that is called by ``words``."""
    parser.parse_args([*words, "--help"])
    return EXIT_OK
