"""Finding vISA in Python: strings that a comment marks, and templates that a call gives together with their constraints.

Where strings are, and what in them is filled in later, tree-sitter says. Types of operands are not known in Python.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.embed.blocks import MARK, AsmBlock, Operand, StringLiteral
from visa_lsp.embed.languages import Host, language
from visa_lsp.embed.literals import StringPiece, python_pieces
from visa_lsp.embed.nodes import is_hard, nodes_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Query, Tree

_STRINGS: Final = (("comment", "comment"), ("string", "string"), ("concatenated_string", "string"))
_PAIRS: Final = """(argument_list
    [(string) (concatenated_string)] @template . [(string) (concatenated_string)] @constraints)"""
_LONGEST: Final = 2000
_CONSTRAINT: Final = re.compile(r"(?P<signs>[=+&]*)(?P<kind>rw(?:\.u)?|i|n)")


class PythonText:
    """The strings and comments of a Python text with its tree."""

    def __init__(self, text: str, tree: Tree) -> None:
        self.text = text
        found = nodes_of(tree.root_node, Host.PYTHON, _STRINGS)
        self.comments = sorted(_span(n) for n in found.get("comment", ()))
        # A string of several literals counts as one; its parts are captured too, and passed over.
        nodes = sorted(found.get("string", ()), key=lambda n: (n.start_byte, -n.end_byte))
        self.strings: list[Node] = []
        for node in nodes:
            if not self.strings or node.start_byte >= self.strings[-1].end_byte:
                self.strings.append(node)
        self._constraints: dict[int, Node] = {}
        # In a text that is broken like that, strings that stand together are not looked for.
        if "rw" in text and not is_hard(tree.root_node):
            from tree_sitter import QueryCursor

            for _, pair in QueryCursor(_query(_PAIRS)).matches(tree.root_node):
                self._constraints[pair["template"][0].start_byte] = pair["constraints"][0]

    def blocks(self) -> list[AsmBlock]:
        """The blocks of vISA, in text order."""
        marked = set(self._marked())
        found = []
        for number, node in enumerate(self.strings):
            operands = self._operands(node)
            if number not in marked and not operands:
                continue
            signs = "$%" if number in marked else "$"
            pieces, literals = tuple(self._pieces(node)), tuple(self._literals(node))
            block = AsmBlock(_span(node), pieces, operands, signs, asked=number in marked, literals=literals)
            # A call may well have two strings, and the second one be `rw`.
            if block.executes or number in marked or any(o.written for o in operands):
                found.append(block)
        return found

    def _marked(self) -> Iterator[int]:
        marks = [c for c in self.comments if MARK.search(self.text, c.start, c.end)]
        at = 0
        for mark, following in pairwise([*marks, Span(len(self.text), len(self.text))]):
            while at < len(self.strings) and self.strings[at].start_byte < mark.end:
                at += 1
            if at < len(self.strings) and self.strings[at].start_byte < following.start:
                yield at

    def _operands(self, node: Node) -> tuple[Operand, ...]:
        """The operands that the string behind the template, in the same list of arguments, names."""
        following = self._constraints.get(node.start_byte)
        if following is None or following.end_byte - following.start_byte > _LONGEST:
            return ()
        words = "".join(p.text for p in self._pieces(following)).split(",")
        hits = [_CONSTRAINT.fullmatch(word.strip()) for word in words]
        kept = [hit for hit in hits if hit is not None]
        if len(kept) < len(hits):
            return ()
        return tuple(
            Operand(number, "", hit[0], "", _span(following), "=" in hit["signs"] or "+" in hit["signs"])
            for number, hit in enumerate(kept)
        )

    def _pieces(self, node: Node) -> Iterator[StringPiece]:
        for part, start, close in self._parts(node):
            prefix = self.text[start.start_byte : start.end_byte].rstrip("\"'").lower()
            values = tuple(_span(n) for n in part.named_children if n.type == "interpolation")
            body = Span(start.end_byte, close)
            yield from python_pieces(self.text, body, raw="r" in prefix, formatted="f" in prefix, values=values)

    def _literals(self, node: Node) -> Iterator[StringLiteral]:
        for part, start, _ in self._parts(node):
            written = self.text[start.start_byte : start.end_byte]
            quote = written.lstrip("rRbBuUfFtT")
            yield StringLiteral(_span(part), "r" in written.lower(), quote)

    def _parts(self, node: Node) -> Iterator[tuple[Node, Node, int]]:
        """The literals of a string, each with the node of its opening quotes and the offset of the closing ones."""
        for part in node.named_children if node.type == "concatenated_string" else [node]:
            if not part.child_count:  # one that the parser misses
                continue
            start, end = part.child(0), part.child(part.child_count - 1)
            if part.type == "string" and start is not None and end is not None and start.type == "string_start":
                yield part, start, end.start_byte if end.type == "string_end" else part.end_byte


@cache
def _query(source: str) -> Query:
    from tree_sitter import Query

    return Query(language(Host.PYTHON), source)


def _span(node: Node) -> Span:
    return Span(node.start_byte, node.end_byte)
