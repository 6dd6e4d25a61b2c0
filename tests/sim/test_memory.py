"""Buffers and the memory that they lie in: addresses, the words for places, and whether something was stored."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.builders import Builder, dispatch, imm, run
from visa_lsp.isa import types as ty
from visa_lsp.program.model import RawOperand, State
from visa_lsp.sim.memory import Buffer, Image, Memory


def test_memory_keeps_buffers_apart():
    memory = Memory()
    first, second = memory.allocate("a", 100), memory.allocate("b", bytearray(b"xyz"))
    assert first.address % 4096 == second.address % 4096 == 0
    assert second.address >= first.address + 4096 + 4096
    assert memory.find(first.address + 96, 4) == (first, 96)
    assert memory.find(first.address + 97, 4) is None
    assert memory.find(0) is None
    assert memory.load(np.array([second.address + 1, first.address + 100]), 2).tolist() == [[121, 122], [0, 0]]
    with pytest.raises(ValueError, match="overlaps"):
        memory.add(Buffer("c", bytearray(8), first.address + 50))


def test_bytes_are_named_with_their_elements():
    line, grid = Buffer("`y`", np.zeros(16, np.uint32)), Buffer("`m`", np.zeros((4, 8), np.uint8))
    image = Image("`i`", bytearray(96), width=4, height=3, channels=4, format="uint16")
    cases = [
        (line, 64, 4, "bytes 64-67, element 16 of `y`"),
        (line, 2, 4, "bytes 2-5, elements 0 to 1 of `y`"),
        (line, -4, 4, "bytes -4 to -1, element -1 of `y`"),
        (line, 3, 1, "byte 3, element 0 of `y`"),
        (grid, 11, 1, "byte 11, element [1, 3] of `m`"),
        (grid, 32, 2, "bytes 32-33, elements [4, 0] to [4, 1] of `m`"),
        (image, 40, 8, "bytes 40-47, texel (1, 1) of `i`"),
        (Buffer("slm", bytearray(64)), 4, 4, "bytes 4-7 of slm"),
        (Buffer("none", np.zeros(0, np.float32)), 0, 4, "bytes 0-3 of none"),
    ]
    assert [buffer.span_text(offset, size) for buffer, offset, size, _ in cases] == [text for *_, text in cases]
    assert [b.size_text() for b in (line, grid, image)] == [
        "64 bytes (16 elements)",
        "32 bytes (4x8 elements)",
        "4x3 texels",
    ]


def test_an_address_outside_belongs_to_the_nearest_buffer():
    memory = Memory()
    first, second = (memory.add(Buffer(name, bytearray(64))) for name in "ab")
    assert memory.locate(first.address - 4) == (first, -4)
    assert memory.locate(first.address + 64) == (first, 64)
    assert memory.locate(second.address - 8) == (second, -8)
    assert memory.locate(second.address + (1 << 30)) == (second, 1 << 30)
    assert memory.locate(0x40) == (None, 0x40)
    assert memory.locate(1 << 47) == (None, 1 << 47)
    assert second.locate(0xFFFF_FFF8) == (second, -8)


def test_a_buffer_knows_whether_something_was_stored_into_it():
    def fresh(size=16):
        return Buffer("b", bytearray(size))

    word, rows = np.ones(1, np.uint32), np.ones((1, 4), np.uint8)
    outside = fresh()
    outside.store(np.array([100]), rows)
    outside.store32(np.array([-4]), word)
    assert not outside.written
    for method, values in (("store", rows), ("store32", word)):
        inside = fresh()
        getattr(inside, method)(np.array([4]), values)
        assert inside.written
        view = fresh()
        view.whole = whole = fresh()
        getattr(view, method)(np.array([4]), values)
        assert whole.written
    memory = Memory()
    first, second, third = (memory.add(fresh(8192)) for _ in range(3))
    memory.store(np.array([first.address, third.address]), np.ones((2, 4), np.uint8))
    assert [buffer.written for buffer in (first, second, third)] == [True, False, True]


@pytest.mark.parametrize(("added", "written"), [(0, False), (1, True)])
def test_an_atomic_that_changes_nothing_writes_nothing(added, written):
    b = Builder()
    at, a, s = b.var(ty.UD), b.var(ty.UD), b.surface()
    b.op("movs", "M1_NM,1", dst=State(False, s, 0), src0=imm(0, ty.UD))
    b.op("mov", "M1_NM,16", dst=b.dst(at), src0=imm(0, ty.UD))
    b.op("mov", "M1_NM,16", dst=b.dst(a), src0=imm(added, ty.UD))
    b.op("dword_atomic", "M1,8", op=0, surface=s, off=RawOperand(at, 0), src0=RawOperand(a, 0))
    b.ret()
    d = dispatch(b, buffers=[np.zeros(4, np.uint32)])
    run(d)
    assert d.surfaces[0].written is written
