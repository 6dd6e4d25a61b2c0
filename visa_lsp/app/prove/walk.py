"""One symbolic work item on its way through a kernel: the accesses, barriers and conditions that it meets.

Follows the structured statements of ``app/read``. Both sides of a branch are walked and joined by its condition. A loop
is walked from a state that stands for any of its rounds (``loops``). Registers that other lanes or threads may have
changed are new symbols. Invariant: every access of a work item in any launch is recorded, with a condition that then
holds; an access that is not modelled has a reason.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.app.prove.arithmetic import Arithmetic, NotModelled
from visa_lsp.app.prove.fences import GLOBAL_MEMORY, SHARED_MEMORY, FenceOrder, Stretches, join_orders
from visa_lsp.app.prove.operand_terms import MAX_ELEMENTS, ONE_LANE, InstructionSite, LaneOperands
from visa_lsp.app.prove.payload import initial_registers, symbols_of
from visa_lsp.app.prove.registers import ItemRegisters, LanePlace, is_lane_in, limits
from visa_lsp.app.prove.spaces import (
    ARRAY,
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
    LOADED,
    RELATIONS,
    RETURNED,
    TRUE,
    ZERO,
    Atom,
    Claim,
    Level,
    Sum,
    SumPool,
    at_most,
    atoms_of,
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
    NamedCall,
    Reading,
    Repeat,
    Return,
    Set,
    Statement,
    Transfer,
)
from visa_lsp.app.read.structure import reading_of
from visa_lsp.flow.bit_accesses import exec_control_of, find_unread_rows, read_bytes_of
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import effect_of
from visa_lsp.isa.message_forms import FenceForm, MemoryUse, SampleForm
from visa_lsp.isa.model import FlowClass, PredicateUse, Role, Trait
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.types import ExecControl
from visa_lsp.program import regions
from visa_lsp.program.message import (
    OFFSETS,
    ElementMessage,
    FenceMessage,
    Message,
    MessageMemory,
    SampleMessage,
    TexelMessage,
    sample_message_of,
    understood_message_of,
)
from visa_lsp.program.model import (
    Address,
    AddressOf,
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
    from visa_lsp.isa.types import DataType
    from visa_lsp.program.payload import KernelInfo

MAX_CALL_DEPTH: Final = 8
MAX_STATEMENTS: Final = 60_000  # walked in all, loops several times
COORDINATE_BITS: Final = 31
MAX_ROUNDS: Final = 6  # until the values of a loop are classified
_REPEATED: Final = Stretches(frozenset(), frozenset())


class TooLong(Exception):  # noqa: N818 - a limit, not an error
    """The kernel is too large for a proof."""


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """A barrier: its line, and the conditions on the way to it."""

    line: int
    path: tuple[Claim, ...]
    facts: tuple[Claim, ...]


@dataclass(slots=True)
class Way:
    """A way of the work item: its registers, the conditions on the way, and the intervals that it may be in.

    ``facts`` also hold, but exclude no work item; they relate symbols of loops to one another.
    """

    registers: ItemRegisters
    path: tuple[Claim, ...]
    intervals: frozenset[int]
    facts: tuple[Claim, ...] = ()
    order: FenceOrder = field(default_factory=FenceOrder)

    def copy(self, *passed: Claim) -> Way:
        """Return the way with further conditions."""
        more = tuple([one for one in passed if one != TRUE and one not in self.path])
        return Way(self.registers.copy(), (*self.path, *more), self.intervals, self.facts, self.order)

    def end(self) -> Way:
        """Return the way as one that no work item takes."""
        return replace(self, path=(*self.path, FALSE))

    @property
    def is_dead(self) -> bool:
        """Return whether no work item takes this way."""
        return FALSE in self.path

    @property
    def is_common(self) -> bool:
        """Return whether all lanes of the thread take this way."""
        return all(one.level <= Level.THREAD for one in self.path)


class Walker:
    """Walks a kernel and records what the work item does; ``walk_loop`` is ``loops.walk_loop``."""

    def __init__(
        self, kernel: Kernel, info: KernelInfo, platform: Platform, walk_loop: Callable[[Walker, Repeat, Way], Way],
        fixed: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        self.kernel, self.info, self.platform, self._walk_loop = kernel, info, platform, walk_loop
        self.pool = SumPool()
        simd = kernel.int_attribute("SimdSize") or info.env.simd_size or 16
        self.symbols = symbols_of(self.pool, info, fixed or {})
        self.simd = simd
        self.reading: Reading = reading_of(kernel)
        self.accesses: list[ItemAccess] = []
        self.meetings: list[Meeting] = []
        self.loaded: dict[Atom, LoadedElement] = {}
        self.memory = MemoryMap(self.pool, info, self.symbols)
        self.records = True
        self.deadline = inf  # of the walk, by ``time.monotonic``
        self.stops_at_barrier = False
        self.ignores_barriers = False
        self.is_cut = False  # rounds of a loop are left out
        self.never: Callable[[Sequence[Claim]], bool] = lambda _: False  # whether conditions exclude one another
        self.carried: dict[int, tuple[frozenset[int], ...]] = {}  # stretch of any round -> those pending at its end
        self.rounds: dict[int, Sum] = {}  # stretch of any round -> its number
        self._interval = 0
        self._steps = 0
        self._depth = 0
        self._left: list[Way] = []  # of the innermost loop
        self._again: list[Way] = []  # to its next round
        self._parked: dict[int, list[Way]] = {}
        self._returned: list[Way] = []
        self.departures = 0  # ways that have left for a label or the end of the routine
        self.presumed: dict[int, str] = {}  # line of a loop -> what its walk presumes of every launch
        self.start, self.storage = initial_registers(kernel, info, platform, self.symbols, simd)
        self.lane = self.start.lane
        self.operands = LaneOperands(kernel, platform, self.pool, self.storage, self.lane, simd)
        self._read_bytes = read_bytes_of(kernel, self.storage)

    def walk(self) -> None:
        """Walk the kernel from its start. Raises TooLong if it is too large for a proof."""
        self._routine(0, Way(self.start.copy(), (), frozenset({0})))

    def find_unreached_lines(self) -> list[int]:
        """Return the lines of the instructions that access memory, but that no work item of a launch reaches."""
        reached = {one.instruction for one in self.accesses}
        instructions = enumerate(self.kernel.instructions)
        return [self.line(place) for place, inst in instructions if place not in reached and _accesses_memory(inst)]

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
        kept = self._parked, self._returned
        self._parked, self._returned = {}, []
        end = self._list(routine.body, way)
        for one in self._returned:
            if not one.is_common:
                self.forget_shared(routine.body, one.registers)
        end = self.join([end, *self._returned])
        self._parked, self._returned = kept
        return end

    def _list(self, code: Sequence[Statement], way: Way) -> Way:
        for index, statement in enumerate(code):
            if isinstance(statement, JumpLabel):
                waiting = self._parked.pop(statement.label, [])
                for one in waiting:
                    if not one.is_common:
                        self.forget_shared(code[:index], one.registers)
                way = self.join([way, *waiting])
            elif not way.is_dead:
                way = self._one(statement, way)
        return way

    def _one(self, statement: Statement, way: Way) -> Way:
        self._steps += 1
        if self._steps > MAX_STATEMENTS:
            raise TooLong("it has too many statements for a proof; a loop counts several times")
        if monotonic() > self.deadline:
            raise TooLong("time: following its statements takes longer than the time limit")
        match statement:
            case Set():
                self._set(statement, way)
            case Transfer(places=places):
                return self._call(self.kernel.instructions[places[0]], places[0], way)
            case NamedCall(inst, places):
                return self._call(inst, places[0], way)
            case If():
                return self._if(statement, way)
            case Repeat():
                return self._walk_loop(self, statement, way)
            case Break():
                self._left.append(way)
                return way.end()
            case Continue():
                self._again.append(way)
                return way.end()
            case Goto():
                self.departures += 1
                self._parked.setdefault(statement.label, []).append(way)
                return way.end()
            case Return():
                self.departures += 1
                self._returned.append(way)
                return way.end()
            case Invoke():
                return self._invoke(statement, way)
        return way

    def body(self, code: Sequence[Statement], way: Way) -> tuple[Way, list[Way]]:
        """Walk the body of a loop; return the way to its next round, and the ways that leave the loop."""
        kept = self._left, self._again
        self._left, self._again = [], []
        end = self._list(code, way)
        end, left = self.join([end, *self._again]), self._left
        self._left, self._again = kept
        return end, left

    def _if(self, statement: If, way: Way) -> Way:
        test = self.test(statement.condition, way, statement.places[0])
        then = self._list(statement.then, way.copy(test))
        other = way.copy(negation(test))
        shared = test.level > Level.THREAD
        if shared:
            # Lanes on the other side also see the values that the branch writes for all lanes.
            self.forget_shared(statement.then, other.registers)
        other = self._list(statement.otherwise, other)
        if shared:
            self.forget_shared(statement.otherwise, then.registers)
        return self.join([then, other])

    def join(self, ways: Sequence[Way]) -> Way:
        """Return the way after several ways meet."""
        alive = [way for way in ways if not way.is_dead]
        if len(alive) < 2:
            return alive[0] if alive else ways[0]
        common = _common_beginning([way.path for way in alive])
        facts = _common_beginning([way.facts for way in alive])
        rests = [both(*way.path[len(common) :]) for way in alive]
        learnt = either(*(both(rest, *way.facts[len(facts) :]) for rest, way in zip(rests, alive, strict=True)))
        registers = alive[-1].registers
        for rest, way in zip(reversed(rests[:-1]), reversed(alive[:-1]), strict=True):
            registers = way.registers.merge(registers, rest)
        whole = either(*rests)
        path = (*common, whole) if whole != TRUE else common
        if any(len(way.facts) > len(facts) for way in alive) and learnt not in (TRUE, whole):
            facts = (*facts, learnt)
        intervals = frozenset().union(*(way.intervals for way in alive))
        return Way(registers, path, intervals, facts, join_orders([way.order for way in alive]))

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

    def _invoke(self, statement: Invoke, way: Way) -> Way:
        test = self.test(statement.condition, way, statement.places[0])
        self._depth += 1
        if self._depth > MAX_CALL_DEPTH:
            raise TooLong("its calls of subroutines are nested too deeply for a proof")
        done = self._routine(statement.routine, way.copy(test))
        self._depth -= 1
        return self.join([done, way.copy(negation(test))])

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
            elif isinstance(value, Address):
                registers.forget_addresses(value.var)
        if any(isinstance(value, Indirect) for value in inst.values):
            for root in self.operands.taken_roots:
                registers.forget(root)

    # ---- conditions

    def test(self, condition: BranchTest, way: Way, place: int) -> Claim:
        """Return the condition of a branch for the item's lane."""
        found = self._plain_test(condition, self._site(condition.control, way, place))
        return negation(found) if condition.negated else found

    def _plain_test(self, condition: BranchTest, site: InstructionSite) -> Claim:
        control, predicate = condition.control, condition.predicate
        if condition.index is not None:
            return equal(self.operands.source(condition.index, ty.D, site.for_thread), condition.case)
        claim = (
            self.operands.whole_flag(predicate, site)
            if predicate is not None and condition.whole
            else self.operands.flag(predicate, site)
        )
        if not condition.whole and 1 < control.exec_size < self.simd:
            claim = both(claim, is_lane_in(self.lane, control.mask_offset, control.exec_size))
        return claim

    # ---- values

    def _site(self, control: ExecControl, way: Way, place: int) -> InstructionSite:
        return InstructionSite(control, way.registers, self.line(place), way.is_common, control.no_mask)

    def _set(self, statement: Set, way: Way) -> None:
        target, value = statement.target, statement.value
        site = self._site(statement.control, way, statement.places[0])
        self._touch_arrays(statement.places[0], site, way)
        guarded = () if statement.guard is None else (statement.guard, target)
        site = replace(site, by_all=self.operands.is_by_all((value, *guarded), site))
        if isinstance(value, Compare):
            self._compare(value, target, site)
            return
        if isinstance(target, PredicateOperand):
            assert isinstance(value, Calc)
            self._predicate_logic(value, target, statement.guard, site)
            return
        type_ = self.operands.type_of(target)
        if statement.guard is None and self.operands.is_by_elements(value, site):
            elements = [self.operands.value(value, type_, site) for _ in self._elements(site.control)]
            for at in self._elements(site.control):
                self._assign(target, elements[at], TRUE, site)
            return
        found = self.operands.value(value, type_, site)
        self._assign(target, found, self.operands.flag(statement.guard, site), site)

    def _elements(self, control: ExecControl) -> Iterator[int]:
        """Yield the elements of an instruction, and let the operands be read at each of them."""
        for at in range(control.exec_size):
            self.operands.element = at
            yield at
        self.operands.element = None

    def _assign(self, target: Value, value: Sum | None, guard: Claim, site: InstructionSite) -> None:
        """Write a value, or None for an unknown one, to a destination if a guard holds."""
        registers = site.registers
        if not isinstance(target, General) or target.var in self.operands.taken:
            if isinstance(target, Indirect):
                for root in self.operands.taken_roots:
                    registers.forget(root)
            return
        where = self.storage.general.get(target.var)
        if where is None or not target.var:
            return
        place = self.operands.place(target, site.control)
        if place is None:
            registers.forget(where.root)
            return
        self._put(place, value, guard, site, signed=self.operands.type_of(target).is_signed)

    def _put(
        self, place: LanePlace, value: Sum | None, guard: Claim, site: InstructionSite, *, signed: bool = False
    ) -> None:
        """Write a value to a place."""
        control, registers = site.control, site.registers
        if control.exec_size == 1 and not control.no_mask and (not site.is_common or control.mask_offset):
            value = None  # because the lane may be inactive
        if value is None:
            registers.forget(place.root, place.bits)
            return
        by_all = site.by_all or (not place.stride and site.is_common)
        if guard != TRUE:
            old = registers.read(place, signed=signed, line=site.line)
            value = self.pool.choice(guard, value, old)
            by_all = by_all and guard.level <= Level.THREAD
        registers.write(place, value, signed=signed, by_all=by_all)

    def _put_flag(self, target: PredicateOperand, value: Claim, site: InstructionSite, what: str) -> None:
        """Write a condition to a predicate."""
        control = site.control
        is_single = control.exec_size == 1
        by_all = site.by_all or (is_single and site.is_common and not control.mask_offset)
        if is_single and (not by_all or value.level > Level.THREAD):
            value = self.pool.fresh_fact(f"{what} of one lane", Level.THREAD, site.line)
        site.registers.set_flag(target.var, control.mask_offset, control.exec_size, value, by_all=by_all)

    def _compare(self, value: Compare, target: Value, site: InstructionSite) -> None:
        exec_type = execution_type([self.operands.type_of(one) for one in (value.left, value.right)])
        if exec_type.is_int:
            left, right = (self.operands.source(one, exec_type, site) for one in (value.left, value.right))
            claim = RELATIONS[value.relation](left, right)
        else:
            level = Level.THREAD if site.control.exec_size == 1 else Level.ITEM
            claim = self.pool.fresh_fact("a comparison of floats", level, site.line)
        if isinstance(target, PredicateOperand):
            self._put_flag(target, claim, site, "a comparison")
            return
        type_ = self.operands.type_of(target)
        ones = self.pool.choice(claim, number(-1 if type_.is_signed else (1 << type_.bits) - 1), number(0))
        self._assign(target, ones if type_.is_int else None, TRUE, site)

    def _predicate_logic(
        self, value: Calc, target: PredicateOperand, guard: Predicate | None, site: InstructionSite
    ) -> None:
        mask_offset, lanes = site.control.mask_offset, site.control.exec_size
        whole = lanes == 1
        args: list[Claim] = []
        for one in (*value.args, target):
            assert isinstance(one, PredicateOperand)
            claim = site.registers.flag(one.var, mask_offset, lanes, whole=whole)
            level = Level.THREAD if whole else Level.ITEM
            args.append(claim or self.pool.fresh_fact("a predicate", level, site.line))
        old = args.pop()
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
        if guard is not None:
            held = self.operands.flag(guard, site)
            result = either(both(held, result), both(negation(held), old))
        self._put_flag(target, result, site, "a predicate")

    # ---- memory

    def _transfer(self, message: ElementMessage, place: int, way: Way) -> None:
        control = message.control
        site = self._site(control, way, place)
        first_lane = replace(site, control=ExecControl(1, control.mask_offset, no_mask=True))
        address = self._address(message, first_lane if message.single else site)
        guard = self.operands.flag(message.guard, site)
        write, atomic = message.use is not MemoryUse.READ, message.use is MemoryUse.ATOMIC
        stored = [self._find_stored(message, way.registers)]
        if not write:
            self._load(message, address, guard, site)
        addresses = [address]
        if control.no_mask and control.exec_size > 1 and not message.single:
            # The lanes are elements, so each work item of the thread accesses the places of every lane.
            addresses = [self._address(message, site) for _ in self._elements(control)]
            stored = [self._find_stored(message, way.registers) for _ in self._elements(control)]
        parts = self._parts_of(message)
        for one, values in zip(addresses, stored, strict=True):
            for start, size in parts:
                at = one + start
                self._access(place, way, message.memory, at, size, guard, write=write, atomic=atomic, stored=values)

    def _parts_of(self, message: ElementMessage) -> list[tuple[int, int]]:
        """Return the first byte and the size of each part of an access.

        Compilers load elements that nothing reads; a run has no fault of them either.
        """
        size, unread = message.size, list[bool]()
        if message.use is MemoryUse.READ:
            columns = message.cell * (1 if message.single else message.control.exec_size)
            rows, pitch = len(message.elements), message.row(self.platform.grf_bytes)
            unread = find_unread_rows(self._read_bytes, self.storage, message.data, rows, columns, pitch)
        unread = unread or [False] * len(message.elements)
        parts: list[tuple[int, int]] = []
        for element in sorted(one for one, is_unread in zip(message.elements, unread, strict=True) if not is_unread):
            if parts and sum(parts[-1]) == element * size:
                parts[-1] = (parts[-1][0], parts[-1][1] + size)
            else:
                parts.append((element * size, size))
        return parts

    def _texels(
        self, message: TexelMessage | SampleMessage, place: int, condition: Claim, site: InstructionSite, way: Way
    ) -> None:
        """Record the access of a message to an image, whose texels are one number of their coordinates."""
        space, _, why = self._find_space(message.memory, ZERO, way.registers)
        if space[0] != IMAGE:
            space, why = (UNKNOWN, 0), "its image is not known"
        texel, inside = ZERO, TRUE
        coordinates = _coordinates_of(message, self.kernel.instructions[place])
        if coordinates is None or site.control.no_mask:
            # The texels near a place, or those of several lanes, may be any.
            texel = self.pool.fresh("a sampled place", Level.ITEM, 0, (1 << 3 * COORDINATE_BITS) - 1, site.line)
        else:
            for axis, (operand, type_, offset) in enumerate(coordinates):
                if not operand.var:
                    continue
                value = self.operands.read(Lanes(operand, type_), type_, site, signed=type_.is_signed) + offset
                # Reads outside of an image give a fixed value, writes outside are dropped.
                inside = both(inside, at_most(value * -1, 0), less(value, 1 << COORDINATE_BITS))
                texel = texel + value * (1 << axis * COORDINATE_BITS)
        write = isinstance(message, TexelMessage) and message.use is not MemoryUse.READ
        atomic = isinstance(message, TexelMessage) and message.use is MemoryUse.ATOMIC
        self._record(place, way, space, texel, 1, both(condition, inside), write=write, atomic=atomic, why=why)

    def _put_result(self, message: ElementMessage, condition: Claim, site: InstructionSite) -> None:
        """Write the value that an atomic operation returns, about which nothing is known."""
        place = self._place_of_element(message, 0) if message.data.var else None
        if place is not None:
            value = self.pool.fresh(RETURNED, Level.ITEM, *limits(place.size, signed=False), site.line)
            self._put(place, value, condition, site)

    def _find_stored(self, message: ElementMessage, registers: ItemRegisters) -> tuple[Sum, ...]:
        """Return the elements that a store writes; none if one of them is not known."""
        if message.use is not MemoryUse.WRITE:
            return ()
        places = [self._place_of_element(message, index) for index in range(len(message.elements))]
        values = [registers.find(place, signed=False) for place in places if place is not None]
        stored = tuple([one for one in values if one is not None])
        return stored if len(stored) == len(places) else ()

    def _place_of_element(self, message: ElementMessage, index: int) -> LanePlace | None:
        """Return the place of an element of a load or store in its register."""
        data, row = message.data, message.row(self.platform.grf_bytes)
        if message.single:
            where = self.storage.general.get(data.var)
            return LanePlace(where.root, where.offset + data.offset + index * row, 0, row) if where else None
        return self.operands.raw_place(RawOperand(data.var, data.offset + index * row), message.cell, message.control)

    def _address(self, message: ElementMessage, site: InstructionSite) -> Sum:
        form = message.address
        operand = Lanes(form.operand, form.type) if isinstance(form.operand, RawOperand) else form.operand
        type_ = self.operands.type_of(operand)
        address = self.operands.read(operand, type_, site, signed=type_.is_signed) * form.scale + form.offset
        if form.common is not None:
            address = address + self.operands.source(form.common, ty.D, site.for_thread)
        address = (self.pool.wrap(address, 32, signed=False) if form.wraps else address) * form.unit
        if form.base is not None:
            base = self.operands.read(form.base, self.operands.type_of(form.base), site.for_thread, signed=False)
            address = address + base
        return address

    def _load(self, message: ElementMessage, address: Sum, guard: Claim, site: InstructionSite) -> None:
        data = message.data.var
        if data not in self.storage.general or not data or data in self.operands.taken:
            return
        low, high = limits(message.size, signed=False)
        level = Level.THREAD if message.single or message.control.exec_size == 1 else Level.ITEM
        space, offset, why = self._find_space(message.memory, address, site.registers)
        for index, element in enumerate(message.elements):
            value = self.pool.fresh(LOADED, level, low, high, site.line)
            if not why:
                place = LoadedElement(space, offset + element * message.size, message.size)
                self.loaded[value.factors[0][0]] = place
            register_place = self._place_of_element(message, index)
            if register_place is not None:
                value = value * (1 << 8 * message.first)
                self._put(register_place, value, guard, site.for_thread if message.single else site)

    def _access(
        self, place: int, way: Way, memory: MessageMemory, address: Sum, size: int, guard: Claim, *, write: bool,
        atomic: bool, stored: tuple[Sum, ...] = (),
    ) -> None:  # fmt: skip
        for test, part in self.memory.pointer_cases(address):
            space, offset, why = self._find_space(memory, part, way.registers)
            if space[0] == IMAGE:
                why = "it accesses an image as a buffer"
            self._record(
                place, way, space, offset, size, both(guard, test), write=write, atomic=atomic, why=why, stored=stored
            )

    def _find_space(self, memory: MessageMemory, address: Sum, registers: ItemRegisters) -> tuple[Space, Sum, str]:
        handle = None
        if isinstance(memory.operand, General):
            handle = self.operands.read(
                memory.operand, ty.UD, InstructionSite(ONE_LANE, registers, 0, is_common=True), signed=False
            )
        return self.memory.space(memory, address, registers, handle)

    def _record(
        self, place: int, way: Way, space: Space, offset: Sum = ZERO, size: int = 1, guard: Claim = TRUE, *,
        write: bool = True, atomic: bool = False, why: str = "", stored: tuple[Sum, ...] = (),
    ) -> None:  # fmt: skip
        """Record an access of the work item; the defaults are those of one that is not modelled."""
        path = both(*way.path, *way.facts, guard)
        if self.records and path != FALSE:
            control = exec_control_of(self.kernel.instructions[place])
            is_half = not control.no_mask and 1 < control.exec_size < self.simd
            if is_half and not {atom for atom, _ in self.lane.factors}.isdisjoint(atoms_of(path, offset)):
                path = both(path, is_lane_in(self.lane, control.mask_offset, control.exec_size))
            # A walk up to the next barrier belongs to any round, so that the fences of all rounds apply.
            fences = _REPEATED if self.stops_at_barrier else way.order.memories[memory_of(space)]
            access = ItemAccess(
                place, self.line(place), write, atomic, space, offset, size, path, way.intervals, fences, why, stored
            )
            for index in range(len(self.accesses) - 1, max(-1, len(self.accesses) - 1 - 2 * MAX_ELEMENTS), -1):
                joined = join_accesses(self.accesses[index], access)
                if joined is not None:
                    self.accesses[index] = joined
                    return
            self.accesses.append(access)

    # ---- named operations

    def _call(self, inst: Inst, place: int, way: Way) -> Way:
        registers, name = way.registers, effect_of(inst.row.meaning)
        control, guard = inst.get("exec"), inst.get("pred")
        site = self._site(control if isinstance(control, ExecControl) else ONE_LANE, way, place)
        site = replace(site, by_all=self.operands.is_by_all(inst.values, site))
        condition = self.operands.flag(guard if isinstance(guard, Predicate) else None, site)
        self._touch_arrays(place, site, way)
        if isinstance(target := inst.get("dst"), Address):
            self._set_address(inst, target, condition, site)
            return way
        if name == "barrier":
            return self._barrier(place, way)
        message: Message | SampleMessage | None = understood_message_of(inst)
        if isinstance(inst.row.meaning, SampleForm):
            message = sample_message_of(inst, self.kernel.variable_type)
        if isinstance(message, FenceMessage) and message.typed:
            return replace(way, order=replace(way.order, has_fence=True))  # it covers no buffer
        if isinstance(message, FenceMessage):
            order = way.order.add_fence(SHARED_MEMORY if message.shared else GLOBAL_MEMORY, self.new_interval())
            return replace(way, order=order)
        if isinstance(message, ElementMessage) and _is_modelled(message):
            self._transfer(message, place, way)
            if message.use is MemoryUse.ATOMIC:
                self.forget_writes(inst, registers)
                self._put_result(message, condition, site)
            return way
        if isinstance(message, TexelMessage | SampleMessage):
            self._texels(message, place, condition, site, way)
            self.forget_writes(inst, registers)
            return way
        if name == "faddr":
            target, number_ = inst.get("dst"), inst.get("name")
            address = self.symbols.variable(self.kernel.string(number_) if isinstance(number_, int) else "")
            self._assign(
                target, self.pool.wrap(address, self.operands.type_of(target).bits, signed=False), condition, site
            )
            return way
        if name == "addc" and guard is None and self._add_elements(inst, site):
            return way
        if name in ("addc", "madw") and self._compute_wide(inst, name, condition, site):
            return way
        if name == "bfn":
            self._bfn(inst, condition, site)
            return way
        if name == "movs":
            target, value = inst.get("dst"), inst.get("src0")
            if isinstance(target, State) and not target.sampler:
                surface = value.bits & 0xFFFFFFFF if isinstance(value, Immediate) else None
                if isinstance(value, State):
                    surface = registers.surfaces.get(value.var)
                registers.surfaces[target.var] = surface if not target.offset else None
                return way
        elif name in ("setp", "mov") and isinstance(inst.get("dst"), PredicateOperand):
            self._set_predicate(inst, site)
            return way
        self._memory_call(inst, place, condition, way)
        self.forget_writes(inst, registers)
        return way

    def _barrier(self, place: int, way: Way) -> Way:
        if self.records:
            self.meetings.append(Meeting(self.line(place), way.path, way.facts))
        if self.ignores_barriers:
            return way
        if self.stops_at_barrier:
            return way.end()
        number_ = self.new_interval()
        orders_shared = self.platform.generation <= LAST_WITH_ORDERED_SHARED
        order = way.order.add_barrier(number_, orders_shared=orders_shared)
        return Way(way.registers, way.path, frozenset({number_}), way.facts, order)

    # ---- variables that are indexed

    def _set_address(self, inst: Inst, target: Address, condition: Claim, site: InstructionSite) -> None:
        """Write the address of a variable, or an address plus an offset, to elements of an address variable."""
        registers, base, step, lanes = site.registers, inst.get("src0"), inst.get("src1"), site.control.exec_size
        start: tuple[int, Sum] | None = None
        if isinstance(base, AddressOf | General):
            size = self.operands.type_of(base).size if isinstance(base, General) else self._element_size(base.var)
            start = base.var, number(regions.origin(base.row, base.col, size, self.platform.grf_bytes))
        elif isinstance(base, Address):
            addresses = registers.addresses
            start = addresses.get((base.var, base.offset, lanes)) or addresses.get((base.var, base.offset, 1))
        registers.forget_addresses(target.var)
        if start is None or condition != TRUE or isinstance(step, Address):
            return
        variable, position = start
        if step is not None:
            type_ = self.operands.type_of(step)
            offset = self.operands.read(step, type_, site, signed=type_.is_signed)
            position = position + self.pool.wrap(offset, 16, signed=True)
        if lanes > 1 or site.control.no_mask or (site.is_common and not site.control.mask_offset):
            registers.addresses[target.var, target.offset, lanes] = variable, position

    def _element_size(self, var: int) -> int:
        where = self.storage.general.get(var)
        return where.element if where is not None else 1

    def _touch_arrays(self, place: int, site: InstructionSite, way: Way) -> None:
        """Record what the indirect operands of an instruction address, because an index may leave its variable."""
        inst, lanes = self.kernel.instructions[place], site.control.exec_size
        for value in inst.values:
            if not isinstance(value, Indirect):
                continue
            guard = inst.get("pred") if inst.row.predicate_use is PredicateUse.GUARDS else None
            condition = self.operands.flag(guard if isinstance(guard, Predicate) else None, site)
            region, count = value.region, 1
            if region.width is None:
                elements = regions.destination_elements(region.horz_stride or 1, lanes)
            else:
                elements = regions.source_elements(region, lanes)
                count = lanes // region.width if region.vert_stride is None else 1
            address = site.registers.addresses.get((value.var, value.addr_offset, count))
            variable, position = address or (0, ZERO)
            declared = self.kernel.variable(variable)
            why = (
                ""
                if address and declared is not None
                else "the index of a private array, or the address of another operand in registers, is not followed"
            )
            size = (max(elements) + 1) * value.type.size
            self._record(place, way, (ARRAY, variable), position + value.offset, size, condition, write=False, why=why)

    def new_interval(self) -> int:
        """Return the number of a new stretch between barriers."""
        self._interval += 1
        return self._interval

    def _add_elements(self, inst: Inst, site: InstructionSite) -> bool:
        """Add a packed constant with carry, element by element; return whether the instruction does that."""
        value, constant, target, carry = (inst.get(name) for name in ("src0", "src1", "dst", "carry"))
        if not (isinstance(value, General) and isinstance(target, General) and isinstance(carry, General)):
            return False
        control = site.control
        where = [self.storage.root(one.var) for one in (value, target, carry)]
        is_plain = value.modifier is OperandModifier.NONE and isinstance(constant, Immediate) and len(set(where)) == 3
        if not is_plain or not control.no_mask or control.exec_size > MAX_ELEMENTS:
            return False
        sums = []
        for _ in self._elements(control):
            one, other = (self.operands.read(one, ty.UD, site, signed=False) for one in (value, constant))
            sums.append(one + other)
        for index in self._elements(control):
            self._assign(carry, self.pool.quotient(sums[index], 1 << 32), TRUE, site)
            self._assign(target, self.pool.wrap(sums[index], 32, signed=False), TRUE, site)
        return True

    def _compute_wide(self, inst: Inst, name: str, condition: Claim, site: InstructionSite) -> bool:
        """Compute a result of 64 bits in two halves; return whether its places are known."""
        target, carry, lanes = inst.get("dst"), inst.get("carry"), site.control.exec_size
        if not isinstance(target, General):
            return False
        sources = [one for index in range(3) if (one := inst.get(f"src{index}")) is not None]
        exec_type = execution_type([self.operands.type_of(one) for one in sources])
        summand, *rest = (self.operands.source(one, exec_type, site) for one in sources)
        if name == "madw":
            rows = regions.rows_of_low_halves(target.region.horz_stride or 1, lanes, 4, self.platform.grf_bytes)
            carry, summand = structs.replace(target, row=target.row + rows), self.pool.product(summand, rest.pop(0))
        total = summand + rest[0]
        for place, value in ((target, total), (carry, self.pool.quotient(total, 1 << 32))):
            signed = self.operands.type_of(place).is_signed
            self._assign(place, self.pool.wrap(value, 32, signed=signed), condition, site)
        return True

    def _bfn(self, inst: Inst, condition: Claim, site: InstructionSite) -> None:
        target, table = inst.get("dst"), inst.get("func")
        sources = [inst.get(f"src{i}") for i in range(3)]
        exec_type = execution_type([self.operands.type_of(one) for one in sources])
        value = None
        if exec_type.is_int and isinstance(table, int) and isinstance(target, General):
            args = [self.operands.source(one, exec_type, site) for one in sources]
            own = self.operands.type_of(target)
            with suppress(NotModelled):
                result = Arithmetic(self.pool, exec_type, own, site.line).bitwise(table, args)
                value = self.pool.wrap(result, own.bits, signed=own.is_signed) if own.is_int else None
        self._assign(target, value, condition, site)

    def _set_predicate(self, inst: Inst, site: InstructionSite) -> None:
        target, value = inst.get("dst"), inst.get("src0")
        assert isinstance(target, PredicateOperand)
        mask_offset, lanes = site.control.mask_offset, site.control.exec_size
        claim, by_all = None, False
        if isinstance(value, PredicateOperand):
            claim = site.registers.flag(value.var, mask_offset, lanes, whole=False)
            by_all = all(one[3] for one in site.registers.flags.get(value.var, ()))
        elif isinstance(value, Immediate) and value.bits & (1 << lanes) - 1 in (0, (1 << lanes) - 1):
            claim, by_all = TRUE if value.bits & 1 else FALSE, True
        claim = claim or self.pool.fresh_fact("a predicate", Level.ITEM, site.line)
        site.registers.set_flag(target.var, mask_offset, lanes, claim, by_all=by_all)

    def _memory_call(self, inst: Inst, place: int, condition: Claim, way: Way) -> None:
        mnemonic = inst.row.mnemonic
        if inst.row.flow is not FlowClass.NEXT:
            self._record(place, way, (UNKNOWN, 0), why=f"{mnemonic} calls a function, which is not followed")
            registers = way.registers
            for part in (registers.cells, registers.flags, registers.surfaces, registers.addresses):
                part.clear()
        elif inst.row.family == "sampler" or (inst.row.has(Trait.IMAGE) and not inst.row.has(Trait.ATOMIC)):
            write = inst.row.has(Trait.WRITES)
            self._record(place, way, (IMAGE, -1), guard=condition, write=write, why="images are not modelled")
        elif inst.row.family in _MEMORY_FAMILIES:
            self._record(place, way, (UNKNOWN, 0), guard=condition, why=f"{mnemonic} is not modelled")


_MEMORY_FAMILIES: Final = frozenset({"data_port", "svm", "lsc", "media"})


def _coordinates_of(message: TexelMessage | SampleMessage, inst: Inst) -> list[tuple[RawOperand, DataType, int]] | None:
    """Return the coordinates of a texel with their types and offsets; None for texels near a place."""
    if isinstance(message, TexelMessage):
        return [(one.operand, message.type, one.offset) for one in message.coordinates]
    moved = inst.get("aoffimmi")
    is_plain = moved is None or (isinstance(moved, Immediate) and not moved.bits)
    operands = {name: operand for name, operand, type_ in message.parameters if type_ == "<i4"}
    if not inst.row.has(Trait.LOADS_PIXELS) or not is_plain or "u" not in operands or OFFSETS in operands:
        return None
    return [(operands.get(name, RawOperand(0, 0)), ty.D, 0) for name in ("u", "v", "r")]


def _is_modelled(message: ElementMessage) -> bool:
    """Return whether the walk follows a message: not those of a heap of states, with a stride, or about residency."""
    return (
        not message.memory.index
        and not message.address.strided
        and message.use is not MemoryUse.TEST
        and not message.residency
    )


def _accesses_memory(inst: Inst) -> bool:
    is_fence = isinstance(inst.row.meaning, FenceForm)
    return inst.row.family in {*_MEMORY_FAMILIES, "sampler"} and not is_fence


def _common_beginning(lists: Sequence[tuple[Claim, ...]]) -> tuple[Claim, ...]:
    same = takewhile(lambda parts: all(part == parts[0] for part in parts), zip(*lists, strict=False))
    return tuple([parts[0] for parts in same])


def has_loop(code: Sequence[Statement]) -> bool:
    """Return whether there is a loop among statements."""
    return any(
        isinstance(one, Repeat) or (isinstance(one, If) and (has_loop(one.then) or has_loop(one.otherwise)))
        for one in code
    )


def places_in(code: Sequence[Statement], reading: Reading) -> set[int]:
    """Return the instructions of statements, of nested statements, and of the subroutines that they call."""
    places: set[int] = set()
    called: set[int] = set()
    work = list(code)
    while work:
        statement = work.pop()
        if isinstance(statement, Set | Transfer | NamedCall):
            places.update(statement.places)
        elif isinstance(statement, If):
            work += [*statement.then, *statement.otherwise]
        elif isinstance(statement, Repeat):
            work += statement.body
        elif isinstance(statement, Invoke) and statement.routine not in called:
            called.add(statement.routine)
            work += next(routine.body for routine in reading.routines if routine.entry == statement.routine)
    return places
