"""Bodies for tests of control flow: real text bound and lowered, and random steps."""

from random import Random

from visa_lsp.checks.support.body_flow import graph_of_body, steps_of_body
from visa_lsp.flow.graph import Graph, graph_of
from visa_lsp.flow.steps import Access, AccessPurpose, Space, Step, variable_key
from visa_lsp.isa.model import FlowClass
from visa_lsp.program.model import Kernel
from visa_lsp.sema.bind import bind
from visa_lsp.sema.lower import lower
from visa_lsp.sema.model import Body
from visa_lsp.syntax.document import Document

HEAD = """.version 4.1
.kernel "k"
.decl A v_type=G type=d num_elts=16
.decl B v_type=G type=d num_elts=16
.decl C v_type=G type=d num_elts=16
.decl H v_type=G type=w num_elts=16 alias=<A, 32>
.decl D1 v_type=A num_elts=4
.decl P1 v_type=P num_elts=16
"""


def body_of(code: str) -> Body:
    """Return the bound body of some lines behind ``HEAD``."""
    [body] = bind(Document.parse(HEAD + code)).bodies
    return body


def kernel_of(code: str) -> Kernel:
    """Return the resolved kernel of some lines behind ``HEAD``."""
    module = lower(bind(Document.parse(HEAD + code)))
    assert module is not None
    return module.kernels[0]


def text_graph(code: str, *, calls_end_blocks: bool = False) -> Graph:
    """Return the graph of a text with accesses; ``calls_end_blocks`` as for ``graph_of``."""
    body = body_of(code)
    graph = graph_of(steps_of_body(body), body.name, calls_end_blocks=calls_end_blocks)
    if not calls_end_blocks:
        assert graph.edges == graph_of_body(body).edges
    return graph


def edges_in_words(graph: Graph) -> list[str]:
    """``source-target kind condition`` of each edge."""
    return [f"{e.source}-{e.target} {e.kind.name.lower()} {e.condition}".strip() for e in graph.edges]


VARIABLES = tuple(variable_key(Space.GENERAL, number) for number in (40, 41, 42))
BITS = 4


def random_steps(rng: Random, count: int, *, calls: bool = False) -> list[Step]:
    """Return a body with labels, jumps of every kind, and accesses to a few bits of a few variables."""
    steps = [Step(FlowClass.LABEL, label=f"L{n}") for n in range(rng.randint(1, count // 3))]
    labels = [step.label for step in steps if step.label is not None]
    while len(steps) < count:
        steps.append(_random_step(rng, labels))
    rng.shuffle(steps)
    if calls:
        names = [f"S{n}" for n in range(rng.randint(1, 3))]
        for place in range(len(steps)):
            if steps[place].flow is FlowClass.NEXT and rng.random() < 0.25:
                steps[place] = Step(
                    FlowClass.CALL, targets=(rng.choice(names),), condition=rng.choice(("", "P")), lanes=16
                )
        for name in names:
            steps.append(Step(FlowClass.RETURN))
            steps.append(Step(FlowClass.SUBROUTINE, label=name))
            inner = [Step(FlowClass.LABEL, label=f"{name}.{n}") for n in range(2)]
            inner += [_random_step(rng, [f"{name}.0", f"{name}.1"]) for _ in range(rng.randint(1, 6))]
            rng.shuffle(inner)
            steps.extend(inner)
    return [*steps, Step(FlowClass.RETURN)]


def _random_step(rng: Random, labels: list[int | str]) -> Step:
    flow = rng.choices(
        (FlowClass.NEXT, FlowClass.GOTO, FlowClass.JUMP, FlowClass.SWITCH, FlowClass.RETURN),
        (10, 4, 1, 1, 1),
    )[0]
    condition = rng.choice(("", "P", "P")) if flow in (FlowClass.GOTO, FlowClass.JUMP, FlowClass.RETURN) else ""
    lanes = 1 if flow in (FlowClass.JUMP, FlowClass.SWITCH) else 16
    if flow is not FlowClass.NEXT:
        targets = (
            ()
            if flow is FlowClass.RETURN
            else tuple(rng.sample(labels, min(len(labels), 1 + (flow is FlowClass.SWITCH))))
        )
        return Step(flow, targets=targets, condition=condition, lanes=lanes)
    accesses = [_random_access(rng) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.2:
        accesses.append(
            Access("pred", variable_key(Space.PREDICATE, 1), writes=False, possible=3, purpose=AccessPurpose.GUARD)
        )
    if rng.random() < 0.05:
        accesses.append(
            Access("src0", rng.choice(VARIABLES), writes=False, possible=(1 << BITS) - 1, purpose=AccessPurpose.TAKEN)
        )
    indirect = rng.random() < 0.1
    return Step(
        flow,
        lanes=16,
        no_mask=rng.random() < 0.4,
        accesses=tuple(accesses),
        indirect_read=indirect and rng.random() < 0.5,
        indirect_write=indirect,
    )


def _random_access(rng: Random) -> Access:
    possible = rng.randint(1, (1 << BITS) - 1)
    certain = rng.choice((possible, possible, possible & rng.randint(0, (1 << BITS) - 1)))
    return Access("", rng.choice(VARIABLES), writes=rng.random() < 0.55, possible=possible, certain=certain)
