"""`align` has a value that is not an alignment.

The words are `byte word dword qword oword hword GRF GRFx2 wordx32 wordx64`; as a number it is a power of two up to 128, 1 in text 4.2 only.

Why: the finalizer knows no other values and rejects the text.

Example:

    .decl V40 v_type=G type=d num_elts=8 align=octword

Instead:

    .decl V40 v_type=G type=d num_elts=8 align=oword

Authority: seed 003, alignment keywords; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.facts import words
from visa_lsp.isa.operands import ALIGN_BY_BYTES, ALIGN_CODE, ALIGN_TEXT
from visa_lsp.suggest import nearest

RULE = rule("V113", "bad-alignment", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    got = str(problem.args["got"])
    if got.lstrip("-").isdigit():
        return ctx.report(
            RULE,
            problem.place,
            f"unknown alignment `{got}`; a number of bytes must be {words(n for n in ALIGN_BY_BYTES if n > 1)}",
        )
    suggestion = nearest(got, ALIGN_CODE)
    message = f"unknown alignment `{got}`; "
    if suggestion:
        fix = ctx.fix(f"change to `{suggestion}`", problem.place, suggestion)
        return ctx.report(RULE, problem.place, f"{message}did you mean `{suggestion}`?", fixes=(fix,))
    return ctx.report(RULE, problem.place, f"{message}expected {words(ALIGN_TEXT.values())}")


CHECK = Check(RULE, {"bad-alignment": _report})
