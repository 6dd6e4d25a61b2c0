"""The words of ``isa.lane``: one function each for integer lanes and for float lanes.

Functions of integers get arrays of int64 or of Python integers and must be exact; those in ``RING`` may also be
evaluated in wrapping arithmetic of any width that covers the result. Functions of floats get f32 or f64 lanes and round
to nearest. NaNs have the same bits in both engines, by one rule. An operation (sum, difference, product, quotient, a *
b + c) returns the first NaN among its sources, made quiet; without one, an invalid operation returns the NaN of the
host. Modifiers of a source change its sign bit before this. A word of several operations applies the rule to each of
them; a choice (min, max) or a change of sign keeps the bits of its source.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from visa_lsp.sim.lane_formulas import ARRAYS, FORMULAS
from visa_lsp.sim.values import quiet

Array = np.ndarray[Any, np.dtype[Any]]
Body = Callable[..., Array]

RING: Final = frozenset({"src", "const", "add", "sub", "mul", "mad", "and", "or", "xor", "not", "add3"})

LANE_BOOL_WORDS: Final = frozenset({"and", "or", "xor", "not"})
ON_BITS: Final = frozenset({"bfrev"})  # words on the bits of a dword, independent of operand types


def _each(function: Callable[..., int]) -> Body:
    """Return a function that computes lane by lane in Python integers."""

    def body(*sources: Array) -> Array:
        lanes = np.broadcast_arrays(*sources)
        values = [function(*(int(x) for x in row)) for row in zip(*(s.tolist() for s in lanes), strict=True)]
        out = np.empty(len(values), object)
        out[:] = values
        return out

    return body


def _quotient(a: int, b: int) -> int:
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def int_body(word: str, bits: int, *, signed: bool, count_bits: int) -> Body | None:
    """Return the function of a word for integers of an execution type; shift counts are modulo ``count_bits``."""
    mask = (1 << bits) - 1
    top = 1 << bits - 1

    def low(a: int) -> int:
        return a & mask

    def again(a: int) -> int:
        a &= mask
        return a - mask - 1 if signed and a & top else a

    def bfe(width: int, offset: int, value: int) -> int:
        width, offset = width & 31, offset & 31
        field = low(value) >> offset & (1 << width) - 1
        if offset + width >= 32 and signed:
            return value >> offset
        return field - (1 << width) if signed and width and field >> width - 1 & 1 else field

    def bfi(width: int, offset: int, value: int, base: int) -> int:
        field = (1 << (width & 31)) - 1 << (offset & 31)
        return low(value << (offset & 31) & field | low(base) & ~field)

    def fbh(a: int) -> int:
        if signed and a < 0:
            a = ~a
        a = low(a)
        return 0xFFFFFFFF if a == 0 else bits - a.bit_length()

    def rotate(a: int, n: int) -> int:
        n %= bits
        return again(low(a) << n | low(a) >> bits - n)

    def ones(_b: int) -> int:
        return -1 if signed else mask

    scalar: dict[str, Callable[..., int]] = {
        "div": lambda a, b: _quotient(a, b) if b else ones(b),
        "mod": lambda a, b: a - b * _quotient(a, b) if b else ones(b),
        "mulh": lambda a, b: a * b >> bits,
        "avg": lambda a, b: a + b + 1 >> 1,
        "shl": lambda a, n: a << (n & count_bits - 1),
        "shr": lambda a, n: low(a) >> (n & count_bits - 1),
        "asr": lambda a, n: a >> (n & count_bits - 1),
        "rol": rotate,
        "ror": lambda a, n: rotate(a, -n),
        "lzd": lambda a: 32 - (a & 0xFFFFFFFF).bit_length(),
        "fbh": fbh,
        "fbl": lambda a: (low(a) & -low(a)).bit_length() - 1 if low(a) else 0xFFFFFFFF,
        "cbit": lambda a: low(a).bit_count(),
        "bfrev": lambda a: int(f"{a & 0xFFFFFFFF:032b}"[::-1], 2),
        "bfe": bfe,
        "bfi": bfi,
        "dp4a": dp4a(signed, signed),
        "lrp": lambda a, b, c: a * b + (1 - a) * c,
        "divm": lambda a, b: _quotient(a, b) if b else ones(b),
    }
    if word in scalar:
        return _each(scalar[word])
    return _INT_ARRAYS.get(word)


def dp4a(signed_a: bool, signed_b: bool) -> Callable[[int, int, int], int]:
    """Return the dot product of four bytes, added to a dword; the type of each factor determines the sign of its bytes."""
    return lambda c, a, b: c + sum(_byte(a, i, signed=signed_a) * _byte(b, i, signed=signed_b) for i in range(4))


def each(function: Callable[..., int]) -> Body:
    """Return a function that computes lane by lane in Python integers."""
    return _each(function)


def _byte(a: int, i: int, *, signed: bool) -> int:
    b = a >> 8 * i & 255
    return b - 256 if signed and b > 127 else b


_INT_ARRAYS: Final[dict[str, Body]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "mad": lambda a, b, c: a * b + c,
    "add3": lambda a, b, c: a + b + c,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "min": np.minimum,
    "max": np.maximum,
}


def with_first_nan(outcome: Array, nan: Array, sources: tuple[Array, ...]) -> Array:
    """Return the result of one operation; if it is a NaN (``nan``), the first NaN among the sources."""
    for source in reversed(sources):
        outcome = np.where(nan & np.isnan(source), quiet(source), outcome)
    return outcome


def by_rule(operation: Body) -> Body:
    """Return a NumPy operation with the rule's NaNs, because NumPy's own depend on the number of lanes."""

    def body(*sources: Array) -> Array:
        outcome = operation(*sources)
        nan = np.isnan(outcome)
        # A search in the bytes takes a tenth of the time of any().
        return with_first_nan(outcome, nan, sources) if 1 in nan.tobytes() else outcome

    return body


def multiply_add(a: Array, b: Array, c: Array) -> Array:
    """Compute a * b + c of f32 or hf lanes as f64, rounded to odd: rounding it once more gives the fused result."""
    a, b, c = a.astype(np.float64), b.astype(np.float64), c.astype(np.float64)
    p = a * b
    s = p + c
    nan = np.isnan(s)
    if 1 in nan.tobytes():
        s = with_first_nan(s, nan, (a, b, c))
    back = s - p
    error = (p - (s - back)) + (c - back)
    if not error.any():
        return np.asarray(s)
    bits = s.view(np.int64)
    wrong = (error != 0) & ((bits & 1) == 0) & np.isfinite(error)
    if not wrong.any():
        return np.asarray(s)
    grow = (error > 0) == (s > 0)
    return np.where(wrong, bits + np.where(grow, 1, -1), bits).view(np.float64)


def mad_f32(a: Array, b: Array, c: Array) -> Array:
    """Return the fused multiply-add of f32 lanes, rounded to nearest even.

    The f64 sum is rounded twice only if it may lie half-way between two f32 values: its low 28 bits are then zero.
    """
    s = a.astype(np.float64) * b + c
    # The low bits of a NaN that was an f32 value are zero too.
    if 1 in ((s.view(np.int64) & 0x0FFFFFFF) == 0).tobytes():
        s = multiply_add(a, b, c)
    return np.asarray(s.astype(np.float32))


def _in_double(function: Callable[..., Any]) -> Body:
    """Return a function that computes in f64 and rounds once; it has one source, or consists of operations with the rule."""

    def body(*sources: Array) -> Array:
        kind = sources[0].dtype
        return np.asarray(function(*(s.astype(np.float64) for s in sources)).astype(kind))

    return body


def _rsqrt(a: Any) -> Any:
    return 1.0 / np.sqrt(a)


_ADD, _SUB, _MUL, _DIV = map(by_rule, (np.add, np.subtract, np.multiply, np.divide))

FLOAT: Final[dict[str, Body]] = {
    "add": _ADD,
    "sub": _SUB,
    "mul": _MUL,
    "mad": mad_f32,
    "add3": lambda a, b, c: _ADD(_ADD(a, b), c),
    "div": _DIV,
    "divm": _DIV,
    # For zeros with different signs the second is chosen, because NumPy's choice depends on the number of lanes.
    "min": lambda a, b: np.asarray(np.where((a < b) | np.isnan(b), a, b)),
    "max": lambda a, b: np.asarray(np.where((a > b) | np.isnan(b), a, b)),
    "frc": lambda a: a - np.floor(a),
    "rndd": np.floor,
    "rndu": np.ceil,
    "rnde": np.rint,
    "rndz": np.trunc,
    "inv": np.reciprocal,
    "invm": np.reciprocal,
    "sqrt": np.sqrt,
    "sqrtm": np.sqrt,
    "rsqrt": _in_double(_rsqrt),
    "rsqrtm": _in_double(_rsqrt),
    "asin": _in_double(np.arcsin),
    "acos": _in_double(np.arccos),
    "atan": _in_double(np.arctan),
    "lrp": _in_double(lambda a, b, c: _ADD(_MUL(a, b), _MUL(1.0 - a, c))),
    "mod": by_rule(np.fmod),
    "avg": lambda a, b: _ADD(a, b) * a.dtype.type(0.5),
    **{word: _in_double(partial(formula, ARRAYS)) for word, formula in FORMULAS.items()},
}
