"""The axes of a launch that a kernel uses: their ids, sizes, groups or offsets reach a message or a branch.

Follows values through registers in any order of the instructions, without terms, because an access also depends on
values that are not modelled. Invariant: an axis that is left out changes nothing that a work item does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.prove.terms import atoms_of
from visa_lsp.flow.steps import Space, variable_key
from visa_lsp.isa.model import FlowClass

if TYPE_CHECKING:
    from visa_lsp.app.prove.payload import LaunchSymbols
    from visa_lsp.app.prove.registers import ItemRegisters
    from visa_lsp.app.read.effects import Bits, Effects

_MESSAGES: Final = frozenset({"data_port", "svm", "lsc", "media", "sampler", "sync"})


def find_used_axes(start: ItemRegisters, symbols: LaunchSymbols, effects: Effects) -> set[int]:
    """Return the axes that a kernel uses, given the registers when its thread starts."""
    return {axis for axis in range(3) if _is_used(_find_sources(start, symbols, axis), effects)}


def _find_sources(start: ItemRegisters, symbols: LaunchSymbols, axis: int) -> Bits:
    """Return the bytes of registers that hold values of an axis."""
    own = symbols.atoms_of_axis(axis)
    sources: Bits = {}
    for root, cells in start.cells.items():
        for cell in cells:
            if own & set(atoms_of(cell.value)):
                key = variable_key(Space.GENERAL, root)
                sources[key] = sources.get(key, 0) | cell.bits
    return sources


def _is_used(holders: Bits, effects: Effects) -> bool:
    """Return whether values reach a message or a branch from the bytes that hold them at first."""
    places = range(len(effects.steps))
    while holders:
        spread = False
        for place in places:
            if not any(bits & holders.get(key, 0) for key, bits in effects.reads(place).items()):
                continue
            row = effects.kernel.instructions[place].row
            if row.family in _MESSAGES or row.flow is not FlowClass.NEXT:
                return True
            for key, bits in effects.writes(place).items():
                if bits & ~holders.get(key, 0):
                    holders[key] = holders.get(key, 0) | bits
                    spread = True
        if not spread:
            break
    return False
