"""Makes machine instructions from the JSON of iga64. Knows its keys, not what instructions do.

The bytes that an instruction touches follow from its operands here, once, for every observer.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.eu.model import (
    NO_WAIT,
    Direct,
    Guard,
    Indirect,
    Layout,
    MachineCode,
    MachineInst,
    Operand,
    Payload,
    Register,
    Symbol,
    Target,
    Wait,
)
from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import CONTIGUOUS_REGION, OperandModifier, Region
from visa_lsp.program import regions
from visa_lsp.program.model import Immediate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMPACT_BYTES: Final = 8
_FULL_BYTES: Final = 16
_LOGIC: Final = frozenset({"and", "or", "xor", "not", "bfn"})
_MODIFIERS: Final = {
    "": OperandModifier.NONE, "n": OperandModifier.NEG, "a": OperandModifier.ABS, "na": OperandModifier.NEGABS,
}  # fmt: skip
_ACC_READERS: Final = frozenset({"mach", "macl", "sada2"})
_ACC_WRITERS: Final = frozenset({"addc", "subb", "mach"})
_IMPLICIT_ACC_BYTES: Final = 64
_SYMBOL_PARTS: Final = {1: "whole", 2: "low", 3: "high", 4: "payload"}
_PACKED: Final = frozenset({"u1", "s1", "u2", "s2", "u4", "s4"})  # elements of matrices below a byte
_DISTANCE: Final = re.compile(r"([A-Z]?)@(\d+)")


class DecodeError(ValueError):
    """JSON that does not describe instructions as expected."""


def decode(
    name: str,
    elements: Sequence[Mapping[str, Any]],
    texts: Sequence[str],
    grf_bytes: int,
    symbols: Mapping[int, Symbol] | None = None,
) -> MachineCode:
    """Return the machine code that the elements of a JSON document describe.

    ``symbols`` are those whose address the loader writes into the code, by byte offset. Raises DecodeError for elements
    that are no instructions.
    """
    try:
        return _Decoder(grf_bytes, symbols or {}).code(name, elements, texts)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DecodeError(f"unexpected JSON from iga64: {error!r}") from None


def symbol_part(relocation: int) -> str:
    """Return the part of a symbol's address that a type of relocation writes; empty for other types."""
    return _SYMBOL_PARTS.get(relocation, "")


def with_ranges(inst: MachineInst, grf_bytes: int) -> MachineInst:
    """Return an instruction with the bytes that it touches, after a change of its fields."""
    return _Decoder(grf_bytes, {}).with_ranges(inst)


class _Decoder:
    def __init__(self, grf_bytes: int, symbols: Mapping[int, Symbol]) -> None:
        self.grf, self.starts, self.symbols = grf_bytes, Layout(grf_bytes).starts, symbols
        self.labels: dict[str, int] = {}

    def code(self, name: str, elements: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> MachineCode:
        count = 0
        for element in elements:
            if element["kind"] == "L":
                self.labels[element["symbol"]] = count
            else:
                count += 1
        pc = 0
        instructions: list[MachineInst] = []
        for element in elements:
            if element["kind"] == "L":
                continue
            index = len(instructions)
            instructions.append(self.instruction(element, index, pc, texts[index] if index < len(texts) else ""))
            pc += COMPACT_BYTES if "Compacted" in (element.get("opts") or ()) else _FULL_BYTES
        return MachineCode(name, self.grf, tuple(instructions))

    def instruction(self, e: Mapping[str, Any], index: int, pc: int, text: str) -> MachineInst:
        op, lanes = str(e["op"]), int(e["es"])
        options = frozenset(e.get("opts") or ())
        is_message = op.startswith("send")
        sources = tuple(self.source(s, op, is_message=is_message) for s in e.get("srcs") or ())
        dst = self.destination(e["dst"], is_message=is_message) if e.get("dst") else None
        subop = str(e.get("subop") or "")
        if op == "dpas":
            subop = ".".join((subop, *(str(s["type"]) for s in e["srcs"][1:3])))
        flag = e.get("freg")
        place = next((a for a in (pc + 8, pc + 12) if a in self.symbols), None)
        address: Mapping[str, Any] = next((s for s in e.get("srcs") or () if s.get("kind") == "AD"), {})
        surface = address.get("soff")
        inst = MachineInst(
            index, pc, op, subop, lanes, int(e.get("eo") or 0), bool(e.get("wren")), dst, sources,
            Guard(bool(e["pred"].get("inv")), str(e["pred"].get("func") or "").lstrip(".")) if e.get("pred") else None,
            str((e.get("fm") or {}).get("cond", "")),
            int(flag.get("r", 0)) * 2 + int(flag.get("sr", 0)) if flag else 0,
            _wait(e), options, str(e.get("comment") or ""), text,
            self.symbols[place] if place is not None else None,
            _register(surface) if isinstance(surface, dict) else surface, str(address.get("stype") or ""),
        )  # fmt: skip
        return self.with_ranges(inst)

    # ---- operands

    def source(self, s: Mapping[str, Any], op: str, *, is_message: bool) -> Operand:
        match s["kind"]:
            case "IM":
                return _immediate(s)
            case "LB":
                return Target(self.labels[s["target"]])
            case "AD":
                register = _register(s["areg"])
                return Payload(register, self.start(register, 1), s.get("alen"), int(s.get("aoff") or 0))
            case "DA":
                register = _register(s["reg"])
                return Payload(register, self.start(register, 1), int(s["len"]))
            case "RI":
                return self.indirect(s, _source_modifier(s, op))
        register = _register(s["reg"])
        if is_message and register.kind == "r" and "type" not in s:
            return Payload(register, self.start(register, 1), None)
        type_ = ty.UB if op == "dpas" and s["type"] in _PACKED else ty.type_named(s["type"]) if "type" in s else ty.UD
        if type_ is None:
            raise DecodeError(f"unknown type {s['type']}")
        macro = _macro(s)
        region = _region(s) if macro is None else CONTIGUOUS_REGION
        return Direct(register, type_, region, self.start(register, type_.size), _source_modifier(s, op), macro)

    def destination(self, d: Mapping[str, Any], *, is_message: bool) -> Direct | Indirect | Payload:
        sat = OperandModifier.SAT if d.get("sat") else OperandModifier.NONE
        if d["kind"] == "RI":
            return self.indirect(d, sat)
        register = _register(d["reg"])
        if d["kind"] == "DA" or (is_message and "type" not in d):
            return Payload(register, self.start(register, 1), int(d["len"]) if "len" in d else None)
        type_ = ty.type_named(d["type"]) if "type" in d else ty.UD
        if type_ is None:
            raise DecodeError(f"unknown type {d['type']}")
        step = int((d.get("rgn") or {}).get("h", 1))
        return Direct(register, type_, Region(None, None, step), self.start(register, type_.size), sat, _macro(d))

    def indirect(self, o: Mapping[str, Any], modifier: OperandModifier) -> Indirect:
        type_ = ty.type_named(o["type"])
        if type_ is None:
            raise DecodeError(f"unknown type {o['type']}")
        region = o.get("rgn") or {}
        shape = Region(region.get("v"), region.get("w"), region.get("h", 1))
        return Indirect(int(o["areg"].get("sr", 0)), int(o.get("aoff") or 0), type_, shape, modifier)

    def start(self, register: Register, size: int) -> int:
        """Return the first byte of a register operand with elements of ``size`` bytes."""
        if register.is_null:
            return -1
        kind_start = self.starts.get(register.kind)
        if kind_start is None:
            raise DecodeError(f"unknown register {register.kind}")
        per = {"r": self.grf, "acc": self.grf, "f": 4, "a": 32}.get(register.kind, 32)
        return kind_start + register.number * per + register.element * (size if register.kind != "f" else max(2, size))

    # ---- bytes

    def with_ranges(self, inst: MachineInst) -> MachineInst:
        return replace(inst, reads=tuple(self.reads(inst)), writes=tuple(self.writes(inst)))

    def reads(self, inst: MachineInst) -> Iterator[tuple[int, int]]:
        if inst.op == "mov" and isinstance(inst.dst, Direct) and inst.dst.register.is_null and not inst.condition:
            return  # its result is never used: the finalizer of 2026 puts it between messages of PVC
        for source in inst.sources:
            if isinstance(source, Payload):
                if source.start >= 0 and source.registers:
                    yield source.start, source.start + source.registers * self.grf
            elif isinstance(source, Direct) and inst.op == "dpas":
                yield from self.matrix(inst, source)
            elif isinstance(source, Direct) and source.start >= 0:
                lanes = 1 if inst.is_message else inst.lanes
                yield from self.touched(source, regions.source_elements(source.region, lanes))
            elif isinstance(source, Indirect):
                start = self.starts["a"] + 2 * source.address
                many = inst.lanes if source.region.vert_stride is None else 1
                yield start, start + 2 * max(1, many // (source.region.width or 1))
        if isinstance(inst.dst, Indirect):
            yield self.starts["a"] + 2 * inst.dst.address, self.starts["a"] + 2 * inst.dst.address + 2
        if isinstance(inst.surface, Register):
            start = self.start(inst.surface, 4)
            yield start, start + 4
        if inst.guard is not None:
            yield self.flag_bytes(inst)
        if inst.op in _ACC_READERS:
            yield self.starts["acc"], self.starts["acc"] + _IMPLICIT_ACC_BYTES

    def writes(self, inst: MachineInst) -> Iterator[tuple[int, int]]:
        dst = inst.dst
        if isinstance(dst, Payload):
            if dst.start >= 0 and dst.registers:
                yield dst.start, dst.start + dst.registers * self.grf
        elif isinstance(dst, Direct) and inst.op == "dpas":
            yield from self.matrix(inst, dst)
        elif isinstance(dst, Direct) and dst.start >= 0:
            yield from self.touched(dst, regions.destination_elements(dst.region.horz_stride or 1, inst.lanes))
        if inst.condition and inst.op not in ("sel", "csel"):
            yield self.flag_bytes(inst)
        if inst.op in _ACC_WRITERS or "AccWrEn" in inst.options:
            yield self.starts["acc"], self.starts["acc"] + _IMPLICIT_ACC_BYTES

    def matrix(self, inst: MachineInst, operand: Direct) -> Iterator[tuple[int, int]]:
        """Yield the registers of a matrix: a row for each repetition, for each step the matrix B, and for both the matrix A."""
        depth, count = (int(n) for n in inst.subop.partition(".")[0].split("x"))
        size = count * inst.lanes * operand.type.size
        if operand in inst.sources[1:]:
            size = depth * self.grf if operand is inst.sources[1] else depth * count * 4
        if operand.start >= 0:
            yield operand.start, operand.start + size

    def flag_bytes(self, inst: MachineInst) -> tuple[int, int]:
        """Return the bytes of the flag register that an instruction's lanes use."""
        start = self.starts["f"] + 2 * inst.flag
        return start + inst.offset // 8, start + max(1, (inst.offset + inst.lanes + 7) // 8)

    def touched(self, operand: Direct, elements: Sequence[int]) -> Iterator[tuple[int, int]]:
        size = operand.type.size
        if operand.macro is not None:
            yield operand.start, operand.start + len(elements) * size
            return
        start, last = min(elements) * size, max(elements) * size + size
        if last - start <= 4 * size * len(elements):
            # Gaps of a strided region are left out, because another instruction may use them at the same time.
            steps = sorted(set(elements))
            if len(steps) > 1 and steps[1] - steps[0] > 1:
                yield from ((operand.start + e * size, operand.start + (e + 1) * size) for e in steps)
                return
        yield operand.start + start, operand.start + last


def _register(r: Mapping[str, Any]) -> Register:
    return Register(str(r["rn"]), int(r.get("r", 0)), int(r.get("sr", 0)))


def _macro(o: Mapping[str, Any]) -> int | None:
    word = o.get("mme")
    return None if word is None else -1 if word == "nomme" else int(str(word).removeprefix("mme"))


def _region(s: Mapping[str, Any]) -> Region:
    region = s.get("rgn")
    if not region:
        return CONTIGUOUS_REGION
    return Region(region.get("v"), region.get("w"), region.get("h", 0))


def _source_modifier(s: Mapping[str, Any], op: str) -> OperandModifier:
    word = str(s.get("mods") or "")
    if op in _LOGIC and word == "n":
        return OperandModifier.NOT
    return _MODIFIERS[word]


def _immediate(s: Mapping[str, Any]) -> Immediate:
    type_ = ty.type_named(s["type"]) if "type" in s else ty.UD
    if type_ is None:
        raise DecodeError(f"unknown type {s['type']}")
    word = str(s["value"])
    value = 0 if word == "RELOC" else int(word, 0)
    return Immediate(type_, value & (1 << 8 * max(4, type_.size)) - 1)


def _wait(e: Mapping[str, Any]) -> Wait:
    distances = tuple((pipe, int(n)) for pipe, n in _DISTANCE.findall(str(e.get("regDist") or "")))
    token = e.get("sbid")
    if token is None:
        return Wait(distances) if distances else NO_WAIT
    return Wait(distances, int(token["id"]), str(token.get("func") or "").lstrip(".") or "set")
