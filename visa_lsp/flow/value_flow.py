"""The flow of values between variables, independent of the order of instructions.

A value is followed from the operands of an instruction to its result, through registers only. Invariant: an unreached
variable does not depend on the value, except through memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from visa_lsp.flow.solve import closure


class ValueFlow:
    """A graph of the flow of values between variables, which are any numbers."""

    def __init__(self) -> None:
        self._into: dict[int, set[int]] = {}

    def add(self, sources: Iterable[int], target: int) -> None:
        """Add an instruction that computes ``target`` from ``sources``."""
        for source in sources:
            self._into.setdefault(source, set()).add(target)

    def find_reached(self, sources: Iterable[int]) -> set[int]:
        """Return the variables that values of ``sources`` may reach, including ``sources``."""
        return closure(sources, lambda variable: self._into.get(variable, ()))

    def origins(self, sources: Iterable[int]) -> dict[int, frozenset[int]]:
        """Return, for each reached variable, the sources that reach it, including itself."""
        found: dict[int, set[int]] = {}
        for source in sources:
            for target in self.find_reached((source,)):
                found.setdefault(target, set()).add(source)
        return {variable: frozenset(of | {variable}) for variable, of in found.items()}
