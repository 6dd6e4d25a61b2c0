"""Tables and texts as HTML for notebooks. Invariant: whatever comes in is escaped; nothing but the tags here is markup."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a line of titles; cells are shown as ``str`` gives them, None as nothing."""
    lines = [_row("th", head), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def paragraph(text: object) -> str:
    """A paragraph."""
    return f"<p>{escape(str(text))}</p>"


def verbatim(text: str) -> str:
    """A text with its lines and blanks as they are."""
    return f"<pre>{escape(text)}</pre>"


def _row(tag: str, cells: Sequence[object]) -> str:
    found = (f"<{tag}>{'' if cell is None else escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{''.join(found)}</tr>"
