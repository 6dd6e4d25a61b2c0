"""Forms of messages that compilers for OpenCL do not print: comparing, gathering and fraction samples, residency, atomics of
16 bits, blocks and samples of images, states behind pointers, and what is recorded instead of carried out.

Expected values are worked out here from the texels, not by the simulator's helpers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.builders import Builder, dispatch, imm
from visa_lsp.isa import types as ty
from visa_lsp.program.model import RawOperand, State
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.memory import Buffer, Image, Sampler
from visa_lsp.sim.values import DTYPE

HANDLE, SAMPLER = 0x10040, 0x20080
TEXELS = np.arange(64, dtype=np.float32).reshape(8, 8)
LANES = np.arange(16)
X, Y = (LANES % 7 + 0.5).astype(np.float32), (LANES % 5 + 0.5).astype(np.float32)


def raw(var, offset=0):
    return RawOperand(var, offset)


def picture(array=TEXELS, form="float32", channels=1):
    height, width = array.shape[:2]
    return Image("picture", np.ascontiguousarray(array), width=width, height=height, channels=channels, format=form)


def ran(b, initial, surfaces=None, sampler=None, lanes=0xFFFF):
    """Run; gives a function from variable to array, and the result."""
    b.ret()
    order = replace(
        dispatch(b, lanes=lanes),
        surfaces=surfaces or {0: picture()},
        samplers={0: sampler or Sampler(), SAMPLER: sampler or Sampler()},
    )
    machine = Machine(order)
    thread = machine.start((0, 0, 0))[1][0]
    frame, layout = thread.frame, thread.frame.code.layout
    for var, data in initial.items():
        numbers = np.asarray(data)
        if numbers.dtype == np.int64:
            numbers = numbers.astype(DTYPE[b.type_of(var)])
        bytes_ = np.ascontiguousarray(numbers).view(np.uint8).reshape(-1)
        frame.regs[layout.offset(var) : layout.offset(var) + bytes_.size] = bytes_
    with np.errstate(all="ignore"):
        for _ in thread.run(1000):
            pass

    def read(var):
        at = layout.offset(var)
        return frame.regs[at : at + b.variables[var - 32].byte_size].copy().view(DTYPE[b.type_of(var)])

    return read, machine.finish()


def sampled(word, parameters, channels=1, sampler=None, surfaces=None, **fields):
    """Return the destination of one sample; ``parameters`` are arrays in the order of the payload."""
    b = Builder(platform="BMG")
    variables = [b.var(ty.D if p.dtype.kind == "i" else ty.F) for p in parameters]
    out = b.var(ty.F, 16 * channels)
    given = {"chan": (1 << channels) - 1, "aoffimmi": imm(0, ty.UW), "surface": bind(b, 0), "sampler": 0} | fields
    if word.startswith("load"):
        del given["sampler"]
    b.op(word, dst=raw(out), payload=tuple(raw(v) for v in variables), n=len(variables), **given)
    read, result = ran(b, dict(zip(variables, parameters, strict=True)), surfaces, sampler)
    assert result.faults == ()
    return read(out).reshape(channels, 16)


def bind(b, index):
    s = b.surface()
    b.op("movs", "M1_NM,1", dst=State(False, s, 0), src0=imm(index, ty.UD))
    return s


def at(x, y):
    return TEXELS[np.clip(np.floor(y), 0, 7).astype(int), np.clip(np.floor(x), 0, 7).astype(int)]


REFERENCE = (LANES * 3).astype(np.float32)
ZERO = np.zeros(16, np.float32)
NUMBER = ZERO + 3  # a level, a bias or a least level: images have one level
COMPARED = {
    "sample_c": (REFERENCE, X, Y),
    "sample_c_lz": (REFERENCE, X, Y),
    "sample_b_c": (REFERENCE, NUMBER, X, Y),
    "sample_l_c": (REFERENCE, NUMBER, X, Y),
    "sample_d_c": (REFERENCE, X, NUMBER, NUMBER, Y),
    "sample_d_c_mlod": (REFERENCE, NUMBER, X, NUMBER, NUMBER, Y),
    "sample_c_mlod": (NUMBER, REFERENCE, X, Y),
}


@pytest.mark.parametrize("word", COMPARED)
def test_a_reference_is_compared_with_red(word):
    got = sampled(word, COMPARED[word], channels=4)
    assert got[0].tolist() == (at(X, Y) >= REFERENCE).astype(float).tolist()
    assert got[1].tolist() == got[2].tolist() == [0.0] * 16
    assert got[3].tolist() == [1.0] * 16


def test_a_linear_filter_weighs_comparisons():
    linear = Sampler("clamp_to_edge", "linear")
    got = sampled("sample_c", (ZERO + 9.5, X + 0.25, ZERO + 1.5), sampler=linear)
    # Of the two texels beside each other in row 1 those from 10 on count: 8 + x >= 9.5.
    left, right = 8 + np.floor(X), 8 + np.floor(X) + 1
    assert got[0].tolist() == (0.75 * (left >= 9.5) + 0.25 * (np.minimum(right, 15) >= 9.5)).tolist()


@pytest.mark.parametrize(("word", "before"), [("sample_mlod", 1), ("sample_b", 1), ("sample_l", 1), ("sample_lz", 0)])
def test_levels_change_nothing_where_there_is_one(word, before):
    assert sampled(word, (NUMBER,) * before + (X, Y))[0].tolist() == at(X, Y).tolist()


def packed(u, v, r=0):
    return ((u & 15) << 8 | (v & 15) << 4 | (r & 15)) + np.zeros(16, np.int32)


@pytest.mark.parametrize("word", ["sample_po", "sample_po_lz"])
def test_offsets_per_lane(word):
    u, v = LANES % 3 - 1, LANES % 2 - 1
    got = sampled(word, (X, Y, ZERO, packed(u, v).astype(np.int32)))
    assert got[0].tolist() == at(X + u, Y + v).tolist()


def test_offsets_share_the_low_bits_of_another_parameter():
    bits = (NUMBER.view(np.uint32) & 0xFFFFF000 | packed(2, -1).astype(np.uint32)).view(np.float32)
    assert sampled("sample_po_l", (bits, X, Y))[0].tolist() == at(X + 2, Y - 1).tolist()
    gather = (NUMBER.view(np.uint32) & 0xFFFFF000 | np.uint32(-3 & 63) << 6 | 2).view(np.float32)
    got = sampled("sample4_po_l", (gather, X, Y), channels=4, chan=0)
    assert got[3].tolist() == at(X - 0.5 + 2, Y - 0.5 - 3).tolist()


def corners(x, y):
    """Lower left, lower right, upper right, upper left of the texels around a point."""
    x, y = x - 0.5, y - 0.5
    return [at(x, y + 1), at(x + 1, y + 1), at(x + 1, y), at(x, y)]


@pytest.mark.parametrize(
    ("word", "before"), [("sample4", ()), ("sample4_l", (NUMBER,)), ("sample4_b", (NUMBER,)), ("sample4_i", ())]
)
def test_gather_returns_four_texels(word, before):
    got = sampled(word, (*before, X, Y), channels=4, chan=0)
    assert [row.tolist() for row in got] == [row.tolist() for row in corners(X, Y)]


@pytest.mark.parametrize(("word", "before"), [("sample4_c", ()), ("sample4_i_c", ()), ("sample4_l_c", (NUMBER,))])
def test_gather_compares_each_texel(word, before):
    got = sampled(word, (REFERENCE, *before, X, Y), channels=4, chan=0)
    assert [row.tolist() for row in got] == [(row >= REFERENCE).astype(float).tolist() for row in corners(X, Y)]


def test_gather_with_an_offset_per_lane():
    u, v = (LANES % 3).astype(np.int32), (LANES % 2).astype(np.int32)
    got = sampled("sample4_po", (X, Y, u, v), channels=4, chan=0)
    assert [row.tolist() for row in got] == [row.tolist() for row in corners(X + u, Y + v)]


def test_one_sample_per_pixel_and_one_level():
    si, x, y = (LANES % 2).astype(np.int32), (LANES % 8).astype(np.int32), (LANES % 4).astype(np.int32)
    none = np.zeros(16, np.int32)
    got = sampled("load_2dms_w", (si, none, none, x, y))
    assert got[0].tolist() == np.where(si == 0, TEXELS[y, x], 0).tolist()
    assert sampled("load_l", (si, x, y))[0].tolist() == np.where(si == 0, TEXELS[y, x], 0).tolist()
    assert sampled("load_mcs", (x, y))[0].tolist() == [0.0] * 16


def test_lod_is_that_of_the_derivatives():
    x = (LANES % 2 * 4).astype(np.float32) / 8  # four texels from lane to lane
    got = sampled("lod", (x, ZERO), channels=2)
    assert got[0].tolist() == [0.0] * 16
    assert got[1].tolist() == [2.0] * 16


def test_states_behind_pointers():
    b = Builder(platform="BMG")
    u, v, out = b.var(ty.F), b.var(ty.F), b.var(ty.F)
    surface, sampler = b.var(ty.UQ, 1), b.var(ty.UQ, 1)
    b.op("sample_lz", chan=1, aoffimmi=imm(0, ty.UW), sampler=raw(sampler), surface=raw(surface), dst=raw(out),
         payload=(raw(u), raw(v)), n=2)  # fmt: skip
    initial = {u: X / 8, v: Y / 8, surface: np.array([HANDLE], np.uint64), sampler: np.array([SAMPLER], np.uint64)}
    read, _ = ran(b, initial, {HANDLE: picture()}, Sampler(normalized=True))
    assert read(out).tolist() == at(X, Y).tolist()


@pytest.mark.parametrize(("form", "kind", "top"), [(0, ty.UW, 65535), (0x20, ty.UB, 255)])
def test_fractions_of_a_block(form, kind, top):
    fractions = np.linspace(0, 1, 32, dtype=np.float32).reshape(4, 8)
    b = Builder()
    out = b.var(kind, 64)
    corner = {"u": imm(0.5 / 8, ty.F), "v": imm(0.5 / 4, ty.F), "du": imm(1 / 8, ty.F), "dv": imm(1 / 4, ty.F)}
    b.op("sample_unorm", chan=0b1001 | form, sampler=0, surface=bind(b, 0), dst=raw(out), **corner)
    read, _ = ran(b, {}, {0: picture(fractions)})
    assert read(out)[:32].tolist() == np.rint(fractions.reshape(-1) * top).tolist()
    assert read(out)[32:].tolist() == [top] * 32


def test_halved_chrominance_takes_even_pixels():
    fractions = np.linspace(0, 1, 32, dtype=np.float32).reshape(4, 8)
    b = Builder()
    out = b.var(ty.UW, 32)
    corner = {"u": imm(0.5 / 8, ty.F), "v": imm(0.5 / 4, ty.F), "du": imm(1 / 8, ty.F), "dv": imm(1 / 4, ty.F)}
    b.op("sample_unorm", chan=0b0001 | 0x10, sampler=0, surface=bind(b, 0), dst=raw(out), **corner)
    read, _ = ran(b, {out: np.full(32, 7, np.uint16)}, {0: picture(fractions)})
    assert read(out).tolist() == [*np.rint(fractions[:, ::2].reshape(-1) * 65535).tolist(), *[7] * 16]


@pytest.mark.parametrize("word", ["sample", "load"])
def test_older_forms_have_a_width_and_no_mask(word):
    for lanes, bit in ((8, 0), (16, 0x10)):
        b = Builder()
        u, v, r = (b.var(ty.F if word == "sample" else ty.D) for _ in range(3))
        out = b.var(ty.F)
        sampler = {"sampler": 0} if word == "sample" else {}
        b.op(word, chan=1 | bit, surface=bind(b, 0), u=raw(u), v=raw(v), r=raw(r), dst=raw(out), **sampler)
        x, y = (X, Y) if word == "sample" else (np.floor(X).astype(np.int32), np.floor(Y).astype(np.int32))
        read, _ = ran(b, {u: x, v: y, out: np.full(16, -1, np.float32)}, lanes=1)
        assert read(out).tolist() == [*at(X, Y)[:lanes].tolist(), *[-1.0] * (16 - lanes)]


def lsc(b, word, exec_="M1,16", **fields):
    b.op(word, exec_, **{"addrtype": 4, "addrsize": 2, "surface": imm(0, ty.UD)} | fields)


def bfloat(values):
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.parametrize(
    ("word", "old", "first", "second", "new"),
    [("bfadd", 1.5, 2.25, 0, 3.75), ("bfadd", 256, 1, 0, 256), ("bfadd", 258, 1, 0, 260), ("bfsub", 1.5, 2.25, 0, -0.75),
     ("bfmin", -1, 2, 0, -1), ("bfmax", -1, 2, 0, 2), ("bfcas", 4, 4, 9, 9), ("bfcas", 4, 5, 9, 4)],
)  # fmt: skip
def test_atomics_on_bfloat(word, old, first, second, new):
    b = Builder(platform="BMG")
    where, a, c, out = (b.var(ty.UD) for _ in range(4))
    lsc(
        b,
        f"lsc_atomic_{word}",
        datasize=6,
        elems=1,
        order=1,
        immscale=1,
        src0=raw(where),
        src1=raw(a),
        src2=raw(c),
        dst=raw(out),
    )
    memory = np.zeros(16, np.uint16)
    memory[:] = bfloat([old] * 16)
    initial = {
        where: (LANES * 2).astype(np.uint32),
        a: bfloat([first] * 16).astype(np.uint32),
        c: bfloat([second] * 16).astype(np.uint32),
    }
    read, result = ran(b, initial, {0: Buffer("memory", memory)})
    assert result.faults == ()
    assert memory.tolist() == bfloat([new] * 16).tolist()
    assert read(out).tolist() == bfloat([old] * 16).tolist()


def test_typed_atomics_of_sixteen_bits():
    b = Builder()
    u, v, r, a, out = (b.var(ty.UD) for _ in range(5))
    b.op(
        "typed_atomic",
        op=0x20,
        surface=bind(b, 0),
        u=raw(u),
        v=raw(v),
        r=raw(r),
        lod=raw(0),
        src0=raw(a),
        src1=raw(0),
        dst=raw(out),
    )
    pixels = np.full((4, 8), 0xFFFE, np.uint16)
    read, result = ran(b, {u: LANES % 8, v: LANES // 8, a: LANES}, {0: picture(pixels, "uint16")})
    assert result.faults == ()
    assert pixels[:2].reshape(-1).tolist() == [(0xFFFE + i) & 0xFFFF for i in range(16)]
    assert read(out).tolist() == [0xFFFE] * 16
    assert pixels[2:].tolist() == [[0xFFFE] * 8] * 2


def test_residency_is_being_inside():
    b = Builder(platform="BMG")
    where, out, quad = b.var(ty.UD), b.var(ty.UD), b.var(ty.UD, 48)
    shape = {"datasize": 3, "order": 1, "immscale": 1, "src0": raw(where)}
    lsc(b, "lsc_load_status", elems=1, dst=raw(out), **shape)
    lsc(b, "lsc_load_quad_status", chmask=0b0011, dst=raw(quad), **shape)
    data = np.arange(20, dtype=np.uint32)
    read, _ = ran(b, {where: (LANES * 8).astype(np.uint32)}, {0: Buffer("memory", data)}, lanes=0x7FFF)
    assert read(out)[0] == 0x3FF  # ten lanes lie inside
    assert read(quad)[:10].tolist() == list(range(0, 20, 2))
    assert read(quad)[16:26].tolist() == list(range(1, 20, 2))
    assert read(quad)[32] == 0x3FF


def test_blocks_of_images_end_at_the_edge():
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    b = Builder(platform="BMG")
    out = b.var(ty.UB, 64)
    common = {"addrtype": 4, "surface": imm(0, ty.UD), "width": 6, "height": 3}
    b.op("lsc_load_block2d", "M1_NM,1", sfid=2, dst=raw(out), src0=imm(4, ty.D), src1=imm(6, ty.D), **common)
    b.op("lsc_store_block2d", "M1_NM,1", sfid=2, data=raw(out), src0=imm(-2, ty.D), src1=imm(0, ty.D), **common)
    image = picture(pixels, "uint8")
    expected = np.zeros((3, 8), np.uint8)
    expected[:2, :4] = pixels[6:, 4:]
    after = pixels.copy()
    after[:3, :4] = expected[:, 2:6]
    read, _ = ran(b, {}, {0: image})
    assert read(out)[:24].reshape(3, 8).tolist() == expected.tolist()
    assert pixels.tolist() == after.tolist()


def test_a_recorded_message_has_its_payload_and_clears_its_destination():
    b = Builder()
    uni, out = b.var(ty.UB, 96), b.var(ty.UB, 32)
    b.op("vme_sic", "M1_NM,1", uni=raw(uni), sic=raw(uni, 32), surface=bind(b, 7), out=raw(out))
    b.op("vme_sic", "M1_NM,1", uni=raw(uni), sic=raw(uni, 32), surface=bind(b, 7), out=raw(out))
    read, result = ran(b, {uni: np.arange(96, dtype=np.uint8), out: np.full(32, 9, np.uint8)}, {7: picture()})
    assert result.faults == ()
    assert read(out).tolist() == [0] * 32
    first, second = result.sent
    assert (first.mnemonic, first.reason, first.count) == ("vme_sic", "the motion estimation unit is not modelled", 1)
    assert dict(first.payload) == {
        "uni": bytes(range(96)), "sic": bytes(range(32, 96)), "surface": (7).to_bytes(4, "little")
    }  # fmt: skip
    assert second.instruction == first.instruction + 2


def test_a_message_that_ends_the_thread_does_so():
    b = Builder()
    data, out = b.var(ty.UD, 8), b.var(ty.UD, 8)
    b.op("raw_sends_eot", "M1_NM,8", nsrc0=1, src0=raw(data), desc=imm(3, ty.UD), exdesc=imm(0x27, ty.UD))
    b.op("mov", "M1_NM,8", dst=b.dst(out), src0=imm(1, ty.UD))
    read, result = ran(b, {data: np.arange(8, dtype=np.uint32)})
    (sent,) = result.sent
    payload = dict(sent.payload)
    assert payload["src0"] == np.arange(8, dtype=np.uint32).tobytes()
    assert payload["desc"][:4] == (3).to_bytes(4, "little")
    assert read(out).tolist() == [0] * 8


def test_without_an_active_lane_nothing_is_sent():
    b = Builder()
    data = b.var(ty.F, 64)
    b.op("rt_write_3d", "M5,16", surface=bind(b, 0), operands=(raw(data),))
    assert ran(b, {}, lanes=0xFF)[1].sent == ()
