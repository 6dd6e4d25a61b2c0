"""Divergent control flow: which lanes execute what, in which order; calls, and runs that go wrong."""

from __future__ import annotations

import numpy as np

from tests.support.builders import Builder, dispatch, final, imm, pred, run
from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import Region
from visa_lsp.program.model import General, PredicateOperand
from visa_lsp.sim.faults import FaultKind

IDS = np.arange(16, dtype=np.int32)


def less(b, p, x, bound):
    b.op("cmp", relop=4, dst=PredicateOperand(p), src0=b.src(x), src1=imm(bound))


def add(b, d, value, exec_="M1,16"):
    b.op("add", exec_, dst=b.dst(d), src0=b.src(d), src1=imm(value))


def test_forward_goto_parks_lanes_until_the_label():
    b = Builder()
    x, d, p = b.var(), b.var(), b.pred()
    less(b, p, x, 5)
    b.op("goto", pred=pred(p), label=b.label("small"))
    add(b, d, 100)
    b.op("goto", "M1,1", label=b.label("end"))
    b.at("small")
    add(b, d, 1)
    b.at("end")
    add(b, d, 10)
    b.ret()
    assert final(b, {x: IDS})(d).tolist() == [11] * 5 + [110] * 11


def test_forward_goto_of_all_lanes_skips_no_mask_code():
    b = Builder()
    d, p = b.var(), b.pred()
    b.op("setp", "M1_NM,16", dst=PredicateOperand(p), src0=imm(0xFFFF, ty.UW))
    b.op("goto", pred=pred(p), label=b.label("end"))
    add(b, d, 100, "M1_NM,16")
    b.at("end")
    b.ret()
    assert final(b)(d).tolist() == [0] * 16


def test_backward_goto_loops_each_lane_its_own_number_of_times():
    b = Builder()
    x, i, d, p = b.var(), b.var(), b.var(), b.pred()
    b.at("loop")
    add(b, d, 3)
    add(b, i, 1)
    b.op("cmp", relop=4, dst=PredicateOperand(p), src0=b.src(i), src1=b.src(x))
    b.op("goto", pred=pred(p), label=b.label("loop"))
    add(b, d, 1000)
    b.ret()
    assert final(b, {x: IDS})(d).tolist() == [1000 + 3 * max(1, n) for n in range(16)]


def test_break_out_of_a_loop_rejoins_behind_it():
    b = Builder()
    x, i, d, p, q = b.var(), b.var(), b.var(), b.pred(), b.pred()
    b.at("loop")
    b.op("cmp", relop=0, dst=PredicateOperand(p), src0=b.src(i), src1=b.src(x))
    b.op("goto", pred=pred(p), label=b.label("out"))
    add(b, d, 1)
    add(b, i, 1)
    less(b, q, i, 10)
    b.op("goto", pred=pred(q), label=b.label("loop"))
    add(b, d, 100)
    b.at("out")
    add(b, d, 1000)
    b.ret()
    assert final(b, {x: IDS})(d).tolist() == [1000 + (n if n < 10 else 110) for n in range(16)]


def test_upper_half_branches_on_its_own_predicate_bits():
    b = Builder()
    d, e, p = b.var(), b.var(), b.pred()
    b.op("setp", "M1_NM,32", dst=PredicateOperand(p), src0=imm(0x00FF_F0F0, ty.UD))
    b.op("goto", "M1,32", pred=pred(p), label=b.label("end"))
    add(b, d, 1, "M1,16")
    add(b, e, 1, "M5,16")
    b.at("end")
    b.ret()
    read = final(b, lanes=0xFFFF_FFFF)
    assert read(d).tolist() == [1 - (0xF0F0 >> i & 1) for i in range(16)]
    assert read(e).tolist() == [1 - (0x00FF >> i & 1) for i in range(16)]


def test_scalar_goto_moves_all_lanes_by_the_first_predicate_bit():
    for bit, expected in ((1, 0), (0, 5)):
        b = Builder()
        d, p = b.var(), b.pred()
        b.op("setp", "M1_NM,16", dst=PredicateOperand(p), src0=imm(bit, ty.UW))
        b.op("goto", "M1,1", pred=pred(p), label=b.label("end"))
        add(b, d, 5)
        b.at("end")
        b.ret()
        assert final(b)(d).tolist() == [expected] * 16


def test_uniform_jump():
    b = Builder()
    d = b.var()
    b.op("jmp", "M1_NM,1", label=b.label("end"))
    add(b, d, 5)
    b.at("end")
    b.ret()
    assert final(b)(d).tolist() == [0] * 16


def test_switchjmp_takes_the_label_of_the_index():
    b = Builder()
    d = b.var()
    b.op("switchjmp", "M1_NM,1", n=2, index=imm(1, ty.UB), labels=(b.label("a"), b.label("b")))
    b.at("a")
    add(b, d, 1)
    b.at("b")
    add(b, d, 10)
    b.ret()
    assert final(b)(d).tolist() == [10] * 16


def test_subroutine_runs_the_calling_lanes_and_returns_early():
    b = Builder()
    x, d, p, q = b.var(), b.var(), b.pred(), b.pred()
    less(b, p, x, 8)
    less(b, q, x, 4)
    b.op("call", pred=pred(p), label=b.label("sub"))
    add(b, d, 1000)
    b.ret()
    b.at("sub", ".function")
    add(b, d, 1)
    b.op("ret", pred=pred(q))
    add(b, d, 10)
    b.op("ret", "M1,16")
    assert final(b, {x: IDS})(d).tolist() == [1001] * 4 + [1011] * 4 + [1000] * 8


def test_divergent_return_of_a_kernel_lets_the_others_go_on():
    b = Builder()
    x, d, p = b.var(), b.var(), b.pred()
    less(b, p, x, 8)
    b.op("ret", pred=pred(p))
    add(b, d, 1)
    b.op("ret", "M1,16")
    assert final(b, {x: IDS})(d).tolist() == [0] * 8 + [1] * 8


ARG, RETVAL = 8, 9


def predefined(var, region):
    return General(var, 0, 0, Region(*region))


def factorial():
    """Return a function: %retval = %arg < 2 ? 1 : %arg * f(%arg - 1), lanes on their own."""
    f = Builder("fact", is_kernel=False)
    kept, p = f.var(ty.UD), f.pred()
    f.op("mov", dst=f.dst(kept), src0=predefined(ARG, (1, 1, 0)))
    f.op("mov", dst=predefined(RETVAL, (None, None, 1)), src0=imm(1, ty.UD))
    f.op("cmp", relop=4, dst=PredicateOperand(p), src0=f.src(kept), src1=imm(2, ty.UD))
    f.op("goto", pred=pred(p), label=f.label("end"))
    f.op("add", dst=predefined(ARG, (None, None, 1)), src0=f.src(kept), src1=imm(0xFFFFFFFF, ty.UD))
    f.op("fcall", name=f.string("fact"), argsize=2, retsize=2)
    f.op("mul", dst=predefined(RETVAL, (None, None, 1)), src0=predefined(RETVAL, (1, 1, 0)), src1=f.src(kept))
    f.at("end")
    f.op("fret", "M1,16")
    return f.kernel()


def test_recursive_function_keeps_its_own_variables():
    b = Builder()
    x, d = b.var(ty.UD), b.var(ty.UD)
    b.op("mov", dst=predefined(ARG, (None, None, 1)), src0=b.src(x))
    b.op("fcall", name=b.string("fact"), argsize=2, retsize=2)
    b.op("mov", dst=b.dst(d), src0=predefined(RETVAL, (1, 1, 0)))
    b.ret()
    got = final(b, {x: np.arange(16, dtype=np.uint32) % 8}, functions=[factorial()])(d)
    assert got.tolist() == [1, 1, 2, 6, 24, 120, 720, 5040] * 2


def test_function_called_through_its_address():
    b = Builder()
    d, pointer = b.var(ty.UD), b.var(ty.UQ, 1)
    b.op("faddr", name=b.string("fact"), dst=b.dst(pointer))
    b.op("mov", dst=predefined(ARG, (None, None, 1)), src0=imm(5, ty.UD))
    b.op("ifcall", callee=b.scalar(pointer), argsize=2, retsize=2)
    b.op("mov", dst=b.dst(d), src0=predefined(RETVAL, (1, 1, 0)))
    b.ret()
    assert final(b, functions=[factorial()])(d).tolist() == [120] * 16


def test_structured_control_flow_of_the_seed():
    b = Builder()
    x, d, p = b.var(), b.var(), b.pred()
    less(b, p, x, 4)
    b.op("if", pred=pred(p))
    add(b, d, 1)
    b.op("else")
    add(b, d, 2)
    b.op("endif")
    b.op("do")
    add(b, d, 10)
    less(b, p, d, 30)
    b.op("while", pred=pred(p))
    b.ret()
    assert final(b, {x: IDS})(d).tolist() == [31] * 4 + [32] * 12


def test_endless_loop_ends_with_the_budget():
    b = Builder()
    b.at("loop")
    b.op("goto", "M1,1", label=b.label("loop"))
    b.ret()
    result = run(dispatch(b, budget=50_000))
    assert [f.kind for f in result.faults] == [FaultKind.BUDGET]


def test_instruction_without_a_model_is_recorded_and_told():
    b = Builder()
    b.op("avs", "M1,16")
    b.ret()
    result = run(dispatch(b))
    assert result.faults == ()
    (sent,) = result.sent
    assert (sent.mnemonic, sent.kernel, sent.instruction, sent.line, sent.count) == ("avs", "k", 0, 0, 1)
    assert sent.reason == "the adaptive video scaler's filters are not documented"


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
    add(b, d, 1)
    add(b, d, 1)
    b.at("here")
    b.ret()
    result = run(dispatch(b, threads=3, groups=(2, 1, 1)))
    assert result.instructions == {"add": 12, "ret": 6}
    assert (result.threads, result.groups, result.steps) == (6, 2, 18)
