"""The sampler: coordinates to texels by the rules of OpenCL, weights as fractions, parameters as each row's prose lists them.

Images have one level and one sample per pixel: another level or sample lies outside.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np

from tests.support.model.messages import space_of
from tests.support.model.numbers import SIZES, encode, round_number
from tests.support.model.state import State, Surface
from tests.support.model.typed import Texels
from visa_lsp.program.model import RawOperand

BORDER = [0, 0, 0, 0]


def parameters(row) -> list[str]:
    """Return the payload of a row in turn; ``lod+offsets`` shares its low bits with texel offsets."""
    text = re.search(r"Parameters: ([^.]*)\.", row.detail)[1]
    found = []
    for item in text.split(", "):
        words = sorted(item.split(" and "), key=lambda w: w == "offsets")
        found.append("+".join(words))
    return found


class Message:
    """A sampler instruction: its lanes, image, sampler and parameters."""

    def __init__(self, state: State, inst) -> None:
        self.state, self.inst = state, inst
        self.op = next((inst.get(n) for n in ("op", "op42", "op64") if n in inst.row.index), 0)
        if inst.get("exec") is not None:
            self.on = state.compute_enable(inst)
        else:
            self.on = [True] * inst.row.exec_sizes[0]
        space = space_of(state, inst)
        self.texels = Texels(space.surface) if space.surface else None
        if "sampler" in inst.row.index:
            number = inst.get("sampler")
            value = (
                state.number(number, 0, "uq") if isinstance(number, RawOperand) else state.sampler_values.get(number, 0)
            )
            self.sampler = state.samplers.get(value, {})
        word = state.scalar(inst.get("aoffimmi")) if "aoffimmi" in inst.row.index else 0
        self.shared = [sign(word >> shift, 4) for shift in (8, 4, 0)]
        payload = inst.get("payload")
        if payload is None:
            self.places = {n: inst.get(n) for n in ("u", "v", "r")}
            self.half = False
        else:
            names = parameters(inst.row)
            self.places = {n: payload[i] if i < len(payload) else RawOperand(0, 0) for i, n in enumerate(names)}
            first = state.kernel.variable_type(payload[0].var)
            self.half = first is not None and first.size == 2

    def parameter(self, name: str, lane: int, *, integer: bool = False):
        """Return a parameter of a lane; 0 where the payload ends before it."""
        at = next((n for n in self.places if name in n.split("+")), None)
        if at is None:
            return 0
        kind = ("w" if self.half else "d") if integer else ("hf" if self.half else "f")
        return self.state.number(self.places[at], lane, kind)

    def has(self, name: str) -> bool:
        """Return whether the row has a parameter of this name."""
        return any(name in n.split("+") for n in self.places)

    def find_texel_offsets(self, lane: int, bits: int) -> list[int]:
        """Texel offsets of a lane along u, v, r: those of the instruction and those of its own."""
        own = [0, 0, 0]
        if self.has("offu"):
            own = [self.parameter("offu", lane, integer=True), self.parameter("offv", lane, integer=True), 0]
        elif self.has("offsets"):
            word = self.parameter("offsets", lane, integer=True)
            own = [sign(word >> s, 4) for s in (8, 4, 0)] if bits == 4 else [sign(word, 6), sign(word >> 6, 6), 0]
        return [a + b for a, b in zip(self.shared, own, strict=True)]

    def axes(self, u, v, r) -> tuple:
        """x, y, z of an image of this shape."""
        image = self.texels
        if image.dims == 1:
            return u, 0, 0
        if image.dims == 2:
            return (u, 0, v) if image.layered and image.height == 1 else (u, v, 0)
        return u, v, r

    def texel(self, x: int, y: int, z: int) -> list:
        """Return the four channels of a texel; the border colour outside. Fractions of a normalized format are f numbers."""
        image = self.texels
        if not (0 <= x < image.width and 0 <= y < image.height and 0 <= z < image.depth):
            return BORDER
        found = image.read(((z * image.height + y) * image.width + x) * image.bytes)
        return found if image.integer else [round_number(Fraction(v), "f") for v in found]

    def store(self, lane: int, values: list, chosen: list[int], *, ulp: int = 0) -> None:
        """Store the chosen channels in the destination's type, each in its own registers."""
        dst = self.inst.get("dst")
        kind = self.state.kernel.variable_type(dst.var).name
        row = -(-len(self.on) * SIZES[kind] // self.state.grf) * self.state.grf
        seen = kind
        for k, channel in enumerate(chosen):
            value = values[channel]
            if self.texels is not None and self.texels.integer:
                # Integers come as they are, also into a variable of floats.
                data = encode(int(value), {"f": "ud", "hf": "uw"}.get(kind, kind))
                seen = {"f": "ud", "hf": "uw"}.get(kind, kind)
            elif kind in ("f", "hf"):
                data = encode(round_number(value, kind) if isinstance(value, Fraction | float) else float(value), kind)
            elif self.texels is not None:
                data, seen = encode(round_number(value, "f") if isinstance(value, Fraction) else float(value), "f"), "f"
            else:
                data = encode(int(value), kind)
            self.state.poke(self.inst, dst, k * row + lane * SIZES[kind], data, seen, ulp=ulp, zeros=True)

    def null_mask(self, count: int) -> None:
        """Write one more register if the message requests it: no page is null."""
        dst = self.inst.get("dst")
        if self.op & 0x100 and any(self.on):
            kind = self.state.kernel.variable_type(dst.var).name
            row = -(-len(self.on) * SIZES[kind] // self.state.grf) * self.state.grf
            known = self.state.expected.get(self.state.raw(dst)[0])
            self.state.poke(
                self.inst,
                dst,
                count * row,
                ((1 << len(self.on)) - 1).to_bytes(4, "little"),
                known.kind if known else "ub",
                ulp=1,
            )


def sign(value: int, bits: int) -> int:
    """Return the low bits of a number as a signed one."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def chosen_of(inst) -> list[int]:
    """Return the channels of a mask."""
    return [c for c in range(4) if inst.get("chan") >> c & 1]


def half_even(value: Fraction) -> int:
    """To the nearest integer, ties to the even one."""
    return round(value)


def taps(coordinate, size: int, sampler: dict, offset: int, *, linear: bool) -> list[tuple[int, Fraction]]:
    """Texels along an axis with their weights; -1 is the border (OpenCL: image addressing and filtering)."""
    c, mode = Fraction(coordinate), sampler.get("address", "clamp_to_edge")
    if sampler.get("normalized"):
        if mode == "repeat":
            c -= math.floor(c)
        elif mode == "mirrored_repeat":
            c = abs(c - 2 * half_even(c / 2))
        c *= size
    c += offset
    if not linear:
        return [(wrap(math.floor(c), size, mode), Fraction(1))]
    low = math.floor(c - Fraction(1, 2))
    part = c - Fraction(1, 2) - low
    return [(wrap(low, size, mode), 1 - part), (wrap(low + 1, size, mode), part)]


def wrap(i: int, size: int, mode: str) -> int:
    """Return the texel number after wrapping, or -1 outside the image."""
    if mode == "repeat":
        return i % size
    if mode in ("clamp", "clamp_to_border"):
        return i if 0 <= i < size else -1
    return min(max(i, 0), size - 1)


def compare(texel: list, reference) -> list:
    """1 where the reference is not above red."""
    return [1.0 if reference <= texel[0] else 0.0, 0.0, 0.0, 1.0]


def filter_texels(message: Message, coordinates, offsets, reference=None) -> list:
    """Return four channels at a point."""
    image, sampler = message.texels, message.sampler
    linear = sampler.get("filter") == "linear"
    corners = []
    for axis, (c, size) in enumerate(
        zip(message.axes(*coordinates), (image.width, image.height, image.depth), strict=True)
    ):
        if axis == 2 and image.layered:
            corners.append([(min(max(half_even(Fraction(c)), 0), size - 1), Fraction(1))])
        elif size == 1 and (axis == 2 or (axis == 1 and (image.dims == 1 or image.layered))):
            corners.append([(0, Fraction(1))])
        else:
            corners.append(taps(c, size, sampler, offsets[axis], linear=linear))
    total = [Fraction(0)] * 4
    for x, wx in corners[0]:
        for y, wy in corners[1]:
            for z, wz in corners[2]:
                texel = message.texel(x, y, z)
                if reference is not None:
                    texel = compare(texel, reference)
                if not linear:
                    return texel
                total = [t + Fraction(v) * wx * wy * wz for t, v in zip(total, texel, strict=True)]
    return total


def sample(state: State, inst) -> None:
    """Filter at float coordinates."""
    message = Message(state, inst)
    for lane, on in enumerate(message.on):
        if not on:
            continue
        values = BORDER
        if message.texels:
            point = [message.parameter(n, lane) for n in ("u", "v", "r")]
            reference = message.parameter("ref", lane) if message.has("ref") else None
            values = filter_texels(message, point, message.find_texel_offsets(lane, 4), reference)
        message.store(lane, values, chosen_of(inst), ulp=1)
    message.null_mask(len(chosen_of(inst)))


def load(state: State, inst) -> None:
    """Load the texel at integer coordinates."""
    message = Message(state, inst)
    for lane, on in enumerate(message.on):
        if not on:
            continue
        values = BORDER
        other = any(message.has(n) and message.parameter(n, lane, integer=True) for n in ("lod", "si"))
        if message.texels and not other and inst.row.mnemonic != "load_mcs":
            point = [message.parameter(n, lane, integer=True) for n in ("u", "v", "r")]
            values = message.texel(*message.axes(*(a + b for a, b in zip(point, message.shared, strict=True))))
        message.store(lane, values, chosen_of(inst))
    message.null_mask(len(chosen_of(inst)))


def sample4(state: State, inst) -> None:
    """Load one channel of the four texels of a bilinear filter: lower left, lower right, upper right, upper left."""
    message = Message(state, inst)
    channel = inst.get("chan") & 3
    for lane, on in enumerate(message.on):
        if not on:
            continue
        values = BORDER
        if message.texels:
            image = message.texels
            x, y, z = message.axes(*(message.parameter(n, lane) for n in ("u", "v", "r")))
            du, dv, _ = message.find_texel_offsets(lane, 6)
            (left, _), (right, _) = taps(x, image.width, message.sampler, du, linear=True)
            (upper, _), (lower, _) = taps(y, image.height, message.sampler, dv, linear=True)
            layer = min(max(half_even(Fraction(z)), 0), image.depth - 1)
            four = [
                message.texel(a, b, layer) for a, b in ((left, lower), (right, lower), (right, upper), (left, upper))
            ]
            if message.has("ref"):
                four = [compare(t, message.parameter("ref", lane)) for t in four]
                channel = 0
            values = [t[channel] for t in four]
        message.store(lane, values, [0, 1, 2, 3])
    message.null_mask(4)


def sample_unorm(state: State, inst) -> None:
    """8 by 4 pixels in steps from a corner, as fractions of 16 or 8 bits; red and blue of even pixels only where halved."""
    message = Message(state, inst)
    form, chosen = inst.get("chan") >> 4 & 3, chosen_of(inst)
    size, top = (1, 255) if form & 2 else (2, 65535)
    u, v, du, dv = (state.values(inst.get(n), 1)[0] for n in ("u", "v", "du", "dv"))
    message.sampler = {**message.sampler, "normalized": True}
    for k, channel in enumerate(chosen):
        halved = form & 1 and channel in (0, 2)
        place = 0
        for row in range(4):
            for column in range(0, 8, 2 if halved else 1):
                point = (np.float64(u) + column * np.float64(du), np.float64(v) + row * np.float64(dv), 0)
                value = filter_texels(message, [float(p) for p in point], [0, 0, 0])[channel]
                scaled = min(max(Fraction(round_number(Fraction(value), "f")), Fraction(0)), Fraction(1)) * top
                state.poke(inst, inst.get("dst"), (k * 32 + place) * size, round(scaled).to_bytes(size, "little"))
                if abs(scaled - math.floor(scaled) - Fraction(1, 2)) < Fraction(1, 64):
                    # Half-way, the last bit of the weights decides.
                    state.undefine(inst.get("dst"), (k * 32 + place) * size, size)
                place += 1


def lod(state: State, inst) -> None:
    """Red is the level clamped to the only one; green log2 of the longer difference to the neighbours in texels."""
    message = Message(state, inst)
    image = message.texels
    for lane, on in enumerate(message.on):
        if not on:
            continue
        group = lane & ~3
        level = 0.0
        if image:
            sizes = (image.width, image.height if image.dims > 1 else 0, image.depth if image.dims > 2 else 0)
            lengths = []
            for other in (group + 1, group + 2):
                steps = [
                    (message.parameter(n, other) - message.parameter(n, group)) * size
                    for n, size in zip("uvr", sizes, strict=True)
                ]
                lengths.append(sum(step * step for step in steps))
            level = 0.5 * math.log2(max(lengths)) if max(lengths) else -math.inf
        message.store(lane, [0.0, level, 0.0, 0.0], chosen_of(inst), ulp=2)
    message.null_mask(len(chosen_of(inst)))


def _info(numbers):
    def body(state: State, inst) -> None:
        on = state.compute_enable(inst)
        surface = space_of(state, inst).surface
        if surface is None:
            return
        found = numbers(Texels(Surface(surface.data, 0, surface.image)))
        row = max(4 * len(on), state.grf)
        for lane in range(len(on)):
            if not on[lane]:
                continue
            level = state.number(inst.get("lod"), lane, "d") if "lod" in inst.row.index else 0
            values = [*([0, 0, 0] if level else found[:3]), found[3]]
            for k, channel in enumerate(chosen_of(inst)):
                state.poke(inst, inst.get("dst"), k * row + 4 * lane, values[channel].to_bytes(4, "little"))

    return body


def _sizes(image: Texels) -> list[int]:
    if image.dims == 1:
        return [image.width, 0, 0, 1]
    if image.dims == 2 and image.layered and image.height == 1:
        return [image.width, image.depth, 0, 1]
    return [image.width, image.height, image.depth if image.dims > 2 else 0, 1]


EFFECTS = {
    "sample_3d": sample,
    "sample": sample,
    "load_3d": load,
    "load_mcs": load,
    "load": load,
    "sample4": sample4,
    "sample_unorm": sample_unorm,
    "lod": lod,
    "resinfo": _info(_sizes),
    "sampleinfo": _info(lambda _image: [1, 0, 0, 0]),
}
