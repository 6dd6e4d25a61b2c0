"""The checker of uninitialised values: follows them through registers, shared and private memory.

Copying an undefined value and computing with it are not findings. Its use as an address, for a branch, or in a store to
a buffer that other threads see is a finding. The finding has the place of the first read, and names the place of the
use. Shared local, scratch and private memory are undefined at first (seed 001); buffers of the launch are defined.
Invariant: changes no register.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.program.model import Combine
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.observers.definedness_memory import MemoryFollower
from visa_lsp.sim.observers.definedness_plan import (
    DefinednessPlan,
    InstructionKind,
    RegisterOperand,
    Travel,
    by_lane,
    find_undefined_bits,
    limits_of,
    places_of,
    plan_of,
)
from visa_lsp.sim.observers.hooks import Checker, MemoryAccess
from visa_lsp.sim.observers.origins import Origins
from visa_lsp.sim.observers.shadow import ARG, MAX_PAGES, PAGE, UNWRITTEN, RegisterShadow
from visa_lsp.sim.operands import lane_mask, mask_bits

if TYPE_CHECKING:
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

_BRANCHES: Final = "decides a branch"
_ADDRESSES: Final = "is used to address memory"
_USES: Final = {InstructionKind.BRANCH: _BRANCHES, InstructionKind.BARRIER: "selects a named barrier"}
_SELECTS_STATE: Final = "selects the surface or sampler of a message"
_SENT: Final = "is sent"


class UninitialisedChecker(Checker):
    """Finds reads of unwritten variables and memory whose value has an effect."""

    wants_instructions = True
    wants_unread = True  # it follows loaded values to their uses
    kinds = frozenset({FaultKind.UNINITIALISED})

    def __init__(self) -> None:
        super().__init__()
        self._plans: dict[tuple[int, int], DefinednessPlan] = {}
        self._origins = Origins(self._found)
        self._memory = MemoryFollower(self._origins)

    def on_group(self, number: tuple[int, int, int]) -> None:
        """Drop the shared local memory of the previous group."""
        del number
        self._memory.group()

    def on_read(self, access: MemoryAccess) -> None:
        """Record the origins of the loaded bytes."""
        self._memory.read(access)

    def on_write(self, access: MemoryAccess) -> None:
        """Check the bytes that a store writes."""
        self._memory.write(access)

    def limits(self) -> tuple[str, ...]:
        """Return a sentence if memory exceeded the limit of pages."""
        if not self._memory.full:
            return ()
        return (
            f"uninitialised: values are followed through {MAX_PAGES * PAGE >> 20} MiB of memory at most; memory beyond that counts as written",
        )

    def concerns(self, code: Code, pc: int) -> bool:
        """Return whether an instruction accesses variables."""
        if code.kernel.instructions[pc].row.opens_label:
            return False
        plan = self._plans[id(code), pc] = plan_of(code, pc)
        return plan.matters or code.kernel.instructions[pc].row.flow.returns

    def before_instruction(self, thread: Thread, pc: int) -> None:
        """Check the sources, then set the origins of the destinations."""
        frame = thread.frame
        shadow = self._shadow(thread, frame)
        plan = self._plans[id(frame.code), pc]
        mask = (
            plan.full
            if plan.no_mask or (plan.kind is InstructionKind.BRANCH and plan.lanes == 1)
            else frame.emask >> plan.mask_offset & plan.full
        )
        active = mask
        if plan.chosen is not None and not plan.selects:
            active &= plan.chosen(frame)
        unsure = 0
        if plan.pred is not None and shadow.pred_bits[plan.pred.var]:
            unsure = _unsure(plan, frame, shadow, mask)
        if plan.steady and not unsure:
            seen = shadow.seen.get(pc)
            if seen is not None and seen[0] == shadow.epoch and not active & ~seen[1]:
                return
            if plan.clean is None or not shadow.get(plan.clean).any():
                _define(shadow, plan, active)
                lanes = seen[1] if seen is not None and seen[0] == shadow.epoch else 0
                shadow.seen[pc] = (shadow.epoch, lanes | active)
                return
        if active or unsure:
            self._slowly(thread, plan, shadow, active, unsure)

    def after_instruction(self, thread: Thread, frame: Frame, pc: int) -> None:
        """Set the origins of the destination of a load, or of the result of a function."""
        del pc
        if frame.shadow is not None:
            self._memory.end(frame.shadow)
        if thread.frame is not frame and frame.shadow is not None and frame not in thread.frames:
            caller = thread.frame.shadow
            if caller is not None:
                layout = thread.frame.code.layout
                start = layout.offset(ARG)
                caller.back(frame.shadow, layout.predefined_end, slice(start, start + layout.byte_size(ARG)))

    def _shadow(self, thread: Thread, frame: Frame) -> RegisterShadow:
        shadow: RegisterShadow | None = frame.shadow
        if shadow is None:
            caller = thread.frames[-1] if thread.frames else None
            shadow = frame.shadow = RegisterShadow(frame, self._shadow(thread, caller) if caller is not None else None)
        elif shadow.bytes.size != frame.regs.size:
            shadow.grow(frame.regs.size)
        return shadow

    def _slowly(self, thread: Thread, plan: DefinednessPlan, shadow: RegisterShadow, active: int, unsure: int) -> None:
        origin = 0
        if unsure and plan.pred is not None:
            origin = self._origins.of_predicate(thread, shadow, plan.pred.var)
            if plan.kind is not InstructionKind.VALUE:
                self._origins.report(
                    thread,
                    origin,
                    _BRANCHES if plan.kind is InstructionKind.BRANCH else "decides which lanes of a message are active",
                )
                unsure = 0
        if plan.kind is InstructionKind.VALUE:
            self._value(thread, plan, shadow, active, unsure, origin)
            return
        for sampler, cell in plan.cells_read:
            states = shadow.samplers if sampler else shadow.surfaces
            if states[cell] and active:
                self._origins.report(thread, self._origins.of_state(thread, states, sampler, cell), _SELECTS_STATE)
        for start, count, _ in plan.addresses_read:
            self._address(thread, shadow, start, count, active, plan.lanes)
        data: list[Array] = []
        for source in plan.sources:
            cells = self._cells(thread, shadow, source, plan, active)
            if plan.kind is InstructionKind.RECORDED:
                if cells.size and cells.all():
                    self._origins.report(thread, int(cells.max()), _SENT)
            elif source.address:
                worst = self._worst(cells, plan, active)
                if worst:
                    self._origins.report(thread, worst, _USES.get(plan.kind, _ADDRESSES))
            else:
                data.append(cells)
        _define(shadow, plan, active)
        if plan.kind is InstructionKind.MESSAGE:
            self._memory.begin(plan, data)

    def _value(
        self, thread: Thread, plan: DefinednessPlan, shadow: RegisterShadow, active: int, unsure: int, origin: int
    ) -> None:
        """Copy origins from sources to destinations."""
        frame = thread.frame
        lanes = plan.lanes
        result: Array = np.zeros(lanes, np.uint16)
        bytewise: list[tuple[Array, Array, Array]] = []  # origins, undefined bits and value of each source
        for source in plan.sources:
            chosen = active
            if plan.selects and plan.chosen is not None and source.touch.field in ("src0", "src1"):
                bits = plan.chosen(frame)
                chosen &= bits if source.touch.field == "src0" else ~bits & plan.full
            cells = self._cells(thread, shadow, source, plan, chosen)
            if plan.travel is Travel.BYTE and cells.shape[0] == lanes:
                size = plan.targets[0].touch.size if plan.targets else cells.shape[1]
                places = np.clip(places_of(source, frame), 0, shadow.bytes.size - 1)[:, :size]
                bits = frame.regs[places] ^ (255 if source.inverted else 0)
                bytewise.append((cells[:, :size], shadow.find_undefined_bits(places, cells[:, :size]), bits))
            else:
                here = by_lane(cells, lanes)
                here[~lane_mask(chosen, lanes)] = 0
                result = np.maximum(result, here)
        for start, count, is_address in plan.addresses_read:
            origins = self._address(thread, shadow, start, count, active, lanes, is_address=is_address)
            result = np.maximum(result, origins)
        if plan.state_read is not None:
            sampler, cell = plan.state_read
            states = shadow.samplers if sampler else shadow.surfaces
            if states[cell]:
                result[:] = self._origins.of_state(thread, states, sampler, cell)
        if plan.travel is Travel.FOUR and lanes % 4 == 0:
            result = np.repeat(result.reshape(-1, 4).max(axis=1), 4)
        elif plan.travel is Travel.WHOLE:
            result[:] = result.max()
        if plan.preds_read:
            self._read_predicates(thread, plan, shadow, result)
        if plan.computes:
            self._origins.unquiet(result)
        exact, masks = _find_undefined(plan, bytewise) if bytewise else (None, None)
        if unsure:
            doubtful = lane_mask(unsure, lanes)
            result[doubtful] = origin
            if exact is not None:
                exact[doubtful] = origin
                masks = None
            active |= unsure
        self._mark_targets(plan, shadow, frame, active, result, exact, masks)

    def _mark_targets(
        self,
        plan: DefinednessPlan,
        shadow: RegisterShadow,
        frame: Frame,
        active: int,
        result: Array,
        exact: Array | None,
        masks: Array | None,
    ) -> None:
        on = lane_mask(active, plan.lanes)
        for target in plan.targets:
            places = places_of(target, frame)
            if target.places is None:
                places = np.clip(places, 0, shadow.bytes.size - 1)
            if places.shape[0] != plan.lanes:
                shadow.put(places, int(result.max()) if active else 0)
            elif plan.preds_read and plan.lanes == 1 and result[0]:
                var = plan.preds_read[0]
                declared = (1 << frame.code.kernel.predicates[var - 1].num_elements) - 1
                _put_predicate(shadow, places[0], shadow.pred_bits[var] & declared, int(result[0]))
            elif exact is not None and exact.shape == places.shape:
                shadow.put(places[on], np.maximum(exact, result[:, None])[on])
                if masks is not None and not result.any():
                    shadow.put_partial(places[on], masks[on])
            else:
                shadow.put(places[on], np.broadcast_to(result[on, None], (int(on.sum()), places.shape[1])))
        for var in plan.preds_written:
            bits = mask_bits(result != 0) & active
            origin = int(result[on].max()) if bits else 0
            old = shadow.pred_bits[var] & ~(active << plan.mask_offset)
            shadow.pred_bits[var] = old | bits << plan.mask_offset
            if origin:
                shadow.pred_origin[var] = origin
                shadow.epoch += 1
        if plan.address_written is not None:
            start, count = plan.address_written
            cells = shadow.addresses[start : start + count]
            cells[on[: cells.size]] = result[: cells.size][on[: cells.size]]
        if plan.state_written is not None:
            sampler, cell = plan.state_written
            (shadow.samplers if sampler else shadow.surfaces)[cell] = int(result.max())

    def _read_predicates(self, thread: Thread, plan: DefinednessPlan, shadow: RegisterShadow, result: Array) -> None:
        frame = thread.frame
        bits = 0
        for var in plan.preds_read:
            bits |= shadow.pred_bits[var]
        if plan.logic:  # a defined 0 determines an and, a defined 1 an or
            for var in plan.preds_read:
                value = frame.preds[var] if plan.logic == "or" else ~frame.preds[var]
                bits &= ~(value & ~shadow.pred_bits[var])
        if not bits:
            return
        var = next(v for v in plan.preds_read if shadow.pred_bits[v])
        if not plan.preds_written:
            declared = thread.frame.code.kernel.predicates[var - 1].num_elements
            if bits & (1 << declared) - 1:
                result[:] = np.maximum(result, self._origins.of_predicate(thread, shadow, var))
            return
        here = lane_mask(bits >> plan.mask_offset & plan.full, plan.lanes)
        if here.any():
            result[here] = np.maximum(result[here], self._origins.of_predicate(thread, shadow, var))

    def _cells(
        self, thread: Thread, shadow: RegisterShadow, source: RegisterOperand, plan: DefinednessPlan, active: int
    ) -> Array:
        """Return the origins of an operand's cells; this place becomes the origin of unwritten bytes."""
        places = places_of(source, thread.frame)
        cells = shadow.get(places) if source.places is not None else shadow.find(places)
        if not cells.any():
            return cells
        low, high = limits_of(thread.frame, source)
        cells[(places[:, 0] < low) | (places[:, -1] >= high)] = 0  # because the bounds checker reports those
        rows = cells.shape[0]
        if rows % plan.lanes == 0 and plan.lanes > 1:
            cells[~np.tile(lane_mask(active, plan.lanes), rows // plan.lanes)] = 0
        fresh = cells == UNWRITTEN
        if fresh.any():
            cells[fresh] = self._origins.of_register(thread, source, plan, places, fresh)
        return cells

    def _address(
        self,
        thread: Thread,
        shadow: RegisterShadow,
        start: int,
        count: int,
        active: int,
        lanes: int,
        *,
        is_address: bool = True,
    ) -> Array:
        """Return the origins of address elements, per lane; report them if ``is_address``."""
        cells = shadow.addresses[start : start + count].copy()
        out = np.zeros(lanes, np.uint16)
        if not cells.any():
            return out
        out = (
            np.repeat(cells, -(-lanes // cells.size))[:lanes] if cells.size > 1 else np.full(lanes, cells[0], np.uint16)
        )
        out[~lane_mask(active, lanes)] = 0
        fresh = out == UNWRITTEN
        if fresh.any():
            out[fresh] = self._origins.of_address(thread, start)
        if is_address and out.any():
            self._origins.report(thread, int(out.max()), "selects a register")
            out[:] = 0
        return out

    def _worst(self, cells: Array, plan: DefinednessPlan, active: int) -> int:
        if plan.lanes > 1 and cells.shape[0] % plan.lanes == 0:
            return int(by_lane(cells, plan.lanes)[lane_mask(active, plan.lanes)].max(initial=0))
        return int(cells.max(initial=0))


def _find_undefined(plan: DefinednessPlan, sources: list[tuple[Array, Array, Array]]) -> tuple[Array, Array]:
    """Return the origins and the undefined bits of an instruction's result, from those of its sources."""
    origins, masks, values = zip(*sources, strict=True)
    constant = () if plan.constant is None else (plan.constant,)
    undefined: Array = find_undefined_bits(masks, (*values, *constant), plan.decisive)
    return np.where(undefined != 0, np.maximum.reduce(origins), 0), undefined


def _put_predicate(shadow: RegisterShadow, places: Array, undefined: int, origin: int) -> None:
    """Mark the undefined bytes and bits of a number with the bits of a predicate."""
    masks = np.array([undefined >> 8 * k & 255 for k in range(places.size)], np.uint8)
    shadow.put(places, np.where(masks != 0, origin, 0))
    shadow.put_partial(places, masks)


def _unsure(plan: DefinednessPlan, frame: Frame, shadow: RegisterShadow, mask: int) -> int:
    """Return the lanes that depend on an undefined predicate bit."""
    assert plan.pred is not None
    undefined = shadow.pred_bits[plan.pred.var] >> plan.mask_offset & plan.full
    value = frame.preds[plan.pred.var] >> plan.mask_offset & plan.full
    if plan.pred.combine is Combine.ANY:
        return mask if undefined and not value & ~undefined else 0
    if plan.pred.combine is Combine.ALL:
        return mask if undefined and not ~value & plan.full & ~undefined else 0
    return undefined & mask


def _define(shadow: RegisterShadow, plan: DefinednessPlan, active: int) -> None:
    """Mark as defined the destinations of an instruction with defined sources, or of a message."""
    if not active:
        return
    for target in plan.targets:
        if target.places is None:
            continue
        places = target.places
        rows = places.shape[0]
        if active != plan.full and rows % plan.lanes == 0 and plan.lanes > 1:
            places = places[np.tile(lane_mask(active, plan.lanes), rows // plan.lanes)]
        shadow.put(places, 0)
    for var in plan.preds_written:
        shadow.pred_bits[var] &= ~(active << plan.mask_offset)
    if plan.address_written is not None:
        start, count = plan.address_written
        cells = shadow.addresses[start : start + count]
        cells[lane_mask(active, plan.lanes)[: cells.size]] = 0
    if plan.state_written is not None:
        sampler, cell = plan.state_written
        (shadow.samplers if sampler else shadow.surfaces)[cell] = 0
