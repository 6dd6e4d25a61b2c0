"""The bodies of effects: meanings beyond one value per lane, by the names in the rows.

Most modules have a table ``EFFECTS`` from names to builders; a builder compiles one instruction at its ``Site``. Messages to
memory and fences have one builder for each kind of form. The interpreter reports effects without a builder as not modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.lane import Effect
from visa_lsp.isa.message_forms import BlockForm, ElementForm, FenceForm, TexelForm
from visa_lsp.isa.table import TABLE
from visa_lsp.sim.effects import (
    control_flow,
    elements,
    horizontal,
    images,
    matrix,
    moves,
    rectangles,
    sampling,
    sync,
    wide,
)

if TYPE_CHECKING:
    from visa_lsp.sim.operands import Op, Site

_BY_FORM: Final[dict[type[Effect], Callable[[Site], Op]]] = {
    ElementForm: elements.make_element_op,
    TexelForm: images.make_texel_op,
    BlockForm: rectangles.make_block_op,
    FenceForm: sync.make_fence,
}
EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    **moves.EFFECTS,
    **wide.EFFECTS,
    **horizontal.EFFECTS,
    **control_flow.EFFECTS,
    **sync.EFFECTS,
    **matrix.EFFECTS,
    **sampling.EFFECTS,
    **{
        row.meaning.name: _BY_FORM[type(row.meaning)]
        for row in TABLE.rows
        if isinstance(row.meaning, Effect) and type(row.meaning) in _BY_FORM
    },
}
