"""The checker of reads of what was never written: general, predicate and address variables, lane by lane.

A shadow of each activation's registers says which bytes have been written. An active lane that reads an element of
which some byte never was is a finding; a message's lane, when none of its element's bytes was. An instruction without
mask may copy inactive lanes along: it is a finding only when nothing of what it reads was written. Predicates and
address variables count as wholes. What a value was computed from is not followed. Invariant: changes no register.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import predefined
from visa_lsp.program.model import Address, AddressOf, Indirect, Predicate, PredicateOperand
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.observers import Checker
from visa_lsp.sim.operands import Site, lane_mask, predicate_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.operands import Touch
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


class _Shadow:
    """What one activation has written."""

    def __init__(self, frame: Frame, *, entry: bool) -> None:
        layout = frame.code.layout
        self.bytes: Array = np.zeros(layout.size, bool)
        self.bytes[: layout.predefined_end] = True
        self.seen: dict[int, int] = {}  # instruction -> lanes that were looked at: what is written stays written
        self.preds: set[int] = {0}
        self.addresses: set[int] = set()
        if entry:
            for item in frame.code.kernel.inputs:
                if item.kind & 7 == 0:
                    at = layout.offset(item.id)
                    self.bytes[at : at + item.size] = True


@dataclass(slots=True)
class _Plan:
    """What one instruction touches."""

    reads: list[tuple[Touch, Array]]
    writes: list[tuple[Touch, Array]]
    lanes: int
    full: int
    once: bool  # the same lanes need no second look
    at: int
    no_mask: bool
    selects: bool
    predicate: Callable[[Frame], int] | None
    preds_read: list[int]
    preds_written: list[int]
    addresses_read: list[int]
    addresses_written: list[int]


class UninitialisedChecker(Checker):
    """Variables that are read before they were written."""

    wants_instructions = True
    kinds = frozenset({FaultKind.UNINITIALISED})

    def __init__(self) -> None:
        super().__init__()
        self._plans: dict[tuple[int, int], _Plan] = {}

    def concerns(self, code: Code, pc: int) -> bool:
        """Only what touches variables."""
        plan = self._plans[id(code), pc] = _plan(code, pc)
        return bool(
            plan.reads
            or plan.writes
            or plan.preds_read
            or plan.preds_written
            or plan.addresses_read
            or plan.addresses_written
        )

    def instruction(self, thread: Thread, pc: int) -> None:
        """Look at the sources, then note the destinations."""
        frame = thread.frame
        shadow: _Shadow | None = frame.shadow
        if shadow is None:
            shadow = frame.shadow = _Shadow(frame, entry=frame.code.kernel.is_kernel)
        plan = self._plans[id(frame.code), pc]
        full = plan.full
        mask = full if plan.no_mask else frame.emask >> plan.at & full
        seen = shadow.seen.get(pc, 0)
        if not mask & ~seen:
            return
        chosen = plan.predicate(frame) if plan.predicate is not None else full
        if plan.once:
            shadow.seen[pc] = seen | mask & (mask if plan.predicate is None else chosen)
        if mask:
            self._look(thread, plan, shadow, mask, chosen)
            for touch, places in plan.writes:
                _mark(frame, shadow, touch, places, mask if plan.selects else mask & chosen)
            shadow.preds.update(plan.preds_written)
            shadow.addresses.update(plan.addresses_written)

    def _look(self, thread: Thread, plan: _Plan, shadow: _Shadow, mask: int, chosen: int) -> None:
        for var in plan.preds_read:
            if var not in shadow.preds:
                self._find(FaultKind.UNINITIALISED, thread, f"predicate P{var} was never written")
        for var in plan.addresses_read:
            if var not in shadow.addresses:
                self._find(FaultKind.UNINITIALISED, thread, f"address variable A{var} was never written")
        for touch, places in plan.reads:
            active = mask
            if not plan.selects:
                active &= chosen
            elif touch.field in ("src0", "src1"):
                active &= chosen if touch.field == "src0" else ~chosen
            if active:
                self._look_at(thread, plan, shadow, touch, places, active)

    def _look_at(self, thread: Thread, plan: _Plan, shadow: _Shadow, touch: Touch, places: Array, active: int) -> None:
        frame = thread.frame
        if touch.indirect is not None:
            places = _indirect(frame, touch)
        written = shadow.bytes[np.clip(places, 0, shadow.bytes.size - 1)]
        good = written.any(axis=1) if touch.raw else written.all(axis=1)
        good |= _outside(frame, touch, places)
        if good.all():
            return
        lanes = None
        if places.shape[0] % plan.lanes == 0 and plan.lanes > 1:
            lanes = np.tile(lane_mask(active, plan.lanes), places.shape[0] // plan.lanes)
            if plan.no_mask:
                if good[lanes].any():
                    return
            elif good[lanes].all():
                return
        bad = np.flatnonzero(~good if lanes is None else ~good & lanes)
        if not bad.size:
            return
        first = int(bad[0])
        name = frame.code.kernel.variable_name(touch.var) if touch.var >= 0 else "the register file"
        start = frame.code.layout.offset(touch.var) if touch.var >= 0 else 0
        more = f", and so {'has' if bad.size == 2 else 'have'} {bad.size - 1} more" if bad.size > 1 else ""
        self._find(
            FaultKind.UNINITIALISED,
            thread,
            f"bytes {int(places[first, 0]) - start} to {int(places[first, -1]) - start} of {name} were never written{more}",
            lane=first % plan.lanes if lanes is not None else None,
        )


def _indirect(frame: Frame, touch: Touch) -> Array:
    assert touch.indirect is not None
    return np.asarray(touch.indirect(frame)[:, None] + np.arange(touch.size))


def _outside(frame: Frame, touch: Touch, places: Array) -> Array:
    """Elements that leave their variable or the register file: those are the bounds checker's."""
    low, high = 0, frame.regs.size
    if touch.var >= 0:
        layout = frame.code.layout
        low = layout.offset(touch.var)
        high = low + layout.byte_size(touch.var)
    return np.asarray((places[:, 0] < low) | (places[:, -1] >= high))


def _mark(frame: Frame, shadow: _Shadow, touch: Touch, places: Array, active: int) -> None:
    if not active:
        return
    if touch.indirect is not None:
        places = _indirect(frame, touch)
    rows = places.shape[0]
    if touch.lanes > 1 and rows % touch.lanes == 0 and active != (1 << touch.lanes) - 1:
        places = places[np.tile(lane_mask(active, touch.lanes), rows // touch.lanes)]
    shadow.bytes[np.clip(places, 0, shadow.bytes.size - 1)] = True


_NONE: Final = np.zeros((0, 1), np.int64)


def _plan(code: Code, pc: int) -> _Plan:
    inst = code.kernel.instructions[pc]
    site = Site(code, inst, pc)
    touches = code.touches.get(pc, [])
    pred = inst.get("pred")
    predicate = None
    preds_read: list[int] = []
    if isinstance(pred, Predicate):
        predicate = predicate_bits(pred, site.control.mask_offset, site.full)
        preds_read.append(pred.var)
    preds_written: list[int] = []
    addresses_read: list[int] = []
    addresses_written: list[int] = []
    for field, value in zip(inst.row.fields, inst.values, strict=True):
        if isinstance(value, PredicateOperand):
            (preds_written if field.name == "dst" else preds_read).append(value.var)
        elif isinstance(value, Address):
            (addresses_written if field.name == "dst" else addresses_read).append(value.var)
        elif isinstance(value, Indirect) and not isinstance(value, AddressOf):
            addresses_read.append(value.var)
    if touches and touches[0].lanes != site.lanes:  # plain gather and scatter keep their lanes in an operand
        site.lanes, site.full = touches[0].lanes, (1 << touches[0].lanes) - 1
    reads = [(t, t.places if t.indirect is None else _NONE) for t in touches if not t.write]
    if inst.row.mnemonic in ("cmp", "xor") and inst.get("src0") == inst.get("src1"):
        reads = []  # whatever the value, the result is the same: compilers find the active lanes in this way
    return _Plan(
        reads,
        [(t, t.places if t.indirect is None else _NONE) for t in touches if t.write],
        site.lanes,
        site.full,
        all(t.indirect is None for t in touches) and inst.row.mnemonic != "sel",
        site.control.mask_offset,
        site.control.no_mask,
        inst.row.mnemonic == "sel",
        predicate,
        [p for p in preds_read if p >= predefined.FIRST_PREDICATE],
        preds_written,
        addresses_read,
        addresses_written,
    )
