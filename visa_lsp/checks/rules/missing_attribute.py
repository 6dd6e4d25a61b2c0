"""A function does not state how many registers its arguments and its result take.

Every `.global_function` has `ArgSize` and `RetValSize`, 0 if there are none.

Why: the caller lays out the arguments by these numbers.

Example:

    .global_function "f"
    .kernel_attr ArgSize=1
    fret (M1, 1)

Instead:

    .global_function "f"
    .kernel_attr ArgSize=1
    .kernel_attr RetValSize=0
    fret (M1, 1)

Authority: seed 000, ArgSize and RetValSize ("must be present"); the finalizer accepts the text silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Body, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.checks.support.facts import int_attribute

RULE = rule("V133", "missing-attribute", WARNING, __doc__)
_WANTED = ("ArgSize", "RetValSize")


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    if body.is_kernel or body.place is None:
        return
    missing = [name for name in _WANTED if int_attribute(body, name) is None]
    if not missing:
        return
    lines = "\n".join(f".kernel_attr {name}=0" for name in missing)
    fixes = ctx.fix_after(body.place.line, f"add {' and '.join(missing)} of 0", lines)
    names = " and ".join(f"`{name}`" for name in missing)
    message = f"function `{body.name}` has no {names} (the finalizer does not check)"
    yield ctx.report(RULE, body.place, message, fixes=fixes)


CHECK = Check(RULE, body=_body, scope=Scope.OUTLINE)
