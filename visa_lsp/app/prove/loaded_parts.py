"""The parts of a load that the kernel reads, because compilers load elements between two that they need.

Knows the live bytes of registers. Invariant: nothing reads a part that is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.app.read.accesses import access_of
from visa_lsp.flow.steps import Space, variable_key

if TYPE_CHECKING:
    from visa_lsp.app.prove.spaces import ItemAccess
    from visa_lsp.app.read.effects import Effects
    from visa_lsp.program.model import Kernel


def find_loaded_parts(access: ItemAccess, kernel: Kernel, effects: Effects, grf_bytes: int) -> list[tuple[int, int]]:
    """Return the first byte and the size of each part of an access that the kernel reads, or of a store writes."""
    place = access.instruction
    load = access_of(kernel.instructions[place], place)
    whole = [(0, access.size)]
    if access.write or load is None or len(load.elements) == 1:
        return whole
    where = effects.storage.general.get(load.data.var)
    low = min(load.elements)
    if where is None or not load.data.var or (max(load.elements) + 1 - low) * load.size != access.size:
        return whole
    used = load.cell if load.single else load.control.exec_size * load.cell
    row = used if load.single else -(-used // grf_bytes) * grf_bytes
    start = where.offset + load.data.offset
    live = effects.live_behind(place, variable_key(Space.GENERAL, where.root))
    parts = [
        ((element - low) * load.size, load.size)
        for at, element in enumerate(load.elements)
        if live >> start + at * row & (1 << used) - 1
    ]
    return parts if len(parts) < len(load.elements) else whole


def has_unread_parts(access: ItemAccess, kernel: Kernel, effects: Effects, grf_bytes: int) -> bool:
    """Return whether an access loads bytes that nothing reads."""
    return sum(size for _, size in find_loaded_parts(access, kernel, effects, grf_bytes)) < access.size
