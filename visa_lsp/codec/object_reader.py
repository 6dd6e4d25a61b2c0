"""Reads an object except its instructions: the header, the declarations, and ``summary`` of both.

Checks offsets and sizes against the file before it uses them, and counts against the bytes that are left. Knows no
instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from visa_lsp.codec.cursor import Cursor, Record
from visa_lsp.codec.records import (
    FILE_HEADER,
    FILE_VARIABLE,
    FUNCTION_SIZES,
    GEN_BINARY,
    KERNEL_PLACE,
    MAGIC,
    OLDEST_VERSION,
    PLACE,
    RELOCATION,
    SIZE_ENTRY,
    BinaryPlace,
    BodyEntry,
    Header,
    ObjectBody,
    ObjectLayout,
)
from visa_lsp.isa.predefined import FIRST_SAMPLER, FIRST_SURFACE, RESERVED_PROVENANCES
from visa_lsp.isa.types import TYPE_BY_CODE
from visa_lsp.program.model import Attribute, FileVariable, Input, Kernel, LabelEntry, StateVariable, Variable
from visa_lsp.program.operand_text import IDENTIFIER

Item = TypeVar("Item")


def read_header(data: bytes) -> Header:
    """Return the file header; offsets and sizes in it, all in bytes, are checked against the file.

    Raises CodecError if the bytes are not a vISA object of version 3.0 to 4.x, are cut off, or name bytes past their
    end.
    """
    cursor = Cursor(data)
    if data[:4] != MAGIC:
        raise cursor.error("not a vISA object: the file does not begin with CISA", "magic")
    _, major, minor = cursor.record(FILE_HEADER)
    if not OLDEST_VERSION <= (major, minor) < (5, 0):
        raise cursor.error(f"unknown version {major}.{minor}; expected 3.0 to 4.x", "version", 4)
    layout = ObjectLayout((major, minor))
    smallest = PLACE.size + 2 * 2  # a place and two empty relocation tables
    kernels = _entries(cursor, layout, "kernels", smallest, is_kernel=True)
    variables = _file_variables(cursor, layout)
    functions = _entries(cursor, layout, "functions", smallest, is_kernel=False)
    header = Header(layout, kernels, variables, functions)
    # Bodies are disjoint in every real file; overlapping ones could make a small file take unbounded time.
    if sum(entry.size for entry in header.bodies) > len(data):
        raise cursor.error("the sizes of all kernels and functions add up to more than the file", "kernels")
    return header


def _entries(
    cursor: Cursor, layout: ObjectLayout, kind: str, smallest: int, *, is_kernel: bool
) -> tuple[BodyEntry, ...]:
    count = cursor.count("H", f"num_{kind}", smallest)
    entries = []
    for _ in cursor.each(kind, count):
        linkage = 0 if is_kernel else cursor.integer("B", "linkage")
        name = cursor.text(cursor.integer(layout.name_length, "name_len"), "name")
        record_offset = cursor.pos
        offset, size, *rest = cursor.record(KERNEL_PLACE if is_kernel else PLACE)
        if offset + size > len(cursor.data):
            raise cursor.error(f"the body ends at 0x{offset + size:x}, past the end of the file", "size", record_offset)
        relocs = _relocations(cursor, "variable_reloc"), _relocations(cursor, "function_reloc")
        binaries = _binaries(cursor) if is_kernel else ()
        entries.append(
            BodyEntry(
                is_kernel, name, offset, size, cursor.where(), rest[0] if is_kernel else 0, linkage, *relocs, binaries
            )
        )
    return tuple(entries)


def _relocations(cursor: Cursor, name: str) -> tuple[tuple[int, int], ...]:
    count = cursor.count("H", f"num_{name}", RELOCATION.size)
    pairs = (cursor.record(RELOCATION) for _ in range(count))
    return tuple((symbolic, resolved) for symbolic, resolved in pairs)


def _binaries(cursor: Cursor) -> tuple[BinaryPlace, ...]:
    places = []
    for i in range(cursor.count("B", "num_gen_binaries", GEN_BINARY.size)):
        record_offset = cursor.pos
        place = BinaryPlace(*cursor.record(GEN_BINARY))
        if place.offset + place.size > len(cursor.data):
            raise cursor.error("the Gen binary ends past the end of the file", f"gen_binaries[{i}]", record_offset)
        places.append(place)
    return tuple(places)


def _file_variables(cursor: Cursor, layout: ObjectLayout) -> tuple[FileVariable, ...]:
    count = cursor.count("H", "num_variables", 1 + 2 + FILE_VARIABLE.size + 1)
    variables = []
    for _ in cursor.each("variables", count):
        linkage = cursor.integer("B", "linkage")
        name = cursor.text(cursor.integer("H", "name_len"), "name")
        bits, num_elements = cursor.record(FILE_VARIABLE)
        attributes = read_attributes(cursor, layout, cursor.integer("B", "attribute_count"), None)
        variables.append(FileVariable(linkage, name, TYPE_BY_CODE[bits & 15], bits >> 4, num_elements, attributes))
    return tuple(variables)


def read_attributes(cursor: Cursor, layout: ObjectLayout, count: int, pool: _Pool | None) -> tuple[Attribute, ...]:
    """Read ``count`` attributes; those of file variables have no known string pool.

    Raises CodecError if the bytes end too early, or a name is invalid.
    """
    if not count:
        return ()
    if count * layout.attribute.size > cursor.end - cursor.pos:
        raise cursor.error(f"the count of attributes is {count}, but too few bytes are left", "attribute_count")
    attributes = []
    for record_offset in cursor.each("attributes", count):
        name_index, size = cursor.record(layout.attribute)
        if pool is not None:
            pool.check(cursor, name_index, record_offset)
            pool.check_word(cursor, name_index, record_offset)
        attributes.append(Attribute(name_index, size, cursor.take(size, "value")))
    return tuple(attributes)


def read_body(data: bytes, header: Header, entry: BodyEntry) -> ObjectBody:
    """Return a kernel object up to its instructions.

    Raises CodecError if its declarations are cut off, or its instructions lie outside of its bytes or inside its
    declarations.
    """
    if entry.is_external:
        return ObjectBody(Kernel(entry.is_kernel, (entry.name,), linkage=entry.linkage), 0, 0)
    layout = header.layout
    cursor = Cursor(data, entry.offset, entry.offset + entry.size, entry.path)
    strings = [cursor.string(f"strings[{i}]") for i in range(cursor.count(layout.index, "string_count", 1))]
    # Entry 0 is the name; in objects that follow seed 000 it is empty, and the header has the name.
    strings[:1] = [entry.name]
    pool = _Pool(strings, is_strict=layout.is_strict)
    cursor.integer(layout.index, "name_index")
    variables = _variables(cursor, layout, pool)
    addresses = _states(cursor, layout, "H", "addresses", pool)
    predicates = _states(cursor, layout, "H", "predicates", pool)
    label_count = cursor.count("H", "label_count", layout.label.size)
    labels = _read_named(cursor, layout, "labels", label_count, layout.label, LabelEntry, pool)
    samplers = _states(cursor, layout, "B", "samplers", pool)
    surfaces = _states(cursor, layout, "B", "surfaces", pool)
    vmes = _states(cursor, layout, "B", "vmes", pool)
    inputs = _inputs(cursor, layout) if entry.is_kernel else ()
    record_offset = cursor.pos
    size, start = cursor.record(SIZE_ENTRY)
    argument_sizes = (0, 0) if entry.is_kernel else cursor.record(FUNCTION_SIZES)
    attributes = read_attributes(cursor, layout, cursor.integer("H", "attribute_count"), pool)
    if cursor.pos == cursor.end and any(binary.size for binary in entry.binaries):
        size, start = 0, entry.size  # a fat object from which the instructions have been stripped
    if entry.offset + start < cursor.pos:
        raise cursor.error(f"instructions begin at 0x{start:x}, inside the declarations", "entry", record_offset + 4)
    if start + size > entry.size:
        raise cursor.error("instructions end past the end of their kernel", "size", record_offset)
    kernel = Kernel(
        entry.is_kernel,
        tuple(strings),
        variables,
        addresses,
        predicates,
        labels,
        samplers,
        surfaces,
        vmes,
        inputs,
        attributes,
        input_size=argument_sizes[0],
        return_value_size=argument_sizes[1],
        linkage=entry.linkage,
        variable_relocs=entry.variable_relocs,
        function_relocs=entry.function_relocs,
    )
    return ObjectBody(kernel, entry.offset + start, entry.offset + start + size)


class _Pool:
    """The strings of a body, by number."""

    def __init__(self, strings: list[str], *, is_strict: bool) -> None:
        self.strings = strings
        self._is_strict = is_strict

    def check(self, cursor: Cursor, index: int, offset: int) -> None:
        """Refuse the number of a missing string, in the record at ``offset``."""
        if self._is_strict and index >= len(self.strings):
            raise cursor.error(f"there is no string {index}; there are {len(self.strings)}", "name_index", offset)

    def check_word(self, cursor: Cursor, index: int, offset: int) -> None:
        """Refuse the name of an attribute that no text can express, or that would start another line of it."""
        name = self.strings[index] if index < len(self.strings) else ""
        if not IDENTIFIER.match(name):
            raise cursor.error(f"{name!r} is not the name of an attribute", "name_index", offset)


def _variables(cursor: Cursor, layout: ObjectLayout, pool: _Pool) -> tuple[Variable, ...]:
    record = layout.variable
    count = cursor.count(layout.index, "variable_count", record.size)
    variables = []
    for record_offset in cursor.each("variables", count):
        name, bits, elements, alias, alias_offset, alias_scope, attribute_count = cursor.record(record)
        pool.check(cursor, name, record_offset)
        if layout.is_strict and alias_scope:
            raise cursor.error(f"alias scope {alias_scope}: only 0, the body, has a text", "alias_scope", record_offset)
        attributes = read_attributes(cursor, layout, attribute_count, pool)
        variables.append(
            Variable(name, TYPE_BY_CODE[bits & 15], bits >> 4, elements, alias, alias_offset, alias_scope, attributes)
        )
    return tuple(variables)


def _states(cursor: Cursor, layout: ObjectLayout, count_code: str, kind: str, pool: _Pool) -> tuple[StateVariable, ...]:
    count = cursor.count(count_code, f"num_{kind}", layout.state.size)
    return _read_named(cursor, layout, kind, count, layout.state, StateVariable, pool)


def _read_named(
    cursor: Cursor, layout: ObjectLayout, kind: str, count: int, record: Record,
    make: Callable[[int, int, tuple[Attribute, ...]], Item], pool: _Pool,
) -> tuple[Item, ...]:  # fmt: skip
    items = []
    for record_offset in cursor.each(kind, count):
        name, number, attribute_count = cursor.record(record)
        pool.check(cursor, name, record_offset)
        items.append(make(name, number, read_attributes(cursor, layout, attribute_count, pool)))
    return tuple(items)


def _inputs(cursor: Cursor, layout: ObjectLayout) -> tuple[Input, ...]:
    count = cursor.count(layout.input_count, "num_inputs", layout.input.size)
    inputs = []
    for record_offset in cursor.each("inputs", count):
        kind, variable, offset, size = cursor.record(layout.input)
        if layout.is_strict and kind & 7 > 2:
            raise cursor.error(f"class {kind & 7} of an input is not 0 to 2", "kind", record_offset)
        inputs.append(Input(kind, variable, offset, size, kind >> 3 in RESERVED_PROVENANCES))
    return tuple(inputs)


@dataclass(frozen=True, slots=True)
class BodySummary:
    """The entry of a kernel or function in ``dis --summary``. ``kernel`` has its declarations and no instructions."""

    kernel: Kernel
    offset: int
    size: int
    input_offset: int
    code_size: int
    binaries: tuple[BinaryPlace, ...]

    @property
    def name(self) -> str:
        """The name of the kernel or function."""
        return self.kernel.name

    @property
    def inputs(self) -> tuple[tuple[str, Input], ...]:
        """Each input with its name."""
        return tuple((_input_name(self.kernel, item), item) for item in self.kernel.inputs)

    @property
    def attributes(self) -> tuple[tuple[str, bytes], ...]:
        """Names and values of the kernel's attributes."""
        return tuple((self.kernel.string(a.name_index), a.data) for a in self.kernel.attributes)


@dataclass(frozen=True, slots=True)
class Summary:
    """The contents of an object without its instructions."""

    version: tuple[int, int]
    size: int
    kernels: tuple[BodySummary, ...]
    functions: tuple[BodySummary, ...]
    variables: tuple[FileVariable, ...]


def summary(data: bytes) -> Summary:
    """Return version, kernels, functions, inputs, attributes, sizes and Gen binaries of an object.

    Raises CodecError if the bytes are not an object that can be read.
    """
    header = read_header(data)
    kernels = tuple(_summary(data, header, entry) for entry in header.kernels)
    functions = tuple(_summary(data, header, entry) for entry in header.functions)
    return Summary(header.layout.version, len(data), kernels, functions, header.variables)


def _summary(data: bytes, header: Header, entry: BodyEntry) -> BodySummary:
    body = read_body(data, header, entry)
    size = body.code_end - body.code_start
    return BodySummary(body.kernel, entry.offset, entry.size, entry.input_offset, size, entry.binaries)


def _input_name(kernel: Kernel, item: Input) -> str:
    match item.kind & 7:
        case 1:
            declared, first_id = kernel.samplers, FIRST_SAMPLER
        case 2:
            declared, first_id = kernel.surfaces, FIRST_SURFACE
        case _:
            return kernel.variable_name(item.id)
    index = item.id - first_id
    return kernel.string(declared[index].name_index) if 0 <= index < len(declared) else str(item.id)
