import pytest
from cursor import applied
from lsp_client import CORPUS

from visa_lsp.ide.analysis import Analysis
from visa_lsp.ide.formatting import format_text
from visa_lsp.sema.lower import assemble


def formatted(text: str) -> str:
    return applied(text, format_text(Analysis.of(text)))


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
    folder = CORPUS / "run" / "TGLLP" / name
    if not folder.is_dir():
        pytest.skip("the corpus ../shared/corpus is not on this machine")
    return next(folder.glob("*.visaasm")).read_text()


@pytest.mark.parametrize("name", ["saxpy", "mandelbrot", "matmul_tiled", "histogram"])
def test_dump_keeps_its_program_and_formatting_is_idempotent(name):
    text = dump(name)
    once = formatted(text)
    assert once == formatted(once)
    squeezed = "\n".join(" ".join(line.split()) if '"' not in line else line for line in text.splitlines()) + "\n"
    module = assemble(text).module
    assert module is not None
    assert module == assemble(once).module == assemble(formatted(squeezed)).module


def test_dump_is_left_nearly_as_it_is():
    changed = [edit.new_text for edit in format_text(Analysis.of(dump("saxpy")))]
    assert changed == [".kernel_attr SimdSize=32"]
