"""The command ``visa-lsp help [COMMAND]``: prints the help of a command, or the manual page of the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_OK
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.cli.parsing import CommandLoader, CommandParser, parser_of, parser_of_program, whole_parser

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="command to describe, such as check or zeinfo emit")
    parser.add_argument(
        "--man", action="store_true", help="print the manual page of all commands, to write to visa-lsp.1"
    )


def help_command(commands: Mapping[str, str], loaders: Mapping[str, CommandLoader], args: argparse.Namespace) -> int:
    """Print the help. Raises UserError for an unknown command."""
    words: list[str] = args.words
    if args.man:
        from visa_lsp.cli.manual import manual_page

        print(manual_page(whole_parser(commands, loaders)), end="")
        return EXIT_OK
    if words and words[0] not in commands:
        raise UserError(f"help: unknown command {words[0]!r}{did_you_mean(words[0], commands)}")
    if not words:
        return _print_help(parser_of_program(commands, loaders[""]()[0]), [])
    parser = parser_of(words[0], commands[words[0]])
    loaders[words[0]]()[0](parser)
    return _print_help(parser, words[1:])


def _print_help(parser: CommandParser, words: list[str]) -> int:
    """Print the help of a parser, or of the one below it that is called by ``words``."""
    parser.parse_args([*words, "--help"])
    return EXIT_OK
