"""Binds a document for its program only: lines that differ from earlier ones only in names are not read again.

For such instructions, ``instruction_templates`` has templates. Such declarations get the properties of the first of
their class, if that was a plain declaration without a problem. The class of a declaration is the text after its name,
without the base of an alias and the offset. All other lines are bound as by ``bind``. Invariant: the program equals
that of ``bind``; ``tests/sema/test_instruction_templates.py`` compares whole programs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.isa.platforms import DEFAULT_PLATFORM, Platform, platform_named
from visa_lsp.isa.table import TABLE, InstructionTable
from visa_lsp.sema.bind import Binder, is_newest
from visa_lsp.sema.instruction_templates import InstructionTemplates
from visa_lsp.sema.model import BoundModule, Symbol, SymbolKind
from visa_lsp.sema.predefined_symbols import is_taken
from visa_lsp.syntax import tree
from visa_lsp.syntax.bulk import statement_of
from visa_lsp.syntax.parse import parse_line

if TYPE_CHECKING:
    from visa_lsp.isa.types import DataType
    from visa_lsp.syntax.document import Document

_DECLARATION: Final = re.compile(
    r"\.decl ([A-Za-z_][A-Za-z0-9_]*) ([^<>\"]*)(?:<(%?[A-Za-z_][A-Za-z0-9_]*), ?([0-9]{1,9})>)?"
)


def bind_program(document: Document, platform: Platform | None = None, table: InstructionTable = TABLE) -> BoundModule:
    """Bind a document only for its program, which ``lower`` makes; lines like earlier ones are not bound again.

    Instructions on such lines have neither statement nor operands, and some references of variables are missing.
    """
    chosen = platform or platform_named(DEFAULT_PLATFORM)
    assert chosen is not None
    binder = _ProgramBinder(chosen, table)
    binder.ctx.newest = is_newest(parse_line(code) for _, code in document.codes() if ".version" in code)
    for line, code in document.codes():
        if code:
            binder.line(line, code)
    return binder.finish(document.line_count)


class _Declared(NamedTuple):
    """The properties that declarations of a class share."""

    kind: SymbolKind
    type: DataType | None
    num_elements: int
    align: int


class _ProgramBinder(Binder):
    """A pass over lines, which reads a line only if no earlier line of the body has the same class."""

    def __init__(self, platform: Platform, table: InstructionTable) -> None:
        super().__init__(platform, table)
        self.instructions = InstructionTemplates(self.ctx.body)
        self.declarations: dict[tuple[str, bool], _Declared] = {}

    def line(self, line: int, code: str) -> None:
        ctx = self.ctx
        ctx.line = line
        plain = bool(ctx.bodies) and ctx.scope is ctx.body.scope
        if plain and (self._is_declared(code) if code[0] == "." else self.instructions.serve(ctx, code)):
            return
        # Some lines may have been read by the check of the text.
        statement = statement_of(code)
        if statement is None:
            return
        plain = plain and statement.braces is None and not statement.errors
        if plain and isinstance(statement, tree.Instruction) and self.instructions.learnt(ctx, code, statement):
            return
        problems = len(ctx.problems)
        self.statement(line, statement)
        if ctx.body is not self.instructions.body:
            self.instructions, self.declarations = InstructionTemplates(ctx.body), {}
        elif plain and isinstance(statement, tree.Decl) and len(ctx.problems) == problems:
            self._learn(code, ctx.body.symbols[-1])

    def _is_declared(self, code: str) -> bool:
        """Declare the variable of a line without reading it; return False if the line must be read."""
        match = _DECLARATION.fullmatch(code)
        if match is None:
            return False
        name, rest, base, offset = match.groups()
        known = self.declarations.get((rest, base is not None))
        body = self.ctx.body
        names = body.scope.names
        if known is None or name in names or is_taken(name):
            return False
        alias = None
        if base is not None:
            on = names.get(base) or body.predefined.get(base)
            if on is None:
                return False
            alias = (on, int(offset))
        symbol = Symbol(
            name, known.kind, self._next_id(known.kind), type=known.type, num_elements=known.num_elements, align=known.align,
            alias=alias, scope=body.scope, name_index=self.ctx.string(name),
        )  # fmt: skip
        names[name] = symbol
        body.symbols.append(symbol)
        return True

    def _learn(self, code: str, symbol: Symbol) -> None:
        """Store the properties of a declaration that was bound without a problem."""
        match = _DECLARATION.fullmatch(code)
        if match is None or match[1] != symbol.name or symbol.attributes or symbol.unsized:
            return
        offset = int(match[4]) if match[4] is not None else None
        if offset == (symbol.alias[1] if symbol.alias is not None else None):
            key = match[2], match[3] is not None
            self.declarations[key] = _Declared(symbol.kind, symbol.type, symbol.num_elements, symbol.align)
