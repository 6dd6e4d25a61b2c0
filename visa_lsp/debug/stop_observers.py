"""The reasons to stop a run: breakpoints, watches and kinds of faults, and their tests before instructions.

Does not move the run: the code that does so calls this module at a trap, to decide whether it counts.
Invariant: a test changes nothing but counts of hits, and those only while ``counting``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from visa_lsp.debug.breakpoints import ACCESSES, Breakpoint, Terms, Watch, Wish, watch_range
from visa_lsp.debug.cells import Cells, DebugError, FrameCells, text_of
from visa_lsp.debug.goals import key_of
from visa_lsp.debug.stopped_run import StoppedRun
from visa_lsp.debug.stops import FATAL, Launch, filter_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from visa_lsp.debug.breakpoints import ThreadKey
    from visa_lsp.debug.places import BodyText
    from visa_lsp.sim.faults import Fault
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.registers import Frame


class StoppingRun(StoppedRun):
    """A run with its breakpoints and watches."""

    def __init__(self, launch: Launch, say: Callable[[str], None]) -> None:
        super().__init__(launch)
        self.say = say  # shows log messages of breakpoints and notes to the user
        self.focus: ThreadKey | None = None  # the only thread that breakpoints and pauses apply to
        self.filters: set[str] = set()
        self.conditions: dict[str, Terms] = {}  # conditions of filters
        self.breakpoints: list[Breakpoint] = []
        self.watches: list[Watch] = []
        self.counting = True  # whether passing a breakpoint counts as a hit

    def add(
        self, reason: str, places: list[tuple[BodyText, int]], wish: Wish, line: int = -1, number: int = 0
    ) -> Breakpoint:
        """Add a breakpoint; its message says why it is not verified. ``apply`` activates it."""
        point = Breakpoint(number, reason, places, line)
        self.breakpoints.append(point)
        if not places:
            point.message = "no instruction follows this place"
            return point
        try:
            terms = Terms(wish)
            thread = self.stepper.current or (self.stepper.live[0] if self.stepper.live else None)
            if thread is not None and places[0][0].kernel is thread.frame.code.kernel:
                terms.check(self.cells_of(thread, thread.frame))
            point.terms = terms
        except DebugError as error:
            point.message = str(error)
        return point

    def watch(
        self, cells: Cells, frame_cells: FrameCells, access: str, wish: Wish, size: int = 0, number: int = 0
    ) -> Watch:
        """Add a watch on elements, or on ``size`` bytes from there; registers are watched in the thread and body of ``frame_cells``.

        Raises DebugError for elements that cannot be watched.
        """
        if access not in ACCESSES:
            raise DebugError(f"'{access}' is not an access; expected one of {', '.join(ACCESSES)}")
        owner, start, size = watch_range(cells, size)
        if frame_cells.thread.machine is not self.machine:
            owner = self._find_counterpart(owner, frame_cells)
        watch = Watch(number, cells.name, access, owner, start, size, lambda _frame: b"")
        if owner == "grf":
            watch.content = lambda frame: frame.regs[start : start + size].tobytes()
        elif owner == "preds":
            watch.content = lambda frame: frame.preds[start].to_bytes(4, "little")
        elif owner == "addr":
            watch.content = lambda frame: frame.addr.tobytes()
        else:
            watch.content = lambda _frame: owner.data[start : start + size].tobytes()
        if owner in ("grf", "preds", "addr"):
            # Predefined variables are saved around calls; all others belong to one activation.
            shared = owner == "grf" and start < frame_cells.code.layout.predefined_end
            watch.bodies = tuple(self.places.bodies) if shared else (frame_cells.code.kernel.name,)
            watch.thread = frame_cells.thread.group.id, frame_cells.thread.number
        elif owner is frame_cells.thread.group.slm:
            watch.owner = "slm"
            watch.content = lambda frame: slm_of(frame)[start : start + size].tobytes()
        if watch.owner in ("preds", "addr"):
            watch.access = "change"
        self.watches.append(watch)
        try:
            watch.terms = Terms(wish)
        except DebugError as error:
            watch.message = str(error)
        return watch

    def _find_counterpart(self, owner: Any, frame_cells: FrameCells) -> Any:
        """Return this run's counterpart of an owner from an earlier run. Raises DebugError if there is none."""
        if isinstance(owner, str):
            if frame_cells.code.kernel.name not in self.places.bodies:
                raise DebugError(f"the program no longer has {frame_cells.code.kernel.name}")
            return owner
        pairs = zip(frame_cells.buffers(), self.launch.dispatch.buffers, strict=False)
        counterpart = next((new for old, new in pairs if old is owner), owner)
        if counterpart is owner and owner is not frame_cells.thread.group.slm:
            raise DebugError("the launch no longer has the buffer")
        return counterpart

    def apply(self) -> None:
        """Install the tests of all breakpoints and watches."""
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
                for pc, watch_test in watch.candidates(code).items():
                    put(code, pc, watch, watch_test)
            if not watch.bodies:
                messages[watch] = watch.is_touched
        self.machine.trap(traps)
        self.machine.watch(messages)

    def _test(self, terms: Terms) -> Callable[[Frame], bool]:
        def test(f: Frame) -> bool:
            thread = f.thread
            if thread is None or not self.concerns(thread):
                return False
            if terms.condition is None and not terms.log and self.counting:
                return terms.hold(None, counting=True)  # type: ignore[arg-type] # nothing is looked at
            frame_cells = self.cells_of(thread, f)
            try:
                if not terms.hold(frame_cells, counting=self.counting):
                    return False
            except DebugError:
                return True  # the stop reports it
            if terms.log:
                if self.counting:
                    self.say(terms.message(frame_cells, text_of))
                return False
            return True

        return test

    def stops_at(self, fault: Fault) -> bool:
        """Return whether the run stops for a finding."""
        name = filter_of(fault)
        if name not in self.filters or (fault.is_note and name != "division"):
            return False
        if self.focus is not None and (fault.group, fault.thread) != self.focus and name != FATAL:
            return False
        terms = self.conditions.get(name)
        thread = self.stepper.current
        if terms is None or thread is None:
            return True
        try:
            return terms.hold(self.cells_of(thread, thread.frame), counting=self.counting)
        except DebugError:
            return True

    def concerns(self, thread: Thread | None) -> bool:
        """Return whether breakpoints apply to a thread: it is the focus, or there is no focus."""
        return self.focus is None or (thread is not None and key_of(thread) == self.focus)

    def counts(self, watch: Watch, thread: Thread) -> bool:
        """Return whether the run stops for a thread's access to a watch."""
        if self.focus is not None and watch.thread is None and key_of(thread) != self.focus:
            return False
        assert watch.terms is not None
        try:
            return watch.terms.hold(self.cells_of(thread, thread.frame), counting=self.counting)
        except DebugError:
            return True

    def trouble(self, points: list[Breakpoint], thread: Thread) -> str:
        """Return the message of a failing condition that stops the run; empty if none fails."""
        for point in points:
            if point.terms is not None and point.terms.condition is not None:
                try:
                    point.terms.condition.holds(self.cells_of(thread, thread.frame))
                except DebugError as error:
                    return f"cannot evaluate the condition: {error}"
        return ""

    def apart(self, hits: tuple[Any, ...], thread: Thread) -> tuple[list[Breakpoint], list[Watch]]:
        """Return the hits that count: breakpoints, and watches whose conditions hold."""
        points = [hit for hit in hits if isinstance(hit, Breakpoint)]
        return points, [hit for hit in hits if isinstance(hit, Watch) and self.counts(hit, thread)]


def slm_of(frame: Frame) -> np.ndarray[Any, np.dtype[Any]]:
    """Return the shared local memory of a frame's group, as bytes."""
    thread = frame.thread
    assert thread is not None
    return thread.group.slm.data
