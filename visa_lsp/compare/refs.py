"""The named things of a body: variables by the letter of their class and their number, labels, and their declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.compare.model import LABEL, Ref
from visa_lsp.isa import predefined

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from visa_lsp.program.model import Input, Kernel, StateVariable

FIRST: Final = {
    "G": predefined.FIRST_VARIABLE,
    "A": predefined.FIRST_ADDRESS,
    "P": predefined.FIRST_PREDICATE,
    "S": predefined.FIRST_SAMPLER,
    "T": predefined.FIRST_SURFACE,
}
_INPUT_CLASS: Final = "GST"


def refs_of(kernel: Kernel) -> Iterator[Ref]:
    """Yield every variable that a body declares, then its labels."""
    yield from (("G", number) for number in range(FIRST["G"], FIRST["G"] + len(kernel.variables)))
    for letter in "APST":
        start = FIRST[letter]
        yield from ((letter, number) for number in range(start, start + len(_states(kernel, letter))))
    yield from ((LABEL, number) for number in range(len(kernel.labels)))


def input_ref(entry: Input) -> Ref:
    """Return the variable that an input fills."""
    return _INPUT_CLASS[min(entry.kind & 3, 2)], entry.id


def state(kernel: Kernel, ref: Ref) -> StateVariable | None:
    """Return the declaration of an address, predicate, sampler or surface variable; None without one."""
    letter, number = ref
    table, index = _states(kernel, letter), number - FIRST[letter]
    return table[index] if 0 <= index < len(table) else None


def declaration(kernel: Kernel, ref: Ref) -> Hashable:
    """Return a declaration without its name, alias and attributes; None if the body does not declare it."""
    letter, number = ref
    if letter == "G":
        variable = kernel.variable(number)
        return None if variable is None else (variable.type.name, variable.num_elements, variable.align)
    if letter == LABEL:
        return kernel.labels[number].kind if number < len(kernel.labels) else None
    declared = state(kernel, ref)
    return None if declared is None else declared.num_elements


def _states(kernel: Kernel, letter: str) -> tuple[StateVariable, ...]:
    match letter:
        case "A":
            return kernel.addresses
        case "P":
            return kernel.predicates
        case "S":
            return kernel.samplers
        case _:
            return kernel.surfaces
