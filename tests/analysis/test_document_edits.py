"""A document after any edits is the document of its text: chunks, places, comments."""

from __future__ import annotations

import random
import re

import pytest
from tiers import first

from visa_lsp.syntax.document import Document
from visa_lsp.text import LineIndex, Span

_PIECES = (
    '.kernel "a"\n', "add (M1, 8) V1(0,0)<1> V2(0,0)<1;1,0> V3(0,0)<1;1,0>\n", "/*", "*/", "\n", "\r\n", "\r", "// x\n", "x", '"',
    ".decl V1 v_type=G type=d num_elts=8\n", "é", "𝄞", '"a // b" // "c"\n', '"a\\" // b\n', " \t // x\r\n",
)  # fmt: skip


@pytest.mark.parametrize("seed", first(10, range(40)))
def test_edited_document_equals_fresh_document(seed: int) -> None:
    pick = random.Random(seed)
    text = "".join(pick.choice(_PIECES) for _ in range(pick.choice((0, 3, 50, 700, 1500))))
    document = Document.parse(text)
    for _ in range(10):
        start = pick.randint(0, len(text))
        end = min(len(text), start + pick.choice((0, 0, 1, 5, 200, 3000)))
        new = "".join(pick.choice(_PIECES) for _ in range(pick.choice((0, 1, 2, 60))))
        document = document.edit(start, end, new)
        text = text[:start] + new + text[end:]
        fresh, index = Document.parse(text), LineIndex(text)
        assert document.text == text
        assert document.line_count == fresh.line_count == len(index)
        codes = [c for chunk in fresh.chunks for c in chunk.codes()]
        assert [c for chunk in document.chunks for c in chunk.codes()] == codes
        for line in [pick.randrange(len(codes)) for _ in range(40)]:
            assert document.code(line) == codes[line], "asked alone, a line is what it is among those of its chunk"
        for offset in (0, len(text), *(pick.randint(0, len(text)) for _ in range(10))):
            line, column = index.position(offset)
            assert document.position(offset) == (line, column)
            assert document.line_start(line) == index.start(line)
            assert document.line_text(line) == re.split(r"\r\n|\r|\n", text)[line]
        first = pick.randint(0, len(text))
        last = pick.randint(first, len(text))
        assert document.slice(Span(first, last)) == text[first:last]
    assert list(document.statements()) == list(Document.parse(text).statements())
