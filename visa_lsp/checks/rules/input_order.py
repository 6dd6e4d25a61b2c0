"""An `.input` follows an implicit input.

Why: the explicit arguments of a kernel are first; the finalizer of 4.1 rejects a text that has them after inputs that the
runtime fills. Reserved registers (`.implicit_PSEUDO_INPUT`) are not arguments: the compiler of 2026 accepts them anywhere, and the rule
skips them.

Example:

    .implicit_LOCAL_SIZE V38 offset=64 size=4
    .input V40 offset=68 size=4

Instead:

    .input V40 offset=68 size=4
    .implicit_LOCAL_SIZE V38 offset=64 size=4

Authority: the finalizer 1.0.12504 rejects the text; that of 2026 does not check.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Body, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.isa.model import Dialect

RULE = rule("V129", "input-order", WARNING, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    if ctx.dialect is Dialect.V42:
        return
    inputs = [
        (s.input_place, s.input, s.name) for s in body.symbols if s.input is not None and s.input_place is not None
    ]
    implicit = [(place, name) for place, entry, name in inputs if entry.kind >> 3 and not entry.reserved]
    if not implicit:
        return
    first_place, first_name = min(implicit, key=lambda item: item[0].line)
    for place, entry, name in inputs:
        if not entry.kind >> 3 and place.line > first_place.line:
            message = f"the argument `{name}` follows `{first_name}`, which the runtime fills; the finalizer of 4.1 requires every `.input` before"
            yield ctx.report(RULE, place, message, related=[(first_place, "the implicit input is here")])


CHECK = Check(RULE, body=_body, scope=Scope.OUTLINE)
