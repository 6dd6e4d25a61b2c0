"""Finds where a value that a kernel reads before it writes it may have an effect: as an address, in a branch or a message.

Each lane is followed separately along its possible edges. A byte is undefined, defined for the lane that wrote it, or
defined for all. Lanes write their own elements; instructions without a mask write for all lanes, as does every
instruction while all lanes of the thread are together. An indirect operand reads a variable whose address is taken;
compiled code tests that it does. Where registers or predicates may be undefined, the instructions that use them for an
effect are tested at run time (``Definedness``); where address variables may be, there is no proof. The plan of an
instruction is that of the checker (``observers.definedness_plan``).

A function begins with the predefined registers of its caller, and gives them back. So what a body of the program may
write there counts as undefined where a function begins and behind a call, and all bodies follow the same of them.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from visa_lsp.flow.pointers import find_pointed_variables
from visa_lsp.flow.program_steps import steps_of
from visa_lsp.flow.steps import number_of
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Lane, effect_of
from visa_lsp.isa.model import FlowClass
from visa_lsp.program.model import Combine, Immediate, Indirect, Inst
from visa_lsp.sim.observers.definedness_plan import DefinednessPlan, InstructionKind, Travel, plan_of
from visa_lsp.sim.observers.shadow import EMPTY, UNWRITTEN, RegisterShadow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

ALL: Final = 255
MAX_PROOF_INSTRUCTIONS: Final = 8_000  # of a body that is analysed: some three seconds
_MAX_ROUNDS: Final = 8
_TESTED: Final = frozenset({InstructionKind.VALUE, InstructionKind.MESSAGE, InstructionKind.BRANCH})


def _place_of_predicate(registers: int, var: int) -> int:
    """Return the place of a predicate variable among the flags that follow those of ``registers`` bytes."""
    return registers + 4 * var


class Known:
    """The definedness at one place: for each byte and cell 0, ``ALL``, or 1 plus the number of the lane that wrote it.

    The bytes of the registers are first, then address cells, bits of predicates, surface and sampler variables.
    """

    def __init__(self, frame: Frame, changed: Array, *, together: bool) -> None:
        shadow = RegisterShadow(frame, None)
        if not frame.code.kernel.is_kernel:
            shadow.bytes[: changed.size][changed] = UNWRITTEN
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
        self.values = _meet(a, b)
        self.together = together and other.together
        return self.together != together or not np.array_equal(a, self.values)

    @property
    def followable(self) -> int:
        """The number of flags that can be followed at run time: see ``Definedness``."""
        return int(self.addresses + (self.surfaces - self.predicates) // 8)

    def predicate(self, var: int) -> Array:
        """Return a writable view of the bits of a predicate variable."""
        return self.values[self.predicates + 32 * var :][:32]

    def cell(self, place: tuple[bool, int]) -> Array:
        """Return a writable view of the cell of a sampler or surface variable."""
        sampler, number = place
        return self.values[(self.samplers if sampler else self.surfaces) + number :][:1]


class Definedness(NamedTuple):
    """The registers and predicates to follow at run time to find every effect of an undefined one; none if all are defined.

    ``followed``: a flag for each byte of the registers, then four for the 32 bits of each predicate variable. ``tested``:
    the instructions that may use an undefined one. ``unknown``: those whose results count as undefined.
    """

    plans: Sequence[DefinednessPlan | None]
    ranges: Mapping[int, Sequence[range]]  # that indirect operands may touch, by instruction
    followed: Array
    given: Array  # the flags of those that are defined at first
    tested: frozenset[int]
    unknown: frozenset[int]
    registers: int  # the number of bytes of the registers

    def place_of_predicate(self, var: int) -> int:
        """Return the place of a predicate variable in ``followed``."""
        return _place_of_predicate(self.registers, var)

    def given_and_read(self) -> Array:
        """Return the flags of the registers that are defined at first and that an instruction reads."""
        read = np.zeros_like(self.given)
        for plan in self.plans:
            for source in plan.sources if plan is not None else ():
                if source.places is not None:
                    read[source.places] = True
        for ranges in self.ranges.values():
            for touched in ranges or [range(self.registers)]:
                read[touched.start : touched.stop] = True
        return read & self.given


def find_definedness(frames: Sequence[Frame], *, full: bool) -> list[Definedness] | None:
    """Return what to follow in a kernel, the first, and its functions; None without a proof for the rest.

    ``frames`` has one of each body. ``full``: all lanes of each thread have a work item.
    """
    if any(len(frame.code.kernel.instructions) > MAX_PROOF_INSTRUCTIONS for frame in frames):
        return None
    for frame in frames:
        for pc in range(len(frame.code.kernel.instructions)):
            frame.code.op(pc)  # which notes the registers that it touches
    changed = _find_changed([frame.code for frame in frames]) if len(frames) > 1 else np.zeros(0, np.bool_)
    proofs = [_Proof(f.code, Known(f, changed, together=full and f.code.kernel.is_kernel), changed) for f in frames]
    if not all(proof.is_settled() for proof in proofs):
        return None
    followed = np.zeros_like(changed)
    while True:
        results = [proof.definedness(followed) for proof in proofs]
        together = np.logical_or.reduce([result.followed[: followed.size] for result in results])
        if np.array_equal(together, followed):
            return results
        followed = together


def _find_changed(codes: Sequence[Code]) -> Array:
    """Return the flags of the predefined registers that a body may write, or leave without a value."""
    changed = np.zeros(codes[0].layout.predefined_end, np.bool_)
    for code in codes:
        ranges = find_indirect_ranges(code)
        for pc, touches in code.touches.items():
            for touch in (touch for touch in touches if touch.write):
                if touch.indirect is None:
                    changed[touch.places[touch.places < changed.size]] = True
                for written in (ranges.get(pc) or [range(changed.size)]) if touch.indirect is not None else ():
                    changed[max(written.start, 0) : written.stop] = True
    for number in EMPTY:
        start = codes[0].layout.offset(number)
        changed[start : start + codes[0].layout.byte_size(number)] = True
    return changed


def find_indirect_ranges(code: Code) -> dict[int, list[range]]:
    """Return, by place, the registers that an instruction may touch indirectly, as byte ranges; empty if they are unknown.

    The element before a variable is one of them: its number is that of the first lane of none.
    """
    ranges: dict[int, list[range]] = {}
    for pc, variables in find_pointed_variables(steps_of(code.kernel, code.storage)).items():
        numbers = [number_of(variable) for variable in sorted(variables)]
        starts = [(code.layout.offset(number), number) for number in numbers if number >= 0]
        before = max(value.type.size for value in code.kernel.instructions[pc].values if isinstance(value, Indirect))
        whole = len(starts) == len(numbers)
        ranges[pc] = (
            [range(start - before, start + code.layout.byte_size(number)) for start, number in starts] if whole else []
        )
    return ranges


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


class _Proof:
    """A proof: the cells of a body that may be undefined, followed along its paths.

    A stretch of instructions up to the next meeting is executed by the same lanes. Behind it, lanes that were elsewhere
    count: ``limits`` has the most that is known of each cell then, because an instruction may leave an undefined value
    there for a lane that is elsewhere, or a lane may leave one in its own cell, which others may read.
    """

    def __init__(self, code: Code, start: Known, changed: Array) -> None:
        self._code, self._first, self._changed = code, start, changed
        self._instructions = code.kernel.instructions
        self._plans = [plan_of(code, pc) if not i.row.opens_label else None for pc, i in enumerate(self._instructions)]
        self._ranges = find_indirect_ranges(code)
        self.limits = np.full(start.values.size, ALL, np.uint8)
        self._loose: dict[int, Array] = {}  # by instruction: the registers it reads that may be undefined
        self._tested, self._unknown = set[int](), set[int]()
        self._constants = self._find_constants()

    def _find_constants(self) -> dict[int, Array]:
        """Return the predicate variables that a single instruction sets to a number: 0 or 1 for each bit that it writes, else 2."""
        writers: dict[int, list[int]] = {}
        for pc, plan in enumerate(self._plans):
            for var in plan.preds_written if plan is not None else ():
                writers.setdefault(var, []).append(pc)
        constants: dict[int, Array] = {}
        for var, (pc, *others) in writers.items():
            inst, plan = self._instructions[pc], self._plans[pc]
            number = inst.get("src0") if effect_of(inst.row.meaning) == "setp" and not others else None
            if isinstance(number, Immediate) and number.type in (ty.D, ty.UD) and plan is not None and plan.no_mask:
                bits = constants[var] = np.full(32, 2, np.uint8)
                bits[plan.mask_offset :][: plan.lanes] = [number.bits >> lane & 1 for lane in range(plan.lanes)]
        return constants

    def is_settled(self) -> bool:
        """Follow all paths until nothing changes; return whether no undefined value has an effect."""
        for _ in range(_MAX_ROUNDS):
            limits = self.limits.copy()
            if not self.follows_all():
                return False
            if np.array_equal(limits, self.limits):
                return True
        return False

    def definedness(self, shared: Array) -> Definedness:
        """Return the registers to follow: ``shared``, those that tested instructions read, and those that they come from."""
        followed = np.zeros(self._first.followable, np.bool_)
        followed[: shared.size] = shared
        waiting = {*self._tested, *(pc for pc in self._loose if self._writes(pc, followed))}
        while waiting:
            for pc in waiting:
                followed |= self._loose[pc]
            waiting = {pc for pc in self._loose if self._writes(pc, followed) and (self._loose[pc] & ~followed).any()}
        given, count = np.zeros_like(followed), self._first.addresses
        given[:count] = self._first.values[:count] == ALL
        return Definedness(
            self._plans, self._ranges, followed, given, frozenset(self._tested), frozenset(self._unknown), int(count)
        )

    def _writes(self, pc: int, flags: Array) -> bool:
        plan = self._plans[pc]
        return plan is not None and (
            any(flags[target.places].any() for target in plan.targets if target.places is not None)
            or any(flags[_place_of_predicate(self._first.addresses, var)] for var in plan.preds_written)
        )

    def follows_all(self) -> bool:
        """Follow all paths; return whether no undefined value has an effect."""
        code, count = self._code, len(self._plans)
        places: dict[int, Known] = {0: self._first.copy()}
        meetings = {*code.labels.values(), *code.joins}
        work = [0]
        while work:
            pc = work.pop()
            state = places[pc].copy()
            # Within a stretch a single state is updated.
            while pc < count:
                plan = self._plans[pc]
                if plan is not None and not self._step(plan, pc, state):
                    return False
                following = list(after(code, pc))
                if following == [pc + 1] and pc + 1 not in meetings:
                    pc += 1
                    continue
                flow = self._instructions[pc].row.flow
                state.together &= not (flow is FlowClass.GOTO or flow.returns)
                if not state.together:
                    state.values = _meet(state.values, self.limits)
                for to in following:
                    if to not in places:
                        places[to] = state.copy()
                    elif not places[to].meet(state):
                        continue
                    work.append(to)
                break
        return True

    def _step(self, plan: DefinednessPlan, pc: int, state: Known) -> bool:
        """Return whether no undefined value has an effect in an instruction, and mark what it writes."""
        everybody = plan.no_mask or (plan.kind is InstructionKind.BRANCH and plan.lanes == 1)
        result = self._result(plan, pc, state)
        enough = (result == ALL).all() if everybody else result.all()
        # A value that is only computed with may be undefined, but not a divisor, which has a checker of its own, not
        # what goes into one of several registers, and not the number of a register, which is not followed.
        effect = (
            plan.kind is not InstructionKind.VALUE
            or _divides(self._instructions[pc])
            or any(target.places is None for target in plan.targets)
        )
        selects = any(selects for *_, selects in plan.addresses_read)
        if not enough:
            other = self._result(plan, pc, state, followed=False)
            if not ((other == ALL).all() if everybody else other.all()):
                self._unknown.add(pc)
            if (pc in self._unknown and (effect or selects)) or (effect and plan.kind not in _TESTED):
                return False
            self._loosen(plan, pc, state, everybody=everybody)
            # Address variables are not followed: what is written to one is tested there.
            if effect or (plan.address_written is not None and pc not in self._unknown):
                self._tested.add(pc)
                result[:] = ALL
        self._write(plan, state, result, everybody=everybody)
        if self._instructions[pc].row.flow is FlowClass.FUNCTION_CALL:
            for flags in (state.values, self.limits):
                flags[: self._changed.size][self._changed] = 0
        return True

    def _loosen(self, plan: DefinednessPlan, pc: int, state: Known, *, everybody: bool) -> None:
        """Note the registers and predicates that an instruction reads and that may be undefined."""
        loose = self._loose.setdefault(pc, np.zeros(state.followable, np.bool_))
        for var in (*plan.preds_read, *([plan.pred.var] if plan.pred is not None else ())):
            if (state.predicate(var) != ALL).any():
                loose[_place_of_predicate(state.addresses, var) :][:4] = True
        for source in plan.sources:
            if source.places is None:
                for touched in self._ranges.get(pc) or [range(state.addresses)]:
                    loose[touched.start : touched.stop] |= state.values[touched.start : touched.stop] != ALL
                continue
            cells = state.values[source.places]
            rows = len(cells)
            bad = cells != ALL
            if not everybody and rows % plan.lanes == 0 and (plan.lanes > 1 or rows == 1):
                bad &= cells != np.tile(_own(plan), rows // plan.lanes)[:, None]
            loose[source.places[bad]] = True

    def _result(self, plan: DefinednessPlan, pc: int, state: Known, *, followed: bool = True) -> Array:
        """Return for each lane what is known of all that an instruction reads: a value of ``Known``.

        Without ``followed`` only of what cannot be followed at run time.
        """
        own = _own(plan)
        result = np.full(plan.lanes, ALL, np.uint8)

        def read(cells: Array, *, by_lane: bool) -> None:
            nonlocal result
            rows = cells.reshape(-1, plan.lanes, cells.shape[-1]) if by_lane else cells.reshape(1, 1, -1)
            mine = ((rows == ALL) | (rows == own[:, None])).all(axis=(0, 2))
            result = _meet(result, np.where((rows == ALL).all(axis=(0, 2)), ALL, np.where(mine, own, 0)))

        def read_each(cells: Array, *, by_lane: bool = True) -> None:
            by_lane = by_lane and len(cells) == plan.lanes
            read(cells[:, None] if by_lane else cells, by_lane=by_lane)

        if followed and plan.pred is not None:
            bits = state.predicate(plan.pred.var)[(own - 1) % 32]
            read_each(bits, by_lane=plan.pred.combine is Combine.NONE)
        for var in plan.preds_read if followed else ():
            if plan.preds_written:
                read_each(state.predicate(var)[(own - 1) % 32])
            else:  # a number consists of all bits, whatever the lanes
                declared = self._code.kernel.predicates[var - 1].num_elements
                read_each(state.predicate(var)[:declared], by_lane=False)
        for place in (*plan.cells_read, plan.state_read):
            if place is not None:
                read_each(state.cell(place), by_lane=False)
        for start, count, _ in plan.addresses_read:
            read_each(state.values[state.addresses + start :][:count])
        for source in plan.sources if followed else ():
            if source.places is not None:
                rows = source.places.shape[0]
                read(state.values[source.places], by_lane=rows % plan.lanes == 0 and (plan.lanes > 1 or rows == 1))
            else:
                ranges = self._ranges.get(pc) or [range(state.addresses)]
                read_each(np.concatenate([state.values[r.start : r.stop] for r in ranges]), by_lane=False)
        if plan.travel in (Travel.FOUR, Travel.WHOLE) and not result.all():
            result[:] = 0
        if plan.pred is not None and plan.pred.var in self._constants and plan.pred.combine is Combine.NONE:
            lanes = (own - 1) % 32
            never = self._constants[plan.pred.var][lanes] == int(plan.pred.inverse)
            result[never & (state.predicate(plan.pred.var)[lanes] == ALL)] = ALL  # lanes that do not execute it
        return result

    def _write(self, plan: DefinednessPlan, state: Known, result: Array, *, everybody: bool) -> None:
        own = _own(plan)
        guarded = plan.pred is not None and not plan.selects  # the write depends on the predicate

        def write(cells: Array, *, by_lane: bool) -> None:
            """Mark cells, a row for each lane in turn, or those of the instruction as a whole."""
            if by_lane:
                rows = len(cells) // plan.lanes
                defined, lane = np.tile(result, rows)[:, None], np.tile(own, rows)[:, None]
            else:
                enough = ALL if (result == ALL).all() else int(result.all())
                defined, lane = np.full((1, 1), enough, np.uint8), np.full((1, 1), ALL, np.uint8)
            old, limits = state.values[cells], self.limits[cells]
            if state.together:
                new, limit = np.where(defined, ALL, 0), np.full_like(defined, ALL)
            elif everybody:
                new, limit = np.where(defined == ALL, ALL, defined if by_lane else 0), np.where(defined == ALL, ALL, 0)
            else:
                new = np.where(defined == 0, 0, np.where(old == ALL, ALL, lane if by_lane else old))
                limit = np.where(defined == 0, lane if by_lane else 0, ALL)
            if guarded:
                new = np.where(new == 0, 0, old if state.together or not everybody else _meet(old, new))
            state.values[cells] = new
            self.limits[cells] = _meet(limits, limit)

        for target in plan.targets:
            if target.places is not None:
                write(target.places, by_lane=target.places.shape[0] % plan.lanes == 0)
        for var in plan.preds_written:
            write((state.predicates + 32 * var + (own - 1) % 32)[:, None], by_lane=True)
        if plan.address_written is not None:
            start, count = plan.address_written
            write(
                np.arange(state.addresses + start, state.addresses + start + count)[:, None],
                by_lane=count == plan.lanes,
            )
        if plan.state_written is not None:
            sampler, number = plan.state_written
            write(np.array([[(state.samplers if sampler else state.surfaces) + number]]), by_lane=False)


def _own(plan: DefinednessPlan) -> Array:
    """Return 1 plus the number of each lane of an instruction."""
    return np.arange(plan.mask_offset + 1, plan.mask_offset + plan.lanes + 1, dtype=np.uint8)


def _meet(a: Array, b: Array | int) -> Array:
    """Return what holds of cells if both hold."""
    return np.where(a == b, a, np.where(a == ALL, b, np.where(b == ALL, a, 0))).astype(np.uint8)


def _divides(inst: Inst) -> bool:
    meaning = inst.row.meaning
    return isinstance(meaning, Lane) and meaning.expr.word in ("div", "mod")
