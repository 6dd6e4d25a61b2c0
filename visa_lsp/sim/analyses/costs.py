"""The costs of a body for the engines, as far as its text tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.isa.message_forms import TexelForm
from visa_lsp.program.message import is_message
from visa_lsp.sim.analyses.modes import branches

if TYPE_CHECKING:
    from visa_lsp.program.model import Kernel

MAX_INSTRUCTIONS: Final = 8_000  # of a compiled body: some six seconds
TEXEL: Final = 40  # further instructions whose compilation takes as long as that of a message that moves texels


class Costs(NamedTuple):
    """``stretches`` has, for each place, the number of instructions to the next branch, and of the messages among them."""

    stretches: list[tuple[int, int]]
    size: int  # how long compiling takes, in instructions


def is_large(kernel: Kernel) -> bool:
    """Return whether a body has too many instructions to be compiled."""
    return len(kernel.instructions) > MAX_INSTRUCTIONS


def find_costs(kernel: Kernel) -> Costs:
    """Return the costs of a body."""
    stretches = [(0, 0)]
    for inst in reversed(kernel.instructions):
        count, messages = stretches[-1]
        stretches.append((0, 0) if branches(inst) else (count + 1, messages + is_message(inst.row.meaning)))
    size = sum(1 + TEXEL * isinstance(inst.row.meaning, TexelForm) for inst in kernel.instructions)
    return Costs(stretches[::-1], size)
