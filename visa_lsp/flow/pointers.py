"""The variables that an indirect operand may touch, derived from the addresses taken, independent of the order of instructions.

An address variable may point to each variable whose address is assigned to it anywhere in the body, and to the targets
of the address variables from which it is computed. Invariant: without such facts it may point to every variable whose
address is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from visa_lsp.flow.solve import closure
from visa_lsp.flow.steps import AccessPurpose, Space, Step, space_of


def find_pointed_variables(steps: Sequence[Step]) -> dict[int, frozenset[int]]:
    """Return, by step number, the variables that the step's indirect operands may touch."""
    indirect = [number for number, step in enumerate(steps) if step.indirect_read or step.indirect_write]
    if not indirect:
        return {}
    points: dict[int, set[int]] = {}
    computed_from: dict[int, set[int]] = {}
    anything: set[int] = set()
    for step in steps:
        addresses = [access for access in step.accesses if space_of(access.variable) is Space.ADDRESS]
        taken = {access.variable for access in step.accesses if access.purpose is AccessPurpose.TAKEN}
        anything |= taken
        for access in addresses:
            if access.writes:
                points.setdefault(access.variable, set()).update(taken)
                read = (one.variable for one in addresses if not one.writes)
                computed_from.setdefault(access.variable, set()).update(read)

    def find_reached(variable: int) -> set[int]:
        found: set[int] = set()
        for one in closure([variable], lambda at: computed_from.get(at, ())):
            found |= points.get(one, set())
        return found or anything

    by_variable: dict[int, set[int]] = {}
    pointed: dict[int, frozenset[int]] = {}
    for number in indirect:
        through = {a.variable for a in steps[number].accesses if a.purpose is AccessPurpose.ADDRESSES}
        for variable in through - by_variable.keys():
            by_variable[variable] = find_reached(variable)
        pointed[number] = frozenset().union(*(by_variable[variable] for variable in through))
    return pointed
