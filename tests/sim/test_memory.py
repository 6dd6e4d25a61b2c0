"""Messages to memory: gathers, scatters, atomics, blocks, barriers through SLM, and the checkers that watch them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.builders import Builder, dispatch, final, imm, run
from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import Region
from visa_lsp.program.model import General, RawOperand, State
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.memory import Buffer, Image, Memory, Sampler
from visa_lsp.sim.observers.checkers import checkers
from visa_lsp.sim.observers.hooks import BarrierChecker, BoundsChecker
from visa_lsp.sim.observers.races import RaceChecker

SLM = 0
LANES = np.arange(16, dtype=np.int32)


def raw(var, offset=0):
    return RawOperand(var, offset)


def bind(b, index):
    """Point a new surface variable at a binding table index."""
    s = b.surface()
    b.op("movs", "M1_NM,1", dst=State(False, s, 0), src0=imm(index, ty.UD))
    return s


def lane_numbers(b):
    """Return a ud variable that holds 0 .. 15."""
    x = b.var(ty.UD)
    for i in range(16):
        b.op("mov", "M1_NM,1", dst=b.dst(x, 1, i // 8, i % 8), src0=imm(i, ty.UD))
    return x


def test_gather_and_scatter_of_channels():
    b = Builder()
    at, data = b.var(ty.UD), b.var(ty.F, 64)
    s, t = bind(b, 0), bind(b, 1)
    b.op("gather4_scaled", chan=0b1011, surface=s, goff=imm(16, ty.UD), off=raw(at), dst=raw(data))
    b.op("scatter4_scaled", chan=0b0101, surface=t, goff=imm(0, ty.UD), off=raw(at), src=raw(data))
    b.ret()
    source = np.arange(80, dtype=np.float32)
    target = np.full(80, -1, np.float32)
    read = final(b, {at: LANES.astype(np.uint32) * 16}, buffers=[source, target], lanes=0x7FFF)
    rows = read(data).reshape(4, 16)
    for k, channel in enumerate((0, 1, 3)):
        assert rows[k, :15].tolist() == [4 + 4 * i + channel for i in range(15)]
    assert rows[0, 15] == 0
    assert target.reshape(20, 4)[:15, 0].tolist() == [4.0 + 4 * i for i in range(15)]
    assert target.reshape(20, 4)[:15, 2].tolist() == [4.0 + 4 * i + 1 for i in range(15)]
    assert (target.reshape(20, 4)[:, [1, 3]] == -1).all()


def test_narrow_gather_fills_the_low_bytes_of_a_dword():
    b = Builder()
    at, data = b.var(ty.UD), b.var(ty.UD)
    s = bind(b, 0)
    b.op("gather_scaled", n=1, surface=s, goff=imm(1, ty.UD), off=raw(at), dst=raw(data))
    b.ret()
    source = np.arange(64, dtype=np.uint8)
    got = final(b, {at: LANES.astype(np.uint32) * 3}, buffers=[source])(data)
    assert got.tolist() == [(3 * i + 1) | (3 * i + 2) << 8 for i in range(16)]


def test_svm_addresses_reach_any_buffer():
    b = Builder()
    at, data = b.var(ty.UQ, 16), b.var(ty.UD, 32)
    b.op("svm_gather", block=1, n=1, address=raw(at), data=raw(data))
    b.op("svm_scatter", "M1,8", block=2, n=0, address=raw(at, 64), data=raw(data))
    b.ret()
    first, second = np.arange(64, dtype=np.uint32), np.zeros(16, np.uint64)
    d = dispatch(b, buffers=[first, second])
    base = d.surfaces[0].address
    addresses = [base + 8 * i for i in range(8)] + [d.surfaces[1].address + 8 * i for i in range(8)]
    got = final(b, {at: np.array(addresses, np.uint64)}, buffers=[first, second])(data)
    assert got.reshape(2, 16)[:, :8].tolist() == [[2 * i for i in range(8)], [2 * i + 1 for i in range(8)]]
    assert second.view(np.uint32)[:8].tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


@pytest.mark.parametrize("word", ["oword_ld", "oword_ld_unaligned"])
def test_oword_read_counts_owords_or_bytes(word):
    from visa_lsp.isa.types import ExecControl

    b = Builder()
    data = b.var(ty.UD, 16)
    s = bind(b, 0)
    offset = 1 if word == "oword_ld" else 4
    b.op(word, n=ExecControl(2), surface=s, offset=imm(offset, ty.UD), dst=raw(data))
    b.ret()
    got = final(b, buffers=[np.arange(32, dtype=np.uint32)], lanes=1)(data)
    assert got[:8].tolist() == list(range(4, 12) if word == "oword_ld" else range(1, 9))


ATOMICS = [
    (0, 10, 3, 0, 13, 10),
    (1, 10, 3, 0, 7, 10),
    (2, 10, 0, 0, 11, 10),
    (3, 0, 0, 0, 0xFFFFFFFF, 0),
    (4, 10, 0xFFFFFFFF, 0, 10, 10),
    (5, 10, 0xFFFFFFFF, 0, 0xFFFFFFFF, 10),
    (6, 10, 3, 0, 3, 10),
    (7, 10, 3, 10, 3, 10),
    (7, 10, 3, 11, 10, 10),
    (8, 12, 10, 0, 8, 12),
    (9, 12, 10, 0, 14, 12),
    (10, 12, 10, 0, 6, 12),
    (11, 10, 0xFFFFFFFF, 0, 0xFFFFFFFF, 10),
    (12, 10, 0xFFFFFFFF, 0, 10, 10),
]


@pytest.mark.parametrize(("op", "old", "first", "second", "new", "result"), ATOMICS)
def test_atomic_operation(op, old, first, second, new, result):
    b = Builder()
    at, a, c, d = (b.var(ty.UD) for _ in range(4))
    s = bind(b, 0)
    b.op("dword_atomic", "M1,8", op=op, surface=s, off=raw(at), src0=raw(a), src1=raw(c), dst=raw(d))
    b.ret()
    memory = np.array([old], np.uint32)
    init = {at: np.zeros(16, np.uint32), a: np.full(16, first, np.uint32), c: np.full(16, second, np.uint32)}
    read = final(b, init, buffers=[memory], lanes=1)
    assert (int(memory[0]), int(read(d)[0])) == (new, result)


def test_atomics_on_one_address_are_done_lane_by_lane():
    b = Builder()
    at, a, d = b.var(ty.UD), b.var(ty.UD), b.var(ty.UD)
    s = bind(b, 0)
    b.op("dword_atomic", op=0, surface=s, off=raw(at), src0=raw(a), src1=raw(0), dst=raw(d))
    b.ret()
    memory = np.array([100], np.uint32)
    read = final(b, {at: np.zeros(16, np.uint32), a: LANES.astype(np.uint32)}, buffers=[memory])
    assert memory[0] == 100 + sum(range(16))
    assert read(d).tolist() == [100 + sum(range(i)) for i in range(16)]


def test_float_atomics_and_64_bit_atomics():
    b = Builder()
    at, a, d = b.var(ty.UQ), b.var(ty.UQ), b.var(ty.UQ)
    b.op("svm_atomic", "M1,1", op=0x40, address=raw(at), src0=raw(a), src1=raw(0), dst=raw(d))
    b.op("svm_atomic", "M1,1", op=19, address=raw(at, 8), src0=raw(a, 8), src1=raw(0), dst=raw(0))
    b.ret()
    words, floats = np.array([2**40], np.uint64), np.array([1.5], np.float32)
    d_ = dispatch(b, buffers=[words, floats])
    init = {
        at: np.array([d_.surfaces[0].address, d_.surfaces[1].address], np.uint64),
        a: np.array([2**41, int(np.float32(2.25).view(np.uint32))], np.uint64),
    }
    read = final(b, init, buffers=[words, floats])
    assert (int(words[0]), int(read(d)[0]), float(floats[0])) == (2**40 + 2**41, 2**40, 3.75)


def exchange(b, *, with_barrier=True):
    """Each thread writes its number into SLM and reads its neighbour's into buffer 0."""
    number = General(12, 0, 0, Region(0, 1, 0))
    x, mine, other, value = (b.var(ty.UD) for _ in range(4))
    s = bind(b, 0)
    b.op("shl", "M1,1", dst=b.dst(mine), src0=number, src1=imm(2, ty.UD))
    b.op("xor", "M1,1", dst=b.dst(other), src0=b.scalar(mine), src1=imm(4, ty.UD))
    b.op("add", "M1,1", dst=b.dst(x), src0=number, src1=imm(70, ty.UD))
    b.op("scatter4_scaled", "M1,1", chan=1, surface=SLM, goff=imm(0, ty.UD), off=raw(mine), src=raw(x))
    if with_barrier:
        b.op("barrier")
    b.op("gather4_scaled", "M1,1", chan=1, surface=SLM, goff=imm(0, ty.UD), off=raw(other), dst=raw(value))
    b.op("scatter4_scaled", "M1,1", chan=1, surface=s, goff=imm(0, ty.UD), off=raw(mine), src=raw(value))
    b.ret()


def test_barrier_makes_two_threads_see_each_other():
    b = Builder()
    exchange(b)
    out = np.zeros(2, np.uint32)
    result = run(dispatch(b, buffers=[out], threads=2, slm=64, lanes=1), checkers())
    assert out.tolist() == [71, 70]
    assert (result.faults, result.barriers) == ((), 2)


def test_without_a_barrier_it_is_a_race():
    b = Builder()
    exchange(b, with_barrier=False)
    result = run(dispatch(b, buffers=[np.zeros(2, np.uint32)], threads=2, slm=64, lanes=1), [RaceChecker()])
    assert result.faults[0].kind is FaultKind.RACE
    assert result.faults[0].other == "group (0, 0, 0), thread 0, instruction 5, line 6"


def test_split_barrier():
    b = Builder()
    b.op("sbarrier.signal", signal=1)
    b.op("sbarrier.wait", signal=0)
    b.ret()
    result = run(dispatch(b, threads=4), checkers())
    assert result.faults == ()
    assert result.instructions["sbarrier.wait"] == 4


def test_thread_that_ends_before_the_barrier_is_reported():
    from tests.support.builders import pred
    from visa_lsp.program.model import PredicateOperand

    b = Builder()
    p = b.pred()
    b.op(
        "cmp", "M1_NM,1", relop=0, dst=PredicateOperand(p), src0=General(12, 0, 0, Region(0, 1, 0)), src1=imm(1, ty.UD)
    )
    b.op("goto", "M1,1", pred=pred(p), label=b.label("end"))
    b.op("barrier")
    b.at("end")
    b.ret()
    result = run(dispatch(b, threads=2))
    assert [f.kind for f in result.faults] == [FaultKind.BARRIER]
    assert "thread 1 has ended" in (result.faults[0].other or "")


def test_barrier_in_divergent_code_is_reported():
    from tests.support.builders import pred
    from visa_lsp.program.model import PredicateOperand

    b = Builder()
    p = b.pred()
    b.op("setp", "M1_NM,16", dst=PredicateOperand(p), src0=imm(0x00FF, ty.UW))
    b.op("goto", pred=pred(p), label=b.label("end"))
    b.op("barrier")
    b.at("end")
    b.ret()
    (fault,) = run(dispatch(b), [BarrierChecker()]).faults
    assert fault.kind is FaultKind.BARRIER
    assert fault.lane is None  # it is of all lanes: some are here, the others elsewhere
    assert "lanes 0xff00 of 0xffff" in str(fault)
    assert fault.other is not None
    assert "missing lanes 0xff" in fault.other


def test_access_outside_a_surface_reads_zero_drops_writes_and_is_reported():
    b = Builder()
    at, data = b.var(ty.UD), b.var(ty.UD)
    s = bind(b, 0)
    b.op("gather4_scaled", chan=1, surface=s, goff=imm(0, ty.UD), off=raw(at), dst=raw(data))
    b.op("scatter4_scaled", chan=1, surface=s, goff=imm(0, ty.UD), off=raw(at), src=raw(at))
    b.ret()
    memory = np.arange(1, 9, dtype=np.uint32)
    init = {at: LANES.astype(np.uint32) * 4, data: np.full(16, 9, np.uint32)}
    assert final(b, init, buffers=[memory.copy()])(data).tolist() == [*range(1, 9), *[0] * 8]

    b = Builder()
    at = lane_numbers(b)
    s = bind(b, 0)
    b.op("shl", dst=b.dst(at), src0=b.src(at), src1=imm(2, ty.UD))
    place = b.op("scatter4_scaled", chan=1, surface=s, goff=imm(0, ty.UD), off=raw(at), src=raw(at))
    b.ret()
    (fault,) = run(dispatch(b, buffers=[memory]), [BoundsChecker()]).faults
    assert (fault.kind, fault.instruction, fault.lane, fault.address) == (FaultKind.OUT_OF_BOUNDS, place, 8, 32)
    assert memory.tolist() == [4 * i for i in range(8)]


def test_surface_without_a_buffer_is_reported():
    b = Builder()
    at, data = b.var(ty.UD), b.var(ty.UD)
    s = bind(b, 7)
    b.op("gather4_scaled", chan=1, surface=s, goff=imm(0, ty.UD), off=raw(at), dst=raw(data))
    b.ret()
    (fault,) = run(dispatch(b), [BoundsChecker()]).faults
    assert "binding table index 7" in fault.message


def test_region_that_leaves_its_variable_is_reported():
    b = Builder()
    x, d = b.var(ty.D, 8), b.var(ty.D)
    b.op("mov", dst=b.dst(d), src0=b.src(x))
    b.ret()
    (fault,) = run(dispatch(b), [BoundsChecker()]).faults
    assert fault.kind is FaultKind.REGION
    assert run(dispatch(b)).faults == ()


def lsc(b, mnemonic, exec_="M1,16", **more):
    defaults = {"sfid": 0, "addrtype": 4, "immscale": 1, "addrsize": 2, "datasize": 3, "order": 1, "elems": 1,
                "chmask": 1, "surface": imm(0, ty.UD)}  # fmt: skip
    return b.op(mnemonic, exec_, **{**defaults, **more})


def test_lsc_vector_load_has_one_row_per_element():
    b = Builder(platform="DG2")
    at, data = b.var(ty.UD), b.var(ty.UD, 48)
    lsc(b, "lsc_load", elems=3, immscale=4, immoffset=8, src0=raw(at), dst=raw(data))
    b.ret()
    got = final(b, {at: LANES.astype(np.uint32) * 3}, buffers=[np.arange(64, dtype=np.uint32)])(data)
    assert got.reshape(3, 16).tolist() == [[2 + 3 * i + v for i in range(16)] for v in range(3)]


def test_lsc_transposed_load_is_a_block():
    b = Builder(platform="DG2")
    at, data = b.var(ty.UD), b.var(ty.UD, 16)
    lsc(b, "lsc_load", "M1_NM,1", elems=5, order=2, src0=raw(at), dst=raw(data))
    b.ret()
    got = final(b, {at: np.full(16, 12, np.uint32)}, buffers=[np.arange(64, dtype=np.uint32)])(data)
    assert got[:8].tolist() == list(range(3, 11))


def test_lsc_store_of_low_bytes():
    b = Builder(platform="DG2")
    at, data = b.var(ty.UD), b.var(ty.UD)
    lsc(b, "lsc_store", datasize=5, src0=raw(at), src1=raw(data))
    b.ret()
    out = np.full(16, 0xEE, np.uint8)
    final(b, {at: LANES.astype(np.uint32), data: 0x1200 + LANES.astype(np.uint32)}, buffers=[out], lanes=0xFF)
    assert out.tolist() == [*range(8), *[0xEE] * 8]


def test_lsc_atomic_compare_and_swap_takes_the_new_value_second():
    b = Builder(platform="DG2")
    at, old, new, d = (b.var(ty.UD) for _ in range(4))
    lsc(b, "lsc_atomic_icas", src0=raw(at), src1=raw(old), src2=raw(new), dst=raw(d))
    b.ret()
    memory = np.arange(16, dtype=np.uint32)
    init = {at: LANES.astype(np.uint32) * 4, old: np.full(16, 3, np.uint32), new: np.full(16, 77, np.uint32)}
    read = final(b, init, buffers=[memory])
    assert memory[3] == 77
    assert memory[4] == 4
    assert read(d).tolist() == list(range(16))


def test_dpas_of_bytes_equals_a_matrix_product():
    b = Builder(platform="DG2")
    count, depth = 4, 8
    acc, weights, rows, out = b.var(ty.D, 8 * count), b.var(ty.UD, 64), b.var(ty.UD, 8 * count), b.var(ty.D, 8 * count)
    b.op("dpas", "M1,8", dst=raw(out), src0=raw(acc), src1=raw(weights), src2=b.src(rows), prec1=8, prec2=7,
         depth=depth, count=count)  # fmt: skip
    b.ret()
    rng = np.random.default_rng(3)
    a = rng.integers(0, 256, (count, 32), np.uint8)
    m = rng.integers(-128, 128, (32, 8), np.int8)
    c = rng.integers(-1000, 1000, (count, 8), np.int32)
    packed = m.reshape(8, 4, 8).transpose(0, 2, 1)  # depth, column, four bytes of a dword
    got = final(b, {acc: c, weights: np.ascontiguousarray(packed), rows: a})(out)
    assert (got.reshape(count, 8) == c + a.astype(np.int32) @ m.astype(np.int32)).all()


def test_typed_write_converts_and_sampler_filters():
    from visa_lsp.sim.effects.sampling import filter_texels

    texels = np.arange(16, dtype=np.float32).reshape(4, 4)
    image = Image("i", texels, width=4, height=4, channels=1, format="float32", dims=2)
    linear = Sampler("clamp_to_edge", "linear", normalized=False)
    at = np.array([1.0, 0.5, 9.0])
    got = filter_texels(image, linear, at, np.array([1.0, 0.5, 0.5]), np.zeros(3))
    assert got[:, 0].tolist() == [2.5, 0.0, 3.0]
    assert got[0, 1:].tolist() == [0.0, 0.0, 1.0]
    repeat = Sampler("repeat", "nearest", normalized=True)
    assert filter_texels(image, repeat, np.array([1.25, -0.25]), np.zeros(2), np.zeros(2))[:, 0].tolist() == [1.0, 3.0]
    bytes_ = Image("b", bytearray(8), width=2, height=1, channels=4, format="unorm8")
    inside = bytes_.write(np.array([0, 2]), np.zeros(2, int), np.zeros(2, int), np.array([[0.5, 2, -1, 1.0]] * 2))
    assert inside.tolist() == [True, False]
    assert bytes_.data.tolist() == [128, 255, 0, 255, 0, 0, 0, 0]


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
    at, a = b.var(ty.UD), b.var(ty.UD)
    s = bind(b, 0)
    b.op("mov", "M1_NM,16", dst=b.dst(at), src0=imm(0, ty.UD))
    b.op("mov", "M1_NM,16", dst=b.dst(a), src0=imm(added, ty.UD))
    b.op("dword_atomic", "M1,8", op=0, surface=s, off=raw(at), src0=raw(a), src1=raw(0), dst=raw(0))
    b.ret()
    d = dispatch(b, buffers=[np.zeros(4, np.uint32)])
    run(d)
    assert d.surfaces[0].written is written
