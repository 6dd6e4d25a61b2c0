import itertools
from random import Random

from each_case import each_of

from tests.support.flows import random_steps, text_graph
from visa_lsp.flow.divergence import divergent_blocks
from visa_lsp.flow.graph import graph_of
from visa_lsp.flow.steps import Step
from visa_lsp.isa.model import FlowClass

MOVE = "    mov (M1, 16) A(0,0)<1> A(0,0)<1;1,0>\n"
ALL = 0b1111


def divergent(code: str) -> set[int]:
    return set(divergent_blocks(text_graph(code)))


def test_both_arms_are_divergent_and_the_join_is_not():
    code = f"    (P1) goto (M1, 16) X\n{MOVE}    goto (M1, 16) Y\nX:\n{MOVE}Y:\n    ret (M1, 1)\n"
    assert divergent(code) == {1, 2}


def test_one_lane_takes_all_lanes_along():
    code = f"    (P1) goto (M1, 1) X\n{MOVE}X:\n{MOVE}    (P1) jmp (M1, 1) X\n    ret (M1, 1)\n"
    assert divergent(code) == set()


def test_a_loop_that_lanes_leave_one_by_one():
    code = f"{MOVE}L:\n{MOVE}    (P1) goto (M1, 16) L\n{MOVE}    ret (M1, 1)\n"
    assert divergent(code) == {1}


def test_structured_words():
    code = f"    (P1) if (M1, 16)\n{MOVE}    else (M1, 16)\n{MOVE}    endif (M1, 16)\n    ret (M1, 1)\n"
    assert divergent(code) == {1, 2}


def test_a_subroutine_that_divergent_code_calls():
    sub = f'.function "S"\nS:\n{MOVE}    ret (M1, 16)\n'
    inside = f"    (P1) goto (M1, 16) X\n    call (M1, 16) S\nX:\n    ret (M1, 1)\n{sub}"
    outside = f"    (P1) goto (M1, 16) X\n{MOVE}X:\n    call (M1, 16) S\n    ret (M1, 1)\n{sub}"
    some = f"    (P1) call (M1, 16) S\n    ret (M1, 1)\n{sub}"
    assert divergent(inside) == {1, 3}
    assert divergent(outside) == {1}
    assert divergent(some) == {1}


def test_lanes_that_return_early_from_a_subroutine():
    sub = f'.function "S"\nS:\n    (P1) ret (M1, 16)\n{MOVE}    ret (M1, 16)\n'
    assert divergent(f"    call (M1, 16) S\n    ret (M1, 1)\n{sub}") == {2}


def test_lanes_that_end_the_thread_are_not_waited_for():
    assert divergent(f"    (P1) ret (M1, 16)\n{MOVE}    ret (M1, 1)\n") == set()


class LaneMachine:
    """Four lanes that follow a body as a thread does, with predicates at random: where some of them are not active."""

    def __init__(self, steps: list[Step], rng: Random) -> None:
        self.steps, self.rng = steps, rng
        self.labels = {step.label: n for n, step in enumerate(steps) if step.label is not None}
        self.emask = self.call_mask = self.alive = ALL
        self.waiting: dict[int, int] = {}
        self.calls: list[tuple[int, int, int, dict[int, int]]] = []
        self.open: list[int] = []
        self.partial: set[int] = set()

    def run(self, budget: int) -> set[int]:
        """Return the steps that ran while a lane that has not ended was not active."""
        place = 0
        while budget and 0 <= place < len(self.steps):
            budget -= 1
            self.emask |= self.waiting.pop(place, 0)
            # Between two labels of one block lanes may wait at the second: nothing runs there.
            if self.alive & ~self.emask and self.steps[place].label is None:
                self.partial.add(place)
            place = self._step(place)
        return self.partial

    def _taken(self, step: Step) -> int:
        if not step.condition:
            return self.emask
        if step.lanes == 1:
            return self.rng.choice((0, self.emask))
        return self.emask & self.rng.randrange(ALL + 1)

    def _park(self, lanes: int, place: int) -> None:
        if lanes:
            self.waiting[place] = self.waiting.get(place, 0) | lanes

    def _resume(self) -> int:
        if self.waiting:
            return min(self.waiting)
        if not self.calls:
            return -1
        back, self.emask, self.call_mask, self.waiting = self.calls.pop()
        self.open.pop()
        return back

    def _step(self, place: int) -> int:
        step = self.steps[place]
        match step.flow:
            case FlowClass.GOTO | FlowClass.JUMP:
                taken, target = self._taken(step), self.labels[step.targets[0]]
                if not taken:
                    return place + 1
                if step.flow is FlowClass.JUMP:
                    return target
                if target <= place:
                    self._park(self.emask & ~taken, place + 1)
                    self.emask = taken
                    return target
                self._park(taken, target)
                self.emask &= ~taken
                return place + 1 if self.emask else self._resume()
            case FlowClass.SWITCH:
                return self.labels[self.rng.choice(step.targets)]
            case FlowClass.CALL:
                taken, target = self._taken(step), self.labels[step.targets[0]]
                if not taken or target in self.open:
                    return place + 1
                self.calls.append((place + 1, self.emask, self.call_mask, self.waiting))
                self.open.append(target)
                self.emask = self.call_mask = taken
                self.waiting = {}
                return target
            case FlowClass.RETURN:
                taken = self._taken(step)
                if not self.calls:
                    self.alive &= ~taken
                self.emask &= ~taken
                self.call_mask &= ~taken
                return place + 1 if self.emask else self._resume()
        return place + 1


def _ordered(steps: list[Step]) -> bool:
    """Whether no jump of the whole thread is in it: such a jump may take lanes past others that wait for them."""
    return not any(s.flow in (FlowClass.JUMP, FlowClass.SWITCH) for s in steps)


@each_of(itertools.product(range(60), (False, True)))
def test_no_block_runs_with_lanes_away_but_those_that_are_told(case):
    seed, calls = case
    rng = Random(seed)
    steps = random_steps(rng, rng.randint(8, 40), calls=calls)
    if seed % 3:
        steps = [s if _ordered([s]) else Step() for s in steps]
    graph = graph_of(steps, calls_end_blocks=seed % 2 == 0)
    told = divergent_blocks(graph)
    for _ in range(30):
        ran = {graph.block_of[n] for n in LaneMachine(steps, rng).run(300)}
        assert ran <= told
