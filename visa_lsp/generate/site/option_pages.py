"""Generates the pages of options and settings: the help of each command, and the settings.

Knows no single option; the caller gives the help, and it reads the table of folder settings and the manifest of the extension.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from visa_lsp.app.settings import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_COMMANDS: Final = """# Commands

The output of `visa-lsp COMMAND --help` for every command. These guides explain the commands: [checking](../check.md), [running](../running.md),
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


def pages(root: Path, helps: Mapping[str, str]) -> dict[str, str]:
    """Return the two pages by their names in the site; ``helps`` has the help of each command by the words that call it."""
    commands = (f"## {words}\n\n```text\n{text}\n```\n" for words, text in helps.items())
    return {
        "reference/commands.md": "\n".join([_COMMANDS, *commands]),
        "reference/settings.md": "".join(_settings(root)),
    }


def _settings(root: Path) -> Iterator[str]:
    yield _SETTINGS
    yield from (f"| `{key}` | {what} |\n" for key, what in TYPES.items())
    yield _EDITOR
    manifest = json.loads((root / "vscode-extension" / "package.json").read_text(encoding="utf-8"))
    for name, setting in manifest["contributes"]["configuration"]["properties"].items():
        text = setting.get("markdownDescription") or setting["description"]
        yield f"| `{name}` | {' '.join(text.split())} | `{json.dumps(setting['default'])}` |\n"
