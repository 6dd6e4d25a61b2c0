"""A subroutine calls itself, directly or through others.

Why: subroutines share all variables and have one return address each; the second call overwrites the first.

Example:

    .function "f"
    call (M1, 16) f
    ret (M1, 1)

Instead:

    .function "f"
    goto (M1, 16) again
    again:
    ret (M1, 1)

Authority: seed 001 ("recursion is not permitted"); the finalizer accepts the text silently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import WARNING, Body, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.isa.model import FlowClass
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import Bound, BoundOperand

RULE = rule("V505", "recursion", WARNING, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    part = ""
    calls: list[tuple[str, str, Bound, BoundOperand]] = []
    for bound in body.code:
        statement = bound.statement
        if isinstance(statement, tree.BodyDirective):
            part = statement.name.text if statement.name else ""
        elif bound.row is not None and bound.row.flow is FlowClass.CALL and bound.operands:
            operand = bound.operands[0]
            node = operand.node
            name = node.name.text if isinstance(node, tree.Ref) else node.text if isinstance(node, tree.Quoted) else ""
            calls.append((part, name, bound, operand))
    if not calls:
        return
    from visa_lsp.flow.solve import closure  # few texts have calls

    callees: dict[str, set[str]] = {}
    for caller, callee, _, _ in calls:
        callees.setdefault(caller, set()).add(callee)
    for caller, callee, bound, operand in calls:
        if caller and caller in closure([callee], lambda name: callees.get(name, ())):
            message = f"subroutine `{caller}` calls itself" + ("" if caller == callee else f" through `{callee}`")
            yield ctx.report(
                RULE, operand_place(bound, operand), f"{message}; subroutines cannot be called while they run"
            )


CHECK = Check(RULE, body=_body, scope=Scope.BODY, wants=lambda row: row.flow is FlowClass.CALL)
