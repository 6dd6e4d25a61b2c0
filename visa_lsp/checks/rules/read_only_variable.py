"""An instruction writes a predefined variable that can only be read.

Of `%tsc` only the pause counter, element 4, can be written, of `%sr0` elements 1 and 2.

Why: variables like `%group_id_x` are parts of the thread's header and cannot be written.

Example:

    mov (M1, 1) %group_id_x(0,0)<1> 0x0:ud

Instead:

    mov (M1, 1) V38(0,0)<1> 0x0:ud

Authority: seed 000, pre-defined variables; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import operand_place, words
from visa_lsp.checks.support.verifier import lower_severity
from visa_lsp.isa import predefined
from visa_lsp.isa.model import Role, Shape
from visa_lsp.program.model import General

RULE = rule("V217", "read-only-variable", ERROR, __doc__)
_KNOWN = [*predefined.VARIABLES, predefined.SCRATCHLOC]
_GUARDED = {v.number: v for v in _KNOWN if (not v.writable or v.written is not None) and v.name != "%null"}


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    for operand in bound.operands:
        value = operand.value
        if operand.slot.role is not Role.WRITE or not isinstance(value, General) or value.var not in _GUARDED:
            continue
        variable = _GUARDED[value.var]
        if not variable.writable:
            message = f"`{variable.name}` is predefined and read-only; choose another destination"
            severity = lower_severity(ctx, (bound.row,)) if bound.row is not None else None
            yield ctx.report(RULE, operand_place(bound, operand), message, severity=severity)
        elif variable.written is not None:
            # All of these elements are in the first register.
            platforms = variable.written.get(value.col) if value.row == 0 else None
            if platforms is None:
                elements = words(variable.written)
                message = f"only element {elements} of `{variable.name}` can be written; the others are read-only"
                yield ctx.report(RULE, operand_place(bound, operand), message)
            elif ctx.platform is not None and ctx.platform.name not in platforms:
                message = f"{ctx.platform.name} has no element {value.col} of `{variable.name}` to write"
                yield ctx.report(RULE, operand_place(bound, operand), message)


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=lambda row: any(s.role is Role.WRITE and s.shape is Shape.VECTOR for s in row.slots),
)
