"""Tables and texts as HTML for notebooks.

Invariant: all input is escaped, including control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from visa_lsp.app.visible_text import visible


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a line of titles; cells are converted by ``str``, None to an empty cell."""
    lines = [_row("th", head), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def paragraph(text: object) -> str:
    """Return a paragraph."""
    return f"<p>{_text(text)}</p>"


def verbatim(text: str) -> str:
    """Return a preformatted text."""
    return f"<pre>{_text(text)}</pre>"


def _text(value: object) -> str:
    return escape(visible(str(value)))


def _row(tag: str, cells: Sequence[object]) -> str:
    parts = (f"<{tag}>{'' if cell is None else _text(cell)}</{tag}>" for cell in cells)
    return f"<tr>{''.join(parts)}</tr>"
