"""The address of a load/store message is not complete.

It names its model (`flat`, `bti`, `ss`, `bss`, `arg`), for all but `flat` the surface in parentheses, the registers in
brackets, and the size of an address after a colon: `bti(0x4)[V37]:a32`.

Why: the message descriptor needs each of them; the finalizer's grammar has no form without them.

Example:

    lsc_load.ugm (M1, 16) V33:d32 flat[V39]

Instead:

    lsc_load.ugm (M1, 16) V33:d32 flat[V39]:a64

Authority: documentation of the LSC instructions; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, report_as, rule
from visa_lsp.checks.support.facts import words

RULE = rule("V604", "lsc-address", ERROR, __doc__)


def _sizes(problem: Problem) -> str:
    return words(f"`:{w}`" for w in problem.get("words", tuple))


def _no_size(ctx: CheckContext, problem: Problem) -> Diagnostic:
    return ctx.report(RULE, problem.place, f"the address lacks its size; add {_sizes(problem)}")


def _size(ctx: CheckContext, problem: Problem) -> Diagnostic:
    return ctx.report(RULE, problem.place, f"unknown address size `{problem.args['got']}`; expected {_sizes(problem)}")


CHECK = Check(
    RULE,
    {
        "missing-address-size": _no_size,
        "bad-address-size": _size,
        "missing-surface": report_as(RULE, "`{model}` lacks its surface, as in `{model}(0x4)[V1]:a32`"),
        "address-items": report_as(RULE, "the brackets hold {wanted}, not {got} members"),
    },
)
