"""A label or subroutine is defined twice in one body.

Why: a branch could mean either; the finalizer rejects the body.

Example:

    L1:
    L1:

Instead:

    L1:
    L2:

Authority: seed 000, labels; the finalizer rejects the text ("label is redefined").
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, WARNING, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.sema.model import SymbolKind

RULE = rule("V104", "duplicate-label", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name = problem.args["name"]
    message = f"label `{name}` is defined a second time"
    if problem.args.get("of") is SymbolKind.SUBROUTINE:
        # The label line under `.function` has no effect, and neither has its repetition.
        message += " (the finalizer does not check)"
        return ctx.report(RULE, problem.place, message, related=problem.related, severity=WARNING)
    return ctx.report(RULE, problem.place, message, related=problem.related)


CHECK = Check(RULE, {"duplicate-label": _report, "redeclared-label": _report})
