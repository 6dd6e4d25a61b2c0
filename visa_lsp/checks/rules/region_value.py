"""A number of a region is none that the hardware has.

Widths are 1, 2, 4, 8, 16; vertical strides 0, 1, 2, 4, 8, 16, 32; horizontal strides 0, 1, 2, 4.

Why: a region is stored in three small codes; other numbers have none.

Example:

    add (M1, 16) V33(0,0)<1> V34(0,0)<8;8,3> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<8;8,1> 0x1:d

Authority: seed 004, region restrictions 1 to 3; the finalizer rejects the text. The width of an address operand it does not check: that is a warning.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, WARNING, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.facts import words

RULE = rule("V301", "region-value", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    what, value, legal = problem.args["what"], problem.args["value"], problem.args["legal"]
    assert isinstance(legal, tuple)
    if what == "address region":
        return ctx.report(
            RULE, problem.place, f"an address operand has one number in angle brackets, its width: {words(legal)}"
        )
    message = f"{what} {value} does not exist; it is {words(legal)}"
    if what == "address width":
        return ctx.report(RULE, problem.place, f"{message} (the finalizer does not check)", severity=WARNING)
    return ctx.report(RULE, problem.place, message)


CHECK = Check(RULE, {"region-value": _report})
