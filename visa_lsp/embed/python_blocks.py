"""Finds vISA in Python: strings marked by a comment, and templates that a call gets together with their constraints.

Tree-sitter finds the strings and their replacement fields. Types of operands are unknown in Python.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.embed.blocks import (
    CALL_CONSTRAINT,
    MARK,
    AsmBlock,
    Operand,
    StringLiteral,
    operands_named,
    writes_general,
)
from visa_lsp.embed.languages import Host
from visa_lsp.embed.literals import HOLE, StringPiece, python_pieces
from visa_lsp.embed.nested_sources import NestedText
from visa_lsp.embed.nodes import is_hard, nodes_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node, Tree

_STRINGS: Final = (("comment", "comment"), ("string", "string"), ("concatenated_string", "string"))
_MAX_VALUE_BYTES: Final = 2000
_CONSTRAINT: Final = re.compile(CALL_CONSTRAINT)
_ANY_CONSTRAINT: Final = re.compile(r"[=+&%]*[\w.]+|~\{\w+\}")
# Functions that take a template by name, and functions that return the given text.
_TEMPLATES: Final = ("asm", "asm_string", "template")
_KEEPS_TEXT: Final = re.compile(r"(?:\w+\.)*(?:dedent|cleandoc)")
_KEEPS_METHOD: Final = re.compile(r"\.(?:strip|lstrip|rstrip)")
_TAKES_ASSEMBLY: Final = "inline_asm"
_KINDS: Final = (("call", "call"), ("assignment", "assignment"), ("augmented_assignment", "appended"))
_MAX_DEPTH: Final = 50


class PythonText:
    """The strings and comments of a Python text with its tree."""

    def __init__(self, text: str, tree: Tree) -> None:
        self.text = text
        captures = nodes_of(tree.root_node, Host.PYTHON, _STRINGS)
        self.comments = sorted(_span(n) for n in captures.get("comment", ()))
        # A string of several literals counts as one; its parts are captured too, but skipped.
        nodes = sorted(captures.get("string", ()), key=lambda n: (n.start_byte, -n.end_byte))
        self.strings: list[Node] = []
        for node in nodes:
            if not self.strings or node.start_byte >= self.strings[-1].end_byte:
                self.strings.append(node)
        # Adjacent strings are not searched in a text with such a mistake.
        looked = ("rw" in text or _TAKES_ASSEMBLY in text) and not is_hard(tree.root_node)
        nodes_by_kind = nodes_of(tree.root_node, Host.PYTHON, _KINDS) if looked else {}
        self._calls = sorted(nodes_by_kind.get("call", ()), key=lambda n: n.start_byte)
        self._assigned = self._by_name(nodes_by_kind.get("assignment", ()))
        self._appended = self._by_name(nodes_by_kind.get("appended", ()))
        # What is appended to a string by `+=` before it is used, by the start of the string.
        self._continued: dict[int, list[Node]] = {}

    def _by_name(self, nodes: Iterable[Node]) -> dict[str, list[Node]]:
        """Return assignments to single names, in text order by name."""
        nodes_by_name: dict[str, list[Node]] = {}
        for node in sorted(nodes, key=lambda n: n.start_byte):
            left = node.child_by_field_name("left")
            if left is not None and left.type == "identifier":
                nodes_by_name.setdefault(self.text[left.start_byte : left.end_byte], []).append(node)
        return nodes_by_name

    def blocks(self) -> list[AsmBlock]:
        """Return the blocks of vISA, and templates of PTX, in text order."""
        marked = {self.strings[number].start_byte: self.strings[number] for number in self._find_marked()}
        blocks_by_start: dict[int, AsmBlock] = {}
        for call in self._calls:
            given = self._find_arguments(call)
            if given is None or given[0].start_byte in blocks_by_start:
                continue
            template, constraints = given
            named = self._takes_assembly(call)
            operands = self._operands(constraints, _ANY_CONSTRAINT if named else _CONSTRAINT)
            block = self._block(template, operands, asked=marked.pop(template.start_byte, None) is not None)
            start = min(template.start_byte, constraints.start_byte, call.start_byte)
            reach = Span(start, max(template.end_byte, constraints.end_byte, call.end_byte))
            # Other calls may have two strings too, such as `rw` for the second.
            sure = block.executes or writes_general(operands)
            if (named and block.is_ptx) or (operands and sure):
                blocks_by_start[template.start_byte] = replace(block, reach=reach)
            elif block.asked:
                marked[template.start_byte] = template
        for start, node in marked.items():
            blocks_by_start[start] = self._block(node, (), asked=True)
        return [blocks_by_start[start] for start in sorted(blocks_by_start)]

    def others(self) -> Iterator[NestedText]:
        """Yield the strings that may be sources with inline assembly themselves."""
        for node in self.strings:
            if self.text.find("asm", node.start_byte, node.end_byte) >= 0:
                yield NestedText(tuple(self._pieces(node)), _span(node))

    def _block(self, node: Node, operands: tuple[Operand, ...], *, asked: bool) -> AsmBlock:
        pieces, literals = tuple(self._pieces(node)), tuple(self._literals(node))
        span = Span(node.start_byte, max([node.end_byte, *(piece.host.end for piece in pieces[-1:])]))
        return AsmBlock(span, pieces, operands, "$%" if asked else "$", asked=asked, literals=literals)

    def _takes_assembly(self, call: Node) -> bool:
        """Return whether a call is one of Triton's for inline assembly."""
        function = call.child_by_field_name("function")
        return function is not None and _TAKES_ASSEMBLY in self.text[function.start_byte : function.end_byte]

    def _find_arguments(self, call: Node) -> tuple[Node, Node] | None:
        """Return the template and the constraints of a call, given by name or by position."""
        arguments = call.child_by_field_name("arguments")
        if arguments is None or arguments.type != "argument_list":
            return None
        by_place: list[Node | None] = []
        by_name: dict[str, Node | None] = {}
        for node in arguments.named_children:
            if node.type == "keyword_argument":
                name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
                if name is not None and value is not None:
                    by_name[self.text[name.start_byte : name.end_byte]] = self._string(value)
            elif node.type != "comment":
                by_place.append(self._string(node))
        template = next((by_name[name] for name in _TEMPLATES if by_name.get(name) is not None), None)
        constraints = by_name.get("constraints")
        if template is None and constraints is not None:
            template = next((node for node in by_place if node is not None), None)
        elif template is None:
            pairs = ((a, b) for a, b in pairwise(by_place) if a is not None and b is not None)
            template, constraints = next(pairs, (None, None))
        elif constraints is None:
            constraints = next((node for node in by_place if node is not None), None)
        return (template, constraints) if template is not None and constraints is not None else None

    def _string(self, node: Node, deep: int = 4) -> Node | None:
        """Return the node of the strings in an expression of strings; None for any other expression."""
        while node.type == "parenthesized_expression" and node.named_child_count == 1:
            inner = node.named_child(0)
            if inner is None:
                return None
            node = inner
        if node.type in ("string", "concatenated_string"):
            return node
        if node.type == "binary_operator":
            return node if any(part.type == "string" for part in _flat(node)) else None
        if node.type == "identifier" and deep:
            name = self.text[node.start_byte : node.end_byte]
            before = [
                n for n in self._assigned.get(name, ()) if n.start_byte < node.start_byte and _is_in_sight(n, node)
            ]
            value = before[-1].child_by_field_name("right") if before else None
            strings = self._string(value, deep - 1) if value is not None else None
            if strings is not None:
                appended = (
                    n for n in self._appended.get(name, ()) if strings.end_byte <= n.start_byte < node.start_byte
                )
                self._continued[strings.start_byte] = [_appended_value(n, before[-1]) for n in appended]
            return strings
        if node.type == "call" and deep:
            return self._find_strings(node, deep)
        return None

    def _find_strings(self, call: Node, deep: int) -> Node | None:
        """Return the node of the strings that a call returns nearly unchanged; None for any other call."""
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None:
            return None
        called = self.text[function.start_byte : function.end_byte]
        if arguments.named_child_count == 1 and _KEEPS_TEXT.fullmatch(called):
            argument = arguments.named_child(0)
            return self._string(argument, deep - 1) if argument is not None else None
        owner = function.child_by_field_name("object") if function.type == "attribute" else None
        if owner is not None and _KEEPS_METHOD.fullmatch(self.text[owner.end_byte : function.end_byte]):
            return self._string(owner, deep - 1)
        return None

    def _find_marked(self) -> Iterator[int]:
        marks = [c for c in self.comments if MARK.search(self.text, c.start, c.end)]
        number = 0
        for mark, following in pairwise([*marks, Span(len(self.text), len(self.text))]):
            while number < len(self.strings) and self.strings[number].start_byte < mark.end:
                number += 1
            if number < len(self.strings) and self.strings[number].start_byte < following.start:
                yield number

    def _operands(self, node: Node, allowed: re.Pattern[str]) -> tuple[Operand, ...]:
        """Return the operands named by a string of constraints; empty for other strings."""
        if node.end_byte - node.start_byte > _MAX_VALUE_BYTES:
            return ()
        words = [word.strip() for word in "".join(p.text for p in self._pieces(node)).split(",")]
        if not all(allowed.fullmatch(word) for word in words):
            return ()
        return operands_named(words, _span(node))

    def _pieces(self, node: Node) -> Iterator[StringPiece]:
        for part, start, close in self._parts(node):
            if part is start:
                yield StringPiece(HOLE, _span(part), exact=False)
                continue
            prefix = self.text[start.start_byte : start.end_byte].rstrip("\"'").lower()
            values = tuple(_span(n) for n in part.named_children if n.type == "interpolation")
            body = Span(start.end_byte, close)
            yield from python_pieces(self.text, body, raw="r" in prefix, formatted="f" in prefix, values=values)

    def _literals(self, node: Node) -> Iterator[StringLiteral]:
        for part, start, _ in self._parts(node):
            if part is start:
                continue
            written = self.text[start.start_byte : start.end_byte]
            quote = written.lstrip("rRbBuUfFtT")
            yield StringLiteral(_span(part), "r" in written.lower(), quote)

    def _parts(self, node: Node) -> Iterator[tuple[Node, Node, int]]:
        """Yield the literals of a string, each with the node of its opening quotes and the offset of its closing quotes."""
        continued = self._continued.get(node.start_byte, ())
        for part in (part for whole in (node, *continued) for part in _flat(whole)):
            if part.type != "string":
                yield part, part, part.end_byte
                continue
            if not part.child_count:  # the closing quotes that the parser inserted
                continue
            start, end = part.child(0), part.child(part.child_count - 1)
            if part.type == "string" and start is not None and end is not None and start.type == "string_start":
                yield part, start, end.start_byte if end.type == "string_end" else part.end_byte


def _flat(node: Node) -> Iterator[Node]:
    """Yield the literals of a (possibly concatenated) string, and other nodes between them."""
    waiting, passed = [node], 0
    while waiting and passed < 10_000:
        part = waiting.pop()
        passed += 1
        if part.type in ("concatenated_string", "parenthesized_expression", "binary_operator"):
            waiting.extend(child for child in reversed(part.named_children) if child.type != "comment")
        else:
            yield part


def _appended_value(appended: Node, assignment: Node) -> Node:
    """Return what an assignment appends; the assignment itself, which is unknown, if it may not be executed."""
    value, statement, earlier_statement = appended.child_by_field_name("right"), appended.parent, assignment.parent
    always = statement is not None and earlier_statement is not None and statement.parent == earlier_statement.parent
    return value if value is not None and always else appended


def _is_in_sight(assignment: Node, use: Node) -> bool:
    """Return whether an assignment is outside of functions, or in a function around a use of its name."""
    around: Node | None = assignment.parent
    for _ in range(_MAX_DEPTH):
        if around is None or around.type == "module":
            return True
        if around.type in ("function_definition", "lambda", "class_definition"):
            return around.start_byte <= use.start_byte < around.end_byte
        around = around.parent
    return False


def _span(node: Node) -> Span:
    return Span(node.start_byte, node.end_byte)
