"""Integer terms and conditions of a symbolic work item, in a normal form.

A term is a linear sum of atoms. An atom is a symbol, or a product, quotient or choice of two terms; equal atoms are one
object. Registers wrap around exactly: a value of 32 bits is its sum minus 2^32 times the quotient, so that wrapping
twice, or in two halves, cancels. Knows neither registers nor a solver. Invariant: the level of an atom says which work
items share its value; the level of a term is the highest of its atoms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from math import gcd
from typing import Final

MAX_MASK_RUNS: Final = 3  # of ones in the constant of an ``and``
# Why a value is not modelled.
LEAST_WRAP: Final = 1 << 28
LOADED: Final = "a loaded value"
RETURNED: Final = "the result of an atomic"
UNFOLLOWED: Final = "a register"  # written in a way that is not followed


class Level(IntEnum):
    """The work items that share a value: those of the launch, of a group, of a hardware thread, or none."""

    LAUNCH = 0
    GROUP = 1
    THREAD = 2
    ITEM = 3


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """A value other than a sum.

    ``parts`` are the operands of a product, of a quotient by ``divisor``, or of a choice by ``test``.

    ``low`` and ``high`` are bounds that always hold. ``line`` is the line, from 1, of a value that is not modelled,
    else 0; ``why`` describes such a value.
    """

    number: int
    name: str
    level: Level
    low: int
    high: int
    parts: tuple[Sum, ...] = ()
    divisor: int = 0
    test: Claim | None = None
    line: int = 0
    why: str = ""

    @property
    def is_product(self) -> bool:
        """Return whether the atom is the product of its parts."""
        return bool(self.parts) and not self.divisor and self.test is None and not self.is_bits

    @property
    def is_bits(self) -> bool:
        """Return whether the atom has the bits that its two parts have in common."""
        return self.name.startswith("bits#")


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of atoms times factors, and a constant; atoms in the order of their numbers, no factor zero."""

    factors: tuple[tuple[Atom, int], ...]
    constant: int

    @property
    def is_constant(self) -> bool:
        """Return whether there is no atom."""
        return not self.factors

    @property
    def level(self) -> Level:
        """The highest level of the atoms."""
        return max((atom.level for atom, _ in self.factors), default=Level.LAUNCH)

    def limits(self) -> tuple[int, int]:
        """Return bounds of the value, derived from those of the atoms."""
        low = high = self.constant
        for atom, factor in self.factors:
            low += factor * (atom.low if factor > 0 else atom.high)
            high += factor * (atom.high if factor > 0 else atom.low)
        return low, high

    def __add__(self, other: Sum | int) -> Sum:
        if isinstance(other, int):
            return Sum(self.factors, self.constant + other)
        found = dict(self.factors)
        for atom, factor in other.factors:
            found[atom] = found.get(atom, 0) + factor
        return _term(found, self.constant + other.constant)

    def __sub__(self, other: Sum | int) -> Sum:
        return self + other * -1

    def divide(self, divisor: int, constant: int) -> Sum:
        """Return the sum with its factors, which are multiples of a divisor, divided by it, and another constant."""
        return Sum(tuple([(atom, factor // divisor) for atom, factor in self.factors]), constant)

    @property
    def common_divisor(self) -> int:
        """The greatest common divisor of the factors."""
        return gcd(*(factor for _, factor in self.factors))

    def __mul__(self, factor: int) -> Sum:
        if not factor:
            return ZERO
        return Sum(tuple([(atom, own * factor) for atom, own in self.factors]), self.constant * factor)


def _term(factors: Mapping[Atom, int], constant: int) -> Sum:
    kept = [pair for pair in factors.items() if pair[1]]
    kept.sort(key=lambda pair: pair[0].number)
    return Sum(tuple(kept), constant)


def _is_sign(atom: Atom, factor: int) -> bool:
    """Return whether a part of a sum makes a negative number of 32 bits unsigned."""
    return atom.divisor == 1 << 32 and (atom.low, atom.high) == (-1, 0) and not factor % (1 << 32)


ZERO: Final = Sum((), 0)


def number(value: int) -> Sum:
    """Return a constant."""
    return Sum((), value)


@dataclass(frozen=True, slots=True)
class Claim:
    """A condition: ``le`` and ``eq`` compare ``term`` with 0, a ``fact`` holds if its symbol is 1, others join conditions."""

    word: str
    term: Sum = ZERO
    parts: tuple[Claim, ...] = ()
    level: Level = Level.LAUNCH


TRUE: Final = Claim("true")
FALSE: Final = Claim("false")


def at_most(left: Sum, right: Sum | int) -> Claim:
    """Return ``left <= right``."""
    term = left - right
    low, high = term.limits()
    if high <= 0:
        return TRUE
    if low > 0:
        return FALSE
    divisor = term.common_divisor
    if divisor > 1:
        term = term.divide(divisor, -(-term.constant // divisor))
    return _resolve_choice(term, lambda part: at_most(part, 0)) or Claim("le", term, level=term.level)


def less(left: Sum, right: Sum | int) -> Claim:
    """Return ``left < right``."""
    return at_most(left + 1, right)


def equal(left: Sum, right: Sum | int) -> Claim:
    """Return ``left == right``."""
    term = left - right
    low, high = term.limits()
    if low == high == 0:
        return TRUE
    if low > 0 or high < 0:
        return FALSE
    if term.factors[0][1] < 0:
        term = term * -1
    divisor = term.common_divisor
    if term.constant % divisor:
        return FALSE
    term = term.divide(divisor, term.constant // divisor)
    return _resolve_choice(term, lambda part: equal(part, 0)) or Claim("eq", term, level=term.level)


def _resolve_choice(term: Sum, compare: Callable[[Sum], Claim]) -> Claim | None:
    """Return a comparison of a choice as one of its parts; None if that is not shorter.

    Compilers compute conditions as numbers: ``(P ? -1 : 0) != 0`` is ``P``.
    """
    if len(term.factors) != 1 or term.factors[0][0].test is None:
        return None
    atom, factor = term.factors[0]
    assert atom.test is not None
    yes, no = (compare(part * factor + term.constant) for part in atom.parts)
    if not {yes, no} & {TRUE, FALSE}:
        return None
    return either(both(atom.test, yes), both(negation(atom.test), no))


def negation(claim: Claim) -> Claim:
    """Return the negation of a condition."""
    match claim.word:
        case "true":
            return FALSE
        case "false":
            return TRUE
        case "not":
            return claim.parts[0]
        case "le":
            return at_most(claim.term * -1 + 1, 0)
        case "and":
            return either(*map(negation, claim.parts))
        case "or":
            return both(*map(negation, claim.parts))
    return Claim("not", parts=(claim,), level=claim.level)


# By the codes of the relations of the instruction table.
RELATIONS: Final[tuple[Callable[[Sum, Sum], Claim], ...]] = (
    equal,
    lambda left, right: negation(equal(left, right)),
    lambda left, right: less(right, left),
    lambda left, right: at_most(right, left),
    less,
    at_most,
)


def both(*conditions: Claim) -> Claim:
    """Return the conjunction."""
    return _connect("and", conditions, FALSE, TRUE)


def either(*conditions: Claim) -> Claim:
    """Return the disjunction."""
    return _connect("or", conditions, TRUE, FALSE)


def _connect(word: str, conditions: Iterable[Claim], decides: Claim, neutral: Claim) -> Claim:
    unique: dict[Claim, None] = {}
    for one in conditions:
        for part in one.parts if one.word == word else (one,):
            if part == decides or negation(part) in unique:
                return decides
            if part != neutral:
                unique[part] = None
    if len(unique) < 2:
        return next(iter(unique), neutral)
    other = "or" if word == "and" else "and"
    if any(part.word == other for part in unique):
        # In ``a and (not a or b)`` the alternative ``not a`` is lost.
        join = either if word == "and" else both
        kept = [
            join(*(one for one in part.parts if negation(one) not in unique)) if part.word == other else part
            for part in unique
        ]
        if kept != list(unique):
            return _connect(word, kept, decides, neutral)
    parts = tuple(unique)
    return Claim(word, parts=parts, level=max(part.level for part in parts))


@dataclass(slots=True)
class SumPool:
    """The atoms of one proof. ``wraps``: quotients that are zero unless arithmetic wraps, with their lines.

    ``facts`` are conditions that hold of an atom wherever it is used.
    """

    atoms: dict[object, Atom] = field(default_factory=dict)
    wraps: dict[Atom, tuple[Claim, int]] = field(default_factory=dict)
    signed_wraps: set[Atom] = field(default_factory=set)  # of signed registers
    signs: dict[Atom, list[Claim]] = field(default_factory=dict)  # products of numbers without a sign, on conditions
    facts: dict[Atom, list[Claim]] = field(default_factory=dict)
    sum_limits: dict[tuple[tuple[Atom, int], ...], tuple[int, int]] = field(default_factory=dict)  # bounds of sums

    def symbol(self, name: str, level: Level, low: int, high: int, *, line: int = 0, why: str = "") -> Sum:
        """Return the symbol of a name, the same for each call."""
        key = ("symbol", name)
        atom = self.atoms.get(key)
        if atom is None:
            atom = self.atoms[key] = Atom(len(self.atoms), name, level, low, high, line=line, why=why)
        return Sum(((atom, 1),), 0)

    def _derive(
        self, word: str, level: Level, low: int, high: int, parts: tuple[Sum, ...], divisor: int = 0, test: Claim | None = None
    ) -> Sum:  # fmt: skip
        """Return the atom of an operation on terms, the same for each call."""
        key = (word, parts, divisor, test)
        atom = self.atoms.get(key)
        if atom is None:
            index = len(self.atoms)
            atom = self.atoms[key] = Atom(index, f"{word}#{index}", level, low, high, parts, divisor, test)
        return Sum(((atom, 1),), 0)

    def fresh(self, why: str, level: Level, low: int, high: int, line: int) -> Sum:
        """Return a new symbol for a value that is not modelled."""
        return self.symbol(f"{why}#{len(self.atoms)}", level, low, high, line=line, why=why)

    def fresh_fact(self, why: str, level: Level, line: int) -> Claim:
        """Return a new condition about which nothing is known."""
        term = self.fresh(why, level, 0, 1, line)
        return Claim("fact", term, level=level)

    def product(self, left: Sum, right: Sum, limit: tuple[int, int] | None = None) -> Sum:
        """Return the product of two terms with constant summands multiplied out; ``limit`` bounds a new symbol."""
        if left.is_constant or right.is_constant:
            return right * left.constant if left.is_constant else left * right.constant
        for a, b in ((left, right), (right, left)):
            # The sign of a number that is read as unsigned cancels in the upper half of a product of 64 bits.
            signs = Sum(tuple([pair for pair in a.factors if _is_sign(*pair)]), 0)
            if signs.factors and signs != a:
                return self.product(a - signs, b, limit) + self.product(signs, b)
        rest = number(0)
        if left.constant:
            rest, left = right * left.constant, left + -left.constant
        if right.constant:
            rest, right = rest + left * right.constant, right + -right.constant
        scale = 1
        parts = []
        for term in (left, right):
            # Of a value and its wraps, which are multiples of 2^31, the value is positive: lemmas are about widths of rows.
            leading = min((factor for _, factor in term.factors), key=abs)
            divisor = term.common_divisor if leading > 0 else -term.common_divisor
            scale *= divisor
            parts.append(term.divide(divisor, 0))
        parts.sort(key=lambda term: [(a.number, f) for a, f in term.factors])
        ends = limit or [a * b for a in parts[0].limits() for b in parts[1].limits()]
        level = max(parts[0].level, parts[1].level)
        return self._derive("product", level, min(ends), max(ends), tuple(parts)) * scale + rest

    def common_bits(self, left: Sum, right: Sum, low: int, high: int) -> Sum:
        """Return the bits that two terms have in common, a number from ``low`` to ``high``."""
        if left.is_constant and right.is_constant:
            return number(left.constant & right.constant)
        parts = sorted(
            (left, right), key=lambda term: (term.level, [(a.number, f) for a, f in term.factors], term.constant)
        )
        return self._derive("bits", max(left.level, right.level), low, high, tuple(parts))

    def quotient(self, term: Sum, divisor: int) -> Sum:
        """Return ``floor(term / divisor)`` for a positive divisor."""
        least, greatest = self.limits(term)
        if least // divisor == greatest // divisor:
            return number(least // divisor)
        bounds = least // divisor, greatest // divisor
        whole: dict[Atom, int] = {}
        rest: dict[Atom, int] = {}
        for atom, factor in term.factors:
            times = (factor + (divisor - 1) // 2) // divisor
            whole[atom], rest[atom] = times, factor - times * divisor
        outer = _term(whole, term.constant // divisor)
        inner = _term(rest, term.constant % divisor)
        common = gcd(divisor, *(factor for _, factor in inner.factors))
        if common > 1:
            inner, divisor = inner.divide(common, inner.constant // common), divisor // common
        low, high = self.limits(inner)
        if low // divisor == high // divisor:
            return outer + low // divisor
        result = outer + self._derive("quotient", inner.level, low // divisor, high // divisor, (inner,), divisor)
        self.keep_limits(result, *bounds)
        return result

    def whole_quotient(self, dividend: Sum, divisor: Sum, line: int) -> Sum:
        """Return the quotient of two terms, a symbol between bounds; any value if one is negative or the divisor 0."""
        quotient = self.result("a quotient", (dividend, divisor), 0, max(0, self.limits(dividend)[1]), line)
        least = self.product(quotient, divisor)
        inside = both(at_most(least, dividend), less(dividend, least + divisor))
        self.facts[quotient.factors[0][0]] = [either(at_most(divisor, 0), at_most(dividend, -1), inside)]
        return quotient

    def result(self, why: str, sources: tuple[object, ...], low: int, high: int, line: int) -> Sum:
        """Return a symbol for what a function that is not modelled makes of sources, the same for each call."""
        level = max((one.level for one in sources if isinstance(one, Sum)), default=Level.ITEM)
        atom = self.atoms.get((why, *sources))
        if atom is None:
            self.fresh(why, level, low, high, line)
            atom = self.atoms[why, *sources] = next(reversed(self.atoms.values()))
        return Sum(((atom, 1),), 0)

    def choice(self, test: Claim, yes: Sum, no: Sum) -> Sum:
        """Return ``yes`` where the test holds, else ``no``."""
        if test == TRUE or yes == no:
            return yes
        if test == FALSE:
            return no
        if test.word == "not":
            test, yes, no = test.parts[0], no, yes
        ends = (*yes.limits(), *no.limits())
        level = max(test.level, yes.level, no.level)
        return self._derive("choice", level, min(ends), max(ends), (yes, no), test=test)

    def wrap(self, term: Sum, bits: int, *, signed: bool, line: int = 0) -> Sum:
        """Return the value in ``bits`` of a register; with a line, wrapping there counts as a mistake of the kernel."""
        low = -(1 << bits - 1) if signed else 0
        times = self.quotient(term - low, 1 << bits)
        wrapped = term - times * (1 << bits)
        if times.is_constant:
            return wrapped
        self.keep_limits(wrapped, low, low + (1 << bits) - 1)
        fits = equal(times, 0)
        earlier = [pair for pair in term.factors if pair[0] in self.wraps and not pair[1] % (1 << bits)]
        if earlier and not line:
            # The value before it wrapped, of which this is a conversion: a negative one is no wrapping.
            plain = term - Sum(tuple(earlier), 0)
            least = -(1 << bits - 1) if any(atom in self.signed_wraps for atom, _ in earlier) else 0
            fits = both(at_most(plain * -1 + least, 0), at_most(plain + -(least + (1 << bits) - 1), 0))
            line = self.wraps[earlier[0][0]][1]
        if line:
            for atom, _ in times.factors:
                if atom.divisor:
                    self.wraps.setdefault(atom, (fits, line))
                    if signed:
                        self.signed_wraps.add(atom)
        return wrapped

    def keep_limits(self, term: Sum, low: int, high: int) -> None:
        """Record bounds of a sum that do not follow from those of its atoms."""
        least, greatest = self.limits(term)
        self.sum_limits[term.factors] = (max(low, least) - term.constant, min(high, greatest) - term.constant)

    def limits(self, term: Sum) -> tuple[int, int]:
        """Return bounds of the value, derived from those of the atoms and the range of a register."""
        low, high = term.limits()
        bounds, scale = self.sum_limits.get(term.factors), 1
        if bounds is None:
            # The bounds of 4 * (i & 15) are those of i & 15.
            scale = term.common_divisor
            bounds = self.sum_limits.get(term.divide(scale, 0).factors)
        if bounds is None:
            return low, high
        return max(low, bounds[0] * scale + term.constant), min(high, bounds[1] * scale + term.constant)

    def mask_bits(self, term: Sum, mask: int, bits: int) -> Sum | None:
        """Return ``term & mask`` for a constant mask; None if the mask has many runs of ones."""
        limit = bits if mask >= 0 else bits + 1
        runs = [run.span() for run in re.finditer("1+", f"{mask & (1 << limit) - 1:b}"[::-1])]
        if len(runs) > MAX_MASK_RUNS:
            return None
        masked = ZERO
        for start, end in runs:
            part = self.quotient(term, 1 << start)
            if end <= bits:
                part = part - self.quotient(term, 1 << end) * (1 << end - start)
            masked = masked + part * (1 << start)
        if mask >= 0:
            self.keep_limits(masked, 0, mask)
        return masked

    # ---- substitution

    def replace_atoms(self, term: Sum, exchange: Callable[[Atom], Sum | None], cache: dict[Atom, Sum]) -> Sum:
        """Replace atoms of a term; ``cache`` caches the results."""
        result = number(term.constant)
        for atom, factor in term.factors:
            result = result + self._exchange(atom, exchange, cache) * factor
        return result

    def _exchange(self, atom: Atom, exchange: Callable[[Atom], Sum | None], cache: dict[Atom, Sum]) -> Sum:
        replacement = cache.get(atom)
        if replacement is None:
            replacement = cache[atom] = exchange(atom) or self._rebuild(atom, exchange, cache)
        return replacement

    def _rebuild(self, atom: Atom, exchange: Callable[[Atom], Sum | None], cache: dict[Atom, Sum]) -> Sum:
        parts = [self.replace_atoms(part, exchange, cache) for part in atom.parts]
        if atom.test is not None:
            return self.choice(self.replace_in(atom.test, exchange, cache), *parts)
        match parts:
            case [inner]:
                return self.quotient(inner, atom.divisor)
            case [left, right] if atom.is_bits:
                return self.common_bits(left, right, atom.low, atom.high)
            case [left, right]:
                return self.product(left, right)
        return Sum(((atom, 1),), 0)

    def assume(self, term: Sum, test: Claim) -> Sum:
        """Return a term with the choices resolved that a condition decides."""
        cache: dict[Atom, Sum] = {}
        opposite = negation(test)

        def decide(atom: Atom) -> Sum | None:
            if atom.test not in (test, opposite):
                return None
            return self.replace_atoms(atom.parts[atom.test != test], decide, cache)

        return self.replace_atoms(term, decide, cache)

    def replace_in(self, claim: Claim, exchange: Callable[[Atom], Sum | None], cache: dict[Atom, Sum]) -> Claim:
        """Replace atoms of a condition."""
        term = self.replace_atoms(claim.term, exchange, cache)
        parts = [self.replace_in(part, exchange, cache) for part in claim.parts]
        match claim.word:
            case "le":
                return at_most(term, 0)
            case "eq":
                return equal(term, 0)
            case "fact" if term.is_constant:
                return TRUE if term.constant >= 1 else FALSE
            case "fact":
                return Claim("fact", term, level=term.level)
            case "not":
                return negation(parts[0])
            case "and":
                return both(*parts)
            case "or":
                return either(*parts)
        return claim


def atoms_of(*things: Sum | Claim, without: Iterable[Atom] = ()) -> Iterator[Atom]:
    """Yield each atom of terms and conditions, and of the parts of atoms, once; but for some atoms and their parts."""
    seen = set(without)
    work: list[Sum | Claim] = list(things)
    while work:
        one = work.pop()
        if isinstance(one, Claim):
            work += one.parts
            one = one.term
        for atom, _ in one.factors:
            if atom not in seen:
                seen.add(atom)
                yield atom
                work += atom.parts
                if atom.test is not None:
                    work.append(atom.test)


def without_wraps(term: Sum) -> Sum:
    """Return a sum without what wraps of 32 bits, or of the 28 bits of local addresses, take away from it."""
    kept = [(atom, factor) for atom, factor in term.factors if not (atom.divisor and abs(factor) >= LEAST_WRAP)]
    return Sum(tuple(kept), signed_constant(term.constant))


def atoms_without_wraps(claim: Claim) -> set[Atom]:
    """Return the atoms of a condition without those of wraps only: both sides of ``start + k <= start + n - 1`` have ids there."""
    if claim.parts:
        return set().union(*map(atoms_without_wraps, claim.parts))
    return set(atoms_of(without_wraps(claim.term)))


def signed_constant(number: int) -> int:
    """Return a number of 32 bits as a signed one."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def without_sign(term: Sum) -> tuple[Sum, list[Claim]]:
    """Return a sum with symbols as they are where it has them with another sign, and the conditions that no bit counts as a sign.

    The two have the same low 32 bits. A negative number that is read as unsigned needs none: there its product wraps.
    """
    signs = [
        (atom, factor)
        for atom, factor in term.factors
        if atom.divisor == 1 << 32 and factor % atom.divisor == 0 and _is_launch_symbol(atom.parts[0])
    ]
    limits = [at_most(atom.parts[0] + -atom.parts[0].constant, (1 << 31) - 1) for atom, _ in signs]
    return term - Sum(tuple(signs), 0), [one for one in limits if one != TRUE]


def _is_launch_symbol(term: Sum) -> bool:
    return (
        len(term.factors) == 1
        and term.factors[0][1] == 1
        and not term.factors[0][0].parts
        and term.level is Level.LAUNCH
    )
