"""Integer words of ``isa.lane``, each as a formula for both engines, exact as long as no lane overflows.

The interpreter evaluates it in Python integers, compiled code in lanes of so many bits that every bit that counts is
right. A shift to the right keeps the sign; ``Words`` has the type of the sources.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

Lanes = Any  # integer lanes with the operators of Python, or a Python integer
Formula = Callable[..., Lanes]

_DWORD: Final = 0xFFFFFFFF


class Operations(Protocol):
    """The operations of formulas besides operators."""

    def choose(self, condition: Lanes, a: Lanes, b: Lanes) -> Lanes:
        """Return ``a`` if the condition holds or the number is not 0, else ``b``."""

    def quotient(self, a: Lanes, b: Lanes) -> Lanes:
        """Return the quotient, truncated; ``b`` is not 0."""

    def length(self, a: Lanes) -> Lanes:
        """Return the number of bits of a number that is not negative, without leading zeros."""

    def count(self, a: Lanes) -> Lanes:
        """Return the number of set bits."""

    def reverse(self, a: Lanes) -> Lanes:
        """Return the lowest 32 bits in the opposite order."""


class _Numbers:
    """The operations on Python integers."""

    quotient = staticmethod(lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
    length = staticmethod(int.bit_length)
    count = staticmethod(int.bit_count)
    reverse = staticmethod(lambda a: int(f"{a & _DWORD:032b}"[::-1], 2))

    @staticmethod
    def choose(condition: Lanes, a: Lanes, b: Lanes) -> Lanes:
        return a if condition else b


NUMBERS: Final[Operations] = _Numbers()

# Words of which each bit of the result depends only on bits of the sources that are not higher.
RING: Final[dict[str, Formula]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "mad": lambda a, b, c: a * b + c,
    "add3": lambda a, b, c: a + b + c,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": operator.invert,
}


@dataclass(frozen=True)
class Words:
    """The words for an execution type of ``bits``; shift counts are modulo ``count_bits``."""

    o: Operations
    bits: int
    signed: bool
    count_bits: int

    def formula(self, word: str) -> Formula | None:
        """Return the formula of a word; None if it has no meaning for integers."""
        return RING.get(word) or getattr(self, f"_{word}", None)

    def _low(self, a: Lanes) -> Lanes:
        return a & (1 << self.bits) - 1

    def _again(self, a: Lanes) -> Lanes:
        """Return the number that the lowest bits are."""
        top = 1 << self.bits - 1
        return (self._low(a) ^ top) - top if self.signed else self._low(a)

    def _shift(self, n: Lanes) -> Lanes:
        return n & self.count_bits - 1

    def _divide(self, a: Lanes, b: Lanes) -> Lanes:
        return self.o.quotient(a, self.o.choose(b, b, 1))

    def _or_ones(self, b: Lanes, result: Lanes) -> Lanes:
        """Return the result of a division; all ones where the divisor is 0."""
        return self.o.choose(b, result, -1 if self.signed else (1 << self.bits) - 1)

    def _div(self, a: Lanes, b: Lanes) -> Lanes:
        return self._or_ones(b, self._divide(a, b))

    _divm = _div

    def _mod(self, a: Lanes, b: Lanes) -> Lanes:
        return self._or_ones(b, a - b * self._divide(a, b))

    def _mulh(self, a: Lanes, b: Lanes) -> Lanes:
        return a * b >> self.bits

    def _avg(self, a: Lanes, b: Lanes) -> Lanes:
        return a + b + 1 >> 1

    def _min(self, a: Lanes, b: Lanes) -> Lanes:
        return self.o.choose(a < b, a, b)

    def _max(self, a: Lanes, b: Lanes) -> Lanes:
        return self.o.choose(a > b, a, b)

    def _shl(self, a: Lanes, n: Lanes) -> Lanes:
        return a << self._shift(n)

    def _shr(self, a: Lanes, n: Lanes) -> Lanes:
        return self._low(a) >> self._shift(n)

    def _asr(self, a: Lanes, n: Lanes) -> Lanes:
        # An unsigned source has no sign to extend; what a modifier makes of it may be negative.
        return (a if self.signed else self._low(a)) >> self._shift(n)

    def _rol(self, a: Lanes, n: Lanes) -> Lanes:
        left, right = n & self.bits - 1, -n & self.bits - 1
        return self._again(self._low(a) << left | self._low(a) >> right)

    def _ror(self, a: Lanes, n: Lanes) -> Lanes:
        return self._rol(a, -n)

    def _lzd(self, a: Lanes) -> Lanes:
        return 32 - self.o.length(a & _DWORD)

    def _fbh(self, a: Lanes) -> Lanes:
        low = self._low(self.o.choose(a < 0, ~a, a) if self.signed else a)
        return self.o.choose(low, self.bits - self.o.length(low), _DWORD)

    def _fbl(self, a: Lanes) -> Lanes:
        low = self._low(a)
        return self.o.choose(low, self.o.length(low & -low) - 1, _DWORD)

    def _cbit(self, a: Lanes) -> Lanes:
        return self.o.count(self._low(a))

    def _bfrev(self, a: Lanes) -> Lanes:
        return self.o.reverse(a)

    def _bfe(self, width: Lanes, offset: Lanes, value: Lanes) -> Lanes:
        width, offset = width & 31, offset & 31
        field = self._low(value) >> offset & (1 << width) - 1
        if not self.signed:
            return field
        top = 1 << width >> 1
        return self.o.choose(offset + width >= 32, value >> offset, (field ^ top) - top)

    def _bfi(self, width: Lanes, offset: Lanes, value: Lanes, base: Lanes) -> Lanes:
        width, offset = width & 31, offset & 31
        field = (1 << width) - 1 << offset
        return self._low(value << offset & field | self._low(base) & ~field)

    def _dp4a(self, c: Lanes, a: Lanes, b: Lanes) -> Lanes:
        return dp4a(c, a, b, (self.signed, self.signed))

    def _lrp(self, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        return a * b + (1 - a) * c


def dp4a(c: Lanes, a: Lanes, b: Lanes, signs: tuple[bool, ...]) -> Lanes:
    """Return the dot product of four bytes, added to a dword; the type of each factor determines the sign of its bytes."""
    for place in range(0, 32, 8):
        left, right = (_byte(x >> place, signed) for x, signed in zip((a, b), signs, strict=True))
        c = c + left * right
    return c


def _byte(a: Lanes, signed: bool) -> Lanes:
    return (a & 255 ^ 128) - 128 if signed else a & 255


def carry(a: Lanes, b: Lanes, *, subtract: bool) -> tuple[Lanes, Lanes]:
    """Return the sum or difference of dwords, and the carry or borrow."""
    total = a - b if subtract else a + b
    return total, total >> 32 & 1


def boolean_function(table: int, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """Return the Boolean function of three sources that a table of eight bits gives, bit by bit."""
    total = a & 0
    for term in (number for number in range(8) if table >> number & 1):
        x, y, z = (source if term >> k & 1 else ~source for k, source in enumerate((a, b, c)))
        total = total | x & y & z
    return total


# ---- atomics: (old, first source, second source), not negative, to the new value, of which the low bits count

Update = Callable[[Operations, Lanes, Lanes, Lanes, int], Lanes]


def _by(word: str) -> Update:
    return lambda _o, old, a, _b, _top: RING[word](old, a)


UPDATES: Final[dict[str, Update]] = {
    **{word: _by(word) for word in ("add", "sub", "and", "or", "xor")},
    "inc": lambda _o, old, _a, _b, _top: old + 1,
    "dec": lambda _o, old, _a, _b, _top: old - 1,
    "predec": lambda _o, old, _a, _b, _top: old - 1,
    "min": lambda o, old, a, _b, _top: o.choose(a < old, a, old),
    "max": lambda o, old, a, _b, _top: o.choose(a > old, a, old),
    "minsint": lambda o, old, a, _b, top: o.choose((a ^ top) < (old ^ top), a, old),
    "maxsint": lambda o, old, a, _b, top: o.choose((a ^ top) > (old ^ top), a, old),
    "xchg": lambda _o, _old, a, _b, _top: a,
    "load": lambda _o, old, _a, _b, _top: old,
    "cmpxchg": lambda o, old, a, b, _top: o.choose(old - b, old, a),
    "icas": lambda o, old, a, b, _top: o.choose(old - a, old, b),
}
