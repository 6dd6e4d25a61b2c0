"""The bodies of effects: meanings beyond one value per lane, by the names in the rows.

Each module has a table ``EFFECTS`` from names to builders; a builder compiles one instruction at its ``Site``. The
interpreter reports effects without a builder as not modelled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.sim.effects import (
    blocks,
    control_flow,
    horizontal,
    images,
    lsc,
    matrix,
    moves,
    sampling,
    scattered,
    sync,
    wide,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Op, Site

EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    **moves.EFFECTS,
    **wide.EFFECTS,
    **horizontal.EFFECTS,
    **control_flow.EFFECTS,
    **sync.EFFECTS,
    **scattered.EFFECTS,
    **blocks.EFFECTS,
    **lsc.EFFECTS,
    **matrix.EFFECTS,
    **images.EFFECTS,
    **sampling.EFFECTS,
}
