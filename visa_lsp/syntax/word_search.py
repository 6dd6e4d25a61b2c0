"""Searches for names in the texts of chunks.

A word is a run of letters, digits and other characters of names; ``%`` before it belongs to the name, but not to the
word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.syntax.chunks import Chunk

_IN_WORDS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$@?")
_APART: Final = {code: " " for code in range(128) if chr(code) not in _IN_WORDS}
# With more names, all words of a chunk are compared, because each name is searched for separately.
_MAX_SEARCHED_NAMES: Final = 16


def chunks_with(chunks: Iterable[Chunk], names: Iterable[str]) -> Iterator[int]:
    """Yield the numbers of the chunks that may contain one of the names, even in a comment."""
    wanted = list(names)
    words = {word for name in wanted for word in name.translate(_APART).split()}
    for index, chunk in enumerate(chunks):
        if len(wanted) <= _MAX_SEARCHED_NAMES:
            if any(name in chunk.text for name in wanted):
                yield index
        elif not (chunk.text.isascii() and words.isdisjoint(chunk.text.translate(_APART).split())):
            yield index


def lines_with(text: str, names: Iterable[str]) -> Iterator[int]:
    """Yield the lines of a text that contain one of the names as a word, in order."""
    starts = []
    for name in names:
        offset = text.find(name)
        while offset >= 0:
            end = offset + len(name)
            before, after = text[offset - 1 : offset], text[end : end + 1]
            if not (before in _IN_WORDS or before == "%" or after in _IN_WORDS):
                starts.append(offset)
            offset = text.find(name, offset + 1)
    line = seen = 0
    last = -1
    for start in sorted(starts):
        line += text.count("\n", seen, start)
        seen = start
        if line != last:
            last = line
            yield line
