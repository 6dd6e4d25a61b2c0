import random

import pytest
from corpus import place, read, reference_texts
from cursor import apply_edits

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.formatting import _IN_SHAPE, format_line, format_text
from visa_lsp.sema.lower import resolve_text


def formatted(text: str) -> str:
    return apply_edits(text, format_text(Analysis.of(text)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mov  (M1,16)   V1(0,0)<1>\tV2(0,0)<1;1,0>  ", "    mov (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0>"),
        ("  .decl  V1 v_type=G   type=d num_elts=8", ".decl V1 v_type=G type=d num_elts=8"),
        ("L1:  // here", "L1: // here"),
        ('FILE   "a  b.cl"', '    FILE "a  b.cl"'),
        ("ret (M1, 1) // end", "    ret (M1, 1)".ljust(81) + "// end"),
        ("  // a   comment  ", "  // a   comment"),
        ("mov /* a  b */  (M1, 1) V1(0,0)<1> V2(0,0)<1;1,0>", "mov /* a  b */  (M1, 1) V1(0,0)<1> V2(0,0)<1;1,0>"),
        ("   ", ""),
    ],
)
def test_line_gets_its_shape(before, after):
    assert after == formatted(before)
    assert after == formatted(after)


def dump(name: str) -> str:
    return read(min(place(f"run/TGLLP/{name}").glob("*.visaasm")))


@pytest.mark.parametrize("name", ["axpy", "julia", "gemm", "bins"])
def test_dump_keeps_its_program_and_formatting_is_idempotent(name):
    text = dump(name)
    once = formatted(text)
    assert once == formatted(once)
    squeezed = "\n".join(" ".join(line.split()) if '"' not in line else line for line in text.splitlines()) + "\n"
    module = resolve_text(text).module
    assert module is not None
    assert module == resolve_text(once).module == resolve_text(formatted(squeezed)).module


def test_dump_is_left_nearly_as_it_is():
    changed = [edit.new_text for edit in format_text(Analysis.of(dump("axpy")))]
    assert changed == [".kernel_attr SimdSize=32"]


def test_lines_taken_for_shapely_are():
    draw = random.Random(5)
    for path in draw.sample(reference_texts(), 6):
        damaged = []
        for line in read(path).split("\n")[:300]:
            blanks = [i for i, ch in enumerate(line) if ch == " "]
            if blanks and draw.random() < 0.4:
                at = draw.choice(blanks)
                damaged.append(line[:at] + draw.choice(("  ", "\t", " /* x */ ", " {")) + line[at + 1 :])
            else:
                damaged.append(draw.choice((line, " " + line, line.lstrip(), line + " ")))
        document = Analysis.of("\n".join(damaged)).document
        for number in range(document.line_count):
            text = document.line_text(number)
            if _IN_SHAPE.fullmatch(text):
                assert format_line(text, document.statement(number)) == text
