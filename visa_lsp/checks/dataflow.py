"""Which variables of a body are written and which are read, aliases counted with the variable they lie in.

Looks at uses only, not at their order. A variable whose address is taken may be anything and is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from visa_lsp.isa.model import Role
from visa_lsp.program.model import AddressOf
from visa_lsp.sema.model import SymbolKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import Body, Symbol

_KINDS = (SymbolKind.GENERAL, SymbolKind.ADDRESS, SymbolKind.PREDICATE)


class Use(NamedTuple):
    """A variable with its aliases, and what is done with them."""

    variable: Symbol
    is_written: bool
    is_read: bool


def uses(body: Body) -> Iterator[Use]:
    """Every declared variable that is used and that nothing outside of the body can fill or look at."""
    families: dict[int, list[Symbol]] = {}
    bases: dict[int, Symbol] = {}
    for symbol in body.symbols:
        if symbol.kind in _KINDS:
            base = symbol.base()[0]
            bases[id(base)] = base
            families.setdefault(id(base), []).append(symbol)
    addressed = {o.value.var for bound in body.code for o in bound.operands if isinstance(o.value, AddressOf)}
    for key, family in families.items():
        base = bases[key]
        roles = {role for symbol in family for _, role in symbol.references}
        outside = base.predefined or any(s.input is not None or s.attributes for s in family)
        if outside or not roles or any(s.kind is SymbolKind.GENERAL and s.id in addressed for s in family):
            continue
        written = bool(roles & {Role.WRITE, Role.READ_WRITE})
        read = bool(roles & {Role.READ, Role.READ_WRITE})
        if written or read:
            yield Use(base, written, read)
