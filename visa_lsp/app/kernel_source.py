"""The facts about a kernel that only the source of its text has: arrays, names of types, and barriers that compilers drop.

The ze_info gives the allocation of shared local memory, a multiple of 32 bytes, so that an index just behind an array is
within bounds, and no names. Compilers place the arrays of a kernel in the order of their declarations, each aligned to its
element (measured with those of 2022 and 2026). Knows OpenCL C only as far as such declarations. Invariant: the arrays are
used only if they explain the allocation.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.launchfile.formulas import FormulaError, number, read_formula
from visa_lsp.program.elements import cl_bytes
from visa_lsp.program.model import AddressOf
from visa_lsp.program.payload import LocalArray, Record, RecordField
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
_SHIFT: Final = re.compile(r"\(\s*(\w+)\s*<<\s*(?:(\w+)|\((\w+)\))\s*\)")
_KERNEL: Final = re.compile(r"\b(?:__)?kernel\b")
_SUB_GROUP_BARRIER: Final = "sub_group_barrier"
_LOCAL: Final = re.compile(r"(?:__)?local\s+((?:volatile\s+|const\s+|unsigned\s+)*)(\w+)\s+([^;(){}]+);")
_PRIVATE: Final = re.compile(
    r"(?<=[;{}])\s*(?:(?:const|unsigned|(?:__)?private)\s+)*(\w+)\s+(\w+)\s*((?:\[[^\]]+\]\s*)+)[;=]"
)
_TYPEDEF: Final = re.compile(r"\btypedef\s+((?:(?:un)?signed\s+)?\w+)\s+(\w+)\s*;")
_RECORD: Final = re.compile(r"\btypedef\s+struct(?:\s+\w+)?\s*\{([^{}]*)\}\s*(\w+)\s*;")  # without attributes
_FIELDS: Final = re.compile(
    r"\s*(?:(unsigned|signed)\s+)?(\w+)\s+(\w+(?:\s*\[\s*\w+\s*\])?(?:\s*,\s*\w+(?:\s*\[\s*\w+\s*\])?)*)\s*"
)
_NAME: Final = re.compile(r"\w+")
_ARRAY: Final = re.compile(r"\s*(\w+)\s*((?:\[[^\]]+\]\s*)*)")


def with_source(info: KernelInfo, kernel: Kernel, folder: Path) -> KernelInfo:
    """Return the ze_info with what the source adds: the declared local arrays, and the types behind names of types.

    The end of the last array becomes the size of shared local memory, unless arguments follow. ``folder`` is that of the
    text, to which the names of its sources are relative.
    """
    if not info.env.slm_size and all(cl_bytes(info.pointee_of(one.index)) for one in info.arguments):
        return info  # numbers and vectors, of which a source says no more
    for source in _read_sources(kernel, folder):
        types = types_in(source)
        arguments = [replace(one, type_name=_NAME.sub(partial(_named, types), one.type_name)) for one in info.arguments]
        info = replace(info, arguments=tuple(arguments), records=info.records or records_in(source, types))
        arrays = local_arrays_of(source, kernel.name) if info.env.slm_size else ()
        end = arrays[-1].start + arrays[-1].size if arrays else 0
        if end and -(-end // _ALLOCATION) * _ALLOCATION == info.env.slm_size:
            has_arguments = any(entry.kind == "local" for entry in info.payload)
            env = info.env if has_arguments else replace(info.env, slm_size=end)
            return replace(info, env=env, local_arrays=arrays)
    return info


def _named(types: Mapping[str, str], name: re.Match[str]) -> str:
    return types.get(name[0], name[0])


def types_in(source: str) -> dict[str, str]:
    """Return the numbers and vectors that a source without comments names by ``typedef``, where all its branches agree, by name."""
    types: dict[str, str] = {}
    for words, name in _TYPEDEF.findall(source):
        sign, _, type_name = words.rpartition(" ")
        full = types.get(type_name, type_name)
        full = f"u{full}" if sign.strip() == "unsigned" else full
        is_other = types.setdefault(name, full) != full
        types[name] = "" if is_other or not cl_bytes(full) else full
    return {name: full for name, full in types.items() if full}


def records_in(source: str, types: Mapping[str, str]) -> tuple[Record, ...]:
    """Return the structures that a source without comments names by ``typedef``, as far as their fields are numbers, vectors and arrays.

    ``types`` are the names of types in the source.
    """
    macros = dict(_MACRO.findall(source))
    declared = _RECORD.findall(source)
    names = Counter(name for _, name in declared)  # a branch of the preprocessor may declare another one
    records = (_record(name, fields, types, macros) for fields, name in declared if names[name] == 1)
    return tuple([one for one in records if one is not None])


def _record(name: str, declared: str, types: Mapping[str, str], macros: Mapping[str, str]) -> Record | None:
    fields: list[RecordField] = []
    end = alignment = 0
    for text in filter(str.strip, declared.split(";")):
        match = _FIELDS.fullmatch(text)
        type_name = types.get(match[2], match[2]) if match is not None else ""
        type_name = f"u{type_name}" if match is not None and match[1] == "unsigned" else type_name
        size = cl_bytes(type_name)
        if match is None or not size:
            return None
        for own, brackets in re.findall(r"(\w+)\s*(\[[^\]]*\])?", match[3]):
            count = _shape(brackets, macros)[0] if brackets else 0
            if brackets and not count:
                return None
            start = -(-end // size) * size  # a number or a vector is aligned to its size
            fields.append(RecordField(own, start, type_name, count))
            end, alignment = start + size * max(1, count), max(alignment, size)
    return Record(name, -(-end // alignment) * alignment, tuple(fields)) if fields else None


def _read_sources(kernel: Kernel, folder: Path) -> Iterator[str]:
    """Yield the sources of a kernel that can be read, from the folder of its text, without comments."""
    for inst in kernel.instructions:
        name = inst.get(inst.row.fields[0].name) if inst.row.marks_source is Mark.FILE else None
        if isinstance(name, int) and 0 <= name < len(kernel.strings):
            with suppress(OSError, ValueError):
                source = read_file(folder / kernel.strings[name], _MAX_SOURCE_BYTES).decode("utf-8", "replace")
                yield without_comments(source)


def may_lack_barriers(info: KernelInfo, kernel: Kernel, folder: Path) -> bool:
    """Return whether compilers may have dropped barriers between lanes of one thread, which leaves no trace in a text.

    They do so for barriers of sub-groups, and where a group is one thread. ``folder`` is that of the text.
    """
    is_one_thread = 0 < prod(info.env.required_work_group_size) <= info.env.simd_size
    codes = [
        _KERNEL.split(source, maxsplit=1)[0] + _body_of(source, kernel.name) for source in _read_sources(kernel, folder)
    ]
    has_any = any("barrier" in code for code in codes) or not codes
    return (is_one_thread and has_any) or any(_SUB_GROUP_BARRIER in code for code in codes)


def local_arrays_of(source: str, kernel: str) -> tuple[LocalArray, ...]:
    """Return the local arrays and variables of a kernel in a source without comments, in their order; empty if one has an unknown size."""
    macros = dict(_MACRO.findall(source))
    end = 0
    arrays: list[LocalArray] = []
    for words, type_name, declared in _LOCAL.findall(_body_of(source, kernel)):
        unit = cl_bytes(type_name)
        if not unit or "unsigned" in words:
            return ()
        for text in declared.split(","):
            match = _ARRAY.fullmatch(text)
            shape = _shape(match[2], macros) if match is not None else (0,)
            if match is None or min(shape, default=1) < 1:
                return ()
            array = LocalArray(match[1], -(-end // unit) * unit, shape, unit, type_name)
            arrays.append(array)
            end = array.start + array.size
    return tuple(arrays)


def private_arrays_in(kernel: Kernel, folder: Path) -> dict[str, str]:
    """Return the private arrays of the source by the variable of the text that has them for all lanes, as far as that is certain.

    It is where only one array has the size of the variable, and addresses select registers of no other variable of that size.
    """
    selected = {value.var for inst in kernel.instructions for value in inst.values if isinstance(value, AddressOf)}
    variables: dict[int, list[str]] = {}  # by size in bytes
    for id_ in selected:
        if (variable := kernel.variable(id_)) is not None:
            variables.setdefault(variable.byte_size, []).append(kernel.variable_name(id_))
    lanes = kernel.int_attribute("SimdSize") or 0
    if not lanes or not variables:
        return {}
    arrays: dict[int, list[str]] = {}  # by size in bytes, of all lanes
    for source in _read_sources(kernel, folder):
        macros = dict(_MACRO.findall(source))
        for type_name, name, brackets in _PRIVATE.findall(f"{{{_body_of(source, kernel.name)}"):
            size = lanes * prod(_shape(brackets, macros)) * cl_bytes(type_name)
            arrays.setdefault(size, []).append(name)
    sizes = [size for size in variables if len(variables[size]) == len(arrays.get(size, ())) == 1]
    return {variables[size][0]: arrays[size][0] for size in sizes}


def without_comments(source: str) -> str:
    """Return a source of OpenCL C with a space for each comment."""
    return _COMMENT.sub(" ", source)


def _body_of(source: str, kernel: str) -> str:
    """Return a source without comments from the body of a kernel up to the next kernel; empty without the kernel."""
    head = re.search(rf"\b(?:__)?kernel\b[^;{{}}]*?\b{re.escape(kernel)}\s*\([^;{{}}]*\{{", source)
    return _KERNEL.split(source[head.end() :], maxsplit=1)[0] if head is not None else ""


def _shape(sizes: str, macros: Mapping[str, str]) -> tuple[int, ...]:
    """Return the number of elements along each dimension from the sizes in brackets; 0 if it is unknown."""
    shape: list[int] = []
    for text in re.findall(r"\[([^\]]+)\]", sizes):
        try:
            shape.append(int(number(read_formula(_expand(text, macros)), {})))
        except FormulaError:
            shape.append(0)
    return tuple(shape)


def _expand(text: str, macros: Mapping[str, str]) -> str:
    """Return an expression with the values of its macros; divisions are those of whole numbers."""
    for _ in range(8):  # deeper definitions are left, and refused as unknown names
        text = re.sub(
            r"[A-Za-z_]\w*", lambda name: f"({macros[name[0]].strip()})" if name[0] in macros else name[0], text
        )
    text = _SHIFT.sub(r"(\1 * 2 ** \2\3)", f"({text})")
    return re.sub(r"(?<=\d)[uUlL]+\b", "", text).replace("/", "//")
