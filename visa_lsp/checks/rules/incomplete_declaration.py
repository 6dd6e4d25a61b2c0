"""A declaration lacks a property that it must have.

A general variable needs `type` and `num_elts`, every other class `num_elts`.

Why: without them the finalizer cannot say how much room the variable takes; it rejects the text.

Example:

    .decl V40 v_type=G num_elts=8

Instead:

    .decl V40 v_type=G type=d num_elts=8

Authority: seed 000, text format of declarations; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule

RULE = rule("V110", "incomplete-declaration", ERROR, __doc__)
_SHAPE = {"type": "type=ud", "num_elts": "num_elts=8", "offset": "offset=64"}


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name, prop = problem.args["name"], str(problem.args["prop"])
    return ctx.report(RULE, problem.place, f"`{name}` has no `{prop}`; write for example `{_SHAPE.get(prop, prop)}`")


CHECK = Check(RULE, {"missing-property": _report})
