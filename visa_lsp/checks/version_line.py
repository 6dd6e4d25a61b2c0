"""The text does not begin with `.version`.

Why: the finalizer reads the version before anything else; a text without one is no text to it. The order of the seed,
`.kernel` before `.version`, is understood here and can be turned round.

Example:

    .kernel "k"
    .version 4.1

Instead:

    .version 4.1
    .kernel "k"

Authority: the finalizer rejects both texts; seed 003, `vISA_Assembly_File`, has the kernel first, which is why that order is
a warning only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import Check, CheckContext, Diagnostic, ERROR, Scope, WARNING, rule
from visa_lsp.diagnostics import Edit, Fix
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = rule("V003", "version-line", ERROR, __doc__)


def _text(ctx: CheckContext) -> Iterator[Diagnostic]:
    first = next(iter(ctx.document.statements()), None)
    if first is None:
        place = Place(0, Span(0, 0))
        fix = Fix("add `.version 4.1`", (ctx.insert_line(0, ".version 4.1"),))
        yield ctx.report(RULE, place, "the text is empty; a vISA text begins with `.version 4.1`", fixes=(fix,))
        return
    line, statement = first
    if isinstance(statement, tree.Version):
        return
    at = ctx.bound.version_line
    place = ctx.line_place(line)
    if at < 0:
        fix = Fix("add `.version 4.1`", (ctx.insert_line(line, ".version 4.1"),), safe=True)
        yield ctx.report(RULE, place, "there is no `.version`; a vISA text begins with one", fixes=(fix,))
        return
    start = ctx.document.line_start(at)
    end = ctx.document.line_start(at + 1) if at + 1 < ctx.document.line_count else len(ctx.document)
    moved = ctx.document.line_text(at).strip()
    fix = Fix("move `.version` to the top", (ctx.insert_line(line, moved), Edit(Span(start, end), "")), safe=True)
    related = [(ctx.line_place(at), "the version stands here")]
    message = "`.version` must be the first statement; the finalizer rejects the seed's order"
    yield ctx.report(RULE, place, message, related=related, fixes=(fix,), severity=WARNING)


CHECK = Check(RULE, text=_text, scope=Scope.TEXT)
