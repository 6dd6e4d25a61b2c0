"""An instruction writes a predefined variable that can only be read.

Why: `%group_id_x` and its like are parts of the thread's header; nothing can be stored in them.

Example:

    mov (M1, 1) %group_id_x(0,0)<1> 0x0:ud

Instead:

    mov (M1, 1) V38(0,0)<1> 0x0:ud

Authority: seed 000, pre-defined variables; the finalizer rejects the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.isa import predefined
from visa_lsp.isa.model import Role, Shape
from visa_lsp.program.model import General

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = rule("V217", "read-only-variable", ERROR, __doc__)
_READ_ONLY = {v.number: v for v in predefined.VARIABLES if not v.writable and v.name != "%null"}


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    for operand in bound.operands:
        value = operand.value
        if operand.slot.role is Role.WRITE and isinstance(value, General) and value.var in _READ_ONLY:
            variable = _READ_ONLY[value.var]
            message = f"`{variable.name}` is predefined and can only be read; choose another destination"
            yield ctx.report(RULE, operand_place(bound, operand), message)


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=lambda row: any(s.role is Role.WRITE and s.shape is Shape.VECTOR for s in row.slots),
)
