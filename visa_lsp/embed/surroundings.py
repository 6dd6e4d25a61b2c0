"""The surroundings of strings in a C-like text: comments, functions, macros, declarations, widths of sub-groups.

Only the nodes at keywords are visited, because the rest of a long text does not matter; a text with mistakes is read as
far as its tree goes. Reports nothing. Invariant: every span lies in the text; functions are in the order of their
starts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from visa_lsp.embed.blocks import Compiler
from visa_lsp.embed.c_calls import CONSTRAINTS
from visa_lsp.embed.hidden_parts import VECTOR, comments_of_macros
from visa_lsp.embed.languages import Host, parse, readable
from visa_lsp.embed.macros import KEYWORD
from visa_lsp.embed.nodes import find_enclosing, nodes_of
from visa_lsp.embed.outer_names import MACRO, OuterNames, outer_names, places_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Tree

_OPAQUE: Final = frozenset({"comment", "string_literal", "char_literal", "system_lib_string", "raw_string_literal"})
_MACROS: Final = frozenset({"preproc_function_def", "preproc_def"})
_SHAPES: Final = _OPAQUE | _MACROS | {"function_definition"}
SPEAKS: Final = "visa:"
_LOCALS: Final = (
    ("declaration", "declaration"), ("parameter_declaration", "declaration"),
    ("compound_statement", "scope"), ("for_statement", "scope"), ("function_definition", "scope"),
)  # fmt: skip
_WIDTH: Final = re.compile(r"reqd_sub_group_size\s*\(\s*(\w{1,60})\s*\)|\bSIMD\s*=\s*(\d{1,3})\b")
_MAX_DECLARATIONS: Final = 64  # declarations of one name that are compared to find the visible one
_BEFORE: Final = re.compile(r"\b(?:__)?(?:global|local|constant|private|generic)\s+\Z")
_MAX_CHARS_BEFORE: Final = 40
_MAX_ATTRIBUTE_CHARS: Final = 200
_VECTOR_BEFORE: Final = re.compile(VECTOR.pattern + r"\s*\Z")
_WIDTHS: Final = frozenset({8, 16, 32})
# Words of functions for the vector compiler only, and of files with such functions.
_OF_VECTORS: Final = re.compile(
    r"\b(?:SYCL_ESIMD_KERNEL|SYCL_ESIMD_FUNCTION|ESIMD_\w+|sycl_explicit_simd|_GENX_\w*|genx_\w+|cm_main|CM_\w+)\b"
)
_FOR_VECTORS: Final = re.compile(r"\besimd\b|#[ \t]*include\s*[<\"]cm/")


class Function(Struct, frozen=True):
    """A function or a macro: blocks in it share labels and declarations. ``body`` is the text after its head."""

    name: str
    span: Span
    is_macro: bool = False
    body: Span = Span(0, 0)


class Declared(Struct, frozen=True):
    """A declaration of a C variable: its type as written, the depth of its pointers and arrays, and its scope."""

    name: str
    type: str
    depth: int
    span: Span
    scope: Span


class Keyword(NamedTuple):
    """A word in code that may begin an asm statement, or a call of a macro that makes one.

    ``function`` is the number of the function around it, or -1.
    """

    span: Span
    function: int


class Surroundings:
    """The surroundings of asm statements and of comments for this program, in one text.

    ``tree`` is the tree of the text, if it exists already.
    """

    def __init__(self, text: str, host: Host, tree: Tree | None = None) -> None:
        self.text = text
        self.host = host
        self._root = (tree or parse(readable(text, host))).root_node
        self.functions: list[Function] = []
        self._nodes: list[Node] = []  # of the functions
        self._numbers: dict[tuple[int, int], int] = {}
        self._outer: list[int] = []  # for each function the number of the function around it, or -1
        self.keywords: list[Keyword] = []
        self.comments: list[Span] = []
        self.strings: list[Span] = []  # with a keyword inside
        # Strings that may be constraints, each with the number of its function.
        self.constraints: list[tuple[Node, int]] = []
        self._read()
        self._starts = [f.span.start for f in self.functions]
        self._widths: dict[int, list[tuple[int, int]]] = {}
        self._locals: dict[int, dict[str, list[Declared]]] = {}

    def _read(self) -> None:
        strings = {hit.start(): hit.end() for hit in keywords(self.text)}
        words = {**strings, **self._calls()}
        hits = CONSTRAINTS.finditer(self.text) if self.host in (Host.C, Host.CPP) else ()
        constraints = {hit.start() for hit in hits}
        asked = sorted([*words, *constraints, *places_of(self.text, SPEAKS)])
        hidden = comments_of_macros(self.text) if asked else ()
        if hidden:
            # The tree has blanks there.
            speaking = {hidden[number] for o in asked if (number := _part_at(hidden, o)) >= 0 and o not in words}
            asked = [o for o in asked if _part_at(hidden, o) < 0]
            self.comments.extend(speaking)
        for offset, around in zip(asked, find_enclosing(self._root, asked, _SHAPES), strict=True):
            function = -1
            for node in around:
                if node.type not in _OPAQUE:
                    function = self._number(node, function)
            innermost = around[-1] if around else None
            if innermost is None or innermost.type not in _OPAQUE:
                if offset in words:
                    self.keywords.append(Keyword(Span(offset, words[offset]), function))
            elif offset in strings and innermost.type.endswith("string_literal"):
                outer = innermost.parent
                whole = self._span(outer if outer is not None and outer.type == "concatenated_string" else innermost)
                if self.strings[-1:] != [whole]:
                    self.strings.append(whole)
            elif offset in constraints and innermost.start_byte == offset:
                self.constraints.append((innermost, function))
            elif innermost.type == "comment" and self.comments[-1:] != [comment := self._span(innermost)]:
                self.comments.append(comment)
        self.comments.sort()

    def _calls(self) -> dict[int, int]:
        """Return the ends of the names of macros, by their starts, whose calls make assembly."""
        names = self.names.calls
        if not names:
            return {}
        pattern = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
        return {hit.start(): hit.end() for hit in pattern.finditer(self.text)}

    def _number(self, node: Node, outer: int) -> int:
        """Return the number of a node inside of a function: a new one for a function or macro, else that of the outer function."""
        place = node.start_byte, node.end_byte
        if place not in self._numbers:
            function = self._macro(node) if node.type in _MACROS else self._function(node)
            if function is None:
                return outer
            self._numbers[place] = len(self.functions)
            self.functions.append(function)
            self._nodes.append(node)
            self._outer.append(outer)
        return self._numbers[place]

    def _span(self, node: Node) -> Span:
        """Return the span of a node, limited to the text, because the parser may have read more."""
        return Span(node.start_byte, min(node.end_byte, len(self.text)))

    @cached_property
    def names(self) -> OuterNames:
        """The macros and the names of types of the text."""
        return outer_names(self.text, self._root)

    def is_outermost(self, number: int) -> bool:
        """Return whether a function is not inside of another one."""
        return self._outer[number] < 0

    def function_at(self, offset: int) -> int:
        """Return the number of the innermost function around an offset; -1 outside of all."""
        number = bisect_right(self._starts, offset) - 1
        while number >= 0 and self.functions[number].span.end <= offset:
            number = self._outer[number]
        return number

    def compiler(self, number: int, offset: int) -> Compiler:
        """Return the compiler that reads the text at an offset of a function."""
        if self.host is Host.CM:
            return Compiler.VECTOR
        if number >= 0:
            span = self.functions[number].span
            if _OF_VECTORS.search(self.text, max(0, span.start - _MAX_CHARS_BEFORE), span.end):
                return Compiler.VECTOR
            if self.width(number, offset):
                return Compiler.SCALAR
        return Compiler.EITHER if self._may_be_of_vectors else Compiler.SCALAR

    @cached_property
    def _may_be_of_vectors(self) -> bool:
        return _OF_VECTORS.search(self.text) is not None or _FOR_VECTORS.search(self.text) is not None

    def width(self, number: int, offset: int) -> int:
        """Return the width of the sub-group set before an offset by attributes of a function, or of a lambda in it; else 0."""
        if number < 0:
            return 0
        if number not in self._widths:
            span = self.functions[number].span
            self._widths[number] = [
                (hit.start(), self._number_of(hit[1] or hit[2]))
                for hit in _WIDTH.finditer(self.text, span.start, span.end)
            ]
        widths = self._widths[number]
        index = bisect_right(widths, (offset, 0)) - 1
        return widths[index][1] if index >= 0 and widths[index][1] in _WIDTHS else 0

    def _number_of(self, word: str) -> int:
        """Return the value of a number or of a macro that is one; 0 for any other word."""
        macro = self.names.macros.get(word)
        digits = macro.body.strip("() \t") if macro is not None else word
        return int(digits) if digits.isdecimal() and len(digits) < 4 else 0

    def _function(self, node: Node) -> Function:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        name = declarator.child_by_field_name("declarator") if declarator is not None else None
        span, inside = self._span(node), node.child_by_field_name("body")
        body = self._span(inside) if inside is not None else Span(span.end, span.end)
        return Function(self._slice(name)[:80] if name is not None else "", span, body=body)

    def _macro(self, node: Node) -> Function | None:
        head = MACRO.match(self.text, node.start_byte)
        if head is None:
            return None
        span = self._span(node)
        return Function(head["name"], span, is_macro=True, body=Span(head.end(), span.end))

    def _slice(self, node: Node) -> str:
        return self.text[node.start_byte : node.end_byte]

    def declaration(self, name: str, number: int, offset: int) -> Declared | None:
        """Return the declaration of a C variable that is visible at an offset of a function, or None."""
        if number < 0 or self.functions[number].is_macro:
            return None
        if number not in self._locals:
            self._locals[number] = self._declarations(number)
        declarations = self._locals[number].get(name, [])
        index = bisect_right(declarations, offset, key=lambda d: d.span.start)
        return next(
            (d for d in reversed(declarations[max(0, index - _MAX_DECLARATIONS) : index]) if offset in d.scope), None
        )

    def _declarations(self, number: int) -> dict[str, list[Declared]]:
        captured = nodes_of(self._nodes[number], self.host, _LOCALS)
        scopes = iter(sorted((self._span(n) for n in captured.get("scope", ())), key=lambda s: (s.start, -s.end)))
        following = next(scopes, None)
        around = [Span(0, len(self.text))]  # the open scopes, the innermost last
        declarations: dict[str, list[Declared]] = {}
        for node in sorted(captured.get("declaration", ()), key=lambda n: n.start_byte):
            while following is not None and following.start <= node.start_byte:
                around.append(following)
                following = next(scopes, None)
            while around[-1].end <= node.start_byte:
                around.pop()
            for declared in self._find_declarations(node, around[-1]):
                declarations.setdefault(declared.name, []).append(declared)
        return declarations

    def _find_declarations(self, node: Node, scope: Span) -> list[Declared]:
        kind, first_declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if kind is None or first_declarator is None:
            return []
        # Words before the type count, because the grammar skips the address space of a pointer among them.
        before = _BEFORE.search(self.text, max(0, node.start_byte - _MAX_CHARS_BEFORE), node.start_byte)
        written = (before[0] if before else "") + self.text[
            node.start_byte : min(first_declarator.start_byte, node.start_byte + 200)
        ]
        # A vector attribute may precede it; the tree has blanks there.
        ahead = _VECTOR_BEFORE.search(self.text, max(0, node.start_byte - _MAX_ATTRIBUTE_CHARS), node.start_byte)
        written = (ahead[0] if ahead else "") + written
        out = []
        for declarator in node.children_by_field_name("declarator"):
            vector_after = VECTOR.match(self.text, _after_blanks(self.text, declarator.end_byte))
            depth = 0
            inner: Node | None = declarator
            while inner is not None and inner.type not in ("identifier", "field_identifier", "type_identifier"):
                depth += inner.type in ("pointer_declarator", "array_declarator")
                following = inner.child_by_field_name("declarator")
                if following is None and inner.type == "reference_declarator":
                    following = inner.named_child(inner.named_child_count - 1) if inner.named_child_count else None
                inner = following
            if inner is not None:
                kind_written = written + (f" {vector_after[0]}" if vector_after else "")
                out.append(Declared(self._slice(inner), kind_written, depth, self._span(inner), scope))
        return out


def _part_at(parts: tuple[Span, ...], offset: int) -> int:
    """Return the number of the part with an offset, or -1."""
    number = bisect_right(parts, offset, key=lambda part: part.start) - 1
    return number if number >= 0 and offset < parts[number].end else -1


def _after_blanks(text: str, offset: int) -> int:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return offset


def keywords(text: str) -> Iterator[re.Match[str]]:
    """Yield the words of a text that may begin an asm statement, also those in comments and strings."""
    for offset in places_of(text, "asm"):
        match = KEYWORD.match(text, offset) or (KEYWORD.match(text, offset - 2) if offset >= 2 else None)
        if match is not None:
            yield match
