"""The state of a thread in compiled code: a block of numbers besides its registers, shared with the interpreter's frame.

Both engines use the registers and addresses of a frame in place. Masks, predicates, waiting lanes and surface values
are copied between frame and block when the engine changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa.predefined import FIRST_PREDICATE

if TYPE_CHECKING:
    from visa_lsp.program.model import State
    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.operands import Site
    from visa_lsp.sim.registers import Frame

# Byte offsets of the numbers that every block has, each of eight bytes.
PC: Final = 0
EMASK: Final = 8
CALL_MASK: Final = 16
STEPS: Final = 24
SCRATCH: Final = 32  # the host's address of the thread's scratch space; 0 before the interpreter has made it
SLM: Final = 48
SLM_SIZE: Final = 56
STATUS: Final = 64  # state of a thread: READY, WAITING, ENDED
ROUND: Final = 72  # round of the barrier for which a waiting thread waits
DISPATCHED: Final = 80  # the lanes at the start of the thread
FENCED: Final = 88  # a bit for each memory with a fence since the last barrier
SLM_MARKS: Final = 96
UNDEFINED_BITS: Final = 104  # with checkers: the address of a mask of the undefined bits for each followed byte
# Of the activation of a kernel or function: the block of its caller, the addresses of its body's row, registers and
# address variables, of the first free byte behind it, and of the end of the memory for activations of its thread.
CALLER: Final = 112
BODY: Final = 120
OWN_REGISTERS: Final = 128
OWN_ADDRESSES: Final = 136
FREE: Final = 144
LIMIT: Final = 152
TOP: Final = 160  # in the block of a thread's kernel: the block of the running activation
_FIRST: Final = 168

# Words of the block that all threads of a launch share.
SURFACES: Final = 0
FLAT: Final = 8
FLAT_COUNT: Final = 16
COUNTS: Final = 24
QUANTUM: Final = 32
# Numbers of a launch whose groups run as compiled code.
GROUP: Final = 40  # the number of the running group
THREAD: Final = 48  # the number of the running thread
TOTAL: Final = 56  # steps of all threads
BUDGET: Final = 64
BARRIERS: Final = 72
ARRIVED: Final = 80
CURRENT: Final = 88  # round of the barrier
ACTIVATIONS: Final = 96  # of the kernel in all threads of a group, contiguous; each begins with its block
ACTIVATIONS_FIRST: Final = 104  # their initial state
STRIDE: Final = 112  # the bytes between two
GROUPS_X: Final = 136
GROUPS_Y: Final = 144
THREADS: Final = 152
READS: Final = 160  # bytes
WRITES: Final = 168
# With checkers: the first numbers of the running group and round, the next free number, and whether all arrived threads
# have executed the fence of a memory. For the memory of the launch, and for that of the group.
GLOBAL_GROUP: Final = 176
GLOBAL_ROUND: Final = 184
GLOBAL_NEXT: Final = 192
GLOBAL_ORDERED: Final = 200
SHARED_GROUP: Final = 208
SHARED_ROUND: Final = 216
SHARED_NEXT: Final = 224
SHARED_ORDERED: Final = 232
SCRAP: Final = 240  # a word that is never read
# For threads of several groups that run one after another in one call: the end of the groups, and the id of the first.
END: Final = 248
GROUP_IDS: Final = (256, 264, 272)
SYMBOLS: Final = 296  # the address of their addresses
# A call of a function: the number of its body among the rows of the table, and the lanes that it takes.
BODIES: Final = 304
CALLED: Final = 312
CALLED_LANES: Final = 320
LAUNCH_BYTES: Final = 328

# A row of the table of bodies: the addresses of its function, its counts and the initial state of a block, and the bytes
# of an activation before the registers (the block), the address variables and the masks of undefined bits, and of all.
FUNCTION: Final = 0
BODY_COUNTS: Final = 8
FIRST_BLOCK: Final = 16
REGISTERS_OFFSET: Final = 24
ADDRESSES_OFFSET: Final = 32
MASKS_OFFSET: Final = 40
ACTIVATION_BYTES: Final = 48
BODY_ROW: Final = 56

# The tables of memory have an entry for each surface or buffer: its first address (0 for surfaces), its size, the host's address,
# that of its marks, its flags, whether it was written, and as an image its width, height, depth, and pitch in bytes.
# Behind the last buffer is an empty entry.
ENTRY: Final = 80
MARKS: Final = 24
FLAGS: Final = 32
WRITTEN: Final = 40
IMAGE: Final = 48
# Flags: what is forbidden; memory that only the thread sees, memory without contents at first, and memory where no use races.
READONLY: Final = 1
WRITEONLY: Final = 2
PRIVATE: Final = 4
UNDEFINED: Final = 8
UNRACED: Final = 16

READY: Final = 0
WAITING: Final = 1
ENDED: Final = 2

# The results of compiled code.
LEAVE: Final = 0  # no lanes remain in this body
SWITCH: Final = 1  # the time slice is over
EXIT: Final = 2  # the interpreter must execute the thread's present instruction
FAULT: Final = 3  # a callback has raised an exception
OVER: Final = 4  # the budget of steps is used up
SUSPECT: Final = 5  # a checker may have a finding
BARRIER: Final = 6  # the thread is at a barrier, which is counted already
CALL: Final = 7  # the thread calls a function; the call is counted already
INSIDE: Final = 8  # the budget of steps is used up within a thread's turn, at a call or return


class StateLayout:
    """Byte offsets of a body's predicates, waiting lanes and surface values in its block; ``size`` is in bytes."""

    def __init__(self, code: Code) -> None:
        kernel = code.kernel
        self.joins = sorted(code.joins)
        self.slots = {pc: number for number, pc in enumerate(self.joins)}
        self.predicates = len(kernel.predicates) + FIRST_PREDICATE
        self._first_sampler = code.layout.surface_cells
        self.surfaces = code.layout.surface_cells + code.layout.sampler_cells  # and samplers, behind them
        self.predicates_at = _FIRST
        self.waits_at = self.predicates_at + -(-4 * self.predicates // 8) * 8
        self.waiting_at = self.waits_at + -(-4 * len(self.joins) // 8) * 8  # a bit for each join at which lanes wait
        self.surfaces_at = self.waiting_at + 8 * -(-len(self.joins) // 64)
        self.size = -(-(self.surfaces_at + 8 * self.surfaces) // 64) * 64

    def state_cells(self, site: Site, operand: State, count: int) -> range:
        """Return the numbers of a state operand's values among those of surfaces and samplers."""
        start = self._first_sampler * operand.sampler + site.state_cell(operand)
        return range(start, min(start + count, self.surfaces if operand.sampler else self._first_sampler))


class StateBlock:
    """The block of one frame at a time."""

    def __init__(self, layout: StateLayout, where: np.ndarray[Any, np.dtype[np.uint8]] | None = None) -> None:
        self.layout = layout
        self.bytes = np.zeros(layout.size, np.uint8) if where is None else where
        self.address = int(self.bytes.ctypes.data)
        self.words = self.bytes.view(np.int64)
        self._dwords = self.bytes.view(np.uint32)
        self._predicates = self._dwords[layout.predicates_at // 4 :][: layout.predicates]
        self._waits = self._dwords[layout.waits_at // 4 :][: len(layout.joins)]
        self._waiting = self.words.view(np.uint64)[layout.waiting_at // 8 : layout.surfaces_at // 8]
        self._surfaces = self.words[layout.surfaces_at // 8 :][: layout.surfaces]

    def take(self, frame: Frame) -> None:
        """Copy the state from the frame to the block."""
        self.words[PC // 8] = frame.pc
        self.words[EMASK // 8] = frame.emask
        self.words[CALL_MASK // 8] = frame.call_mask
        self.words[SCRATCH // 8] = 0
        self.take_masks(frame)
        self._waits[:] = 0
        self._waiting[:] = 0
        for pc, lanes in frame.waiting.items():
            slot = self.layout.slots[pc]
            self._waits[slot] = lanes
            self._waiting[slot // 64] |= np.uint64(1 << slot % 64)

    def give(self, frame: Frame) -> None:
        """Copy the state from the block to the frame."""
        self.give_masks(frame)
        frame.call_mask = int(self.words[CALL_MASK // 8])
        frame.waiting = {pc: lanes for pc, lanes in zip(self.layout.joins, self._waits.tolist(), strict=True) if lanes}

    def give_masks(self, frame: Frame) -> None:
        """Copy to the frame the state that an instruction without moves of lanes may read."""
        frame.pc = int(self.words[PC // 8])
        frame.emask = int(self.words[EMASK // 8])
        frame.preds[:] = self._predicates.tolist()
        cells = self._surfaces.tolist()
        frame.surfaces[:], frame.samplers[:] = cells[: len(frame.surfaces)], cells[len(frame.surfaces) :]

    def take_masks(self, frame: Frame) -> None:
        """Copy to the block the state that such an instruction may have changed."""
        self._predicates[:] = frame.preds
        self._surfaces[:] = frame.surfaces + frame.samplers
        scratch = frame.thread.scratch if frame.thread is not None else None
        if scratch is not None:
            self.words[SCRATCH // 8] = scratch.data.ctypes.data
