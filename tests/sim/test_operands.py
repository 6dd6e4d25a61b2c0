"""Regions, masks, predicates, aliases, addresses: which lanes of which elements an instruction touches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from each_case import check_each

from tests.support.builders import Builder, final, imm, pred
from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import Region
from visa_lsp.program.model import Address, AddressOf, General, Indirect, PredicateOperand

COUNT = np.arange(64, dtype=np.int32)


def naive_region(vert, width, horz, lanes, origin):
    """Seed 004's pseudo-code."""
    return [origin + i * vert + j * horz for i in range(lanes // width) for j in range(width)]


@pytest.mark.parametrize(
    ("region", "row", "col"),
    [((1, 1, 0), 0, 3), ((0, 1, 0), 1, 2), ((8, 8, 1), 0, 0), ((4, 2, 2), 0, 1), ((8, 4, 2), 1, 0), ((0, 4, 1), 0, 5),
     ((16, 8, 1), 0, 0), ((2, 1, 0), 0, 0), ((1, 4, 1), 0, 0), ((4, 4, 0), 0, 0)],
)  # fmt: skip
def test_source_region_reads_the_elements_of_the_pseudo_code(region, row, col):
    b = Builder()
    x, d = b.var(ty.D, 64), b.var(ty.D)
    b.op("mov", dst=b.dst(d), src0=b.src(x, region, row, col))
    b.ret()
    expected = naive_region(*region, 16, row * 8 + col)
    assert final(b, {x: COUNT})(d).tolist() == expected


def test_destination_stride_leaves_the_elements_between():
    b = Builder()
    x, d = b.var(ty.D, 16), b.var(ty.W, 64)
    b.op("mov", dst=b.dst(d, 2, 0, 1), src0=b.src(x))
    b.ret()
    got = final(b, {x: COUNT[:16], d: np.full(64, -1, np.int16)})(d)
    assert got[1:33:2].tolist() == list(range(16))
    assert set(got[0:33:2].tolist()) == {-1}


def test_overlapping_move_reads_before_it_writes():
    b = Builder()
    x = b.var(ty.D, 32)
    b.op("mov", dst=b.dst(x, 1, 0, 1), src0=b.src(x))
    b.ret()
    assert final(b, {x: COUNT[:32]})(x)[:17].tolist() == [0, *range(16)]


@pytest.mark.parametrize(
    ("stride", "region"), [(2, (1, 1, 0)), (4, (1, 1, 0)), (1, (2, 1, 0)), (1, (8, 4, 2)), (2, (4, 1, 0))]
)
def test_a_move_within_a_variable_reads_all_lanes_before_it_writes_one(stride, region):
    def check(case):
        first, masked = case
        b = Builder()
        x, p = b.var(ty.W, 128), b.pred()
        lanes = [lane for lane in range(16) if not masked or lane % 3]
        b.op("setp", dst=PredicateOperand(p), src0=imm(sum(1 << lane for lane in lanes), ty.UW))
        b.op("mov", dst=b.dst(x, stride, 0, first), src0=b.src(x, region), pred=pred(p) if masked else None)
        b.ret()
        before = np.arange(128, dtype=np.int16)
        expected = before.copy()
        sources = naive_region(*region, 16, 0)
        expected[[first + stride * lane for lane in lanes]] = [before[sources[lane]] for lane in lanes]
        assert final(b, {x: before})(x).tolist() == expected.tolist()

    check_each(itertools.product(range(0, 24, 3), (False, True)), check)


@pytest.mark.parametrize(
    ("exec_", "lanes", "written"),
    [
        ("M1,16", 0x0000_00F0, 0x00F0),
        ("M5,16", 0x00F0_FFFF, 0x00F0),
        ("M3,8", 0x0000_AA00, 0x00AA),
        ("M1_NM,16", 0x0000_0001, 0xFFFF),
        ("M5_NM,16", 0x0000_0001, 0xFFFF),
        ("M1,1", 0x0000_0002, 0x0000),
        ("M1,1", 0x0000_0003, 0x0001),
    ],
)
def test_execution_mask_selects_the_lanes_that_write(exec_, lanes, written):
    b = Builder()
    d = b.var(ty.D, 16)
    b.op("mov", exec_, dst=b.dst(d), src0=imm(7))
    b.ret()
    got = final(b, {d: np.full(16, -1, np.int32)}, lanes=lanes)(d)
    assert got.tolist() == [7 if written >> i & 1 else -1 for i in range(16)]


@pytest.mark.parametrize(
    ("bits", "options", "exec_", "written"),
    [
        (0x0F0F, {}, "M1,16", 0x0F0F),
        (0x0F0F, {"inverse": True}, "M1,16", 0xF0F0),
        (0x0001, {"combine": "any"}, "M1,16", 0xFFFF),
        (0x0000, {"combine": "any"}, "M1,16", 0),
        (0xFFFE, {"combine": "all"}, "M1,16", 0),
        (0xFFFF, {"combine": "all"}, "M1,16", 0xFFFF),
        (0xFFFF, {"combine": "all", "inverse": True}, "M1,16", 0),
        (0x0000, {"combine": "any", "inverse": True}, "M1,16", 0xFFFF),
        (0xAAAA_0000, {}, "M5,16", 0xAAAA),
        (0xAAAA_0000, {"combine": "any"}, "M1,16", 0),
        (0x0000_0200, {"combine": "any"}, "M3,8", 0xFF),
    ],
)
def test_predicate_selects_lanes_from_the_mask_offset_on(bits, options, exec_, written):
    b = Builder()
    d, p = b.var(ty.D, 16), b.pred()
    b.op("setp", "M1_NM,32", dst=PredicateOperand(p), src0=imm(bits, ty.UD))
    b.op("mov", exec_, pred=pred(p, **options), dst=b.dst(d), src0=imm(7))
    b.ret()
    got = final(b, {d: np.full(16, -1, np.int32)}, lanes=0xFFFF_FFFF)(d)
    assert got.tolist() == [7 if written >> i & 1 else -1 for i in range(16)]


def test_predicate_under_no_mask_ignores_inactive_lanes():
    b = Builder()
    d, p = b.var(ty.D, 16), b.pred()
    b.op("setp", "M1_NM,32", dst=PredicateOperand(p), src0=imm(0xF00F, ty.UD))
    b.op("mov", "M1_NM,16", pred=pred(p), dst=b.dst(d), src0=imm(7))
    b.ret()
    assert (final(b, lanes=1)(d) == 7).tolist() == [bool(0xF00F >> i & 1) for i in range(16)]


def test_compare_fills_both_halves_of_a_predicate():
    b = Builder()
    x, p = b.var(ty.D, 32), b.pred()
    b.op("cmp", "M1,16", relop=4, dst=PredicateOperand(p), src0=b.src(x), src1=imm(20))
    b.op("cmp", "M5,16", relop=4, dst=PredicateOperand(p), src0=b.src(x, row=2), src1=imm(20))
    b.ret()
    read = final(b, {x: COUNT[:32]}, lanes=0xFFFF_FFFF)
    assert read.frame.preds[p] == (1 << 20) - 1


def test_compare_leaves_the_bits_of_inactive_lanes():
    b = Builder()
    x, p = b.var(ty.D, 16), b.pred()
    b.op("setp", "M1_NM,32", dst=PredicateOperand(p), src0=imm(0xFFFF_FFFF, ty.UD))
    b.op("cmp", "M1,16", relop=0, dst=PredicateOperand(p), src0=b.src(x), src1=imm(99))
    b.ret()
    assert final(b, lanes=0x00FF).frame.preds[p] == 0xFFFF_FF00


def test_compare_into_a_register_gives_all_ones():
    b = Builder()
    x, d = b.var(ty.F), b.var(ty.D)
    b.op("cmp", relop=1, dst=b.dst(d), src0=b.src(x), src1=imm(1.0, ty.F))
    b.ret()
    data = np.array([1, 2, np.nan, -0.0] * 4, np.float32)
    assert final(b, {x: data})(d)[:4].tolist() == [0, -1, -1, -1]


def test_alias_of_another_type_shares_bytes():
    b = Builder()
    base = b.var(ty.D, 16)
    bytes_ = b.var(ty.UB, 16, base, 4)
    inner = b.var(ty.UW, 4, bytes_, 2)
    b.op("mov", "M1,1", dst=b.dst(inner), src0=imm(0xABCD, ty.UW))
    b.ret()
    assert final(b)(base)[1] == 0xABCD0000 - (1 << 32)


def test_channel_enable_register_shows_the_execution_mask():
    b = Builder()
    d = b.var(ty.UD)
    b.op("mov", "M1_NM,1", dst=b.dst(d), src0=General(15, 0, 0, Region(0, 1, 0)))
    b.ret()
    assert final(b, lanes=0x1234)(d)[0] == 0x1234


def test_state_register_holds_the_dispatch_mask():
    b = Builder()
    d = b.var(ty.UD)
    b.op("mov", "M1_NM,1", dst=b.dst(d), src0=General(13, 0, 2, Region(0, 1, 0)))
    b.ret()
    assert final(b, lanes=0x1234)(d)[0] == 0x1234


def test_single_address_indirect_source_and_destination():
    b = Builder()
    x, d, a = b.var(ty.D, 64), b.var(ty.D, 32), b.address(8)
    b.op("addr_add", "M1_NM,1", dst=Address(a, 0, 1), src0=AddressOf(x, 1, 0), src1=imm(8, ty.UW))
    b.op("addr_add", "M1_NM,1", dst=Address(a, 1, 1), src0=AddressOf(d, 0, 0), src1=imm(0, ty.UW))
    b.op("mov", "M1,8", dst=Indirect(a, 1, 16, ty.D, Region(None, None, 1)),
         src0=Indirect(a, 0, 4, ty.D, Region(8, 8, 1)))  # fmt: skip
    b.ret()
    assert final(b, {x: COUNT})(d)[4:12].tolist() == list(range(11, 19))


def test_multi_address_indirect_source_has_one_address_per_row():
    b = Builder()
    x, offsets, d, a = b.var(ty.D, 64), b.var(ty.UW, 16), b.var(ty.D), b.address(16)
    b.op("addr_add", "M1,16", dst=Address(a, 0, 16), src0=AddressOf(x, 0, 0), src1=b.src(offsets))
    b.op("mov", "M1,16", dst=b.dst(d), src0=Indirect(a, 0, 0, ty.D, Region(None, 1, 0)))
    b.ret()
    picks = np.array([63, 0, 5, 5, 9, 1, 2, 3, 4, 60, 50, 40, 30, 20, 10, 0], np.uint16)
    assert final(b, {x: COUNT, offsets: picks * 4})(d).tolist() == picks.tolist()


def test_unwritten_null_and_read_null():
    b = Builder()
    d = b.var(ty.D)
    b.op("mov", dst=General(0, 0, 0, Region(None, None, 1)), src0=imm(5))
    b.op("mov", dst=b.dst(d), src0=General(0, 0, 0, Region(0, 1, 0)))
    b.ret()
    assert final(b, {d: np.full(16, 3, np.int32)})(d).tolist() == [0] * 16
