"""Run OpenCL C on the CPU with pocl: the oracle for what a kernel computes.

Knows launch arguments and pyopencl, nothing of the simulator. ``missing()`` says why it cannot run, in words.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from visa_lsp.sim.launch.config import BufferArg, ImageArg, LocalArg, SamplerArg, ValueArg

_ORDERS = {1: "R", 2: "RG", 4: "RGBA"}
_TYPES = {
    "unorm8": "UNORM_INT8", "snorm8": "SNORM_INT8", "unorm16": "UNORM_INT16", "snorm16": "SNORM_INT16",
    "uint8": "UNSIGNED_INT8", "uint16": "UNSIGNED_INT16", "uint32": "UNSIGNED_INT32",
    "sint8": "SIGNED_INT8", "sint16": "SIGNED_INT16", "sint32": "SIGNED_INT32",
    "float16": "HALF_FLOAT", "float32": "FLOAT",
}  # fmt: skip


@functools.cache
def _context():
    """Return the CPU's context, or why there is none."""
    os.environ.setdefault("POCL_CACHE_DIR", tempfile.mkdtemp(prefix="pocl", dir=os.environ.get("VISA_LSP_CACHE")))
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    try:
        import pyopencl as cl
    except ImportError:
        return "pyopencl is not installed"
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        return f"no OpenCL platform: {error}"
    pocl = next((p for p in platforms if "Portable" in p.name or "pocl" in p.version.lower()), None)
    if pocl is None:
        return f"pocl is not among the OpenCL platforms {[p.name for p in platforms]}"
    return cl.Context(pocl.get_devices())


@functools.cache
def _process() -> ProcessPoolExecutor:
    """Return a process for pocl, which keeps what it has compiled; it is replaced before that is much."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=50)


@functools.cache
def why_missing() -> str:
    """Return the reason why the oracle cannot run here; empty when it can."""
    return _process().submit(_why_missing).result()


def _why_missing() -> str:
    context = _context()
    return context if isinstance(context, str) else ""


@contextmanager
def standard_output():
    """Capture file descriptor 1; yield a function that returns the text afterwards."""
    flush = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    flush(None)
    kept = os.dup(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        handle = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(handle, 1)
        text = []
        try:
            yield lambda: "".join(text)
        finally:
            flush(None)
            os.dup2(kept, 1)
            os.close(kept)
            os.close(handle)
            text.append(path.read_text())


def _image(arg: ImageArg):
    import pyopencl as cl

    order, kind = getattr(cl.channel_order, _ORDERS[arg.channels]), getattr(cl.channel_type, _TYPES[arg.format])
    width, height, depth = arg.dims
    shape = (width, height, depth) if depth > 1 else (width, height)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return cl.create_image(_context(), flags, cl.ImageFormat(order, kind), shape=shape, hostbuf=arg.array)


def _sampler(arg: SamplerArg):
    import pyopencl as cl

    modes = {"none": "NONE", "clamp_to_edge": "CLAMP_TO_EDGE", "clamp": "CLAMP", "repeat": "REPEAT",
             "mirrored_repeat": "MIRRORED_REPEAT"}  # fmt: skip
    return cl.Sampler(
        _context(), arg.normalized, getattr(cl.addressing_mode, modes[arg.address]),
        getattr(cl.filter_mode, arg.filter.upper()),
    )  # fmt: skip


def run(source: str, kernel: str, groups, local, args, options=(), offset=None, printed=None) -> dict[int, np.ndarray]:
    """Buffers and images after a run, by argument index; what it prints is appended to ``printed``."""
    assert not why_missing()
    found, text = _process().submit(_run, source, kernel, groups, local, args, options, offset).result()
    if printed is not None:
        printed.append(text)
    return found


def _run(source, kernel, groups, local, args, options, offset) -> tuple[dict[int, np.ndarray], str]:
    import pyopencl as cl

    program = cl.Program(_context(), source).build(options=list(options))
    queue = cl.CommandQueue(_context())
    handle = cl.Kernel(program, kernel)
    buffers = {}
    for index, arg in enumerate(args):
        match arg:
            case BufferArg():
                flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
                buffers[index] = cl.Buffer(_context(), flags, hostbuf=arg.array)
                handle.set_arg(index, buffers[index])
            case LocalArg():
                handle.set_arg(index, cl.LocalMemory(arg.size))
            case ImageArg():
                buffers[index] = _image(arg)
                handle.set_arg(index, buffers[index])
            case SamplerArg():
                handle.set_arg(index, _sampler(arg))
            case ValueArg():
                handle.set_arg(index, arg.array[()] if arg.array.ndim == 0 else arg.array.tobytes())
    sizes = tuple(g * n for g, n in zip(groups, local, strict=True))
    with standard_output() as text:
        cl.enqueue_nd_range_kernel(queue, handle, sizes, tuple(local), global_work_offset=offset).wait()
        queue.finish()
    found = {}
    for index, buffer in buffers.items():
        found[index] = np.empty_like(args[index].array)
        if isinstance(buffer, cl.Image):
            width, height, depth = args[index].dims
            region = (width, height, depth)
            cl.enqueue_copy(queue, found[index], buffer, origin=(0, 0, 0), region=region).wait()
        else:
            cl.enqueue_copy(queue, found[index], buffer).wait()
    return found, text()
