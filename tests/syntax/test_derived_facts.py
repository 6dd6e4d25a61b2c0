"""What a chunk says, worked out from the chunk that it was edited out of, is what a look at all of its lines says."""

from __future__ import annotations

import random

import pytest
from tiers import first

from visa_lsp.syntax import chunk_facts
from visa_lsp.syntax.bulk import facts_of
from visa_lsp.syntax.chunks import Chunk, code_in, line_start_in

_DECLARING = (".decl V1 v_type=G type=d num_elts=8", ".decl V7 v_type=G type=f num_elts=8 alias=<V1, 0> // note")
_WORKING = ("add (M1, 8) V1(0,0)<1> V2(0,0)<1;1,0> V3(0,0)<1;1,0>", "    mov (M1, 1) V1(0,0)<1> 0x1:d /// $1", "")
_LINES = (
    ".decl V1 v_type=G type=d num_elts=8 align=dword", "  .decl V2 v_type=G type=d num_elts=8 alias=<V1, 0> // note",
    ".decl A-b v_type=A num_elts=1", "add (M1, 8) V1(0,0)<1> V2(0,0)<1;1,0> V3(0,0)<1;1,0>", "L1:", "  L2:", "{", " }", "",
    ".kernel_attr SimdSize=8", '.kernel_attr OutputAsmPath="a // b" // c', "// all comment", '.kernel "k"', ".function f",
    ".input V1 offset=32 size=32", 'lifetime.start "x // y"', "mov (M1, 1) V1(0,0)<1> 0x1:d /// $1", "\t", "é",
)  # fmt: skip


@pytest.mark.parametrize("seed", first(3, range(30)))
def test_facts_of_an_edited_chunk_are_those_of_its_text(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pick = random.Random(seed)
    whole: list[int] = []
    monkeypatch.setattr(chunk_facts, "facts_of", lambda code: whole.append(code.count("\n")) or facts_of(code))
    derived = 0
    for _ in range(20):
        usual = _DECLARING if pick.random() < 0.5 else _WORKING
        lines = [pick.choice(usual if pick.random() < 0.95 else _LINES) for _ in range(pick.choice((1, 3, 40, 100)))]
        last = "" if pick.random() < 0.2 else "\n"
        chunk = Chunk("\n".join(lines) + last, len(lines), False)
        for _ in range(20):
            whole.clear()
            again = chunk_facts.facts_in(chunk)
            assert again == facts_of(code_in(chunk)), chunk.text
            if pick.random() < 0.2:
                chunk.facts = None
            derived += bool(whole) and chunk.count > 3 and max(whole) < chunk.count
            start = pick.randint(0, max(0, chunk.length - 1))
            end = min(start + pick.choice((0, 0, 1, 30)), max(start, chunk.length - 1))
            new = pick.choice(("", "x", ".", "\n", " ", ":", "//", pick.choice(_LINES) + "\n"))
            edited = chunk.edit(start, end, new, most=512)
            if edited is None:
                break
            chunk = edited
    assert derived, "some edits have to be small"


@pytest.mark.parametrize("seed", first(1, range(5)))
def test_a_line_begins_where_it_begins(seed: int) -> None:
    pick = random.Random(seed)
    for _ in range(40):
        lines = ["x" * pick.choice((0, 0, 7, 60, 3000)) for _ in range(pick.randint(1, 300))]
        chunk = Chunk("\n".join(lines) + "\n", len(lines), False)
        starts = [sum(map(len, lines[:at])) + at for at in range(len(lines))]
        assert [line_start_in(chunk, at) for at in range(len(lines))] == starts
