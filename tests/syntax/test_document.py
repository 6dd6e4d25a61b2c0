"""A document after edits equals a fresh parse of its text, statement by statement and offset by offset."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visa_lsp.syntax.document import Document

PIECES = (
    "\n", "\n\n", "/*", "*/", "//", "{", "}", "    add (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0> 0x1:d\n", ".decl X v_type=G",
    "L1:\n", "x", "", " ", "\r\n", "(", '"', "\u00e9", "    ret (M1, 1)",
)  # fmt: skip


def check(document: Document) -> None:
    text = document.text
    fresh = Document.parse(text)
    assert len(document) == len(text)
    assert document.line_count == fresh.line_count
    assert list(document.statements()) == list(fresh.statements())
    for line in range(0, document.line_count, 37):
        assert document.line_start(line) == fresh.line_start(line)
        assert document.line_text(line) == fresh.line_text(line)
        assert document.position(document.line_start(line)) == (line, 0)


@settings(deadline=None, max_examples=60, print_blob=True)
@given(
    st.lists(st.sampled_from(PIECES), max_size=12),
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 60), st.sampled_from(PIECES)), max_size=6),
)
def test_random_edits_of_small_texts(pieces: list[str], edits: list[tuple[int, int, str]]):
    document = Document.parse("".join(pieces))
    text = "".join(pieces)
    for start, size, new in edits:
        document = document.edit(start, start + size, new)
        text = text[:start] + new + text[start + size :]
        assert document.text == text
        check(document)


@pytest.mark.full
def test_edits_at_the_joints_of_chunks():
    lines = [f"    add (M1, 16) V{i}(0,0)<1> V2(0,0)<1;1,0> 0x{i:x}:d" for i in range(600)]
    document = Document.parse("\n".join(lines))
    for line in (0, 255, 256, 599):
        for start, end, new in ((-1, 0, ""), (0, 0, "\n"), (-1, 1, "x"), (0, 1, "/*"), (-2, 2, "*/\n")):
            at = document.line_start(line)
            changed = document.edit(max(0, at + start), at + end, new)
            check(changed)


MARK = "\ufeff"


def test_a_byte_order_mark_at_the_beginning_is_read_as_a_blank():
    text = '.version 4.1\n.kernel "k"\n    ret (M1, 1)\n'
    plain, marked = Document.parse(text), Document.parse(MARK + text)
    assert marked.text == MARK + text
    assert [s for _, s in plain.statements()][1:] == [s for _, s in marked.statements()][1:]
    assert not any(s.errors for _, s in marked.statements() if s is not None)
    assert marked.line_text(0) == MARK + ".version 4.1"
    assert [marked.line_start(n) for n in (1, 2)] == [plain.line_start(n) + 1 for n in (1, 2)]
    assert any(s.errors for _, s in Document.parse(f"{text}\n{MARK}{text}").statements() if s is not None)


@pytest.mark.parametrize("seed", range(3))
def test_edits_around_a_byte_order_mark(seed: int):
    chooser = random.Random(seed)
    for _ in range(60):
        document = Document.parse(
            chooser.choice(["", MARK, "\n", "x"]) + '.version 4.1\n.kernel "k"\n    ret (M1, 1)\n'
        )
        for _ in range(4):
            start = chooser.choice([0, 0, 1, 2, chooser.randint(0, len(document))])
            end = min(len(document), start + chooser.choice([0, 0, 1, 2, 30]))
            document = document.edit(
                start, end, chooser.choice([MARK, f"{MARK}a", "", "\n", f"{MARK}\n", "a\r", "\r\n"])
            )
            check(document)
            assert list(document.codes()) == list(Document.parse(document.text).codes())
