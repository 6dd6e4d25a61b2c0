"""`v_type` names an unknown class of variables.

The classes are `G` general, `A` address, `P` predicate, `S` sampler and `T` surface.

Why: the class decides which table holds the variable and which operands may name it.

Example:

    .decl V40 v_type=X type=d num_elts=8

Instead:

    .decl V40 v_type=G type=d num_elts=8

Authority: seed 000, symbol tables; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.sema.model import VARIABLE_LETTER

RULE = rule("V111", "unknown-class", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    got = problem.args["got"]
    classes = "`G` general, `A` address, `P` predicate, `S` sampler or `T` surface"
    if got is None:
        return ctx.report(RULE, problem.place, f"the declaration has no `v_type`; expected {classes}")
    fixes = []
    if str(got).upper() in VARIABLE_LETTER:
        fixes.append(ctx.fix(f"change to `{str(got).upper()}`", problem.place, str(got).upper(), safe=True))
    return ctx.report(RULE, problem.place, f"unknown class of variables `{got}`; expected {classes}", fixes=fixes)


CHECK = Check(RULE, {"bad-class": _report})
