from random import Random

from each_case import each_of

from tests.support.flows import random_steps, text_graph
from visa_lsp.flow.graph import graph_of
from visa_lsp.flow.loops import loops_of
from visa_lsp.flow.steps import Step
from visa_lsp.isa.model import FlowClass

MOVE = "    mov (M1, 16) A(0,0)<1> A(0,0)<1;1,0>\n"


def test_nested_loops_have_depths():
    code = f"{MOVE}O:\n{MOVE}I:\n{MOVE}    (P1) goto (M1, 16) I\n{MOVE}    (P1) goto (M1, 16) O\n    ret (M1, 1)\n"
    loops = loops_of(text_graph(code))
    assert loops.depths == (0, 1, 2, 1, 0)
    assert loops.by_head[2].parent == 1
    assert loops.by_head[1].parent == -1
    assert loops.by_head[1].blocks == {1, 2, 3}


def test_a_structured_loop_is_a_loop():
    code = f"    do\n{MOVE}    (P1) break (M1, 16)\n{MOVE}    (P1) while (M1, 16)\n    ret (M1, 1)\n"
    assert loops_of(text_graph(code)).depths == (1, 1, 1, 0)


def test_a_cycle_with_two_entries_is_no_natural_loop():
    code = f"    (P1) goto (M1, 16) B\nA1:\n{MOVE}B:\n{MOVE}    (P1) goto (M1, 16) A1\n    ret (M1, 1)\n"
    loops = loops_of(text_graph(code))
    assert loops.by_head == {}
    assert loops.depths == (0, 0, 0, 0)


def test_many_nested_loops():
    heads = [Step(FlowClass.LABEL, label=n) for n in range(300)]
    steps = [s for head in heads for s in (head, Step())]
    steps += [Step(FlowClass.GOTO, targets=(n,), condition="P") for n in reversed(range(300))]
    loops = loops_of(graph_of([*steps, Step(FlowClass.RETURN)]))
    assert max(loops.depths) == 300


@each_of(range(60))
def test_loops_are_what_the_definition_says(seed):
    rng = Random(seed)
    graph = graph_of(random_steps(rng, rng.randint(6, 40), calls=seed % 2 == 1), calls_end_blocks=seed % 4 == 1)
    loops = loops_of(graph)
    expected: dict[int, set[int]] = {}
    for source, targets in enumerate(graph.successors):
        for head in targets:
            if graph.dominates(head, source):
                body = expected.setdefault(head, {head})
                mine = [b for b in range(len(graph.blocks)) if graph.dominates(head, b)]
                body |= {b for b in mine if reaches_without(graph, b, source, head)}
    assert {head: set(loop.blocks) for head, loop in loops.by_head.items()} == expected
    assert loops.depths == tuple(sum(b in body for body in expected.values()) for b in range(len(graph.blocks)))
    for head, loop in loops.by_head.items():
        around = [h for h, body in expected.items() if h != head and head in body]
        assert loop.depth == len(around) + 1
        assert loop.parent == min(around, key=lambda h: len(expected[h]), default=-1)


def reaches_without(graph, start, wanted, without):
    """Whether a block leads to another one by a way that does not touch a third."""
    found, waiting = set(), [start]
    while waiting:
        block = waiting.pop()
        if block == without or block in found:
            continue
        found.add(block)
        waiting += graph.successors[block]
    return wanted in found
