"""An instruction lacks the parenthesis with its execution size.

Why: the finalizer does not guess the number of lanes.

Example:

    add V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 003, the instructions' text forms; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.facts import int_attribute
from visa_lsp.isa.model import ExecStyle, Instruction
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V207", "missing-exec-size", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    row = problem.get("row", Instruction)
    body = ctx.bound.body_at(problem.place.line)
    lanes = (int_attribute(body, "SimdSize") if body else None) or row.exec_sizes[-1]
    size = lanes if lanes in row.exec_sizes else row.exec_sizes[0]
    form = f"(M1, {size})" if row.exec_style is ExecStyle.MASKED else f"({size})"
    statement = ctx.document.statement(problem.place.line)
    fixes = []
    if isinstance(statement, tree.Instruction):
        end = statement.words[-1].span.end
        fixes.append(ctx.fix(f"add `{form}`", Place(problem.place.line, Span(end, end)), f" {form}"))
    return ctx.report(
        RULE, problem.place, f"`{row.mnemonic}` lacks its execution size, as in `{row.mnemonic} {form}`", fixes=fixes
    )


CHECK = Check(RULE, {"missing-exec": _report}, attributes=("SimdSize",))
