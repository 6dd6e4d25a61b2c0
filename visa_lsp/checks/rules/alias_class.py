"""An alias is laid over a variable that is not a general variable.

Why: only general variables have bytes to share; predicates, addresses, samplers and surfaces do not.

Example:

    .decl P1 v_type=P num_elts=16
    .decl V41 v_type=G type=d num_elts=1 alias=<P1, 0>

Instead:

    .decl P1 v_type=P num_elts=16
    .decl V41 v_type=G type=d num_elts=1
    mov (M1, 1) V41(0,0)<1> P1

Authority: seed 000, `alias_index` is an index of general variables; the finalizer accepts the text silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.sema.model import Place, SymbolKind

RULE = rule("V117", "alias-class", WARNING, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in ctx.find_declarations(body):
        if symbol.alias is None or symbol.decl is None or symbol.decl.alias is None or symbol.place is None:
            continue
        base = symbol.alias[0]
        if base.kind is not SymbolKind.GENERAL:
            place = Place(symbol.place.line, symbol.decl.alias.name.span)
            related = [(base.place, f"`{base.name}` is declared here")] if base.place else []
            message = f"`{base.name}` is a {base.kind.value}; an alias can be laid over general variables only (the finalizer does not check)"
            yield ctx.report(RULE, place, message, related=related)


CHECK = Check(RULE, body=_body)
