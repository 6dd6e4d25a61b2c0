"""The words of ``isa.lane`` on single values: Python integers without bound, fractions, ``mpmath`` for the rest.

A word gets the values of its sources in one execution type and gives a value that is not rounded yet. The words of
``LOOSE`` are approximations by their rows' own statement: the test grants them one unit in the last place.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import mpmath

from tests.support.model.numbers import FLOATS, INTS, SIGNED, exact, is_special

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.isa.lane import Expr

LOOSE = frozenset(
    {"rsqrt", "rsqrtm", "log2", "exp2", "sin", "cos", "pow", "tanh", "sigm", "asin", "acos", "atan", "lrp"}
)
mpmath.mp.prec = 160


def evaluate(expr: Expr, sources: list, kind: str, count_bits: int):
    """Return the value of a row's expression; shift counts are taken modulo ``count_bits``. KeyError: no such word here."""
    if expr.word == "src":
        return sources[expr.args[0]]
    if expr.word == "const":
        return expr.args[0]
    values = [evaluate(part, sources, kind, count_bits) for part in expr.args]
    if kind in FLOATS:
        return FLOAT[expr.word](*map(exact, values))
    return Ints(kind, count_bits).words[expr.word](*values)


def words_of(expr: Expr) -> set[str]:
    """Return all words of an expression."""
    return {expr.word}.union(*(words_of(a) for a in expr.args if not isinstance(a, int)))


class Ints:
    """Integer words of one execution type."""

    def __init__(self, kind: str, count_bits: int) -> None:
        self.bits, self.signed = 8 * INTS[kind], kind in SIGNED
        self.mask = (1 << self.bits) - 1
        bits, mask, signed, digits = self.bits, self.mask, self.signed, self.digits
        self.words: dict[str, Callable] = {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "mul": lambda a, b: a * b,
            "mad": lambda a, b, c: a * b + c,
            "add3": lambda a, b, c: a + b + c,
            "avg": lambda a, b: math.floor(Fraction(a + b + 1, 2)),
            "mulh": lambda a, b: math.floor(Fraction(a * b, 1 << bits)),
            "div": self.quotient,
            "mod": lambda a, b: a - b * self.quotient(a, b) if b else self.quotient(a, b),
            "min": lambda a, b: min(b, a),
            "max": lambda a, b: max(b, a),
            "and": lambda a, b: a & b,
            "or": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b,
            "not": lambda a: -1 - a,
            "shl": lambda a, n: a * 2 ** (n % count_bits),
            "shr": lambda a, n: (a & mask) // 2 ** (n % count_bits),
            "asr": lambda a, n: math.floor(Fraction(a, 2 ** (n % count_bits))),
            "rol": lambda a, n: self.rotate(a, n % bits),
            "ror": lambda a, n: self.rotate(a, -n % bits),
            "lzd": lambda a: len(digits(a, 32)) - len(digits(a, 32).lstrip("0")),
            "fbh": lambda a: self.first(digits(a).lstrip("1" if signed and a < 0 else "0")),
            "fbl": lambda a: digits(a)[::-1].find("1") if a & mask else 0xFFFFFFFF,
            "cbit": lambda a: digits(a).count("1"),
            "bfrev": lambda a: int(digits(a, 32)[::-1], 2),
            "bfe": self.extract,
            "bfi": self.insert,
        }  # fmt: skip

    def digits(self, a: int, bits: int = 0) -> str:
        """Return the bits as text, highest first."""
        bits = bits or self.bits
        return f"{a & (1 << bits) - 1:0{bits}b}"

    def quotient(self, a: int, b: int) -> int:
        """Cut toward zero; by zero all ones."""
        if b == 0:
            return -1 if self.signed else self.mask
        return math.trunc(Fraction(a, b))

    def rotate(self, a: int, left: int) -> int:
        """Digits moved round to the left."""
        text = self.digits(a)
        value = int(text[left:] + text[:left], 2)
        return value - (1 << self.bits) if self.signed and value >> self.bits - 1 else value

    def first(self, rest: str) -> int:
        """Return the place of the first other digit, from the top."""
        return self.bits - len(rest) if rest else 0xFFFFFFFF

    def extract(self, width: int, offset: int, a: int) -> int:
        """Return a field of digits; beyond bit 31 there are copies of the sign, or zeros."""
        width, offset = width % 32, offset % 32
        if width == 0:
            return 0
        fill = "1" if self.signed and a < 0 else "0"
        text = (fill * 32 + self.digits(a, 32))[: 64 - offset][-width:]
        return int(text, 2) - (1 << width if self.signed and text[0] == "1" else 0)

    def insert(self, width: int, offset: int, new: int, old: int) -> int:
        """Return the digits with a field replaced; digits beyond the top are lost."""
        width, offset = width % 32, offset % 32
        low_first, source = list(self.digits(old, 32)[::-1]), self.digits(new, 32)[::-1]
        for i in range(width):
            if offset + i < 32:
                low_first[offset + i] = source[i]
        return int("".join(low_first[::-1]), 2)


def dp4a(acc: int, a: int, b: int, kinds: list[str]) -> int:
    """Return the sum of byte products; the bytes of each factor are signed by its own type."""
    parts = [
        [
            int.from_bytes(bytes([byte]), "little", signed=kind in SIGNED)
            for byte in (value & 0xFFFFFFFF).to_bytes(4, "little")
        ]
        for value, kind in ((a, kinds[1]), (b, kinds[2]))
    ]
    return acc + sum(x * y for x, y in zip(*parts, strict=True))


# ---- floats: a Fraction, or a float for zeros, infinities and NaN


def _sign(a) -> int:
    return -1 if (math.copysign(1, a) if isinstance(a, float) else a) < 0 else 1


def _nan(*values) -> bool:
    return any(isinstance(v, float) and math.isnan(v) for v in values)


def total(*values):
    """Return the sum of exact values; a zero that cancels is positive."""
    if _nan(*values):
        return math.nan
    infinite = {v for v in values if isinstance(v, float) and math.isinf(v)}
    if infinite:
        return infinite.pop() if len(infinite) == 1 else math.nan
    if all(is_special(v) and _sign(v) < 0 for v in values):
        return -0.0
    result = sum((Fraction(v) for v in values), Fraction(0))
    return result or 0.0


def product(a, b):
    """Return the exact product."""
    if _nan(a, b):
        return math.nan
    sign = _sign(a) * _sign(b)
    if is_special(a) or is_special(b):
        if any(isinstance(v, float) and math.isinf(v) for v in (a, b)):
            return math.nan if 0 in (a, b) else sign * math.inf
        return sign * 0.0
    return a * b


def quotient(a, b):
    """Return the exact quotient."""
    if _nan(a, b):
        return math.nan
    sign = _sign(a) * _sign(b)
    if isinstance(b, float) and math.isinf(b):
        return math.nan if isinstance(a, float) and math.isinf(a) else sign * 0.0
    if b == 0:
        return math.nan if a == 0 else sign * math.inf
    if is_special(a):
        return sign * a if math.isinf(a) and sign < 0 and a > 0 else sign * abs(a)
    return a / b


def root(a):
    """Return the square root, cut far behind the last place of any type; never half-way between two numbers."""
    if is_special(a):
        return a if a in (0, math.inf) else math.nan
    if a < 0:
        return math.nan
    shift = 2 * (1200 + 200)
    whole = math.isqrt((a.numerator << shift) // a.denominator)
    exactly = Fraction(whole, 1 << shift // 2)
    return exactly if exactly * exactly == a else exactly + Fraction(1, 1 << shift // 2 + 1)


def _whole(function):
    def body(a):
        if is_special(a):
            return a
        result = function(a)
        return Fraction(result) if result else math.copysign(0.0, _sign(a))

    return body


def _choose(larger: bool):
    def body(a, b):
        if _nan(a):
            return b
        if _nan(b):
            return a
        return (max(a, b)) if larger else (min(a, b))

    return body


def _frc(a):
    if is_special(a):
        return math.nan if a != 0 else 0.0
    return a - math.floor(a) or 0.0


def _by_mp(function, infinite=None):
    """Return a function of the library on exact values; its results for infinities are in ``infinite``."""

    def body(*values):
        if _nan(*values):
            return math.nan
        if any(isinstance(v, float) and math.isinf(v) for v in values):
            return infinite(*values) if infinite else math.nan
        result = function(
            *(mpmath.mpf(v.numerator) / v.denominator if isinstance(v, Fraction) else mpmath.mpf(v) for v in values)
        )
        if isinstance(result, mpmath.mpc) or mpmath.isnan(result):
            return math.nan
        if mpmath.isinf(result):
            return math.inf if result > 0 else -math.inf
        man, exp = mpmath.frexp(result)
        scaled = int(mpmath.ldexp(man, 150))
        return Fraction(scaled) * Fraction(2) ** (int(exp) - 150) if scaled else 0.0

    return body


def _log2(x):
    return mpmath.log(x, 2) if x > 0 else -mpmath.inf if x == 0 else mpmath.nan


def _exp2(x):
    # Far outside the range of any type: the limit stands for the value.
    return mpmath.inf if x > 40000 else mpmath.mpf(0) if x < -40000 else mpmath.power(2, x)


def _power(x, y):
    x = abs(x)
    if x == 0:
        return mpmath.inf if y < 0 else mpmath.mpf(1 if y == 0 else 0)
    return _exp2(y * mpmath.log(x, 2))


def _power_at_infinity(x, y):
    x = abs(x)
    if y == 0 or x == 1:
        return 1.0
    if math.isinf(y):
        return math.inf if (x > 1) == (y > 0) else 0.0
    return math.inf if y > 0 else 0.0


def _sigm(x):
    return 1 / (1 + mpmath.exp(-x)) if x > -40000 else mpmath.mpf(0)


def _half_pi(a):
    return Fraction(int(mpmath.ldexp(mpmath.pi, 200)), 1 << 201) * _sign(a)


def _one_minus(a):
    return total(Fraction(1), product(Fraction(-1), a))


def _arc(function):
    return _by_mp(lambda x: function(x) if abs(x) <= 1 else mpmath.nan)


FLOAT: dict[str, Callable] = {
    "add": total,
    "sub": lambda a, b: total(a, product(Fraction(-1), b)),
    "mul": product,
    "mad": lambda a, b, c: total(product(a, b), c),
    "div": quotient,
    "divm": quotient,
    "inv": lambda a: quotient(Fraction(1), a),
    "invm": lambda a: quotient(Fraction(1), a),
    "sqrt": root,
    "sqrtm": root,
    "min": _choose(larger=False),
    "max": _choose(larger=True),
    "frc": _frc,
    "rndd": _whole(math.floor),
    "rndu": _whole(math.ceil),
    "rnde": _whole(round),
    "rndz": _whole(math.trunc),
    "lrp": lambda a, b, c: total(product(a, b), product(_one_minus(a), c)),
    "rsqrt": lambda a: quotient(Fraction(1), root(a)),
    "rsqrtm": lambda a: quotient(Fraction(1), root(a)),
    "log2": _by_mp(_log2, lambda a: a if a > 0 else math.nan),
    "exp2": _by_mp(_exp2, lambda a: a if a > 0 else 0.0),
    "pow": _by_mp(_power, _power_at_infinity),
    "sin": _by_mp(mpmath.sin),
    "cos": _by_mp(mpmath.cos),
    "tanh": _by_mp(mpmath.tanh, lambda a: math.copysign(1.0, a)),
    "sigm": _by_mp(_sigm, lambda a: 1.0 if a > 0 else 0.0),
    "asin": _arc(mpmath.asin),
    "acos": _arc(mpmath.acos),
    "atan": _by_mp(mpmath.atan, _half_pi),
}
