"""The matrix unit: D = C + A x B, number by number (page DPAS)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from tests.support.model.numbers import SIZES, decode, encode, exact, round_number
from tests.support.model.words import total

if TYPE_CHECKING:
    from tests.support.model.state import State

# precision code: bits, kind
INTEGERS = {1: (1, "u"), 2: (1, "s"), 3: (2, "u"), 4: (2, "s"), 5: (4, "u"), 6: (4, "s"), 7: (8, "u"), 8: (8, "s")}
FLOATS = {
    9: np.dtype(ml_dtypes.bfloat16), 10: np.dtype("<f2"), 11: np.dtype(ml_dtypes.float8_e5m2), 12: np.dtype("<f4"),
    14: np.dtype(ml_dtypes.float8_e4m3fn), 15: np.dtype(ml_dtypes.float4_e2m1fn),
}  # fmt: skip
BITS = {9: 16, 10: 16, 11: 8, 12: 32, 14: 8, 15: 4}


def bits_of(precision: int) -> int:
    """Width of a number of a precision."""
    return INTEGERS[precision][0] if precision in INTEGERS else BITS[precision]


def number(word: int, index: int, precision: int):
    """Return number ``index`` of a dword; bits that do not fit a tf32 are cut off."""
    bits = bits_of(precision)
    field = word >> index * bits & (1 << bits) - 1
    if precision in INTEGERS:
        return field - (1 << bits) if INTEGERS[precision][1] == "s" and field >> bits - 1 else field
    if precision == 12:
        return float(np.array(field & 0xFFFFE000, "<u4").view("<f4"))
    raw = np.array(field, {4: "u1", 8: "u1", 16: "<u2"}[bits])
    return float(raw.view(FLOATS[precision]))


def dpas(state: State, inst) -> None:
    """Row i, column n: the dot product of a row of src2 and a column of src1's registers."""
    first, second = inst.get("prec1"), inst.get("prec2")
    depth, count, lanes = inst.get("depth"), inst.get("count"), state.grf // 4
    widths = bits_of(first), bits_of(second)
    ops = (4 if 8 in widths else 8) if first in INTEGERS else 32 // widths[0]
    per_dword = 32 // (ops * widths[0])  # steps of the depth that one dword of src1 serves
    dst, acc = inst.get("dst"), inst.get("src0")
    dst_kind = state.kernel.variable_type(dst.var).name
    acc_kind = state.kernel.variable_type(acc.var).name if acc.var else dst_kind
    var, at = state.origin(inst.get("src2"))
    src2 = bytes(state.regs[var][at:])
    results = []
    for i in range(count):
        for n in range(lanes):
            start = (
                decode(state.peek(acc, (i * lanes + n) * SIZES[acc_kind], SIZES[acc_kind]), acc_kind) if acc.var else 0
            )
            terms = [exact(start)] if isinstance(start, float) else [start]
            for d in range(depth):
                column = int.from_bytes(state.peek(inst.get("src1"), d // per_dword * state.grf + 4 * n, 4), "little")
                for o in range(ops):
                    k = (i * depth + d) * ops + o
                    place = k * widths[1]
                    word = int.from_bytes(src2[place // 32 * 4 : place // 32 * 4 + 4], "little")
                    a = number(word, place % 32 // widths[1], second)
                    b = number(column, d % per_dword * ops + o, first)
                    terms.append(a * b if first in INTEGERS else exact(a * b))
            value = sum(terms) if first in INTEGERS else round_number(round_number(total(*terms), "f"), dst_kind)
            results.append(encode(value, dst_kind))
    size = SIZES[dst_kind]
    for k, data in enumerate(results):
        state.poke(inst, dst, k * size, data, dst_kind, zeros=True)


EFFECTS = {"dpas": dpas}
