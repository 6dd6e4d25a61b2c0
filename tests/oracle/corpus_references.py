"""What kernels that pocl cannot run must give, in NumPy, written from the OpenCL source; and how buffers are settled.

A reference takes the input arrays (None for what is no array) and the SIMD width, and gives buffers by argument index.
"""

from __future__ import annotations

import numpy as np


def second(buffers):
    return {1: buffers[1]}


def third(buffers):
    return {2: buffers[2]}


def finite_first(buffers):
    """NaN of a sum that holds infinities stays NaN; frexp leaves the exponent of an infinity open."""
    return {0: buffers[0], 1: buffers[1][2:]}


def no_padding(buffers):
    """Return the fourth byte of a uchar3 is padding."""
    return {**buffers, 5: buffers[5][:, :3]}


def no_floats(buffers):
    return {k: v for k, v in no_padding(buffers).items() if k != 4}


def hmath(args, _simd):
    a, b, _, s = (x if x is None else x.astype(np.float64) for x in args)
    z = a * b + s
    z = z + np.sqrt(np.abs(a)) + np.exp2(b) - 1 / np.sqrt(np.abs(b) + 1)
    z = np.clip(z, -4, 4)
    return {0: (2 * z).astype(np.float16), 2: (2 * z).astype(np.float32)}


def hvec(args, _simd):
    a, b = (x.astype(np.float64) for x in args)
    v = a * b + 0.5
    return {0: (np.floor(v) + np.ceil(b) - np.trunc(v) + np.rint(b)).astype(np.float16)}


def _subgroups(n, local, size):
    """Ranges of the sub-groups of all groups, the last of a group may be short."""
    for group in range(0, n, local):
        for first in range(group, group + local, size):
            yield group, slice(first, min(first + size, group + local))


def psum(args, simd, local):
    source = args[0]
    out = np.zeros((source.size, 4), np.int32)
    for _, part in _subgroups(source.size, local, simd):
        v = source[part]
        out[part, 0] = np.cumsum(v)
        out[part, 1] = np.concatenate([[-(1 << 31)], np.maximum.accumulate(v)[:-1]])
        out[part, 2] = v.sum()
        out[part, 3] = v[0] + np.arange(v.size) + -(-local // simd)
    return {1: out}


def wg(args, groups, local):
    out, a = args[0].copy(), args[1]
    for group in range(groups):
        part = slice(group * local, group * local + local)
        v = a[part]
        total = v.sum() + np.cumsum(v) + v[3] + (v > 3).any() * 2 + (v < 100).all()
        out[part] = total + np.arange(local) + 1 + 0 + 1
    return {0: out}


def recur(args, _simd):
    def tak(x, y, z):
        return z if y >= x else tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))

    item = range(args[0].size)
    return {0: np.array([((i & 7) % 2 == 0) + tak(i & 3, 2, 1) for i in item], np.int32)}


def gen(args, local, which):
    g = args[0]
    out = g.copy()
    for first in range(0, g.size, local):
        part, item = slice(first, first + local), np.arange(local)
        if which == 0:
            out[part] = out[:8].sum() if first else g[:8].sum()
        elif which == 1:
            out[part] = g[first : first + 8].sum()
        else:
            out[part] = 28 + 8 * item + (item if which > 2 else 0)
    return {0: out}


def img1d(args, _simd):
    texels, layers = args[0], args[1]
    return {3: texels + layers[1, 1, 4].astype(np.int32)}


def sg_imgblk(args, _simd):
    tiles = args[0].reshape(-1, 8, *args[0].shape[1:])
    return {1: tiles[:, ::-1].reshape(args[0].shape)}


def sg_shuffle(args, _simd):
    v = args[0].reshape(-1, 16)
    lane = np.arange(16)
    a, b = v[:, 15 - lane], v[:, lane ^ 5]
    c = np.concatenate([v, a], axis=1)[:, 16 - 1 + lane]
    d = np.concatenate([v, b], axis=1)[:, lane + 3]
    return {1: (a + b + c + d).reshape(-1)}


def sg_reduce(args, _simd):
    out = args[1].copy()
    for number, (_, part) in enumerate(_subgroups(args[0].size, args[0].size, 8)):
        v = args[0][part]
        out[number] = v.sum() + v.max() - v.min() + (v > 1).any() - (v > -1).all()
    return {1: out}


def sg_block(args, _simd):
    s, _, p = args
    v = p[:64].reshape(4, 16).copy()
    h, w = s.reshape(2, 16).astype(np.uint32), p[64:].reshape(8, 16)
    v[0] += h[0] + w[7]
    v[3] ^= h[1] * w[0]
    return {1: v.reshape(16, 4)}


def sg32(args, _simd):
    v = args[0].reshape(-1, 32)
    before = np.cumsum(v, axis=1) - v
    return {1: (v[:, ::-1] + before).astype(np.int32).reshape(-1)}
