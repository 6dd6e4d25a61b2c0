"""A branch names a subroutine, or a call a block label.

`jmp` and `goto` go to labels, `call` to the label that a `.function` line opens.

Why: the finalizer keeps subroutines and block labels apart and finds no label of the required kind.

Example:

    call (M1, 16) L1
    L1:

Instead:

    goto (M1, 16) L1
    L1:

Authority: seed 001, branch instructions and calls; the finalizer rejects the text ("undefined label").
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.isa.model import FlowClass, Shape
from visa_lsp.isa.table import TABLE
from visa_lsp.syntax import tree

RULE = rule("V501", "wrong-target", ERROR, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    assert bound.row is not None
    calls = bound.row.flow is FlowClass.CALL
    for operand in bound.operands:
        node = operand.node
        name = node.name.text if isinstance(node, tree.Ref) else node.text if isinstance(node, tree.Quoted) else ""
        label = body.labels.get(name)
        if operand.slot.shape is not Shape.LABEL or label is None or label.place is None:
            continue
        subroutine = isinstance(ctx.document.statement(label.place.line), tree.BodyDirective)
        if subroutine == calls:
            continue
        what, fitting = ("a subroutine", "a label") if subroutine else ("a block label", "a subroutine")
        message = f"`{name}` is {what}; `{bound.row.mnemonic}` needs {fitting}"
        fixes = []
        if isinstance(bound.statement, tree.Instruction) and subroutine != calls:
            other = TABLE.by_flow[FlowClass.CALL if subroutine else FlowClass.GOTO].mnemonic
            word = bound.statement.words[0]
            fixes.append(ctx.fix(f"use `{other}`", operand_place(bound, operand)._replace(span=word.span), other))
        related = [(label.place, f"`{name}` is defined here")]
        yield ctx.report(RULE, operand_place(bound, operand), message, related=related, fixes=fixes)


CHECK = Check(
    RULE, instruction=_instruction, wants=lambda row: row.flow in (FlowClass.JUMP, FlowClass.GOTO, FlowClass.CALL)
)
