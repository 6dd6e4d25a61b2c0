"""Prose about messages to memory: the form that a row has, and the bytes that one message moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.isa.message_forms import BlockForm, ElementForm, MemoryUse, TexelForm
from visa_lsp.program.message import (
    BlockMessage,
    ElementMessage,
    FenceMessage,
    TexelMessage,
    register_bytes,
    understood_message_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.isa.lane import Meaning
    from visa_lsp.program.model import Inst


def describe_form(meaning: Meaning | None) -> list[str]:
    """Return what a row says about its messages, a line each; empty for rows without such a form."""
    match meaning:
        case ElementForm(use=use, elements=elements, unit=unit, flat=flat, sources=sources):
            unit_text = "elements" if unit == 0 else "bytes" if unit == 1 else f"units of {unit} bytes"
            lines = [
                f"{use.value} {'the flat address space' if flat else 'memory'}; `{meaning.address}` counts {unit_text}",
                f"elements: {elements.value}, in `{meaning.data}`",
            ]
            return lines + ([f"operands of the update: {_join([f'`{name}`' for name in sources])}"] if sources else [])
        case TexelForm(use=use, data=data):
            return [f"{use.value} texels at `u`, `v` and `r`; each channel is a dword per lane of `{data}`"]
        case BlockForm(use=use, data=data, corner=corner):
            what = "an image" if corner else "a matrix in flat memory"
            return [f"{use.value} a rectangle of {what} for the whole thread; its rows are in `{data}`"]
    return []


def describe_message(inst: Inst, grf_bytes: int) -> str:
    """Return a sentence about the bytes that a message moves; empty for other instructions."""
    message = understood_message_of(inst)
    match message:
        case ElementMessage(use=use, memory=memory, elements=elements, size=size):
            count = f"{size} byte{'s' * (size != 1)}" if len(elements) == 1 else f"{len(elements)} x {size} bytes"
            lanes = message.control.exec_size
            each = "at one address" if message.single else "in one lane" if lanes == 1 else f"in each of {lanes} lanes"
            if use is MemoryUse.TEST:
                text = f"asks {each} whether {message.bytes_per_lane} bytes of {memory.kind.value} are present"
            else:
                text = f"{use.value} {count} of {memory.kind.value} {each}"
        case TexelMessage(use=use, channels=channels):
            text = f"{use.value} {len(channels)} channel{'s' * (len(channels) != 1)} in each of {message.control.exec_size} lanes"
        case BlockMessage(use=use, size=size):
            blocks = f"{message.blocks} x " if message.blocks > 1 else ""
            text = f"{use.value} {blocks}{message.width} x {message.height} elements of {size} byte{'s' * (size != 1)}"
        case _:
            return ""
    assert not isinstance(message, FenceMessage)
    parts: dict[str, int] = {}
    for part in register_bytes(message, grf_bytes):
        parts[part.field] = max(parts.get(part.field, 0), part.end)
    registers = [f"{size} bytes of `{field}`" for field, size in parts.items() if _is_given(inst, field)]
    return f"This message {text}; in registers {_join(registers)}." if registers else f"This message {text}."


def _is_given(inst: Inst, field: str) -> bool:
    """Return whether an operand is a register other than the null register."""
    return getattr(inst.get(field), "var", 0) != 0


def _join(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
