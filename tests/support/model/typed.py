"""Messages to images without a filter: typed reads, writes and atomics, rectangles, sizes.

An image is described by ``Surface.image``: width, height, depth, channels, format, bytes of a texel, dims, layered.
"""

from __future__ import annotations

import math

from tests.support.model import lsc, messages
from tests.support.model.memory import Space, clamp
from tests.support.model.numbers import SIZES, decode, encode, round_number
from tests.support.model.state import State, Surface
from visa_lsp.isa.lsc_codes import ATOMIC_OP_TEXT

CHANNEL = {
    "unorm8": "ub", "snorm8": "b", "uint8": "ub", "sint8": "b", "unorm16": "uw", "snorm16": "w", "uint16": "uw", "sint16": "w",
    "uint32": "ud", "sint32": "d", "float16": "hf", "float32": "f",
}  # fmt: skip


class Texels:
    """A surface as texels; plain bytes count as a line of dwords."""

    def __init__(self, surface: Surface) -> None:
        self.data = surface.data
        words = surface.image or {
            "width": len(surface.data) // 4, "height": 1, "depth": 1, "channels": 1, "format": "uint32", "bytes": 4, "dims": 1, "layered": False,
        }  # fmt: skip
        self.width, self.height, self.depth = words["width"], words["height"], words["depth"]
        self.channels, self.format, self.bytes = words["channels"], words["format"], words["bytes"]
        self.dims, self.layered = words["dims"], words["layered"]
        self.kind = CHANNEL[self.format]
        self.integer = "int" in self.format

    def place(self, u: int, v: int, r: int) -> int | None:
        """Return the byte of a texel; coordinates that the shape does not have do not count."""
        x, y, z = u, v, r
        if self.dims == 1:
            y = z = 0
        elif self.dims == 2:
            y, z = (0, v) if self.layered and self.height == 1 else (v, 0)
        if not (0 <= x < self.width and 0 <= y < self.height and 0 <= z < self.depth):
            return None
        return ((z * self.height + y) * self.width + x) * self.bytes

    def read(self, at: int) -> list:
        """Return the four channels of a texel; a missing colour is 0, a missing alpha 1."""
        size = SIZES[self.kind]
        found = [decode(bytes(self.data[at + i * size : at + (i + 1) * size]), self.kind) for i in range(self.channels)]
        if "norm" in self.format:
            top = (1 << 8 * size - (self.kind in ("b", "w"))) - 1
            found = [max(-1.0, value / top) for value in found]
        return [*found, 0, 0, 0, 1][:4] if self.channels == 4 else [*found, *[0, 0, 0, 1][len(found) :]]

    def write(self, at: int, channel: int, raw: bytes) -> None:
        """Write one channel from the dword of a register, converted to the format."""
        if channel >= self.channels:
            return
        size = SIZES[self.kind]
        if self.integer:
            value = clamp(decode(raw, "ud" if self.kind.startswith("u") else "d"), self.kind)
        elif "norm" in self.format:
            value = decode(raw, "f")
            signed = self.kind in ("b", "w")
            top = (1 << 8 * size - signed) - 1
            value = 0.0 if math.isnan(value) else min(max(value, -1.0 if signed else 0.0), 1.0)
            value = round(value * top)
        else:
            value = round_number(decode(raw, "f"), self.kind)
        self.data[at + channel * size : at + (channel + 1) * size] = encode(value, self.kind)

    def dword(self, value) -> bytes:
        """Return a channel as a register receives it."""
        return encode(int(value), "ud") if self.integer else encode(round_number(value, "f"), "f")


def _coordinates(state: State, inst, lane: int, kinds: str, moved: bool) -> list[int]:
    found = []
    for name in ("u", "v", "r"):
        step = inst.get(f"{name}off", 0) if moved else 0
        found.append(state.number(inst.get(name), lane, kinds) + (step or 0))
    return found


def _sample_outside(state: State, inst, lane: int, kind: str, sampled: bool) -> bool:
    return sampled and state.number(inst.get("lod"), lane, kind) != 0


def _texels(state: State, inst, newer: bool) -> tuple[Space, str, Texels | None]:
    """Return the surface, the type of the coordinates, and the image; None where no surface is bound."""
    space = lsc.space_of(state, inst)[0] if newer else messages.space_of(state, inst)
    kind = {1: "w", 2: "d", 3: "q", 5: "d", 6: "d"}[inst.get("addrsize")] if newer else "d"
    if space.data is None:
        return space, kind, None
    return space, kind, Texels(Surface(space.data, 0, space.surface.image if space.surface else None))


def _make_typed(
    data: str, *, write: bool, newer: bool, alpha: bool = False, status: bool = False, sampled: bool = False
):
    """Whole texels. ``alpha``: a read outside gives 1 there (page GATHER4_TYPED)."""

    def body(state: State, inst) -> None:
        on = state.compute_enable(inst)
        _, kind, texels = _texels(state, inst, newer)
        bits = inst.get("chmask") if newer else inst.get("chan")
        chosen = [c for c in range(4) if bits >> c & 1]
        row = max(4 * len(on), state.grf)
        resident = 0
        for i in range(len(on)):
            if not on[i]:
                continue
            at = texels.place(*_coordinates(state, inst, i, kind, newer)) if texels else None
            resident |= (at is not None) << i
            if _sample_outside(state, inst, i, kind, sampled):
                at = None
            for k, channel in enumerate(chosen):
                if write:
                    if at is not None:
                        texels.write(at, channel, state.peek(inst.get(data), k * row + 4 * i, 4))
                elif at is not None:
                    state.poke(inst, inst.get(data), k * row + 4 * i, texels.dword(texels.read(at)[channel]))
                else:
                    one = alpha and channel == 3 and texels is not None
                    state.poke(inst, inst.get(data), k * row + 4 * i, texels.dword(1) if one else bytes(4))
        if status and any(on):
            state.poke(
                inst, inst.get(data), len(chosen) * row if status == "behind" else 0, resident.to_bytes(4, "little")
            )

    return body


def load_status(state: State, inst) -> None:
    """Write one bit per lane: set if its pixel exists."""
    on = state.compute_enable(inst)
    _, kind, texels = _texels(state, inst, newer=True)
    bits = sum(
        1 << i
        for i in range(len(on))
        if on[i] and texels and texels.place(*_coordinates(state, inst, i, kind, True)) is not None
    )
    if any(on):
        state.poke(inst, inst.get("dst"), 0, bits.to_bytes(4, "little"))


def _atomic(*, newer: bool):
    def body(state: State, inst) -> None:
        on = state.compute_enable(inst)
        space, kind, texels = _texels(state, inst, newer)
        at = [texels.place(*_coordinates(state, inst, i, kind, newer)) if texels else None for i in range(len(on))]
        if newer:
            memory, register, _ = lsc.DATA[inst.get("datasize")]
            word, names = lsc.atomic_word(inst), ("src1", "src2")
        else:
            memory, register = (2, 4) if inst.get("op") & 0x20 else (4, 4)
            word, names = ATOMIC_OP_TEXT[inst.get("op") & 31], ("src0", "src1")
        messages.serve(state, inst, space, at, memory, register, word, names, on)

    return body


def _block(*, write: bool):
    def body(state: State, inst) -> None:
        if not any(state.compute_enable(inst)):
            return
        width, height = inst.get("width"), inst.get("height")
        pitch = max(4, 1 << (width - 1).bit_length())
        space: Space = lsc.space_of(state, inst)[0]
        texels = Texels(space.surface)
        x0, y0 = (decode(encode(state.scalar(inst.get(n)), "d"), "d") for n in ("src0", "src1"))
        line = texels.width * texels.bytes
        for row in range(height):
            for column in range(width):
                x, y = x0 + inst.get("immx") + column, y0 + inst.get("immy") + row
                inside = 0 <= x < line and 0 <= y < texels.height
                if write and inside:
                    texels.data[y * line + x] = state.peek(inst.get("data"), row * pitch + column, 1)[0]
                elif not write:
                    state.poke(
                        inst, inst.get("dst"), row * pitch + column, bytes([texels.data[y * line + x] if inside else 0])
                    )

    return body


EFFECTS = {
    "gather4_typed": _make_typed("dst", write=False, newer=False, alpha=True),
    "scatter4_typed": _make_typed("src", write=True, newer=False),
    "typed_atomic": _atomic(newer=False),
    "lsc_typed_load": _make_typed("dst", write=False, newer=True),
    "lsc_typed_store": _make_typed("src1", write=True, newer=True),
    "lsc_typed_load_msrt": _make_typed("dst", write=False, newer=True, sampled=True),
    "lsc_typed_store_msrt": _make_typed("src1", write=True, newer=True, sampled=True),
    "lsc_typed_load_quad_status": _make_typed("dst", write=False, newer=True, status="behind"),
    "lsc_typed_load_status": load_status,
    "lsc_typed_atomic": _atomic(newer=True),
    "lsc_typed_load_block2d": _block(write=False),
    "lsc_typed_store_block2d": _block(write=True),
}
