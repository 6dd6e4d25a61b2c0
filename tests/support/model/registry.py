"""The model function of each row: the model's own dispatch over the meanings that rows name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.model import lanes, lsc, matrix, messages, moves, sampler, typed
from visa_lsp.isa.lane import Effect, Lane

if TYPE_CHECKING:
    from tests.support.model.state import State
    from visa_lsp.isa.model import Instruction
    from visa_lsp.program.model import Inst

EFFECTS = {
    **lanes.EFFECTS,
    **moves.EFFECTS,
    **messages.EFFECTS,
    **lsc.EFFECTS,
    **typed.EFFECTS,
    **matrix.EFFECTS,
    **sampler.EFFECTS,
}
# Media threads run in an order that satisfies every dependency, so that ``wait`` has nothing to wait for.
NOTHING = frozenset({"nop", "fence", "fence_global", "fence_shared", "wait"})


def model_of(row: Instruction):
    """Return the function that executes a row on a state; None if there is none."""
    match row.meaning:
        case Lane():
            return lanes.lane
        case Effect(name):
            return (lambda _state, _inst: None) if name in NOTHING else EFFECTS.get(name)
    return None


def execute(state: State, inst: Inst) -> None:
    """Execute one instruction. LookupError names a row without a model."""
    model = model_of(inst.row)
    if model is None:
        raise LookupError(f"{inst.row.mnemonic} has no independent model")
    model(state, inst)
