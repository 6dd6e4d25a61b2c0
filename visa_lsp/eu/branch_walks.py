"""Finds waits that are missing on a path that no launch takes: walks through the code as a thread whose lanes stay together.

Such a thread executes one side of a branch, with all lanes, and a branch continues at UIP. Each edge of the code is taken once, and once more behind
each jump back, until a call or the end. Operands whose place only a run knows are left out.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.eu.scoreboard import Hazard, Scoreboard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.eu.model import MachineCode, MachineInst
    from visa_lsp.isa.platforms import Platform

_MAX_STEPS: Final = 150  # behind a branch, because a message is waited for nearby
_ALL_STEPS: Final = 6_000
_BRANCHES: Final = ("if", "else", "goto", "jmpi", "break", "cont", "while")
_ENDS: Final = ("call", "calla", "ret", "brd", "brc")


def hazards_behind_branches(code: MachineCode, platform: Platform) -> Iterator[Hazard]:
    """Yield the hazards of the walks, each use once."""
    thread: Any = SimpleNamespace(frame=SimpleNamespace(emask=-1, code=None))
    instructions, left = code.instructions, _ALL_STEPS
    walks = [(Scoreboard(code, platform), 0, len(instructions), -1)]
    edges, reported = set[tuple[int, int, int]](), set[tuple[int, int]]()
    while walks and left > 0:
        board, place, steps, back = walks.pop()
        while place < len(instructions) and steps > 0:
            inst = instructions[place]
            board.before(thread, inst)
            steps, left, place = steps - 1, left - 1, place + 1
            if inst.op in _ENDS or "EOT" in inst.options:
                break
            target = _target(inst)
            if target is None:
                continue
            edge = back, inst.index, target
            is_new = edge not in edges
            edges.add(edge)
            last_jump = inst.index if target <= inst.index else back
            if inst.guard is None:
                if not is_new:
                    break
                place, steps, back = target, _MAX_STEPS, last_jump
            elif is_new:
                walks.append((board.fork(thread), target, _MAX_STEPS, last_jump))
        for hazard in board.hazards():
            use = hazard.inst.index, hazard.behind.index
            if use not in reported:
                reported.add(use)
                yield hazard


def _target(inst: MachineInst) -> int | None:
    """Return the place where all lanes continue if they take a branch; None for other instructions."""
    if inst.op not in _BRANCHES or not inst.targets:
        return None
    return inst.targets[0] if inst.op == "if" else inst.targets[-1]
