"""Questions about terms for Z3: whether a launch and two work items exist for which conditions hold.

Terms become linear integer arithmetic. A product of two symbols becomes a new symbol with the facts that follow from
monotony, because Z3 does not decide non-linear arithmetic in time. To find a launch, its sizes are fixed, which makes
most products linear. The time of each question and the memory of Z3 are limited. No other module imports Z3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations, product
from math import gcd
from typing import Any, Final

import z3

from visa_lsp.app.prove.terms import Atom, Claim, Level, Sum, SumPool, atoms_of

MAX_MEMORY_MB: Final = 1500
MAX_BITS: Final = 4_096  # of a number in a question
MAX_PRODUCT_PAIRS: Final = 400
# In units of Z3, measured on an idle core, so that answers do not depend on the load of the machine.
STEPS_PER_SECOND: Final = 3_000_000
SLOWEST: Final = 10  # how many times slower a machine may be
STENCIL_ROWS: Final = 3  # by which products of row numbers and widths are compared
MAX_STENCIL_PAIRS: Final = 60
MAX_RATIO: Final = 16
MAX_RATIOS: Final = 3  # of the factors of two products
MAX_ROWS: Final = 8  # of other numbers of rows
NEEDS_SECONDS: Final = 0.5  # of each question whether an assumption is needed
GREATEST_SECONDS: Final = 0.2  # of each step towards a greatest value
MAX_CHOICES: Final = 24  # as expressions, because Z3 spends minutes on simplifying 100 nested ones, whatever its limits


# What monotony says of two products, with their values.
_ComparedProducts = dict[object, tuple[list[Any], list[Any]]]


class OutOfTime(Exception):  # noqa: N818 - a limit, not an error
    """The end of the time for all questions."""


class TooWide(OutOfTime):
    """A number of a question has more than ``MAX_BITS`` bits, as in products of products: no time would be enough."""


def _bounded(number: int) -> int:
    """Return a number for Z3. Raises TooWide."""
    if number.bit_length() > MAX_BITS:
        raise TooWide
    return number


@dataclass(frozen=True, slots=True)
class SymbolicItem:
    """A work item of a question: its number and that of its group. Items of different moments may be in different rounds."""

    number: int
    group: int
    moment: int = 0


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """The answer to a question: ``no`` with the assumptions that it needs, ``yes`` with values of symbols, or ``unknown``."""

    word: str
    needs: tuple[int, ...] = ()
    values: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Question:
    """The conditions of one question, as values of Z3."""

    pool: SumPool
    exact: bool = False  # products are non-linear
    values: dict[tuple[Atom, str], Any] = field(default_factory=dict)
    sides: list[Any] = field(default_factory=list)
    products: list[tuple[Any, Any, Any]] = field(default_factory=list)
    bits: list[tuple[Any, Any, Any]] = field(default_factory=list)  # those that two values have in common
    names: dict[str, Any] = field(default_factory=dict)
    choices: int = 0
    scales: dict[int, set[int]] = field(default_factory=dict)  # id of a symbol -> its factors, without signs
    rows: set[int] = field(default_factory=set)  # by which products of row numbers and widths are compared too
    compared: _ComparedProducts = field(default_factory=dict)  # of all questions

    def term(self, term: Sum, item: SymbolicItem) -> Any:
        """Return a term of a work item."""
        parts = []
        for atom, factor in term.factors:
            value = self.atom(atom, item)
            self.scales.setdefault(value.get_id(), set()).add(abs(factor))
            parts.append(value * _bounded(factor) if factor != 1 else value)
        if term.constant or not parts:
            parts.append(z3.IntVal(_bounded(term.constant)))
        self._note_rows(term)
        return z3.Sum(parts) if len(parts) > 1 else parts[0]

    def _note_rows(self, term: Sum) -> None:
        """Record the constant numbers of rows in a term: 16 in ``y * w + 16 * w``, which is ``(y + 16) * w`` multiplied out."""
        factors = dict(term.factors)
        for atom, factor in term.factors:
            for part in atom.parts if atom.test is None and not atom.divisor and not atom.is_bits else ():
                width = part.factors[0][0] if len(part.factors) == 1 else None
                own = abs(factors.get(width, 0)) if width is not None else 0
                if own and not own % factor and len(self.rows) < MAX_ROWS:
                    self.rows |= {own // abs(factor), own // abs(factor) + 1}

    def name_of(self, atom: Atom, item: SymbolicItem) -> str:
        """Return the name of an atom of a work item."""
        if atom.level is Level.LAUNCH:
            return atom.name
        if atom.level is Level.GROUP:
            return f"{atom.name}@{item.group}" + (f"#{item.moment}" if item.moment and has_moment(atom) else "")
        return f"{atom.name}@{item.group}.{item.number}"

    def name(self, name: str, term: Sum, item: SymbolicItem) -> Any:
        """Return a symbol for a term of a work item, whose value an answer then has."""
        symbol = self.names[name] = z3.Int(name)
        self.sides.append(symbol == self.term(term, item))
        return symbol

    def atom(self, atom: Atom, item: SymbolicItem) -> Any:
        """Return an atom of a work item, and add its properties to the side conditions."""
        name = self.name_of(atom, item)
        key = (atom, name)
        value = self.values.get(key)
        if value is not None:
            return value
        if atom.test is not None:
            test, (left, right) = self.condition(atom.test, item), [self.term(part, item) for part in atom.parts]
            self.choices += 1
            if self.choices <= MAX_CHOICES:
                value = z3.If(test, left, right)
            else:
                value = z3.Int(f"choice {self.choices}")
                self.sides += [z3.Or(z3.Not(test), value == left), z3.Or(test, value == right)]
            self.values[key] = value
            return value
        value = z3.Int(name)
        self.values[key] = value
        self.names[name] = value
        self.sides += [value >= _bounded(atom.low), value <= _bounded(atom.high)]
        if atom.divisor:
            inner = self.term(atom.parts[0], item)
            self.sides += [inner >= value * atom.divisor, inner < value * atom.divisor + atom.divisor]
        elif atom.parts:
            left, right = (self.term(part, item) for part in atom.parts)
            (self.bits if atom.is_bits else self.products).append((value, left, right))
        self.sides += [self.condition(fact, item) for fact in self.pool.facts.get(atom, ())]
        return value

    def condition(self, claim: Claim, item: SymbolicItem) -> Any:
        """Return a condition of a work item."""
        match claim.word:
            case "true" | "false":
                return z3.BoolVal(claim.word == "true")
            case "le":
                return self.term(claim.term, item) <= 0
            case "eq":
                return self.term(claim.term, item) == 0
            case "fact":
                return self.term(claim.term, item) >= 1
            case "not":
                return z3.Not(self.condition(claim.parts[0], item))
        parts = [self.condition(part, item) for part in claim.parts]
        return z3.And(parts) if claim.word == "and" else z3.Or(parts)

    def lemmas(self) -> list[Any]:
        """Return the consequences of monotony for products, or the products themselves."""
        if self.exact:
            return [*self._bit_lemmas(), *(whole == one * other for whole, one, other in self.products)]
        conditions = self._bit_lemmas()
        for whole, left, right in self.products:
            for a, b in ((left, right), (right, left)):
                conditions += [
                    z3.Implies(a == 0, whole == 0), z3.Implies(a == 1, whole == b),
                    z3.Implies(z3.And(a >= 0, b >= 0), whole >= 0), z3.Implies(z3.And(a >= 1, b >= 1), whole >= a),
                ]  # fmt: skip
        pairs = list(combinations(self.products, 2))[:MAX_PRODUCT_PAIRS]
        rows = tuple(sorted({*range(1, 1 + (STENCIL_ROWS if len(pairs) <= MAX_STENCIL_PAIRS else 1)), *self.rows}))
        for left, right in pairs:
            ratios = tuple(sorted(self._find_ratios(left[0], right[0])))
            key = (*(value.get_id() for value in (*left, *right)), ratios, rows)
            if key not in self.compared:
                # Kept with the values, because Z3 uses the numbers of values again that are gone.
                self.compared[key] = [*left, *right], list(_compare_products(left, right, ratios, rows))
            conditions += self.compared[key][1]
        return conditions

    def _find_ratios(self, left: Any, right: Any) -> set[tuple[int, int]]:
        """Return the ratios of the factors of two products, as of ``2 * y * w`` and ``w * h``; the first is 1 to 1."""
        pairs = product(*(sorted(self.scales.get(symbol.get_id(), {1})) for symbol in (left, right)))
        ratios = {(m // gcd(m, n), n // gcd(m, n)) for m, n in pairs}
        return {(1, 1), *[ratio for ratio in sorted(ratios) if max(ratio) <= MAX_RATIO][:MAX_RATIOS]}

    def _bit_lemmas(self) -> list[Any]:
        """Return what holds of the common bits ``c`` of ``a`` and ``m``: ``a ^ m``, which is a + m - 2 * c, is its own inverse."""
        conditions = []
        for common, one, other in self.bits:
            conditions += [z3.Implies(part >= 0, z3.And(common >= 0, common <= part)) for part in (one, other)]
        for (common, m, a), (common_2, m_2, b) in combinations(self.bits, 2):
            if m.eq(m_2):  # the mask of a launch is the first part
                x, y = a + m - 2 * common, b + m - 2 * common_2
                conditions += [(a == b) == (x == y), (x == b) == (y == a)]
        return conditions


def _compare_products(
    product_a: tuple[Any, Any, Any],
    product_b: tuple[Any, Any, Any],
    ratios: Iterable[tuple[int, int]],
    rows: Sequence[int],
) -> Iterator[Any]:
    """Yield what monotony says of two products, each given with its factors, that have a factor in common."""
    (whole, one, other), (whole_2, one_2, other_2) = product_a, product_b
    for a, b in ((one, other), (other, one)):
        for c, d in ((one_2, other_2), (other_2, one_2)):
            if not b.eq(d):
                continue
            yield z3.Implies(a == c, whole == whole_2)
            for m, n in ratios:
                ma, mw, nc, nw = (x * k if k > 1 else x for x, k in ((a, m), (whole, m), (c, n), (whole_2, n)))
                for k in rows if m == n else {1, m, n}:
                    kb = b * k if k > 1 else b
                    yield z3.Implies(z3.And(b >= 0, ma + k <= nc), mw + kb <= nw)
                    yield z3.Implies(z3.And(b >= 0, nc + k <= ma), nw + kb <= mw)


def has_moment(atom: Atom) -> bool:
    """Return whether the value of an atom may differ between rounds of a loop."""
    return any(part.line and part.level is Level.GROUP for part in atoms_of(Sum(((atom, 1),), 0)))


class Solver:
    """Answers questions until ``deadline``, by ``time.monotonic``."""

    def __init__(self, pool: SumPool, deadline: float, seconds: float) -> None:
        self.pool, self.deadline, self.seconds = pool, deadline, seconds
        self._compared: _ComparedProducts = {}
        z3.set_param("memory_max_size", MAX_MEMORY_MB)

    @property
    def left(self) -> float:
        """The remaining seconds."""
        return self.deadline - time.monotonic()

    def question(self, *, exact: bool = False) -> Question:
        """Return a question without conditions. Raises OutOfTime if no time is left."""
        if self.left <= 0:
            raise OutOfTime
        return Question(self.pool, exact, compared=self._compared)

    def ask(
        self, question: Question, hard: Iterable[Any], soft: Sequence[Any] = (), *, seconds: float | None = None
    ) -> SolverAnswer:
        """Answer whether all conditions can hold; a ``no`` names the assumptions that it needs.

        Assumptions are left out, by halves, as long as the answer stays: Z3's own least core takes a hundred times as long.
        """
        limit = self.seconds if seconds is None else seconds
        conditions = [*hard, *question.lemmas(), *question.sides]

        def check(assumed: Iterable[int]) -> tuple[str, z3.Solver]:
            solver = z3.SolverFor("QF_NIA") if question.exact else z3.Solver()
            solver.set("timeout", max(1, int(min(SLOWEST * limit, self.left) * 1000)))
            solver.set("rlimit", int(limit * STEPS_PER_SECOND))
            solver.add(*conditions, *(soft[index] for index in assumed))
            return str(solver.check()), solver

        def shrink(part: Sequence[int]) -> None:
            others = [index for index in needs if index not in part]
            if check(others)[0] == "unsat":
                needs[:] = others
            elif len(part) > 1:
                shrink(part[: len(part) // 2])
                shrink(part[len(part) // 2 :])

        needs = list(range(len(soft)))
        with suppress(z3.Z3Exception):
            word, solver = check(needs)
            if word == "unsat":
                limit = min(limit, NEEDS_SECONDS)
                if needs:
                    shrink(needs)
                return SolverAnswer("no", tuple(needs))
            if word == "sat":
                model = solver.model()
                values = {
                    name: model.eval(one, model_completion=True).as_long() for name, one in question.names.items()
                }
                return SolverAnswer("yes", values=values)
        return SolverAnswer("unknown")

    def greatest(self, question: Question, hard: Iterable[Any], name: str, high: int) -> Mapping[str, int] | None:
        """Return the values with the greatest value of a name, which is at most ``high``; None if that was not found."""
        solver = z3.Solver()
        with suppress(z3.Z3Exception):
            solver.add(*hard, *question.lemmas(), *question.sides)
            term, values = question.names[name], dict[str, int]()
            low, step, is_bounded = 0, 1, False
            while low < high:
                least = (low + high + 1) // 2 if is_bounded else min(high, low + step)
                solver.set("timeout", max(1, int(min(GREATEST_SECONDS * SLOWEST, self.left) * 1000)))
                solver.set("rlimit", int(GREATEST_SECONDS * STEPS_PER_SECOND))
                word = str(solver.check(term >= least))
                if word == "unknown":
                    return None
                if word == "unsat":
                    high, is_bounded = least - 1, True
                    continue
                model = solver.model()
                values = {
                    key: model.eval(symbol, model_completion=True).as_long() for key, symbol in question.names.items()
                }
                low, step = values[name], step * 4
            return values or None
        return None


def exclusion(pool: SumPool, facts: Sequence[Claim], deadline: float) -> Callable[[Sequence[Claim]], bool]:
    """Return a function that is true if conditions of one work item certainly exclude one another."""
    solver = Solver(pool, deadline, 0.5)
    item = SymbolicItem(1, 0)

    def never(conditions: Sequence[Claim]) -> bool:
        if solver.left <= 0:
            return False
        with suppress(TooWide):
            question = solver.question()
            return solver.ask(question, [question.condition(one, item) for one in (*facts, *conditions)]).word == "no"
        return False

    return never
