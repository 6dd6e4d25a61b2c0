"""A witness of the values of messages: what the interpreter accesses must be what ``program.message`` says.

For each message that is executed it works out, from the value and the registers, the bytes of memory and of registers
that the message should touch, and compares them with those that the simulator reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.isa.model import Role
from visa_lsp.program.message import (
    BlockMessage,
    ElementMessage,
    TexelMessage,
    register_bytes,
    understood_message_of,
)
from visa_lsp.program.model import RawOperand
from visa_lsp.sim.image_messages import as_image, axes
from visa_lsp.sim.messages import SLM_MASK
from visa_lsp.sim.observers.hooks import Observer
from visa_lsp.sim.operands import Site, make_enable

if TYPE_CHECKING:
    from visa_lsp.program.model import Inst
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.observers.hooks import MemoryAccess
    from visa_lsp.sim.registers import Frame

KINDS = {MemoryUse.READ: "read", MemoryUse.WRITE: "write", MemoryUse.ATOMIC: "atomic"}
MESSAGES = (ElementMessage, TexelMessage, BlockMessage)


class MessageWitness(Observer):
    """Collects the messages whose accesses are not those of their value."""

    wants_instructions = True

    def __init__(self) -> None:
        self.differences: list[str] = []
        self.count = 0
        self._accesses: list[MemoryAccess] = []
        self._before = np.zeros(0, np.uint8)
        self._active: list[int] = []

    def concerns(self, code: Code, pc: int) -> bool:
        """Return whether an instruction is a message to memory or to texels."""
        return isinstance(understood_message_of(code.kernel.instructions[pc]), MESSAGES)

    def on_read(self, access: MemoryAccess) -> None:
        """Keep an access."""
        self._accesses.append(access)

    def on_write(self, access: MemoryAccess) -> None:
        """Keep an access."""
        self._accesses.append(access)

    def before_instruction(self, thread: Thread, pc: int) -> None:
        """Keep the registers and the active lanes."""
        frame = thread.frame
        message = understood_message_of(frame.code.kernel.instructions[pc])
        self._accesses, self._before = [], frame.regs.copy()
        enable = make_enable(message.control, message.guard)(frame)
        self._active = [lane for lane in range(message.control.exec_size) if enable >> lane & 1]

    def after_instruction(self, thread: Thread, frame: Frame, pc: int) -> None:
        """Compare the accesses with the value of the message."""
        inst = frame.code.kernel.instructions[pc]
        message = understood_message_of(inst)
        self.count += 1
        after, frame.regs[:] = frame.regs.copy(), self._before
        expected = _memory_bytes(frame, inst, pc, message, self._active, self._accesses)
        frame.regs[:] = after
        observed = sorted((a.kind, int(at), a.size) for a in self._accesses for at in a.places)
        if expected is not None and expected != observed:
            self.differences.append(f"{inst.row.mnemonic} {pc}: value {expected[:9]}, interpreter {observed[:9]}")
        if any(a.alignment != message.alignment for a in self._accesses if isinstance(message, ElementMessage)):
            self.differences.append(f"{inst.row.mnemonic} {pc}: alignment {message.alignment}")
        for write in (False, True):
            ours, theirs = _register_bytes(frame.code, inst, message, write), _bytes_of_touches(frame.code, pc, write)
            if ours != theirs:
                self.differences.append(
                    f"{inst.row.mnemonic} {pc}: registers {'written' if write else 'read'}: value without "
                    f"{sorted(theirs - ours)[:9]}, interpreter without {sorted(ours - theirs)[:9]}"
                )


def _bytes_of_touches(code: Code, pc: int, write: bool) -> set[int]:
    """Return the bytes of raw operands that the simulator records."""
    return {int(b) for t in code.touches.get(pc, []) if t.raw and t.write is write for b in t.places.reshape(-1)}


def _register_bytes(code: Code, inst: Inst, message, write: bool) -> set[int]:
    """Return the bytes of raw operands by the value."""
    written = {slot.name for slot in inst.row.slots if slot.role is Role.WRITE}
    found: set[int] = set()
    for part in register_bytes(message, code.layout.grf_bytes):
        operand = inst.get(part.field)
        if isinstance(operand, RawOperand) and operand.var and (part.field in written) is write:
            start = code.layout.offset(operand.var) + operand.offset
            found.update(start + byte for byte in range(part.end) if part.mask >> byte & 1)
    return found


def _lanes_of(frame: Frame, operand: RawOperand, kind: str, lanes: int) -> list[int]:
    if not operand.var:
        return [0] * lanes
    start = frame.code.layout.offset(operand.var) + operand.offset
    return [int(one) for one in np.frombuffer(frame.regs[start : start + lanes * int(kind[2])].tobytes(), kind)]


def _kind(type_) -> str:
    return f"<{'i' if type_.is_signed else 'u'}{type_.size}"


def _memory_bytes(frame: Frame, inst: Inst, pc: int, message, active: list[int], accesses: list[MemoryAccess]):
    """Return (kind, place, size) of each element; None if they depend on an image that is not bound."""
    space = accesses[0].space if accesses else None
    kind = KINDS.get(message.use, "")
    if isinstance(message, ElementMessage):
        places = _element_places(frame, inst, pc, message, active)
        mask = SLM_MASK if space is frame.thread.group.slm else -1
        return sorted((kind, at & mask, message.size) for at in places)
    image = as_image(space) if space is not None else None
    if isinstance(message, TexelMessage):
        if not active or message.use is MemoryUse.TEST:
            return []
        if space is None or image is None:
            return None
        return _texel_places(frame, message, active, kind, image)
    site = Site(frame.code, inst, pc)
    if message.is_matrix:
        return _matrix_places(frame, site, message, active, kind)
    if message.edge or image is None:
        return None  # only the model knows the pixels at the edge
    x, y = (
        (site.scalar(name)(frame) + (1 << 31)) % (1 << 32) - (1 << 31) + by
        for name, by in zip(message.corner, message.offset, strict=True)
    )
    rows = [row for row in range(y, y + message.height) if 0 <= row < image.height]
    columns = [c for c in range(x, x + message.width) if 0 <= c < image.width * image.texel_bytes]
    return sorted((kind, row * image.pitch + column, 1) for row in rows for column in columns)


def _matrix_places(frame: Frame, site: Site, message: BlockMessage, active: list[int], kind: str):
    if not active:
        return []
    if message.described:
        start = frame.code.layout.offset(site.inst.get("addr0").var)
        low, high, *rest = np.frombuffer(frame.regs[start : start + 28].tobytes(), "<u4").tolist()
        base, last_x, last_y, pitch, *corner = [low | high << 32, *rest]
    else:
        base, last_x, last_y, pitch, *corner = (site.scalar(f"addr{i}")(frame) for i in range(6))
    x, y = (_to_signed(c << 32) // (1 << 32) + by for c, by in zip(corner, message.offset, strict=True))
    columns, size = range(x, x + message.blocks * message.width), message.size
    return sorted(
        (kind, _to_signed(base + row * (pitch + 1) + column * size), size)
        for row in range(y, y + message.height)
        for column in columns
        if 0 <= row <= last_y and column >= 0 and (column + 1) * size <= last_x + 1
    )


def _element_places(frame: Frame, inst: Inst, pc: int, message: ElementMessage, active: list[int]) -> list[int]:
    if message.use is MemoryUse.TEST or message.fetches:
        return []
    site, address = Site(frame.code, inst, pc), message.address
    lanes = message.control.exec_size
    if isinstance(address.operand, RawOperand):
        count = 1 if message.single or address.strided else lanes
        values = _lanes_of(frame, address.operand, _kind(address.type), count)
    else:
        values = [site.scalar_of(address.operand)(frame)]
    common = site.scalar_of(address.common)(frame)
    sums = [value * address.scale + address.offset + common for value in values]
    if address.wraps:
        sums = [value % (1 << 32) for value in sums]
    base = site.scalar_of(address.base)(frame)
    starts = [value * address.unit + base for value in sums]
    if address.strided:
        pitch = site.scalar_of(address.pitch)(frame) or len(message.elements) * message.size
        starts = [starts[0] + lane * pitch for lane in range(lanes)]
    on = ([0] if 0 in active else []) if message.single else active
    return [_to_signed(starts[lane] + n * message.size) for lane in on for n in message.elements]


def _to_signed(address: int) -> int:
    return (address + (1 << 63)) % (1 << 64) - (1 << 63)


def _texel_places(frame: Frame, message: TexelMessage, active: list[int], kind: str, image):
    lanes = message.control.exec_size
    u, v, r = (
        np.array([n + one.offset for n in _lanes_of(frame, one.operand, _kind(message.type), lanes)], np.int64)[active]
        for one in message.coordinates
    )
    if message.sample is not None:
        samples = np.array(_lanes_of(frame, message.sample.operand, _kind(message.type), lanes))[active]
        u = np.where(samples == 0, u, -1)
    at, inside = image.texel_offsets(*axes(image.form, u, v, r))
    size = message.size if message.use is MemoryUse.ATOMIC else image.texel_bytes
    return sorted((kind, int(one), size) for one in np.where(inside, at, image.size))
