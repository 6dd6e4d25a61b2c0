"""Compiled effects with more than one result, or with a function in a field. The rules are those of ``sim.effects.wide``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from llvmlite import ir

from visa_lsp.isa import types as ty
from visa_lsp.program.model import General, Immediate
from visa_lsp.sim import values
from visa_lsp.sim.jit import numbers
from visa_lsp.sim.jit.emitter import Uncompiled, integer, lanes_of, splat, vector
from visa_lsp.sim.lanes import saturates

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.isa.types import DataType
    from visa_lsp.program.model import Value
    from visa_lsp.sim.jit.emitter import Emitter, Node
    from visa_lsp.sim.operands import Site


def _sources(e: Emitter, site: Site, operands: list[Value], exec_type: DataType, bits: int) -> list[Node]:
    if not all(isinstance(operand, General | Immediate) for operand in operands):
        raise Uncompiled
    return [numbers.integers(e, site, operand, exec_type, bits) for operand in operands]


def _target(site: Site, name: str) -> tuple[Value, DataType]:
    """Return a destination that takes the low bits of a result. Raises Uncompiled where it is another."""
    operand = site.inst.get(name)
    if not isinstance(operand, General) or saturates(operand) or not site.operand_type(operand).is_int:
        raise Uncompiled
    return operand, site.operand_type(operand)


def _carry(e: Emitter, site: Site, *, extra: str, subtract: bool) -> None:
    builder = e.builder
    targets = [_target(site, name) for name in ("dst", extra)]
    a, b = _sources(e, site, [site.inst.get(n) for n in ("src0", "src1")], ty.UD, 64)
    total = builder.sub(a, b) if subtract else builder.add(a, b)
    if subtract:
        bit = builder.zext(builder.icmp_signed("<", a, b), vector(integer(64), lanes_of(a)))
    else:
        bit = builder.ashr(total, splat(integer(64), 32, lanes_of(a)))
    for (operand, kind), value in zip(targets, (total, bit), strict=True):
        numbers.write(e, site, operand, numbers.resize(e, value, kind.bits, signed=True), e.enable(site))


def addc(e: Emitter, site: Site) -> None:
    """Add, with the carry in a second destination. Raises Uncompiled where there is no compiled form."""
    _carry(e, site, extra="carry", subtract=False)


def subb(e: Emitter, site: Site) -> None:
    """Subtract, with the borrow in a second destination. Raises Uncompiled where there is no compiled form."""
    _carry(e, site, extra="borrow", subtract=True)


def bfn(e: Emitter, site: Site) -> None:
    """Emit a Boolean function of three sources, from a table of eight bits. Raises Uncompiled where there is no compiled form."""
    operand, target = _target(site, "dst")
    operands = [site.inst.get(f"src{i}") for i in range(3)]
    exec_type = values.execution_type(site.operand_type(s) for s in operands)
    bits = 32 if max(target.size, exec_type.size) <= 4 else 64
    sources = _sources(e, site, operands, exec_type, bits)
    builder, table = e.builder, site.integer("func")
    total: Node = ir.Constant(sources[0].type, None)
    for term in range(8):
        if table >> term & 1:
            a, b, c = (s if term >> i & 1 else builder.not_(s) for i, s in enumerate(sources))
            total = builder.or_(total, builder.and_(builder.and_(a, b), c))
    numbers.write(e, site, operand, numbers.resize(e, total, target.bits, signed=True), e.enable(site))


WIDE: Final[dict[str, Callable[[Emitter, Site], None]]] = {"addc": addc, "subb": subb, "bfn": bfn}
