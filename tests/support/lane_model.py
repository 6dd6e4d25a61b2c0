"""What an instruction does to the bytes of its operands, in Python integers and fractions: a second opinion.

Shares the data types and the table's words with the simulator and no code: elements are read from bytes here, floats are
``Fraction`` or one of a few marks, and rounding is done by hand. Slow and plain on purpose.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction

# type name: bytes, kind; floats with precision, lowest exponent of a normal number, highest exponent.
SIZES = {"ub": 1, "b": 1, "uw": 2, "w": 2, "ud": 4, "d": 4, "uq": 8, "q": 8, "hf": 2, "bf": 2, "f": 4, "df": 8}
FLOATS = {"hf": (11, -14, 15), "bf": (8, -126, 127), "f": (24, -126, 127), "df": (53, -1022, 1023)}
SIGNED = {"b", "w", "d", "q"}


@dataclass(frozen=True)
class Special:
    """A float that is no fraction: an infinity, a NaN or a negative zero."""

    name: str
    sign: int = 1


NAN = Special("nan")


def infinity(sign):
    return Special("inf", sign)


MINUS_ZERO = Special("zero", -1)


def decode(data: bytes, kind: str):
    """The value of an element: an int, a ``Fraction`` or a ``Special``."""
    if kind not in FLOATS:
        return int.from_bytes(data, "little", signed=kind in SIGNED)
    if kind == "bf":
        data, kind = b"\0\0" + data, "f"
    number = struct.unpack({"hf": "<e", "f": "<f", "df": "<d"}[kind], data)[0]
    return from_float(number)


def from_float(number: float):
    if math.isnan(number):
        return NAN
    if math.isinf(number):
        return infinity(1 if number > 0 else -1)
    if number == 0:
        return MINUS_ZERO if math.copysign(1, number) < 0 else Fraction(0)
    return Fraction(number)


def to_float(value) -> float:
    if isinstance(value, Special):
        return {"nan": math.nan, "inf": math.inf, "zero": 0.0}[value.name] * value.sign
    return float(value)


def rounded(value, kind: str, sign=1):
    """A number rounded to nearest even in a float type; ``sign`` is that of a result of zero."""
    if isinstance(value, Special):
        return value
    value = Fraction(value)
    if value == 0:
        return MINUS_ZERO if sign < 0 else Fraction(0)
    precision, low, high = FLOATS[kind]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, low) - precision + 1)
    steps = size / unit
    whole = steps.numerator // steps.denominator
    rest = steps - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1):
        whole += 1
    result = whole * unit
    if result >= Fraction(2) ** (high + 1):
        return infinity(1 if value > 0 else -1)
    if result == 0:
        return MINUS_ZERO if value < 0 else Fraction(0)
    return result if value > 0 else -result


def limits(kind):
    bits = 8 * SIZES[kind]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind in SIGNED else (0, (1 << bits) - 1)


def encode(value, source: str, kind: str, *, saturate=False) -> bytes:
    """A result of execution type ``source`` as bytes of a destination of type ``kind``."""
    if kind in FLOATS:
        value = rounded(value, source) if source in FLOATS else Fraction(value)
        if saturate:
            if value in (NAN, MINUS_ZERO):
                value = Fraction(0)
            value = Fraction(min(max(to_float(value), 0.0), 1.0))
        number = to_float(rounded(value, kind))
        if kind == "bf":
            return struct.pack("<f", number)[2:]
        return struct.pack({"hf": "<e", "f": "<f", "df": "<d"}[kind], number)
    low, high = limits(kind)
    if source in FLOATS:
        value = rounded(value, source)
        if value == NAN:
            value = 0
        elif isinstance(value, Special):
            value = 0 if value.name == "zero" else high if value.sign > 0 else low
        else:
            value = min(max(math.trunc(value), low), high)
    elif saturate:
        value = min(max(value, low), high)
    return (value & (1 << 8 * SIZES[kind]) - 1).to_bytes(SIZES[kind], "little")


def same(a: bytes, b: bytes, kind: str, ulp=0, *, zeros=False) -> bool:
    """Whether two elements agree; NaN is NaN, and signs of zero count unless ``zeros``."""
    if a == b:
        return True
    if kind not in FLOATS:
        return False
    x, y = decode(a, kind), decode(b, kind)
    if NAN in (x, y):
        return x == y
    if zeros and to_float(x) == to_float(y) == 0:
        return True
    if not ulp:
        return False
    return abs(_order(a) - _order(b)) <= ulp


def _order(data: bytes) -> int:
    bits = int.from_bytes(data, "little")
    top = 1 << 8 * len(data) - 1
    return top - bits if bits & top else bits


def execution_type(kinds) -> str:
    widened = [{"b": "w", "ub": "uw"}.get(k, k) for k in kinds]
    floats = [k for k in widened if k in FLOATS]
    if floats:
        widest = max(floats, key=SIZES.get)
        if SIZES[widest] > 2:
            return widest
        wide_ints = any(k not in FLOATS and SIZES[k] > 2 for k in widened)
        return "hf" if set(floats) == {"hf"} and not wide_ints else "f"
    size = max(SIZES[k] for k in widened)
    signed = any(k in SIGNED for k in widened)
    return {2: ("uw", "w"), 4: ("ud", "d"), 8: ("uq", "q")}[size][signed]


def convert(value, kind: str, into: str):
    """A source in the execution type. Integers keep their bits where only the sign's meaning differs."""
    if into in FLOATS:
        return rounded(value, "df" if into == "df" else "f") if kind not in FLOATS else value
    if kind not in SIGNED and into in SIGNED and SIZES[kind] == SIZES[into]:
        low, high = limits(into)
        return value if value <= high else value + 2 * low
    return value


def modified(value, modifier: str, kind: str):
    if modifier == "~":
        return ~value
    if modifier in ("abs", "-abs"):
        if isinstance(value, Special):
            value = Special(value.name) if value != MINUS_ZERO else Fraction(0)
        else:
            value = abs(value)
    if modifier.startswith("-"):
        if value == NAN:
            return value
        if isinstance(value, Special):
            return Fraction(0) if value == MINUS_ZERO else Special(value.name, -value.sign)
        if value == 0 and kind in FLOATS:
            return MINUS_ZERO
        return -value
    return value


def elements(origin: int, region, size: int, lanes: int) -> list[int]:
    """Byte places of the elements of a source region (V, W, H)."""
    vertical, width, horizontal = region
    return [origin + ((i // width) * vertical + (i % width) * horizontal) * size for i in range(lanes)]
