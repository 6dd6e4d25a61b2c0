"""The vocabulary of per-lane meaning: the result of a lane instruction as an expression over its sources.

A row says ``meaning=Lane(S0 + S1)``; the interpreter and the compiler each implement every word once. Nothing here
computes. Rules for all words (seed 003 notes, documentation page ``2_datatypes.md``):

* Sources are read, modified ((abs), (-), (~)) and converted to the *execution type*: the widest float type among
  source types if one is a float (``f`` when only half types meet wider integers), else the widest integer type,
  signed where a source is signed. Packed immediates count as ``w``, ``uw`` and ``f``. A byte counts as a word. In a
  product of dwords with a qword result, each dword keeps its own sign, because compilers of 2026 multiply ``d`` by
  ``ud`` in this way.
* The word is evaluated in that type. Integers are unbounded, so that only the conversion to the destination type
truncates (or, with ``.sat``, clamps). * The result is converted to the destination's type: float to integer rounds to
zero and clamps; integer to float
  and float to narrower float round as ``%cr0`` says; integer to narrower integer keeps the low bits.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Expr(Struct, frozen=True):
    """A node: a word of the vocabulary with its arguments, ``("src", (0,))`` or ``("const", (1,))``."""

    word: str
    args: tuple[Expr | int, ...] = ()

    def __add__(self, other: Expr) -> Expr:
        return Expr("add", (self, other))

    def __sub__(self, other: Expr) -> Expr:
        return Expr("sub", (self, other))

    def __mul__(self, other: Expr) -> Expr:
        return Expr("mul", (self, other))

    def __and__(self, other: Expr) -> Expr:
        return Expr("and", (self, other))

    def __or__(self, other: Expr) -> Expr:
        return Expr("or", (self, other))

    def __xor__(self, other: Expr) -> Expr:
        return Expr("xor", (self, other))

    def __invert__(self) -> Expr:
        return Expr("not", (self,))


S0: Final = Expr("src", (0,))
S1: Final = Expr("src", (1,))
S2: Final = Expr("src", (2,))
S3: Final = Expr("src", (3,))


def const(value: int) -> Expr:
    """Return an integer constant of the execution type."""
    return Expr("const", (value,))


def word(name: str, *args: Expr) -> Expr:
    """Return a node of a word. Raises KeyError for an unknown word, ValueError for a wrong number of arguments."""
    if VOCABULARY[name].arity != len(args):
        raise ValueError(f"{name} takes {VOCABULARY[name].arity} arguments, not {len(args)}")
    return Expr(name, args)


class LaneWord(Struct, frozen=True):
    """A word: its number of arguments and its meaning in a line."""

    arity: int
    doc: str


VOCABULARY: Final[dict[str, LaneWord]] = {
    "src": LaneWord(1, "the value of source n, converted to the execution type"),
    "const": LaneWord(1, "an integer constant"),
    "add": LaneWord(2, "a + b"),
    "sub": LaneWord(2, "a - b"),
    "mul": LaneWord(2, "a * b"),
    "mad": LaneWord(3, "a * b + c; for floats with one rounding"),
    "div": LaneWord(2, "a / b; integers truncate toward zero, by zero gives all ones"),
    "mod": LaneWord(2, "remainder with the sign of a; by zero gives all ones"),
    "mulh": LaneWord(2, "upper half of the double-width product"),
    "avg": LaneWord(2, "(a + b + 1) shifted right by one"),
    "min": LaneWord(2, "the smaller; a NaN loses against a number"),
    "max": LaneWord(2, "the larger; a NaN loses against a number"),
    "and": LaneWord(2, "bitwise and"),
    "or": LaneWord(2, "bitwise or"),
    "xor": LaneWord(2, "bitwise exclusive or"),
    "not": LaneWord(1, "bitwise complement"),
    "shl": LaneWord(2, "shift left; the count is taken modulo the width of the execution type"),
    "shr": LaneWord(2, "logical shift right; count modulo width"),
    "asr": LaneWord(2, "arithmetic shift right; count modulo width"),
    "rol": LaneWord(2, "rotate left within the type's width"),
    "ror": LaneWord(2, "rotate right within the type's width"),
    "lzd": LaneWord(1, "leading zero bits of 32, 32 for zero"),
    "fbh": LaneWord(1, "position of the first significant bit from the top, all ones if there is none"),
    "fbl": LaneWord(1, "position of the lowest one bit, all ones for zero"),
    "cbit": LaneWord(1, "number of one bits"),
    "bfrev": LaneWord(1, "bits of a dword in reverse order"),
    "bfe": LaneWord(3, "field of c, width a, offset b; sign-extended where signed"),
    "bfi": LaneWord(4, "d with its field of width a at offset b replaced by the low bits of c"),
    "add3": LaneWord(3, "a + b + c"),
    "dp4a": LaneWord(3, "a + sum of the four byte products of b and c"),
    "frc": LaneWord(1, "a - floor(a)"),
    "rndd": LaneWord(1, "round down"),
    "rndu": LaneWord(1, "round up"),
    "rnde": LaneWord(1, "round to nearest even"),
    "rndz": LaneWord(1, "round toward zero"),
    "inv": LaneWord(1, "1 / a"),
    "log2": LaneWord(1, "logarithm to base 2"),
    "exp2": LaneWord(1, "2 to the power a"),
    "sqrt": LaneWord(1, "square root"),
    "rsqrt": LaneWord(1, "1 / square root"),
    "sin": LaneWord(1, "sine, radians"),
    "cos": LaneWord(1, "cosine, radians"),
    "asin": LaneWord(1, "arc sine"),
    "acos": LaneWord(1, "arc cosine"),
    "atan": LaneWord(1, "arc tangent"),
    "pow": LaneWord(2, "|a| to the power b"),
    "divm": LaneWord(2, "a / b, correctly rounded"),
    "sqrtm": LaneWord(1, "square root, correctly rounded"),
    "invm": LaneWord(1, "1 / a, correctly rounded"),
    "rsqrtm": LaneWord(1, "1 / square root, correctly rounded"),
    "tanh": LaneWord(1, "hyperbolic tangent"),
    "sigm": LaneWord(1, "1 / (1 + e to the power -a)"),
    "lrp": LaneWord(3, "a * b + (1 - a) * c"),
}


class Lane(Struct, frozen=True):
    """The meaning of an instruction with independent lanes: ``dst[i] = expr(src0[i], ..)``."""

    expr: Expr


class Effect(Struct, frozen=True):
    """A meaning beyond a value per lane: the name of a function in ``sim/effects``."""

    name: str


class Unmodelled(Struct, frozen=True):
    """The reason, for the user, why a row has no meaning in software (motion estimation, fixed-function messages)."""

    reason: str


Meaning = Lane | Effect | Unmodelled


def effect_of(meaning: Meaning | None) -> str:
    """Return the name of an effect; empty for a row with another kind of meaning, or none."""
    return meaning.name if isinstance(meaning, Effect) else ""
