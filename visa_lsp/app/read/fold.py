"""Folding for readers: a value that is used once moves to its use, constants and copies to all of their uses.

A statement is removed only if the data flow proves that no other statement reads its result. The statements of one list
up to the next branch are a run. In a run the active lanes are the same, so that a later write of the same lanes
overwrites an earlier one completely.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from visa_lsp.app.read.effects import Bits, Effects, mask_of
from visa_lsp.app.read.lower import CARRIES, HALVES
from visa_lsp.app.read.model import (
    Both,
    BranchTest,
    Calc,
    Choose,
    Compare,
    Expr,
    If,
    Lanes,
    MemoryPlace,
    NamedCall,
    Reading,
    Repeat,
    Set,
    Statement,
    Transfer,
    leaves,
    map_leaves,
    parts,
    single,
)
from visa_lsp.app.read.spans import UNIFORM, Span, Spans, access_control
from visa_lsp.app.read.structure import shape_loop
from visa_lsp.flow.steps import Space, variable_key
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.lane import S0, effect_of
from visa_lsp.isa.model import Trait
from visa_lsp.isa.operands import SCALAR_REGION, OperandModifier
from visa_lsp.isa.predefined import FIRST_SURFACE
from visa_lsp.program.model import Combine, General, Immediate, Inst, Kernel, PredicateOperand, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.read.names import ReadingNames
    from visa_lsp.isa.types import DataType, ExecControl

    Plain = Set | Transfer | NamedCall

SHARED_TAG: Final = 0x10000000  # in addresses of shared local memory
MAX_DISTANCE: Final = 48  # statements between two halves; compilers emit them side by side, or a dozen apart
_SUMS: Final = frozenset({"src", "add", "add3", "sub", "mul", "mad", "shl"})
MAX_SUM: Final = 4  # operations of an address that may be repeated
MAX_OPERATIONS: Final = 6  # operations of a moved value, so that lines stay short
MAX_STATEMENT: Final = 12  # operations of all values moved into one statement
_CONTROL: Final = variable_key(Space.GENERAL, 14)  # rounding and denormals
_CLOCK: Final = variable_key(Space.GENERAL, 6)


def fold_reading(reading: Reading, kernel: Kernel, names: ReadingNames) -> Reading:
    """Return the same program in fewer statements. ``names`` is used to compare the texts of halves."""
    folder = _Folder(kernel, names)
    routines = [replace(routine, body=folder.code(routine.body)) for routine in reading.routines]
    return Reading(tuple(routines))


@dataclass(slots=True)
class _Item:
    """A statement of a run with the bits that it reads and writes."""

    statement: Plain | Both
    reads: Bits
    writes: Bits


@dataclass(frozen=True, slots=True)
class _Definition:
    """An assignment as a definition: the places of the elements of its target, and the value."""

    key: int
    bytes: list[int]
    size: int
    mask: int
    type: DataType
    value: Expr
    control: ExecControl
    is_cheap: bool

    def meets(self, elements: tuple[int, list[int], int]) -> bool:
        """Return whether elements, a key with first bytes and a size, are among those of the target."""
        key, bytes_, size = elements
        return key == self.key and bool(mask_of(bytes_, size) & self.mask)


class _Uses:
    """The statements of a run by the variables that they read and write, so that edits of long runs stay cheap."""

    def __init__(self, run: list[_Item]) -> None:
        self._run = run
        self._reading: dict[int, list[int]] = {}
        self._writing: dict[int, list[int]] = {}
        for number, item in enumerate(run):
            for key in item.reads:
                self._reading.setdefault(key, []).append(number)
            for key in item.writes:
                self._writing.setdefault(key, []).append(number)

    def first_writer(self, key: int, mask: int, start: int, last: int | None = None) -> int | None:
        """Return the first statement after ``at``, up to ``last``, that writes bits of a variable."""
        numbers = _behind(self._writing.get(key, []), start, last)
        return next((number for number in numbers if self._run[number].writes.get(key, 0) & mask), None)

    def readers(self, key: int, mask: int, start: int, last: int | None) -> list[int]:
        """Return the statements after ``at``, up to ``last``, that read bits of a variable."""
        numbers = _behind(self._reading.get(key, []), start, last)
        return [number for number in numbers if self._run[number].reads.get(key, 0) & mask]

    def move(self, index: int, readers: Sequence[int]) -> None:
        """Record that the readers of a moved value also read the inputs of that value."""
        for key in self._run[index].reads:
            numbers = self._reading[key]
            for number in readers:
                where = bisect_left(numbers, number)
                if where == len(numbers) or numbers[where] != number:
                    numbers.insert(where, number)


def _behind(numbers: Sequence[int], start: int, last: int | None) -> Iterator[int]:
    """Yield the numbers above ``at``, up to ``last``."""
    for place in range(bisect_right(numbers, start), len(numbers)):
        if last is not None and numbers[place] > last:
            return
        yield numbers[place]


class _Folder:
    """Folds the runs of one body."""

    def __init__(self, kernel: Kernel, names: ReadingNames) -> None:
        self.kernel = kernel
        self.effects = Effects(kernel, names.grf_bytes)
        self.written = {key for place in range(len(kernel.instructions)) for key in self.effects.writes(place)}
        self.halves = _Halves(kernel, names)
        self.last_tests: tuple[Set | Both, ...] = ()
        self.tags = self._find_tags()

    def _find_tags(self) -> dict[int, Immediate]:
        """Return the variables that only ever hold the bits which mark an address of shared local memory."""
        writers: Counter[int] = Counter()
        tags: dict[int, Immediate] = {}
        for place, inst in enumerate(self.kernel.instructions):
            writers.update(self.effects.writes(place).keys())
            value, target = inst.get("src0"), inst.get("dst")
            if not (inst.row.has(Trait.COPIES) and isinstance(value, Immediate) and isinstance(target, General)):
                continue
            if value.bits and not value.bits % SHARED_TAG and value.type.is_int:
                tags[target.var] = value
        return {var: value for var, value in tags.items() if writers[variable_key(Space.GENERAL, var)] == 1}

    def _tag_of(self, leaf: Expr) -> Expr | None:
        return self.tags.get(leaf.var) if isinstance(leaf, General) else None

    def code(self, code: Sequence[Statement], last_test: tuple[BranchTest, int] | None = None) -> tuple[Statement, ...]:
        """Fold a list and the lists inside it; ``last_test`` is the condition after it, and its place."""
        out: list[Statement] = []
        run: list[_Item] = []
        last = -1

        def close(next_test: BranchTest | None = None, place: int = -1) -> tuple[Set | Both, ...]:
            nonlocal last
            tests: tuple[Set | Both, ...] = ()
            if run:
                self._fold(run, last)
                for item in run if self.tags else ():
                    if isinstance(item.statement, Transfer):
                        address = map_leaves(item.statement.address, self._tag_of)
                        item.statement = replace(item.statement, address=address)
                self._merge(run)
                tests = self._tests(run, next_test, place) if next_test is not None else ()
                out.extend(item.statement for item in run)
                run.clear()
            last = -1
            return tests

        for statement in code:
            if isinstance(statement, Set | Transfer | NamedCall):
                place = statement.places[-1]
                run.append(_Item(statement, self.effects.reads(place), self._writes(statement, place)))
                last = place
            elif isinstance(statement, If):
                tests = close(statement.condition, statement.places[0])
                out.append(self._if(statement, tests))
            else:
                close()
                out.append(self._loop(statement) if isinstance(statement, Repeat) else statement)
        if last_test is not None:
            self.last_tests = close(*last_test)
        close()
        return tuple(out)

    def _writes(self, statement: Plain, place: int) -> Bits:
        """Return the bits that a statement writes; an instruction with two results has two statements."""
        if isinstance(statement, Set) and effect_of(self.kernel.instructions[place].row.meaning) in (*CARRIES, HALVES):
            elements = (
                self.effects.place_bytes(statement.target, statement.control.exec_size)
                if isinstance(statement.target, General)
                else None
            )
            if elements is not None:
                return {elements[0]: mask_of(elements[1], elements[2])}
        return self.effects.writes(place)

    def _if(self, statement: If, tests: tuple[Set | Both, ...]) -> If:
        places = {p for test in tests for p in test.places}
        return If(
            replace(statement.condition, tests=tests),
            self.code(statement.then),
            self.code(statement.otherwise),
            tuple(sorted({*places, *statement.places})),
        )

    def _loop(self, loop: Repeat) -> Repeat:
        """Fold a loop; a test that ends its body becomes part of its condition."""
        self.last_tests = ()
        body = self.code(loop.body, (loop.last, loop.last_places[0]) if loop.last is not None else None)
        if loop.last is not None and self.last_tests:
            places = {p for test in self.last_tests for p in test.places}
            last = replace(loop.last, tests=self.last_tests)
            return replace(loop, body=body, last=last, last_places=tuple(sorted({*places, *loop.last_places})))
        return shape_loop(body) if loop.first is None and loop.last is None else replace(loop, body=body)

    def _fold(self, run: list[_Item], last: int) -> None:
        self._name_surfaces(run, last)
        uses = _Uses(run)
        run[:] = [item for index, item in enumerate(run) if not self._move(run, uses, index, last)]

    # ---- halves and tests

    def _merge(self, run: list[_Item]) -> None:
        """Merge equal statements for neighbouring lanes into one: first quarters, then halves."""
        while self._merge_once(run):
            pass

    def _merge_once(self, run: list[_Item]) -> bool:
        """Merge neighbouring lanes once; return whether the results may be merged again."""
        index, again = 0, False
        while index < len(run):
            low = run[index]
            if not isinstance(low.statement, NamedCall) and self.halves.is_low(low.statement):
                for number in range(index + 1, min(len(run), index + 1 + MAX_DISTANCE)):
                    high = run[number]
                    if (
                        not isinstance(high.statement, NamedCall)
                        and self.halves.is_high(high.statement, low.statement)
                        and not _meet(low.writes, high.reads)
                        and all(_may_pass(high, item) for item in run[index + 1 : number])
                        and self.halves.same(low.statement, high.statement)
                    ):
                        places = tuple(sorted({*low.statement.places, *high.statement.places}))
                        both = Both(low.statement, high.statement, places)
                        run[index] = _Item(both, _union(low.reads, high.reads), _union(low.writes, high.writes))
                        del run[number]
                        again = again or self.halves.lanes(both)[1] < self.halves.simd
                        break
            index += 1
        return again

    def _tests(self, run: list[_Item], condition: BranchTest, place: int) -> tuple[Set | Both, ...]:
        """Remove from a run the statements that compute the predicate of a condition, if nothing else reads it; return them."""
        predicate, control = condition.predicate, condition.control
        if predicate is None or condition.index is not None:
            return ()
        lone, is_plain = condition.whole or control.exec_size == 1, predicate.combine is Combine.NONE
        bits = (1 if lone and is_plain else (1 << control.exec_size) - 1) << control.mask_offset
        target = variable_key(Space.PREDICATE, predicate.var)
        needed = {target}
        tests: list[_Item] = []
        for item in reversed(run):
            if not needed & item.writes.keys():
                continue
            assignment = next(single([item.statement]))
            if (
                not isinstance(assignment, Set)
                or not isinstance(assignment.target, PredicateOperand)
                or assignment.guard is not None
            ):
                break
            key = variable_key(Space.PREDICATE, assignment.target.var)
            later = [other for other in run[run.index(item) + 1 :] if not any(other is test for test in tests)]
            if (
                item.writes.keys() != {key}
                or item.writes[key] & bits != bits
                or self.effects.live_behind(place, key) & item.writes[key]
                or ((lone or not is_plain) and not assignment.control.no_mask)
                or not all(_may_pass(item, other) for other in later)
            ):
                break
            tests.insert(0, item)
            read = [leaf.var for leaf in leaves(assignment.value) if isinstance(leaf, PredicateOperand)]
            needed = (needed - {key}) | {variable_key(Space.PREDICATE, var) for var in read}
            if not needed:
                break
        # The last test must write the predicate of the condition, and the first one must not depend on its old value.
        if not tests or target not in tests[-1].writes or tests[0].reads.get(target, 0):
            return ()
        for test in tests:
            run.remove(test)
        return tuple([t.statement for t in tests if isinstance(t.statement, Set | Both)])

    # ---- surfaces

    def _name_surfaces(self, run: list[_Item], last: int) -> None:
        """Replace surface and sampler variables by what they hold; remove their assignments if nothing else reads them."""
        states: dict[int, Inst] = {}  # key of a surface or sampler variable -> the instruction that sets it
        for item in run:
            statement = item.statement
            for key, inst in list(states.items()):
                if _meet(self._read_by(inst), item.writes):
                    del states[key]
            if isinstance(statement, NamedCall) and isinstance(dst := statement.inst.get("dst"), State):
                states.pop(_state_key(dst), None)
                if not dst.offset and isinstance(statement.inst.get("src0"), General | Immediate):
                    states[_state_key(dst)] = statement.inst
            elif isinstance(statement, Transfer) and statement.image is not None:
                keys = sorted(key for key in item.reads if key in states)
                item.statement = replace(statement, states=tuple([states[key] for key in keys]))
                for key in keys:
                    item.reads = _union(item.reads, self._read_by(states[key]))
                    item.reads.pop(key)
            elif isinstance(statement, Transfer) and statement.memory.variable >= FIRST_SURFACE:
                key = variable_key(Space.SURFACE, statement.memory.variable)
                source = states[key].get("src0") if key in states else None
                if isinstance(source, Immediate):
                    item.statement = replace(statement, memory=MemoryPlace(model=codes.ADDRTYPE_BTI, operand=source))
                    item.reads.pop(key, None)
        for index in range(len(run) - 1, -1, -1):
            statement = run[index].statement
            if (
                isinstance(statement, NamedCall)
                and isinstance(dst := statement.inst.get("dst"), State)
                and isinstance(statement.inst.get("src0"), General | Immediate)
                and self._is_dead(run, index, last, _state_key(dst), 1 << dst.offset)
            ):
                del run[index]

    def _read_by(self, inst: Inst) -> Bits:
        """Return the bits of the variable that a surface or sampler variable is set to."""
        value = inst.get("src0")
        elements = self.effects.place_bytes(value, 1) if isinstance(value, General) else None
        return {} if elements is None else {elements[0]: mask_of(elements[1], elements[2])}

    # ---- values

    def _move(self, run: list[_Item], uses: _Uses, index: int, last: int) -> bool:
        """Move the value of an assignment to its uses; return False if it must stay."""
        definition = self._definition(run[index])
        if definition is None:
            return False
        key, mask, inputs = definition.key, definition.mask, run[index].reads
        end = uses.first_writer(key, mask, index)
        stays = end is None and bool(self.effects.live_behind(last, key) & mask)
        if stays and (inputs.keys() & self.written or not self._is_launch_value(definition)):
            return False
        if end is not None and not self._overwrites(run[end], definition):
            return False
        readers = uses.readers(key, mask, index, end)
        if not readers or any(
            uses.first_writer(input_key, bits, index, readers[-1] - 1) is not None
            for input_key, bits in (*inputs.items(), (_CONTROL, -1))
        ):
            return False
        users: list[tuple[_Item, Plain]] = []
        several = _is_offset(definition.value)
        for number in readers:
            with_value = self._with_value(run[number], definition)
            if with_value is None:
                return False
            several = several and _is_address(run[number].statement, with_value)
            users.append((run[number], with_value))
        if len(users) > 1 and not several and not definition.is_cheap:
            return False
        places = run[index].statement.places
        for item, statement in users:
            item.statement = replace(statement, places=tuple(sorted({*places, *statement.places})))
            item.reads = {**item.reads, key: item.reads[key] & ~mask}
            for input_key, bits in inputs.items():
                item.reads[input_key] = item.reads.get(input_key, 0) | bits
        uses.move(index, readers)
        return not stays

    def _definition(self, item: _Item) -> _Definition | None:
        statement = item.statement
        if not isinstance(statement, Set) or statement.guard is not None or not isinstance(statement.target, General):
            return None
        value, control = statement.value, statement.control
        if not isinstance(value, Calc | Choose) or (control.exec_size == 1 and not control.no_mask):
            return None
        elements = self.effects.place_bytes(statement.target, control.exec_size)
        if elements is None or not self.effects.may_fold(elements[0]) or _CLOCK in item.reads:
            return None
        if _operations(value) > MAX_OPERATIONS or not all(_is_movable(leaf) for leaf in leaves(value)):
            return None
        key, bytes_, size = elements
        mask = mask_of(bytes_, size)
        if item.writes.get(key, 0) != mask:
            return None
        return _Definition(key, bytes_, size, mask, value.type, value, control, _is_cheap(value))

    def _is_launch_value(self, definition: _Definition) -> bool:
        """Return whether a definition is a plain or widened copy of a variable, whose name is clearer than that of the copy."""
        source = definition.value.args[0] if definition.is_cheap and isinstance(definition.value, Calc) else None
        own = self.kernel.variable_type(source.var) if isinstance(source, General) else None
        return own is not None and own.is_int and definition.type.is_int and own.size <= definition.type.size

    def _overwrites(self, item: _Item, definition: _Definition) -> bool:
        """Return whether a statement overwrites a definition completely, in all of its lanes."""
        statement = item.statement
        if isinstance(statement, NamedCall | Both) or statement.guard is not None:
            return False
        if isinstance(statement, Transfer) and statement.write:
            return False
        control = statement.control
        same = control == definition.control or control.no_mask
        return same and item.writes.get(definition.key, 0) & definition.mask == definition.mask

    def _is_dead(self, run: list[_Item], index: int, last: int, key: int, mask: int) -> bool:
        for item in run[index + 1 :]:
            if item.reads.get(key, 0) & mask:
                return False
            if item.writes.get(key, 0) & mask == mask and isinstance(item.statement, NamedCall):
                return True
        return not self.effects.live_behind(last, key) & mask

    def _with_value(self, item: _Item, definition: _Definition) -> Plain | None:
        """Return a statement that uses the value itself; None if it reads the elements in another way."""
        statement, own = item.statement, definition.control
        if isinstance(statement, NamedCall | Both):
            return None
        is_single, is_scalar = isinstance(statement, Transfer) and statement.single, own.exec_size == 1
        if (is_scalar and not own.no_mask) or not (is_single or is_scalar or _fits(own, statement.control)):
            return None
        lanes, count = 1 if is_single else statement.control.exec_size, 0

        def exchange(leaf: Expr) -> Expr | None:
            nonlocal count
            if isinstance(leaf, General):
                elements = self.effects.place_bytes(leaf, lanes)
                type_ = self.kernel.variable_type(leaf.var)
            elif isinstance(leaf, Lanes):
                elements, type_ = self.effects.raw_bytes(leaf.operand, leaf.type.size, lanes), leaf.type
            else:
                return None
            if elements is None or not definition.meets(elements):
                return None
            wanted = definition.bytes * lanes if is_scalar else definition.bytes
            value = definition.value
            if elements[1:] != (wanted, definition.size) or type_ is None:
                raise _Unfit
            if is_scalar and lanes > 1:
                if isinstance(value, Choose):
                    raise _Unfit
                value = map_leaves(value, _broadcast) or value
            if type_ is not definition.type:
                if not (type_.is_int and definition.type.is_int):
                    raise _Unfit
                value = Calc(S0, (value,), type_)
            count += 1
            assert isinstance(value, Calc | Choose)
            modifier = leaf.modifier if isinstance(leaf, General) else OperandModifier.NONE
            return replace(value, modifier=modifier)

        try:
            if isinstance(statement, Set):
                value = map_leaves(statement.value, exchange)
                changed: Plain = replace(statement, value=value)
                size = _operations(value)
            else:
                data = self._stored(statement)
                address, stored = map_leaves(statement.address, exchange), map_leaves(data, exchange)
                changed = replace(statement, address=address, value=stored if stored != data else statement.value)
                size = max(_operations(address), _operations(stored))
        except _Unfit:
            return None
        # The definition stays if a guard, or an operand with another region, also reads the elements.
        is_repeated = (count > 1 or size > MAX_STATEMENT) and not definition.is_cheap
        if not count or is_repeated or changed == statement or not self._reads_no_more(changed, definition):
            return None
        return changed

    def _stored(self, access: Transfer) -> Expr:
        """Return the value that an access stores, if that is one element of each lane; None for others."""
        own = self.kernel.variable_type(access.data.var)
        whole = Lanes(access.data, own) if own is not None and own.size == access.size else None
        return access.value or whole if _stores_one(access) else None

    def _reads_no_more(self, statement: Plain, definition: _Definition) -> bool:
        """Return whether only the expressions of a statement read a definition, and no other operand."""
        if not isinstance(statement, Transfer):
            return True
        for value in (statement.memory.operand, statement.offset):
            elements = self.effects.place_bytes(value, 1) if isinstance(value, General) else None
            if elements is not None and definition.meets(elements):
                return False
        here = self.effects.storage.general.get(statement.data.var)
        stores = statement.write and statement.value is None and here is not None
        return here is None or not stores or variable_key(Space.GENERAL, here.root) != definition.key


class _Halves:
    """Pairs of registers for the lower and the upper half of the lanes, as far as known."""

    def __init__(self, kernel: Kernel, names: ReadingNames) -> None:
        # Elements of the lower lanes, and the number of lanes -> the elements of the upper lanes.
        self.pairs: dict[tuple[_Elements, int], _Elements] = {}
        self.simd = names.simd
        self._spans = Spans(kernel, names)

    def lanes(self, statement: Set | Transfer | Both) -> tuple[int, int]:
        """Return the first lane and the number of lanes of a statement."""
        parts = statement.parts if isinstance(statement, Both) else (statement,)
        return parts[0].control.mask_offset, parts[0].control.exec_size * len(parts)

    def is_low(self, statement: Set | Transfer | Both) -> bool:
        """Return whether another statement may continue this one for the next lanes."""
        first_lane, count = self.lanes(statement)
        return count > 1 and 2 * count <= self.simd and first_lane % (2 * count) == 0

    def is_high(self, statement: Set | Transfer | Both, low: Set | Transfer | Both) -> bool:
        """Return whether a statement continues another of its kind for the next lanes."""
        high_part, low_part = _first(statement), _first(low)
        (first_lane, count), (first_low, count_low) = self.lanes(statement), self.lanes(low)
        controls = [(part.control.exec_size, part.control.no_mask) for part in (high_part, low_part)]
        is_next = (first_lane, count) == (first_low + count_low, count_low)
        return type(high_part) is type(low_part) and is_next and controls[0] == controls[1]

    def same(self, low: Set | Transfer | Both, high: Set | Transfer | Both) -> bool:
        """Return whether two statements differ only in registers of neighbouring lanes, and record these."""
        low_spans, high_spans = list[Span](), list[Span]()
        shapes = self._shape(_first(low), low_spans), self._shape(_first(high), high_spans)
        if shapes[0] != shapes[1] or len(low_spans) != len(high_spans):
            return False
        apart = self.lanes(low)[1]
        pairs: dict[tuple[_Elements, int], _Elements] = {}
        for a, b in zip(low_spans, high_spans, strict=True):
            if a.lanes is None or b.lanes is None:
                if a != b:
                    return False
                continue
            below, above = _elements(a), _elements(b)
            clashes = below != above and (below.root == above.root or pairs.setdefault((below, apart), above) != above)
            if below.step != above.step or clashes or (below == above and not apart * below.step):
                return False
        merged = self.pairs | pairs
        if any(self.pairs.get(a, b) != b for a, b in pairs.items()) or len(set(merged.values())) != len(merged):
            return False
        self.pairs = merged
        return True

    def _shape(self, statement: Set | Transfer, spans: list[Span]) -> object:
        """Return a statement without its registers, which are added to ``spans``."""

        def leaf(value: Expr, control: ExecControl) -> object:
            match value:
                case Calc(meaning, args, type_, saturate, modifier):
                    return meaning, [leaf(arg, control) for arg in args], type_, saturate, modifier
                case Choose(condition, yes, no, type_, saturate, modifier):
                    return condition, leaf(yes, control), leaf(no, control), type_, saturate, modifier
                case Compare(relation, left, right):
                    return relation, leaf(left, control), leaf(right, control)
            span = self._spans.span(value, control)
            if span is None:
                return value
            spans.append(span)
            return span.type, span.size, getattr(value, "modifier", None)

        if isinstance(statement, Set):
            return leaf(statement.target, statement.control), leaf(statement.value, statement.control), statement.guard
        control = access_control(statement)
        data = self._spans.data_spans(statement) if statement.value is None else []
        spans += data
        return (
            statement.write, statement.memory.shared, statement.memory.variable, statement.memory.model,
            leaf(statement.memory.operand, UNIFORM), leaf(statement.address, control), statement.scale,
            leaf(statement.offset, UNIFORM), statement.wraps, [span.type for span in data], statement.size, statement.cell,
            statement.elements, statement.single, statement.high, statement.guard, leaf(statement.value, control),
            statement.update, [leaf(source, control) for source in statement.sources],
            statement.image and (statement.image.row, [inst.get("src0") for inst in statement.states]),
        )  # fmt: skip


class _Elements(NamedTuple):
    """Elements of neighbouring lanes: the root variable, the first byte for lane 0, and the step between lanes."""

    root: int
    first: int
    step: int


def _elements(span: Span) -> _Elements:
    step = span.starts[1] - span.starts[0]
    return _Elements(span.root, span.starts[0] - step * (span.lanes or (0,))[0], step)


def _first(statement: Set | Transfer | Both) -> Set | Transfer:
    return statement.parts[0] if isinstance(statement, Both) else statement


def _state_key(state: State) -> int:
    return variable_key(Space.SAMPLER if state.sampler else Space.SURFACE, state.var)


def _meet(bits_by_key: Bits, other_bits: Bits) -> bool:
    return any(other_bits.get(key, 0) & bits for key, bits in bits_by_key.items())


def _union(bits: Bits, other_bits: Bits) -> Bits:
    return {key: bits.get(key, 0) | other_bits.get(key, 0) for key in bits.keys() | other_bits.keys()}


def _may_pass(item: _Item, other: _Item) -> bool:
    """Return whether two statements may be swapped."""
    if _meet(item.reads, other.writes) or _meet(item.writes, other.writes) or _meet(item.writes, other.reads):
        return False
    if _CONTROL in item.writes or _CONTROL in other.writes or _CLOCK in item.reads:
        return False
    kinds = [_memory(statement_item.statement) for statement_item in (item, other)]
    return 0 in kinds or kinds == [1, 1]


def _memory(statement: Plain | Both) -> int:
    """Return 0 for a statement without memory, 1 for a load, 2 for one that may write or wait."""
    match statement:
        case Set():
            return 0
        case Transfer():
            return 2 if statement.write or statement.update else 1
        case Both():
            return _memory(statement.parts[0])
    return 2


class _Unfit(Exception):  # noqa: N818 - a way out of a walk
    """An operand reads only a part of the elements, or reads them in another type."""


def _fits(definition: ExecControl, use: ExecControl) -> bool:
    """Return whether the lanes of a use are among those of a definition."""
    return (definition.exec_size, definition.mask_offset) == (use.exec_size, use.mask_offset) and (
        definition.no_mask or not use.no_mask
    )


def _stores_one(access: Transfer) -> bool:
    return (
        access.write
        and access.elements == (0,)
        and not access.single
        and not access.high
        and access.size == access.cell
    )


def _broadcast(leaf: Expr) -> Expr | None:
    return replace(leaf, region=SCALAR_REGION) if isinstance(leaf, General) else None


def _is_movable(leaf: Expr) -> bool:
    return isinstance(leaf, General | Lanes | Immediate) and not (isinstance(leaf, Immediate) and leaf.type.is_packed)


def _operations(value: Expr) -> int:
    inner = parts(value)
    own = isinstance(value, Choose | Compare) or (isinstance(value, Calc) and value.meaning != S0)
    return own + sum(map(_operations, inner))


def _is_offset(value: Expr) -> bool:
    """Return whether a value is a short sum, as in addresses; such sums may be repeated."""
    match value:
        case Calc(meaning, args, type_):
            return (
                type_.is_int and meaning.word in _SUMS and _operations(value) <= MAX_SUM and all(map(_is_offset, args))
            )
    return isinstance(value, General | Immediate | Lanes)


def _is_address(before: Plain | Both, after: Plain) -> bool:
    """Return whether a statement moves a sum into an address, or into another sum."""
    if isinstance(before, Transfer) and isinstance(after, Transfer):
        return before.value == after.value
    return isinstance(after, Set) and _is_offset(after.value)


def _is_cheap(value: Expr) -> bool:
    """Return whether a value is a constant or a copy, which may be repeated."""
    return (
        isinstance(value, Calc)
        and value.meaning == S0
        and not value.saturate
        and not isinstance(value.args[0], Calc | Choose)
    )
