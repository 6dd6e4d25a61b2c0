"""``visa-lsp import``: writes a capture as a launch file with its program, arrays and expectations.

The ze_info of the program decides what each recorded argument is. Invariant: no existing file is replaced, and nothing is
written before the whole capture is read and its program compiled.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.app.captures.folder import CaptureFolder
from visa_lsp.app.captures.intercept import MARKS, read_intercepted
from visa_lsp.app.captures.model import (
    Capture,
    CapturedArg,
    CapturedBuffer,
    CapturedImage,
    CapturedSampler,
    CapturedSize,
    CapturedValue,
    Triple,
)
from visa_lsp.app.captures.program_files import program_files
from visa_lsp.app.captures.spirv_runner import MARK, read_runner
from visa_lsp.app.compile.outputs import file_name
from visa_lsp.app.errors import UserError, reason
from visa_lsp.app.launch.arrays import write_array
from visa_lsp.app.launch.defaults import element_of
from visa_lsp.app.launch.forms import flow, write
from visa_lsp.app.output_files import replace_file
from visa_lsp.children import temporary_folder
from visa_lsp.program.elements import element_bytes
from visa_lsp.program.payload import KIND_WORDS, KernelInfo
from visa_lsp.text import encode_text
from visa_lsp.zeinfo.read_kernels import ZeInfoError, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from visa_lsp.app.launch.opencl import CompilerWords
    from visa_lsp.sim.launch.config import Array

Spec = dict[str, Any]

_MAX_LOCAL_ITEMS: Final = 256  # of a group whose size the driver chose
_MAX_NAMES: Final = 8
# By element type: relative to the element, and to the largest one, whose rounding reaches sums near zero.
_TOLERANCES: Final = {"float16": (1e-3, 1e-4), "float32": (1e-5, 1e-6), "float64": (1e-9, 1e-13)}
_WORDS: Final = {
    CapturedBuffer: "a buffer", CapturedImage: "an image", CapturedSampler: "a sampler", CapturedValue: "a value",
    CapturedSize: "a size without contents",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Imported:
    """A written capture: its launch file, all files, the assumptions of the launch, and notes."""

    launch: Path
    written: tuple[Path, ...]
    assumed: tuple[str, ...]
    notes: tuple[str, ...]


def is_capture(path: str) -> bool:
    """Return whether a path is the folder of a capture."""
    return any(all(os.path.isfile(os.path.join(path, name)) for name in marks) for marks in (MARKS, (MARK,)))  # noqa: PTH113, PTH118


def read_capture(path: str) -> Capture:
    """Read the capture in a folder. Raises UserError if it is none, or malformed."""
    folder = CaptureFolder(os.path.normpath(path))
    if not os.path.isdir(path):  # noqa: PTH112
        raise UserError(f"{path}: {'expected the folder of a capture' if os.path.lexists(path) else 'no such folder'}")
    names = folder.names()
    if MARK in names:
        return read_runner(folder)
    if MARKS[0] in names and MARKS[1] in names:
        return read_intercepted(folder)
    inside = [name for below in ("", "Replay/") for name in _captures_in(folder, below)]
    if inside:
        rest = f" and {len(inside) - _MAX_NAMES} more" if len(inside) > _MAX_NAMES else ""
        raise folder.problem(f"is a directory with captures inside, name one: {', '.join(inside[:_MAX_NAMES])}{rest}")
    raise folder.problem(
        f"is a directory, but no capture: expected {MARKS[0]} and {MARKS[1]} (opencl-intercept-layer), or {MARK} (SPIRVRunner)"
    )


def _captures_in(folder: CaptureFolder, below: str) -> list[str]:
    return [f"{below}{name}" for name in folder.names(below) if is_capture(f"{folder.path}/{below}{name}")]


def import_capture(capture: Capture, folder: Path, compiler: CompilerWords, platform: str | None) -> Imported:
    """Write a capture into a folder, with its program compiled for a platform.

    Raises UserError if the program cannot be compiled, does not take the recorded arguments, or a file exists or cannot be
    written; TextProblems for errors of the compiler.
    """
    program = program_files(capture, compiler, platform)
    launch = _LaunchWriter(capture, program.ze_info, platform or program.platform)
    text = launch.text(program.zebin)
    stem = file_name(capture.kernel)
    files = {folder / name: data for name, data in program.files.items()}
    arrays = {folder / name: array for name, array in launch.arrays.items()}
    path = folder / f"{stem}.launch.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for target in (*files, *arrays, path):
            if os.path.lexists(target):
                raise UserError(f"{target}: exists already, and import overwrites no file; choose another folder")
        for target, array in arrays.items():
            write_array(target, array)
        for target, data in (*files.items(), (path, encode_text(text))):
            with replace_file(target) as stream:
                stream.write(data)
    except OSError as error:
        raise UserError(f"{error.filename or folder}: cannot write: {reason(error)}") from None
    notes = (*capture.notes, *program.notes, *launch.notes)
    return Imported(path, (path, *files, *arrays), tuple(launch.assumed), notes)


@contextmanager
def import_into_temporary(capture: Capture, compiler: CompilerWords, platform: str | None) -> Iterator[Imported]:
    """Write a capture into a temporary folder. Raises as ``import_capture``."""
    with temporary_folder() as folder:
        yield import_capture(capture, folder, compiler, platform)


class _LaunchWriter:
    """Writes the launch file of a capture; collects its arrays by file name."""

    def __init__(self, capture: Capture, ze_info: str, platform: str | None) -> None:
        self.capture = capture
        self.platform = platform
        self.stem = file_name(capture.kernel)
        self.arrays: dict[str, Array] = {}
        self.taken: dict[int, CapturedBuffer | CapturedImage] = {}
        self.assumed: list[str] = []
        self.notes: list[str] = []
        try:
            kernels = read(ze_info)
        except ZeInfoError as error:
            raise UserError(f"{capture.name}: the ze_info of the program is unreadable: {error}") from None
        info = next((kernel for kernel in kernels if kernel.name == capture.kernel), None)
        if info is None:
            raise UserError(f"{capture.name}: the ze_info of the program does not describe kernel '{capture.kernel}'")
        self.info: KernelInfo = info

    def text(self, zebin: str) -> str:
        """Return the text of the launch file."""
        args = self._arguments()
        launch: Spec = {"kernel": self.capture.kernel, "zebin": zebin, **self._sizes()}
        if self.platform:
            launch["platform"] = self.platform
        expected: list[Spec] = []
        launch["args"] = [self._argument(index, arg, expected) for index, arg in enumerate(args)]
        _refuse_shared(self.capture, self.taken)
        if not launch["args"]:
            del launch["args"]
        names = [self.info.argument_name(index) for index in range(len(args))]
        comments = "".join(f"# {line}\n" for line in ("Assumed:", *self.assumed)) if self.assumed else ""
        expect = "".join(f"  - {flow(line)}\n" for line in expected)
        return comments + write(launch, names).text + (f"expect:\n{expect}" if expect else "")

    def problem(self, words: str) -> UserError:
        """Return an error about the capture."""
        return UserError(f"{self.capture.name}: {words}")

    def _sizes(self) -> Spec:
        work, local = self.capture.global_size, self.capture.local_size
        if local is None:
            required = self.info.env.required_work_group_size
            local = required if all(required) else _chosen_local(work)
            if not all(required):
                self.assumed.append(f"local_size: {list(local)}; the driver chose one, which is not recorded")
        sizes: Spec = {"local_size": list(local)}
        if all(n % size == 0 for n, size in zip(work, local, strict=True)):
            sizes["groups"] = [n // size for n, size in zip(work, local, strict=True)]
        else:
            sizes["global_size"] = list(work)
        if any(self.capture.global_offset):
            sizes["global_offset"] = list(self.capture.global_offset)
        return sizes

    # Arguments.

    def _arguments(self) -> list[tuple[CapturedArg, ...]]:
        """Return the recorded data of each argument that the kernel takes."""
        args, count = list(self.capture.args), self.info.argument_count
        if self.capture.shared_bytes is not None:  # the launcher adds scratch memory, and shared memory
            shared = self.capture.shared_bytes
            added = range(len(args), count)
            args += [(CapturedSize(shared if self._kind(index) == "local" else 0),) for index in added]
        if len(args) < count:
            expected = self.info.describe_arguments(range(count))
            raise self.problem(f"has {len(args)} arguments; the kernel takes {count}: {expected}")
        if len(args) > count:
            self.notes.append(
                f"the kernel takes {count} arguments; the records of arguments from {count} on are ignored"
            )
        return args[:count]

    def _kind(self, index: int) -> str:
        """Return the kind of an argument by the ze_info; empty if the program does not use it."""
        return next((p.kind for p in self.info.payload if p.arg_index == index and p.kind), "")

    def _argument(self, index: int, recorded: tuple[CapturedArg, ...], expected: list[Spec]) -> Spec:
        kind = self._kind(index)
        for arg in recorded:
            if (spec := self._as_kind(index, kind, arg, expected)) is not None:
                return spec
        words = f"the kernel takes {KIND_WORDS.get(kind, '')}, the capture has {_WORDS[type(recorded[0])]}"
        if kind == "buffer" and isinstance(recorded[0], CapturedValue):
            words = "the contents of the memory that it points to are not recorded"
        raise self.problem(f"argument {self.info.describe_argument(index)}: {words}")

    def _as_kind(self, index: int, kind: str, arg: CapturedArg, expected: list[Spec]) -> Spec | None:
        """Return an argument of the ``kind`` that the kernel takes; None if it is of another kind.

        An empty ``kind`` means any.
        """
        match kind, arg:
            case "buffer" | "", CapturedBuffer():
                dtype = arg.dtype or element_of(self.info, index)[0] or "uint8"
                dtype = dtype if len(arg.before) % element_bytes(dtype) == 0 else "uint8"
                return {"buffer": {"npy": self._arrays(index, arg, dtype, arg.shape if arg.dtype else (-1,), expected)}}
            case "image" | "", CapturedImage():
                npy = self._arrays(index, arg, arg.dtype, arg.shape, expected)
                return {"image": {"npy": npy, "format": arg.format, "channels": arg.shape[-1]}}
            case "sampler" | "", CapturedSampler():
                return {"sampler": {"address": arg.address, "filter": arg.filter, "normalized": arg.normalized}}
            case "local", CapturedSize() if arg.size:
                return {"local": arg.size}
            case "buffer" | "", CapturedSize():
                return {"buffer": None}
            case "buffer", CapturedValue() if arg.data and not any(arg.data):
                return {"buffer": None}
            case "value" | "", CapturedValue():
                return self._value(index, arg.data)
        return None

    def _value(self, index: int, data: bytes) -> Spec:
        element, count = element_of(self.info, index)
        size = count * element_bytes(element) if element else len(data)
        if len(data) != size or not data:
            raise self.problem(
                f"argument {self.info.describe_argument(index)} takes {size or 'some'} bytes, the capture has {len(data)}"
            )
        if not element:
            element, count = "uint8", size
        numbers = np.frombuffer(data, element).tolist()
        if element == "float32":  # the shortest text of a float has fewer digits than that of the double
            numbers = [float(str(number)) for number in np.frombuffer(data, element)]
        return {"value": numbers[0], "dtype": element} if count == 1 else {"values": numbers, "dtype": element}

    def _arrays(
        self, index: int, arg: CapturedBuffer | CapturedImage, dtype: str, shape: tuple[int, ...], expected: list[Spec]
    ) -> str:
        """Return the file of an array before the enqueue; add the expectation of one that the kernel may write."""
        name = f"{self.stem}.arg{index}.npy"
        self.taken[index] = arg
        self.arrays[name] = _array(arg, arg.before, dtype, shape)
        if arg.after is None or any(p.access_type == "readonly" for p in self.info.payload if p.arg_index == index):
            return name
        if arg.after == arg.before:
            expected.append({"arg": index, "npy": name})
            return name
        after = f"{self.stem}.arg{index}.expected.npy"
        self.arrays[after] = _array(arg, arg.after, dtype, shape)
        expected.append({"arg": index, "npy": after, **_tolerance(self.arrays[after], arg)})
        return name


def _array(arg: CapturedBuffer | CapturedImage, data: bytes, dtype: str, shape: tuple[int, ...]) -> Array:
    """Return the bytes as an array; red comes first in an image."""
    array = np.frombuffer(data, dtype).reshape(shape)
    return array[..., [2, 1, 0, 3]] if isinstance(arg, CapturedImage) and arg.is_bgra else array


def _tolerance(array: Array, arg: CapturedBuffer | CapturedImage) -> Spec:
    """Return the tolerance of an expectation: devices may round functions, sums and texels differently."""
    if isinstance(arg, CapturedImage) and "norm" in arg.format:
        return {"atol": 1}  # OpenCL allows a conversion to be off by 0.6
    if array.dtype.name not in _TOLERANCES:
        return {}
    relative, of_largest = _TOLERANCES[array.dtype.name]
    finite = np.abs(array[np.isfinite(array)].astype(np.float64))
    return {"rtol": relative, "atol": float(f"{of_largest * finite.max(initial=0.0):.0e}")}


def _refuse_shared(capture: Capture, taken: Mapping[int, CapturedBuffer | CapturedImage]) -> None:
    """Raise UserError if arguments share memory that the kernel changes, because buffers of a launch are separate."""
    owners: dict[bytes, int] = {}
    for index, arg in taken.items():
        other = owners.setdefault(arg.identity, index) if arg.identity else index
        if other != index and any(memory.after not in (None, memory.before) for memory in (arg, taken[other])):
            raise UserError(
                f"{capture.name}: arguments {other} and {index} are one allocation, which the kernel changes; those of a launch "
                "are separate"
            )


def _chosen_local(work: Triple) -> Triple:
    """Return the largest size of a group along x that divides the work."""
    along = next(size for size in range(min(_MAX_LOCAL_ITEMS, work[0]), 0, -1) if work[0] % size == 0)
    return along, 1, 1
