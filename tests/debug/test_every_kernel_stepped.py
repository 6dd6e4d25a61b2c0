"""Every kernel of the corpus under the debugger, instruction by instruction: what stands still is what ``run --trace`` told.

At each stop registers are those of a plain run behind the same instruction, and the destination is shown as its trace line
shows it; any way back and forth leads to the same states; who last wrote and last changed a value is found in the past;
the buffers at the end are those of ``run``. Only the first instructions of each kernel are gone through, and of a corpus
beside the repository some kernels: ``VISA_LSP_TEST_STEPS=100000`` says how many instructions, and has all kernels.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import random
import re
from dataclasses import dataclass

import corpus_cases
import own_cases
import pytest
from corpus import HAS_MORE
from debugging import debugger_of, state
from test_debugged_runs import assert_same, report

from visa_lsp.debug.breakpoints import Wish
from visa_lsp.debug.cells import text_of
from visa_lsp.debug.expressions import read
from visa_lsp.debug.goals import Entry, Goal, StepGoal, key_of
from visa_lsp.program.model import Address, General, PredicateOperand
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.hooks import Observer
from visa_lsp.sim.observers.trace import Tracer

GIVEN = os.environ.get("VISA_LSP_TEST_STEPS", "")
STEPS = int(GIVEN or 150)
MOVES = 1_000 if GIVEN else 30
EVERY_NTH = 1 if GIVEN else 4  # of the kernels beside the repository


def kernels():
    """A case of each kernel, on its first platform."""
    own, more = (
        {case.kernel: case for case in reversed(list(cases))} for cases in (own_cases.cases(), corpus_cases.cases())
    )
    return [*own.values(), *(list(more.values())[::EVERY_NTH] if HAS_MORE else ())]


@dataclass(frozen=True)
class Done:
    """What a plain run says of one instruction: who, where, what was left in the registers, and its line of the trace."""

    key: object
    depth: int
    body: str
    pc: int
    left: bytes
    line: str


class Recorder(Observer):
    """Keeps the first instructions of a plain run."""

    wants_instructions = True

    def __init__(self):
        self.done = []
        self.lines = []
        self.tracer = None

    def instruction(self, thread, pc):
        if self.tracer is None:
            dispatch = thread.machine.dispatch
            everybody = [(group, n) for group in thread.machine.group_ids() for n in range(dispatch.threads_per_group)]
            self.tracer = Tracer(everybody, self.lines.append, limit=STEPS + 1)
        self.depth = len(thread.frames)
        self.tracer.instruction(thread, pc)

    def executed(self, thread, frame, pc):
        told = len(self.lines)
        if told < STEPS:
            self.tracer.executed(thread, frame, pc)
        if len(self.lines) > told:
            self.done.append(
                Done(key_of(thread), self.depth, frame.code.kernel.name, pc, registers(frame), self.lines[-1])
            )


def registers(frame):
    """All that a thread's variables lie in, as one short value."""
    held = hashlib.blake2b(frame.regs.tobytes(), digest_size=16)
    held.update(frame.addr.tobytes())
    held.update(marshal.dumps((list(frame.preds), list(frame.surfaces)), 2))
    return held.digest()


def everything(debugger):
    """A state of the run as one short value."""
    return hashlib.blake2b(repr_of(state(debugger)), digest_size=16).digest()


def repr_of(value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, tuple | list):
        return b"(%s)" % b",".join(map(repr_of, value))
    return repr(value).encode()


@pytest.mark.parametrize("case", kernels(), ids=str)
def test_a_stepped_run_is_the_run_that_a_trace_tells(case, monkeypatch):
    platform = case.platforms[0]
    recorder = Recorder()
    plain = report(case, platform, lambda dispatch, _: interpret(dispatch, (recorder,)), monkeypatch, "none")
    walk = Walk(recorder.done)
    assert_same(plain, report(case, platform, walk.run, monkeypatch, "none"))
    assert walk.shown > min(5, len(recorder.done) // 4)


class Walk:
    """An engine that goes through a run as a user of the debugger may."""

    def __init__(self, done):
        self.done = done
        self.shown = 0  # destinations that were compared with the trace
        self.seen = {}  # states by time
        self.recursive = False
        self.at = {}  # places in ``done`` by the time behind them

    def run(self, dispatch, observers):
        debugger = debugger_of(dispatch, observers)
        self.forward(debugger)
        self.who_wrote(debugger)
        self.back_and_forth(debugger)
        while not debugger.at_end:
            debugger.go(Goal())
        return debugger.finish()

    def forward(self, debugger):
        """Every instruction that was told, each a stop."""
        debugger.enter()
        for number, done in enumerate(self.done):
            thread = debugger.stepper.current
            self.seen[debugger.time] = everything(debugger)
            at = debugger.stack(thread)[0]
            assert (key_of(thread), at.place.body, at.place.pc) == (done.key, done.body, done.pc)
            inst = at.frame.code.kernel.instructions[done.pc]
            open_ = len(thread.frames)
            self.recursive |= any(frame.code is at.frame.code for frame in thread.frames)
            debugger.go(Entry(None))
            self.at[debugger.time] = number
            if thread not in debugger.threads or len(thread.frames) < open_:
                continue  # the registers that it had are no more
            assert registers(at.frame) == done.left, done.line
            self.compare(debugger.cells(at), inst, done.line)
        if not debugger.at_end:
            self.seen[debugger.time] = everything(debugger)

    def compare(self, cells, inst, line):
        """What the debugger shows of a destination against the trace."""
        dst, told = inst.get("dst"), line.rpartition("  // ")[2].partition(" = ")[2]
        if isinstance(dst, PredicateOperand):
            assert cells.predicate(dst.var).note == told, line
        elif isinstance(dst, Address):
            assert text_of(cells.address(dst.var).values()[dst.offset]) == told, line
        elif isinstance(dst, General) and dst.var in cells.names.types:
            name = cells.names.general[dst.var]
            written = re.search(rf"{re.escape(name)}\(\d+,\d+\)<\d+>", line)
            if written is None or not told or "; " in told:
                return
            count = len(told.split(", "))
            values = read(written[0]).get(cells)[:count]
            found = [f"{v:.9g}" if values.dtype.kind == "f" else str(v) for v in values.tolist()]
            assert found == told.removesuffix(", ...").split(", ")[: len(found)], line
        else:
            return
        self.shown += 1

    def who_wrote(self, debugger):
        """Backwards, a watch finds the last change of an element, and the last writer is the one that the trace names."""
        if debugger.at_end or debugger.stepper.current is None:
            return
        end, thread = debugger.time, debugger.stepper.current
        cells = debugger.cells(debugger.stack(thread)[0])
        written = self.last_written(cells)
        if written is None:
            return
        named, number = written
        element = cells.variable(number).element(0)
        # A frame of a recursion is one activation after the other.
        changes = [] if self.recursive else list(self.changes(debugger, element, cells))
        debugger.to_time(end)
        if changes:
            debugger.watch(element, cells, "change", Wish())
            debugger.apply()
            assert debugger.back(Goal()).reason == "data"
            assert debugger.time == changes[-1]
            debugger.watches.clear()
            debugger.apply()
            debugger.to_time(end)
        assert debugger.back_to_writer(element, cells).reason == "data"
        assert debugger.time >= max([named, *changes])
        if debugger.time > named:  # by another name, or as a message's registers
            line = self.done[self.at[min(time for time in self.at if time > debugger.time)]].line
            root = cells.root(number)
            names = [
                name for n, name in cells.names.general.items() if n in cells.body.shapes and cells.root(n) == root
            ]
            assert any(name in line for name in names), line
        debugger.to_time(end)

    def last_written(self, cells):
        """The last line of a thread that writes element 0 of a variable: the time before it, and the variable."""
        key, kernel = key_of(cells.thread), cells.code.kernel
        for time, number in reversed(self.at.items()):
            done = self.done[number]
            if (done.key, done.body, done.depth) != (key, kernel.name, len(cells.thread.frames)):
                continue
            dst = kernel.instructions[done.pc].get("dst")
            plain = re.search(r" (0x[0-9a-f]+): \S+ \((M1|M1_NM), \d+\) \S+\(0,0\)<1> ", done.line)
            if plain is None or not isinstance(dst, General) or dst.var not in cells.names.types:
                continue
            if plain[2] == "M1_NM" or int(plain[1], 16) & 1:
                return max(seen for seen in self.seen if seen < time), dst.var
        return None

    def changes(self, debugger, element, cells):
        """The times before which an element of a frame was changed, by the states themselves."""
        before, key = None, key_of(cells.thread)  # the next group may have the same frames
        for time in sorted(self.seen):
            debugger.to_time(time)
            if any(t.frame is cells.frame and key_of(t) == key for t in debugger.threads):
                now = element.data.tobytes()
                if before is not None and now != before[1]:
                    yield before[0]
                before = time, now

    def back_and_forth(self, debugger):
        """Any way to a time leads to the state that was there."""
        chance = random.Random(22)
        times = list(self.seen)
        for _ in range(MOVES):
            if chance.random() < 0.2 or debugger.at_end or debugger.stepper.current is None:
                debugger.to_time(chance.choice(times))
            else:
                thread = chance.choice(debugger.threads)
                goal = StepGoal(thread, over=chance.random() < 0.5, out=chance.random() < 0.1, breaks=False)
                (debugger.back if chance.random() < 0.6 else debugger.go)(goal)
            if debugger.time in self.seen and not debugger.at_end:
                assert everything(debugger) == self.seen[debugger.time]
