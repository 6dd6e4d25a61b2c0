"""The compiled engine: the machine of the interpreter, with threads whose bodies are compiled code.

Groups, barriers, budgets and reports stay the machine's. A thread enters the function of its body, which runs until it ends,
waits, has used its time slice, or comes to an instruction that only the interpreter has: that is executed there, and the
function entered again. What needs the interpreter but moves no lanes is called from inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir

from visa_lsp.sim.effects.flow import resume
from visa_lsp.sim.faults import KernelFault
from visa_lsp.sim.interp import END, WAIT, Thread
from visa_lsp.sim.jit import native, state
from visa_lsp.sim.jit.body import Body
from visa_lsp.sim.jit.modes import Modes
from visa_lsp.sim.jit.spaces import ENTRY, FLAT_ENTRY
from visa_lsp.sim.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sim.dispatch import Dispatch
    from visa_lsp.sim.group import ThreadGroup, Wait
    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.memory import Buffer
    from visa_lsp.sim.registers import Frame


class CompiledBody:
    """A body for some modes: its function, and how often each of its stretches was executed."""

    def __init__(self, code: Code, modes: Modes, surfaces: tuple[int, ...]) -> None:
        # The interpreter's operations come first: what they ask of the register file is its size.
        for pc in range(len(code.kernel.instructions)):
            code.op(pc)
        self.code = code
        self.body = Body(code, modes, surfaces)
        module = ir.Module("body")
        size = code.layout.size
        self.body.written(module, "body")
        code.grown(size)
        self.native = native.Native(module)
        self.call = self.native.function("body")
        self.counts = np.zeros(len(code.kernel.instructions) + 1, np.int64)

    def flush_counts(self) -> None:
        """Add what was counted by stretch to the counts of instructions."""
        counts, body = self.code.counts, self.body
        for start in np.flatnonzero(self.counts).tolist():
            number = int(self.counts[start])
            end = min(body.ends[start], len(counts) - 1) if start < len(counts) - 1 else start + 1
            for pc in range(start, end - (end - 1 in body.leaving)):
                counts[pc] += number
        self.counts[:] = 0


class CompiledMachine(Machine):
    """A machine whose threads run compiled code."""

    def __init__(self, dispatch: Dispatch) -> None:
        super().__init__(dispatch)
        self._bodies: dict[tuple[int, Modes], CompiledBody] = {}
        self._states: dict[int, state.State] = {}
        self._surfaces = tuple(sorted(dispatch.surfaces))
        self.launch = np.zeros(state.LAUNCH_BYTES // 8, np.int64)
        self.address = int(self.launch.ctypes.data)
        self._table = self._surface_table()
        self._flat = self._flat_table()
        self.launch[state.SURFACES // 8] = self._table.ctypes.data
        self.launch[state.FLAT // 8] = self._flat.ctypes.data
        self.launch[state.FLAT_COUNT // 8] = len(self._flat) // (FLAT_ENTRY // 8)
        self.launch[state.QUANTUM // 8] = self.quantum
        self.entered: CompiledThread | None = None
        self.raised: KernelFault | None = None
        native.listen(self.address, self._interpret)

    def _surface_table(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        table = np.zeros(max(1, len(self._surfaces)) * (ENTRY // 8), np.int64)
        for number, value in enumerate(self._surfaces):
            buffer = self.dispatch.surfaces[value]
            table[2 * number : 2 * number + 2] = _address(buffer), buffer.size
        return table

    def _flat_table(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        rows = [(b.address, b.size, _address(b)) for b in self.dispatch.memory.buffers]
        return np.array([n for row in rows for n in row] or [0, 0, 0], np.uint64).view(np.int64)

    def compiled(self, frame: Frame) -> CompiledBody:
        """The compiled form of a frame's body, for its modes."""
        key = (id(frame.code), Modes.of(frame))
        found = self._bodies.get(key)
        if found is None:
            found = self._bodies[key] = CompiledBody(frame.code, key[1], self._surfaces)
        return found

    def state(self, frame: Frame, layout: state.StateLayout) -> state.State:
        """The block of a frame."""
        found = self._states.get(id(frame))
        if found is None:
            found = self._states[id(frame)] = state.State(layout)
        return found

    def thread(self, group: ThreadGroup, number: int, frame: Frame) -> Thread:
        """A thread that runs compiled code."""
        return CompiledThread(self, group, number, frame)

    def _interpret(self, _registers: int, _block: int, pc: int) -> int:
        """Execute an instruction that moves no lanes for the thread that is running."""
        thread = self.entered
        assert thread is not None
        frame = thread.frame
        block = self._states[id(frame)]
        block.give_masks(frame)
        try:
            frame.code.op_alone(pc)(frame)
        except KernelFault as fault:
            self.raised = fault
            return 1
        except BaseException as error:  # noqa: BLE001 - compiled code is on the stack: it is raised behind it
            self.failed = error
            return 1
        block.take_masks(frame)
        return 0

    failed: BaseException | None = None

    def finish(self) -> Any:
        """Close the books; what was counted by stretch is told by instruction."""
        for body in self._bodies.values():
            body.flush_counts()
        native.forget(self.address)
        return super().finish()


class CompiledThread(Thread):
    """A thread whose bodies are compiled."""

    machine: CompiledMachine

    def run(self, quantum: int) -> Iterator[Wait | None]:
        """Execute until the end; yields a ``Wait`` to be resumed when it is ready, or None after a time slice."""
        machine, used = self.machine, 0
        while True:
            frame = self.frame
            compiled = machine.compiled(frame)
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
            used = int(words[state.STEPS // 8])
            machine.result.reads += int(words[state.READS // 8])
            machine.result.writes += int(words[state.WRITES // 8])
            words[state.READS // 8] = words[state.WRITES // 8] = 0
            signal: int | None
            if why == state.FAULT:
                self._raise(compiled, frame)
            if why == state.SWITCH:
                machine.spend(used)
                used = 0
                yield None
                continue
            if why == state.LEAVE:
                signal = resume(frame)
            else:
                used += 1
                frame.code.counts[frame.pc] += 1
                signal = frame.code.op_alone(frame.pc)(frame)
            if signal is None:
                frame.pc += 1
            elif signal >= 0:
                late = signal <= frame.pc and used >= quantum
                frame.pc = signal
                if late:
                    machine.spend(used)
                    used = 0
                    yield None
            else:
                machine.spend(used)
                used = 0
                if signal == END:
                    return
                if signal == WAIT:
                    frame.pc += 1
                    yield self.pending

    def _raise(self, compiled: CompiledBody, frame: Frame) -> None:
        """Raise what a callback has raised; what its stretch counted too much is taken back."""
        machine, pc = self.machine, frame.pc
        start = max(s for s in compiled.body.starts if s <= pc)
        end = min(compiled.body.ends[start], len(frame.code.counts) - 1)
        for late in range(pc + 1, end - (end - 1 in compiled.body.leaving)):
            frame.code.counts[late] -= 1
        error, machine.failed = machine.failed, None
        if error is not None:
            raise error
        assert machine.raised is not None
        raise machine.raised


def _address(buffer: Buffer) -> int:
    return int(buffer.data.ctypes.data) if buffer.size else 0


def run(dispatch: Dispatch) -> Any:
    """Run all groups of a dispatch as compiled code."""
    return CompiledMachine(dispatch).run()
