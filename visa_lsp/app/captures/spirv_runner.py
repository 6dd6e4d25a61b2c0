"""Reads the folder that Intel's Triton writes for SPIRVRunner: ``args_data.json``, SPIR-V, and a ``.pt`` file for each tensor.

SPIRVRunner writes the output tensor N as ``cpp_outs_N.pt``; the launch expects its contents.
"""

from __future__ import annotations

import json
import re
import struct
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.captures.model import (
    MAX_PROGRAM_BYTES,
    Capture,
    CapturedArg,
    CapturedBuffer,
    CapturedProgram,
    CapturedValue,
)
from visa_lsp.app.captures.tensors import read_tensor
from visa_lsp.sim.launch.args import MAX_ARGUMENTS

if TYPE_CHECKING:
    from visa_lsp.app.captures.folder import CaptureFolder
    from visa_lsp.app.errors import UserError

MARK: Final = "args_data.json"

_MAX_COUNT: Final = (1 << 31) - 1
_FILE: Final = re.compile(r"[^/\\\x00-\x1f]{1,255}")
# The bytes that the runner passes for a scalar, by its type in Triton.
_SCALARS: Final = {
    "i1": "b", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u1": "B", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "fp32": "f", "f32": "f", "fp64": "d",
}  # fmt: skip


def read_runner(folder: CaptureFolder) -> Capture:
    """Read a capture. Raises UserError if a file is missing or malformed."""
    try:
        return _RunnerReader(folder).capture()
    except RecursionError:  # in the text of a value for a message
        raise folder.problem("has values that are nested too deeply", MARK) from None


class _RunnerReader:
    def __init__(self, folder: CaptureFolder) -> None:
        self.folder = folder
        self.listed = folder.names()
        try:
            facts = json.loads(folder.text(MARK))
        except (ValueError, RecursionError) as error:
            raise self.problem(f"is not JSON: {error!s:.100}") from None
        if not isinstance(facts, dict):
            raise self.problem("expected an object")
        self.facts: dict[str, Any] = facts
        self.tensors = 0
        self.notes: list[str] = []

    def problem(self, words: str) -> UserError:
        return self.folder.problem(words, MARK)

    def capture(self) -> Capture:
        items = self._get(self.facts, "argument_list", list)
        if len(items) > MAX_ARGUMENTS:
            raise self.problem(f"has {len(items)} arguments; at most {MAX_ARGUMENTS} are supported")
        width = self._count("num_warps") * self._count("threads_per_warp")
        groups = tuple(self._count(f"grid{axis}") for axis in "XYZ")
        kernel = self._get(self.facts, "kernel_name", str)
        if not kernel.isprintable() or not 0 < len(kernel) <= 1024:
            raise self.problem("'kernel_name' is not the name of a kernel")
        name = self._file("spv_name")
        args = tuple(self._argument(index, item) for index, item in enumerate(items))
        expected = any(isinstance(arg, CapturedBuffer) and arg.after is not None for arg in args)
        note = "the capture has no output of SPIRVRunner (cpp_outs_N.pt), so nothing is expected"
        return Capture(
            self.folder.path,
            kernel,
            (CapturedProgram(name, self.folder.read(name, MAX_PROGRAM_BYTES)),),
            self._get(self.facts, "build_flags", str) if "build_flags" in self.facts else "",
            tuple((arg,) for arg in args),
            (groups[0] * width, groups[1], groups[2]),
            (width, 1, 1),
            shared_bytes=self._count("shared_memory", least=0),
            notes=(*self.notes, *(() if expected else (note,))),
        )

    def _get(self, where: dict[str, Any], key: str, kind: type) -> Any:
        value = where.get(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            words = "is missing" if key not in where else f"is {value!r:.60}"
            names = {int: "a whole number", str: "a text", list: "a list", dict: "an object"}
            raise self.problem(f"'{key}' {words}, expected {names[kind]}")
        return value

    def _count(self, key: str, least: int = 1) -> int:
        number: int = self._get(self.facts, key, int)
        if not least <= number <= _MAX_COUNT:
            raise self.problem(f"'{key}' is {number}, expected {least} to {_MAX_COUNT}")
        return number

    def _file(self, key: str, where: dict[str, Any] | None = None) -> str:
        name: str = self._get(self.facts if where is None else where, key, str)
        if not _FILE.fullmatch(name) or name in (".", ".."):
            raise self.problem(f"'{key}' is {name!r:.80}, expected the name of a file in this folder")
        return name

    def _argument(self, index: int, item: Any) -> CapturedArg:
        if not isinstance(item, dict):
            raise self.problem(f"argument {index} is {item!r:.40}, expected an object")
        if self._get(item, "type", str) == "tensor":
            return self._tensor(self._file("name", item))
        kind, value = self._get(item, "ctype", str), item.get("value")
        if kind not in _SCALARS:
            raise self.problem(f"argument {index} has the type {kind!r:.40}; known types: {', '.join(_SCALARS)}")
        code = _SCALARS[kind]
        if not isinstance(value, int | float) or (isinstance(value, float) and code not in "fd"):
            raise self.problem(f"argument {index} is {value!r:.40}, expected a number of type {kind}")
        try:
            return CapturedValue(struct.pack(f"<{code}", value))
        except (struct.error, OverflowError):
            raise self.problem(f"argument {index} is {value!r:.40}, which does not fit into {kind}") from None

    def _tensor(self, name: str) -> CapturedBuffer:
        tensor = read_tensor(self.folder, f"{name}.pt")
        output = f"cpp_outs_{self.tensors}.pt"
        self.tensors += 1
        after = None
        if output in self.listed:
            result = read_tensor(self.folder, output)
            if not tensor.is_contiguous or not result.is_contiguous:
                self.notes.append(f"{output} is not expected, because {name} is not contiguous")
            elif (result.dtype, len(result.data)) != (tensor.dtype, len(tensor.data)):
                words = f"has {len(result.data)} bytes of {result.dtype}, {name} {len(tensor.data)} of {tensor.dtype}"
                raise self.folder.problem(words, output)
            else:
                after = result.data
        return CapturedBuffer(tensor.data, after, tensor.dtype, tensor.shape)
