"""A destination has horizontal stride 0.

Why: all lanes would write the same element.

Example:

    add (M1, 16) V33(0,0)<0> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 004, region restriction 5; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule

RULE = rule("V302", "destination-stride", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    fix = ctx.fix("change to `<1>`", problem.place, "<1>")
    return ctx.report(
        RULE, problem.place, "a destination cannot have stride 0; write `<1>` for one element per lane", fixes=(fix,)
    )


CHECK = Check(RULE, {"destination-stride": _report})
