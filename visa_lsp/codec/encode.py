"""Encodes a ``Module`` to the bytes of an object of version 4.1, as Intel's tools write it (docs/format.md, "The object").

Symbols already have their numbers, so encoding is a walk. Values that an object cannot hold raise ``CodecError``.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, TypeVar

from visa_lsp.codec.errors import CodecError
from visa_lsp.codec.instruction_writer import InstructionWriter
from visa_lsp.codec.records import (
    FILE_HEADER,
    FILE_VARIABLE,
    FUNCTION_SIZES,
    GEN_BINARY,
    KERNEL_PLACE,
    MAGIC,
    PLACE,
    RELOCATION,
    SIZE_ENTRY,
    WRITTEN_VERSION,
    ObjectLayout,
)
from visa_lsp.program.model import Attribute, FileVariable, GenBinary, Kernel, Module, StateVariable, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from visa_lsp.isa.types import DataType

Item = TypeVar("Item")
_LAYOUT: Final = ObjectLayout(WRITTEN_VERSION)


def encode(module: Module) -> bytes:
    """Return the bytes of the object of a module.

    Raises CodecError, with the field and the line of the instruction, if an object cannot hold a value or a form.
    """
    instructions = InstructionWriter()
    kernels = [_Body(k, f"kernels[{i}]", instructions) for i, k in enumerate(module.kernels)]
    functions = [_Body(k, f"functions[{i}]", instructions) for i, k in enumerate(module.functions)]
    variables = b"".join(_file_variable(v, f"variables[{i}]") for i, v in enumerate(module.variables))
    start = FILE_HEADER.size + 3 * 2 + sum(len(body.record(0)) for body in (*kernels, *functions)) + len(variables)
    records, parts = [], []
    for body in (*kernels, *functions):
        records.append(body.record(start))
        parts += [body.data, *(binary.data for binary in body.kernel.gen_binaries)]
        start += len(body.data) + sum(len(binary.data) for binary in body.kernel.gen_binaries)
    header = FILE_HEADER.pack("header", int.from_bytes(MAGIC, "little"), *WRITTEN_VERSION)
    return b"".join(
        (
            header,
            _count(len(kernels), "H", "num_kernels"),
            *records[: len(kernels)],
            _count(len(module.variables), "H", "num_variables"),
            variables,
            _count(len(functions), "H", "num_functions"),
            *records[len(kernels) :],
            *parts,
        )
    )


def instruction_offsets(kernel: Kernel) -> list[int]:
    """Return the byte offset of each instruction from the first instruction byte."""
    instructions = InstructionWriter()
    offsets, offset = [], 0
    for inst in kernel.instructions:
        offsets.append(offset)
        offset += len(instructions.write(inst))
    return offsets


class _Body:
    """The bytes of one kernel object, and its record in the header once its place is known."""

    def __init__(self, kernel: Kernel, path: str, instructions: InstructionWriter) -> None:
        self.kernel = kernel
        self.path = path
        if not kernel.strings or not kernel.strings[0]:
            raise CodecError("a kernel or function needs a name", None, f"{path}.name")
        self.name = _text(kernel.strings[0], f"{path}.name")
        self.is_external = not kernel.is_kernel and len(kernel.strings) == 1 and not kernel.instructions
        self.input_offset = 0
        self.data = b"" if self.is_external else self._body(instructions)

    def record(self, start: int) -> bytes:
        """Return the bytes of kernel_info or function_info."""
        kernel, path = self.kernel, self.path
        name = _count(len(self.name), "H", f"{path}.name_len") + self.name
        relocs = _relocations(kernel.variable_relocs, f"{path}.variable_relocs") + _relocations(
            kernel.function_relocs, f"{path}.function_relocs"
        )
        if not kernel.is_kernel:
            linkage = _count(kernel.linkage, "B", f"{path}.linkage")
            place = (0, 0) if self.is_external else (start, len(self.data))
            return linkage + name + PLACE.pack(path, *place) + relocs
        place_record = KERNEL_PLACE.pack(path, start, len(self.data), start + self.input_offset)
        return name + place_record + relocs + self._binaries(start + len(self.data))

    def _binaries(self, start: int) -> bytes:
        binaries = self.kernel.gen_binaries or (GenBinary(0, b""),)
        path = f"{self.path}.gen_binaries"
        record = _count(len(binaries), "B", path)
        for i, binary in enumerate(binaries):
            record += GEN_BINARY.pack(f"{path}[{i}]", binary.platform, start, len(binary.data))
            start += len(binary.data)
        return record

    def _body(self, instructions: InstructionWriter) -> bytes:
        kernel, path = self.kernel, self.path
        code = b"".join(_each(kernel.instructions, instructions.write, f"{path}.instructions"))
        parts = [_count(len(kernel.strings), "I", f"{path}.string_count")]
        parts += _each(kernel.strings, _string, f"{path}.strings")
        parts.append(bytes(4))  # name_index
        parts.append(_count(len(kernel.variables), "I", f"{path}.variable_count"))
        parts += _each(kernel.variables, _variable, f"{path}.variables")
        parts.append(_states(kernel.addresses, "H", f"{path}.addresses"))
        parts.append(_states(kernel.predicates, "H", f"{path}.predicates"))
        parts.append(_count(len(kernel.labels), "H", f"{path}.label_count"))
        for i, label in enumerate(kernel.labels):
            where = f"{path}.labels[{i}]"
            parts.append(_LAYOUT.label.pack(where, label.name_index, label.kind, len(label.attributes)))
            parts.append(_attributes(label.attributes, where))
        parts.append(_states(kernel.samplers, "B", f"{path}.samplers"))
        parts.append(_states(kernel.surfaces, "B", f"{path}.surfaces"))
        parts.append(_states(kernel.vmes, "B", f"{path}.vmes"))
        if kernel.is_kernel:
            self.input_offset = sum(map(len, parts))
            # Intel's tools truncate this number to one byte, which makes the object unreadable.
            if len(kernel.inputs) > 0xFF:
                raise CodecError(f"{len(kernel.inputs)} inputs; an object holds at most 255", None, f"{path}.inputs")
            parts.append(_count(len(kernel.inputs), "I", f"{path}.num_inputs"))
            parts += [
                _LAYOUT.input.pack(f"{path}.inputs[{i}]", item.kind, item.id, item.offset, item.size)
                for i, item in enumerate(kernel.inputs)
            ]
        tail = _count(len(kernel.attributes), "H", f"{path}.attribute_count") + _attributes(kernel.attributes, path)
        if not kernel.is_kernel:
            tail = FUNCTION_SIZES.pack(path, kernel.input_size, kernel.return_value_size) + tail
        entry = sum(map(len, parts)) + SIZE_ENTRY.size + len(tail)
        return b"".join((*parts, SIZE_ENTRY.pack(path, len(code), entry), tail, code))


def _each(items: Iterable[Item], write: Callable[[Item], bytes], path: str) -> list[bytes]:
    """Return the bytes of a list of items; an error names the index of its item."""
    written: list[bytes] = []
    try:
        # In this order, so that the index of the failing item is the number of items written before it.
        written.extend(map(write, items))
    except CodecError as error:
        raise error.within(f"{path}[{len(written)}]") from None
    return written


def _count(value: int, code: str, path: str) -> bytes:
    try:
        return struct.pack("<" + code, value)
    except struct.error:
        most = (1 << 8 * struct.calcsize(code)) - 1
        raise CodecError(f"{value} is more than an object can hold: at most {most}", None, path) from None


def _text(text: str, path: str) -> bytes:
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise CodecError(f"{text!r} cannot be written as UTF-8", None, path) from None
    if b"\0" in data:
        raise CodecError("a zero character would end the string", None, path)
    return data


def _string(text: str) -> bytes:
    return _text(text, "") + b"\0"


def _relocations(pairs: Sequence[tuple[int, int]], path: str) -> bytes:
    return _count(len(pairs), "H", path) + b"".join(RELOCATION.pack(path, *pair) for pair in pairs)


def _attributes(attributes: Sequence[Attribute], path: str) -> bytes:
    if not attributes:  # most bodies have none
        return b""
    return b"".join(
        _LAYOUT.attribute.pack(f"{path}.attributes[{i}]", attribute.name_index, attribute.size) + attribute.data
        for i, attribute in enumerate(attributes)
    )


def _type_code(type_: DataType, path: str) -> int:
    """Return the four bits of a type."""
    if type_.code > 15:
        raise CodecError(f"the type {type_.name} is of text 4.2 and has no code in an object", None, f"{path}.type")
    return type_.code


def _variable(variable: Variable) -> bytes:
    record = _LAYOUT.variable.pack(
        "",
        variable.name_index,
        _type_code(variable.type, "") | variable.align << 4,
        variable.num_elements & 0xFFFF,
        variable.alias_index,
        variable.alias_offset,
        variable.alias_scope,
        len(variable.attributes),
    )
    return record + _attributes(variable.attributes, "")


def _states(states: Sequence[StateVariable], code: str, path: str) -> bytes:
    parts = [_count(len(states), code, path)]
    for i, state in enumerate(states):
        where = f"{path}[{i}]"
        parts.append(_LAYOUT.state.pack(where, state.name_index, state.num_elements & 0xFFFF, len(state.attributes)))
        parts.append(_attributes(state.attributes, where))
    return b"".join(parts)


def _file_variable(variable: FileVariable, path: str) -> bytes:
    name = _text(variable.name, path)
    return b"".join(
        (
            _count(variable.linkage, "B", f"{path}.linkage"),
            _count(len(name), "H", f"{path}.name_len"),
            name,
            FILE_VARIABLE.pack(
                path, _type_code(variable.type, path) | variable.align << 4, variable.num_elements & 0xFFFF
            ),
            _count(len(variable.attributes), "B", f"{path}.attribute_count"),
            _attributes(variable.attributes, path),
        )
    )
