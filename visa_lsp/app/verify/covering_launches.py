"""Chooses launches by the lines of the text that they reach.

All launches of `verify` run, and two of a group far away, most of whose accesses lie beyond the buffers: a mistake in any bit of
an index shows in their addresses. While lines of the kernel stay unreached, candidates with other values and sizes run on the text, within
a budget of instructions, and those stay that reach a further line. Invariant: a candidate that does not end, that faults, that uses
what nothing has written, or that accesses memory where machine code has its payload is never kept, because a difference at such a launch would say nothing.
"""

from __future__ import annotations

from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.verify.both_runs import TEXT_STEPS, TextRun, run_text
from visa_lsp.app.verify.special_values import SpecialValues, listed, sizes_of
from visa_lsp.app.verify.verify_launches import launch_with, ragged_sizes
from visa_lsp.sim.observers.definedness import UninitialisedChecker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from visa_lsp.app.launch.unit import OpenedLaunch

_CANDIDATES: Final = 32
_FRUITLESS: Final = 12  # candidates in a row
# Less than a second, together at least; a tenth of the steps of the others if that is more.
_CANDIDATE_STEPS: Final = 20_000
# Of a launch after the first one, or twice those of the launches ahead that end if that is more.
_LATER_STEPS: Final = 100_000
_VOLUME: Final = {"local_size": [8, 2, 2], "groups": [2, 2, 2]}
_ONE_GROUP: Final = [1, 1, 1]
_SIDE: Final = 100  # larger than those of a volume
# Global offsets, so that indexes need more bits than those of a buffer, and numbers that let guards pass, whose products need both halves of a factor.
_FAR: Final = (([0x54_3210, 70, 30], 0x6A_4321), ([4_000, 70, 30], 4_099))
_FURTHER_TURNS: Final = 8  # of special values in buffers


def text_runs(launches: Iterable[OpenedLaunch], beside: Path) -> Iterator[TextRun]:
    """Yield the runs of a text on the launches of `verify`, then those that reach further lines.

    ``beside`` is the path of a launch file beside the text. Raises UserError if a launch cannot be prepared.
    """
    base, reached, steps = None, set[tuple[str, int]](), 0
    for opened in launches:
        run = run_text(opened, min(TEXT_STEPS, max(_LATER_STEPS, 2 * steps))) if base else run_text(opened)
        yield run
        base, steps = base or run, steps + (0 if run.is_endless else run.result.steps)
        reached |= reached_instructions(run)
    if base is None or base.opened.proposed is None or base.is_endless:
        return
    kernel, values = base.ready.prepared.dispatch.kernel, SpecialValues(base.opened)
    every = {(kernel.name, n) for n in range(len(kernel.instructions))}
    trials = _Trials(base.opened, beside, kernel.name, max(_CANDIDATE_STEPS, steps // 10))
    for far in _far_runs(_Trials(base.opened, beside, kernel.name, _CANDIDATE_STEPS), values):
        yield far
        reached |= reached_instructions(far)
    fruitless = 0
    for given in islice(_candidates(values), _CANDIDATES):
        if every <= reached or trials.left <= 0 or fruitless > _FRUITLESS:
            return
        trial = trials.run(given)
        fruitless += 1
        if trial is not None and not reached_instructions(trial) <= reached:
            yield trial
            reached |= reached_instructions(trial)
            fruitless = 0


class _Trials:
    """Runs of candidates of one kernel. ``left`` is the number of instructions that they may still execute."""

    def __init__(self, opened: OpenedLaunch, beside: Path, kernel: str, left: int) -> None:
        self.opened, self.beside, self.kernel, self.left = opened, beside, kernel, left

    def run(self, given: dict[str, Any]) -> TextRun | None:
        """Return the run of a launch with given keys; None if it cannot be launched or its outcome would say nothing."""
        other = launch_with(self.opened, self.beside, {"kernel": self.kernel, **given})
        if other is None or self.left <= 0:
            return None
        try:
            run = run_text(other, min(self.left, _CANDIDATE_STEPS // 2), [UninitialisedChecker()])
        except UserError:
            return None
        self.left -= run.result.steps
        return run if _is_sound(run) else None


def reached_instructions(run: TextRun) -> set[tuple[str, int]]:
    """Return the instructions that a run reaches, by body and index."""
    return {(name, n) for name, counts in run.result.executions.items() for n, count in enumerate(counts) if count}


def _is_sound(run: TextRun) -> bool:
    faults = [fault for fault in run.result.faults if not fault.is_note]
    return not faults and not run.result.sent and not run.log.is_wild


def _far_runs(trials: _Trials, values: SpecialValues) -> Iterator[TextRun]:
    """Yield runs of one group far from the first one, with numbers that let its guards pass; without them if there is none.

    The farthest one has rows that end inside of a register, if the kernel allows it.
    """
    usual, is_far = {**sizes_of(values.opened), "groups": _ONE_GROUP}, False
    ragged = [{**usual, **given, "groups": _ONE_GROUP} for given in ragged_sizes(values)]
    for (offset, side), of_far in zip(_FAR, ([*ragged, usual], [usual]), strict=True):
        args = listed(values.opened, values.large(side))
        launches = ({"args": args, **sizes, "global_offset": offset} for sizes in of_far)
        run = next(filter(None, map(trials.run, launches)), None)
        if run is not None:
            is_far = True
            yield run
    run = None if is_far else trials.run({**usual, "global_offset": _FAR[-1][0]})
    if run is not None:
        yield run


def _candidates(values: SpecialValues) -> Iterator[dict[str, Any]]:
    """Yield keys of launches: all numbers at an edge, one number at a time, other contents of buffers, other sizes, in turn."""
    sizes, scalars = {**sizes_of(values.opened), "groups": _ONE_GROUP}, values.scalars()
    together = (
        {key: of_key[n % len(of_key)] for key, of_key in scalars.items()}
        for n in range(max(map(len, scalars.values()), default=0) if len(scalars) > 1 else 0)
    )
    alone = (
        {key: value}
        for of_round in zip_longest(*scalars.values())
        for key, value in zip(scalars, of_round, strict=True)
        if value
    )
    contents = (values.buffers(turn) for turn in range(2, 2 + _FURTHER_TURNS))
    yield dict(_VOLUME)
    yield {"args": listed(values.opened, values.large(_SIDE)), **_VOLUME}
    for args in (args for of_round in zip_longest(alone, contents, together) for args in of_round if args):
        yield {"args": listed(values.opened, args), **sizes}
