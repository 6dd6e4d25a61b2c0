"""Finds templates in C++ that a call gets together with their constraints, such as ``InlineAsm::get`` of LLVM.

The template is the argument before the constraints: strings, or a variable that strings are assigned to. A variable with
a value that depends on the path through the function is skipped.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from visa_lsp.embed.blocks import CALL_CONSTRAINT, operands_named, writes_general
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from visa_lsp.embed.blocks import Operand

CONSTRAINTS: Final = re.compile(rf'"\s*({CALL_CONSTRAINT}(?:\s*,\s*{CALL_CONSTRAINT})*)\s*"')
_ASSIGNMENT: Final = re.compile(
    r"(?<![\w.])(?<!->)([A-Za-z_]\w*+)\s*+(?:\[\s*+\]\s*+)?"
    r"(?:=(?!=)|\+=|<<|\.\s*+append\b|\(\s*+(?=[RuUL]*+8?\")|\{\s*+(?=[RuUL]*+8?\"))"
)
_MAX_ARGUMENTS: Final = 64  # of a call whose template is read, because each one is searched for the one before it
_STRINGS: Final = frozenset({"string_literal", "concatenated_string", "raw_string_literal"})


def operands_of(text: str, constraints: Node) -> tuple[Operand, ...]:
    """Return the operands that a string of constraints names; empty unless one of them is written as vISA's are."""
    written = CONSTRAINTS.match(text, constraints.start_byte)
    if written is None:
        return ()
    span = Span(constraints.start_byte, constraints.end_byte)
    operands = operands_named((word.strip() for word in written[1].split(",")), span)
    return operands if writes_general(operands) else ()


def find_template(constraints: Node) -> Node | None:
    """Return the argument of a call before its constraints, if it is a string or a name."""
    arguments = constraints.parent
    if arguments is None or arguments.type != "argument_list" or arguments.named_child_count > _MAX_ARGUMENTS:
        return None
    node = constraints.prev_named_sibling
    while node is not None and node.type == "comment":
        node = node.prev_named_sibling
    return node if node is not None and node.type in _STRINGS | {"identifier"} else None


def names_assembly(text: str, constraints: Node) -> bool:
    """Return whether the called function has a name of inline assembly; ``printf("%s", "=rw")`` has not."""
    call = constraints.parent.parent if constraints.parent is not None else None
    called = call.child_by_field_name("function") if call is not None else None
    return called is not None and "asm" in text[called.start_byte : called.end_byte].lower()


def is_string(node: Node) -> bool:
    """Return whether a node is a string or adjacent strings."""
    return node.type in _STRINGS


class Assignments:
    """The places of a text where variables get a value or a longer one, each from the name to the operator's end."""

    def __init__(self, text: str, function_at: Callable[[int], int]) -> None:
        self._function_at = function_at  # the number of the function around an offset; -1 outside of all
        self._by_name: dict[str, list[Span]] = {}
        for hit in _ASSIGNMENT.finditer(text):
            self._by_name.setdefault(hit[1], []).append(Span(hit.start(), hit.end()))
        self._outer: dict[str, list[Span]] = {}

    def find(self, name: str, function: Span | None, end: int) -> list[Span]:
        """Return those of a name before an offset in a function, or else outside of all functions."""
        places = self._by_name.get(name, [])
        inside = _between(places, function.start, end) if function is not None else []
        if inside:
            return inside
        if name not in self._outer:
            self._outer[name] = [place for place in places if self._function_at(place.start) < 0]
        return _between(self._outer[name], 0, end)


def _between(places: list[Span], start: int, end: int) -> list[Span]:
    first, last = (bisect_left(places, offset, key=lambda place: place.start) for offset in (start, end))
    return places[first:last]
