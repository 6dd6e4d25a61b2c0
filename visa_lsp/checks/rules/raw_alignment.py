"""A raw operand does not begin at a register.

Raw operands of variables that fill a register or more start at a whole register, aliases counted from the variable they
lie in. The activations of a matrix product, which have an element instead, start at a multiple of the bytes that one
step of it reads; scales of blocks at a multiple of 16 (src3) or 8 (src4). In text 4.2 the variable itself has to be
aligned to the registers.

Why: messages move whole registers.

Example:

    oword_ld (2) T6 0x0:ud V36.4

Instead:

    oword_ld (2) T6 0x0:ud V36.32

Authority: seed 004, raw operands ("must be GRF-aligned"); the finalizer rejects the text. Matrix products: public page
DPAS and the public verifier of 2026, which older finalizers do not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, INFORMATION, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place
from visa_lsp.checks.support.payloads import storage
from visa_lsp.isa.model import Dialect, Role, Shape, Trait
from visa_lsp.isa.operands import align_bytes
from visa_lsp.isa.rows.matrix import NARROW_PRECISIONS, PRECISION_BITS
from visa_lsp.program.model import General, RawOperand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import BoundOperand, Symbol

RULE = rule("V601", "raw-alignment", ERROR, __doc__)
RAW_SHAPES = frozenset(
    {Shape.RAW, Shape.RAWS, Shape.VECTORS, Shape.LSC_PAYLOAD, Shape.LSC_DATA, Shape.LSC_DATA_2D, Shape.LSC_ADDRESS}
)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    variables = ctx.facts(body).variables
    if bound.row is not None and bound.row.has(Trait.MATRIX):
        yield from _matrix(ctx, bound, variables)
    for operand in bound.operands:
        value = operand.value
        symbol = variables.get(value.var) if isinstance(value, RawOperand) else None
        if symbol is None or symbol.predefined or not isinstance(value, RawOperand):
            continue
        whole, offset = storage(symbol)
        offset += value.offset
        if all(whole.byte_size >= grf and offset % grf for grf in ctx.grf_sizes):
            grf = ctx.grf_sizes[0]
            inside = "" if whole is symbol else f" of `{whole.name}`"
            place = operand_place(bound, operand)
            yield ctx.report(
                RULE,
                place,
                f"raw operand begins at byte {offset}{inside}; the offset must be a multiple of {grf}, the register size",
            )


def _matrix(ctx: CheckContext, bound: Bound, variables: dict[int, Symbol]) -> Iterator[Diagnostic]:
    """Yield the start of each operand of a matrix product, and the alignment of its variable."""
    newer = ctx.dialect is Dialect.V42
    for operand in bound.operands:
        value = operand.value
        symbol = variables.get(value.var) if isinstance(value, (RawOperand, General)) else None
        if symbol is None or symbol.predefined or symbol.type is None:
            continue
        whole, offset = storage(symbol)
        unit, place = _step_bytes(bound, operand), operand_place(bound, operand)
        starts = {offset + _start(value, symbol.type.size, grf) for grf in ctx.grf_sizes}
        inside = "" if whole is symbol else f" of `{whole.name}`"
        if unit and all(start % unit for start in starts):
            message = (
                f"`{operand.slot.name}` begins at byte {min(starts)}{inside}; the offset must be a multiple of {unit}"
            )
            if newer:
                yield ctx.report(RULE, place, message)
            else:
                yield ctx.report(RULE, place, f"{message} (the finalizer does not check)", severity=WARNING)
        elif newer and whole.decl is not None and whole.input is None:
            lanes = exec_control(bound)
            sums = operand.slot.role is Role.WRITE or operand.slot.name == "src0"
            needed = unit or min(ctx.grf_sizes)
            if sums and lanes is not None:
                needed = lanes.exec_size * symbol.type.size
            if all(align_bytes(whole.align, grf) % needed for grf in ctx.grf_sizes):
                message = f"`{whole.name}` is not aligned to {needed} bytes, as `{operand.slot.name}` must be; declare it with `align=GRF`"
                yield ctx.report(RULE, place, message, severity=INFORMATION)


def _start(value: object, size: int, grf: int) -> int:
    """Return the first byte of an operand within its variable."""
    if isinstance(value, RawOperand):
        return value.offset
    assert isinstance(value, General)
    return value.row * grf + value.col * size


def _step_bytes(bound: Bound, operand: BoundOperand) -> int:
    """Return the byte alignment of an operand without a raw offset; 0 if it has none, or is aligned to registers."""
    inst = bound.inst
    if inst is None or operand.slot.shape is not Shape.SIMPLE:
        return 0
    first_precision, second_precision, depth = inst.get("prec1"), inst.get("prec2"), inst.get("depth")
    if operand.slot.name != "src2":
        return {"src3": 16, "src4": 8}.get(operand.slot.name, 0)
    if not (isinstance(first_precision, int) and isinstance(second_precision, int) and isinstance(depth, int)):
        return 0
    bits, other = PRECISION_BITS.get(second_precision), PRECISION_BITS.get(first_precision)
    if bits is None or other is None:
        return 0
    products = 32 // other if other > 8 else 8 if {first_precision, second_precision} <= NARROW_PRECISIONS else 4
    return depth * bits * products // 8


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.shape in RAW_SHAPES for s in row.slots))
