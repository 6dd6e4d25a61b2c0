"""Records the part of a run that a slice needs.

A small launch is recorded as a whole by the interpreter. A larger one runs as compiled code; only the groups that wrote
the bytes in question are interpreted, and of a long group only its last instructions. Compiled runs find these groups
by comparing memory. Invariant: each run starts from the memory of the launch.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from importlib.util import find_spec
from math import prod
from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.app.why.dependences import Dependences
from visa_lsp.disk_cache import open_for_user
from visa_lsp.sim.contents import Contents
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.machine import QUANTUM
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.recording import StepRecorder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.app.why.group_replay import GroupReplay
    from visa_lsp.sim.memory import Buffer

MAX_WHOLE_STEPS: Final = 60_000  # instructions of a run that is recorded as a whole: a third of a second
WINDOW: Final = 80_000  # instructions of a long group that are recorded: half a second
MAX_STEPS: Final = 200_000_000_000  # of a compiled run
MAX_GROUPS: Final = 6  # groups recorded for one answer
_PARTS: Final = 64  # number of parts of the groups in each step of the search for the writer
_MAX_COMPILED_INSTRUCTIONS: Final = 8_000  # instructions of a kernel that is not compiled
_MAX_INTERPRETED: Final = 2_000_000  # instructions, without the compiled engine: ten seconds


Bytes = tuple["Buffer", int, int]  # offset and size in a buffer


@dataclass(slots=True, eq=False)
class RecordedRun:
    """The recorded part of a run. ``groups`` are the recorded groups, empty for all; ``before`` is the initial memory."""

    run: ReadyRun
    dependences: Dependences
    before: Contents
    groups: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class LaunchRecorder:
    """Records parts of one launch. ``steps`` is the number of instructions of the whole run."""

    def __init__(self, run: ReadyRun, steps: int) -> None:
        self._run, self._steps = run, steps
        self._dispatch = run.dispatch(MAX_STEPS)
        self._before = Contents(self._dispatch)
        self._replay: GroupReplay | None = None

    def record(self, needed: Sequence[Bytes], group: tuple[int, int, int] | None = None) -> RecordedRun:
        """Record the last writes of the needed bytes, or one group."""
        large = len(self._dispatch.kernel.instructions) > _MAX_COMPILED_INSTRUCTIONS
        if self._steps <= MAX_WHOLE_STEPS or large or find_spec("llvmlite") is None:
            return self._interpret()
        from visa_lsp.app.why.group_replay import GroupReplay
        from visa_lsp.sim.jit.code_cache import Making

        self._replay = GroupReplay(self._dispatch, self._before, Making(open_for_user("native", ())))
        number = self._number(group) if group is not None else self._writer(needed)
        return self._groups(() if number is None else (number,))

    def widen(self, recorded: RecordedRun, origins: Sequence[Bytes]) -> RecordedRun | None:
        """Record also the last earlier group that wrote some of the bytes; return None if there is none."""
        if self._replay is None or len(recorded.groups) >= MAX_GROUPS:
            return None
        writer = self._writer(origins, before=recorded.groups[0]) if recorded.groups else None
        return self._groups((writer, *recorded.groups)) if writer is not None else None

    def _interpret(self) -> RecordedRun:
        recorder = StepRecorder()
        budget = min(_MAX_INTERPRETED, self._dispatch.step_budget)
        result = interpret(structs.replace(self._dispatch, step_budget=budget), (recorder,))
        used_up = budget < self._dispatch.step_budget and any(f.kind is FaultKind.BUDGET for f in result.faults)
        note = f"only the first {len(recorder.pcs):,} instructions of the run are recorded"
        notes = (note,) if recorder.is_full or used_up else ()
        return RecordedRun(self._run, Dependences(recorder), self._before, (), notes)

    def _number(self, group: tuple[int, int, int]) -> int:
        x, y, _ = self._dispatch.groups
        return group[0] + x * (group[1] + y * group[2])

    def _writer(self, needed: Sequence[Bytes], before: int | None = None) -> int | None:
        """Return the last group that changed some of the bytes.

        If no group seems to change them, the search is repeated with inverted bytes, because a group may store equal
        values.
        """
        total = prod(self._dispatch.groups) if before is None else before
        for inverted in (False, True) if before is None else (False,):
            first_group, end = 0, total
            while end > first_group:
                part = self._last_change(needed, first_group, end, inverted=inverted)
                if part is None:
                    break
                first_group, end = part
                if end - first_group == 1:
                    return first_group
        return None

    def _last_change(
        self, needed: Sequence[Bytes], first_group: int, end: int, *, inverted: bool
    ) -> tuple[int, int] | None:
        """Return the last part of a range of groups that changes the bytes."""
        replay = self._replay
        assert replay is not None
        replay.restart()
        if inverted:
            for buffer, offset, size in needed:
                buffer.data[offset : offset + size] ^= 0xFF
        replay.run(0, first_group)
        edges = sorted({first_group + (end - first_group) * n // _PARTS for n in range(_PARTS + 1)})
        part, before = None, _contents(needed)
        for start, stop in itertools.pairwise(edges):
            replay.run(start, stop)
            now = _contents(needed)
            if now != before:
                part, before = (start, stop), now
        return part

    def _groups(self, groups: tuple[int, ...]) -> RecordedRun:
        """Return a recording of groups, in their order; all other groups run as compiled code."""
        replay = self._replay
        assert replay is not None
        recorder, next_group, notes, late = StepRecorder(), 0, list[str](), dict[int, int]()
        if self._steps > WINDOW:
            replay.restart()
            for number in groups:
                replay.run(next_group, number)
                steps = replay.steps_of(number)
                next_group, late[number] = number + 1, max(0, steps - WINDOW)
                if late[number]:
                    notes.append(
                        f"of group {number} at most the last {WINDOW:,} of {steps:,} instructions are recorded"
                    )
        replay.restart()
        next_group = 0
        for number in groups:
            replay.run(next_group, number)
            quantum = min(QUANTUM, max(1, WINDOW // (2 * self._dispatch.threads_per_group)))
            replay.interpret(number, recorder, late.get(number, 0), quantum if late.get(number) else QUANTUM)
            next_group = number + 1
        if prod(self._dispatch.groups) > 1:
            notes.append(
                f"recorded groups, by number: {', '.join(map(str, groups)) or 'none, because none wrote the value'}"
            )
        return RecordedRun(self._run, Dependences(recorder), self._before, groups, tuple(notes))


def _contents(needed: Sequence[Bytes]) -> list[bytes]:
    return [buffer.data[offset : offset + size].tobytes() for buffer, offset, size in needed]
