"""A document bound for its program alone: lines that are like others are not read again.

Templates serve them (``instruction_templates``, ``declaration_templates``); all other lines go the way of ``bind``. Invariant: the
program is that of ``bind``; ``tests/sema/test_instruction_templates.py`` compares whole programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.isa.platforms import DEFAULT_PLATFORM, Platform, platform_named
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.bind import Binder, is_newest
from visa_lsp.sema.declaration_templates import DeclarationTemplates
from visa_lsp.sema.instruction_templates import InstructionTemplates
from visa_lsp.syntax import tree
from visa_lsp.syntax.bulk import statement_of
from visa_lsp.syntax.parse import parse_line

if TYPE_CHECKING:
    from visa_lsp.isa.table import InstructionTable
    from visa_lsp.sema.model import BoundModule
    from visa_lsp.syntax.document import Document


def bind_program(document: Document, platform: Platform | None = None, table: InstructionTable = TABLE) -> BoundModule:
    """Bind a document for its program alone, which ``lower`` makes of it: lines that are like others are not bound again.

    Such instructions have neither statement nor operands, and variables not all of their references.
    """
    chosen = platform or platform_named(DEFAULT_PLATFORM)
    assert chosen is not None
    binder = _ProgramBinder(chosen, table)
    binder.ctx.newest = is_newest(parse_line(code) for _, code in document.codes() if ".version" in code)
    for line, code in document.codes():
        if code:
            binder.line(line, code)
    return binder.finish(document.line_count)


class _ProgramBinder(Binder):
    """One pass over lines, which are only read where no template serves them. There is one of each kind for a body."""

    def __init__(self, platform: Platform, table: InstructionTable) -> None:
        super().__init__(platform, table)
        self.instructions = InstructionTemplates(self.ctx.body)
        self.declarations = DeclarationTemplates(self.ctx.body)

    def line(self, line: int, code: str) -> None:
        ctx = self.ctx
        ctx.line = line
        plain = bool(ctx.bodies) and ctx.scope is ctx.body.scope
        if plain and self._is_served(code):
            return
        # Some lines have been read by whoever checked the text.
        statement = statement_of(code)
        if statement is None:
            return
        plain = plain and statement.braces is None and not statement.errors
        if plain and isinstance(statement, tree.Instruction) and self.instructions.learnt(ctx, code, statement):
            return
        problems = len(ctx.problems)
        self.statement(line, statement)
        if ctx.body is not self.instructions.body:
            self.instructions, self.declarations = InstructionTemplates(ctx.body), DeclarationTemplates(ctx.body)
        elif plain and isinstance(statement, tree.Decl) and len(ctx.problems) == problems:
            self.declarations.learn(code, ctx.body.symbols[-1])

    def _is_served(self, code: str) -> bool:
        ctx = self.ctx
        if code[0] != ".":
            return self.instructions.served(ctx, code)
        symbol = self.declarations.declared(ctx, code)
        if symbol is None:
            return False
        symbol.id = self._next_id(symbol.kind)
        ctx.scope.names[symbol.name] = symbol
        ctx.body.symbols.append(symbol)
        return True
