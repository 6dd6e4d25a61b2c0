"""Generates the pages of options and settings: the help of each command from its parser, and the settings.

Knows no single option; it reads the parsers, the table of folder settings and the manifest of the extension.
"""

from __future__ import annotations

import argparse
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from visa_lsp.app.settings import TYPES
from visa_lsp.cli.main import COMMANDS, LOADERS
from visa_lsp.cli.parsing import parser_of, parser_of_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COLUMNS: Final = "84"
_COMMANDS: Final = """# Commands

What `visa-lsp COMMAND --help` prints, of every command. What the commands are for is told in [checking](../check.md), [running](../running.md),
[machine code](../machine-code.md), [comparing](../compare.md), [ze_info](../zeinfo.md), [objects](../objects.md) and [debugging](../debugging.md).
"""
_SETTINGS: Final = """# Settings

## Of a folder

In `visa-lsp.toml`, or in the table `[tool.visa-lsp]` of `pyproject.toml`: for each file the nearest one upwards. [Checking](../check.md#settings) says what
they mean; an unknown key is an error.

| key | what it takes |
| --- | --- |
"""
_EDITOR: Final = """
## Of an editor

VS Code has them in its settings; other editors send them to the server as the section `visa` ([editors](../editors/README.md)). Those of
a folder are laid under them.

| setting | what it does | default |
| --- | --- | --- |
"""


def pages(root: Path) -> dict[str, str]:
    """Return the two pages by their names in the site."""
    return {"reference/commands.md": "\n".join(_commands()), "reference/settings.md": "".join(_settings(root))}


def _commands() -> Iterator[str]:
    yield _COMMANDS
    with _columns(_COLUMNS):
        yield from _help("visa-lsp", parser_of_program(COMMANDS, LOADERS[""]()[0]))
        for name, text in COMMANDS.items():
            parser = parser_of(name, text)
            LOADERS[name]()[0](parser)
            yield from _help(f"visa-lsp {name}", parser)


def _help(title: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## {title}\n\n```text\n{parser.format_help().rstrip()}\n```\n"
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list its options
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, below in action.choices.items():
                yield from _help(f"{title} {name}", below)


@contextmanager
def _columns(count: str) -> Iterator[None]:
    """Let argparse wrap its lines at the same width on every terminal."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = count
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def _settings(root: Path) -> Iterator[str]:
    yield _SETTINGS
    yield from (f"| `{key}` | {what} |\n" for key, what in TYPES.items())
    yield _EDITOR
    manifest = json.loads((root / "vscode-extension" / "package.json").read_text(encoding="utf-8"))
    for name, told in manifest["contributes"]["configuration"]["properties"].items():
        text = told.get("markdownDescription") or told["description"]
        yield f"| `{name}` | {' '.join(text.split())} | `{json.dumps(told['default'])}` |\n"
