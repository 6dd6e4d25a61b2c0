"""One line per production of the public grammar (``visa/CISA.y``) and per alternative of its lexer (``visa/CISA.l``).

The list was made by going through both files rule by rule; the lines are our own. Each one is read without a problem,
has a meaning, and reads back from its printed form as the same instruction.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.operand_text import instruction
from visa_lsp.program.text_form import names_of
from visa_lsp.sema.bind import bind
from visa_lsp.sema.lower import HARMLESS, assemble, lower
from visa_lsp.syntax.document import Document

FRAME = """.version 4.2
.kernel "k"
.decl VF v_type=G type=f num_elts=64 align=GRF
.decl VD v_type=G type=d num_elts=64 align=GRF
.decl VU v_type=G type=ud num_elts=64 align=GRF
.decl VW v_type=G type=w num_elts=64 align=GRF
.decl VUW v_type=G type=uw num_elts=64 align=GRF
.decl VB v_type=G type=b num_elts=128 align=GRF
.decl VUB v_type=G type=ub num_elts=256 align=GRF
.decl VQ v_type=G type=q num_elts=32 align=GRF
.decl VUQ v_type=G type=uq num_elts=32 align=GRF
.decl VDF v_type=G type=df num_elts=32 align=GRF
.decl VHF v_type=G type=hf num_elts=64 align=GRF
.decl VBF v_type=G type=bf num_elts=64 align=GRF
.decl A0 v_type=A num_elts=8
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.decl S0 v_type=S num_elts=1
.decl T6 v_type=T num_elts=2
.kernel_attr SimdSize=16
"""

G1 = "VD(0,0)<1;1,0>"
U1 = "VU(0,0)<1;1,0>"
F1 = "VF(0,0)<1;1,0>"

PRODUCTIONS: dict[str, tuple[str, ...]] = {
    "LogicInstruction": (
        f"and (M1, 16) VU(0,0)<1> {U1} 0xff:ud",
        f"(P1) or (M1, 16) VU(0,0)<1> {U1} {U1}",
        "(!P1.any) xor (M1_NM, 16) P1 P1 P2",
        f"(P1.all) shl (M5, 16) r[A0(0),4]<1>:ud {U1} 0x2:ud",
        f"shr (M1, 16) VU(0,0)<1> {U1} 0x2:ud",
        f"asr (M1, 16) VD(0,0)<1> {G1} 0x2:d",
        f"rol (M1, 16) VU(0,0)<1> {U1} 0x2:ud",
        f"ror (M1, 16) VU(0,0)<1> {U1} 0x2:ud",
        f"bfe (M1, 16) VU(0,0)<1> 0x8:ud 0x4:ud {U1}",
        f"bfi (M1, 16) VU(0,0)<1> 0x8:ud 0x4:ud {U1} {U1}",
        "and (M1, 16) P1 P1 P2",
    ),
    "UnaryLogicInstruction": (
        f"not (M1, 16) VU(0,0)<1> {U1}",
        "not (M1, 16) P1 P2",
        f"cbit (M1, 16) VU(0,0)<1> {U1}",
        f"fbh (M1, 16) VU(0,0)<1> {U1}",
        f"fbl (M1, 16) VU(0,0)<1> {U1}",
        f"bfrev (M1, 16) VU(0,0)<1> {U1}",
    ),
    "MathInstruction": tuple(f"{m} (M1, 16) VF(0,0)<1> {F1}" for m in "inv log exp sqrt rsqrt sin cos sqrtm tanh sigm".split())
    + tuple(f"{m}.sat (M1, 16) VF(0,0)<1> {F1} {F1}" for m in ("div", "pow"))
    + (f"mod (M1, 16) VF(0,0)<1> {F1} {F1}", f"divm (M1, 16) VF(0,0)<1> {F1} {F1}"),
    "ArithInstruction_2OPND": tuple(f"{m} (M1, 16) VF(0,0)<1> {F1}" for m in "frc rndd rndu rnde rndz".split())
    + (f"lzd (M1, 16) VU(0,0)<1> {U1}",),
    "ArithInstruction_3OPND": (
        f"add.sat (M1, 16) VD(0,0)<1> {G1} (-){G1}",
        f"avg (M1, 16) VD(0,0)<1> {G1} {G1}",
        "dp2 (M1, 16) VF(0,0)<1> VF(0,0)<4;4,1> VF(0,0)<4;4,1>",
        "dp3 (M1, 16) VF(0,0)<1> VF(0,0)<4;4,1> VF(0,0)<4;4,1>",
        "dp4 (M1, 16) VF(0,0)<1> VF(0,0)<4;4,1> VF(0,0)<4;4,1>",
        "dph (M1, 16) VF(0,0)<1> VF(0,0)<4;4,1> VF(0,0)<4;4,1>",
        f"line (M1, 16) VF(0,0)<1> VF(0,0)<0;4,1> {F1}",
        f"mul (M1, 16) VD(0,0)<1> {G1} (abs){G1}",
        f"mulh (M1, 16) VD(0,0)<1> {G1} (-abs){G1}",
        "sad2 (M1, 8) VW(0,0)<2> VB(0,0)<16;8,2> VB(1,0)<16;8,2>",
        f"plane (M1, 16) VF(0,0)<1> VF(0,0)<0;4,1> {F1}",
        f"srnd (M1_NM, 16) VHF(0,0)<1> {F1} {F1}",
        f"invm (M1, 16) VF(0,0)<1> P1 {F1} {F1}",
        f"rsqtm (M1, 16) VF(0,0)<1> P1 {F1}",
    ),
    "ArithInstruction_4OPND": (
        f"mad (M1, 16) VF(0,0)<1> {F1} {F1} {F1}",
        f"lrp (M1, 16) VF(0,0)<1> {F1} {F1} {F1}",
        "sad2add (M1, 8) VW(0,0)<1> VB(0,0)<16;8,2> VB(1,0)<16;8,2> VW(0,0)<8;8,1>",
        f"madw (M1, 16) VU(0,0)<1> {U1} {U1} {U1}",
        f"dp4a (M1, 16) VD(0,0)<1> {G1} {G1} {G1}",
        f"add3 (M1, 16) VD(0,0)<1> {G1} {G1} {G1}",
        f"add3.o (M1, 16) VD(0,0)<1> {G1} {G1} {G1}",
        f"addc (M1, 16) VU(0,0)<1> VU(2,0)<1> {U1} {U1}",
        f"subb (M1, 16) VU(0,0)<1> VU(2,0)<1> {U1} {U1}",
    ),
    "BdpasInstruction": tuple(
        f"bdpas.{p}.{p}.8.8 (M1, 16) VF.0 VF.0 VD.0 VD.64 VUB(0,0) VUB(1,0)" for p in ("bf", "hf", "bf8", "hf8", "e2m1")
    ),
    "DpasInstruction": tuple(
        f"dpas.{p}.8.{n} (M1, 16) VF.0 VF.0 VD.0 VD(0,0)"
        for n, p in enumerate(
            ("s8.u8", "u4.s2", "u2.s4", "bf.bf", "hf.hf", "tf32.tf32", "bf8.hf8", "e2m1.e2m1"), 1
        )
    )
    + (
        "dpas.S8.U4.8.1 (M1, 16) VD.0 VD.0 VD.0 VD(0,0)",
        "dpas.BF.Bf.4.8 (M1, 16) VF.0 %null.0 VD.0 VD(0,0)",
        "dpas.bF8.HF8.8.8 (M1, 16) VF.0 %null.0 VD.0 VD(0,0)",
        "dpas.E2M1.e2M1.8.8 (M1, 16) VF.0 %null.0 VD.0 VD(0,0)",
        "dpas.u1.s1.8.8 (M1, 16) VD.0 %null.0 VD.0 VD(0,0)",
        "dpasw.s8.s8.8.8 (M1, 8) VD.0 VD.0 VD.0 VD(0,0)",
        "dpasw.HF.hF.8.8 (M1, 8) VF.0 VF.0 VD.0 VD(1,0)",
    ),
    "BfnInstruction": (
        f"bfn.xd8 (M1, 16) VU(0,0)<1> {U1} {U1} {U1}",
        f"bfn.x5 (M1, 16) VU(0,0)<1> {U1} {U1} 0x1:ud",
    ),
    "QwScatterInstruction": ("qw_gather.1 (M1, 8) T6 VU.0 VUQ.0", "(P1) qw_scatter.2 (M1, 16) T6 VU.0 VUQ.0"),
    "FCvtInstruction": (f"fcvt (M1_NM, 16) VUB(0,0)<1> VHF(0,0)<1;1,0>", f"fcvt.sat (M1, 16) VHF(0,0)<1> VUB(0,0)<1;1,0>"),
    "AddrAddInstruction": (
        "addr_add (M1, 1) A0(0)<1> &VD 0x10:uw",
        "addr_add (M1, 4) A0(0)<4> &VD[32] VUW(0,0)<0;4,1>",
        "addr_add (M1, 1) A0(1)<1> A0(0)<1> 0x4:w",
        "addr_add (M1, 2) A0(0)<2> VUW(0,0)<1;2,1> VUW(0,2)<1;2,1>",
        "addr_add (M1, 1) A0(0)<1> &T6 0x4:uw",
    ),
    "SetpInstruction": (f"setp (M1, 16) P1 {U1}", "setp (M1_NM, 16) P1 0xffff:uw", "setp (M1, 16) P1 r[A0(0)]<1;1,0>:ud"),
    "SelInstruction": (f"(P1) sel.sat (M1, 16) VD(0,0)<1> {G1} 0x1:d",),
    "MinMax": (f"min (M1, 16) VD(0,0)<1> {G1} 0x1:d", f"max.sat (M1, 16) VF(0,0)<1> {F1} 1.0:f"),
    "MovInstruction": (
        f"mov (M1, 16) VD(0,0)<2> {G1}",
        "mov (M1, 16) VD<1> VD(0,0)<8;8,1>",
        "mov (M1, 4) A0(0)<4> VUW(0,0)<1;4,1>",
        "mov (M1, 1) A0(0)<1> &VD[32]",
        "mov (M1, 1) VUW(0,0)<1> A0(0)<1>",
        "mov (M1, 1) VU(0,0)<1> P1",
        "mov (M1, 8) VD(0,0)<1> r[A0(0),0]<8;8,1>:d",
        "mov (M1, 8) VD(0,0)<1> (-)r[A0(0)]<1,0>:d",
        "mov (M1, 8) VD(0,0)<1> r[A0(2),-4]<1>:d",
        "mov (M1, 8) r[A0(0),8]<2>:d 0x1:d",
    ),
    "SrcImmOperand": (
        "mov (M1, 1) VF(0,0)<1> 1.5:f",
        "mov (M1, 1) VF(0,0)<1> -1.5:f",
        "mov (M1, 1) VF(0,0)<1> 15e-1:f",
        "mov (M1, 1) VF(0,0)<1> 1.5e+2:F",
        "mov (M1, 1) VF(0,0)<1> 0x3f800000:f",
        "mov (M1, 1) VF(0,0)<1> 1:f",
        "mov (M1, 1) VDF(0,0)<1> 2.5:df",
        "mov (M1, 1) VDF(0,0)<1> -2e+3:DF",
        "mov (M1, 1) VDF(0,0)<1> 0x3ff0000000000000:df",
        "mov (M1, 1) VDF(0,0)<1> 3:df",
        "mov (M1, 1) VHF(0,0)<1> 0x3c00:hf",
        "mov (M1, 1) VD(0,0)<1> (1+2*3):d",
        "mov (M1, 1) VD(0,0)<1> ~5:D",
        "mov (M1, 1) VD(0,0)<1> !5:d",
        "mov (M1, 1) VD(0,0)<1> -(%sizeof(VD)):d",
        "mov (M1, 1) VUQ(0,0)<1> 0xffffffffffffffff:uq",
        "mov (M1, 1) VQ(0,0)<1> -1:Q",
        "mov (M1, 8) VW(0,0)<1> 0x76543210:v",
        "mov (M1, 8) VUW(0,0)<1> 0x76543210:uv",
        "mov (M1, 8) VUW(0,0)<1> 0x76543210:UV",
        "mov (M1, 4) VF(0,0)<1> 0x48403000:vf",
        "mov (M1, 4) VF(0,0)<1> 0x48403000:VF",
        "mov (M1, 1) VUB(0,0)<1> 0xff:ub",
        "mov (M1, 1) VB(0,0)<1> 0x7f:B",
        "mov (M1, 1) VUW(0,0)<1> 1:UW",
        "mov (M1, 1) VUW(0,0)<1> 1:bool",
    ),
    "IntExp": (
        "mov (M1, 1) VD(0,0)<1> (1 ? 2 : 3):d",
        "mov (M1, 1) VD(0,0)<1> (6 & 3 ^ 1 | 8):d",
        "mov (M1, 1) VD(0,0)<1> (1 == 1):d",
        "mov (M1, 1) VD(0,0)<1> (1 != 1):d",
        "mov (M1, 1) VD(0,0)<1> (1 < 2):d",
        "mov (M1, 1) VD(0,0)<1> (1 > 2):d",
        "mov (M1, 1) VD(0,0)<1> (1 <= 2):d",
        "mov (M1, 1) VD(0,0)<1> (1 >= 2):d",
        "mov (M1, 1) VD(0,0)<1> (1 << 4):d",
        "mov (M1, 1) VD(0,0)<1> (-16 >> 2):d",
        "mov (M1, 1) VD(0,0)<1> (16 >>> 2):d",
        "mov (M1, 1) VD(0,0)<1> (7 / 2 % 2 - 1 + 4):d",
        "mov (M1, 1) VD(0,0)<1> (~1 - -1 + !0):d",
        "mov (M1, 1) VD(0,0)<1> (%sizeof VD):d",
        "mov (M1, 1) VD(0,0)<1> (%sizeof(GRF)):d",
        "mov (M1, 1) VD(0,0)<1> (%DispatchSimd):d",
        "mov (M1, 1) VD(0+1, 2*2)<1+1> VD(0, %sizeof(VB)/128)<8/2;4,2-1>",
    ),
    "MovsInstruction": (
        "movs (M1, 1) T6(0) T6(1)",
        "movs (M1, 1) VU(0,0)<1> T6(0)",
        "movs (M1, 1) T6(0) VU(0,0)<0;1,0>",
        "movs (M1, 1) S0(0) VU(0,0)<0;1,0>",
        "movs (M1, 1) S0(0) S0(0)",
        "movs (M1_NM, 1) %bss(0) 0x4:ud",
    ),
    "CmpInstruction": tuple(f"cmp.{c} (M1, 16) P1 {G1} 0x1:d" for c in "eq ne gt ge lt le".split())
    + (f"cmp (M1, 16) P1 {G1} 0x1:d", f"cmp.lt (M1, 16) VD(0,0)<1> {G1} 0x1:d"),
    "MediaInstruction": (
        "media_ld.nomod (32,8) T6 0 VD(0,0)<0;1,0> VD(0,1)<0;1,0> VUB.0",
        "media_ld.modified (32,8) T6 0 0x0:d 0x1:d VUB.0",
        "media_ld.top (32,8) T6 0x0:d 0x1:d VUB.0",
        "media_ld.bottom (32,8) T6 0x0:d 0x1:d VUB.0",
        "media_ld.top_mod (32,8) T6 1 0x0:d 0x1:d VUB.0",
        "media_ld.bottom_mod (32,8) T6 1 0x0:d 0x1:d VUB.0",
        "media_st.nomod (32,8) T6 0 0x0:d 0x1:d VUB.0",
        "media_st.top (32,8) T6 0 0x0:d 0x1:d VUB.0",
    ),
    "ScatterInstruction": (
        "gather.4 (M1, 8) T6 0x0:ud VU.0 VU.64",
        "gather.1 (M1, 16).mod T6 0x0:ud VU.0 VU.64",
        "scatter.2 (M1, 8) T6 VU(0,0)<0;1,0> VU.0 VU.64",
    ),
    "ScatterTypedInstruction": (
        "(P1) gather4_typed.RGBA (M1, 8) T6 VU.0 VU.64 VU.0 %null.0 VU.128",
        "scatter4_typed.r (M1, 8) T6 VU.0 VU.64 %null.0 %null.0 VU.128",
        "scatter4_typed.gB (M1, 8) T6 VU.0 VU.64 %null.0 %null.0 VU.128",
    ),
    "Scatter4ScaledInstruction": (
        "(P1) gather4_scaled.RG (M1, 8) T6 0x0:ud VU.0 VU.64",
        "scatter4_scaled.A (M1, 8) T6 0x0:ud VU.0 VU.64",
    ),
    "ScatterScaledInstruction": (
        "(P1) gather_scaled.1 (M1, 8) T6 0x0:ud VU.0 VU.64",
        "scatter_scaled.4 (M1, 8) T6 0x0:ud VU.0 VU.64",
    ),
    "SynchronizationInstruction": (
        "barrier",
        "sbarrier.signal",
        "sbarrier.wait",
        "nbarrier.signal 0x1:ub 0x2:ub",
        "nbarrier.signal VUB(0,0)<0;1,0> 0x0:ud 0x2:ub 0x3:ub",
        "nbarrier.wait 0x1:ub",
    ),
    "DwordAtomicInstruction": tuple(
        f"dword_atomic.{op} (M1, 8) T6 VU.0 VU.64 %null.0 VU.128"
        for op in "add sub inc dec min max xchg cmpxchg and or xor minsint maxsint fmax fmin fcmpwr fadd fsub".split()
    )
    + ("(P1) dword_atomic.add.16 (M1, 8) T6 VU.0 VU.64 %null.0 VU.128",),
    "TypedAtomicInstruction": (
        "typed_atomic.inc (M1, 8) T6 VU.0 VU.64 %null.0 %null.0 %null.0 %null.0 VU.128",
        "(P1) typed_atomic.cmpxchg.16 (M1, 8) T6 VU.0 VU.64 %null.0 %null.0 VU.0 VU.64 VU.128",
    ),
    "SampleUnormInstruction": tuple(
        f"sample_unorm.RGBA.{mode} S0 T6 0.0:f 0.0:f 0.1:f 0.1:f VUW.0"
        for mode in ("16-full", "16-downsampled", "8-full", "8-downsampled")
    ),
    "SampleInstruction": (
        "sample.RGB (8) S0 T6 VF.0 VF.64 VF.128 VF.0",
        "sample.R (16) S0 T6 VF.0 VF.64 %null.0 VF.0",
        "load.RG (8) T6 VF.0 VF.64 VF.128 VF.0",
        "sample.R S0 T6 VF.0 VF.64 VF.128 VF.0",
        "load.R T6 VF.0 VF.64 VF.128 VF.0",
    ),
    "Sample3dInstruction": tuple(
        f"{op}.RGBA (M1, 8) 0x0:uw S0 T6 VF.0 VF.64 VF.128"
        for op in (
            "sample_3d sample_b sample_l sample_c sample_d sample_b_c sample_l_c sample_d_c sample_lz sample_c_lz"
            " sample_po sample_po_b sample_po_l sample_po_c sample_po_d sample_po_l_c sample_po_lz sample_po_c_lz"
            " sample_po_b_c sample_po_d_c sample_mlod sample_c_mlod sample_d_c_mlod lod"
        ).split()
    )
    + (
        "(P1) sample_3d.pixel_null_mask.cps.divS.R (M1, 8) VUW(0,0)<0;1,0> S0 T6 VF.0 VF.64",
        "sample_3d.R (M1, 8) 0x0:uw (S0, 0) (T6, 1) VF.0 VF.64",
        "sample_3d.R (M1, 8) 0x0:uw (S0,0x0) (T6,(1)) VF.0 VF.64 VF.(32*2)",
        "sample_3d.R (M1, 8) 0x0:uw S31 T6 VF.0",
    ),
    "Load3dInstruction": tuple(
        f"{op}.RGBA (M1, 8) 0x0:uw T6 VF.0 VU.0 VU.64" for op in "load_3d load_mcs load_2dms_w load_lz load_l".split()
    )
    + ("load_lz.pixel_null_mask.R (M1, 8) 0x0:uw (T6, 1) VF.0 VU.0",),
    "Gather43dInstruction": tuple(
        f"{op}.R (M1, 8) 0x0:uw S0 T6 VF.0 VF.64"
        for op in (
            "sample4 sample4_c sample4_po sample4_po_c sample4_po_b sample4_po_l sample4_po_l_c sample4_po_i sample4_po_i_c"
            " sample4_i sample4_l sample4_b sample4_i_c sample4_l_c"
        ).split()
    )
    + ("sample4.pixel_null_mask.A (M1, 8) 0x0:uw (S0, 0) (T6, 1) VF.0 VF.64",),
    "ResInfo3dInstruction": ("resinfo.RGBA (M1, 8) T6 VU.0 VU.64", "resinfo.RG (M1, 8) (T6, 1) VU.0 VU.64"),
    "SampleInfo3dInstruction": ("sampleinfo.R (M1, 8) T6 VU.0", "sampleinfo.R (M1, 8) (T6, 1) VU.0"),
    "RTWriteInstruction": (
        "rt_write_3d (M1, 8) T6 %null.0 VF.0 VF.64 VF.128 VF.192",
        "rt_write_3d.<LRTW> (M1, 8) T6 %null.0 VF.0 VF.64 VF.128 VF.192",
        "(P1) rt_write_3d.<A><RTI> (M1, 8) T6 %null.0 0x1:uw VF.0 VF.0 VF.64 VF.128 VF.192",
        "rt_write_3d.<O><Z><ST><CPS><PS><CM><SI><NULLRT> (M1, 16) T6 VD.0 VUW(0,0)<0;1,0> 0x1:ud VF.0 VF.0 VF.64 VF.128 VF.192 VF.0 VF.0",
    ),
    "URBWriteInstruction": ("(P1) urb_write_3d (M1, 8) 4 0 VU.0 VU.64 %null.0 VF.0",),
    "AVSInstruction": tuple(
        f"avs.RGBA T6 S0 0.0:f 0.0:f 0.1:f 0.1:f 0.0:f 0x0:ud 0x0:ud {cntrl} 0x0:ud {mode} 0x1:ud VUW.0"
        for cntrl, mode in (("AVS_16_FULL", "AVS_16x8"), ("AVS_8_DOWN_SAMPLE", "AVS_4x4"), ("AVS_8_FULL", "AVS_8x4"))
    ),
    "VMEInstruction": (
        "vme_ime (1,2) T6 VUB.0 VUB.64 %null.0 %null.0 %null.0 VUB.0",
        "vme_sic T6 VUB.0 VUB.64 VUB.0",
        "vme_fbr (0x0:ub,VUB(0,1)<0;1,0>,0x2:ub) T6 VUB.0 VUB.64 VUB.0",
    ),
    "OwordInstruction": (
        "oword_ld (4) T6 0x10:ud VU.0",
        "oword_ld.mod (M1, 4) T6 VU(0,0)<0;1,0> VU.0",
        "oword_ld_unaligned (16) T6 0x10:ud VU.0",
        "oword_st (8) T6 0x10:ud VU.0",
    ),
    "SvmInstruction": (
        "svm_block_ld (4) VUQ(0,0)<0;1,0> VU.0",
        "svm_block_ld.aligned (4) VUQ(0,0)<0;1,0> VU.0",
        "svm_block_ld.unaligned (M1, 4) VUQ(0,0)<0;1,0> VU.0",
        "svm_block_st (8) VUQ(0,0)<0;1,0> VU.0",
        "(P1) svm_gather.4.2 (M1, 8) VUQ.0 VU.0",
        "svm_scatter.8.1 (M1, 8) VUQ.0 VU.0",
        "svm_atomic.fadd (M1, 8) VUQ.0 VU.0 VU.64 %null.0",
        "(P1) svm_atomic.add.16 (M1, 8) VUQ.0 VU.0 VU.64 %null.0",
        "svm_atomic.cmpxchg.64 (M1, 8) VUQ.0 VU.0 VU.64 VU.128",
        "svm_gather4scaled.RGBA (M1, 8) 0x0:uq VUQ.0 VU.0",
        "svm_scatter4scaled.R (M1, 8) VUQ(0,0)<0;1,0> VUQ.0 VU.0",
    ),
    "LscUntypedLoad": (
        "lsc_load.ugm (M1, 16) VU:d32 flat[VUQ]:a64",
        "(P1) lsc_load.ugm.ca.uc (M1, 16) VU:d32x2 flat[VUQ+0x100]:a64",
        "lsc_load.ugml.df.df (M1, 16) VU.64:d16u32 flat[VUQ.64-16]:a64",
        "lsc_load.ugm.wb.wt.cc (M1, 16) VU:d8u32 arg[VU]:a32",
        "lsc_load.slm (M1, 16) VU:d64x3 flat[4*VU+16]:a32",
        "lsc_load.ugm.ov (M1, 16) VU:d32 flat[VUQ]:a64",
        "lsc_load.ugm.st.ri (M1, 16) VU:d16c32h bti(0x4)[VU]:a32s",
        "lsc_load.ugm (M1, 16) VU:u8c32 bti(VU)[VU]:a32u",
        "lsc_load.ugm (M1, 16) VU:u16c32 bss(VU.4)[VU-0x8]:a32",
        "lsc_load.ugm (M1, 16) VU:d32 ss(VU(0,1), 2)[VU]:a16",
        "lsc_load.ugm (M1, 16) VU:d32 surf(VUQ)[VU]:a32",
        "lsc_load.ugm (M1, 16) VU:d32 surf(VUQ, 1)[VU]:a32",
        "lsc_load.ugm (M1, 16) VU:d32 surf(0x1234567890)[VU]:a32",
        "lsc_load.ugm (M1, 16) VU:d32 flat(VUQ)[0x10*VU]:a64",
        "lsc_load.ugm (M1_NM, 1) VU:d32x64t flat[VUQ]:a64",
        "lsc_load.ugm (M1, 16) VU:d32 [VUQ]:a64",
        "lsc_load_quad.ugm (M1, 16) VU:d32.xyzw flat[VUQ]:a64",
        "lsc_load_quad.ugm (M1, 16) VU:d32.yw bti(0x3, 1)[VU]:a32",
        "lsc_load_status.ugm (M1, 16) VU:d32 flat[VUQ]:a64",
        "lsc_load_quad_status.ugm (M1, 16) VU:d32.x flat[VUQ]:a64",
    ),
    "LscUntypedStridedLoad": (
        "lsc_load_strided.ugm (M1, 1) VU:d32x8t flat[VUQ]:a64",
        "lsc_load_strided.ugm (M1, 16) VU:d32 flat[VUQ,0x20]:a64",
        "lsc_load_strided.ugm (M1, 16) VU:d32 flat[2*VUQ+4,VU.4]:a64",
    ),
    "LscUntypedBlock2d": (
        "lsc_load_block2d.ugm (M1, 1) VUB:d8.8x8nn flat[VUQ,0x3f,0x3f,0x3f,VU,VU]",
        "lsc_load_block2d.ugm (M1, 1) VUB:d16.2x8x8tt flat[VUQ,VU,VU.4,0x3f,0x0,0x8]",
        "lsc_load_block2d.ugm.ca.ca (M1, 1) VUB:d32.8x8 flat[VUQ,0x3f,0x3f,0x3f,VU+4,VU(0,1)-2]",
        "lsc_load_block2d.ugm (M1, 1) VUB:u8.16x4nt flat[0x1000,0x3f,0x3f,0x3f,VU+4,0x2]",
        "lsc_load_block2d.ugm (M1, 1) VUB:d8.8x8nn flat[VU+(0,0)]",
        "lsc_load_block2d.ugm.ca.ca (M1, 1) VUB:d8.8x8nn flat[VU + (-4, 0x8)]",
        "lsc_store_block2d.ugm (M1, 1) flat[VUQ,0x3f,0x3f,0x3f,VU,VU] VUB:d8.8x8nn",
        "lsc_store_block2d.ugm.wb.wb (M1, 1) flat[VU+(4,8)] VUB:d8.8x8",
    ),
    "LscExtendedCacheCtrl": ("lsc_extended_cache_ctrl.ugm.ca.ca.set.64B (M1, 16) flat[VUQ]:a64",),
    "LscUntypedStore": (
        "lsc_store.ugm (M1, 16) flat[VUQ]:a64 VU:d32",
        "(P1) lsc_store.ugm.wt.wb (M1, 16) bss(VU)[VU]:a32 VU:d16u32h",
        "lsc_store_quad.ugm (M1, 16) flat[VUQ]:a64 VU:d32.xw",
        "lsc_store_uncompressed.ugm (M1, 16) flat[VUQ]:a64 VU:d32",
        "lsc_ccs_update.ugm (M1, 16) flat[VUQ]:a64 VU:d32",
        "lsc_store_strided.ugm (M1, 16) flat[VUQ,0x20]:a64 VU:d32",
    ),
    "LscUntypedAtomic": tuple(
        f"lsc_atomic_{op}.ugm (M1, 16) VU:d32 flat[VUQ]:a64 VU %null"
        for op in (
            "iinc idec load store iadd isub smin smax umin umax icas fadd fsub fmin fmax fcas and or xor"
            " bfadd bfsub bfmin bfmax bfcas"
        ).split()
    )
    + (
        "lsc_atomic_iadd.ugm (M1, 16) %null:d32 flat[%null] VU %null",
        "lsc_apndctr_atomic_add.ugm (M1, 16) VU:d32 bti(0x4) VU:d32",
        "lsc_apndctr_atomic_sub.ugm (M1, 16) VU:d32 ss(VU) VU:d32",
        "lsc_apndctr_atomic_store.ugm (M1, 16) VU:d32 bti(0x4) VU:d32",
    ),
    "LscTyped": (
        "lsc_load_quad.tgm (M1, 8) VU:d32.xyzw bti(0x3)[VU,VU]:a32",
        "lsc_load_quad.tgm (M1, 8) VU:d32.x bss(VU)[VU+1,VU-2,VU.64,VU]:a32",
        "lsc_store_quad.tgm (M1, 8) bti(0x3)[VU,VU]:a32 VU:d32.x",
        "lsc_load_quad_status.tgm (M1, 8) VU:d32.x bti(0x3)[VU,VU]:a32",
        "lsc_atomic_icas.tgm (M1, 8) VU:d32 bti(0x3)[VU,VU]:a32 VU VU",
        "lsc_atomic_iadd.tgm.uc.uc.msaa (M1, 8) VU:d32 bti(0x3)[VU,VU]:a32 VU %null",
        "lsc_read_state_info.tgm VU bti(0x4)[VU]",
        "lsc_read_state_info.tgm VU bti(0x4)",
        "lsc_load_quad_msrt.tgm (M1, 8) VU:d32.xyzw bti(0x3)[VU,VU,VU]:a32",
        "lsc_store_quad_msrt.tgm (M1, 8) bti(0x3)[VU,VU,VU]:a32 VU:d32.xyzw",
        "lsc_load_block2d.tgm VU:32x8 bss(VU)[VU,VU+4]",
        "lsc_load_block2d.tgm.ca.ca VU:32x8 bti(0x3)[0x4,0x8]",
        "lsc_store_block2d.tgm bss(VU, 1)[VU,VU] VU:16x4",
    ),
    "LscFence": tuple(
        f"lsc_fence.{sfid}.{op}.{scope}"
        for sfid, op, scope in (
            ("ugm", "none", "group"), ("ugml", "evict", "local"), ("tgm", "invalidate", "tile"), ("slm", "discard", "gpu"),
            ("ugm", "clean", "gpus"), ("tgm", "flushl3", "sysrel"), ("ugm", "type6", "sysacq"),
        )
    ),
    "BranchInstruction": (
        "jmp (M1, 1) L1",
        '(P1) goto (M1, 16) "L1"',
        "call (M1, 16) sub",
        "fccall (M1, 16) sub",
        "ret (M1, 1)",
        "(P1) fret (M1, 16)",
        "switchjmp (M1, 1) VU(0,0)<0;1,0> (L1, L2)",
        "switchjmp (M1, 1) VU(0,0)<0;1,0> (L1 L2)",
        "(P1) fcall (M1, 16) foo 3 2",
        "ifcall (M1, 16) VU(0,0)<0;1,0> 3 2",
        "ifcall.uniform (M1, 16) VUQ(0,0)<0;1,0> 3 2",
        "ifcall.noreturn (M1, 16) VUQ(0,0)<0;1,0> 3 2",
        "(P1) ifcall.uniform.noreturn (M1, 16) VUQ(0,0)<0;1,0> 3 2",
        "faddr foo VU(0,0)<1>",
        'faddr "foo bar" r[A0(0),0]<1>:ud',
    ),
    "FILE": ('FILE "a.cm"', '.file "a.cm"'),
    "LOC": ("LOC 12", ".loc 12"),
    "RawSendInstruction": (
        "raw_send (M1, 8) 0x2 4 4 0x12345:ud VU.0 VU.64",
        "(P1) raw_sendc (M1, 8) 0x2 4 4 VU(0,0)<0;1,0> VU.0 VU.64",
    ),
    "Lifetime": ("lifetime.start VD", "lifetime.end VD", "lifetime.start A0", "lifetime.end P1"),
    "RawSendsInstruction": (
        "raw_sends.10.1.1.1 (M1, 8) 0x10:ud 0x2106e00:ud VU.0 VU.64 VU.128",
        "(P1) raw_sends_eot.10.1.1.1 (M1, 8) VU(0,0)<0;1,0> 0x2106e00:ud VU.0 VU.64 %null.0",
        "raw_sendsc.1.1.1 (M1, 8) 0x10:ud 0x2106e00:ud VU.0 VU.64 VU.128",
        "raw_sendsc_eot.1.1.1 (M1, 8) 0x10:ud 0x2106e00:ud VU.0 VU.64 VU.128",
    ),
    "RawSendgInstruction": (
        "raw_sendg.ugm (M1, 16) VU.0/128 VUQ.0/128 %null.0/0 0x0:ud 0x0:ud 0x0000000002000100",
        "raw_sendg.14 (M1, 16) VU.0/0x80 VUQ.0/(64*2) VU.64/64 VU(0,0)<0;1,0> 0x0:uq 0x2000100",
        "(P1) raw_sendgc.tgm (M1, 16) VU.0/128 VUQ.0/128 %null.0/0 0x0:ud 0x0:ud (0x2000100)",
        "raw_sendg_eot.(7+7) (M1, 16) %null.0/0 VUQ.0/128 %null.0/0 0x0:ud 0x0:ud 0x2000100",
        "raw_sendgc_eot.gtwy (M1, 16) %null.0/0 VUQ.0/128 %null.0/0 0x0:ud 0x0:ud 0x2000100",
        "raw_sendg.slm (M1, 16) VU.0 / 128 VUQ.0 / 128 %null.0 / 0 0x0:ud 0x0:ud 7",
    ),
    "NullaryInstruction": (
        "sampler_cache_flush",
        "wait 0x0:ud",
        "wait VUB(0,0)<0;1,0>",
        "yield",
        "fence_global",
        "fence_global.EISCRL1",
        "fence_global.E",
        "fence_local",
        "fence_local.ECR",
        "fence_sw",
    ),
    "ShflIdx4Instruction": (f"(P1) shfl_idx4 (M1, 16) VU.0 {U1} {U1}",),
    "LfsrInstruction": tuple(f"lfsr.{f} (M1, 16) VU(0,0)<1> {U1} {U1}" for f in ("b32", "b16v2", "b8v4"))
    + (f"lfsr.b32 (M1, 16) VU(0,0)<1> {U1} 0x1:ud",),
    "DnsclInstruction": tuple(
        f"dnscl.{t}.mode{n}.{r} (M1, 16) VU.0 VU.64 VU.128 %null.0"
        for n, (t, r) in enumerate((("bftoe2m1", "srnd"), ("bftoint4", "rne"), ("hftoe2m1", "srnd"), ("hftoint4", "rne")))
    ),
    "BreakpointInstruction": ("breakpoint",),
    "AntiTrigInstruction": tuple(f"{m} (M1, 16) VF(0,0)<1> {F1}" for m in ("asin", "acos", "atan")),
    "ExecSize": (
        f"add (16) VD(0,0)<1> {G1} 0x1:d",
        f"add (NoMask, 16) VD(0,0)<1> {G1} 0x1:d",
        f"add (M8, 4) VD(0,0)<1> VD(0,0)<4;4,1> 0x1:d",
        f"add (M8_NM, 4) VD(0,0)<1> VD(0,0)<4;4,1> 0x1:d",
        f"add(M1,16)VD(0,0)<1>VD(0,0)<1;1,0>0x1:d",
    ),
    "VecSrcOperand": (
        "or (M1, 16) VU(0,0)<1> (~)VU(0,0)<1;1,0> 0x1:ud",
        "mov (M1, 1) VU(0,0)<1> %r0(0,1)<0;1,0>",
        "mov (M1, 1) %null(0,0)<1> VU(0,0)<0;1,0>",
        "mov (M1, 16) VD(0,0)<1> (-) VD(0,0)<1;1,0>",
    ),
}

# Directives and declarations of the grammar; each stands in the frame where it belongs.
DIRECTIVES = (
    '//Build option: "-opt"',
    "/* block */",
    ".decl X v_type=G type=UD num_elts=(1 ? 8 : 4) align=hword alias=<VU, 4+4> attrs={Output}",
    ".decl X v_type = G type = d num_elts = 8 align = 32word",
    ".decl X v_type=G type=bool num_elts=8",
    ".decl X v_type=G type=BOOL num_elts=8",
    ".decl X v_type=G type=hf num_elts=8 align=2GRF",
    ".decl X v_type=G type=bf num_elts=8 align=GRFx2",
    ".decl X v_type=G type=uv num_elts=8",
    ".decl X v_type=G type=tf32 num_elts=8",
    ".decl X v_type=G type=hf8 num_elts=8",
    ".decl X v_type=G type=bf8 num_elts=8",
    ".decl X v_type=G type=e2m1 num_elts=8",
    ".decl X v_type=G type=uq num_elts=8 align=64word",
    ".decl X v_type=G type=ud num_elts=8 align=16",
    ".decl X v_type=G type=ud num_elts=8 align=%sizeof(GRF)",
    ".decl X v_type=G type=ud num_elts=8 alias=<%r0, 0>",
    ".decl X v_type=G type=ud num_elts=8 attrs={Input, Output, Scope=1}",
    ".decl X v_type=A num_elts=8 attrs={Output}",
    ".decl X v_type=P num_elts=32",
    ".decl X v_type=S num_elts=1 v_name=sampler",
    ".decl X v_type=T num_elts=1 v_name=T006 attrs={SurfaceUsage=1}",
    '.funcdecl "f"',
    ".input VU offset=32 size=128",
    ".input VU offset=32",
    ".input VU size=128",
    ".implicit_PSEUDO_INPUT VU offset=0x20 size=4",
    ".implicit_LOCAL_SIZE VU offset=32 size=12",
    ".implicit_UNDEFINED_4 VU offset=32 size=4",
    ".implicit_LOCAL_SIZE VU offset=32",
    ".parameter VU size=12",
    ".kernel_attr Target=\"cm\"",
    ".kernel_attr SLMSize=4",
    ".kernel_attr RetValSize=(2+2)",
    ".kernel_attr NoBarrier",
    ".kernel_attr NoBarrier=",
    ".kernel_attr OutputAsmPath=\"a/b\"",
    ".function sub2\nsub2:",
    '.function "sub2"\nsub2:',
    ".global_function g",
    '.global_function "g h"',
    ".kernel k2",
    "a$b@c?d-e:",
    "{\n.decl VU v_type=G type=d num_elts=1\n}",
    "{\n}",
)  # fmt: skip

LINES = [(name, line) for name, lines in PRODUCTIONS.items() for line in lines]
_TAIL = "L1:\nL2:\n    ret (M1, 1)\n.function \"sub\"\nsub:\n    ret (M1, 1)\n"


def _bound(line: str, platform: str = "CRI"):
    text = f"{FRAME}    {line}\n{_TAIL}"
    bound = bind(Document.parse(text), platform_named(platform))
    at = FRAME.count("\n")
    found = [b for b in bound.bodies[0].code if b.line == at]
    return bound, [p for p in bound.problems if p.place.line == at], found


@pytest.mark.parametrize(("production", "line"), LINES, ids=[f"{n}-{line}" for n, line in LINES])
def test_a_line_of_each_production_is_understood_and_reads_back(production: str, line: str):
    bound, problems, found = _bound(line)
    assert not [p for p in problems if p.kind not in HARMLESS], problems
    inst = found[0].inst
    assert inst is not None
    kernel = lower(bound).kernels[0]
    names = replace(names_of(kernel, platform_named("CRI")), v42=True)
    printed = instruction(names, inst)
    _, problems, again = _bound(printed)
    assert not [p for p in problems if p.kind not in HARMLESS], (printed, problems)
    assert again[0].inst == inst, printed


@pytest.mark.parametrize("line", DIRECTIVES)
def test_a_directive_of_each_production_is_understood(line: str):
    text = f"{FRAME}{line}\n    mov (M1, 1) VU(0,0)<1> 0x1:ud\n"
    if line.startswith((".kernel k2", ".global")):
        text = f"{FRAME}    ret (M1, 1)\n{line}\n    ret (M1, 1)\n"
    result = assemble(text, "CRI")
    assert [p for p in result.bound.problems if p.kind not in HARMLESS] == []
    assert result.module is not None
