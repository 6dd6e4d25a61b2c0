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
from typing import Final

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.diagnostics import Edit, Fix
from visa_lsp.suggest import nearest
from visa_lsp.text import Span

_WORD: Final = re.compile(r"[\w$@?]+")
RULE = rule("V128", "unused-variable", HINT, __doc__)


class _Mentions:
    """The number of occurrences of each word in a text."""

    def __init__(self) -> None:
        self._counts: Counter[str] | None = None

    def count(self, ctx: CheckContext, name: str) -> int:
        """Return the number of occurrences of a name in the text, comments included; one pass counts all words."""
        if self._counts is None:
            self._counts = Counter(_WORD.findall(ctx.document.text))
        return self._counts[name]


class _Undeclared:
    """The names of a text that are used without a declaration in scope."""

    def __init__(self) -> None:
        self._names: frozenset[str] | None = None

    def names(self, ctx: CheckContext) -> frozenset[str]:
        """Return the names, collected once."""
        if self._names is None:
            problems = [p for p in ctx.bound.problems if p.kind == "undeclared-name"]
            self._names = frozenset(str(p.args["name"]) for p in problems)
        return self._names


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    mentions = ctx.views.part(_Mentions)
    undeclared = ctx.views.part(_Undeclared).names(ctx)
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
            or mentions.count(ctx, symbol.name) > 1
            or nearest(symbol.name, undeclared) is not None
            or ctx.is_comment_open(line - 1)
            or ctx.is_comment_open(line)
        )
        yield ctx.report(RULE, symbol.place, f"`{symbol.name}` is never used", fixes=() if has_other_part else (fix,))


CHECK = Check(RULE, body=_body, default=False)
