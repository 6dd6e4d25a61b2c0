"""JSON text about a chunk with the numbers of its lines in it, kept with the chunk: only lines that move are put in anew.

Knows nothing of what the text says. Invariant: text that was kept is text that would be made again, for it follows from the
chunk, from the units of columns and from the chunk's first line, and the latter two are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.ide.index.memo import Key, Memo
    from visa_lsp.text import Encoding


class LineForm(NamedTuple):
    """A text with ``%d`` for each of some lines, which count from the first of the chunk."""

    text: bytes
    lines: tuple[int, ...]

    def at(self, base: int) -> bytes:
        """Return the text for a chunk that starts at a line."""
        return self.text % tuple([base + line for line in self.lines])


class Placed(NamedTuple):
    """A form that was made for columns in such units, and its text for the line that the chunk was at last."""

    encoding: Encoding
    form: LineForm
    base: int
    text: bytes


def place_text(memo: Memo, key: Key[Placed], encoding: Encoding, base: int, make: Callable[[], LineForm]) -> bytes:
    """Return the text of a chunk for the line it starts at; ``make`` builds it where none is kept."""
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
