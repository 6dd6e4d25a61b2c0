"""Backward slices of a recorded run, alone or against the run of a reference program.

With a reference only steps with different values are followed, because equal steps do not contribute to the difference.
A *first difference* is a step that differs, or is executed in only one of the runs, although all its causes agree.
Invariant: steps are visited nearest first, so that a bound cuts off the farthest.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from visa_lsp.app.why.dependences import Cause, Dependences, Execution, Unwritten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.sim.interp import Code

MAX_STEPS: Final = 10_000  # of one slice; some 0.1 ms each


@dataclass(slots=True)
class SlicedCause:
    """A step of a slice: its distance from the value in causes, and its causes."""

    cause: Cause
    distance: int
    causes: list[Cause] = field(default_factory=list)
    rivals: list[Execution] = field(default_factory=list)


@dataclass(slots=True)
class Slice:
    """The steps of a slice, nearest first; ``is_cut``: the slice has more steps than were followed."""

    steps: dict[Cause, SlicedCause]
    is_cut: bool = False


class Pairing:
    """The steps of two runs that correspond: the same thread and lane, the matching instruction, its n-th execution."""

    def __init__(self, ours: Dependences, theirs: Dependences, inverse: Pairing | None = None) -> None:
        self._ours, self._theirs = ours, theirs
        self._known: dict[Execution, Execution | None] = {}
        self._differs: dict[Execution, bool] = {}
        self.codes: dict[int, tuple[Code, dict[int, int]]] = {}
        if inverse is not None:
            by_id = {id(code): code for code in theirs.recorder.codes}
            for number, (code, places) in inverse.codes.items():
                self.codes[id(code)] = by_id[number], {other: own for own, other in places.items()}
            return
        others = {code.kernel.name: code for code in theirs.recorder.codes}
        kernels = [code for code in theirs.recorder.codes if code.kernel.inputs]
        for code in ours.recorder.codes:
            other = others.get(code.kernel.name) or (kernels[0] if code.kernel.inputs and len(kernels) == 1 else None)
            if other is not None:
                self.codes[id(code)] = other, _match(code, other)

    def partner(self, step: Execution) -> Execution | None:
        """Return the step of the other run; None if that run does not execute it."""
        if step not in self._known:
            self._known[step] = self._find(step)
        return self._known[step]

    def place(self, step: Execution) -> tuple[Code, int] | None:
        """Return the matching instruction of the other program; None if that program lacks it."""
        other, places = self.codes.get(id(self._ours.owner(step.row).code), (None, {}))
        pc = places.get(int(self._ours.pcs[step.row]))
        return None if other is None or pc is None else (other, pc)

    def _find(self, step: Execution) -> Execution | None:
        owner, place = self._ours.owner(step.row), self.place(step)
        if place is None:
            return None
        key = owner.group, owner.thread, owner.ordinal
        return self._theirs.step_at(key, *place, step.unit, self._ours.number_of(step))

    def differs(self, cause: Cause) -> bool:
        """Return whether the other run does not execute a step, or executes it with another result."""
        if isinstance(cause, Unwritten):
            return False
        differs = self._differs.get(cause)
        if differs is None:
            partner = self.partner(cause)
            differs = partner is None or self._ours.value(cause) != self._theirs.value(partner)
            self._differs[cause] = differs
        return differs

    def is_first(self, sliced: SlicedCause) -> bool:
        """Return whether a step is a first difference."""
        return self.differs(sliced.cause) and not any(self.differs(cause) for cause in sliced.causes)

    def reads_same(self, cause: Cause) -> bool:
        """Return whether a step reads the same values in both runs; True if only one run executes it."""
        if isinstance(cause, Unwritten):
            return False
        partner = self.partner(cause)
        if partner is None:
            return True
        if any(access.kind != "write" for access in self._ours.accesses(cause.row)):
            return False
        return self._ours.reads(cause) == self._theirs.reads(partner)


def _match(a: Code, b: Code) -> dict[int, int]:
    """Return the matching instructions of two bodies by number."""
    ours, theirs = a.kernel.instructions, b.kernel.instructions
    same = sum(own.row is other.row for own, other in zip(ours, theirs, strict=False))
    if len(ours) == len(theirs) and same > len(ours) // 2:
        return {n: n for n in range(len(ours))}
    matches: dict[int, int] = {}
    # Equal instructions first, because the like of a deleted one may stand beside it.
    for our_start, our_end, their_start, their_end in _align(ours, theirs, matches):
        shapes = [
            [f"{inst.row.mnemonic} {inst.get('exec')}" for inst in code]
            for code in (ours[our_start:our_end], theirs[their_start:their_end])
        ]
        within: dict[int, int] = {}
        for low, high, other, other_end in _align(shapes[0], shapes[1], within):
            if high - low == other_end - other:
                within.update(zip(range(low, high), range(other, other_end), strict=True))
        matches.update((our_start + n, their_start + m) for n, m in within.items())
    return matches


def _align(
    ours: Sequence[object], theirs: Sequence[object], matches: dict[int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """Add the numbers of equal elements to ``matches``; yield the ranges in both sequences between them."""
    numbers: dict[object, int] = {}
    keys = [[numbers.setdefault(element, len(numbers)) for element in side] for side in (ours, theirs)]
    for tag, our_start, our_end, their_start, their_end in SequenceMatcher(
        None, keys[0], keys[1], autojunk=False
    ).get_opcodes():
        if tag == "equal":
            matches.update(zip(range(our_start, our_end), range(their_start, their_end), strict=True))
        else:
            yield our_start, our_end, their_start, their_end


def slice_of(
    run: Dependences, starts: Iterable[Cause], pairing: Pairing | None = None, *, most: int = MAX_STEPS
) -> Slice:
    """Return the backward slice from the given steps. With a pairing only steps that differ are followed."""
    sliced: dict[Cause, SlicedCause] = {}
    waiting: deque[Cause] = deque()
    for start in starts:
        sliced[start] = SlicedCause(start, 0)
        waiting.append(start)
    while waiting:
        here = sliced[waiting.popleft()]
        if isinstance(here.cause, Unwritten) or (pairing is not None and not pairing.differs(here.cause)):
            continue
        here.causes = run.causes(here.cause)
        here.rivals = run.rivals(here.cause)
        for cause in (*here.causes, *here.rivals):
            if cause not in sliced:
                if len(sliced) >= most:
                    return Slice(sliced, is_cut=True)
                sliced[cause] = SlicedCause(cause, here.distance + 1)
                waiting.append(cause)
    return Slice(sliced)


@dataclass(slots=True)
class SliceNode:
    """Steps of one thread at one instruction, or a value that the launch provides.

    ``steps`` are nearest first. ``of_reference``: only the reference run executes the steps. ``is_own``: a first
    difference that reads the same values in both runs, or is executed in one of them only. ``is_diverted``: it is a
    cause of a first difference in one of the runs only, because it writes or is read elsewhere. ``rank`` orders nodes:
    own first differences, then other and diverted ones, each by distance. ``alike`` counts the nodes folded into this one.
    """

    steps: list[Cause]
    distance: int
    is_first: bool = False
    is_own: bool = False
    is_diverted: bool = False
    of_reference: bool = False
    alike: int = 0
    causes: list[SliceNode] = field(default_factory=list)
    rivals: list[SliceNode] = field(default_factory=list)

    @property
    def rank(self) -> tuple[bool, bool, int, bool]:
        """The sort key."""
        suspect = self.is_first or self.is_diverted
        return not self.is_own, not suspect, self.distance, isinstance(self.steps[0], Unwritten)


class RunComparison:
    """The two runs of a comparison, paired in both directions."""

    def __init__(self, ours: Dependences, theirs: Dependences) -> None:
        self.ours, self.theirs = ours, theirs
        self.forward = Pairing(ours, theirs)
        self.backward = Pairing(theirs, ours, self.forward)

    def find_diverted(self, ours: Slice, theirs: Slice) -> Iterator[tuple[Execution, int, bool]]:
        """Yield each step that is a cause of a first difference in one of the runs only, with its distance.

        The last value is true of a step of the reference whose instruction our program lacks.
        """
        firsts: dict[tuple[Execution, Execution], int] = {}
        for pairing, part in ((self.forward, ours), (self.backward, theirs)):
            for sliced in part.steps.values():
                step = sliced.cause
                partner = pairing.partner(step) if isinstance(step, Execution) else None
                if isinstance(step, Execution) and partner is not None and pairing.is_first(sliced):
                    firsts.setdefault((step, partner) if pairing is self.forward else (partner, step), sliced.distance)
        for (here, there), distance in firsts.items():
            own, other = self.ours.inputs(here), self.theirs.inputs(there)
            for role in {**own, **other}:
                mine = [cause if isinstance(cause, Execution) else None for cause in own.get(role, [])]
                steps = [cause for cause in other.get(role, []) if isinstance(cause, Execution)]
                others = [self._back(cause) for cause in other.get(role, [])]
                yield from ((cause, distance, True) for cause in steps if self.backward.place(cause) is None)
                if mine != others:
                    both = dict.fromkeys([*others, *mine])
                    yield from ((cause, distance + 1, False) for cause in both if cause is not None)

    def _back(self, cause: Cause) -> Execution | None:
        return self.backward.partner(cause) if isinstance(cause, Execution) else None


def nodes_of(
    run: Dependences, own_slice: Slice, comparison: RunComparison | None = None, other: Slice | None = None
) -> list[SliceNode]:
    """Return the merged nodes of a slice, the best first; include nodes that only the slice of the reference has."""
    nodes_by_key: dict[object, SliceNode] = {}
    of_cause: dict[tuple[bool, Cause], SliceNode] = {}

    def node(cause: Cause, distance: int, *, of_reference: bool) -> SliceNode:
        key = _key(comparison.theirs if of_reference and comparison is not None else run, cause, of_reference)
        merged = nodes_by_key.setdefault(key, SliceNode([], distance, of_reference=of_reference))
        merged.steps.append(cause)
        merged.distance = min(merged.distance, distance)
        of_cause[of_reference, cause] = merged
        return merged

    sides: list[tuple[bool, Slice, Pairing | None]] = [(False, own_slice, comparison.forward if comparison else None)]
    if comparison is not None and other is not None:
        sides.append((True, other, comparison.backward))
    for of_reference, part, pairing in sides:
        for cause, step in part.steps.items():
            own = cause, of_reference
            if of_reference:
                if isinstance(cause, Unwritten):
                    continue
                partner = comparison.backward.partner(cause) if comparison is not None else None
                own = (partner, False) if partner is not None else (cause, True)
            merged = of_cause.get((own[1], own[0])) or node(own[0], step.distance, of_reference=own[1])
            of_cause[of_reference, cause] = merged
            if pairing is not None and pairing.is_first(step):
                merged.is_first = True
                merged.is_own |= pairing.reads_same(cause)
    if comparison is not None and other is not None:
        for lost, distance, of_reference in comparison.find_diverted(own_slice, other):
            merged = of_cause.get((of_reference, lost)) or node(lost, distance, of_reference=of_reference)
            merged.is_diverted = True
            if of_reference:
                merged.is_first = merged.is_own = True
    for of_reference, part, _ in sides:
        for cause, step in part.steps.items():
            here = of_cause.get((of_reference, cause))
            if here is not None:
                _link(here.causes, here, [of_cause.get((of_reference, input_cause)) for input_cause in step.causes])
                _link(here.rivals, here, [of_cause.get((of_reference, input_cause)) for input_cause in step.rivals])
    return sorted(nodes_by_key.values(), key=lambda merged: merged.rank)


def _link(into: list[SliceNode], here: SliceNode, others: Sequence[SliceNode | None]) -> None:
    for other in others:
        if other is not None and other is not here and all(other is not linked for linked in into):
            into.append(other)


def _key(run: Dependences, cause: Cause, of_reference: bool) -> object:
    if isinstance(cause, Unwritten):
        return cause.kind, cause.where, run.recorder.activations[cause.owner].thread if cause.kind == "input" else 0
    owner = run.owner(cause.row)
    return of_reference, owner.group, owner.thread, id(owner.code), int(run.pcs[cause.row])
