"""Effects that move values: mov, sel, cmp, setp, movs, addr_add, fcvt, srnd.

``mov`` and ``sel`` between equal types copy bits: they neither round nor flush denormals. A lane of ``sel`` that takes a float without
modifier copies its bits whatever the other source is, because finalizers write ``(P) sel a (abs)b a`` as ``(P) mov a (abs)b``.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import S0
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.model import Address, AddressOf, General, Immediate, Predicate, PredicateOperand, State, Value
from visa_lsp.sim import values
from visa_lsp.sim.lanes import (
    compile_lane,
    converter,
    float_source,
    int_source,
    keeps_denormals,
    modifier_of,
    saturates,
    set_predicate,
)
from visa_lsp.sim.operands import Fetch, Op, Site, lane_mask, mask_bits, predicate_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


def same_bits(site: Site, dst: Value, sources: list[Value]) -> bool:
    """Return whether values are copied unchanged: one type, no modifier, no saturation."""
    type_ = site.operand_type(dst)
    return not saturates(dst) and all(
        site.operand_type(s) is type_ and modifier_of(s) is OperandModifier.NONE for s in sources
    )


def mov(site: Site) -> Op:
    """Copy with conversion; from a predicate its bits, to a predicate the low bit of each lane."""
    dst, src = site.inst.get("dst"), site.inst.get("src0")
    if isinstance(dst, PredicateOperand):
        return setp(site)
    if isinstance(dst, Address):
        return _addresses(site, dst, src)
    if isinstance(src, AddressOf):
        place = site.origin(src)
        fill = site.write(dst)
        lanes_on = site.enable()
        return lambda f: fill(f, lanes_on(f), np.array([place], np.uint16))
    if isinstance(src, PredicateOperand):
        store, var = site.write(dst, 1), src.var
        return lambda f: store(f, 1, np.array([f.preds[var]], np.uint32))
    if not same_bits(site, dst, [src]):
        return compile_lane(site, S0)
    fetch, store, enable = site.read(src), site.write(dst), site.enable()

    def op(f: Frame) -> None:
        mask = enable(f)
        if mask:
            store(f, mask, fetch(f))

    return op


def _addresses(site: Site, dst: Address, src: Value) -> Op:
    """Return the op that sets address elements from the address of a variable, from others, or from integers."""
    cells = site.code.layout.address_base[dst.var] + dst.offset + np.arange(site.lanes)
    enable, lanes = site.enable(), site.lanes
    fetch: Callable[[Frame], Any]
    if isinstance(src, AddressOf):
        place = site.origin(src)
        fetch = lambda _f: place  # noqa: E731
    elif isinstance(src, Address):
        others = site.code.layout.address_base[src.var] + src.offset + np.arange(lanes) % max(1, src.width)
        fetch = lambda f: f.addr[others]  # noqa: E731
    else:
        fetch = site.read(src)

    def op(f: Frame) -> None:
        mask = enable(f)
        chosen = lane_mask(mask, lanes)
        f.addr[cells[chosen]] = np.broadcast_to(fetch(f), (lanes,))[chosen]

    return op


def select(site: Site) -> Op:
    """Take src0 where the predicate holds, else src1, on the lanes of the execution mask."""
    dst, src0, src1 = (site.inst.get(n) for n in ("dst", "src0", "src1"))
    pred = site.inst.get("pred")
    enable, store = site.enable(predicate=False), site.write(dst)
    value = chosen(site, pred if isinstance(pred, Predicate) else None, src0, src1, dst)

    def op(f: Frame) -> None:
        mask = enable(f)
        if mask:
            store(f, mask, value(f))

    return op


def chosen(site: Site, pred: Predicate | None, src0: Value, src1: Value, dst: Any) -> Fetch:
    """Return the lanes of one value or the other, as a predicate says, converted for a destination."""
    full, lanes = site.full, site.lanes
    bits = predicate_bits(pred, site.control.mask_offset, full) if pred is not None else lambda _f: full
    exec_type = values.execution_type([site.operand_type(src0), site.operand_type(src1)])
    a, b = (as_stored(site, dst, source, exec_type) for source in (src0, src1))

    def value(f: Frame) -> Array:
        return np.where(lane_mask(bits(f), lanes), a(f), b(f))

    return value


def as_stored(site: Site, dst: Value, source: Value, exec_type: ty.DataType) -> Fetch:
    """Return a source of a choice as its destination stores it: its bits, or converted from the execution type."""
    if same_bits(site, dst, [source]):
        return site.read(source)
    fetch, convert = _fetch_as(site, source, exec_type), converter(site, exec_type, dst)
    return lambda f: convert(f, fetch(f))


def _fetch_as(site: Site, operand: Value, exec_type: ty.DataType) -> Fetch:
    if exec_type.is_float:
        return float_source(site, operand, exec_type)
    return int_source(site, operand, exec_type, np.dtype("<i8" if exec_type.size < 8 else object))


RELATIONS: Final[tuple[Callable[[Any, Any], Any], ...]] = (
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
    operator.lt,
    operator.le,
)


def compare(site: Site) -> Op:
    """Compare lane by lane, into a predicate or as all ones and zeros.

    Raises KernelFault if the instruction has no relation.
    """
    relop = site.integer("relop")
    if relop >= len(RELATIONS):
        raise site.fault("the comparison has no relation")
    dst, left, right = (site.inst.get(n) for n in ("dst", "src0", "src1"))
    return store_relation(site, relop, left, right, dst)


def store_relation(site: Site, relop: int, left: Value, right: Value, dst: Value) -> Op:
    """Write the relation of two values, by its code, to a predicate or as all ones and zeros."""
    result, enable = relation_of(site, relop, left, right), site.enable(predicate=False)
    if isinstance(dst, PredicateOperand):
        var, offset, full, lanes = dst.var, site.control.mask_offset, site.full, site.lanes

        def to_predicate(f: Frame) -> None:
            mask = enable(f)
            set_predicate(f, var, offset, mask, relation_bits(result(f), lanes, full))

        return to_predicate
    store, ones = site.write(dst), all_ones(site.operand_type(dst))
    return lambda f: store(f, enable(f), ones(result(f)))


def relation_bits(lanes_: Array, lanes: int, full: int) -> int:
    """Return the bits of a relation, of one element or of one per lane."""
    return (full if lanes_[0] else 0) if lanes_.size == 1 and lanes > 1 else mask_bits(lanes_)


def all_ones(type_: ty.DataType) -> Callable[[Array], Array]:
    """Return a function from a relation to all ones and zeros in a type."""
    bits_type = np.dtype(f"<u{type_.size}")

    def ones(lanes_: Array) -> Array:
        bits = np.where(lanes_, bits_type.type(0) - bits_type.type(1), bits_type.type(0)).astype(bits_type)
        return np.asarray(bits.view(values.DTYPE[type_]))

    return ones


def relation_of(site: Site, relop: int, left: Value, right: Value) -> Fetch:
    """Return a function for the relation of two values, by its code, as booleans."""
    relation = RELATIONS[relop]
    exec_type = values.execution_type([site.operand_type(left), site.operand_type(right)])
    plain = modifier_of(left) is modifier_of(right) is OperandModifier.NONE
    if exec_type.is_float:
        a, b = float_source(site, left, exec_type), float_source(site, right, exec_type)
    elif plain:
        native = values.DTYPE[ty.D if exec_type is ty.W else exec_type]  # words keep their own sign
        a, b = int_source(site, left, exec_type, native), int_source(site, right, exec_type, native)
    else:
        a, b = _fetch_as(site, left, exec_type), _fetch_as(site, right, exec_type)
    smallest = values.SMALLEST_NORMAL.get(exec_type, 0.0)

    def result(f: Frame) -> Array:
        x, y = a(f), b(f)
        if smallest and not f.plain and not keeps_denormals(f, exec_type):
            x, y = values.flush(x, smallest), values.flush(y, smallest)
        return np.asarray(relation(x, y))

    return result


def setp(site: Site) -> Op:
    """Set a predicate from the bits of a scalar, or from the low bit of each lane.

    Raises KernelFault if the destination is not a predicate.
    """
    dst, src = site.inst.get("dst"), site.inst.get("src0")
    if not isinstance(dst, PredicateOperand):
        raise site.fault("the destination must be a predicate")
    var, offset, full, lanes = dst.var, site.control.mask_offset, site.full, site.lanes
    if isinstance(src, PredicateOperand):
        other = src.var
        return lambda f: set_predicate(f, var, offset, full, f.preds[other] >> offset & full)
    if isinstance(src, Immediate) or getattr(getattr(src, "region", None), "is_scalar", False) or lanes == 1:
        scalar = site.scalar("src0")
        return lambda f: set_predicate(f, var, offset, full, scalar(f) & full)
    fetch, enable = site.read(src), site.enable()
    return lambda f: set_predicate(f, var, offset, enable(f), mask_bits(np.broadcast_to(fetch(f) & 1 == 1, (lanes,))))


def movs(site: Site) -> Op:
    """Copy values of surface or sampler variables, element by element.

    Raises KernelFault if neither operand is a surface or a sampler.
    """
    dst, src, count = site.inst.get("dst"), site.inst.get("src0"), site.lanes
    if isinstance(dst, State):
        to = site.state_cell(dst)
        sampler = dst.sampler
        if isinstance(src, State):
            start = site.state_cell(src)

            def move(f: Frame) -> None:
                cells = f.samplers if sampler else f.surfaces
                cells[to : to + count] = (f.samplers if src.sampler else f.surfaces)[start : start + count]

            return move
        fetch = site.read(src, count)

        def fill(f: Frame) -> None:
            handles = np.broadcast_to(fetch(f), (count,)).tolist()
            (f.samplers if sampler else f.surfaces)[to : to + count] = handles

        return fill
    if not isinstance(src, State):
        raise site.fault("one operand must be a surface or a sampler")
    start, sampler, store = site.state_cell(src), src.sampler, site.write(dst)

    def read(f: Frame) -> None:
        cells = (f.samplers if sampler else f.surfaces)[start : start + count]
        store(f, site.full, np.array(cells, np.int64).astype(np.uint32))

    return read


def addr_add(site: Site) -> Op:
    """Add to an address: the byte address of a variable, or an address, plus an offset.

    Raises KernelFault if the destination is not an address variable, or the base has no address.
    """
    dst, base, offset = (site.inst.get(n) for n in ("dst", "src0", "src1"))
    if not isinstance(dst, Address):
        raise site.fault("the destination must be an address variable")
    lanes, enable = site.lanes, site.enable()
    first_cell = site.code.layout.address_base[dst.var] + dst.offset
    cells = np.arange(first_cell, first_cell + lanes)
    start: Callable[[Frame], Any]
    if isinstance(base, General | AddressOf):
        place = site.origin(base)
        start = lambda _f: place  # noqa: E731
    elif isinstance(base, Address):
        source = site.code.layout.address_base[base.var] + base.offset + np.arange(lanes) % max(1, base.width)
        start = lambda f: f.addr[source]  # noqa: E731
    else:
        raise site.fault("only general and address variables have an address here")
    if isinstance(offset, Address):
        steps = site.code.layout.address_base[offset.var] + offset.offset + np.arange(lanes) % max(1, offset.width)
        add: Callable[[Frame], Any] = lambda f: f.addr[steps]  # noqa: E731
    else:
        # Offsets are words; a negative one is written as a large unsigned word.
        fetch = site.read(offset)
        add = lambda f: fetch(f).astype(np.int64).astype(np.int16)  # noqa: E731

    def op(f: Frame) -> None:
        mask = enable(f)
        addresses = np.broadcast_to(start(f) + add(f).astype(np.int64), (lanes,))
        if mask == site.full:
            f.addr[cells] = addresses
        else:
            chosen = lane_mask(mask, lanes)
            f.addr[cells[chosen]] = addresses[chosen]

    return op


def fcvt(site: Site) -> Op:
    """Convert hf to and from 8-bit floats (bf8 held as ub, hf8 held as b), f to tf32 (held as ud).

    Raises KernelFault for every other pair of types.
    """
    dst, src = site.inst.get("dst"), site.inst.get("src0")
    to, from_ = site.operand_type(dst), site.operand_type(src)
    fetch, store, enable = site.read(src), site.write(dst), site.enable()
    convert: Callable[[Array], Array]
    clamps = saturates(dst)
    if from_ is ty.HF and to is ty.UB:
        convert = lambda a: _bf8(a, clamps=clamps)  # noqa: E731
    elif from_ is ty.HF and to is ty.B:
        convert = lambda a: _hf8(a, clamps=clamps)  # noqa: E731
    elif from_ is ty.B and to is ty.HF:
        convert = lambda a: _HF8_VALUES[a.view(np.uint8)]  # noqa: E731
    elif from_ is ty.UB and to is ty.HF:
        convert = lambda a: (a.view(np.uint8).astype(np.uint16) << np.uint16(8)).view(np.float16)  # noqa: E731
    elif from_ is ty.F and to is ty.UD:
        convert = lambda a: _cut(values.flush(a, 2.0**-126).view(np.uint32), 13, np.isnan(a)) << np.uint32(13)  # noqa: E731
    elif from_ is ty.UD and to is ty.F:
        convert = lambda a: a.view(np.float32)  # noqa: E731
    else:
        raise site.fault(f"no conversion from {from_} to {to}")
    return lambda f: store(f, enable(f), convert(fetch(f)).view(values.DTYPE[to]))


def _hf8_values() -> Array:
    """Return every value of the eight-bit float with four exponent bits: no infinity, one NaN of each sign."""
    codes = np.arange(128)
    exponent, fraction = codes >> 3, codes & 7
    positive = (fraction + np.where(exponent > 0, 8, 0)) * np.exp2(np.maximum(exponent, 1) - 10.0)
    positive[-1] = np.nan
    return np.concatenate((positive, -positive)).astype(np.float16)


_HF8_VALUES: Final = _hf8_values()
_BF8_MAX, _HF8_MAX, _HF8_NAN = 0x7B, 0x7E, 0x7F


def _bf8(a: Array, *, clamps: bool) -> Array:
    """Return the upper byte of hf, rounded to nearest even; with saturation the largest number replaces infinity."""
    code = _cut(a.view(np.uint16).astype(np.uint32), 8, np.isnan(a)).astype(np.uint8)
    over = clamps & ~np.isnan(a) & (code & 0x7F > _BF8_MAX)
    return np.where(over, code & 0x80 | _BF8_MAX, code).astype(np.uint8)


def _hf8(a: Array, *, clamps: bool) -> Array:
    """Round to nearest even among the numbers of hf8; larger values become NaN, or with saturation the largest."""
    numbers = _HF8_VALUES[:_HF8_NAN].astype(np.float64)
    size = np.abs(a.astype(np.float64))
    above = np.clip(np.searchsorted(numbers, size), 1, _HF8_MAX)
    middle = (numbers[above - 1] + numbers[above]) / 2
    up = (size > middle) | ((size == middle) & (above % 2 == 0))
    # The next number above the largest would be 480.
    over = size > (numbers[-1] + 480) / 2
    code = np.where(over, _HF8_MAX if clamps else _HF8_NAN, np.where(up, above, above - 1))
    code = np.where(np.isnan(a), _HF8_NAN, code)
    return (code | np.where(np.signbit(a), 0x80, 0)).astype(np.uint8)


def _cut(bits: Array, drop: int, nan: Array) -> Array:
    """Drop low bits, rounding to nearest even; a NaN stays one."""
    half = np.uint32(1 << drop - 1)
    odd = bits >> np.uint32(drop) & np.uint32(1)
    kept = bits + (half - np.uint32(1)) + odd >> np.uint32(drop)
    return np.where(nan, bits >> np.uint32(drop) | np.uint32(1), kept).astype(np.uint32)


def srnd(site: Site) -> Op:
    """Round stochastically: add the random bits below the kept mantissa, then truncate.

    Raises KernelFault for types other than f to hf and hf to 8 bits, and with saturation.
    """
    dst, src = site.inst.get("dst"), site.inst.get("src0")
    to, from_ = site.operand_type(dst), site.operand_type(src)
    fetch, noise, store, enable = site.read(src), site.read(site.inst.get("src1")), site.write(dst), site.enable()
    convert: Callable[[Array, Array], Array]
    if saturates(dst) or to is ty.B or from_ is ty.BF:
        raise site.fault("no public source describes stochastic rounding with saturation, from bf or to hf8 (b)")

    def raw(noise: Array) -> Array:
        """Return the random bits by their storage, because compilers give them the type of src0."""
        return noise.view(f"u{noise.itemsize}").astype(np.uint32)

    if from_ is ty.F and to is ty.HF:

        def convert(a: Array, r: Array) -> Array:
            bits = a.view(np.uint32)
            shaken = (bits + (raw(r) & np.uint32(0x1FFF))).view(np.float32)
            return values.narrow(np.where(np.isfinite(a), shaken, a), ty.HF, values.Rounding.ZERO)
    elif from_ is ty.HF and to.size == 1:

        def convert(a: Array, r: Array) -> Array:
            bits = a.view(np.uint16).astype(np.uint32)
            shaken = bits + (raw(r) & np.uint32(0xFF))
            nan = np.isnan(a).astype(np.uint32)
            return (np.where(np.isfinite(a), shaken, bits) >> np.uint32(8) | nan).astype(np.uint8)
    else:
        raise site.fault(f"no stochastic rounding from {from_} to {to}")
    return lambda f: store(f, enable(f), convert(fetch(f), noise(f)).view(values.DTYPE[to]))


EFFECTS: Final = {
    "mov": mov,
    "select": select,
    "compare": compare,
    "setp": setp,
    "movs": movs,
    "addr_add": addr_add,
    "fcvt": fcvt,
    "srnd": srnd,
}
