"""Lines for every production of the public grammar; see ``test_grammar_productions``."""

from __future__ import annotations

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
    "MathInstruction": tuple(
        f"{m} (M1, 16) VF(0,0)<1> {F1}"
        for m in ["inv", "log", "exp", "sqrt", "rsqrt", "sin", "cos", "sqrtm", "tanh", "sigm"]
    )
    + tuple(f"{m}.sat (M1, 16) VF(0,0)<1> {F1} {F1}" for m in ("div", "pow"))
    + (f"mod (M1, 16) VF(0,0)<1> {F1} {F1}", f"divm (M1, 16) VF(0,0)<1> {F1} {F1}"),
    "ArithInstruction_2OPND": (
        *tuple(f"{m} (M1, 16) VF(0,0)<1> {F1}" for m in ["frc", "rndd", "rndu", "rnde", "rndz"]),
        f"lzd (M1, 16) VU(0,0)<1> {U1}",
    ),
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
    "DpasInstruction": (
        *tuple(
            f"dpas.{p}.8.{n} (M1, 16) VF.0 VF.0 VD.0 VD(0,0)"
            for n, p in enumerate(("s8.u8", "u4.s2", "u2.s4", "bf.bf", "hf.hf", "tf32.tf32", "bf8.hf8", "e2m1.e2m1"), 1)
        ),
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
    "FCvtInstruction": (
        "fcvt (M1_NM, 16) VUB(0,0)<1> VHF(0,0)<1;1,0>",
        "fcvt.sat (M1, 16) VHF(0,0)<1> VUB(0,0)<1;1,0>",
    ),
    "AddrAddInstruction": (
        "addr_add (M1, 1) A0(0)<1> &VD 0x10:uw",
        "addr_add (M1, 4) A0(0)<4> &VD[32] VUW(0,0)<0;4,1>",
        "addr_add (M1, 1) A0(1)<1> A0(0)<1> 0x4:w",
        "addr_add (M1, 2) A0(0)<2> VUW(0,0)<1;2,1> VUW(0,2)<1;2,1>",
        "addr_add (M1, 1) A0(0)<1> &T6 0x4:uw",
    ),
    "SetpInstruction": (
        f"setp (M1, 16) P1 {U1}",
        "setp (M1_NM, 16) P1 0xffff:uw",
        "setp (M1, 16) P1 r[A0(0)]<1;1,0>:ud",
    ),
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
    "CmpInstruction": (
        *tuple(f"cmp.{c} (M1, 16) P1 {G1} 0x1:d" for c in ["eq", "ne", "gt", "ge", "lt", "le"]),
        f"cmp (M1, 16) P1 {G1} 0x1:d",
        f"cmp.lt (M1, 16) VD(0,0)<1> {G1} 0x1:d",
    ),
}

# Directives and declarations of the grammar; each is in the frame where it belongs.
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
    '.kernel_attr Target="cm"',
    ".kernel_attr SLMSize=4",
    ".kernel_attr RetValSize=(2+2)",
    ".kernel_attr NoBarrier",
    ".kernel_attr NoBarrier=",
    '.kernel_attr OutputAsmPath="a/b"',
    ".function sub2\nsub2:",
    '.function "sub2"\nsub2:',
    ".global_function g",
    '.global_function "g h"',
    ".kernel k2",
    "a$b@c?d-e:",
    "{\n.decl VU v_type=G type=d num_elts=1\n}",
    "{\n}",
)  # fmt: skip
