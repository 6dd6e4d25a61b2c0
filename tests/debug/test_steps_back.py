"""The way back leads over the stops of the way forward, through threads and groups, to the instruction where the run was entered."""

import pytest
from debugging import TEXT, open_debugger, write_shift

from visa_lsp.debug.goals import Goal, StepGoal, key_of

# As compilers write a kernel: a label before its first instruction.
LABELLED = TEXT.replace("    cmp.lt", "shift:\n    cmp.lt", 1)


@pytest.fixture
def program(tmp_path):
    return write_shift(tmp_path, LABELLED)


def standing(debugger, stop):
    at = debugger.place(stop.thread)
    return key_of(stop.thread), at.body, at.pc, debugger.time


def back(debugger, **how):
    return debugger.back(StepGoal(debugger.stepper.current, breaks=False, **how))


def test_steps_back_stand_where_the_steps_forward_stood(program):
    debugger = open_debugger(program)[0].debugger
    stop = debugger.enter()
    stops = []
    while stop.thread is not None:
        stops.append(standing(debugger, stop))
        stop = debugger.go(StepGoal(stop.thread))
    assert {group for (group, _), *_ in stops} == {(0, 0, 0), (1, 0, 0)}
    debugger.to_time(stops[-1][-1])
    for expected in reversed(stops[:-1]):
        stop = back(debugger)
        assert (stop.reason, standing(debugger, stop)) == ("step", expected)
    stop = back(debugger)
    assert (stop.reason, standing(debugger, stop)) == ("start", stops[0])


def test_before_the_first_instruction_of_a_group_stands_the_return_of_the_group_before(program):
    debugger = open_debugger(program)[0].debugger
    stop = debugger.enter()
    while stop.thread.group.id != (1, 0, 0):
        stop = debugger.go(StepGoal(stop.thread))
    stop = back(debugger, over=True)
    assert stop.thread.group.id == (0, 0, 0)
    assert "ret (M1, 1)" in debugger.launch.texts["shift"].lines[debugger.place(stop.thread).line]


def test_the_start_is_the_instruction_where_the_run_was_entered(program):
    debugger = open_debugger(program)[0].debugger
    entry = standing(debugger, debugger.enter())
    for steps in (0, 1, 7):
        for _ in range(steps):
            debugger.go(StepGoal(debugger.stepper.current))
        stop = debugger.back(Goal())
        assert (stop.reason, standing(debugger, stop)) == ("start", entry)


@pytest.mark.parametrize("steps", [0, 3])
@pytest.mark.parametrize("goal", [lambda _: Goal(), lambda thread: StepGoal(thread, over=True, breaks=False)])
def test_the_way_back_of_a_chosen_thread_ends_at_its_own_first_instruction(program, steps, goal):
    debugger = open_debugger(program, thread="group 1,0,0 thread 1")[0].debugger
    stop = debugger.enter()
    entry = standing(debugger, stop)
    assert entry[0] == ((1, 0, 0), 1)
    for _ in range(steps):
        stop = debugger.go(StepGoal(stop.thread))
    while stop.reason != "start":
        stop = debugger.back(goal(stop.thread))
    assert standing(debugger, stop) == entry
