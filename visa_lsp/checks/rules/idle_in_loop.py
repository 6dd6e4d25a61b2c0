"""Variables are live through a loop that does not use them, and occupy many registers.

Off by default, like the other hints about speed (`V51`). In nested loops the rule reports the outermost loop that does
not use a variable, and only where such variables occupy 256 bytes or more together. It skips loops with calls.

Why: where registers are scarce, these variables are the ones to save: written before the loop and read after it, they could be
recomputed or kept in memory, which costs once instead of once per iteration.

Example:

    .decl V61 v_type=G type=d num_elts=64 align=GRF
    .decl P61 v_type=P num_elts=8
    mov (M1_NM, 8) V61(0,0)<1> 0x1:d
    again:
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d
    cmp.lt (M1, 8) P61 V33(0,0)<1;1,0> 0x10:d
    (P61) goto (M1, 8) again
    mov (M1, 8) V34(0,0)<1> V61(0,0)<1;1,0>

Instead:

    .decl V61 v_type=G type=d num_elts=64 align=GRF
    .decl P61 v_type=P num_elts=8
    again:
    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d
    cmp.lt (M1, 8) P61 V33(0,0)<1;1,0> 0x10:d
    (P61) goto (M1, 8) again
    mov (M1_NM, 8) V61(0,0)<1> 0x1:d
    mov (M1, 8) V34(0,0)<1> V61(0,0)<1;1,0>

Authority: none; the finalizer accepts the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.isa.model import FlowClass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.flow.graph import Graph
    from visa_lsp.flow.loops import Loop

RULE = rule("V512", "idle-in-loop", HINT, __doc__)
_MIN_IDLE_BYTES: Final = 256  # bytes: eight GRF rows of 32
_MAX_LISTED_NAMES: Final = 4
_CALLS: Final = frozenset({FlowClass.CALL, FlowClass.KERNEL_CALL, FlowClass.FUNCTION_CALL})


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    # Imported here because the rule is off by default.
    from visa_lsp.checks.support.body_flow import find_used_variables, has_meaning, key_of, storage_of_body
    from visa_lsp.flow.graph import graph_of
    from visa_lsp.flow.loops import loops_of
    from visa_lsp.flow.pressure import Pressure, Size
    from visa_lsp.flow.steps import Space, number_of, space_of

    steps = ctx.steps(body)
    used = ((key_of(v), v.name, usage) for v, usage in find_used_variables(body, steps))
    names = {key: name for key, name, usage in used if key is not None and usage.read and usage.written}
    names = {key: name for key, name in names.items() if space_of(key) is Space.GENERAL}
    if not names or not has_meaning(body):
        return

    graph = graph_of(steps, body.name, calls_end_blocks=True)
    loops = loops_of(graph)
    if not loops.by_head:
        return
    room = storage_of_body(body).room
    # Liveness as the finalizer computes it, because it keeps registers for these variables.
    sizes = {key: Size((1 << room[number_of(key)]) - 1, room[number_of(key)]) for key in names}
    pressure = Pressure(graph, sizes)
    idle: dict[int, set[int]] = {}
    for head, loop in sorted(loops.by_head.items(), key=lambda item: item[1].depth):
        around = idle.get(loop.parent, set())
        idle[head] = around | _idle(graph, loop, set(pressure.live(graph.blocks[head].first)))
        here = sorted(idle[head] - around, key=lambda key: (-room[number_of(key)], key))
        size = sum(room[number_of(key)] for key in here)
        if size >= _MIN_IDLE_BYTES:
            yield ctx.report(
                RULE, ctx.line_place(_first(graph, head)), _words(graph, loop, [names[k] for k in here], size)
            )


def _idle(graph: Graph, loop: Loop, live: set[int]) -> set[int]:
    """Return the variables that are live at the head of a loop and not accessed in it."""
    inside = [step for block in loop.blocks for step in graph.code(graph.blocks[block])]
    if any(step.flow in _CALLS or step.indirect_read or step.indirect_write for step in inside):
        return set()
    return live - {access.variable for step in inside for access in step.accesses}


def _words(graph: Graph, loop: Loop, names: list[str], size: int) -> str:
    named = ", ".join(f"`{name}`" for name in names[:_MAX_LISTED_NAMES])
    rest = f" and {len(names) - _MAX_LISTED_NAMES} more" if len(names) > _MAX_LISTED_NAMES else ""
    last = max(graph.steps[graph.blocks[block].last].line for block in loop.blocks)
    verb = "is" if len(names) == 1 else "are"
    return (
        f"{named}{rest} {verb} live through the loop up to line {last + 1}, which does not use "
        f"{'it' if len(names) == 1 else 'them'}: {size:,} bytes of registers"
    )


def _first(graph: Graph, head: int) -> int:
    """Return the line of the first instruction of a loop."""
    code = graph.code(graph.blocks[head])
    return next((step.line for step in code if step.flow is not FlowClass.LABEL), code[0].line)


CHECK = Check(RULE, body=_body, default=False, scope=Scope.BODY)
