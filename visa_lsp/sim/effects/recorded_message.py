"""Messages without a software model are recorded with their payload; the destination is zero, and the run continues.

Motion estimation, the video scaler, render targets, the unified return buffer, messages written by hand, and the few
instructions whose arithmetic is not described in public. The report lists the payloads without guesses. An instruction
without an active lane sends nothing; a message that ends the thread does end it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa.model import FieldKind, Role, Trait
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import NULL_RAW, AddressOf, General, Immediate, Indirect, RawOperand, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Op, Site
    from visa_lsp.sim.registers import Frame

    Part = Callable[[Frame], bytes]

_END: Final = -1
# Fields that give the length of an operand, in registers.
_LENGTHS: Final = {
    "src": ("nsrc",),
    "src0": ("nsrc0", "src0_len"),
    "src1": ("nsrc1", "src1_len"),
    "dst": ("ndst", "dst_len"),
    "data": ("nout",),
}


def record(site: Site, reason: str) -> Op:
    """Record the payload for the report; ``reason``: why the message is not executed."""
    parts = list(_parts(site))
    targets = [t for slot in site.inst.row.slots if slot.role is Role.WRITE for t in _targets(site, slot.name)]
    enable = site.enable() if site.has("exec") else None
    ends = site.inst.row.has(Trait.ENDS)
    pc = site.pc

    def op(f: Frame) -> int | None:
        if enable is not None and not enable(f):
            return None
        thread = f.thread
        assert thread is not None
        thread.machine.record_message(thread, pc, reason, lambda: [(name, part(f)) for name, part in parts])
        for clear in targets:
            clear(f)
        return _END if ends else None

    return op


def _parts(site: Site) -> list[tuple[str, Part]]:
    """Return the payload, operand by operand: a name, and a function for its bytes."""
    parts: list[tuple[str, Part]] = []
    written = {slot.name for slot in site.inst.row.slots if slot.role is Role.WRITE}
    for field, value in zip(site.inst.row.fields, site.inst.values, strict=True):
        if field.name in written or isinstance(value, ExecControl):
            continue
        if field.kind in (FieldKind.SURFACE, FieldKind.SAMPLER) and isinstance(value, int):
            parts.append((field.name, _state(site, value, sampler=field.kind is FieldKind.SAMPLER)))
            continue
        several = field.kind in (FieldKind.RAWS, FieldKind.VECTORS) and isinstance(value, tuple)
        for i, operand in enumerate(value if several and isinstance(value, tuple) else (value,)):
            part = _bytes(site, operand, field.name)
            if part is not None:
                parts.append((f"{field.name}{i}" if several else field.name, part))
    return parts


def _state(site: Site, number: int, *, sampler: bool) -> Part:
    layout = site.code.layout
    if sampler:
        cell = layout.sampler_base[number] if number < len(layout.sampler_base) else layout.sampler_cells - 1
        return lambda f: (f.samplers[cell] & 0xFFFFFFFF).to_bytes(4, "little")
    cell = layout.surface_base[number] if number < len(layout.surface_base) else 0
    return lambda f: (f.surfaces[cell] & 0xFFFFFFFF).to_bytes(4, "little")


def _bytes(site: Site, operand: Value, name: str) -> Part | None:
    if isinstance(operand, RawOperand):
        size = _size(site, operand, name)
        view = site.raw_view(operand, "u1", 1, size, size) if size else None
        return None if view is None else lambda f: f.views[view].tobytes()
    if isinstance(operand, General | Immediate | Indirect) and not isinstance(operand, AddressOf):
        if isinstance(operand, General) and operand.var == 0:
            return None
        fetch = site.read(operand)
        return lambda f: np.ascontiguousarray(fetch(f)).tobytes()
    return None


def _size(site: Site, operand: RawOperand, name: str) -> int:
    """Return the size of a raw operand in bytes: as many registers as its length field, else to the end of its variable."""
    rest = site.code.layout.byte_size(operand.var) - operand.offset if operand != NULL_RAW else 0
    given = next((site.integer(n) * site.grf for n in _LENGTHS.get(name, ()) if site.has(n)), None)
    return max(0, rest if given is None else min(given, rest))


def _targets(site: Site, name: str) -> list[Callable[[Frame], None]]:
    operand: Any = site.inst.get(name)
    if isinstance(operand, RawOperand):
        size = _size(site, operand, name)
        view = site.raw_view(operand, "u1", 1, size, size) if size and operand.var else None
        return [] if view is None else [lambda f: f.views[view].fill(0)]
    if isinstance(operand, General | Indirect):
        store, enable = site.write(operand), site.enable()
        zero = np.zeros(1, np.uint8)
        return [lambda f: store(f, enable(f), zero)]
    return []
