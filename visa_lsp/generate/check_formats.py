"""The table of report formats in ``docs/check.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.generate.page_part import table, with_part

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "docs/check.md"


def generate_files(root: Path) -> dict[str, str]:
    """Return the page with a row for each format."""
    return with_part(root, FILE, table(("name", "what"), ((f"`{name}`", form.what) for name, form in FORMATS.items())))
