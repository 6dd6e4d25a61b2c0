"""The hardware does not support a number of a region.

Widths are 1, 2, 4, 8, 16; vertical strides 0, 1, 2, 4, 8, 16, 32; horizontal strides 0, 1, 2, 4. The newest lane instructions
(`shfl_idx4`, `lfsr`) have one or two regions for each operand, and a table or its indices begin at a register. The addresses of
a call lie in two registers at most.

Why: a region is stored in three small codes; other numbers have no code.

Example:

    add (M1, 16) V33(0,0)<1> V34(0,0)<8;8,3> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<8;8,1> 0x1:d

Authority: seed 004, region restrictions 1 to 3; the finalizer rejects the text. It does not check the width of an address operand, so that is a
warning. For the newest instructions the public verifier of 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.facts import exec_control, operand_place, words
from visa_lsp.checks.support.verifier import lower_severity, rows_at
from visa_lsp.isa.model import FlowClass
from visa_lsp.program.model import General
from visa_lsp.program.regions import byte_range, origin, source_elements
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

RULE = rule("V301", "region-value", ERROR, __doc__)
MAX_REGISTERS: Final = 2  # that an operand of an instruction reads


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    what, value, legal = problem.args["what"], problem.args["value"], problem.get("legal", tuple)
    if what == "address region":
        return ctx.report(
            RULE, problem.place, f"an address operand takes one number in angle brackets, its width: {words(legal)}"
        )
    message = f"{what} {value} does not exist; expected {words(legal)}"
    if what == "address width":
        return ctx.report(RULE, problem.place, f"{message} (the finalizer does not check)", severity=WARNING)
    return ctx.report(RULE, problem.place, message, severity=lower_severity(ctx, rows_at(ctx, problem.place.line)))


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    """Yield findings about operands that the hardware supports in few layouts only."""
    control = exec_control(bound)
    if bound.row is not None and bound.row.flow is FlowClass.FUNCTION_CALL:
        yield from _check_call(ctx, body, bound)
    for operand in bound.operands:
        value, node = operand.value, operand.node
        if not operand.slot.layouts or not isinstance(value, General) or not isinstance(node, tree.Ref):
            continue
        type_ = ctx.facts(body).type_of(value)
        fitting = [
            layout
            for layout in operand.slot.layouts
            if (layout.lanes is None or (control is not None and layout.lanes == control.exec_size))
            and (layout.type is None or layout.type is type_)
        ]
        if not fitting or node.region is None:
            continue
        wanted, region = fitting[0], str(value.region)
        if region not in wanted.regions:
            place = Place(bound.line, node.region.span)
            fix = ctx.fix(f"change to `{wanted.regions[0]}`", place, wanted.regions[0])
            message = (
                f"`{operand.slot.name}` must have region {words(f'`{r}`' for r in wanted.regions)} here, not `{region}`"
            )
            yield ctx.report(RULE, place, message, fixes=(fix,))
        elif wanted.columns is not None and value.col >= wanted.columns:
            columns = "element 0" if wanted.columns == 1 else f"one of elements 0 to {wanted.columns - 1}"
            message = f"`{operand.slot.name}` begins at element {value.col} of a register; it must be {columns}"
            yield ctx.report(RULE, operand_place(bound, operand), message)


def _check_call(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    """Yield a finding if the addresses of a call, one for each lane, are in more than two registers."""
    control = exec_control(bound)
    for operand in bound.operands if control is not None else ():
        value, node = operand.value, operand.node
        type_ = ctx.facts(body).type_of(value)
        if type_ is None or not isinstance(value, General) or not isinstance(node, tree.Ref) or node.region is None:
            continue
        assert control is not None
        elements = source_elements(value.region, control.exec_size)
        spans = []
        for grf in ctx.grf_sizes:
            start, end = byte_range(origin(value.row, value.col, type_.size, grf), elements, type_.size)
            spans.append((end - 1) // grf - start // grf + 1)
        if min(spans) > MAX_REGISTERS:
            place = Place(bound.line, node.region.span)
            fix = ctx.fix("change to `<0;1,0>`", place, "<0;1,0>")
            message = f"the addresses are in {min(spans)} registers; they can be in {MAX_REGISTERS}, as with `<0;1,0>`"
            yield ctx.report(RULE, place, message, fixes=(fix,))


CHECK = Check(
    RULE,
    {"region-value": _report},
    instruction=_instruction,
    wants=lambda row: row.flow is FlowClass.FUNCTION_CALL or any(slot.layouts for slot in row.slots),
)
