from random import Random

from each_case import each_of

from tests.support.flows import BITS, VARIABLES, body_of, random_steps, text_graph
from visa_lsp.checks.support.body_flow import key_of
from visa_lsp.flow.divergence import divergent_blocks
from visa_lsp.flow.graph import Graph, graph_of
from visa_lsp.flow.liveness import Liveness
from visa_lsp.flow.steps import AccessPurpose, Step
from visa_lsp.isa.model import FlowClass

ALL = (1 << 64) - 1
LOW = (1 << 32) - 1
SET_A = "    mov (M1, 16) A(0,0)<1> 0x1:d\n"
SET_LOW = "    mov (M1, 8) A(0,0)<1> 0x1:d\n"
GET_A = "    mov (M1, 16) B(0,0)<1> A(0,0)<1;1,0>\n"
GET_LOW = "    mov (M1, 8) B(0,0)<1> A(0,0)<1;1,0>\n"
END = "    ret (M1, 1)\n"


def live_before(code: str, name: str = "A", *, calls_end_blocks: bool = False, masked_writes_kill: bool = False) -> int:
    """Return the bytes of a variable that are live where a text starts."""
    body = body_of(code)
    key = key_of(next(s for s in body.symbols if s.name == name))
    assert key is not None
    graph = text_graph(code, calls_end_blocks=calls_end_blocks)
    return Liveness(graph, masked_writes_kill=masked_writes_kill).at_entry(0).get(key, 0)


def test_a_masked_write_kills_only_where_no_lane_waits():
    divergent = f"    (P1) goto (M1, 16) X\n{SET_A}X:\n{GET_A}{END}"
    inside = f"    (P1) goto (M1, 16) X\n{SET_A}{GET_A}X:\n{END}"
    assert live_before(SET_A + inside) == 0
    assert live_before(divergent) == ALL
    assert live_before(inside) == ALL
    assert live_before(inside, masked_writes_kill=True) == 0
    assert live_before(inside.replace("mov (M1, 16) A", "mov (M1_NM, 16) A")) == 0


def test_a_subroutine_reads_and_writes_what_its_callers_have():
    reads = f'    call (M1, 16) S\n{END}.function "S"\nS:\n{GET_A}    ret (M1, 16)\n'
    writes = f'    call (M1, 16) S\n{GET_A}{END}.function "S"\nS:\n{SET_A}    ret (M1, 16)\n'
    assert live_before(reads, calls_end_blocks=True) == ALL
    assert live_before(writes, calls_end_blocks=True) == 0
    assert live_before("(P1)" + writes, calls_end_blocks=True) == ALL


def test_an_indirect_read_may_read_what_has_its_address_taken():
    code = f"    addr_add (M1, 1) D1(0)<1> &A 0x0:w\n    mov (M1, 8) B(0,0)<1> r[D1(0),0]<1;1,0>:d\n{END}"
    assert live_before(code) == ALL
    assert live_before(SET_A + code) == 0
    assert live_before(code, "D1") == 0
    assert live_before(code, "C") == 0


def test_what_is_read_behind_the_body_is_live_at_its_end():
    step = Step(FlowClass.RETURN)
    found = Liveness(graph_of([Step(), step]), {VARIABLES[0]: 0b110})
    assert found.at_exit(0) == {VARIABLES[0]: 0b110}
    assert found.at_entry(0) == {VARIABLES[0]: 0b110}


def test_liveness_is_given_step_by_step():
    graph = text_graph(SET_LOW + GET_LOW + END)
    key = next(iter(k for s in graph.steps for a in s.accesses if a.writes for k in [a.variable]))
    assert [dict(live).get(key, 0) for _, live in Liveness(graph).behind_steps(0)] == [0, 0, LOW]


# The reference: one bit at a time, one step at a time, by the definition.


def step_predecessors(graph: Graph) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in graph.steps]
    for block in graph.blocks:
        for number in range(block.first + 1, block.last + 1):
            found[number].append(number - 1)
        found[block.first] += [graph.blocks[b].last for b in graph.flow_predecessors[block.number]]
    return found


def kills(graph: Graph, divergent: frozenset[int], number: int, variable: int, bit: int) -> bool:
    step = graph.steps[number]
    if any(a.purpose is AccessPurpose.GUARD for a in step.accesses):
        return False
    if not step.no_mask and graph.block_of[number] in divergent:
        return False
    return any(a.writes and a.variable == variable and a.certain >> bit & 1 for a in step.accesses)


def touches(graph: Graph, number: int, variable: int, bit: int, *, writes: bool) -> bool:
    step = graph.steps[number]
    if any(a.writes is writes and a.variable == variable and a.possible >> bit & 1 for a in step.accesses):
        return True
    taken = any(a.purpose is AccessPurpose.TAKEN and a.variable == variable for s in graph.steps for a in s.accesses)
    return taken and (step.indirect_write if writes else step.indirect_read)


def naive_live_behind(graph: Graph, variable: int, bit: int) -> set[int]:
    """Return the steps behind which a bit is live."""
    before = step_predecessors(graph)
    divergent = divergent_blocks(graph)
    found: set[int] = set()
    waiting = [n for n in range(len(graph.steps)) if touches(graph, n, variable, bit, writes=False)]
    seen = set(waiting)
    while waiting:
        number = waiting.pop()
        for earlier in before[number]:
            found.add(earlier)
            if earlier not in seen and not kills(graph, divergent, earlier, variable, bit):
                seen.add(earlier)
                waiting.append(earlier)
    return found


@each_of(range(80))
def test_liveness_is_what_the_definition_says(seed):
    rng = Random(seed)
    graph = graph_of(random_steps(rng, rng.randint(6, 40), calls=seed % 2 == 1), calls_end_blocks=seed % 4 == 1)
    found = {}
    liveness = Liveness(graph)
    for block in graph.blocks:
        for number, live in liveness.behind_steps(block.number):
            found[number] = dict(live)
    for variable in VARIABLES:
        for bit in range(BITS):
            expected = naive_live_behind(graph, variable, bit)
            assert {n for n, live in found.items() if live.get(variable, 0) >> bit & 1} == expected
