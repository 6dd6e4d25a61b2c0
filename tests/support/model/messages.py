"""Messages to the data port and to virtual memory, lane by lane, as their documentation pages write them down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.model.memory import Space, float_kind, update
from tests.support.model.numbers import encode
from visa_lsp.isa.lsc_codes import ATOMIC_OP_TEXT
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import RawOperand

if TYPE_CHECKING:
    from tests.support.model.state import State

WORD = 1 << 32


def space_of(state: State, inst) -> Space:
    """Return the space of a surface field; a register holds a pointer that stands for the surface (text 4.2)."""
    value = inst.get("surface")
    if isinstance(value, RawOperand):
        return Space(state, state.number(value, 0, "uq"))
    return Space(state, state.surface_values.get(value, 0))


def offsets(state: State, inst, name: str, lanes: int, *, flat: bool) -> list[int]:
    """Return the address of each lane: 64 bits, or 32 bits that wrap around with the global offset."""
    raw = [state.number(inst.get(name), i, "uq" if flat else "ud") for i in range(lanes)]
    base = state.scalar(inst.get("goff")) if "goff" in inst.row.index else 0
    return [a + base if flat else (a + base) % WORD for a in raw]


def _channels(data: str, address: str, *, flat: bool, write: bool):
    def body(state: State, inst) -> None:
        on = state.compute_enable(inst)
        space = Space(state, None) if flat else space_of(state, inst)
        at = offsets(state, inst, address, len(on), flat=flat)
        start = 0
        for channel in range(4):
            if not inst.get("chan") >> channel & 1:
                continue
            for i in range(len(on)):
                if on[i] and write:
                    space.write(at[i] + 4 * channel, state.peek(inst.get(data), start + 4 * i, 4))
                elif on[i]:
                    state.poke(inst, inst.get(data), start + 4 * i, space.read(at[i] + 4 * channel, 4))
            start += max(4 * len(on), state.grf)

    return body


def _cells(
    state: State,
    inst,
    data,
    space: Space,
    at: list[int],
    on: list[bool],
    *,
    moved: int,
    cell: int,
    blocks: int,
    write: bool,
) -> None:
    """Block j of lane i: ``moved`` bytes in a cell of ``cell``; each block of all lanes together, on its own register."""
    row = max(cell * len(on), state.grf) if blocks > 1 else cell * len(on)
    for i in range(len(on)):
        for j in range(blocks):
            place = j * row + i * cell
            if not on[i]:
                continue
            if write:
                space.write(at[i] + j * moved, state.peek(data, place, moved))
            else:
                state.poke(inst, data, place, space.read(at[i] + j * moved, moved))
                state.undefine(data, place + moved, cell - moved)


def _read_scaled(state: State, inst) -> tuple[list[int], list[bool], int]:
    """Return the addresses, the enabled lanes and the size of a gather or scatter with a scale."""
    on = state.compute_enable(inst)
    return offsets(state, inst, "off", len(on), flat=False), on, 1 << inst.get("n")


def _plain(state: State, inst) -> tuple[list[int], list[bool], int]:
    """Return the same of a message without a scale: a mask of their own, and offsets in elements."""
    control: ExecControl = inst.get("n")
    lanes, size = control.exec_size, 1 << inst.get("eltsize")
    on = [control.no_mask or bool(state.emask >> control.mask_offset + i & 1) for i in range(lanes)]
    return [size * (a % WORD) for a in offsets(state, inst, "off", lanes, flat=False)], on, size


def _single(places, *, write: bool):
    """Return the function that moves one cell of four bytes per lane."""

    def body(state: State, inst) -> None:
        at, on, moved = places(state, inst)
        data, space = inst.get("src" if write else "dst"), space_of(state, inst)
        _cells(state, inst, data, space, at, on, moved=moved, cell=4, blocks=1, write=write)

    return body


def _qwords(*, write: bool):
    def body(state: State, inst) -> None:
        on = state.compute_enable(inst)
        at = offsets(state, inst, "off", len(on), flat=False)
        data = inst.get("src" if write else "dst")
        _cells(
            state, inst, data, space_of(state, inst), at, on, moved=8, cell=8, blocks=1 << inst.get("n"), write=write
        )

    return body


def _svm(*, write: bool):
    def body(state: State, inst) -> None:
        on = state.compute_enable(inst)
        at = offsets(state, inst, "address", len(on), flat=True)
        count = 1 << inst.get("n")
        size = (1, 4, 8)[inst.get("block")]
        shape = (count, max(4, count), 1) if size == 1 else (size, size, count)
        _cells(
            state,
            inst,
            inst.get("data"),
            Space(state, None),
            at,
            on,
            moved=shape[0],
            cell=shape[1],
            blocks=shape[2],
            write=write,
        )

    return body


def _owords(data: str, address: str, scale: int, *, write: bool, flat: bool = False):
    def body(state: State, inst) -> None:
        count = inst.get("n").exec_size if isinstance(inst.get("n"), ExecControl) else 1 << inst.get("n")
        space = Space(state, None) if flat else space_of(state, inst)
        start = state.scalar(inst.get(address)) * scale
        for i in range(0, 16 * count, 4):
            if write:
                space.write(start + i, state.peek(inst.get(data), i, 4))
            else:
                state.poke(inst, inst.get(data), i, space.read(start + i, 4))

    return body


def serve(
    state: State,
    inst,
    space: Space,
    places: list,
    size: int,
    cell: int,
    word: str,
    names: tuple[str, str],
    on: list[bool],
) -> None:
    """Atomics in the order of the lanes; operands and old values take the low bytes of a cell."""
    dst = inst.get("dst")
    for i in range(len(on)):
        if not on[i]:
            continue
        first, second = (state.peek(inst.get(n), i * cell, cell)[:size] for n in names)
        place = None if places[i] is None else space.find(places[i], size)
        old = bytes(size)
        if place is not None:
            data, at = place
            old = bytes(data[at : at + size])
            data[at : at + size] = update(word, old, first, second)
            if float_kind(word, size):
                state.floats[id(data), at] = float_kind(word, size)
        # Of a result that is not a number, the documents state only that.
        state.poke(inst, dst, i * cell, old.ljust(cell, b"\0"), float_kind(word, size) or "ub")


def _atomic(address: str, *, flat: bool):
    def body(state: State, inst) -> None:
        on = state.compute_enable(inst)
        code = inst.get("op")
        size = 2 if code & 0x20 else 8 if code & 0x40 else 4
        space = Space(state, None) if flat else space_of(state, inst)
        at = offsets(state, inst, address, len(on), flat=flat)
        serve(state, inst, space, at, size, max(4, size), ATOMIC_OP_TEXT[code & 31], ("src0", "src1"), on)

    return body


def _media(*, write: bool):
    def body(state: State, inst) -> None:
        width, height = inst.get("width"), inst.get("height")
        pitch = max(4, 1 << (width - 1).bit_length())
        x0, y0 = (encode(state.scalar(inst.get(n)), "d") for n in ("x", "y"))
        x0, y0 = (int.from_bytes(v, "little", signed=True) for v in (x0, y0))
        surface = space_of(state, inst).surface
        image = surface.image
        line, texel = image["width"] * image["bytes"], image["bytes"]
        for row in range(height):
            for column in range(width):
                x, y = x0 + column, y0 + row
                inside = 0 <= x < line and 0 <= y < image["height"]
                if write:
                    if inside:
                        surface.data[y * line + x] = state.peek(inst.get("src"), row * pitch + column, 1)[0]
                    continue
                # Outside, the pixel at the nearest edge is read.
                y = min(max(y, 0), image["height"] - 1)
                x = x if 0 <= x < line else x % texel if x < 0 else line - texel + x % texel
                state.poke(inst, inst.get("dst"), row * pitch + column, bytes([surface.data[y * line + x]]))

    return body


EFFECTS = {
    "gather4_scaled": _channels("dst", "off", flat=False, write=False),
    "scatter4_scaled": _channels("src", "off", flat=False, write=True),
    "svm_gather4scaled": _channels("data", "address", flat=True, write=False),
    "svm_scatter4scaled": _channels("data", "address", flat=True, write=True),
    "gather_scaled": _single(_read_scaled, write=False),
    "scatter_scaled": _single(_read_scaled, write=True),
    "gather": _single(_plain, write=False),
    "scatter": _single(_plain, write=True),
    "qw_gather": _qwords(write=False),
    "qw_scatter": _qwords(write=True),
    "svm_gather": _svm(write=False),
    "svm_scatter": _svm(write=True),
    "oword_ld": _owords("dst", "offset", 16, write=False),
    "oword_ld_unaligned": _owords("dst", "offset", 1, write=False),
    "oword_st": _owords("src", "offset", 16, write=True),
    "svm_block_ld": _owords("data", "address", 1, write=False, flat=True),
    "svm_block_st": _owords("data", "address", 1, write=True, flat=True),
    "dword_atomic": _atomic("off", flat=False),
    "svm_atomic": _atomic("address", flat=True),
    "media_ld": _media(write=False),
    "media_st": _media(write=True),
}
