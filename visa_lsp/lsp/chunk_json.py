"""JSON text about a chunk with line numbers in it, cached with the chunk; only the numbers of moved lines are inserted again.

Knows nothing about the contents. Invariant: cached text equals fresh text, because it depends only on the chunk, the
units of columns and the first line of the chunk, and the latter two are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.ide.index.memo import Key, Memo
    from visa_lsp.text import Encoding


class LineForm(NamedTuple):
    """A text with ``%d`` for each line number; the lines count from the first of the chunk."""

    text: bytes
    lines: tuple[int, ...]

    def at(self, base: int) -> bytes:
        """Return the text for a chunk that starts at a line."""
        return self.text % tuple([base + line for line in self.lines])


class Placed(NamedTuple):
    """A form for columns in certain units, and its text for the last known line of the chunk."""

    encoding: Encoding
    form: LineForm
    base: int
    text: bytes


def place_text(memo: Memo, key: Key[Placed], encoding: Encoding, base: int, make: Callable[[], LineForm]) -> bytes:
    """Return the text of a chunk for its first line; ``make`` creates it if none is cached."""
    kept = memo.get(key)
    if kept is None or kept.encoding != encoding:
        form = make()
    elif kept.base == base:
        return kept.text
    else:
        form = kept.form
    text = form.at(base)
    memo[key] = Placed(encoding, form, base, text)
    return text
