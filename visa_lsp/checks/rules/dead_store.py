"""The result of an instruction is never read: every path overwrites it first, or nothing reads it afterwards.

Off by default, like the other hints about speed (`V51`): compilers leave such writes in their output, and the finalizer
removes some. Reports arithmetic instructions only, not messages, and only where no lane can need the result: a masked
write ends an earlier one only if it has the same lanes.

Why: the instruction does useless work and occupies a register; often the second write was meant for another variable.

Example:

    .decl V61 v_type=G type=d num_elts=8
    add (M1, 8) V61(0,0)<1> V33(0,0)<1;1,0> 0x1:d
    mov (M1, 8) V61(0,0)<1> 0x0:d
    mov (M1, 8) V33(0,0)<1> V61(0,0)<1;1,0>

Instead:

    .decl V61 v_type=G type=d num_elts=8
    mov (M1, 8) V61(0,0)<1> 0x0:d
    mov (M1, 8) V33(0,0)<1> V61(0,0)<1;1,0>

Authority: none; the finalizer accepts the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.isa.model import SENDING, FlowClass, Instruction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from visa_lsp.flow.graph import Graph
    from visa_lsp.flow.steps import Step

RULE = rule("V511", "dead-store", HINT, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    # Imported here because the rule is off by default.
    from visa_lsp.checks.support.body_flow import has_meaning, steps_of_body

    if not has_meaning(body):
        return
    dead_stores, *others = [_find_dead_stores(body, steps_of_body(body, size)) for size in ctx.grf_sizes]
    for number in sorted(dead_stores):
        if all(number in other for other in others):
            place = ctx.line_place(body.code[number].line)
            yield ctx.report(RULE, place, f"the value written to {dead_stores[number]} here is never read")


def _find_dead_stores(body: Body, steps: list[Step]) -> dict[int, str]:
    """Return the dead stores of a body by step, with the names of the written variables."""
    from visa_lsp.checks.support.body_flow import find_used_variables, key_of
    from visa_lsp.flow.graph import graph_of
    from visa_lsp.flow.liveness import Liveness

    names = {key_of(v): v.name for v, usage in find_used_variables(body, steps) if usage.read and usage.written}
    graph = graph_of(steps, body.name, calls_end_blocks=True)
    # An unmasked instruction may read values of inactive lanes, so that no masked write ends their lives.
    masked, unmasked = Liveness(graph), Liveness(graph, waiting=frozenset(range(len(graph.blocks))))
    dead_stores: dict[int, str] = {}
    for no_mask, liveness in ((False, masked), (True, unmasked)):
        for block in graph.reachable():
            for number, live in liveness.behind_steps(block):
                step, row = steps[number], body.code[number].row
                if step.no_mask is no_mask and row is not None and _computes(row):
                    written = _unread(graph, number, live)
                    if written and names.keys() >= written:
                        dead_stores[number] = " and ".join(f"`{names[key]}`" for key in sorted(written))
    return dead_stores


def _computes(row: Instruction) -> bool:
    """Return whether the only effect of an instruction is to write its results."""
    return row.flow is FlowClass.NEXT and row.family not in SENDING


def _unread(graph: Graph, number: int, live: Mapping[int, int]) -> set[int]:
    """Return the variables that a step writes if all of them are dead after it; else none."""
    writes = [access for access in graph.steps[number].accesses if access.writes]
    if any(live.get(access.variable, 0) & access.possible or not access.certain for access in writes):
        return set()
    return {access.variable for access in writes}


CHECK = Check(RULE, body=_body, default=False, scope=Scope.BODY)
