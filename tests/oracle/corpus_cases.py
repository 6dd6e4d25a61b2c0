"""Launches for every kernel of the corpus: sizes, seeded inputs, and how its result is judged.

Knows no simulator and no oracle: a ``Case`` is data. Where ``reference`` is set, pocl cannot run the source (``WITHOUT_POCL``
says why) and the function gives the expected buffers from the input arrays and the SIMD width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import corpus_references as host
import numpy as np

from visa_lsp.sim.launch.config import BufferArg, ImageArg, LocalArg, SamplerArg, ValueArg

# Relative error, absolute error, units in the last place: whichever is met. Kernels not named here are exact.
ACCURACY = {
    "asy": (0, 0, 0, "one product"),
    "bilinear": (0, 2e-5, 0, "filter weights are f64 here and f32 in pocl; sin and cos of the angle differ by an ulp"),
    "callk": (1e-6, 0, 0, "pocl contracts a product and a sum where the GPU compiler does not"),
    "conv1d": (1e-5, 1e-6, 0, "the GPU compiler contracts the product and the sum of a loop"),
    "daxpy": (1e-15, 0, 0, "one contraction"),
    "dmath": (1e-13, 0, 0, "df division and root by Newton steps of the compiler"),
    "fft_r2": (1e-5, 2e-6, 0, "sincos of OpenCL may be 4 ulp off, then cancellation"),
    "fft_r4": (1e-5, 4e-6, 0, "native_sin and native_cos have no promised accuracy"),
    "hmath": (4e-3, 8e-3, 0, "five half operations with native_exp2; half has 11 bits"),
    "lod": (0, 1e-6, 0, "unorm8 is v / 255 rounded once here, v * (1 / 255) in pocl; filter weights are f64"),
    "img3d": (0, 1e-6, 0, "filter weights are f64 here and f32 in pocl"),
    "m1": (2e-5, 1e-5, 0, "OpenCL allows pow 16 ulp, sin and cos 4, log 3; fmod of the sum keeps the absolute error"),
    "m2": (2e-4, 2e-5, 0, "native exp2 and log2 inside tgamma, sinh and exp10 of the 2022 built-ins"),
    "mandel": (0, 0, 2, "contraction in the iteration"),
    "mm": (1e-5, 1e-6, 2, "contraction in a loop with cancellation"),
    "mmt": (1e-6, 0, 2, "contraction in a loop"),
    "mnative": (2e-5, 1e-5, 0, "native functions have no promised accuracy; pocl's are the full ones"),
    "mround": (1e-6, 0, 0, "smoothstep is contracted"),
    "nbody": (1e-6, 0, 2, "contraction; native_rsqrt is replaced by 1/sqrt for pocl"),
    "reduce_sum": (1e-6, 0, 2, "the order of a sum"),
    "stencil2d": (1e-5, 1e-6, 0, "contraction with cancellation"),
    "stencil3d": (1e-5, 1e-6, 0, "contraction with cancellation"),
    "vops": (1e-5, 2e-6, 0, "dot, length and normalize have a few ulp in OpenCL, and rsqrt is native in the GPU's"),
}

WITHOUT_POCL = {
    "image_rw": "pocl 3.1 aborts on image1d_buffer_t (img1d only)",
    "halfmath": "pocl 3.1 has no fp16",
    "generics": "pocl 3.1 has no generic address space",
    "prefix_sg": "pocl 3.1 has no sub-groups",
    "subgroup_img": "pocl 3.1 has no sub-groups",
    "subgroup_ops": "pocl 3.1 has no sub-groups",
    "stackcall": "pocl 3.1 crashes on recursion",
    "wgfuncs": "pocl 3.1 has no work-group functions",
}

# Reports that are right: the source itself does what is reported.
RIGHT = {
    "facc": "fadd reads *p plainly while others add to it atomically; its compare-exchange checks the value",
    "gen": "with which 0, every group reads the first values of g, which the first group overwrites",
    "memt": "u3[g] = u3[g + 1].zyx reads what the next work item writes",
    "sel": "a[i] = select(a[i], a[i + 1], ..) reads what the next work item writes",
    "vshuf": "a[i] = shuffle2(a[i], a[i + 1], ..) reads what the next work item writes",
}
RACE = "data-race"
NOTE = "note: data-race"

# PVC has no sampler: the 2022 compiler leaves the read out, and its result is a variable that is never written.
NO_READ_ON_PVC = ("imgcopy", "imgui", "bilinear", "lod", "img3d", "img1d")


@dataclass(frozen=True)
class Case:
    source: str
    kernel: str
    groups: tuple
    local: tuple
    args: tuple
    offset: tuple | None = None
    options: tuple = ()
    fused: bool = False  # OpenCL leaves open how mad rounds: the GPU's is fused, pocl's is not, so pocl is given fma
    exact_rsqrt: bool = False
    reference: Callable | None = None
    settle: Callable | None = None  # what is left of the buffers once the order of threads is taken out
    platforms: tuple = ("TGLLP", "DG2", "PVCXT")
    reports: str = ""  # the kind of report that is right here

    def __str__(self) -> str:
        sizes = "_".join("x".join(str(n) for n in triple if n != 1) or "1" for triple in (self.groups, self.local))
        return f"{self.source}-{self.kernel}-{sizes}"


def buf(array) -> BufferArg:
    return BufferArg(np.ascontiguousarray(array))


def floats(*shape, seed=1, low=-2.0, high=2.0, dtype=np.float32):
    return buf(np.random.default_rng(seed).uniform(low, high, shape).astype(dtype))


def ints(*shape, seed=1, dtype=np.int32, low=None, high=None):
    info = np.iinfo(dtype)
    low, high = (info.min if low is None else low), (info.max if high is None else high)
    return buf(np.random.default_rng(seed).integers(low, high, shape, dtype, endpoint=True))


def value(number, dtype) -> ValueArg:
    return ValueArg(np.array(number, dtype))


def i32(number) -> ValueArg:
    return value(number, np.int32)


def u32(number) -> ValueArg:
    return value(number, np.uint32)


def f32(number) -> ValueArg:
    return value(number, np.float32)


def zeros(*shape, dtype=np.float32) -> BufferArg:
    return buf(np.zeros(shape, dtype))


def image(array, form) -> ImageArg:
    return ImageArg(np.ascontiguousarray(array), form, 4, (*reversed(array.shape[:-1]), 1, 1)[:3])


def line(n, local):
    return (n // local, 1, 1), (local, 1, 1)


def cases():
    yield from numeric()
    yield from memory()
    yield from atomics()
    yield from control()
    yield from images()
    yield from tuned()
    yield from host_only()


def numeric():
    for n, local in ((1000, 250), (20, 7), (1, 1), (165, 33)):
        groups, shape = line(n + local - 1, local)
        args = (floats(n), floats(n, seed=2), f32(1.7), i32(n))
        yield Case("saxpy", "saxpy", groups, shape, args, fused=True)
    for n, local in ((64, 32), (21, 7)):
        sizes = line(n, local)
        yield Case("calls", "callk", *sizes, (floats(n), ints(n, low=1, high=5000), i32(360)))
        yield Case("converts", "cv", *sizes, (floats(n, low=-4e5, high=4e5), *(zeros(n, dtype=d) for d in (
            np.int32, np.uint8, np.int16, np.int8, np.uint32))))  # fmt: skip
        yield Case("converts", "cv", *sizes, (floats(n, low=-300, high=300), *(zeros(n, dtype=d) for d in (
            np.int32, np.uint8, np.int16, np.int8, np.uint32))))  # fmt: skip
        wide = ints(n, 4, seed=3)
        wide.array[::2] >>= 20
        yield Case(
            "converts", "cvv", *sizes, (wide, zeros(n, 4, dtype=np.uint8), zeros(n, 4), zeros(n, 4, dtype=np.uint16))
        )
        yield Case("intops", "iops", *sizes, (
            ints(n), ints(n, seed=2, dtype=np.uint32), ints(n, seed=3, dtype=np.int16), ints(n, seed=4, dtype=np.uint8)))  # fmt: skip
        yield Case("intops", "bitf", *sizes, (ints(n, dtype=np.uint32), u32(5), u32(11)))
        divisors = ints(n, seed=2, dtype=np.int64)
        divisors.array[::3] >>= 40
        divisors.array[1::7] = 0
        args = (ints(n, dtype=np.int64), divisors, ints(n, seed=3, dtype=np.uint64), i32(13))
        yield Case("longmath", "lmath", *sizes, args)
        yield Case("mathf", "m1", *sizes, (floats(n, low=-3, high=3), floats(n, seed=2, low=-2.5, high=2.5)))
        yield Case("mathf", "m2", *sizes, (floats(n, low=0.2, high=3), floats(n, seed=2, low=0.2, high=3)))
        yield Case("mathf", "mnative", *sizes, (floats(n, low=0.2, high=1.2), floats(n, seed=2, low=0.2, high=3)))
        odd = floats(n, low=-40, high=40)
        odd.array[:5] = [np.inf, -np.inf, 1e-40, 2.5, -2.5]
        odd.array[5::3] = np.rint(odd.array[5::3])
        yield Case("mathf", "mround", *sizes, (odd, zeros(n, dtype=np.int32)), settle=host.finite_first)
        yield Case("doublemath", "dmath", *sizes, (
            floats(n, dtype=np.float64, low=-9, high=9), floats(n, seed=2, dtype=np.float64, low=0.5, high=9),
            value(1.25, np.float64), i32(n - 3)), platforms=("PVCXT",))  # fmt: skip
        yield Case("doublemath", "daxpy", *sizes, (
            floats(n, dtype=np.float64), floats(n, seed=2, dtype=np.float64), value(1.25, np.float64)), platforms=("PVCXT",))  # fmt: skip
        yield Case("int8pack", "pack_dot", *sizes, (ints(n * 5, 4, dtype=np.int8), ints(5, 4, seed=2, dtype=np.int8),
            zeros(n, dtype=np.int32), i32(5)))  # fmt: skip
        yield Case("int8pack", "quant", *sizes, (floats(n, 4), zeros(n, 4, dtype=np.uint8), f32(64.0), f32(128.0)))
        yield Case("int8pack", "dequant", *sizes, (ints(n, dtype=np.int8), zeros(n), f32(0.37)))
        yield Case("int8pack", "bytes_swap", *sizes, (ints(n, dtype=np.uint32),))
        yield Case("vectors", "vops", *sizes, (
            floats(n, 4), floats(n, 4, seed=2), ints(n, 8), ints(n, 16, dtype=np.uint8), floats(n, 3, seed=5)))  # fmt: skip
    for n, half in ((32, 1), (32, 8)):
        yield Case("fft_radix2", "fft_r2", *line(n, 16), (floats(2 * n, 2), i32(2 * n), i32(half)))
        yield Case("fft_radix2", "fft_r4", *line(n, 16), (floats(4 * n, 2), zeros(4 * n, 2), i32(half)))


def memory():
    for groups, local in ((2, 32), (3, 20)):
        n = groups * local
        yield Case("async", "asy", (groups, 1, 1), (local, 1, 1), (
            floats(n, 4), zeros(n, 4), LocalArg(16 * local), i32(local)))  # fmt: skip
        yield Case("consttab", "lut", (groups, 1, 1), (local, 1, 1), (
            ints(n, dtype=np.uint32), zeros(n), ints(4, seed=2, low=0, high=100)))  # fmt: skip
        yield Case("privarray", "lifo", (groups, 1, 1), (local, 1, 1), (
            ints(40, low=-2, high=9), zeros(n, dtype=np.int32), i32(40)))  # fmt: skip
        yield Case(
            "conv", "conv1d", (groups, 1, 1), (local, 1, 1), (floats(n + 9), floats(9, seed=2), zeros(n), i32(9))
        )
        yield Case("scan", "scan_hs", (groups, 1, 1), (local, 1, 1), (ints(n), zeros(n, dtype=np.int32)))
        yield Case("mem_types", "aos", (groups, 1, 1), (local, 1, 1), (
            ints(n, 20, dtype=np.uint8, high=62), value(np.random.default_rng(3).integers(0, 62, 20), np.uint8)))  # fmt: skip
    yield Case("privarray", "bigpriv", (2, 1, 1), (9, 1, 1), (zeros(18), i32(123)))
    for sizes, local in (((4, 3), (8, 4)), ((3, 2), (5, 3))):
        w, h = sizes[0] * local[0], sizes[1] * local[1]
        both = (*sizes, 1), (*local, 1)
        yield Case("conv", "conv5", *both, (ints(h, w, dtype=np.uint8), zeros(h, w, dtype=np.uint8), i32(w), i32(h)))
        yield Case("stencil", "stencil2d", *both, (floats(h, w), zeros(h, w), i32(w), i32(h)))
        d = (w, h, 4)
        yield Case("stencil", "stencil3d", (*sizes, 2), (*local, 2), (
            floats(*reversed(d)), zeros(*reversed(d)), i32([*d, 0]), f32(0.5), f32(0.1)))  # fmt: skip
    for n, local in ((16, 8), (64, 64)):
        yield Case("bitonic", "bitonic", *line(n, local), (ints(n, dtype=np.uint32), u32(4), u32(8)))
        yield Case("scan", "scan_blelloch", (1, 1, 1), (local, 1, 1), (
            buf(np.random.default_rng(4).integers(0, 99, 2 * local).astype(np.float32)), LocalArg(8 * local), i32(2 * local)))  # fmt: skip
    yield Case("bitonic", "bitonic_local", (2, 1, 1), (64, 1, 1), (ints(256),))
    # Work items of one group overwrite each other's floats, each in its own group they do so in order.
    for groups, local, settle in ((6, 1, host.no_padding), (1, 40, host.no_floats)):
        n = groups * local
        args = (ints(n, dtype=np.int8), ints(2 * n + 2, dtype=np.int16), ints(2 * n + 9), zeros(n, dtype=np.int64),
                zeros(4 * n + 9), ints(n + 1, 4, dtype=np.uint8), ints(n + 1, 8, seed=2, dtype=np.int16), i32(3))  # fmt: skip
        yield Case("mem_types", "memt", (groups, 1, 1), (local, 1, 1), args, settle=settle, reports=RACE)
    for n, local in ((60, 60), (21, 7)):
        sizes = line(n, local)
        yield Case("selects", "sel", *sizes, (floats(n + 1), ints(n, low=-5, high=5), ints(n, 4, dtype=np.int8),
            ints(n + 1, 4, dtype=np.uint32)), reports=RACE)  # fmt: skip
        yield Case("vectors", "vshuf", *sizes, (ints(n + 1, 4, dtype=np.uint32), ints(n, 4, seed=2, dtype=np.uint32)),
            reports=RACE)  # fmt: skip


def atomics():
    cells = ints(256 + 64, low=-99, high=99)
    yield Case("atomics_int", "atomics_global", (1, 1, 1), (16, 1, 1), (cells, ints(32, dtype=np.uint32), i32(7)))
    settled = lambda b: {0: b[0][:96], 1: b[1]}  # noqa: E731 - the old values depend on who comes first
    yield Case(
        "atomics_int",
        "atomics_global",
        (2, 1, 1),
        (32, 1, 1),
        (cells, ints(32, dtype=np.uint32), i32(7)),
        settle=settled,
    )
    for groups, local in ((2, 40), (1, 8)):
        # Who finds the cell empty is open, and the others add 1000; cells need 32 work items to be zeroed.
        yield Case("atomics_int", "atomics_local", (groups, 1, 1), (max(local, 32), 1, 1), (ints(groups * 32), i32(1000)),
                   settle=lambda b: {0: b[0] % 1000})  # fmt: skip
        yield Case("atomics_int", "atomics_noret", (groups, 1, 1), (local, 1, 1), (ints(2),), offset=(3, 0, 0))
    whole = np.random.default_rng(1).integers(0, 50, 70).astype(np.float32)
    yield Case("atomics_float", "facc", (2, 1, 1), (35, 1, 1), (zeros(5), buf(whole), i32(5)), reports=NOTE)
    yield Case("atomics_float", "fxchg", (2, 1, 1), (20, 1, 1), (zeros(41),))
    long_args = lambda: (ints(4, dtype=np.int64, low=-99, high=99), ints(1001, seed=2, dtype=np.uint64, high=999),  # noqa: E731
                         value(-5, np.int64))  # fmt: skip
    yield Case("atomics_long", "al", (1, 1, 1), (1, 1, 1), long_args())
    yield Case("atomics_long", "al", (2, 1, 1), (24, 1, 1), long_args(), settle=lambda b: {0: b[0][[0, 1, 3]]})
    text = np.frombuffer(b"Abc xabcABCab abcabc. aBCa", np.uint8)
    args = (buf(text), u32(text.size), buf(np.frombuffer(b"abc", np.uint8)), u32(3), zeros(40, dtype=np.uint32),
            zeros(1, dtype=np.uint32))  # fmt: skip
    for sizes in (((1, 1, 1), (32, 1, 1)), ((4, 1, 1), (7, 1, 1))):
        yield Case("strsearch", "strfind", *sizes, args, settle=lambda b: {**b, 4: np.sort(b[4])})


def control():
    for n, local in ((64, 32), (21, 7)):
        sizes = line(n, local)
        yield Case(
            "diverge",
            "collatz",
            *sizes,
            (ints(n, dtype=np.uint32, low=1, high=5000), zeros(n, dtype=np.uint32), u32(90)),
        )
        yield Case("diverge", "nest", *sizes, (ints(12, low=-6, high=40), zeros(n, dtype=np.int32), i32(12)))
        codes = np.random.default_rng(2).choice([0, 1, 2, 3, 4, 5, 7, 9, 100, -3], n).astype(np.int32)
        yield Case("switches", "sw", *sizes, (buf(codes), ints(n, low=-9999, high=9999), zeros(n, dtype=np.int32)))
        yield Case("stackcall", "recur", *sizes, (zeros(n, dtype=np.int32),), reference=host.recur)
    for mode in range(4):
        yield Case("switches", "sw_uniform", (1, 1, 1), (20, 1, 1), (ints(20), i32(mode), i32(9)))
    yield Case("printf_k", "pr", (2, 1, 1), (10, 1, 1), (floats(20), i32(17)))


def images():
    rng = np.random.default_rng(7)
    for sizes, local in (((2, 3), (8, 4)), ((3, 2), (5, 3))):
        w, h = sizes[0] * local[0], sizes[1] * local[1]
        both = (*sizes, 1), (*local, 1)
        pixels, empty = rng.random((h, w, 4), np.float32), np.zeros((h, w, 4), np.float32)
        yield Case(
            "image_rw", "imgcopy", *both, (image(pixels, "float32"), image(empty, "float32")), settle=host.second
        )
        raw = rng.integers(0, 255, (h, w, 4), np.uint8)
        for form in ("uint8", "uint16", "uint32"):
            kind = np.dtype(form)
            args = (image(raw.astype(kind), form), image(empty.astype(kind), form))
            yield Case("image_rw", "imgui", *both, args, settle=host.second)
        args = (image(pixels, "float32"), image(empty, "float32"), value([0.03, 0.05], np.float32), f32(0.3))
        yield Case("samplers", "bilinear", *both, args, settle=host.second)
        for mode in ("clamp_to_edge", "clamp"):
            for filter_ in ("nearest", "linear"):
                args = (image(raw, "unorm8"), SamplerArg(mode, filter_, False), zeros(h, w, 4), i32(w))
                yield Case("samplers", "lod", *both, args, settle=host.third)
    cube = rng.random((4, 8, 16, 4), np.float32)
    for filter_ in ("nearest", "linear"):
        args = (image(cube, "float32"), zeros(4, 8, 16, 4), SamplerArg("clamp_to_edge", filter_, True))
        yield Case("image_rw", "img3d", (2, 2, 2), (8, 4, 2), args, settle=host.second)
    layers = np.where(rng.random((3, 4, 8, 4)) < 0.5, 0, 255).astype(np.uint8)
    args = (image(rng.integers(-999, 999, (40, 4), np.int32), "sint32"), image(layers, "unorm8"),
            SamplerArg("clamp_to_edge", "nearest", True), zeros(40, 4, dtype=np.int32))  # fmt: skip
    yield Case("image_rw", "img1d", (2, 1, 1), (20, 1, 1), args, reference=host.img1d)


def tuned():
    for groups, local, w, h in (((2, 3), (16, 4), 32, 12), ((3, 2), (7, 3), 20, 5)):
        args = (zeros(h, w, 4, dtype=np.uint8), i32(w), i32(h), f32(-2.0), f32(-1.0), f32(3.0 / w), i32(30))
        yield Case("mandelbrot", "mandel", (*groups, 1), (*local, 1), args)
    for groups, local, m, n, k in (((2, 2), (8, 8), 13, 15, 9), ((3, 1), (5, 7), 7, 15, 33)):
        args = (floats(m, k), floats(k, n, seed=2), zeros(m, n), i32(m), i32(n), i32(k))
        yield Case("matmul_naive", "mm", (*groups, 1), (*local, 1), args)
    for tiles in (1, 2):
        n = 16 * tiles
        args = (floats(n, n), floats(n, n, seed=2), zeros(n, n), i32(n))
        yield Case("matmul_tiled", "mmt", (tiles, tiles, 1), (16, 16, 1), args)
    for groups, local, n in ((4, 64, 1000), (2, 48, 333)):
        args = (buf(np.random.default_rng(3).random(n, np.float32)), zeros(groups), LocalArg(4 * local), u32(n))
        yield Case("reduce_local", "reduce_sum", (groups, 1, 1), (local, 1, 1), args)
    yield Case("reduce_local", "reduce_minmax", (3, 1, 1), (64, 1, 1), (ints(192), zeros(3, 2, dtype=np.int32)))
    for groups, local, n in ((2, 64, 999), (3, 100, 500)):
        args = (ints(n, dtype=np.uint8), ints(256, seed=2, dtype=np.uint32), u32(n))
        yield Case("histogram", "hist256", (groups, 1, 1), (local, 1, 1), args)
    args = (floats(64, 4), floats(64, 4, seed=2), zeros(64, 4), i32(64), f32(0.01), f32(0.1))
    yield Case("nbody", "nbody", (1, 1, 1), (64, 1, 1), args, exact_rsqrt=True)
    for groups, local in (((2, 2), (8, 4)), ((3, 5), (5, 3))):
        w, h = groups[0] * local[0], groups[1] * local[1]
        yield Case(
            "transpose", "transpose_naive", (*groups, 1), (*local, 1), (floats(h, w), zeros(w, h), i32(w), i32(h))
        )
    yield Case(
        "transpose", "transpose_tile", (2, 2, 1), (16, 16, 1), (ints(32, 32), zeros(32, 32, dtype=np.int32), i32(32))
    )
    # pocl's optimiser is known to miscompile a byte-heavy kernel of this corpus; without it the result is right.
    for groups, local in ((3, 7), (2, 40)):
        args = (ints(groups * local * 64, dtype=np.int8), zeros(groups * local * 64, dtype=np.int8))
        yield Case("transpose", "transpose_c16", (groups, 1, 1), (local, 1, 1), args, options=("-cl-opt-disable",))


def host_only():
    older = ("TGLLP", "DG2")
    for groups, local in ((2, 32), (3, 20)):
        n = groups * local
        sizes = (groups, 1, 1), (local, 1, 1)
        half = floats(n, dtype=np.float16), floats(n, seed=2, dtype=np.float16)
        yield Case("halfmath", "hmath", *sizes, (*half, zeros(n), value(0.75, np.float16)), reference=host.hmath)
        eighths = [buf((np.random.default_rng(s).integers(-20, 20, (n, 4)) / 8).astype(np.float16)) for s in (1, 2)]
        yield Case("halfmath", "hvec", *sizes, tuple(eighths), reference=host.hvec)
        yield Case("prefix_sg", "psum", *sizes, (ints(n, low=-99, high=99), zeros(n, 4, dtype=np.int32)),
                   reference=lambda a, simd, local=local: host.psum(a, simd, local))  # fmt: skip
        yield Case("wgfuncs", "wg", *sizes, (zeros(n + 4, dtype=np.int32), ints(n + 4, low=-5, high=9)), reference=(
            lambda a, _simd, groups=groups, local=local: host.wg(a, groups, local)))  # fmt: skip
        yield Case("atomics_c11", "a11", *sizes, (ints(3, low=0, high=9), ints(2, dtype=np.uint32, high=99), zeros(n, dtype=np.int32)),
                   options=("-cl-std=CL3.0",), settle=lambda b: {**b, 2: np.sort(b[2])})  # fmt: skip
    for which in range(4):
        for groups, local in ((2, 8), (1, 13)):
            yield Case("generics", "gen", (groups, 1, 1), (local, 1, 1), (ints(groups * local, low=-99, high=99),
                LocalArg(4 * local), i32(local), i32(which)),
                reference=lambda a, _s, local=local, which=which: host.gen(a, local, which),
                reports=RACE if which == 0 and groups > 1 else "")  # fmt: skip
    pixels = np.random.default_rng(1).integers(0, 255, (16, 32, 4), np.uint8)
    yield Case("subgroup_img", "sg_imgblk", (2, 2, 1), (16, 1, 1), (image(pixels, "unorm8"), image(pixels * 0, "unorm8")),
               reference=host.sg_imgblk)  # fmt: skip
    for groups, local in ((2, 32), (1, 16)):
        n = groups * local
        yield Case("subgroup_ops", "sg_shuffle", (groups, 1, 1), (local, 1, 1), (ints(n, dtype=np.uint32), zeros(n, dtype=np.uint32)),
                   reference=host.sg_shuffle, platforms=older)  # fmt: skip
    halves = buf((np.random.default_rng(1).integers(-6, 9, 28) / 2).astype(np.float32))
    yield Case(
        "subgroup_ops",
        "sg_reduce",
        (1, 1, 1),
        (28, 1, 1),
        (halves, zeros(4)),
        reference=host.sg_reduce,
        platforms=older,
    )
    yield Case("subgroup_ops", "sg_block", (1, 1, 1), (16, 1, 1), (
        ints(32, dtype=np.uint16), zeros(16, 4, dtype=np.uint32), ints(192, seed=2, dtype=np.uint32)),
        reference=host.sg_block, platforms=older)  # fmt: skip
    for groups, local in ((2, 64), (1, 32)):
        n = groups * local
        yield Case("subgroup_ops", "sg32", (groups, 1, 1), (local, 1, 1), (ints(n, low=-999, high=999), zeros(n, dtype=np.int32)),
                   reference=host.sg32, platforms=older)  # fmt: skip
