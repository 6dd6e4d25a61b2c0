"""A variable is declared and never used.

Off by default: compilers declare more than they use.

Why: the declaration costs nothing, but often another name was meant to be used.

Example:

    .decl V99 v_type=G type=d num_elts=8
    ret (M1, 1)

Instead:

    ret (M1, 1)

Authority: none; the finalizer accepts the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Final

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.diagnostics import Edit, Fix
from visa_lsp.suggest import nearest
from visa_lsp.syntax.memo import Key
from visa_lsp.text import Span

_WORD: Final = re.compile(r"[\w$@?]+")
RULE = rule("V128", "unused-variable", HINT, __doc__)


# The number of occurrences of each word in a text, comments included.
_MENTIONS: Final = Key[Counter[str]]()
# The names of a text that are used without a declaration in scope.
_UNDECLARED: Final = Key[frozenset[str]]()


def _mentions(ctx: CheckContext) -> Counter[str]:
    return Counter(_WORD.findall(ctx.document.text))


def _undeclared(ctx: CheckContext) -> frozenset[str]:
    return frozenset(str(p.args["name"]) for p in ctx.bound.problems if p.kind == "undeclared-name")


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    undeclared = ctx.views.fact(_UNDECLARED, partial(_undeclared, ctx))
    for symbol in body.symbols:
        if symbol.references or symbol.place is None or symbol.input is not None or symbol.attributes:
            continue
        line = symbol.place.line
        start = ctx.document.line_start(line)
        end = ctx.document.line_start(line + 1) if line + 1 < ctx.document.line_count else len(ctx.document)
        if symbol.decl is not None and symbol.decl.braces is not None:
            # No fix for a line that opens or closes a scope, because the scope must stay.
            start, end = start + symbol.decl.span.start, start + symbol.decl.span.end
        fix = Fix(f"remove the declaration of `{symbol.name}`", (Edit(Span(start, end), ""),))
        # No fix if removing the line would change the meaning of another use, of a comment, or of the whole body.
        has_other_part = (
            body.place is None
            or ctx.views.fact(_MENTIONS, partial(_mentions, ctx))[symbol.name] > 1
            or nearest(symbol.name, undeclared) is not None
            or ctx.is_comment_open(line - 1)
            or ctx.is_comment_open(line)
        )
        yield ctx.report(RULE, symbol.place, f"`{symbol.name}` is never used", fixes=() if has_other_part else (fix,))


CHECK = Check(RULE, body=_body, default=False)
