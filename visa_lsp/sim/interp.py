"""The reference interpreter: a kernel compiled to closures, and a hardware thread that runs them.

``Code`` compiles an instruction when it is first reached; an op takes the frame and returns None (continue), the next
place, or a signal. A ``Thread`` is a generator: it yields where it must wait for others (a ``Wait``) or when its time
slice is over (None). The machine owns memory, groups and reports. Control always continues at the lowest place with
active lanes.
"""

from __future__ import annotations

import itertools
import sys
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.flow.bit_accesses import read_bytes_of
from visa_lsp.flow.storage import Storage, storage_of
from visa_lsp.flow.structured_words import structure_of
from visa_lsp.isa.lane import Effect, Lane, Unmodelled
from visa_lsp.isa.lsc_codes import ORDER_TRANSPOSED
from visa_lsp.isa.model import ExecStyle, FlowClass
from visa_lsp.isa.types import ExecControl
from visa_lsp.sim.effects import EFFECTS
from visa_lsp.sim.effects.control_flow import resume
from visa_lsp.sim.effects.recorded_message import record
from visa_lsp.sim.faults import FaultKind, KernelFault, WorkItem
from visa_lsp.sim.lanes import compile_lane
from visa_lsp.sim.operands import Op, Site, Touch
from visa_lsp.sim.registers import Frame, RegisterLayout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from visa_lsp.program.model import FileVariable, Inst, Kernel
    from visa_lsp.sim.group import ThreadGroup, Wait
    from visa_lsp.sim.machine import Machine

Array = np.ndarray[Any, np.dtype[Any]]

# Signals of ops, besides the next place.
END: Final = -1  # the thread is done
WAIT: Final = -2  # the thread waits for thread.pending
SWITCH: Final = -3  # thread.frame is another frame now, with its own pc
PAUSED: Final = -4  # not returned by ops: the requested number of instructions is executed


class Code:
    """A kernel or function compiled for one platform: ops, register layout, and the views that the ops use."""

    site_class: type[Site] = Site  # of the places where instructions are compiled

    def __init__(self, kernel: Kernel, grf_bytes: int, shared: Sequence[FileVariable] = ()) -> None:
        self.kernel = kernel
        self.layout = RegisterLayout(kernel, grf_bytes, shared)
        for item in kernel.inputs:
            if item.kind & 7 == 0:  # because an alias may lie after the end of its variable
                self.layout.need(self.layout.offset(item.id) + item.size)
        self.notes: dict[int, str] = {}
        self.touches: dict[int, list[Touch]] = {}
        self._views: dict[tuple[int, np.dtype[Any], tuple[int, ...], tuple[int, ...]], int] = {}
        self.labels = _label_places(kernel)
        self.structure = structure_of(inst.row.flow for inst in kernel.instructions)
        self.counts = [0] * (len(kernel.instructions) + 1)
        self.frames: list[Frame] = []  # all frames of this code, because new views are added to each of them
        self.grew: Callable[[int], None] = lambda _bytes: None  # called with the number of additional register bytes
        self.joins = self._joins()
        self._compiled: dict[int, Op] = {len(kernel.instructions): _end}
        self._alone: dict[int, Op] = {len(kernel.instructions): _end}
        self.ops: list[Op] = self.lazily(self.op)

    def lazily(self, make: Callable[[int], Op]) -> list[Op]:
        """Return a list of ops by place; each is built at first execution, because most of a large text may never run."""

        def make_stub(pc: int) -> Op:
            def op(f: Frame) -> int | None:
                ops[pc] = instruction_op = make(pc)
                return instruction_op(f)

            return op

        ops = [make_stub(pc) for pc in range(len(self.kernel.instructions) + 1)]
        return ops

    def op(self, pc: int) -> Op:
        """Return the op of instruction number ``pc``, compiled the first time.

        Existing frames get the views that it uses.
        """
        op = self._compiled.get(pc)
        if op is None:
            with self.let_grow():
                self._alone[pc] = self.op_for(self.kernel.instructions[pc], pc)
            op = self._compiled[pc] = self.prepend_join(self._alone[pc], pc)
        return op

    @contextmanager
    def let_grow(self) -> Iterator[None]:
        """Allow new views and registers inside the context; existing frames get them at its end."""
        views, size = len(self._views), self.layout.size
        yield
        if self.layout.size != size:
            self.grow_frames(size)
        elif len(self._views) != views:
            new = list(self._views)[views:]
            for frame in self.frames:
                frame.views += _views(new, frame.regs)

    def grow_frames(self, size: int) -> None:
        """Grow the existing frames to the size of the layout, which was ``size`` bytes."""
        if self.layout.size != size:
            self.grew(len(self.frames) * (self.layout.size - size))
            for frame in self.frames:
                frame.grow()

    @property
    def built(self) -> int:
        """The number of instructions that have been executed, and so have an op."""
        return len(self._compiled) - 1

    def op_alone(self, pc: int) -> Op:
        """Return the op of an instruction without the join of waiting lanes before it."""
        self.op(pc)
        return self._alone[pc]

    def prepend_join(self, op: Op, pc: int) -> Op:
        """Return the op with the join of waiting lanes before it, so that observers see all lanes."""
        return _prepend_join(op, pc) if pc in self.joins else op

    @cached_property
    def storage(self) -> Storage:
        """The places of the variables, for analyses of the program."""
        return storage_of(self.kernel, self.layout.grf_bytes)

    @cached_property
    def read_bytes(self) -> Mapping[int, int]:
        """The bytes of each variable of the body that some instruction may read, as bits."""
        return read_bytes_of(self.kernel, self.storage)

    def _joins(self) -> set[int]:
        """Return the places where lanes may wait: the targets of forward gotos, and the places after backward ones."""
        joins = set[int]()
        for pc, inst in enumerate(self.kernel.instructions):
            if inst.row.flow.structured:
                joins.update((pc, pc + 1))
            elif inst.row.flow is FlowClass.GOTO and isinstance(label := inst.get("label"), int):
                joins.add(max(pc + 1, self.labels.get(label, 0)))
        return joins

    def op_for(self, inst: Inst, pc: int) -> Op:
        """Return the op of an instruction at place ``pc``; called inside ``growing``."""
        meaning = inst.row.meaning
        site = self.site_class(self, inst, pc)
        try:
            if isinstance(meaning, Lane):
                return self._wrap_in_note(compile_lane(site, meaning.expr), pc)
            if isinstance(meaning, Effect):
                build = EFFECTS.get(meaning.name)
                if build:
                    return self._wrap_in_note(build(site), pc)
                reason = f"the simulator does not model {inst.row.mnemonic}: {inst.row.summary}"
            elif isinstance(meaning, Unmodelled):
                return self._wrap_in_note(record(site, meaning.reason), pc)
            else:
                reason = f"the simulator does not model {inst.row.mnemonic}: the instruction table gives it no meaning"
        except KernelFault as fault:
            return _raiser(fault.kind, fault.message)
        return _raiser(FaultKind.UNMODELLED, reason)

    def _wrap_in_note(self, op: Op, pc: int) -> Op:
        note = self.notes.get(pc)
        if note is None:
            return op

        def note_and_run(f: Frame) -> int | None:
            if f.thread:
                f.thread.note(FaultKind.REGION, note)
            return op(f)

        return note_and_run

    def lane(self, pc: int, number: int) -> int | None:
        """Return the thread's lane for lane ``number`` of an instruction; None if it works for the whole thread."""
        inst = self.kernel.instructions[pc]
        if inst.row.exec_style is not ExecStyle.MASKED:
            return number if inst.row.family == "sampler" else None
        control = next((c for c in (inst.get("exec"), inst.get("n")) if isinstance(c, ExecControl)), None)
        if control is None or (control.no_mask and control.exec_size == 1) or inst.row.moves_blocks:
            return None
        if inst.get("order") == ORDER_TRANSPOSED and inst.row.family == "lsc":
            return None
        return control.mask_offset + number

    def touch(self, pc: int, touch: Touch) -> None:
        """Record the registers that an instruction reads or writes, for observers."""
        self.touches.setdefault(pc, []).append(touch)

    def view(self, start: int, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
        """Return the number of a strided view of the register file; equal views have equal numbers."""
        end = start + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + dtype.itemsize
        self.layout.need(end)
        return self._views.setdefault((start, dtype, shape, strides), len(self._views))

    def view_of(
        self, start: int, elements: Sequence[int], dtype: np.dtype[Any], *, spread: bool = False
    ) -> tuple[int, bool]:
        """Return a view of the elements of a region, and whether it is one-dimensional.

        A region that reads one element for all lanes gives a view of one element, unless ``spread``.
        """
        size, lanes = dtype.itemsize, len(elements)
        steps = {b - a for a, b in itertools.pairwise(elements)}
        if steps == {0} and not spread:
            return self.view(start, dtype, (1,), (size,)), True
        if len(steps) <= 1:
            step = steps.pop() if steps else 0
            return self.view(start, dtype, (lanes,), (step * size,)), True
        row = next(i for i in range(1, lanes) if elements[i] - elements[i - 1] != elements[1] - elements[0])
        vert, horz = elements[row], elements[1] - elements[0]
        return self.view(start, dtype, (lanes // row, row), (vert * size, horz * size)), False

    def make_views(self, regs: Array) -> list[Array]:
        """Return the views of one register file."""
        return _views(self._views, regs)


def _views(wanted: Iterable[tuple[int, np.dtype[Any], tuple[int, ...], tuple[int, ...]]], regs: Array) -> list[Array]:
    return [np.ndarray(shape, dtype, regs, start, strides) for start, dtype, shape, strides in wanted]


def _label_places(kernel: Kernel) -> dict[int, int]:
    places: dict[int, int] = {}
    for pc, inst in enumerate(kernel.instructions):
        label = inst.get("label")
        if inst.row.opens_label and isinstance(label, int):
            places[label] = pc
    return places


def _raiser(kind: FaultKind, message: str) -> Op:
    def op(_f: Frame) -> int | None:
        raise KernelFault(kind, message)

    return op


def _prepend_join(op: Op, pc: int) -> Op:
    def join(f: Frame) -> int | None:
        waiting = f.waiting
        if waiting:
            f.emask |= waiting.pop(pc, 0)
        return op(f)

    return join


def _end(f: Frame) -> int | None:
    """End a body at its last instruction, like a ``ret`` of all lanes."""
    f.emask = 0
    return resume(f)


class Thread:
    """A hardware thread of a group: its frames, and the loop that runs it."""

    def __init__(self, machine: Machine, group: ThreadGroup, number: int, frame: Frame) -> None:
        self.machine = machine
        self.group = group
        self.number = number
        self.frame = frame
        self.frames: list[Frame] = []
        self.pending: Wait | None = None
        self.dispatch_mask = frame.emask
        self.scratch: Any = None
        frame.thread = self

    def clock(self) -> int:
        """Return the time stamp: the number of instructions of all threads so far."""
        return self.machine.count_instructions(self.frame)

    def lane(self, number: int) -> int | None:
        """Return the thread's lane for lane ``number`` of the current instruction; None if it works for the whole thread."""
        return self.frame.code.lane(self.frame.pc, number)

    def work_items(self, lanes: Sequence[int] | None) -> tuple[WorkItem, ...]:
        """Return the work items of ``lanes``, or of all active lanes."""
        dispatch, group = self.machine.dispatch, self.group.id
        chosen = [n for n in range(dispatch.simd) if self.frame.emask >> n & 1] if lanes is None else sorted(lanes)
        ids = ((lane, dispatch.item(group, self.number, lane)) for lane in chosen)
        return tuple(WorkItem(lane, *item_ids) for lane, item_ids in ids if item_ids is not None)

    def note(self, kind: FaultKind, message: str) -> None:
        """Report a mistake that does not stop the thread to the observers."""
        self.machine.note(self, kind, message)

    def register_outside(self, place: int) -> None:
        """Report that an indirect operand left the register file, at byte ``place``."""
        self.note(FaultKind.OUT_OF_BOUNDS, f"an indirect operand addresses byte {place} of the register file")

    def run(self, quantum: int) -> Iterator[Wait | None]:
        """Execute until the end; yield a ``Wait`` to be resumed when it is ready, or None after a time slice."""
        while True:
            signal, used = self.slice(quantum)
            self.machine.spend(used)
            if signal == END:
                return
            if signal != SWITCH:
                yield self.pending if signal == WAIT else None

    def slice(self, least: int, most: int = sys.maxsize) -> tuple[int | None, int]:
        """Execute instructions up to a signal, or to the first backward jump after ``least`` of them, where threads take turns.

        Return the signal, None after a jump, and the number of instructions. The frame has the next place. After
        ``most`` of them the signal is ``PAUSED``, and another call continues the turn.
        """
        frame = self.frame
        ops = self.machine.ops_of(frame.code)
        counts = frame.code.counts
        pc = frame.pc
        signal: int | None = None
        used = 0
        for used in range(1, most + 1):
            frame.pc = pc
            counts[pc] += 1
            signal = ops[pc](frame)
            if signal is None:
                pc += 1
            elif signal > pc:
                pc = signal
            elif signal >= 0:
                pc = signal
                if used >= least:
                    frame.pc = pc
                    return None, used
            else:
                if signal == WAIT:
                    frame.pc = pc + 1
                return signal, used
        frame.pc = pc
        return PAUSED, used
