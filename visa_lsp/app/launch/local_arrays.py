"""The end of the arrays in shared local memory, from the declarations in the source that a text was compiled from.

The ze_info gives the allocation, a multiple of 32 bytes, so that an index just behind an array is within bounds. Compilers
place the arrays of a kernel in the order of their declarations, each aligned to its element (measured with those of 2022
and 2026). Knows OpenCL C only as far as such declarations. Invariant: the end is used only if it explains the allocation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.launchfile.formulas import FormulaError, number, read_formula
from visa_lsp.program.elements import CL_TYPES, element_bytes
from visa_lsp.program.traits import Mark
from visa_lsp.safe_io import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from visa_lsp.program.model import Kernel
    from visa_lsp.program.payload import KernelInfo

_MAX_SOURCE_BYTES: Final = 1 << 20
_ALLOCATION: Final = 32  # bytes
_COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*|\\\n", re.DOTALL)
_MACRO: Final = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+)$", re.MULTILINE)
_LOCAL: Final = re.compile(r"(?:__)?local\s+((?:volatile\s+|const\s+|unsigned\s+)*)(\w+)\s+([^;(){}]+);")
_TYPE: Final = re.compile(r"([a-z_]+?)(2|3|4|8|16)?")
_ARRAY: Final = re.compile(r"\s*\w+\s*((?:\[[^\]]+\]\s*)*)")


def with_exact_local_memory(info: KernelInfo, kernel: Kernel, folder: Path) -> KernelInfo:
    """Return the ze_info with the end of the last declared array as the size of shared local memory, if that is known.

    ``folder`` is that of the text, to which the names of its sources are relative.
    """
    if not info.env.slm_size or any(entry.kind == "local" for entry in info.payload):
        return info
    for name in _sources(kernel):
        try:
            source = read_file(folder / name, _MAX_SOURCE_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError):
            continue
        end = end_of_arrays(source, kernel.name)
        if end and -(-end // _ALLOCATION) * _ALLOCATION == info.env.slm_size:
            return replace(info, env=replace(info.env, slm_size=end))
    return info


def _sources(kernel: Kernel) -> Iterator[str]:
    """Yield the names of the sources of a kernel."""
    for inst in kernel.instructions:
        if inst.row.marks_source is Mark.FILE:
            value = inst.get(inst.row.fields[0].name)
            if isinstance(value, int) and 0 <= value < len(kernel.strings):
                yield kernel.strings[value]


def end_of_arrays(source: str, kernel: str) -> int:
    """Return the end of the local arrays of a kernel; 0 if there are none, or one has an unknown size."""
    source = _COMMENT.sub(" ", source)
    head = re.search(rf"\b(?:__)?kernel\b[^;{{}}]*?\b{re.escape(kernel)}\s*\([^;{{}}]*\{{", source)
    if head is None:
        return 0
    body = source[head.end() :]
    following = re.search(r"\b(?:__)?kernel\b", body)
    macros = dict(_MACRO.findall(source))
    end = 0
    for words, name, arrays in _LOCAL.findall(body[: following.start()] if following else body):
        element = _TYPE.fullmatch(name)
        if element is None or element[1] not in CL_TYPES or "unsigned" in words:
            return 0
        lanes = int(element[2] or 1)
        unit = element_bytes(CL_TYPES[element[1]]) * (4 if lanes == 3 else lanes)
        for array in arrays.split(","):
            match = _ARRAY.fullmatch(array)
            count = _count(match[1], macros) if match is not None else 0
            if count < 1:
                return 0
            end = -(-end // unit) * unit + unit * count
    return end


def _count(sizes: str, macros: Mapping[str, str]) -> int:
    """Return the number of elements of an array from its sizes in brackets; 0 if one is unknown."""
    product = 1
    for text in re.findall(r"\[([^\]]+)\]", sizes):
        try:
            product *= int(number(read_formula(_expand(text, macros)), {}))
        except FormulaError:
            return 0
    return product


def _expand(text: str, macros: Mapping[str, str]) -> str:
    """Return an expression with the values of its macros; divisions are those of whole numbers."""
    for _ in range(8):  # deeper definitions are left, and refused as unknown names
        text = re.sub(
            r"[A-Za-z_]\w*", lambda name: f"({macros[name[0]].strip()})" if name[0] in macros else name[0], text
        )
    return re.sub(r"(?<=\d)[uUlL]+\b", "", text).replace("/", "//")
