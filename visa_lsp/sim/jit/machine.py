"""The machine of the interpreter, with threads whose bodies are compiled code.

Groups, barriers, budgets and reports are those of the machine. A thread enters the function of its body, which runs
until it ends, waits, has used its time slice, or reaches an instruction that only the interpreter can execute; after
this instruction the function is entered again. Compiled code calls the interpreter for instructions that move no lanes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.analyses.called_functions import find_called
from visa_lsp.sim.analyses.definedness_proof import Definedness, find_definedness
from visa_lsp.sim.analyses.modes import NEW_THREAD, ModePlan, Modes
from visa_lsp.sim.effects.control_flow import resume
from visa_lsp.sim.image_messages import form_of
from visa_lsp.sim.interp import END, SWITCH, WAIT, Code, Thread
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.code_cache import PLAIN, Bindings, Making, RunMode
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.operands import CR0

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.analyses.inlined_calls import InlinedCalls
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.group import ThreadGroup, Wait
    from visa_lsp.sim.jit.body import CompiledBody
    from visa_lsp.sim.memory import Buffer
    from visa_lsp.sim.registers import Frame

_FORBIDDEN: Final = {"readonly": state.READONLY, "writeonly": state.WRITEONLY}


def _flags_of(buffer: Buffer) -> int:
    """Return the flags of a buffer in the launch's table."""
    return _FORBIDDEN.get(buffer.access, 0) | state.PRIVATE * buffer.private | state.UNDEFINED * buffer.undefined


class CompiledMachine(Machine):
    """A machine whose threads run compiled code."""

    def __init__(self, dispatch: Dispatch, making: Making | None = None, mode: RunMode = PLAIN) -> None:
        super().__init__(dispatch)
        self.making = making or Making()
        self.compiling = self.making.stopwatch
        self.mode = mode
        self.failed = list[BaseException]()  # the exception of an interpreted instruction within compiled code
        self.inlined: InlinedCalls | None = None  # the kernel of this run, if it is another one without calls
        self.marks: dict[int, np.ndarray[Any, np.dtype[np.uint32]]] = {}  # marks of buffers, by identity of the buffer
        self.bodies: dict[tuple[int, Modes], CompiledBody] = {}
        self.blocks: dict[int, state.StateBlock] = {}  # blocks of frames, by identity of the frame
        self._plans: dict[int, ModePlan | None] = {}
        self.bindings = Bindings.of(dispatch)
        self.launch = np.zeros(state.LAUNCH_BYTES // 8, np.int64)
        self.address = int(self.launch.ctypes.data)
        surfaces = [dispatch.surfaces[value] for value in self.bindings.surfaces]
        self._symbols = np.array([self.symbol_address(name) or 0 for name in self.bindings.symbols], np.uint64)
        self.launch[state.SYMBOLS // 8] = self._symbols.ctypes.data
        flat = dispatch.memory.buffers
        self._tables = (
            (surfaces, self._table_of(surfaces, [0] * len(surfaces))),
            (flat, self._table_of(flat, [buffer.address for buffer in flat])),
        )
        self.launch[state.SURFACES // 8], self.launch[state.FLAT // 8] = (t.ctypes.data for _, t in self._tables)
        self.launch[state.FLAT_COUNT // 8] = len(flat)
        self.launch[state.QUANTUM // 8] = self.quantum

    def code(self, kernel: Kernel) -> Code:
        """Return the interpreter's form of a kernel or function, if possible that of an earlier run of the dispatch."""
        codes = self.making.codes.get(id(kernel))
        if codes and id(kernel) not in self._codes:
            code = self._codes[id(kernel)] = codes.pop()
            code.grew = self.grew
            self._free[id(code)] = code.frames[:]
            code.counts[:] = [0] * len(code.counts)
        return super().code(kernel)

    def give_codes(self) -> None:
        """Pass the forms of bodies to a later run, after the end of this one."""
        self.unlink()
        for number, code in self._codes.items():
            # Frames in the memory of a runner are not kept, and of the others one suffices.
            code.frames[:] = [frame for frame in code.frames if frame.code is code and frame.regs.base is None][:1]
            self.making.codes.setdefault(number, []).append(code)

    def _table_of(self, buffers: Sequence[Buffer], addresses: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
        rows = [
            (start, buffer.size, address(buffer), 0, _flags_of(buffer), 0, *form_of(buffer)[1])
            for buffer, start in zip(buffers, addresses, strict=True)
        ]
        return np.array([*rows, (0,) * (state.ENTRY // 8)], np.uint64).view(np.int64)

    def make_marks(self, race: Callable[[Buffer], bool], kinds: int) -> None:
        """Make marks of some kinds of use for the buffers that need them: uses race, or reads may find nothing written."""
        for buffers, table in self._tables:
            for buffer, row in zip(buffers, table, strict=False):
                if not race(buffer):
                    row[state.FLAGS // 8] |= state.UNRACED
                if race(buffer) or buffer.undefined or buffer.private:
                    row[state.MARKS // 8] = self.marks_address(buffer, kinds)

    def marks_address(self, buffer: Buffer, kinds: int, unit: int = 4) -> int:
        """Return the address of a buffer's marks of some kinds of use, one for ``unit`` bytes, made at the first call."""
        marks = self.marks.get(id(buffer))
        if marks is None:
            marks = self.marks[id(buffer)] = np.zeros((kinds, (buffer.size + 7) // 4 * (4 // unit)), np.uint32)
        return int(marks.ctypes.data)

    def find_compiled(self, frame: Frame) -> CompiledBody | None:
        """Return the compiled form of a frame's body, for its modes; None if a function has set other modes than planned."""
        modes, plan = Modes.of(frame), self._plan(frame.code)
        if plan is None:
            return self.compile_for(frame.code, modes)
        return self.compile_for(frame.code) if plan.modes[frame.pc] == modes else None

    def compile_for(self, code: Code, modes: Modes = NEW_THREAD) -> CompiledBody:
        """Return the compiled form of a body for the modes at its entry, by default those of a new thread."""
        key = (id(code), modes)
        body = self.bodies.get(key)
        if body is None:
            # Imported here, because many launches end before anything is compiled, and loading the compiler takes longer.
            from visa_lsp.sim.jit import native
            from visa_lsp.sim.jit.body import BodyPlan, CompiledBody

            native.listen(self.address, self)
            shared_bodies, making_key = self.making.bodies, (id(code.kernel), modes, self.mode)
            with self.compiling:
                if making_key in shared_bodies:
                    body = shared_bodies[making_key].twin(code)
                else:
                    planned = self._plan(code) if modes == NEW_THREAD else None
                    definedness = self.definedness_of(code.kernel) if self.mode.watched else None
                    plan = BodyPlan(
                        code,
                        planned or ModePlan.constant(code, modes),
                        self.bindings,
                        self.mode,
                        definedness,
                        self.program,
                    )
                    body = shared_bodies[making_key] = CompiledBody(plan, self.compiling, self.making.store)
            self.bodies[key] = body
        return body

    @cached_property
    def compiled_functions(self) -> dict[int, CompiledBody] | None:
        """The bodies of the functions that the kernel calls, by number; None if they have no common modes."""
        kernel, numbers = self.compile_for(self.code(self.dispatch.kernel)).body, self.bindings.functions
        modes = {kernel.modes.modes[pc] for pc in kernel.calls}
        if len(modes) > 1:
            return None
        return {numbers.index(name): self.compile_for(self.code(body), *modes) for name, body in self.called.items()}

    @cached_property
    def called(self) -> dict[str, Kernel]:
        """The functions that the kernel calls by name, directly or not."""
        return find_called(self.dispatch.kernel, self.dispatch.functions)

    @property
    def program(self) -> tuple[Kernel, ...]:
        """The kernel, and the functions that it calls."""
        return self.dispatch.kernel, *self.called.values()

    def _plan(self, code: Code) -> ModePlan | None:
        """Return the modes of a kernel's instructions, if they follow from those of a new thread."""
        if id(code) not in self._plans:
            self._plans[id(code)] = ModePlan.of_kernel(code)
        return self._plans[id(code)]

    def count_bytes(self) -> None:
        """Add the bytes that compiled code has moved to the result."""
        self.result.reads += int(self.launch[state.READS // 8])
        self.result.writes += int(self.launch[state.WRITES // 8])
        self.launch[state.READS // 8] = self.launch[state.WRITES // 8] = 0

    def forget_frames(self, code: Code) -> None:
        """Do not reuse frames of a body, because others will use their memory."""
        self._free.pop(id(code), None)

    def take_modes(self, frame: Frame) -> None:
        """Set the modes in a frame that compiled code has changed."""
        plan = self._plans.get(id(frame.code))
        if plan is not None and plan.controls:
            frame.set_modes(frame.word(frame.code.layout.offset(CR0)))

    def thread(self, group: ThreadGroup, number: int, frame: Frame) -> Thread:
        """Return a thread that runs compiled code, or an interpreted one if there are observers."""
        return (Thread if self.observers else CompiledThread)(self, group, number, frame)

    def interpret_group(self, number: int) -> None:
        """Run a group in the interpreter, for the observers. Raises KernelFault if it cannot continue."""
        self.register_bytes.total = 0  # because activations of compiled code do not count for the interpreter
        self._run_group(self.dispatch.group_id(number))
        self.result.groups += 1
        self.tell(self.result.groups, self.steps)

    def counts(self) -> list[tuple[Code, list[int]]]:
        """Return a copy of the execution counts of all instructions."""
        for body in self.bodies.values():
            body.flush_counts()
        return [(code, list(code.counts)) for code in self._codes.values()]

    def put_back_counts(self, counts: Sequence[tuple[Code, list[int]]]) -> None:
        """Restore earlier execution counts."""
        for body in self.bodies.values():
            body.counts[:] = 0
        for code, numbers in counts:
            code.counts[:] = numbers

    def interpret(self, _registers: int, _block: int, pc: int) -> int:
        """Execute an instruction that moves no lanes for the running thread."""
        assert self.running is not None
        frame = self.running().frame
        block = self.blocks[id(frame)]
        block.give_masks(frame)
        self.inside = True
        self.take_modes(frame)
        try:
            signal = frame.code.op_alone(pc)(frame)
            assert signal is None
        except BaseException as error:  # noqa: BLE001 - compiled code is on the stack, so that the error is raised after it
            self.failed.append(error)
            return 1
        finally:
            self.inside = False
        block.take_masks(frame)
        return 0

    inside = False  # whether the interpreter executes an instruction for compiled code
    running: Callable[[], CompiledThread] | None = None  # returns the thread that runs compiled code

    def definedness_of(self, kernel: Kernel | None = None) -> Definedness | None:
        """Return the registers to follow in a body, by default the kernel; None without a proof for the whole program."""
        kernel, shape, proofs = kernel or self.dispatch.kernel, self.dispatch.shape((0, 0, 0)), self.making.proofs
        if id(kernel) not in proofs:
            full = (1 << self.dispatch.simd) - 1
            frames = [self.acquire(body) for body in self.program]
            with self.compiling:
                together = all(shape.lanes(n) == full for n in range(shape.threads))
                results = find_definedness(frames, full=together)
            for number, frame in enumerate(frames):
                proofs[id(frame.code.kernel)] = results[number] if results is not None else None
                self.release(frame)
        return proofs.get(id(kernel))

    def count_instructions(self, frame: Frame) -> int:
        """Return the number of instructions so far, including the present one of ``frame``, whose stretch is already counted."""
        late = 0
        for body in self.bodies.values():
            if body.code is frame.code and self.inside:
                late = body.stretch(frame.pc).stop - frame.pc - 1
            body.flush_counts()
        return super().count_instructions(frame) - late

    def finish(self) -> RunResult:
        """Finish the result: mark the written buffers, and distribute the counts of stretches to their instructions."""
        for body in self.bodies.values():
            body.flush_counts()
        for buffers, table in self._tables:
            for buffer, row in zip(buffers, table, strict=False):
                buffer.whole.written |= bool(row[state.WRITTEN // 8])
        if self.inlined is not None:
            counts, original = self.code(self.inlined.kernel).counts, self.code(self.inlined.original)
            for pc, origin in enumerate(self.inlined.origins):
                if origin >= 0:
                    original.counts[origin] += counts[pc]
                counts[pc] = 0
        result = super().finish()
        self.give_codes()
        return result

    def give_place(self, frame: Frame) -> None:
        """Let a frame name the original instruction for a report of its present one."""
        if self.inlined is not None and frame.code.kernel is self.inlined.kernel:
            frame.code = self.code(self.inlined.original)
            frame.pc = self.inlined.origins[frame.pc]


class CompiledThread(Thread):
    """A thread whose bodies are compiled."""

    machine: CompiledMachine
    stopped: int | None = None  # the reason why compiled code stopped before the thread runs

    def run(self, quantum: int) -> Iterator[Wait | None]:
        """Execute until the end; yields a ``Wait`` to be resumed when it is ready, or None after a time slice."""
        machine, used = self.machine, 0
        if self.stopped == state.OVER:
            machine.spend(0)
        while True:
            compiled = machine.find_compiled(self.frame)
            if compiled is None or (self.stopped is None and self.frame.pc not in compiled.body.entries):
                signal, steps = self.slice(1)  # compiled code is entered again at backward jumps
                used, back = used + steps, True
            else:
                signal, used, back = self.enter(compiled, used)
            if signal is None and (used < quantum or not back):
                continue
            machine.spend(used)
            used = 0
            if signal == END:
                return
            if signal != SWITCH:
                yield self.pending if signal == WAIT else None

    def enter(self, compiled: CompiledBody, used: int) -> tuple[int | None, int, bool]:
        """Run compiled code, and the instruction that it leaves to the interpreter.

        Returns a signal as ``slice`` does, the steps, and whether the last one was a backward jump, where a time slice
        may end.
        """
        machine, frame = self.machine, self.frame
        if self.stopped is None:
            if id(frame) not in machine.blocks:
                machine.blocks[id(frame)] = state.StateBlock(compiled.body.layout)
            block = machine.blocks[id(frame)]
            words = block.words
            block.take(frame)
            words[state.STEPS // 8] = used
            words[state.SLM // 8] = address(self.group.slm)
            words[state.SLM_SIZE // 8] = self.group.slm.size
            machine.launch[state.COUNTS // 8] = compiled.counts.ctypes.data
            machine.running = lambda: self
            why = compiled.call(frame.regs.ctypes.data, frame.addr.ctypes.data, block.address, machine.address)
            machine.running = None
            block.give(frame)
            machine.take_modes(frame)
            used = int(words[state.STEPS // 8])
            machine.count_bytes()
        else:
            why, self.stopped = self.stopped, None
        if why == state.FAULT:
            self._raise(compiled, frame)
        if why == state.SWITCH:
            return None, used, True
        if why == state.LEAVE:
            signal: int | None = resume(frame)
        else:
            if why == state.EXIT:
                used += 1
                frame.code.counts[frame.pc] += 1
            signal = frame.code.op_alone(frame.pc)(frame)
        back = signal is not None and 0 <= signal <= frame.pc
        if signal is None or signal == WAIT:
            frame.pc += 1
        elif signal >= 0:
            frame.pc = signal
        return (None if signal is None or signal >= 0 else signal), used, back

    def _raise(self, compiled: CompiledBody, frame: Frame) -> None:
        """Raise the exception of a callback, after subtracting the uncounted rest of its stretch."""
        for late in range(frame.pc + 1, compiled.stretch(frame.pc).stop):
            frame.code.counts[late] -= 1
        raise self.machine.failed.pop()  # without a name here, which its traceback would keep alive


def address(buffer: Buffer) -> int:
    """Return the host's address of a buffer's bytes."""
    return int(buffer.data.ctypes.data) if buffer.size else 0
