"""The operands of instructions as a work item's lane reads them: terms for sources, conditions for predicates.

Reads registers, writes none. Invariant: a value that is not modelled is a new symbol.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.app.prove.arithmetic import Arithmetic, NotModelled
from visa_lsp.app.prove.registers import ItemRegisters, LanePlace, limits
from visa_lsp.app.prove.terms import (
    TRUE,
    UNFOLLOWED,
    Claim,
    Level,
    Sum,
    SumPool,
    at_most,
    either,
    negation,
    number,
    without_sign,
)
from visa_lsp.app.read.model import Calc, Choose, Compare, Expr, Lanes
from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.types import ExecControl
from visa_lsp.program import regions
from visa_lsp.program.model import (
    AddressOf,
    Combine,
    General,
    Immediate,
    Indirect,
    Kernel,
    Predicate,
    PredicateOperand,
    RawOperand,
)
from visa_lsp.sim.lanes import words_of
from visa_lsp.sim.values import execution_type, extend_type, immediate, is_read_signed, unpack_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.flow.storage import Storage
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType

ONE_LANE: Final = ExecControl(1, 0, no_mask=True)
MAX_ELEMENTS: Final = 8  # of an instruction that is followed element by element
# Words of which the low bits of results depend on low bits only, and those that the engines compute exactly before they clamp.
_RING: Final = frozenset({"src", "const", "add", "add3", "sub", "mul", "mad"})
_EXACT_SUMS: Final = _RING | {"min", "max"}


@dataclass(frozen=True, slots=True)
class InstructionSite:
    """An instruction on the way of the work item: its lanes, the registers, its line, and whether the whole thread is there.

    ``by_all``: every lane, active or not, computes the value from what every lane has written.
    """

    control: ExecControl
    registers: ItemRegisters
    line: int
    is_common: bool
    by_all: bool = False

    @property
    def for_thread(self) -> InstructionSite:
        """The site for operands with one element for the whole thread."""
        return replace(self, control=ONE_LANE)


class LaneOperands:
    """Reads the operands of a kernel.

    ``element`` is the element to read of all operands, instead of that of the item's lane.
    """

    def __init__(
        self, kernel: Kernel, platform: Platform, pool: SumPool, storage: Storage, lane: Sum, simd: int
    ) -> None:
        self.kernel, self.platform, self.pool = kernel, platform, pool
        self.storage, self.lane, self.simd = storage, lane, simd
        self.element: int | None = None
        named = {value.var for inst in kernel.instructions for value in inst.values if isinstance(value, AddressOf)}
        self.taken_roots = {storage.root(one) for one in named}  # of variables that an address may point into
        self.taken = {one for one in storage.general if storage.root(one) in self.taken_roots}

    def flag(self, predicate: Predicate | None, site: InstructionSite) -> Claim:
        """Return a predicate as the item's lane sees it; true without one."""
        if predicate is None:
            return TRUE
        if predicate.combine is not Combine.NONE or site.control.exec_size == 1:
            return self.whole_flag(predicate, site)
        found = site.registers.flag(predicate.var, site.control.mask_offset, site.control.exec_size, whole=False)
        if found is None:
            found = self.pool.fresh_fact("a predicate", Level.ITEM, site.line)
        return negation(found) if predicate.inverse else found

    def whole_flag(self, predicate: Predicate, site: InstructionSite) -> Claim:
        """Return a predicate that is the same for all lanes of the thread."""
        control, registers = site.control, site.registers
        bit: Claim | None
        if predicate.combine is Combine.NONE:
            bit = registers.flag(predicate.var, control.mask_offset, 1, whole=True)
        else:
            bit = registers.flag(predicate.var, control.mask_offset, control.exec_size, whole=False)
            shared = registers.flags.get(predicate.var, ())
            if bit is None or bit.level > Level.THREAD or not all(one[3] for one in shared):
                own = bit
                bit = self.pool.fresh_fact("lanes together", Level.THREAD, site.line)
                if own is not None and control.exec_size == self.simd:
                    atom = bit.term.factors[0][0]
                    is_any = predicate.combine is Combine.ANY
                    fact = either(negation(own), bit) if is_any else either(negation(bit), own)
                    self.pool.facts.setdefault(atom, []).append(fact)
        if bit is None:
            bit = self.pool.fresh_fact("a predicate", Level.THREAD, site.line)
        return negation(bit) if predicate.inverse else bit

    def source(self, operand: Expr, exec_type: DataType, site: InstructionSite) -> Sum:
        """Return the value of an integer source in an execution type, with its modifier applied."""
        type_ = self.type_of(operand)
        signed = is_read_signed(type_, exec_type)
        value = self.read(operand, type_, site, signed=signed)
        match getattr(operand, "modifier", OperandModifier.NONE):
            case OperandModifier.NEG:
                return value * -1
            case OperandModifier.ABS if signed:
                return self.pool.choice(at_most(value, -1), value * -1, value)
            case OperandModifier.NEGABS:
                return self.pool.choice(at_most(value, -1), value, value * -1) if signed else value * -1
            case OperandModifier.NOT:
                return value * -1 + -1
        return value

    def type_of(self, operand: Expr) -> DataType:
        """Return the element type of an operand."""
        if isinstance(operand, General):
            return self.kernel.variable_type(operand.var) or ty.UD
        if isinstance(operand, Immediate):
            return unpack_type(operand.type)
        if isinstance(operand, Calc | Choose | Lanes | Indirect):
            return operand.type
        return ty.UD

    def read(self, operand: Expr, type_: DataType, site: InstructionSite, *, signed: bool) -> Sum:
        """Return the value of an operand as elements of a type, without its modifier."""
        if isinstance(operand, Immediate):
            return self._immediate(operand, site, signed=signed)
        if isinstance(operand, Calc | Choose):
            value = self.value(operand, type_, site)
            if value is not None:
                return self.pool.wrap(value, type_.bits, signed=signed)
        place = None
        if isinstance(operand, Lanes):
            place = self.raw_place(operand.operand, type_.size, site.control)
        elif isinstance(operand, General) and operand.var not in self.taken and type_.is_int:
            place = self.place(operand, site.control)
        if place is not None:
            return site.registers.read(place, signed=signed, line=site.line)
        return self.pool.fresh(UNFOLLOWED, Level.ITEM, *limits(type_.size, signed=signed), site.line)

    def _immediate(self, operand: Immediate, site: InstructionSite, *, signed: bool) -> Sum:
        type_ = unpack_type(operand.type)
        if type_.is_float:
            return self.pool.fresh("a float", Level.LAUNCH, *limits(type_.size, signed=signed), site.line)
        lanes = [int(one) for one in immediate(operand, site.control.exec_size)]
        lanes = lanes if self.element is None or len(lanes) == 1 else [lanes[self.element]]
        if len(set(lanes)) == 1:
            return self.pool.wrap(number(lanes[0]), 8 * type_.size, signed=signed)
        steps = {b - a for a, b in pairwise(lanes)}
        if len(steps) == 1:
            return (self.lane + -site.control.mask_offset) * steps.pop() + lanes[0]
        return self.pool.fresh("a packed constant", Level.ITEM, min(lanes), max(lanes), site.line)

    def place(self, operand: General, control: ExecControl) -> LanePlace | None:
        """Return the place of the elements of an operand; None for a region without a single stride."""
        where = self.storage.general.get(operand.var)
        if where is None or not operand.var:
            return None
        base = where.offset + regions.origin(operand.row, operand.col, where.element, self.platform.grf_bytes)
        lanes = control.exec_size
        if operand.region.width is None:
            elements = regions.destination_elements(operand.region.horz_stride or 1, lanes)
        else:
            elements = regions.source_elements(operand.region, lanes)
        if self.element is not None and lanes > 1:
            return LanePlace(where.root, base + elements[self.element] * where.element, 0, where.element)
        steps = {b - a for a, b in pairwise(elements)} or {0}
        if len(steps) > 1:
            return None
        stride = steps.pop() * where.element
        return self._make_place(where.root, base, stride, where.element, control)

    def _make_place(self, root: int, base: int, stride: int, size: int, control: ExecControl) -> LanePlace:
        if not stride or control.exec_size == 1:
            return LanePlace(root, base, 0, size)
        if self.element is not None:
            return LanePlace(root, base + stride * self.element, 0, size)
        return LanePlace(
            root, base - stride * control.mask_offset, stride, size, control.mask_offset, control.exec_size
        )

    def raw_place(self, operand: RawOperand, size: int, control: ExecControl) -> LanePlace | None:
        """Return the place of the elements of a raw operand; None for one without a variable."""
        where = self.storage.general.get(operand.var)
        if where is None or not operand.var:
            return None
        return self._make_place(where.root, where.offset + operand.offset, size, size, control)

    def value(self, value: Expr, target: DataType, site: InstructionSite) -> Sum | None:
        """Return the value of an expression, truncated or clamped to a target type; None if that is not an integer."""
        if not isinstance(value, Calc | Choose):
            return None
        args = value.args if isinstance(value, Calc) else (value.yes, value.no)
        exec_type = execution_type([self.type_of(one) for one in args])
        if not exec_type.is_int or not target.is_int or (isinstance(value, Choose) and value.saturate):
            return None
        if isinstance(value, Choose):
            yes, no = (self.source(one, exec_type, site) for one in args)
            chosen = self.pool.choice(self.flag(value.condition, site), yes, no)
            return self.pool.wrap(chosen, target.bits, signed=target.is_signed)
        used = words_of(value.meaning)
        extended = extend_type(used, exec_type, target)
        sources = [self.source(one, extended, site) for one in args]
        is_flat = all(isinstance(one, int) or one.word == "src" for one in value.meaning.args)
        wraps = is_flat and exec_type.size == 4 >= target.size and not value.saturate
        arithmetic = Arithmetic(self.pool, exec_type, target, site.line, wraps=wraps)
        low, high = limits(target.size, signed=target.is_signed)
        result: Sum | None = None
        why = "saturation"
        conditions: list[Claim] = []
        if target.size == 4 and not value.saturate and used <= _RING and used & {"mul", "mad"}:
            # The low bits are the same, and lemmas know products of widths, not of what widths are as signed numbers.
            pairs = [without_sign(one) for one in sources]
            sources, conditions = [one for one, _ in pairs], [one for _, own in pairs for one in own]
        if not value.saturate or used <= _EXACT_SUMS:
            try:
                result = arithmetic.value(value.meaning, sources)
            except NotModelled as error:
                why = str(error)
        if result is None:
            # The destination may hold any value, because a word may exceed its execution type.
            key = (value.meaning, value.saturate, exec_type, target, *sources)
            return self.pool.result(f"the result of {why}", key, low, high, site.line)
        if value.saturate:
            below = self.pool.choice(at_most(result, low), number(low), result)
            return self.pool.choice(at_most(number(high), result), number(high), below)
        # Signed sums and all products are index arithmetic, in which programmers expect no wrapping.
        counts = used & {"mul", "mad", "shl"} or (target.is_signed and used & {"add", "sub", "add3"})
        line = site.line if counts and target.size == 4 else 0
        if conditions:
            self.pool.signs.update({atom: conditions for atom, _ in result.factors if atom.is_product})
        return self.pool.wrap(result, target.bits, signed=target.is_signed, line=line)

    def is_by_all(self, values: Iterable[Expr | Predicate], site: InstructionSite) -> bool:
        """Return whether an instruction runs in every lane, and reads only what every lane has written."""
        return site.control.no_mask and all(self._is_of_all(one, site) for one in values)

    def _is_of_all(self, value: Expr | Predicate, site: InstructionSite) -> bool:
        registers = site.registers
        match value:
            case Predicate() | PredicateOperand():
                return registers.is_flag_by_all(value.var)
            case Calc():
                return self.is_by_all(value.args, site)
            case Choose(condition, yes, no):
                return self.is_by_all((condition, yes, no), site)
            case Compare(_, left, right):
                return self.is_by_all((left, right), site)
            case General():
                place = self.place(value, site.control)
                return place is None or registers.is_by_all(place)
        return True

    def is_by_elements(self, value: Expr, site: InstructionSite) -> bool:
        """Return whether the lanes of an instruction represent elements that all work items share."""
        control = site.control
        if not control.no_mask or not 1 < control.exec_size <= MAX_ELEMENTS or not isinstance(value, Calc):
            return False
        if self._are_known(value, site) and not any(
            isinstance(one, Immediate) and _is_irregular(one, control) for one in value.args
        ):
            return False
        self.element = 0
        are_known = self._are_known(value, site)
        self.element = None
        return are_known

    def _are_known(self, value: Calc, site: InstructionSite) -> bool:
        places = [self.place(one, site.control) for one in value.args if isinstance(one, General)]
        return all(place is not None and site.registers.find(place, signed=False) is not None for place in places)


def _is_irregular(operand: Immediate, control: ExecControl) -> bool:
    """Return whether a packed constant has elements without a common step."""
    lanes = immediate(operand, control.exec_size)
    return len({b - a for a, b in pairwise(lanes)}) > 1
