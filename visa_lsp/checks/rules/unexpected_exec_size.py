"""An instruction that has no lanes has an execution size.

Why: barriers, fences and the like work on the whole thread; the finalizer's grammar has no parenthesis there.

Example:

    barrier (M1, 16)

Instead:

    barrier

Authority: seed 003, the instructions' text forms; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.model import Instruction

RULE = rule("V208", "unexpected-exec-size", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    row = problem.get("row", Instruction)
    text = ctx.text(problem.place)
    fix = ctx.fix(f"remove `{text}`", problem.place, "")
    return ctx.report(RULE, problem.place, f"`{row.mnemonic}` takes no execution size; remove `{text}`", fixes=(fix,))


CHECK = Check(RULE, {"unexpected-exec": _report})
