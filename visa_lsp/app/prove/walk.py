"""One symbolic work item on its way through a kernel: the accesses, barriers and conditions that it meets.

Follows the structured statements of ``app/read``. Both sides of a branch are walked and joined by its condition. A loop
is walked from a state that stands for any of its rounds (``loops``). Registers that other lanes or threads may have
changed are new symbols. Invariant: every access of a work item in any launch is recorded, with a condition that then
holds; an access that is not modelled has a reason.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

from visa_lsp.app.prove.arithmetic import Arithmetic
from visa_lsp.app.prove.fences import GLOBAL_MEMORY, SHARED_MEMORY, FenceOrder, Stretches, join_orders
from visa_lsp.app.prove.operand_terms import MAX_ELEMENTS, LaneOperands
from visa_lsp.app.prove.payload import initial_registers, symbols_of
from visa_lsp.app.prove.registers import ItemRegisters, LanePlace, limits
from visa_lsp.app.prove.spaces import (
    IMAGE,
    UNKNOWN,
    ItemAccess,
    LoadedElement,
    MemoryMap,
    Space,
    join_accesses,
    memory_of,
)
from visa_lsp.app.prove.terms import (
    FALSE,
    TRUE,
    Atom,
    Claim,
    Level,
    Sum,
    SumPool,
    at_most,
    both,
    either,
    equal,
    less,
    negation,
    number,
)
from visa_lsp.app.read.model import (
    BranchTest,
    Break,
    Calc,
    Compare,
    Continue,
    Goto,
    If,
    Invoke,
    JumpLabel,
    Lanes,
    MemoryPlace,
    NamedCall,
    Reading,
    Repeat,
    Return,
    Set,
    Statement,
    Transfer,
)
from visa_lsp.app.read.structure import reading_of
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import effect_of
from visa_lsp.isa.model import FlowClass, Role, Trait
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import (
    Combine,
    General,
    Immediate,
    Indirect,
    Inst,
    Kernel,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
    Value,
)
from visa_lsp.sim.observers.races import LAST_WITH_ORDERED_SHARED
from visa_lsp.sim.values import execution_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.payload import KernelInfo

MAX_CALL_DEPTH: Final = 8
MAX_STATEMENTS: Final = 60_000  # walked in all, loops several times
MAX_ROUNDS: Final = 6  # until the values of a loop are classified
_ROUNDED: Final = frozenset({"oword_ld", "oword_st"})
_REPEATED: Final = Stretches(frozenset(), frozenset())
FENCES: Final = frozenset({"fence", "fence_global", "fence_shared"})


class TooLong(Exception):  # noqa: N818 - a limit, not an error
    """The kernel is too large for a proof."""


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """A barrier: its instruction, its line, and the conditions on the way to it."""

    instruction: int
    line: int
    path: tuple[Claim, ...]
    known: tuple[Claim, ...]


@dataclass(slots=True)
class Way:
    """A way of the work item: its registers, the conditions on the way, and the intervals that it may be in.

    ``known`` also holds, but excludes no work item; it relates symbols of loops to one another.
    """

    registers: ItemRegisters
    path: tuple[Claim, ...]
    intervals: frozenset[int]
    known: tuple[Claim, ...] = ()
    order: FenceOrder = field(default_factory=FenceOrder)

    def copy(self, *passed: Claim) -> Way:
        """Return the way with further conditions."""
        more = tuple([one for one in passed if one != TRUE and one not in self.path])
        return Way(self.registers.copy(), (*self.path, *more), self.intervals, self.known, self.order)

    @property
    def is_dead(self) -> bool:
        """Return whether no work item takes this way."""
        return FALSE in self.path


@dataclass(slots=True)
class _Loop:
    """An open loop: the ways that left it, and those that begin its next round."""

    left: list[Way] = field(default_factory=list)
    again: list[Way] = field(default_factory=list)


class Walker:
    """Walks a kernel and records what the work item does; ``walk_loop`` is ``loops.walk_loop``."""

    def __init__(
        self,
        kernel: Kernel,
        info: KernelInfo,
        platform: Platform,
        walk_loop: Callable[[Walker, Repeat, Way], Way],
        fixed: Mapping[str, int] | None = None,
    ) -> None:
        self.kernel, self.info, self.platform, self._walk_loop = kernel, info, platform, walk_loop
        self.pool = SumPool()
        simd = kernel.int_attribute("SimdSize") or info.env.simd_size or 16
        self.symbols = symbols_of(self.pool, info, simd, fixed)
        self.simd = simd
        self.reading: Reading = reading_of(kernel)
        self.accesses: list[ItemAccess] = []
        self.meetings: list[Meeting] = []
        self.loaded: dict[Atom, LoadedElement] = {}
        self.memory = MemoryMap(self.pool, info, self.symbols)
        self.left_out: list[tuple[int, str]] = []  # lines with an effect that no answer covers
        self.records = True
        self.deadline = inf  # of the walk, by ``time.monotonic``
        self.stops_at_barrier = False
        self.ignores_barriers = False
        self.is_cut = False  # rounds of a loop are left out
        self.never: Callable[[Sequence[Claim]], bool] = lambda _: False  # whether conditions exclude one another
        self.carried: dict[int, tuple[frozenset[int], ...]] = {}  # stretch of any round -> those pending at its end
        self._interval = 0
        self._steps = 0
        self._depth = 0
        self._loops: list[_Loop] = []
        self._parked: dict[int, list[Way]] = {}
        self._returned: list[Way] = []
        self.departures = 0  # ways that have left for a label or the end of the routine
        self._start, self.storage = initial_registers(kernel, info, platform, self.symbols)
        self.lane = self._start.lane
        self.operands = LaneOperands(kernel, platform, self.pool, self.storage, self.lane, simd)

    def walk(self) -> None:
        """Walk the kernel from its start. Raises TooLong if it is too large for a proof."""
        self._routine(0, Way(self._start, (), frozenset({0})))

    @property
    def is_long(self) -> bool:
        """Return whether the walk has taken a quarter of the statements that it may take."""
        return self._steps > MAX_STATEMENTS // 4

    def line(self, place: int) -> int:
        """Return the line of an instruction, from 1."""
        return self.kernel.instructions[place].line + 1

    # ---- statements

    def _routine(self, entry: int, way: Way) -> Way:
        routine = next(one for one in self.reading.routines if one.entry == entry)
        if not routine.structured:
            raise TooLong("the jumps of its loops have several entries")
        kept = self._loops, self._parked, self._returned
        self._loops, self._parked, self._returned = [], {}, []
        end = self._list(routine.body, way)
        for one in self._returned:
            if not self._is_common(one):
                self.forget_shared(routine.body, one.registers)
        end = self._join([end, *self._returned])
        self._loops, self._parked, self._returned = kept
        return end

    def _list(self, code: Sequence[Statement], way: Way) -> Way:
        for at, statement in enumerate(code):
            if isinstance(statement, JumpLabel):
                waiting = self._parked.pop(statement.label, [])
                for one in waiting:
                    if not self._is_common(one):
                        self.forget_shared(code[:at], one.registers)
                way = self._join([way, *waiting])
            elif not way.is_dead:
                way = self._one(statement, way)
        return way

    def _dead(self, way: Way) -> Way:
        return replace(way, path=(*way.path, FALSE))

    def _one(self, statement: Statement, way: Way) -> Way:
        self._steps += 1
        if self._steps > MAX_STATEMENTS:
            raise TooLong("it has too many statements for a proof; a loop counts several times")
        if monotonic() > self.deadline:
            raise TooLong("following its statements takes longer than the time limit")
        match statement:
            case Set():
                self._set(statement, way)
            case Transfer():
                self._transfer(statement, way)
            case NamedCall(inst, places):
                return self._call(inst, places[0], way)
            case If():
                return self._if(statement, way)
            case Repeat():
                return self._walk_loop(self, statement, way)
            case Break():
                self._loops[-1].left.append(way)
                return self._dead(way)
            case Continue():
                self._loops[-1].again.append(way)
                return self._dead(way)
            case Goto():
                self.departures += 1
                self._parked.setdefault(statement.label, []).append(way)
                return self._dead(way)
            case Return():
                self.departures += 1
                self._returned.append(way)
                return self._dead(way)
            case Invoke():
                return self._invoke(statement, way)
        return way

    def body(self, code: Sequence[Statement], way: Way) -> tuple[Way, list[Way]]:
        """Walk the body of a loop; return the way to its next round, and the ways that leave the loop."""
        loop = _Loop()
        self._loops.append(loop)
        end = self._list(code, way)
        self._loops.pop()
        return self._join([end, *loop.again]), loop.left

    def _if(self, statement: If, way: Way) -> Way:
        test = self.test(statement.condition, way, self.line(statement.places[0]))
        then = self._list(statement.then, way.copy(test))
        other = way.copy(negation(test))
        shared = test.level > Level.THREAD
        if shared:
            # Lanes on the other side also see the values that the branch writes for all lanes.
            self.forget_shared(statement.then, other.registers)
        other = self._list(statement.otherwise, other)
        if shared:
            self.forget_shared(statement.otherwise, then.registers)
        return self._join([then, other])

    def _join(self, ways: Sequence[Way]) -> Way:
        alive = [way for way in ways if not way.is_dead]
        if len(alive) < 2:
            return alive[0] if alive else ways[0]
        common = _common_beginning([way.path for way in alive])
        known = _common_beginning([way.known for way in alive])
        rests = [both(*way.path[len(common) :]) for way in alive]
        learnt = either(*(both(rest, *way.known[len(known) :]) for rest, way in zip(rests, alive, strict=True)))
        found = alive[-1].registers
        for rest, way in zip(reversed(rests[:-1]), reversed(alive[:-1]), strict=True):
            found = way.registers.merge(found, rest)
        whole = either(*rests)
        path = (*common, whole) if whole != TRUE else common
        if any(len(way.known) > len(known) for way in alive) and learnt not in (TRUE, whole):
            known = (*known, learnt)
        intervals = frozenset().union(*(way.intervals for way in alive))
        return Way(found, path, intervals, known, join_orders([way.order for way in alive]))

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Walk without recording anything, and forget the ways that leave."""
        kept = self.records, self.stops_at_barrier, self.departures, list(self._returned)
        parked = {label: list(ways) for label, ways in self._parked.items()}
        self.records = self.stops_at_barrier = False
        try:
            yield
        finally:
            self.records, self.stops_at_barrier, self.departures, self._returned = kept
            self._parked = parked

    def join(self, ways: Sequence[Way]) -> Way:
        """Return the way after several ways meet."""
        return self._join(ways)

    def _invoke(self, statement: Invoke, way: Way) -> Way:
        test = self.test(statement.condition, way, self.line(statement.places[0]))
        self._depth += 1
        if self._depth > MAX_CALL_DEPTH:
            raise TooLong("its calls of subroutines are nested too deeply for a proof")
        done = self._routine(statement.routine, way.copy(test))
        self._depth -= 1
        other = way.copy(negation(test))
        return self._join([done, other]) if not other.is_dead else done

    def forget_shared(self, code: Sequence[Statement], registers: ItemRegisters) -> None:
        """Forget the variables that statements write for all lanes of the thread, active or not."""
        for place in places_in(code, self.reading):
            inst = self.kernel.instructions[place]
            control = inst.get("exec")
            if isinstance(control, ExecControl) and not control.no_mask and control.exec_size > 1:
                continue
            self.forget_writes(inst, registers)

    def forget_writes(self, inst: Inst, registers: ItemRegisters) -> None:
        """Forget the variables that an instruction writes."""
        for slot in inst.row.slots:
            value = inst.get(slot.name)
            if slot.role is Role.READ:
                continue
            if isinstance(value, General | RawOperand) and value.var:
                where = self.storage.general.get(value.var)
                if where is not None:
                    registers.forget(where.root)
            elif isinstance(value, PredicateOperand):
                registers.flags.pop(value.var, None)
            elif isinstance(value, State):
                registers.surfaces[value.var] = None
        if any(isinstance(value, Indirect) for value in inst.values):
            for root in self._get_taken_roots():
                registers.forget(root)

    def _get_taken_roots(self) -> set[int]:
        return {self.storage.root(number_) for number_ in self.operands.taken}

    # ---- conditions

    def test(self, condition: BranchTest, way: Way, line: int) -> Claim:
        """Return the condition of a branch for the item's lane."""
        found = self._plain_test(condition, way, line)
        return negation(found) if condition.negated else found

    def _plain_test(self, condition: BranchTest, way: Way, line: int) -> Claim:
        control, predicate = condition.control, condition.predicate
        if condition.index is not None:
            return equal(
                self.operands.source(condition.index, ExecControl(1, 0, no_mask=True), ty.D, way.registers, line),
                condition.case,
            )
        if predicate is None:
            found: Claim = TRUE
        elif condition.whole or control.exec_size == 1 or predicate.combine is not Combine.NONE:
            found = self.operands.whole_flag(predicate, control, way.registers, line)
        else:
            found = self.operands.flag(predicate, control, way.registers, line)
        if not condition.whole and 1 < control.exec_size < self.simd:
            found = both(found, self._in_lanes(control))
        return found

    def _in_lanes(self, control: ExecControl) -> Claim:
        first = control.mask_offset
        return both(at_most(self.lane * -1 + first, 0), less(self.lane, first + control.exec_size))

    # ---- values

    # ---- assignments

    def _set(self, statement: Set, way: Way) -> None:
        target, value, control = statement.target, statement.value, statement.control
        registers, line = way.registers, self.line(statement.places[0])
        if isinstance(value, Compare):
            self._compare(value, target, control, way, line)
            return
        if isinstance(target, PredicateOperand):
            assert isinstance(value, Calc)
            self._predicate_logic(value, target, control, way, line)
            return
        type_ = self.operands.type_of(target)
        if statement.guard is None and self.operands.is_by_elements(value, control, registers):
            elements = []
            for self.operands.element in range(control.exec_size):
                elements.append(self.operands.value(value, control, registers, type_, line))
            for self.operands.element, one in enumerate(elements):
                self.assign(target, one, TRUE, control, way, line)
            self.operands.element = None
            return
        found = self.operands.value(value, control, registers, type_, line)
        guard = self.operands.flag(statement.guard, control, registers, line) if statement.guard is not None else TRUE
        self.assign(target, found, guard, control, way, line)

    def assign(self, target: Value, value: Sum | None, guard: Claim, control: ExecControl, way: Way, line: int) -> None:
        """Write a value, or None for an unknown one, to a destination if a guard holds."""
        registers = way.registers
        if not isinstance(target, General) or target.var in self.operands.taken:
            if isinstance(target, Indirect):
                for root in self._get_taken_roots():
                    registers.forget(root)
            return
        where = self.storage.general.get(target.var)
        if where is None or not target.var:
            return
        place = self.operands.place(target, control)
        if place is None:
            registers.forget(where.root)
            return
        self.put(place, value, guard, control, way, line, signed=self.operands.type_of(target).is_signed)

    def put(
        self,
        place: LanePlace,
        value: Sum | None,
        guard: Claim,
        control: ExecControl,
        way: Way,
        line: int,
        *,
        signed: bool = False,
    ) -> None:
        """Write a value to a place."""
        registers = way.registers
        if control.exec_size == 1 and not control.no_mask and not self._is_common(way):
            value = None  # because lane 0 may be inactive
        if value is None:
            registers.forget(place.root, place.bits)
            return
        by_all = control.no_mask or (not place.stride and self._is_common(way))
        if guard != TRUE:
            old = registers.read(place, signed=signed, line=line)
            value = self.pool.choice(guard, value, old)
            by_all = by_all and guard.level <= Level.THREAD
        registers.write(place, value, signed=signed, by_all=by_all)

    def _is_common(self, way: Way) -> bool:
        return all(one.level <= Level.THREAD for one in way.path)

    def _compare(self, value: Compare, target: Value, control: ExecControl, way: Way, line: int) -> None:
        registers = way.registers
        types = [self.operands.type_of(one) for one in (value.left, value.right)]
        exec_type = execution_type(types)
        if exec_type.is_int:
            left, right = (
                self.operands.source(one, control, exec_type, registers, line) for one in (value.left, value.right)
            )
            found = _relation(value.relation, left, right)
        else:
            uniform = control.exec_size == 1
            found = self.pool.fresh_fact("a comparison of floats", Level.THREAD if uniform else Level.ITEM, line)
        if isinstance(target, PredicateOperand):
            by_all = control.no_mask or (control.exec_size == 1 and self._is_common(way))
            if control.exec_size == 1:
                if not by_all or found.level > Level.THREAD:
                    found = self.pool.fresh_fact("a comparison of one lane", Level.THREAD, line)
                registers.set_flag(target.var, control.mask_offset, 1, found, by_all=by_all)
            else:
                registers.set_flag(target.var, control.mask_offset, control.exec_size, found, by_all=by_all)
            return
        type_ = self.operands.type_of(target)
        ones = self.pool.choice(found, number(-1 if type_.is_signed else (1 << type_.bits) - 1), number(0))
        self.assign(target, ones if type_.is_int else None, TRUE, control, way, line)

    def _predicate_logic(
        self, value: Calc, target: PredicateOperand, control: ExecControl, way: Way, line: int
    ) -> None:
        registers, at, lanes = way.registers, control.mask_offset, control.exec_size
        whole = lanes == 1
        args: list[Claim] = []
        for one in value.args:
            assert isinstance(one, PredicateOperand)
            found = registers.flag(one.var, at, lanes, whole=whole)
            args.append(
                found
                if found is not None
                else self.pool.fresh_fact("a predicate", Level.THREAD if whole else Level.ITEM, line)
            )
        match value.meaning.word:
            case "not":
                result = negation(args[0])
            case "and":
                result = both(*args)
            case "or":
                result = either(*args)
            case "xor":
                result = either(both(args[0], negation(args[1])), both(negation(args[0]), args[1]))
            case _:
                result = args[0]
        by_all = control.no_mask or (whole and self._is_common(way))
        if whole and not by_all:
            result = self.pool.fresh_fact("a predicate of one lane", Level.THREAD, line)
        registers.set_flag(target.var, at, lanes, result, by_all=by_all)

    # ---- memory

    def _transfer(self, statement: Transfer, way: Way) -> None:
        place, line, registers = statement.places[0], self.line(statement.places[0]), way.registers
        inst = self.kernel.instructions[place]
        control = statement.control
        address_control = replace_lanes(control) if statement.single else control
        address = self._address(statement, address_control, registers, line)
        guard = self.operands.flag(statement.guard, control, registers, line) if statement.guard is not None else TRUE
        stored = self._find_stored(statement, registers) if statement.write else ()
        if not statement.write:
            self._load(statement, address, guard, way, line)
        addresses = [address]
        if control.no_mask and control.exec_size > 1 and not statement.single:
            # The lanes are elements, so each work item of the thread accesses the places of every lane.
            addresses = []
            for self.operands.element in range(control.exec_size):
                addresses.append(self._address(statement, control, registers, line))
            self.operands.element = None
            stored = ()
        low = min(statement.elements, default=0) * statement.size
        size = (max(statement.elements, default=0) + 1) * statement.size - low
        for one in addresses:
            start = self.pool.quotient(one, 16) * 16 if effect_of(inst.row.meaning) in _ROUNDED else one
            self._access(
                place, line, write=statement.write, atomic=False, memory=statement.memory, address=start + low,
                size=size, guard=guard, way=way, stored=stored,
            )  # fmt: skip

    def _find_stored(self, statement: Transfer, registers: ItemRegisters) -> tuple[Sum, ...]:
        """Return the elements that a store writes, as far as they are known."""
        found = []
        for at in range(len(statement.elements)):
            place = self._place_of_element(statement, at)
            value = registers.find(place, signed=False) if place is not None else None
            if value is not None:
                found.append(value)
        return tuple(found)

    def _place_of_element(self, statement: Transfer, at: int) -> LanePlace | None:
        """Return the place of an element of a load or store in its register."""
        control, data, cell = statement.control, statement.data, statement.cell
        if statement.single:
            where = self.storage.general.get(data.var)
            return LanePlace(where.root, where.offset + data.offset + at * cell, 0, cell) if where else None
        grf = self.platform.grf_bytes
        row = max(grf, -(-control.exec_size * cell // grf) * grf)
        return self.operands.raw_place(RawOperand(data.var, data.offset + at * row), cell, control)

    def _address(self, statement: Transfer, control: ExecControl, registers: ItemRegisters, line: int) -> Sum:
        type_ = self.operands.type_of(statement.address)
        address = (
            self.operands.read(statement.address, control, type_, registers, line, signed=type_.is_signed)
            * statement.scale
        )
        if statement.offset is not None:
            offset = self.operands.source(statement.offset, ExecControl(1, 0, no_mask=True), ty.D, registers, line)
            address = address + offset
        if statement.memory.model == codes.ADDRTYPE_FLAT and isinstance(statement.memory.operand, General):
            address = address + self.operands.read(
                statement.memory.operand, ExecControl(1, 0, no_mask=True), self.operands.type_of(statement.memory.operand), registers,
                line, signed=False,
            )  # fmt: skip
        return self.pool.wrap(address, 32, signed=False) if statement.wraps else address

    def _load(self, statement: Transfer, address: Sum, guard: Claim, way: Way, line: int) -> None:
        if (
            statement.data.var not in self.storage.general
            or not statement.data.var
            or statement.data.var in self.operands.taken
        ):
            return
        low, high = limits(statement.size, signed=False)
        uniform = statement.single or statement.control.exec_size == 1
        control = ExecControl(1, 0, no_mask=True) if statement.single else statement.control
        space, offset, why = self._find_space(statement.memory, address, way.registers)
        for at, element in enumerate(statement.elements):
            value = self.pool.fresh("a loaded value", Level.THREAD if uniform else Level.ITEM, low, high, line)
            if not why:
                place = LoadedElement(space, offset + element * statement.size, statement.size)
                self.loaded[value.factors[0][0]] = place
            found = self._place_of_element(statement, at)
            if found is not None:
                self.put(found, value * (1 << 16) if statement.high else value, guard, control, way, line)

    def _access(
        self, place: int, line: int, *, write: bool, atomic: bool, memory: MemoryPlace, address: Sum, size: int,
        guard: Claim, way: Way, stored: tuple[Sum, ...] = (),
    ) -> None:  # fmt: skip
        for test, part in self.memory.pointer_cases(address):
            space, offset, why = self._find_space(memory, part, way.registers)
            self.record(
                place, line, write=write, atomic=atomic, space=space, offset=offset, size=size, guard=both(guard, test),
                way=way, why=why, stored=stored,
            )  # fmt: skip

    def _find_space(self, memory: MemoryPlace, address: Sum, registers: ItemRegisters) -> tuple[Space, Sum, str]:
        handle = None
        if isinstance(memory.operand, General):
            control = ExecControl(1, 0, no_mask=True)
            handle = self.operands.read(memory.operand, control, ty.UD, registers, 0, signed=False)
        return self.memory.space(memory, address, registers, handle)

    def record(
        self, place: int, line: int, *, write: bool, atomic: bool, space: Space, offset: Sum, size: int, guard: Claim,
        way: Way, why: str = "", stored: tuple[Sum, ...] = (),
    ) -> None:  # fmt: skip
        """Record an access of the work item."""
        path = both(*way.path, *way.known, guard)
        if self.records and path != FALSE:
            # A walk up to the next barrier belongs to any round, so that the fences of all rounds apply.
            fences = _REPEATED if self.stops_at_barrier else way.order.memories[memory_of(space)]
            made = ItemAccess(place, line, write, atomic, space, offset, size, path, way.intervals, fences, why, stored)
            for at in range(len(self.accesses) - 1, max(-1, len(self.accesses) - 1 - 2 * MAX_ELEMENTS), -1):
                joined = join_accesses(self.accesses[at], made)
                if joined is not None:
                    self.accesses[at] = joined
                    return
            self.accesses.append(made)

    # ---- named operations

    def _call(self, inst: Inst, place: int, way: Way) -> Way:
        line, registers = self.line(place), way.registers
        name = effect_of(inst.row.meaning)
        control = inst.get("exec")
        lanes = control if isinstance(control, ExecControl) else ExecControl(1, 0, no_mask=True)
        guard = inst.get("pred")
        held = self.operands.flag(guard, lanes, registers, line) if isinstance(guard, Predicate) else TRUE
        if name == "barrier":
            return self._barrier(place, line, way)
        if name in FENCES:
            is_shared = name == "fence_shared" or (name == "fence" and inst.get("sfid") == codes.SFID_SLM)
            order = way.order.add_fence(SHARED_MEMORY if is_shared else GLOBAL_MEMORY, self.new_interval())
            return replace(way, order=order)
        if name == "faddr":
            target = inst.get("dst")
            address = self.pool.wrap(
                self.symbols.variable(str(inst.get("name"))), self.operands.type_of(target).bits, signed=False
            )
            self.assign(target, address, held, lanes, way, line)
            return way
        if name == "addc" and guard is None and self._add_elements(inst, lanes, way, line):
            return way
        if name == "bfn":
            self._bfn(inst, held, lanes, way, line)
            return way
        if name == "movs":
            target, value = inst.get("dst"), inst.get("src0")
            if isinstance(target, State) and not target.sampler:
                known = value.bits & 0xFFFFFFFF if isinstance(value, Immediate) else None
                if isinstance(value, State):
                    known = registers.surfaces.get(value.var)
                registers.surfaces[target.var] = known if not target.offset else None
                return way
        elif name in ("setp", "mov") and isinstance(inst.get("dst"), PredicateOperand):
            self._set_predicate(inst, lanes, way, line)
            return way
        self._memory_call(inst, name, place, held, lanes, way)
        self.forget_writes(inst, registers)
        return way

    def _barrier(self, place: int, line: int, way: Way) -> Way:
        if self.records:
            self.meetings.append(Meeting(place, line, way.path, way.known))
        if self.ignores_barriers:
            return way
        if self.stops_at_barrier:
            return self._dead(way)
        number_ = self.new_interval()
        orders_shared = self.platform.generation <= LAST_WITH_ORDERED_SHARED
        order = way.order.add_barrier(number_, orders_shared=orders_shared)
        return Way(way.registers, way.path, frozenset({number_}), way.known, order)

    def new_interval(self) -> int:
        """Return the number of a new stretch between barriers."""
        self._interval += 1
        return self._interval

    def _add_elements(self, inst: Inst, control: ExecControl, way: Way, line: int) -> bool:
        """Add a packed constant with carry, element by element; return whether the instruction does that."""
        value, constant, target, carry = (inst.get(name) for name in ("src0", "src1", "dst", "carry"))
        if not (isinstance(value, General) and isinstance(target, General) and isinstance(carry, General)):
            return False
        where = [self.storage.root(one.var) for one in (value, target, carry)]
        is_plain = value.modifier is OperandModifier.NONE and isinstance(constant, Immediate) and len(set(where)) == 3
        if not is_plain or not control.no_mask or control.exec_size > MAX_ELEMENTS:
            return False
        sums = []
        for self.operands.element in range(control.exec_size):
            parts = [
                self.operands.read(one, control, ty.UD, way.registers, line, signed=False) for one in (value, constant)
            ]
            sums.append(parts[0] + parts[1])
        for self.operands.element, one in enumerate(sums):
            self.assign(carry, self.pool.quotient(one, 1 << 32), TRUE, control, way, line)
            self.assign(target, self.pool.wrap(one, 32, signed=False), TRUE, control, way, line)
        self.operands.element = None
        return True

    def _bfn(self, inst: Inst, held: Claim, control: ExecControl, way: Way, line: int) -> None:
        target, table = inst.get("dst"), inst.get("func")
        sources = [inst.get(f"src{i}") for i in range(3)]
        types = [self.operands.type_of(one) for one in sources]
        exec_type = execution_type(types)
        value = None
        if exec_type.is_int and isinstance(table, int) and isinstance(target, General):
            args = [self.operands.source(one, control, exec_type, way.registers, line) for one in sources]
            own = self.operands.type_of(target)
            found = Arithmetic(self.pool, exec_type, line, wide_count=False).bitwise(table, args)
            value = self.pool.wrap(found, own.bits, signed=own.is_signed) if own.is_int else None
        self.assign(target, value, held, control, way, line)

    def _set_predicate(self, inst: Inst, control: ExecControl, way: Way, line: int) -> None:
        target, value = inst.get("dst"), inst.get("src0")
        assert isinstance(target, PredicateOperand)
        at, lanes = control.mask_offset, control.exec_size
        if isinstance(value, PredicateOperand):
            found = way.registers.flag(value.var, at, lanes, whole=False)
            shared = all(one[3] for one in way.registers.flags.get(value.var, ()))
            found = found or self.pool.fresh_fact("a predicate", Level.ITEM, line)
            way.registers.set_flag(target.var, at, lanes, found, by_all=shared)
            return
        if isinstance(value, Immediate) and value.bits & (1 << lanes) - 1 in (0, (1 << lanes) - 1):
            found = TRUE if value.bits & 1 else FALSE
            way.registers.set_flag(target.var, at, lanes, found, by_all=True)
            return
        found = self.pool.fresh_fact("a predicate", Level.ITEM, line)
        way.registers.set_flag(target.var, at, lanes, found, by_all=False)

    def _memory_call(self, inst: Inst, name: str, place: int, held: Claim, control: ExecControl, way: Way) -> None:
        line = self.line(place)
        if inst.row.has(Trait.ATOMIC):
            self._atomic(inst, name, place, held, control, way)
        elif inst.row.flow is not FlowClass.NEXT:
            self._record_uncovered(place, line, f"{inst.row.mnemonic} calls a function, which is not followed", way)
            self._forget_all(way.registers)
        elif inst.row.family in _MEMORY_FAMILIES:
            images = inst.row.family == "sampler" or inst.row.has(Trait.IMAGE)
            space: Space = (IMAGE, -1) if images else (UNKNOWN, 0)
            self.record(
                place, line, write=inst.row.has(Trait.WRITES) or not images, atomic=False, space=space, offset=number(0), size=1, guard=held,
                way=way, why="images are not modelled" if images else f"{inst.row.mnemonic} is not modelled",
            )  # fmt: skip

    def _record_uncovered(self, place: int, line: int, why: str, way: Way) -> None:
        self.record(
            place,
            line,
            write=True,
            atomic=False,
            space=(UNKNOWN, 0),
            offset=number(0),
            size=1,
            guard=TRUE,
            way=way,
            why=why,
        )

    def _forget_all(self, registers: ItemRegisters) -> None:
        registers.cells.clear()
        registers.flags.clear()
        registers.surfaces.clear()

    def _atomic(self, inst: Inst, name: str, place: int, held: Claim, control: ExecControl, way: Way) -> None:
        line, registers = self.line(place), way.registers
        memory, field_, type_, size, offset = MemoryPlace(), "off", ty.UD, 4, number(0)
        wraps = True
        if name == "lsc_atomic":
            found = codes.DATASIZES.get(_integer(inst, "datasize"))
            size = found.memory_bytes if found is not None else 8
            model = _integer(inst, "addrtype", codes.ADDRTYPE_FLAT)
            shared = _integer(inst, "sfid") == codes.SFID_SLM
            memory = MemoryPlace(shared=True) if shared else MemoryPlace(model=model, operand=inst.get("surface"))
            width = _integer(inst, "addrsize")
            field_, type_ = "src0", {1: ty.UW, 2: ty.UD, 3: ty.UQ, 5: ty.UD, 6: ty.D}.get(width, ty.UD)
            offset = number(_integer(inst, "immoffset"))
            wraps = type_ is not ty.UQ
            if _integer(inst, "immscale", 1) not in (0, 1):
                self._record_uncovered(place, line, "the scale of the address is not modelled", way)
                return
        elif name == "svm_atomic":
            memory, field_, type_, size, wraps = MemoryPlace(model=codes.ADDRTYPE_FLAT), "address", ty.UQ, 8, False
            words = _integer(inst, "op")
            size = 8 if words & 0x40 else 2 if words & 0x20 else 4
        elif name == "dword_atomic":
            surface = inst.get("surface")
            memory = MemoryPlace(variable=surface if isinstance(surface, int) else -1)
        else:
            self._record_uncovered(place, line, f"{inst.row.mnemonic} is not modelled", way)
            return
        raw = inst.get(field_)
        if not isinstance(raw, RawOperand):
            self._record_uncovered(place, line, "the operand of its address is not modelled", way)
            return
        address = (
            self.operands.read(Lanes(raw, type_), control, type_, registers, line, signed=type_.is_signed) + offset
        )
        address = self.pool.wrap(address, 32, signed=False) if wraps else address
        self._access(
            place, line, write=True, atomic=True, memory=memory, address=address, size=size, guard=held, way=way
        )


_MEMORY_FAMILIES: Final = frozenset({"data_port", "svm", "lsc", "sampler", "media"})


def _integer(inst: Inst, name: str, default: int = 0) -> int:
    value = inst.get(name, default)
    if isinstance(value, ExecControl):
        return value.exec_size.bit_length() - 1
    return value if isinstance(value, int) else default


def replace_lanes(control: ExecControl) -> ExecControl:
    """Return the control of only the first lane."""
    return ExecControl(1, control.mask_offset, no_mask=True)


def _common_beginning(lists: Sequence[tuple[Claim, ...]]) -> tuple[Claim, ...]:
    found = []
    for parts in zip(*lists, strict=False):
        if any(part != parts[0] for part in parts):
            break
        found.append(parts[0])
    return tuple(found)


def _relation(code: int, left: Sum, right: Sum) -> Claim:
    match code:
        case 0:
            return equal(left, right)
        case 1:
            return negation(equal(left, right))
        case 2:
            return less(right, left)
        case 3:
            return at_most(right, left)
        case 4:
            return less(left, right)
    return at_most(left, right)


def has_loop(code: Sequence[Statement]) -> bool:
    """Return whether there is a loop among statements."""
    return any(
        isinstance(one, Repeat) or (isinstance(one, If) and (has_loop(one.then) or has_loop(one.otherwise)))
        for one in code
    )


def places_in(code: Sequence[Statement], reading: Reading) -> set[int]:
    """Return the instructions of statements, of nested statements, and of the subroutines that they call."""
    found: set[int] = set()
    called: set[int] = set()
    work = list(code)
    while work:
        one = work.pop()
        if isinstance(one, Set | Transfer | NamedCall):
            found.update(one.places)
        elif isinstance(one, If):
            work += [*one.then, *one.otherwise]
        elif isinstance(one, Repeat):
            work += one.body
        elif isinstance(one, Invoke) and one.routine not in called:
            called.add(one.routine)
            work += next(routine.body for routine in reading.routines if routine.entry == one.routine)
    return found
