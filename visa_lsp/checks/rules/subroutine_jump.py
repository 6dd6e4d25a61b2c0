"""A `jmp` or `goto` enters or leaves a subroutine.

Why: a subroutine is entered by `call` and left by `ret` only; the return address and the mask of the call would be lost.

Example:

    goto (M1, 16) L1
    .function "f"
    L1:
    ret (M1, 1)

Instead:

    call (M1, 16) f
    ret (M1, 1)
    .function "f"
    ret (M1, 1)

Authority: seed 001 ("a jump or goto instruction may not be used to enter/exit a subroutine"); the finalizer accepts the text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.isa.model import Shape
from visa_lsp.syntax import tree

RULE = rule("V504", "subroutine-jump", WARNING, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    starts = [b.line for b in body.code if isinstance(b.statement, tree.BodyDirective)]
    if len(starts) < 2:
        # A single ``.function`` is the main part, so that no branch can leave it.
        first_line = next((b.line for b in body.code if isinstance(b.statement, tree.Instruction)), -1)
        if not starts or first_line < 0 or first_line > starts[0]:
            return
    for bound in body.code:
        if bound.row is None or not bound.row.flow.branches:
            continue
        here = bisect_right(starts, bound.line)
        for operand in bound.operands:
            node = operand.node
            label = body.labels.get(node.name.text) if isinstance(node, tree.Ref) else None
            if operand.slot.shape is not Shape.LABEL or label is None or label.place is None:
                continue
            if isinstance(ctx.document.statement(label.place.line), tree.BodyDirective):
                continue
            if bisect_right(starts, label.place.line) != here:
                message = f"`{bound.row.mnemonic}` to `{label.name}` leaves the subroutine; only `call` and `ret` may"
                related = [(label.place, f"`{label.name}` is in another part")]
                yield ctx.report(RULE, operand_place(bound, operand), message, related=related)


CHECK = Check(RULE, body=_body)
