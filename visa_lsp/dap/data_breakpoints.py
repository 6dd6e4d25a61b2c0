"""Targets of data breakpoints: the request that names them, and their ids.

Invariant: an id means the same bytes for the rest of the session.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.dap.request_arguments import RequestError, flag, text, whole
from visa_lsp.debug.breakpoints import ACCESSES, watch_range

if TYPE_CHECKING:
    from visa_lsp.dap.state import DebugState
    from visa_lsp.debug.cells import Cells, FrameCells

    Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WatchedPlace:
    """The place of a data id: elements, or ``size`` bytes from the first of them on."""

    cells: Cells
    around: FrameCells
    size: int


def data_breakpoint_info(session: DebugState, args: Body) -> Body:
    """Return the data id and access types of a variable, an element, or ``bytes`` bytes from there on.

    ``name`` is an expression that names elements (``V0051[3]``, ``slm[4]``, ``V32:ub[5]``, ``P1``), or an entry of the row of
    ``variablesReference``. Raises RequestError for a value without a place.
    """
    view, debugger = session.view, session.debugger
    name = text(args, "name")
    if flag(args, "asAddress"):
        raise RequestError("an address has no variable; name an argument, such as x[3], or slm[3]")
    reference = whole(args, "variablesReference", 0)
    if reference:
        name = view.expression(debugger, reference, name)
    activation = view.activation(session, args)
    cells = view.cells(debugger, activation, name)
    size = whole(args, "bytes", 0, 0)
    watch_range(cells, size)
    key = json.dumps([name, debugger.number(activation.thread), activation.place.body, size])
    session.points.data[key] = WatchedPlace(cells, debugger.cells(activation), size)
    words = f"{name}, {size} bytes" if size else name
    return {"dataId": key, "description": words, "accessTypes": list(ACCESSES), "canPersist": False}


def subject(session: DebugState, data_id: str) -> WatchedPlace:
    """Return the place of an id. Raises RequestError for an unknown id."""
    place: WatchedPlace | None = session.points.data.get(data_id)
    if place is None:
        raise RequestError("unknown data id; request dataBreakpointInfo first")
    return place


HANDLERS: Final = {"dataBreakpointInfo": data_breakpoint_info}
