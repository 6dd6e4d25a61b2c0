"""The registers of a stopped thread as a table: variables, predicates and addresses against lanes.

Values only, for a view that shows them side by side. Invariant: a row has a text for each lane, or fewer if the
variable has fewer elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from visa_lsp.debug.cells import Cells, DebugError, FrameCells, texts_of
from visa_lsp.sim.faults import KernelFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.debug.debugger import Debugger
    from visa_lsp.debug.stops import Activation


def lanes_table(debugger: Debugger, activation: Activation, style: str = "") -> dict[str, Any]:
    """Return the table of an activation: ``lanes``, ``active`` and ``rows`` of the custom request."""
    cells = debugger.cells(activation)
    count = debugger.launch.dispatch.simd
    before, now = debugger.before(activation.frame), activation.frame.regs.tobytes()
    rows = []
    for row_cells in _all(cells):
        size = row_cells.data.itemsize
        values = texts_of(row_cells.values()[:count], style)
        changed = [False] * len(values)
        if before and row_cells.where is not None and row_cells.where[0] == "grf":
            starts = range(row_cells.where[1], row_cells.where[1] + size * len(values), size)
            changed = [before[start : start + size] != now[start : start + size] for start in starts]
        rows.append(
            {
                "name": row_cells.name,
                "type": row_cells.type,
                "kind": row_cells.kind,
                "values": values,
                "changed": changed,
            }
        )
    active = activation.frame.emask
    return {"lanes": count, "active": [bool(active >> lane & 1) for lane in range(count)], "rows": rows}


def _all(cells: FrameCells) -> Iterator[Cells]:
    kernel = cells.code.kernel
    for number in cells.body.declared:
        try:
            yield cells.variable(number)
        except (KernelFault, DebugError):
            continue
    for number in range(1, len(kernel.predicates) + 1):
        yield cells.predicate(number)
    for number in range(len(kernel.addresses)):
        yield cells.address(number)
