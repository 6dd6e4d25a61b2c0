"""Converts messages that load and store elements of memory to accesses, by their values."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from visa_lsp.app.read.model import Calc, Expr, Lanes, MemoryPlace, Transfer
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import S0, S1
from visa_lsp.isa.message_forms import MemoryUse, SampleForm
from visa_lsp.isa.operands import SCALAR_REGION
from visa_lsp.program.message import (
    PREDECREMENT,
    ElementMessage,
    MemoryKind,
    MessageMemory,
    SampleMessage,
    TexelMessage,
    sample_message_of,
    understood_message_of,
)
from visa_lsp.program.model import General, Immediate, Inst, Kernel, RawOperand, Value

_PARAMETERS: Final = {"<f4": ty.F, "<f2": ty.HF, "<i4": ty.D, "<i2": ty.W}


def access_of(inst: Inst, place: int) -> Transfer | None:
    """Return the access of a message; None if the message does not have this form."""
    message = understood_message_of(inst)
    if not isinstance(message, ElementMessage) or message.use not in (MemoryUse.READ, MemoryUse.WRITE):
        return None
    return _transfer(message, place)


def atomic_of(inst: Inst, place: int) -> Transfer | None:
    """Return an atomic on untyped memory as a load with an update; None for another message."""
    message = understood_message_of(inst)
    if not isinstance(message, ElementMessage) or message.use is not MemoryUse.ATOMIC or message.single:
        return None
    access, update = _transfer(message, place), message.update
    if (
        access is None
        or access.elements != (0,)
        or not update
        or update in (PREDECREMENT, "load")
        or update.startswith("bf")
    ):
        return None
    signed = update in ("minsint", "maxsint")
    real = update in ("fadd", "fsub", "fmin", "fmax", "fcmpwr") and access.size == access.cell
    types = {2: (ty.UW, ty.W, ty.HF), 4: (ty.UD, ty.D, ty.F), 8: (ty.UQ, ty.Q, ty.DF)}[access.cell]
    operands = [inst.get(name) for name in message.sources]
    sources = [
        Lanes(operand, types[2 if real else int(signed)]) for operand in operands if isinstance(operand, RawOperand)
    ]
    count = 0 if update in ("inc", "dec") else 2 if update in codes.COMPARING else 1
    return replace(access, write=False, update=update, sources=tuple(sources[:count]))


def image_access_of(kernel: Kernel, inst: Inst, place: int) -> Transfer | None:
    """Return a load or store of texels, or a sample, whose ``sources`` are coordinates; None for another message."""
    if isinstance(inst.row.meaning, SampleForm):
        message: SampleMessage | TexelMessage = sample_message_of(inst, kernel.variable_type)
        assert isinstance(message, SampleMessage)
        if message.null_mask or message.sampler_index or inst.row.meaning.older:
            return None
        write = False
        given = max((index + 1 for index, (_, operand, _) in enumerate(message.parameters) if operand.var), default=0)
        sources: list[Expr] = [
            Lanes(operand, _PARAMETERS[type_]) if operand.var else Immediate(ty.UD, 0)
            for _, operand, type_ in message.parameters[:given]
        ]
    else:
        texels = understood_message_of(inst)
        if not isinstance(texels, TexelMessage) or texels.use is MemoryUse.ATOMIC or texels.sample or texels.residency:
            return None
        message, write = texels, texels.use is MemoryUse.WRITE
        if any(operand.offset for operand in message.coordinates):
            return None
        sources = [Lanes(operand.operand, ty.UD) for operand in message.coordinates if operand.operand.var]
    declared = kernel.variable_type(message.data.var)
    whole = message.channels == tuple(range(len(message.channels)))
    if message.memory.index or declared is None or declared.size != ty.UD.size or not whole:
        return None
    return Transfer(
        write, MemoryPlace(), Immediate(ty.UD, 0), 1, None, False, message.data, 4, 4, message.channels, False, False,
        message.control, message.guard, (place,), update="image", sources=tuple(sources), image=inst,
    )  # fmt: skip


def _transfer(message: ElementMessage, place: int) -> Transfer | None:
    """Return the access of a message of elements; None if it has a memory or addresses of another form."""
    address, memory = message.address, _memory(message)
    if memory is None or message.memory.index or message.residency or address.strided:
        return None
    operand: Expr
    if isinstance(address.operand, RawOperand):
        operand = Lanes(address.operand, address.type)
    elif isinstance(address.operand, General | Immediate):
        operand = address.operand
    else:
        return None
    scale = address.scale * address.unit
    if address.base is not None:
        if not isinstance(address.base, General):
            return None
        wide = ty.UD if memory.shared else ty.UQ
        scaled = Calc(S0 * S1, (operand, Immediate(ty.UD, scale)), wide) if scale != 1 else operand
        operand = Calc(S0 + S1, (replace(address.base, region=SCALAR_REGION), scaled), wide)
        scale = 1
    by_surface = message.memory.kind is MemoryKind.VARIABLE
    if address.unit != 1 and address.wraps:
        return None
    # A sum of 32 bits without a second term cannot wrap around.
    wraps = address.wraps and (not by_surface or address.common is not None)
    offset: Value = address.common
    if address.has_offset:
        offset = Immediate(ty.D, address.offset)
    return Transfer(
        message.use is MemoryUse.WRITE, memory, operand, scale, offset, wraps, message.data,
        message.size, message.cell, message.elements, message.single, bool(message.first), message.control,
        message.guard, (place,),
    )  # fmt: skip


def _memory(message: ElementMessage) -> MemoryPlace | None:
    memory: MessageMemory = message.memory
    match memory.kind:
        case MemoryKind.SHARED:
            return MemoryPlace(shared=True)
        case MemoryKind.VARIABLE:
            return MemoryPlace(variable=memory.number)
        case MemoryKind.FLAT:
            return MemoryPlace(model=codes.ADDRTYPE.get(memory.model, codes.ADDRTYPE_FLAT))
        case MemoryKind.BINDING | MemoryKind.STATE:
            return MemoryPlace(model=codes.ADDRTYPE[memory.model], operand=memory.operand)
        case MemoryKind.POINTER:
            return None
