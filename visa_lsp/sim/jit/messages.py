"""The messages that have a compiled form, by the name of their effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from llvmlite import ir

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.sim.group import GLOBAL, SHARED
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.emitter import I64, Emitter
from visa_lsp.sim.jit.lsc import LSC
from visa_lsp.sim.jit.scattered import SCATTERED

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Site


def _fence(memory: int) -> Callable[[Emitter, Site], None]:
    """Memory is in order anyway; where checkers watch, the thread notes which memory is meant."""

    def emit(e: Emitter, site: Site) -> None:
        if not e.watched:
            return
        meant = memory or (SHARED if site.integer("sfid") == codes.SFID_SLM else GLOBAL)
        fenced = e.word(e.block, state.FENCED)
        e.put_word(e.block, state.FENCED, e.builder.or_(fenced, ir.Constant(I64, meant)))

    return emit


def _nothing(_e: Emitter, _site: Site) -> None:
    """Emit nothing, as the interpreter does nothing either."""


MESSAGES: Final[dict[str, Callable[[Emitter, Site], None]]] = {
    **SCATTERED,
    **LSC,
    "fence": _fence(0),
    "fence_global": _fence(GLOBAL),
    "fence_shared": _fence(SHARED),
    "wait": _nothing,
}
