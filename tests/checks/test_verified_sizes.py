"""Execution sizes that the finalizer takes without having them: a warning, and the object that it writes."""

import pytest

from visa_lsp.codec.encode import encode
from visa_lsp.diagnostics import Severity
from visa_lsp.ide.analysis import Analysis
from visa_lsp.sema.lower import assemble

TEXT = """.version 4.1
.kernel "k"
.decl F v_type=G type=f num_elts=256 align=GRF
.decl T6 v_type=T num_elts=1
.decl S0 v_type=S num_elts=1
.kernel_attr Target="cm"
    {line}
    ret (M1, 1)
"""


@pytest.mark.parametrize("line", ["load.R ({}) T6 F.0 F.0 F.0 F.0", "sample.R ({}) S0 T6 F.0 F.0 F.0 F.0"])
def test_older_messages_of_32_lanes_are_stored_as_8(line):
    wide, narrow = (TEXT.format(line=line.format(n)) for n in (32, 8))
    found = Analysis.of(wide, "TGLLP").diagnostics
    assert [(d.code, d.severity) for d in found] == [("V209", Severity.WARNING)]
    texts = [assemble(text, "TGLLP") for text in (wide, narrow)]
    assert encode(texts[0].module) == encode(texts[1].module)


@pytest.mark.parametrize("size", [1, 4])
def test_sizes_that_the_finalizer_refuses_are_errors(size):
    text = TEXT.format(line=f"load.R ({size}) T6 F.0 F.0 F.0 F.0")
    assert "V209" in [d.code for d in Analysis.of(text, "TGLLP").diagnostics if d.severity is Severity.ERROR]
