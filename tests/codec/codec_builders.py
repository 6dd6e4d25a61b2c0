"""Small modules and objects for the codec's tests."""

from __future__ import annotations

import random
import struct

from visa_lsp.codec.instruction_reader import InstructionReader
from visa_lsp.codec.instruction_writer import InstructionWriter
from visa_lsp.isa.model import Instruction, Slot, layout
from visa_lsp.isa.operands import CONTIGUOUS_REGION, Region
from visa_lsp.isa.predefined import POOL_PREFIX
from visa_lsp.isa.table import TABLE, InstructionTable
from visa_lsp.isa.types import UD, ExecControl, F, W
from visa_lsp.program.model import (
    Attribute,
    General,
    Immediate,
    Input,
    Inst,
    Kernel,
    LabelEntry,
    Module,
    StateVariable,
    Variable,
)

DST = Region(None, None, 1)
FREE_OPCODE = 0xF0  # no instruction has it


def generator(seed: int) -> random.Random:
    """Numbers that are the same in every run."""
    return random.Random(seed)


def made_up(
    spec: str, mnemonic: str = "made_up", opcode: int | None = FREE_OPCODE, slots: tuple[Slot, ...] = ()
) -> InstructionTable:
    """Return a table of one row."""
    return InstructionTable([Instruction(mnemonic, opcode, "test", layout(spec), slots)])


def inst(mnemonic: str, *values: object, line: int = -1) -> Inst:
    return Inst(TABLE.by_mnemonic[mnemonic][0], values, line)


def write(instruction: Inst) -> bytes:
    return InstructionWriter().write(instruction)


def read(code: bytes, table: InstructionTable = TABLE, version: tuple[int, int] = (4, 1)) -> tuple[Inst, ...]:
    return InstructionReader(table, version).read_all(code, 0, len(code), "k")


def small_kernel(name: str = "k", **more: object) -> Kernel:
    """Return a kernel with one symbol of each class and three instructions."""
    own = ("V32", "A0", "P1", "L0", "S0", "T6", "Target", "Scope", "FILE")
    first = 1 + len(POOL_PREFIX)
    index = {text: first + i for i, text in enumerate(own)}
    values: dict[str, object] = {
        "is_kernel": True,
        "strings": (name, *POOL_PREFIX, *own),
        "variables": (
            Variable(index["V32"], F, 5, 16, attributes=(Attribute(index["Scope"], 4, bytes(4)),)),
            Variable(index["V32"], W, 1, 8, alias_index=32, alias_offset=4),
        ),
        "addresses": (StateVariable(index["A0"], 8),),
        "predicates": (StateVariable(index["P1"], 16),),
        "labels": (LabelEntry(index["L0"], 0),),
        "samplers": (StateVariable(index["S0"], 1),),
        "surfaces": (StateVariable(index["T6"], 1, (Attribute(index["Scope"], 0, b""),)),),
        "inputs": (Input(0, 32, 32, 64), Input(0x22, 6, 100, 4, reserved=True)),
        "attributes": (Attribute(index["Target"], 1, b"\0"),),
        "instructions": (
            inst(
                "add",
                ExecControl(16, 16),
                None,
                General(32, 0, 0, DST),
                General(32, 1, 2, CONTIGUOUS_REGION),
                Immediate(UD, 7),
            ),
            inst("mul", ExecControl(8), None, *[General(33, 0, 0, DST)] * 3),
            inst("ret", ExecControl(1), None),
        ),
    }
    if not more.get("is_kernel", True):
        values["inputs"] = ()
    return Kernel(**{**values, **more})  # type: ignore[arg-type]


def small_module() -> Module:
    return Module(kernels=(small_kernel(),), functions=(small_kernel("f", is_kernel=False),))


def old_object(version: tuple[int, int], code: bytes, *, stripped: bool = False) -> bytes:
    """Return a kernel of an old version: one general variable, one input, one surface with an attribute."""
    index = "<H" if version < (3, 4) else "<I"

    def number(value: int) -> bytes:
        return struct.pack(index, value)

    body = number(3) + b"\0V32\0Usage\0" + number(0)
    body += number(1) + number(1) + bytes([7 | 5 << 4]) + struct.pack("<H", 16) + number(0) + bytes([0, 0, 0, 0])
    body += bytes(2) + bytes(2) + bytes(2)  # addresses, predicates, labels
    body += bytes([0, 1]) + number(1) + struct.pack("<HB", 1, 1) + number(2) + b"\4\2\0\0\0"
    body += bytes([0])  # vme
    input_offset = len(body)
    body += (b"\1" if version < (3, 5) else struct.pack("<I", 1)) + b"\0" + number(32) + struct.pack("<hH", 32, 64)
    entry = len(body) + 10
    body += struct.pack("<IIH", len(code), entry, 0)
    if not stripped:
        body += code
    name = b"old"
    head = b"CISA" + bytes(version) + struct.pack("<H", 1)
    head += struct.pack("<B" if version < (3, 7) else "<H", len(name)) + name
    start = len(head) + 12 + 2 + 4 + 2 + 1 + 9 + 2 + 2
    head += struct.pack("<III", start, len(body), start + input_offset)
    head += struct.pack("<HHHH", 1, 5, 6, 0)  # one relocated variable, no function
    head += struct.pack("<BBII", 1, 5, start + len(body), 4) + bytes(4)
    assert len(head) == start
    return head + body + b"GEN!"
