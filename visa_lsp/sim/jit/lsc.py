"""Compiled messages of the load/store controller. The rules are those of ``sim.effects.lsc``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from llvmlite import ir

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.sim.jit import numbers, spaces
from visa_lsp.sim.jit.atomics import emit_atomic
from visa_lsp.sim.jit.emitter import I32, I64, Emitter, Node, Uncompiled, integer, splat, vector
from visa_lsp.sim.jit.moving import Moved, move_block, transfer, wide
from visa_lsp.sim.jit.raw_operands import raw_start

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.program.model import RawOperand
    from visa_lsp.sim.operands import Site


def _lsc_addresses(e: Emitter, site: Site, lanes: int) -> Node:
    size = codes.ADDRSIZE_BYTES.get(site.integer("addrsize"), 4)
    start = raw_start(site, site.raw("src0"), lanes * size)
    if start < 0:
        found = splat(I64, 0, lanes)
    else:
        found = numbers.resize(
            e, e.load_lanes(start, range(lanes), integer(8 * size)), 64, signed=site.integer("addrsize") == 6
        )
    scale = site.integer("immscale", 1) or 1
    if scale != 1:
        found = e.builder.mul(found, splat(I64, scale, lanes))
    offset = site.integer("immoffset")
    if offset:
        found = e.builder.add(found, splat(I64, offset, lanes))
    if size <= 4 and site.integer("addrtype") != codes.ADDRTYPE_FLAT:
        return e.builder.trunc(found, vector(I32, lanes))
    return found


def _lsc(*, write: bool, quad: bool = False) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        data = codes.DATASIZES.get(site.integer("datasize"))
        if data is None:
            raise Uncompiled
        memory, register = data.memory_bytes, data.register_bytes
        if quad:
            elements = [c for c in range(4) if site.integer("chmask") >> c & 1]
        else:
            elements = list(range(codes.ELEMS_VALUE.get(site.integer("elems"), 1)))
        lanes = site.lanes
        found, base = spaces.lsc(e, site)
        operand = site.raw("src1" if write else "dst")
        if site.integer("order") == codes.ORDER_TRANSPOSED:
            _lsc_block(e, site, found, base, operand, memory, register, len(elements), write=write)
            return
        if operand.var == 0 and not write:
            raise Uncompiled
        row = max(site.grf, -(-lanes * register // site.grf) * site.grf)
        start = raw_start(site, operand, (len(elements) - 1) * row + lanes * register)
        moved = [
            Moved(memory, register, memory * element, start + k * row if start >= 0 else -1, data.high_half)
            for k, element in enumerate(elements)
        ]
        at = _lsc_addresses(e, site, lanes)
        if base is not None:
            at = e.builder.add(wide(e, at), e.spread(base, lanes))
        transfer(e, site, found, at, e.enable(site), moved, write=write)

    return emit


def _lsc_block(
    e: Emitter, site: Site, found: spaces.Found, base: Node | None, operand: RawOperand, memory: int, register: int,
    count: int, *, write: bool,
) -> None:  # fmt: skip
    """Emit a transposed message: the elements of one lane, side by side."""
    if memory != register or operand.var == 0:
        raise Uncompiled
    size = count * memory
    start = raw_start(site, operand, size)
    at = e.builder.extract_element(wide(e, _lsc_addresses(e, site, 1)), ir.Constant(I32, 0))
    if base is not None:
        at = e.builder.add(at, base)
    bits = e.enable(site)
    if bits is None:
        move_block(e, found, at, start, size, write=write)
        return
    first = bits if site.lanes == 1 else e.builder.trunc(bits, ir.IntType(1))
    with e.builder.if_then(first):
        move_block(e, found, at, start, size, write=write)


def _lsc_atomic(e: Emitter, site: Site) -> None:
    data = codes.DATASIZES.get(site.integer("datasize"))
    if data is None:
        raise Uncompiled
    found, base = spaces.lsc(e, site)
    at = _lsc_addresses(e, site, site.lanes)
    if base is not None:
        at = e.builder.add(wide(e, at), e.spread(base, site.lanes))
    memory, register = data.memory_bytes, data.register_bytes
    emit_atomic(e, site, found, at, site.inst.row.update, memory, register, names=("dst", "src1", "src2"))


LSC: Final[dict[str, Callable[[Emitter, Site], None]]] = {
    "lsc_load": _lsc(write=False),
    "lsc_store": _lsc(write=True),
    "lsc_load_quad": _lsc(write=False, quad=True),
    "lsc_store_quad": _lsc(write=True, quad=True),
    "lsc_atomic": _lsc_atomic,
}
