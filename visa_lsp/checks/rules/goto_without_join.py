"""Lanes that take a `goto` wait at its label for the other lanes, which never reach it.

Off by default, because it follows the control flow of the whole body.

Why: the lanes that branch resume only when the remaining lanes arrive or end. If those leave by another path, the lanes
never join.

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

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place
from visa_lsp.isa.model import FlowClass, Shape
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.flow.graph import Graph
    from visa_lsp.sema.model import BoundOperand

RULE = rule("V506", "goto-without-join", HINT, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    from visa_lsp.checks.support.body_flow import graph_of_body  # loaded late because the rule is off by default

    graph = graph_of_body(body)
    for number, bound in enumerate(body.code):
        control = exec_control(bound)
        if bound.row is None or bound.row.flow is not FlowClass.GOTO or control is None or control.exec_size == 1:
            continue
        step = graph.steps[number]
        if not step.condition:
            continue
        here = graph.block_of[number]
        for operand in bound.operands:
            to = graph.at_label.get(_name(operand)) if operand.slot.shape is Shape.LABEL else None
            # After a backward branch the other lanes leave the loop; they are waited for at its exit, not here.
            if to is not None and to > here and not _reaches(graph, here + 1, to):
                message = f"the lanes that do not branch never reach `{_name(operand)}`, so no lanes join there"
                yield ctx.report(RULE, operand_place(bound, operand), message)


def _name(operand: BoundOperand) -> str:
    node = operand.node
    return node.name.text if isinstance(node, tree.Ref) else ""


def _reaches(graph: Graph, start: int, wanted: int) -> bool:
    """Return whether a path leads from a block to another; an edge that cannot be followed counts as a path."""
    from visa_lsp.flow.solve import closure

    reached = closure([start], lambda block: _ahead(graph, block))
    return wanted in reached or any(_is_open(graph, block) for block in reached)


def _ahead(graph: Graph, number: int) -> list[int]:
    """Return the blocks that may be executed next; after lanes that wait at a label, other lanes continue."""
    waits = graph.steps[graph.blocks[number].last].flow is FlowClass.GOTO and number + 1 < len(graph.blocks)
    return [*graph.successors[number], *((number + 1,) if waits else ())]


def _is_open(graph: Graph, number: int) -> bool:
    """Return whether the lanes of a block may continue at an unknown place."""
    block = graph.blocks[number]
    last = graph.steps[block.last]
    # A ``ret`` of several lanes lets the waiting lanes continue.
    return block.unresolved or last.flow is FlowClass.SWITCH or (last.flow.returns and last.lanes > 1)


CHECK = Check(RULE, body=_body, default=False)
