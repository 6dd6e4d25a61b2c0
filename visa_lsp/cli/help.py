"""The command ``visa-lsp help [COMMAND]``: prints the help of a command, or the manual page of the program."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Annotated

from msgspec import field

from visa_lsp import __version__
from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_OK
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.cli.help_examples import EXAMPLES
from visa_lsp.cli.options import CommandArguments, arg, flag
from visa_lsp.cli.parsing import COMMANDS, CommandParser, Program

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        print(_manual_page(program.whole_parser()), end="")
        return EXIT_OK
    if words and words[0] not in COMMANDS:
        raise UserError(f"help: unknown command {words[0]!r}{did_you_mean(words[0], COMMANDS)}")
    if not words:
        return _print_help(program.parser(), [])
    return _print_help(program.parser_of(words[0]), words[1:])


def _manual_page(parser: argparse.ArgumentParser) -> str:
    """Return the page in the language of man(7): the program, then each command with its arguments, options and examples."""
    lines = [
        f'.TH VISA-LSP 1 "" "visa-lsp {__version__}" "User Commands"',
        ".SH NAME",
        "visa-lsp \\- language server, assembler and simulator for vISA",
        ".SH SYNOPSIS",
        *(
            line
            for words in ("visa-lsp [OPTION]...", "visa-lsp COMMAND [ARGUMENT]...")
            for line in (_text(words), ".br")
        ),
        ".SH DESCRIPTION",
        _text(parser.description or ""),
        *_options(parser),
        ".SH COMMANDS",
    ]
    for words, below in list_commands("visa-lsp", parser):
        lines += [f".SS {_text(words)}", _text(below.description or ""), *_options(below)]
        for command, meaning in EXAMPLES.get(words, ()):
            lines += [".TP", f".B {_text(command)}", _text(meaning)]
    return "\n".join(line for line in lines if line) + "\n"


def list_commands(words: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the parsers below a parser, each with the words that call it."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list its options
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, below in action.choices.items():
                yield f"{words} {name}", below
                yield from list_commands(f"{words} {name}", below)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the arguments and options of a parser, with their help."""
    formatter = parser._get_formatter()  # noqa: SLF001
    for action in parser._actions:  # noqa: SLF001
        if action.help is argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            continue
        value = formatter._format_args(action, action.dest.upper()) if action.nargs != 0 else ""  # noqa: SLF001
        names = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
        yield from (".TP", f"{names} \\fI{_text(value)}\\fR".strip().replace(" \\fI\\fR", ""))
        yield _text(formatter._expand_help(action) if action.help else "")  # noqa: SLF001


def _text(words: str) -> str:
    """Return words as a line of the page, in which nothing has a special meaning."""
    plain = " ".join(words.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def _print_help(parser: CommandParser, words: list[str]) -> int:
    """Print the help of a parser, or of the one below it that is called by ``words``."""
    parser.parse_args([*words, "--help"])
    return EXIT_OK
