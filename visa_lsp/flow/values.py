"""Whose values may become part of which variable, blind to the order of instructions.

A value is followed from the operands of an instruction to its result, through registers only. Invariant: what is not
reached has no part of the value, unless it went through memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.flow.solve import closure

if TYPE_CHECKING:
    from collections.abc import Iterable


class ValueFlow:
    """The ways of values between variables, which are any numbers."""

    def __init__(self) -> None:
        self._into: dict[int, set[int]] = {}

    def add(self, sources: Iterable[int], target: int) -> None:
        """An instruction computes ``target`` from ``sources``."""
        for source in sources:
            self._into.setdefault(source, set()).add(target)

    def reached(self, sources: Iterable[int]) -> set[int]:
        """Return the variables that values of some variables may become part of, themselves included."""
        return closure(sources, lambda variable: self._into.get(variable, ()))

    def origins(self, sources: Iterable[int]) -> dict[int, frozenset[int]]:
        """For each variable that some source reaches: those sources, and itself."""
        found: dict[int, set[int]] = {}
        for source in sources:
            for target in self.reached((source,)):
                found.setdefault(target, set()).add(source)
        return {variable: frozenset(of | {variable}) for variable, of in found.items()}
