"""The interpreter's machine with traps: it can be stopped before any instruction, access or fault.

A trap is one of the ops of its instruction, so that an instruction without one is as fast as in a plain run. Invariant:
while observers are detached (in a replay), they see nothing, no fault is kept and nothing stops the run; the kernel
computes the same values.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from visa_lsp.sim.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.dispatch import Dispatch, RecordedMessages, RunResult
    from visa_lsp.sim.faults import Fault, FaultKind
    from visa_lsp.sim.group import Wait
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.observers.hooks import MemoryAccess, Observer
    from visa_lsp.sim.operands import Op
    from visa_lsp.sim.registers import Frame

    # The test before an instruction: whether the trap stops this activation.
    Test = Callable[[Frame], bool]
    Traps = dict[
        tuple[int, int], dict[Any, Test]
    ]  # (id of the code, instruction) -> tests by the number of their breakpoint


class Trap(Exception):  # noqa: N818 - what was asked for has happened
    """The thread is before an instruction or access of the tests ``hits``; the instruction has had no effect yet."""

    def __init__(self, hits: tuple[Any, ...]) -> None:
        super().__init__()
        self.hits = hits


class FaultFound(Exception):  # noqa: N818 - what was asked for has happened
    """An observer has a finding that stops the run, before the instruction takes effect."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.fault = fault


class TrappedMachine(Machine):
    """A machine for a caller that steps the threads of its groups."""

    def __init__(self, dispatch: Dispatch, observers: Sequence[Observer] = ()) -> None:
        super().__init__(dispatch, observers)
        self.stops_at: Callable[[Fault], bool] = lambda _fault: False
        self.watches: dict[Any, Callable[[MemoryAccess], bool]] = {}  # by the number of their watch
        self.armed = True  # whether traps and watches are active
        self.passed: set[Any] = set()  # tests that the next instruction skips, because the run stopped for them already
        self._listeners = self.observers
        self._traces = self._trace
        self._traps: Traps = {}
        self._lists: dict[tuple[int, bool], list[Op]] = {}
        self._heard: dict[tuple[int, int], Op] = {}
        self._caught: Fault | None = None

    # ---- observers

    @property
    def attended(self) -> bool:
        """True if observers see the run."""
        return self.observers is self._listeners

    def attend(self, *, wanted: bool) -> None:
        """Attach or detach the observers."""
        self.observers = self._listeners if wanted else ()
        self.watched = bool(self.observers or self.watches)

    @contextmanager
    def overhear(self, observer: Observer) -> Iterator[None]:
        """Replace the observers by one inside the context; their state and findings stay."""
        names = ("_listeners", "_traces", "_trace", "_heard", "_lists", "observers", "watched")
        kept = [getattr(self, name) for name in names]
        self._listeners, self._traces = (observer,), True
        self._trace, self._heard, self._lists = True, {}, {}
        self.attend(wanted=True)
        try:
            yield
        finally:
            for name, value in zip(names, kept, strict=True):
                setattr(self, name, value)

    def listen(self, observers: Sequence[Observer]) -> None:
        """Replace the observers, and drop all findings."""
        self._listeners = tuple(observers)
        self._traces = any(o.wants_instructions for o in observers)
        self._trace = self._traces
        self._faults.clear()
        self._seen.clear()
        self._heard.clear()
        self._lists.clear()
        self.attend(wanted=True)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The findings so far, including notes."""
        return tuple(self._faults)

    # ---- traps

    @property
    def codes(self) -> tuple[Code, ...]:
        """The compiled bodies."""
        return tuple(self._codes.values())

    def bodies(self) -> tuple[Kernel, ...]:
        """Return the running kernel and every function of the program."""
        return (self.dispatch.kernel, *self.dispatch.functions.values())

    def trap(self, traps: Traps) -> None:
        """Replace all traps."""
        changed = {key for key in {*self._traps, *traps} if self._traps.get(key) != traps.get(key)}
        self._traps = traps
        codes = {id(code): code for code in self.codes}
        for key in changed:
            code = codes[key[0]]
            for attended in (False, True):
                ops = self._lists.get((key[0], attended))
                if ops is not None:
                    ops[key[1]] = self._make_op(code, key[1], attended=attended)

    def watch(self, watches: dict[Any, Callable[[MemoryAccess], bool]]) -> None:
        """Replace the tests of each message to memory."""
        self.watches = watches
        self.attend(wanted=self.attended)

    def ops_of(self, code: Code) -> list[Op]:
        """Return the ops of a body with its traps; each notifies the attached observers first."""
        attended = self.attended
        ops = self._lists.get((id(code), attended))
        if ops is None:
            ops = code.lazily(lambda pc: self._make_op(code, pc, attended=attended))
            self._lists[id(code), attended] = ops
        return ops

    def _make_op(self, code: Code, pc: int, *, attended: bool) -> Op:
        op = code.op_alone(pc)
        if attended and self._traces:
            op = self._notify(code, pc, op)
        tests = self._traps.get((id(code), pc))
        if not tests:
            return code.prepend_join(op, pc)

        def trap(f: Frame) -> int | None:
            if self.armed:
                hits = tuple(who for who, test in tests.items() if who not in self.passed and test(f))
                if hits:
                    raise Trap(hits)
            return op(f)

        return code.prepend_join(trap, pc)

    def _notify(self, code: Code, pc: int, op: Op) -> Op:
        """Return an op that notifies the observers first; each observer selects its instructions once."""
        notifying = self._heard.get((id(code), pc))
        if notifying is None:
            observers, self.observers = self.observers, self._listeners  # also while observers are detached
            notifying = self._heard[id(code), pc] = self._wrap_in_hooks(code, op, pc)
            self.observers = observers
        return notifying

    def announce_access(self, access: MemoryAccess) -> None:
        """Test the watches, then notify the observers. Raises Trap and FaultFound to stop the run."""
        if self.watches and self.armed:
            hits = tuple(who for who, test in self.watches.items() if who not in self.passed and test(access))
            if hits:
                self._uncount(access)
                raise Trap(hits)
        try:
            super().announce_access(access)
        except FaultFound:
            self._uncount(access)
            raise

    def _uncount(self, access: MemoryAccess) -> None:
        """Uncount a message, because it is sent again when the run continues."""
        size = access.at.size * access.size
        if access.kind != "write":
            self.result.reads -= size
        if access.kind != "read":
            self.result.writes -= size

    def announce_barrier(self, thread: Thread) -> None:
        """Count a thread's arrival at a barrier; it arrives again if the run stops first."""
        try:
            super().announce_barrier(thread)
        except FaultFound:
            self.result.barriers -= 1
            raise

    # ---- faults

    def _add(self, fault: Fault) -> None:
        if not self.attended:
            return
        fault_count = len(self._faults)
        super()._add(fault)
        if self._caught is None and len(self._faults) > fault_count and self.stops_at(self._faults[-1]):
            self._caught = fault

    def take_findings(self) -> None:
        """Collect the findings of the observers, and stop at the first that stops the run."""
        super().take_findings()
        self.raise_caught()

    def note(self, thread: Thread, kind: FaultKind, message: str) -> None:
        """Notify the observers of this kind of fault."""
        super().note(thread, kind, message)
        self.raise_caught()

    def raise_caught(self) -> None:
        """Raise FaultFound for a finding that stops the run."""
        if self._caught is not None:
            fault, self._caught = self._caught, None
            raise FaultFound(fault)

    def ask_for_rest(self) -> None:
        """Collect the findings that observers report only at the end. Raises FaultFound for one that stops the run."""
        for observer in self.observers:
            observer.on_end()
        self.take_findings()

    def take_finding(self) -> Fault | None:
        """Return the finding that stops the run, and mark it as reported."""
        fault, self._caught = self._caught, None
        return fault

    # ---- threads

    def begin(self, number: tuple[int, int, int]) -> list[Thread]:
        """Start a group and notify the observers; return its threads."""
        _, threads = self.start(number)
        for observer in self.observers:
            observer.on_group(number)
        self.result.threads += len(threads)
        return threads

    def retire(self, thread: Thread) -> None:
        """Release the frames of a thread that has ended."""
        self._retire(thread)

    def unlock(self, live: Iterable[Thread], waits: dict[int, Wait], total: int) -> None:
        """Report a deadlock as a fault of each waiting thread, and let all continue."""
        self._unlock([(thread, iter(())) for thread in live], waits, total)
        self.raise_caught()

    def count_messages(self) -> dict[tuple[str, int], tuple[RecordedMessages, int]]:
        """Return the recorded messages of each instruction, and their present number."""
        return {key: (sent, sent.count) for key, sent in self._sent.items()}

    def put_sent_counts(self, counts: dict[tuple[str, int], tuple[RecordedMessages, int]]) -> None:
        """Truncate the recorded messages to the counts."""
        self._sent = {key: sent for key, (sent, _) in counts.items()}
        for sent, count in counts.values():
            sent.count = count

    def free_all_but(self, live: Iterable[Frame]) -> None:
        """Free every frame that is not in use."""
        used = {id(frame) for frame in live}
        for code in self.codes:
            free = [frame for frame in code.frames if id(frame) not in used]
            for frame in free:
                frame.thread = None
            self._free[id(code)] = free

    def finish(self) -> RunResult:
        """Finish the run without further stops."""
        self.stops_at = lambda _fault: False
        self._caught = None
        return super().finish()
