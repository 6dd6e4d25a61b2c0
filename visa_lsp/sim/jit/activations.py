"""The activations of functions that compiled code calls: their memory, and their frames for the interpreter.

``GroupWriter`` begins an activation for a call, as ``sim.effects.control_flow`` does: a block, registers, address
variables and masks of undefined bits behind those of the caller. Where a thread has no memory left, the machine calls.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from visa_lsp.sim.effects.control_flow import MAX_DEPTH
from visa_lsp.sim.jit import state
from visa_lsp.sim.memory import allocate_aligned
from visa_lsp.sim.observers.shadow import ARG
from visa_lsp.sim.operands import CR0
from visa_lsp.sim.registers import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.sim.jit.body import CompiledBody
    from visa_lsp.sim.jit.groups import Calls
    from visa_lsp.sim.jit.machine import CompiledMachine

Array = np.ndarray[Any, np.dtype[Any]]

_MAX_BYTES: Final = 1 << 25  # of the activations of all threads of a group


class ActivationLayout(NamedTuple):
    """The byte offsets of the parts of an activation behind its block."""

    registers: int
    addresses: int
    masks: int  # of undefined bits
    end: int

    @staticmethod
    def of(compiled: CompiledBody) -> ActivationLayout:
        """Return the layout of a body's activations."""
        code, definedness = compiled.code, compiled.body.definedness
        cells = sum(max(1, variable.num_elements) for variable in code.kernel.addresses)
        masks = definedness.followed.size if definedness is not None else 0
        sizes = (compiled.body.layout.size, code.layout.size, 8 * cells, masks)
        return ActivationLayout(*accumulate(-(-size // 64) * 64 for size in sizes))

    def place(self, frame: Frame, compiled: CompiledBody, memory: Array) -> state.StateBlock:
        """Copy the registers and the state of a frame to the memory of an activation; return its block."""
        memory[self.registers :][: frame.regs.size] = frame.regs
        block = state.StateBlock(compiled.body.layout, memory[: compiled.body.layout.size])
        block.take(frame)
        return block

    def attach(self, frame: Frame, compiled: CompiledBody, memory: Array) -> state.StateBlock:
        """Let a frame have the registers and address variables of an activation; return its block."""
        frame.lie_in(memory[self.registers :][: frame.regs.size])
        frame.addr = memory[self.addresses :][: frame.addr.nbytes].view(np.int64)
        return state.StateBlock(compiled.body.layout, memory[: compiled.body.layout.size])


class Activations:
    """The memory for activations of functions, a part for each thread, and the table of their bodies; the last is the kernel's."""

    def __init__(
        self, machine: CompiledMachine, states: Sequence[state.StateBlock], kernel: CompiledBody,
        functions: Mapping[int, CompiledBody],
    ) -> None:  # fmt: skip
        self._machine, self._states, self._kernel = machine, states, kernel
        self._bodies = {**functions, len(machine.bindings.functions): kernel}
        self._rows = np.zeros((max(self._bodies) + 1, state.BODY_ROW // 8), np.int64)
        self._first_blocks = list[state.StateBlock]()  # which the rows refer to
        sizes = [
            self._fill(row, self._bodies[number]) for number, row in enumerate(self._rows) if number in self._bodies
        ]
        count, layout = len(states), ActivationLayout.of(kernel)
        size = min(_MAX_BYTES // count, MAX_DEPTH * min(sizes)) // 64 * 64
        self._bytes = allocate_aligned(count * size).reshape(count, size)
        self._frames: dict[tuple[int, int], Frame] = {}  # by address of the block, and body
        for block, part in zip(states, self._bytes, strict=True):
            start = int(part.ctypes.data)
            for place, value in (
                (state.BODY, self._rows[-1].ctypes.data), (state.OWN_REGISTERS, block.address + layout.registers),
                (state.OWN_ADDRESSES, block.address + layout.addresses), (state.FREE, start),
                (state.LIMIT, start + size), (state.TOP, block.address),
            ):  # fmt: skip
                block.words[place // 8] = value
        machine.launch[state.BODIES // 8] = self._rows.ctypes.data

    def _fill(self, row: Array, compiled: CompiledBody) -> int:
        """Fill a body's row of the table but for its function; return the bytes of an activation."""
        block, layout = state.StateBlock(compiled.body.layout), ActivationLayout.of(compiled)
        block.take(Frame(compiled.code))
        self._first_blocks.append(block)
        row[state.BODY_COUNTS // 8], row[state.FIRST_BLOCK // 8] = compiled.counts.ctypes.data, block.address
        row[state.REGISTERS_OFFSET // 8 :] = layout
        return layout.end

    def link(self) -> None:
        """Write the addresses of the functions into the table."""
        for number, compiled in self._bodies.items():
            self._rows[number, state.FUNCTION // 8] = compiled.native.address("body")

    def calls(self) -> Calls:
        """Return what calls copy."""
        from visa_lsp.sim.jit.groups import Calls

        plan = self._kernel.body
        layout = plan.code.layout
        followed = np.zeros(layout.predefined_end, np.bool_)
        if plan.definedness is not None:
            followed |= plan.definedness.followed[: followed.size]
        start = layout.offset(ARG)
        return Calls(followed.size, followed, range(start, start + layout.byte_size(ARG)))

    def frames_of(self, number: int) -> list[Frame]:
        """Return the frames of a thread's activations of functions, over the memory of compiled code."""
        kernel, part = self._states[number], self._bytes[number]
        frames, address = list[Frame](), int(kernel.words[state.TOP // 8])
        while address != kernel.address:
            words = part[address - int(part.ctypes.data) :][: state.TOP].view(np.int64)
            body = (int(words[state.BODY // 8]) - int(self._rows.ctypes.data)) // state.BODY_ROW
            frames.append(self._frame(part, address, body))
            address = int(words[state.CALLER // 8])
        return frames[::-1]

    def _frame(self, part: Array, address: int, body: int) -> Frame:
        compiled, frame = self._bodies[body], self._frames.get((address, body))
        if frame is None:
            frame = self._frames[address, body] = Frame(compiled.code)
            memory = part[address - int(part.ctypes.data) :]
            self._machine.blocks[id(frame)] = ActivationLayout.of(compiled).attach(frame, compiled, memory)
        frame.set_modes(frame.word(compiled.code.layout.offset(CR0)))
        return frame
