"""A name is declared a second time in one scope, or a predefined name is declared.

General, address, predicate, surface and sampler variables share one name space; an inner scope may declare a name anew.

Why: the finalizer stops here.

Example:

    .decl V40 v_type=G type=d num_elts=8
    .decl V40 v_type=P num_elts=8

Instead:

    .decl V40 v_type=G type=d num_elts=8
    .decl P40 v_type=P num_elts=8

Authority: seed 000, "names cannot be redefined"; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule

RULE = rule("V102", "redeclared-name", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name = problem.args["name"]
    what = (
        "is predefined and may not be declared" if problem.args["predefined"] else "is already declared in this scope"
    )
    return ctx.report(RULE, problem.place, f"`{name}` {what}; choose another name", related=problem.related)


CHECK = Check(RULE, {"redeclared-name": _report})
