"""A text has no kernel, or statements outside of one.

After `.version`, everything but `.funcdecl` belongs to the nearest `.kernel` or `.global_function` above it.

Why: an object consists of kernels and functions; a statement outside of them has no place in it.

Example:

    .version 4.1
    ret (M1, 1)
    .kernel "k"

Instead:

    .version 4.1
    .kernel "k"
    ret (M1, 1)

Authority: the finalizer rejects a text that ends after its version, and crashes on all other such texts.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.syntax import tree

RULE = rule("V010", "missing-kernel", ERROR, __doc__)


def _text(ctx: CheckContext) -> Iterator[Diagnostic]:
    bodies = ctx.bound.bodies
    if ctx.bound.version_line < 0:
        return  # One finding is enough for a text that has just been begun: that it has no version.
    if bodies and bodies[0].place is None:
        line = bodies[0].first_line
        is_later = len(bodies) > 1
        message = (
            "this statement is outside of a kernel; the first `.kernel` is further down"
            if is_later
            else "no `.kernel` precedes this statement"
        )
        fixes = () if is_later else ctx.fix_before(line, 'insert `.kernel "main"`', '.kernel "main"')
        yield ctx.report(RULE, ctx.line_place(line), message, fixes=fixes)
    if bodies:
        return
    first_statement = next(iter(ctx.document.statements()), None)
    if first_statement is not None and isinstance(first_statement[1], tree.Version):
        line = first_statement[0]
        fixes = ctx.fix_after(line, 'insert `.kernel "main"`', '.kernel "main"')
        yield ctx.report(RULE, ctx.line_place(line), "no `.kernel` follows this version", fixes=fixes)


CHECK = Check(RULE, text=_text, scope=Scope.TEXT)
