from random import Random

from each_case import each_of

from tests.support.flows import body_of, edges_in_words, kernel_of, random_steps, text_graph
from visa_lsp.flow.graph import Graph, graph_of
from visa_lsp.flow.program_steps import steps_of
from visa_lsp.flow.steps import Step
from visa_lsp.isa.model import FlowClass

MOVE = "    mov (M1, 16) A(0,0)<1> A(0,0)<1;1,0>\n"
SUBROUTINE = f'.function "S"\nS:\n{MOVE}    ret (M1, 16)\n'
DIAMOND = f"    (P1) goto (M1, 16) X\n{MOVE}    goto (M1, 16) Y\nX:\n{MOVE}Y:\n    ret (M1, 1)\n"


def edges(code: str) -> list[str]:
    return edges_in_words(text_graph(code))


def test_a_loop_has_an_edge_back_and_one_out():
    code = f"L:\n{MOVE}    (P1) goto (M1, 16) L\n    ret (M1, 1)\n"
    assert edges(code) == ["0-0 back P1", "0-1 fall !(P1)"]


def test_jumps_returns_and_calls():
    code = f"    (P1) jmp (M1, 1) L\n    call (M1, 16) S\n    ret (M1, 1)\nL:\n{MOVE}    ret (M1, 1)\n{SUBROUTINE}"
    assert edges(code) == ["0-1 fall !(P1)", "0-2 branch P1", "1-3 call"]


def test_switch_leads_to_every_label():
    code = f"    switchjmp (1) A(0,0)<0;1,0> (X, Y)\nX:\n{MOVE}Y:\n    ret (M1, 1)\n"
    assert edges(code) == ["0-1 branch", "0-2 branch", "1-2 fall"]


def test_structured_words_of_the_appendix():
    code = f"    (P1) if (M1, 16)\n{MOVE}    else (M1, 16)\n{MOVE}    endif (M1, 16)\n    ret (M1, 1)\n"
    assert edges(code) == ["0-1 fall", "0-2 branch P1", "1-3 branch", "2-3 fall"]


def test_structured_loop_with_break_and_cont():
    code = f"    do\n{MOVE}    (P1) break (M1, 16)\n    (P1) cont (M1, 16)\n{MOVE}    (P1) while (M1, 16)\n    ret (M1, 1)\n"
    assert edges(code) == [
        "0-1 fall", "0-4 branch P1", "1-2 fall", "1-3 branch P1", "2-3 fall", "3-0 back P1", "3-4 fall",
    ]  # fmt: skip


def test_code_behind_a_return_is_not_reached():
    assert text_graph(f"    ret (M1, 1)\n{MOVE}    ret (M1, 1)\n").reachable() == {0}


def test_a_label_that_does_not_exist_leaves_the_block_unresolved():
    graph = text_graph(f"    (P1) goto (M1, 16) nowhere\n{MOVE}    ret (M1, 1)\n")
    assert [b.unresolved for b in graph.blocks] == [True, False]
    assert edges_in_words(graph) == ["0-1 fall !(P1)"]


def test_a_call_that_ends_its_block_leads_into_the_subroutine_and_back():
    graph = text_graph(
        f"    call (M1, 16) S\n{MOVE}    call (M1, 16) S\n    ret (M1, 1)\n{SUBROUTINE}", calls_end_blocks=True
    )
    assert edges_in_words(graph) == ["0-1 resume", "0-3 call", "1-2 resume", "1-3 call", "3-1 return", "3-2 return"]
    assert graph.entries == (0, 3)
    assert graph.successors[0] == [1]
    assert graph.flow_successors[0] == [3]


def test_a_guarded_call_may_be_skipped():
    graph = text_graph(f"    (P1) call (M1, 16) S\n    ret (M1, 1)\n{SUBROUTINE}", calls_end_blocks=True)
    assert edges_in_words(graph) == ["0-1 fall", "0-1 resume", "0-2 call P1", "2-1 return"]


def test_text_and_program_give_the_same_graph():
    code = f"L:\n{MOVE}    (P1) goto (M1, 16) L\n    (!P1.any) jmp (M1, 1) E\n    call (M1, 16) S\nE:\n    ret (M1, 1)\n{SUBROUTINE}"
    kernel = kernel_of(code)
    from_program = graph_of(steps_of(kernel), "k")
    assert edges_in_words(text_graph(code)) == edges_in_words(from_program)
    assert [step.line for step in from_program.steps] == [b.line for b in body_of(code).code if b.inst is not None]


def test_dominators_of_a_diamond():
    graph = text_graph(DIAMOND)
    assert graph.dominators == [-1, 0, 0, 0]
    assert graph.post_dominators == [3, 3, 3, -1]
    assert graph.dominates(0, 3)
    assert not graph.dominates(1, 3)
    assert graph.dominates(2, 2)


def test_each_subroutine_is_a_tree_of_its_own():
    graph = text_graph(f"    call (M1, 16) S\n    ret (M1, 1)\n{SUBROUTINE}", calls_end_blocks=True)
    assert graph.dominators == [-1, 0, -1]


def test_an_empty_body_has_no_blocks():
    graph = graph_of([])
    assert graph.blocks == ()
    assert graph.order == []
    assert graph.reachable() == frozenset()


def test_a_deep_body_needs_no_deep_stack():
    steps: list[Step] = []
    for number in range(5000):
        steps += [
            Step(FlowClass.LABEL, label=f"L{number}"),
            Step(FlowClass.GOTO, targets=(f"L{number + 1}",), condition="P"),
        ]
    graph = graph_of([*steps, Step(FlowClass.LABEL, label="L5000"), Step(FlowClass.RETURN)])
    assert graph.dominators[5000] == 4999
    assert graph.dominates(0, 5000)


def leads(graph: Graph, starts: set[int], without: int, *, back: bool = False) -> set[int]:
    """Blocks that are reached when one block is taken out."""
    lists = graph.predecessors if back else graph.successors
    found = set()
    waiting = [b for b in starts if b != without]
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting += [b for b in lists[block] if b != without]
    return found


@each_of(range(60))
def test_dominators_are_what_cannot_be_gone_around(seed):
    rng = Random(seed)
    graph = graph_of(random_steps(rng, rng.randint(6, 40), calls=seed % 2 == 1), calls_end_blocks=seed % 4 == 1)
    every = range(len(graph.blocks))
    entries = set(graph.entries)
    exits = {b.number for b in graph.blocks if b.ends or not graph.successors[b.number]}
    for tree, roots, back in ((graph.dominators, entries, False), (graph.post_dominators, exits, True)):
        reached = leads(graph, roots, -1, back=back)
        for block in every:
            above = set()
            walk = tree[block]
            while walk != -1:
                above.add(walk)
                walk = tree[walk]
            expected = {
                one
                for one in every
                if one != block and block in reached and block not in leads(graph, roots, one, back=back)
            }
            assert above == expected
    for one in every:
        for other in leads(graph, entries, -1):
            gone = one == other or other not in leads(graph, entries, one)
            assert graph.dominates(one, other) == gone


@each_of(range(40))
def test_order_puts_a_block_behind_what_leads_to_it_but_for_ways_back(seed):
    rng = Random(seed)
    graph = graph_of(random_steps(rng, 30))
    assert sorted(graph.order) == list(range(len(graph.blocks)))
    place = {block: number for number, block in enumerate(graph.order)}
    for block in leads(graph, set(graph.entries), -1):
        above = graph.dominators[block]
        assert above == -1 or place[above] < place[block]


@each_of(range(20))
def test_every_step_is_in_one_block(seed):
    steps = random_steps(Random(seed), 40, calls=True)
    for split in (False, True):
        graph = graph_of(steps, calls_end_blocks=split)
        assert [s for b in graph.blocks for s in range(b.first, b.last + 1)] == list(range(len(steps)))
        assert [b for b in range(len(graph.blocks)) for _ in graph.code(graph.blocks[b])] == graph.block_of
