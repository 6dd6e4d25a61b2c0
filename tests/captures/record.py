"""Records the captures of these tests: six OpenCL programs, each enqueued twice, under Intel's opencl-intercept-layer.

    cliloader python tests/captures/record.py        with CLI_CaptureReplay=1 and CLI_DumpDir=FOLDER in the environment
    python tests/captures/record.py FOLDER           packs FOLDER/Replay into captures.zip

The layer was built from its public sources with CMake; the device was pocl's (a CPU). Packing leaves out the layer's own script
and the device binary, which is a library for that CPU; the folder that pyopencl has the compiler search gets another name.
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import numpy as np

_AXPY = """
__kernel void axpy(__global float *y, __global const float *x, const float a, const int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
_SUMS = """
__kernel void sums(__global const uint *x, __global uint *out, __local uint *part, const ulong seed) {
  uint l = get_local_id(0);
  part[l] = x[get_global_id(0)] + (uint)seed;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = get_local_size(0) / 2; step; step /= 2) {
    if (l < step) part[l] += part[l + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = part[0];
}
"""
_MOVE = """
typedef struct { float x, y; int kind; } Point;
typedef struct { float dx, dy; int wanted; char step; short more; } Shift;
__kernel void move(__global Point *points, const Shift by, const float2 scale) {
  int i = get_global_id(0);
  if (points[i].kind != by.wanted) return;
  points[i].x = points[i].x * scale.x + by.dx * by.step;
  points[i].y = points[i].y * scale.y + by.dy * by.more;
}
"""
_SMOOTH = """
__kernel void smooth(__read_only image2d_t in, __write_only image2d_t out, sampler_t s) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = read_imagef(in, s, at + (int2)(-1, 0)) + read_imagef(in, s, at) + read_imagef(in, s, at + (int2)(1, 0));
  write_imagef(out, at, sum * 0.25f);
}
"""
_TURN = """
__kernel void turn(__global const int4 *in, __global int4 *out, __global short *marks, const int width) {
  int x = get_global_id(0), y = get_global_id(1), height = get_global_size(1);
  out[x * height + y] = in[y * width + x] * SCALE;
  marks[y * width + x] = (short)(get_group_id(0) * 10 + get_group_id(1));
}
"""
_COUNT = """
__kernel void count(__global const uchar *text, __global uint *bins, __constant uchar *classes, __global float *unused) {
  if (unused) bins[0] = 1;
  atomic_inc(&bins[classes[text[get_global_id(0)]]]);
}
"""


def _record() -> None:
    import pyopencl as cl

    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    random = np.random.default_rng(49)

    def buffer(array: np.ndarray) -> cl.Buffer:
        return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)

    def kernel(source: str, name: str, options: str = "") -> cl.Kernel:
        return cl.Kernel(cl.Program(context, source).build(options), name)

    def enqueue(
        called: cl.Kernel, work: tuple, local: tuple | None, *args: object, offset: tuple | None = None
    ) -> None:
        for at, arg in enumerate(args):
            called.set_arg(at, arg)
        cl.enqueue_nd_range_kernel(queue, called, work, local, offset).wait()

    floats = random.random(200, np.float32)
    axpy = kernel(_AXPY, "axpy", "-cl-std=CL1.2 -cl-kernel-arg-info")
    enqueue(axpy, (256,), (64,), buffer(floats), buffer(floats[::-1].copy()), np.float32(2.5), np.int32(200))
    enqueue(axpy, (96,), None, buffer(floats), buffer(floats + 1), np.float32(-1), np.int32(150), offset=(32,))

    sums = kernel(_SUMS, "sums")
    whole = random.integers(0, 1 << 20, 128, np.uint32)
    for size in (32, 64):
        out = buffer(np.zeros(128 // size, np.uint32))
        enqueue(sums, (128,), (size,), buffer(whole), out, cl.LocalMemory(4 * size), np.uint64(size))

    move = kernel(_MOVE, "move")
    points = np.zeros(48, [("x", "f4"), ("y", "f4"), ("kind", "i4")])
    points["x"], points["y"], points["kind"] = floats[:48], floats[48:96], np.arange(48) % 3
    for wanted in (1, 2):
        shift = np.zeros((), np.dtype({"names": list("abcde"), "formats": ["f4", "f4", "i4", "i1", "i2"],
                                       "offsets": [0, 4, 8, 12, 14], "itemsize": 16}))  # fmt: skip
        shift["a"], shift["b"], shift["c"], shift["d"], shift["e"] = 0.5, 4, wanted, -3, 300
        enqueue(move, (48,), (16,), buffer(points), shift, np.array((2, 0.5), np.float32))

    smooth = kernel(_SMOOTH, "smooth")
    flags = cl.mem_flags
    for kind, dtype, most in (("UNORM_INT8", np.uint8, 256), ("FLOAT", np.float32, 8)):
        form = cl.ImageFormat(cl.channel_order.RGBA, getattr(cl.channel_type, kind))
        texels = random.integers(0, most, (8, 16, 4)).astype(dtype)
        source = cl.Image(context, flags.READ_ONLY | flags.COPY_HOST_PTR, form, (16, 8), hostbuf=texels)
        target = cl.Image(context, flags.WRITE_ONLY, form, (16, 8))
        nearest = cl.Sampler(context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST)
        enqueue(smooth, (16, 8), (8, 4), source, target, nearest)

    for scale in (3, -1):
        turn = kernel(_TURN, "turn", f"-DSCALE={scale}")
        matrix = random.integers(-9, 9, (8, 16, 4)).astype(np.int32)
        local = (8, 2) if scale == 3 else (4, 4)
        marks = buffer(np.full(128, -1, np.int16))
        enqueue(turn, (16, 8), local, buffer(matrix), buffer(np.zeros_like(matrix)), marks, np.int32(16))

    count = kernel(_COUNT, "count")
    classes = (np.arange(256) % 11).astype(np.uint8)
    for size in (64, 160):
        text = random.integers(0, 256, size, np.uint8)
        enqueue(count, (size,), (32,), buffer(text), buffer(np.zeros(11, np.uint32)), buffer(classes), None)


def _pack(folder: Path) -> None:
    target = Path(__file__).with_name("captures.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted((folder / "Replay").rglob("*")):
            if path.is_file() and path.name != "run.py" and not path.name.startswith("DeviceBinary"):
                info = zipfile.ZipInfo(str(path.relative_to(folder / "Replay")), (2026, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, re.sub(rb"-I /\S+/pyopencl/cl", b"-I /opt/include", path.read_bytes()))


if __name__ == "__main__":
    _pack(Path(sys.argv[1])) if len(sys.argv) > 1 else _record()
