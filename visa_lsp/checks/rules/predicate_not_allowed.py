"""An instruction that cannot be predicated has a predicate.

Why: its record has no place for one; the finalizer's grammar does not read it.

Example:

    (P1) cmp.eq (M1, 16) P1 V33(0,0)<1;1,0> 0x1:d

Instead:

    cmp.eq (M1, 16) P1 V33(0,0)<1;1,0> 0x1:d

Authority: seed 003, the instructions' text forms; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.model import Instruction

RULE = rule("V211", "predicate-not-allowed", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    row = problem.get("row", Instruction)
    text = ctx.text(problem.place)
    fix = ctx.fix(f"remove `{text}`", problem.place, "")
    return ctx.report(RULE, problem.place, f"`{row.mnemonic}` cannot be predicated; leave out `{text}`", fixes=(fix,))


CHECK = Check(RULE, {"not-predicable": _report})
