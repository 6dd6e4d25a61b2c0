"""Messages of the machine: a row for each operation of a shared function, from descriptor bits to the message values of texts.

``program.message`` has the values (memory, addresses, elements, registers, atomic update), ``sim`` executes them. Facts about
descriptors are those that iga prints as words and that an open driver documents (Mesa, ``brw_eu_defines.h``); a
descriptor without a row is named in the report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import structs

from visa_lsp.eu.machine_effects import END, barrier_of
from visa_lsp.eu.model import BASE_STEP, LAST_XE_LP, Direct, MachineInst, Payload, Register, barrier_byte
from visa_lsp.eu.site import MachineSite, Unmodelled, payload
from visa_lsp.isa import types as ty
from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.isa.operands import SCALAR_REGION
from visa_lsp.program.message import (
    FLAT,
    SCRATCH_VARIABLE,
    SLM_INDEX,
    STATELESS_INDEXES,
    Addresses,
    BlockMessage,
    Coordinate,
    ElementMessage,
    MemoryKind,
    MessageMemory,
    SampleMessage,
    TexelMessage,
    channels_of,
)
from visa_lsp.program.model import General, Immediate, RawOperand
from visa_lsp.sim.effects.elements import make_element_op
from visa_lsp.sim.effects.images import make_texel_op
from visa_lsp.sim.effects.rectangles import make_block_op
from visa_lsp.sim.effects.sampling import EFFECTS as SAMPLING
from visa_lsp.sim.faults import FaultKind, KernelFault
from visa_lsp.sim.group import GLOBAL, SHARED
from visa_lsp.sim.operands import lane_mask

if TYPE_CHECKING:
    from visa_lsp.sim.operands import Op
    from visa_lsp.sim.registers import Frame

READ, WRITE, ATOMIC = MemoryUse.READ, MemoryUse.WRITE, MemoryUse.ATOMIC
_BINDLESS: Final = 252
_HWORD: Final = 32  # bytes
_BASE_IN_HEADER: Final = 20  # byte of the base that addresses without a surface are relative to
_SCRATCH: Final = MessageMemory(MemoryKind.VARIABLE, SCRATCH_VARIABLE)
_SHARED: Final = MessageMemory(MemoryKind.SHARED)
_OWORDS: Final = (1, 1, 2, 4, 8, 16)
_VECTOR: Final = (1, 2, 3, 4, 8, 16, 32, 64)
# Bytes in memory and in a lane's register, and whether they lie in its upper half, by the code of the size.
_SIZES: Final = ((1, 1, False), (2, 2, False), (4, 4, False), (8, 8, False), (1, 4, False), (2, 4, False), (2, 4, True))
_ADDRESS_TYPES: Final = {1: ty.UW, 2: ty.UD, 3: ty.UQ}
_LSC_UPDATES: Final = {
    8: "inc", 9: "dec", 10: "load", 11: "xchg", 12: "add", 13: "sub", 14: "minsint", 15: "maxsint", 16: "min", 17: "max",
    18: "icas", 19: "fadd", 20: "fsub", 21: "fmin", 22: "fmax", 23: "fcmpwr", 24: "and", 25: "or", 26: "xor",
}  # fmt: skip
_UPDATES: Final = {
    1: "and", 2: "or", 3: "xor", 4: "xchg", 5: "inc", 6: "dec", 7: "add", 8: "sub", 10: "maxsint", 11: "minsint",
    12: "max", 13: "min", 14: "icas", 15: "predec",
}  # fmt: skip
_FLOAT_UPDATES: Final = {1: "fmax", 2: "fmin", 3: "fcmpwr", 4: "fadd"}
_SOURCES: Final = {"inc": 0, "dec": 0, "predec": 0, "load": 0, "icas": 2, "cmpxchg": 2, "fcmpwr": 2}
# Operation of the sampler: its builder and the parameters of its payload.
_SAMPLES: Final[dict[int, tuple[str, tuple[str, ...], str]]] = {
    0: ("sample_3d", ("u", "v", "r", "ai"), "f"),
    1: ("sample_3d", ("bias", "u", "v", "r", "ai"), "f"),
    2: ("sample_3d", ("lod", "u", "v", "r", "ai"), "f"),
    3: ("sample_3d", ("ref", "u", "v", "r", "ai"), "f"),
    7: ("load_3d", ("u", "v", "lod", "r"), "i"),
    8: ("sample4", ("u", "v", "r", "ai"), "f"),
    10: ("resinfo", ("lod",), "i"),
    24: ("sample_3d", ("u", "v", "r", "ai"), "f"),
    25: ("sample_3d", ("ref", "u", "v", "r", "ai"), "f"),
    26: ("load_3d", ("u", "v", "r"), "i"),
}


@dataclass(slots=True)
class Sent:
    """A message with known descriptors: ``bits`` and ``extended``, and the parts of its payload."""

    site: MachineSite
    bits: int
    extended: int
    address: Payload
    data: Any

    @property
    def inst(self) -> MachineInst:
        """The instruction."""
        return self.site.machine

    def field(self, low: int, count: int) -> int:
        """Return bits of the descriptor."""
        return self.bits >> low & (1 << count) - 1

    @property
    def header(self) -> int:
        """The bytes of the header before the addresses."""
        return self.site.grf if self.bits >> 19 & 1 else 0

    @property
    def length(self) -> int:
        """The bytes of the payload: both parts, which follow one another."""
        return self.first + (self.data.registers or 0 if isinstance(self.data, Payload) else 0) * self.site.grf

    @property
    def first(self) -> int:
        """The bytes of the first part of the payload."""
        return (self.address.registers or self.field(25, 4)) * self.site.grf

    def part(self, start: int, type_: ty.DataType = ty.UD) -> RawOperand:
        """Return the registers at a byte of the payload; the null register behind its end."""
        if start < self.first:
            return payload(self.address, start, type_)
        return payload(self.data, start - self.first, type_) if start < self.length else RawOperand(0, 0)

    def row(self, cell: int) -> int:
        """Return the bytes of registers that hold a cell for each lane."""
        grf = self.site.grf
        return -(-self.inst.lanes * cell // grf) * grf


Build = Callable[[Sent], "Op"]


@dataclass(frozen=True, slots=True)
class MessageRow:
    """An operation of a shared function: ``code`` by which its descriptor names it, None for all codes."""

    function: str
    code: int | None
    build: Build


def message(site: MachineSite) -> Op:
    """Return the op of a message. Descriptors in registers are decoded when they are first seen.

    Raises Unmodelled if there is no row for the descriptor.
    """
    inst = site.machine
    if "EOT" in inst.options:
        return lambda _f: END
    if inst.op not in ("send", "sends", "sendc"):
        raise Unmodelled(inst.op)
    address, data, extended, bits = inst.sources[:4]
    if not isinstance(address, Payload):
        raise Unmodelled(f"{inst.name} without payload")
    gathered = address.register.kind == "s"
    if gathered:
        address = Payload(address.register, site.starts["gather"], address.registers, address.offset)
    ops_by_descriptor: dict[tuple[int, int], Op] = {}

    def build(bits_value: int, extended_value: int) -> Op:
        sent = Sent(MachineSite(site.program, inst, site.pc), bits_value, extended_value, address, data)
        if gathered and inst.subop in ("ugm", "slm"):
            _split_gathered(sent)
        return row_of(sent).build(sent)

    if isinstance(bits, Immediate) and isinstance(extended, Immediate):
        op = build(bits.bits & 0xFFFFFFFF, extended.bits & 0xFFFFFFFF)
    else:
        read_bits, read_extended = site.scalar_of(bits), site.scalar_of(extended)

        def op(f: Frame) -> int | None:
            key = read_bits(f) & 0xFFFFFFFF, read_extended(f) & 0xFFFFFFFF
            compiled = ops_by_descriptor.get(key)
            if compiled is None:
                with site.program.let_grow():
                    compiled = ops_by_descriptor[key] = build(*key)
            return compiled(f)

    return _gather(site, op) if gathered else op


def _split_gathered(sent: Sent) -> None:
    """Give the gathered registers after those of the addresses to the data."""
    rows = sent.row((1, 2, 4, 8)[sent.field(7, 2)]) // sent.site.grf
    total = sent.address.registers or sent.field(25, 4)
    gathered = sent.address
    sent.address = Payload(gathered.register, gathered.start, rows, gathered.offset)
    sent.data = Payload(gathered.register, gathered.start + rows * sent.site.grf, total - rows)


def _gather(site: MachineSite, op: Op) -> Op:
    """Return the op of a message whose registers a scalar register lists, a byte for each."""
    address = site.machine.sources[0]
    assert isinstance(address, Payload)
    numbers_start, grf, start = site.starts["s"] + 32 * address.register.number, site.grf, site.starts["gather"]
    numbers_start += 8 * address.register.element
    count = address.registers or 1

    def gathered(f: Frame) -> int | None:
        for n, number in enumerate(f.regs[numbers_start : numbers_start + count].tolist()):
            f.regs[start + n * grf : start + (n + 1) * grf] = f.regs[number * grf : (number + 1) * grf]
        return op(f)

    return gathered


def row_of(sent: Sent) -> MessageRow:
    """Return the row of a message. Raises Unmodelled if there is none."""
    function = sent.inst.subop
    code = sent.field(0, 6) if function in ("ugm", "ugml", "slm", "tgm") else sent.field(14, 5)
    code = sent.field(12, 5) if function == "smpl" else code
    row = _ROWS.get((function, code)) or _ROWS.get((function, None))
    if row is None:
        words = f" ({sent.inst.comment})" if sent.inst.comment else ""
        raise Unmodelled(f"send.{function} operation {code}{words}")
    return row


# ---- the memory of a message


def _memory(sent: Sent) -> MessageMemory:
    """Return the memory that a descriptor names: by a table index for older functions, by an address type for newer ones."""
    if sent.inst.subop in ("ugm", "ugml", "slm", "tgm"):
        return _lsc_memory(sent)
    index = sent.field(0, 8)
    if index == SLM_INDEX:
        return _SHARED
    if index in STATELESS_INDEXES:
        return FLAT
    if index == _BINDLESS:
        return MessageMemory(MemoryKind.STATE, operand=_handle(sent), model="bss")
    return MessageMemory(MemoryKind.BINDING, index)


def _lsc_memory(sent: Sent) -> MessageMemory:
    kind = sent.field(29, 2)
    if sent.inst.subop == "slm":
        return _SHARED
    if kind == 0:
        return FLAT
    if kind == 3:
        index = sent.extended >> 24 & 255
        return FLAT if index in STATELESS_INDEXES else MessageMemory(MemoryKind.BINDING, index)
    if kind == 2:
        return _SCRATCH
    return MessageMemory(MemoryKind.STATE, operand=_handle(sent), model="bss")


def _handle(sent: Sent) -> Any:
    """Return the handle of a bindless surface: the extended descriptor."""
    extended = sent.inst.sources[2]
    register = sent.inst.surface if isinstance(sent.inst.surface, Register) else None
    if isinstance(extended, Direct):
        return extended
    return register if register is not None else Immediate(ty.UD, sent.extended)


# ---- elements


def _elements(
    sent: Sent, use: MemoryUse, address: Addresses, size: int, cell: int, elements: tuple[int, ...], *,
    single: bool = False, high: bool = False, update: str = "", memory: MessageMemory | None = None,
) -> Op:  # fmt: skip
    """Return the op of a message of elements."""
    site, inst = sent.site, sent.inst
    type_ = ty.UQ if cell == 8 else ty.UD
    count = _SOURCES.get(update, 1) if use is ATOMIC else 0
    step = sent.row(cell)
    if count > 1 and isinstance(sent.data, Payload) and sent.data.registers:
        step = sent.data.registers * site.grf // count  # messages of 8 lanes may leave room for 16
    if use is READ:
        data = payload(inst.dst, type_=type_)
    elif use is WRITE:
        data = payload(sent.data, type_=type_)
    else:
        data = payload(inst.dst, type_=type_)
    sources = [payload(sent.data, step * n, type_) if n < count else RawOperand(0, 0) for n in range(2)]
    site.give(data=data, first=sources[0], second=sources[1])
    site.value = ElementMessage(
        use, memory or _memory(sent), address, "data", data, size, cell, 2 if high else 0, elements, single,
        1 if use is not ATOMIC else size, site.control, None, False, update, ("first", "second") if use is ATOMIC else (),
        use is READ and data.var == 0,
    )  # fmt: skip
    return make_element_op(site)


def _addresses(sent: Sent, type_: ty.DataType, *, unit: int = 1, after: int | None = None) -> Addresses:
    start = payload(sent.address, sent.header if after is None else after, type_)
    return Addresses("address", start, type_, offset=sent.address.offset, unit=unit, wraps=type_ is not ty.UQ)


def _lsc(use: MemoryUse, *, quad: bool = False) -> Build:
    def build(sent: Sent) -> Op:
        size, cell, high = _SIZES[min(sent.field(9, 3), 6)]
        type_ = _ADDRESS_TYPES.get(sent.field(7, 2))
        if type_ is None:
            raise Unmodelled(f"send.{sent.inst.subop} with address size {sent.field(7, 2)}")
        if use is ATOMIC:
            address = _addresses(sent, type_, after=0)
            return _elements(sent, use, address, size, max(cell, 4), (0,), update=_LSC_UPDATES[sent.field(0, 6)])
        transposed = bool(sent.bits >> 15 & 1) and not quad
        elements = channels_of(sent.field(12, 4)) if quad else tuple(range(_VECTOR[sent.field(12, 3)]))
        address = _addresses(sent, type_, after=0)
        if not transposed and cell < 4:
            raise Unmodelled(f"send.{sent.inst.subop} of packed bytes or words")
        return _elements(sent, use, address, size, cell, elements, single=transposed, high=high)

    return build


def _untyped(use: MemoryUse, address: ty.DataType) -> Build:
    def build(sent: Sent) -> Op:
        return _elements(sent, use, _addresses(sent, address), 4, 4, channels_of(~sent.field(8, 4) & 15))

    return build


def _bytes(use: MemoryUse) -> Build:
    def build(sent: Sent) -> Op:
        return _elements(sent, use, _addresses(sent, ty.UD), 1 << sent.field(10, 2), 4, (0,))

    return build


def _scattered(use: MemoryUse) -> Build:
    """Return the builder of scattered messages with 64-bit addresses: bytes side by side, else elements in rows."""

    def build(sent: Sent) -> Op:
        size, count = (1, 4, 8, 16)[sent.field(8, 2)], 1 << sent.field(10, 2)
        address = _addresses(sent, ty.UQ)
        if size == 1:
            return _elements(sent, use, address, count, 4, (0,))
        return _elements(sent, use, address, size, size, tuple(range(count)))

    return build


def _atomic(address: ty.DataType, updates: dict[int, str]) -> Build:
    def build(sent: Sent) -> Op:
        update = updates.get(sent.field(8, 4))
        if update is None:
            raise Unmodelled(f"send.{sent.inst.subop} atomic {sent.field(8, 4)}")
        # Bit 12 tells the size for 64-bit addresses of integers, the SIMD width otherwise.
        size = 8 if address is ty.UQ and updates is _UPDATES and sent.bits >> 12 & 1 else 4
        return _elements(sent, ATOMIC, _addresses(sent, address), size, size, (0,), update=update)

    return build


def _owords(use: MemoryUse, *, unit: int, address: ty.DataType = ty.UD) -> Build:
    """Return the builder of blocks of owords, whose address is in the header."""

    def build(sent: Sent) -> Op:
        words = tuple(range(4 * _OWORDS[min(sent.field(8, 3), 5)]))
        place = _addresses(sent, address, unit=unit, after=8 if address is ty.UD else 0)
        if address is ty.UD and sent.field(0, 8) in STATELESS_INDEXES:
            place = structs.replace(place, base=General(sent.address.start + _BASE_IN_HEADER, 0, 0, SCALAR_REGION))
        op = _elements(sent, use, place, 4, 4, words, single=True)
        return op if place.base is None else _at_base(sent, op)

    return build


def _at_base(sent: Sent, op: Op) -> Op:
    """Return an op that reads only the upper bits of the base in its header, because r0.5 has the number of the thread below them."""
    place = sent.address.start + _BASE_IN_HEADER
    is_overwritten = any(start <= place < end for start, end in sent.inst.writes)

    def masked(f: Frame) -> int | None:
        base = f.word(place)
        f.put(place, base & -BASE_STEP)
        signal = op(f)
        if not is_overwritten:
            f.put(place, base)
        return signal

    return masked


def _scratch_block(sent: Sent) -> Op:
    """Return the op of a block of the thread's scratch space, at an offset of the descriptor from the base in the header."""
    use = WRITE if sent.bits >> 17 & 1 else READ
    part = sent.inst.dst if use is READ else sent.data
    count = (part.registers if isinstance(part, Payload) else None) or sent.field(20, 5)
    words = tuple(range(count * sent.site.grf // 4))
    start = payload(sent.address, _BASE_IN_HEADER)
    place = Addresses("address", start, ty.UD, offset=sent.field(0, 12) * _HWORD)
    inst = sent.inst
    if use is READ or inst.no_mask or not isinstance(part, Payload) or len(words) % inst.lanes:
        return _at_base(sent, _elements(sent, use, place, 4, 4, words, single=True, memory=FLAT))
    # A spill in a branch writes the dwords of lanes that are on, so the others are read before.
    whole = replace(inst, no_mask=True, guard=None)
    parts = []
    for one, message in ((READ, replace(whole, dst=part)), (WRITE, whole)):
        again = replace(sent, site=MachineSite(sent.site.program, message, sent.site.pc))
        parts.append(_at_base(again, _elements(again, one, place, 4, 4, words, single=True, memory=FLAT)))
    return _where_enabled(sent, part, len(words), *parts)


def _where_enabled(sent: Sent, part: Payload, words: int, read: Op, write: Op) -> Op:
    """Return the op of a block that writes the dwords of lanes that are on: the others are written as ``read`` finds them."""
    enable, lanes = sent.site.enable(), sent.inst.lanes

    def op(f: Frame) -> int | None:
        mask = enable(f)
        if not mask:
            return None
        registers = f.regs[part.start : part.start + 4 * words].view(np.uint32)
        kept = registers.copy()
        read(f)
        chosen = np.resize(lane_mask(mask, lanes), words)
        registers[chosen] = kept[chosen]
        signal = write(f)
        registers[:] = kept
        return signal

    return op


# ---- images


def _typed(use: MemoryUse) -> Build:
    def build(sent: Sent) -> Op:
        channels, step = channels_of(~sent.field(8, 4) & 15), sent.row(4)
        return _texels(sent, use, channels, sent.header, step)

    return build


def _lsc_typed(use: MemoryUse) -> Build:
    return lambda sent: _texels(sent, use, channels_of(sent.field(12, 4)), 0, sent.row(4))


def _texels(sent: Sent, use: MemoryUse, channels: tuple[int, ...], start: int, step: int) -> Op:
    site = sent.site
    data = payload(sent.inst.dst)
    count = (sent.length - start) // step
    if use is not READ:
        count -= len(channels)
        data = sent.part(start + count * step)
    operands = [sent.part(start + n * step) if n < count else RawOperand(0, 0) for n in range(3)]
    u, v, r = (Coordinate(name, operand) for name, operand in zip("uvr", operands, strict=True))
    site.give(data=data)
    site.value = TexelMessage(
        use, _memory(sent), (u, v, r), ty.D, channels, "data", data, site.control, None
    )  # fmt: skip
    return make_texel_op(site)


def _sample(sent: Sent) -> Op:
    """Return the op of a message to the sampler. Its parameters go on from the first to the second part of the payload."""
    code, site, grf = sent.field(12, 5), sent.site, sent.site.grf
    if code not in _SAMPLES:
        raise Unmodelled(f"send.smpl operation {code}")
    name, parameters, letter = _SAMPLES[code]
    half = bool(sent.bits >> 29 & 1)
    kind = f"<{letter}{2 if half else 4}"
    step, start = sent.row(2 if half else 4), sent.header
    operands = [(parameter, sent.part(start + n * step), kind) for n, parameter in enumerate(parameters)]
    channels: tuple[int, ...] = (0, 1, 2, 3)
    data = payload(sent.inst.dst, type_=ty.HF if sent.bits >> 30 & 1 else ty.F)
    if isinstance(sent.inst.dst, Payload):
        registers = sent.inst.dst.registers or sent.field(20, 5)
        channels = channels[: max(1, registers * grf // sent.row(2 if sent.bits >> 30 & 1 else 4))]
    sampler: Any = sent.field(8, 4)
    if sent.field(0, 8) == _BINDLESS and start:  # the header has the handle of the sampler's state
        sampler = General(sent.address.start + 12, 0, 0, SCALAR_REGION)
    site.value = SampleMessage(
        _memory(sent), sampler, 0, tuple(operands), channels, 0 if name == "sample4" else -1, data, site.control,
        None, null_mask=False,
    )  # fmt: skip
    return SAMPLING[name](site)


def _media_block(use: MemoryUse, *, typed: bool = False) -> Build:
    """Return the builder of rectangles of bytes; corner and size are in the header, so that it runs when they are known.

    ``typed`` messages of the load/store controller have them at other places.
    """

    def build(sent: Sent) -> Op:
        known: dict[tuple[int, int], Op] = {}
        corner = sent.address.start + (20 if typed else 0)

        def op(f: Frame) -> int | None:
            word = f.word(corner + 8)
            shape = ((word & 255) + 1, (word >> 8 & 255) + 1) if typed else ((word & 63) + 1, (word >> 16 & 63) + 1)
            if shape not in known:
                with sent.site.program.let_grow():
                    known[shape] = _rectangle(sent, use, corner, *shape)
            return known[shape](f)

        return op

    return build


def _rectangle(sent: Sent, use: MemoryUse, corner: int, width: int, height: int) -> Op:
    site = MachineSite(sent.site.program, sent.inst, sent.site.pc)
    data = payload(sent.inst.dst if use is READ else sent.data)
    site.give(data=data, x=RawOperand(1, corner), y=RawOperand(1, corner + 4))
    site.value = BlockMessage(
        use,
        _memory(sent),
        ("x", "y"),
        (0, 0),
        1,
        width,
        height,
        1,
        False,
        False,
        False,
        "data",
        data,
        None,
        site.control,
    )
    return make_block_op(site)


def _matrix(use: MemoryUse) -> Build:
    """Return the builder of blocks of a matrix in flat memory, whose description is in one register."""

    def build(sent: Sent) -> Op:
        known: dict[int, Op] = {}
        at = sent.address.start + 28

        def op(f: Frame) -> int | None:
            shape = f.word(at)
            if shape not in known:
                with sent.site.program.let_grow():
                    known[shape] = _block(sent, use, shape)
            return known[shape](f)

        return op

    return build


def _block(sent: Sent, use: MemoryUse, shape: int) -> Op:
    site = MachineSite(sent.site.program, sent.inst, sent.site.pc)
    data = payload(sent.inst.dst if use is READ else sent.data)
    site.give(data=data, addr0=General(sent.address.start, 0, 0, SCALAR_REGION))
    size = _SIZES[min(sent.field(9, 3), 6)][0]
    site.value = BlockMessage(
        use, FLAT, (), (0, 0), size, (shape & 255) + 1, (shape >> 8 & 255) + 1, (shape >> 16 & 15) + 1,
        bool(sent.bits >> 15 & 1), bool(sent.bits >> 7 & 1), False, "data", data, None, site.control, described=True,
    )  # fmt: skip
    return make_block_op(site)


# ---- fences, barriers


def _fence(sent: Sent) -> Op:
    memories = (SHARED,) if sent.inst.subop == "slm" or (sent.bits & 255) == SLM_INDEX else (GLOBAL,)

    def op(f: Frame) -> None:
        assert f.thread is not None
        f.thread.machine.announce_fence(f.thread, memories)

    return op


def _gateway(sent: Sent) -> Op:
    """Return the op of a signal of a barrier: its number and its role are in the payload."""
    place, role_at = sent.address.start + 8, sent.address.start + 9
    operation = sent.field(0, 3)
    if operation != 4:
        raise Unmodelled(f"send.gtwy operation {operation}")

    def op(f: Frame) -> None:
        thread = f.thread
        assert thread is not None
        is_named = thread.machine.dispatch.platform.generation > LAST_XE_LP
        number, third = int(f.regs[place]) & 31 if is_named else 0, f.word(place)
        barrier = barrier_of(thread, number)
        if not number:
            # Two counts, or the number of the group's barrier and no count of its own.
            expected = barrier_byte(thread.machine.dispatch.platform, thread.group.threads)
            judged = third >> 16 if is_named else third & 0x7F00FE00
            if judged != (expected << 8 | expected if is_named else expected << 24):
                raise KernelFault(
                    FaultKind.OPERAND, f"a signal of the group's barrier has {third:#010x} in its third dword"
                )
        else:
            barrier.producers, barrier.expected = third >> 16 & 255, third >> 24 & 255
        role = int(f.regs[role_at]) >> 6 & 3 if number else 0
        thread.machine.announce_barrier(thread)
        thread.group.signalled[thread.number, number] = barrier.generation
        thread.machine.announce_arrival(thread, barrier)
        barrier.signal(produces=role != 2, consumes=role != 1)

    return op


def _rows() -> tuple[MessageRow, ...]:
    lsc = [
        MessageRow(function, code, build)
        for function in ("ugm", "ugml", "slm")
        for code, build in (
            (0, _lsc(READ)), (4, _lsc(WRITE)), (2, _lsc(READ, quad=True)), (6, _lsc(WRITE, quad=True)),
            (3, _matrix(READ)), (7, _matrix(WRITE)), (31, _fence), *((code, _lsc(ATOMIC)) for code in _LSC_UPDATES),
        )
    ]  # fmt: skip
    return (
        *lsc,
        MessageRow("tgm", 2, _lsc_typed(READ)),
        MessageRow("tgm", 6, _lsc_typed(WRITE)),
        MessageRow("tgm", 31, _fence),
        MessageRow("tgm", 3, _media_block(READ, typed=True)),
        MessageRow("tgm", 7, _media_block(WRITE, typed=True)),
        MessageRow("dc0", 0, _owords(READ, unit=16)),
        MessageRow("dc0", 1, _owords(READ, unit=1)),
        MessageRow("dc0", 8, _owords(WRITE, unit=16)),
        MessageRow("dc0", 4, _bytes(READ)),
        MessageRow("dc0", 12, _bytes(WRITE)),
        MessageRow("dc0", 7, _fence),
        *(MessageRow("dc0", code, _scratch_block) for code in range(16, 32)),
        MessageRow("dc1", 1, _untyped(READ, ty.UD)),
        MessageRow("dc1", 9, _untyped(WRITE, ty.UD)),
        MessageRow("dc1", 0x11, _untyped(READ, ty.UQ)),
        MessageRow("dc1", 0x19, _untyped(WRITE, ty.UQ)),
        MessageRow("dc1", 0x10, _scattered(READ)),
        MessageRow("dc1", 0x1A, _scattered(WRITE)),
        MessageRow("dc1", 2, _atomic(ty.UD, _UPDATES)),
        MessageRow("dc1", 0x12, _atomic(ty.UQ, _UPDATES)),
        MessageRow("dc1", 0x1B, _atomic(ty.UD, _FLOAT_UPDATES)),
        MessageRow("dc1", 0x1D, _atomic(ty.UQ, _FLOAT_UPDATES)),
        MessageRow("dc1", 0x14, _owords(READ, unit=1, address=ty.UQ)),
        MessageRow("dc1", 0x15, _owords(WRITE, unit=1, address=ty.UQ)),
        MessageRow("dc1", 4, _media_block(READ)),
        MessageRow("dc1", 10, _media_block(WRITE)),
        MessageRow("dc1", 5, _typed(READ)),
        MessageRow("dc1", 13, _typed(WRITE)),
        MessageRow("smpl", None, _sample),
        MessageRow("gtwy", None, _gateway),
    )


ROWS: Final = _rows()
_ROWS: Final = {(row.function, row.code): row for row in ROWS}
