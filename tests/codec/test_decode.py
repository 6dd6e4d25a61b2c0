"""Older layouts, fat objects, and what a damaged object says."""

from __future__ import annotations

import struct

import pytest
from codec_builders import DST, made_up, old_object, read, small_module, write
from msgspec.structs import replace

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.codec.fields import default_value
from visa_lsp.isa.model import FieldKind
from visa_lsp.isa.operands import CONTIGUOUS_REGION
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import UW, ExecControl, F
from visa_lsp.program.model import (
    Attribute,
    GenBinary,
    General,
    Immediate,
    Input,
    Inst,
    RawOperand,
    StateVariable,
    Variable,
)
from visa_lsp.program.operand_text import modifiers
from visa_lsp.sema.lower import resolve_text

VERSIONS = [(3, 0), (3, 1), (3, 3), (3, 4), (3, 5), (3, 6), (3, 7), (3, 8), (4, 0), (4, 1)]


def mov(version: tuple[int, int]) -> bytes:
    """``mov (M1, 16) V32(0,0)<1> V32(1,0)<1;1,0>`` with ids as wide as the version has them."""
    number = struct.pack("<H" if version < (3, 4) else "<I", 32)
    return b"\x29\x04\0\0" + b"\0" + number + b"\0\0\0\2" + b"\0" + number + b"\1\0\x22\1"


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_gives_the_same_program(version: tuple[int, int]) -> None:
    module = decode(old_object(version, mov(version)))
    assert version == module.version
    (kernel,) = module.kernels
    assert kernel.strings == ("old", "V32", "Usage")
    assert (Variable(1, F, 5, 16),) == kernel.variables
    assert (StateVariable(1, 1, (Attribute(2, 4, b"\2\0\0\0"),)),) == kernel.surfaces
    assert (Input(0, 32, 32, 64),) == kernel.inputs
    assert kernel.variable_relocs == ((5, 6),)
    assert (GenBinary(5, b"GEN!"),) == kernel.gen_binaries
    (found,) = kernel.instructions
    assert found.row.mnemonic == "mov"
    assert (ExecControl(16), None, General(32, 0, 0, DST), General(32, 1, 0, CONTIGUOUS_REGION)) == found.values
    assert found.line == -1
    again = decode(encode(module))
    assert ((4, 1), module.kernels) == (again.version, again.kernels)


def test_a_fat_object_may_have_lost_its_instructions() -> None:
    data = bytearray(old_object((3, 2), mov((3, 2)), stripped=True))
    (kernel,) = decode(bytes(data)).kernels
    assert ((), (GenBinary(5, b"GEN!"),)) == (kernel.instructions, kernel.gen_binaries)


@pytest.mark.parametrize(
    ("byte", "control"),
    [
        (0x03, ExecControl(8)),
        (0x34, ExecControl(16, 12)),
        (0x84, ExecControl(16, 0, no_mask=True)),
        (0x94, ExecControl(16)),
    ],
)
def test_masks_of_3_0(byte: int, control: ExecControl) -> None:
    table = made_up("E")
    assert (control,) == read(bytes([0xF0, byte]), table, (3, 0))[0].values
    with pytest.raises(CodecError, match="mask code 10"):
        read(b"\xf0\xa0", table, (3, 0))


def test_fields_that_older_versions_lack_or_narrow() -> None:
    table = made_up("op:w aoffimmi:v ffid:b mask:v f:strd x:var r:r")
    # The sampler flags move from bits 5-7 to 8-10.
    assert (0x0118, Immediate(UW, 5), 0, Immediate(UW, 0), 7, 33, RawOperand(34, 8)) == read(
        bytes.fromhex("f0 38 0500 0700 2100 2200 0800"), table, (3, 0)
    )[0].values
    assert (0x0418, Immediate(UW, 5), 9, Immediate(UW, 3), 7, 33, RawOperand(34, 8)) == read(
        bytes.fromhex("f0 98 050205000000 09 050203000000 07000000 21000000 22000000 0800"), table, (3, 6)
    )[0].values
    modern = bytes.fromhex("f0 1804 050205000000 09 050203000000 07000000 21000000 22000000 0800")
    assert read(modern, table)[0].values[:1] == (0x0418,)


def test_typed_pixel_records_before_3_2() -> None:
    (found,) = read(bytes.fromhex("4b 0e 10 06 2000 0000 2100 0000 2200 0000 2300 0000"), TABLE, (3, 1))
    assert found.row.mnemonic == "gather4_typed"
    assert (ExecControl(8, 4), None, 1, 6) == found.values[:4]
    raws = tuple(RawOperand(n, 0) for n in (32, 33, 34, 0, 35))
    assert raws == found.values[4:]
    with pytest.raises(CodecError, match="lane code 1"):
        read(bytes.fromhex("4b 0e 11 06 2000 0000 2100 0000 2200 0000 2300 0000"), TABLE, (3, 1))


def test_upper_type_bits_are_ignored_before_4() -> None:
    table = made_up("x:v")
    assert (Immediate(UW, 1),) == read(bytes.fromhex("f0 05 12 01000000"), table, (3, 2))[0].values
    with pytest.raises(CodecError, match="unknown data type 18"):
        read(bytes.fromhex("f0 05 12 01000000"), table)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0x0 magic: not a vISA object"),
        (b"\x7fELF" + bytes(60), "not a vISA object"),
        (b"CISA", "0x4 major: expected 1 bytes, but only 0 are left"),
        (b"CISA\2\5\0\0", "0x4 version: unknown version 2.5"),
        (b"CISA\5\0\0\0", "unknown version 5.0"),
        (b"CISA\4\1\xff\xff", "0x6 num_kernels: the count is 65535, but only 0 bytes are left"),
        (b"CISA\4\1\1\0\xff\xff" + bytes(30), r"0xa kernels\[0\].name: expected 65535 bytes, but only 30 are left"),
        (b"CISA\4\1\0\0\0\0\0\0", None),
    ],
)
def test_header_errors(data: bytes, message: str | None) -> None:
    if message is None:
        assert decode(data).bodies == ()
        return
    with pytest.raises(CodecError, match=message):
        decode(data)


def test_an_unknown_opcode_is_named_with_its_place() -> None:
    data = bytearray(encode(small_module()))
    at = data.index(bytes([0x10, 0x03]))
    data[at] = 0xEE
    with pytest.raises(CodecError, match=rf"^0x{at:x} kernels\[0\].instructions\[1\]: unknown opcode 0xee$") as caught:
        decode(bytes(data))
    assert (at, "kernels[0].instructions[1]") == (caught.value.offset, caught.value.path)


def test_a_cut_field_is_named_with_its_place() -> None:
    data = old_object((4, 1), mov((4, 1))[:-1])
    at = data.index(b"\x29\x04") + 13
    with pytest.raises(
        CodecError, match=rf"^0x{at:x} kernels\[0\].instructions\[0\].src0: the instruction is cut off$"
    ):
        decode(data)


def test_bodies_may_not_be_counted_twice() -> None:
    record = b"\1\0k" + struct.pack("<III", 0, 60, 0) + bytes(5)
    data = b"CISA\4\1" + struct.pack("<H", 3) + record * 3 + bytes(4)
    with pytest.raises(CodecError, match="add up to more than the file"):
        decode(data)


def test_gen_binaries_may_not_be_counted_twice() -> None:
    data = old_object((4, 1), mov((4, 1)))
    start = 8 + 2 + 3 + 12 + 2 + 4 + 2
    assert data[start] == 1
    many = bytes([200]) + b"".join(struct.pack("<BII", 5, i, 100) for i in range(200))
    moved = data[:start] + many + data[start + 10 :]
    patched = bytearray(moved)
    shift = len(moved) - len(data)
    for place in (13, 21):
        struct.pack_into("<I", patched, place, struct.unpack_from("<I", patched, place)[0] + shift)
    with pytest.raises(CodecError, match="Gen binaries"):
        decode(bytes(patched))


def test_instructions_must_lie_behind_the_declarations() -> None:
    data = bytearray(encode(small_module()))
    at = data.index(bytes([0x01, 0x44]))
    entry_at = data.rindex(struct.pack("<I", at - struct.unpack_from("<I", data, 11)[0]), 0, at)
    struct.pack_into("<I", data, entry_at, 4)
    with pytest.raises(CodecError, match=rf"^0x{entry_at:x} kernels\[0\].entry: instructions begin at 0x4, inside"):
        decode(bytes(data))
    struct.pack_into("<I", data, entry_at, 0xFFFFFFF0)
    with pytest.raises(CodecError, match=r"kernels\[0\].size: instructions end past the end of their kernel"):
        decode(bytes(data))


def test_a_decoded_line_is_unknown_and_a_bytearray_will_do() -> None:
    module = decode(bytearray(encode(small_module())))
    assert {-1} == {i.line for body in module.bodies for i in body.instructions}


STORE = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=uq num_elts=32 align=GRF
.decl V33 v_type=G type=ud num_elts=32 align=GRF
    lsc_store.ugm (M1, 16) flat[V32]:a64 V33:d32
"""


@pytest.mark.parametrize("name", ["dst", "src2"])
def test_a_register_that_no_text_can_show_is_an_error(name: str) -> None:
    module = resolve_text(STORE, "DG2").module
    assert module is not None
    (store,) = module.kernels[0].instructions
    assert read(write(store)) == (store,)
    values = list(store.values)
    values[store.row.index[name]] = RawOperand(33, 0)
    with pytest.raises(CodecError, match="`lsc_store` has no such operand"):
        read(write(replace(store, values=tuple(values))))


def record(mnemonic: str, field: str, bits: int) -> bytes:
    """Return the record of the first form of a mnemonic, with more bits set in a field at the start."""
    row = next(r for r in TABLE.by_mnemonic[mnemonic] if r.opcode is not None)
    code = bytearray(write(Inst(row, tuple(default_value(f) if f.const is None else f.const for f in row.fields))))
    at = 1
    for one in row.fields:
        if one.name == field:
            break
        at += {FieldKind.EXEC: 1, FieldKind.PREDICATE: 2, FieldKind.U8: 1, FieldKind.U16: 2}[one.kind]
    code[at : at + 2] = (int.from_bytes(code[at : at + 2], "little") | bits).to_bytes(2, "little")
    return bytes(code)


@pytest.mark.parametrize(
    ("mnemonic", "field", "bits", "said"),
    [
        ("load_lz", "op", 0x200, "0x21a has bits without meaning: 0x200"),
        ("load_lz", "op", 0xFF00, "0xff1a has bits without meaning: 0xfe00"),
        ("load_lz", "op", 0x100, None),
        ("sample_lz", "op", 0x100, None),
        ("sample_lz", "op", 0x200, None),
        ("sample_lz", "op", 0x800, "bits without meaning: 0x800"),
        ("svm_atomic", "op", 0x80, "bits without meaning: 0x80"),
        ("gather4_typed", "chan", 0x10, "bits without meaning: 0x10"),
    ],
)
def test_bits_that_no_word_says_are_an_error(mnemonic: str, field: str, bits: int, said: str | None) -> None:
    code = record(mnemonic, field, bits)
    if said is None:
        assert write(read(code)[0]) == code
        return
    with pytest.raises(CodecError, match=said) as caught:
        read(code)
    assert f".{field}" in str(caught.value)


def test_bits_without_meaning_may_hold_anything_before_4() -> None:
    code = record("gather4_typed", "chan", 0x10)
    assert read(code, version=(3, 8))[0].row.mnemonic == "gather4_typed"
    with pytest.raises(CodecError):
        read(code, version=(4, 0))


def test_a_sampler_that_differs_between_lanes_is_heard_in_an_object() -> None:
    code = record("sample_lz", "op", 0x400)
    found = read(code)[0]
    assert found.get("divs") == 1
    assert modifiers(found).startswith(".divS")
    assert write(found) == code
    assert read(record("sample_lz", "op", 0))[0].get("divs") == 0
