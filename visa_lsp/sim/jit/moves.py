"""Compiled moves: mov, sel, cmp, setp, addresses, surface values. The rules are those of ``sim.effects.moves``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from llvmlite import ir

from visa_lsp.isa.lane import S0
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.model import (
    Address,
    AddressOf,
    General,
    Immediate,
    Predicate,
    PredicateOperand,
    State,
)
from visa_lsp.sim import values
from visa_lsp.sim.effects.moves import same_bits
from visa_lsp.sim.jit import numbers
from visa_lsp.sim.jit.emitter import I16, I32, I64, STORAGE, Uncompiled, integer, splat, vector
from visa_lsp.sim.jit.lanes import emit_lane, set_predicate
from visa_lsp.sim.lanes import modifier_of, saturates

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.isa import types as ty
    from visa_lsp.program.model import Value
    from visa_lsp.sim.jit.emitter import Emitter, Node
    from visa_lsp.sim.operands import Site

_RELATIONS: Final = ("==", "!=", ">", ">=", "<", "<=")


def mov(e: Emitter, site: Site) -> None:
    """Copy with conversion, or the bits of a predicate. Raises Uncompiled where there is no compiled form."""
    dst, src = site.inst.get("dst"), site.inst.get("src0")
    if isinstance(dst, PredicateOperand):
        setp(e, site)
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
    value = e.get(e.predicates[src.var])
    if kind is I16:
        value = e.builder.trunc(value, I16)
    elif kind is I64:
        value = e.builder.zext(value, I64)
    elif kind is not I32:
        raise Uncompiled
    numbers.write(e, site, dst, e.spread(value, 1), None)


def setp(e: Emitter, site: Site) -> None:
    """Set a predicate from the bits of a scalar, or from the low bit of each lane.

    Raises Uncompiled where there is no compiled form.
    """
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
        one = e.builder.extract_element(numbers.read(e, site, src, 1), ir.Constant(I32, 0))
        width = one.type.width
        if width > lanes:
            one = e.builder.trunc(one, integer(lanes))
        elif width < lanes:
            one = (e.builder.sext if site.operand_type(src).is_signed else e.builder.zext)(one, integer(lanes))
        set_predicate(e, site, dst.var, None, one)
        return
    found = numbers.read(e, site, src)
    if not isinstance(found.type.element, ir.IntType):
        raise Uncompiled
    low = e.builder.bitcast(e.builder.trunc(found, vector(integer(1), lanes)), integer(lanes))
    set_predicate(e, site, dst.var, e.enable(site), low)


def _typed(e: Emitter, site: Site, operand: Value, exec_type: ty.DataType, bits: int, *, compared: bool) -> Node:
    if exec_type.is_float:
        return numbers.floats(e, site, operand, exec_type, flushed=compared)
    return numbers.integers(e, site, operand, exec_type, bits)


def select(e: Emitter, site: Site) -> None:
    """Take src0 where the predicate holds, else src1, on the lanes of the execution mask.

    Raises Uncompiled where there is no compiled form.
    """
    dst, first, second = (site.inst.get(n) for n in ("dst", "src0", "src1"))
    if not all(isinstance(s, General | Immediate) for s in (first, second)):
        raise Uncompiled
    pred, lanes = site.inst.get("pred"), site.lanes
    same = same_bits(site, dst, [first, second])
    exec_type = values.execution_type([site.operand_type(first), site.operand_type(second)])
    if same:
        a, b = numbers.read(e, site, first), numbers.read(e, site, second)
    else:
        if not exec_type.is_float and exec_type.size == 8:
            raise Uncompiled
        a, b = (_typed(e, site, s, exec_type, 64, compared=False) for s in (first, second))
    value = a
    if isinstance(pred, Predicate):
        bits = e.lanes(e.predicate(pred, site.control.mask_offset, lanes), lanes)
        value = e.builder.select(bits, a, b)
    if not same:
        if exec_type.is_float:
            value = numbers.from_floats(e, value, exec_type, site, dst)
        else:
            value = numbers.from_integers(e, value, site.operand_type(dst), sat=saturates(dst))
    numbers.write(e, site, dst, value, e.enable(site, predicate=False))


def compare(e: Emitter, site: Site) -> None:
    """Compare lane by lane, into a predicate or as all ones and zeros.

    Raises Uncompiled where there is no compiled form.
    """
    relop = site.integer("relop")
    if relop >= len(_RELATIONS):
        raise Uncompiled
    relation = _RELATIONS[relop]
    dst, first, second = (site.inst.get(n) for n in ("dst", "src0", "src1"))
    if not all(isinstance(s, General | Immediate) for s in (first, second)):
        raise Uncompiled
    exec_type = values.execution_type([site.operand_type(first), site.operand_type(second)])
    plain = modifier_of(first) is modifier_of(second) is OperandModifier.NONE
    if not exec_type.is_float and not plain and exec_type.size == 8:
        raise Uncompiled
    bits = exec_type.bits if plain else 64
    a, b = (_typed(e, site, s, exec_type, bits, compared=True) for s in (first, second))
    if exec_type.is_float:
        found = (e.builder.fcmp_unordered if relation == "!=" else e.builder.fcmp_ordered)(relation, a, b)
    elif exec_type.is_signed or not plain:
        found = e.builder.icmp_signed(relation, a, b)
    else:
        found = e.builder.icmp_unsigned(relation, a, b)
    enabled = e.enable(site, predicate=False)
    if isinstance(dst, PredicateOperand):
        set_predicate(e, site, dst.var, enabled, e.builder.bitcast(found, integer(site.lanes)))
        return
    type_ = site.operand_type(dst)
    ones = e.builder.sext(found, vector(integer(type_.bits), site.lanes))
    kind = STORAGE[type_]
    if not isinstance(kind, ir.IntType):
        ones = e.builder.bitcast(ones, vector(kind, site.lanes))
    numbers.write(e, site, dst, ones, enabled)


# ---- addresses: byte numbers of the register file, eight bytes each


def _cell(e: Emitter, number: int) -> Node:
    return e.builder.gep(e.addresses, [ir.Constant(I64, 8 * number)], source_etype=integer(8))


def _read_addresses(e: Emitter, first: int, width: int, lanes: int) -> Node:
    whole = e.builder.load(_cell(e, first), typ=vector(I64, max(1, width)), align=8)
    order = [lane % max(1, width) for lane in range(lanes)]
    undefined = ir.Constant(whole.type, ir.Undefined)
    return e.builder.shuffle_vector(whole, undefined, ir.Constant(vector(I32, lanes), order))


def _write_addresses(e: Emitter, site: Site, first: int, value: Node) -> None:
    enabled = e.lanes(e.enable(site), site.lanes)
    if enabled is not None:
        old = e.builder.load(_cell(e, first), typ=value.type, align=8)
        value = e.builder.select(enabled, value, old)
    e.builder.store(value, _cell(e, first), align=8)


def _fits(site: Site, first: int, lanes: int) -> None:
    cells = sum(max(1, v.num_elements) for v in site.code.kernel.addresses)
    if not 0 <= first <= cells - lanes:
        raise Uncompiled


def _addresses(e: Emitter, site: Site, dst: Address, src: Value) -> None:
    bases = site.code.layout.address_base
    first = bases[dst.var] + dst.offset
    _fits(site, first, site.lanes)
    if isinstance(src, AddressOf):
        value = splat(I64, site.origin(src), site.lanes)
    elif isinstance(src, Address):
        other = bases[src.var] + src.offset
        _fits(site, other, max(1, src.width))
        value = _read_addresses(e, other, src.width, site.lanes)
    elif isinstance(src, General | Immediate) and site.operand_type(src).is_int and site.operand_type(src).size < 8:
        found = numbers.read(e, site, src)
        value = numbers.resize(e, found, 64, signed=site.operand_type(src).is_signed)
    else:
        raise Uncompiled
    _write_addresses(e, site, first, value)


def addr_add(e: Emitter, site: Site) -> None:
    """Emit the byte address of a variable, or an address, plus an offset.

    Raises Uncompiled where there is no compiled form.
    """
    dst, base, offset = (site.inst.get(n) for n in ("dst", "src0", "src1"))
    if not isinstance(dst, Address):
        raise Uncompiled
    bases, lanes = site.code.layout.address_base, site.lanes
    first = bases[dst.var] + dst.offset
    _fits(site, first, lanes)
    if isinstance(base, General | AddressOf):
        start = splat(I64, site.origin(base), lanes)
    elif isinstance(base, Address):
        other = bases[base.var] + base.offset
        _fits(site, other, max(1, base.width))
        start = _read_addresses(e, other, base.width, lanes)
    else:
        raise Uncompiled
    if isinstance(offset, Address):
        other = bases[offset.var] + offset.offset
        _fits(site, other, max(1, offset.width))
        steps = _read_addresses(e, other, offset.width, lanes)
    else:
        if not isinstance(offset, General | Immediate) or not site.operand_type(offset).is_int:
            raise Uncompiled
        found = numbers.read(e, site, offset)
        # Offsets are words; a negative one is written as a large unsigned word.
        word = numbers.resize(e, found, 16, signed=site.operand_type(offset).is_signed)
        steps = numbers.resize(e, word, 64, signed=True)
    _write_addresses(e, site, first, e.builder.add(start, steps))


# ---- surface values


def movs(e: Emitter, site: Site) -> None:
    """Set one element of a surface variable, to a number or to that of another.

    Raises Uncompiled where there is no compiled form.
    """
    dst, src = site.inst.get("dst"), site.inst.get("src0")
    if not isinstance(dst, State) or dst.sampler or site.lanes != 1:
        raise Uncompiled
    to = site.state_cell(dst)
    if isinstance(src, State) and not src.sampler:
        e.put_surface(to, e.surface(site.state_cell(src)), e.known_surfaces.get(site.state_cell(src)))
        return
    if isinstance(src, Immediate) and site.operand_type(src).is_int:
        number = int(values.immediate(src, 1)[0])
        e.put_surface(to, ir.Constant(I64, number), number)
        return
    if isinstance(src, General) and site.operand_type(src).is_int:
        found = numbers.read(e, site, src, 1)
        wide = numbers.resize(e, found, 64, signed=site.operand_type(src).is_signed)
        e.put_surface(to, e.builder.extract_element(wide, ir.Constant(I32, 0)), None)
        return
    raise Uncompiled


MOVES: Final[dict[str, Callable[[Emitter, Site], None]]] = {
    "mov": mov,
    "select": select,
    "compare": compare,
    "setp": setp,
    "addr_add": addr_add,
    "movs": movs,
}
