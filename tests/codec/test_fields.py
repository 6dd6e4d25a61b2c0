"""Every field kind through a made-up row, and the values that have no bytes or no meaning."""

from __future__ import annotations

import pytest
from codec_builders import DST, FREE_OPCODE, made_up, read, write

from visa_lsp.codec.errors import CodecError
from visa_lsp.isa.model import Dialect, FieldKind, Instruction, Role, Shape, Slot, layout
from visa_lsp.isa.operands import AO, SCALAR_REGION, A, G, OperandModifier, Region
from visa_lsp.isa.table import InstructionTable
from visa_lsp.isa.types import DF, UD, UQ, UW, ExecControl, F, Q, W
from visa_lsp.program.model import (
    NULL_RAW,
    Address,
    AddressOf,
    Combine,
    General,
    Immediate,
    Indirect,
    Inst,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
)

GENERAL = General(32, 1, 2, Region(8, 8, 1), OperandModifier.NEG)
RAW = RawOperand(70000, 64)

ONE_FIELD = [
    ("E", ExecControl(16, 16), "44"),
    ("E", ExecControl(1, 0, no_mask=True), "80"),
    ("P", None, "0000"),
    ("P", Predicate(1, inverse=True), "0180"),
    ("P", Predicate(1, combine=Combine.ANY), "0120"),
    ("P", Predicate(1, inverse=True, combine=Combine.ALL), "01c0"),
    ("x:v", GENERAL, "10 20000000 01 02 5502"),
    ("x:v", General(32, 0, 0, DST, OperandModifier.SAT), "2020000000 0000 0002"),
    ("x:v", Address(3, 1, 8), "01 0300 01 03"),
    ("x:v", PredicateOperand(2), "02 0200"),
    ("x:v", Indirect(1, 2, -4, W, Region(None, 1, 0)), "03 0100 02 fcff 03 2001"),
    ("x:v", Indirect(1, 0, 0, F, Region(0, 1, 0), OperandModifier.ABS), "0b 0100 00 0000 07 2101"),
    ("x:v", Immediate(UW, 0xFFFF), "05 02 ffff0000"),
    ("x:v", Immediate(DF, 1), "05 06 0100000000000000"),
    ("x:v", Immediate(Q, 2**63), "05 0d 0000000000000080"),
    ("x:v", Immediate(UQ, 5), "05 0b 0500000000000000"),
    ("x:v", State(sampler=False, var=6, offset=1), "06 00 0600 01"),
    ("x:v", State(sampler=True, var=31, offset=0), "06 01 1f00 00"),
    ("x:r", RAW, "70110100 4000"),
    ("x:r", NULL_RAW, "00000000 0000"),
    ("x:s", 6, "06"),
    ("x:m", 31, "1f"),
    ("x:b", 255, "ff"),
    ("x:w", 0x1234, "3412"),
    ("x:d", 0xFFFFFFFF, "ffffffff"),
    ("x:i", -2, "feffffff"),
    ("x:label", 300, "2c01"),
    ("x:strw", 40, "2800"),
    ("x:strd", 40, "28000000"),
    ("x:var", 33, "21000000"),
    ("x:code", ExecControl(8), "00"),
    ("x:code", ExecControl(16, 4), "11"),
    ("x:code", ExecControl(1, 0, no_mask=True), "82"),
    ("x:log2", ExecControl(4), "02"),
    ("x:b?7", 7, ""),
    ("x:r?", NULL_RAW, ""),
    ("P x:b?", None, None),
]


@pytest.mark.parametrize(("spec", "value", "expected"), ONE_FIELD, ids=lambda v: str(v)[:40])
def test_field_round_trip(spec: str, value: object, expected: str | None) -> None:
    table = made_up(spec)
    values = (value,) if expected is not None else (value, 0)
    made = Inst(table.rows[0], values)
    code = write(made)
    if expected is not None:
        assert code.hex() == f"{FREE_OPCODE:02x}" + expected.replace(" ", "")
    assert (made,) == read(code, table)


def test_lists_follow_their_counts() -> None:
    table = made_up("n:count rs:raws k:count ls:labels end:b")
    made = Inst(table.rows[0], (2, (RAW, NULL_RAW), 3, (1, 2, 65535), 9))
    code = write(made)
    assert f"{FREE_OPCODE:02x}02" + "701101004000" + "000000000000" + "03" + "01000200ffff" + "09" == code.hex()
    assert (made,) == read(code, table)
    assert (Inst(table.rows[0], (0, (), 0, (), 1)),) == read(bytes([FREE_OPCODE, 0, 0, 1]), table)


@pytest.mark.parametrize(
    ("mode", "vectors", "raws"), [(0, 0, 4), (1 << 11 | 1 << 8 | 1 << 2, 3, 4), (0b1111000, 0, 8), (1 << 7, 0, 4)]
)
def test_message_operands_follow_the_mode(mode: int, vectors: int, raws: int) -> None:
    table = made_up("mode:w ops:vectors")
    operands = (NULL_RAW, *[Immediate(UD, 1)] * vectors, *[RAW] * raws)
    made = Inst(table.rows[0], (mode, operands))
    assert (made,) == read(write(made), table)


def test_every_kind_is_covered() -> None:
    kinds = {field.kind for spec, *_ in ONE_FIELD for field in layout(spec)}
    assert set(FieldKind) - kinds == {FieldKind.COUNT, FieldKind.RAWS, FieldKind.LABELS, FieldKind.VECTORS}


@pytest.mark.parametrize(
    ("spec", "value", "kept"),
    [
        ("x:v", General(32, 300, 257, DST), General(32, 44, 1, DST)),
        ("x:v", Immediate(W, -1), Immediate(W, 0xFFFFFFFF)),
        ("x:v", Immediate(Q, -1), Immediate(Q, 2**64 - 1)),
        ("P", Predicate(5000), Predicate(904)),
        ("x:label", 65536 + 3, 3),
        ("x:strw", 65536 + 4, 4),
        ("x:b", -1, 255),
    ],
)
def test_values_that_the_tools_cut_are_cut(spec: str, value: object, kept: object) -> None:
    table = made_up(spec)
    (found,) = read(write(Inst(table.rows[0], (value,))), table)
    assert kept == found.values[0]


@pytest.mark.parametrize(
    ("spec", "value", "message"),
    [
        ("x:b", 256, "256 does not fit into 1 bytes"),
        ("x:w", 1 << 16, "does not fit"),
        ("x:s", 300, "does not fit"),
        ("x:b", None, "None is not a number"),
        ("x:r", RawOperand(32, 70000), "does not fit"),
        ("x:r", 3, "is not a raw operand"),
        ("x:v", NULL_RAW, "is not a vector operand"),
        ("x:v", General(32, 0, 0, Region(3, 1, 0)), "region <3;1,0> cannot be written: 3 has no code"),
        ("x:v", Address(0, 0, 32), "width 32 of an address operand"),
        ("x:v", Address(0, 256, 1), "does not fit"),
        ("x:v", Indirect(0, 0, 40000, W, DST), "does not fit"),
        ("x:code", ExecControl(4), "execution size 4 is not 1, 8 or 16"),
        ("E", ExecControl(3), "is not an execution size"),
        ("E", 3, "is not an execution size"),
        ("P", 1, "is not a predicate"),
        ("x:b?7", 8, "it is 8; an object can hold only 7"),
    ],
)
def test_values_without_bytes_are_refused(spec: str, value: object, message: str) -> None:
    with pytest.raises(CodecError, match=message.replace("(", r"\(")) as caught:
        write(Inst(made_up(spec).rows[0], (value,), 12))
    assert caught.value.path == made_up(spec).rows[0].fields[0].name
    assert caught.value.line == 12


@pytest.mark.parametrize(
    ("spec", "code", "message"),
    [
        ("E", "06", "size code 6"),
        ("P", "0060", "reserved bits"),
        ("P", "0010", "reserved bits"),
        ("x:v", "04", "unknown operand class 4"),
        ("x:v", "07", "unknown operand class 7"),
        ("x:v", "30 20000000 00 00 0002", "the modifier is not allowed here"),
        ("x:v", "0a 0100", "the modifier is not allowed here"),
        ("x:v", "00 20000000 00 00 0080", "region 0x8000"),
        ("x:v", "01 0000 00 05", "width code 5"),
        ("x:v", "05 10 00000000", "unknown data type 16"),
        ("x:v", "06 02 0600 00", "state class 2"),
        ("x:code", "03", "lane code 3"),
        ("x:log2", "06", "size code 6"),
        ("x:v", "00 2000", "cut off"),
        ("x:d", "0000", "cut off"),
        ("n:count rs:raws", "02 000000000000", "cut off"),
        ("n:count ls:labels", "ff 0000", "cut off"),
    ],
)
def test_bytes_without_meaning_are_refused(spec: str, code: str, message: str) -> None:
    with pytest.raises(CodecError, match=message) as caught:
        read(bytes([FREE_OPCODE]) + bytes.fromhex(code), made_up(spec))
    assert caught.value.path.startswith("k.instructions[0].")
    assert caught.value.offset is not None


def test_a_count_must_match_its_list() -> None:
    row = made_up("n:count rs:raws").rows[0]
    with pytest.raises(CodecError, match=r"n: the count is 2, but there are 1 in the list"):
        write(Inst(row, (2, (NULL_RAW,))))


def test_rows_of_one_opcode_are_told_apart_by_constants() -> None:
    table = InstructionTable(
        [
            Instruction("any", FREE_OPCODE, "test", layout("mask:b=0/0x20"), ()),
            Instruction("local", FREE_OPCODE, "test", layout("mask:b=0x20/0x20"), ()),
            Instruction("software", FREE_OPCODE, "test", layout("mask:b=0x80"), ()),
        ]
    )
    # From version 4 on the bits beside the constant would be damage.
    found = {byte: read(bytes([FREE_OPCODE, byte]), table, (3, 8))[0] for byte in (0, 0x0F, 0x20, 0x23, 0x80, 0x81)}
    assert [i.row.mnemonic for i in found.values()] == ["any", "any", "local", "local", "software", "any"]
    for byte, instruction in found.items():
        assert bytes([FREE_OPCODE, byte]) == write(instruction)


def test_a_constant_behind_an_operand_tells_rows_apart() -> None:
    table = InstructionTable(
        [Instruction(f"m{i}", FREE_OPCODE, "test", layout(f"x:v kind:b={i}"), ()) for i in range(3)]
    )
    code = bytes.fromhex(f"{FREE_OPCODE:02x} 05 00 01000000 02")
    assert read(code, table)[0].row.mnemonic == "m2"
    with pytest.raises(CodecError, match=r"no form with these bytes; expected one of m0 \(kind=0\)"):
        read(code[:-1] + b"\3", table)


def test_constants_are_written_whatever_the_value_is() -> None:
    row = made_up("kind:b=0x20/0x30 E").rows[0]
    assert bytes([FREE_OPCODE, 0x2F, 0]) == write(Inst(row, (0x1F, ExecControl(1))))
    assert bytes([FREE_OPCODE, 0x20, 0]) == write(Inst(row, (None, ExecControl(1))))


def address_row(classes: object) -> InstructionTable:
    return made_up(
        "dst:v src0:v src1:v",
        slots=(
            Slot("dst", Shape.VECTOR, Role.WRITE, A | G),
            Slot("src0", Shape.VECTOR, Role.READ, classes),  # type: ignore[arg-type]
            Slot("src1", Shape.VECTOR, Role.READ, G | AO),
        ),
    )


def test_address_of_where_an_address_is_written() -> None:
    table, variable = address_row(G | AO), General(32, 1, 0, SCALAR_REGION)
    to_address = write(Inst(table.rows[0], (Address(0, 0, 1), AddressOf(32, 1, 0), variable)))
    assert (Address(0, 0, 1), AddressOf(32, 1, 0), variable) == read(to_address, table)[0].values
    to_general = write(Inst(table.rows[0], (General(33, 0, 0, DST), variable, variable)))
    assert (General(33, 0, 0, DST), variable, variable) == read(to_general, table)[0].values


def test_address_of_only_where_the_bytes_can_mean_it() -> None:
    table = address_row(A | AO)
    for source in (General(32, 0, 0, Region(8, 8, 1)), General(32, 0, 0, SCALAR_REGION, OperandModifier.NEG)):
        code = write(Inst(table.rows[0], (Address(0, 0, 1), source, Immediate(UD, 0))))
        (found,) = read(code, table)
        assert source == found.values[1]
        assert code == write(found)


def test_equal_operands_are_one_object() -> None:
    table = made_up("a:v b:v")
    (found,) = read(write(Inst(table.rows[0], (GENERAL, GENERAL))), table)
    assert found.values[0] is found.values[1]


def test_a_missing_value_is_refused() -> None:
    with pytest.raises(CodecError, match="has 2 fields, not 1"):
        write(Inst(made_up("a:b b:b").rows[0], (1,)))


def test_of_equal_rows_the_one_of_4_1_is_read() -> None:
    newer = Instruction("newer", FREE_OPCODE, "test", layout("op42:w=1/0xff"), (), dialects=frozenset({Dialect.V42}))
    older = Instruction("older", FREE_OPCODE, "test", layout("op:w=1/0xff"), (), dialects=frozenset({Dialect.V41}))
    assert read(bytes([FREE_OPCODE, 1, 0]), InstructionTable([newer, older]))[0].row.mnemonic == "older"
