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
        known = self._differs.get(cause)
        if known is None:
            partner = self.partner(cause)
            known = partner is None or self._ours.value(cause) != self._theirs.value(partner)
            self._differs[cause] = known
        return known

    def is_first(self, found: SlicedCause) -> bool:
        """Return whether a step is a first difference."""
        return self.differs(found.cause) and not any(self.differs(cause) for cause in found.causes)

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
    same = sum(one.row is other.row for one, other in zip(ours, theirs, strict=False))
    if len(ours) == len(theirs) and same > len(ours) // 2:
        return {n: n for n in range(len(ours))}
    found: dict[int, int] = {}
    # Equal instructions first, because the like of a deleted one may stand beside it.
    for first, last, start, end in _align(ours, theirs, found):
        shapes = [
            [f"{inst.row.mnemonic} {inst.get('exec')}" for inst in code]
            for code in (ours[first:last], theirs[start:end])
        ]
        within: dict[int, int] = {}
        for low, high, other, other_end in _align(shapes[0], shapes[1], within):
            if high - low == other_end - other:
                within.update(zip(range(low, high), range(other, other_end), strict=True))
        found.update((first + n, start + m) for n, m in within.items())
    return found


def _align(
    ours: Sequence[object], theirs: Sequence[object], found: dict[int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """Add the numbers of equal elements to ``found``; yield the ranges in both sequences between them."""
    numbers: dict[object, int] = {}
    keys = [[numbers.setdefault(one, len(numbers)) for one in side] for side in (ours, theirs)]
    for tag, first, last, start, end in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        if tag == "equal":
            found.update(zip(range(first, last), range(start, end), strict=True))
        else:
            yield first, last, start, end


def slice_of(
    run: Dependences, starts: Iterable[Cause], pairing: Pairing | None = None, *, most: int = MAX_STEPS
) -> Slice:
    """Return the backward slice from the given steps. With a pairing only steps that differ are followed."""
    found: dict[Cause, SlicedCause] = {}
    waiting: deque[Cause] = deque()
    for start in starts:
        found[start] = SlicedCause(start, 0)
        waiting.append(start)
    while waiting:
        here = found[waiting.popleft()]
        if isinstance(here.cause, Unwritten) or (pairing is not None and not pairing.differs(here.cause)):
            continue
        here.causes = run.causes(here.cause)
        here.rivals = run.rivals(here.cause)
        for cause in (*here.causes, *here.rivals):
            if cause not in found:
                if len(found) >= most:
                    return Slice(found, is_cut=True)
                found[cause] = SlicedCause(cause, here.distance + 1)
                waiting.append(cause)
    return Slice(found)


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
            for found in part.steps.values():
                step = found.cause
                partner = pairing.partner(step) if isinstance(step, Execution) else None
                if isinstance(step, Execution) and partner is not None and pairing.is_first(found):
                    firsts.setdefault((step, partner) if pairing is self.forward else (partner, step), found.distance)
        for (here, there), distance in firsts.items():
            own, other = self.ours.inputs(here), self.theirs.inputs(there)
            for role in {**own, **other}:
                mine = [one if isinstance(one, Execution) else None for one in own.get(role, [])]
                steps = [one for one in other.get(role, []) if isinstance(one, Execution)]
                others = [self._back(one) for one in other.get(role, [])]
                yield from ((one, distance, True) for one in steps if self.backward.place(one) is None)
                if mine != others:
                    both = dict.fromkeys([*others, *mine])
                    yield from ((one, distance + 1, False) for one in both if one is not None)

    def _back(self, cause: Cause) -> Execution | None:
        return self.backward.partner(cause) if isinstance(cause, Execution) else None


def nodes_of(
    run: Dependences, found: Slice, comparison: RunComparison | None = None, other: Slice | None = None
) -> list[SliceNode]:
    """Return the merged nodes of a slice, the best first; include nodes that only the slice of the reference has."""
    made: dict[object, SliceNode] = {}
    of_cause: dict[tuple[bool, Cause], SliceNode] = {}

    def node(cause: Cause, distance: int, *, of_reference: bool) -> SliceNode:
        key = _key(comparison.theirs if of_reference and comparison is not None else run, cause, of_reference)
        known = made.setdefault(key, SliceNode([], distance, of_reference=of_reference))
        known.steps.append(cause)
        known.distance = min(known.distance, distance)
        of_cause[of_reference, cause] = known
        return known

    sides: list[tuple[bool, Slice, Pairing | None]] = [(False, found, comparison.forward if comparison else None)]
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
            known = of_cause.get((own[1], own[0])) or node(own[0], step.distance, of_reference=own[1])
            of_cause[of_reference, cause] = known
            if pairing is not None and pairing.is_first(step):
                known.is_first = True
                known.is_own |= pairing.reads_same(cause)
    if comparison is not None and other is not None:
        for lost, distance, of_reference in comparison.find_diverted(found, other):
            known = of_cause.get((of_reference, lost)) or node(lost, distance, of_reference=of_reference)
            known.is_diverted = True
            if of_reference:
                known.is_first = known.is_own = True
    for of_reference, part, _ in sides:
        for cause, step in part.steps.items():
            here = of_cause.get((of_reference, cause))
            if here is not None:
                _link(here.causes, here, [of_cause.get((of_reference, one)) for one in step.causes])
                _link(here.rivals, here, [of_cause.get((of_reference, one)) for one in step.rivals])
    return sorted(made.values(), key=lambda one: one.rank)


def _link(into: list[SliceNode], here: SliceNode, others: Sequence[SliceNode | None]) -> None:
    for one in others:
        if one is not None and one is not here and all(one is not known for known in into):
            into.append(one)


def _key(run: Dependences, cause: Cause, of_reference: bool) -> object:
    if isinstance(cause, Unwritten):
        return cause.kind, cause.where, run.recorder.activations[cause.owner].thread if cause.kind == "input" else 0
    owner = run.owner(cause.row)
    return of_reference, owner.group, owner.thread, id(owner.code), int(run.pcs[cause.row])
