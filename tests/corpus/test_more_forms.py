"""Lines that mutation found: our verdict is that of the finalizer, recorded here and asked again where it is installed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from corpus import code_of_lines, frame_form
from finalizer import finalizer

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.codec.encode import encode
from visa_lsp.diagnostics import Severity
from visa_lsp.sema.lower import resolve_text

if TYPE_CHECKING:
    from pathlib import Path

ACCEPTED = (
    ("TGLLP", "jmp (M1_NM, 16) L1"),
    ("TGLLP", "gather.4 (M1, 4) T6 0x0:ud VU.0 VU2.0"),
    ("TGLLP", "lzd (M1, 16) VU(0,0)<1> (-abs)VU(0,0)<1;1,0>"),
    ("TGLLP", "and.sat (M1, 8) VU(0,0)<1> VU(0,0)<1;1,0> VU(0,0)<1;1,0>"),
    ("TGLLP", "mod (M1, 16) VD(0,0)<1> VD(0,0)<1;1,0> 0x7:d"),
    ("DG2", "min (M1, 16) VF(0,0)<1> VF(0,0)<1;1,0> VBF(0,0)<1;1,0>"),
    ("DG2", "add (M1, 16) VBF(0,0)<1> VF(0,0)<1;1,0> 1.5:f"),
    ("DG2", "lsc_load.ugm (M1, 1) VU:d16x8t flat[VUQ]:a64"),
    ("DG2", "lsc_load.slm (M1, 16) VU:d32 flat[VU2]:a16"),
    ("DG2", "lsc_load_quad.ugm (M1, 16) VU:d8c32.xy flat[VUQ]:a64"),
    ("DG2", "lsc_store_block2d.ugm (M1, 1) flat[VUQ,0x3f,0x3f,0x3f,VU,VU2] VUB:d8.8x8tn"),
    ("PVCXT", "dpas.bf.bf.8.8 (M1, 16) VBF.0 VBF.0 VU.0 VU(0,0)"),
    ("TGLLP", "vme_ime (3,7) T6 VUB.0 VUB.0 %null.0 %null.0 VUB.0 VUB.0"),
)
REJECTED = (
    ("TGLLP", "lzd (M1, 16) VU(0,0)<1> (~)VU(0,0)<1;1,0>"),
    ("DG2", "mod (M1, 16) VD(0,0)<1> VD(0,0)<1;1,0> 0x7:d"),
    ("DG2", "min (M1, 16) VF(0,0)<1> VBF(0,0)<1;1,0> VF(0,0)<1;1,0>"),
    ("DG2", "mov (M1, 16) VBF(0,0)<1> VU(0,0)<1;1,0>"),
    ("DG2", "sqrt (M1, 16) VBF(0,0)<1> VF(0,0)<1;1,0>"),
    ("DG2", "mov (M1, 16) VBF(0,0)<1> 0x3f80:bf"),
    ("TGLLP", "svm_block_st (4) VUQ(0,0)<0;1,0> A0(0)<8>"),
    ("TGLLP", "svm_block_ld (4) VUQ(0,0)<16;16,1> VU.0"),
    ("TGLLP", "wait VD(3,2)<8;8,1>"),
    ("TGLLP", "movs (M1_NM, 1) VU(0,0)<1> T6"),
    ("TGLLP", "fcall (M1, 16) f1 0x1 0"),
    ("TGLLP", "LOC -12"),
    ("TGLLP", "vme_ime (0,4) T6 VUB.0 VUB.0 %null.0 %null.0 VUB.0 VUB.0"),
    ("DG2", "dpas.bf.bf.8.8 (M1, 8) VBF.0 VF.0 VU.0 VU(0,0)"),
    ("DG2", "lsc_load.slm (M1, 16) VU:d32 flat[VUQ]:a64"),
    ("DG2", "lsc_load.slm (M1, 16) VU:d32 bti(0x3)[VU2]:a32"),
    ("DG2", "lsc_load.ugm (M1, 16) VU:d32 flat[VU2]:a16"),
    ("DG2", "lsc_load.ugm (M1, 16) VU:d32 bti(T6)[VU2]:a32"),
    ("DG2", "lsc_load.ugm (M1, 2) VU:d32x8t flat[VUQ]:a64"),
    ("DG2", "lsc_load.ugm (M1, 16) VU:d16x2 flat[VUQ]:a64"),
    ("DG2", "lsc_load_quad.tgm (M1, 8) VU:d32.x flat[VUQ]:a64"),
    ("DG2", "lsc_atomic_fmax.ugm (M1, 16) VF:d32 flat[VUQ]:a64 VF2 VF3"),
    ("DG2", "lsc_atomic_icas.ugm (M1, 16) VU:d32 flat[VUQ]:a64 VU2 %null"),
    ("DG2", "lsc_atomic_fadd.slm (M1, 16) VF:d32 flat[VU2]:a32 VF2 %null"),
    ("DG2", "lsc_store.ugm (M1, 16) flat[VUQ]:a64 %null:d32"),
    ("DG2", "lsc_load_block2d.ugm (M1, 1) VUB:d8.8x33nn flat[VUQ,0x3f,0x3f,0x3f,VU,VU2]"),
    ("DG2", "lsc_store_block2d.ugm (M1, 1) flat[VUQ,0x3f,0x3f,0x3f,VU,VU2] VUB:d8.2x8x8nn"),
    ("DG2", "lsc_fence.slm.evict.group"),
    ("TGLLP", ".decl X v_type=G type=d num_elts=8 align=1"),
    ("TGLLP", ".decl X v_type=G type=b num_elts=8193"),
    ("TGLLP", ".decl X v_type=G type=d num_elts=8 attrs={Output} align=GRF"),
    ("TGLLP", ".decl X v_type=A num_elts=8 alias=<VD, 0>"),
    ("TGLLP", ".decl add v_type=G type=d num_elts=8"),
    ("TGLLP", ".input %r0 offset=32 size=32"),
)


@pytest.mark.parametrize(
    ("platform", "line", "rejected"),
    [(*row, False) for row in ACCEPTED] + [(*row, True) for row in REJECTED],
    ids=lambda value: value if isinstance(value, str) and " " in value else None,
)
def test_the_verdict_is_that_of_the_finalizer(platform: str, line: str, rejected: bool, tmp_path: Path) -> None:
    text, _ = frame_form(line)
    assert rejected == any(d.severity is Severity.ERROR for d in Analysis.of(text, platform).diagnostics)
    if not rejected:
        assert resolve_text(text, platform).module is not None
    if shutil.which("GenX_IR"):
        (tmp_path / "x.visaasm").write_text(text, encoding="utf-8")
        done = finalizer(tmp_path, "x.visaasm", platform, "-outputCisaBinaryName", "x.isa")
        assert rejected == (done.returncode != 0), done.stderr


def code_of(text: str, platform: str, lines: range) -> bytes:
    module = resolve_text(text, platform).module
    assert module is not None
    return code_of_lines(encode(module), module.bodies[0], lines)


@pytest.mark.parametrize(
    ("shape", "pitch"),
    [
        ("d8", 1),
        ("d32", 4),
        ("d64", 8),
        ("d16c32", 4),
        ("d32x2", 8),
        ("d32x3", 12),
        ("d64x2", 16),
        ("d32x8t", 4),
        ("d64t", 8),
    ],
)
def test_lanes_without_a_pitch_lie_side_by_side(shape: str, pitch: int) -> None:
    """The finalizer prints this pitch for a text that names none."""
    size = 1 if shape.endswith("t") else 16
    plain, lines = frame_form(f"lsc_load_strided.ugm (M1, {size}) VU:{shape} flat[VUQ]:a64")
    given, _ = frame_form(f"lsc_load_strided.ugm (M1, {size}) VU:{shape} flat[VUQ,{pitch}]:a64")
    assert code_of(plain, "DG2", lines) == code_of(given, "DG2", lines)


ATTRIBUTES = {
    "Foo=16": "0400000000",
    'Foo="xyz"': "03000000",
    "Caller=16": "0401000000",
    'Caller="ab"': "020100",
    'Caller="xyz"': "03",
    'SimdSize="ab"': "026162",
    'SimdSize="xyz"': "03",
    "AsmName=16": "0410000000",
    'AsmName="xyz"': "0378797a",
    "Target=16": "0410000000",
}


@pytest.mark.parametrize(("written", "size_and_value"), ATTRIBUTES.items())
def test_kernel_attributes_are_written_as_the_finalizer_writes_them(written: str, size_and_value: str) -> None:
    module = resolve_text(f'.version 4.1\n.kernel "k"\n.kernel_attr {written}\n    ret (M1, 1)\n', "TGLLP").module
    assert module is not None
    attribute = module.kernels[0].attributes[0]
    assert (bytes([attribute.size]) + attribute.data).hex() == size_and_value
    name = module.kernels[0].string(attribute.name_index)
    assert name == ("OutputAsmPath" if 'AsmName="' in written else written.split("=", maxsplit=1)[0])


def test_matrix_operands_are_aligned_to_registers() -> None:
    """GenX_IR 1.0.12504.6 raises the alignment of the three raw operands to the register size, but not over `GRF`."""
    text = """.version 4.1
.kernel "k"
.decl VX v_type=G type=d num_elts=128 align=hword
.decl VY v_type=G type=d num_elts=128
.decl VZ v_type=G type=d num_elts=128 align=dword
.decl VG v_type=G type=d num_elts=128 align=GRF
    dpas.bf.bf.8.8 (M1, {size}) VX.0 VG.0 VY.0 VZ(0,0)
    ret (M1, 1)
"""
    for platform, size, codes in (("DG2", 8, [7, 7, 2, 5]), ("PVCXT", 16, [8, 8, 2, 5])):
        module = resolve_text(text.format(size=size), platform).module
        assert module is not None
        assert [variable.align for variable in module.kernels[0].variables] == codes


def test_logic_on_predicates_loses_its_own_predicate() -> None:
    text, lines = frame_form("(P2) not (M1, 16) P1 P2")
    plain, _ = frame_form("not (M1, 16) P1 P2")
    assert code_of(text, "SKL", lines) == code_of(plain, "SKL", lines)
