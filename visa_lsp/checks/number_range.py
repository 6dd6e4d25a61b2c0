"""A number is outside of the range that its place has.

Why: offsets, sizes and counts are stored in fields of 8, 16 or 32 bits; what does not fit is cut off by some tools and refused by
others.

Example:

    .input V38 offset=100000 size=4

Instead:

    .input V38 offset=1024 size=4

Authority: seed 000 and seed 004, widths of the fields. The finalizer rejects numbers below zero and input offsets past the
register file; of other numbers it keeps the low bits without a word.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, WARNING, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.syntax.tree import Decl

RULE = rule("V213", "number-range", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    what, value = problem.args["what"], problem.args["value"]
    low, high = problem.args["low"], problem.args["high"]
    limit = f"at least {low}" if high is None else f"between {low} and {high}"
    message = f"{what} {value} is out of range; it must be {limit}"
    statement = ctx.document.statement(problem.place.line)
    v_type = statement.v_type.text if isinstance(statement, Decl) and statement.v_type else ""
    if what == "element count" and (v_type in ("S", "T") or (v_type == "A" and value == 0)):
        return ctx.report(RULE, problem.place, f"{message} (the finalizer does not check)", severity=WARNING)
    return ctx.report(RULE, problem.place, message)


CHECK = Check(RULE, {"number-range": _report})
