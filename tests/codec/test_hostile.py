"""Damaged objects: every outcome is a module or a ``CodecError``, soon and with little memory."""

from __future__ import annotations

import struct
import tracemalloc

import pytest
from codec_builders import generator, old_object, small_module
from each_case import check_each
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import first

from tests.support.work import calls_of
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.codec.instruction_reader import InstructionReader
from visa_lsp.codec.object_reader import summary
from visa_lsp.isa.model import FieldKind
from visa_lsp.isa.table import TABLE

SMALL = encode(small_module())


def failure(data: bytes) -> CodecError | None:
    try:
        decode(data)
    except CodecError as error:
        return error
    return None


def outcome(data: bytes) -> str:
    """Return ``module``, or the error's text; any other exception fails the test."""
    error = failure(data)
    if error is None:
        return "module"
    assert error.offset is not None
    assert 0 <= error.offset <= len(data)
    return str(error)


def instructions_outcome(code: bytes) -> CodecError | None:
    try:
        InstructionReader(TABLE).read_all(code, 0, len(code), "k")
    except CodecError as error:
        return error
    return None


def test_every_truncation_is_an_error() -> None:
    for size in range(len(SMALL)):
        assert outcome(SMALL[:size]) != "module"
        with pytest.raises(CodecError):
            summary(SMALL[:size])


@pytest.mark.parametrize("value", first(1, [0xFF, 0, 1, 0x7F, 0x80]))
def test_every_byte_replaced(value: int) -> None:
    for at in range(len(SMALL)):
        outcome(SMALL[:at] + bytes([value]) + SMALL[at + 1 :])


@pytest.mark.parametrize("seed", first(2, range(4)))
def test_random_damage(seed: int) -> None:
    chance = generator(seed)
    base = SMALL if seed % 2 else old_object((3, chance.randrange(9)), bytes(chance.randbytes(200)))
    for _ in range(1500):
        data = bytearray(base)
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(data))
            match chance.randrange(4):
                case 0:
                    data[at] = chance.randrange(256)
                case 1:
                    data[at] ^= 1 << chance.randrange(8)
                case 2:
                    del data[at : at + chance.randrange(1, 9)]
                case _:
                    data[at:at] = chance.randbytes(chance.randrange(1, 9))
            if not data:
                break
        outcome(bytes(data))


@given(st.binary(max_size=120))
@settings(max_examples=300, deadline=None)
def test_arbitrary_instruction_bytes(code: bytes) -> None:
    error = instructions_outcome(code)
    assert error is None or error.path.startswith("k.instructions[")


def test_random_operands_behind_every_opcode() -> None:
    chance = generator(7)
    for opcode in range(256):
        for _ in range(20):
            error = instructions_outcome(bytes([opcode]) + chance.randbytes(60))
            assert error is None or error.offset is not None


@pytest.mark.parametrize("every", first(1, [9, 3]))
def test_a_huge_count_anywhere_costs_nothing(every: int) -> None:
    def check(at: int) -> None:
        data = SMALL[:at] + b"\xff\xff\xff\x7f" + SMALL[at + 4 :]
        tracemalloc.start()
        try:
            outcome(data)
            assert tracemalloc.get_traced_memory()[1] < 4_000_000
        finally:
            tracemalloc.stop()

    check_each(range(6, len(SMALL) - 4, every), check)


@pytest.mark.parametrize("count", first(1, [6_000, 60_000]))
def test_many_kernels_over_the_same_bytes_end_at_once(count: int) -> None:
    record = b"\1\0k" + struct.pack("<III", 8, 16 * count, 0) + bytes(5)
    data = b"CISA\4\1" + struct.pack("<H", count) + record * count + bytes(4)
    said = []
    assert calls_of(lambda: said.append(outcome(data))) < 50 * count
    assert "add up" in said[0]


def test_the_table_can_be_compiled_for_every_version() -> None:
    for version in ((3, 0), (3, 3), (3, 6), (4, 1)):
        for opcode, rows in TABLE.by_opcode.items():
            with pytest.raises(CodecError):
                InstructionReader(TABLE, version).read_all(bytes([opcode, 0xFF]) * 3 + b"\xff", 0, 7, "k")
            assert all(row.fields[-1].kind is not FieldKind.COUNT for row in rows if row.fields)
