"""Writes enqueues as launch files, with their program, arrays and results, for `visa-lsp run` and its likes.

Knows launch files, not hosts. Invariant: the launch file of an enqueue without faults expects the contents that the
enqueue left, exactly.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.app.compile.outputs import file_name
from visa_lsp.app.errors import UserError, reason
from visa_lsp.app.launch.arrays import write_array
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
_MAX_RANGES: Final = 1000  # of undefined bytes of a buffer


@dataclass(slots=True)
class Captures:
    """The choice of enqueues to write into a folder: of one kernel or number, or the first with a fault; by default all."""

    folder: Path
    kernel: str | None = None
    number: int | None = None
    at_fault: bool = False
    written: list[Path] = field(default_factory=list)

    def save(self, number: int, kernel: LoadedKernel, enqueue: Enqueue) -> dict[int, Array] | None:
        """Return copies of the arrays of an enqueue before it runs, by argument or address; None if it is not wanted."""
        if self.kernel not in (None, kernel.name) or self.number not in (None, number):
            return None
        if self.at_fault and self.written:
            return None
        copies = {address: array.copy() for address, array in enqueue.shared}
        return copies | {
            n: arg.array.copy() for n, arg in enumerate(enqueue.args) if isinstance(arg, BufferArg | ImageArg)
        }

    def write(
        self, number: int, kernel: LoadedKernel, enqueue: Enqueue, before: dict[int, Array], result: EnqueueResult
    ) -> list[str]:
        """Write an enqueue that ran; return lines to print. Raises UserError if a file cannot be written."""
        if self.at_fault and not result.report.faults:
            return []
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
    from visa_lsp.app.launch.forms import flow, write  # which loads all rules, 35 ms for runs that write no captures

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
    specs = [
        _spec(index, arg, kernel, enqueue, before, path.parent / stem, result) for index, arg in enumerate(enqueue.args)
    ]
    if specs:
        launch["args"] = specs
    memory: list[Spec] = []
    for address in _reached(enqueue, before):
        element = _element_at(address, kernel, enqueue)
        write_array(path.parent / f"{stem}.{address:#x}.npy", before[address].view(element))
        memory.append({"address": address, "npy": f"{stem}.{address:#x}.npy"})
    if memory:
        launch["memory"] = memory
    for index, arg in enumerate(enqueue.args):
        if result.report.faults or not isinstance(arg, BufferArg | ImageArg) or not arg.array.size:
            continue
        if np.array_equal(arg.array.view(np.uint8), before[index].view(np.uint8)):
            continue
        name = f"{stem}.arg{index}.expected.npy"
        pointer = _address(arg, enqueue)
        after = (
            _shaped(index, arg, arg.array, kernel)
            if pointer is None
            else arg.array.view(_element_at(pointer, kernel, enqueue))
        )
        write_array(path.parent / name, after)
        expected.append({"arg": index, "npy": name})
    names = [kernel.info.argument_name(index) for index in range(len(specs))]
    wholes = [arg.whole.ctypes.data for arg in enqueue.args if isinstance(arg, BufferArg) and arg.whole is not None]
    head = (
        "# Some arguments were parts of one buffer; here they are separate.\n" if len({*wholes}) < len(wholes) else ""
    )
    tail = "".join(f"  - {flow(line)}\n" for line in expected)
    return head + write(launch, names).text + (f"expect:\n{tail}" if expected else "")


def _spec(
    index: int,
    arg: Arg,
    kernel: LoadedKernel,
    enqueue: Enqueue,
    before: dict[int, Array],
    stem: Path,
    result: EnqueueResult,
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
    address = _address(arg, enqueue)
    if address is not None:
        return {"pointer": address}
    array = _shaped(index, arg, before[index], kernel)
    access = {"access": arg.access} if arg.access else {}
    if not array.size:
        return {"buffer": None}
    name = f"`{kernel.info.argument_name(index) or index}`"
    reads = (f.message for f in result.report.faults if f.kind is FaultKind.UNINITIALISED)
    mask = result.undefined.get(index) if any(name in message for message in reads) else None
    if mask is not None and mask.all():
        return {"buffer": {"dtype": array.dtype.name, "shape": list(array.shape), "init": "undefined", **access}}
    name = f"{stem.name}.arg{index}.npy"
    write_array(stem.parent / name, array)
    if isinstance(arg, ImageArg):
        order = {"order": arg.order} if arg.order else {}
        return {"image": {"npy": name, "format": arg.format, "channels": arg.channels, **order, **access}}
    if mask is None:
        return {"buffer": {"npy": name, **access}}
    ends = np.flatnonzero(np.diff(mask, prepend=False, append=False)).reshape(-1, 2)
    return {"buffer": {"npy": name, "unwritten": ends[:_MAX_RANGES].tolist(), **access}}


def _element_at(address: int, kernel: LoadedKernel, enqueue: Enqueue) -> str:
    """Return the type of the elements of shared memory, by the first pointer to its start; bytes without one."""
    base, array = next((base, array) for base, array in enqueue.shared if base <= address < base + array.size)
    pointers = (n for n, arg in enumerate(enqueue.args) if _address(arg, enqueue) == base)
    element = next((kernel.element_of(n, array.size) for n in pointers), "uint8")
    return element if (address - base) % np.dtype(element).itemsize == 0 else "uint8"


def _address(arg: Arg, enqueue: Enqueue) -> int | None:
    """Return the address of an argument in shared memory; None for others."""
    if not isinstance(arg, BufferArg):
        return None
    for base, array in enqueue.shared:
        if arg.whole is array:
            return int(base + arg.array.ctypes.data - array.ctypes.data)
    return None


def _reached(enqueue: Enqueue, before: dict[int, Array]) -> list[int]:
    """Return the addresses of the shared memory to which arguments lead, also by pointers in memory."""
    sizes = {base: array.size for base, array in enqueue.shared}
    left = [np.array([address], np.uint64) for arg in enqueue.args if (address := _address(arg, enqueue)) is not None]
    left += [
        _words(arg.array if isinstance(arg, ValueArg) else before[n])
        for n, arg in enumerate(enqueue.args)
        if isinstance(arg, ValueArg | BufferArg)
    ]
    reached: list[int] = []
    while left:
        words = left.pop()
        for base, size in sizes.items():
            if base not in reached and bool(np.any((words >= base) & (words < base + size))):
                reached.append(base)
                left.append(_words(before[base]))
    return sorted(reached)


def _words(array: Array) -> Array:
    """Return the aligned words of memory, each of which may be a pointer."""
    raw = array.reshape(-1).view(np.uint8)
    return raw[: raw.size & ~7].view(np.uint64)


def _shaped(index: int, arg: BufferArg | ImageArg, array: Array, kernel: LoadedKernel) -> Array:
    """Return an array with the kernel's type of elements, or the axes of an image."""
    if isinstance(arg, ImageArg):
        width, height, depth = arg.dims
        axes = (depth, height, width) if depth > 1 else (height, width) if height > 1 else (width,)
        return array.reshape((*axes, arg.channels) if arg.channels > 1 else axes)
    return array.view(kernel.element_of(index, array.nbytes))
