"""The elements of an operand lie in more than two registers.

Off by default: the compiler prints such operands, and the finalizer splits arithmetic, logic, moves and comparisons
itself.

Why: one hardware instruction reaches two neighbouring registers; every further one costs another instruction.

Example:

    .decl V41 v_type=G type=d num_elts=32
    add (M1, 32) V41(0,0)<1> V41(0,0)<1;1,0> 0x1:d

Instead:

    .decl V41 v_type=G type=d num_elts=32
    add (M1, 16) V41(0,0)<1> V41(0,0)<1;1,0> 0x1:d
    add (M5, 16) V41(2,0)<1> V41(2,0)<1;1,0> 0x1:d

Authority: seed 004, region restriction 6; the finalizer splits these instructions.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import HINT, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place
from visa_lsp.isa.model import COMPUTING, Role, Shape
from visa_lsp.program.model import General
from visa_lsp.program.regions import byte_range, destination_elements, origin, source_elements

RULE = rule("V307", "region-span", HINT, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    control = exec_control(bound)
    if control is None:
        return
    for operand in bound.operands:
        value = operand.value
        type_ = ctx.facts(body).type_of(value)
        if not isinstance(value, General) or type_ is None or operand.slot.scalar or value.region.horz_stride is None:
            continue
        if operand.slot.role is Role.WRITE:
            elements = destination_elements(value.region.horz_stride, control.exec_size)
        else:
            elements = source_elements(value.region, control.exec_size)
        spans = []
        for grf in ctx.grf_sizes:
            start, end = byte_range(origin(value.row, value.col, type_.size, grf), elements, type_.size)
            spans.append((end - 1) // grf - start // grf + 1)
        if min(spans) > 2:
            message = f"the elements lie in {min(spans)} registers; one hardware instruction reaches two, so the finalizer splits this one"
            yield ctx.report(RULE, operand_place(bound, operand), message)


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=lambda row: row.family in COMPUTING and any(s.shape is Shape.VECTOR for s in row.slots),
    default=False,
)
