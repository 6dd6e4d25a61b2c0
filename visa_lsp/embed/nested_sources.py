"""OpenCL C in a string of another language: the string is read as a source, and its blocks are placed in the host.

Invariant: every span of a returned block lies in the host. Such a block has no literals, because its text is quoted
twice, so that no fix is offered.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.embed.literals import StringPiece
from visa_lsp.embed.position_map import PositionMap, Segment
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.embed.blocks import AsmBlock, Operand

_OPENCL: Final = re.compile(r"\b(?:__kernel|kernel\s+void)\b")
_ASSEMBLY: Final = re.compile(r"\b(?:asm|__asm|__asm__)\b")


def is_opencl(text: str) -> bool:
    """Return whether the text of a string is OpenCL C with inline assembly."""
    return _ASSEMBLY.search(text) is not None and _OPENCL.search(text) is not None


class NestedText:
    """The text of a string, with the places of its pieces in the host."""

    def __init__(self, pieces: Sequence[StringPiece], span: Span) -> None:
        self.text = "".join(piece.text for piece in pieces)
        self.span = span
        segments, start = [], 0
        for piece in pieces:
            segments.append(Segment(Span(start, start + len(piece.text)), piece.host, piece.exact))
            start += len(piece.text)
        self._map = PositionMap(segments)
        self._starts = [segment.text.start for segment in self._map.segments]

    def in_host(self, block: AsmBlock) -> AsmBlock:
        """Return a block of the text as one of the host."""
        return replace(
            block,
            span=self.place(block.span),
            pieces=tuple(part for piece in block.pieces for part in self._parts(piece)),
            operands=tuple(self._operand(operand) for operand in block.operands),
            literals=(),
            reach=self.span,
        )

    def place(self, span: Span) -> Span:
        """Return the place of a part of the text in the host."""
        return self._map.host_span(span) or Span(self.span.start, self.span.start)

    def _operand(self, operand: Operand) -> Operand:
        return replace(operand, span=self.place(operand.span))

    def _parts(self, piece: StringPiece) -> Iterator[StringPiece]:
        if not piece.exact:
            yield StringPiece(piece.text, self.place(piece.host), exact=False)
            return
        first_index = max(0, bisect_right(self._starts, piece.host.start) - 1)
        for segment in islice(self._map.segments, first_index, bisect_left(self._starts, piece.host.end)):
            start, end = max(piece.host.start, segment.text.start), min(piece.host.end, segment.text.end)
            if start < end:
                text = piece.text[start - piece.host.start : end - piece.host.start]
                by = segment.host.start - segment.text.start
                yield StringPiece(text, Span(start, end).shift(by) if segment.exact else segment.host, segment.exact)
