"""Where a message of a case goes: its buffer, and the operands that say where in it.

``place`` makes the surface fields, addresses, coordinates; what the message moves is ``message_cases``' business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.sim.generator.bench import HEADER
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.model import Instruction, Shape
from visa_lsp.isa.operands import Region
from visa_lsp.program.model import General, Immediate, RawOperand

if TYPE_CHECKING:
    from tests.sim.generator.message_cases import MessageBench


@dataclass
class Place:
    """Fields that are settled, and what stands where the lanes look: ``operand`` repeats a part of it."""

    fields: dict
    seen: list[bytes] = field(default_factory=list)
    cell: int = 4

    def operand(self, turn: int) -> bytes:
        """Return an operand in which every third lane repeats what is in memory; the others have that of another lane.

        Operands with different turns repeat it in different lanes.
        """
        count = len(self.seen)
        turned = [s if (i + turn) % 3 == 0 else self.seen[(i + 1 + turn) % count] for i, s in enumerate(self.seen)]
        return b"".join(s.ljust(self.cell, b"\0")[: self.cell] for s in turned)


def place(bench: MessageBench, row: Instruction, case: dict, lanes: int) -> Place:
    """Return the place of a case, by the shapes of the row's operands."""
    shapes = {s.shape for s in row.slots}
    if shapes & {Shape.LSC_ADDRESS, Shape.LSC_ADDRESS_STRIDED}:
        return _untyped(bench, row, case, lanes)
    if Shape.LSC_ADDRESS_2D in shapes:
        return _matrix(bench, case)
    if shapes & {Shape.GROUP, Shape.LSC_ADDRESS_TYPED_2D}:
        return _rectangle(bench, row, case)
    if Shape.LSC_ADDRESS_TYPED in shapes or row.has_field("u"):
        return _texels(bench, row, case, lanes)
    return _data_port(bench, row, case, lanes)


def spread(case: dict, lanes: int, step: int, room: int) -> list[int]:
    """Distinct offsets of the lanes: inside, or the last ones across the end, or one far outside."""
    order = [(i * 5 + 3) % lanes if lanes > 1 else 0 for i in range(lanes)]
    found = [n * step for n in order]
    if case["spread"] != "all":
        # The buffer ends within the access of one of the last lanes.
        found = [at + max(0, room - lanes * step + step // 2 // 4 * 4) for at in found]
    if case["spread"] == "far":
        found[0] = room + 1024
    return found


def _seen(data: bytes, offsets: list[int], size: int) -> list[bytes]:
    return [data[at : at + size].ljust(size, b"\0") if 0 <= at < len(data) else bytes(size) for at in offsets]


def _surface(bench: MessageBench, case: dict, data: bytes) -> tuple[int, bytes]:
    """Return a surface field for the space of a case, and what stands in it."""
    space = case["space"]
    if space == "slm":
        return 0, bench.slm
    if space == "scratch":
        return 5, bytes(1 << 18)
    if space == "stateless":
        bench.buffer(data)
        return 1, data
    if space == "unbound":
        return bench.surface(239), b""
    return bench.surface(bench.buffer(data)), data


def _data_port(bench: MessageBench, row: Instruction, case: dict, lanes: int) -> Place:
    """Offsets into a surface, or addresses of virtual memory: per lane, or one for a block."""
    fields: dict = {}
    data = bench.content(lanes * 64 + 64 + 4)
    goff = case["goff"] if row.has_field("goff") else 0
    known = data
    if row.has_field("surface"):
        fields["surface"], known = _surface(bench, case, data)
    else:
        bench.buffer(data)
    room = len(known) or len(data)
    in_elements = any(s.name == "goff" and "in elements" in s.doc for s in row.slots)
    unit = 1 << case["word 0"] if in_elements else 1
    step = unit * 2 if in_elements else 64
    targets = spread(case, lanes, step, min(room, 1 << 18))
    register = case["raw"] == 1
    flat = not row.has_field("surface")
    base = bench.address_of_buffer(len(bench.buffers) - 1) if flat or case["space"] == "stateless" else 0
    tag = 0x1000_0000 if case["space"] == "slm" and register else 0
    if row.has_field("goff"):
        fields["goff"] = bench.scalar(goff, "ud", register=register)
    for slot in row.slots:
        if slot.shape is Shape.RAW and slot.name in ("off", "address"):
            size = 8 if flat else 4
            numbers = [(base + at + tag) // unit - goff for at in targets]
            fields[slot.name] = bench.addresses(numbers, size, case["raw"])
        elif slot.shape is Shape.VECTOR and slot.name in ("offset", "address"):
            scale = 1 if flat or "unaligned" in row.mnemonic else 16
            start = {"all": 32, "end": (room - 36) // 16 * 16, "far": room + 256}[case["spread"]]
            fields[slot.name] = bench.scalar((base + start + tag) // scale, "uq" if flat else "ud", register=register)
    if case["space"] == "unbound":
        known = bytes(room)
    cell = 8 if fields.get("op", 0) & 0x40 else 4
    return Place(fields, _seen(known, targets, cell), 8 if case.get("word 1") == 0x40 else 4)


def _untyped(bench: MessageBench, row: Instruction, case: dict, lanes: int) -> Place:
    """Every address model of the load/store controller."""
    memory = codes.DATASIZES[case["datasize"]].memory_bytes
    count = 4 if "quad" in row.mnemonic else case.get("elements", 1)
    step = max(4, memory * count)
    strided = row.has_field("pitch")
    data = bench.content(max(lanes * step, 32 * 96 if strided else 0) + 4)
    space, register = case["space"], case["raw"] == 1
    fields: dict = {"immscale": case["scale"], "immoffset": case["immoffset"], "sfid": codes.SFID_UGM}
    known = bench.slm if space == "slm" else data
    # The handle of the scratch space is what r0.5 says.
    index = 239 if space in ("slm", "unbound") else HEADER[5] >> 4 if space == "scratch" else bench.buffer(data)
    start = bench.address_of_buffer(index) if space in ("flat", "base") else 0
    size = 8
    if space == "flat":
        fields |= {"addrtype": codes.ADDRTYPE_FLAT, "addrsize": codes.ADDRSIZE_A64, "surface": Immediate(_ud(), 0)}
    elif space == "base":
        base = General(bench.words("uq", [start + 8]), 0, 0, Region(0, 1, 0))
        fields |= {
            "addrtype": codes.ADDRTYPE_FLAT,
            "addrsize": codes.ADDRSIZE_A32S if register else codes.ADDRSIZE_A32U,
            "surface": base,
        }
        start, size = -8, 4
    elif space == "slm":
        fields |= {"sfid": codes.SFID_SLM, "addrtype": codes.ADDRTYPE_FLAT, "surface": Immediate(_ud(), 0),
                   "addrsize": codes.ADDRSIZE_A16 if register else codes.ADDRSIZE_A32}  # fmt: skip
        size = 2 if register else 4
    else:
        kinds = {"bss": codes.ADDRTYPE_BSS if register else codes.ADDRTYPE_SS, "scratch": codes.ADDRTYPE_SS}
        kind = kinds.get(space, codes.ADDRTYPE_BTI)
        in_register = space in ("bti register", "bss", "scratch")
        surface = (
            General(bench.words("ud", [1, index]), 0, 1, Region(0, 1, 0)) if in_register else Immediate(_ud(), index)
        )
        fields |= {"addrtype": kind, "addrsize": codes.ADDRSIZE_A32, "surface": surface}
        size = 4
    room = len(known)
    if strided or case.get("order") == 2:
        first = {"all": 0, "end": max(0, room - 3 * step) // 4 * 4, "far": room + 512}[case["spread"]]
        targets = [first + i * step for i in range(lanes)]
    else:
        targets = spread(case, lanes, step, room)
    if strided:
        pitch = case["pitch"]
        fields["pitch"] = bench.scalar(step if pitch == "register" else pitch, "ud", register=pitch == "register")
    numbers = [start + at - case["immoffset"] for at in targets]
    scale = case["scale"]
    if any(n % scale for n in numbers) or (space == "base" and not register and min(numbers) < 0):
        fields["immscale"] = scale = 1
    if space == "base" and not register and min(numbers) < 0:
        fields["immoffset"] -= 4096
        numbers = [n + 4096 for n in numbers]
    if size == 2 and min(numbers) < 0:
        fields["immoffset"] -= 128
        numbers = [n + 128 for n in numbers]
    fields["src0"] = bench.addresses([n // scale for n in numbers], size, case["raw"])
    register_bytes = codes.DATASIZES[case["datasize"]].register_bytes
    return Place(
        {n: v for n, v in fields.items() if row.has_field(n)}, _seen(known, targets, register_bytes), register_bytes
    )


def _ud():
    from visa_lsp.isa.types import UD

    return UD


def _matrix(bench: MessageBench, case: dict) -> Place:
    """Return a matrix in flat memory, its six numbers in operands or in one register."""
    size = codes.DATASIZES[case["datasize"]].memory_bytes
    columns, rows = 36, 18
    pitch = columns * size + 8 * (case["raw"] + 1)
    index = bench.buffer(bench.content(pitch * rows))
    base = bench.address_of_buffer(index)
    numbers = [base, columns * size - 1, rows - 1, pitch - 1, case["x"], case["y"]]
    if case["space"] == "descriptor":
        words = [base & 0xFFFFFFFF, base >> 32, *numbers[1:]]
        var = bench.words("ud", [*words, 0])
        return Place(
            {
                "payload": 1,
                "addr0": General(var, 0, 0, Region(0, 1, 0)),
                **{f"addr{i}": Immediate(_ud(), 0) for i in range(1, 6)},
            }
        )
    kinds = ["uq", "ud", "ud", "ud", "d", "d"]
    fields = {
        f"addr{i}": bench.scalar(n, k, register=(i + case["raw"]) % 2 == 0)
        for i, (n, k) in enumerate(zip(numbers, kinds, strict=True))
    }
    return Place(fields)


def image_of(bench: MessageBench, words: dict) -> int:
    """Return an image with arbitrary texels; its binding table index."""
    from tests.sim.generator.message_cases import SIZES_OF_TEXEL

    texel = SIZES_OF_TEXEL.get(words["format"], 4) * words["channels"]
    size = texel * words["width"] * words["height"] * words["depth"]
    described = {"layered": False, **words, "bytes": texel}
    return bench.buffer(bench.content(size), image=described)


def _images(row: Instruction) -> list[dict]:
    from tests.sim.generator.message_cases import DWORD_IMAGES, IMAGES

    return DWORD_IMAGES if "atomic" in row.mnemonic else IMAGES


def _typed_surface(bench: MessageBench, row: Instruction, case: dict) -> tuple[dict, dict, bytes]:
    """Fields of the surface, the image's words and its bytes."""
    words = _images(row)[case["image"]]
    if case["space"] == "buffer":
        index = bench.buffer(bench.content(44))
        words = {"width": 11, "height": 1, "depth": 1, "dims": 1, "channels": 1, "format": "uint32"}
    else:
        index = image_of(bench, words)
    data = bench.buffers[index][1]
    if case["space"] == "unbound":
        index = 239
    if row.has_field("addrtype"):
        fields = {
            "addrtype": codes.ADDRTYPE_BTI,
            "surface": bench.scalar(index, "ud", register=case["raw"] == 1),
            "sfid": codes.SFID_TGM,
        }
        if case["raw"] == 0 and case["spread"] == "end":
            fields |= {"addrtype": codes.ADDRTYPE_BSS, "surface": bench.scalar(index, "ud", register=True)}
        return fields, words, data
    if any(f.name == "surface" and f.kind.value == "r" for f in row.fields):
        return {"surface": RawOperand(bench.words("uq", [index]), 0)}, words, data
    return {"surface": bench.surface(index)}, words, data


def _texels(bench: MessageBench, row: Instruction, case: dict, lanes: int) -> Place:
    """Coordinates of texels: distinct ones inside, and some outside of each side."""
    fields, words, data = _typed_surface(bench, row, case)
    width, height, depth = words["width"], words["height"], words["depth"]
    spots = []
    for i in range(lanes):
        n = (i * 5 + 3) % max(1, width * height * depth)
        x, y, z = n % width, n // width % height, n // width // height
        if i >= width * height * depth:  # written twice nothing would be certain
            x, y, z = -1, i, 0
        if case["spread"] == "end" and i % 3 == 1:
            x, y, z = ((x + width, y, z), (x, y + height, z), (x, y, -1))[i // 3 % 3]
        if case["spread"] == "far" and i == 0:
            x = 1 << 14
        if words["dims"] == 2 and words.get("layered") and height == 1:
            y, z = z, 0
        spots.append((x, y, z))
    size, moved = 4, {}
    if row.has_field("addrsize"):
        narrow = case["raw"] == 1
        size = 2 if narrow else 4
        fields["addrsize"] = codes.ADDRSIZE_A16 if narrow else codes.ADDRSIZE_A32
        if row.has_field("uoff") and case["null"]:
            moved = {"uoff": 1, "voff": -1}
            fields |= moved
    steps = (moved.get("uoff", 0), moved.get("voff", 0), 0)
    for axis, name in enumerate(("u", "v", "r")):
        numbers = [spot[axis] - steps[axis] for spot in spots]
        unused = axis >= words["dims"]
        fields[name] = RawOperand(0, 0) if unused and not steps[axis] else bench.addresses(numbers, size, case["raw"])
    if "msrt" in row.mnemonic:
        fields["lod"] = bench.addresses([i % 2 for i in range(lanes)], size, 0)
    pitch = len(data) // max(1, height * depth)
    at = [(z * height + y) * pitch + x * (pitch // width) for x, y, z in spots]
    return Place({n: v for n, v in fields.items() if row.has_field(n)}, _seen(data, at, 4), 4)


def _rectangle(bench: MessageBench, row: Instruction, case: dict) -> Place:
    """Return a rectangle of an image: its corner in scalars."""
    words = dict(_images(row)[case["image"]])
    words |= {"dims": 2, "depth": 1, "layered": False, "width": 12, "height": 9}
    index = image_of(bench, words)
    fields: dict = {}
    names = ("x", "y") if row.has_field("x") else ("src0", "src1")
    for name, value in zip(names, (case["x"], case["y"]), strict=True):
        fields[name] = bench.scalar(value, "ud", register=case["raw"] == 1)
    if row.has_field("addrtype"):
        fields |= {
            "addrtype": codes.ADDRTYPE_BTI,
            "surface": bench.scalar(index, "ud", register=False),
            "immx": case["raw"],
            "immy": -case["raw"],
            "sfid": codes.SFID_TGM,
        }
    else:
        fields["surface"] = bench.surface(index)
    return Place(fields)
