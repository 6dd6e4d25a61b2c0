"""The matrix unit: dpas, with operands laid out as on the documentation page DPAS.

Integer products accumulate modulo 2^32. Float products are summed per step in f64 and rounded to f32: the hardware's
order of additions is not public, so that results may differ from it in the last bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.program.model import General
from visa_lsp.sim import values

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

_BITS: Final = {1: (1, False), 2: (1, True), 3: (2, False), 4: (2, True), 5: (4, False), 6: (4, True), 7: (8, False), 8: (8, True)}  # fmt: skip
_BF, _HF, _TF32, _BF8, _HF8, _E2M1 = 9, 10, 12, 11, 14, 15
_FLOAT_BITS: Final = {_BF: 16, _HF: 16, _TF32: 32, _BF8: 8, _HF8: 8, _E2M1: 4}


def _small_floats(exponent_bits: int, fraction_bits: int) -> Array:
    """Return all values of a float without infinities: sign, exponent with the usual bias, fraction."""
    bias = (1 << exponent_bits - 1) - 1
    codes = np.arange(1 << exponent_bits + fraction_bits)
    exponent, fraction = codes >> fraction_bits, codes & (1 << fraction_bits) - 1
    scale = np.exp2(np.maximum(exponent, 1) - bias - fraction_bits)
    positive = (fraction + np.where(exponent > 0, 1 << fraction_bits, 0)) * scale
    return np.concatenate((positive, -positive))


_E2M1_VALUES: Final = _small_floats(2, 1)
_HF8_VALUES: Final = _small_floats(4, 3)
_HF8_VALUES[[0x7F, 0xFF]] = np.nan


def _split(words: Array, bits: int, *, signed: bool) -> Array:
    """Return every dword as its fields, lowest first: (..., n) to (..., n, 32 / bits), as int64."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    fields = (words[..., None] >> shifts & np.uint32((1 << bits) - 1)).astype(np.int64)
    return np.where(fields >> bits - 1 & 1, fields - (1 << bits), fields) if signed else fields


def _floats(words: Array, precision: int) -> Array:
    """Return every dword as floats: (..., n) to (..., n, count)."""
    if precision == _TF32:
        return (words & np.uint32(0xFFFFE000)).view(np.float32)[..., None].astype(np.float64)
    parts = _split(words, _FLOAT_BITS[precision], signed=False)
    if precision == _BF:
        return values.bf_to_f(parts.astype(np.uint16)).astype(np.float64)
    if precision == _BF8:
        return (parts.astype(np.uint16) << np.uint16(8)).view(np.float16).astype(np.float64)
    if precision in (_HF8, _E2M1):
        return np.asarray((_HF8_VALUES if precision == _HF8 else _E2M1_VALUES)[parts])
    return parts.astype(np.uint16).view(np.float16).astype(np.float64)


def dpas(site: Site) -> Op:
    """Compute D = C + A x B, ``count`` rows, ``depth`` steps of one dword each.

    Raises KernelFault if the two precisions do not combine, or src2 is not a general variable.
    """
    prec1, prec2 = site.integer("prec1"), site.integer("prec2")
    depth, count = site.integer("depth", 8), site.integer("count", 1)
    lanes = site.grf // 4
    is_float = prec1 in _FLOAT_BITS
    if is_float and (prec2 not in _FLOAT_BITS or _FLOAT_BITS[prec1] != _FLOAT_BITS[prec2]):
        raise site.fault("float precisions must have the same width")
    if not is_float and (prec1 not in _BITS or prec2 not in _BITS):
        raise site.fault("the precisions are not modelled")
    bits1, bits2 = (_FLOAT_BITS[prec1], _FLOAT_BITS[prec2]) if is_float else (_BITS[prec1][0], _BITS[prec2][0])
    ops = 32 // bits1 if is_float else 4 if 8 in (bits1, bits2) else 8
    per_word = 1 if is_float else max(1, 32 // (ops * bits1))
    src1_rows = -(-depth // per_word)
    a_words = -(-count * depth * ops * bits2 // 32)
    dst_type, acc_type = _element(site, "dst"), _element(site, "src0")
    d_view = site.raw_view(site.raw("dst"), _storage(dst_type), count, lanes, lanes * dst_type.size)
    c_view = site.raw_view(site.raw("src0"), _storage(acc_type), count, lanes, lanes * acc_type.size)
    b_view = site.raw_view(site.raw("src1"), "<u4", src1_rows, lanes, site.grf)
    operand = site.inst.get("src2")
    if not isinstance(operand, General):
        raise site.fault("src2 must be a general variable")
    a_view = site.code.view(site.origin(operand), np.dtype("<u4"), (a_words,), (4,))
    store_sat = values.limits(dst_type) if dst_type.is_int else (0, 0)

    def matrix_b(f: Frame) -> Array:
        """Return the matrix B, of shape (depth, lanes, ops)."""
        words = f.views[b_view] if b_view is not None else np.zeros((src1_rows, lanes), np.uint32)
        if is_float:
            return _floats(words, prec1)
        fields = _split(words, bits1, signed=_BITS[prec1][1])
        return fields.reshape(src1_rows, lanes, -1, ops).transpose(0, 2, 1, 3).reshape(-1, lanes, ops)[:depth]

    def matrix_a(f: Frame) -> Array:
        """Return the matrix A, of shape (count, depth, ops)."""
        words = f.views[a_view]
        fields = _floats(words, prec2) if is_float else _split(words, bits2, signed=_BITS[prec2][1])
        return fields.reshape(-1)[: count * depth * ops].reshape(count, depth, ops)

    def op(f: Frame) -> None:
        if d_view is None:
            return
        a, b = matrix_a(f), matrix_b(f)
        start: Array = np.zeros((count, lanes))
        if c_view is not None:
            start = values.bf_to_f(f.views[c_view]) if acc_type is ty.BF else f.views[c_view]
        if is_float:
            total = start.astype(np.float32)
            for d in range(depth):
                step = np.einsum("co,lo->cl", a[:, d], b[d])
                total = (total.astype(np.float64) + step).astype(np.float32)
            f.views[d_view][...] = values.narrow(total, dst_type) if dst_type is not ty.F else total
            return
        summed = start.astype(np.int64) + np.einsum("cdo,dlo->cl", a, b)
        if saturating:
            summed = np.clip(summed, *store_sat)
        f.views[d_view][...] = summed

    saturating = bool(site.integer("sat"))
    return op


def _element(site: Site, name: str) -> ty.DataType:
    return site.code.kernel.variable_type(site.raw(name).var) or ty.D


def _storage(type_: ty.DataType) -> str:
    return values.DTYPE[type_].str


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {"dpas": dpas}
