"""No path reaches an instruction.

Off by default: compilers leave such code in their output, and the finalizer removes it.

Why: code after an unconditional `ret` or `jmp` and before the next label never runs; often a label is missing.

Example:

    ret (M1, 1)
    mov (M1, 1) V40(0,0)<1> 0x0:d

Instead:

    mov (M1, 1) V40(0,0)<1> 0x0:d
    ret (M1, 1)

Authority: seed 001, control flow; the finalizer accepts the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.model import FlowClass
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import Bound

_LEAVES = frozenset({FlowClass.RETURN, FlowClass.JUMP})
RULE = rule("V503", "unreachable-code", HINT, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    stopped: Bound | None = None
    for bound in body.code:
        statement = bound.statement
        if not isinstance(statement, tree.Instruction):
            stopped = None
        elif stopped is not None:
            related = [(ctx.line_place(stopped.line), "control ends here")]
            yield ctx.report(
                RULE,
                ctx.line_place(bound.line),
                "no path leads here; a label is missing, or the code can be removed",
                related=related,
            )
            stopped = None
        elif bound.row is not None and bound.row.flow in _LEAVES and statement.predicate is None:
            # A return of several lanes ends only those that are on; the others continue after it.
            size = statement.exec.size if statement.exec else None
            if isinstance(size, tree.Number) and size.value == 1:
                stopped = bound


CHECK = Check(RULE, body=_body, default=False)
