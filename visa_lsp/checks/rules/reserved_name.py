"""A declaration takes a name that the language reserves for something predefined.

`P0` is "no predicate", `T0` to `T5` are the predefined surfaces (shared local memory, the bindless surface and others).

Why: readers, and tools that follow the specification, read the name as the predefined one.

Example:

    .decl P0 v_type=P num_elts=16

Instead:

    .decl P1 v_type=P num_elts=16

Authority: seed 000, predicates ("P0 is pre-defined and may not be declared") and surfaces; the finalizer accepts the
text silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Body, Check, CheckContext, Diagnostic, rule

RULE = rule("V106", "reserved-name", WARNING, __doc__)
_RESERVED = {
    "P0": "the null predicate", "T0": "shared local memory", "T3": "the surface state heap", "T4": "the bindless surface",
    "T5": "scratch space", "T252": "the bindless surface",
}  # fmt: skip


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in ctx.find_declarations(body):
        meaning = _RESERVED.get(symbol.name)
        if meaning is not None and symbol.place is not None:
            message = f"`{symbol.name}` is reserved for {meaning}; the specification forbids its declaration, though the finalizer accepts it"
            yield ctx.report(RULE, symbol.place, message)


CHECK = Check(RULE, body=_body)
