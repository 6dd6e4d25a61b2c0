"""Launches for every kernel of ``cl/``: sizes, seeded inputs, and how near the result must be.

``make.py`` keeps what they give (``expected/``), computed by pocl from the same source, or by the function ``reference``
where pocl cannot run it (``WITHOUT_POCL`` says why).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from corpus_cases import Case, buf, f32, floats, i32, image, ints, line, u32, value, zeros

from visa_lsp.sim.launch.config import LocalArg, SamplerArg

# Relative error, absolute error, units in the last place: whichever is met. Kernels not named here are exact.
ACCURACY = {
    "curves": (2e-5, 2e-5, 0, "OpenCL allows pow 16 ulp, sin, cos and log 3 to 4; fmod of the sum keeps the absolute error"),
    "fast_curves": (2e-5, 2e-5, 0, "native functions have no promised accuracy"),
    "horner": (1e-13, 0, 0, "df division and root by Newton steps of the compiler"),
    "lanes": (1e-5, 1e-5, 0, "products and sums are contracted by one compiler and not by the other"),
    "mixed": (0, 2e-5, 0, "filter weights are f64 here and f32 in pocl"),
    "rounded": (1e-6, 1e-5, 0, "products and sums are contracted by one compiler and not by the other"),
}  # fmt: skip
WITHOUT_POCL = {
    "deep": "pocl 3.1 crashes on recursion",
    "halves": "pocl 3.1 has no fp16",
    "spaces": "pocl 3.1 has no generic address space",
    "teams": "pocl 3.1 has no sub-groups",
}
# PVC has no sampler: the 2022 compiler leaves the read out, and its result is a variable that is never written.
NO_READ_ON_PVC = ("swizzle", "mixed", "slices")
# Reports that are right: the source itself does what is reported.
RIGHT: dict[str, str] = {}
# Where not all three platforms are gone through: two have other programs of the kind, or the device cannot.
PLATFORMS = {
    "atoms": ("TGLLP", "DG2"), "bins": ("TGLLP", "PVCXT"), "blur": ("TGLLP", "DG2"), "bytes": ("TGLLP",), "deep": ("TGLLP", "DG2"),
    "doubles": ("PVCXT",), "folds": ("TGLLP", "PVCXT"), "gemm": ("TGLLP", "PVCXT"), "halves": ("TGLLP", "DG2"),
    "julia": ("TGLLP", "PVCXT"), "masks": ("TGLLP", "PVCXT"), "maths": ("TGLLP",), "scratch": ("TGLLP",), "turn": ("TGLLP",),
    "vecs": ("TGLLP",), "wide": ("TGLLP",),
}  # fmt: skip


def cases() -> Iterator[Case]:
    for case in launches():
        yield replace(case, platforms=PLATFORMS.get(case.source, case.platforms))


def launches() -> Iterator[Case]:
    for n, local in ((64, 32), (21, 7)):
        sizes = line(n, local)
        yield Case("axpy", "saxpy", *sizes, (floats(n), floats(n, seed=2), f32(1.75), i32(n - 3)), fused=True)
        yield Case("blur", "smooth", *sizes, (floats(n + 7), floats(8, seed=2), zeros(n), i32(8)))
        yield Case("lookup", "lut", *sizes, (ints(n, dtype=np.uint32), zeros(n), ints(4, low=-9, high=9)))
        yield Case(
            "wide",
            "longs",
            *sizes,
            (ints(n, dtype=np.int64), ints(n, seed=2, dtype=np.int64), ints(n, seed=3, dtype=np.uint64), i32(13)),
        )
        yield Case(
            "masks", "hail", *sizes, (ints(n, dtype=np.uint32, low=1, high=4000), zeros(n, dtype=np.uint32), u32(80))
        )
        kinds = buf(np.random.default_rng(2).choice([0, 1, 2, 3, 40, 7], n).astype(np.int32))
        yield Case("masks", "parted", *sizes, (kinds, ints(n, low=-999, high=999), zeros(n, dtype=np.int32)))
        yield Case("scratch", "deque", *sizes, (ints(50, low=-4, high=9), zeros(n, dtype=np.int32), i32(50)))
        yield Case("bytes", "narrow", *sizes, (floats(n, low=-300, high=300), zeros(n, dtype=np.int8), zeros(n, dtype=np.uint16),
            zeros(n, dtype=np.uint32), zeros(n, 4, dtype=np.uint8), floats(n, 4, seed=5, low=-50, high=300)))  # fmt: skip
        yield Case(
            "bytes",
            "bits",
            *sizes,
            (ints(n, dtype=np.uint32), ints(n, seed=2, dtype=np.int16), ints(n, seed=3, dtype=np.uint8)),
        )
        yield Case(
            "bytes",
            "pack",
            *sizes,
            (ints(n * 5, 4, dtype=np.int8), ints(5, 4, seed=2, dtype=np.int8), zeros(n, dtype=np.int32), i32(5)),
        )
        yield Case("maths", "curves", *sizes, (floats(n, low=-3, high=3), floats(n, seed=2, low=0.2, high=2.5)))
        yield Case("maths", "fast_curves", *sizes, (floats(n, low=-1.2, high=1.2), floats(n, seed=2, low=0.2, high=3)))
        yield Case("maths", "rounded", *sizes, (floats(n, low=-40, high=40), zeros(n, dtype=np.int32)))
        yield Case("vecs", "things", *sizes, (ints(n, 48, dtype=np.int8), zeros(n, 48, dtype=np.int8)))
        yield Case("vecs", "lanes", *sizes, (ints(n, 8), zeros(n, 8, dtype=np.int32), floats(n, 4), zeros(n, 3)))
        yield Case("doubles", "horner", *sizes, (floats(n, dtype=np.float64, low=-3, high=3), zeros(n, dtype=np.float64),
            floats(6, seed=2, dtype=np.float64), i32(6)))  # fmt: skip
        yield Case("deep", "climb", *sizes, (zeros(n, dtype=np.int32),), reference=climb)
        eighths = [buf((np.random.default_rng(s).integers(-20, 20, (n, 4)) / 8).astype(np.float16)) for s in (1, 2)]
        yield Case(
            "halves",
            "eighths",
            *sizes,
            (*eighths, zeros(n, 4, dtype=np.float16), value(0.5, np.float16)),
            reference=eighths_of,
        )
        yield Case(
            "halves",
            "widen",
            *sizes,
            (floats(n, dtype=np.float16), zeros(n), zeros(n, dtype=np.float16)),
            reference=widened,
        )
    for groups, local in ((2, 32), (3, 20)):
        n = groups * local
        sizes = (groups, 1, 1), (local, 1, 1)
        yield Case("bins", "bins", *sizes, (ints(500, dtype=np.uint8), ints(64, dtype=np.uint32, high=99), u32(500)))
        yield Case("folds", "running", *sizes, (ints(n, low=-999, high=999), zeros(n, dtype=np.int32)))
        yield Case("folds", "ends", *sizes, (ints(n), zeros(groups, 2, dtype=np.int32)))
        yield Case("atoms", "cells", *sizes, (ints(10, low=1, high=4), ints(n)))
        whole = buf(np.random.default_rng(1).integers(0, 50, n).astype(np.float32))
        yield Case("atoms", "floats", *sizes, (zeros(1), whole))
        yield Case("wide", "addlong", *sizes, (ints(1, dtype=np.int64, low=-9, high=9), ints(n)))
        yield Case("turn", "bytes4", *sizes, (ints(4 * n, 4, dtype=np.uint8), zeros(4 * n, 4, dtype=np.uint8)))
    yield Case(
        "teams",
        "team_sums",
        (2, 1, 1),
        (32, 1, 1),
        (ints(64, low=-99, high=99), zeros(64, 4, dtype=np.int32)),
        reference=team_sums,
    )
    yield Case(
        "teams",
        "swap16",
        (2, 1, 1),
        (32, 1, 1),
        (ints(64, dtype=np.uint32), zeros(64, dtype=np.uint32)),
        reference=swapped,
    )
    yield Case(
        "teams",
        "block16",
        (3, 1, 1),
        (16, 1, 1),
        (ints(192, dtype=np.uint32), zeros(192, dtype=np.uint32)),
        reference=blocks,
    )
    for groups, local in ((2, 64), (1, 16)):
        yield Case("folds", "total", (groups, 1, 1), (local, 1, 1), (ints(300, low=-999, high=999), zeros(groups, dtype=np.int32),
            LocalArg(4 * local), u32(300)))  # fmt: skip
    for sizes, local in (((4, 3), (8, 4)), ((3, 2), (5, 3))):
        w, h = sizes[0] * local[0], sizes[1] * local[1]
        both = (*sizes, 1), (*local, 1)
        yield Case("blur", "box3", *both, (ints(h, w, dtype=np.uint8), zeros(h, w, dtype=np.uint8), i32(w), i32(h)))
        yield Case(
            "julia",
            "julia",
            *both,
            (zeros(h, w, 4, dtype=np.uint8), i32(w), f32(-0.75), f32(0.125), f32(0.125), i32(40)),
        )
        yield Case("turn", "straight", *both, (floats(h, w), zeros(w, h), i32(w), i32(h)))
        yield Case(
            "gemm",
            "plain",
            *both,
            (floats(h - 1, 7), floats(7, w - 2, seed=2), zeros(h - 1, w - 2), i32(h - 1), i32(w - 2), i32(7)),
        )
        raw = np.random.default_rng(3).integers(0, 255, (h, w, 4), np.uint8)
        yield Case("pixels", "swizzle", *both, (image(raw, "uint8"), image(raw * 0, "uint8")))
        pixels = np.random.default_rng(4).random((h, w, 4), np.float32)
        how = SamplerArg("clamp_to_edge", "linear", False)
        yield Case("pixels", "mixed", *both, (image(pixels, "float32"), how, image(pixels * 0, "float32"), f32(0.25)))
    volume = np.random.default_rng(5).random((3, 4, 8, 4), np.float32)
    yield Case("pixels", "slices", (1, 2, 3), (8, 2, 1), (image(volume, "float32"), zeros(3, 4, 8, 4), i32(8), i32(4)))
    yield Case("gemm", "tiles", (2, 2, 1), (8, 8, 1), (ints(16, 16, low=-99, high=99), ints(16, 16, seed=2, low=-99, high=99),
        zeros(16, 16, dtype=np.int32), i32(16)))  # fmt: skip
    yield Case("turn", "tiled", (2, 2, 1), (16, 16, 1), (ints(32, 32), zeros(32, 32, dtype=np.int32), i32(32)))
    for mode, groups in ((0, 1), (1, 2), (2, 3)):
        n = 20 * groups
        yield Case("masks", "uniform_choice", *line(n, 20), (ints(n), i32(mode), i32(7)))
    for which, groups in ((0, 1), (1, 2), (2, 3)):
        n = 8 * groups
        args = (ints(n, low=-99, high=99), LocalArg(32), zeros(n, dtype=np.int32), i32(4), i32(which))
        yield Case("spaces", "anywhere", *line(n, 8), args, reference=anywhere)
    yield Case(
        "spaces", "where3", (2, 3, 2), (4, 2, 3), (zeros(288, dtype=np.uint32),), offset=(2, 0, 1), reference=where3
    )
    yield Case("talk", "talk", (2, 1, 1), (10, 1, 1), (floats(20), i32(17)))


def climb(args, _simd):
    def up(n, k):
        return k if n <= 0 else down(n - 1, k + n)

    def down(n, k):
        return -k if n <= 0 else up(n - 2, k * 3 - n)

    def steps(n):
        return n + 1 if n < 2 else steps(n - 1) + steps(n - 2)

    return {0: np.array([up(i & 7, i) + steps(i & 3) for i in range(args[0].size)], np.int32)}


def eighths_of(args, _simd):
    a, b = (x.astype(np.float64) for x in args[:2])
    v = a * 0.5 + b
    return {2: np.where(a > b, np.maximum(v, 1.5), np.floor(v)).astype(np.float16)}


def widened(args, _simd):
    a = args[0].astype(np.float32)
    product = a * np.float32(1.3)
    half = product.astype(np.float16)
    # Rounded towards zero: one step back where the nearest is larger.
    beyond = np.abs(half.astype(np.float32)) > np.abs(product)
    half[beyond] = np.nextafter(half[beyond], np.float16(0))
    return {1: np.abs(a) + np.float32(0.125), 2: half}


def team_sums(args, simd):
    v = args[0].reshape(-1, 32)
    out = np.zeros((*v.shape, 4), np.int32)
    for first in range(0, 32, simd):
        part = v[:, first : first + simd]
        there = out[:, first : first + simd]
        there[..., 0] = part.sum(axis=1)[:, None]
        there[..., 1] = np.cumsum(part, axis=1) - part
        there[..., 2] = part.max(axis=1)[:, None]
        there[..., 3] = part[:, 2:3]
    return {1: out.reshape(-1, 4)}


def swapped(args, _simd):
    v = args[0].reshape(-1, 16)
    lane = np.arange(16)
    return {1: (v[:, 15 - lane] * np.uint32(3) + v[:, lane ^ 6]).reshape(-1)}


def blocks(args, _simd):
    v = args[0].reshape(-1, 4, 16)
    return {1: (v[:, ::-1] + np.arange(16, dtype=np.uint32)).reshape(-1)}


def anywhere(args, _simd):
    g, n, which = args[0], 4, args[4]
    out = np.zeros_like(g)
    weights = np.arange(1, n + 1)
    for i in range(g.size):
        first = i - i % 8
        own = np.array([i, 2, 3, n])
        out[i] = ((g[:n], g[first : first + n] * 2, own)[int(which)] * weights).sum()
    return {2: out}


def where3(args, _simd):
    (gx, gy, gz), (lx, ly, lz) = (2, 3, 2), (4, 2, 3)
    out = np.zeros_like(args[0])
    for at in range(gx * gy * gz):
        group = at % gx, at // gx % gy, at // gx // gy
        for flat in range(lx * ly * lz):
            x, y, z = flat % lx, flat // lx % ly, flat // lx // ly
            x, y, z = group[0] * lx + x + 2, group[1] * ly + y, group[2] * lz + z + 1
            out[at * lx * ly * lz + flat] = x + y * 100 + z * 10000 + 2 * 1000000 + 3 * 10000000
    return {0: out}
