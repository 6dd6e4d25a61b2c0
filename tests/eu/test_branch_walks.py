"""Waits that are missing only on a path that skips an earlier wait."""

from dataclasses import replace

import pytest
from machine_fixtures import read_case

from visa_lsp.eu.branch_walks import hazards_behind_branches
from visa_lsp.eu.decode import with_ranges
from visa_lsp.eu.model import NO_WAIT, Target, Wait
from visa_lsp.isa.platforms import platform_named

NEXT = Wait((("", 1),))  # for the instruction ahead


def code_of(*instructions):
    """Return machine code of instructions of ``saxpy`` at new places."""
    code = read_case("saxpy.TGLLP")
    numbered = (with_ranges(replace(inst, index=n), code.grf_bytes) for n, inst in enumerate(instructions))
    return replace(code, instructions=tuple(numbered))


def pieces():
    """Return a load, a branch, and an instruction that reads what the load writes, with its wait."""
    code = read_case("saxpy.TGLLP").instructions
    mad = next(inst for inst in code if inst.op == "mad")
    load = next(inst for inst in code if inst.is_message and inst.wait.token == mad.wait.token)
    mad = replace(mad, wait=replace(mad.wait, distances=NEXT.distances))
    return load, next(inst for inst in code if inst.op == "goto"), mad


@pytest.mark.parametrize(("has_wait", "skips", "count"), [(True, True, 0), (False, True, 1), (False, False, 0)])
def test_a_wait_in_a_skipped_block_does_not_serve_those_behind(has_wait, skips, count):
    load, goto, mad = pieces()
    target = 3 if skips else 2
    goto = replace(goto, sources=(Target(target), Target(target)), wait=NO_WAIT)
    code = code_of(load, goto, mad, replace(mad, wait=mad.wait if has_wait else NEXT))
    hazards = list(hazards_behind_branches(code, platform_named("TGLLP")))
    assert len(hazards) == count
    assert all((h.inst.index, h.behind.index) == (3, 0) and h.needs.startswith("$") for h in hazards)


def test_both_sides_of_a_branch_are_never_on_one_path():
    load, goto, mad = pieces()
    to_else = replace(goto, sources=(Target(3), Target(3)), wait=NO_WAIT)
    to_end = replace(goto, sources=(Target(3), Target(4)), wait=NO_WAIT, guard=None)
    unwaited = replace(mad, wait=NEXT)
    sides = (to_else, load, to_end, unwaited, mad)
    assert not list(hazards_behind_branches(code_of(*sides), platform_named("TGLLP")))
    (hazard,) = hazards_behind_branches(code_of(*sides[:-1], unwaited), platform_named("TGLLP"))
    assert (hazard.inst.index, hazard.behind.index) == (4, 1)


def test_a_distance_that_only_the_path_without_a_jump_needs():
    load, goto, mad = pieces()
    to_end = replace(goto, sources=(Target(4), Target(4)), wait=NO_WAIT)
    code = code_of(load, mad, to_end, replace(mad, wait=NO_WAIT), replace(mad, wait=NO_WAIT))
    hazards = list(hazards_behind_branches(code, platform_named("TGLLP")))
    # The last one reads what the one ahead of it writes; a jump to it drains the pipe.
    assert [(h.inst.index, h.behind.index, h.needs.partition(" ")[0]) for h in hazards] == [(3, 1, "@2"), (4, 3, "@1")]


def back_to(index):
    return replace(pieces()[1], sources=(Target(index), Target(index)), wait=NO_WAIT)


def test_a_jump_back_without_a_condition_ends_a_walk():
    load, _, mad = pieces()
    code = code_of(load, replace(back_to(0), guard=None), replace(mad, wait=NEXT))
    assert not list(hazards_behind_branches(code, platform_named("TGLLP")))


@pytest.mark.parametrize("has_wait", [True, False])
def test_a_loop_needs_waits_for_its_last_round(has_wait):
    load, _, mad = pieces()
    hazards = list(
        hazards_behind_branches(
            code_of(replace(mad, wait=mad.wait if has_wait else NEXT), load, back_to(0), mad),
            platform_named("TGLLP"),
        )
    )
    assert [(h.inst.index, h.behind.index) for h in hazards] == ([] if has_wait else [(0, 1)])


def test_a_load_of_any_length_comes_after_the_reads_of_an_earlier_message():
    code = read_case("saxpy.TGLLP").instructions
    store = next(inst for inst in code if inst.is_message and inst.sources[1].registers == 2)
    (load,) = (inst for inst in code if inst.is_message and inst.dst.start == store.sources[1].start)
    mad = next(inst for inst in code if inst.op == "mad")
    waits = replace(mad, wait=Wait((), load.wait.token, "dst"))
    assert mad.dst.start == store.sources[1].start
    assert not list(hazards_behind_branches(code_of(store, load, waits), platform_named("TGLLP")))
    (hazard,) = hazards_behind_branches(code_of(store, waits), platform_named("TGLLP"))
    assert hazard.needs.startswith(f"${store.wait.token}.src")


@pytest.mark.parametrize(("op", "count"), [("math", 0), ("mad", 1)])
def test_math_reads_its_registers_before_later_math_writes_them(op, count):
    mad = pieces()[2]
    source = mad.sources[1]
    cosine = replace(mad, op="math", subop="cos", sources=(source,), wait=Wait((), 6, "set"))
    later = replace(mad, op=op, subop="sin" if op == "math" else "", sources=(), wait=Wait((), 8, "set"))
    later = replace(later, dst=replace(mad.dst, register=source.register, start=source.start))
    hazards = list(hazards_behind_branches(code_of(cosine, later), platform_named("TGLLP")))
    assert [h.needs.partition(" ")[0] for h in hazards] == ["$6.src"] * count
