"""Conversions of narrow floats and arithmetic with `bf`: which types meet on which platform, in short texts and long ones."""

import pytest
from each_case import check_each

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.diagnostics import Severity

HEAD = '.version 4.2\n.kernel "k"\n'
TYPES = ("q", "uq", "ub", "b", "hf", "bf", "f", "ud", "uw", "w", "d", "df", "tf32", "hf8", "bf8")
DECLS = "".join(f".decl {t.upper()} v_type=G type={t} num_elts=64 align=GRFx2\n" for t in TYPES)
DECLS += ".decl P1 v_type=P num_elts=32\n"
BEFORE_XE3 = ("PVCXT", "BMG")
XE3 = ("PTL", "CRI")


def text(line, filler=0):
    """Return a kernel with one line under test, behind as many lines that have no finding."""
    spare = "    mov (M1_NM, 16) F(0,0)<1> HF(0,0)<1;1,0>\n" * filler
    return f"{HEAD}{DECLS}{spare}    {line}\n    ret (M1, 1)\n"


def errors(line, platform, filler=0):
    found = Analysis.of(text(line, filler), platform).diagnostics
    return [d.code for d in found if d.severity is Severity.ERROR]


def both(line, platform):
    short, long = errors(line, platform), errors(line, platform, 90)
    assert short == long
    return short


def lane(name, *operands, size="(M1_NM, 16)"):
    """One instruction over names of types; anything longer is written as it is."""
    written = [o if "(" in o or ":" in o else f"{o.upper()}(0,0)<1>" if n == 0 else f"{o.upper()}(0,0)<1;1,0>"
               for n, o in enumerate(operands)]  # fmt: skip
    return f"{name} {size} {' '.join(written)}"


LEGAL = [
    ("mov", "PVCXT", "bf hf"),
    *(("fcvt", p, pair) for p in (*BEFORE_XE3, *XE3) for pair in ("ub hf", "hf ub", "ud f")),
    *((name, p, pair) for p in XE3 for name in ("fcvt", "fcvt.sat") for pair in ("b hf", "hf b", "ub hf")),
    *(("srnd", p, each) for p in (*BEFORE_XE3, *XE3) for each in ("hf f uw", "hf f f", "ub hf ub", "ub hf hf")),
    *((name, p, each) for p in XE3 for name in ("srnd", "srnd.sat") for each in ("b hf ub", "ub bf ub", "b bf ub", "hf f uw")),
    *((name, "CRI", "bf bf") for name in ("sin", "cos", "exp", "inv", "log", "rsqrt", "sqrt", "tanh", "sigm", "sin.sat")),
    *((name, "CRI", "bf bf bf") for name in ("div", "pow", "min", "max")),
    ("min", "CRI", "f bf bf"),
    *(("mov", p, pair) for p in ("PVCXT", "CRI") for pair in ("tf32 f", "f tf32", "bf8 hf", "hf bf8", "tf32 tf32")),
    *(("mov", p, pair) for p in XE3 for pair in ("hf8 hf", "hf hf8")),
    *(("cmp.eq", p, f"{to} {source} bf") for p in ("DG2", "PVCXT", "CRI") for to in ("d", "ud", "w", "hf", "q") for source in ("bf", "f")),
    *(("add", p, "bf f bf") for p in ("XeHP_SDV", "DG2", "ARL", "PVCXT", "CRI")),
    *(("shl", p, "q q d") for p in ("TGLLP", "XeHP_SDV", "PVCXT", "CRI")), ("shr", "DG2", "q q d"), ("shr", "DG2", "ud uq d"),
]  # fmt: skip
ILLEGAL = [
    *(("fcvt", p, pair, "V237") for p in BEFORE_XE3 for pair in ("b hf", "hf b")),
    *(("fcvt.sat", p, "ub hf", "V224") for p in BEFORE_XE3),
    *(("fcvt", p, pair, "V237") for p in (*BEFORE_XE3, *XE3) for pair in ("hf f", "ub f", "b f", "b ub", "ud hf", "bf hf")),
    *(("fcvt", p, "ud 0x3f800000:f", "V205") for p in (*BEFORE_XE3, *XE3)),
    *(("fcvt", p, "ub (-)HF(0,0)<1;1,0>", "V216") for p in (*BEFORE_XE3, *XE3)),
    *(("srnd", p, each, "V237") for p in BEFORE_XE3 for each in ("b hf ub", "ub bf ub")),
    *(("srnd", p, each, "V237") for p in (*BEFORE_XE3, *XE3) for each in ("ub f ub", "hf f ud", "hf f d", "ub hf w", "hf hf uw")),
    *(("srnd.sat", p, "hf f uw", "V224") for p in BEFORE_XE3),
    *(("srnd", p, "hf (abs)F(0,0)<1;1,0> UW(0,0)<1;1,0>", "V216") for p in (*BEFORE_XE3, *XE3)),
    *((name, p, "bf bf", "V401") for p in ("DG2", "PVCXT", "PTL") for name in ("sin", "inv", "sqrt", "log")),
    *((name, "PTL", "bf bf bf", "V401") for name in ("div", "pow", "min", "max")),
    *((name, "CRI", pair, "V401") for name in ("sin", "inv", "rsqrt") for pair in ("f bf", "bf f")),
    ("rndd", "CRI", "bf bf", "V401"), ("frc", "CRI", "bf bf", "V401"), ("and", "CRI", "bf bf bf", "V401"),
    ("add", "MTL", "bf bf bf", "V401"), ("add", "TGLLP", "bf bf bf", "V401"), ("add", "CRI", "bf bf hf", "V401"),
    *(("mov", p, pair, "V237") for p in ("PVCXT", "CRI") for pair in ("tf32 hf", "bf8 f", "hf8 f", "hf8 bf8", "d tf32")),
    *(("mov", "BMG", pair, "V237") for pair in ("hf8 hf", "hf hf8")),
    ("mov.sat", "CRI", "tf32 f", "V237"), ("mov", "CRI", "bf8 (-)HF(0,0)<1;1,0>", "V237"),
    *(("cmp.eq", "PVCXT", each, "V401") for each in ("d bf d", "bf d d", "d hf bf")),
    ("mad.sat", "BMG", "d d d d", "V224"), ("div.sat", "TGLLP", "d d d", "V224"), ("mod.sat", "TGLLP", "d d d", "V224"),
    *((name, p, "uq uq d", "V401") for p in ("DG2", "MTL", "ARL") for name in ("shl", "shr")), ("shl", "DG2", "q q d", "V401"),
    ("invm", "MTL", "F(0,0)<1> P1 F(0,0)<1;1,0> F(0,0)<1;1,0>", "V220"),
    ("add", "BMG", "f f 0x30404040:vf", "V401"),
    ("dpas.bf.bf.8.8", "MTL", "F.0 F.0 UD.0 UD(0,0)", "V220"),
]  # fmt: skip


def line_of(name, operands):
    if name.startswith(("invm", "dpas")):
        return f"{name} (M1, {8 if name.startswith('dpas') else 16}) {operands}"
    return lane(name, *operands.split())


def test_legal_combination_has_no_error():
    check_each(LEGAL, _check_errors)


def test_illegal_combination_has_its_error():
    check_each(ILLEGAL, _check_errors)


def _check_errors(case):
    name, platform, operands, *codes = case
    assert both(line_of(name, operands), platform) == codes


@pytest.mark.parametrize("operands", ["ub hf", "b hf"])
def test_conversion_to_eight_bits_is_unmasked(operands):
    assert both(lane("fcvt", *operands.split(), size="(M1, 16)"), "PTL") == ["V237"]
    assert both(lane("fcvt", *reversed(operands.split()), size="(M1, 16)"), "PTL") == []


@pytest.mark.parametrize("operands", ["hf8 hf", "bf8 hf", "tf32 f"])
def test_moves_of_declared_narrow_floats_have_no_predicate(operands):
    assert both("(P1) " + lane("mov", *operands.split()), "CRI") == ["V237"]


@pytest.mark.parametrize("line", ["fcvt.sat", "srnd.sat"])
def test_without_a_platform_what_some_platform_has_is_no_error(line):
    operands = ("b", "hf") if line == "fcvt.sat" else ("b", "bf", "ub")
    assert both(lane(line, *operands), None) == []


DECLARED = "F.0 BF.0 UD.0 HF.0 UB(0,0) UB(1,0)"


@pytest.mark.parametrize(
    ("operands", "codes"),
    [(DECLARED, []), ("D.0 BF.0 UD.0 HF.0 UB(0,0) UB(1,0)", ["V403"]), ("F.0 BF.0 F.0 HF.0 UB(0,0) UB(1,0)", ["V403"])],
)
def test_scaled_matrix_products_have_types_of_their_own(operands, codes):
    assert both(f"bdpas.bf.bf.8.8 (M1_NM, 16) {operands}", "CRI") == codes
