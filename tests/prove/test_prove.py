"""What is proved of small kernels, what is refuted by a launch, and what stays unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from each_case import check_each
from planted_faults import BARRIER, GUARD, HEAD, INDEX, LOAD, RIGHT, STORE
from tiers import first, in_turns, one_of_each

from visa_lsp.app.assemble import program_of_text
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.runner import run_launch
from visa_lsp.app.prove import BufferNeed, ProofResult
from visa_lsp.app.prove.document import ProofOptions, ProvedFile, prove_data, prove_kernel, with_shown_lines
from visa_lsp.app.prove.journal import Journal, read_journal
from visa_lsp.app.prove.report import as_text
from visa_lsp.app.prove.terms import Level, SumPool, at_most, less, number
from visa_lsp.cli.main import main

pytest.importorskip("z3")

from visa_lsp.app.prove.solve import Solver, SymbolicItem

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = (EXAMPLES / "saxpy.visaasm").read_text()
TWO = ".decl two v_type=G type=d num_elts=32 align=GRF\n"


def answers(code, **options):
    return answers_of_text(HEAD.replace(".decl P1", TWO + ".decl P1") + code + "    ret (M1, 1)\n", **options)


def answers_of_text(text, **options):
    program = program_of_text(text)
    assert program.module is not None, program.diagnostics
    path = Path("k.visaasm")
    given = ProofOptions(**{"seconds": 120, "properties": ("race", "bounds", "divergence"), **options})
    return prove_kernel(program.module, program.module.kernels[0], "k.visaasm", path, text.encode(), given)


def words(code, **options):
    return sorted({f"{one.property} {one.answer}" for one in answers(code, **options)})


def test_a_guarded_kernel_is_proved_with_its_contract():
    found = answers_of_text(SAXPY)
    assert {one.answer for one in found} == {"proved"}
    assumed = {one for result in found for one in result.assumptions}
    assert "y has at least 4 * n bytes" in assumed
    assert not any("wrap" in one for one in assumed)


def test_a_counterexample_is_a_launch_that_runs_to_the_fault():
    wrong = SAXPY.replace("cmp.lt (M1, 16) P1", "cmp.le (M1, 16) P1")
    results = answers_of_text(wrong, properties=("bounds",))
    refuted = [one for one in results if one.answer == "refuted"]
    assert len(refuted) == 3
    text = as_text([ProvedFile("saxpy.visaasm", tuple(results))])
    assert "  - y: 4 * n + 4 bytes as the kernel is now; the launch that refutes has 4 * n\n" in text
    launch = parse_launch(refuted[0].launch, Path("k.launch.yaml"))
    report = run_launch(launch, RunOptions(Path("k.visaasm"), "TGLLP"), wrong.encode())
    assert {fault.kind.value for fault in report.faults} == {"out-of-bounds"}


@pytest.mark.parametrize(
    "code", ["dword_atomic.add.16 (M1, 16) y at.0 at.0 %null.0 %null.0", "scatter_scaled.2 (M1, 16) y 0x0:ud at.0 at.0"]
)
def test_bytes_of_narrow_messages_are_those_of_the_simulator(code):
    text = HEAD.replace("at v_type=G type=d ", "at v_type=G type=ud ") + INDEX.format("gid").replace("0x2:", "0x1:")
    found = answers_of_text(f"{text}    {code}\n    ret (M1, 1)\n", properties=("bounds",))
    assert {one for result in found for one in result.assumptions if " has at least " in one} == {
        "y has at least 2 * global_size bytes"
    }


CASES = {
    "groups share elements": (INDEX.format("lid") + STORE.format("y", "at"), ["bounds proved", "race refuted"]),
    "before the first element": (
        "    add (M1, 16) gid(0,0)<1> gid(0,0)<1;1,0> -0x1:d\n" + INDEX.format("gid") + STORE.format("y", "at"),
        ["bounds refuted", "race proved"],
    ),
    "a loop over elements in strides": (
        "    mov (M1_NM, 1) step(0,0)<1> 0x0:d\nagain:\n"
        "    add (M1, 16) gid(0,0)<1> lid(0,0)<1;1,0> step(0,0)<0;1,0>\n"
        + INDEX.format("gid") + STORE.format("%slm", "at")
        + "    add (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x40:d\n"
        "    cmp.lt (M1_NM, 16) P1 step(0,0)<0;1,0> 0x100:d\n    (P1) goto (M1, 16) again\n",
        ["bounds proved", "race refuted"],
    ),
    "a bound with a carry": (
        "    addc (M1_NM, 1) bound(0,0)<1> carry(0,0)<1> local_size(0,0)<0;1,0> 0xffffffff:ud\n"
        "    mul (M1_NM, 1) step(0,0)<1> bound(0,0)<0;1,0> carry(0,0)<0;1,0>\n"
        "    cmp.gt (M1, 16) P1 step(0,0)<0;1,0> lid(0,0)<1;1,0>\n    (!P1) goto (M1, 16) out\n"
        "    add (M1, 16) gid(0,0)<1> gid(0,0)<1;1,0> 0x1:d\n" + INDEX.format("gid") + STORE.format("y", "at") + "out:\n",
        ["bounds proved", "race proved"],
    ),
    "elements apart by an argument": (
        "    mul (M1, 16) gid(0,0)<1> gid(0,0)<1;1,0> n(0,0)<0;1,0>\n" + INDEX.format("gid") + STORE.format("y", "at"),
        ["bounds proved", "race refuted"],
    ),
    "an element beyond those that a group fills": (
        "    shl (M1, 16) at(0,0)<1> lid(0,0)<1;1,0> 0x4:d\n" + STORE.format("%slm", "at") + BARRIER
        + "    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x10:d\n" + LOAD.format("%slm", "at"),
        ["bounds proved", "bounds refuted", "divergence proved", "race proved"],
    ),
    "an element beyond those of the groups that a guard allows": (
        "    cmp.gt (M1, 16) P1 local_size(0,0)<0;1,0> 0x60:ud\n    (P1) goto (M1, 16) out\n"
        "    mul (M1, 16) at(0,0)<1> lid(0,0)<1;1,0> 0x28:d\n" + LOAD.format("%slm", "at")
        + "    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x128:d\n" + LOAD.format("%slm", "at") + "out:\n",
        ["bounds proved", "bounds refuted", "race proved"],
    ),
    "elements between those that a message takes": (
        "    cmp.gt (M1, 16) P1 lid(0,0)<1;1,0> 0x63:d\n    (P1) goto (M1, 16) out\n"
        "    shl (M1, 16) at(0,0)<1> lid(0,0)<1;1,0> 0x3:d\n    gather4_scaled.RB (M1, 16) %slm 0x0:ud at.0 two.0\n"
        "    add (M1, 16) value(0,0)<1> two(0,0)<1;1,0> two(2,0)<1;1,0>\n"
        "    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0xc:d\n" + STORE.format("%slm", "at") + "out:\n",
        ["bounds proved", "race proved"],
    ),
    "numbers of bytes": (
        "    and (M1, 16) gid(0,0)<1> gid(0,0)<1;1,0> 0xff:d\n" + INDEX.format("gid") + STORE.format("y", "at"),
        ["bounds proved", "race refuted"],
    ),
    "an address from memory": (
        INDEX.format("gid") + "    gather4_scaled.R (M1, 16) y 0x0:ud at.0 at.0\n" + STORE.format("%slm", "at"),
        ["bounds proved", "bounds refuted", "race proved", "race refuted"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", one_of_each(CASES, lambda name: str(CASES[name][1])))
def test_small_kernels(name):
    code, expected = CASES[name]
    assert words(code) == expected


FLAT = """.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl p v_type=G type=uq num_elts=1 align=qword
.decl q v_type=G type=uq num_elts=1 align=qword
.decl n v_type=G type=d num_elts=1 align=dword
.decl p_words v_type=G type=ud num_elts=2 align=qword alias=<p, 0>
.decl q_words v_type=G type=ud num_elts=2 align=qword alias=<q, 0>
.decl chosen v_type=G type=uq num_elts=1 align=GRF
.decl words v_type=G type=ud num_elts=2 align=GRF alias=<chosen, 0>
.decl base v_type=G type=ud num_elts=8 align=GRF
.decl carry v_type=G type=ud num_elts=8 align=GRF
.decl places v_type=G type=uq num_elts=8 align=GRF
.decl place_words v_type=G type=ud num_elts=16 align=GRF alias=<places, 0>
.decl value v_type=G type=ud num_elts=8 align=GRF
.decl P1 v_type=P num_elts=1
.input local_id_x offset=32 size=32
.input p offset=64 size=8
.input q offset=72 size=8
.input n offset=80 size=4
.kernel_attr SimdSize=16
    mov (M1_NM, 8) value(0,0)<1> %r0(0,1)<0;1,0>
"""
STORE_FLAT = "    svm_scatter.4.1 (M1_NM, 1) chosen.0 value.0\n    ret (M1, 1)\n"
STORE_BLOCK = """    addc (M1_NM, 8) base(0,0)<1> carry(0,0)<1> p_words(0,0)<0;1,0> 0xc840:uv
    mov (M1_NM, 8) place_words(0,0)<2> base(0,0)<1;1,0>
    add (M1_NM, 8) base(0,0)<1> carry(0,0)<1;1,0> p_words(0,1)<0;1,0>
    mov (M1_NM, 8) place_words(0,1)<2> base(0,0)<1;1,0>
    svm_scatter.4.1 (M1_NM, 8) places.0 value.0
    ret (M1, 1)
"""
POINTERS = {
    "two words at once": (
        "    mov (M1_NM, 2) words(0,0)<1> p_words(0,0)<1;1,0>\n" + STORE_FLAT,
        ["bounds proved", "p has at least 4 bytes", "race refuted"],
    ),
    "one of two pointers": (
        "    cmp.gt (M1_NM, 1) P1 n(0,0)<0;1,0> 0x0:d\n"
        "    (P1) sel (M1_NM, 1) words(0,0)<1> p_words(0,0)<0;1,0> q_words(0,0)<0;1,0>\n"
        "    (P1) sel (M1_NM, 1) words(0,1)<1> p_words(0,1)<0;1,0> q_words(0,1)<0;1,0>\n" + STORE_FLAT,
        ["bounds proved", "buffers of different arguments do not overlap", "p has at least 4 bytes",
         "q has at least 4 bytes", "race refuted"],
    ),
    "no pointer": ("    mov (M1_NM, 2) words(0,0)<1> 0x0:ud\n" + STORE_FLAT, ["bounds refuted", "race unknown"]),
    "lanes that are no work items": (STORE_BLOCK, ["bounds proved", "p has at least 16 bytes", "race refuted"]),
}  # fmt: skip


@pytest.mark.parametrize("name", POINTERS)
def test_addresses_are_followed_to_their_pointers(name):
    code, expected = POINTERS[name]
    assume = ("local_size_x == 16", "local_size_y == 1", "local_size_z == 1", "groups_x <= 4")
    found = answers_of_text(FLAT + code, assume=assume)
    assumed = {one for result in found for one in result.assumptions} - set(assume)
    assert sorted({f"{one.property} {one.answer}" for one in found} | assumed) == expected


@pytest.mark.parametrize(("properties", "presumes"), [(("race",), True), (("race", "bounds"), False)])
def test_a_race_proof_presumes_that_accesses_stay_where_their_bounds_are_not_proved(properties, presumes):
    load = "    mov (M1_NM, 2) words(0,0)<1> {0}_words(0,0)<1;1,0>\n    svm_gather.4.1 (M1_NM, 1) chosen.0 value.0\n"
    found = answers_of_text(f"{FLAT}{load.format('p')}{load.format('q')}    ret (M1, 1)\n", properties=properties)
    assert {one.answer for one in found} == {"proved"}
    races = [one for one in found if one.property == "race"]
    assert {any(words.startswith("no access leaves") for words in one.assumptions) for one in races} == {presumes}


def test_a_counterexample_chooses_what_buffers_hold_at_first():
    code = (
        INDEX.format("gid")
        + LOAD.format("y", "at")
        + "    cmp.eq (M1, 16) P1 value(0,0)<1;1,0> 0x12345:d\n    mov (M1, 16) at(0,0)<1> 0x0:d\n"
        "    (P1) scatter4_scaled.R (M1, 16) %slm 0x0:ud at.0 gid.0\n"
    )
    found = next(one for one in answers(code, properties=("race",)) if one.answer == "refuted")
    assert f"{0x12345}, " in found.launch


def test_a_counterexample_of_two_stores_has_different_values():
    code = (
        "    min (M1, 16) value(0,0)<1> lid(0,0)<1;1,0> n(0,0)<0;1,0>\n    mov (M1, 16) at(0,0)<1> 0x0:d\n"
        + STORE.format("y", "at")
    )
    assert words(code, properties=("race",), assume=("groups == 1", "n >= -5")) == ["race refuted"]


def test_private_memory_is_no_place_of_a_race():
    code = INDEX.format("lid") + STORE.format("%scratch", "at")
    found = answers(code, properties=("race",))
    assert [one.answer for one in found] == ["proved"]
    assert "accesses of private memory stay in the part of their work item" in found[0].assumptions


FAULTS = [(name, fault) for name, right in RIGHT.items() for fault in right.faults]


# Rounds take longest; tests of fences and strides have others.
@pytest.mark.parametrize("name", first(len(RIGHT) - 1, sorted(RIGHT, key="a tile in rounds".__eq__)))
def test_a_right_kernel_is_proved(name):
    right = RIGHT[name]
    found = answers_of_text(right.text, properties=right.properties, assume=right.assume)
    assert {one.answer for one in found} == {"proved"}


@pytest.mark.parametrize(
    "case",
    one_of_each(
        in_turns(FAULTS, lambda case: case[0], lambda case: RIGHT[case[0]].faults[case[1]][0]),
        lambda case: RIGHT[case[0]].faults[case[1]][0],
    ),
    ids=" - ".join,
)
def test_a_planted_fault_is_refuted(case):
    name, fault = case
    right = RIGHT[name]
    property_ = right.faults[fault][0]
    found = answers_of_text(right.faulty(fault), properties=(property_,), assume=right.assume)
    assert "refuted" in {one.answer for one in found}


def exchange(memory, fence, before="", index="lid"):
    """Return a kernel whose work items read what their partners wrote before a barrier."""
    partner = "    xor (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x4:d\n"
    store, load = STORE.format(memory, "at"), LOAD.format(memory, "at")
    return INDEX.format(index) + before + store + fence + "    barrier\n" + partner + load


MOVING = """    mov (M1_NM, 1) step(0,0)<1> 0x0:d
again:
    add (M1, 16) at(0,0)<1> gid(0,0)<1;1,0> step(0,0)<0;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:d
    scatter4_scaled.R (M1, 16) y 0x0:ud at.0 value.0
FENCE    barrier
    add (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x1:d
    cmp.lt (M1_NM, 1) P1 step(0,0)<0;1,0> 0x4:d
    (P1) jmp (M1, 1) again
"""
FENCED = {
    "a buffer behind its fence": (exchange("y", "    fence_global.E\n", index="gid"), "proved"),
    "a buffer without a fence": (exchange("y", "", index="gid"), "unknown"),
    "a buffer behind the other fence": (exchange("y", "    fence_local.E\n", index="gid"), "unknown"),
    "a buffer behind a fence of images": (
        exchange("y", "    lsc_fence.tgm.none.group\n", index="gid"),
        "unknown",
    ),
    "a buffer, written behind the fence": (exchange("y", "", "    fence_global.E\n", index="gid"), "unknown"),
    "shared memory without a fence": (exchange("%slm", ""), "proved"),
    "shared memory behind the other fence": (exchange("%slm", "    fence_global.E\n"), "unknown"),
    "rounds with a fence": (MOVING.replace("FENCE", "    fence_global.E\n"), "proved"),
    "rounds without a fence": (MOVING.replace("FENCE", ""), "unknown"),
    "a fence that only some reach": (
        "    cmp.lt (M1, 16) P1 lid(0,0)<1;1,0> 0x8:d\n"
        + exchange("y", "    (P1) goto (M1, 16) past\n    fence_global.E\npast:\n", index="gid"),
        "unknown",
    ),
}


@pytest.mark.parametrize("name", one_of_each(FENCED, lambda name: (name.split()[0], FENCED[name][1])))
def test_a_barrier_orders_what_a_fence_has_covered(name):
    code, expected = FENCED[name]
    found = answers(code, properties=("race",), assume=("groups == 1",))
    assert expected in {one.answer for one in found} <= {expected, "proved"}
    assert all("may have no fence of" in one.reason for one in found if one.answer == "unknown")


@pytest.mark.full
def test_a_round_reads_what_the_round_before_stored_without_a_fence():
    load = LOAD.format("y", "at") + "    fence_global.E\n    barrier\n"
    code = MOVING.replace("    scatter4_scaled.R", load + "    scatter4_scaled.R").replace("FENCE", "")
    found = answers(code, properties=("race",), assume=("groups == 1",))
    assert [one.answer for one in found] == ["unknown", "unknown"]


ROUNDS = """    mov (M1_NM, 1) step(0,0)<1> 0x1:d
again:
    shl (M1, 16) at(0,0)<1> step(0,0)<0;1,0> 0x2:d
    gather4_scaled.R (M1, 16) %slm 0x0:ud at.0 value.0
    mul (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x3:d
    cmp.ne (M1_NM, 1) P1 step(0,0)<0;1,0> 0x51:d
    (P1) jmp (M1, 1) again
"""


def test_a_loop_whose_rounds_are_known_is_proved():
    (found,) = answers(ROUNDS, properties=("bounds",))
    assert found.answer == "proved"


@pytest.mark.full
def test_a_loop_without_a_proof_is_bounded():
    code = ROUNDS.replace("0x51:d", "n(0,0)<0;1,0>")
    (found,) = answers(code, properties=("bounds",), assume=("n == 81 or n == 243",))
    assert found.answer == "bounded"
    assert "up to 4 rounds of a loop" in found.reason


@pytest.mark.full
def test_lanes_of_one_thread_may_be_taken_for_ordered():
    code = "    and (M1, 16) at(0,0)<1> gid(0,0)<1;1,0> -0x2:d\n" + INDEX.format("at") + STORE.format("y", "at")
    assert words(code, properties=("race",), assume=("groups == 1",)) == ["race refuted"]
    assert words(code, properties=("race",), assume=("groups == 1",), item_races=False) == ["race proved"]
    assert words(code.replace("-0x2:d", "-0x20:d"), properties=("race",), item_races=False) == ["race refuted"]


_COMPARE = "    cmp.lt (M1, 16) P1 {}(0,0)<{}> 0x{:x}:d\n"
_ACCESS = INDEX.format("gid") + STORE.format("y", "at")


def _guard(number_):
    return _COMPARE.format("gid", "1;1,0", number_ + 1) + f"    (!P1) goto (M1, 16) out{number_}\n"


def _nested(depth):
    return "".join(map(_guard, range(depth))) + _ACCESS + "".join(f"out{one}:\n" for one in reversed(range(depth)))


def _branches(count):
    step = "    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> gid(0,0)<1;1,0>\n" + STORE.format("y", "at")
    return "    mov (M1, 16) at(0,0)<1> 0x0:d\n" + "".join(f"{_guard(one)}{step}out{one}:\n" for one in range(count))


def _loops(depth):
    end = "    add (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x1:d\n" + _COMPARE.format("step", "0;1,0", 0x7FFFFFFE)
    ends = "".join(f"{end}    (P1) goto (M1, 16) again{one}\n" for one in reversed(range(depth)))
    return "".join(f"again{one}:\n" for one in range(depth)) + _ACCESS + ends


def _products(count):
    start = "    mov (M1, 16) at(0,0)<1> gid(0,0)<1;1,0>\n"
    return start + "    mul (M1, 16) at(0,0)<1> at(0,0)<1;1,0> at(0,0)<1;1,0>\n" * count + STORE.format("y", "at")


HOSTILE = {
    "conditions nested too deeply": _nested(150),
    "many branches": _branches(60),
    "loops in one another": _loops(4),
    "products of products": _products(14),
}


def test_a_proof_ends_when_its_time_has_passed():
    def check(name):
        found = answers(HOSTILE[name], properties=("race", "bounds", "uninitialised"), seconds=0.1)
        assert {one.answer for one in found if one.property != "uninitialised"} <= {"unknown", "proved", "refuted"}, (
            found
        )

    check_each(HOSTILE, check)
    found = answers(_loops(12), seconds=0.0)
    assert {one.answer for one in found} == {"unknown"}
    assert all("time" in one.reason for one in found)


def test_choices_that_are_nested_in_one_another_are_decided():
    pool = SumPool()
    item, total = pool.symbol("item", Level.ITEM, 0, 1000), number(0)
    for one in range(100):
        total = pool.choice(less(item + total, one), total + item, total + one)
    solver = Solver(pool, float("inf"), 1.0)
    question = solver.question()
    hard = [question.condition(less(total, number(-1)), SymbolicItem(1, 0))]
    assert solver.ask(question, hard).word in {"no", "unknown"}


def test_assumptions_narrow_the_launches():
    code = INDEX.format("lid") + STORE.format("y", "at")
    assert words(code, properties=("race",), assume=("groups == 1",)) == ["race proved"]
    assert words(code, properties=("race",), assume=("groups < 1",)) == ["race unknown"]


def test_a_wrong_assumption_is_refused_with_its_reason():
    def check(case):
        text, why = case
        with pytest.raises(UserError, match=why):
            answers(INDEX.format("lid"), assume=(text,))

    cases = [
        ("n", "comparison"),
        ("m < 3", "unknown name"),
        ("n // n > 1", "positive"),
        ("len(n) > 1", "no buffer"),
        ("n <", "comparison"),
    ]
    check_each(cases, check)


def test_an_argument_may_have_the_name_of_a_size():
    text = RIGHT["an element an item"].text
    for before, after in ((".decl ", " "), (".input ", " "), (" ", "(")):
        text = text.replace(f"{before}n{after}", f"{before}groups_x{after}")
    found = answers_of_text(text, properties=("bounds",))
    assert [one.answer for one in found] == ["proved"]
    assert "y has at least 4 * groups_x bytes" in found[0].assumptions


def test_registers_that_nothing_wrote():
    code = "    add (M1, 16) at(0,0)<1> step(0,0)<0;1,0> gid(0,0)<1;1,0>\n"
    found = answers(code, properties=("uninitialised",))
    assert {one.line for one in found if one.answer != "proved"} == {(HEAD + TWO).count("\n") + 1}


def test_the_command_prints_json_and_says_by_its_status(tmp_path, capsys):
    path = tmp_path / "k.visaasm"
    path.write_text(HEAD + INDEX.format("gid") + STORE.format("y", "at") + "    ret (M1, 1)\n")
    assert main(["prove", str(path), "--property", "race", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["results"]
    assert one["property"], one["answer"] == ("race", "proved")
    assert {"path", "line", "assumptions"} < one.keys()
    assert main(["prove", str(path), "--property", "rase"]) == main(["prove", str(path), "--property", ""]) == 2
    assert "did you mean 'race'" in capsys.readouterr().err


@pytest.mark.full
def test_written_launches_run_from_their_folder_with_the_options_of_their_first_line(tmp_path, capsys):
    path = tmp_path / "my k.visaasm"
    halved = "    asr (M1, 16) gid(0,0)<1> gid(0,0)<1;1,0> 0x1:d\n"
    path.write_text(HEAD + halved + INDEX.format("gid") + STORE.format("y", "at") + "    ret (M1, 1)\n")
    assert main(["prove", str(path), "--property", "race", "--launches", str(tmp_path / "found")]) == 1
    for launch in sorted((tmp_path / "found").iterdir()):
        first = launch.read_text().splitlines()[0]
        options = first.removeprefix("# run with ").split() if first.startswith("#") else []
        assert main(["run", str(launch), *options]) == 1
        assert "fault: data-race" in capsys.readouterr().out


def test_a_line_is_refuted_by_a_launch_that_has_the_fault_at_this_line_only():
    found = with_shown_lines(
        [
            ProofResult("bounds", "k", 7, "refuted", launch="a"),
            ProofResult("bounds", "k", 8, "refuted", launch="a"),
            ProofResult("bounds", "k", 9, "unknown", reason="unclear"),
            ProofResult("race", "k", 7, "proved"),
        ],
        {("bounds", "a"): {7}, ("bounds", "b"): {9}},
        "k",
    )
    assert [(one.answer, one.launch) for one in found] == [
        ("refuted", "a"),
        ("unknown", None),
        ("refuted", "b"),
        ("proved", None),
    ]
    assert found[1].reason == "the launch that has the fault at line 7 does not have it here"


def test_assumptions_name_the_lines_of_the_source():
    assumptions = (
        "the loop at line 3 (k.cl:2) has at most 2^31 rounds",
        "all work items of a group come to the barrier of line 8",
    )
    results = [
        ProofResult("race", "k", line, "proved", assumptions, source=source)
        for line, source in ((4, "k.cl:2"), (8, "k.cl:5"))
    ]
    text = as_text([ProvedFile("k.cl: k.visaasm", tuple(results))])
    assert f"  - {assumptions[0]}\n  - {assumptions[1]} (k.cl:5)\n" in text


def test_a_journal_keeps_what_was_decided(tmp_path):
    journal = Journal("k", tmp_path / "answers")
    journal.plan([("race", [7, 8]), ("race", [8]), ("bounds", [9])])
    journal.refute([ProofResult("bounds", "k", 9, "refuted", launch="a")])
    journal.add(0, [ProofResult("race", "k", line, "proved", needs=(BufferNeed("y", "n"),)) for line in (7, 8)])
    with journal.path.open("a") as stream:
        stream.write('{"task": 1, "resu')
    kept = read_journal(journal.path, "k").results("it was ended")
    assert [(one.line, one.answer, one.reason) for one in kept] == [
        (7, "proved", None),
        (8, "unknown", "it was ended"),
        (9, "refuted", None),
    ]
    assert read_journal(journal.path, "other").results("") == []


def test_launches_before_a_proof_keep_the_assumptions():
    code = INDEX.format("lid") + STORE.format("y", "at")
    shared = answers(code, properties=("race",))
    assert [one.answer for one in shared] == ["refuted"]
    (fault,) = shared[0].faults
    assert "of `y`" in fault["text"]
    assert shared[0].buffer == "y"
    unknown = answers(code, properties=("race",), assume=("groups < 1",))
    assert {one.answer for one in unknown} == {"unknown"}


def test_a_kernel_without_instructions_has_nothing_to_prove(tmp_path, capsys):
    path = tmp_path / "k.visaasm"
    path.write_text('.version 4.1\n.kernel "k"\n.kernel_attr SimdSize=16\n')
    assert main(["prove", str(path)]) == 0
    assert "k.visaasm: nothing to prove" in capsys.readouterr().out


def test_what_cannot_be_proved_is_refused_in_a_sentence(tmp_path, capsys):
    object_ = tmp_path / "k.isa"
    object_.write_bytes(b"CISA")
    empty, wrong = tmp_path / "empty.visaasm", tmp_path / "wrong.visaasm"
    empty.write_text("")
    wrong.write_text(SAXPY.replace("shl (M1, 16)", "shll (M1, 16)"))
    found = tmp_path / "found"
    for path, why in ((object_, "this is an object"), (empty, "the text has errors"), (wrong, "the text has errors")):
        assert main(["prove", str(path), "--launches", str(found)]) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n"), why in said.err) == ("", 1, True)
    assert not found.exists()


def test_a_masked_index_needs_a_buffer_of_as_many_elements():
    load = INDEX.format("gid") + "    gather4_scaled.R (M1, 16) y 0x0:ud at.0 at.0\n"
    mask = "    and (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x3fc:d\n"
    found = answers(load + mask + STORE.format("y", "at"), properties=("bounds",))
    assert [(one.answer, one.assumptions[-1]) for one in found][1] == ("proved", "y has at least 1024 bytes")


NEEDS = {
    "groups below an argument": (
        "    mov (M1_NM, 1) step(0,0)<1> %r0(0,1)<0;1,0>\n    cmp.ge (M1_NM, 1) P1 step(0,0)<0;1,0> n(0,0)<0;1,0>\n"
        "    (P1) jmp (M1, 1) out\n" + INDEX.format("gid") + STORE.format("y", "at") + "out:\n",
        "4 * n * local_size",
    ),
    "a value of rounds below an argument": (
        "    mov (M1_NM, 1) step(0,0)<1> 0x0:d\n    mov (M1, 16) value(0,0)<1> lid(0,0)<1;1,0>\nagain:\n"
        "    xor (M1, 16) at(0,0)<1> value(0,0)<1;1,0> 0x1:d\n    max (M1, 16) value(0,0)<1> at(0,0)<1;1,0> lid(0,0)<1;1,0>\n"
        "    add (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x1:d\n    cmp.lt (M1_NM, 1) P1 step(0,0)<0;1,0> n(0,0)<0;1,0>\n"
        "    (P1) jmp (M1, 1) again\n" + INDEX.format("gid") + STORE.format("y", "at"),
        "4 * global_size",
    ),
}  # fmt: skip


def test_a_guard_is_what_compares_ids_of_the_index():
    def check(name):
        code, size = NEEDS[name]
        (found,) = answers(code, properties=("bounds",))
        assert found.answer == "proved"
        assert f"y has at least {size} bytes" in found.assumptions

    check_each(NEEDS, check)


def test_a_partner_needs_groups_of_pairs():
    code = "    xor (M1, 16) at(0,0)<1> lid(0,0)<1;1,0> 0x1:d\n" + INDEX.format("at") + STORE.format("y", "at")
    (found,) = answers(code, properties=("bounds",))
    assert found.answer == "unknown"
    excuse = found.reason.partition("--assume ")[2].strip("'")
    (excused,) = answers(code, properties=("bounds",), assume=(excuse,))
    assert (excused.answer, excused.assumptions[0]) == ("proved", excuse)


def test_the_last_of_many_arguments_is_the_need_of_a_buffer():
    """The needs are sought in launches whose arguments all have other values."""
    others = [f"a{number}" for number in range(14)]
    declared = "".join(f".decl {name} v_type=G type=d num_elts=1 align=dword\n" for name in others)
    inputs = "".join(f".input {name} offset={88 + 4 * at} size=4\n" for at, name in enumerate([*others, "n", "y"]))
    plain = ".input n offset=88 size=4\n.input y offset=92 size=4\n"
    assert plain in HEAD
    head = HEAD.replace(plain, inputs).replace(".decl n ", f"{declared}.decl n ")
    text = head + GUARD + INDEX.format("gid") + STORE.format("y", "at") + "out:\n    ret (M1, 1)\n"
    (found,) = answers_of_text(text, properties=("bounds",))
    assert (found.answer, found.assumptions[-1]) == ("proved", "y has at least 4 * n bytes")


def test_an_index_below_a_constant_needs_a_buffer_of_as_many_elements():
    guard = GUARD.replace("n(0,0)<0;1,0>", "0x100:d")
    code = guard + INDEX.format("gid") + STORE.format("y", "at") + "out:\n"
    (found,) = answers(code, properties=("bounds",))
    assert (found.answer, found.assumptions[-1]) == ("proved", "y has at least 1024 bytes")


_HALF = "    asr (M1, 16) at(0,0)<1> gid(0,0)<1;1,0> 0x1:d\n"


@pytest.mark.full
def test_a_launch_is_one_that_a_host_can_make():
    store = STORE.format("y", "at")
    too_large = ("local_size_x == 64", "local_size_y == 32")
    assert words(_HALF + store, properties=("race",), assume=too_large) == ["race unknown"]
    guarded = GUARD.replace("cmp.lt", "cmp.le") + INDEX.format("gid") + store + "out:\n"
    (found,) = answers(guarded, properties=("bounds",), assume=("1 <= n", "n <= 3"))
    assert found.answer == "refuted"
    assert "shape: [0]" not in found.launch
    moved = _HALF + "    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> n(0,0)<0;1,0>\n" + INDEX.format("at") + store
    (found,) = answers(moved, properties=("race",))
    assert "value: -" not in found.launch


@pytest.mark.full
def test_elements_that_are_loaded_and_not_read_show_no_race():
    head = HEAD.replace(".decl P1", ".decl wide v_type=G type=d num_elts=32 align=GRF\n.decl P1")
    load = INDEX.format("gid") + "    gather4_scaled.RG (M1, 16) y 0x0:ud at.0 wide.0\n"
    for row, answer in ((0, "proved"), (2, "refuted")):
        use = f"    add (M1, 16) value(0,0)<1> gid(0,0)<1;1,0> wide({row},0)<1;1,0>\n"
        found = answers_of_text(head + load + use + STORE.format("y", "at") + "    ret (M1, 1)\n", properties=("race",))
        assert {one.answer for one in found} == {answer}


def test_a_barrier_behind_one_that_some_miss_is_proved_if_all_come_to_that():
    guarded = (
        "    cmp.lt (M1, 16) P1 lid(0,0)<1;1,0> 0x10:d\n    (!P1) goto (M1, 16) out\n" + BARRIER + "out:\n" + BARRIER
    )
    first, second = answers(guarded, properties=("divergence",))
    assert (first.answer != "proved", second.answer) == (True, "proved")
    assert second.assumptions[-1] == f"all work items of a group come to the barrier of line {first.line}"


def test_a_guard_that_is_off_by_one_is_no_proof_by_larger_buffers():
    square = "    mul (M1, 16) at(0,0)<1> gid(0,0)<1;1,0> n(0,0)<0;1,0>\n" + INDEX.format("at")
    code = GUARD.replace("cmp.lt", "cmp.le") + square + STORE.format("y", "at") + "out:\n"
    assert words(code, properties=("bounds",)) == ["bounds refuted"]


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setattr("visa_lsp.app.prove.document.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"visa-lsp\[prove\]"):
        prove_data("k.visaasm", None, b"", ProofOptions())


def test_halves_of_addresses_add_up():
    pool = SumPool()
    at = pool.wrap(pool.symbol("i", Level.ITEM, 0, 1 << 40), 32, signed=True)
    pointer = pool.symbol("pointer", Level.LAUNCH, 0, 1 << 47)
    low, high = pool.quotient(pointer, 1), pool.quotient(pointer, 1 << 32)
    low = pool.wrap(low, 32, signed=False)
    low_sum = low + pool.wrap(at * 4, 32, signed=False)
    carry = pool.quotient(low_sum, 1 << 32)
    sign = pool.quotient(at, 1 << 32)
    top = pool.quotient(pool.wrap(at, 32, signed=False), 1 << 30)
    high_sum = high + sign * 4 + top + carry
    whole = low_sum - carry * (1 << 32) + high_sum * (1 << 32)
    assert whole == pointer + at * 4


def test_comparisons_of_bounds_are_decided_early():
    pool = SumPool()
    small = pool.symbol("a", Level.ITEM, 0, 7)
    assert at_most(small, 7).word == "true"
    assert at_most(number(8), small).word == "false"
    assert pool.quotient(small, 8) == number(0)
