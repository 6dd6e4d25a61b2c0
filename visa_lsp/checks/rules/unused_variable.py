"""A variable is declared and never used.

Off unless asked for: compilers declare more than they use.

Why: it costs nothing, but often another name was meant.

Example:

    .decl V99 v_type=G type=d num_elts=8
    ret (M1, 1)

Instead:

    ret (M1, 1)

Authority: none; the finalizer accepts the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.diagnostics import Edit, Fix
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = rule("V128", "unused-variable", HINT, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in body.symbols:
        if symbol.references or symbol.place is None or symbol.input is not None or symbol.attributes:
            continue
        line = symbol.place.line
        start = ctx.document.line_start(line)
        end = ctx.document.line_start(line + 1) if line + 1 < ctx.document.line_count else len(ctx.document)
        if symbol.decl is not None and symbol.decl.braces is not None:
            # The scope that the line begins or ends stays.
            start, end = start + symbol.decl.span.start, start + symbol.decl.span.end
        fix = Fix(f"remove the declaration of `{symbol.name}`", (Edit(Span(start, end), ""),))
        yield ctx.report(RULE, symbol.place, f"`{symbol.name}` is never used", fixes=(fix,))


CHECK = Check(RULE, body=_body, default=False)
