"""Raw operands and scalars of compiled messages: where they stand in the registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from visa_lsp.program.model import General, Immediate, RawOperand
from visa_lsp.sim import values
from visa_lsp.sim.jit import numbers
from visa_lsp.sim.jit.emitter import I32, I64, Emitter, Node, Uncompiled

if TYPE_CHECKING:
    from visa_lsp.sim.operands import Site


def raw_start(site: Site, operand: RawOperand, end: int) -> int:
    """Return the first byte of a raw operand in the registers, which have to reach ``end`` bytes behind it; -1 for %null.

    Raises Uncompiled where it lies before the registers.
    """
    if operand.var == 0:
        return -1
    start = site.code.layout.offset(operand.var) + operand.offset
    if start < 0:
        raise Uncompiled
    site.code.layout.need(start + end)
    return start


def scalar(e: Emitter, site: Site, name: str) -> Node | None:
    """Return the first element of an operand as 64 bits; None where it is zero. Raises Uncompiled for what is no integer."""
    operand = site.inst.get(name)
    if operand is None:
        return None
    if isinstance(operand, int):
        return ir.Constant(I64, operand) if operand else None
    if isinstance(operand, RawOperand):
        start = raw_start(site, operand, 4)
        if start < 0:
            raise Uncompiled
        return e.builder.zext(e.builder.load(e.at(start, 4), typ=I32, align=1), I64)
    if not isinstance(operand, General | Immediate) or not site.operand_type(operand).is_int:
        raise Uncompiled
    if isinstance(operand, General) and operand.modifier.value:
        raise Uncompiled
    found = numbers.resize(e, numbers.read(e, site, operand, 1), 64, signed=site.operand_type(operand).is_signed)
    if isinstance(operand, Immediate):
        number = values.immediate(operand, 1).item()
        return ir.Constant(I64, int(number)) if number else None
    return e.builder.extract_element(found, ir.Constant(I32, 0))
