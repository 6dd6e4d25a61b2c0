"""Offsets of a text and of its host, both ways, for any segments."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from visa_lsp.embed.position_map import PositionMap, Segment
from visa_lsp.text import Span

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are shared
# (gap in the text, gap in the host, length in the text, length in the host, exact)
PARTS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 6), st.integers(1, 6), st.booleans()), max_size=12
)


def segments(parts):
    found, text, host = [], 0, 0
    for text_gap, host_gap, length, host_length, exact in parts:
        text, host = text + text_gap, host + host_gap
        size = length if exact else host_length
        found.append(Segment(Span(text, text + length), Span(host, host + size), exact))
        text, host = text + length, host + size
    return found


@UNHURRIED
@given(PARTS)
def test_an_offset_in_an_exact_segment_comes_back_unchanged(parts):
    whole = PositionMap(segments(parts))
    for segment in segments(parts):
        for offset in range(segment.text.start, segment.text.end if segment.exact else segment.text.start):
            there = whole.to_host(offset)
            assert there == segment.host.start + offset - segment.text.start
            assert whole.to_text(there) == offset


@UNHURRIED
@given(PARTS)
def test_an_offset_outside_of_all_segments_has_no_place(parts):
    whole = PositionMap(segments(parts))
    inside = {o for s in segments(parts) for o in range(s.text.start, s.text.end)}
    assert all((whole.to_host(offset) is not None) == (offset in inside) for offset in range(90))


@UNHURRIED
@given(PARTS)
def test_a_span_begins_and_ends_with_its_first_and_last_character(parts):
    whole = PositionMap(segments(parts))
    inside = sorted({o for s in segments(parts) for o in range(s.text.start, s.text.end)})
    for start in inside:
        for last in (o for o in inside if o >= start):
            found = whole.host_span(Span(start, last + 1))
            assert found == Span(whole.to_host(start), whole.end_in_host(last + 1))
            assert found.start < found.end


@UNHURRIED
@given(PARTS)
def test_a_cursor_anywhere_in_the_host_is_at_a_place_of_the_text_or_at_none(parts):
    whole = PositionMap(segments(parts))
    edges = {o for s in whole.segments for o in range(s.text.start, s.text.end + 1)}
    for offset in range(-1, 120):
        found = whole.to_text(offset)
        assert found is None or found in edges


def test_what_is_unbroken_can_be_replaced_in_the_host():
    whole = PositionMap(
        [
            Segment(Span(0, 4), Span(1, 5)),
            Segment(Span(4, 5), Span(5, 7), exact=False),
            Segment(Span(5, 8), Span(7, 10)),
            Segment(Span(8, 12), Span(14, 18)),
        ]
    )
    assert whole.unbroken(Span(2, 7))
    assert whole.host_span(Span(2, 7)) == Span(3, 9)
    assert not whole.unbroken(Span(6, 10)), "a quote stands between"
    assert not whole.unbroken(Span(12, 14)), "behind the end"
    assert not PositionMap([Segment(Span(3, 5), Span(0, 2))]).unbroken(Span(0, 5)), "before the start"
