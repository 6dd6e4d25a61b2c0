"""Lane instructions against Python integers, fractions and NumPy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.support.builders import Builder, final, imm, pred
from visa_lsp.isa import types as ty
from visa_lsp.program.model import Immediate, PredicateOperand
from visa_lsp.sim.values import DTYPE

RNG = np.random.default_rng(7)


def lane(mnemonic, type_, *arrays, dst_type=None, sat=False, mods=(), prologue=True, exec_="M1,16", control=None):
    """One instruction over whole arrays; the destination starts as all 0x55 bytes."""
    b = Builder()
    types = type_ if isinstance(type_, tuple) else (type_,) * len(arrays)
    sources = [b.var(t, 32) for t in types]
    dst = b.var(dst_type or types[0], 32)
    if prologue:
        b.ieee()
    if control is not None:
        from visa_lsp.isa.operands import Region
        from visa_lsp.program.model import General

        b.op("mov", "M1_NM,1", dst=General(14, 0, 0, Region(None, None, 1)), src0=imm(control, ty.UD))
    fields = {f"src{i}": b.src(v, mod=mods[i] if mods else "") for i, v in enumerate(sources)}
    b.op(mnemonic, exec_, dst=b.dst(dst, sat=sat), **fields)
    b.ret()
    data = {v: np.asarray(a, DTYPE[t]) for v, a, t in zip(sources, arrays, types, strict=True)}
    data[dst] = np.full(32 * b.type_of(dst).size, 0x55, np.uint8)
    return final(b, data)(dst)[:16]


def ints(type_, count=16):
    info = np.iinfo(DTYPE[type_])
    edge = [info.min, info.max, 0, 1, info.max - 1, info.min + 1]
    rest = RNG.integers(info.min, info.max, count - len(edge), DTYPE[type_], endpoint=True)
    return np.concatenate([np.array(edge, DTYPE[type_]), rest])


def wrap(values, type_):
    return np.array([int(v) & (1 << type_.bits) - 1 for v in values], f"<u{type_.size}").view(DTYPE[type_])


@pytest.mark.parametrize("type_", [ty.UD, ty.D, ty.UW, ty.W, ty.UB, ty.B, ty.Q, ty.UQ])
@pytest.mark.parametrize("word", ["add", "mul"])
def test_integer_result_keeps_the_low_bits(word, type_):
    a, b = ints(type_), ints(type_)[::-1]
    exact = [int(x) + int(y) if word == "add" else int(x) * int(y) for x, y in zip(a, b, strict=True)]
    assert lane(word, type_, a, b).tolist() == wrap(exact, type_).tolist()


@pytest.mark.parametrize("type_", [ty.UD, ty.D, ty.UW, ty.W, ty.UB, ty.B])
def test_saturation_clamps_integers(type_):
    a, b = ints(type_), ints(type_)
    info = np.iinfo(DTYPE[type_])
    expected = [min(max(int(x) + int(y), info.min), info.max) for x, y in zip(a, b, strict=True)]
    assert lane("add", type_, a, b, sat=True).tolist() == expected


def test_saturated_difference_of_unsigned_stops_at_zero():
    a, b = ints(ty.UD), ints(ty.UD)[::-1]
    expected = [max(0, int(x) - int(y)) for x, y in zip(a, b, strict=True)]
    assert lane("add", ty.UD, a, b, sat=True, mods=("", "-")).tolist() == expected


def test_mulh_gives_the_upper_half():
    for type_ in (ty.UD, ty.D):
        a, b = ints(type_), ints(type_)[::-1]
        expected = wrap([int(x) * int(y) >> 32 for x, y in zip(a, b, strict=True)], type_)
        assert lane("mulh", type_, a, b).tolist() == expected.tolist()


def test_division_truncates_and_by_zero_gives_ones():
    a = np.array([7, -7, 7, -7, 5, -(2**31), 0, 1] * 2)
    b = np.array([2, 2, -2, -2, 0, -1, 3, 1] * 2)
    assert lane("div", ty.D, a, b)[:8].tolist() == [3, -3, -3, 3, -1, -(2**31), 0, 1]
    assert lane("mod", ty.D, a, b)[:8].tolist() == [1, -1, 1, -1, -1, 0, 0, 0]
    assert lane("div", ty.UD, np.full(16, 9), np.zeros(16, int))[0] == 0xFFFFFFFF


def test_shifts_use_five_bits_of_the_count():
    a, n = ints(ty.UD), np.arange(25, 41)
    assert lane("shl", ty.UD, a, n).tolist() == [
        (int(x) << (int(k) & 31)) & 0xFFFFFFFF for x, k in zip(a, n, strict=True)
    ]
    assert lane("shr", ty.UD, a, n).tolist() == [int(x) >> (int(k) & 31) for x, k in zip(a, n, strict=True)]
    s = ints(ty.D)
    assert lane("asr", ty.D, s, n).tolist() == [int(x) >> (int(k) & 31) for x, k in zip(s, n, strict=True)]
    assert lane("rol", ty.UD, a, n).tolist() == [
        ((int(x) << (k & 31)) | (int(x) >> (-k & 31))) & 0xFFFFFFFF for x, k in zip(a, n.tolist(), strict=True)
    ]


def test_bit_counting_words():
    a = ints(ty.UD)
    assert lane("lzd", ty.UD, a).tolist() == [32 - int(x).bit_length() for x in a]
    assert lane("cbit", ty.UD, a).tolist() == [int(x).bit_count() for x in a]
    assert lane("fbl", ty.UD, a).tolist() == [(int(x) & -int(x)).bit_length() - 1 if x else 0xFFFFFFFF for x in a]
    assert lane("bfrev", ty.UD, a).tolist() == [int(f"{int(x):032b}"[::-1], 2) for x in a]
    signed = np.array([0, -1, 1, -2, 0x40000000, -(2**31)] + [5] * 10)
    assert lane("fbh", ty.D, signed, dst_type=ty.UD)[:6].tolist() == [0xFFFFFFFF, 0xFFFFFFFF, 31, 31, 1, 1]


def test_bit_field_words():
    width, offset, value = np.full(16, 5), np.full(16, 3), np.array([0b11111000, 0b01111000, 0xFFFFFFFF, 0] * 4)
    assert lane("bfe", ty.UD, width, offset, value)[:4].tolist() == [31, 15, 31, 0]
    assert lane("bfe", ty.D, width, offset, value.astype(np.uint32).view(np.int32))[:4].tolist() == [-1, 15, -1, 0]
    base = np.full(16, 0xFFFFFFFF)
    assert lane("bfi", ty.UD, width, offset, np.zeros(16), base)[0] == 0xFFFFFF07


def test_dp4a_signed_and_unsigned():
    acc = np.zeros(16, int)
    a, b = np.full(16, 0x01FF02FE), np.full(16, 0x02020202)
    assert lane("dp4a", ty.D, acc, a, b)[0] == 2 * (1 - 1 + 2 - 2)
    assert lane("dp4a", ty.UD, acc, a, b)[0] == 2 * (1 + 255 + 2 + 254)


def test_fused_multiply_add_is_exact_before_its_one_rounding():
    a = RNG.standard_normal(16).astype(np.float32)
    b = RNG.standard_normal(16).astype(np.float32)
    c = (-(a.astype(np.float64) * b)).astype(np.float32)
    a[:3], b[:3], c[:3] = [1 + 2**-12, 3e38, 2**-75], [1 + 2**-12, 2, 2**-75], [2**-60, -3e38, 2**-149]
    got = lane("mad", ty.F, a, b, c)
    for x, y, z, r in zip(a, b, c, got, strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        near = np.float32(r)
        for other in (np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))):
            assert abs(Fraction(float(near)) - exact) <= abs(Fraction(float(other)) - exact)


def test_fused_multiply_add_rounds_a_half_way_case_by_what_lies_below():
    # a * b is exactly half-way between two f32 values; c decides, although it is lost in f64.
    a, b = np.full(16, 1 + 2**-12), np.full(16, 1 + 2**-12)
    up = lane("mad", ty.F, a, b, np.full(16, 2.0**-60))[0]
    down = lane("mad", ty.F, a, b, np.full(16, -(2.0**-60)))[0]
    assert (up, down) == (np.float32(1 + 2**-11 + 2**-23), np.float32(1 + 2**-11))


@pytest.mark.parametrize(("mode", "expected"), [(0, 1.0), (1, 1.0 + 2**-23), (2, 1.0), (3, 1.0)])
def test_rounding_mode_of_the_control_register(mode, expected):
    got = lane("add", ty.F, np.full(16, 1.0), np.full(16, 2.0**-30), control=0x4C0 | mode << 4)
    assert got[0] == np.float32(expected)


def test_directed_rounding_of_negative_results():
    a, b = np.full(16, -1.0), np.full(16, -(2.0**-30))
    assert lane("add", ty.F, a, b, control=0x4C0 | 0x20)[0] == np.float32(-1 - 2**-23)
    assert lane("add", ty.F, a, b, control=0x4C0 | 0x10)[0] == np.float32(-1)


def test_denormals_are_flushed_unless_kept():
    tiny = np.full(16, 1e-40, np.float32)
    assert lane("add", ty.F, tiny, tiny, prologue=False)[0] == 0
    assert lane("add", ty.F, tiny, tiny)[0] == tiny[0] + tiny[0]


def test_half_float_arithmetic_rounds_once():
    a, b = RNG.random(16).astype(np.float16), RNG.random(16).astype(np.float16)
    assert (lane("mul", ty.HF, a, b) == (a.astype(np.float64) * b).astype(np.float16)).all()


def test_float_saturation_is_to_the_unit_interval():
    a = np.array([-1, 0.25, 2, np.nan, np.inf, -np.inf] + [0] * 10, np.float32)
    got = lane("add", ty.F, a, np.zeros(16, np.float32), sat=True)
    assert got[:6].tolist() == [0, 0.25, 1, 0, 1, 0]


def test_minimum_prefers_a_number_over_nan():
    a = np.array([1, np.nan, 3] + [0] * 13, np.float32)
    b = np.array([np.nan, 2, 1] + [0] * 13, np.float32)
    assert lane("min", ty.F, a, b)[:3].tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("from_", "to", "value", "expected"),
    [
        (ty.F, ty.D, -2.9, -2),
        (ty.F, ty.D, 3e9, 2**31 - 1),
        (ty.F, ty.UD, -1.0, 0),
        (ty.F, ty.UD, float("nan"), 0),
        (ty.F, ty.B, 200.0, 127),
        (ty.DF, ty.Q, 1e300, 2**63 - 1),
        (ty.D, ty.F, 16777217, 16777216.0),
        (ty.UD, ty.HF, 2049, 2048.0),
        (ty.W, ty.UB, 0x1FF, 0xFF),
        (ty.B, ty.UD, -1, 0xFFFFFFFF),
        (ty.D, ty.Q, -5, -5),
        (ty.UB, ty.W, 255, 255),
        (ty.F, ty.HF, 70000.0, float("inf")),
        (ty.HF, ty.F, 0.333251953125, 0.333251953125),
        (ty.F, ty.BF, 1.0, 0x3F80),
        (ty.BF, ty.F, 0x3FC0, 1.5),
    ],
)
def test_conversion(from_, to, value, expected):
    assert lane("mov", from_, np.full(16, value), dst_type=to)[0] == expected


def test_move_with_saturation_clamps():
    assert lane("mov", ty.D, np.full(16, 300), dst_type=ty.UB, sat=True)[0] == 255
    assert lane("mov", ty.D, np.full(16, -300), dst_type=ty.B, sat=True)[0] == -128


def test_source_modifiers():
    a = np.array([1, -2, 3, -4] * 4)
    assert lane("mov", ty.D, a, mods=("-",)).tolist() == (-a).tolist()
    assert lane("mov", ty.D, a, mods=("abs",)).tolist() == abs(a).tolist()
    assert lane("mov", ty.D, a, mods=("-abs",)).tolist() == (-abs(a)).tolist()
    assert lane("and", ty.D, a, np.full(16, -1), mods=("~", "")).tolist() == (~a).tolist()


def test_packed_immediates():
    b = Builder()
    x, y = b.var(ty.W), b.var(ty.F)
    b.op("mov", "M1,8", dst=b.dst(x), src0=Immediate(ty.V, 0x76543F80))
    b.op("mov", "M1,4", dst=b.dst(y), src0=Immediate(ty.VF, 0x20B04830))
    b.ret()
    read = final(b)
    assert read(x)[:8].tolist() == [0, -8, -1, 3, 4, 5, 6, 7]
    assert read(y)[:4].tolist() == [1.0, 3.0, -1.0, 0.5]


def test_immediate_is_narrowed_to_its_type_when_read():
    b = Builder()
    x = b.var(ty.D)
    b.op("mov", "M1,1", dst=b.dst(x), src0=imm(0x1FFFF, ty.W))
    b.ret()
    assert final(b)(x)[0] == -1


def test_addc_subb_and_madw():
    b = Builder()
    x, y, low, extra = b.var(ty.UD), b.var(ty.UD), b.var(ty.UD), b.var(ty.UD)
    w = b.var(ty.UD, 32)
    b.op("addc", dst=b.dst(low), carry=b.dst(extra), src0=b.src(x), src1=b.src(y))
    b.op("madw", dst=b.dst(w), src0=b.src(x), src1=b.src(y), src2=b.src(x))
    b.ret()
    a, c = ints(ty.UD), ints(ty.UD)[::-1].copy()
    read = final(b, {x: a, y: c})
    sums = [int(p) + int(q) for p, q in zip(a, c, strict=True)]
    assert read(low).tolist() == [s & 0xFFFFFFFF for s in sums]
    assert read(extra).tolist() == [s >> 32 for s in sums]
    wide = [int(p) * int(q) + int(p) for p, q in zip(a, c, strict=True)]
    assert read(w).tolist() == [v & 0xFFFFFFFF for v in wide] + [v >> 32 for v in wide]


def test_bfn_follows_its_table():
    for table in (0xD8, 0x96, 0x01, 0xFE):
        b = Builder()
        s = [b.var(ty.UD) for _ in range(3)]
        d = b.var(ty.UD)
        b.op("bfn", dst=b.dst(d), src0=b.src(s[0]), src1=b.src(s[1]), src2=b.src(s[2]), func=table)
        b.ret()
        data = [ints(ty.UD), ints(ty.UD)[::-1].copy(), RNG.permutation(ints(ty.UD))]
        got = final(b, dict(zip(s, data, strict=True)))(d)
        for i in range(16):
            bits = [sum(((int(data[k][i]) >> j) & 1) << k for k in range(3)) for j in range(32)]
            assert got[i] == sum((table >> index & 1) << j for j, index in enumerate(bits))


def test_predicate_logic_touches_only_its_lanes():
    b = Builder()
    p, q, r = b.pred(), b.pred(), b.pred()
    b.op("setp", "M1_NM,32", dst=PredicateOperand(p), src0=imm(0xFF00FF00, ty.UD))
    b.op("setp", "M1_NM,32", dst=PredicateOperand(q), src0=imm(0x0FF00FF0, ty.UD))
    b.op("and", "M5_NM,16", dst=PredicateOperand(r), src0=PredicateOperand(p), src1=PredicateOperand(q))
    b.ret()
    assert final(b).frame.preds[r] == 0xFF00FF00 & 0x0FF00FF0 & 0xFFFF0000


def test_select_takes_src0_where_the_predicate_holds():
    b = Builder()
    x, y, d, p = b.var(), b.var(), b.var(), b.pred()
    b.op("setp", "M1_NM,16", dst=PredicateOperand(p), src0=imm(0x00F1, ty.UW))
    b.op("sel", pred=pred(p), dst=b.dst(d), src0=b.src(x), src1=b.src(y))
    b.ret()
    got = final(b, {x: np.arange(16, dtype=np.int32), y: np.full(16, 99, np.int32)}, lanes=0xFFFF)(d)
    assert got.tolist() == [i if 0xF1 >> i & 1 else 99 for i in range(16)]
