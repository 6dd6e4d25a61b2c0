"""The tree of a host text that follows the text: an edit only moves the nodes behind it, and the next parse reads the difference.

It knows the parser and nothing of what is in the tree. Invariant: the tree that ``parsed`` gives is the one of a fresh parse as long as
the text has no mistake; around a mistake a parser that has seen the text before may find its way differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.embed.languages import MAX_QUALIFIER_CHARS, Host, parse, readable
from visa_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Tree

    from visa_lsp.embed.host_change import HostChange
    from visa_lsp.embed.languages import Readable
    from visa_lsp.syntax.document import Document

# Characters: a text up to here is parsed anew in some milliseconds, and is then what it is whatever was typed before.
MAX_REPARSED_CHARS: Final = 50_000
_NEAR: Final = 200


class HostTree(Struct, frozen=True):
    """A tree at the places that its text has now; ``read`` is how the text was parsed last."""

    tree: Tree
    host: Host
    read: Readable

    @staticmethod
    def of(text: str, host: Host) -> HostTree:
        """Return the tree of a whole text. Raises MissingGrammarError."""
        read = readable(text, host)
        return HostTree(parse(read), host, read.without_text())

    def edit(self, change: HostChange, before: Document, after: Document) -> HostTree:
        """Return the tree with its nodes moved by an edit that leads from one state of the text to the next."""
        # An edit may make or unmake a word that is read as blanks.
        more = MAX_QUALIFIER_CHARS if self.host is Host.OPENCL else 0
        start = max(0, change.span.start - more)
        old = Span(start, min(len(before), change.span.end + more))
        new = Span(start, old.end + change.by)
        tree = self.tree.copy()
        tree.edit(
            old.start, old.end, new.end, before.position(start), before.position(old.end), after.position(new.end)
        )  # fmt: skip
        return HostTree(tree, self.host, self.read)

    def is_sound_around(self, span: Span) -> bool:
        """Return whether no outermost node at a place of the text, or near it, had a mistake in it when the text was parsed last."""
        root = self.tree.root_node
        if not root.has_error:
            return True
        cursor = root.walk()
        more = cursor.goto_first_child_for_byte(max(0, span.start - _NEAR)) is not None
        while more and (node := cursor.node) is not None and node.start_byte <= span.end + _NEAR:
            if node.has_error:
                return False
            more = cursor.goto_next_sibling()
        return True

    def parse(self, text: str) -> HostTree:
        """Return the tree of the text as it is now."""
        if len(text) <= MAX_REPARSED_CHARS:
            return HostTree.of(text, self.host)
        read = readable(text, self.host)
        if not (read.in_place and self.read.in_place):
            return HostTree.of(text, self.host)
        tree = self.tree
        if read.added != self.read.added:
            tree = tree.copy()
            lines = text.count("\n")
            column = len(text) - (text.rfind("\n") + 1)
            gone, come = len(self.read.added), len(read.added)
            tree.edit(
                len(text), len(text) + gone, len(text) + come,
                (lines, column), (lines, column + gone), (lines, column + come),
            )  # fmt: skip
        return HostTree(parse(read, tree), self.host, read.without_text())
