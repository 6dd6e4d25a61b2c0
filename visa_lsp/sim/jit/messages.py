"""Compiled messages of elements, by their values, and fences. The rules are those of ``sim.effects``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.program.message import ElementMessage, FenceMessage, understood_message_of
from visa_lsp.program.model import RawOperand
from visa_lsp.sim.group import GLOBAL, SHARED
from visa_lsp.sim.jit import numbers, spaces, state
from visa_lsp.sim.jit.atomics import emit_atomic
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.followed_registers import find_stored_masks
from visa_lsp.sim.jit.memory_access import elements_of, move_block, transfer, wide
from visa_lsp.sim.jit.numbers import raw_lanes, raw_start, scalar
from visa_lsp.sim.jit.writer import I1, I32, I64, Node, integer, splat

if TYPE_CHECKING:
    from visa_lsp.sim.operands import Site


def emit_elements(e: Emitter, site: Site) -> None:
    """Emit a message of elements. Raises Uncompiled if it has no compiled form."""
    message = understood_message_of(site.inst)
    if not isinstance(message, ElementMessage) or message.residency or message.address.strided:
        raise Uncompiled
    site.set_control(message.control)
    space = spaces.memory_of(e, site, message.memory)
    if message.fetches:
        return
    write, size, cell = message.use is MemoryUse.WRITE, message.size, message.cell
    if message.single:
        _emit_block(e, site, space, message)
        return
    addresses = _addresses(e, site, message, site.lanes)
    if message.use is MemoryUse.ATOMIC:
        emit_atomic(e, site, space, addresses, message)
    elif message.elements:
        offsets = [element * size for element in message.elements]
        row, high = message.row(site.grf), bool(message.first)
        moved = elements_of(site, message.data, offsets, size, cell, row, high=high)
        # Of messages to pages, which require no alignment either, the type of the element does.
        any_address = message.alignment <= 1 and site.inst.row.family != "lsc"
        transfer(e, space, addresses, e.enable(site), moved, write=write, any_address=any_address)


def _addresses(e: Emitter, site: Site, message: ElementMessage, lanes: int) -> Node:
    """Return the address of each lane, in 32 bits if it wraps and nothing is added afterwards, else in 64 bits."""
    address, b = message.address, e.builder
    width = 32 if address.wraps else 64
    operand = address.operand if isinstance(address.operand, RawOperand) else RawOperand(0, 0)
    addresses = raw_lanes(e, site, operand, integer(8 * address.type.size), lanes)
    addresses = numbers.resize(e, addresses, width, signed=address.type.is_signed)
    kind = integer(width)
    if address.scale != 1:
        addresses = b.mul(addresses, splat(kind, address.scale, lanes))
    if address.offset:
        addresses = b.add(addresses, splat(kind, address.offset, lanes))
    if address.operand is not operand:
        addresses = _add(e, addresses, scalar(e, site, address.operand), lanes)
    addresses = _add(e, addresses, scalar(e, site, address.common), lanes)
    if address.unit != 1:
        addresses = b.mul(wide(e, addresses), splat(I64, address.unit, lanes))
    if address.base is not None:
        addresses = _add(e, wide(e, addresses), scalar(e, site, address.base), lanes)
    return addresses


def _add(e: Emitter, addresses: Node, number: Node | None, lanes: int) -> Node:
    """Return addresses plus a number of 64 bits; None adds nothing."""
    if number is None:
        return addresses
    own = e.builder.trunc(number, I32) if addresses.type.element.width == 32 else number
    return e.builder.add(addresses, e.spread(own, lanes))


def _emit_block(e: Emitter, site: Site, space: spaces.Found, message: ElementMessage) -> None:
    """Emit a message with a single address: contiguous elements."""
    if message.size != message.cell:
        raise Uncompiled
    size = len(message.elements) * message.size
    start, write = raw_start(site, message.data, size), message.use is MemoryUse.WRITE
    address = e.builder.extract_element(wide(e, _addresses(e, site, message, 1)), ir.Constant(I32, 0))
    bits, undefined = e.some(e.enable(site), site), find_stored_masks(e, site.pc)
    with e.builder.if_then(bits if site.lanes == 1 else e.builder.trunc(bits, I1)):
        move_block(e, space, address, start, size, write=write, undefined=undefined)


def emit_fence(e: Emitter, site: Site) -> None:
    """Emit a fence: memory is always in order; with checkers, the thread records the memory of the fence."""
    message = understood_message_of(site.inst)
    if not e.mode.watched or not isinstance(message, FenceMessage):
        return
    fenced = e.word(e.block, state.FENCED)
    memory = SHARED if message.shared else GLOBAL
    e.put_word(e.block, state.FENCED, e.builder.or_(fenced, ir.Constant(I64, memory)))
