"""The tree of a host text, updated by edits: an edit only moves later nodes, and the next parse reads the difference.

Knows the parser, but not the contents of the tree. Invariant: ``parse`` returns the tree of a fresh parse if the text
has no mistake; an incremental parse may recover from a mistake differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.embed.languages import MAX_QUALIFIER_CHARS, Host, Readable, parse, readable
from visa_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Tree

    from visa_lsp.embed.host_change import HostChange
    from visa_lsp.syntax.document import Document

# Characters: up to this length a text is parsed anew, which takes some milliseconds and does not depend on earlier states.
MAX_REPARSED_CHARS: Final = 50_000


class HostTree(Struct, frozen=True):
    """A tree with the current places of its text; ``read`` is the form of the text at the last parse."""

    tree: Tree
    host: Host
    read: Readable

    @staticmethod
    def of(text: str, host: Host) -> HostTree:
        """Return the tree of a whole text. Raises MissingGrammarError."""
        read = readable(text, host)
        return HostTree(parse(read), host, read.without_text())

    def edit(self, change: HostChange, before: Document, after: Document) -> HostTree:
        """Return the tree with its nodes moved by an edit between two states of the text."""
        # Widened because an edit may create or destroy a word that is read as blanks.
        margin = MAX_QUALIFIER_CHARS if self.host is Host.OPENCL else 0
        start = max(0, change.span.start - margin)
        old = Span(start, min(len(before), change.span.end + margin))
        new = Span(start, old.end + change.by)
        tree = self.tree.copy()
        tree.edit(
            old.start, old.end, new.end, before.position(start), before.position(old.end), after.position(new.end)
        )  # fmt: skip
        return HostTree(tree, self.host, self.read)

    def parse(self, text: str) -> HostTree:
        """Return the tree of the current text."""
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
