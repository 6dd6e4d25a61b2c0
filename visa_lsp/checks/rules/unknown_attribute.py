"""An attribute has an unknown name.

Why: every finalizer refuses an unknown attribute of a variable; for a kernel older ones ignore it and newer ones stop. A misspelt
attribute has no effect.

Example:

    .kernel_attr SimdSise=16

Instead:

    .kernel_attr SimdSize=16

Authority: the finalizer rejects unknown attributes of variables; unknown attributes of kernels are accepted by the 2022 one
and abort the 2024 one, so they are warnings. Seed 000 says that unknown ones are ignored.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, WARNING, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES, VARIABLE_ATTRIBUTES
from visa_lsp.suggest import nearest

RULE = rule("V120", "unknown-attribute", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name = str(problem.args["name"])
    of_variable = bool(problem.args["of_variable"])
    own, other = (VARIABLE_ATTRIBUTES, KERNEL_ATTRIBUTES) if of_variable else (KERNEL_ATTRIBUTES, VARIABLE_ATTRIBUTES)
    kind, other_kind = ("variable", "kernel") if of_variable else ("kernel", "variable")
    severity = ERROR if of_variable else WARNING
    if name in other:
        message = f"`{name}` is an attribute of a {other_kind}, not of a {kind}"
        return ctx.report(RULE, problem.place, message, severity=severity)
    suggestion = nearest(name, own)
    message = f"`{name}` is not an attribute of a {kind}"
    if suggestion:
        fix = ctx.fix(f"change to `{suggestion}`", problem.place, suggestion)
        return ctx.report(
            RULE, problem.place, f"{message}; did you mean `{suggestion}`?", fixes=(fix,), severity=severity
        )
    if of_variable:
        message += f"; known attributes: {', '.join(own)}"
    return ctx.report(RULE, problem.place, message, severity=severity)


CHECK = Check(RULE, {"unknown-attribute": _report, "unknown-kernel-attribute": _report})
