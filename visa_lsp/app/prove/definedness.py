"""The reads of registers that nothing may have written, lane by lane.

A need is a set of bytes that an instruction reads, followed backwards until writes meet it. Of a lane that reads its
own elements each write on its way meets a need, because the lane runs it. An element of another lane is written for
certain only by an instruction without a mask, or in a thread that is full while no lane is elsewhere. A write under a
predicate leaves the need of the lanes without it, which a write under the opposite predicate meets. Invariant: a need
that no write meets on some way is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.flow.bit_accesses import exec_control_of, is_same_for_any_value
from visa_lsp.flow.divergence import divergent_blocks
from visa_lsp.flow.steps import AccessPurpose, Space, number_of, variable_key
from visa_lsp.isa.model import FlowClass, PredicateUse
from visa_lsp.program.model import Combine, General, Inst, Predicate, PredicateOperand, RawOperand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from visa_lsp.app.read.effects import Bits, Effects
    from visa_lsp.flow.steps import Access
    from visa_lsp.isa.types import ExecControl

_COMPUTES: Final = frozenset({"mov", "arith", "math", "logic", "compare"})
MAX_SEPARATE: Final = 200  # reads that are followed one by one


class LaneCondition(NamedTuple):
    """A predicate under which an instruction runs: its lanes, how they are combined, and whether it is inverted."""

    var: int
    combine: Combine
    lanes: int
    offset: int
    inverse: bool


class RegisterNeed(NamedTuple):
    """Bytes to be written by their lanes, or by all lanes; with a literal, only in the lanes where it holds."""

    key: int
    by_all: bool
    literal: LaneCondition | None = None


class IndexedRow(NamedTuple):
    """A row of elements, one for each lane, that an indirect operand reads of the bytes ``start`` to ``end`` of a variable."""

    var: int
    size: int
    start: int
    end: int


RegisterNeeds = dict[RegisterNeed, int]  # need -> bits


@dataclass(slots=True)
class _Transfer:
    """The effect of one instruction on needs: those that it makes, and those that its writes meet.

    ``passes``: its sources, if each lane computes its own element from them whether it is active or not.
    """

    makes: RegisterNeeds = field(default_factory=dict)
    meets_own: Bits = field(default_factory=dict)
    meets_all: Bits = field(default_factory=dict)
    literal: LaneCondition | None = None
    passes: RegisterNeeds = field(default_factory=dict)
    predicates: set[int] = field(default_factory=set)  # variables that it writes


class Definedness:
    """Finds the lines that may read what nothing has written.

    ``given`` are the bytes that a launch fills, ``indexed`` the rows of indirect operands by instruction, as far as they
    are known. ``are_full``: all lanes of each thread are work items.
    """

    def __init__(
        self, effects: Effects, given: Mapping[int, int], indexed: Mapping[int, IndexedRow], *, are_full: bool
    ) -> None:
        self.effects, self.given, self.indexed, self.are_full = effects, given, indexed, are_full
        self.graph = effects.graph
        self.waiting = divergent_blocks(self.graph)
        self._owners = self._find_owners()
        instructions = effects.kernel.instructions
        self.transfers = [self._transfer(inst, place) for place, inst in enumerate(instructions)]

    def find_doubtful(self, is_own: Iterable[int]) -> set[int]:
        """Return the instructions that may read bits of the given variables before they are written."""
        own = set(is_own)
        everything = {place: one.makes for place, one in enumerate(self.transfers) if one.makes}
        left = {need.key for need, bits in self._follow(everything)[0].items() if need.key in own}
        if not left:
            return set()
        doubtful: set[int] = set()
        separate = [place for place, makes in everything.items() if any(one.key in left or one.by_all for one in makes)]
        for place in separate[:MAX_SEPARATE]:
            remains, passed = self._follow({place: self.transfers[place].makes})
            if any(need.key in own for need in remains):
                doubtful |= {place, *passed}
        return doubtful | set(separate[MAX_SEPARATE:])

    # ---- the way of needs

    def _follow(self, seeds: Mapping[int, RegisterNeeds]) -> tuple[RegisterNeeds, set[int]]:
        """Return the needs that are left at the start, and the instructions that pass needs to their sources."""
        blocks, predecessors = self.graph.blocks, self.graph.flow_predecessors
        at_end: list[RegisterNeeds] = [{} for _ in blocks]
        passed: set[int] = set()
        remains: RegisterNeeds = {}
        work = {self.graph.block_of[place] for place in seeds}
        while work:
            number = max(work)
            work.remove(number)
            block, needs = blocks[number], dict(at_end[number])
            for place in range(block.last, block.first - 1, -1):
                self._pass(place, needs, passed)
                for need, bits in seeds.get(place, {}).items():
                    needs[need] = needs.get(need, 0) | bits
            if number == 0:
                for need, bits in needs.items():
                    if left := bits & ~self.given.get(need.key, 0):
                        remains[need] = left
            for before in predecessors[number]:
                old = at_end[before]
                new_bits = {need: bits for need, bits in needs.items() if bits & ~old.get(need, 0)}
                if new_bits:
                    for need, bits in new_bits.items():
                        old[need] = old.get(need, 0) | bits
                    work.add(before)
        return remains, passed

    def _pass(self, place: int, needs: RegisterNeeds, passed: set[int]) -> None:
        """Change needs behind an instruction to those before it."""
        transfer = self.transfers[place]
        if transfer.predicates:
            # Before a predicate is written, it says nothing about the lanes behind.
            for need in [n for n in needs if n.literal is not None and n.literal.var in transfer.predicates]:
                plain = need._replace(literal=None)
                needs[plain] = needs.get(plain, 0) | needs.pop(need)
        through = False
        for need in list(needs):
            meets = (transfer.meets_all if need.by_all else transfer.meets_own).get(need.key, 0) & needs[need]
            if not meets:
                continue
            through |= need.by_all
            opposite = transfer.literal and transfer.literal._replace(inverse=not transfer.literal.inverse)
            if transfer.literal is not None and need.literal not in (None, transfer.literal):
                continue  # about other lanes, or lanes that another predicate chooses
            needs[need] &= ~meets
            if not needs[need]:
                del needs[need]
            if transfer.literal is not None and need.literal is None:
                rest = need._replace(literal=opposite)
                needs[rest] = needs.get(rest, 0) | meets
        if through and transfer.passes:
            passed.add(place)
            for need, bits in transfer.passes.items():
                needs[need] = needs.get(need, 0) | bits

    # ---- instructions

    def _transfer(self, inst: Inst, place: int) -> _Transfer:
        transfer = _Transfer()
        step, control = self.effects.steps[place], exec_control_of(inst)
        if step.flow in (FlowClass.LABEL, FlowClass.SUBROUTINE, FlowClass.NOTE):
            return transfer
        transfer.literal = _literal(inst)
        is_vector = control.exec_size > 1
        is_together = self.graph.block_of[place] not in self.waiting
        crossed = self._find_crossed(inst, place)
        computes = inst.row.family in _COMPUTES and is_vector and control.no_mask
        # The lanes that a predicate leaves out keep their values, and read nothing.
        guard = transfer.literal if inst.row.predicate_use is PredicateUse.GUARDS else None
        target = inst.get("dst")
        is_dropped = inst.row.family in _COMPUTES and isinstance(target, General) and not target.var
        if not inst.row.marks_source and not is_dropped and not is_same_for_any_value(inst):
            for access in step.accesses:
                if access.writes or not access.possible or access.purpose is AccessPurpose.TAKEN:
                    continue
                by_all = self._may_read_others(inst, access, is_vector=is_vector, crossed=crossed)
                by_all |= is_vector and control.no_mask and not computes
                literal = guard
                if inst.row.predicate_use is PredicateUse.CHOOSES and access.field in ("src0", "src1"):
                    chosen = _literal(inst)
                    other = access.field == "src1"
                    literal = chosen._replace(inverse=chosen.inverse != other) if chosen is not None else None
                if access.purpose is AccessPurpose.GUARD or access.variable & 7 == Space.PREDICATE:
                    literal = None
                need, bits = RegisterNeed(access.variable, by_all, literal), self._limit_to_declared(access)
                transfer.makes[need] = transfer.makes.get(need, 0) | bits
                if computes:
                    through = need._replace(by_all=True)
                    transfer.passes[through] = transfer.passes.get(through, 0) | bits
            if step.indirect_read:
                for need, bits in self._list_indirect_needs(place, control):
                    transfer.makes[need] = transfer.makes.get(need, 0) | bits
        if inst.row.predicate_use is not PredicateUse.GUARDS:
            transfer.literal = None
        is_certain = control.no_mask or (is_together and (self.are_full or (not is_vector and not control.mask_offset)))
        for access in step.accesses:
            if not access.writes:
                continue
            if access.variable & 7 == Space.PREDICATE:
                transfer.predicates.add(number_of(access.variable))
            if not access.certain:
                continue
            if is_certain:
                transfer.meets_all[access.variable] = transfer.meets_all.get(access.variable, 0) | access.certain
            if is_certain or is_vector:
                transfer.meets_own[access.variable] = transfer.meets_own.get(access.variable, 0) | access.certain
        return transfer

    def _may_read_others(self, inst: Inst, access: Access, *, is_vector: bool, crossed: set[int]) -> bool:
        """Return whether an access reads elements that other lanes may have written."""
        if access.variable & 7 == Space.PREDICATE:
            pred = inst.get("pred")
            is_combined = isinstance(pred, Predicate) and pred.combine is not Combine.NONE
            is_number = access.field != "pred" and not isinstance(inst.get("dst"), PredicateOperand)
            return not is_vector or is_combined or is_number
        if access.variable & 7 != Space.GENERAL:
            return False
        return access.variable in crossed

    def _list_indirect_needs(self, place: int, control: ExecControl) -> Iterator[tuple[RegisterNeed, int]]:
        """Yield the needs of an indirect operand: of any variable that it may address, or of the elements of its lanes."""
        indexed = self.indexed.get(place)
        where = self.effects.storage.general.get(indexed.var) if indexed is not None else None
        if indexed is None or where is None:
            yield from ((RegisterNeed(key, True), bits) for key, bits in self.effects.taken.items())
            return
        key, size = variable_key(Space.GENERAL, where.root), indexed.size
        row, end = control.exec_size * size, min(where.size, indexed.end)
        bits = (1 << end) - (1 << min(indexed.start, end)) << where.offset
        owners = self._owners.get(key, {})
        is_own = all(
            lane == control.mask_offset + (byte - where.offset) % row // size
            for byte, lane in owners.items()
            if bits >> byte & 1
        )
        yield RegisterNeed(key, not is_own), bits

    def _limit_to_declared(self, access: Access) -> int:
        """Return the bits that an access may read, without lanes that a predicate does not have."""
        if access.variable & 7 != Space.PREDICATE:
            return access.possible
        declared = self.effects.kernel.predicates[number_of(access.variable) - 1 :][:1]
        return access.possible & (1 << declared[0].num_elements) - 1 if declared else access.possible

    def _find_crossed(self, inst: Inst, place: int) -> set[int]:
        """Return the variables that other lanes write where an instruction reads them."""
        control = exec_control_of(inst)
        crossed: set[int] = set()
        lanewise_keys: set[int] = set()
        # The first lane of a thread is always a work item, so that its way is that of the thread while no lane is elsewhere.
        first_lane = 0 if self.graph.block_of[place] not in self.waiting else None
        for key, bytes_, size, writes in self.effects.lanewise(inst):
            if writes:
                continue
            lanewise_keys.add(key)
            owners = self._owners.get(key)
            if not owners:
                continue
            lanes = range(control.mask_offset, control.mask_offset + len(bytes_))
            if control.exec_size == 1:
                lanes = range(-1, 0)
            for lane, first in zip(lanes, bytes_, strict=True):
                if any(owners.get(byte, lane) not in (lane, first_lane) for byte in range(first, first + size)):
                    crossed.add(key)
                    break
        crossed |= {
            access.variable for access in self.effects.steps[place].accesses
            if not access.writes and access.variable not in lanewise_keys and access.variable in self._owners
            and not self._is_row(inst, access)
        }  # fmt: skip
        return crossed

    def _is_row(self, inst: Inst, access: Access) -> bool:
        """Return whether a message with a mask reads dwords that the same lanes have written."""
        control, value = exec_control_of(inst), inst.get(access.field)
        if control.exec_size == 1 or not isinstance(value, RawOperand):
            return False
        owners, bits = self._owners[access.variable], access.possible
        where = self.effects.storage.general.get(value.var)
        if where is None:
            return False
        start = where.offset + value.offset
        row = 4 * control.exec_size
        lane_of = {byte: control.mask_offset + (byte - start) % row // 4 for byte in owners if bits >> byte & 1}
        return all(owners[byte] == lane for byte, lane in lane_of.items())

    def _find_owners(self) -> dict[int, dict[int, int]]:
        """Return the lane that writes each byte of a variable; -1 for a byte that several lanes write."""
        owners: dict[int, dict[int, int]] = {}
        for place, inst in enumerate(self.effects.kernel.instructions):
            control = exec_control_of(inst)
            if control.no_mask and control.exec_size == 1:
                continue  # because lanes have no part in it
            lanewise_keys: set[int] = set()
            for key, bytes_, size, writes in self.effects.lanewise(inst):
                if not writes:
                    continue
                lanewise_keys.add(key)
                if control.exec_size == 1:
                    bytes_ = bytes_[:1]  # noqa: PLW2901
                for lane, first in enumerate(bytes_, control.mask_offset):
                    own = owners.setdefault(key, {})
                    for byte in range(first, first + size):
                        own[byte] = lane if own.get(byte, lane) == lane else -1
            for access in () if control.no_mask else self.effects.steps[place].accesses:
                if access.writes and access.variable & 7 == Space.GENERAL and access.variable not in lanewise_keys:
                    own = owners.setdefault(access.variable, {})
                    for lane, byte in self._rows_of(inst, access):
                        own[byte] = lane if own.get(byte, lane) == lane else -1
        return owners

    def _rows_of(self, inst: Inst, access: Access) -> Iterator[tuple[int, int]]:
        """Yield the lane of each byte that a message with a mask writes as dwords."""
        control, value = exec_control_of(inst), inst.get(access.field)
        where = self.effects.storage.general.get(value.var) if isinstance(value, RawOperand) else None
        start = where.offset + value.offset if where is not None and isinstance(value, RawOperand) else 0
        bits, byte = access.possible, 0
        while bits >> byte:
            if bits >> byte & 1:
                yield control.mask_offset + (byte - start) // 4 % control.exec_size, byte
            byte += 1


def _literal(inst: Inst) -> LaneCondition | None:
    pred, control = inst.get("pred"), exec_control_of(inst)
    if not isinstance(pred, Predicate) or not pred.var:
        return None
    return LaneCondition(pred.var, pred.combine, control.exec_size, control.mask_offset, pred.inverse)
