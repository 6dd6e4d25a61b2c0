"""The table of report formats in ``docs/check.md``; the rest of that page is written by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.app.check.formats.table import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "docs/check.md"
_BEGIN: Final = "<!-- made by python -m visa_lsp.generate -->\n"
_END: Final = "<!-- end -->\n"


def table() -> str:
    """Return a row for each format."""
    rows = [f"| `{name}` | {form.what} |\n" for name, form in FORMATS.items()]
    return "".join(["| name | what |\n", "|---|---|\n", *rows])


def generate_files(root: Path) -> dict[str, str]:
    """Return the page with the table of today. Raises ValueError where the page does not have one place for it."""
    text = (root / FILE).read_text(encoding="utf-8")
    found, times = re.subn(f"(?<={_BEGIN}).*?(?={_END})", lambda _: table(), text, flags=re.DOTALL)
    if times != 1:
        raise ValueError(f"{FILE} has {times} places for the table, not one")
    return {FILE: found}
