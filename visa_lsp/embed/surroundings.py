"""What stands around the strings of a C-like text: comments, functions, macros, declarations, widths of sub-groups.

All of it is read off tree-sitter's tree, and with a text that has mistakes it is what the tree still says. It judges nothing.
Invariant: every span lies in the text; functions are in the order of their starts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.embed.languages import Host, parse
from visa_lsp.embed.nodes import nodes_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_SHAPES: Final = (
    ("comment", "opaque"), ("string_literal", "opaque"), ("char_literal", "opaque"), ("system_lib_string", "opaque"),
    ("function_definition", "function"), ("preproc_function_def", "macro"), ("preproc_def", "macro"),
    ("type_definition", "type"),
)  # fmt: skip
_SHAPES_OF_CPP: Final = (*_SHAPES, ("raw_string_literal", "opaque"), ("alias_declaration", "type"))
_LOCALS: Final = (
    ("declaration", "declaration"), ("parameter_declaration", "declaration"),
    ("compound_statement", "scope"), ("for_statement", "scope"), ("function_definition", "scope"),
)  # fmt: skip
_WIDTH: Final = re.compile(r"reqd_sub_group_size\s*\(\s*(\d{1,3})\s*\)|\bSIMD\s*=\s*(\d{1,3})\b")
_VECTOR: Final = re.compile(r"ext_vector_type\s*\(\s*\d+\s*\)")
_FARTHEST: Final = 64  # so many declarations of one name are looked at for the one that holds
_BEFORE: Final = re.compile(r"\b(?:__)?(?:global|local|constant|private|generic)\s+\Z")
_MOST_BEFORE: Final = 40
_WIDTHS: Final = frozenset({8, 16, 32})
_MACRO: Final = re.compile(r"#[ \t]*define\s+(?P<name>\w+)(?P<parameters>\([^()]*\))?")


class Function(Struct, frozen=True):
    """A function or a macro: blocks in it share labels and declarations. ``body`` is what stands behind its head."""

    name: str
    span: Span
    is_macro: bool = False
    parameters: tuple[str, ...] = ()
    body: Span = Span(0, 0)


class Declared(Struct, frozen=True):
    """A declaration of a C variable: its type as it is written, how deep its pointers and arrays go, where it holds."""

    name: str
    type: str
    depth: int
    span: Span
    scope: Span


class Surroundings:
    """What stands around strings in one text; ``outer`` is what stood around a text that this one was a part of."""

    def __init__(self, text: str, host: Host, outer: Surroundings | None = None) -> None:
        self.text = text
        self.host = host
        self._outer_text = outer
        self._tree = parse(text, host)
        found = nodes_of(self._tree.root_node, host, _SHAPES if host is Host.C else _SHAPES_OF_CPP)
        self.opaque = sorted(_span(node) for node in found.get("opaque", ()))
        self._opaque_starts = [s.start for s in self.opaque]
        functions = [self._function(node) for node in found.get("function", ())]
        self.macros = {m.name: m for m in map(self._macro, found.get("macro", ())) if m is not None}
        self.functions = sorted([*functions, *self.macros.values()], key=lambda f: (f.span.start, -f.span.end))
        self._starts = [f.span.start for f in self.functions]
        self._types = found.get("type", [])
        self._widths: dict[int, list[tuple[int, int]]] = {}
        self._locals: dict[int, dict[str, list[Declared]]] = {}

    def is_code(self, offset: int) -> bool:
        """Whether an offset is in no comment and no string."""
        at = bisect_right(self._opaque_starts, offset) - 1
        return at < 0 or offset >= self.opaque[at].end

    def comments(self) -> list[Span]:
        """Where comments stand; a string that only looks like one is none."""
        return [s for s in self.opaque if self.text.startswith(("//", "/*"), s.start)]

    @property
    def outermost(self) -> Surroundings:
        """What stands around the strings of the whole text, as it was when that was read."""
        return self._outer_text or self

    @property
    def is_one_function(self) -> bool:
        """Whether the text is one function from end to end, without mistakes."""
        whole = self.functions[0].span if self.functions else None
        return whole == Span(0, len(self.text)) and not self._tree.root_node.has_error

    def is_outermost(self, number: int) -> bool:
        """Whether a function is inside of no other."""
        return self._outer[number] < 0

    def macro(self, name: str) -> tuple[str, Function] | None:
        """The macro of a name, and the text that its places count in."""
        if name in self.macros:
            return self.text, self.macros[name]
        return self._outer_text.macro(name) if self._outer_text is not None else None

    @cached_property
    def _outer(self) -> list[int]:
        """For each function the number of the one around it, or -1."""
        outer: list[int] = []
        stack: list[int] = []
        for number, function in enumerate(self.functions):
            while stack and self.functions[stack[-1]].span.end <= function.span.start:
                stack.pop()
            outer.append(stack[-1] if stack else -1)
            stack.append(number)
        return outer

    def function_at(self, offset: int) -> int:
        """The number of the innermost function around an offset; -1 outside of all."""
        at = bisect_right(self._starts, offset) - 1
        while at >= 0 and self.functions[at].span.end <= offset:
            at = self._outer[at]
        return at

    def width(self, number: int, offset: int) -> int:
        """The sub-group's width that attributes of a function, or of a lambda in it, ask for before an offset; else 0."""
        if number < 0:
            return 0
        if number not in self._widths:
            span = self.functions[number].span
            self._widths[number] = [
                (hit.start(), int(hit[1] or hit[2])) for hit in _WIDTH.finditer(self.text, span.start, span.end)
            ]
        known = self._widths[number]
        at = bisect_right(known, (offset, 0)) - 1
        return known[at][1] if at >= 0 and known[at][1] in _WIDTHS else 0

    def _function(self, node: Node) -> Function:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        name = declarator.child_by_field_name("declarator") if declarator is not None else None
        span, inside = _span(node), node.child_by_field_name("body")
        body = _span(inside) if inside is not None else Span(span.end, span.end)
        return Function(self._slice(name)[:80] if name is not None else "", span, body=body)

    def _macro(self, node: Node) -> Function | None:
        head = _MACRO.match(self.text, node.start_byte)
        if head is None:
            return None
        names = re.findall(r"\w+|\.\.\.", head["parameters"] or "")
        return Function(head["name"], _span(node), True, tuple(names), Span(head.end(), node.end_byte))

    def _slice(self, node: Node) -> str:
        return self.text[node.start_byte : node.end_byte]

    def declaration(self, name: str, number: int, offset: int) -> Declared | None:
        """The declaration of a C variable that holds at an offset of a function; None where it is not in sight."""
        if number < 0 or self.functions[number].is_macro:
            return None
        if number not in self._locals:
            self._locals[number] = self._declarations(number)
        known = self._locals[number].get(name, [])
        at = bisect_right(known, offset, key=lambda d: d.span.start)
        return next((d for d in reversed(known[max(0, at - _FARTHEST) : at]) if offset in d.scope), None)

    def _declarations(self, number: int) -> dict[str, list[Declared]]:
        function = self.functions[number]
        captured = nodes_of(self._tree.root_node, self.host, _LOCALS, function.span)
        scopes = iter(sorted((_span(n) for n in captured.get("scope", ())), key=lambda s: (s.start, -s.end)))
        following = next(scopes, None)
        around = [Span(0, len(self.text))]  # the scopes that are open, the innermost last
        found: dict[str, list[Declared]] = {}
        for node in sorted(captured.get("declaration", ()), key=lambda n: n.start_byte):
            while following is not None and following.start <= node.start_byte:
                around.append(following)
                following = next(scopes, None)
            while around[-1].end <= node.start_byte:
                around.pop()
            for declared in self._declared(node, around[-1]):
                found.setdefault(declared.name, []).append(declared)
        return found

    def _declared(self, node: Node, scope: Span) -> list[Declared]:
        kind, first = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if kind is None or first is None:
            return []
        # Words before the type count: which memory a pointer goes to is one of them, and the grammar does not see it.
        before = _BEFORE.search(self.text, max(0, node.start_byte - _MOST_BEFORE), node.start_byte)
        written = (before[0] if before else "") + self.text[
            node.start_byte : min(first.start_byte, node.start_byte + 200)
        ]
        out = []
        for declarator in node.children_by_field_name("declarator"):
            depth = 0
            inner: Node | None = declarator
            while inner is not None and inner.type not in ("identifier", "field_identifier", "type_identifier"):
                depth += inner.type in ("pointer_declarator", "array_declarator")
                following = inner.child_by_field_name("declarator")
                if following is None and inner.type == "reference_declarator":
                    following = inner.named_child(inner.named_child_count - 1) if inner.named_child_count else None
                inner = following
            if inner is not None:
                out.append(Declared(self._slice(inner), written, depth, _span(inner), scope))
        return out

    @cached_property
    def type_names(self) -> dict[str, str]:
        """What ``typedef`` and ``using`` say, by the new name: the type as it is written, without pointers and arrays."""
        out = dict(self._outer_text.type_names) if self._outer_text is not None else {}
        for node in self._types:
            kind = node.child_by_field_name("type")
            name = node.child_by_field_name("declarator") or node.child_by_field_name("name")
            if kind is not None and name is not None and name.type == "type_identifier":
                vector = _VECTOR.search(self.text, node.start_byte, node.end_byte)
                out[self._slice(name)] = self._slice(kind) + (f" {vector[0]}" if vector is not None else "")
        return out


def _span(node: Node) -> Span:
    return Span(node.start_byte, node.end_byte)
