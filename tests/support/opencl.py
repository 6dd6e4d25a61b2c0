"""Run OpenCL C on the CPU with pocl: the oracle for what a kernel computes.

Knows launch arguments and pyopencl, nothing of the simulator. ``missing()`` says why it cannot run, in words.
"""

from __future__ import annotations

import functools
import os
import tempfile

import numpy as np

from visa_lsp.sim.launch_config import BufferArg, LocalArg, ValueArg


@functools.cache
def _context():
    """The CPU's context, or why there is none."""
    os.environ.setdefault("POCL_CACHE_DIR", tempfile.mkdtemp(prefix="pocl"))
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


def missing() -> str:
    """Why there is no oracle here; empty when there is one."""
    context = _context()
    return context if isinstance(context, str) else ""


def run(source: str, kernel: str, groups, local, args, options=()) -> dict[int, np.ndarray]:
    """Buffers after a run, by argument index."""
    import pyopencl as cl

    assert not missing()
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
            case ValueArg():
                handle.set_arg(index, arg.array[()] if arg.array.ndim == 0 else arg.array.tobytes())
    sizes = tuple(g * n for g, n in zip(groups, local, strict=True))
    cl.enqueue_nd_range_kernel(queue, handle, sizes, tuple(local)).wait()
    found = {}
    for index, buffer in buffers.items():
        found[index] = np.empty_like(args[index].array)
        cl.enqueue_copy(queue, found[index], buffer).wait()
    return found
