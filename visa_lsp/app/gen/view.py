"""The columns beside an editor as JSON: Gen, and the source if there is one; the editor itself shows the vISA.

Lines, links and classes are those of the page. Empty keys are omitted because an answer has thousands of lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from visa_lsp.app.errors import printable
from visa_lsp.app.gen.columns import Columns
from visa_lsp.app.gen.sources import source_for

if TYPE_CHECKING:
    from visa_lsp.app.gen.gen_document import GenDocument


def view_columns(document: GenDocument, source: str | None = None) -> dict[str, Any]:
    """Return ``{"source": {"name", "path", "lines", "ties"} or None, "gen": [{"head", "living", "lines"}]}``.

    A line is ``{"number", "parts": [[kind, text]], "v"?, "s"?, "hue"?, "kind"?, "title"?, "bar"?}``; ``ties`` maps
    lines of the text to lines of the source, both from 1; ``living`` maps numbers of GRF registers to the variables in
    them. ``source`` is the source file that the user named. Raises UserError if it cannot be read.
    """
    tied = source_for(document.source.name, document.source.text, source)
    columns = Columns(document, tied)
    shown = None
    if tied is not None:
        lines = to_builtins(list(columns.source()))
        ties = {line + 1: number for line, number in tied.by_line.items()}
        shown = {"name": tied.name, "path": tied.path, "lines": lines, "ties": ties}
    gen = [
        {"head": printable(block.head), "living": block.living, "lines": to_builtins(block.lines)}
        for block in columns.gen()
    ]
    return {"source": shown, "gen": gen}
