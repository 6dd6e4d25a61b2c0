from random import Random

from each_case import each_of

from tests.flow.test_liveness import kills, touches
from tests.support.flows import BITS, VARIABLES, body_of, random_steps, text_graph
from visa_lsp.checks.support.body_flow import key_of
from visa_lsp.flow.divergence import divergent_blocks
from visa_lsp.flow.graph import Graph, graph_of
from visa_lsp.flow.reaching import OUTSIDE, Reaching, maybe_written

ALL = (1 << 64) - 1
LOW, HIGH = (1 << 32) - 1, ALL ^ (1 << 32) - 1
SET_A = "    mov (M1, 16) A(0,0)<1> 0x1:d\n"
SET_LOW = "    mov (M1, 8) A(0,0)<1> 0x1:d\n"
SET_HIGH = "    mov (M1, 8) A(1,0)<1> 0x1:d\n"
GET_A = "    mov (M1, 16) B(0,0)<1> A(0,0)<1;1,0>\n"
END = "    ret (M1, 1)\n"


def sources(code: str, *, calls_end_blocks: bool = False) -> dict[int, int]:
    """Where the bytes of A come from that its last read reads: by the number of the step."""
    body = body_of(code)
    key = key_of(next(s for s in body.symbols if s.name == "A"))
    graph = text_graph(code, calls_end_blocks=calls_end_blocks)
    reaching = Reaching(graph)
    uses = [use for block in graph.blocks for use in reaching.uses(block.number) if use.variable == key]
    return max(uses, key=lambda use: use.step).sources


def test_the_last_write_arrives():
    assert sources(SET_A + SET_A + GET_A + END) == {1: ALL}


def test_what_nobody_wrote_comes_from_outside():
    assert sources(GET_A + END) == {OUTSIDE: ALL}
    assert sources(SET_LOW + GET_A + END) == {OUTSIDE: HIGH, 0: LOW}


def test_two_halves_hide_the_whole():
    assert sources(SET_A + SET_LOW + SET_HIGH + GET_A + END) == {1: LOW, 2: HIGH}


def test_halves_in_different_blocks_hide_the_whole():
    assert sources(f"{SET_A}{SET_LOW}X:\n{SET_HIGH}Y:\n{GET_A}{END}") == {1: LOW, 3: HIGH}


def test_a_predicated_write_arrives_beside_what_was_there():
    assert sources(f"{SET_A}(P1){SET_A}{GET_A}{END}") == {0: ALL, 1: ALL}


def test_a_masked_write_in_divergent_code_arrives_beside_what_was_there():
    code = f"{SET_A}    (P1) goto (M1, 16) X\n{SET_A}{GET_A}X:\n{END}"
    assert sources(code) == {0: ALL, 2: ALL}
    assert sources(code.replace("mov (M1, 16) A", "mov (M1_NM, 16) A")) == {2: ALL}


def test_both_arms_arrive_at_the_join():
    code = f"    (P1) jmp (M1, 1) X\n{SET_A}    jmp (M1, 1) Y\nX:\n{SET_A}Y:\n{GET_A}{END}"
    assert sources(code) == {1: ALL, 4: ALL}


def test_the_loop_brings_its_own_writes_back():
    code = f"{SET_A}L:\n{GET_A}{SET_LOW}    (P1) jmp (M1, 1) L\n{END}"
    assert sources(code) == {0: ALL, 3: LOW}


def test_a_subroutine_writes_for_its_caller():
    code = f'{SET_A}    call (M1, 16) S\n{GET_A}{END}.function "S"\nS:\n{SET_LOW}    ret (M1, 16)\n'
    graph = text_graph(code, calls_end_blocks=True)
    key = key_of(next(s for s in body_of(code).symbols if s.name == "A"))
    [use] = [use for b in graph.blocks for use in Reaching(graph).uses(b.number) if use.variable == key]
    assert use.sources == {0: HIGH, 5: LOW}


def test_an_indirect_write_may_define_what_has_its_address_taken():
    taken = "    addr_add (M1, 1) D1(0)<1> &A 0x0:w\n"
    code = f"{SET_A}{taken}    mov (M1, 8) r[D1(0),0]<1>:d 0x1:d\n{GET_A}{END}"
    assert sources(code) == {0: ALL, 2: ALL}
    assert sources(code.replace("&A", "&C")) == {0: ALL}


def test_what_no_way_wrote_is_told():
    code = f"    (P1) jmp (M1, 1) X\n{SET_LOW}X:\n{SET_A}Y:\n{END}"
    graph = text_graph(code)
    before = maybe_written(graph)
    key = key_of(next(s for s in body_of(code).symbols if s.name == "A"))
    assert [before(n).get(key, 0) for n in range(len(graph.blocks))] == [0, 0, LOW, ALL]


def arrivals(graph: Graph, source: int, variable: int, bit: int) -> set[int]:
    """The steps before which a definition of a bit arrives, step by step."""
    divergent = divergent_blocks(graph)
    following: list[list[int]] = [[] for _ in graph.steps]
    for block in graph.blocks:
        for number in range(block.first, block.last):
            following[number].append(number + 1)
        following[block.last] += [graph.blocks[b].first for b in graph.flow_successors[block.number]]
    if source == OUTSIDE:
        waiting = [b.first for b in graph.blocks if b.number == 0 or not graph.flow_predecessors[b.number]]
    else:
        waiting = list(following[source])
    found = set()
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            if not kills(graph, divergent, number, variable, bit):
                waiting += following[number]
    return found


@each_of(range(80))
def test_definitions_arrive_where_the_definition_says(seed):
    rng = Random(seed)
    graph = graph_of(random_steps(rng, rng.randint(6, 36), calls=seed % 2 == 1), calls_end_blocks=seed % 4 == 1)
    reaching = Reaching(graph)
    found: dict[tuple[int, int], dict[int, int]] = {}
    for block in graph.blocks:
        for use in reaching.uses(block.number):
            into = found.setdefault((use.step, use.variable), {})
            for source, mask in use.sources.items():
                into[source] = into.get(source, 0) | mask
    for variable in VARIABLES:
        for bit in range(BITS):
            reads = {n for n in range(len(graph.steps)) if touches(graph, n, variable, bit, writes=False)}
            writers = [n for n in range(len(graph.steps)) if touches(graph, n, variable, bit, writes=True)]
            for source in (OUTSIDE, *writers):
                expected = arrivals(graph, source, variable, bit) & reads
                told = {step for (step, v), into in found.items() if v == variable and into.get(source, 0) >> bit & 1}
                assert told == expected


@each_of(range(40))
def test_what_may_be_written_is_what_some_way_writes(seed):
    graph = graph_of(random_steps(Random(seed), 30, calls=seed % 2 == 1), calls_end_blocks=seed % 4 == 1)
    before = maybe_written(graph)
    for variable in VARIABLES:
        for bit in range(BITS):
            writers = [n for n in range(len(graph.steps)) if touches(graph, n, variable, bit, writes=True)]
            expected: set[int] = set()
            waiting = [b for n in writers for b in graph.flow_successors[graph.block_of[n]]]
            while waiting:
                block = waiting.pop()
                if block not in expected:
                    expected.add(block)
                    waiting += graph.flow_successors[block]
            assert {b for b in range(len(graph.blocks)) if before(b).get(variable, 0) >> bit & 1} == expected
