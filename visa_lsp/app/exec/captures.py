"""Writes enqueues as launch files, with their program, arrays and results, for `visa-lsp run` and its likes.

Knows launch files, not hosts. Invariant: the launch file of an enqueue without faults expects the contents that the
enqueue left, exactly.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.app.compile.outputs import file_name
from visa_lsp.app.errors import UserError, reason
from visa_lsp.app.launch.arrays import write_array
from visa_lsp.app.launch.forms import flow, write
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.launch.config import BufferArg, ImageArg, LocalArg, NullArg, SamplerArg, ValueArg
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.app.exec.launches import EnqueueResult
    from visa_lsp.app.exec.model import Enqueue
    from visa_lsp.app.exec.programs import LoadedKernel, Program
    from visa_lsp.sim.launch.config import Arg, Array

Spec = dict[str, Any]


@dataclass(slots=True)
class Captures:
    """The choice of enqueues to write into a folder: of one kernel or number, or the first with a fault; by default all."""

    folder: Path
    kernel: str | None = None
    number: int | None = None
    at_fault: bool = False
    written: list[Path] = field(default_factory=list)

    def save(self, number: int, kernel: LoadedKernel, enqueue: Enqueue) -> dict[int, Array] | None:
        """Return copies of the arrays of an enqueue before it runs, by argument; None if it is not wanted."""
        if self.kernel not in (None, kernel.name) or self.number not in (None, number):
            return None
        if self.at_fault and self.written:
            return None
        pairs = enumerate(enqueue.args)
        return {index: arg.array.copy() for index, arg in pairs if isinstance(arg, BufferArg | ImageArg)}

    def write(
        self, number: int, kernel: LoadedKernel, enqueue: Enqueue, before: dict[int, Array], result: EnqueueResult
    ) -> list[str]:
        """Write an enqueue that ran; return lines to print. Raises UserError if a file cannot be written."""
        if self.at_fault and not result.report.faults:
            return []
        if enqueue.shared:
            return [f"enqueue {number} is not written: its kernel may follow pointers in shared virtual memory"]
        path = self.folder / f"{number}.{file_name(kernel.name)}.launch.yaml"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            program = _copy_program(kernel.program, self.folder)
            text = _launch_text(path, program, kernel, enqueue, before, result)
            path.write_bytes(encode_text(text))
        except OSError as error:
            raise UserError(f"{error.filename or path}: cannot write: {reason(error)}") from None
        self.written.append(path)
        return [f"enqueue {number} is written: visa-lsp run {path}"]


def _copy_program(program: Program, folder: Path) -> str:
    """Copy the texts, the zebin and the source of a program below a folder; return the name of its own folder there."""
    name = f"program{program.number}"
    if not (folder / name).is_dir():
        shutil.copytree(program.folder, folder / name, ignore=shutil.ignore_patterns("input.*"))
    return name


def _launch_text(
    path: Path, program: str, kernel: LoadedKernel, enqueue: Enqueue, before: dict[int, Array], result: EnqueueResult
) -> str:
    launch: Spec = {
        "kernel": kernel.name,
        "file": f"{program}/{file_name(kernel.name)}.visaasm",
        "zebin": f"{program}/program.zebin",
        "platform": result.report.platform,
        "local_size": list(result.local_size),
        "global_size": list(enqueue.global_size[: enqueue.dimensions]),
    }
    if any(enqueue.global_offset):
        launch["global_offset"] = list(enqueue.global_offset)
    stem = path.name.removesuffix(".launch.yaml")
    expected: list[Spec] = []
    specs = [_spec(index, arg, kernel, before, path.parent / stem, result) for index, arg in enumerate(enqueue.args)]
    if specs:
        launch["args"] = specs
    for index, arg in enumerate(enqueue.args):
        if result.report.faults or not isinstance(arg, BufferArg | ImageArg) or not arg.array.size:
            continue
        if np.array_equal(arg.array.view(np.uint8), before[index].view(np.uint8)):
            continue
        name = f"{stem}.arg{index}.expected.npy"
        write_array(path.parent / name, _shaped(index, arg, arg.array, kernel))
        expected.append({"arg": index, "npy": name})
    names = [kernel.info.argument_name(index) for index in range(len(specs))]
    wholes = [arg.whole.ctypes.data for arg in enqueue.args if isinstance(arg, BufferArg) and arg.whole is not None]
    head = (
        "# Some arguments were parts of one buffer; here they are separate.\n" if len({*wholes}) < len(wholes) else ""
    )
    tail = "".join(f"  - {flow(line)}\n" for line in expected)
    return head + write(launch, names).text + (f"expect:\n{tail}" if expected else "")


def _spec(
    index: int, arg: Arg, kernel: LoadedKernel, before: dict[int, Array], stem: Path, result: EnqueueResult
) -> Spec:
    match arg:
        case NullArg():
            return {"buffer": None}
        case LocalArg():
            return {"local": arg.size}
        case SamplerArg():
            return {"sampler": {"address": arg.address, "filter": arg.filter, "normalized": arg.normalized}}
        case ValueArg():
            element = kernel.info.element_of(index)
            whole = element and arg.array.nbytes % np.dtype(element).itemsize == 0
            numbers = arg.array.view(element if whole else np.uint8)
            if numbers.dtype == np.float32:  # the shortest text of a float has fewer digits than that of the double
                return {"values": [float(str(number)) for number in numbers], "dtype": "float32"}
            return {"values": numbers.tolist(), "dtype": numbers.dtype.name}
    assert isinstance(arg, BufferArg | ImageArg)
    array = _shaped(index, arg, before[index], kernel)
    access = {"access": arg.access} if arg.access else {}
    name = f"`{kernel.info.argument_name(index) or index}`"
    reads = (f.message for f in result.report.faults if f.kind is FaultKind.UNINITIALISED)
    if index in result.undefined and any(name in message for message in reads):
        return {"buffer": {"dtype": array.dtype.name, "shape": list(array.shape), "init": "undefined", **access}}
    if not array.size:
        return {"buffer": None}
    name = f"{stem.name}.arg{index}.npy"
    write_array(stem.parent / name, array)
    if isinstance(arg, ImageArg):
        return {"image": {"npy": name, "format": arg.format, "channels": arg.channels, **access}}
    return {"buffer": {"npy": name, **access}}


def _shaped(index: int, arg: BufferArg | ImageArg, array: Array, kernel: LoadedKernel) -> Array:
    """Return an array with the kernel's type of elements, or the axes of an image."""
    if isinstance(arg, ImageArg):
        width, height, depth = arg.dims
        axes = (depth, height, width) if depth > 1 else (height, width) if height > 1 else (width,)
        return array.reshape((*axes, arg.channels) if arg.channels > 1 else axes)
    return array.view(kernel.element_of(index, array.nbytes))
