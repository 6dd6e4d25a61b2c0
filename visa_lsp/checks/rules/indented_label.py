"""A label does not begin in the first column.

Why: the finalizer knows a label by its place; anywhere else it is a syntax error.

Example:

        L1:

Instead:

    L1:

Authority: seed 003, "label at start of line"; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.sema.model import Place
from visa_lsp.text import Span

RULE = rule("V105", "indented-label", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    fix = ctx.fix(
        "move the label to the first column",
        Place(problem.place.line, Span(0, problem.place.span.start)),
        "",
        safe=True,
    )
    return ctx.report(
        RULE, problem.place, f"label `{problem.args['name']}` must begin in the first column", fixes=(fix,)
    )


CHECK = Check(RULE, {"indented-label": _report})
