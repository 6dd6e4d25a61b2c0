"""The state that an instruction sees, and its operands: registers as bytes, addresses as places in variables, masks, memory.

Takes resolved instructions (``program.model``) and the table's rows; everything that an operand means is written here
from the seeds' pseudo-code. A state runs one thread. It also keeps facts of a destination for tests: the type of its
elements, the tolerance of a float, and the bytes that the documents leave undefined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tests.support.model.numbers import FLOATS, SIZES, Modes, decode, encode, same, small_float
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import (
    Address,
    AddressOf,
    Combine,
    General,
    Immediate,
    Indirect,
    Inst,
    Predicate,
    RawOperand,
)

CONTROL = 14  # %cr0
WHOLE = ExecControl(1, 0, no_mask=True)  # what a message without a parenthesis has


@dataclass
class Surface:
    """The memory behind a surface variable: bytes, and the shape of an image."""

    data: bytearray
    base: int = 0  # address in the flat space
    image: object = None


@dataclass
class Expected:
    """The comparison of a variable: element type, units in the last place, signs of zero, bytes that mean nothing."""

    kind: str
    ulp: int = 0
    zeros: bool = False
    undefined: set[int] = field(default_factory=set)
    by: object = None  # the instruction that wrote it last, for messages
    computed: str = ""  # the float type that an approximation was computed in, where the destination is wider

    def agrees(self, a: bytes, b: bytes) -> bool:
        """Return whether two elements agree; an approximation may be off in the type that it was computed in."""
        if same(a, b, self.kind, self.ulp, zeros=self.zeros):
            return True
        if not self.ulp or self.kind not in FLOATS or self.computed not in FLOATS:
            return False
        x, y = (encode(decode(data, self.kind), self.computed) for data in (a, b))
        return same(x, y, self.computed, self.ulp, zeros=True)


class State:
    """A thread: declared variables, address and predicate variables, the execution mask, surfaces and flat memory."""

    def __init__(self, kernel, grf: int, emask: int) -> None:
        self.kernel, self.grf, self.emask = kernel, grf, emask
        self.modes, self.control = Modes.of(0), bytes(4)
        self.regs: dict[int, bytearray] = {}
        for number, declared in enumerate(kernel.variables, 32):
            if not declared.alias_index:
                whole = -(-declared.byte_size // grf) * grf
                self.regs[number] = bytearray(whole)
        self.addresses = [[(0, 0)] * max(1, a.num_elements) for a in kernel.addresses]
        self.preds = [0] * (len(kernel.predicates) + 1)
        self.surface_values: dict[int, int] = {0: -1, 1: 0xFF, 5: -2}
        self.sampler_values: dict[int, int] = {}
        self.surfaces: dict[int, Surface] = {}
        self.samplers: dict[int, object] = {}
        self.slm, self.scratch = bytearray(), bytearray(1 << 18)
        self.flat: list[Surface] = []
        self.header = [0] * 8  # r0
        self.expected: dict[int, Expected] = {}
        self.floats: dict[tuple[int, int], str] = {}  # float numbers in memory: bytes, place, type

    # ---- variables

    def locate(self, var: int) -> tuple[int, int]:
        """Return the variable that an alias chain ends in, and the offset there."""
        offset = 0
        while var >= 32:
            declared = self.kernel.variables[var - 32]
            if not declared.alias_index:
                break
            offset += declared.alias_offset
            var = declared.alias_index
        return var, offset

    def type_name(self, operand) -> str:
        """Return the element type of an operand; a packed immediate counts as w, uw or f."""
        if isinstance(operand, Immediate):
            return {"v": "w", "uv": "uw", "vf": "f"}.get(operand.type.name, operand.type.name)
        if isinstance(operand, Indirect):
            return operand.type.name
        if isinstance(operand, General | AddressOf):
            return self.kernel.variable_type(operand.var).name
        return "uw" if isinstance(operand, Address) else "ud"

    def origin(self, operand) -> tuple[int, int]:
        """Return the variable and byte where a general operand begins."""
        var, offset = self.locate(operand.var)
        return var, offset + operand.row * self.grf + operand.col * SIZES[self.type_name(operand)]

    def places(self, operand, lanes: int) -> list[tuple[int, int]]:
        """Variable and byte of the element of each lane (seed 004, region-based addressing)."""
        region, size = operand.region, SIZES[self.type_name(operand)]
        width, horizontal = region.width or 1, region.horz_stride or 0
        vertical = region.vert_stride or 0
        if region.width is None:  # a destination
            width, vertical = 1, region.horz_stride
        if isinstance(operand, General):
            var, first = self.origin(operand)
            return [(var, first + ((i // width) * vertical + i % width * horizontal) * size) for i in range(lanes)]
        table = self.addresses[operand.var]
        out = []
        for i in range(lanes):
            row, column = divmod(i, width)
            if region.width is not None and region.vert_stride is None:
                var, base = table[operand.addr_offset + row]
                step = column * horizontal
            else:
                var, base = table[operand.addr_offset]
                step = row * vertical + (column * horizontal if region.width is not None else 0)
            out.append((var, base + operand.offset + step * size))
        return out

    def read_bytes(self, var: int) -> bytes | bytearray:
        """Return the bytes of a variable."""
        return self.control if var == CONTROL else self.regs[var]

    def elements(self, operand, lanes: int) -> list[bytes]:
        """Return the bytes of each lane of a general, indirect or plain immediate operand."""
        size = SIZES[self.type_name(operand)]
        if isinstance(operand, Immediate):
            return [(operand.bits & (1 << 8 * size) - 1).to_bytes(size, "little")] * lanes
        return [
            bytes(self.read_bytes(var)[at : at + size]) if var else bytes(size)
            for var, at in self.places(operand, lanes)
        ]

    def values(self, operand, lanes: int, on: list[bool] | None = None) -> list[int | float]:
        """Return the value of each lane of a source, before modifiers; 0 for lanes that are not ``on``."""
        if isinstance(operand, Immediate) and operand.type.name in ("v", "uv"):
            nibbles = [operand.bits >> 4 * (i % 8) & 15 for i in range(lanes)]
            return [n - 16 if operand.type.name == "v" and n > 7 else n for n in nibbles]
        if isinstance(operand, Immediate) and operand.type.name == "vf":
            return [small_float(operand.bits >> 8 * (i % 4) & 255) for i in range(lanes)]
        kind, size = self.type_name(operand), SIZES[self.type_name(operand)]
        if isinstance(operand, Immediate):
            return [decode(self.elements(operand, 1)[0], kind)] * lanes
        out: list[int | float] = []
        for i, (var, at) in enumerate(self.places(operand, lanes)):
            read = (on is None or on[i]) and var
            out.append(decode(bytes(self.read_bytes(var)[at : at + size]), kind) if read else 0)
        return out

    def scalar(self, operand) -> int:
        """Return the first element of a message's vector operand, as an integer."""
        if operand is None or isinstance(operand, int):
            return operand or 0
        value = self.values(operand, 1)[0]
        return -int(value) if operand.__class__ is General and operand.modifier.name == "NEG" else int(value)

    def put(self, inst: Inst, operand, lane_bytes: dict[int, bytes], lanes: int, **how) -> None:
        """Write elements of some lanes of a destination; ``how`` has the tolerance."""
        if isinstance(operand, General) and operand.var == 0:
            return
        places = self.places(operand, lanes)
        for lane, data in lane_bytes.items():
            var, at = places[lane]
            if var == CONTROL:
                self.modes, self.control = Modes.of(int.from_bytes(data, "little")), data
                continue
            self.regs[var][at : at + len(data)] = data
        self.wrote(places[0][0], self.type_name(operand), inst, **how)

    def wrote(self, var: int, kind: str, inst: Inst, *, ulp: int = 0, zeros: bool = False, computed: str = "") -> None:
        """Note how a variable is compared."""
        if var < 32:
            return
        known = self.expected.get(var)
        if known is None:
            self.expected[var] = Expected(kind, ulp, zeros, set(), inst, computed)
            return
        known.kind, known.ulp, known.zeros, known.by = kind, max(ulp, known.ulp), zeros, inst
        known.computed = computed

    # ---- raw operands: bytes in a row

    def raw(self, operand: RawOperand) -> tuple[int, int] | None:
        """Variable and byte of a raw operand; None for ``%null``."""
        if not isinstance(operand, RawOperand) or operand.var == 0:
            return None
        var, offset = self.locate(operand.var)
        return var, offset + operand.offset

    def peek(self, operand: RawOperand, offset: int, size: int) -> bytes:
        """Return bytes behind the start of a raw operand; zeros for ``%null``."""
        place = self.raw(operand)
        return (
            bytes(size) if place is None else bytes(self.regs[place[0]][place[1] + offset : place[1] + offset + size])
        )

    def number(self, operand: RawOperand, index: int, kind: str) -> int | float:
        """Element ``index`` of a raw operand."""
        return decode(self.peek(operand, index * SIZES[kind], SIZES[kind]), kind)

    def poke(self, inst: Inst, operand: RawOperand, offset: int, data: bytes, kind: str = "ub", **how) -> None:
        """Write bytes behind the start of a raw operand; nothing for ``%null``."""
        place = self.raw(operand)
        if place is not None:
            var, at = place[0], place[1] + offset
            assert at + len(data) <= len(self.regs[var]), describe(inst)
            self.regs[var][at : at + len(data)] = data
            self.wrote(var, kind, inst, **how)

    def undefine(self, operand: RawOperand, offset: int, size: int) -> None:
        """Mark bytes of a raw destination that the documents leave open."""
        place = self.raw(operand)
        if place is not None:
            known = self.expected.setdefault(place[0], Expected("ub"))
            known.undefined.update(range(place[1] + offset, place[1] + offset + size))

    # ---- lanes

    def compute_enable(self, inst: Inst, *, predicate: bool = True) -> list[bool]:
        """Return the channel enable bits (seed 004, ``EvaluateChEn``)."""
        control = inst.get("exec") or WHOLE
        lanes, at = control.exec_size, control.mask_offset
        on = [control.no_mask or bool(self.emask >> at + i & 1) for i in range(lanes)]
        if predicate and isinstance(inst.get("pred"), Predicate):
            on = [a and b for a, b in zip(on, self.predicate_bits(inst), strict=True)]
        return on

    def predicate_bits(self, inst: Inst) -> list[bool]:
        """Return the bits that a predicate control gives to the lanes: combined, then inverted."""
        control, pred = inst.get("exec") or WHOLE, inst.get("pred")
        bits = [bool(self.preds[pred.var] >> control.mask_offset + i & 1) for i in range(control.exec_size)]
        if pred.combine is Combine.ANY:
            bits = [any(bits)] * len(bits)
        elif pred.combine is Combine.ALL:
            bits = [all(bits)] * len(bits)
        return [bit != pred.inverse for bit in bits]

    def set_bits(self, var: int, inst: Inst, on: list[bool], bits: list[bool]) -> None:
        """Set the bits of a predicate for the lanes that are on, from the mask offset on."""
        at = inst.get("exec").mask_offset
        for i, (write, bit) in enumerate(zip(on, bits, strict=True)):
            if write:
                self.preds[var] = self.preds[var] & ~(1 << at + i) | int(bool(bit)) << at + i


def describe(inst: Inst) -> str:
    """Return an instruction in words, for a failure's message."""
    control = inst.get("exec")
    fields = ", ".join(
        f"{f.name}={v}"
        for f, v in zip(inst.row.fields, inst.values, strict=True)
        if f.name != "exec" and v not in (None, 0)
    )
    return f"{inst.row.mnemonic} {control if control is not None else ''} {fields}"


def modify(value, modifier: str, kind: str):
    """Return a source value after its modifier."""
    unsigned = kind in ("ub", "uw", "ud", "uq")
    if modifier == "NOT":
        return -1 - value
    if modifier in ("ABS", "NEGABS") and not unsigned:
        value = abs(value)
    if modifier in ("NEG", "NEGABS"):
        return value if isinstance(value, float) and math.isnan(value) else -value
    return value
