"""The words of ``isa.lane``: one function each for integer lanes (``integer_formulas``) and for float lanes.

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

from visa_lsp.sim import integer_formulas
from visa_lsp.sim.integer_formulas import NUMBERS, Words
from visa_lsp.sim.lane_formulas import ARRAYS, FORMULAS, Arrays
from visa_lsp.sim.odd_formulas import RuledOperations, find_error, to_odd
from visa_lsp.sim.values import quiet

Array = np.ndarray[Any, np.dtype[Any]]
Body = Callable[..., Array]

RING: Final = frozenset({"src", "const", *integer_formulas.RING})

LANE_BOOL_WORDS: Final = frozenset({"and", "or", "xor", "not"})
ON_BITS: Final = frozenset({"bfrev"})  # words on the bits of a dword, independent of operand types


def each(function: Callable[..., int]) -> Body:
    """Return a function that computes lane by lane in Python integers."""

    def body(*sources: Array) -> Array:
        lanes = np.broadcast_arrays(*sources)
        values = [function(*(int(x) for x in row)) for row in zip(*(s.tolist() for s in lanes), strict=True)]
        out = np.empty(len(values), object)
        out[:] = values
        return out

    return body


def int_body(word: str, bits: int, *, signed: bool, count_bits: int) -> Body | None:
    """Return the function of a word for integers of an execution type; shift counts are modulo ``count_bits``."""
    takes_arrays = word in RING or word in ("min", "max")
    operations: Any = ARRAYS if takes_arrays else NUMBERS  # of which these words need only ``choose``
    formula = Words(operations, bits, signed, count_bits).formula(word)
    return formula if takes_arrays or formula is None else each(formula)


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
    s = _FUSED(a, b, c)
    error = find_error(s, a * b, c)
    return np.asarray(to_odd(ARRAYS, s, error) if error.any() else s)


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
_FUSED: Final = by_rule(lambda a, b, c: a * b + c)


class _RuledArrays(Arrays):
    """The operations in NumPy, with the NaNs of the rule."""

    add = staticmethod(_ADD)
    multiply = staticmethod(_MUL)
    multiply_add = staticmethod(_FUSED)
    divide = staticmethod(_DIV)
    root = staticmethod(np.sqrt)


RULED_ARRAYS: Final[RuledOperations] = _RuledArrays()

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
