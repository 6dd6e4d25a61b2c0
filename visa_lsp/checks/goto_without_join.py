"""Lanes that take a `goto` wait at its label for the others, which never come there.

Off unless asked for: it follows the control flow of the whole body.

Why: the lanes that branch go on only when the remaining ones arrive or end. If these leave by another way, nobody joins.

Example:

    (P1) goto (M1, 16) out
    jmp (M1, 1) end
    out:
    mov (M1, 16) V33(0,0)<1> 0x0:d
    end:
    ret (M1, 1)

Instead:

    (P1) goto (M1, 16) out
    mov (M1, 16) V33(0,0)<1> 0x1:d
    out:
    ret (M1, 1)

Authority: seed 001, control flow; the finalizer accepts the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.facts import exec_control, operand_place
from visa_lsp.checks.rule import HINT, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.model import FlowClass, Shape
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import BoundOperand

RULE = rule("V506", "goto-without-join", HINT, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    at_line = {bound.line: number for number, bound in enumerate(body.code)}
    places = {name: at_line.get(s.place.line) for name, s in body.labels.items() if s.place is not None}
    for number, bound in enumerate(body.code):
        control = exec_control(bound)
        if bound.row is None or bound.row.flow is not FlowClass.GOTO or control is None or control.exec_size == 1:
            continue
        if not isinstance(bound.statement, tree.Instruction) or bound.statement.predicate is None:
            continue
        for operand in _targets(bound):
            to = places.get(_name(operand))
            # Behind a backward branch the others leave the loop; they are waited for at its exit, not here.
            if to is not None and to > number and not _reaches(body, places, number + 1, to):
                message = f"the lanes that do not branch never come to `{_name(operand)}`: nobody joins there"
                yield ctx.report(RULE, operand_place(bound, operand), message)


def _targets(bound: Bound) -> list[BoundOperand]:
    return [o for o in bound.operands if o.slot.shape is Shape.LABEL]


def _name(operand: BoundOperand) -> str:
    node = operand.node
    return node.name.text if isinstance(node, tree.Ref) else ""


def _reaches(body: Body, places: dict[str, int | None], start: int, wanted: int) -> bool:
    """Whether some path leads from an instruction to another; what cannot be followed counts as one."""
    todo, seen = [start], set[int]()
    while todo:
        number = todo.pop()
        if number == wanted:
            return True
        if number in seen or number >= len(body.code):
            continue
        seen.add(number)
        bound = body.code[number]
        flow = bound.row.flow if bound.row else FlowClass.NEXT
        ends = isinstance(bound.statement, tree.Instruction) and bound.statement.predicate is None
        if flow is FlowClass.SWITCH:
            return True
        if flow in (FlowClass.JUMP, FlowClass.GOTO):
            for operand in _targets(bound):
                to = places.get(_name(operand))
                if to is None:
                    return True
                todo.append(to)
        # Lanes that end by a return of all lanes, or that wait at a label, let the waiting ones go on.
        control = exec_control(bound)
        if flow.returns and control is not None and control.exec_size > 1:
            return True
        if not (ends and (flow is FlowClass.JUMP or flow.returns)):
            todo.append(number + 1)
    return False


CHECK = Check(RULE, body=_body, default=False)
