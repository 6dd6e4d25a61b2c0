"""A raw operand does not begin at a register.

Raw operands of variables that fill a register or more start at a whole register, aliases counted from the variable they lie in.

Why: messages move whole registers.

Example:

    oword_ld (2) T6 0x0:ud V36.4

Instead:

    oword_ld (2) T6 0x0:ud V36.32

Authority: seed 004, raw operands ("must be GRF-aligned"); the finalizer rejects the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.checks.support.payloads import storage
from visa_lsp.isa.model import Shape
from visa_lsp.program.model import RawOperand

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = rule("V601", "raw-alignment", ERROR, __doc__)
RAW_SHAPES = frozenset(
    {Shape.RAW, Shape.RAWS, Shape.VECTORS, Shape.LSC_PAYLOAD, Shape.LSC_DATA, Shape.LSC_DATA_2D, Shape.LSC_ADDRESS}
)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    variables = ctx.facts(body).variables
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
                f"raw operand begins at byte {offset}{inside}; it must be a multiple of {grf}, the register size",
            )


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.shape in RAW_SHAPES for s in row.slots))
