"""An input's size is not the size of its variable.

Why: a size that is too small leaves elements without a value, one that is too large claims bytes of the next input.

Example:

    .decl V40 v_type=G type=d num_elts=1
    .input V40 offset=64 size=8

Instead:

    .decl V40 v_type=G type=d num_elts=1
    .input V40 offset=64 size=4

Authority: seed 000, inputs ("must be equal to type_size * num_elements"); the finalizer rejects the text.
In text 4.2 it checks no implicit inputs.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.model import Dialect
from visa_lsp.sema.model import Place, Symbol, SymbolKind
from visa_lsp.syntax import tree

RULE = rule("V124", "input-size", ERROR, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in body.symbols:
        if symbol.input is None or symbol.input_place is None or symbol.kind is SymbolKind.SAMPLER:
            continue
        if symbol.decl is None or symbol.unsized or symbol.decl.errors:
            continue
        wanted = _bytes(symbol)
        if symbol.input.size == wanted:
            continue
        statement = ctx.document.statement(symbol.input_place.line)
        size = statement.size if isinstance(statement, tree.InputDecl) else None
        place = Place(symbol.input_place.line, size.span) if size is not None else symbol.input_place
        fixes = [ctx.fix(f"change the size to {wanted}", place, str(wanted))] if size is not None else []
        related = [(symbol.place, f"`{symbol.name}` is declared here")] if symbol.place else []
        message = f"input `{symbol.name}` has size {symbol.input.size}, but the variable has {wanted} bytes"
        # In text 4.2 the finalizer compares explicit inputs only.
        directive = statement.directive.text if isinstance(statement, tree.InputDecl) else ""
        overlooked = ctx.dialect is Dialect.V42 and directive.startswith(".implicit")
        severity = WARNING if overlooked else ERROR
        message += " (the finalizer does not check)" if overlooked else ""
        yield ctx.report(RULE, place, message, related=related, fixes=fixes, severity=severity)


def _bytes(symbol: Symbol) -> int:
    return symbol.byte_size if symbol.kind is SymbolKind.GENERAL else 4 * symbol.num_elements


CHECK = Check(RULE, body=_body)
