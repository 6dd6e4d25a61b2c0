"""A run under a debugger: where it stands, how it goes on and back, what it stops for.

Knows no protocol: threads and activations go by values, a stop is a value. The run is that of the reference interpreter,
in its order; what is changed from outside (a variable, the thread that runs alone) is kept by time and made again in
every replay. Invariant: the state at a time does not depend on the way there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.debug.breakpoints import ACCESSES, Breakpoint, Terms, Watch, Wish, watched
from visa_lsp.debug.cells import Cells, DebugError, FrameCells, buffers_of, text_of
from visa_lsp.debug.goals import CHUNK, Entry, Goal, key_of
from visa_lsp.debug.history import NEAR, History, Snapshot, captured, restore
from visa_lsp.debug.machine import FaultFound, Trap, TrappedMachine
from visa_lsp.debug.places import CodePlace, Places
from visa_lsp.debug.stepper import Stepper
from visa_lsp.debug.stops import FATAL, Activation, Launch, RunStop, filter_of
from visa_lsp.sim.faults import Fault, FaultKind, KernelFault
from visa_lsp.sim.operands import CR0

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.debug.breakpoints import ThreadKey
    from visa_lsp.debug.places import BodyText
    from visa_lsp.sim.dispatch import RunResult
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.registers import Frame

MOST_AHEAD: Final = 500_000  # instructions in which the cause of a fault is looked for
MOST_REBUILT: Final = 2_000_000  # instructions that are executed again for the checkers when the past is changed


@dataclass(slots=True)
class _Edit:
    """A change from outside, made before the instruction at a time."""

    time: int
    make: Callable[[], None]


def never() -> bool:
    """Nobody asks for a pause."""
    return False


@dataclass(slots=True)
class _KnownFuture:
    """What is known of a run up to its furthest point while it stands before it."""

    frontier: Snapshot | None = None
    faults: list[tuple[int, Fault]] = field(default_factory=list)  # where the run has stopped for faults, by time


class Debugger:
    """One launch in the hands of a user. It stands before its first instruction when it is made."""

    def __init__(self, launch: Launch, say: Callable[[str], None] = lambda _text: None) -> None:
        self.launch = launch
        self.say = say  # told what breakpoints log and what the user should know
        self.places = Places(launch.dispatch, launch.texts)
        self.focus: ThreadKey | None = None  # the only thread that breakpoints and pauses are about
        self.filters: set[str] = set()
        self.conditions: dict[str, Terms] = {}  # of filters
        self.breakpoints: list[Breakpoint] = []
        self.watches: list[Watch] = []
        self._looked: dict[int, FrameCells] = {}  # what conditions look at again and again, by id of the frame
        self._before: dict[int, bytes] = {}  # registers at the last stop, by id of the frame
        self.machine = TrappedMachine(self.launch.dispatch, self.launch.observers())
        self.machine.stops_at = self._stops_at
        self.stepper = Stepper(self.machine)
        self._edits: list[_Edit] = []
        self._made = 0  # how many of them have been made
        self.history = History(captured(self.stepper, 0))
        self._future = _KnownFuture()

    # ---- where it stands

    @property
    def time(self) -> int:
        """Instructions that all threads have executed."""
        return self.stepper.time

    @property
    def at_end(self) -> bool:
        """Whether nothing is left to execute."""
        return self.stepper.over

    @property
    def threads(self) -> list[Thread]:
        """The threads of the running group that have not ended."""
        return list(self.stepper.live)

    def number(self, thread: Thread) -> int:
        """A number for a thread that no other thread of the launch has, from 1."""
        dispatch = self.launch.dispatch
        x, y, z = thread.group.id
        gx, gy, _ = dispatch.groups
        return ((z * gy + y) * gx + x) * dispatch.threads_per_group + thread.number + 1

    def thread(self, number: int) -> Thread:
        """The thread of a number. Raises DebugError where it is not there now."""
        found = next((thread for thread in self.stepper.live if self.number(thread) == number), None)
        if found is None:
            raise DebugError(f"there is no thread {number} now: it has ended, or its group has not begun")
        return found

    def title(self, thread: Thread) -> str:
        """Group, thread and work items in words."""
        group = ",".join(map(str, thread.group.id))
        items = thread.work_items(None)
        words = f"group {group} thread {thread.number}"
        if not items:
            return words
        first, last = (",".join(map(str, item.global_id)) for item in (items[0], items[-1]))
        return f"{words}: items {first} to {last}" if len(items) > 1 else f"{words}: item {first}"

    def place(self, thread: Thread) -> CodePlace:
        """The instruction that a thread executes next, or waits at."""
        body = self.places.of(thread.frame.code.kernel)
        pc = self.stepper.place(thread)
        return body.place(pc)

    def stack(self, thread: Thread) -> list[Activation]:
        """What is open in a thread, innermost first: subroutines and functions, then the kernel."""
        found: list[Activation] = []
        pc = self.stepper.place(thread)
        for frame in (thread.frame, *reversed(thread.frames)):
            body = self.places.of(frame.code.kernel)
            if frame is not thread.frame:
                pc = frame.pc - 1
            for back, *_, start in reversed(frame.calls):
                found.append(Activation(body.written(start).strip().rstrip(":"), body.place(pc), frame, thread))
                pc = back - 1
            found.append(Activation(body.name, body.place(pc), frame, thread))
        return found

    def cells(self, at: Activation) -> FrameCells:
        """What can be looked at from an activation."""
        return self._cells(at.thread, at.frame)

    def _cells(self, thread: Thread, frame: Frame) -> FrameCells:
        found = self._looked.get(id(frame))
        if found is None or found.frame is not frame or found.thread is not thread:
            found = FrameCells(thread, frame, self.places.of(frame.code.kernel), self.launch.arguments)
            self._looked[id(frame)] = found
        return found

    def before(self, frame: Frame) -> bytes:
        """What an activation's registers held at the stop before; empty where it was not there."""
        return self._before.get(id(frame), b"")

    def _remember(self) -> None:
        """Keep what registers hold, for ``before``."""
        self._before = {
            id(frame): frame.regs.tobytes() for thread in self.stepper.live for frame in (thread.frame, *thread.frames)
        }

    # ---- what it stops for

    def add(
        self, reason: str, places: list[tuple[BodyText, int]], wish: Wish, line: int = -1, number: int = 0
    ) -> Breakpoint:
        """Add a breakpoint; one that cannot be says why. ``apply`` makes it count."""
        point = Breakpoint(number, reason, places, line)
        self.breakpoints.append(point)
        if not places:
            point.message = "there is no instruction here or below"
            return point
        try:
            terms = Terms(wish)
            thread = self.stepper.current or (self.stepper.live[0] if self.stepper.live else None)
            if thread is not None and places[0][0].kernel is thread.frame.code.kernel:
                terms.check(self._cells(thread, thread.frame))
            point.terms = terms
        except DebugError as error:
            point.message = str(error)
        return point

    def watch(self, cells: Cells, at: FrameCells, access: str, wish: Wish, size: int = 0, number: int = 0) -> Watch:
        """Add a watch on elements, or so many bytes from there; registers are watched in the thread and body of ``at``.

        Raises DebugError for what cannot be watched.
        """
        if access not in ACCESSES:
            raise DebugError(f"'{access}' is no access; it is one of {', '.join(ACCESSES)}")
        owner, start, size = watched(cells, size)
        if at.thread.machine is not self.machine:
            owner = self._taken_over(owner, at)
        made = Watch(number, cells.name, access, owner, start, size, lambda _frame: b"")
        if owner == "grf":
            made.content = lambda frame: frame.regs[start : start + size].tobytes()
        elif owner == "preds":
            made.content = lambda frame: frame.preds[start].to_bytes(4, "little")
        elif owner == "addr":
            made.content = lambda frame: frame.addr.tobytes()
        else:
            made.content = lambda _frame: owner.data[start : start + size].tobytes()
        if owner in ("grf", "preds", "addr"):
            # What every body has comes and goes with calls; the rest is an activation's own.
            shared = owner == "grf" and start < at.code.layout.predefined_end
            made.bodies = tuple(self.places.bodies) if shared else (at.code.kernel.name,)
            made.thread = at.thread.group.id, at.thread.number
        elif owner is at.thread.group.slm:
            made.owner = "slm"
            made.content = lambda frame: _slm(frame)[start : start + size].tobytes()
        if made.owner in ("preds", "addr"):
            made.access = "change"
        self.watches.append(made)
        try:
            made.terms = Terms(wish)
        except DebugError as error:
            made.message = str(error)
        return made

    def _taken_over(self, owner: Any, at: FrameCells) -> Any:
        """What stands for an owner that ``at`` knows from a run before this one. Raises DebugError where nothing does."""
        if isinstance(owner, str):
            if at.code.kernel.name not in self.places.bodies:
                raise DebugError(f"there is no {at.code.kernel.name} any more")
            return owner
        pairs = zip(at.buffers(), buffers_of(self.launch.dispatch), strict=False)
        found = next((new for old, new in pairs if old is owner), owner)
        if found is owner and owner is not at.thread.group.slm:
            raise DebugError("there is no such buffer any more")
        return found

    def apply(self) -> None:
        """Put the tests of all breakpoints and watches where they belong."""
        traps: dict[tuple[int, int], dict[Any, Callable[[Frame], bool]]] = {}

        def put(code: Code, pc: int, who: object, test: Callable[[Frame], bool]) -> None:
            traps.setdefault((id(code), pc), {})[who] = test

        for point in self.breakpoints:
            if point.terms is None:
                continue
            test = self._test(point.terms)
            for body, pc in point.places:
                put(self.machine.code(body.kernel), pc, point, test)
        messages: dict[Any, Callable[[Any], bool]] = {}
        for watch in self.watches:
            if watch.terms is None:
                continue
            for name in watch.bodies:
                code = self.machine.code(self.places.bodies[name].kernel)
                for pc, found in watch.candidates(code).items():
                    put(code, pc, watch, found)
            if not watch.bodies:
                messages[watch] = watch.touched
        self.machine.trap(traps)
        self.machine.watch(messages)

    _counting = True  # whether passing a breakpoint counts as a hit of it

    def _test(self, terms: Terms) -> Callable[[Frame], bool]:
        def test(f: Frame) -> bool:
            thread = f.thread
            if thread is None or not self._concerns(thread):
                return False
            if terms.condition is None and not terms.log and self._counting:
                return terms.hold(None, counting=True)  # type: ignore[arg-type] # nothing is looked at
            at = self._cells(thread, f)
            try:
                if not terms.hold(at, counting=self._counting):
                    return False
            except DebugError:
                return True  # it is told at the stop
            if terms.log:
                if self._counting:
                    self.say(terms.message(at, text_of))
                return False
            return True

        return test

    def _stops_at(self, fault: Fault) -> bool:
        name = filter_of(fault)
        if self._ahead is not None and name in self._ahead and name not in self.filters:
            self._future.faults.append((self.machine.executed(self.stepper.threads[0].frame) - 1, fault))
        if name not in self.filters or (fault.is_note and name != "division"):
            return False
        if self.focus is not None and (fault.group, fault.thread) != self.focus and name != FATAL:
            return False
        terms = self.conditions.get(name)
        thread = self.stepper.current
        if terms is None or thread is None:
            return True
        try:
            return terms.hold(self._cells(thread, thread.frame), counting=self._counting)
        except DebugError:
            return True

    # ---- going on

    def go(self, goal: Goal, poll: Callable[[], bool] = never) -> RunStop:
        """Go on until the goal is reached or something stops the run; ``poll`` says now and then whether to pause."""
        self._remember()
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
        machine.told.update(self.breakpoints)  # the run goes on from where it stands, whatever stands there
        self._counting = True
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
            except (Trap, FaultFound, KernelFault) as found:
                stop = self._stopped(found, thread)
                if stop is not None:
                    return stop
            if stepper.time != before:
                self._catch_up()
                if known := self._known_fault():
                    return RunStop("exception", stepper.current, str(known), fault=known)
                if goal.reached(stepper) and self._concerns(goal.thread_at(stepper)):
                    return RunStop(goal.reason, goal.thread_at(stepper))
            if poll() and stepper.current is not None:
                return self._paused()

    def _over(self) -> RunStop:
        """The last instruction is executed: what observers have still to say may lie in the past."""
        if self._future.frontier is None and not self.stepper.broken:
            try:
                self.machine.ask_for_rest()
            except FaultFound as found:
                return self._fault(found.fault)
        return RunStop("end", None)

    def _concerns(self, thread: Thread | None) -> bool:
        """Whether a thread is the one that the user is about, or there is none such."""
        return self.focus is None or (thread is not None and key_of(thread) == self.focus)

    def enter(self, poll: Callable[[], bool] = never) -> RunStop:
        """Go to the first instruction, of the chosen thread where one is chosen."""
        goal = Entry(self.focus)
        if goal.meets(self.stepper):
            return RunStop(goal.reason, self.stepper.current)
        return self.go(goal, poll)

    def _paused(self) -> RunStop:
        thread = self.stepper.current
        if self.focus is not None:
            thread = next((t for t in self.stepper.live if key_of(t) == self.focus), thread)
        return RunStop("pause", thread)

    def _attend(self) -> int:
        """Let observers hear of what is executed for the first time; the number of instructions until that changes."""
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
        """Make the changes of this time, be where the run was furthest if this is that place, take a snapshot if one is due."""
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

    def _known_fault(self) -> Fault | None:
        """The fault that the run has stopped at before at this time."""
        return next((fault for time, fault in self._future.faults if time == self.time and self._stops_at(fault)), None)

    def _stopped(self, found: Trap | FaultFound | KernelFault, thread: Thread | None) -> RunStop | None:
        """What a thread that can not simply go on means; None where it goes on."""
        if isinstance(found, FaultFound):
            return self._fault(found.fault)
        if thread is None:
            return RunStop("end", None)
        if isinstance(found, Trap):
            return self._sprung(found.hits, thread)
        fault = self._ended_by(found, thread)
        if fault is not None:
            self._future.faults.append((self.time, fault))
        if FATAL in self.filters and fault is not None:
            return RunStop("exception", thread, str(fault), fault=fault)
        return RunStop("end", None)

    def _ended_by(self, error: KernelFault, thread: Thread) -> Fault | None:
        """A fault that no thread survives: the run is over behind it."""
        self.stepper.broken = True
        known = len(self.machine.faults)
        self.machine.report(thread, error.kind, error.message, lane=error.lane, address=error.address)
        self.machine.caught()
        return self.machine.faults[-1] if len(self.machine.faults) > known else None

    def _fault(self, fault: Fault) -> RunStop:
        """A finding of an observer: stand where it says, which may be in the past."""
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
        """The race that leaves memory unwritten where ``fault`` reads it: a run's report has it first.

        Looks ahead, no further than ``MOST_AHEAD`` instructions; without a race the run stands where it stood.
        """
        if fault.kind is not FaultKind.UNINITIALISED or fault.variable or "races" not in self.filters:
            return None
        here, filters, machine = self.time, self.filters, self.machine
        if any(known.kind is FaultKind.RACE for known in machine.faults):
            return None
        self._ahead, self.filters, machine.armed = filters, {"races"}, False
        try:
            stop = self._forward(Goal(), lambda: self.time > here + MOST_AHEAD)
        finally:
            self._ahead, self.filters, machine.armed = None, filters, True
        if stop.reason == "exception":
            return stop
        self.to_time(here)
        return None

    _ahead: set[str] | None = None  # the filters that the user has, while the run looks ahead with others

    def _sprung(self, hits: tuple[Any, ...], thread: Thread) -> RunStop | None:
        """Breakpoints and watches at the next instruction: whether the run stops for them."""
        machine = self.machine
        machine.told.update(hits, self.breakpoints)  # all breakpoints of the place have been asked
        points, watches = self._apart(hits, thread)
        waiting = [watch for watch in watches if watch.access == "change"]
        now = [watch for watch in watches if watch not in waiting]
        if points:
            return RunStop(points[0].reason, thread, self._trouble(points, thread), _ids(points))
        if now:
            words = ", ".join(f"{watch.title} ({watch.access})" for watch in now)
            return RunStop("data", thread, words, _ids(now))
        if not waiting:
            return None
        changed, found = self._changed_by_next(waiting, thread)
        if found is not None:
            return self._stopped(found, thread)
        if not changed:
            return None
        words = "; ".join(f"{watch.title} has changed" for watch in changed)
        at = thread if thread in self.stepper.live else self.stepper.current
        return RunStop("data", at, words, _ids(changed))

    def _counts(self, watch: Watch, thread: Thread) -> bool:
        if self.focus is not None and watch.thread is None and key_of(thread) != self.focus:
            return False
        assert watch.terms is not None
        try:
            return watch.terms.hold(self._cells(thread, thread.frame), counting=self._counting)
        except DebugError:
            return True

    def _changed_by_next(
        self, watches: list[Watch], thread: Thread
    ) -> tuple[list[Watch], Trap | FaultFound | KernelFault | None]:
        """Execute the next instruction: which watched bytes are others behind it, or why it could not be executed."""
        frame = thread.frame
        before = [watch.content(frame) for watch in watches]
        try:
            self.stepper.advance(1)
        except (Trap, FaultFound, KernelFault) as found:
            return [], found
        self._catch_up()
        return [watch for watch, old in zip(watches, before, strict=True) if watch.content(frame) != old], None

    def _trouble(self, points: list[Breakpoint], thread: Thread) -> str:
        """Why a condition cannot be computed, where that is why the run stops."""
        for point in points:
            if point.terms is not None and point.terms.condition is not None:
                try:
                    point.terms.condition.holds(self._cells(thread, thread.frame))
                except DebugError as error:
                    return f"the condition cannot be computed: {error}"
        return ""

    # ---- going back

    def _leave_frontier(self) -> None:
        """Keep where the run was furthest before it goes back."""
        if self._future.frontier is None:
            self._future.frontier = captured(self.stepper, self._made)
        self.machine.attend(wanted=False)

    def _back_to(self, snapshot: Snapshot) -> None:
        restore(self.stepper, snapshot)
        self.machine.told.clear()
        self._made = snapshot.edits

    def to_time(self, time: int) -> None:
        """Stand where ``time`` instructions were executed; it is not behind the furthest place."""
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

    def _replay(self, time: int) -> None:
        """Execute again, without a stop, until a time of the past."""
        machine = self.machine
        machine.armed = False
        try:
            while self.time < time and not self.stepper.over:
                ahead = [edit.time for edit in self._edits[self._made : self._made + 1]]
                try:
                    self.stepper.advance(min([time, *ahead]) - self.time or 1)
                except KernelFault:
                    self.stepper.broken = True
                self._make_edits()
        finally:
            machine.armed = True

    def _make_edits(self) -> None:
        while self._made < len(self._edits) and self._edits[self._made].time <= self.time:
            self._made += 1
            self._edits[self._made - 1].make()

    def back(self, goal: Goal, poll: Callable[[], bool] = never) -> RunStop:
        """Go back to the last time before now that the goal was reached, or a breakpoint, a watch or a fault."""
        self._remember()
        if self.time == 0:
            return RunStop("start", self.stepper.current, "this is the start of the run")
        end = self.time
        self._leave_frontier()
        if not goal.breaks:
            self.to_time(end - 1)  # at full speed, and leaves a snapshot near by, from which single steps are few
        try:
            time = self._last(end, goal, poll, breaks=goal.breaks)
        except InterruptedError:
            return self._paused()
        if time is None:
            self.to_time(0)
            return RunStop("start", self.stepper.current, "this is the start of the run")
        self.to_time(time)
        known = self._known_fault()
        if known is not None and goal.breaks:
            return RunStop("exception", self.stepper.current, str(known), fault=known)
        why = self._why
        return RunStop(
            goal.reason if why is None else why.reason,
            self.stepper.current,
            why.text if why else "",
            why.hits if why else (),
        )

    def back_to_writer(self, cells: Cells, at: FrameCells, poll: Callable[[], bool] = never) -> RunStop:
        """Go back to the instruction that last wrote some elements. Raises DebugError for what cannot be watched."""
        points, watches = self.breakpoints, self.watches
        self.breakpoints, self.watches = [], []
        try:
            watch = self.watch(cells, at, "write", Wish())
            if len(watch.bodies) == 1:  # what another activation of the body has written is not what this one holds
                watch.depth = [*at.thread.frames, at.thread.frame].index(at.frame)
            self.apply()
            filters, self.filters = self.filters, set()
            try:
                return self.back(Goal(), poll)
            finally:
                self.filters = filters
        finally:
            self.breakpoints, self.watches = points, watches
            self.apply()

    _why: RunStop | None = None  # what ``_last`` has found, where it is not the goal

    def _last(self, end: int, goal: Goal, poll: Callable[[], bool], *, breaks: bool) -> int | None:
        """The last time before ``end`` that the goal was reached or something stopped; raises InterruptedError for a pause."""
        stepper, machine = self.stepper, self.machine
        self._counting, machine.armed = False, breaks
        faults = [time for time, fault in self._future.faults if self._stops_at(fault)] if breaks else []
        try:
            for snapshot in self.history.before(end):
                found = max((time for time in faults if snapshot.time <= time < end), default=None)
                self._why = None
                self._back_to(snapshot)
                while stepper.time < end and not stepper.over and stepper.current is not None:
                    here, thread = stepper.time, stepper.current
                    if goal.meets(stepper) and (found is None or here >= found):
                        found, self._why = here, None
                    ahead = [edit.time for edit in self._edits[self._made : self._made + 1]]
                    most = max(1, min([end, *ahead]) - here)
                    try:
                        stepper.advance(min(most, goal.most(stepper), CHUNK))
                    except Trap as trap:
                        at = stepper.time
                        stop = self._past_stop(trap.hits, thread)
                        if stop is not None and (found is None or at >= found):
                            found, self._why = at, stop
                    except KernelFault:
                        break
                    self._make_edits()
                    if poll():
                        raise InterruptedError
                if found is not None:
                    return found
                end = snapshot.time
            return None
        finally:
            machine.armed = self._counting = True
            machine.told.clear()

    def _past_stop(self, hits: tuple[Any, ...], thread: Thread) -> RunStop | None:
        """What sprang in a replay; None for a watch whose bytes stay as they are."""
        self.machine.told.update(hits, self.breakpoints)
        points, watches = self._apart(hits, thread)
        if points:
            return RunStop(points[0].reason, thread, hits=_ids(points))
        now = [watch for watch in watches if watch.access != "change"]
        if not now and watches:
            now, _ = self._changed_by_next(watches, thread)
        return RunStop("data", thread, ", ".join(f"{w.title} ({w.access})" for w in now), _ids(now)) if now else None

    def _apart(self, hits: tuple[Any, ...], thread: Thread) -> tuple[list[Breakpoint], list[Watch]]:
        """The breakpoints among what has sprung, and the watches whose terms hold."""
        points = [hit for hit in hits if isinstance(hit, Breakpoint)]
        return points, [hit for hit in hits if isinstance(hit, Watch) and self._counts(hit, thread)]

    # ---- changes from outside

    def change(self, make: Callable[[], None]) -> None:
        """Change something where the run stands; what was executed behind this time is forgotten."""
        if self._future.frontier is not None:
            self._forget_future()
            if self.stepper.alone is not None:  # until a time that will not come again
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
            self.history = History(captured(self.stepper, self._made))

    def _forget_future(self) -> None:
        """Go on from here as if the run had never been further: the checkers hear of it from the start again."""
        time = self.time
        del self._edits[self._made :]
        self.history.forget_from(time + 1)
        self._future = _KnownFuture(None, [(at, fault) for at, fault in self._future.faults if at < time])
        if time > MOST_REBUILT:
            self.machine.listen(())
            self.say("the run was changed in its past: from here on nothing is checked")
            return
        stops = self.machine.stops_at
        self.machine.stops_at = lambda _fault: False
        self._back_to(self.history.start)
        self.machine.listen(self.launch.observers())
        for observer in self.machine.observers:
            observer.group(self.stepper.groups[self.stepper.group])
        self._replay(time)
        self.machine.stops_at = stops

    def store(self, at: Activation, cells: Cells, index: int, value: Any) -> None:
        """Write an element. Raises DebugError where it takes no such value."""
        cells.store(index, value)
        if cells.where is None:
            return
        owner, start = cells.where
        if owner == "preds":
            written: Any = at.frame.preds[start]
        elif owner == "addr":
            written = at.frame.addr.copy()
        else:
            start += index * cells.data.itemsize
            written = np.frombuffer(cells.data[index : index + 1].tobytes(), np.uint8)
        self.write(at, owner, start, written)

    def write(self, at: Activation, owner: Any, start: int, written: Any) -> None:
        """Put bytes into a buffer, or something into an activation, wherever that is in a replay."""
        key, depth = key_of(at.thread), self.depth(at)
        if owner is at.thread.group.slm:
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

    def write_raw(self, at: Activation, owner: Any, start: int, raw: bytes) -> None:
        """Put bytes into a buffer, shared local memory or the registers (``grf``) of an activation."""
        self.write(at, owner, start, np.frombuffer(raw, np.uint8))

    def depth(self, at: Activation) -> int:
        """How many functions are open inside of an activation."""
        frames = [at.thread.frame, *reversed(at.thread.frames)]
        return next((n for n, frame in enumerate(frames) if frame is at.frame), 0)

    def activation(self, thread: Thread, depth: int) -> Activation:
        """The innermost activation of that depth. Raises DebugError where there is none."""
        found = next((at for at in self.stack(thread) if self.depth(at) == depth), None)
        if found is None:
            raise DebugError("there is no such activation now")
        return found

    def jump(self, thread: Thread, body: BodyText, pc: int) -> None:
        """Have a thread execute another instruction of its body next, with the lanes that are active now.

        Raises DebugError where it cannot.
        """
        if thread.frame.code.kernel is not body.kernel:
            raise DebugError(f"the thread is in {thread.frame.code.kernel.name}, the line is in {body.name}")
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
        """What came of the run; it has reached its end."""
        if self._future.frontier is not None:
            self.to_time(self._future.frontier.time)
        return self.machine.finish()


def _ids(found: Sequence[Breakpoint] | Sequence[Watch]) -> tuple[int, ...]:
    """The numbers by which the user knows them."""
    return tuple(one.id for one in found if one.id)


def _write(frame: Frame, owner: str, start: int, written: Any) -> None:
    """Put what a user wrote into registers."""
    if owner == "preds":
        frame.preds[start] = written
    elif owner == "addr":
        frame.addr[:] = written
    elif owner == "slm":
        _slm(frame)[start : start + written.size] = written
    else:
        frame.regs[start : start + written.size] = written
        frame.set_modes(frame.word(frame.code.layout.offset(CR0)))


def _slm(frame: Frame) -> np.ndarray[Any, np.dtype[Any]]:
    thread = frame.thread
    assert thread is not None
    return thread.group.slm.data
