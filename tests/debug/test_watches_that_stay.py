"""A watch for changes whose bytes stay as they are leaves a run as it is."""

from __future__ import annotations

from debugging import EXAMPLES, open_debugger

from visa_lsp.debug.breakpoints import Wish
from visa_lsp.debug.goals import StepGoal


def places(watched):
    """Where saxpy stands behind each of its first steps."""
    debugger = open_debugger(EXAMPLES / "saxpy.visaasm")[0].debugger
    thread = debugger.stepper.current
    if watched:
        cells = debugger.cells(debugger.stack(thread)[0])
        debugger.watch(cells.cells("group_base"), cells, "change", Wish())
        debugger.apply()
    found = []
    for _ in range(8):
        assert debugger.go(StepGoal(thread)).reason == "step"
        found.append(debugger.place(thread).pc)
    return found


def test_a_step_over_a_write_of_the_same_bytes_is_one_step():
    assert places(watched=True) == places(watched=False)
