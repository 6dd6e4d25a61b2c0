"""Elements of each data type as Python numbers, and the way back: rounding, denormals, saturation, conversion.

An integer element is an ``int``, a float element a Python ``float`` (every type up to df fits it without loss). Results
that are not rounded yet are ``Fraction``; a float stands for what no fraction can hold: infinities, NaN, zeros with a
sign. NumPy and ``ml_dtypes`` read bytes; rounding is done here with integers only. Nothing here knows the simulator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np

INTS = {"ub": 1, "b": 1, "uw": 2, "w": 2, "ud": 4, "d": 4, "uq": 8, "q": 8}
SIGNED = frozenset({"b", "w", "d", "q"})
# precision in bits, lowest exponent of a normal number, highest exponent
FLOATS = {"hf": (11, -14, 15), "bf": (8, -126, 127), "f": (24, -126, 127), "df": (53, -1022, 1023)}
SIZES = INTS | {"hf": 2, "bf": 2, "f": 4, "df": 8}
DTYPES = {name: np.dtype(f"<{'i' if name in SIGNED else 'u'}{size}") for name, size in INTS.items()} | {
    "hf": np.dtype("<f2"), "bf": np.dtype(ml_dtypes.bfloat16), "f": np.dtype("<f4"), "df": np.dtype("<f8"),
}  # fmt: skip


@dataclass(frozen=True)
class Modes:
    """The float modes of ``%cr0``: rounding ``even``, ``up``, ``down``, ``zero``; types that keep denormals."""

    rounding: str = "even"
    keeps: frozenset[str] = frozenset({"hf", "f", "df"})

    @staticmethod
    def of(control: int) -> Modes:
        """From the bits of ``%cr0``: 4-5 rounding, 6 df, 7 f, 10 hf."""
        keeps = {name for name, bit in (("df", 6), ("f", 7), ("hf", 10)) if control >> bit & 1}
        return Modes(("even", "up", "down", "zero")[control >> 4 & 3], frozenset(keeps))

    def keep(self, kind: str) -> bool:
        """Return whether denormals of a type are kept; a bfloat16 has the exponents, and the mode, of f."""
        return ("f" if kind == "bf" else kind) in self.keeps


IEEE = Modes()


def limits(kind: str) -> tuple[int, int]:
    """Lowest and highest value of an integer type."""
    bits = 8 * INTS[kind]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind in SIGNED else (0, (1 << bits) - 1)


def decode(data: bytes, kind: str) -> int | float:
    """Return the value of an element."""
    if kind in INTS:
        return int.from_bytes(data, "little", signed=kind in SIGNED)
    return float(np.frombuffer(data, DTYPES[kind])[0])


def encode(value: float, kind: str) -> bytes:
    """Return the bytes of a value that the type can hold; integers are cut to the low bits."""
    if kind in INTS:
        return (int(value) & (1 << 8 * INTS[kind]) - 1).to_bytes(INTS[kind], "little")
    if kind == "bf":
        return np.array(value, np.float32).astype(ml_dtypes.bfloat16).tobytes()
    return np.array(value, DTYPES[kind]).tobytes()


def is_special(value: Fraction | float) -> bool:
    """Return whether a value is not a plain fraction: an infinity, a NaN or a zero with a sign."""
    return isinstance(value, float) and (not math.isfinite(value) or value == 0)


def exact(value: float | Fraction) -> Fraction | float:
    """Return a fraction where there is one; zeros, infinities and NaN stay floats."""
    return value if is_special(value) else Fraction(value)


def round_number(value: Fraction | float, kind: str, rounding: str = "even") -> float:
    """Return a number rounded to a float type, once."""
    if is_special(value):
        return float(value)
    value = Fraction(value)
    if value == 0:
        return 0.0
    precision, low, high = FLOATS[kind]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if (size.denominator << exponent if exponent >= 0 else size.denominator) > (
        size.numerator if exponent >= 0 else size.numerator << -exponent
    ):
        exponent -= 1
    step = max(exponent, low) - precision + 1
    steps = size / Fraction(2) ** step
    whole, rest = divmod(steps.numerator, steps.denominator)
    away = {"up": value > 0, "down": value < 0, "zero": False}
    if rounding == "even":
        twice = 2 * rest
        whole += twice > steps.denominator or (twice == steps.denominator and whole & 1 == 1)
    elif rest and away[rounding]:
        whole += 1
    if whole >> precision and whole != 1 << precision:
        raise AssertionError(value)
    if whole and whole.bit_length() - 1 + step > high:
        outward = rounding == "even" or away[rounding]
        top = math.ldexp((1 << precision) - 1, high - precision + 1)
        number = math.inf if outward else top
    else:
        number = math.ldexp(whole, step)
    return number if value > 0 else -number


def flush_denormal(value: Fraction | float, kind: str, modes: Modes) -> Fraction | float:
    """Return the value; a denormal of the type as a zero of its sign where the modes do not keep it."""
    if modes.keep(kind) or is_special(value):
        return value
    if abs(value) < Fraction(2) ** FLOATS[kind][1]:
        return -0.0 if value < 0 else 0.0
    return value


def to_type(value: Fraction | float, source: str, kind: str, modes: Modes, *, saturate: bool = False) -> int | float:
    """Return a result of execution type ``source`` in a destination of type ``kind``."""
    if kind in INTS:
        low, high = limits(kind)
        if source in INTS:
            if saturate:
                value = min(max(int(value), low), high)
            return decode(encode(int(value), kind), kind)
        number = round_number(value, source, modes.rounding)
        if math.isnan(number):
            return 0
        if math.isinf(number):
            return high if number > 0 else low
        return min(max(math.trunc(number), low), high)
    if source in FLOATS:
        value = round_number(value, source, modes.rounding)
    if saturate:
        value = _unit(value)
    number = round_number(exact(value) if isinstance(value, float) else value, kind, modes.rounding)
    return float(flush_denormal(number, kind, modes)) if source in FLOATS else number


def _unit(value: Fraction | float) -> Fraction | float | int:
    if isinstance(value, float) and math.isnan(value):
        return 0.0
    return 0.0 if value <= 0 else 1.0 if value >= 1 else value


def same(a: bytes, b: bytes, kind: str, ulp: int = 0, *, zeros: bool = False) -> bool:
    """Return whether two elements agree: a NaN equals any NaN; ``ulp`` steps apart are allowed, and with ``zeros`` signs of zero."""
    if a == b or kind in INTS:
        return a == b
    x, y = decode(a, kind), decode(b, kind)
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    if x == y == 0:
        return zeros or ulp > 0
    return ulp > 0 and abs(_order(a) - _order(b)) <= ulp


def _order(data: bytes) -> int:
    bits = int.from_bytes(data, "little")
    top = 1 << 8 * len(data) - 1
    return top - bits if bits & top else bits


WIDENED = {"b": "w", "ub": "uw"}


def execution_type(kinds: list[str]) -> str:
    """Return the type that an instruction computes in (the page of data types; bytes count as words, bf as f)."""
    seen = [WIDENED.get(k, k) for k in kinds]
    floats = [k for k in seen if k in FLOATS]
    if "df" in floats:
        return "df"
    if floats:
        return "hf" if all(k == "hf" or (SIZES[k] == 2 and k in INTS) for k in seen) else "f"
    size = max(SIZES[k] for k in seen)
    signed = any(k in SIGNED for k in seen)
    return {2: ("uw", "w"), 4: ("ud", "d"), 8: ("uq", "q")}[size][signed]


def small_float(byte: int) -> float:
    """Return an element of a packed ``vf``: one sign bit, three exponent bits with bias 3, four of fraction; 0 and 0x80 are zeros."""
    sign = -1.0 if byte & 0x80 else 1.0
    exponent, fraction = byte >> 4 & 7, byte & 15
    return math.copysign(0.0, sign) if byte & 0x7F == 0 else sign * math.ldexp(1 + fraction / 16, exponent - 3)


@cache
def inputs(kind: str, count: int, seed: int) -> bytes:
    """Seeded elements of a type: its corners, denormals and halves, small numbers, random ones, in mixed order."""
    rng = np.random.default_rng(seed)
    size = SIZES[kind]
    if kind in INTS:
        low, high = limits(kind)
        corners = [
            low,
            high,
            0,
            1,
            low + 1,
            high - 1,
            2,
            7,
            15,
            31,
            32,
            33,
            63,
            64,
            high // 2,
            low // 2,
            -1 if low else high,
        ]
        data = rng.bytes(size * count)
        raw = [decode(data[i : i + size], kind) for i in range(0, size * count, size)]
        values = [*corners, *(v >> 8 * size - 6 for v in raw[: count // 4]), *raw][:count]
    else:
        precision, lowest, highest = FLOATS[kind]
        tiny, unit = math.ldexp(1.0, lowest), math.ldexp(1.0, 1 - precision)
        corners = [
            math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 1 + unit, 1.5 + unit, -1 - unit, 1 - unit / 2,
            math.ldexp(2 - unit, highest), -math.ldexp(2 - unit, highest), tiny, -tiny, tiny / 2, -tiny * 0.75,
            math.ldexp(1.0, lowest + 1 - precision), 3 * math.ldexp(1.0, lowest + 1 - precision), tiny * (1 + unit), 1 / 3,
        ]  # fmt: skip
        drawn = [*rng.uniform(-8, 8, count // 2), *np.exp2(rng.uniform(-14, 14, count))]
        values = [round_number(exact(float(v)), kind) for v in [*corners, *drawn][:count]]
    order = rng.permutation(len(values))
    return b"".join(encode(values[i], kind) for i in order)
