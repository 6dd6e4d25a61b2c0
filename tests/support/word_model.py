"""The words of ``isa.lane`` on single values of ``lane_model``, for one execution type.

Integers are Python's, without bound; float words with one rounding work on fractions, the others on Python floats and may
be an ulp off (``LOOSE``).
"""

from __future__ import annotations

import math
from fractions import Fraction

from lane_model import FLOATS, MINUS_ZERO, NAN, SIGNED, SIZES, Special, from_float, infinity, limits, rounded, to_float

LOOSE = {"rsqrt", "log2", "exp2", "sin", "cos", "pow", "tanh", "sigm", "asin", "acos", "atan", "lrp"}


def evaluate(expr, sources, kind: str, dst: str = "d"):
    """The value of a row's expression. A destination of 64 bits makes shift counts longer (pages SHL, SHR, ASR)."""
    if expr.word == "src":
        return sources[expr.args[0]]
    if expr.word == "const":
        return expr.args[0]
    values = [evaluate(a, sources, kind, dst) for a in expr.args]
    if kind in FLOATS:
        return floating(expr.word, values, kind)
    return integer(expr.word, values, kind, 64 if 8 in (SIZES[kind], SIZES[dst]) else 32)


def _divide(a, b):
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def integer(word, v, kind, count=32):
    bits, signed = 8 * SIZES[kind], kind in SIGNED
    mask = (1 << bits) - 1
    match word, v:
        case "add", (a, b):
            return a + b
        case "sub", (a, b):
            return a - b
        case "mul", (a, b):
            return a * b
        case "mad", (a, b, c):
            return a * b + c
        case "add3", (a, b, c):
            return a + b + c
        case "avg", (a, b):
            return math.floor(Fraction(a + b + 1, 2))
        case "mulh", (a, b):
            return math.floor(Fraction(a * b, 1 << bits))
        case "div", (a, b):
            return _divide(a, b) if b else -1 if signed else mask
        case "mod", (a, b):
            return a - b * _divide(a, b) if b else -1 if signed else mask
        case "min", (a, b):
            return min(a, b)
        case "max", (a, b):
            return max(a, b)
        case "and", (a, b):
            return a & b
        case "or", (a, b):
            return a | b
        case "xor", (a, b):
            return a ^ b
        case "not", (a,):
            return -a - 1
        case "shl", (a, n):
            return a * 2 ** (n % count)
        case "shr", (a, n):
            return (a & mask) // 2 ** (n % count)
        case "asr", (a, n):
            return math.floor(Fraction(a, 2 ** (n % count)))
        case (("rol" | "ror"), (a, n)):
            digits = f"{a & mask:0{bits}b}"
            n = n % bits if word == "rol" else -n % bits
            return _signed(int(digits[n:] + digits[:n], 2), bits, signed=signed)
        case "lzd", (a,):
            return len(f"{a & 0xFFFFFFFF:032b}") - len(f"{a & 0xFFFFFFFF:032b}".lstrip("0"))
        case "fbh", (a,):
            digits = f"{a & mask:0{bits}b}"
            rest = digits.lstrip("1" if signed and a < 0 else "0")
            return bits - len(rest) if rest else 0xFFFFFFFF
        case "fbl", (a,):
            digits = f"{a & mask:0{bits}b}"
            return len(digits) - len(digits.rstrip("0")) if "1" in digits else 0xFFFFFFFF
        case "cbit", (a,):
            return f"{a & mask:b}".count("1")
        case "bfrev", (a,):
            return sum(1 << 31 - i for i in range(32) if a >> i & 1)
        case "bfe", (width, offset, a):
            return _bfe(width & 31, offset & 31, a, signed=signed)
        case "bfi", (width, offset, new, old):
            return _bfi(width & 31, offset & 31, new, old)
    raise KeyError(word)


def _signed(value, bits, *, signed):
    return value - (1 << bits) if signed and value >> bits - 1 else value


def _bfe(width, offset, a, *, signed):
    if width == 0:
        return 0
    if width + offset >= 32:
        return a >> offset
    field = [a >> offset + i & 1 for i in range(width)]
    value = sum(bit << i for i, bit in enumerate(field))
    return value - (1 << width) if signed and field[-1] else value


def _bfi(width, offset, new, old):
    out = old & 0xFFFFFFFF
    for i in range(width):
        if offset + i < 32:
            out = out & ~(1 << offset + i) | (new >> i & 1) << offset + i
    return out


def dp4a(c, a, b, kinds):
    """Bytes of each factor are signed as its type says."""
    parts = [
        [x - 256 if kind in SIGNED and x > 127 else x for x in (value & 0xFFFFFFFF).to_bytes(4, "little")]
        for value, kind in ((a, kinds[1]), (b, kinds[2]))
    ]
    return c + sum(x * y for x, y in zip(*parts, strict=True))


def _negative(a):
    return a.sign < 0 if isinstance(a, Special) else a < 0


def _plain(a):
    return not isinstance(a, Special) or a == MINUS_ZERO


def _number(a):
    return Fraction(0) if a == MINUS_ZERO else a


def _sum(values):
    """A sum of exact values before it is rounded."""
    if any(v == NAN for v in values):
        return NAN
    infinite = {v.sign for v in values if isinstance(v, Special) and v.name == "inf"}
    if infinite:
        return infinity(infinite.pop()) if len(infinite) == 1 else NAN
    total = sum((_number(v) for v in values), Fraction(0))
    if total == 0:
        return MINUS_ZERO if all(v == MINUS_ZERO for v in values) else Fraction(0)
    return total


def _product(a, b):
    if NAN in (a, b):
        return NAN
    sign = -1 if _negative(a) != _negative(b) else 1
    if _plain(a) and _plain(b):
        result = _number(a) * _number(b)
        return MINUS_ZERO if result == 0 and sign < 0 else result
    other = b if not _plain(a) else a
    return NAN if _plain(other) and _number(other) == 0 else infinity(sign)


def _quotient(a, b):
    if NAN in (a, b):
        return NAN
    sign = -1 if _negative(a) != _negative(b) else 1
    zero = MINUS_ZERO if sign < 0 else Fraction(0)
    if not _plain(a):
        return NAN if not _plain(b) else infinity(sign)
    if not _plain(b):
        return zero
    if _number(b) == 0:
        return NAN if _number(a) == 0 else infinity(sign)
    return _number(a) / _number(b) if _number(a) else zero


def _root(a, kind):
    if _plain(a) and _number(a) == 0:
        return a
    if a == NAN or _negative(a):
        return NAN
    if not _plain(a):
        return a
    # Twice the bits of any type, cut off: never half-way between two numbers of the type, so rounding it is exact.
    shift = 2 * (2200 if kind == "df" else 400)
    return Fraction(math.isqrt((a.numerator << shift) // a.denominator), 1 << shift // 2)


def _whole(word, a):
    if isinstance(a, Special):
        return a
    result = {"rndd": math.floor, "rndu": math.ceil, "rnde": round, "rndz": math.trunc}[word](a)
    return MINUS_ZERO if result == 0 and a < 0 else Fraction(result)


def _choose(a, b, *, larger):
    if a == NAN:
        return b
    if b == NAN:
        return a
    x, y = to_float(a), to_float(b)
    return (a if x >= y else b) if larger else (a if x <= y else b)


def _by_math(function, *values):
    try:
        return from_float(function(*map(to_float, values)))
    except ValueError:
        return NAN
    except OverflowError:
        return infinity(1)


def _log2(x):
    return math.log2(x) if x > 0 else -math.inf if x == 0 else math.nan


def _power(x, y):
    x = abs(x)
    if x == 0 and y < 0:
        return math.inf
    return x**y


def floating(word, v, kind):
    match word, v:
        case (("add" | "add3"), _):
            return _sum(v)
        case "sub", (a, b):
            return _sum([a, _product(Fraction(-1), b)])
        case "mul", (a, b):
            return _product(a, b)
        case "mad", (a, b, c):
            return _sum([_product(a, b), c])
        case (("div" | "divm"), (a, b)):
            return _quotient(a, b)
        case (("inv" | "invm"), (a,)):
            return _quotient(Fraction(1), a)
        case (("sqrt" | "sqrtm"), (a,)):
            return _root(a, kind)
        case "min", (a, b):
            return _choose(a, b, larger=False)
        case "max", (a, b):
            return _choose(a, b, larger=True)
        case (("rndd" | "rndu" | "rnde" | "rndz"), (a,)):
            return _whole(word, a)
        case "frc", (a,):
            if not _plain(a):
                return NAN
            return _number(a) - math.floor(_number(a))
        case "rsqrt", (a,):
            root = _root(a, "f")
            return _quotient(Fraction(1), root)
        case "log2", (a,):
            return _by_math(_log2, a)
        case "exp2", (a,):
            return _by_math(lambda x: 2.0**x, a)
        case "pow", (a, b):
            return _by_math(_power, a, b)
        case "sigm", (a,):
            return _by_math(lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0, a)
        case (("sin" | "cos" | "asin" | "acos" | "atan" | "tanh"), (a,)):
            return _by_math(getattr(math, word), a)
        case "lrp", (a, b, c):
            inverse = _sum([Fraction(1), _product(Fraction(-1), a)])
            return _sum([_product(a, b), _product(inverse, c)])
    raise KeyError(word)


def clamp(value, kind):
    low, high = limits(kind)
    return min(max(value, low), high)


__all__ = ["LOOSE", "clamp", "dp4a", "evaluate", "floating", "integer", "rounded"]
