"""Forms that only the seed documents have: understood, reported by name, and turned into today's form by their fix."""

from __future__ import annotations

import pytest
from cursor import apply_edits

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.sema.lower import resolve_text

FRAME = """.version 4.1
.kernel "k"
.decl V1 v_type=G type=d num_elts=64 align=GRF
.decl V21 v_type=G type=d num_elts=64 align=GRF
.decl V2 v_type=G type=ud num_elts=64 align=GRF
.decl V3 v_type=G type=f num_elts=128 align=GRF
.decl V4 v_type=G type=ub num_elts=256 align=GRF
.decl A0 v_type=A num_elts=8
.decl A1 v_type=A num_elts=8
.decl P1 v_type=P num_elts=8
.decl P2 v_type=P num_elts=8
.decl S9 v_type=S num_elts=1
.decl T6 v_type=T num_elts=1
{line}
    ret (M1, 1)
"""
FRAME = FRAME.replace("V1 ", "VA ").replace("V2 ", "VB ").replace("V3 ", "VC ").replace("V4 ", "VD ")

# (slug, the seed's line, today's line)
FORMS = (
    ("seed-mnemonic", "    ADD (M1, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x1:d", "    add (M1, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x1:d"),
    ("seed-mnemonic", "    Oword_Ld (4) T6 0x10:ud VB.0", "    oword_ld (4) T6 0x10:ud VB.0"),
    ("seed-mask", "    add (M0, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x1:d", "    add (M1, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x1:d"),
    ("seed-mask", "    add (NM, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x1:d", "    add (NoMask, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x1:d"),
    ("seed-mask", "    addr_add (1) A1(0)<1> A0(0)<1> 4:uw {NoMask}", "    addr_add (NoMask, 1) A1(0)<1> A0(0)<1> 4:uw"),
    ("seed-mask", "    addr_add (M1, 1) A1(0)<1> A0(0)<1> 4:uw {NM}", "    addr_add (M1_NM, 1) A1(0)<1> A0(0)<1> 4:uw"),
    ("seed-word", "    cmp.GT (M1, 8) P1 VA(0,0)<8;8,1> 0x1:d", "    cmp.gt (M1, 8) P1 VA(0,0)<8;8,1> 0x1:d"),
    ("seed-word", "    dword_atomic.imax (M1, 8) T6 VB.0 VB.64 %null.0 %null.0", "    dword_atomic.maxsint (M1, 8) T6 VB.0 VB.64 %null.0 %null.0"),
    ("seed-operand", "    addr_add (M1, 1) A0(0)<1> &V21+0 0x4:uw", "    addr_add (M1, 1) A0(0)<1> &V21[0] 0x4:uw"),
    ("seed-operand", "    addr_add (M1, 1) A0(0)<1> &V21 + 32 0x4:uw", "    addr_add (M1, 1) A0(0)<1> &V21[32] 0x4:uw"),
    ("seed-operand", "    addr_add (M1, 1) A0(0) A1(0)<1> 0x4:uw", "    addr_add (M1, 1) A0(0)<1> A1(0)<1> 0x4:uw"),
    ("seed-operand", "    mov (M1, 8) VA(0,0)<1> r[A0(0),0]<;1,0>:d", "    mov (M1, 8) VA(0,0)<1> r[A0(0),0]<1,0>:d"),
    ("seed-operand", "    media_ld.nomod (32,4) T6[0] 0x0:d 0x0:d VD.0", "    media_ld.nomod (32,4) T6 0 0x0:d 0x0:d VD.0"),
    ("seed-operand", "    sample.RGB (8) T6 S9 VC.0 VC.64 VC.128 VC.0", "    sample.RGB (8) S9 T6 VC.0 VC.64 VC.128 VC.0"),
    ("seed-operand", "    gather (8) (4) T6 0x0:ud VB.0 VB.64", "    gather.4 (8) T6 0x0:ud VB.0 VB.64"),
    ("seed-declaration", ".decl A14 v_type=A type=UW num_elts=1", ".decl A14 v_type=A num_elts=1"),
    ("seed-declaration", ".decl S0 v_type=S", ".decl S0 v_type=S num_elts=1"),
    ("seed-declaration", ".decl T7 v_type = T", ".decl T7 v_type = T num_elts=1"),
    ("seed-alias", ".decl VX v_type=G type=d num_elts=1 alias (VA, 0)", ".decl VX v_type=G type=d num_elts=1 alias=<VA, 0>"),
    ("seed-name", ".kernel_attr OutputAsmPath=IS_genx_1.asm", '.kernel_attr OutputAsmPath="IS_genx_1.asm"'),
)  # fmt: skip


@pytest.mark.parametrize(("slug", "line", "modern"), FORMS, ids=[line.strip() for _, line, _ in FORMS])
def test_a_form_of_the_seed_is_understood_and_named(slug: str, line: str, modern: str):
    text, wanted = FRAME.replace("{line}", line), FRAME.replace("{line}", modern)
    ours, theirs = resolve_text(text, "TGLLP"), resolve_text(wanted, "TGLLP")
    assert theirs.module is not None, theirs.bound.problems
    assert ours.module is not None, ours.bound.problems
    assert ours.module.kernels[0].instructions == theirs.module.kernels[0].instructions
    analysis = Analysis.of(text, "TGLLP")
    seeds = [d for d in analysis.diagnostics if d.name.startswith("seed-")]
    assert [d.name for d in seeds] == [slug], analysis.diagnostics
    fixed = apply_edits(text, seeds[0].fixes[0].edits)
    assert fixed == wanted
    assert not [d for d in Analysis.of(fixed, "TGLLP").diagnostics if d.name.startswith("seed-")]


def test_an_indirect_operand_of_the_seed_lacks_its_type():
    text = FRAME.replace("{line}", "    mov (8) [A1(0), 0]<1>  0:ud")
    (finding,) = [d for d in Analysis.of(text).diagnostics if d.name == "seed-operand"]
    assert "r[A1(0), 0]<1>" in finding.message


STRUCTURED = """    (P1) if (M1, 8)
      add (M1, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x1:d
    else (M1, 8)
      add (M1, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x2:d
    endif (M1, 8)
    do (M1, 8)
      (P2) break (M1, 8)
      (P2) cont (M1, 8)
      add (M1, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x4:d
    (!P1) while (M1, 8)"""
GOTO = """    (!P1) goto (M1, 8) seed_else_0
      add (M1, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x1:d
    goto (M1, 8) seed_endif_0
seed_else_0:
      add (M1, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x2:d
seed_endif_0:
seed_do_1:
      (P2) goto (M1, 8) seed_exit_1
      (P2) goto (M1, 8) seed_while_1
      add (M1, 8) VA(0,0)<1> VA(0,0)<8;8,1> 0x4:d
seed_while_1:
    (!P1) goto (M1, 8) seed_do_1
seed_exit_1:"""


def test_structured_control_flow_is_named_and_its_fix_writes_gotos():
    text = FRAME.replace("{line}", STRUCTURED)
    analysis = Analysis.of(text, "TGLLP")
    found = [d for d in analysis.diagnostics if d.name == "structured-flow"]
    assert len(found) == 7
    fixed = apply_edits(text, found[0].fixes[0].edits)
    assert fixed == FRAME.replace("{line}", GOTO)
    assert resolve_text(fixed, "TGLLP").module is not None


def test_unpaired_structured_words_have_no_fix():
    analysis = Analysis.of(FRAME.replace("{line}", "    (P1) if (M1, 8)"), "TGLLP")
    (found,) = [d for d in analysis.diagnostics if d.name == "structured-flow"]
    assert not found.fixes
    assert "endif" in found.message


def test_the_kernel_may_stand_before_the_version():
    text = ".kernel BlockMotionSearch\n.version 1.0\n.function foo\nfoo:\n    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    assert [d.name for d in analysis.diagnostics] == ["version-line"]
    assert [b.name for b in analysis.bound.bodies] == ["BlockMotionSearch"]


NAMES = (".kernel foo<int, 4>", ".kernel a-b(int)", ".kernel a-b")


@pytest.mark.parametrize("line", NAMES)
def test_a_kernel_name_without_quotes_is_understood(line: str):
    text = f".version 4.1\n{line}\n    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    (finding,) = analysis.diagnostics
    assert finding.name == "seed-name"
    name = line.split(" ", 1)[1]
    assert analysis.bound.bodies[0].name == name
    (edit,) = finding.fixes[0].edits
    assert edit.new_text == f'"{name}"'


LABEL = "??$d_transpose@M$07$0IA@@@YAXVSurfaceIndex@@0HH@Z:"


@pytest.mark.parametrize(
    "line",
    [
        "BB_11224:", LABEL, ".input VA offset=36 size=256", '    FILE "a.cm"', "    LOC 12", "/* a comment */",
        "    add (M1, 8) r[A0(0),64]<1>:d r[A0(3),448]<8;8,1>:d 0x100:d", "    vme_fbr (1:ub 2:ub 3:ub) T6 VD.0 VD.64 VD.0",
    ],
)  # fmt: skip
def test_an_example_of_the_seed_that_is_still_good_text(line: str):
    result = resolve_text(FRAME.replace("{line}", line), "SKL")
    assert result.module is not None, result.bound.problems
