"""Folding for reading: values that are used once move to their use, constants and copies to all of them.

A statement goes only where the data flow proves that nothing else reads what it wrote. Within a run, the statements of one list up
to the next branch, the active lanes are the same, so that what a statement writes in them a later one of the same lanes overwrites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.app.read.effects import Bits, Effects, mask_of
from visa_lsp.app.read.model import Access, Calc, Call, Choose, Compare, If, Lanes, Loop, Memory, Reading, Set
from visa_lsp.flow.steps import Space, variable_key
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.lane import S0
from visa_lsp.isa.model import Trait
from visa_lsp.isa.operands import SCALAR_REGION, OperandModifier
from visa_lsp.program.model import General, Immediate, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.app.read.model import Expr, Statement
    from visa_lsp.isa.types import DataType, ExecControl
    from visa_lsp.program.model import Kernel

    Plain = Set | Access | Call

MAX_OPERATIONS: Final = 6  # of an expression, so that a line stays short
_CONTROL: Final = variable_key(Space.GENERAL, 14)  # rounding and denormals
_CLOCK: Final = variable_key(Space.GENERAL, 6)


def folded(reading: Reading, kernel: Kernel, grf_bytes: int) -> Reading:
    """Return the same program in fewer statements."""
    found = _Folder(kernel, grf_bytes)
    routines = [replace(routine, body=found.code(routine.body)) for routine in reading.routines]
    return Reading(tuple(routines))


@dataclass(slots=True)
class _Item:
    """A statement of a run with what it reads and writes."""

    statement: Plain
    reads: Bits
    writes: Bits


@dataclass(frozen=True, slots=True)
class _Definition:
    """What an assignment gives to the elements of its target: where they lie, and the value."""

    key: int
    bytes: list[int]
    size: int
    mask: int
    type: DataType
    value: Expr
    control: ExecControl
    is_cheap: bool


class _Folder:
    """Folds the runs of one body."""

    def __init__(self, kernel: Kernel, grf_bytes: int) -> None:
        self.kernel = kernel
        self.effects = Effects(kernel, grf_bytes)

    def code(self, code: Sequence[Statement]) -> tuple[Statement, ...]:
        """Fold a list and those within it."""
        out: list[Statement] = []
        run: list[_Item] = []
        last = -1

        def close() -> None:
            nonlocal last
            if run:
                self._fold(run, last)
                out.extend(item.statement for item in run)
                run.clear()
            last = -1

        for statement in code:
            if isinstance(statement, Set | Access | Call):
                place = statement.places[-1]
                run.append(_Item(statement, self.effects.reads(place), self.effects.writes(place)))
                last = place
                continue
            close()
            if isinstance(statement, If):
                statement = replace(statement, then=self.code(statement.then), otherwise=self.code(statement.otherwise))
            elif isinstance(statement, Loop):
                statement = replace(statement, body=self.code(statement.body))
            out.append(statement)
        close()
        return tuple(out)

    def _fold(self, run: list[_Item], last: int) -> None:
        self._name_surfaces(run, last)
        at = 0
        while at < len(run):
            if not self._move(run, at, last):
                at += 1

    # ---- surfaces

    def _name_surfaces(self, run: list[_Item], last: int) -> None:
        """Name the surface itself where a variable holds a constant, and drop the constant where nothing else reads it."""
        known: dict[int, Immediate] = {}
        for item in run:
            statement = item.statement
            if isinstance(statement, Access) and statement.memory.variable in known:
                key = variable_key(Space.SURFACE, statement.memory.variable)
                memory = Memory(model=codes.ADDRTYPE_BTI, operand=known[statement.memory.variable])
                item.statement = replace(statement, memory=memory)
                item.reads.pop(key, None)
            elif isinstance(statement, Call):
                dst, src = statement.inst.get("dst"), statement.inst.get("src0")
                if not isinstance(dst, State) or dst.sampler:
                    continue
                known.pop(dst.var, None)
                if isinstance(src, Immediate) and not dst.offset and dst.var >= 6:
                    known[dst.var] = src
        for at in range(len(run) - 1, -1, -1):
            statement = run[at].statement
            if isinstance(statement, Call) and statement.inst.row.has(Trait.MOVES_STATE):
                dst, src = statement.inst.get("dst"), statement.inst.get("src0")
                if isinstance(dst, State) and not dst.sampler and isinstance(src, Immediate):
                    key = variable_key(Space.SURFACE, dst.var)
                    if self._is_dead(run, at, last, key, 1 << dst.offset):
                        del run[at]

    # ---- values

    def _move(self, run: list[_Item], at: int, last: int) -> bool:
        """Move the value of an assignment to where it is read; false where it has to stay."""
        definition = self._definition(run[at])
        if definition is None:
            return False
        key, mask = definition.key, definition.mask
        inputs, changes = run[at].reads, False
        users: list[tuple[int, Plain]] = []
        for number in range(at + 1, len(run)):
            item = run[number]
            if item.reads.get(key, 0) & mask:
                if changes or (users and not definition.is_cheap):
                    return False
                found = self._with_value(item, definition)
                if found is None:
                    return False
                users.append((number, found))
            if self._overwrites(item, definition):
                break
            if item.writes.get(key, 0) & mask:
                return False
            if any(item.writes.get(one, 0) & bits for one, bits in inputs.items()) or item.writes.get(_CONTROL):
                changes = True
        else:
            if self.effects.live_behind(last, key) & mask:
                return False
        if not users:
            return False
        places = run[at].statement.places
        for number, statement in users:
            item = run[number]
            item.statement = replace(statement, places=tuple(sorted({*places, *statement.places})))
            left = item.reads[key] & ~mask
            item.reads = {**item.reads, key: left}
            for one, bits in inputs.items():
                item.reads[one] = item.reads.get(one, 0) | bits
        del run[at]
        return True

    def _definition(self, item: _Item) -> _Definition | None:
        statement = item.statement
        if not isinstance(statement, Set) or statement.guard is not None or not isinstance(statement.target, General):
            return None
        value, control = statement.value, statement.control
        if not isinstance(value, Calc | Choose) or (control.exec_size == 1 and not control.no_mask):
            return None
        found = self.effects.place_bytes(statement.target, control.exec_size)
        if found is None or not self.effects.may_fold(found[0]) or _CLOCK in item.reads:
            return None
        if _operations(value) > MAX_OPERATIONS or not all(_is_movable(leaf) for leaf in _leaves(value)):
            return None
        key, bytes_, size = found
        mask = mask_of(bytes_, size)
        if item.writes.get(key, 0) != mask:
            return None
        return _Definition(key, bytes_, size, mask, value.type, value, control, _is_cheap(value))

    def _overwrites(self, item: _Item, definition: _Definition) -> bool:
        """Return whether a statement writes all that a definition wrote, in every lane in which that did."""
        statement = item.statement
        if isinstance(statement, Call) or statement.guard is not None:
            return False
        if isinstance(statement, Access) and statement.write:
            return False
        control = statement.control
        same = control == definition.control or control.no_mask
        return same and item.writes.get(definition.key, 0) & definition.mask == definition.mask

    def _is_dead(self, run: list[_Item], at: int, last: int, key: int, mask: int) -> bool:
        for item in run[at + 1 :]:
            if item.reads.get(key, 0) & mask:
                return False
            if item.writes.get(key, 0) & mask == mask and isinstance(item.statement, Call):
                return True
        return not self.effects.live_behind(last, key) & mask

    def _with_value(self, item: _Item, definition: _Definition) -> Plain | None:
        """Return a statement that reads the value itself; None where it reads the elements in another way."""
        statement = item.statement
        if isinstance(statement, Call):
            return None
        lanes = statement.control.exec_size
        is_scalar = definition.control.exec_size == 1
        if isinstance(statement, Access) and statement.single:
            lanes = 1
        elif not is_scalar and not _fits(definition.control, statement.control):
            return None
        if is_scalar and not definition.control.no_mask:
            return None
        seen = 0

        def exchange(leaf: Expr) -> Expr | None:
            nonlocal seen
            if isinstance(leaf, General):
                found = self.effects.place_bytes(leaf, lanes)
                type_ = self.kernel.variable_type(leaf.var)
            elif isinstance(leaf, Lanes):
                found, type_ = self.effects.raw_bytes(leaf.operand, leaf.type.size, lanes), leaf.type
            else:
                return None
            if found is None or found[0] != definition.key or not mask_of(found[1], found[2]) & definition.mask:
                return None
            wanted = definition.bytes * lanes if is_scalar else definition.bytes
            if found[1] != wanted or found[2] != definition.size or type_ is None:
                raise _Unfit
            seen |= mask_of(found[1], found[2])
            value = definition.value
            if is_scalar and lanes > 1:
                if isinstance(value, Choose):
                    raise _Unfit
                value = _mapped(value, _broadcast) or value
            if type_ is not definition.type:
                if not (type_.is_int and definition.type.is_int):
                    raise _Unfit
                value = Calc(S0, (value,), type_)
            assert isinstance(value, Calc | Choose)
            modifier = leaf.modifier if isinstance(leaf, General) else OperandModifier.NONE
            return replace(value, modifier=modifier)

        try:
            if isinstance(statement, Set):
                value = _mapped(statement.value, exchange)
                found: Plain = replace(statement, value=value)
                size = _operations(value)
            else:
                address = _mapped(statement.address, exchange)
                found, size = replace(statement, address=address), _operations(address)
                if _stores_one(statement):
                    own = self.kernel.variable_type(statement.data.var)
                    data: Expr = statement.value or (Lanes(statement.data, own) if own is not None and own.size == statement.size else None)
                    if data is not None:
                        stored = _mapped(data, exchange)
                        if stored != data:
                            found = replace(found, value=stored)
                        size = max(size, _operations(stored))
        except _Unfit:
            return None
        # Whatever else reads the elements, a guard or another region, keeps the definition where it is.
        if seen != definition.mask or found == statement or (size > 2 * MAX_OPERATIONS and not definition.is_cheap):
            return None
        return found if self._reads_no_more(found, definition) else None

    def _reads_no_more(self, statement: Plain, definition: _Definition) -> bool:
        """Return whether no operand beside its expressions reads what a definition wrote."""
        if not isinstance(statement, Access):
            return True
        others = [v for v in (statement.memory.operand, statement.offset) if isinstance(v, General)]
        if any(self._touches(v, 1, definition) for v in others):
            return False
        here = self.effects.storage.general.get(statement.data.var)
        stored = statement.write and statement.value is None and here is not None
        return not (stored and here is not None and variable_key(Space.GENERAL, here.root) == definition.key)

    def _touches(self, value: General, lanes: int, definition: _Definition) -> bool:
        found = self.effects.place_bytes(value, lanes)
        return found is not None and found[0] == definition.key and bool(mask_of(found[1], found[2]) & definition.mask)


class _Unfit(Exception):  # noqa: N818 - a way out of a walk
    """An operand reads a part of the elements, or in another type."""


def _fits(made: ExecControl, read: ExecControl) -> bool:
    """Return whether the lanes of a use are among those of a definition."""
    return (made.exec_size, made.mask_offset) == (read.exec_size, read.mask_offset) and (made.no_mask or not read.no_mask)


def _stores_one(access: Access) -> bool:
    return access.write and access.elements == (0,) and not access.single and not access.high and access.size == access.cell


def _leaves(value: Expr) -> Iterator[Expr]:
    match value:
        case Calc(_, args):
            for one in args:
                yield from _leaves(one)
        case Choose(_, yes, no):
            yield from _leaves(yes)
            yield from _leaves(no)
        case Compare(_, left, right):
            yield from _leaves(left)
            yield from _leaves(right)
        case _:
            yield value


def _mapped(value: Expr, exchange: Callable[[Expr], Expr | None]) -> Expr:
    """Return a value with some of its leaves exchanged."""
    match value:
        case Calc():
            return replace(value, args=tuple(_mapped(one, exchange) for one in value.args))
        case Choose():
            return replace(value, yes=_mapped(value.yes, exchange), no=_mapped(value.no, exchange))
        case Compare():
            return replace(value, left=_mapped(value.left, exchange), right=_mapped(value.right, exchange))
        case _:
            found = exchange(value)
            return value if found is None else found


def _broadcast(leaf: Expr) -> Expr | None:
    return replace(leaf, region=SCALAR_REGION) if isinstance(leaf, General) else None


def _is_movable(leaf: Expr) -> bool:
    return isinstance(leaf, General | Lanes | Immediate) and not (isinstance(leaf, Immediate) and leaf.type.is_packed)


def _operations(value: Expr) -> int:
    match value:
        case Calc(meaning, args):
            return (meaning != S0) + sum(_operations(one) for one in args)
        case Choose(_, yes, no):
            return 1 + _operations(yes) + _operations(no)
        case Compare(_, left, right):
            return 1 + _operations(left) + _operations(right)
    return 0


def _is_cheap(value: Expr) -> bool:
    """Return whether a value is a constant or a copy, which may stand in several places."""
    return isinstance(value, Calc) and value.meaning == S0 and not value.saturate and not isinstance(value.args[0], Calc | Choose)
