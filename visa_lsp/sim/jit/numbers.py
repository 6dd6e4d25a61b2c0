"""Compiled sources and results: types, modifiers, conversions, saturation, denormals.

The rules are those of ``sim.lanes`` and ``sim.values``, which name their sources. Integers have as many bits as a word
needs to be exact; if these are more than 64, there is no compiled form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from llvmlite import ir

from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program import regions
from visa_lsp.program.model import General, Immediate, Indirect, RawOperand, Value
from visa_lsp.sim import values
from visa_lsp.sim.jit import check_instrumentation
from visa_lsp.sim.jit.arithmetic import cut, quiet
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.lane_formulas import LaneNumbers, LaneOperations
from visa_lsp.sim.jit.writer import (
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    Node,
    bytes_of,
    constants,
    integer,
    lanes_of,
    splat,
    vector,
)
from visa_lsp.sim.lane_formulas import bf_bits
from visa_lsp.sim.lanes import modifier_of, saturates
from visa_lsp.sim.operands import CE0, CR0, TSC, Site

# The form of a data type in registers; bf is the upper half of a float, because LLVM has no operations for it.
STORAGE: Final = {
    ty.UD: I32, ty.D: I32, ty.UW: I16, ty.W: I16, ty.UB: I8, ty.B: I8, ty.BOOL: I8, ty.UQ: I64, ty.Q: I64,
    ty.F: F32, ty.DF: F64, ty.HF: F16, ty.BF: I16,
}  # fmt: skip

LANES: Final = General | Immediate | Indirect  # operands that have lanes

_FLOATS: Final = {ty.F: F32, ty.DF: F64, ty.HF: F16}


def read(e: Emitter, site: Site, operand: Value, lanes: int | None = None) -> Node:
    """Return the lanes of a source as stored. Raises Uncompiled if there is no compiled form."""
    count = site.lanes if lanes is None else lanes
    type_ = site.operand_type(operand)
    kind = STORAGE.get(type_)
    if kind is None:
        raise Uncompiled
    if isinstance(operand, Immediate):
        array = values.immediate(operand, count)
        # Floats are stored by their bits, because a NaN would become quiet in a Python number.
        raw = array.view(f"<u{array.itemsize}") if type_.is_float else array
        numbers = raw.tolist() if len(raw) == count else raw.tolist() * count
        constant = constants(integer(8 * bytes_of(kind)), numbers)
        return e.builder.bitcast(constant, vector(kind, count)) if type_.is_float else constant
    if isinstance(operand, Indirect):
        size = bytes_of(kind)
        numbers_ = indirect_places(e, site, operand, e.all_on(count))
        if e.definedness is not None:
            enabled = e.lanes(e.enable(site), count) if count == site.lanes else None
            check_instrumentation.within(e, numbers_, enabled, size, e.definedness.ranges.get(e.pc, []))
        places = e.places(e.registers, numbers_)
        return e.builder.bitcast(
            e.gather(vector(integer(8 * size), count), places, e.all_on(count), 1), vector(kind, count)
        )
    if not isinstance(operand, General):
        raise Uncompiled
    root = site.code.layout.root(operand.var)
    if root in (CE0, TSC):
        raise Uncompiled
    start = site.origin(operand)
    elements = regions.source_elements(operand.region, count)
    if start + min(elements) * type_.size < 0 or max(elements) - min(elements) >= 256:
        raise Uncompiled
    site.code.layout.need(start + (max(elements) + 1) * type_.size)
    return e.load_lanes(start, elements, kind)


def write(e: Emitter, site: Site, operand: Value, value: Node, bits: Node | None) -> None:
    """Store lanes of the destination's storage type if their ``bits`` are set.

    Raises Uncompiled if there is no compiled form.
    """
    if isinstance(operand, Indirect):
        bits = e.some(bits, site)
        e.store_each(value, e.places(e.registers, indirect_places(e, site, operand, bits)), bits)
        return
    if not isinstance(operand, General):
        raise Uncompiled
    if operand.var == 0:
        return
    if site.code.layout.root(operand.var) == CR0:
        raise Uncompiled
    start = site.origin(operand)
    elements = regions.destination_elements(operand.region.horz_stride or 1, lanes_of(value))
    site.code.layout.need(start + (max(elements) + 1) * site.operand_type(operand).size)
    if start < 0:
        raise Uncompiled
    e.store_lanes(start, elements, value, e.lanes(bits, lanes_of(value)))


# ---- operands that address variables give: byte numbers of the register file, eight bytes each


def read_addresses(e: Emitter, site: Site, cells: Sequence[int]) -> Node:
    """Return the address elements of lanes. Raises Uncompiled where they are not all there."""
    low, high = min(cells), max(cells)
    if low < 0 or high >= sum(max(1, v.num_elements) for v in site.code.kernel.addresses):
        raise Uncompiled
    place = e.builder.gep(e.addresses, [ir.Constant(I64, low)], source_etype=I64)
    whole = e.builder.load(place, typ=vector(I64, high - low + 1), align=8)
    return e.builder.shuffle_vector(whole, ir.Constant(whole.type, None), constants(I32, [c - low for c in cells]))


def indirect_places(e: Emitter, site: Site, operand: Indirect, bits: Node) -> Node:
    """Return the byte numbers of the lanes of an operand; the interpreter does the instruction where one in ``bits`` is outside."""
    lanes, builder = bits.type.width, e.builder
    cells, offsets = site.indirect_cells(operand, lanes)
    byte_numbers = read_addresses(e, site, np.broadcast_to(cells, lanes).tolist())
    byte_numbers = builder.add(byte_numbers, constants(I64, offsets.tolist()))
    beyond = builder.icmp_unsigned(">", byte_numbers, splat(I64, site.code.layout.size - operand.type.size, lanes))
    wrong = builder.icmp_unsigned(
        "!=", builder.and_(builder.bitcast(beyond, bits.type), bits), ir.Constant(bits.type, 0)
    )
    e.leave_if(wrong, e.outside, rarely=True)
    return byte_numbers


# ---- integers


def integers(e: Emitter, site: Site, operand: Value, exec_type: ty.DataType, bits: int) -> Node:
    """Return lanes of an integer source, modified, in ``bits`` bits. Raises Uncompiled if there is no compiled form."""
    type_ = site.operand_type(operand)
    if type_.is_float:
        raise Uncompiled
    signed = values.is_read_signed(type_, exec_type)
    source = resize(e, read(e, site, operand), bits, signed=signed)
    modifier = modifier_of(operand)
    if signed and modifier in (OperandModifier.ABS, OperandModifier.NEGABS):
        source = e.each("llvm.abs", source, ir.Constant(I1, 0))
    if modifier in (OperandModifier.NEG, OperandModifier.NEGABS):
        return e.builder.sub(splat(integer(bits), 0, lanes_of(source)), source)
    return e.builder.not_(source) if modifier is OperandModifier.NOT else source


def resize(e: Emitter, value: Node, bits: int, *, signed: bool) -> Node:
    """Convert integer lanes to another number of bits."""
    own = value.type.element.width
    target = vector(integer(bits), lanes_of(value))
    if own == bits:
        return value
    if own > bits:
        return e.builder.trunc(value, target)
    return e.builder.sext(value, target) if signed else e.builder.zext(value, target)


def from_integers(e: Emitter, value: Node, dst: ty.DataType, *, sat: bool, signed: bool = True) -> Node:
    """Convert exact integer lanes to the storage form of a type; ``signed``: their bits are a signed number."""
    width = value.type.element.width
    if dst.is_float:
        return integers_to_float(e, value, dst, sat=sat, signed=signed)
    if not sat:
        return resize(e, value, dst.bits, signed=signed)
    low, high = values.limits(dst)
    least, most = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    compare = e.builder.icmp_signed if signed else e.builder.icmp_unsigned
    for limit, relation, beyond in ((low, "<", low > least), (high, ">", high < most)):
        if beyond:
            bound = splat(integer(width), limit, lanes_of(value))
            value = e.builder.select(compare(relation, value, bound), bound, value)
    return resize(e, value, dst.bits, signed=signed)


def integers_to_float(e: Emitter, value: Node, dst: ty.DataType, *, sat: bool, signed: bool) -> Node:
    """Convert integer lanes to floats, rounded once. Raises Uncompiled if there is no compiled form."""
    width = value.type.element.width
    # Rounding twice may give wrong results; so bf has no compiled form. LLVM calls functions that hosts lack for 128 bits.
    if dst is ty.BF or width > 64 or (width > 32 and (dst is ty.HF or not e.modes.to_nearest)):
        raise Uncompiled
    # By f64, which represents all of them, for a rounding without a conversion.
    exactly = dst is ty.DF or not e.modes.to_nearest
    lanes = lanes_of(value)
    if sat:
        compare = e.builder.icmp_signed if signed else e.builder.icmp_unsigned
        value = compare(">", value, splat(integer(width), 0, lanes))
    target = vector(F64 if exactly else F32, lanes)
    wide = e.builder.sitofp(value, target) if signed and not sat else e.builder.uitofp(value, target)
    return narrow(e, wide, dst)


# ---- floats


def floats(e: Emitter, site: Site, operand: Value, exec_type: ty.DataType, *, flushed: bool = True) -> Node:
    """Return lanes of a source as f32 (f64 for df), modified, with denormals of the execution type flushed by the modes.

    Raises Uncompiled if there is no compiled form.
    """
    type_ = site.operand_type(operand)
    target = F64 if exec_type is ty.DF else F32
    if type_.is_int and type_.size > 2 and not e.modes.to_nearest:
        raise Uncompiled
    source = read(e, site, operand)
    lanes = lanes_of(source)
    if type_ is ty.BF:
        if target is F64:
            raise Uncompiled
        wide = e.builder.shl(e.builder.zext(source, vector(I32, lanes)), splat(I32, 16, lanes))
        source = e.builder.bitcast(wide, vector(F32, lanes))
    elif type_.is_float:
        if _FLOATS[type_] is not target:
            if type_ is ty.DF:
                raise Uncompiled
            source = quiet(e, e.builder.fpext(source, vector(target, lanes)))
    else:
        kind = e.builder.sitofp if type_.is_signed else e.builder.uitofp
        source = kind(source, vector(target, lanes))
    source = apply_modifier(e, source, modifier_of(operand))
    return flush(e, source, exec_type) if flushed and not e.modes.keeps(exec_type) else source


def apply_modifier(e: Emitter, lanes: Node, modifier: OperandModifier) -> Node:
    """Apply a source modifier to float lanes. Raises Uncompiled if there is no compiled form."""
    match modifier:
        case OperandModifier.NEG:
            return e.builder.fneg(lanes)
        case OperandModifier.ABS:
            return e.each("llvm.fabs", lanes)
        case OperandModifier.NEGABS:
            return e.builder.fneg(e.each("llvm.fabs", lanes))
        case OperandModifier.NOT:
            raise Uncompiled
    return lanes


def flush(e: Emitter, value: Node, type_: ty.DataType) -> Node:
    """Replace denormals of a type by zeros of the same sign."""
    kind, lanes = value.type.element, lanes_of(value)
    tiny = e.builder.fcmp_ordered("<", e.each("llvm.fabs", value), splat(kind, values.SMALLEST_NORMAL[type_], lanes))
    return e.builder.select(tiny, e.each("llvm.copysign", splat(kind, 0.0, lanes), value), value)


def narrow(e: Emitter, value: Node, type_: ty.DataType) -> Node:
    """Convert float lanes (f32 or f64) to the storage form of a float type, rounded once.

    Raises Uncompiled if there is no compiled form.
    """
    own, lanes = value.type.element, lanes_of(value)
    if type_ is ty.BF:
        if own is not F32 or not e.modes.to_nearest:
            raise Uncompiled
        bits: LaneNumbers = bf_bits(LaneOperations(e, lanes), LaneNumbers(e, value))
        return e.builder.trunc(bits.node, vector(I16, lanes))
    target = _FLOATS[type_]
    if own is target:
        return value
    if own is F64 and target is F16:
        raise Uncompiled  # because it rounds twice if the machine has no instruction for it
    if own is F32 and target is F64:
        return quiet(e, e.builder.fpext(value, vector(F64, lanes)))
    return e.builder.fptrunc(value, vector(target, lanes)) if e.modes.to_nearest else cut(e, value, target)


def from_floats(e: Emitter, value: Node, exec_type: ty.DataType, site: Site, operand: Value) -> Node:
    """Convert lanes of a float execution type to the storage form of the destination.

    Raises Uncompiled if there is no compiled form.
    """
    dst, sat = site.operand_type(operand), saturates(operand)
    lanes = lanes_of(value)
    if exec_type is ty.HF and dst is not ty.HF:
        value = e.builder.fpext(narrow(e, value, ty.HF), vector(F32, lanes))
    if dst.is_int:
        kind = "s" if dst.is_signed else "u"
        target, own = vector(integer(dst.bits), lanes), value.type.element
        name = f"llvm.fpto{kind}i.sat.v{lanes}i{dst.bits}.v{lanes}f{64 if own is F64 else 32}"
        return e.intrinsic(name, target, value)
    if not dst.is_float:
        raise Uncompiled
    if sat:
        value = _unit(e, value)
    value = narrow(e, value, dst)
    if not e.modes.keeps(dst):
        if dst is ty.BF:
            value = _flush_bits(e, value, 0x7F80)
        elif dst is ty.HF:
            bits = _flush_bits(e, e.builder.bitcast(value, vector(I16, lanes)), 0x7C00)
            value = e.builder.bitcast(bits, value.type)
        else:
            value = flush(e, value, dst)
    return value


def _unit(e: Emitter, value: Node) -> Node:
    """Clamp lanes to [0, 1]; NaN gives 0."""
    kind, lanes = value.type.element, lanes_of(value)
    zero, top = splat(kind, 0.0, lanes), splat(kind, 1.0, lanes)
    above = e.builder.select(e.builder.fcmp_unordered("<", value, zero), zero, value)
    return e.builder.select(e.builder.fcmp_ordered(">", above, top), top, above)


def _flush_bits(e: Emitter, bits: Node, exponent: int) -> Node:
    """Replace 16-bit floats without an exponent by zeros of the same sign."""
    lanes = lanes_of(bits)
    normal = e.builder.icmp_unsigned("!=", e.builder.and_(bits, splat(I16, exponent, lanes)), splat(I16, 0, lanes))
    return e.builder.select(normal, bits, e.builder.and_(bits, splat(I16, 0x8000, lanes)))


# ---- raw operands and scalars of messages


def raw_start(site: Site, operand: RawOperand, end: int) -> int:
    """Return the first byte of a raw operand in the registers, which must extend ``end`` bytes beyond it; -1 for %null.

    Raises Uncompiled if it lies before the registers.
    """
    if operand.var == 0:
        return -1
    start = site.code.layout.offset(operand.var) + operand.offset
    if start < 0:
        raise Uncompiled
    site.code.layout.need(start + end)
    return start


def raw_lanes(e: Emitter, site: Site, operand: RawOperand, kind: Node, lanes: int) -> Node:
    """Return the first lanes of a raw operand; zeros for %null."""
    start = raw_start(site, operand, lanes * kind.width // 8)
    return splat(kind, 0, lanes) if start < 0 else e.load_lanes(start, range(lanes), kind)


def scalar(e: Emitter, site: Site, operand: Value) -> Node | None:
    """Return the first element of an operand as 64 bits; None if it is zero.

    Raises Uncompiled for types other than integers.
    """
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
    lanes = resize(e, read(e, site, operand, 1), 64, signed=site.operand_type(operand).is_signed)
    if isinstance(operand, Immediate):
        number = values.immediate(operand, 1).item()
        return ir.Constant(I64, int(number)) if number else None
    return e.builder.extract_element(lanes, ir.Constant(I32, 0))
