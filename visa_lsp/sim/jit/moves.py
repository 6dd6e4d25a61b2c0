"""Compiled effects other than messages: moves, addresses, surface values, carries. The rules are in ``sim.effects.moves``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from llvmlite import ir

from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import S0
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.model import Address, AddressOf, General, Immediate, Predicate, PredicateOperand, State, Value
from visa_lsp.sim import values
from visa_lsp.sim.effects.moves import same_bits
from visa_lsp.sim.effects.wide import high_half
from visa_lsp.sim.integer_formulas import boolean_function, carry
from visa_lsp.sim.jit import numbers, state
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.lane_formulas import LaneNumbers
from visa_lsp.sim.jit.lanes import emit_lane, set_predicate
from visa_lsp.sim.jit.numbers import LANES, STORAGE
from visa_lsp.sim.jit.writer import I16, I32, I64, Node, integer, splat, vector
from visa_lsp.sim.lanes import modifier_of, saturates

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Site

_RELATIONS: Final = ("==", "!=", ">", ">=", "<", "<=")


def _mov(e: Emitter, site: Site) -> None:
    """Copy with conversion, or the bits of a predicate."""
    dst, src = site.inst.get("dst"), site.inst.get("src0")
    if isinstance(dst, PredicateOperand):
        _setp(e, site)
    elif isinstance(dst, Address):
        _addresses(e, site, dst, src)
    elif isinstance(src, PredicateOperand):
        _whole_predicate(e, site, dst, src)
    elif isinstance(src, AddressOf):
        kind = STORAGE[site.operand_type(dst)]
        if kind not in (I16, I32):
            raise Uncompiled
        numbers.write(e, site, dst, splat(kind, site.origin(src) & 0xFFFF, site.lanes), e.enable(site))
    elif not same_bits(site, dst, [src]):
        emit_lane(e, site, S0)
    else:
        numbers.write(e, site, dst, numbers.read(e, site, src), e.enable(site))


def _whole_predicate(e: Emitter, site: Site, dst: Value, src: PredicateOperand) -> None:
    kind = STORAGE[site.operand_type(dst)]
    if kind not in (I16, I32, I64):
        raise Uncompiled
    value = numbers.resize(e, e.spread(e.get(e.predicates[src.var]), 1), kind.width, signed=False)
    numbers.write(e, site, dst, value, None)


def _setp(e: Emitter, site: Site) -> None:
    """Set a predicate from the bits of a scalar, or from the low bit of each lane."""
    dst, src = site.inst.get("dst"), site.inst.get("src0")
    if not isinstance(dst, PredicateOperand):
        raise Uncompiled
    lanes = site.lanes
    if isinstance(src, PredicateOperand):
        set_predicate(e, site, dst.var, None, e.mask_of(e.predicates[src.var], site.control.mask_offset, lanes))
        return
    if not isinstance(src, General | Immediate) or modifier_of(src) is not OperandModifier.NONE:
        raise Uncompiled
    if isinstance(src, Immediate) or src.region.is_scalar or lanes == 1:
        if site.operand_type(src).is_float:
            raise Uncompiled
        bits = numbers.resize(e, numbers.read(e, site, src, 1), lanes, signed=site.operand_type(src).is_signed)
        set_predicate(e, site, dst.var, None, e.builder.extract_element(bits, ir.Constant(I32, 0)))
        return
    source = numbers.read(e, site, src)
    if not isinstance(source.type.element, ir.IntType):
        raise Uncompiled
    low = e.builder.bitcast(e.builder.trunc(source, vector(integer(1), lanes)), integer(lanes))
    set_predicate(e, site, dst.var, e.enable(site), low)


def _read_typed(e: Emitter, site: Site, operand: Value, exec_type: ty.DataType, bits: int, *, compared: bool) -> Node:
    if exec_type.is_float:
        return numbers.floats(e, site, operand, exec_type, flushed=compared)
    return numbers.integers(e, site, operand, exec_type, bits)


def _select(e: Emitter, site: Site) -> None:
    """Take src0 where the predicate holds, else src1, on the lanes of the execution mask."""
    dst, src0, src1, pred = (site.inst.get(n) for n in ("dst", "src0", "src1", "pred"))
    exec_type = values.execution_type([site.operand_type(src0), site.operand_type(src1)])
    value, other = (_as_stored(e, site, dst, source, exec_type) for source in (src0, src1))
    if isinstance(pred, Predicate):
        bits = e.lanes(e.predicate(pred, site.control.mask_offset, site.lanes), site.lanes)
        value = e.builder.select(bits, value, other)
    numbers.write(e, site, dst, value, e.enable(site, predicate=False))


def _as_stored(e: Emitter, site: Site, dst: Value, source: Value, exec_type: ty.DataType) -> Node:
    """Return a source as a destination stores it: its bits, or converted."""
    if same_bits(site, dst, [source]):
        return numbers.read(e, site, source)
    own = site.operand_type(dst)
    if not exec_type.is_float and exec_type.size == 8 and (saturates(dst) or not own.is_int):
        raise Uncompiled
    value = _read_typed(e, site, source, exec_type, 64, compared=False)
    if exec_type.is_float:
        return numbers.from_floats(e, value, exec_type, site, dst)
    return numbers.from_integers(e, value, own, sat=saturates(dst))


def _compare(e: Emitter, site: Site) -> None:
    """Compare lane by lane, into a predicate or as all ones and zeros."""
    relop = site.integer("relop")
    if relop >= len(_RELATIONS):
        raise Uncompiled
    relation = _RELATIONS[relop]
    dst, left, right = (site.inst.get(n) for n in ("dst", "src0", "src1"))
    exec_type = values.execution_type([site.operand_type(left), site.operand_type(right)])
    plain = modifier_of(left) is modifier_of(right) is OperandModifier.NONE
    if not exec_type.is_float and not plain and exec_type.size == 8:
        raise Uncompiled
    bits = max(32, exec_type.bits) if plain else 64  # words keep their own sign
    a, b = (_read_typed(e, site, s, exec_type, bits, compared=True) for s in (left, right))
    if exec_type.is_float:
        holds = (e.builder.fcmp_unordered if relation == "!=" else e.builder.fcmp_ordered)(relation, a, b)
    elif exec_type.is_signed or not plain:
        holds = e.builder.icmp_signed(relation, a, b)
    else:
        holds = e.builder.icmp_unsigned(relation, a, b)
    enabled = e.enable(site, predicate=False)
    if isinstance(dst, PredicateOperand):
        set_predicate(e, site, dst.var, enabled, e.builder.bitcast(holds, integer(site.lanes)))
        return
    type_ = site.operand_type(dst)
    ones = e.builder.sext(holds, vector(integer(type_.bits), site.lanes))
    kind = STORAGE[type_]
    if not isinstance(kind, ir.IntType):
        ones = e.builder.bitcast(ones, vector(kind, site.lanes))
    numbers.write(e, site, dst, ones, enabled)


# ---- addresses: byte numbers of the register file, eight bytes each


def _read_addresses(e: Emitter, site: Site, operand: Address) -> Node:
    start = site.code.layout.address_base[operand.var] + operand.offset
    return numbers.read_addresses(e, site, [start + lane % max(1, operand.width) for lane in range(site.lanes)])


def _write_addresses(e: Emitter, site: Site, operand: Address, value: Node) -> None:
    start, enabled = site.code.layout.address_base[operand.var] + operand.offset, e.lanes(e.enable(site), site.lanes)
    old = numbers.read_addresses(e, site, range(start, start + site.lanes))
    if enabled is not None:
        value = e.builder.select(enabled, value, old)
    place = e.builder.gep(e.addresses, [ir.Constant(I64, start)], source_etype=I64)
    e.builder.store(value, place, align=8)


def _addresses(e: Emitter, site: Site, dst: Address, src: Value) -> None:
    if isinstance(src, AddressOf):
        value = splat(I64, site.origin(src), site.lanes)
    elif isinstance(src, Address):
        value = _read_addresses(e, site, src)
    elif isinstance(src, LANES) and site.operand_type(src).is_int and site.operand_type(src).size < 8:
        value = numbers.resize(e, numbers.read(e, site, src), 64, signed=site.operand_type(src).is_signed)
    else:
        raise Uncompiled
    _write_addresses(e, site, dst, value)


def _addr_add(e: Emitter, site: Site) -> None:
    """Emit the byte address of a variable, or an address, plus an offset."""
    dst, base, offset = (site.inst.get(n) for n in ("dst", "src0", "src1"))
    if not isinstance(dst, Address):
        raise Uncompiled
    if isinstance(base, General | AddressOf):
        start = splat(I64, site.origin(base), site.lanes)
    elif isinstance(base, Address):
        start = _read_addresses(e, site, base)
    else:
        raise Uncompiled
    if isinstance(offset, Address):
        steps = _read_addresses(e, site, offset)
    elif isinstance(offset, General | Immediate) and site.operand_type(offset).is_int:
        # Offsets are words; a negative one is written as a large unsigned word.
        offsets = numbers.read(e, site, offset)
        word = numbers.resize(e, offsets, 16, signed=site.operand_type(offset).is_signed)
        steps = numbers.resize(e, word, 64, signed=True)
    else:
        raise Uncompiled
    _write_addresses(e, site, dst, e.builder.add(start, steps))


# ---- surface values


def _movs(e: Emitter, site: Site) -> None:
    """Set one element of a surface variable, to a number or to an element of another one."""
    dst, src = site.inst.get("dst"), site.inst.get("src0")
    to = e.layout.state_cells(site, dst, site.lanes) if isinstance(dst, State) else range(site.lanes)
    constants: list[int | None] = [None] * site.lanes
    if isinstance(src, State):
        cells = e.layout.state_cells(site, src, site.lanes)
        handles, constants = [e.surface(cell) for cell in cells], [e.known_surfaces.get(cell) for cell in cells]
    elif isinstance(src, LANES) and site.operand_type(src).is_int:
        if isinstance(src, Immediate):
            constants = np.broadcast_to(values.immediate(src, site.lanes), site.lanes).tolist()
        wide = numbers.resize(e, numbers.read(e, site, src), 64, signed=site.operand_type(src).is_signed)
        handles = [e.builder.extract_element(wide, ir.Constant(I32, lane)) for lane in range(site.lanes)]
    else:
        raise Uncompiled
    if min(len(to), len(handles)) < site.lanes:
        raise Uncompiled
    if isinstance(dst, State):
        for cell, value, number in zip(to, handles, constants, strict=True):
            e.put_surface(cell, value, number)
        return
    if STORAGE[site.operand_type(dst)] is not I32:
        raise Uncompiled
    lanes: Node = ir.Constant(vector(I64, site.lanes), None)
    for lane, value in enumerate(handles):
        lanes = e.builder.insert_element(lanes, value, ir.Constant(I32, lane))
    numbers.write(e, site, dst, numbers.resize(e, lanes, 32, signed=False), None)


def _faddr(e: Emitter, site: Site) -> None:
    """Store the address of a function or of a symbol of the program."""
    name, dst = site.code.kernel.string(site.integer("name")), site.inst.get("dst")
    kind = STORAGE[site.operand_type(dst)]
    if name not in e.bindings.symbols or not isinstance(kind, ir.IntType):
        raise Uncompiled
    address = e.constant(e.table(state.SYMBOLS), 8 * e.bindings.symbols.index(name))
    numbers.write(e, site, dst, numbers.resize(e, e.spread(address, 1), kind.width, signed=False), None)


# ---- more than one result, or a function in a field: the rules are those of ``sim.effects.wide``


def _sources(e: Emitter, site: Site, count: int, type_: ty.DataType | None = None) -> list[LaneNumbers]:
    """Return sources in 64 bits, by default of their execution type."""
    operands = [site.inst.get(f"src{i}") for i in range(count)]
    exec_type = type_ or values.execution_type(site.operand_type(s) for s in operands)
    return [LaneNumbers(e, numbers.integers(e, site, operand, exec_type, 64)) for operand in operands]


def _target(site: Site, name: str) -> General:
    """Return a destination for the low bits of a result. Raises Uncompiled for any other destination."""
    operand = site.inst.get(name)
    if not isinstance(operand, General) or saturates(operand) or not site.operand_type(operand).is_int:
        raise Uncompiled
    return operand


def _write_low(e: Emitter, site: Site, operand: Value, value: LaneNumbers) -> None:
    """Write the low bits of a result."""
    low = numbers.resize(e, value.node, site.operand_type(operand).bits, signed=True)
    numbers.write(e, site, operand, low, e.enable(site))


def _carry(e: Emitter, site: Site, *, extra: str, subtract: bool) -> None:
    targets = [_target(site, name) for name in ("dst", extra)]
    for operand, value in zip(targets, carry(*_sources(e, site, 2, ty.UD), subtract=subtract), strict=True):
        _write_low(e, site, operand, value)


def _madw(e: Emitter, site: Site) -> None:
    """Emit a product plus a dword in 64 bits; its upper half goes to the next free register."""
    operand = _target(site, "dst")
    if site.operand_type(operand).size != 4:
        raise Uncompiled
    a, b, c = _sources(e, site, 3)
    total = a * b + c
    for place, value in ((operand, total), (high_half(site, operand), total >> 32)):
        _write_low(e, site, place, value)


def _bfn(e: Emitter, site: Site) -> None:
    """Emit a Boolean function of three sources, from a table of eight bits."""
    _write_low(e, site, _target(site, "dst"), boolean_function(site.integer("func"), *_sources(e, site, 3)))


MOVES: Final[dict[str, Callable[[Emitter, Site], None]]] = {
    "mov": _mov,
    "select": _select,
    "compare": _compare,
    "setp": _setp,
    "addr_add": _addr_add,
    "movs": _movs,
    "faddr": _faddr,
    "addc": partial(_carry, extra="carry", subtract=False),
    "subb": partial(_carry, extra="borrow", subtract=True),
    "madw": _madw,
    "bfn": _bfn,
}
