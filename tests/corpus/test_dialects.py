"""A form of another dialect is understood and named; real text of its own dialect has no such finding."""

from __future__ import annotations

import pytest
from productions import FRAME

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.assemble import assemble_text

OLD = FRAME.replace(".version 4.2", ".version 4.1")
NEWER = (
    ("newer-form", "    lsc_load.ugm.ca.ca.uc (M1, 16) VU:d32 flat[VUQ]:a64", "third cache control"),
    ("newer-form", "    lsc_load.ugm (M1, 16) VU:d32 bti(0x4)[VU]:a32u", "address size"),
    ("newer-form", "    lsc_load.ugm (M1, 16) VU:d32 surf(VUQ)[VU]:a32", "surf"),
    ("newer-form", "    lsc_load.ugm (M1, 16) VU:d32 bss(VU, 2)[VU]:a32", "surface index"),
    ("newer-form", "    lsc_load.ugm.ov (M1, 16) VU:d32 flat[VUQ]:a64", "ov"),
    ("newer-form", "    lsc_load_block2d.ugm (M1, 1) VUB:d8.8x8nn flat[VU+(1,2)]", "block address in one register"),
    ("newer-form", "    sample_3d.R (M1, 8) 0x0:uw (S0, 0) (T6, 1) VF.0 VF.64", "surface with an index"),
    ("newer-form", ".decl X v_type=G type=hf8 num_elts=8", "type `hf8`"),
    ("newer-form", "    dpas.bf8.hf8.8.8 (M1, 16) VF.0 VF.0 VD.0 VD(0,0)", "precision"),
    ("wrong-dialect", "    tanh (M1, 16) VF(0,0)<1> VF(0,0)<1;1,0>", "4.2"),
    ("wrong-dialect", "    lsc_apndctr_atomic_add.ugm (M1, 16) VU:d32 bti(0x4) VU:d32", "4.2"),
    ("wrong-dialect", "    asin (M1, 16) VF(0,0)<1> VF(0,0)<1;1,0>", "specification"),
)  # fmt: skip


def findings(frame: str, line: str, platform: str = "CRI") -> list[tuple[str, str]]:
    text = f"{frame}{line}\n    ret (M1, 1)\n"
    at = frame.count("\n")
    analysis = Analysis.of(text, platform)
    return [
        (d.name, d.message)
        for d in analysis.diagnostics
        if analysis.document.position(d.span.start)[0] == at and d.name != "unused-variable"
    ]


@pytest.mark.parametrize(("name", "line", "part"), NEWER, ids=[line.strip() for _, line, _ in NEWER])
def test_a_newer_form_in_an_older_text_is_named(name: str, line: str, part: str):
    found = findings(OLD, line)
    assert [n for n, _ in found] == [name], found
    assert part in found[0][1]
    assert assemble_text(f"{OLD}{line}\n    ret (M1, 1)\n", "CRI").data is None
    if "asin" not in line:
        # That CRI takes other forms of these messages is told by rules of their own.
        assert [n for n, _ in findings(FRAME, line) if n not in ("lsc-message", "refused-form")] == []


@pytest.mark.parametrize(
    ("name", "line", "platform"),
    [
        ("matrix-size", "    dpas.s8.s8.8.8 (M1, 16) VD.0 VD.0 VD.0 VD(0,0)", "DG2"),
        ("matrix-size", "    dpas.s8.s8.8.8 (M1, 8) VD.0 VD.0 VD.0 VD(0,0)", "PVCXT"),
        ("narrow-conversion", "    srnd (M1, 16) VHF(0,0)<1> VF(0,0)<1;1,0> VF(2,0)<1;1,0>", "PVCXT"),
        ("narrow-conversion", "    fcvt (M1, 16) VUB(0,0)<1> VHF(0,0)<1;1,0>", "PVCXT"),
        ("narrow-conversion", "    fcvt (M1_NM, 16) VHF(0,0)<1> VF(0,0)<1;1,0>", "PVCXT"),
        ("cache-control", "    lsc_store.ugm.wb.uc (M1, 16) flat[VUQ]:a64 VU:d32", "PVCXT"),
        ("cache-control", "    lsc_load.ugm.st.st (M1, 16) VU:d32 flat[VUQ]:a64", "DG2"),
        ("cache-control", "    lsc_atomic_iadd.ugm.ca.ca (M1, 16) VU:d32 flat[VUQ]:a64 VU %null", "DG2"),
        ("cache-control", "    lsc_load_quad.tgm.uc.uc (M1, 8) VU:d32.x bti(0x3)[VU,VU]:a32", "DG2"),
    ],
)  # fmt: skip
def test_what_the_finalizer_rejects_on_a_platform(name: str, line: str, platform: str):
    assert name in [n for n, _ in findings(OLD, line, platform)]


@pytest.mark.parametrize(
    ("line", "platform"),
    [
        ("    dpas.s8.s8.8.8 (M1, 8) VD.0 VD.0 VD.0 VD(0,0)", "DG2"),
        ("    dpas.s8.s8.8.8 (M1, 16) VD.0 VD.0 VD.0 VD(0,0)", "PVCXT"),
        ("    srnd (M1_NM, 16) VHF(0,0)<1> VF(0,0)<1;1,0> VF(2,0)<1;1,0>", "PVCXT"),
        ("    fcvt (M1, 16) VHF(0,0)<1> VUB(0,0)<1;1,0>", "PVCXT"),
        ("    fcvt (M1, 16) VU(0,0)<1> VF(0,0)<1;1,0>", "PVCXT"),
        ("    lsc_store.ugm.wb.wb (M1, 16) flat[VUQ]:a64 VU:d32", "PVCXT"),
        ("    lsc_load.ugm.ri.ca (M1, 16) VU:d32 flat[VUQ]:a64", "DG2"),
        ("    lsc_load.ugm.df.df (M1, 16) VU:d32 flat[VUQ]:a64", "DG2"),
        ("    lsc_atomic_iadd.ugm.uc.wb (M1, 16) VU:d32 flat[VUQ]:a64 VU %null", "DG2"),
    ],
)  # fmt: skip
def test_what_the_finalizer_accepts_there(line: str, platform: str):
    assert findings(OLD, line, platform) == []
