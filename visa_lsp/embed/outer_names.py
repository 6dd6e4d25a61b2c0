"""Names with a meaning in a whole C-like text: macros that may occur between strings, and aliases of types.

Scopes are ignored: of two declarations of a name the later one counts, but a macro with parameters and several definitions
is unknown.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.embed.hidden_parts import VECTOR
from visa_lsp.embed.macros import Macro, callable_macros
from visa_lsp.embed.nodes import find_enclosing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_WORDS: Final = ("typedef", "using", "define")
_TYPES: Final = frozenset({"type_definition", "alias_declaration"})
_MACROS: Final = frozenset({"preproc_def", "preproc_function_def"})
_LAST_WORD: Final = re.compile(r"\w+(?=\s*\Z)")
MACRO: Final = re.compile(r"#[ \t]*define\s+(?P<name>\w+)(?P<parameters>\([^()]*\))?")


class OuterNames(Struct, frozen=True, dict=True):
    """Names, with their meanings.

    ``types``: as written, without pointers and arrays; ``macros``: None for one with parameters and several definitions.
    """

    types: dict[str, str]
    macros: dict[str, Macro | None]

    @cached_property
    def calls(self) -> frozenset[str]:
        """The macros whose calls make assembly that their definitions alone do not show."""
        return callable_macros(self.macros)


def outer_names(text: str, root: Node) -> OuterNames:
    """Return the names that a text declares, by its tree."""
    types: dict[str, str] = {}
    macros: dict[str, Macro | None] = {}
    offsets = sorted(offset for word in _WORDS for offset in places_of(text, word))
    last = -1
    for around in find_enclosing(root, offsets, _TYPES | _MACROS):
        node = around[-1] if around else None
        if node is None or node.start_byte == last:
            continue
        last = node.start_byte
        if node.type in _TYPES:
            _take_type(text, node, types)
        elif (head := MACRO.match(text, node.start_byte)) is not None:
            macro = Macro.of(head["parameters"], text[head.end() : node.end_byte].strip())
            is_other = macro.parameters is not None and macros.get(head["name"], macro) != macro
            macros[head["name"]] = None if is_other else macro
    return OuterNames(types, macros)


def places_of(text: str, word: str) -> Iterator[int]:
    """Yield the offsets of these characters, anywhere in the text."""
    offset = text.find(word)
    while offset >= 0:
        yield offset
        offset = text.find(word, offset + len(word))


def _take_type(text: str, node: Node, types: dict[str, str]) -> None:
    kind = node.child_by_field_name("type")
    name = node.child_by_field_name("declarator") or node.child_by_field_name("name")
    if kind is not None and name is not None and name.type == "type_identifier":
        vector = VECTOR.search(text, node.start_byte, node.end_byte)
        written = text[kind.start_byte : kind.end_byte] + (f" {vector[0]}" if vector is not None else "")
        types[text[name.start_byte : name.end_byte]] = _parameters(text, node) + written


def _parameters(text: str, node: Node) -> str:
    """Return the parameter names of the template of a name, in brackets; empty without a template."""
    around = node.parent
    given = around.child_by_field_name("parameters") if around is not None else None
    if given is None or around is None or around.type != "template_declaration":
        return ""
    words = [_LAST_WORD.search(text, p.start_byte, p.end_byte) for p in given.named_children]
    return "<" + ",".join(word[0] if word is not None else "" for word in words) + ">"
