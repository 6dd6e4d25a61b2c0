"""The predefined symbols of a body, and the string pool that every body starts with."""

from __future__ import annotations

from functools import cache
from typing import Final

from visa_lsp.isa import predefined
from visa_lsp.sema.model import Predefined, Symbol, SymbolKind

# Besides those with a percent sign.
_TAKEN: Final = frozenset({*predefined.SAMPLER_BY_NAME, "T1", "T2", "TSS", *(f"V{number}" for number in range(21))})


def make_predefined_symbols(grf_bytes: int) -> Predefined:
    """Return fresh symbols for everything predefined, by all of their names."""
    return Predefined(_make_symbols(grf_bytes))


@cache
def _make_symbols(grf_bytes: int) -> dict[str, Symbol]:
    names: dict[str, Symbol] = {}
    numbered = [*predefined.VARIABLES, predefined.SCRATCHLOC]
    for variable in numbered:
        elements = grf_bytes // 4 if variable.name == "%r0" else variable.num_elements
        symbol = Symbol(
            variable.name,
            SymbolKind.GENERAL,
            variable.number,
            type=variable.type,
            num_elements=elements,
            predefined=True,
            doc=variable.doc,
        )
        names[variable.name] = symbol
        if variable is not predefined.SCRATCHLOC:
            names[f"V{variable.number}"] = symbol
    for old, new in predefined.VARIABLE_ALIASES.items():
        names[old] = names[new]
    for kind, table in (
        (SymbolKind.SURFACE, predefined.SURFACE_BY_NAME),
        (SymbolKind.SAMPLER, predefined.SAMPLER_BY_NAME),
    ):
        states: dict[int, Symbol] = {}
        for name, state in table.items():
            names[name] = states.setdefault(
                state.number, Symbol(state.name, kind, state.number, predefined=True, doc=state.doc)
            )
    for old, new in predefined.SURFACE_ALIASES.items():
        names[old] = names[new]
    # Names that text may still declare: only T1, T2, TSS, S31 and the % names are taken.
    for free in ("T0", "T3", "T4", "T5"):
        names.pop(free, None)
    return names


def is_taken(name: str) -> bool:
    """Return whether a declaration of this name collides with a predefined one in Intel's tools."""
    return name in _TAKEN or name.startswith("%")


def pool_prefix(name: str) -> list[str]:
    """Return the string pool of a new body: its name, then the predefined names."""
    return [name, *predefined.POOL_PREFIX]
