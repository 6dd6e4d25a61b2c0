"""Prints a resolved program in the form of the compilers' dumps; the text assembles to the same object.

Declarations are in the order of their names in the object's string pool, which is that of the original text. Names that
no text can hold (older objects) are replaced by names with the class and number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

from msgspec import structs

from visa_lsp.isa import predefined
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES, VARIABLE_ATTRIBUTES, AttributeKind
from visa_lsp.isa.model import LABEL_KINDS, STRING_KINDS, Dialect, FieldKind, FlowClass
from visa_lsp.isa.operands import ALIGN_TEXT
from visa_lsp.isa.platforms import Platform, since
from visa_lsp.isa.table import TABLE
from visa_lsp.program import object_bits
from visa_lsp.program.grf import GrfSize, assembler_grf, comment, default_platform, grf_of, needs_grf
from visa_lsp.program.model import (
    NULL_RAW,
    Address,
    AddressOf,
    Attribute,
    General,
    Indirect,
    Input,
    Inst,
    Kernel,
    Module,
    Predicate,
    PredicateOperand,
    RawOperand,
    StateVariable,
    Variable,
)
from visa_lsp.program.operand_text import IDENTIFIER, OperandNames, instruction, quote_string

_COMMENT_COLUMN: Final = 81
_NEWEST: Final = since("BMG")  # because all compilers for these platforms print text 4.2
_LABEL: Final = re.compile(r"[A-Za-z_$@?][A-Za-z0-9_$@?-]*\Z")
_TAKEN: Final = frozenset({*predefined.VARIABLE_BY_NAME, "T1", "T2", "TSS", "S31"})


class Subject(Enum):
    """The subject of a line of the text; the values are the letters of declarations, if any."""

    GENERAL = "G"
    ADDRESS = "A"
    PREDICATE = "P"
    SAMPLER = "S"
    SURFACE = "T"
    INPUT = "input"
    ATTRIBUTE = "attribute"
    CODE = "instruction"
    BODY = "kernel or function"
    NONE = "nothing of the program"


class TextLine(NamedTuple):
    """A line with its subject: ``number`` is the number of a variable, or the index in a list of the kernel."""

    text: str
    subject: Subject = Subject.NONE
    number: int = -1


def module_text(module: Module, platform: Platform | None = None, *, comments: bool = True) -> str:
    """Return the text of a module.

    The platform determines the register size for ``&V[..]`` offsets; without a platform the object does. The dialect is
    4.1, from Xe2 on 4.2. A text with ``&V[..]`` states the size in a comment for the assembler. Unless ``comments``, it
    does so only if the assembler would derive another size.
    """
    lines = [line.text for line in module_lines(module, platform, comments=comments)]
    return "\n".join(lines).rstrip("\n") + "\n"


def module_lines(module: Module, platform: Platform | None = None, *, comments: bool = True) -> Iterator[TextLine]:
    """Yield the lines of ``module_text`` with their subjects; for ``Subject.BODY`` the number is that of the body."""
    size = GrfSize(platform.grf_bytes, platform.name) if platform else grf_of(module)
    chosen = platform or default_platform(size.bytes)
    yield TextLine(f".version {'4.2' if chosen.name in _NEWEST else '4.1'}")
    if needs_grf(module.bodies) and (comments or size.bytes != assembler_grf(module.bodies)):
        yield TextLine(comment(size))
    defined = {body.name for body in module.bodies}
    for number, body in enumerate(module.bodies):
        yield from _body(body, number, chosen, defined, comments=comments)
        yield TextLine("")


def names_of(kernel: Kernel, platform: Platform) -> OperandNames:
    """Return the names in the text of a kernel."""
    taken: set[str] = set(_TAKEN)
    general = {v.number: v.name for v in predefined.VARIABLES}
    types = {v.number: v.type for v in predefined.VARIABLES}
    first_number = predefined.FIRST_VARIABLE
    general.update(
        _unique(kernel, ((first_number + i, v.name_index) for i, v in enumerate(kernel.variables)), "V", taken)
    )
    types.update({first_number + i: v.type for i, v in enumerate(kernel.variables)})
    surface = {s.number: s.name for s in predefined.SURFACES}
    sampler = {s.number: s.name for s in predefined.SAMPLERS}

    def states(items: tuple[StateVariable, ...], start: int, letter: str) -> dict[int, str]:
        return _unique(kernel, ((start + i, v.name_index) for i, v in enumerate(items)), letter, taken)

    address = states(kernel.addresses, predefined.FIRST_ADDRESS, "A")
    predicate = states(kernel.predicates, predefined.FIRST_PREDICATE, "P")
    sampler.update(states(kernel.samplers, predefined.FIRST_SAMPLER, "S"))
    surface.update(states(kernel.surfaces, predefined.FIRST_SURFACE, "T"))
    labels = _label_names(kernel)
    tables = (general, address, predicate, sampler, surface)
    every = frozenset({*predefined.SURFACE_ALIASES, *(name for table in tables for name in table.values())})
    size = platform.grf_bytes
    return OperandNames(
        general, types, address, predicate, sampler, surface, labels, kernel.strings, size, taken=every
    )  # fmt: skip


def _label_names(kernel: Kernel) -> dict[int, str]:
    """Return names of labels: those of the pool, if legal in text; names of subroutines are quoted and always legal."""
    subroutines = {inst.values[0] for inst in kernel.instructions if _opens_subroutine(inst)}
    labels: dict[int, str] = {}
    seen: set[str] = set()
    for number, label in enumerate(kernel.labels):
        name = kernel.string(label.name_index) if label.name_index else ""  # because an empty name is not stored
        if name in seen or not (number in subroutines or _LABEL.match(name)):
            name = f"L{number}_{len(kernel.labels)}"
        seen.add(name)
        labels[number] = name
    return labels


def _opens_subroutine(inst: Inst) -> bool:
    return inst.row.opens_label and inst.row.flow is FlowClass.SUBROUTINE


def _unique(kernel: Kernel, items: Iterable[tuple[int, int]], letter: str, taken: set[str]) -> dict[int, str]:
    """Return names for ids: those of the pool, if legal in text and unique."""
    out = {}
    for number, index in items:
        name = kernel.string(index)
        if not IDENTIFIER.match(name) or name in taken:
            name = f"{letter}{number:04d}"
            while name in taken:
                name += "_"
        taken.add(name)
        out[number] = name
    return out


def _body(kernel: Kernel, place: int, platform: Platform, defined: set[str], *, comments: bool) -> Iterator[TextLine]:
    names = structs.replace(names_of(kernel, platform), v42=platform.name in _NEWEST)
    yield TextLine(
        f"{'.kernel' if kernel.is_kernel else '.global_function'} {quote_string(kernel.name)}", Subject.BODY, place
    )
    yield from (TextLine(f".funcdecl {quote_string(name)}") for name in _list_called(kernel) if name not in defined)
    yield TextLine("")
    if comments:
        yield from map(TextLine, _print_predefined())
    front, late = _declarations(kernel, names, comments=comments)
    yield from front
    for number, inst in enumerate(kernel.instructions):
        yield from late.get(number, ())
        label = _label_of(inst, names)
        if label is not None and _opens_subroutine(inst):
            yield TextLine(f"{inst.row.mnemonic} {quote_string(label)}", Subject.CODE, number)
            if _LABEL.match(label):  # because dumps repeat it, without meaning
                yield TextLine("")
                yield TextLine(f"{label}:")
            continue
        if label is not None:
            yield TextLine("")
            yield TextLine(f"{label}:", Subject.CODE, number)
            continue
        text = f"    {instruction(names, _newest_form(inst) if names.v42 else inst)}"
        said = f"{text.ljust(_COMMENT_COLUMN - 1)} /// ${number}" if comments else text
        # Printed because the text would otherwise assemble to another object.
        bits = object_bits.comment(inst)
        yield TextLine(f"{said} {bits}" if bits else said, Subject.CODE, number)


def _list_called(kernel: Kernel) -> list[str]:
    """Return the functions that a kernel calls by name, in order; compilers declare them in kernels only."""
    if not kernel.is_kernel:
        return []
    calls = (inst for inst in kernel.instructions if inst.row.flow is FlowClass.FUNCTION_CALL)
    return list(dict.fromkeys(kernel.string(index) for inst in calls for index in _list_names(kernel, inst) if index))


def _newest_form(inst: Inst) -> Inst:
    """Return an instruction in its row of text 4.2, with defaults for the operands that 4.1 lacks."""
    if Dialect.V42 in inst.row.dialects:
        return inst
    kinds = [field.kind for field in inst.row.fields]
    for row in TABLE.siblings(inst.row):
        added = row.fields[len(kinds) :]
        if (
            row.opcode == inst.row.opcode
            and Dialect.V42 in row.dialects
            and kinds == [f.kind for f in row.fields[: len(kinds)]]
        ):
            defaults = (NULL_RAW if field.kind is FieldKind.RAW else field.default for field in added)
            return structs.replace(inst, row=row, values=(*inst.values, *defaults))
    return inst


def _label_of(inst: Inst, names: OperandNames) -> str | None:
    if not inst.row.opens_label:
        return None
    number = inst.values[0]
    return names.labels.get(number, f"L{number}") if isinstance(number, int) else None


def _print_predefined() -> Iterator[str]:
    yield "/// VISA Predefined Variables"
    for variable in predefined.VARIABLES:
        yield f"// .decl V{variable.number} v_type=G v_name={variable.name}"
    for surface in predefined.SURFACES:
        yield f"// .decl T{surface.number} v_type=T v_name={surface.name}"
    yield ""


def _declarations(
    kernel: Kernel, names: OperandNames, *, comments: bool
) -> tuple[list[TextLine], Mapping[int, list[TextLine]]]:
    """Return the lines of declarations, inputs and attributes: those before the code, and those before instructions by number.

    Usually all are before the code: declarations in pool order, then inputs and attributes. The assembler numbers
    strings in the order of the text; if the pool has another order, declarations and attributes are placed so that the
    order is the same.
    """
    absent = _Absent(names)
    lines: list[tuple[int, TextLine]] = []
    for number, variable in enumerate(kernel.variables, predefined.FIRST_VARIABLE):
        text = _general(kernel, names, names.general[number], variable, absent)
        lines.append((variable.name_index, TextLine(text, Subject.GENERAL, number)))
    for subject, items, table, first_number in (
        (Subject.ADDRESS, kernel.addresses, names.address, predefined.FIRST_ADDRESS),
        (Subject.PREDICATE, kernel.predicates, names.predicate, predefined.FIRST_PREDICATE),
        (Subject.SAMPLER, kernel.samplers, names.sampler, predefined.FIRST_SAMPLER),
        (Subject.SURFACE, kernel.surfaces, names.surface, predefined.FIRST_SURFACE),
    ):
        for number, state in enumerate(items, first_number):
            attrs = _attrs(kernel, state.attributes)
            text = f".decl {table[number]} v_type={subject.value} num_elts={state.num_elements}{attrs}"
            lines.append((state.name_index, TextLine(text, subject, number)))
    lines.sort(key=lambda item: item[0])
    inputs = [
        TextLine(_input(names, entry, absent, comments=comments), Subject.INPUT, place)
        for place, entry in enumerate(kernel.inputs)
    ]
    attributes = [
        (attribute.name_index, TextLine(attribute_text(kernel, attribute, comments=comments), Subject.ATTRIBUTE, place))
        for place, attribute in enumerate(kernel.attributes)
        # Omitted if it is the attribute that the assembler appends after the last name in the code.
        if not _is_implied(kernel, attribute)
    ]
    places = _places(kernel, [index for index, _ in (*lines, *attributes)])
    if places is None:
        return [line for _, line in lines] + inputs + [line for _, line in attributes], {}
    named = sorted((*lines, *attributes), key=lambda item: item[0])
    front = [line for index, line in named if not places[index]]
    # Inputs name no string, so that they can follow the last declaration.
    end = (
        max((position for position, line in enumerate(front) if line.subject is not Subject.ATTRIBUTE), default=-1) + 1
    )
    late: dict[int, list[TextLine]] = {}
    for index, line in named:
        if places[index]:
            late.setdefault(places[index], []).append(line)
    return [*front[:end], *inputs, *front[end:]], late


def _places(kernel: Kernel, indices: list[int]) -> dict[int, int] | None:
    """Return, by string, the instruction before which its line is placed; 0 means before the code.

    None if all lines are before the code in the given order, or if no text has the order of the pool.
    """
    if not indices or indices == list(
        range(len(predefined.POOL_PREFIX) + 1, len(predefined.POOL_PREFIX) + 1 + len(indices))
    ):
        return None
    first_uses: dict[int, int] = {}  # the first instruction that names a string
    for number, inst in enumerate(kernel.instructions):
        for index in _list_names(kernel, inst):
            first_uses.setdefault(index, number)
    first_uses.pop(0, None)  # the name is not in the pool
    in_code = list(first_uses)
    if in_code != sorted(in_code) or len(set(indices)) < len(indices) or not first_uses.keys().isdisjoint(indices):
        return None
    attributes = [attribute.name_index for attribute in kernel.attributes]
    if attributes != sorted(attributes):
        return None
    places = {index: max([first_uses[i] + 1 for i in in_code if i < index], default=0) for index in indices}
    return places if _is_declared_in_time(kernel, places) else None


def _is_declared_in_time(kernel: Kernel, places: Mapping[int, int]) -> bool:
    """Return whether all variables are declared before the inputs and instructions that use them."""
    if any(places.get(state.name_index) for group in (kernel.samplers, kernel.surfaces) for state in group):
        return False
    names: tuple[tuple[str, list[int], int], ...] = (
        ("V", [variable.name_index for variable in kernel.variables], predefined.FIRST_VARIABLE),
        ("A", [state.name_index for state in kernel.addresses], predefined.FIRST_ADDRESS),
        ("P", [state.name_index for state in kernel.predicates], predefined.FIRST_PREDICATE),
    )
    late = {
        (letter, number): place
        for letter, indices, first_number in names
        for number, index in enumerate(indices, first_number)
        if (place := places.get(index, 0))
    }
    if any(entry.kind & 7 == 0 and ("V", entry.id) in late for entry in kernel.inputs):
        return False
    last = max(late.values(), default=0)
    return all(
        late.get(use, 0) <= number
        for number, inst in enumerate(islice(kernel.instructions, last))
        for use in _list_used_variables(inst)
    )


def _list_used_variables(inst: Inst) -> Iterator[tuple[str, int]]:
    """Yield the general, address and predicate variables that an instruction uses, by letter and number."""
    for field, value in zip(inst.row.fields, inst.values, strict=True):
        for operand in value if isinstance(value, tuple) else (value,):
            match operand:
                case General() | RawOperand() | AddressOf():
                    yield "V", operand.var
                case Address() | Indirect():
                    yield "A", operand.var
                case Predicate() | PredicateOperand():
                    yield "P", operand.var
                case int() if field.kind is FieldKind.VARIABLE:
                    yield from ((letter, operand) for letter in "VAP")


def _is_implied(kernel: Kernel, attribute: Attribute) -> bool:
    index = attribute.name_index
    if index != len(kernel.strings) - 1 or kernel.string(index) != "Target" or attribute.data != b"\x01":
        return False
    return max(_list_names_in_code(kernel), default=index) < index


def _list_names_in_code(kernel: Kernel) -> Iterator[int]:
    """Yield the strings that instructions name, including those of labels."""
    for inst in kernel.instructions:
        yield from _list_names(kernel, inst)


def _list_names(kernel: Kernel, inst: Inst) -> Iterator[int]:
    """Yield the strings that an instruction names."""
    for field, value in zip(inst.row.fields, inst.values, strict=True):
        if field.kind in STRING_KINDS and isinstance(value, int) and value < len(kernel.strings):
            yield value
        elif field.kind in LABEL_KINDS:
            numbers = value if isinstance(value, tuple) else (value,)
            yield from (kernel.labels[n].name_index for n in numbers if isinstance(n, int) and n < len(kernel.labels))


def _general(kernel: Kernel, names: OperandNames, name: str, variable: Variable, absent: _Absent) -> str:
    parts = [f".decl {name} v_type=G type={variable.type.name} num_elts={variable.num_elements}"]
    if variable.align:
        parts.append(f"align={ALIGN_TEXT.get(variable.align, variable.align)}")
    is_declared = not variable.alias_index or variable.alias_index in names.general
    if variable.alias_index or variable.alias_offset:
        base = names.general.get(variable.alias_index) or absent.name("V", variable.alias_index)
        parts.append(f"alias=<{base}, {variable.alias_offset}>")
    said = "" if is_declared else _describe_absent("general", variable.alias_index)
    return " ".join(parts) + _attrs(kernel, variable.attributes) + said


def _attrs(kernel: Kernel, attributes: tuple[Attribute, ...]) -> str:
    items = [variable_attribute(kernel, attribute) for attribute in attributes]
    return f" attrs={{{', '.join(items)}}}" if items else ""


def variable_attribute(kernel: Kernel, attribute: Attribute) -> str:
    """Return an attribute of a variable in the form of its declaration."""
    name = kernel.string(attribute.name_index)
    definition = VARIABLE_ATTRIBUTES.get(name)
    flag = attribute.size == 0 or (definition is not None and definition.kind is AttributeKind.FLAG)
    return name if flag else f"{name}={int.from_bytes(attribute.data, 'little')}"


def _input(names: OperandNames, entry: Input, absent: _Absent, *, comments: bool) -> str:
    cls = min(entry.kind & 3, 2)
    table = (names.general, names.sampler, names.surface)[cls]
    provenance = entry.kind >> 3 & 31
    # The assembler encodes all names of provenances equally, so that only the number reproduces the byte.
    directive = f".implicit_UNDEFINED_{provenance}" if provenance else ".input"
    implicit = predefined.IMPLICIT_INPUTS.get(provenance) if comments else None
    said = f" /// {implicit.name}" if implicit is not None else ""
    name = table.get(entry.id)
    if name is None:
        name = absent.name("VST"[cls], entry.id)
        said += _describe_absent(("general", "sampler", "surface")[cls], entry.id)
    return f"{directive} {name} offset={entry.offset} size={entry.size}{said}"


class _Absent:
    """Unique names with the number for variables that an object uses but does not declare."""

    def __init__(self, names: OperandNames) -> None:
        self._names = names
        self._taken: set[str] | None = None
        self._given: dict[tuple[str, int], str] = {}

    def name(self, letter: str, number: int) -> str:
        given = self._given.get((letter, number))
        if given is not None:
            return given
        if self._taken is None:  # because damaged objects can have as many of these as variables
            names = self._names
            tables = (names.general, names.address, names.predicate, names.sampler, names.surface)
            self._taken = {name for table in tables for name in table.values()}
        name = f"{letter}{number:04d}"
        while name in self._taken:
            name += "_"
        self._given[letter, number] = name
        return name


def _describe_absent(what: str, number: int) -> str:
    return f" /// the object has no {what} variable {number}: it has been stripped, or is damaged"


def _is_text(data: bytes, number: int) -> bool:
    """Return whether the bytes of a short number are a text; multiples of 16 are sizes."""
    return number % 16 != 0 and data.isascii() and data.decode("ascii").isprintable()


def attribute_text(kernel: Kernel, attribute: Attribute, *, comments: bool) -> str:
    """Return an attribute of a kernel as a line."""
    name = kernel.string(attribute.name_index)
    if name == "Target" and attribute.data in (b"\0", b"\1"):
        target = "cm" if attribute.data == bytes(1) else "3d"
        return f".kernel_attr Target={quote_string(target)}"
    if attribute.size == 0:
        return f".kernel_attr {name}"
    definition = KERNEL_ATTRIBUTES.get(name)
    if definition is not None and definition.kind is AttributeKind.FLAG and attribute.size in (1, 2, 4):
        return f".kernel_attr {name}=1"  # because a flag has no value in text, and the assembler writes only this one
    is_number = definition is not None and definition.kind is AttributeKind.INTEGER
    is_number &= name != "Target" or attribute.size > 1  # because only those two have one byte
    # Older objects and other writers keep numbers in one or two bytes.
    if len(attribute.data) == attribute.size and (
        (is_number and attribute.size in (1, 2, 4)) or (definition is None and attribute.size == 4)
    ):
        number = int.from_bytes(attribute.data, "little")
        if attribute.size == 4 or not _is_text(attribute.data, number):
            return f".kernel_attr {name}={number}"
        said = f" /// {number}" if comments else ""
        return f".kernel_attr {name}={quote_string(attribute.data.decode('ascii'))}{said}"
    return f".kernel_attr {name}={quote_string(attribute.data.decode('utf-8', 'surrogateescape'))}"
