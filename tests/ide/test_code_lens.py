"""What a code lens counts: instructions that compute, whatever else has a line of its own."""

import pytest

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.code_lens import code_lenses

HEAD = '.version 4.1\n.kernel "k"\n.decl V33 v_type=G type=d num_elts=16 align=GRF\n'
CODE = [
    'FILE "a.cl"',
    "LOC 3",
    'file "b.cl"',
    "loc 4",
    "lifetime.start V33",
    "mov (M1, 16) V33(0,0)<1> 0x1:d",
    "LOC 5",
    "add (M1, 16) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d",
    "lifetime.end V33",
    "ret (M1, 1)",
]


@pytest.mark.parametrize(("opening", "closing"), [("", ""), ("    {\n", "    }\n")])
def test_marks_of_source_lines_and_lifetimes_are_no_instructions(opening, closing):
    code = "".join(f"    {line}\n" for line in CODE)
    text = f"{HEAD}_main:\n{opening}{code}{closing}"
    titles = [lens.title for lens in code_lenses(Analysis.of(text, None)) if lens.action == "counts"]
    assert titles == ["3 instructions, 1 variable"]
