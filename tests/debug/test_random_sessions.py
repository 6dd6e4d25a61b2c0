"""Sessions by chance: steps both ways, other threads, changes, breakpoints and watches in any order. Each comes to its end."""

from __future__ import annotations

import random

import pytest
from debugging import open_debugger, write_shift

from visa_lsp.debug.breakpoints import ACCESSES, Wish
from visa_lsp.debug.goals import Goal, StepGoal, ToBarrier
from visa_lsp.debug.stops import FILTERS


class User:
    """Somebody who does anything."""

    def __init__(self, debugger, seed):
        self.debugger = debugger
        self.chance = random.Random(seed)

    def act(self):
        debugger, chance = self.debugger, self.chance
        thread = chance.choice(debugger.threads)
        alone = thread if chance.random() < 0.2 else None
        chance.choice([
            lambda: debugger.go(StepGoal(thread, alone)),
            lambda: debugger.go(StepGoal(thread, alone, over=True)),
            lambda: debugger.go(StepGoal(thread, out=True)),
            lambda: debugger.go(ToBarrier(thread, alone)),
            lambda: debugger.go(Goal(thread, alone=alone)),
            lambda: debugger.back(StepGoal(thread, over=True, breaks=False)),
            lambda: debugger.back(Goal()),
            lambda: debugger.to_time(chance.randrange(debugger.time + 1)),
            lambda: self.store(thread),
            self.breakpoint,
            lambda: self.watch(thread),
        ])()  # fmt: skip

    def store(self, thread):
        at = self.debugger.stack(thread)[0]
        self.debugger.store(at, self.debugger.cells(at).cells("value").element(3), 0, self.chance.randrange(99))

    def breakpoint(self):
        body = self.debugger.places.bodies["shift"]
        self.debugger.breakpoints.clear()
        if self.chance.random() < 0.7:
            place = (body, body.next_executed(self.chance.randrange(8)))
            self.debugger.add("breakpoint", [place], Wish(self.chance.choice(["", "value[1] > 3"])), number=1)
        self.debugger.apply()

    def watch(self, thread):
        cells = self.debugger.cells(self.debugger.stack(thread)[0])
        self.debugger.watches.clear()
        if self.chance.random() < 0.7:
            found = cells.cells(self.chance.choice(["value", "there", "P1", "slm", "out"]))
            self.debugger.watch(found.element(2), cells, self.chance.choice(ACCESSES), Wish(), number=2)
        self.debugger.apply()


@pytest.mark.parametrize("seed", range(12))
def test_whatever_a_user_does_the_run_comes_to_its_end(tmp_path, seed):
    launched, _ = open_debugger(write_shift(tmp_path))
    debugger = launched.debugger
    user = User(debugger, seed)
    debugger.filters = set(FILTERS) if seed % 2 else set()
    debugger.enter()
    for _ in range(60):
        if not debugger.stepper.over:
            user.act()
    stops = 0
    while not debugger.stepper.over:
        assert debugger.go(Goal()).reason != "pause"
        stops += 1
        assert stops < 500
    status, lines = launched.finish()
    assert lines[-1].strip().partition(",")[0] == ("FAILED" if status else "ran")
    assert debugger.machine.result.threads == 4
