"""What compilers of 3.x objects wrote has no warning: offsets of type d, an older attribute's name, written inputs, tables of states."""

import pytest

from visa_lsp.analysis.analysis import Analysis

HEAD = '.version 4.1\n.kernel "k"\n'
DECLS = (
    ".decl V32 v_type=G type=d num_elts=16 align=GRF\n.decl V33 v_type=G type=d num_elts=1 align=dword\n"
    ".decl S6 v_type=S num_elts=96\n.decl T6 v_type=T num_elts=1\n.input V33 offset=44 size=4\n"
)


def text(attributes, line, filler=0):
    spare = "    add (M1, 8) V32(0,0)<1> V32(0,0)<1;1,0> V33(0,0)<0;1,0>\n" * filler
    return f"{HEAD}{DECLS}{attributes}{spare}    {line}\n    ret (M1, 1)\n"


def codes(*parts):
    return [d.code for d in Analysis.of(text(*parts)).diagnostics if d.severity.value in ("error", "warning")]


@pytest.mark.parametrize("filler", [0, 90])
@pytest.mark.parametrize("line", ["oword_ld_unaligned (2) T6 V33(0,0)<0;1,0> V32.0", "oword_ld (2) T6 0x4:d V32.0"])
def test_block_offsets_are_signed_or_not(line, filler):
    assert codes("", line, filler) == []


@pytest.mark.parametrize("filler", [0, 90])
def test_older_name_of_an_attribute_is_known(filler):
    assert codes(".kernel_attr perThreadInputSize=32\n", "wait 0x0:ud", filler) == []
    assert codes(".kernel_attr perthreadInputsize=32\n", "wait 0x0:ud", filler) == ["V120"]


WRITTEN = "mov (M1, 1) V33(0,0)<1> 0x1:d"


@pytest.mark.parametrize("filler", [0, 90])
@pytest.mark.parametrize(("target", "found"), [("cm", []), ("3d", ["V127"]), ("", ["V127"])])
def test_inputs_of_media_kernels_are_variables(target, found, filler):
    assert codes(f'.kernel_attr Target="{target}"\n' if target else "", WRITTEN, filler) == found


@pytest.mark.parametrize("filler", [0, 90])
def test_an_edited_target_changes_what_is_said_of_inputs(filler):
    media, graphics = (text(f'.kernel_attr Target="{t}"\n', WRITTEN, filler) for t in ("cm", "3d"))
    at = media.index('"cm"') + 1
    analysis = Analysis.of(media)
    assert analysis.diagnostics == ()
    edited = analysis.edit(at, at + 2, "3d")
    assert edited.diagnostics == Analysis.of(graphics).diagnostics
    assert [d.code for d in edited.diagnostics] == ["V127"]
    assert edited.edit(at, at + 2, "cm").diagnostics == ()


@pytest.mark.parametrize(("count", "found"), [(128, []), (129, ["V114"]), (255, ["V114"])])
def test_a_table_of_samplers_has_128_at_most(count, found):
    source = text("", "wait 0x0:ud").replace("num_elts=96", f"num_elts={count}")
    assert [d.code for d in Analysis.of(source).diagnostics if d.severity.value == "error"] == found
