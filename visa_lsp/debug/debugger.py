"""A run under a debugger: moves it forward and back, and changes it.

``stopping`` holds the reasons to stop, ``standing`` reads the state of a stopped run. Knows no protocol: a stop is a value.
The run is that of the reference interpreter, in its order; changes from outside (a variable, the thread that runs alone)
are kept by time and repeated in every replay. Invariant: the state at a time does not depend on the path to it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.debug.breakpoints import Breakpoint, Watch, Wish
from visa_lsp.debug.cells import Cells, DebugError, FrameCells
from visa_lsp.debug.goals import CHUNK, Entry, Goal, key_of
from visa_lsp.debug.history import NEAR, History, Snapshot, capture, restore
from visa_lsp.debug.stop_observers import StoppingRun, slm_of
from visa_lsp.debug.stops import FATAL, Activation, Launch, RunStop, filter_of
from visa_lsp.debug.trapped_machine import FaultFound, Trap
from visa_lsp.sim.faults import Fault, FaultKind, KernelFault
from visa_lsp.sim.operands import CR0

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.debug.places import BodyText
    from visa_lsp.sim.dispatch import RunResult
    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.observers.hooks import Observer
    from visa_lsp.sim.registers import Frame

MAX_INSTRUCTIONS_AHEAD: Final = 500_000  # searched for the cause of a fault
_FIRST_STEPS_BACK: Final = (
    16,
    240,
)  # instructions searched first when stepping back, because nearly all single steps back end there
MAX_INSTRUCTIONS_REBUILT: Final = 2_000_000  # instructions executed again for the checkers after a change of the past


@dataclass(slots=True)
class _Edit:
    """A change from outside, made before the instruction at a time."""

    time: int
    make: Callable[[], None]


def never() -> bool:
    """Return False: no pause is requested."""
    return False


@dataclass(slots=True)
class _KnownFuture:
    """Facts about a run up to its furthest point, kept while it is at an earlier time."""

    frontier: Snapshot | None = None
    faults: list[tuple[int, Fault]] = field(default_factory=list)  # faults that stopped the run, by time


class Debugger(StoppingRun):
    """A launch under the user's control. A new one is before its first instruction."""

    def __init__(self, launch: Launch, say: Callable[[str], None] = lambda _text: None) -> None:
        super().__init__(launch, say)
        self.machine.stops_at = self._hears
        self._edits: list[_Edit] = []
        self._made = 0  # number of edits made so far
        self.history = History(capture(self.stepper, 0))
        self._future = _KnownFuture()

    def _hears(self, fault: Fault) -> bool:
        """Return whether the run stops for a finding; a finding while looking ahead is kept for later."""
        name = filter_of(fault)
        if self._ahead is not None and name in self._ahead and name not in self.filters:
            self._future.faults.append((self.machine.count_instructions(self.stepper.threads[0].frame) - 1, fault))
        return self.stops_at(fault)

    # ---- forward

    def go(self, goal: Goal, poll: Callable[[], bool] = never) -> RunStop:
        """Run until the goal is reached or something stops the run; ``poll`` returns True to request a pause."""
        self.remember()
        if goal.alone is not None:
            self._run_alone(goal.alone.number)
        try:
            return self._forward(goal, poll)
        finally:
            if goal.alone is not None:
                self._run_alone(None)

    def _run_alone(self, number: int | None) -> None:
        if number is not None or self.stepper.alone is not None:
            self.change(lambda: self.stepper.run_alone(number))

    def _forward(self, goal: Goal, poll: Callable[[], bool]) -> RunStop:
        stepper, machine = self.stepper, self.machine
        machine.passed.update(self.breakpoints)  # a breakpoint at the present place must not stop the run again
        self.counting = True
        while True:
            if stepper.over:
                return self._over()
            thread, before = stepper.current, stepper.time
            ahead = self._attend()
            most = min(goal.most(stepper), ahead, max(1, self.history.due - stepper.time))
            try:
                if thread is None:
                    stepper.settle()
                    thread = stepper.current
                if thread is None:
                    return RunStop("pause", goal.alone, "the thread waits for others at a barrier")
                stepper.advance(most)
            except (Trap, FaultFound, KernelFault) as error:
                stop = self._stop_for(error, thread)
                if stop is not None:
                    return stop
            if stepper.time != before:
                self._catch_up()
                if fault := self._find_fault():
                    return RunStop("exception", stepper.current, str(fault), fault=fault)
                if goal.is_reached(stepper) and self.concerns(goal.thread_at(stepper)):
                    return RunStop(goal.reason, goal.thread_at(stepper))
            if poll() and stepper.current is not None:
                return self._pause()

    def _over(self) -> RunStop:
        """Return the stop after the last instruction; findings that observers report only now may lie in the past."""
        if self._future.frontier is None and not self.stepper.broken:
            try:
                self.machine.ask_for_rest()
            except FaultFound as error:
                return self._fault(error.fault)
        return RunStop("end", None)

    def enter(self, poll: Callable[[], bool] = never) -> RunStop:
        """Go to the first instruction of the run, or of the chosen thread."""
        goal = Entry(self.focus)
        if goal.meets(self.stepper):
            return RunStop(goal.reason, self.stepper.current)
        return self.go(goal, poll)

    def _pause(self) -> RunStop:
        thread = self.stepper.current
        if self.focus is not None:
            thread = next((t for t in self.stepper.live if key_of(t) == self.focus), thread)
        return RunStop("pause", thread)

    def _attend(self) -> int:
        """Attach observers to instructions executed for the first time; return the number of instructions until that changes."""
        frontier = self._future.frontier
        if frontier is None:
            if not self.machine.attended:
                self.machine.attend(wanted=True)
            return CHUNK
        self.machine.attend(wanted=False)
        times = [frontier.time, *(time for time, _ in self._future.faults if time > self.time)]
        times += [edit.time for edit in self._edits[self._made : self._made + 1] if edit.time > self.time]
        return max(1, min(times) - self.time)

    def _catch_up(self) -> None:
        """Repeat the edits of this time, end a replay at the furthest point, and take a snapshot if one is due."""
        while self._made < len(self._edits) and self._edits[self._made].time <= self.time:
            self._made += 1
            self._edits[self._made - 1].make()
        frontier = self._future.frontier
        if frontier is not None and self.time >= frontier.time:
            restore(self.stepper, frontier)
            self._made = frontier.edits
            self._future.frontier = frontier = None
        if frontier is None and self.time >= self.history.due and not self.stepper.over:
            self.history.add(self.stepper, self._made)

    def _find_fault(self) -> Fault | None:
        """Return the fault that stopped the run at this time before."""
        return next((fault for time, fault in self._future.faults if time == self.time and self._hears(fault)), None)

    def _stop_for(self, error: Trap | FaultFound | KernelFault, thread: Thread | None) -> RunStop | None:
        """Return the stop for a thread that cannot continue; None if it can continue."""
        if isinstance(error, FaultFound):
            return self._fault(error.fault)
        if thread is None:
            return RunStop("end", None)
        if isinstance(error, Trap):
            return self._sprung(error.hits, thread)
        fault = self._end_by(error, thread)
        if fault is not None:
            self._future.faults.append((self.time, fault))
        if FATAL in self.filters and fault is not None:
            return RunStop("exception", thread, str(fault), fault=fault)
        return RunStop("end", None)

    def _end_by(self, error: KernelFault, thread: Thread) -> Fault | None:
        """Return the stop for a fatal fault, after which the run is over."""
        self.stepper.broken = True
        fault_count = len(self.machine.faults)
        self.machine.report(thread, error.kind, error.message, lane=error.lane, address=error.address)
        self.machine.take_finding()
        return self.machine.faults[-1] if len(self.machine.faults) > fault_count else None

    def _fault(self, fault: Fault) -> RunStop:
        """Return the stop for an observer's finding, and move to its time, which may be in the past."""
        cause = self._cause(fault)
        if cause is not None:
            return cause
        thread = next((t for t in self.stepper.live if key_of(t) == (fault.group, fault.thread)), None)
        if thread is not None and self.place(thread).pc == fault.instruction:
            self._future.faults.append((self.time, fault))
            return RunStop("exception", thread, str(fault), fault=fault)
        self._leave_frontier()
        goal = Goal.at((fault.group, fault.thread), fault.kernel, fault.instruction)
        time = self._last(self.time, goal, never, breaks=False)
        if time is None:
            self._future.faults.append((self.time, fault))
            return RunStop("exception", thread or self.stepper.current, str(fault), fault=fault)
        self._future.faults.append((time, fault))
        self.to_time(time)
        return RunStop("exception", self.stepper.current, str(fault), fault=fault)

    def _cause(self, fault: Fault) -> RunStop | None:
        """Return the race that explains why ``fault`` reads unwritten memory; the report of a run lists it first.

        Looks ahead by at most ``MAX_INSTRUCTIONS_AHEAD`` instructions; without a race the run returns to its present time.
        """
        if fault.kind is not FaultKind.UNINITIALISED or fault.variable or "races" not in self.filters:
            return None
        here, filters, machine = self.time, self.filters, self.machine
        if any(earlier.kind is FaultKind.RACE for earlier in machine.faults):
            return None
        self._ahead, self.filters, machine.armed = filters, {"races"}, False
        try:
            stop = self._forward(Goal(), lambda: self.time > here + MAX_INSTRUCTIONS_AHEAD)
        finally:
            self._ahead, self.filters, machine.armed = None, filters, True
        if stop.reason == "exception":
            return stop
        self.to_time(here)
        return None

    _ahead: set[str] | None = None  # the user's filters, while the run looks ahead with other ones

    def _sprung(self, hits: tuple[Any, ...], thread: Thread) -> RunStop | None:
        """Return the stop for breakpoints and watches at the next instruction; None if none counts."""
        machine = self.machine
        machine.passed.update(hits, self.breakpoints)  # all breakpoints of the place have been tested
        points, watches = self.apart(hits, thread)
        waiting = [watch for watch in watches if watch.access == "change"]
        now = [watch for watch in watches if watch not in waiting]
        if points:
            return RunStop(points[0].reason, thread, self.trouble(points, thread), _ids(points))
        if now:
            words = ", ".join(f"{watch.title} ({watch.access})" for watch in now)
            return RunStop("data", thread, words, _ids(now))
        if not waiting:
            return None
        changed, error = self._list_changes(waiting, thread)
        if error is not None:
            return self._stop_for(error, thread)
        if not changed:
            return None
        words = "; ".join(f"{watch.title} has changed" for watch in changed)
        stopped_thread = thread if thread in self.stepper.live else self.stepper.current
        return RunStop("data", stopped_thread, words, _ids(changed))

    def _list_changes(
        self, watches: list[Watch], thread: Thread
    ) -> tuple[list[Watch], Trap | FaultFound | KernelFault | None]:
        """Execute the next instruction; return the watched bytes that it changed, or why it could not be executed."""
        frame = thread.frame
        before = [watch.content(frame) for watch in watches]
        try:
            self.stepper.advance(1)
        except (Trap, FaultFound, KernelFault) as error:
            return [], error
        self._catch_up()
        return [watch for watch, old in zip(watches, before, strict=True) if watch.content(frame) != old], None

    # ---- back

    def _leave_frontier(self) -> None:
        """Store the furthest point of the run before it goes back."""
        if self._future.frontier is None:
            self._future.frontier = capture(self.stepper, self._made)
        self.machine.attend(wanted=False)

    def _back_to(self, snapshot: Snapshot) -> None:
        restore(self.stepper, snapshot)
        self.machine.passed.clear()
        self._made = snapshot.edits

    def to_time(self, time: int) -> None:
        """Move to the time after ``time`` instructions, at most to the furthest time."""
        frontier = self._future.frontier
        if frontier is None:
            if time >= self.time:
                return
            self._leave_frontier()
        elif time >= frontier.time:
            self._back_to(frontier)
            self._future.frontier = None
            return
        snapshot = self.history.before(time + 1)[0]
        if not (snapshot.time <= self.time <= time):
            self._back_to(snapshot)
        near = time - self.time > 4 * NEAR
        if near:
            self._replay(time - NEAR)
            self.history.add_near(self.stepper, self._made)
        self._replay(time)

    def _replay(self, time: int, goal: Goal | None = None) -> None:
        """Execute again, without stopping, up to a time of the past or until the goal is met."""
        machine = self.machine
        machine.armed = False
        try:
            while self.time < time and not self.stepper.over and not (goal is not None and goal.meets(self.stepper)):
                ahead = [edit.time for edit in self._edits[self._made : self._made + 1]]
                most = min([time, *ahead]) - self.time or 1
                try:
                    self.stepper.advance(most if goal is None else min(most, goal.most(self.stepper)))
                except KernelFault:
                    self.stepper.broken = True
                self._make_edits()
        finally:
            machine.armed = True

    def replay_for(self, observer: Observer, window: int, begin: Callable[[], None]) -> None:
        """Execute at least the last ``window`` instructions again for an observer; ``begin`` is called before the first."""
        time, is_last = self.time, self._future.frontier is None
        self._leave_frontier()
        snapshot = self.history.before(max(1, time - window + 1))[0]
        self._back_to(snapshot)
        begin()
        with self.machine.overhear(observer):
            if snapshot is self.history.start:
                observer.on_group(self.stepper.groups[self.stepper.group])
            self._replay(time)
        if is_last:
            self.to_time(time)

    def _make_edits(self) -> None:
        while self._made < len(self._edits) and self._edits[self._made].time <= self.time:
            self._made += 1
            self._edits[self._made - 1].make()

    def back(self, goal: Goal, poll: Callable[[], bool] = never) -> RunStop:
        """Go back to the last time before now that the goal was reached, or a breakpoint, a watch or a fault."""
        self.remember()
        if self.time == 0:
            return RunStop("start", self.stepper.current, "this is the start of the run")
        end = self.time
        self._leave_frontier()
        try:
            time = self._last(end, goal, poll, breaks=goal.breaks)
            if time is None and goal.hands_over and self.focus is None:
                # As on the way forward, the step belongs to the thread whose turn it is.
                time = self._last(end, Entry(None), poll, breaks=False)
        except InterruptedError:
            return self._pause()
        if time is None:
            return self._to_entry(end)
        self.to_time(time)
        fault = self._find_fault()
        if fault is not None and goal.breaks:
            return RunStop("exception", self.stepper.current, str(fault), fault=fault)
        why = self._why
        return RunStop(
            goal.reason if why is None else why.reason,
            self.stepper.current,
            why.text if why else "",
            why.hits if why else (),
        )

    def _to_entry(self, end: int) -> RunStop:
        """Move to the first instruction of the run, or of the chosen thread if it has begun by the time ``end``."""
        for focus in dict.fromkeys((self.focus, None)):
            self.to_time(0)
            goal = Entry(focus)
            self._replay(end, goal)
            if goal.meets(self.stepper):
                break
        words = "the run" if focus is None else "the thread"
        return RunStop("start", self.stepper.current, f"this is the start of {words}")

    def back_to_writer(self, cells: Cells, frame_cells: FrameCells, poll: Callable[[], bool] = never) -> RunStop:
        """Go back to the instruction that last wrote the elements. Raises DebugError for elements that cannot be watched."""
        with self._set_stops_aside():
            watch = self.watch(cells, frame_cells, "write", Wish())
            if len(watch.bodies) == 1:  # a write of another activation of the body does not change this one
                watch.depth = [*frame_cells.thread.frames, frame_cells.thread.frame].index(frame_cells.frame)
            self.apply()
            return self.back(Goal(), poll)

    def go_to_end(self, poll: Callable[[], bool] = never) -> RunStop:
        """Run to the end, or to a pause, without a stop at breakpoints, watches and faults."""
        with self._set_stops_aside():
            self.apply()
            return self.go(Goal(), poll)

    @contextmanager
    def _set_stops_aside(self) -> Iterator[None]:
        """Disable the breakpoints, watches and filters of the user inside the context."""
        kept = self.breakpoints, self.watches, self.filters
        self.breakpoints, self.watches, self.filters = [], [], set()
        try:
            yield
        finally:
            self.breakpoints, self.watches, self.filters = kept
            self.apply()

    _why: RunStop | None = None  # the reason found by ``_last``, if it is not the goal

    def _last(self, end: int, goal: Goal, poll: Callable[[], bool], *, breaks: bool) -> int | None:
        """Return the last time before ``end`` at which the run reached the goal or stopped.

        Raises InterruptedError for a pause.
        """
        stepper, machine = self.stepper, self.machine
        self.counting = False
        faults = [time for time, fault in self._future.faults if self._hears(fault)] if breaks else []
        try:
            for start in self._windows(end, narrow=not breaks):
                machine.armed = breaks
                latest = max((time for time in faults if start <= time < end), default=None)
                self._why = None
                while stepper.time < end and not stepper.over and stepper.current is not None:
                    here, thread = stepper.time, stepper.current
                    if goal.meets(stepper) and (latest is None or here >= latest):
                        latest, self._why = here, None
                    ahead = [edit.time for edit in self._edits[self._made : self._made + 1]]
                    most = max(1, min([end, *ahead]) - here)
                    try:
                        stepper.advance(min(most, goal.most(stepper), CHUNK))
                    except Trap as trap:
                        now = stepper.time
                        stop = self._past_stop(trap.hits, thread)
                        if stop is not None and (latest is None or now >= latest):
                            latest, self._why = now, stop
                    except KernelFault:
                        break
                    self._make_edits()
                    if poll():
                        raise InterruptedError
                if latest is not None:
                    return latest
                end = start
            return None
        finally:
            machine.armed = self.counting = True
            machine.passed.clear()

    def _windows(self, end: int, *, narrow: bool) -> Iterator[int]:
        """Move to the starts of successive windows before ``end``, from the latest window to the earliest.

        ``narrow`` begins with short windows, because most single steps back end there.
        """
        for back in _FIRST_STEPS_BACK if narrow else ():
            if end > 0:
                end = max(0, end - back)
                self.to_time(end)
                yield end
        if end > 0:
            for snapshot in self.history.before(end):
                self._back_to(snapshot)
                yield snapshot.time

    def _past_stop(self, hits: tuple[Any, ...], thread: Thread) -> RunStop | None:
        """Return the stop for a trap met in a replay; None for a watch whose bytes do not change."""
        self.machine.passed.update(hits, self.breakpoints)
        points, watches = self.apart(hits, thread)
        if points:
            return RunStop(points[0].reason, thread, hits=_ids(points))
        now = [watch for watch in watches if watch.access != "change"]
        if not now and watches:
            now, _ = self._list_changes(watches, thread)
        return RunStop("data", thread, ", ".join(f"{w.title} ({w.access})" for w in now), _ids(now)) if now else None

    # ---- changes from outside

    def change(self, make: Callable[[], None]) -> None:
        """Make an edit at the present time, and forget everything executed after it."""
        if self._future.frontier is not None:
            self._forget_future()
            if self.stepper.alone is not None:  # the edit ends the known future
                self._make_edit(lambda: self.stepper.run_alone(None))
        self._make_edit(make)

    def _make_edit(self, make: Callable[[], None]) -> None:
        """Make a change, and keep it for replays."""
        make()
        self._edits.append(_Edit(self.time, make))
        self._made = len(self._edits)
        if self.time:
            self.history.forget_from(self.time)
        else:
            self.history = History(capture(self.stepper, self._made))

    def _forget_future(self) -> None:
        """Forget the run after this time; the checkers see it again from the start."""
        time = self.time
        del self._edits[self._made :]
        self.history.forget_from(time + 1)
        self._future = _KnownFuture(None, [(moment, fault) for moment, fault in self._future.faults if moment < time])
        if time > MAX_INSTRUCTIONS_REBUILT:
            self.machine.listen(())
            self.say("the run was changed at an earlier point, so nothing is checked from here on")
            return
        stops = self.machine.stops_at
        self.machine.stops_at = lambda _fault: False
        self._back_to(self.history.start)
        self.machine.listen(self.launch.observers())
        for observer in self.machine.observers:
            observer.on_group(self.stepper.groups[self.stepper.group])
        self._replay(time)
        self.machine.stops_at = stops

    def store(self, activation: Activation, cells: Cells, index: int, value: Any) -> None:
        """Write an element. Raises DebugError for a value that it cannot hold."""
        cells.store(index, value)
        if cells.where is None:
            return
        owner, start = cells.where
        if owner == "preds":
            written: Any = activation.frame.preds[start]
        elif owner == "addr":
            written = activation.frame.addr.copy()
        else:
            start += index * cells.data.itemsize
            written = np.frombuffer(cells.data[index : index + 1].tobytes(), np.uint8)
        self.write(activation, owner, start, written)

    def write(self, activation: Activation, owner: Any, start: int, written: Any) -> None:
        """Write to a buffer or an activation, also in replays."""
        key, depth = key_of(activation.thread), self.depth(activation)
        if owner is activation.thread.group.slm:
            owner = "slm"

        def make() -> None:
            if not isinstance(owner, str):
                owner.data[start : start + written.size] = written
                return
            live = next((t for t in self.stepper.live if key_of(t) == key), None)
            frames = [] if live is None else [live.frame, *reversed(live.frames)]
            if depth < len(frames):
                _write(frames[depth], owner, start, written)

        self.change(make)

    def write_raw(self, activation: Activation, owner: Any, start: int, raw: bytes) -> None:
        """Write bytes to a buffer, shared local memory or the registers (``grf``) of an activation."""
        self.write(activation, owner, start, np.frombuffer(raw, np.uint8))

    def jump(self, thread: Thread, body: BodyText, pc: int) -> None:
        """Let a thread continue at another instruction of its body, with the active lanes. Raises DebugError if it cannot."""
        if thread.frame.code.kernel is not body.kernel:
            raise DebugError(f"the line is in {body.name}, but the thread is in {thread.frame.code.kernel.name}")
        if thread.number in self.stepper.waits:
            raise DebugError("the thread waits at a barrier")
        key = key_of(thread)

        def make() -> None:
            live = next((t for t in self.stepper.live if key_of(t) == key), None)
            if live is not None:
                live.frame.pc = pc

        self.change(make)

    # ---- the end

    def finish(self) -> RunResult:
        """Return the result of the finished run."""
        if self._future.frontier is not None:
            self.to_time(self._future.frontier.time)
        return self.machine.finish()


def _ids(stops: Sequence[Breakpoint] | Sequence[Watch]) -> tuple[int, ...]:
    """Return the user-visible numbers of breakpoints and watches."""
    return tuple(stop.id for stop in stops if stop.id)


def _write(frame: Frame, owner: str, start: int, written: Any) -> None:
    """Write a user's value into registers."""
    if owner == "preds":
        frame.preds[start] = written
    elif owner == "addr":
        frame.addr[:] = written
    elif owner == "slm":
        slm_of(frame)[start : start + written.size] = written
    else:
        frame.regs[start : start + written.size] = written
        frame.set_modes(frame.word(frame.code.layout.offset(CR0)))
