"""Messages on images, and what else was once left to the interpreter: all of it is compiled, and engines agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from tiers import first

from visa_lsp.isa.platforms import platform_named
from visa_lsp.sema.lower import resolve_text
from visa_lsp.sim.dispatch import Dispatch
from visa_lsp.sim.jit import engine
from visa_lsp.sim.jit.code_cache import Making
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.memory import FORMATS, Buffer, Image, Memory, Sampler

LANES = np.arange(16)
HEAD = """.version 4.1
.kernel "k"
.decl u v_type=G type=f num_elts=16 align=GRF
.decl v v_type=G type=f num_elts=16 align=GRF
.decl x v_type=G type=d num_elts=16 align=GRF
.decl y v_type=G type=d num_elts=16 align=GRF
.decl texels v_type=G type=f num_elts=64 align=GRF
.decl more v_type=G type=f num_elts=64 align=GRF
.decl half v_type=G type=hf num_elts=64 align=GRF
.decl wide v_type=G type=ud num_elts=32 align=GRF
.decl one v_type=G type=ud num_elts=2 align=GRF
.decl from v_type=A num_elts=16
.decl S0 v_type=S num_elts=1
.decl T6 v_type=T num_elts=1
.input u offset=32 size=64
.input v offset=96 size=64
.input x offset=160 size=64
.input y offset=224 size=64
.kernel_attr SimdSize=16
    movs (M1_NM, 1) S0(0) 0x0:ud
    movs (M1_NM, 1) T6(0) 0x0:ud
"""
KEEP = """    movs (M1_NM, 1) T6(0) 0x2:ud
    oword_st (8) T6 0x0:ud {0}.0
    oword_st (8) T6 0x8:ud {0}.128
"""
BODIES = {
    "sample": "    sample_lz.RGBA (M1, 16) 0x0:uw S0 T6 texels.0 u.0 v.0\n" + KEEP.format("texels"),
    "sample half": "    sample_lz.RGB (M1, 16) 0x0:uw S0 T6 half.0 u.0 v.0\n" + KEEP.format("half"),
    "load": "    load_lz.RGBA (M1, 16) 0x0:uw T6 texels.0 x.0 %null.0 y.0\n" + KEEP.format("texels"),
    "typed": (
        "    gather4_typed.RGBA (M1, 16) T6 x.0 y.0 %null.0 %null.0 texels.0\n" + KEEP.format("texels")
        + "    movs (M1_NM, 1) T6(0) 0x1:ud\n    scatter4_typed.RA (M1, 16) T6 x.0 y.0 %null.0 %null.0 u.0\n"
    ),
    "block": (
        "    media_ld.nomod (8,8) T6 0 x(0,0)<0;1,0> y(0,0)<0;1,0> texels.0\n    movs (M1_NM, 1) T6(0) 0x1:ud\n"
        "    media_st.nomod (8,8) T6 0 x(0,5)<0;1,0> y(0,5)<0;1,0> texels.0\n"
    ),
}  # fmt: skip
OTHERS = """    madw (M1, 16) wide(0,0)<1> x(0,0)<1;1,0> y(0,0)<1;1,0> 0xfffffff0:d
    faddr near one(0,0)<1>
    addr_add (M1, 16) from(0)<1> &u[0] x(0,0)<1;1,0>
    mov (M1, 16) texels(0,0)<1> r[from(0),0]<1,0>:f
    addr_add (M1_NM, 1) from(0)<1> &texels[0] 0x40:uw
    mov (M1, 16) r[from(0),0]<1>:ud wide(0,0)<1;1,0>
    mov (M1, 16) half(0,0)<1> v(0,0)<1;1,0>
    mad (M1, 16) half(0,0)<1> half(0,0)<1;1,0> half(0,1)<1;1,0> half(0,2)<1;1,0>
    mov (M1, 16) more(0,0)<1> half(0,0)<1;1,0>
    shl (M1, 16) x(0,0)<1> x(0,0)<1;1,0> 0x4:ud
    and (M1, 16) x(0,0)<1> x(0,0)<1;1,0> 0xfff:ud
    scatter4_scaled.R (M1, 16) %scratch 0x0:ud x.0 y.0
    gather4_scaled.R (M1, 16) %scratch 0x0:ud x.0 more.64
    mov (M1, 2) more(0,32)<1> one(0,0)<1;1,0>
"""


def ran(body, form, sampler, run):
    """Run a kernel on two images of a form and a buffer; give what is in them then."""
    kernel = resolve_text(f"{HEAD}{body}    ret (M1, 16)\n", "TGLLP").module.kernels[0]
    random, (name, channels, height) = np.random.default_rng(5), form
    kind = FORMATS[name][1]
    size = 7 * height * channels
    if kind.kind == "f":
        data = (random.random(size) * 3 - 1).astype(kind)
    else:
        data = random.integers(0, 256, size * kind.itemsize, np.uint8).view(kind)
    sizes = {"width": 7, "height": height, "channels": channels, "format": name, "dims": 2}
    memory = Memory()
    images = [memory.add(Image(f"i{n}", data.copy(), **sizes)) for n in range(2)]
    out = memory.add(Buffer("out", bytearray(512)))
    given = [
        np.float32(LANES * 0.21 - 0.7),
        np.float32(LANES * 0.77 - 2),
        np.int32(LANES % 9 - 1),
        np.int32(LANES % 5 - 1),
    ]
    payload = bytes(32) + b"".join(one.tobytes() for one in given)
    found = run(Dispatch(
        kernel=kernel, functions={}, platform=platform_named("TGLLP"), groups=(2, 1, 1), threads_per_group=2, simd=16,
        lanes=lambda n: 0xFFFF >> 3 * n, payload=lambda _group, _n: payload, surfaces={0: images[0], 1: images[1], 2: out},
        memory=memory, samplers={0: sampler}, symbols={"near": 0x1234},
    ))  # fmt: skip
    counts = found.steps, found.reads, found.writes, found.faults, found.executions
    return [b.data.tobytes() for b in (*images, out)], [b.written for b in (*images, out)], counts


def agree(body, form=("unorm8", 4, 5), sampler=None):
    """Run with both engines; give the instructions that are left to the interpreter."""
    sampler = sampler or Sampler()
    making = Making()
    compiled = ran(body, form, sampler, lambda dispatch: engine.run(dispatch, making=making, at_once=True))
    assert compiled == ran(body, form, sampler, interpret), (form, sampler)
    return [pc for one in making.bodies.values() for pc in one.body.called_out]


SAMPLERS = [
    Sampler(address, how, normalized)
    for address, how, normalized in itertools.product(
        ("clamp_to_edge", "clamp", "repeat", "mirrored_repeat"), ("nearest", "linear"), (False, True)
    )
]
FORMS = [(name, 1 << number % 3, 1 + 4 * (number % 2)) for number, name in enumerate(FORMATS)]
CASES = [
    ("sample", ("unorm8", 4, 5), Sampler("repeat", "linear", normalized=True)),
    ("typed", ("snorm16", 4, 5), Sampler()),
    ("load", ("sint8", 2, 5), Sampler()),
    ("sample half", ("float16", 2, 5), Sampler("clamp", "linear")),
    ("block", ("uint16", 1, 5), Sampler()),
    *(("sample", ("float32", 4, 5), sampler) for sampler in SAMPLERS),
    *((what, form, Sampler()) for what in ("typed", "load", "sample", "block") for form in FORMS),
]


@pytest.mark.parametrize("case", first(5, CASES), ids=str)
def test_a_message_on_an_image_is_compiled(case):
    what, form, sampler = case
    assert not agree(BODIES[what], form, sampler)


def test_loads_with_parameters_of_several_sizes_are_compiled():
    plain = "    load_lz.RGBA (M1, 16) 0x0:uw T6 texels.0 half.0 half.0 half.0\n"
    samples = "    load_2dms_w.RGBA (M1, 16) 0x0:uw T6 texels.0" + " half.0" * 9 + "\n"
    assert not agree(plain + samples + plain.replace("load_lz", "load_3d") + KEEP.format("texels"))


def test_the_rest_is_compiled():
    what = (
        OTHERS + KEEP.format("texels") + KEEP.format("more").replace("0x8:ud", "0x18:ud").replace("0x0:ud", "0x10:ud")
    )
    assert not agree(what)


@pytest.mark.parametrize("what", ["clean", "race"])
def test_blocks_are_compiled_under_checkers(what):
    mine = "    mov (M1_NM, 16) texels(0,0)<1> %group_id_x(0,0)<0;1,0>\n" if what == "race" else ""
    body = BODIES["block"].replace("    media_st", f"{mine}    media_st")
    form, results = ("uint16", 1, 5), []

    def watched(run, **how):
        def run_and_keep(dispatch):
            results.append(run(dispatch, [checker() for checker in engine.WATCHED], **how))
            return results[-1]

        return run_and_keep

    assert ran(body, form, Sampler(), watched(engine.run, at_once=True)) == ran(
        body, form, Sampler(), watched(interpret)
    )
    assert {fault.kind.value for fault in results[0].faults} == ({"data-race"} if what == "race" else set())
    assert bool(results[0].replayed_groups) == (what == "race")
    assert not results[0].limits
