"""Execution sizes that the finalizer takes without having them: a warning, and the object that it writes."""

import pytest

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.codec.encode import encode
from visa_lsp.diagnostics import Severity
from visa_lsp.sema.lower import resolve_text

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
    texts = [resolve_text(text, "TGLLP") for text in (wide, narrow)]
    assert encode(texts[0].module) == encode(texts[1].module)


@pytest.mark.parametrize("size", [1, 4])
def test_sizes_that_the_finalizer_refuses_are_errors(size):
    text = TEXT.format(line=f"load.R ({size}) T6 F.0 F.0 F.0 F.0")
    assert "V209" in [d.code for d in Analysis.of(text, "TGLLP").diagnostics if d.severity is Severity.ERROR]


HEAD = """.version 4.1
.kernel "k"
.decl D v_type=G type=d num_elts=64 align=GRF
.decl F v_type=G type=f num_elts=256 align=GRF
.decl T6 v_type=T num_elts=1
.decl A0 v_type=A num_elts=16
{decl}.kernel_attr Target="cm"
    mov (M1, 32) D(0,0)<1> 0x0:d
    addr_add (M1, 16) A0(0)<1> &D 0x4:uw
{filler}    {line}
    ret (M1, 1)
"""
CASES = [
    ("mov (M1, 32) D(0,0)<1> r[A0(0),0]<1,0>:d", "TGLLP", "error V222"),
    ("mov (M1, 16) D(0,0)<1> r[A0(0),0]<1,0>:d", "TGLLP", ""),
    ("mov (M1, 32) D(0,0)<1> r[A0(0),0]<2,1>:d", "TGLLP", ""),
    ("addr_add (M1, 16) A0(8)<1> &D 0x4:uw", "BMG", "error V222"),
    ("addr_add (M1, 16) A0(8)<1> &D 0x4:uw", "TGLLP", "warning V222"),
    ("addr_add (M1, 1) A0(0)<-1> &D 0x4:uw", "TGLLP", "warning V301"),
    ("addr_add (M1, 1) A0(0)<3> &D 0x4:uw", "TGLLP", "warning V301"),
    ("addr_add (M1, 1) A0(0)<1;1,0> &D 0x4:uw", "TGLLP", "error V301"),
    ("load.R (M1, 8) T6 F.0 F.0 F.0 F.0", "TGLLP", "error V210"),
    ("load.R (8) T6 F.0 F.0 F.0 F.0", "TGLLP", ""),
    ("oword_ld (M1, 2) T6 0x0:ud D.0", "TGLLP", ""),
]


@pytest.mark.parametrize("filler", [0, 90])
@pytest.mark.parametrize(("line", "platform", "expected"), CASES)
def test_what_the_finalizer_counts(line, platform, expected, filler):
    spare = "    add (M1, 8) D(0,0)<1> D(0,0)<1;1,0> D(1,0)<1;1,0>\n" * filler
    found = Analysis.of(HEAD.format(decl="", filler=spare, line=line), platform).diagnostics
    assert [
        f"{d.severity.value} {d.code}" for d in found if d.severity.value in ("error", "warning")
    ] == expected.split("\n")[: bool(expected)]


def test_an_alias_beyond_a_predefined_variable_is_a_warning():
    decl = ".decl XX v_type=G type=uq num_elts=1 align=hword alias=<%sp, 32>\n"
    found = Analysis.of(HEAD.format(decl=decl, filler="", line="wait 0x0:ud"), "TGLLP").diagnostics
    assert ("V115", Severity.WARNING) in [(d.code, d.severity) for d in found]
    assert not [d for d in found if d.severity is Severity.ERROR]
