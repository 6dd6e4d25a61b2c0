"""A branch or call names a label that the body does not define.

Only the first use is reported.

Why: the branch has no target; the finalizer rejects the body.

Example:

    goto (M1, 16) DONE

Instead:

    goto (M1, 16) DONE
    DONE:

Authority: seed 000, labels; the finalizer rejects the text ("undefined label").
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.name_index import MAX_RENAMED_USES, index_of
from visa_lsp.diagnostics import Fix
from visa_lsp.isa.model import Dialect, FlowClass

RULE = rule("V103", "missing-label", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic | None:
    name, body = str(problem.args["name"]), problem.get("body", Body)
    uses = [reference.place for reference in body.labels[name].references]
    if problem.place != uses[0]:
        return None
    names = index_of(ctx, body)
    suggestion = names.labels.near(name, names.likeness)
    message = f"label `{name}` is not defined in this body"
    fixes = []
    if suggestion:
        message += f"; did you mean `{suggestion}`?"
        fixes.append(
            Fix(
                f"change to `{suggestion}`",
                tuple(ctx.edit(place, suggestion) for place in (uses if len(uses) <= MAX_RENAMED_USES else uses[:1])),
            )
        )
    last = names.last_code if names.last_code >= 0 else problem.place.line
    # No fix for a call, because its target is a subroutine and not only a label.
    is_called = any(_is_call(ctx.facts(body).by_line.get(place.line)) for place in uses)
    if not is_called:
        fixes += ctx.fix_before(last, f"add label `{name}` at the end", f"{name}:")
    related = [(place, f"`{name}` is also used here") for place in uses[1:4]]
    # The finalizer of 2026 does not check that the labels of a list exist.
    listed = ctx.dialect is Dialect.V42 and all(_is_switch(ctx.facts(body).by_line.get(place.line)) for place in uses)
    severity = WARNING if listed else None
    return ctx.report(RULE, problem.place, message, related=related, fixes=fixes, severity=severity)


def _is_call(bound: Bound | None) -> bool:
    return bound is not None and bound.row is not None and bound.row.flow is FlowClass.CALL


def _is_switch(bound: Bound | None) -> bool:
    return bound is not None and bound.row is not None and bound.row.flow is FlowClass.SWITCH


CHECK = Check(RULE, {"missing-label": _report})
