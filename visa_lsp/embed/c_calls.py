"""Finds templates in C++ that a call gets together with their constraints, such as ``InlineAsm::get`` of LLVM.

The template is the argument before the constraints: strings, or a variable that strings are assigned to. A variable with
a value that depends on the path through the function is skipped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.embed.blocks import GENERAL, Operand
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_CONSTRAINT: Final = r"[=+&]*(?:rw(?:\.u)?|i|n|P|\d{1,2})"
CONSTRAINTS: Final = re.compile(rf'"\s*({_CONSTRAINT}(?:\s*,\s*{_CONSTRAINT})*)\s*"')
_STRINGS: Final = frozenset({"string_literal", "concatenated_string", "raw_string_literal"})


def operands_of(text: str, constraints: Node) -> tuple[Operand, ...]:
    """Return the operands that a string of constraints names; empty unless one of them is written as vISA's are."""
    written = CONSTRAINTS.match(text, constraints.start_byte)
    if written is None:
        return ()
    span = Span(constraints.start_byte, constraints.end_byte)
    words = [word.strip() for word in written[1].split(",")]
    operands = tuple(Operand(number, "", word, "", span, word[0] in "=+") for number, word in enumerate(words))
    return operands if any(o.written and o.kind.startswith(GENERAL) for o in operands) else ()


def find_template(constraints: Node) -> Node | None:
    """Return the argument of a call before its constraints, if it is a string or a name."""
    if constraints.parent is None or constraints.parent.type != "argument_list":
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


def assignments(text: str, name: str, end: int) -> Iterator[Span]:
    """Yield the places before an offset where a variable gets a value or a longer one, each from the name to the operator's end."""
    sign = r"\s*(?:\[\s*\]\s*)?(?:=(?!=)|\+=|<<|\.\s*append\b|\(\s*(?=[RuUL]*8?\")|\{\s*(?=[RuUL]*8?\"))"
    for hit in re.finditer(rf"(?<![\w.])(?<!->){re.escape(name)}{sign}", text[:end]):
        yield Span(hit.start(), hit.end())
