"""What is kept of a text from one snapshot to the next gives the same answers as a text that was just opened."""

from __future__ import annotations

import random
import re

import pytest
from edits import NAME, random_edit
from tiers import first

from benchmarks.inputs import generate, kernel
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.completion import offers
from visa_lsp.ide.features.formatting import format_line, format_runs
from visa_lsp.ide.features.hover import hover
from visa_lsp.ide.features.references import highlights, references
from visa_lsp.ide.features.semantic_tokens import chunk_lines, is_coloured_by_chunk
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.syntax import document as document_module

EDITS = 30


def mentions(analysis: Analysis, names: set[str]) -> list[int]:
    """Return the lines that have one of some names in them, found the plain way."""
    wanted = "|".join(map(re.escape, names))
    pattern = re.compile(f"(?<![A-Za-z0-9_$@?%])(?:{wanted})(?![A-Za-z0-9_$@?])")
    return [i for i, line in enumerate(analysis.document.text.split("\n")) if pattern.search(line)]


def compare(kept: Analysis, fresh: Analysis, draw: random.Random) -> None:
    """Answers about names; ``lsp/test_kept_messages`` has those about whole texts."""
    document = fresh.document
    index = index_of(kept.document)
    names = {draw.choice(("V7001", "abs", "_there", "%r0", "P7003", "V0034", "V100")) for _ in range(2)}
    again = index_of(document)
    assert index.mentions(index.groups, names) == again.mentions(again.groups, names)
    if "/*" not in document.text:  # a statement around a comment is at its first line
        assert index.mentions(index.groups, names) == mentions(fresh, names)
    found = list(NAME.finditer(document.text))
    if found:
        offset = draw.choice(found).start() + 1
        ask = draw.choice((references, highlights, hover, offers))
        assert ask(kept, offset) == ask(fresh, offset)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_answers_after_random_edits_equal_those_of_a_fresh_text(seed: int) -> None:
    print(f"seed {seed}")
    draw = random.Random(seed)
    text = kernel(300, seed) if seed % 2 else generate(seed, 250)
    kept = Analysis.of(text)
    for number in range(EDITS):
        start, end, new = random_edit(text, draw)
        text = text[:start] + new + text[end:]
        kept = kept.edit(start, end, new)
        assert kept.document.text == text
        if draw.random() < 0.5:
            try:
                compare(kept, Analysis.of(text), draw)
            except AssertionError:
                print(f"edit {number}: {start} {end} {new!r}")
                raise


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_runs_of_lines_are_the_edits_of_single_lines(seed: int) -> None:
    draw = random.Random(seed)
    text = kernel(700)
    for _ in range(30):
        start, end, new = random_edit(text, draw)
        text = text[:start] + new + text[end:]
    text = "\n".join(
        draw.choice((line, line.replace(" ", "  ", 3), "\t" + line, line + " ")) for line in text.split("\n")
    )
    analysis = Analysis.of(text)
    document = analysis.document
    plain = [format_line(document.line_text(i), document.statement(i)) for i in range(document.line_count)]
    lines = text.split("\n")
    for at, chunk in enumerate(document.chunks):
        base = document.line_of(at)
        for run in format_runs(analysis, at):
            assert 0 <= run.first_line <= run.last_line < chunk.count
            assert run.end == len(lines[base + run.last_line].rstrip("\r"))
            rows = run.text.split("\n")
            for row, line in zip(rows, range(base + run.first_line, base + run.last_line + 1), strict=True):
                ends = lines[line].endswith("\r") and line < base + run.last_line
                lines[line] = row.removesuffix("\r") if ends else row
                assert lines[line] == plain[line]
    assert [line.rstrip("\r") for line in lines] == plain


@pytest.mark.parametrize("seed", first(1, range(2)))
def test_lines_of_one_key_have_one_colouring(seed: int) -> None:
    draw = random.Random(seed)
    text = kernel(700)
    for _ in range(20):
        start, end, new = random_edit(text, draw)
        text = text[:start] + new + text[end:]
    analysis = Analysis.of(text)
    if not is_coloured_by_chunk(analysis):
        analysis = Analysis.of(kernel(700))
    before = [chunk_lines(analysis, at) for at in range(len(analysis.document.chunks))]
    # The second look finds every template; a text of its own finds them too.
    assert before == [chunk_lines(analysis, at) for at in range(len(analysis.document.chunks))]
    again = Analysis.of(analysis.document.text)
    assert before == [chunk_lines(again, at) for at in range(len(again.document.chunks))]


def test_what_is_offered_of_too_many_names_does_not_depend_on_where_chunks_end(monkeypatch):
    """Each name is declared twice, and labels stand closer together in one place than in another."""
    decls = [f".decl V{n} v_type=G type=d num_elts=8 align=dword" for n in range(1000, 1400)]
    code = ["    mov (M1, 8) V1000(0,0)<1> V1000(0,0)<1;1,0>"] * 200
    labels = [f"_label{n}:" for n in range(500)]
    spread = [line for n in range(500) for line in (f"_spread{n}:", code[0], code[0])]
    places = ["    add (M1, 8) V1000(0,0)<1> V", "    goto (M1, 8) _"]
    lines = [
        ".version 4.1",
        '.kernel "k"',
        *decls[::2],
        *decls,
        *decls[1::2],
        *code,
        *labels,
        *code,
        *spread,
        *code,
        *labels,
    ]
    for place in places:
        for at in (1300, 1500, 2100):
            text = "\n".join([*lines[:at], place, *lines[at:], "    ret (M1, 1)", ""])
            offset = text.index(place + "\n") + len(place)
            found = []
            for size in (16, 100, 256):
                monkeypatch.setattr(document_module, "CHUNK_LINES", size)
                found.append(offers(Analysis.of(text), offset))
            assert len(found[0][0]) > 150
            assert found[0][1], "more than are looked at"
            assert found[0] == found[1] == found[2]
