"""A resolved program as text that reads as the compilers' own dumps do, and assembles back to the same object.

Declarations come in the order in which the object's string pool names them, which is the order of the text that made
it. Names that no text can hold (older objects) are replaced by names that say the class and number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.isa import predefined
from visa_lsp.isa.attributes import VARIABLE_ATTRIBUTES, AttributeKind
from visa_lsp.isa.operands import ALIGN_TEXT
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, Platform, platform_named
from visa_lsp.program.operand_text import IDENTIFIER, Names, instruction, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.program.model import Attribute, Input, Inst, Kernel, Module, StateVariable, Variable

_COMMENT_COLUMN: Final = 81
_LABEL: Final = re.compile(r"[A-Za-z_$@?][A-Za-z0-9_$@?-]*\Z")
_TAKEN: Final = frozenset(predefined.VARIABLE_BY_NAME) | {"T1", "T2", "TSS", "S31"}


def module_text(module: Module, platform: Platform | None = None, *, comments: bool = True) -> str:
    """The text of a module. The platform gives the register size that ``&V[..]`` offsets need; default TGLLP."""
    chosen = platform or platform_named(DEFAULT_PLATFORM)
    assert chosen is not None
    lines = [".version 4.1"]
    for body in module.bodies:
        lines += _body(body, chosen, comments=comments)
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def names_of(kernel: Kernel, platform: Platform) -> Names:
    """The names that the text of a kernel uses."""
    taken: set[str] = set(_TAKEN)
    general = {v.number: v.name for v in predefined.VARIABLES}
    types = {v.number: v.type for v in predefined.VARIABLES}
    first = predefined.FIRST_VARIABLE
    general.update(_unique(kernel, ((first + i, v.name_index) for i, v in enumerate(kernel.variables)), "V", taken))
    types.update({first + i: v.type for i, v in enumerate(kernel.variables)})
    surface = {s.number: s.name for s in predefined.SURFACES}
    sampler = {s.number: s.name for s in predefined.SAMPLERS}

    def states(items: tuple[StateVariable, ...], start: int, letter: str) -> dict[int, str]:
        return _unique(kernel, ((start + i, v.name_index) for i, v in enumerate(items)), letter, taken)

    address = states(kernel.addresses, predefined.FIRST_ADDRESS, "A")
    predicate = states(kernel.predicates, predefined.FIRST_PREDICATE, "P")
    sampler.update(states(kernel.samplers, predefined.FIRST_SAMPLER, "S"))
    surface.update(states(kernel.surfaces, predefined.FIRST_SURFACE, "T"))
    labels: dict[int, str] = {}
    seen: set[str] = set()
    for number, label in enumerate(kernel.labels):
        name = kernel.string(label.name_index)
        if not _LABEL.match(name) or name in seen:
            name = f"L{number}_{len(kernel.labels)}"
        seen.add(name)
        labels[number] = name
    return Names(general, types, address, predicate, sampler, surface, labels, kernel.strings, platform.grf_bytes)


def _unique(kernel: Kernel, items: Iterable[tuple[int, int]], letter: str, taken: set[str]) -> dict[int, str]:
    """Names for ids, the pool's own where text can say them and no other variable has them."""
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


def _body(kernel: Kernel, platform: Platform, *, comments: bool) -> Iterator[str]:
    names = names_of(kernel, platform)
    yield f"{'.kernel' if kernel.is_kernel else '.global_function'} {quoted(kernel.name)}"
    yield ""
    if comments:
        yield from _predefined_block()
    yield from _declarations(kernel, names)
    pending: str | None = None
    for number, inst in enumerate(kernel.instructions):
        label = _label_of(inst, names)
        if label is not None and inst.row.mnemonic == ".function":
            yield f".function {quoted(label)}"
            yield ""
            yield f"{label}:"
            continue
        if label is not None:
            yield ""
            yield f"{label}:"
            continue
        pending = f"    {instruction(names, inst)}"
        yield f"{pending.ljust(_COMMENT_COLUMN - 1)} /// ${number}" if comments else pending


def _label_of(inst: Inst, names: Names) -> str | None:
    if not inst.row.opens_label:
        return None
    number = inst.values[0]
    return names.labels.get(number, f"L{number}") if isinstance(number, int) else None


def _predefined_block() -> Iterator[str]:
    yield "/// VISA Predefined Variables"
    for variable in predefined.VARIABLES:
        yield f"// .decl V{variable.number} v_type=G v_name={variable.name}"
    for surface in predefined.SURFACES:
        yield f"// .decl T{surface.number} v_type=T v_name={surface.name}"
    yield ""


def _declarations(kernel: Kernel, names: Names) -> list[str]:
    """Declarations by pool order, then inputs and attributes."""
    lines: list[tuple[int, str]] = []
    for number, variable in enumerate(kernel.variables, predefined.FIRST_VARIABLE):
        lines.append((variable.name_index, _general(kernel, names, names.general[number], variable)))
    for letter, items, table, first in (
        ("A", kernel.addresses, names.address, predefined.FIRST_ADDRESS),
        ("P", kernel.predicates, names.predicate, predefined.FIRST_PREDICATE),
        ("S", kernel.samplers, names.sampler, predefined.FIRST_SAMPLER),
        ("T", kernel.surfaces, names.surface, predefined.FIRST_SURFACE),
    ):
        for number, state in enumerate(items, first):
            attrs = _attrs(kernel, state.attributes)
            text = f".decl {table[number]} v_type={letter} num_elts={state.num_elements}{attrs}"
            lines.append((state.name_index, text))
    lines.sort(key=lambda item: item[0])
    out = [text for _, text in lines]
    out += [_input(names, entry) for entry in kernel.inputs]
    # An attribute behind the last label was appended by the assembler, which will do so again.
    out += [_attribute(kernel, a) for a in kernel.attributes if not _implied(kernel, a)]
    return out


def _implied(kernel: Kernel, attribute: Attribute) -> bool:
    last = attribute.name_index == len(kernel.strings) - 1
    return (
        last
        and kernel.string(attribute.name_index) == "Target"
        and attribute.data == b"\x01"
        and bool(kernel.labels)
        and (max(label.name_index for label in kernel.labels) < attribute.name_index)
    )


def _general(kernel: Kernel, names: Names, name: str, variable: Variable) -> str:
    parts = [f".decl {name} v_type=G type={variable.type.name} num_elts={variable.num_elements}"]
    if variable.align:
        parts.append(f"align={ALIGN_TEXT.get(variable.align, variable.align)}")
    if variable.alias_index:
        parts.append(f"alias=<{names.general.get(variable.alias_index, 'V0')}, {variable.alias_offset}>")
    return " ".join(parts) + _attrs(kernel, variable.attributes)


def _attrs(kernel: Kernel, attributes: tuple[Attribute, ...]) -> str:
    items = []
    for attribute in attributes:
        name = kernel.string(attribute.name_index)
        known = VARIABLE_ATTRIBUTES.get(name)
        flag = attribute.size == 0 or (known is not None and known.kind is AttributeKind.FLAG)
        items.append(name if flag else f"{name}={int.from_bytes(attribute.data, 'little')}")
    return f" attrs={{{', '.join(items)}}}" if items else ""


def _input(names: Names, entry: Input) -> str:
    table = (names.general, names.sampler, names.surface)[min(entry.kind & 3, 2)]
    provenance = entry.kind >> 3 & 31
    directive = f".implicit_UNDEFINED_{provenance}" if provenance else ".input"
    return f"{directive} {table.get(entry.id, 'V0')} offset={entry.offset} size={entry.size}"


def _attribute(kernel: Kernel, attribute: Attribute) -> str:
    name = kernel.string(attribute.name_index)
    if name == "Target" and attribute.size == 1:
        target = "cm" if attribute.data == bytes(1) else "3d"
        return f".kernel_attr Target={quoted(target)}"
    if attribute.size == 0:
        return f".kernel_attr {name}"
    if len(attribute.data) == 4 and attribute.size == 4:
        return f".kernel_attr {name}={int.from_bytes(attribute.data, 'little')}"
    return f".kernel_attr {name}={quoted(attribute.data.decode('latin-1'))}"
