"""Every kernel of the corpus under the debugger, instruction by instruction: what stands still is what ``run --trace`` told.

At each stop registers are those of a plain run behind the same instruction, and what its trace line shows is shown; scopes
agree with expressions; any way back and forth leads to the same states; who last wrote and last changed a value is found in
the past; the buffers at the end are those of ``run``. By default the first instructions of a quarter of the kernels on one platform; `full`
has every launch to its end, and more moves back and forth. ``-s`` prints how much was compared.
"""

from __future__ import annotations

import marshal
import random
import sys
from bisect import bisect_left, bisect_right
from typing import NamedTuple

import corpus_cases
import own_cases
import pytest
from corpus import HAS_MORE, HAS_OWN
from debugging import debugger_of, state
from test_debugged_runs import assert_same, report
from tiers import in_turns
from trace_recorder import Recorder, assert_scopes, compare_done, registers

from visa_lsp.debug.breakpoints import Wish
from visa_lsp.debug.goals import Entry, Goal, StepGoal, depth_of, key_of
from visa_lsp.sim.machine import run as interpret

ALL_ROWS_EVERY = 20  # stops
BEFORE_WRITER = 2_000  # stops before a time that is asked for a writer, in which changes are known


class Amount(NamedTuple):
    """How many instructions of a run are stopped at, moves made back and forth, and times asked who wrote."""

    steps: int
    moves: int
    writers: int


FEW, ALL = Amount(100, 15, 3), Amount(sys.maxsize, 1_000, 8)


def kernels():
    """One launch of each kernel in part, platforms in turns, every fourth by default; every launch on its first platform to its end."""
    cases = [*(own_cases.cases() if HAS_OWN else ()), *(corpus_cases.cases() if HAS_MORE else ())]
    on_platforms = [(case, platform) for case in cases for platform in case.platforms]
    turns = in_turns(on_platforms, lambda run: run[0].kernel, lambda run: run[1])
    one_each = {case.kernel: (case, platform) for case, platform in reversed(turns)}.values()
    for number, (case, platform) in enumerate(one_each):
        tier = [pytest.mark.full] if number % 4 else []
        yield pytest.param(case, platform, FEW, id=f"{case}-{platform}", marks=tier)
    for case in cases:
        yield pytest.param(case, case.platforms[0], ALL, id=f"{case}-to-its-end", marks=pytest.mark.full)


@pytest.mark.corpus
@pytest.mark.parametrize(("case", "platform", "amount"), list(kernels()))
def test_a_stepped_run_is_the_run_that_a_trace_tells(case, platform, amount, monkeypatch):
    recorder = Recorder(amount.steps)
    plain = report(case, platform, lambda dispatch, _: interpret(dispatch, (recorder,)), monkeypatch, "none")
    walk = Walk(recorder.done, amount)
    assert_same(plain, report(case, platform, walk.run, monkeypatch, "none"))
    print(f"{case} on {platform}: {len(walk.seen)} stops, {walk.operands} operands as traced, {walk.rows} rows of scopes, "
          f"{walk.writers} writers found, {amount.moves} moves")  # fmt: skip
    assert walk.operands > len(recorder.done) // 2
    assert walk.rows > 0


class Walk:
    """An engine that goes through a run as a user of the debugger may."""

    def __init__(self, done, amount):
        self.done, self.amount = done, amount
        self.operands = self.rows = self.writers = 0  # that were compared, and found
        self.seen = {}  # states by time
        self.turns = {}  # by thread: the times at which it stands before an instruction, and how much is open in it then
        self.recursive = False
        self.at = {}  # places in ``done`` by the time behind them
        self.chance = random.Random(22)

    def run(self, dispatch, observers):
        debugger = debugger_of(dispatch, observers)
        self.forward(debugger)
        self.times = list(self.seen)
        for time in self.chance.sample(self.times, min(self.amount.writers, len(self.times))):
            self.who_wrote(debugger, time)
        self.back_and_forth(debugger)
        while not debugger.stepper.over:
            debugger.go(Goal())
        return debugger.finish()

    def forward(self, debugger):
        """Every instruction that was told, each a stop."""
        debugger.enter()

        for number, done in enumerate(self.done):
            thread = debugger.stepper.current
            self.seen[debugger.time] = everything(debugger)
            self.turns.setdefault(key_of(thread), []).append((debugger.time, depth_of(thread)))
            at = debugger.stack(thread)[0]
            assert (key_of(thread), at.place.body, at.place.pc) == (done.key, done.body, done.pc)
            open_ = len(thread.frames)
            self.recursive |= any(frame.code is at.frame.code for frame in thread.frames)
            all_rows = number % ALL_ROWS_EVERY == 0
            before = at.frame.regs.tobytes() if all_rows else b""
            debugger.go(Entry(None))
            self.at[debugger.time] = number
            if thread not in debugger.threads or len(thread.frames) < open_:
                continue  # the registers that it had are no more
            assert registers(at.frame) == done.left, done.line
            self.operands += compare_done(debugger.cells(at), done)
            if all_rows:
                self.rows += assert_scopes(debugger, at, before)
        if not debugger.stepper.over:
            self.seen[debugger.time] = everything(debugger)

    def who_wrote(self, debugger, time):
        """Backwards, a watch finds the last change of an element, and the last writer is the one that the trace names."""
        debugger.to_time(time)
        thread = debugger.stepper.current
        cells = debugger.cells(debugger.stack(thread)[0])
        written = self.last_written(cells, time)
        if written is None:
            return
        named, number, byte = written
        element = cells.variable(number).cast("ub").element(byte)
        # A frame of a recursion is one activation after the other.
        first, changes = (time, []) if self.recursive else self.changes(debugger, element, cells, time)
        debugger.to_time(time)
        if not self.recursive:
            debugger.watch(element, cells, "change", Wish())
            debugger.apply()
            stop = debugger.back(Goal())
            assert (stop.reason, debugger.time) == ("data", changes[-1]) if changes else debugger.time <= first
            debugger.watches.clear()
            debugger.apply()
            debugger.to_time(time)
        assert debugger.back_to_writer(element, cells).reason == "data"
        assert debugger.time >= max([named, *changes[-1:]])
        if debugger.time > named:  # by another name, or as a message's registers
            line = self.done[self.at[self.times[bisect_right(self.times, debugger.time)]]].line
            root = cells.root(number)
            names = [
                name for n, name in cells.names.general.items() if n in cells.body.shapes and cells.root(n) == root
            ]
            assert any(name in line for name in names), line
        self.writers += 1

    def last_written(self, cells, time):
        """Return the last write of a byte of a variable by a thread before a time: the time before it, variable and byte."""
        key, code, depth = key_of(cells.thread), cells.code, len(cells.thread.frames)
        for place in range(bisect_right(self.times, time) - 1, 0, -1):
            done = self.done[self.at[self.times[place]]]
            if (done.key, done.body, done.depth) == (key, code.kernel.name, depth) and not done.text.startswith("("):
                for touch in code.touches.get(done.pc, []):
                    byte = first_written(code, done, touch)
                    if byte is not None:
                        return self.times[place - 1], touch.var, byte
        return None

    def changes(self, debugger, element, cells, end):
        """Return the times at which the states of a run differ in an element of a frame, and the first time looked at."""
        before, key, found = None, key_of(cells.thread), []  # the next group may have the same frames
        last = bisect_left(self.times, end)
        first = max(0, last - BEFORE_WRITER)
        for time in self.times[first : last + 1]:
            debugger.to_time(time)
            if any(t.frame is cells.frame and key_of(t) == key for t in debugger.threads):
                now = element.data.tobytes()
                if before is not None and now != before[1]:
                    found.append(before[0])
                before = time, now
        return self.times[first], found

    def back_and_forth(self, debugger):
        """Any way to a time leads to the state that was there, and a step to the nearest place that it may end at."""
        chance = self.chance
        for _ in range(self.amount.moves):
            if chance.random() < 0.2 or debugger.stepper.over or debugger.stepper.current is None:
                debugger.to_time(chance.choice(self.times))
            else:
                thread, back = chance.choice(debugger.threads), chance.random() < 0.6
                goal = StepGoal(thread, over=chance.random() < 0.5, out=chance.random() < 0.1, breaks=False)
                before = debugger.time
                known, there = debugger.time <= self.times[-1], self.nearest(goal, debugger.time, -1 if back else 1)
                (debugger.back if back else debugger.go)(goal)
                if known and there is not None:
                    assert debugger.time == there
                elif known and back:
                    # Another thread had its turn before; the run has no place before its first instruction.
                    assert debugger.time == max((t for t in self.times if t < before), default=self.times[0])
            if debugger.time in self.seen and not debugger.stepper.over:
                assert everything(debugger) == self.seen[debugger.time]

    def nearest(self, goal, time, way):
        """Return the nearest time before or after another one at which a step may end, within the executed run."""
        turns, most = (
            self.turns.get(goal.key, []),
            goal.depth - 1 if goal.out else goal.depth if goal.over else sys.maxsize,
        )
        at = bisect_left(turns, (time,)) - 1 if way < 0 else bisect_right(turns, (time, sys.maxsize))
        behind = turns[at::-1] if way < 0 and at >= 0 else turns[at:] if way > 0 else []
        return next((then for then, depth in behind if depth <= most), None)


def everything(debugger):
    """Return a state of the run as one number."""
    return hash(marshal.dumps(state(debugger), 2))


def first_written(code, done, touch):
    """Return the first byte in a variable that an instruction without a predicate writes; None if unknown."""
    if not touch.write or touch.indirect is not None or code.kernel.variable_type(touch.var) is None:
        return None
    lanes = [code.lane(done.pc, number) for number in range(touch.lanes)]
    active = [n for n, lane in enumerate(lanes) if lane is None or "_NM," in done.text or done.mask >> lane & 1]
    # Of what is not one element for each lane, such as several channels, all is written where all lanes are active.
    if not active or (len(touch.elements) != touch.lanes and len(active) < touch.lanes):
        return None
    byte = int(touch.places[active[0], 0]) - code.layout.offset(touch.var)
    return byte if 0 <= byte < code.layout.byte_size(touch.var) else None
