"""Cases of messages to memory, from the slots, modifiers and shapes of their rows.

A case chooses lanes as lane rows do, a space (surface, shared local memory, scratch, flat, nothing bound), what every
modifier and data shape may say, offsets that lie inside, at the end and outside, and payloads that sometimes equal what
stands in memory. Every case has a buffer of its own, so that no case hides another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.generator.lane_cases import CONTROLS, EMASKS, PREDICATES, LaneBench, platforms_of
from tests.sim.generator.pairwise import cases
from tests.support.message_bytes import MessageWitness
from tests.support.model.numbers import inputs
from tests.support.model.state import describe
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.model import FieldKind, Instruction, Modifier, Role, Shape
from visa_lsp.isa.operands import Region
from visa_lsp.isa.types import TYPE_BY_NAME, ExecControl
from visa_lsp.program.model import General, Immediate, RawOperand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.sim.generator.bench import Bench

NULL = RawOperand(0, 0)
PAYLOAD = 4096  # bytes of a data operand
SLM = 8192
TYPES = {t: TYPE_BY_NAME[t] for t in ("ud", "d", "uq", "uw")}
CHANNEL_MASKS = [1, 2, 5, 8, 11, 15]
IMAGES = [
    {"width": 7, "height": 5, "depth": 1, "channels": 4, "format": "unorm8", "dims": 2},
    {"width": 6, "height": 4, "depth": 3, "channels": 2, "format": "snorm16", "dims": 3},
    {"width": 9, "height": 1, "depth": 1, "channels": 1, "format": "uint32", "dims": 1},
    {"width": 5, "height": 5, "depth": 1, "channels": 4, "format": "sint8", "dims": 2},
    {"width": 5, "height": 3, "depth": 4, "channels": 4, "format": "float16", "dims": 3, "layered": True},
    {"width": 8, "height": 1, "depth": 3, "channels": 1, "format": "float32", "dims": 2, "layered": True},
    {"width": 4, "height": 6, "depth": 1, "channels": 2, "format": "uint16", "dims": 2},
    {"width": 3, "height": 4, "depth": 2, "channels": 4, "format": "sint32", "dims": 3},
    {"width": 5, "height": 4, "depth": 1, "channels": 1, "format": "unorm16", "dims": 2},
    {"width": 5, "height": 4, "depth": 1, "channels": 4, "format": "uint8", "dims": 2},
    {"width": 5, "height": 4, "depth": 1, "channels": 4, "format": "snorm8", "dims": 2},
    {"width": 5, "height": 4, "depth": 1, "channels": 2, "format": "sint16", "dims": 2},
]  # fmt: skip
DWORD_IMAGES = [
    {"width": 7, "height": 5, "depth": 1, "channels": 1, "format": f, "dims": 2}
    for f in ("uint32", "sint32", "float32")
]
TYPED = {Shape.LSC_ADDRESS_TYPED, Shape.LSC_ADDRESS_TYPED_2D}
SIZES_OF_TEXEL = {
    "unorm8": 1,
    "snorm8": 1,
    "uint8": 1,
    "sint8": 1,
    "unorm16": 2,
    "snorm16": 2,
    "uint16": 2,
    "sint16": 2,
    "float16": 2,
}


def shapes_of(row: Instruction) -> set[Shape]:
    """Return the shapes of a row's operands."""
    return {s.shape for s in row.slots}


def is_typed(row: Instruction) -> bool:
    """Whether the row addresses texels."""
    return bool(shapes_of(row) & TYPED) or any(s.name == "u" for s in row.slots)


def is_atomic(row: Instruction) -> bool:
    """Whether the row combines what stands in memory with operands."""
    return "atomic" in row.mnemonic


def spaces(row: Instruction) -> list[str]:
    """Where the row's messages may go."""
    shapes = shapes_of(row)
    if "surface" in {s.name for s in row.slots} and any(s.shape is Shape.GROUP for s in row.slots):
        return ["image"]
    if shapes & TYPED:
        return ["image", "buffer"]
    if Shape.LSC_ADDRESS in shapes or Shape.LSC_ADDRESS_STRIDED in shapes:
        return ["flat", "base", "bti", "bti register", "bss", "slm", "unbound", "scratch"]
    if Shape.LSC_ADDRESS_2D in shapes:
        return ["flat", "descriptor"]
    if Shape.SURFACE not in shapes:
        return ["flat"]
    return ["image", "buffer", "unbound"] if is_typed(row) else ["buffer", "slm", "scratch", "stateless", "unbound"]


def data_sizes(row: Instruction) -> list[int]:
    """Codes of the data sizes that the row's messages take per lane."""
    if row.mnemonic.startswith("lsc_atomic_bf"):
        return [6]
    if is_typed(row):
        return [3]
    if is_atomic(row):
        return [3, 4, 6]
    if Shape.LSC_DATA_2D in shapes_of(row):
        return [1, 2, 3, 4]
    return [3] if "quad" in row.mnemonic else [3, 4, 5, 6, 7]


def dimensions(row: Instruction) -> dict[str, list]:
    """Return the dimensions of a row."""
    shapes = shapes_of(row)
    kinds = {f.name: f.kind for f in row.fields}
    # Images of dwords are what an atomic wants.
    images = DWORD_IMAGES if is_atomic(row) else IMAGES
    found: dict[str, list] = {
        "emask": list(EMASKS), "grf": platforms_of(row), "space": spaces(row), "image": list(range(len(images))),
        "spread": ["all", "end", "far"], "goff": [0, 4, 0xFFFF_FFC0], "raw": [0, 1], "null": [False, False, True], "turn": [0, 1, 2],
    }  # fmt: skip
    if kinds.get("n") in (FieldKind.EXEC_CODE, FieldKind.EXEC_LOG2) or row.has_field("exec"):
        found["size"] = list(row.exec_sizes)
    if row.has_field("exec") or kinds.get("n") is FieldKind.EXEC_CODE:
        found["offset"], found["no_mask"] = list(range(8)), [False, True]
    if row.has_field("pred"):
        found["control"], found["bits"] = list(CONTROLS), list(PREDICATES)
    for number, modifier in enumerate(row.modifiers):
        if modifier.field in ("l1", "l2", "l3") or modifier.field == "modified":
            continue
        if modifier.kind is Modifier.Kind.CHANNELS:
            found[f"word {number}"] = list(CHANNEL_MASKS)
        elif modifier.kind is Modifier.Kind.WORD:
            found[f"word {number}"] = sorted(
                {*modifier.words.values(), *([modifier.default] if modifier.optional else [])}
            )
    if row.has_field("datasize"):
        found["datasize"] = data_sizes(row)
    if Shape.LSC_DATA in shapes and not is_atomic(row):
        quad = "quad" in row.mnemonic
        found["elements"] = CHANNEL_MASKS if quad else [1, 2, 3, 4, 8, 16, 32, 64]
        found["order"] = [1] if quad or is_typed(row) or "status" in row.mnemonic else [1, 2]
    if shapes & {Shape.LSC_ADDRESS, Shape.LSC_ADDRESS_STRIDED}:
        found["scale"], found["immoffset"] = [1, 4], [0, 64, -64]
    if Shape.LSC_ADDRESS_STRIDED in shapes:
        found["pitch"] = [0, 4, 96, "register"]
    if Shape.LSC_DATA_2D in shapes:
        one = row.mnemonic.startswith("lsc_store")
        found |= {"width": [1, 3, 4, 8, 16], "height": [1, 2, 5, 8], "blocks": [1] if one else [1, 2, 4], "form": [(1, 0)] if one else [(1, 0), (2, 0), (1, 1)],
                  "x": [0, 3, -2, 30], "y": [0, 1, -3, 14], "immx": [0, 2], "immy": [0, -1]}  # fmt: skip
    if shapes & {Shape.GROUP, Shape.LSC_DATA_TYPED_2D}:
        found |= {
            "block": [(4, 4), (1, 1), (3, 5), (16, 2), (32, 8), (7, 3), (64, 4)],
            "x": [0, 4, -4, 20],
            "y": [0, 2, -2, 7],
        }
    return found


def cases_of(row: Instruction) -> Iterator[dict]:
    """All cases of a row that the documents allow."""
    for chosen in cases(dimensions(row)):
        case = dict(chosen)
        if row.mnemonic in ("gather_scaled", "scatter_scaled") and case.get("word 0") == 3:
            case["word 0"] = 2  # eight bytes do not fit a lane's dword; test_eight_bytes_do_not_fit_the_dword_of_a_lane
        if case.get("order") == 2:
            case["size"] = 1
            case["datasize"] = 4 if case["datasize"] == 4 else 3
        elif case.get("elements", 0) in (16, 32, 64):
            case["elements"] = case["elements"] % 5 + 1  # long vectors are for transposed messages
        if case.get("elements") == 5:
            case["elements"] = 8
        if case.get("space") == "slm" and is_typed(row):
            continue
        if case.get("form") == (2, 0):
            case["datasize"] = max(case["datasize"], 3)
        if case.get("form") == (1, 1):
            case["datasize"] = min(case["datasize"], 2)
        yield case


class MessageBench(LaneBench):
    """A bench that builds the operands of messages."""

    def __init__(self, name: str, **more) -> None:
        super().__init__(name, **more)
        self.slm = inputs("ub", SLM, 3)
        self.witness = MessageWitness()
        self.observers = (self.witness,)
        self.data = b"".join(inputs(kind, 64, 11 + i) for i, kind in enumerate(("f", "ud", "hf", "df", "uw", "d", "f")))

    def differences(self) -> list[str]:
        """Return the differences from the model, and those from the values of the messages."""
        return super().differences() + self.witness.differences

    def content(self, size: int) -> bytes:
        """Bytes of a new buffer: numbers of all types."""
        shift = int(self.rng.integers(0, 64)) * 8
        pool = self.data[shift:] + self.data[:shift]
        return (pool * (size // len(pool) + 1))[:size]

    def payload(self, data: bytes = b"", *, raw: int = 0, size: int = PAYLOAD) -> RawOperand:
        """Return a data operand: given bytes, then arbitrary ones, behind ``raw`` registers."""
        start = raw * self.grf
        body = self.rng.bytes(start) + data
        number = self.var("ud", (size + start) // 4, body + self.rng.bytes(size + start - len(body)))
        return RawOperand(number, start)

    def addresses(self, numbers: list[int], size: int, raw: int) -> RawOperand:
        """One address of ``size`` bytes per lane."""
        data = b"".join((n & (1 << 8 * size) - 1).to_bytes(size, "little") for n in numbers)
        return self.payload(data, raw=raw, size=512)

    def scalar(self, value: int, kind: str, *, register: bool) -> object:
        """Return a scalar operand: an immediate, or the second element of a variable."""
        if not register:
            bits = 64 if TYPES[kind].size == 8 else 32
            return Immediate(TYPES[kind], value & (1 << bits) - 1)
        return General(self.words(kind, [7, value, 9]), 0, 1, Region(0, 1, 0))


def add(bench: MessageBench, row: Instruction, case: dict) -> None:
    """Append the instruction of a case, with its operands and its buffer."""
    fields = _modifiers(row, case)
    control = None
    if "offset" in case:
        control = bench.control(case)
    elif "size" in case:
        control = ExecControl(case["size"])
    lanes = case.get("size", 1)
    for item in row.fields:
        if item.kind in (FieldKind.EXEC, FieldKind.EXEC_CODE, FieldKind.EXEC_LOG2):
            fields[item.name] = control
    if row.has_field("pred"):
        fields["pred"] = bench.guard(case)
    at = _place(bench, row, case, lanes)
    fields |= at.fields
    for slot in row.slots:
        if (
            slot.shape in (Shape.RAW, Shape.LSC_DATA, Shape.LSC_PAYLOAD, Shape.LSC_DATA_2D, Shape.LSC_DATA_TYPED_2D)
            and slot.name not in fields
        ):
            if slot.role is Role.WRITE:
                null = case["null"] and "null" in slot.doc
                fields[slot.name] = NULL if null else bench.payload(raw=case["raw"])
            else:
                fields[slot.name] = bench.payload(at.operand(len(fields) + case["turn"]), raw=case["raw"])
    inst = bench.emit(row, **fields)
    bench.notes[len(bench.buffers) - 1] = describe(inst)
    bench.count += 1


def _modifiers(row: Instruction, case: dict) -> dict:
    fields: dict = {}
    for number, modifier in enumerate(row.modifiers):
        if f"word {number}" in case:
            fields[modifier.field] = fields.get(modifier.field, 0) | case[f"word {number}"]
    if "datasize" in case:
        fields["datasize"], fields["order"] = case["datasize"], case.get("order", 1)
        quad = "quad" in row.mnemonic
        if "elements" in case:
            fields["chmask"] = fields["elems"] = case["elements"] if quad else codes.ELEMS[case["elements"]]
        elif row.has_field("elems"):
            fields["elems"] = fields["chmask"] = 1
    for name in ("width", "height", "blocks", "immx", "immy"):
        if name in case and row.has_field(name):
            fields[name] = case[name]
    if "form" in case:
        fields["order"], fields["vnni"] = case["form"]
    if "block" in case:
        fields["width"], fields["height"] = case["block"]
    return {n: v for n, v in fields.items() if row.has_field(n)}


from tests.sim.generator.places import place as _place  # noqa: E402 - it needs the bench above


def benches(row: Instruction, some: Callable[[Iterable[dict]], Iterable[dict]] = iter) -> Iterator[Bench]:
    """Yield the kernels that hold all cases of a row, or some; a binding table has room for some 200 buffers."""
    groups: dict[tuple, MessageBench] = {}
    for number, case in enumerate(some(cases_of(row))):
        key = (case["emask"], case["grf"], number // 150)
        if key not in groups:
            groups[key] = MessageBench(row.mnemonic, platform=case["grf"], emask=case["emask"])
        add(groups[key], row, case)
    yield from groups.values()
    seen = [bench.witness.count for bench in groups.values()]
    assert not any(seen) or seen >= [bench.count for bench in groups.values()]


__all__ = ["MessageBench", "add", "benches", "cases_of", "dimensions"]
