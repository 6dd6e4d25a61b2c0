"""Proves that a kernel writes each register, predicate, address and surface variable before it reads it.

Each lane is followed separately along its possible edges. A byte is undefined, defined for the lane that wrote it, or
defined for all. Lanes write their own elements; instructions without a mask write for all lanes, as does every
instruction while all lanes of the thread are together. A correct kernel may remain unproven. The plan of an instruction
is that of the checker (``observers.definedness_plan``).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa.model import FlowClass
from visa_lsp.program.model import Combine, Kernel, Predicate
from visa_lsp.sim.observers.definedness_plan import DefinednessPlan, InstructionKind, plan_of
from visa_lsp.sim.observers.shadow import RegisterShadow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

ALL: Final = 255
MAX_PROOF_INSTRUCTIONS: Final = 4000  # of a body that is analysed
_BITS: Final = np.arange(32)  # bits of a predicate, one for each lane


class Known:
    """The definedness at one place: for each byte and cell 0, ``ALL``, or 1 plus the number of the lane that wrote it.

    The bytes of the registers are first, then address cells, bits of predicates, surface and sampler variables.
    """

    def __init__(self, frame: Frame, *, together: bool) -> None:
        shadow = RegisterShadow(frame, None)
        given = (
            shadow.bytes, np.ones(frame.addr.size, np.bool_), np.repeat(np.array(shadow.pred_bits) != 0, 32),
            shadow.surfaces, shadow.samplers,
        )  # fmt: skip
        self.addresses, self.predicates, self.surfaces, self.samplers, _ = np.cumsum([len(part) for part in given])
        self.values: Array = np.where(np.concatenate(given), 0, ALL).astype(np.uint8)
        self.together = together  # whether all lanes of the thread are here

    def copy(self) -> Known:
        """Return a copy."""
        new = copy(self)
        new.values = self.values.copy()
        return new

    def meet(self, other: Known) -> bool:
        """Keep the facts that hold in both; return whether any were lost."""
        a, b, together = self.values, other.values, self.together
        self.values = np.where(a == b, a, np.where(a == ALL, b, np.where(b == ALL, a, 0))).astype(np.uint8)
        self.together = together and other.together
        return self.together != together or not np.array_equal(a, self.values)

    def predicate(self, var: int) -> Array:
        """Return a writable view of the bits of a predicate variable."""
        return self.values[self.predicates + 32 * var :][:32]

    def cell(self, place: tuple[bool, int]) -> Array:
        """Return a writable view of the cell of a sampler or surface variable."""
        sampler, number = place
        return self.values[(self.samplers if sampler else self.surfaces) + number :][:1]


def proves_definedness(code: Code, frame: Frame, *, full: bool) -> bool:
    """Return whether no lane reads a value before it is written; ``full``: all lanes of each thread have a work item."""
    instructions = code.kernel.instructions
    if len(instructions) > MAX_PROOF_INSTRUCTIONS:
        return False
    for pc in range(len(instructions)):
        code.op(pc)  # which notes the registers that it touches
    plans = [plan_of(code, pc) if not inst.row.opens_label else None for pc, inst in enumerate(instructions)]
    places: dict[int, Known] = {0: Known(frame, together=full)}
    meetings = {*code.labels.values(), *code.joins}
    work = [0]
    while work:
        pc = work.pop()
        known = places[pc].copy()
        # Within a stretch a single state is updated.
        while pc < len(instructions):
            plan = plans[pc]
            if plan is not None and not _step(code.kernel, plan, known):
                return False
            following = list(after(code, pc))
            if following == [pc + 1] and pc + 1 not in meetings:
                pc += 1
                continue
            flow = instructions[pc].row.flow
            known.together &= not (flow is FlowClass.GOTO or flow.returns)
            for to in following:
                if to not in places:
                    places[to] = known.copy()
                elif not places[to].meet(known):
                    continue
                work.append(to)
            break
    return True


def registers_read(code: Code) -> Array:
    """Return a flag for each byte of the registers: whether an instruction of a proven kernel reads it."""
    found = np.zeros(code.layout.size, np.bool_)
    for pc, inst in enumerate(code.kernel.instructions):
        for places in _read(plan_of(code, pc)) if not inst.row.opens_label else ():
            found[places] = True
    return found


def after(code: Code, pc: int) -> Iterator[int]:
    """Yield the places of the instructions that a lane may execute next."""
    inst = code.kernel.instructions[pc]
    flow = inst.row.flow
    target = code.labels.get(label) if isinstance(label := inst.get("label"), int) else None
    if flow in (FlowClass.GOTO, FlowClass.JUMP) and target is not None:
        yield target
        # With size 1 all active lanes move; with a larger size only the lanes in the predicate.
        if inst.get("pred") is not None or flow is FlowClass.GOTO:
            yield pc + 1
    elif flow.returns:
        if inst.get("pred") is not None:
            yield pc + 1
    else:
        yield pc + 1


def _step(kernel: Kernel, plan: DefinednessPlan, known: Known) -> bool:
    """Return whether all values that an instruction reads are defined, and mark its results as defined."""
    everybody = plan.no_mask or (plan.kind is InstructionKind.BRANCH and plan.lanes == 1)
    own = (plan.at <= _BITS) & (plan.at + plan.lanes > _BITS)
    needed = list[Array]()  # none of these values may be 0
    if isinstance(plan.pred, Predicate):
        bits = known.predicate(plan.pred.var)[own]
        needed.append(bits if plan.pred.combine is Combine.NONE and not everybody else bits == ALL)
    for var in plan.preds_read:
        bits = known.predicate(var)
        if not plan.preds_written:  # a number consists of all bits, whatever the lanes
            needed.append(bits[: kernel.predicates[var - 1].num_elements] == ALL)
        else:
            needed.append(bits[own] if not everybody and plan.lanes > 1 else bits[own] == ALL)
    needed += [known.cell(place) for place in (*plan.cells_read, plan.state_read) if place is not None]
    needed += [known.values[known.addresses + start :][:count] == ALL for start, count, _ in plan.addresses_read]
    if not all(values.all() for values in needed):
        return False
    if not all(_is_defined(plan, places, known, everybody=everybody) for places in _read(plan)):
        return False
    if any(source.places is None for source in (*plan.sources, *plan.targets)):
        return False  # because its registers are known only at run time
    _write(plan, known, own, everybody=everybody or known.together)
    return True


def _read(plan: DefinednessPlan) -> Iterator[Array]:
    return (source.places for source in plan.sources if source.places is not None)


def _is_defined(plan: DefinednessPlan, places: Array, known: Known, *, everybody: bool) -> bool:
    values = known.values[places]
    if (values == ALL).all():
        return True
    rows = places.shape[0]
    if everybody or (plan.lanes == 1 and rows > 1) or rows % plan.lanes:
        return False
    own = (np.arange(rows) % plan.lanes + plan.at + 1)[:, None]
    return bool(((values == ALL) | (values == own)).all())


def _write(plan: DefinednessPlan, known: Known, lanes: Array, *, everybody: bool) -> None:
    guarded = plan.pred is not None and not plan.selects
    if guarded:
        return  # because a write depends on the predicate
    for target in plan.targets:
        places = target.places
        assert places is not None
        rows = places.shape[0]
        if everybody:
            known.values[places] = ALL
        elif rows % plan.lanes == 0:
            own = (np.arange(rows) % plan.lanes + plan.at + 1)[:, None]
            old = known.values[places]
            known.values[places] = np.where(old == ALL, ALL, own)
    for var in plan.preds_written:
        bits = known.predicate(var)
        bits[lanes] = ALL if everybody else np.maximum(bits, _BITS + 1)[lanes]
    if plan.address_written is not None and everybody:
        start, count = plan.address_written
        known.values[known.addresses + start :][:count] = ALL
    if plan.state_written is not None:
        known.cell(plan.state_written)[:] = ALL
