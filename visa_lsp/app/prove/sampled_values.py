"""Values of terms for all work items of a launch whose sizes and arguments are numbers, by NumPy.

Knows no solver. Invariant: a value is exact, or ``NotSampled`` is raised: for a symbol without a value, and where the
arithmetic might exceed 64 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.app.prove.terms import Atom, Claim, Sum

MAX_MAGNITUDE: Final = 1 << 62
MAX_ITEMS: Final = 1 << 20


class NotSampled(Exception):  # noqa: N818 - a limit, not an error
    """The value of a term is not known."""


class SampledValues:
    """Values of terms whose symbols are ids: each id has the numbers below its count, and an axis of the arrays."""

    def __init__(self, counts: Mapping[Atom, int]) -> None:
        if np.prod([float(count) for count in counts.values()]) > MAX_ITEMS:
            raise NotSampled
        self._values: dict[Atom, Any] = {}
        for axis, (atom, count) in enumerate(counts.items()):
            self._values[atom] = np.arange(count).reshape([count if at == axis else 1 for at in range(len(counts))])

    def term(self, term: Sum) -> Any:
        """Return the values of a term. Raises NotSampled."""
        total, magnitude = np.array(0), abs(term.constant)
        for atom, factor in term.factors:
            value = self._atom(atom)
            magnitude += abs(factor) * _magnitude(value)
            _check(magnitude)
            total = total + value * factor
        _check(magnitude)
        return total + term.constant

    def claim(self, claim: Claim) -> Any:
        """Return for each work item whether a condition holds. Raises NotSampled."""
        match claim.word:
            case "le":
                return self.term(claim.term) <= 0
            case "eq":
                return self.term(claim.term) == 0
            case "true" | "false":
                return np.array(claim.word == "true")
            case "fact":
                raise NotSampled
        parts = [self.claim(part) for part in claim.parts]
        if claim.word == "not":
            return ~parts[0]
        join = np.logical_and if claim.word == "and" else np.logical_or
        whole = parts[0]
        for part in parts[1:]:
            whole = join(whole, part)
        return whole

    def _atom(self, atom: Atom) -> Any:
        if atom not in self._values:
            if not atom.parts:
                raise NotSampled
            parts = [self.term(part) for part in atom.parts]
            if atom.test is not None:
                value = np.where(self.claim(atom.test), *parts)
            elif atom.divisor:
                _check(atom.divisor)
                value = parts[0] // atom.divisor
            elif atom.is_bits:
                value = parts[0] & parts[1]
            else:
                _check(_magnitude(parts[0]) * _magnitude(parts[1]))
                value = parts[0] * parts[1]
            self._values[atom] = value
        return self._values[atom]


def _magnitude(value: Any) -> int:
    return max(abs(int(value.min())), abs(int(value.max())))


def _check(magnitude: int) -> None:
    if magnitude >= MAX_MAGNITUDE:
        raise NotSampled
