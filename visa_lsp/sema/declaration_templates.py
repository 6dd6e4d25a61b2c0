"""Templates that bind declarations once if they differ only in names and in places of aliases, for the program alone.

The class of a declaration is its text after the name, without the base and offset of its alias. The first line of a class
becomes the template of the others. Confidence: a template comes only from a plain declaration without a problem, and ``tests/sema/test_instruction_templates.py`` compares whole programs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.sema.model import Symbol
from visa_lsp.sema.names import is_taken

if TYPE_CHECKING:
    from visa_lsp.isa.types import DataType
    from visa_lsp.sema.context import BindingPass
    from visa_lsp.sema.model import Body, SymbolKind

_DECLARATION: Final = re.compile(
    r"\.decl ([A-Za-z_][A-Za-z0-9_]*) ([^<>\"]*)(?:<(%?[A-Za-z_][A-Za-z0-9_]*), ?([0-9]{1,9})>)?"
)


class _Declared(Struct, frozen=True):
    """The declaration that lines of a class share."""

    kind: SymbolKind
    type: DataType | None
    num_elements: int
    align: int


class DeclarationTemplates:
    """The templates of one body."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._classes: dict[tuple[str, bool], _Declared] = {}

    def declared(self, ctx: BindingPass, code: str) -> Symbol | None:
        """Return the variable that a line declares, not numbered yet; None if the line must be parsed."""
        match = _DECLARATION.fullmatch(code)
        if match is None:
            return None
        name, rest, base, offset = match.groups()
        known = self._classes.get((rest, base is not None))
        names = self.body.scope.names
        if known is None or name in names or is_taken(name):
            return None
        alias = None
        if base is not None:
            on = names.get(base) or self.body.predefined.get(base)
            if on is None:
                return None
            alias = (on, int(offset))
        return Symbol(
            name, known.kind, -1, type=known.type, num_elements=known.num_elements, align=known.align, alias=alias,
            scope=self.body.scope, name_index=ctx.string(name),
        )  # fmt: skip

    def learn(self, code: str, symbol: Symbol) -> None:
        """Record a line that was just bound without a problem, and its declaration."""
        match = _DECLARATION.fullmatch(code)
        if match is None or match[1] != symbol.name or symbol.attributes or symbol.unsized:
            return
        offset = int(match[4]) if match[4] is not None else None
        if offset == (symbol.alias[1] if symbol.alias is not None else None):
            key = match[2], match[3] is not None
            self._classes[key] = _Declared(symbol.kind, symbol.type, symbol.num_elements, symbol.align)
