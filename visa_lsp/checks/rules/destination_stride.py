"""A destination has horizontal stride 0.

Why: all lanes would write the same element.

Example:

    add (M1, 16) V33(0,0)<0> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 004, region restriction 5; the finalizer rejects the text, except with `faddr`; with `min`, `max` and the
carry of `addc` and `subb` it writes a broken object.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, WARNING, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.verifier import lower_severity, rows_at
from visa_lsp.isa.model import Trait

RULE = rule("V302", "destination-stride", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    fix = ctx.fix("change to `<1>`", problem.place, "<1>")
    message = "a destination cannot have stride 0; write `<1>` for one element per lane"
    rows = rows_at(ctx, problem.place.line)
    if lower_severity(ctx, rows) or any(row.has(Trait.STRIDE_UNCHECKED) for row in rows):
        message = f"{message} (the finalizer does not check)"
        return ctx.report(RULE, problem.place, message, fixes=(fix,), severity=WARNING)
    return ctx.report(RULE, problem.place, message, fixes=(fix,))


CHECK = Check(RULE, {"destination-stride": _report})
