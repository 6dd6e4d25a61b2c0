"""The generated pages of the documentation site: instructions, commands, settings.

They are not files of the repository: `docs/site/hooks.py` passes them to MkDocs. The pages of `docs` made by other
modules of `generate` are also part of the site.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.generate.site import opcode_pages, option_pages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def pages(root: Path, helps: Mapping[str, str]) -> dict[str, str]:
    """Return all pages in Markdown, by their names below the folder of documents. Raises OSError outside of a clone.

    ``helps`` has the help of each command (``cli.help_texts``), because nothing imports the room of commands.
    """
    return {**opcode_pages.pages(root), **option_pages.pages(root, helps)}
