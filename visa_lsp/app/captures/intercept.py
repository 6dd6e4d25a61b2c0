"""Reads the folder of an enqueue that Intel's opencl-intercept-layer writes with ``CaptureReplay``.

A file for each fact: ``worksizes.txt`` (global size, local size, offset, a line each), ``kernelName.txt``, ``buildOptions.txt``,
``kernel.cl`` or ``kernel.spv`` and ``DeviceBinaryN.bin``, ``ArgumentN.bin`` with what the host passed, ``LocalN.txt``,
``SamplerN.txt``, ``Image_MetaData_N.txt``, ``SVM_Arg_Offset_N.txt``; buffers and images in ``Pre`` and ``Post``.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from visa_lsp.app.captures.model import (
    MAX_PROGRAM_BYTES,
    Capture,
    CapturedArg,
    CapturedBuffer,
    CapturedImage,
    CapturedProgram,
    CapturedSampler,
    CapturedSize,
    CapturedValue,
    Triple,
)
from visa_lsp.program.elements import element_bytes
from visa_lsp.sim.launch.args import MAX_ARGUMENTS

if TYPE_CHECKING:
    from visa_lsp.app.captures.folder import CaptureFolder

MARKS: Final = ("worksizes.txt", "kernelName.txt")  # files that every such folder has

_NUMBERED: Final = re.compile(r"(Argument|Local|Sampler|Image_MetaData_|SVM_Arg_Offset_)([0-9]{1,6})\.(?:bin|txt)")
_CONTENTS: Final = re.compile(r"Enqueue_([0-9]{1,20})_Kernel_.*_Arg_([0-9]{1,6})_(?:Buffer|Image)_.*\.(?:bin|raw)")
_BINARY: Final = re.compile(r"DeviceBinary[0-9]{1,4}\.bin")
_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_MAX_VALUE_BYTES: Final = 4096
_ADDRESSES: Final = ("NONE", "CLAMP_TO_EDGE", "CLAMP", "REPEAT", "MIRRORED_REPEAT")
# Numbers of the OpenCL headers: element type and format of a launch file by channel type, channels by order.
_CHANNEL_TYPES: Final = {
    0x10D0: ("int8", "snorm8"), 0x10D1: ("int16", "snorm16"), 0x10D2: ("uint8", "unorm8"), 0x10D3: ("uint16", "unorm16"),
    0x10D7: ("int8", "sint8"), 0x10D8: ("int16", "sint16"), 0x10D9: ("int32", "sint32"), 0x10DA: ("uint8", "uint8"),
    0x10DB: ("uint16", "uint16"), 0x10DC: ("uint32", "uint32"), 0x10DD: ("float16", "float16"), 0x10DE: ("float32", "float32"),
}  # fmt: skip
_BGRA: Final = 0x10B6
_ORDERS: Final = {0x10B0: 1, 0x10B2: 2, 0x10B5: 4, _BGRA: 4}
# The number of axes by type of image: 2D, 3D, 2D array, 1D, 1D array, 1D buffer.
_AXES: Final = {0x10F1: 2, 0x10F2: 3, 0x10F3: 3, 0x10F4: 1, 0x10F5: 2, 0x10F6: 1}


def read_intercepted(folder: CaptureFolder) -> Capture:
    """Read a capture. Raises UserError if a file is missing or malformed."""
    return _InterceptReader(folder).capture()


class _InterceptReader:
    def __init__(self, folder: CaptureFolder) -> None:
        self.folder = folder
        self.listed = folder.names()
        self.files: dict[tuple[str, int], str] = {}
        for name in self.listed:
            match = _NUMBERED.fullmatch(name)
            if match is not None:
                self.files[match[1], int(match[2])] = name
        number = folder.text("enqueueNumber.txt") if "enqueueNumber.txt" in self.listed else ""
        self.enqueue = int(number) if _NUMBER.fullmatch(number) else None
        self.before, self.after = self._contents("Pre"), self._contents("Post")

    def capture(self) -> Capture:
        folder = self.folder
        kernel = folder.text("kernelName.txt")
        if not kernel or len(kernel) > 1024 or not kernel.isprintable():
            raise folder.problem("expected the name of a kernel", "kernelName.txt")
        work, local, offset = self._sizes()
        options = folder.text("buildOptions.txt") if "buildOptions.txt" in self.listed else ""
        indexes = {index for _, index in self.files} | set(self.before) | set(self.after)
        count = max(indexes, default=-1) + 1
        if count > MAX_ARGUMENTS:
            raise folder.problem(f"has a file of argument {count - 1}; at most {MAX_ARGUMENTS} arguments are supported")
        args = tuple(self._argument(index) for index in range(count))
        notes: tuple[str, ...] = ()
        if self.before and not self.after:
            notes = ("the capture has no contents after the enqueue (folder Post), so nothing is expected",)
        return Capture(
            folder.path,
            kernel,
            self._programs(),
            options,
            args,
            work,
            local if any(local) else None,
            offset,
            notes=notes,
        )

    def _contents(self, below: str) -> dict[int, str]:
        """Return the files of buffers and images in a folder, by argument."""
        files: dict[int, str] = {}
        for name in self.folder.names(below):
            match = _CONTENTS.fullmatch(name)
            if match is None or (self.enqueue is not None and int(match[1]) != self.enqueue):
                continue
            index = int(match[2])
            if index in files:
                raise self.folder.problem(f"argument {index} has two files, {files[index]} and {below}/{name}")
            files[index] = f"{below}/{name}"
        return files

    def _programs(self) -> tuple[CapturedProgram, ...]:
        programs = []
        for name in ("kernel.cl", "kernel.spv", *filter(_BINARY.fullmatch, self.listed)):
            if name not in self.listed:
                continue
            data = self.folder.read(name, MAX_PROGRAM_BYTES)
            if name == "kernel.cl":
                data = data.rstrip(b"\0")  # the driver counts the end of the string
            if data:
                programs.append(CapturedProgram(name, data, is_binary=name.endswith(".bin")))
        if not programs:
            raise self.folder.problem("has no program: expected kernel.cl, kernel.spv or DeviceBinary0.bin")
        return tuple(programs)

    # Sizes.

    def _sizes(self) -> tuple[Triple, Triple, Triple]:
        name = "worksizes.txt"
        lines = self.folder.text(name).splitlines()
        if len(lines) != 3:
            raise self.folder.problem(f"expected 3 lines (global size, local size, offset), found {len(lines)}", name)
        rows = [self._numbers(line.split(), name) for line in lines]
        if len({len(row) for row in rows}) != 1 or not 1 <= len(rows[0]) <= 3:
            words = f"expected one to three numbers in each line, found {', '.join(str(len(row)) for row in rows)}"
            raise self.folder.problem(words, name)
        work, local, offset = (
            (*row, *[rest] * (3 - len(row))) for row, rest in zip(rows, (1, 1 if any(rows[1]) else 0, 0), strict=True)
        )
        if 0 in work or (any(local) and 0 in local):
            raise self.folder.problem(f"expected sizes >= 1, found {list(work)} and {list(local)}", name)
        return work, local, offset  # type: ignore[return-value]

    def _numbers(self, words: list[str], name: str) -> list[int]:
        for word in words:
            if not _NUMBER.fullmatch(word):
                raise self.folder.problem(f"expected a number, found {word[:40]!r}", name)
        return [int(word) for word in words]

    def _number(self, name: str) -> int:
        return self._numbers([self.folder.text(name)], name)[0]

    # Arguments.

    def _argument(self, index: int) -> tuple[CapturedArg, ...]:
        """Return the recorded data of an argument; files of an earlier kernel may lie beside its own."""
        image = self.files.get(("Image_MetaData_", index))
        sampler = self.files.get(("Sampler", index))
        value = self.files.get(("Argument", index))
        local = self.files.get(("Local", index))
        if index in self.after and index not in self.before:
            raise self.folder.problem(
                f"argument {index} has contents after the enqueue, but none before it (folder Pre)"
            )
        passed = self.folder.read(value, _MAX_VALUE_BYTES) if value is not None else b""
        recorded: list[CapturedArg] = []
        if self.before.get(index, "").endswith(".bin"):
            recorded.append(self._buffer(index, passed))
        elif image is not None:
            recorded.append(self._image(index, image, passed))
        if sampler is not None:
            recorded.append(self._sampler(sampler))
        if value is not None:
            recorded.append(CapturedValue(passed))
        if local is not None:
            recorded.append(CapturedSize(self._number(local)))
        if not recorded:
            raise self.folder.problem(f"argument {index} is missing: expected Argument{index}.bin or Local{index}.txt")
        return tuple(recorded)

    def _after(self, index: int, size: int) -> bytes | None:
        """Return the contents after the enqueue, of the same size as those before it."""
        if index not in self.after:
            return None
        data = self.folder.array(self.after[index])
        if len(data) != size:
            raise self.folder.problem(f"has {len(data)} bytes, but {size} before the enqueue", self.after[index])
        return data

    def _buffer(self, index: int, identity: bytes) -> CapturedBuffer:
        before = self.folder.array(self.before[index])
        after = self._after(index, len(before))
        start = self.files.get(("SVM_Arg_Offset_", index))
        offset = self._number(start) if start is not None else 0
        if offset > len(before):
            raise self.folder.problem(
                f"the offset {offset} is outside of the {len(before)} bytes of argument {index}", start or ""
            )
        # The kernel got a pointer into the allocation.
        return CapturedBuffer(before[offset:], after[offset:] if after is not None else None, identity=identity)

    def _image(self, index: int, name: str, identity: bytes) -> CapturedImage:
        lines = self.folder.text(name).split()
        if len(lines) != 9:
            raise self.folder.problem(f"expected 9 numbers, found {len(lines)}", name)
        width, height, depth, texel, _, _, channel_type, order, kind = self._numbers(lines, name)
        if channel_type not in _CHANNEL_TYPES or order not in _ORDERS or kind not in _AXES:
            words = f"unsupported image: channel type 0x{channel_type:x}, channel order 0x{order:x}, type 0x{kind:x}"
            raise self.folder.problem(f"{words}; supported orders: R, RG, RGBA, BGRA, of whole elements", name)
        if index not in self.before:
            raise self.folder.problem(f"the contents of image argument {index} are missing (folder Pre)")
        dtype, form = _CHANNEL_TYPES[channel_type]
        channels, axes = _ORDERS[order], _AXES[kind]
        if texel != channels * element_bytes(dtype):
            raise self.folder.problem(f"a texel has {texel} bytes; expected {channels} x {dtype}", name)
        shape = (depth, height, width, channels)
        if 0 in shape or any(n != 1 for n in shape[: 3 - axes]):
            raise self.folder.problem(
                f"the size {width} x {height} x {depth} does not fit an image of {axes} axes", name
            )
        before = self.folder.array(self.before[index])
        if len(before) != math.prod(shape) * element_bytes(dtype):
            words = f"has {len(before)} bytes; the image has {width} x {height} x {depth} texels of {texel}"
            raise self.folder.problem(words, self.before[index])
        after = self._after(index, len(before))
        return CapturedImage(before, after, dtype, form, shape[3 - axes :], order == _BGRA, identity)

    def _sampler(self, name: str) -> CapturedSampler:
        """Return the state of ``CL_SAMPLER_NORMALIZED_COORDS = CL_FALSE, CL_SAMPLER_ADDRESSING_MODE = ...``."""
        said = dict(re.findall(r"CL_SAMPLER_(\w{1,40}) = CL_(\w{1,40})", self.folder.text(name)))
        address = said.get("ADDRESSING_MODE", "ADDRESS_CLAMP").removeprefix("ADDRESS_")
        chosen = said.get("FILTER_MODE", "FILTER_NEAREST").removeprefix("FILTER_")
        normalized = said.get("NORMALIZED_COORDS", "TRUE")
        if (
            not said
            or address not in _ADDRESSES
            or chosen not in ("NEAREST", "LINEAR")
            or normalized not in ("TRUE", "FALSE")
        ):
            raise self.folder.problem("expected the properties of a sampler", name)
        return CapturedSampler(address.lower(), chosen.lower(), normalized == "TRUE")
