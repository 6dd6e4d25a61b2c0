"""The change of a host text by an edit, computed from two snapshots.

Knows neither languages nor vISA. Invariant: outside of the change both texts are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from visa_lsp.syntax.document import common
from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.syntax.document import Document


class HostChange(NamedTuple):
    """The difference between two states of a text: the old span and the new one."""

    span: Span
    old: str
    new: str

    @property
    def by(self) -> int:
        """The distance by which the text after it moves."""
        return len(self.new) - len(self.old)


def change_between(before: Document, after: Document) -> HostChange:
    """Return the difference of two states of a text; only chunks that they do not share are compared."""
    old, new = before.chunks, after.chunks
    head, tail = common(old, after.chunks)
    start = sum(chunk.length for chunk in old[:head])
    gone = "".join(chunk.source for chunk in old[head : len(old) - tail])
    come = "".join(chunk.source for chunk in new[head : len(new) - tail])
    equal_head, equal_tail = same_ends(gone, come)
    stop = len(gone) - equal_tail
    return HostChange(
        Span(start + equal_head, start + stop), gone[equal_head:stop], come[equal_head : len(come) - equal_tail]
    )


def same_ends(old: str, new: str) -> tuple[int, int]:
    """Return the numbers of equal characters at the head and at the tail of two texts, without overlap."""
    head = _same(old, new, min(len(old), len(new)))
    return head, _same(old[::-1], new[::-1], min(len(old), len(new)) - head)


def _same(text: str, other: str, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
