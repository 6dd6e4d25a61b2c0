"""The command ``visa-lsp completions SHELL``: prints the completions of every command for a shell, made by shtab."""

from __future__ import annotations

import argparse
from typing import Annotated, Final, Literal

from visa_lsp.app.exits import EXIT_OK
from visa_lsp.cli.options import CommandArguments, arg
from visa_lsp.cli.parsing import COMMANDS, Program
from visa_lsp.isa.platforms import PLATFORMS

_FOLDERS: Final = frozenset({"DIR", "CAPTURE"})
_FILES: Final = frozenset({"IN", "OUT", "PATH", "FILE", "A", "B", "REF", "K.cl", "IN.isa", "IN.visaasm"})


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    shell: Annotated[Literal["bash", "zsh", "fish"], arg(None, "shell to print the completions for")]
# fmt: on


def execute(args: Arguments, program: Program) -> int:
    """Print the script."""
    import shtab

    parser = program.whole_parser()
    _describe(parser, {"file": shtab.FILE, "folder": shtab.DIRECTORY}, list(COMMANDS))
    print(shtab.complete(parser, args.shell))
    return EXIT_OK


def _describe(parser: argparse.ArgumentParser, kinds: dict[str, object], commands: list[str]) -> None:
    """Set what completes the values of each option and argument, where its metavar says it."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list its options
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for below in action.choices.values():
                _describe(below, kinds, commands)
        elif action.metavar == "COMMAND":
            action.choices = commands
        elif "--platform" in action.option_strings:
            action.choices = [platform.name for platform in PLATFORMS]
        elif action.metavar in _FILES | _FOLDERS:
            action.complete = kinds["folder" if action.metavar in _FOLDERS else "file"]  # type: ignore[attr-defined]
