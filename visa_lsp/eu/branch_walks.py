"""Finds waits that are missing on a path that no launch takes: walks through the code that take one forward branch.

A walk begins as a thread that takes no branch; at each forward branch a copy of the scoreboard continues at the target.
Reported are uses of registers of messages, ``dpas`` and ``math`` that are ahead of the branch and executed by all lanes of the thread: on two sides of a
branch the same register may belong to different lanes. Operands whose place only a run knows are left out.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.eu.model import Target
from visa_lsp.eu.scoreboard import Hazard, Scoreboard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.eu.model import MachineCode, MachineInst
    from visa_lsp.isa.platforms import Platform

_MAX_BRANCHES: Final = 40
_MAX_STEPS: Final = 150  # behind a branch


def hazards_behind_branches(code: MachineCode, platform: Platform) -> Iterator[Hazard]:
    """Yield the hazards of walks that take one forward branch."""
    instructions, whole = code.instructions, _executed_by_all(code)
    thread: Any = SimpleNamespace(frame=SimpleNamespace(emask=-1, code=None))
    board, branches, keys = Scoreboard(code, platform), 0, set[tuple[int, int]]()
    for inst in instructions:
        board.before(thread, inst)
        target = _forward_target(inst)
        if target is None or inst.index not in whole:
            continue
        branches += 1
        if branches > _MAX_BRANCHES:
            return
        walk = board.fork(thread)
        for later in instructions[target : target + _MAX_STEPS]:
            walk.before(thread, later)
        for hazard in walk.hazards():
            key = hazard.inst.index, hazard.behind.index
            is_ahead = hazard.behind.index < inst.index and hazard.inst.index >= target
            if is_ahead and hazard.behind.index in whole and key not in keys and hazard.needs.startswith("$"):
                keys.add(key)
                yield hazard


def _forward_target(inst: MachineInst) -> int | None:
    """Return the place where a thread continues if all its lanes take a forward branch; None for other instructions."""
    targets = {source.index for source in inst.sources if isinstance(source, Target)}
    if inst.op == "if":
        targets = {min(targets)}
    if inst.op not in ("if", "goto", "jmpi") or len(targets) != 1 or min(targets) <= inst.index:
        return None
    return min(targets)


def _executed_by_all(code: MachineCode) -> set[int]:
    """Return the places that lie inside of no branch."""
    inside = set[int]()
    for inst in code.instructions:
        for source in inst.sources:
            if isinstance(source, Target):
                start, end = sorted((inst.index, source.index))
                inside.update(range(start + 1, end))
    return {inst.index for inst in code.instructions} - inside
