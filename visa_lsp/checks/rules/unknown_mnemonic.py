"""A line begins with a word that is not an instruction.

Why: the finalizer reports a syntax error and stops. Mnemonics are written in lower case.

Example:

    mobv (M1, 8) V33(0,0)<1> V34(0,0)<1;1,0>

Instead:

    mov (M1, 8) V33(0,0)<1> V34(0,0)<1;1,0>

Authority: seed 003, instruction table; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.table import TABLE
from visa_lsp.suggest import nearest

RULE = rule("V201", "unknown-mnemonic", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name = str(problem.args["name"])
    message = f"unknown instruction `{name}`"
    if name != name.lower() and name.lower() in TABLE.mnemonics:
        fix = ctx.fix(f"change to `{name.lower()}`", problem.place, name.lower(), safe=True)
        return ctx.report(RULE, problem.place, f"{message}; mnemonics are lower case: `{name.lower()}`", fixes=(fix,))
    row, how = TABLE.foreign.get(name.lower(), (None, ""))
    if how:
        return ctx.report(RULE, problem.place, f"{message}; {how}")
    suggestion = row.mnemonic if row else nearest(name, TABLE.mnemonics)
    if suggestion is None:
        return ctx.report(RULE, problem.place, message)
    fix = ctx.fix(f"change to `{suggestion}`", problem.place, suggestion)
    return ctx.report(RULE, problem.place, f"{message}; did you mean `{suggestion}`?", fixes=(fix,))


CHECK = Check(RULE, {"unknown-mnemonic": _report})
