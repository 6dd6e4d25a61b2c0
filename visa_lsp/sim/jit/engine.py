"""The compiled engine: the machine of the interpreter, with threads whose bodies are compiled code.

Groups, barriers, budgets and reports stay the machine's. A thread enters the function of its body, which runs until it ends,
waits, has used its time slice, or comes to an instruction that only the interpreter has: that is executed there, and the
function entered again. What needs the interpreter but moves no lanes is called from inside.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from llvmlite import ir

from visa_lsp.sim.effects.flow import resume
from visa_lsp.sim.effects.sync import awaited
from visa_lsp.sim.faults import FaultKind, KernelFault
from visa_lsp.sim.interp import END, SWITCH, WAIT, Thread
from visa_lsp.sim.group import ThreadGroup
from visa_lsp.sim.jit import groups, native, state
from visa_lsp.sim.jit.body import Body, Settling, settling
from visa_lsp.sim.jit.defined import proven
from visa_lsp.sim.jit.modes import Modes
from visa_lsp.sim.jit.spaces import ENTRY, FLAT_ENTRY, WRITTEN
from visa_lsp.sim.jit.watching import READONLY, WRITEONLY
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.memory import Buffer
from visa_lsp.sim.observers.accesses import AccessChecker
from visa_lsp.sim.observers.definedness import UninitialisedChecker
from visa_lsp.sim.observers.hooks import AlignmentChecker, BarrierChecker, BoundsChecker, DivisionChecker
from visa_lsp.sim.observers.races import LAST_WITH_ORDERED_SHARED, RaceChecker
from visa_lsp.sim.operands import CR0

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.sim.dispatch import Dispatch, GroupShape, RunResult
    from visa_lsp.sim.group import Wait
    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.observers.hooks import Observer
    from visa_lsp.sim.registers import Frame

MANY_THREADS: Final = 256  # of a launch: fewer are not worth a function for whole groups
WARM: Final = 300  # times that each instruction is interpreted in the time that it takes to compile it
_MOST_NUMBERS: Final = 1 << 30  # of threads between barriers: marks have 32 bits, and a step is far below what is left
COLD: Final = 256  # instructions to interpret before asking again whether to compile
PROBE: Final = 20_000  # steps that a watched launch of few threads is interpreted before its kernel is compiled
WATCHED: Final = (
    AccessChecker, AlignmentChecker, BarrierChecker, BoundsChecker, DivisionChecker, RaceChecker, UninitialisedChecker,
)  # fmt: skip
_SHORT: Final = 0.1  # seconds that compiled code may run before Python can be interrupted


class CompiledBody:
    """A body for some modes: its function, and how often each of its stretches was executed."""

    def __init__(self, code: Code, modes: Modes, surfaces: tuple[int, ...], *, watched: bool = False) -> None:
        # The interpreter's operations come first: what they ask of the register file is its size.
        for pc in range(len(code.kernel.instructions)):
            code.op(pc)
        self.code = code
        self.body = Body(code, modes, surfaces, watched=watched)
        self.module = ir.Module("body")
        size = code.layout.size
        self.function = self.body.written(self.module, "body")
        code.grown(size)
        # By stretch, and behind that for single instructions.
        self.counts = np.zeros(2 * len(code.kernel.instructions) + 2, np.int64)

    @cached_property
    def native(self) -> native.Native:
        """The compiled functions; nothing can be added to the module from then on."""
        return native.Native(self.module)

    @cached_property
    def call(self) -> Any:
        """The function of the body."""
        return self.native.function("body")

    def flush_counts(self) -> None:
        """Add what was counted by stretch to the counts of instructions."""
        counts, body = self.code.counts, self.body
        for start in np.flatnonzero(self.counts).tolist():
            number = int(self.counts[start])
            if start >= len(counts):
                counts[start - len(counts)] += number
                continue
            for pc in self.stretch(start):
                counts[pc] += number
        self.counts[:] = 0

    def stretch(self, pc: int) -> range:
        """The instructions that are counted together with one."""
        body, count = self.body, len(self.code.counts)
        start = max(s for s in body.starts if s <= pc)
        end = min(body.ends[start], count - 1) if start < count - 1 else count
        return range(start, end - (end - 1 in body.leaving))


class CompiledMachine(Machine):
    """A machine whose threads run compiled code."""

    def __init__(self, dispatch: Dispatch, *, watched: bool = False) -> None:
        super().__init__(dispatch)
        self.under_watch = watched
        self.marks: dict[int, np.ndarray[Any, np.dtype[np.uint32]]] = {}  # of buffers, by their identity
        self._bodies: dict[tuple[int, Modes], CompiledBody] = {}
        self._states: dict[int, state.State] = {}
        self._settling: dict[int, Settling | None] = {}
        self._steps: dict[tuple[int, Modes], int] = {}
        self._surfaces = tuple(sorted(dispatch.surfaces))
        self.launch = np.zeros(state.LAUNCH_BYTES // 8, np.int64)
        self.address = int(self.launch.ctypes.data)
        self._table = self._surface_table()
        self._flat = self._flat_table()
        self.launch[state.SURFACES // 8] = self._table.ctypes.data
        self.launch[state.FLAT // 8] = self._flat.ctypes.data
        self.launch[state.FLAT_COUNT // 8] = len(dispatch.memory.buffers)
        self.launch[state.QUANTUM // 8] = self.quantum
        self.entered: CompiledThread | None = None
        self.raised: KernelFault | None = None
        native.listen(self.address, self._interpret)

    def _surface_table(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        table = np.zeros(max(1, len(self._surfaces)) * (ENTRY // 8), np.int64)
        for number, value in enumerate(self._surfaces):
            buffer = self.dispatch.surfaces[value]
            at = number * (ENTRY // 8)
            table[at : at + 4] = _address(buffer), buffer.size, self.marked(buffer), _forbidden(buffer)
        return table

    def marked(self, buffer: Buffer) -> int:
        """The address of a buffer's marks, where checkers watch."""
        if not self.under_watch:
            return 0
        marks = self.marks.get(id(buffer))
        if marks is None:
            marks = self.marks[id(buffer)] = np.zeros(3 * ((buffer.size + 7) // 4), np.uint32)
        return int(marks.ctypes.data)

    def _flat_table(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        rows = [(b.address, b.size, _address(b), self.marked(b), _forbidden(b), 0) for b in self.dispatch.memory.buffers]
        return np.array([n for row in rows for n in row] or [0] * (FLAT_ENTRY // 8), np.uint64).view(np.int64)

    def compiled(self, frame: Frame) -> CompiledBody | None:
        """The compiled form of a frame's body, for its modes; None while it is not worth that."""
        modes = Modes.of(frame)
        settles = self.settling(frame.code)
        if settles is not None and frame.pc == 0 and modes == Modes():
            modes = settles.modes
        key = (id(frame.code), modes)
        if key not in self._bodies and self._steps.get(key, 0) < WARM * len(frame.code.kernel.instructions):
            return None
        return self.compiled_for(frame.code, modes)

    def warm(self, frame: Frame, steps: int) -> None:
        """Count what the interpreter has executed of a body: when it is much, the body is compiled."""
        key = (id(frame.code), Modes.of(frame))
        self._steps[key] = self._steps.get(key, 0) + steps

    def compiled_for(self, code: Code, modes: Modes) -> CompiledBody:
        """The compiled form of a body for some modes."""
        key = (id(code), modes)
        found = self._bodies.get(key)
        if found is None:
            found = self._bodies[key] = CompiledBody(code, modes, self._surfaces, watched=self.under_watch)
        return found

    def settling(self, code: Code) -> Settling | None:
        """How a body sets its modes when it begins."""
        if id(code) not in self._settling:
            self._settling[id(code)] = settling(code)
        return self._settling[id(code)]

    def state(self, frame: Frame, layout: state.StateLayout) -> state.State:
        """The block of a frame."""
        found = self._states.get(id(frame))
        if found is None:
            found = self._states[id(frame)] = state.State(layout)
        return found

    def tell_written(self) -> None:
        """Say of buffers what compiled code has stored into."""
        surfaces = (self.dispatch.surfaces[value] for value in self._surfaces)
        for buffers, table, size in ((surfaces, self._table, ENTRY), (self.dispatch.memory.buffers, self._flat, FLAT_ENTRY)):
            for number, buffer in enumerate(buffers):
                buffer.whole.written |= bool(table[((number + 1) * size - WRITTEN) // 8])

    def count_bytes(self) -> None:
        """Add the bytes that compiled code has moved to the result."""
        for name, at in (("reads", state.READS // 8), ("writes", state.WRITES // 8)):
            setattr(self.result, name, getattr(self.result, name) + int(self.launch[at]))
            self.launch[at] = 0

    def bind(self, frame: Frame, block: state.State) -> None:
        """Say which block a frame has."""
        self._states[id(frame)] = block

    def first_registers(self, group: tuple[int, int, int], shape: GroupShape) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The registers of thread 0 of a group when it begins."""
        thread = self._make_thread(ThreadGroup(group, 0, 1), 0, shape)
        found = thread.frame.regs.copy()
        self.release(thread.frame)
        return found

    def forget_frames(self, code: Code) -> None:
        """Give no frame of a body that was used to another thread: they lie where others will."""
        self._free.pop(id(code), None)

    def take_modes(self, frame: Frame) -> None:
        """Tell the frame of modes that compiled code has set."""
        if self._settling.get(id(frame.code)) is not None:
            frame.set_modes(frame.word(frame.code.layout.offset(CR0)))

    def thread(self, group: ThreadGroup, number: int, frame: Frame) -> Thread:
        """A thread that runs compiled code."""
        return CompiledThread(self, group, number, frame)

    def _interpret(self, _registers: int, _block: int, pc: int) -> int:
        """Execute an instruction that moves no lanes for the thread that is running."""
        thread = self.bulk.entered() if self.bulk is not None else self.entered
        assert thread is not None
        frame = thread.frame
        block = self._states[id(frame)]
        block.give_masks(frame)
        self.inside = True
        self.take_modes(frame)
        try:
            signal = frame.code.op_alone(pc)(frame)
            assert signal is None
        except KernelFault as fault:
            self.raised = fault
            return 1
        except BaseException as error:  # noqa: BLE001 - compiled code is on the stack: it is raised behind it
            self.failed = error
            return 1
        finally:
            self.inside = False
        block.take_masks(frame)
        return 0

    failed: BaseException | None = None
    inside = False  # whether the interpreter executes an instruction for compiled code
    bulk: GroupRunner | None = None  # while groups run as a whole

    def run(self) -> RunResult:
        """Run every group; a fault that a thread cannot survive ends the run."""
        code = self.code(self.dispatch.kernel)
        gx, gy, gz = self.dispatch.groups
        threads = gx * gy * gz * self.dispatch.threads_per_group
        if self.dispatch.partial is not None or threads < MANY_THREADS or not self.fits(code):
            return super().run()
        return self.run_groups(gx * gy * gz)

    def run_groups(self, total: int) -> RunResult:
        """Run so many groups as a whole."""
        with np.errstate(all="ignore"):
            try:
                GroupRunner(self).run(total)
            except KernelFault as fault:
                self._report_fatal(fault)
        return self.finish()

    def fits(self, code: Code) -> bool:
        """Whether groups can run as a whole: nothing but barriers leaves the compiled function."""
        return self.compiled_steadily(code).body.stays

    def compiled_steadily(self, code: Code) -> CompiledBody:
        """The compiled form of a kernel for the modes that it sets when it begins."""
        settles = self.settling(code)
        return self.compiled_for(code, settles.modes if settles is not None else Modes())

    def executed(self, frame: Frame) -> int:
        """The number of instructions so far, with the one where ``frame`` stands; its stretch is counted to its end."""
        late = 0
        for body in self._bodies.values():
            if body.code is frame.code and self.inside:
                late = body.stretch(frame.pc).stop - frame.pc - 1
            body.flush_counts()
        return super().executed(frame) - late

    def finish(self) -> RunResult:
        """Close the books; what was counted by stretch is told by instruction."""
        for body in self._bodies.values():
            body.flush_counts()
        self.tell_written()
        native.forget(self.address)
        return super().finish()


class CompiledThread(Thread):
    """A thread whose bodies are compiled."""

    machine: CompiledMachine
    stopped: int | None = None  # why compiled code has stopped before the thread is run

    def run(self, quantum: int) -> Iterator[Wait | None]:
        """Execute until the end; yields a ``Wait`` to be resumed when it is ready, or None after a time slice."""
        machine, used = self.machine, 0
        while True:
            compiled = machine.compiled(self.frame)
            if compiled is None:
                signal, steps = self.slice(min(COLD, quantum - used))
                machine.warm(self.frame, steps)
                used += steps
            else:
                signal, used = self._enter(compiled, used)
            if signal is None and used < quantum:
                continue
            machine.spend(used)
            used = 0
            if signal == END:
                return
            if signal != SWITCH:
                yield self.pending if signal == WAIT else None

    def _enter(self, compiled: CompiledBody, used: int) -> tuple[int | None, int]:
        """Run compiled code, and the instruction that it leaves to the interpreter: a signal as of ``slice``, and the steps."""
        machine, frame = self.machine, self.frame
        if self.stopped is None:
            block = machine.state(frame, compiled.body.layout)
            words = block.words
            block.take(frame)
            words[state.STEPS // 8] = used
            words[state.SLM // 8] = _address(self.group.slm)
            words[state.SLM_SIZE // 8] = self.group.slm.size
            machine.launch[state.COUNTS // 8] = compiled.counts.ctypes.data
            machine.entered = self
            why = compiled.call(frame.regs.ctypes.data, frame.addr.ctypes.data, block.address, machine.address)
            block.give(frame)
            machine.take_modes(frame)
            used = int(words[state.STEPS // 8])
            machine.count_bytes()
        else:
            why, self.stopped = self.stopped, None
        if why == state.FAULT:
            self._raise(compiled, frame)
        if why == state.OVER:
            machine.spend(0)
        if why == state.SWITCH:
            return None, used
        if why == state.LEAVE:
            signal: int | None = resume(frame)
        else:
            used += 1
            frame.code.counts[frame.pc] += 1
            signal = frame.code.op_alone(frame.pc)(frame)
        if signal is None or signal == WAIT:
            frame.pc += 1
        elif signal >= 0:
            frame.pc = signal
        return (None if signal is None or signal >= 0 else signal), used

    def _raise(self, compiled: CompiledBody, frame: Frame) -> None:
        """Raise what a callback has raised; what its stretch counted too much is taken back."""
        machine, pc = self.machine, frame.pc
        for late in range(pc + 1, compiled.stretch(pc).stop):
            frame.code.counts[late] -= 1
        error, machine.failed = machine.failed, None
        if error is not None:
            raise error
        assert machine.raised is not None
        raise machine.raised


class Suspicion(Exception):  # noqa: N818 - no error: a checker may have something to say
    """A watched run has come to something that the interpreter has to look at."""


class GroupRunner:
    """Runs whole groups in compiled code. The frames of a group's threads lie in memory that all groups use in turn."""

    def __init__(self, machine: CompiledMachine) -> None:
        self.machine = machine
        dispatch = machine.dispatch
        self.group, threads = machine.start((0, 0, 0))
        self.number = 0
        self.frames = [thread.frame for thread in threads]
        self.threads: dict[int, CompiledThread] = {}
        code = self.frames[0].code
        self.compiled = compiled = machine.compiled_steadily(code)
        self.shared = self.group.slm.data
        count, size = len(threads), -(-self.frames[0].regs.size // 64) * 64
        self._registers = np.zeros((count, size), np.uint8)
        self._addresses = np.zeros((count, max(1, self.frames[0].addr.size)), np.int64)
        layout = compiled.body.layout
        self._blocks = np.zeros((count, layout.size), np.uint8)
        self.states = [state.State(layout, row) for row in self._blocks]
        marks = machine.marked(self.group.slm)
        for number, frame in enumerate(self.frames):
            self._registers[number, : frame.regs.size] = frame.regs
            frame.lie_in(self._registers[number, : frame.regs.size])
            frame.addr = self._addresses[number][: frame.addr.size]
            block = self.states[number]
            block.take(frame)
            block.words[state.SLM // 8] = _address(self.group.slm)
            block.words[state.SLM_SIZE // 8] = self.group.slm.size
            block.words[state.SLM_MARKS // 8] = marks
            block.words[state.DISPATCHED // 8] = frame.emask
            machine.bind(frame, block)
        self._registers_first, self._blocks_first = self._registers.copy(), self._blocks.copy()
        fields = self._fields()
        sizes = groups.Sizes(
            size, 8 * self.frames[0].addr.size, layout.size, self.group.slm.size, len(compiled.body.instructions),
            machine.under_watch, dispatch.platform.generation <= LAST_WITH_ORDERED_SHARED,
        )  # fmt: skip
        groups.written(compiled.module, compiled.function, sizes, fields, compiled.body.barriers)
        launch = machine.launch
        for at, array in (
            (state.REGISTERS, self._registers), (state.ADDRESSES, self._addresses), (state.BLOCKS, self._blocks),
            (state.REGISTERS_FIRST, self._registers_first), (state.BLOCKS_FIRST, self._blocks_first),
            (state.COUNTS, compiled.counts),
        ):  # fmt: skip
            launch[at // 8] = array.ctypes.data
        launch[state.GROUPS_X // 8], launch[state.GROUPS_Y // 8] = dispatch.groups[:2]
        launch[state.THREADS // 8] = count
        launch[state.BUDGET // 8] = dispatch.step_budget
        launch[state.GLOBAL_NEXT // 8] = launch[state.SHARED_NEXT // 8] = 1  # 0 is nobody

    def _fields(self) -> list[groups.GroupField]:
        """Where the numbers of a group stand in the registers of its threads: seen from those of other groups."""
        machine, found = self.machine, []
        shape = machine.dispatch.shape((0, 0, 0))
        plain = machine.first_registers((0, 0, 0), shape)
        for dimension in range(3):
            number = [0, 0, 0]
            number[dimension] = 0x5A5A5A5A
            other = machine.first_registers((number[0], number[1], number[2]), shape)
            changed = np.flatnonzero(plain != other)
            runs = np.split(changed, np.flatnonzero(np.diff(changed) > 1) + 1) if changed.size else []
            found += [groups.GroupField(int(run[0]), run.size, dimension) for run in runs]
        return found

    def run(self, total: int) -> None:
        """Run so many groups. What compiled code does not finish, the machine goes on with."""
        machine, launch = self.machine, self.machine.launch
        call = self.compiled.native.function("groups", native.GROUPS)
        first, step = 0, 1
        while first < total:
            launch[state.TOTAL // 8] = machine.steps
            machine.bulk = self
            began = monotonic()
            end = min(total, first + step)
            why = call(machine.address, first, end)
            machine.bulk = None
            step = min(1 << 20, 2 * step) if monotonic() - began < _SHORT else max(1, step // 2)
            result = machine.result
            machine.steps = int(launch[state.TOTAL // 8])
            result.barriers += int(launch[state.BARRIERS // 8])
            launch[state.BARRIERS // 8] = 0
            machine.count_bytes()
            if machine.under_watch and max(launch[state.GLOBAL_NEXT // 8], launch[state.SHARED_NEXT // 8]) > _MOST_NUMBERS:
                raise Suspicion
            if why == state.SUSPECT or (machine.under_watch and why == state.FAULT):
                raise Suspicion
            if why != state.LEAVE:
                end = int(launch[state.GROUP // 8]) + 1
            result.threads += (end - first) * len(self.frames)
            if why != state.LEAVE:
                result.groups += end - first - 1
                self._hand_over(why)
                result.groups += 1
            else:
                result.groups += end - first
            first = end

    def _hand_over(self, why: int) -> None:
        """Let the machine run the group to its end."""
        machine, launch = self.machine, self.machine.launch
        self._begin(int(launch[state.GROUP // 8]))
        at, group = int(launch[state.THREAD // 8]), self.group
        group.barrier.arrived = group.barrier.produced = int(launch[state.ARRIVED // 8])
        group.barrier.generation = int(launch[state.CURRENT // 8])
        live, waits = [], {}
        for number, block in enumerate(self.states):
            status, frame = int(block.words[state.STATUS // 8]), self.frames[number]
            if status == state.ENDED:
                continue
            block.give(frame)
            machine.take_modes(frame)
            thread = self._thread(number)
            live.append(thread)
            if status == state.WAITING and int(block.words[state.ROUND // 8]) == group.barrier.generation:
                waits[number] = awaited(group.barrier, group.barrier.generation, "the barrier")
        stuck = why == state.SWITCH
        if not stuck:
            self._thread(at).stopped = why
        machine.go_on(live, waits, len(self.frames), 0 if stuck else at)
        machine.forget_frames(self.frames[0].code)

    def entered(self) -> CompiledThread:
        """The thread that compiled code is running."""
        launch = self.machine.launch
        self._begin(int(launch[state.GROUP // 8]))
        return self._thread(int(launch[state.THREAD // 8]))

    def _begin(self, number: int) -> None:
        if number == self.number and self.threads:
            return
        gx, gy, _ = self.machine.dispatch.groups
        self.number, self.threads = number, {}
        self.group = ThreadGroup((number % gx, number // gx % gy, number // (gx * gy)), 0, len(self.frames))
        self.group.slm = Buffer(self.group.slm.name, self.shared)

    def _thread(self, number: int) -> CompiledThread:
        if number not in self.threads:
            self.threads[number] = CompiledThread(self.machine, self.group, number, self.frames[number])
        return self.threads[number]


def _address(buffer: Buffer) -> int:
    return int(buffer.data.ctypes.data) if buffer.size else 0


def _forbidden(buffer: Buffer) -> int:
    return {"readonly": READONLY, "writeonly": WRITEONLY}.get(buffer.access, 0)


def run(dispatch: Dispatch, observers: Sequence[Observer] = ()) -> RunResult:
    """Run all groups of a dispatch: as compiled code where that says all that the observers would.

    The result's ``interpreted`` tells that it came from the interpreter.
    """
    if not observers:
        return CompiledMachine(dispatch).run()
    if not all(type(o) in WATCHED for o in observers):
        return _interpreted(dispatch, observers)
    before = Contents(dispatch)
    gx, gy, gz = dispatch.groups
    if gx * gy * gz * dispatch.threads_per_group < MANY_THREADS:
        # Most such launches are over before their kernel could be compiled.
        tried = Machine(replace(dispatch, step_budget=min(PROBE, dispatch.step_budget)), [type(o)() for o in observers])
        result = tried.run()
        if dispatch.step_budget <= PROBE or not any(fault.kind is FaultKind.BUDGET for fault in result.faults):
            result.interpreted = True
            return result
        before.restore()
    found = _watched(dispatch)
    if found is not None:
        return found
    before.restore()
    return _interpreted(dispatch, observers)


def _interpreted(dispatch: Dispatch, observers: Sequence[Observer]) -> RunResult:
    result = Machine(dispatch, observers).run()
    result.interpreted = True
    return result


def _watched(dispatch: Dispatch) -> RunResult | None:
    """A run as compiled code of which no checker would have anything to say; None where that is not sure."""
    shape = dispatch.shape((0, 0, 0))
    buffers = {id(b): b for b in (*dispatch.memory.buffers, *dispatch.surfaces.values())}.values()
    if dispatch.partial is not None or any(b.private or b.undefined or b.whole is not b for b in buffers):
        return None
    machine = CompiledMachine(dispatch, watched=True)
    code = machine.code(dispatch.kernel)
    if not machine.fits(code) or not machine.compiled_steadily(code).body.seen:
        return None
    full = (1 << dispatch.simd) - 1
    frame = machine.acquire(dispatch.kernel)
    if not proven(code, frame, full=all(shape.lanes(n) == full for n in range(shape.threads))):
        return None
    machine.release(frame)
    gx, gy, gz = dispatch.groups
    try:
        return machine.run_groups(gx * gy * gz)
    except Suspicion:
        return None


class Contents:
    """What memory held before a run."""

    def __init__(self, dispatch: Dispatch) -> None:
        buffers = {id(b): b for b in (*dispatch.memory.buffers, *dispatch.surfaces.values())}
        self._kept = [(buffer, buffer.data.copy(), buffer.written) for buffer in buffers.values()]

    def restore(self) -> None:
        """Let it hold the same again."""
        for buffer, data, written in self._kept:
            buffer.data[:] = data
            buffer.written = written
