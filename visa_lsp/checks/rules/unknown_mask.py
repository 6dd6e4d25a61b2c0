"""The execution mask has an unknown name.

Masks are `M1` to `M8`, each beginning four lanes further (M1 at lane 0, M2 at lane 4, M5 at lane 16), `M1_NM` to `M8_NM` and `NoMask`.

Why: the finalizer rejects the text. The specification's table writes `M0` to `M7` and `NM` in one place.

Example:

    add (M9, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 001, execution mask; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, report_as, rule

RULE = rule("V210", "unknown-mask", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name = str(problem.args["name"])
    upper = name.upper().replace("NOMASK", "NM")
    modern = None
    if upper == "NM":
        modern = "NoMask"
    elif upper == "M0":
        modern = "M1"
    elif name.upper() != name and upper[:1] == "M" and upper[1:2] in tuple("12345678") and upper[2:] in ("", "_NM"):
        modern = upper
    message = f"unknown execution mask `{name}`; known masks: `M1` to `M8`, `M1_NM` to `M8_NM` and `NoMask`"
    fixes = [ctx.fix(f"change to `{modern}`", problem.place, modern)] if modern else []
    return ctx.report(RULE, problem.place, message, fixes=fixes)


_REFUSAL = "this instruction takes a size alone, without the mask `{text}`"
CHECK = Check(RULE, {"unknown-mask": _report, "refused-mask": report_as(RULE, _REFUSAL)})
