"""The C variables of a body: the bits of registers that belong to one lane, named and typed by their uses.

A byte of a register is read and written by one lane, by all lanes alike, or by several lanes. Bytes of one lane become
variables that each lane has for itself, and so do bytes that all lanes read and write alike. A register with bytes of
another lane is an array that the lanes of a thread share. The registers of the lower and the upper lanes are one
variable if equal statements for these lanes use them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.read.indices import index_text
from visa_lsp.app.read.model import (
    Both,
    BranchTest,
    Calc,
    Choose,
    Compare,
    Expr,
    If,
    Invoke,
    Lanes,
    NamedCall,
    Reading,
    Repeat,
    Set,
    Statement,
    Transfer,
    flat,
    map_leaves,
    single,
)
from visa_lsp.app.read.names import ReadingNames, c_type, component, type_named
from visa_lsp.app.read.spans import UNIFORM, UNSIGNED, Span, Spans, access_control
from visa_lsp.flow.bit_accesses import exec_control_of
from visa_lsp.isa import predefined
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import S0, S1
from visa_lsp.isa.model import Role
from visa_lsp.isa.operands import SCALAR_REGION, OperandModifier
from visa_lsp.program import regions
from visa_lsp.program.model import Address, AddressOf, General, Immediate, Indirect, Kernel, RawOperand
from visa_lsp.sim.values import immediate, unpack_type

_ALL: Final = -1  # the owner of a byte that all lanes read and write alike
_EXACT: Final = frozenset({"div", "mod", "min", "max", "shr", "asr", "mulh", "avg", "bfe", "dp4a"})
_COUNTS: Final = (2, 3, 4, 8, 16)
_MAX_UNROLLED: Final = 8  # elements; each becomes a line
_PLACES_OF_CALLS: Final = {"%arg": "arg_registers", "%retval": "retval_registers"}
_POINTERS_OF_CALLS: Final = {"%sp": "&sp_registers[lane]", "%fp": "&fp_registers[lane]"}
CALL_REGISTERS: Final = {
    number: place
    for number, one in enumerate(predefined.VARIABLES)
    if (place := (_PLACES_OF_CALLS | _POINTERS_OF_CALLS).get(one.name, ""))
}


if TYPE_CHECKING:
    from visa_lsp.isa.types import DataType, ExecControl


class Spot(Struct, frozen=True):
    """A place in C: its text and its type; ``of`` is the name of the variable."""

    text: str
    type: DataType
    of: str
    word: str = ""  # the C type of a vector
    high: int = -1  # the highest value of a number of a lane


@dataclass(slots=True, eq=False)
class Cell:
    """The bytes of one lane that belong together, and the C variable that holds them."""

    root: int
    is_uniform: bool
    starts: dict[int, int] = field(default_factory=dict)  # lane -> first byte
    size: int = 0
    uses: list[tuple[int, int, DataType, bool, int]] = field(default_factory=list)  # offset, size, type, writes, weight
    same: Cell | None = None  # the cell of lower lanes that is the same variable
    name: str = ""
    variable: str = ""
    type: DataType = ty.UD
    unit: int = 0  # the size of components, if the cell is a vector
    bound: bool = False
    high: int = -1
    structure: str = ""

    @property
    def top(self) -> Cell:
        """The cell that has the name."""
        cell = self
        while cell.same is not None:
            cell = cell.same
        return cell


class Declaration(Struct, frozen=True):
    """A C variable: the type's name, its name, and the number of elements of an array (0: none)."""

    type: str
    name: str
    count: int = 0
    is_shared: bool = False

    @property
    def text(self) -> str:
        """The declaration without a value."""
        return f"{'shared ' * self.is_shared}{self.type} {self.name}{f'[{self.count}]' if self.count else ''}"


class Cells:
    """The variables of a body."""

    def __init__(self, kernel: Kernel, reading: Reading, names: ReadingNames) -> None:
        self.kernel, self.names = kernel, names
        self.spans = Spans(kernel, names)
        self.span, self.storage = self.spans.span, self.spans.storage
        self.declarations: dict[str, Declaration] = {}
        self._uses: list[tuple[Span, bool, int]] = []
        self._owner: dict[int, dict[int, int]] = defaultdict(dict)
        self._cells: dict[tuple[int, int], Cell] = {}  # root, byte
        self._arrays: dict[int, Declaration] = {}
        self.shared: set[int] = {
            number for number, place in CALL_REGISTERS.items() if place in _PLACES_OF_CALLS.values()
        }
        self.unrolled: set[int] = set()  # places of statements that are one statement for each element
        self._statements = [s for routine in reading.routines for s in flat(routine.body)]
        self._private: dict[int, tuple[str, DataType]] = {}
        self._rows = self._find_rows()
        self.numbers: dict[int, int] = {}  # root variable whose elements are successive numbers -> the first of them
        self.dropped: set[int] = set()  # statements that only fill these variables
        self._find_numbers()
        self._decide_unrolled()
        self._collect()
        self._share()
        self._build()
        self._unite()
        self._find_truths()
        self._name()

    # ---- uses

    def _find_numbers(self) -> None:
        """Find the variables that hold the number of each lane: compilers fill them from constants."""
        writes: dict[int, list[Set | None]] = defaultdict(list)
        for statement in self._statements:
            for span, is_written, _ in self._spans(statement):
                if is_written:
                    plain = isinstance(statement, Set) and statement.control.no_mask and statement.guard is None
                    writes[span.root].append(statement if plain and isinstance(statement, Set) else None)
        for root, statements in writes.items():
            numbers: dict[int, int] = {}
            if root in self.shared or not all(
                writer is not None and self._compute(writer, root, numbers) for writer in statements
            ):
                continue
            type_ = self.names.text.types.get(root, ty.UD)
            successive = sorted(numbers) == list(range(len(numbers))) and len(numbers) > 1 and type_.is_int
            if successive and all(value - numbers[0] == element for element, value in numbers.items()):
                self.numbers[root] = numbers[0]
                self.dropped |= {id(writer) for writer in statements}

    def _compute(self, statement: Set, root: int, numbers_by_element: dict[int, int]) -> bool:
        """Add the constant elements that a statement writes; return False if they are not constant."""
        target = self.span(statement.target, statement.control)
        value = statement.value
        own = self.names.text.types.get(root, ty.UD)
        if target is None or target.size != own.size or not isinstance(value, Calc) or value.saturate:
            return False
        sources: list[list[int]] = []
        count = len(target.starts)
        for arg in value.args:
            span = self.span(arg, statement.control)
            is_plain = getattr(arg, "modifier", None) is OperandModifier.NONE
            if isinstance(arg, Immediate):
                is_int = not arg.type.is_float and arg.type is not ty.VF
                lanes = [int(v) for v in immediate(arg, count).tolist()] if is_int else []
                sources.append(lanes * count if len(lanes) == 1 else lanes)
            elif span is not None and (span.root, span.size) == (root, own.size) and is_plain:
                elements = [start // own.size for start in span.starts] * (1 if len(span.starts) == count else count)
                if not numbers_by_element.keys() >= {*elements}:
                    return False
                sources.append([numbers_by_element[element] for element in elements])
            else:
                return False
        if value.meaning not in (S0, S0 + S1):
            return False
        numbers = [sum(lanes) for lanes in zip(*sources, strict=False)]
        elements = [start // own.size for start in target.starts]
        if len(numbers) < count or numbers_by_element.keys() & {*elements}:
            return False
        numbers_by_element.update(zip(elements, numbers, strict=False))
        return True

    def _decide_unrolled(self) -> None:
        """Find statements for several elements, in all lanes, of variables that all lanes use alike."""
        by_lane: set[int] = set()
        candidates: list[Set | Transfer] = []
        for statement in self._statements:
            if isinstance(statement, Set | Transfer) and self._may_unroll(statement):
                candidates.append(statement)
            else:
                by_lane |= {span.root for span, _, _ in self._spans(statement) if span.lanes is not None}
        by_lane -= self.numbers.keys()
        changed = True
        while changed:
            changed = False
            for statement in list(candidates):
                roots = {span.root for span, _, _ in self._spans(statement) if span.lanes is not None}
                if roots & by_lane or roots & self.shared:
                    by_lane |= roots
                    candidates.remove(statement)
                    changed = True
        self.unrolled = {id(s) for s in candidates}

    def _may_unroll(self, statement: Set | Transfer) -> bool:
        control = statement.control
        if not control.no_mask or not 1 < control.exec_size <= _MAX_UNROLLED or statement.guard is not None:
            return False
        if isinstance(statement, Set):
            return isinstance(statement.value, Calc) and isinstance(statement.target, General)
        is_row = not statement.single and not statement.update and len(statement.elements) == 1
        return is_row and control.exec_size < self.names.simd

    def unroll(self, statement: Set | Transfer) -> list[Set | Transfer]:
        """Return a statement for each element of an unrolled one."""
        out: list[Set | Transfer] = []
        for number in range(statement.control.exec_size):
            element = partial(element_of, number=number, control=statement.control)
            if isinstance(statement, Set):
                value = map_leaves(statement.value, element)
                out.append(replace(statement, target=element(statement.target), value=value, control=UNIFORM))
                continue
            data = RawOperand(statement.data.var, statement.data.offset + number * statement.cell)
            value = map_leaves(statement.value, element) if statement.value is not None else None
            address = map_leaves(statement.address, element)
            out.append(replace(statement, address=address, data=data, value=value, control=UNIFORM))
        return out

    def _collect(self) -> None:
        for statement in self._statements:
            self._uses += self._spans(statement)
        self._uses = [use for use in self._uses if use[0].root not in self.numbers]
        seen: set[Span] = set()
        for span, _, _ in self._uses:
            if span in seen:
                continue
            seen.add(span)
            owners = self._owner[span.root]
            for number, start in enumerate(span.starts):
                lane = _ALL if span.lanes is None else span.lanes[number]
                for byte in range(start, start + span.size):
                    if owners.setdefault(byte, lane) != lane:
                        self.shared.add(span.root)

    def _spans(self, statement: Statement) -> Iterator[tuple[Span, bool, int]]:
        """Yield the elements that a statement uses, whether it writes them, and the weight of the type."""
        if id(statement) in self.dropped:
            return
        match statement:
            case Set() | Transfer() if id(statement) in self.unrolled:
                for part in self.unroll(statement):
                    yield from self._spans(part)
            case Set(target, value, control):
                control = UNIFORM if control.exec_size == 1 else control
                yield from self._expr(value, control)
                yield from self._one(target, control, writes=True)
            case Both():
                for part in statement.parts:
                    yield from self._spans(part)
            case Transfer():
                alike = access_control(statement)
                yield from self._expr(statement.address, alike)
                for value in (statement.memory.operand, statement.offset):
                    yield from self._one(value, UNIFORM, writes=False)
                for source in statement.sources:
                    yield from self._expr(source, statement.control)
                if statement.value is not None:
                    yield from self._expr(statement.value, statement.control)
                else:
                    for span in self.spans.data_spans(statement):
                        yield span, not statement.write, 1
            case NamedCall(inst):
                control = exec_control_of(inst)
                for slot in inst.row.slots:
                    operand = inst.get(slot.name)
                    writes = slot.role in (Role.WRITE, Role.READ_WRITE)
                    if isinstance(operand, AddressOf) and self._note_address(operand):
                        continue
                    if isinstance(operand, AddressOf | RawOperand):
                        here = self.storage.general.get(operand.var)
                        if here is not None and operand.var:
                            self.shared.add(here.root)
                    elif isinstance(operand, General):
                        yield from self._one(operand, control, writes=writes)
            case If(condition) | Invoke(_, condition):
                yield from self._test(condition)
            case Repeat(_, first, last):
                for test in (first, last):
                    if test is not None:
                        yield from self._test(test)

    def _note_address(self, value: AddressOf) -> bool:
        """Return whether all indirect operands of a variable take successive elements for the lanes: a row of an array."""
        here = self.storage.general.get(value.var)
        return here is not None and here.root in self._rows

    def _find_rows(self) -> dict[int, int]:
        """Return the variables that indirect operands access by rows of one element for each lane, and the bytes of a row."""
        targets: dict[int, set[int]] = defaultdict(set)
        for inst in self.kernel.instructions:
            base, target = inst.get("src0"), inst.get("dst")
            here = self.storage.general.get(base.var) if isinstance(base, AddressOf) else None
            if here is not None and isinstance(target, Address):
                targets[target.var].add(here.root)
        lanes: dict[int, set[int]] = defaultdict(set)
        sizes: dict[int, set[int]] = defaultdict(set)
        for inst in self.kernel.instructions:
            for value in inst.values:
                if not isinstance(value, Indirect):
                    continue
                control, width = exec_control_of(inst), value.region.width
                by_lane = width is None or (value.region.vert_stride is not None and width > 1)
                is_row = by_lane and not control.no_mask and control.exec_size > 1
                for root in targets.get(value.var, ()):
                    lanes[root].update(range(control.mask_offset, control.mask_offset + control.exec_size))
                    sizes[root].add(value.type.size if is_row else 0)
        return {
            root: (max(lanes[root]) - min(lanes[root]) + 1) * next(iter(own))
            for root, own in sizes.items()
            if len(own) == 1 and 0 not in own
        }

    def private_array(self, root: int) -> tuple[str, DataType, int] | None:
        """Return the name of an array of one lane, its type and the bytes of an element of all lanes; None for other variables."""
        array = self._private.get(root)
        return (*array, self._rows[root]) if array is not None else None

    def array_of(self, root: int) -> Declaration:
        """Return the array that the lanes share."""
        if root not in self._arrays:
            own = self.names.text.types.get(root, ty.UD)
            self._element(Span(root, (0,), own.size, own, None))
        return self._arrays[root]

    def _test(self, condition: BranchTest) -> Iterator[tuple[Span, bool, int]]:
        yield from self._one(condition.index, UNIFORM, writes=False)
        for test in condition.tests:
            yield from self._spans(test)

    def _one(
        self, value: Expr, control: ExecControl, *, writes: bool, weight: int = 1
    ) -> Iterator[tuple[Span, bool, int]]:
        span = self.span(value, control)
        if span is not None:
            yield span, writes, weight

    def _expr(self, value: Expr, control: ExecControl, weight: int = 1) -> Iterator[tuple[Span, bool, int]]:
        match value:
            case Calc(meaning, args, type_):
                exact = meaning.word in _EXACT or type_.is_float or type_.size == 8
                for arg in args:
                    copies = meaning == S0 and not exact
                    yield from self._expr(arg, control, 4 if exact else 0 if copies else 1)
            case Choose(_, yes, no):
                for arg in (yes, no):
                    yield from self._expr(arg, control, 1)
            case Compare(relation, left, right):
                for arg in (left, right):
                    yield from self._expr(arg, control, 4 if relation > 1 else 1)
            case _:
                yield from self._one(value, control, writes=False, weight=weight)

    def _share(self) -> None:
        """Share the variables that statements for all lanes, active or not, use together with shared ones."""
        changed = True
        while changed:
            changed = False
            for statement in self._statements:
                if isinstance(statement, Set | Transfer) and self.is_for_all_lanes(statement):
                    roots = {
                        span.root for span, _, _ in self._spans(statement) if span.lanes is not None
                    } - self.numbers.keys()
                    if not roots <= self.shared:
                        self.shared |= roots
                        changed = True

    def is_for_all_lanes(self, statement: Set | Transfer) -> bool:
        """Return whether a statement writes memory or shared elements for lanes that may be inactive."""
        control = statement.control
        if not control.no_mask or control.exec_size == 1 or id(statement) in self.unrolled:
            return False
        if isinstance(statement, Transfer):
            return not statement.single and control.exec_size < self.names.simd
        span = self.span(statement.target, control)
        return span is not None and span.root in self.shared

    # ---- cells

    def _build(self) -> None:
        groups: dict[int, list[tuple[Span, bool, int]]] = defaultdict(list)
        for use in self._uses:
            groups[use[0].root].append(use)
        for root, uses in groups.items():
            if root in self.shared:
                self._arrays[root] = self._array(root, [(s.size, s.type, weight) for s, _, weight in uses])
                continue
            intervals: dict[int, list[tuple[int, int]]] = defaultdict(list)
            for span, _, _ in uses:
                for number, start in enumerate(span.starts):
                    lane = _ALL if span.lanes is None else span.lanes[number]
                    intervals[lane].append((start, start + span.size))
            for lane, parts in intervals.items():
                merged: list[list[int]] = []
                for start, end in sorted(set(parts)):
                    if merged and start < merged[-1][1]:
                        merged[-1][1] = max(merged[-1][1], end)
                    else:
                        merged.append([start, end])
                for start, end in merged:
                    cell = Cell(root, lane == _ALL, {lane: start}, end - start)
                    for byte in range(start, end):
                        self._cells[root, byte] = cell
            for span, writes, weight in uses:
                lowest: Cell | None = None
                for start in span.starts:
                    cell = self._cells[root, start].top
                    if lowest is None:
                        lowest = cell
                    elif cell is not lowest and not self._join(lowest, cell):
                        self.shared.add(root)
                if lowest is not None:
                    offset = span.starts[0] - self._cells[root, span.starts[0]].starts[self._lane(span)]
                    lowest.uses.append((offset, span.size, span.type, writes, weight))
            if root in self.shared:
                self._arrays[root] = self._array(root, [(s.size, s.type, weight) for s, _, weight in uses])

    def _lane(self, span: Span) -> int:
        return _ALL if span.lanes is None else span.lanes[0]

    def _join(self, cell: Cell, other: Cell) -> bool:
        """Make two cells of different lanes one variable; return whether that is possible."""
        cell, other = cell.top, other.top
        if cell is other:
            return True
        if cell.size != other.size or cell.is_uniform or other.is_uniform:
            return False
        if cell.starts.keys() & other.starts.keys() and cell.root == other.root:
            return False
        other.same = cell
        cell.starts.update(other.starts)
        cell.uses += other.uses
        other.uses = []
        return True

    def _unite(self) -> None:
        """Make the registers of lower and upper lanes one variable."""
        for statement in self._statements:
            low, *others = (
                [list(self._spans(part)) for part in statement.parts] if isinstance(statement, Both) else [[]]
            )
            for other in others:
                for (lower, _, _), (upper, _, _) in zip(low, other, strict=True) if len(low) == len(other) else ():
                    is_alike = lower.lanes is None or upper.lanes is None
                    if is_alike or {lower.root, upper.root} & (self.shared | self.numbers.keys()):
                        continue
                    a, b = (self._cells[span.root, span.starts[0]].top for span in (lower, upper))
                    if a is not b and a.root != b.root and not a.starts.keys() & b.starts.keys():
                        self._join(a, b)

    def _find_truths(self) -> None:
        """Find the integers that only comparisons write."""
        compared: set[Cell] = set()
        others: set[Cell] = set()
        tests = [test for statement in self._statements for test in tests_of(statement)]
        for statement in single((*self._statements, *tests)):
            if id(statement) in self.unrolled or not isinstance(statement, Set | Transfer | NamedCall):
                continue
            is_comparison = isinstance(statement, Set) and isinstance(statement.value, Compare)
            for span, writes, _ in self._spans(statement):
                cell = self.cell_of(span) if span.root not in self.numbers else None
                if cell is None:
                    continue
                is_input = cell.is_uniform and cell.root in self.names.inputs
                if span.size != cell.size or (writes and not is_comparison) or is_input:
                    others.add(cell)
                elif writes:
                    compared.add(cell)
        self.truths = compared - others

    def _array(self, root: int, uses: list[tuple[int, DataType, int]]) -> Declaration:
        own = self.names.text.types.get(root, ty.UD)
        type_ = choose_type([(t, w) for size, t, w in uses if size == own.size], own)
        room = self.storage.room.get(root, own.size)
        return Declaration(c_type(type_), self.names.variable(root), max(1, room // own.size), is_shared=True)

    # ---- names

    def _name(self) -> None:
        tops: dict[int, list[Cell]] = defaultdict(list)
        for cell in dict.fromkeys(self._cells.values()):
            if cell.same is None and cell.root not in self.shared:
                tops[cell.root].append(cell)
        for root in self._rows:
            if root not in self.shared:
                tops.setdefault(root, [])
        for root, cells in tops.items():
            if root in self._rows:
                self._name_rows(root, cells)
                continue
            free = [cell for cell in cells if not self._bind(cell)]
            for is_uniform in (False, True):
                self._name_cells(
                    root, [c for c in free if c.is_uniform is is_uniform], both=len({c.is_uniform for c in free}) > 1
                )
        for array in self._arrays.values():
            self.declarations[array.name] = array

    def _name_rows(self, root: int, cells: list[Cell]) -> None:
        """Name the rows of a variable as elements of an array."""
        row, own = self._rows[root], self.names.text.types.get(root, ty.UD)
        other = next((self._private[cell.root] for cell in [*self._partners(root)] if cell.root in self._private), None)
        votes = [(t, w) for cell in cells for _, size, t, _, w in cell.uses if size == own.size]
        name = self.names.variable(root)
        if other is not None:
            name, type_ = other
        else:
            type_ = choose_type(votes, own)
            self.declarations[name] = Declaration(c_type(type_), name, max(1, self.storage.room.get(root, row) // row))
        self._private[root] = name, type_
        for cell in cells:
            start = next(iter(cell.starts.values()))
            cell.type, cell.variable, cell.name = type_, name, f"{name}[{start // row}]"

    def _partners(self, root: int) -> Iterator[Cell]:
        """Yield the cells that are one variable with a cell of a root variable."""
        for cell in self._cells.values():
            if cell.top.root == root and cell.root != root:
                yield cell
            elif cell.root == root and cell.top.root != root:
                yield cell.top

    def _bind(self, cell: Cell) -> bool:
        """Give a cell the name of a value of the launch."""
        value = self.names.find_bound(cell.root, next(iter(cell.starts.values())), cell.size)
        if value is None or (
            value.text != value.variable and any(use[3] for use in cell.uses) and "." not in value.text
        ):
            return False
        cell.name, cell.type, cell.unit = value.text, value.type, value.unit
        if value.structure:
            cell.structure = value.structure
            cell.type = choose_type(
                [(t, w) for _, size, t, _, w in cell.uses if size == cell.size], UNSIGNED[cell.size]
            )
        cell.variable, cell.bound, cell.high = value.variable, True, value.high
        return True

    def _name_cells(self, root: int, cells: list[Cell], *, both: bool) -> None:
        if not cells:
            return
        cells.sort(key=lambda cell: min(cell.starts.values()))
        is_uniform = cells[0].is_uniform
        base = self.names.variable(root) + ("_all" if both and is_uniform else "")
        for cell in cells:
            self._shape(cell)
        starts = [min(cell.starts.values()) for cell in cells]
        if len(cells) == 1 and not (is_uniform and starts[0]):
            self._declare(cells[0], base)
            if root in CALL_REGISTERS:
                self.declarations[base] = replace(self.declarations[base], count=1)
                cells[0].name += "[0]"
            return
        sizes, size = {cell.size for cell in cells}, cells[0].size
        plain = len(sizes) == 1 and not any(cell.unit or cell.type is ty.BOOL for cell in cells)
        votes = [(t, w) for cell in cells for _, s, t, _, w in cell.uses if s == size]
        steps = {b - a for a, b in pairwise(starts)}
        if plain and len(cells) > 1 and is_uniform and not any(start % size for start in starts):
            type_, names = choose_type(votes, cells[0].type), [f"{base}[{start // size}]" for start in starts]
            self.declarations[base] = Declaration(c_type(type_), base, max(starts) // size + 1)
        elif plain and len(cells) in _COUNTS and len(steps) == 1 and not is_uniform:
            type_, names = (
                choose_type(votes, cells[0].type),
                [f"{base}.{component(n, len(cells))}" for n in range(len(cells))],
            )
            self.declarations[base] = Declaration(f"{c_type(type_)}{len(cells)}", base)
        else:
            for number, cell in enumerate(cells):
                self._declare(cell, f"{base}_{number}")
            return
        for cell, name in zip(cells, names, strict=True):
            cell.type, cell.variable, cell.name = type_, base, name

    def _shape(self, cell: Cell) -> None:
        """Choose the type of a cell: a number, or a vector if its parts are written or several parts are read."""
        if cell in self.truths:
            cell.type = ty.BOOL
            return
        parts = [use for use in cell.uses if use[1] != cell.size]
        reads = [use for use in parts if not use[3]]
        own = self.names.text.types.get(cell.root, ty.UD)
        own = own if own.size == cell.size else UNSIGNED.get(cell.size, ty.UD)
        votes = [(t, w) for _, size, t, _, w in cell.uses if size == cell.size]
        whole_reads = [use for use in cell.uses if use[1] == cell.size and not use[3]]
        units = {use[1] for use in parts}
        unit = min(units) if units else 0
        if not parts:
            cell.type = choose_type(votes, own)
            return
        if all(not use[3] and use[0] == 0 for use in parts) and not whole_reads:
            # Only the lower bytes are read.
            size = max(units)
            cell.size = cell.size if size not in UNSIGNED else size
            cell.type = choose_type([(t, w) for _, s, t, _, w in reads if s == size], UNSIGNED[size])
            return
        distinct = {use[0] for use in parts}
        vector = (
            len(units) == 1 and not any(offset % unit for offset in distinct)
            and cell.size // unit in _COUNTS and not cell.size % unit
        )  # fmt: skip
        if vector and (len(distinct) > 1 or any(use[3] for use in parts)):
            cell.unit = unit
            cell.type = choose_type([(t, w) for _, s, t, _, w in cell.uses if s == unit], UNSIGNED[unit])
            return
        cell.type = choose_type([(t, w) for t, w in votes if t.is_int], UNSIGNED.get(cell.size, ty.UD))

    def _declare(self, cell: Cell, name: str) -> None:
        cell.name = cell.variable = name
        count = cell.size // cell.unit if cell.unit else 0
        if cell.type is ty.BOOL:
            self.declarations[name] = Declaration("bool", name)
        elif cell.size not in UNSIGNED and not count:
            self.declarations[name] = Declaration("uchar", name, cell.size)
        else:
            self.declarations[name] = Declaration(f"{c_type(cell.type)}{count or ''}", name)

    # ---- places in C

    def list_bound_cells(self) -> Iterator[Cell]:
        """Yield the cells with names of the launch."""
        yield from (cell for cell in dict.fromkeys(self._cells.values()) if cell.bound)

    def list_places(self) -> Iterator[tuple[str, int, int, int]]:
        """Yield variables: name, root variable, first byte, and the step between lanes (0: alike for all)."""
        for root, array in self._arrays.items():
            yield array.name, root, 0, 0
        for cell in dict.fromkeys(self._cells.values()):
            if cell.same is None and cell.root not in self.shared and not cell.bound:
                lanes = sorted(cell.starts)
                step = cell.starts[lanes[1]] - cell.starts[lanes[0]] if len(lanes) > 1 else 0
                yield cell.variable, cell.root, cell.starts[lanes[0]] - step * max(0, lanes[0]), step

    def cell_of(self, span: Span) -> Cell | None:
        """Return the cell of elements; None for a shared array."""
        if span.root in self.shared:
            return None
        cell = self._cells.get((span.root, span.starts[0]))
        return None if cell is None else cell.top

    def spot(self, span: Span, *, writes: bool = False) -> Spot:
        """Return the place of elements in C."""
        if span.root in self.numbers and not writes:
            return self._number(span)
        cell = self.cell_of(span)
        if cell is None:
            return self._element(span)
        raw = self._cells[span.root, span.starts[0]]
        offset = span.starts[0] - raw.starts[self._lane(span)] if self._lane(span) in raw.starts else 0
        if not cell.unit and span.size == cell.size and not offset:
            return Spot(cell.name, cell.type, cell.variable, high=cell.high)
        if not cell.unit and span.size > cell.size and not offset and cell.size in UNSIGNED:
            return Spot(cell.name, cell.type, cell.variable)  # only the lower bytes are read
        if cell.unit == span.size:
            return Spot(
                f"{cell.name}.{component(offset // cell.unit, cell.size // cell.unit)}", cell.type, cell.variable
            )
        if cell.unit and span.size == cell.size:
            type_ = span.type if span.type.size == span.size else UNSIGNED[span.size]
            text = cell.name if writes else f"as_{c_type(type_)}({cell.name})"
            return Spot(text, type_, cell.variable, f"{c_type(cell.type)}{cell.size // cell.unit}")
        type_ = span.type
        if not writes and not cell.unit and cell.size in UNSIGNED and not cell.type.is_float:
            inner = UNSIGNED[span.size]
            inner = inner if offset or span.type.is_float else span.type
            text = f"({c_type(inner)}){cell.name}" if not offset else f"({c_type(inner)})({cell.name} >> {8 * offset})"
            return Spot(text, inner, cell.variable)
        text = (
            f"*({c_type(type_)} *)&{cell.name}"
            if not offset
            else f"*({c_type(type_)} *)((uchar *)&{cell.name} + {offset})"
        )
        return Spot(text if writes else f"({text})", type_, cell.variable)

    def _number(self, span: Span) -> Spot:
        start_number, own = self.numbers[span.root], self.names.text.types.get(span.root, ty.UD)
        if span.lanes is None:
            number = start_number + span.starts[0] // own.size
            return Spot(str(number), ty.D, "", high=number)
        elements = [start // own.size + start_number for start in span.starts]
        text = index_text(elements, span.lanes[0])
        return Spot(text, ty.D, "", high=max(elements))

    def _element(self, span: Span) -> Spot:
        array = self._arrays.get(span.root)
        if array is None:
            array = self._arrays[span.root] = self._array(span.root, [(span.size, span.type, 1)])
            self.declarations[array.name] = array
        own = self.names.text.types.get(span.root, ty.UD)
        base, type_ = array.name, type_named(array.type)
        if span.size != own.size:
            base, type_ = f"(({c_type(span.type)} *){array.name})", span.type
        if span.starts[0] % span.size:
            return Spot(f"*({c_type(span.type)} *)((uchar *){array.name} + {span.starts[0]})", span.type, array.name)
        elements = [start // span.size for start in span.starts]
        text = str(elements[0]) if span.lanes is None else index_text(elements, span.lanes[0])
        return Spot(f"{base}[{text}]", type_, array.name)


def choose_type(votes: Iterable[tuple[DataType, int]], default: DataType) -> DataType:
    """Return the type with the most weight; of equal ones the default."""
    total: dict[DataType, int] = defaultdict(int)
    for type_, weight in votes:
        if type_.size == default.size and type_ is not ty.BOOL:
            total[type_] += weight
    best = max(total.values(), default=0)
    if not best:
        return default
    types = [type_ for type_, weight in total.items() if weight == best]
    return default if default in types else types[0]


def element_of(value: Expr, number: int, control: ExecControl) -> Expr:
    """Return one element of an operand of several lanes."""
    if isinstance(value, Lanes):
        size = value.type.size
        return replace(value, operand=RawOperand(value.operand.var, value.operand.offset + number * size))
    if isinstance(value, Immediate) and value.type.is_packed:
        lanes = immediate(value, number + 1)
        bits = int.from_bytes(lanes[number : number + 1].tobytes(), "little")
        return Immediate(unpack_type(value.type), bits)
    if not isinstance(value, General):
        return value
    step = regions.lane_elements(value.region, control.exec_size)[number]
    region = replace(value.region, horz_stride=1) if value.region.width is None else SCALAR_REGION
    return replace(value, col=value.col + step, region=region)


def tests_of(statement: Statement) -> tuple[Set | Both, ...]:
    """Return the statements that compute the conditions of a statement."""
    match statement:
        case If(condition):
            return condition.tests
        case Repeat():
            return tuple(t for test in (statement.first, statement.last) if test is not None for t in test.tests)
    return ()
