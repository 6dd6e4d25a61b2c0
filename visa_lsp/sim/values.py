"""Numbers: NumPy types of the data types, immediates, execution types, and conversions with rounding and saturation.

Works on arrays of lanes, without registers or threads. Integer arrays wrap, floats follow IEEE
754. Half floats and bfloat16 are computed as f32 values; only ``narrow`` rounds a result to its type.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.sim.lane_formulas import ARRAYS, bf_bits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.program.model import Immediate

Array = np.ndarray[Any, np.dtype[Any]]


class Rounding(IntEnum):
    """Bits 4-5 of ``%cr0``."""

    EVEN = 0
    UP = 1
    DOWN = 2
    ZERO = 3


DTYPE: Final[dict[ty.DataType, np.dtype[Any]]] = {
    ty.UD: np.dtype("<u4"),
    ty.D: np.dtype("<i4"),
    ty.UW: np.dtype("<u2"),
    ty.W: np.dtype("<i2"),
    ty.UB: np.dtype("u1"),
    ty.B: np.dtype("i1"),
    ty.DF: np.dtype("<f8"),
    ty.F: np.dtype("<f4"),
    ty.UQ: np.dtype("<u8"),
    ty.Q: np.dtype("<i8"),
    ty.HF: np.dtype("<f2"),
    ty.BF: np.dtype("<u2"),
    ty.BOOL: np.dtype("u1"),
    ty.V: np.dtype("<i2"),
    ty.UV: np.dtype("<u2"),
    ty.VF: np.dtype("<f4"),
}

# The type of the elements of a packed immediate.
_UNPACKED: Final = {ty.V: ty.W, ty.UV: ty.UW, ty.VF: ty.F}
_OWN_SIGN: Final = {"src", "const", "add", "sub", "add3", "mul", "mad", "avg", "min", "max", "and", "or", "xor", "shl"}
_WIDENED: Final = {ty.B: ty.W, ty.UB: ty.UW, ty.BOOL: ty.UW}


def unpack_type(type_: ty.DataType) -> ty.DataType:
    """Return the element type of a type: w, uw, f for v, uv, vf; itself otherwise."""
    return _UNPACKED.get(type_, type_)


def execution_type(types: Iterable[ty.DataType]) -> ty.DataType:
    """Return the execution type for the types of sources (``isa.lane``).

    Bytes count as words. Half types with wider integers give ``f``, as does ``bf`` alone, because the hardware converts
    bfloat16 but does not compute with it.
    """
    seen = [_WIDENED.get(t, t) for t in map(unpack_type, types)]
    floats = [t for t in seen if t.is_float]
    if floats:
        widest = max(floats, key=lambda t: t.size)
        if widest.size > 2:
            return widest
        mixed = len(set(floats)) > 1 or any(t.is_int and t.size > 2 for t in seen)
        return ty.F if mixed or widest is ty.BF else ty.HF
    size = max(t.size for t in seen)
    signed = any(t.is_signed for t in seen)
    return {2: (ty.UW, ty.W), 4: (ty.UD, ty.D), 8: (ty.UQ, ty.Q)}[size][signed]


def is_read_signed(type_: ty.DataType, exec_type: ty.DataType) -> bool:
    """Return whether an integer source is read as a signed number: an unsigned dword or qword is, where another source is signed.

    Words and bytes keep their own sign. The documents do not say it, but Intel's finalizer relies on it where it narrows
    ``a:uw + 0x7fff:d`` to ``a:uw + 0x7fff:w`` or splits a sum of products.
    """
    return type_.is_signed or (exec_type.is_signed and type_.size == exec_type.size > 2)


def extend_type(used: set[str], exec_type: ty.DataType, target: ty.DataType) -> ty.DataType:
    """Return the type to which integer sources are extended; where a qword is computed of dwords, each keeps its own sign."""
    wide = exec_type is ty.D and target.is_int and target.size == 8
    return ty.Q if wide and used <= _OWN_SIGN else exec_type


def immediate(value: Immediate, lanes: int) -> Array:
    """Return the lanes of an immediate in the NumPy type of its (unpacked) type: one element, or one per lane if packed."""
    bits, type_ = value.bits, value.type
    if type_ in (ty.V, ty.UV):
        nibbles = [bits >> 4 * (i % 8) & 15 for i in range(lanes)]
        if type_ is ty.V:
            nibbles = [x - 16 if x > 7 else x for x in nibbles]
        return np.array(nibbles, DTYPE[type_])
    if type_ is ty.VF:
        return np.array([small_float(bits >> 8 * (i % 4) & 255) for i in range(lanes)], np.float32)
    size = type_.size
    return np.frombuffer((bits & (1 << 8 * size) - 1).to_bytes(size, "little"), DTYPE[type_])


def small_float(byte: int) -> float:
    """Return the value of an 8-bit restricted float: sign, three exponent bits with bias 3, four mantissa bits."""
    if byte & 0x7F == 0:
        return -0.0 if byte & 0x80 else 0.0
    value = float((16 + (byte & 15)) * 2.0 ** ((byte >> 4 & 7) - 3 - 4))
    return -value if byte & 0x80 else value


def bf_to_f(bits: Array) -> Array:
    """Return bfloat16 bits as f32."""
    return np.asarray((bits.astype(np.uint32) << np.uint32(16)).view(np.float32))


def _f_to_bf(x: Array, mode: Rounding) -> Array:
    x = np.ascontiguousarray(x, np.float32)
    if mode is Rounding.EVEN:
        return np.asarray(bf_bits(ARRAYS, x)).astype(np.uint16)
    bits = x.view(np.uint32)
    low, high, negative = bits & 0xFFFF, bits >> np.uint32(16), bits >> np.uint32(31)
    up = (low != 0) & (negative == (mode is Rounding.DOWN)) & (mode is not Rounding.ZERO)
    rounded = (high + up).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), np.where(np.isinf(x), high, rounded)).astype(np.uint16)


def odd_f32(x: Array) -> Array:
    """Round f64 to f32 to odd, so that further rounding of the result is correct."""
    near = x.astype(np.float32)
    back = near.astype(np.float64)
    inexact = (back != x) & np.isfinite(x)
    if not inexact.any():
        return near
    away = inexact & (np.abs(back) > np.abs(x))
    cut = np.where(away, np.nextafter(near, np.float32(0)), near)
    return np.where(inexact, (cut.view(np.uint32) | 1).view(np.float32), cut).astype(np.float32)


def quiet(x: Array) -> Array:
    """Return floats with quiet NaNs.

    A conversion between formats makes NaNs quiet (IEEE 754, 5.4.2, 6.2), but NumPy's of half floats does not.
    """
    return np.asarray(x * x.dtype.type(1))


def narrow(x: Array, type_: ty.DataType, mode: Rounding = Rounding.EVEN) -> Array:
    """Return float lanes (f32 or f64) in the storage form of a float type, rounded once."""
    if type_ is ty.BF:
        return _f_to_bf(odd_f32(x) if x.dtype == np.float64 else x, mode)
    target = DTYPE[type_]
    near = (quiet(x) if type_ is ty.HF else x).astype(target)
    if mode is Rounding.EVEN or target.itemsize >= x.dtype.itemsize:
        return near
    back = near.astype(x.dtype)
    inf = target.type(np.inf)
    if mode is Rounding.UP:
        return np.where(back < x, np.nextafter(near, inf), near)
    if mode is Rounding.DOWN:
        return np.where(back > x, np.nextafter(near, -inf), near)
    return np.where(np.abs(back) > np.abs(x), np.nextafter(near, target.type(0)), near)


def flush(x: Array, smallest: float) -> Array:
    """Replace values nearer to zero than ``smallest`` by zeros of the same sign."""
    tiny = np.abs(x) < smallest
    return np.where(tiny, np.copysign(x.dtype.type(0), x), x) if 1 in tiny.tobytes() else x


def flush_bf(bits: Array) -> Array:
    """Flush bfloat16 bits: values with a zero exponent keep only their sign."""
    return np.where(bits & 0x7F80, bits, bits & 0x8000).astype(bits.dtype)


SMALLEST_NORMAL: Final[dict[ty.DataType, float]] = {
    ty.DF: 2.0**-1022,
    ty.F: 2.0**-126,
    ty.HF: 2.0**-14,
    ty.BF: 2.0**-126,
}


def limits(type_: ty.DataType) -> tuple[int, int]:
    """Return the lowest and highest value of an integer type."""
    bits = type_.bits
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if type_.is_signed else (0, (1 << bits) - 1)


def float_to_int(x: Array, type_: ty.DataType) -> Array:
    """Round toward zero and clamp; NaN gives 0."""
    low, high = limits(type_)
    wide = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    if type_.size < 8:
        return np.clip(wide, low, high).astype(np.int64).astype(DTYPE[type_])
    exact = [low if v <= low else high if v >= high else int(v) for v in wide.tolist()]
    return np.array(exact, DTYPE[type_])


def int_to_float(x: Array, type_: ty.DataType, mode: Rounding = Rounding.EVEN) -> Array:
    """Return integer lanes in the storage form of a float type, rounded once."""
    if type_ is ty.DF and (x.dtype == object or x.dtype.itemsize == 8):
        return np.array([_round_directed(int(v), mode) for v in x.tolist()], np.float64)
    if x.dtype == object or (x.dtype.itemsize == 8 and (mode is not Rounding.EVEN or type_ in (ty.HF, ty.BF))):
        return narrow(np.array([_odd_int(int(v)) for v in x.tolist()], np.float64), type_, mode)
    if type_ in (ty.F, ty.DF) and mode is Rounding.EVEN:
        return x.astype(DTYPE[type_])
    return narrow(x.astype(np.float64), type_, mode)


def _round_directed(value: int, mode: Rounding) -> float:
    """Return an integer as f64, rounded by a mode."""
    near = float(value)
    error = (int(near) > value) - (int(near) < value)
    if mode is Rounding.EVEN or not error:
        return near
    toward = {Rounding.UP: math.inf, Rounding.DOWN: -math.inf, Rounding.ZERO: 0.0}[mode]
    moves = {Rounding.UP: error < 0, Rounding.DOWN: error > 0, Rounding.ZERO: (error > 0) == (value > 0)}[mode]
    return math.nextafter(near, toward) if moves else near


def _odd_int(value: int) -> float:
    """Return an integer as f64, rounded to odd."""
    size = abs(value)
    drop = size.bit_length() - 53
    if drop > 0:
        lost = size & (1 << drop) - 1
        size = (size >> drop | (1 if lost else 0)) << drop
    return float(-size if value < 0 else size)


def wrap_int(x: Array, type_: ty.DataType) -> Array:
    """Truncate integer lanes to the bits of an integer type."""
    if x.dtype == object:
        mask = (1 << type_.bits) - 1
        unsigned = np.array([int(v) & mask for v in x.tolist()], np.dtype(f"<u{type_.size}"))
        return unsigned.view(DTYPE[type_])
    return x.astype(DTYPE[type_])


def clamp_int(x: Array, type_: ty.DataType) -> Array:
    """Clamp integer lanes to the range of an integer type."""
    low, high = limits(type_)
    if x.dtype == object or x.dtype.itemsize == 8:
        return np.array([min(max(int(v), low), high) for v in x.tolist()], DTYPE[type_])
    return np.clip(x.astype(np.int64), low, high).astype(DTYPE[type_])


def unit_clamp(x: Array) -> Array:
    """Clamp floats to [0, 1]; NaN gives 0."""
    return np.clip(np.where(np.isnan(x), x.dtype.type(0), x), x.dtype.type(0), x.dtype.type(1))
