"""Maps offsets and spans between a host and the text extracted from its strings, in both directions.

A pure value of segments in the order of both texts. Knows neither strings nor vISA. Invariant: an offset inside an
exact segment maps to the host and back unchanged; an offset outside of segments has no place.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct

from visa_lsp.text import Span


class Segment(Struct, frozen=True):
    """A part of the text and its part of the host.

    ``exact``: both have the same characters. Otherwise the part is indivisible: an escape, an operand, the value of a
    macro.
    """

    text: Span
    host: Span
    exact: bool = True


class PositionMap:
    """A map between a text and its host, by segments that are ordered in both and do not overlap."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self.segments = tuple(_join_segments(segments))
        self._texts = [s.text.start for s in self.segments]
        self._hosts = [s.host.start for s in self.segments]

    def to_host(self, offset: int) -> int | None:
        """Return the start, in the host, of the character at an offset of the text; None if the host does not have it."""
        segment = self.segment_at(offset)
        if segment is None:
            return None
        return segment.host.start + (offset - segment.text.start if segment.exact else 0)

    def end_in_host(self, offset: int) -> int | None:
        """Return the end, in the host, of the character before an offset of the text."""
        segment = self.segment_at(offset - 1)
        if segment is None:
            return None
        return segment.host.start + offset - segment.text.start if segment.exact else segment.host.end

    def host_span(self, span: Span) -> Span | None:
        """Return the part of the host for a span of the text; None unless both ends are in the host."""
        if span.start >= span.end:
            offset = self.to_host(span.start)
            if offset is None:
                offset = self.end_in_host(span.start)
            return None if offset is None else Span(offset, offset)
        start, end = self.to_host(span.start), self.end_in_host(span.end)
        return None if start is None or end is None else Span(start, end)

    def unbroken(self, span: Span) -> bool:
        """Return whether the part of the host for a span is exactly the text of the span."""
        if span.start >= span.end:
            return self.host_span(span) is not None
        first_index = bisect_right(self._texts, span.start) - 1
        last_index = bisect_right(self._texts, span.end - 1) - 1
        if first_index < 0:
            return False
        parts = self.segments[first_index : last_index + 1]
        ends = (parts[0], span.start >= parts[0].text.start), (parts[-1], span.end <= parts[-1].text.end)
        whole = all(s.exact or (span.start <= s.text.start and s.text.end <= span.end) for s in (parts[0], parts[-1]))
        return (
            whole
            and all(fits for _, fits in ends)
            and all(a.host.end == b.host.start and a.text.end == b.text.start for a, b in pairwise(parts))
        )

    def to_text(self, offset: int) -> int | None:
        """Return the offset in the text for a cursor in the host, before a character of the text or just after one."""
        index = bisect_right(self._hosts, offset) - 1
        if index < 0:
            return None
        segment = self.segments[index]
        if offset > segment.host.end:
            return None
        if segment.exact:
            return segment.text.start + offset - segment.host.start
        return segment.text.end if offset == segment.host.end else segment.text.start

    def segment_at(self, offset: int) -> Segment | None:
        """Return the segment with the character at an offset of the text."""
        index = bisect_right(self._texts, offset) - 1
        if index < 0 or offset >= self.segments[index].text.end:
            return None
        return self.segments[index]


def _join_segments(segments: Iterable[Segment]) -> Iterable[Segment]:
    """Yield the segments; empty ones are dropped, adjacent exact ones are joined."""
    last: Segment | None = None
    for segment in segments:
        if segment.text.start >= segment.text.end:
            continue
        if (
            last is not None
            and last.exact
            and segment.exact
            and last.text.end == segment.text.start
            and last.host.end == segment.host.start
        ):
            last = Segment(Span(last.text.start, segment.text.end), Span(last.host.start, segment.host.end))
            continue
        if last is not None:
            yield last
        last = segment
    if last is not None:
        yield last
