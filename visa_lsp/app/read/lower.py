"""Converts instructions to statements, by the meaning in their rows."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Final

from msgspec.structs import replace

from visa_lsp.app.read.accesses import access_of, atomic_of, image_access_of
from visa_lsp.app.read.model import Calc, Choose, Compare, Expr, NamedCall, Set, Transfer
from visa_lsp.isa import lane
from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.types import DataType, ExecControl
from visa_lsp.program.message import guard_of
from visa_lsp.program.model import General, Immediate, Indirect, Inst, Kernel, Predicate, PredicateOperand, Value
from visa_lsp.sim.values import execution_type

HALVES: Final = "madw"
_WHOLE_LANES: Final = 16  # dwords of so many lanes fill whole registers on any platform
# By effect: the field of the second result, the exact sum, and the number of the bit that is the second result.
CARRIES: Final = {"addc": ("carry", lane.S0 + lane.S1, 32), "subb": ("borrow", lane.S0 - lane.S1, 63)}


def statements_of(kernel: Kernel, inst: Inst, place: int) -> tuple[Set | Transfer | NamedCall, ...]:
    """Return the statements of an instruction: one, or one for each of its results."""
    return (
        _with_carry(kernel, inst, place) or _with_high_half(kernel, inst, place) or (statement_of(kernel, inst, place),)
    )


def _with_high_half(kernel: Kernel, inst: Inst, place: int) -> tuple[Set, ...]:
    """Return the assignments of both halves of a product and sum; empty if the second half may begin elsewhere."""
    control, target, sources = inst.get("exec"), inst.get("dst"), operands_of(inst)
    if lane.effect_of(inst.row.meaning) != HALVES or not isinstance(target, General):
        return ()
    reads, type_ = _roots_read(kernel, sources), kernel.variable_type(target.var)
    if type_ is None or reads is None or root_of(kernel, target.var) in reads or not isinstance(control, ExecControl):
        return ()
    whole = control.exec_size % _WHOLE_LANES == 0 and not target.row and not target.col
    one_register = control.exec_size * ty.UD.size <= _ROW_BYTES
    if not (whole or one_register) or target.region.horz_stride != 1:
        return ()
    types = [kernel.variable_type(s.var) if isinstance(s, General) else getattr(s, "type", None) for s in sources]
    signed = execution_type([operand or ty.UD for operand in types]).is_signed
    own, wide_type = (ty.D, ty.Q) if signed else (ty.UD, ty.UQ)
    wide = tuple(Calc(lane.S0, (Calc(lane.S0, (source,), own),), wide_type) for source in sources)
    meaning = lane.word("mad", lane.S0, lane.S1, lane.S2)
    high_target = replace(target, row=target.row + 1) if one_register else replace(target, col=control.exec_size)
    high = Calc(lane.word("shr", lane.S0, lane.S1), (Calc(meaning, wide, wide_type), Immediate(ty.UD, 32)), type_)
    return (
        Set(target, Calc(meaning, sources, type_), control, guard_of(inst), (place,)),
        Set(high_target, high, control, guard_of(inst), (place,)),
    )


def _roots_read(kernel: Kernel, sources: tuple[Value, ...]) -> set[int] | None:
    """Return the root variables of sources; None if one is neither a number nor an element as it is."""
    for source in sources:
        is_number = isinstance(source, Immediate) and not source.type.is_packed
        if not is_number and not (isinstance(source, General) and source.modifier is OperandModifier.NONE):
            return None
    return {root_of(kernel, source.var) for source in sources if isinstance(source, General)}


def _with_carry(kernel: Kernel, inst: Inst, place: int) -> tuple[Set, ...]:
    """Return the assignments of the carry and of the sum; empty if the first could change an input of the second."""
    name, meaning, bit = CARRIES.get(lane.effect_of(inst.row.meaning), ("", lane.S0, 0))
    control, target, carry, guard = inst.get("exec"), inst.get("dst"), inst.get(name), guard_of(inst)
    if not (isinstance(control, ExecControl) and isinstance(target, General) and isinstance(carry, General)):
        return ()
    sources = operands_of(inst)
    reads, root = _roots_read(kernel, sources), root_of(kernel, carry.var)
    types = kernel.variable_type(target.var), kernel.variable_type(carry.var)
    if not target.var or not carry.var or None in types or reads is None or root in reads:
        return ()
    apart = abs((carry.row - target.row) * _ROW_BYTES + (carry.col - target.col) * ty.UD.size)
    longest = control.exec_size * ty.UD.size * max(target.region.horz_stride or 1, carry.region.horz_stride or 1)
    if root == root_of(kernel, target.var) and (carry.var != target.var or apart < longest):
        return ()
    wide = tuple(Calc(lane.S0, (Calc(lane.S0, (source,), ty.UD),), ty.UQ) for source in sources)
    bit_of = Calc(
        lane.word("shr", lane.S0, lane.S1), (Calc(meaning, wide, ty.UQ), Immediate(ty.UD, bit)), types[1] or ty.UD
    )
    return (
        Set(carry, bit_of, control, guard, (place,)),
        Set(target, Calc(meaning, sources, types[0] or ty.UD), control, guard, (place,)),
    )


def root_of(kernel: Kernel, var: int) -> int:
    """Return the root variable of an alias."""
    for _ in range(len(kernel.variables)):
        declared = kernel.variable(var)
        if declared is None or not (declared.alias_index or declared.alias_offset) or declared.alias_scope:
            break
        var = declared.alias_index
    return var


def statement_of(kernel: Kernel, inst: Inst, place: int) -> Set | Transfer | NamedCall:
    """Return an assignment if the row computes a value per lane, an access for a memory message, else a named operation."""
    control, target = inst.get("exec"), inst.get("dst")
    value = _value(kernel, inst, target)
    if value is None or not isinstance(control, ExecControl):
        access = access_of(inst, place) or atomic_of(inst, place) or image_access_of(kernel, inst, place)
        return access or NamedCall(inst, (place,))
    return Set(target, value, control, None if isinstance(value, Choose | Compare) else guard_of(inst), (place,))


def _value(kernel: Kernel, inst: Inst, target: Value) -> Expr | None:
    """Return the value of each lane; None if the instruction does more than compute it."""
    meaning, sources = inst.row.meaning, operands_of(inst)
    if isinstance(target, PredicateOperand):
        type_: DataType | None = ty.BOOL
        if isinstance(meaning, lane.Lane) and not all(isinstance(s, PredicateOperand) for s in sources):
            return None
    else:
        type_ = kernel.variable_type(target.var) if isinstance(target, General) else getattr(target, "type", None)
        readable = General | Indirect | Immediate
        if not isinstance(target, General | Indirect) or not all(isinstance(s, readable) for s in sources):
            return None
    saturate = getattr(target, "modifier", None) is OperandModifier.SAT
    if type_ is None:
        return None
    if isinstance(meaning, lane.Lane):
        return Calc(meaning.expr, sources, type_, saturate)
    if not isinstance(meaning, lane.Effect):
        return None
    predicate, relation, table = inst.get("pred"), inst.get("relop"), inst.get("func")
    match meaning.name:
        case "mov" if type_ is not ty.BOOL:
            return Calc(lane.S0, sources, type_, saturate)
        case "select" if isinstance(predicate, Predicate):
            return Choose(predicate, sources[0], sources[1], type_, saturate)
        # Of dwords into a qword, `and` and `or` keep the signs of sources, and `bfn` does not.
        case "bfn" if (
            isinstance(table, int) and table in _formulas() and type_ is not ty.BOOL and type_.size <= ty.D.size
        ):
            return Calc(_formulas()[table], sources, type_, saturate)
        case "setp" if isinstance(sources[0], Immediate) and sources[0].bits & _ONES in (0, _ONES):
            return Compare(0 if sources[0].bits else 1, Immediate(ty.UD, 0), Immediate(ty.UD, 0))
        case "compare" if isinstance(relation, int) and relation < len(RELATIONS):
            return Compare(relation, sources[0], sources[1])
    return None


_ROW_BYTES: Final = 32  # at least one register
_ONES: Final = 0xFFFF_FFFF
RELATIONS = ("==", "!=", ">", ">=", "<", "<=")


@cache
def _formulas() -> dict[int, lane.Expr]:
    """Return Boolean functions of three sources, by the byte of their results, as short formulas."""
    sources = {lane.S0: 0xAA, lane.S1: 0xCC, lane.S2: 0xF0}
    operands = sources | {~source: 255 - byte for source, byte in sources.items()}
    pairs = [
        (pair, byte)
        for (operand, a), (other, b) in combinations(operands.items(), 2)
        for pair, byte in ((operand & other, a & b), (operand | other, a | b), (operand ^ other, a ^ b))
    ]
    formulas: dict[int, lane.Expr] = {}
    for operand, a in (*operands.items(), *pairs):
        formulas.setdefault(a, operand)
    for pair, a in pairs:
        for operand, b in operands.items():
            for formula, byte in ((operand & pair, a & b), (operand | pair, a | b), (operand ^ pair, a ^ b)):
                formulas.setdefault(byte, formula)
    for byte, formula in list(formulas.items()):
        formulas.setdefault(255 - byte, ~formula)
    for operand, a in pairs:
        for other, b in pairs:
            for formula, byte in ((operand | other, a | b), (operand & other, a & b), (operand ^ other, a ^ b)):
                formulas.setdefault(byte, formula)
    return formulas


def operands_of(inst: Inst) -> tuple[Value, ...]:
    """Return the sources of an instruction."""
    return tuple(inst.get(field.name) for field in inst.row.fields if field.name.startswith("src"))
