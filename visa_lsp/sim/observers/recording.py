"""The recorder of a run for backward slices: a row for each executed instruction, its written values, its memory accesses.

A row has the place, the activation, the enabled lanes and the bytes of the destination after the instruction; static
facts of a place are in its ``PlaceRecord``. Invariant: rows are in the order of execution, and memory is bounded: after
``MAX_ROWS`` rows or ``MAX_VALUE_BYTES`` bytes recording stops, and ``is_full`` is set.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa.lane import Effect, Lane
from visa_lsp.program.model import General, Immediate, Indirect, Inst
from visa_lsp.sim.observers.definedness_plan import DefinednessPlan, InstructionKind, RegisterOperand, plan_of
from visa_lsp.sim.observers.hooks import MemoryAccess, Observer
from visa_lsp.sim.observers.races import split
from visa_lsp.sim.operands import Site

if TYPE_CHECKING:
    from visa_lsp.sim.group import Barrier
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.memory import Buffer
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

MAX_ROWS: Final = 2_000_000  # 20 bytes each, in addition to their values
MAX_VALUE_BYTES: Final = 256 << 20
_WORD: Final = 4


@dataclass(slots=True)
class PlaceRecord:
    """The static part of the rows of one instruction.

    ``low`` to ``high`` are the recorded register bytes; ``addresses`` the recorded address elements (start, count).
    ``by_lane``: its cells belong to lanes, not to the bytes of a block. ``dynamic``: operands with bytes known only at
    run time. ``has_modes``: it depends on the rounding and denormal modes in ``%cr0``. ``sources`` and ``targets``
    include the predefined variables, which are always defined.
    """

    inst: Inst
    plan: DefinednessPlan
    by_lane: bool
    sources: list[RegisterOperand]
    targets: list[RegisterOperand]
    has_modes: bool
    low: int = 0
    high: int = 0
    predicate: int = 0
    addresses: tuple[int, int] | None = None
    dynamic: tuple[RegisterOperand, ...] = ()

    @property
    def is_branch(self) -> bool:
        """True if the instruction moves lanes."""
        return self.plan.kind is InstructionKind.BRANCH


@dataclass(slots=True, eq=False)
class BodyActivation:
    """An activation of a body by a thread: ``call`` is the row of the call, ``calls`` are its own calls.

    ``inputs`` are the register bytes of a kernel's inputs at its start, from byte ``input_start`` on. ``is_late``: the recording
    begins in its middle.
    """

    number: int
    code: Code
    group: tuple[int, int, int]
    thread: int
    ordinal: int  # its number among the activations of this body by this thread
    input_start: int
    inputs: bytes
    caller: BodyActivation | None = None
    call: int = -1
    is_late: bool = False
    calls: list[BodyActivation] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class RecordedAccess:
    """A message to a buffer: ``size`` bytes at each of ``offsets``, for the instruction's ``lanes``.

    ``first`` numbers the elements within the message. ``values`` are the bytes in memory after a write. ``epoch`` counts
    the barriers that the thread has passed.
    """

    row: int
    kind: str
    buffer: Buffer
    offsets: Array
    size: int
    lanes: Array
    elements: Array
    epoch: int
    values: Array | None = None


class StepRecorder(Observer):
    """Records everything that the interpreter executes."""

    wants_instructions = True

    def __init__(self) -> None:
        self.codes: list[Code] = []
        self.places: dict[int, dict[int, PlaceRecord]] = {}
        self.activations: list[BodyActivation] = []
        self.pcs = array("i")
        self.owners = array("i")
        self.masks = array("I")
        self.starts = array("Q")
        self.values = bytearray()
        self.dynamic: dict[int, list[Array]] = {}
        self.accesses: list[RecordedAccess] = []
        self.is_full = False
        self._ordinals: dict[tuple[tuple[int, int, int], int, int], int] = {}
        self._epochs: dict[int, int] = {}
        self._pending: list[tuple[MemoryAccess, list[tuple[Buffer, Array, Array]]]] = []
        self._mask = self._taken = 0
        self._owner: BodyActivation | None = None
        self._has_begun = False
        self._at_run_time: list[Array] = []
        self._running: dict[int, BodyActivation] = {}  # activations by identity of the frame

    def on_group(self, number: tuple[int, int, int]) -> None:
        """Start a group: its threads have new activations, and have passed no barrier."""
        del number
        self._has_begun = True
        self._epochs.clear()
        self._running.clear()

    def concerns(self, code: Code, pc: int) -> bool:
        """Return whether an instruction is recorded: all except labels and source marks."""
        inst = code.kernel.instructions[pc]
        if inst.row.opens_label or inst.row.marks_source:
            return False
        if id(code) not in self.places:
            self.places[id(code)] = {}
            self.codes.append(code)
        self.places[id(code)][pc] = _place(code, pc)
        return True

    def on_arrival(self, thread: Thread, barrier: Barrier) -> None:
        """Count the barriers of a thread."""
        del barrier
        self._epochs[thread.number] = self._epochs.get(thread.number, 0) + 1

    def before_instruction(self, thread: Thread, pc: int) -> None:
        """Record the enabled lanes and the places of indirect operands before an instruction."""
        frame = thread.frame
        place = self.places[id(frame.code)][pc]
        plan = place.plan
        self._owner = self._running.get(id(frame)) or self._activation(thread, frame)
        if place.is_branch:
            self._mask = frame.emask
            chosen = plan.chosen(frame) if plan.chosen is not None else plan.full
            self._taken = (
                (frame.emask if chosen else 0) if plan.lanes == 1 else frame.emask & chosen << plan.mask_offset
            )
        else:
            mask = plan.full if plan.no_mask else frame.emask >> plan.mask_offset & plan.full
            if plan.chosen is not None and not plan.selects:
                mask &= plan.chosen(frame)
            self._mask = mask
        self._at_run_time = [operand.touch.indirect(frame) for operand in place.dynamic if operand.touch.indirect]

    def after_instruction(self, thread: Thread, frame: Frame, pc: int) -> None:
        """Add the row of an instruction."""
        pending = self._pending
        owner = self._owner
        if thread.frame is not frame and frame not in thread.frames:  # the activation has returned
            self._running.pop(id(frame), None)
        if self.is_full or owner is None:
            pending.clear()
            return
        place = self.places[id(frame.code)][pc]
        row = len(self.pcs)
        self.pcs.append(pc)
        self.owners.append(owner.number)
        self.masks.append(self._mask)
        values = self.values
        self.starts.append(len(values))
        if place.high:
            values += frame.regs[place.low : place.high].tobytes()
        if place.predicate:
            values += (frame.preds[place.predicate] & 0xFFFFFFFF).to_bytes(_WORD, "little")
        if place.addresses is not None:
            start, count = place.addresses
            values += frame.addr[start : start + count].tobytes()
        if plan_state := place.plan.state_written:
            sampler, cell = plan_state
            values += ((frame.samplers if sampler else frame.surfaces)[cell] & 0xFFFFFFFF).to_bytes(_WORD, "little")
        if place.is_branch:
            values += self._taken.to_bytes(_WORD, "little")
        if self._at_run_time:
            self.dynamic[row] = self._at_run_time
            for operand, offsets in zip(place.dynamic, self._at_run_time, strict=True):
                if operand.touch.write:
                    cells = np.clip(offsets[:, None] + np.arange(operand.touch.size), 0, frame.regs.size - 1)
                    values += frame.regs[cells].tobytes()
        if pending:
            self._remember(row, thread)
        if row >= MAX_ROWS or len(values) > MAX_VALUE_BYTES:
            self.is_full = True

    def on_read(self, access: MemoryAccess) -> None:
        """Store a load until its instruction is executed."""
        self._wait(access)

    def on_write(self, access: MemoryAccess) -> None:
        """Store a write or an atomic until its instruction is executed."""
        self._wait(access)

    def _wait(self, access: MemoryAccess) -> None:
        if access.space is not None:
            self._pending.append((access, split(access.space, access.places.astype(np.int64), access.size)))

    def _remember(self, row: int, thread: Thread) -> None:
        epoch, counts = self._epochs.get(thread.number, 0), {"read": 0, "write": 0, "atomic": 0}
        for access, parts in self._pending:
            for buffer, offsets, rows in parts:
                values = None
                if access.kind != "read":
                    values = buffer.data[offsets[:, None] + np.arange(access.size)]
                lanes = access.lanes[rows] if access.lanes.size == access.places.size else np.zeros(rows.size, np.int64)
                self.accesses.append(
                    RecordedAccess(
                        row, access.kind, buffer.whole, offsets, access.size, lanes, rows + counts[access.kind], epoch,
                        values,
                    )
                )  # fmt: skip
            counts[access.kind] += access.places.size
        self._pending.clear()

    def activation_of(self, frame: Frame) -> BodyActivation | None:
        """Return the present activation of a frame; None if nothing of it is recorded."""
        return self._running.get(id(frame))

    def _activation(self, thread: Thread, frame: Frame) -> BodyActivation:
        key = (thread.group.id, thread.number, id(frame.code))
        ordinal = self._ordinals[key] = self._ordinals.get(key, -1) + 1
        caller = self._running.get(id(thread.frames[-1])) if thread.frames else None
        start, end = (0, 0) if caller is not None else _inputs(frame.code)
        activation = BodyActivation(
            len(self.activations), frame.code, thread.group.id, thread.number, ordinal, start,
            frame.regs[start:end].tobytes(), caller, len(self.pcs) - 1, caller is None and not self._has_begun,
        )  # fmt: skip
        self.activations.append(activation)
        if caller is not None:
            caller.calls.append(activation)
        self._running[id(frame)] = activation
        return activation


def _inputs(code: Code) -> tuple[int, int]:
    """Return the register bytes with the inputs of a kernel."""
    ranges = [(code.layout.offset(item.id), item.size) for item in code.kernel.inputs if item.kind & 7 == 0]
    return min((start for start, _ in ranges), default=0), max((start + size for start, size in ranges), default=0)


def _computes_floats(code: Code, pc: int) -> bool:
    inst = code.kernel.instructions[pc]
    site = Site(code, inst, pc)
    return isinstance(inst.row.meaning, Lane | Effect) and any(
        isinstance(value, General | Indirect | Immediate) and site.operand_type(value).is_float for value in inst.values
    )


def _place(code: Code, pc: int) -> PlaceRecord:
    inst = code.kernel.instructions[pc]
    plan = plan_of(code, pc)
    filled = [RegisterOperand(touch, touch.places) for touch in code.touches.get(pc, ()) if touch.filled]
    sources = plan.sources + [operand for operand in filled if not operand.touch.write]
    targets = plan.targets + [operand for operand in filled if operand.touch.write]
    fixed_places = [target.places for target in targets if target.places is not None]
    low = min((int(places.min()) for places in fixed_places if places.size), default=0)
    high = max((int(places.max()) + 1 for places in fixed_places if places.size), default=0)
    in_blocks = plan.kind is InstructionKind.MESSAGE and code.lane(pc, 0) is None
    return PlaceRecord(
        inst, plan, not in_blocks, sources, targets, _computes_floats(code, pc), low, high,
        plan.preds_written[0] if plan.preds_written else 0,
        plan.address_written,
        tuple(operand for operand in (*sources, *targets) if operand.touch.indirect is not None),
    )  # fmt: skip
