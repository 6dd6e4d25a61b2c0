"""Lines end as the protocol of editors says: with a newline, with both, or with a carriage return alone.

What a client does with an edit is written down here a second time, by positions and with nothing of the program's own.
"""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.check.fixes import apply
from visa_lsp.diagnostics import Edit, Fix
from visa_lsp.ide.features.folding import folding_ranges
from visa_lsp.ide.features.formatting import format_runs, format_text
from visa_lsp.syntax.document import Document
from visa_lsp.text import LineIndex, Span, lines_of
from visa_lsp.zeinfo.source import ZeInfoSource

SEED = 11
END = re.compile(r"\r\n|\n|\r")
# What other tools take for the end of a line.
NO_ENDS = ("\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
PIECES = (
    "\r", "\r", "\n", "\n", "\r\n", "\r\r", "\n\r", "x", "", "// c", "/*", "*/", "L:", "    ret (M1, 1)", ".decl V1 v_type=G",
    '.kernel "k"', "    mov (M1, 8) V1(0,0)<1> 0x1:d", "// visa: ignore", *NO_ENDS,
)  # fmt: skip


def starts_of(text: str) -> list[int]:
    return [0, *[match.end() for match in END.finditer(text)]]


def offset_of(text: str, line: int, column: int) -> int:
    """Return the offset of a client's position; a column behind the line's end is that end."""
    starts = starts_of(text)
    end = END.search(text, starts[line])
    return min(starts[line] + column, end.start() if end else len(text))


def check(document: Document, text: str) -> None:
    assert document.text == text
    starts = starts_of(text)
    assert document.line_count == len(starts)
    assert [document.line_start(line) for line in range(len(starts))] == starts
    lines = END.split(text)
    assert [document.line_text(line) for line in range(len(starts))] == lines == lines_of(text)
    for at in range(0, len(text) + 1, max(1, len(text) // 200)):
        line = max(number for number, start in enumerate(starts) if start <= at)
        assert document.position(at) == LineIndex(text).position(at) == (line, at - starts[line])
    fresh = Document.parse(text)
    assert list(document.statements()) == list(fresh.statements())
    for old, new in pairwise(document.chunks):
        assert not (old.source.endswith("\r") and new.source.startswith("\n"))


def long_text(chooser: random.Random) -> str:
    """Return some 700 lines, so that there are chunks, with every end of a line."""
    return "".join([chooser.choice(PIECES) + chooser.choice(("\r", "\n", "\r\n")) for _ in range(700)])


def test_an_edit_behind_a_carriage_return_goes_where_the_client_puts_it():
    document = Document.parse("x\ry\nz\n")
    assert document.line_count == 4
    edited = document.edit(document.offset(1, 0), document.offset(1, 0), "Q")
    assert edited.text == "x\rQy\nz\n"


@pytest.mark.parametrize("seed", first(2, range(SEED, SEED + 4)))
def test_random_edits_by_positions_give_what_a_client_has(seed: int):
    chooser = random.Random(seed)
    text = long_text(chooser) if seed % 2 else "".join(chooser.choices(PIECES, k=40))
    document = Document.parse(text)
    check(document, text)
    for number in range(120):
        last = len(starts_of(text)) - 1
        first = chooser.randint(0, last)
        lines = (first, min(last, first + chooser.choice((0, 0, 0, 1, 3, 300))))
        places = [(line, chooser.choice((0, 0, 1, 5, 10_000))) for line in lines]
        start, end = sorted(offset_of(text, *place) for place in places)
        assert sorted(document.offset(*place) for place in places) == [start, end]
        new = "".join(chooser.choices(PIECES, k=chooser.choice((0, 1, 1, 2))))
        text = text[:start] + new + text[end:]
        document = document.edit(start, end, new)
        if number % 10 == 0 or len(text) < 400:
            check(document, text)
    check(document, text)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(SEED, SEED + 3))
def test_edits_that_make_and_break_the_two_characters_of_an_end(seed: int):
    chooser = random.Random(seed)
    text = long_text(chooser)
    document = Document.parse(text)
    joints = [sum(chunk.length for chunk in document.chunks[:number]) for number in range(len(document.chunks))]
    for number in range(300):
        ends = [match.start() for match in re.finditer(r"[\r\n]", text)]
        at = chooser.choice(ends if number % 3 else [min(len(text), at) for at in joints])
        start = at + chooser.choice((0, 1))
        end = min(len(text), start + chooser.choice((0, 0, 1, 2)))
        new = chooser.choice(("", "\r", "\n", "\r\n", "\n\r", "x"))
        text = text[:start] + new + text[end:]
        document = document.edit(start, end, new)
        if number % 20 == 0:
            check(document, text)
    check(document, text)


BODY = """.version 4.1
.kernel "k"
.kernel_attr Target="cm"
.decl V1 v_type=G type=d num_elts=8 align=GRF
    mov (M1, 8) V1(0,0)<1> 0x1:d
    add (M1, 8) V1(0,0)<1> V99(0,0)<1;1,0> 0x1:d
L:
    mov  (M1,8)  V1(0,0)<1>  0x2:d
    ret (M1, 1)
"""


@pytest.mark.parametrize("many", [1, 30])
@pytest.mark.parametrize("ends", ["\r", "\r\n", "mixed"])
def test_findings_folds_and_layout_are_those_of_the_text_with_newlines(ends: str, many: int):
    plain = BODY.replace("L:", "    mov (M1, 8) V1(0,0)<1> 0x2:d\n" * many + "L:")
    chooser = random.Random(SEED)
    text = re.sub("\n", lambda _: chooser.choice(("\r", "\n", "\r\n")) if ends == "mixed" else ends, plain)
    was, now = Analysis.of(plain), Analysis.of(text)

    def told(analysis: Analysis) -> list[object]:
        place = analysis.document.position
        return [(d.code, place(d.span.start), place(d.span.end), d.message) for d in analysis.diagnostics]

    assert told(now) == told(was)
    assert [(f.first_line, f.last_line) for f in folding_ranges(now)] == [
        (f.first_line, f.last_line) for f in folding_ranges(was)
    ]
    edits = [(now.document.position(e.span.start), e.new_text) for e in format_text(now)]
    assert edits == [(was.document.position(e.span.start), e.new_text) for e in format_text(was)]
    assert edits


def test_a_run_of_lines_brought_into_shape_keeps_its_ends():
    text = BODY.replace("\n", "\r").replace("(M1, 8)", "(M1,  8)")
    runs = format_runs(Analysis.of(text), 1)
    assert any("\r" in run.text for run in runs)
    assert not any("\n" in run.text for run in runs)


def test_fixes_write_the_ends_that_the_text_has():
    text = "a\rb\r"
    assert apply(text, [Fix("f", (Edit(Span(2, 2), "new\n"),))])[0] == "a\rnew\rb\r"


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_places_of_yaml_are_lines_of_the_editor(end: str):
    for form in ("a: 1", "a: >-\n  text"):
        text = f"version: '1.0'\ns: 'no \u2028 and \x85 end'\n{form}\nb: [1, 2\n".replace("\n", end)
        source = ZeInfoSource.of(text)
        assert source.error is not None
        assert source.error.line == len(END.split(text))
        fine = ZeInfoSource.of(text.replace("[1, 2", "[1, 2]"))
        assert fine.root is not None
        assert fine.root.key_places["b"][0] == len(END.split(text)) - 1


def test_texts_without_lone_carriage_returns_are_kept_once():
    for text in ("a\nb\n", "a\r\nb\r\n"):
        for chunk in Document.parse(text).edit(1, 1, "x").chunks:
            assert chunk.source is chunk.text
