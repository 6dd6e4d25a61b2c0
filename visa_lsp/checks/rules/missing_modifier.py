"""A mnemonic lacks a required modifier.

Why: `gather` without an element size or an atomic without an operation is incomplete; the finalizer rejects the text.

Example:

    gather4_scaled (M1, 16) T6 0x0:ud V37.0 V33.0

Instead:

    gather4_scaled.R (M1, 16) T6 0x0:ud V36.0 V33.0

Authority: seed 003, the instructions' text forms; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.rules.unknown_modifier import modifier_words
from visa_lsp.isa.model import Instruction, Modifier

RULE = rule("V203", "missing-modifier", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    row, modifier = problem.get("row", Instruction), problem.get("modifier", Modifier)
    purpose = modifier.doc.split(":")[0]
    why = f" ({purpose})" if purpose else ""
    message = f"`{row.mnemonic}` lacks a modifier{why}; expected {modifier_words(modifier)}"
    return ctx.report(RULE, problem.place, message)


CHECK = Check(RULE, {"missing-modifier": _report})
