"""Requests for raw bytes and instructions: reading and writing memory, disassembly.

A memory reference is a text: ``grf:THREAD:DEPTH:BYTE``, ``slm:THREAD:BYTE``, ``buffer:NUMBER:BYTE``, or a plain number,
which is a flat address. Invariant: no byte outside of what a reference names is touched.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.dap.request_arguments import RequestError, flag, text, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.dap.state import DebugState
    from visa_lsp.debug.debugger import Debugger
    from visa_lsp.debug.stops import Activation

    Body = dict[str, Any]

_MAX_BYTES: Final = 1 << 24
_MAX_INSTRUCTIONS: Final = 100_000


def referrer(debugger: Debugger, activation: Activation) -> Callable[[tuple[Any, int] | None], str]:
    """Return a function that maps a place (``Cells.where``) of an activation to its memory reference; empty if it has none."""
    number, depth = debugger.number(activation.thread), debugger.depth(activation)

    def reference_of(where: tuple[Any, int] | None) -> str:
        if where is None or where[0] in ("preds", "addr"):
            return ""
        owner, start = where
        if owner == "grf":
            return f"grf:{number}:{depth}:{start}"
        if owner is activation.thread.group.slm:
            return f"slm:{number}:{start}"
        if owner.address:
            return hex(owner.address + start)
        place = next((n for n, buffer in enumerate(debugger.cells(activation).buffers()) if buffer is owner), None)
        return "" if place is None else f"buffer:{place}:{start}"

    return reference_of


@dataclass(frozen=True, slots=True)
class _Located:
    """The memory of a reference: its bytes, the offset in them, its owner, and the address of its first byte."""

    data: Any
    start: int
    owner: Any
    activation: Activation
    base: int = 0


def _locate(session: DebugState, args: Body) -> _Located:
    """Return the memory of a request's reference, ``offset`` added.

    Raises RequestError for a malformed or unknown reference.
    """
    debugger = session.debugger
    words = text(args, "memoryReference")
    offset = whole(args, "offset", 0)
    kind, *numbers = words.split(":")
    try:
        places = [int(number) for number in numbers]
        if not numbers:
            memory = debugger.launch.dispatch.memory.find(int(kind, 0))
            if memory is not None:
                activation = session.view.activation(session, {})
                return _Located(memory[0].data, memory[1] + offset, memory[0], activation, memory[0].address)
            raise RequestError(f"no memory at {kind[:80]}")
        if kind == "grf" and len(places) == 3:
            activation = debugger.activation(debugger.thread(places[0]), places[1])
            return _Located(activation.frame.regs, places[2] + offset, "grf", activation)
        if kind == "slm" and len(places) == 2:
            activation = debugger.activation(debugger.thread(places[0]), 0)
            return _Located(
                activation.thread.group.slm.data, places[1] + offset, activation.thread.group.slm, activation
            )
        if kind == "buffer" and len(places) == 2:
            activation = session.view.activation(session, {})
            buffers = debugger.cells(activation).buffers()
            if 0 <= places[0] < len(buffers):
                return _Located(buffers[places[0]].data, places[1] + offset, buffers[places[0]], activation)
    except ValueError:
        pass
    raise RequestError(f"'{words[:80]}' is not a memory reference")


def read_memory(session: DebugState, args: Body) -> Body:
    """Return bytes of a memory; those outside of it are unreadable. Raises RequestError for an unknown memory."""
    count = whole(args, "count", least=0)
    if count > _MAX_BYTES:
        raise RequestError(f"'count' must be at most {_MAX_BYTES}")
    located = _locate(session, args)
    start = located.start
    raw = located.data[start : start + count].tobytes() if start >= 0 else b""
    body: Body = {"address": hex(located.base + start), "data": base64.b64encode(raw).decode("ascii")}
    if len(raw) < count:
        body["unreadableBytes"] = count - len(raw)
    return body


def write_memory(session: DebugState, args: Body) -> Body:
    """Write bytes; with ``allowPartial`` only those inside. Raises RequestError for bytes outside of it."""
    located = _locate(session, args)
    try:
        raw = base64.b64decode(text(args, "data"), validate=True)
    except (binascii.Error, ValueError):
        raise RequestError("'data' is not base64") from None
    room = located.data.size - located.start
    if located.start < 0 or room <= 0 or (len(raw) > room and not flag(args, "allowPartial")):
        raise RequestError(f"{len(raw)} bytes exceed the memory, which has {max(room, 0)} there")
    raw = raw[:room]
    session.debugger.write_raw(located.activation, located.owner, located.start, raw)
    return {"offset": 0, "bytesWritten": len(raw)}


def disassemble(session: DebugState, args: Body) -> Body:
    """Return instructions as text by their numbers; entries before or after a body are marked invalid.

    Raises RequestError for an address without an instruction.
    """
    places = session.debugger.places
    words = text(args, "memoryReference")
    try:
        address = int(words, 0) + whole(args, "offset", 0)
    except ValueError:
        raise RequestError(f"'{words[:80]}' is not an address of an instruction") from None
    entry = places.at_address(address)
    if entry is None:
        raise RequestError(f"no instruction at {words[:80]}")
    count = whole(args, "instructionCount", least=0)
    if count > _MAX_INSTRUCTIONS:
        raise RequestError(f"'instructionCount' must be at most {_MAX_INSTRUCTIONS}")
    body, first_pc = entry
    first_pc += whole(args, "instructionOffset", 0)
    shown = []
    for pc in range(first_pc, first_pc + count):
        if not 0 <= pc < len(body.line_of):
            shown.append(
                {
                    "address": hex(max(0, places.address(body, 0) + pc)),
                    "instruction": "??",
                    "presentationHint": "invalid",
                }
            )
            continue
        item: Body = {"address": hex(places.address(body, pc)), "instruction": body.format_instruction(pc).strip()}
        if pc in (first_pc, 0):
            item["symbol"] = body.name
        place = body.place(pc)
        item |= {"location": session.source_of(body), "line": session.line_out(place.line)}
        shown.append(item)
    return {"instructions": shown}


HANDLERS: Final = {"readMemory": read_memory, "writeMemory": write_memory, "disassemble": disassemble}
