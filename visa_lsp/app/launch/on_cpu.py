"""Runs the OpenCL C source of a kernel on the CPU with pyopencl and pocl, as a reference for its results.

Knows arguments of a launch and pyopencl, not the simulator. Imports pyopencl on demand.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.program.elements import cl_element
from visa_lsp.safe_io import is_limited
from visa_lsp.sim.launch.config import Arg, Array, BufferArg, LaunchConfig, LaunchError, LocalArg, NullArg, ValueArg

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from visa_lsp.sim.launch.prepare import PreparedLaunch


def on_cpu(source: str, path: Path, prepared: PreparedLaunch, config: LaunchConfig) -> Mapping[int | str, Array]:
    """Run the kernel of the same name, or the only one, and return the buffers by index or name, as in the launch.

    Raises LaunchError if reading is limited to some folders, pyopencl or pocl is not installed, the source cannot be compiled, or its arguments differ.
    """
    if is_limited():
        raise LaunchError(
            f"the reference '{path}' is native code, which cannot be kept within some folders; use visa-lsp run"
        )
    if find_spec("pyopencl") is None:
        raise LaunchError(f"the reference '{path}' is OpenCL C and needs pyopencl: pip install pyopencl[pocl]")
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    import pyopencl as cl

    try:
        return _run(cl, source, path, prepared, config)
    except (cl.Error, RuntimeError) as error:
        words = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise LaunchError(f"the reference '{path}' failed: {words:.300}") from None


def _run(cl: Any, source: str, path: Path, prepared: PreparedLaunch, config: LaunchConfig) -> dict[int | str, Array]:
    devices = [d for p in cl.get_platforms() for d in p.get_devices() if d.type & cl.device_type.CPU]
    if not devices:
        raise LaunchError(f"the reference '{path}' is OpenCL C and needs an OpenCL device of type CPU: install pocl")
    context = cl.Context(devices[:1])
    program = cl.Program(context, source).build(options=["-cl-kernel-arg-info", f"-I{path.parent}"])
    kernels = {kernel.function_name: kernel for kernel in program.all_kernels()}
    kernel = kernels.get(prepared.dispatch.kernel.name)
    if kernel is None and len(kernels) == 1:
        (kernel,) = kernels.values()
    if kernel is None:
        words = f"has no kernel '{prepared.dispatch.kernel.name}'; its kernels are {', '.join(kernels) or 'none'}"
        raise LaunchError(f"the reference '{path}' {words}")
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers: dict[int | str, Any] = {}
    arrays: dict[int | str, Array] = {}
    for index, (key, arg) in enumerate(_arguments(cl, kernel, path, config)):
        match arg:
            case BufferArg():
                arrays[key] = arg.array.copy()
                buffers[key] = cl.Buffer(context, flags, hostbuf=arrays[key])
                kernel.set_arg(index, buffers[key])
            case NullArg():
                kernel.set_arg(index, None)
            case LocalArg():
                kernel.set_arg(index, cl.LocalMemory(arg.size))
            case ValueArg():
                kernel.set_arg(index, _value(cl, kernel, index, arg))
            case _:
                raise LaunchError(
                    f"argument {key} is an image or a sampler; the reference '{path}' takes buffers and values only",
                    key,
                )
    local = config.local_size or prepared.geometry.local_size
    sizes = config.global_size or tuple(g * n for g, n in zip(config.groups, local, strict=True))
    queue = cl.CommandQueue(context)
    cl.enqueue_nd_range_kernel(queue, kernel, sizes, tuple(local), global_work_offset=config.global_offset).wait()
    for key, buffer in buffers.items():
        cl.enqueue_copy(queue, arrays[key], buffer).wait()
    return arrays


def _arguments(cl: Any, kernel: Any, path: Path, config: LaunchConfig) -> list[tuple[int | str, Arg]]:
    """Return the arguments in the order of the source, by index or by name."""
    count = kernel.num_args
    if isinstance(config.args, tuple):
        if len(config.args) != count:
            raise LaunchError(f"the reference '{path}' takes {count} arguments, got {len(config.args)}")
        return list(enumerate(config.args))
    names = [kernel.get_arg_info(index, cl.kernel_arg_info.NAME) for index in range(count)]
    missing = next((name for name in names if name not in config.args), None)
    if missing is not None:
        raise LaunchError(f"the reference '{path}' needs an argument '{missing}', which the launch lacks")
    return [(name, config.args[name]) for name in names]


def _value(cl: Any, kernel: Any, index: int, arg: ValueArg) -> Any:
    """Return a value in the type of its parameter, if that type is known."""
    element = cl_element(kernel.get_arg_info(index, cl.kernel_arg_info.TYPE_NAME))
    array = arg.array.astype(np.dtype(element)) if element else arg.array
    return array[()] if array.ndim == 0 else array.tobytes()
