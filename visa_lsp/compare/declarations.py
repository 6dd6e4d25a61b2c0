"""The differences above the code: declarations, inputs, attributes.

Order is ignored: declarations are found by the renaming, inputs by the variable that they fill, attributes by name.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.compare.difference_words import arrow, name_in
from visa_lsp.compare.model import LABEL, ComparedBody, Ref
from visa_lsp.compare.refs import input_ref, refs_of, state
from visa_lsp.isa.operands import ALIGN_TEXT
from visa_lsp.program.text_form import attribute_text, variable_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.compare.renaming import Renaming
    from visa_lsp.program.model import Input, Kernel
    from visa_lsp.program.operand_text import OperandNames

_NONE: Final = "none"


class HeadDifference(NamedTuple):
    """A difference: its lines in the two bodies, None for a missing line, the kind of line, and the words."""

    a: int | None
    b: int | None
    noun: str
    what: str


def declaration_findings(
    a: ComparedBody, b: ComparedBody, renaming: Renaming, its_names: OperandNames
) -> Iterator[HeadDifference]:
    """Yield every difference of declarations, inputs and attributes."""
    yield from _variables(a, b, renaming, its_names)
    yield from _inputs(a, b, renaming, its_names)
    yield from _attributes(a, b)


def _variables(
    a: ComparedBody, b: ComparedBody, renaming: Renaming, its_names: OperandNames
) -> Iterator[HeadDifference]:
    taken = set(renaming.values())
    for ref in refs_of(a.kernel):
        if ref[0] == LABEL:
            continue  # labels are compared with the code
        other, line = renaming.get(ref), a.lines.get(ref, a.first)
        if other is None:
            yield HeadDifference(line, None, "declaration", f"{a.name(ref)}: {_describe_ref(a.kernel, ref, a.names)}")
            continue
        ours, theirs = _properties(a.kernel, ref, a.names), _properties(b.kernel, other, its_names)
        parts = [
            f"{key} {arrow(ours.get(key, _NONE), theirs.get(key, _NONE))}"
            for key in {**ours, **theirs}
            if ours.get(key) != theirs.get(key)
        ]
        if parts:
            yield HeadDifference(line, b.lines.get(other, b.first), "declaration", f"{a.name(ref)}: {', '.join(parts)}")
    for other in refs_of(b.kernel):
        if other[0] != LABEL and other not in taken:
            said = f"{name_in(its_names, other)}: {_describe_ref(b.kernel, other, its_names)}"
            yield HeadDifference(None, b.lines.get(other, b.first), "declaration", said)


def _describe_ref(kernel: Kernel, ref: Ref, names: OperandNames) -> str:
    return " ".join(f"{key}={value}" for key, value in _properties(kernel, ref, names).items())


def _properties(kernel: Kernel, ref: Ref, names: OperandNames) -> dict[str, str]:
    """Return the properties of a declaration, by the words of the text."""
    letter, number = ref
    out: dict[str, str] = {}
    if letter == "G":
        variable = kernel.variable(number)
        if variable is None:
            return out
        out = {"type": variable.type.name, "num_elts": str(variable.num_elements)}
        out["align"] = ALIGN_TEXT.get(variable.align, str(variable.align))
        if variable.alias_index or variable.alias_offset:
            base = names.general.get(variable.alias_index, f"V{variable.alias_index}")
            out["alias"] = f"<{base}, {variable.alias_offset}>"
        attributes = variable.attributes
    else:
        declared = state(kernel, ref)
        if declared is None:
            return out
        out = {"v_type": letter, "num_elts": str(declared.num_elements)}
        attributes = declared.attributes
    if attributes:
        out["attrs"] = "{" + ", ".join(sorted(variable_attribute(kernel, attribute) for attribute in attributes)) + "}"
    return out


def _inputs(a: ComparedBody, b: ComparedBody, renaming: Renaming, its_names: OperandNames) -> Iterator[HeadDifference]:
    pairs = _same_inputs(a.kernel, b.kernel, renaming)
    for place, entry in enumerate(a.kernel.inputs):
        name = name_in(a.names, input_ref(entry))
        its_place = pairs.get(place)
        if its_place is None:
            yield HeadDifference(a.inputs[place], None, "input", f"{name}: {_input_said(entry)}")
            continue
        its = b.kernel.inputs[its_place]
        parts = [
            f"{word} {arrow(before, after)}"
            for word, before, after in (
                ("offset", entry.offset, its.offset),
                ("size", entry.size, its.size),
                ("provenance", entry.kind >> 3, its.kind >> 3),
            )
            if before != after
        ]
        if parts:
            yield HeadDifference(a.inputs[place], b.inputs[its_place], "input", f"{name}: {', '.join(parts)}")
    taken = set(pairs.values())
    for place, entry in enumerate(b.kernel.inputs):
        if place not in taken:
            said = f"{name_in(its_names, input_ref(entry))}: {_input_said(entry)}"
            yield HeadDifference(None, b.inputs[place], "input", said)


def _same_inputs(a: Kernel, b: Kernel, renaming: Renaming) -> dict[int, int]:
    """Return the places of inputs of corresponding variables."""
    theirs = _by_variable(b)
    places = {
        place: theirs.get((renaming.get(ref, ref), nth))
        for (ref, nth), place in _by_variable(a).items()
        if ref in renaming
    }
    return {place: other for place, other in places.items() if other is not None}


def _same_attributes(a: Kernel, b: Kernel) -> dict[int, int]:
    """Return the places of attributes of one name."""
    theirs = _by_name(b)
    return {place: theirs[key] for key, place in _by_name(a).items() if key in theirs}


def entry_pairs(a: ComparedBody, b: ComparedBody, renaming: Renaming) -> Iterator[tuple[int, int]]:
    """Yield the lines of inputs and attributes that both bodies have."""
    yield from ((a.inputs[i], b.inputs[j]) for i, j in _same_inputs(a.kernel, b.kernel, renaming).items())
    yield from ((_line(a, i), _line(b, j)) for i, j in _same_attributes(a.kernel, b.kernel).items())


def _by_variable(kernel: Kernel) -> dict[tuple[Ref, int], int]:
    """Return the place of each input by its variable and the number of earlier inputs of that variable."""
    places: dict[tuple[Ref, int], int] = {}
    count: Counter[Ref] = Counter()
    for place, entry in enumerate(kernel.inputs):
        ref = input_ref(entry)
        places[ref, count[ref]] = place
        count[ref] += 1
    return places


def _input_said(entry: Input) -> str:
    return f"offset={entry.offset} size={entry.size}"


def _attributes(a: ComparedBody, b: ComparedBody) -> Iterator[HeadDifference]:
    pairs = _same_attributes(a.kernel, b.kernel)
    for place in range(len(a.kernel.attributes)):
        name, said = _attribute(a.kernel, place)
        other = pairs.get(place)
        if other is None:
            yield HeadDifference(_line(a, place), None, "attribute", f"{name}: {said}")
        elif said != (its := _attribute(b.kernel, other)[1]):
            yield HeadDifference(_line(a, place), _line(b, other), "attribute", f"{name}: {arrow(said, its)}")
    taken = set(pairs.values())
    for place in range(len(b.kernel.attributes)):
        if place not in taken:
            yield HeadDifference(None, _line(b, place), "attribute", ": ".join(_attribute(b.kernel, place)))


def _by_name(kernel: Kernel) -> dict[tuple[str, int], int]:
    places: dict[tuple[str, int], int] = {}
    count: Counter[str] = Counter()
    for place, attribute in enumerate(kernel.attributes):
        name = kernel.string(attribute.name_index)
        places[name, count[name]] = place
        count[name] += 1
    return places


def _attribute(kernel: Kernel, place: int) -> tuple[str, str]:
    """Return name and value of an attribute in the form of the text; a flag has no value."""
    attribute = kernel.attributes[place]
    value = attribute_text(kernel, attribute, comments=False).partition("=")[2]
    return kernel.string(attribute.name_index), value or "set"


def _line(body: ComparedBody, place: int) -> int:
    """Return the line of an attribute, or the line of the body if the assembler added the attribute."""
    return body.attributes[place] if body.attributes[place] >= 0 else body.first
