"""Launches of which some groups do what only a checker sees: the interpreter runs these again, and the report is the interpreter's.

Compiled code that is struck by a test is the rule here; the counts say how many groups the interpreter has run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from compiled_engine import compile_at_once
from test_compiled_faults import HEAD as ONE
from test_engines_agree import differences
from tiers import first
from unjudged_run import run_unjudged

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions
from visa_lsp.sim.jit import native, replay
from visa_lsp.sim.jit.replay import Replay

HEAD = f"{ONE}.decl P2 v_type=P num_elts=16\n"
# Each work item has a dword of its own; value is its number in the group.
AT = """    mov (M1, 16) value(0,0)<1> ids(0,0)<1;1,0>
    mad (M1, 16) at(0,0)<1> group(0,0)<0;1,0> {local:#x}:uw value(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
"""
STORE = "    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n"
LOAD = "    gather4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n"
FAR = "    (P1) add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x1000000:ud\n"
DIVIDE = "    (P1) div (M1, 16) never(0,0)<1> value(0,0)<1;1,0> value(0,0)<1;1,0>\n"
LAUNCH = """groups: [{groups}, 1, 1]
local_size: [{local}, 1, 1]
args:
  x: {{buffer: {{dtype: int32, shape: [{count}], init: arange}}{more}}}
"""


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)
    compile_at_once(monkeypatch.setattr)


def only(*groups):
    """P1 is on in some groups."""
    first, *others = groups
    text = f"    cmp.eq (M1_NM, 16) P1 group(0,0)<0;1,0> {first:#x}:ud\n"
    for number in others:
        text += f"    cmp.eq (M1_NM, 16) P2 group(0,0)<0;1,0> {number:#x}:ud\n    or (M1_NM, 16) P1 P1 P2\n"
    return text


before = Replay._interpret


def every(rest, of):
    """P1 is on in the groups that leave a rest."""
    return (
        f"    and (M1_NM, 16) never(0,0)<1> group(0,0)<0;1,0> {of - 1:#x}:ud\n"
        f"    cmp.eq (M1_NM, 16) P1 never(0,0)<1;1,0> {rest:#x}:d\n"
    )


def ran(body, which, groups=64, local=16, more="", **options):
    """Return the report of an engine."""
    launch = parse_launch(
        LAUNCH.format(groups=groups, local=local, count=groups * local, more=more), Path("k.launch.yaml")
    )
    text = f"{HEAD}{AT.format(local=local)}{body}    ret (M1, 1)\n"
    return run_unjudged(text, launch, RunOptions(platform="TGLLP", engine=which, **options))


def both(body, **launch):
    """Return the compiled engine's report, which has to be the interpreter's."""
    expected, found = (ran(body, which, **launch) for which in ("interp", "jit"))
    assert differences(expected, found) == set()
    return found


def kinds(report):
    return [fault.kind.value for fault in (*report.faults, *report.findings)]


def test_a_fault_in_the_last_of_many_groups_has_one_group_interpreted():
    report = both(only(299) + FAR + STORE, groups=300)
    assert kinds(report) == ["out-of-bounds"]
    assert (report.faults[0].group, report.result.replayed_groups, report.engine) == ((299, 0, 0), 1, "jit")


def test_several_groups_that_are_struck_are_interpreted_and_no_other():
    report = both(only(0, 3, 5, 40, 63) + FAR + DIVIDE + STORE)
    assert kinds(report) == ["out-of-bounds", "division-by-zero"]
    assert report.result.replayed_groups == 5


def test_where_groups_in_a_row_are_struck_ever_more_are_interpreted_at_a_time():
    assert both(only(3, 4, 5, 6) + FAR + STORE).result.replayed_groups == 1 + 2 + 4


def test_where_each_group_is_struck_each_is_interpreted():
    report = both(every(0, 1) + FAR + STORE)
    assert (report.result.replayed_groups, report.engine) == (64, "interp")


@pytest.mark.full
def test_where_too_much_would_be_copied_all_are_interpreted(monkeypatch):
    interpreted = []
    monkeypatch.setattr(Replay, "_interpret", lambda self, group: interpreted.append(group) or before(self, group))
    report = both(every(0, 2) + FAR + STORE, groups=1024)
    assert (report.result.replayed_groups, report.engine) == (1024, "interp")
    assert interpreted == list(range(0, 2 * len(interpreted), 2))
    assert 1 < len(interpreted) < 512


def test_of_large_buffers_there_is_no_checkpoint(monkeypatch):
    monkeypatch.setattr(replay, "MAX_BUFFER_BYTES", 64 * 16 * 4 - 1)
    assert both(only(5) + FAR + STORE).result.replayed_groups == 64


def test_a_race_inside_a_group_has_that_group_interpreted():
    body = STORE + only(41) + "    (P1) xor (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x40:ud\n" + STORE
    report = both(body, local=32)
    assert set(kinds(report)) == {"data-race"}
    assert {fault.group for fault in report.faults} == {(41, 0, 0)}
    assert report.result.replayed_groups == 1


def test_a_barrier_that_cannot_complete_has_that_group_interpreted():
    body = (
        only(41)
        + "    cmp.lt (M1, 16) P2 value(0,0)<1;1,0> 0x10:d\n    and (M1, 16) P1 P1 P2\n    (P1) goto (M1, 16) out\n    barrier\nout:\n"
        + STORE
    )
    report = both(body, local=32)
    assert kinds(report) == ["barrier-divergence"]
    assert report.result.replayed_groups == 1


def test_a_barrier_that_cannot_complete_is_passed_unwatched_as_the_interpreter_passes_it():
    """One of two threads of group 41 ends before the barrier that the other waits at."""
    out = "    cmp.lt (M1, 16) P2 value(0,0)<1;1,0> 0x10:d\n    and (M1, 16) P1 P1 P2\n    (P1) goto (M1, 16) out\n    barrier\n"
    report = both(only(41) + out + STORE + "out:\n", local=32, checks="none")
    assert report.result.groups == 64


def test_shared_memory_that_holds_nothing_in_one_group():
    body = (
        "    mov (M1, 16) never(0,0)<1> value(0,0)<1;1,0>\n    shl (M1, 16) never(0,0)<1> never(0,0)<1;1,0> 0x2:ud\n"
        + only(7, 50)
        + "    (!P1) scatter4_scaled.R (M1, 16) %slm 0x0:ud never.0 value.0\n"
        + "    gather4_scaled.R (M1, 16) %slm 0x0:ud never.0 value.0\n"
        + STORE
    )
    report = both(body)
    assert kinds(report) == ["uninitialised-read"]
    assert report.result.replayed_groups == 2


# What group 9 does at the places of group 5, of group 12 and at its own, before or behind group 5 or 9 is interpreted.
MOVE = "    (P1) add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> {by}:d\n"
OTHER = "    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> group(0,0)<0;1,0>\n"  # another value in each group
MEETINGS = {
    "a struck group writes where an earlier one wrote": only(9) + DIVIDE + OTHER + STORE + MOVE.format(by=-4 * 64) + STORE,
    "a group writes where an earlier struck one wrote": only(5) + DIVIDE + OTHER + STORE + only(9) + MOVE.format(by=-4 * 64) + STORE,
    "a group writes where an earlier struck one read": only(5) + DIVIDE + LOAD + only(9) + MOVE.format(by=-4 * 64) + STORE,
    "a struck group reads where an earlier one wrote": STORE + only(9) + DIVIDE + MOVE.format(by=-4 * 64) + LOAD,
    "a struck group reads where an earlier struck one wrote": STORE + only(5, 9) + DIVIDE + only(9) + MOVE.format(by=-4 * 64) + LOAD,
    "a group reads where an earlier struck one used an atomic": only(5)
    + DIVIDE
    + "    (P1) dword_atomic.inc (M1, 16) x at.0 %null.0 %null.0 %null.0\n"
    + only(9)
    + MOVE.format(by=-4 * 64)
    + LOAD,
    "only the group itself is struck": only(9) + MOVE.format(by=-4 * 64) + OTHER + STORE,
}  # fmt: skip


@pytest.mark.parametrize("what", first(4, MEETINGS))
def test_a_race_between_groups_has_all_interpreted(what):
    report = both(MEETINGS[what])
    assert "data-race" in kinds(report)
    assert report.result.replayed_groups == 64


def test_atomics_of_several_groups_at_one_place_go_together_with_a_group_that_is_struck():
    atomic = "    mov (M1, 16) never(0,0)<1> 0x0:d\n    dword_atomic.inc (M1, 16) x never.0 %null.0 %null.0 %null.0\n"
    body = only(20) + DIVIDE + atomic
    report = both(body)
    assert kinds(report) == ["division-by-zero"]
    assert report.result.replayed_groups == 1


LOOP = "    mov (M1, 16) never(0,0)<1> 0x0:d\nagain:\n    add (M1, 16) never(0,0)<1> never(0,0)<1;1,0> 0x1:d\n    cmp.lt (M1, 16) P2 never(0,0)<1;1,0> 0x20:d\n    (P2) goto (M1, 16) again\n"


@pytest.mark.parametrize("budget", first(4, [4_350, 4_420, 1_000, 8_000, 4_000, 4_450]))
@pytest.mark.parametrize(
    "way", first(2, [("", "all"), ("    barrier\n", "none"), ("", "none"), ("    barrier\n", "all")])
)
def test_a_budget_is_used_up_in_the_same_place(budget, way):
    """A group has two threads of some hundred steps each; group 20 is interpreted."""
    end, checks = way
    report = both(only(20) + FAR + STORE + LOOP + end, local=32, budget=budget, checks=checks)
    assert "step-budget" in kinds(report)


def test_a_group_that_is_too_long_for_the_interpreter_ends_as_it_ends_there(monkeypatch):
    monkeypatch.setattr("visa_lsp.app.launch.ready_run.INTERPRETED_STEPS", 3_000)
    long = LOOP.replace("0x20:d", "0x2000:d").replace("again:", "    (!P1) goto (M1, 16) out\nagain:") + "out:\n"
    report = both(only(2) + FAR + STORE + long)
    assert kinds(report) == ["out-of-bounds", "step-budget"]


@pytest.mark.parametrize("more", ["", "    barrier\n"])
@pytest.mark.parametrize("first_fault", [False, True])
def test_what_is_found_at_the_end_of_a_group_comes_in_the_same_order(more, first_fault):
    """A load of what is only to be written is a finding when nothing has stored there by the end of the group."""
    load = "    (P1) gather4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n"
    body = only(20) + load + only(30) + FAR + "    (P1) scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n" + more
    report = both(body, more=", access: writeonly", first_fault=first_fault)
    assert set(kinds(report)) & {"wrong-access", "out-of-bounds"}


@pytest.mark.parametrize("group", [0, 1, 40])
def test_the_first_fault_ends_the_run(group):
    report = both(only(group, 50) + FAR + STORE, first_fault=True)
    assert (report.result.groups, len(report.faults)) == (group, 1)


def test_more_than_one_run_gives_the_same():
    assert both(only(3, 40) + FAR + STORE, repeat=3).result.replayed_groups == 2
