"""What generated programs do not have: aliases, overlaps, null operands, missing functions; and the counts of a run."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from each_case import check_each

from tests.support.builders import Builder, dispatch, final, imm, pred, run
from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import Region
from visa_lsp.program.model import General, PredicateOperand
from visa_lsp.sim.faults import FaultKind


def test_first_bit_that_differs_from_the_sign():
    b = Builder()
    x, d = b.var(ty.D), b.var(ty.UD)
    b.op("fbh", dst=b.dst(d), src0=b.src(x))
    b.ret()
    signed = np.array([0, -1, 1, -2, 0x40000000, -(2**31)] + [5] * 10, np.int32)
    assert final(b, {x: signed})(d)[:6].tolist() == [0xFFFFFFFF, 0xFFFFFFFF, 31, 31, 1, 1]


def test_a_value_shifted_into_a_qword_keeps_its_own_sign_whatever_that_of_the_count():
    b = Builder()
    x, d = b.var(ty.UD), b.var(ty.Q)
    b.op("shl", dst=b.dst(d), src0=b.src(x), src1=imm(4, ty.D))
    b.ret()
    assert final(b, {x: np.full(16, 0xFFFFFFF0, np.uint32)})(d)[0] == 0xFFFFFFF00


@pytest.mark.parametrize(
    ("op", "type_", "value", "other", "target", "result"),
    [
        ("add", ty.UW, 0xFFFF, imm(1, ty.W), ty.D, 65536),
        ("mul", ty.UW, 0x8000, imm(0x7FFF, ty.W), ty.D, 0x3FFF8000),
        ("min", ty.UW, 0x8000, imm(5, ty.W), ty.D, 5),
        ("or", ty.UW, 0x8000, imm(1, ty.W), ty.D, 0x8001),
        ("add", ty.UD, 0xFFFFFFFF, imm(1, ty.D), ty.Q, 1 << 32),
        ("max", ty.UD, 0x80000000, imm(1, ty.D), ty.Q, 0x80000000),
        ("min", ty.UD, 0x80000000, imm(5, ty.D), ty.D, -(2**31)),  # as the signed dword that is the execution type
    ],
)
def test_words_and_parts_of_qwords_keep_their_own_sign(op, type_, value, other, target, result):
    b = Builder()
    x, d = b.var(type_), b.var(target)
    b.op(op, dst=b.dst(d), src0=b.src(x), src1=other)
    b.ret()
    assert final(b, {x: np.full(16, value, f"u{type_.size}")})(d)[0] == result


def test_immediate_is_narrowed_to_its_type_when_read():
    b = Builder()
    x = b.var(ty.D)
    b.op("mov", "M1,1", dst=b.dst(x), src0=imm(0x1FFFF, ty.W))
    b.ret()
    assert final(b)(x)[0] == -1


@pytest.mark.parametrize(
    ("stride", "region"), [(2, (1, 1, 0)), (4, (1, 1, 0)), (1, (2, 1, 0)), (1, (8, 4, 2)), (2, (4, 1, 0))]
)
def test_a_move_within_a_variable_reads_all_lanes_before_it_writes_one(stride, region):
    vert, width, horz = region
    sources = [i * vert + j * horz for i in range(16 // width) for j in range(width)]

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
        expected[[first + stride * lane for lane in lanes]] = [before[sources[lane]] for lane in lanes]
        assert final(b, {x: before})(x).tolist() == expected.tolist()

    check_each(itertools.product(range(0, 24, 3), (False, True)), check)


def test_alias_of_another_type_shares_bytes():
    b = Builder()
    base = b.var(ty.D, 16)
    bytes_ = b.var(ty.UB, 16, base, 4)
    inner = b.var(ty.UW, 4, bytes_, 2)
    b.op("mov", "M1,1", dst=b.dst(inner), src0=imm(0xABCD, ty.UW))
    b.ret()
    assert final(b)(base)[1] == 0xABCD0000 - (1 << 32)


def test_unwritten_null_and_read_null():
    b = Builder()
    d = b.var(ty.D)
    b.op("mov", dst=General(0, 0, 0, Region(None, None, 1)), src0=imm(5))
    b.op("mov", dst=b.dst(d), src0=General(0, 0, 0, Region(0, 1, 0)))
    b.ret()
    assert final(b, {d: np.full(16, 3, np.int32)})(d).tolist() == [0] * 16


def test_call_of_a_missing_function_is_a_fault():
    b = Builder()
    b.op("fcall", name=b.string("nowhere"), argsize=0, retsize=0)
    b.ret()
    (fault,) = run(dispatch(b)).faults
    assert (fault.kind, fault.instruction, fault.line) == (FaultKind.CALL, 0, 0)
    assert "nowhere" in fault.message


def test_counts_are_per_mnemonic():
    b = Builder()
    d = b.var()
    for _ in range(2):
        b.op("add", dst=b.dst(d), src0=b.src(d), src1=imm(1))
    b.at("here")
    b.ret()
    result = run(dispatch(b, threads=3, groups=(2, 1, 1)))
    assert result.instructions == {"add": 12, "ret": 6}
    assert (result.threads, result.groups, result.steps) == (6, 2, 18)
