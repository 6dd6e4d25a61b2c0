"""Selection ranges: from the word at the cursor outwards to operand, statement, line, basic block, body, text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.ide.index.focus import focus_at
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.ide.index.token_at import spot_at
from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis


def selection_ranges(analysis: Analysis, offset: int) -> tuple[Span, ...]:
    """Return spans around an offset, each inside the next, the smallest first."""
    document = analysis.document
    line = document.position(offset)[0]
    start = document.line_start(line)
    text = document.line_text(line)
    spans = []
    spot = spot_at(focus_at(analysis, offset), offset)
    if spot is not None:
        spans.append(spot.span)
        if spot.token.operand is not None:
            spans.append(spot.token.operand.span.shift(start))
        spans.append(spot.statement.span.shift(start))
    spans.append(Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip())))
    spans.append(Span(start, start + len(text)))
    index = index_of(document)
    group = index.group_at(line)
    labels = sorted({n for n, _ in index.labels(group)} | {n for n, _, _ in index.functions(group)})
    before = [n for n in labels if n <= line]
    after = [n for n in labels if n > line]
    if before:
        spans.append(Span(document.line_start(before[-1]), document.line_start(after[0] if after else group.end_line)))
    spans.append(Span(document.line_start(group.first_line), document.line_start(group.end_line)))
    spans.append(Span(0, len(document)))
    kept: list[Span] = []
    for span in spans:
        if span.start <= offset <= span.end and span.start <= span.end:
            if kept and not (span.start <= kept[-1].start and kept[-1].end <= span.end):
                span = Span(min(span.start, kept[-1].start), max(span.end, kept[-1].end))  # noqa: PLW2901 - widened
            if not kept or span != kept[-1]:
                kept.append(span)
    return tuple(kept)
