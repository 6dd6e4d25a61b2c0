"""The source line of each instruction of a compiled text, and the instructions of a source line.

``FILE`` and ``LOC`` lines, in any of their spellings, apply to the instructions below them, up to the next mark of the
body. A source line of 0 means none, and a new file begins without one. Files are named as in the text; the caller finds
them. Computed from the chunks without binding, and cached with them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.ide.index.focus import focus_at
from visa_lsp.ide.index.memo import Key
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.ide.index.token_at import spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.isa.model import Mark
from visa_lsp.isa.table import TABLE
from visa_lsp.syntax.bulk import code_of
from visa_lsp.syntax.tree import Instruction
from visa_lsp.text import Span, with_newlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.index.chunk_index import ChunkIndex
    from visa_lsp.syntax.document import Document

_FILES: Final = frozenset(TABLE.marks(Mark.FILE))
_LINES: Final = frozenset(TABLE.marks(Mark.LINE))
_SPACED: Final = tuple(
    word + blank for word in sorted(_LINES) for blank in " \t"
)  # because other words have the same ending
_BODIES: Final = frozenset({".kernel", ".global_function"})
_WORD: Final = re.compile(r"[.A-Za-z_][A-Za-z0-9_]*")
_LABEL: Final = re.compile(r"[A-Za-z_$@?][A-Za-z0-9_$@?-]*\s*:[\s}]*\Z")
_QUOTED: Final = re.compile(r'\s*"([^"]*)"')
_NUMBER: Final = re.compile(r"\s*([0-9]{1,9})\s*\Z")
_NAMES: Final = frozenset({TokenKind.VARIABLE, TokenKind.LABEL, TokenKind.FUNCTION})
_MAX_PATH_PARTS: Final = 16


class SourceLine(NamedTuple):
    """A line of a source file, from 1; ``file`` as the text names it."""

    file: str
    line: int


class Stretch(NamedTuple):
    """The instructions below one mark: their number, and lines ``first`` to ``last`` of the text."""

    source: SourceLine
    first: int
    last: int
    instructions: int


class _Told(NamedTuple):
    """Facts of a line, or a run of lines, of a chunk; lines count from its first.

    ``instructions`` is their number. 0 means a mark: a source line (``number``), a ``file``, or the beginning of a
    body, which has no file yet.
    """

    first: int
    last: int
    instructions: int = 0
    file: str = ""
    number: int = -1


# Facts of the lines of a chunk; cached with the chunk, because they depend on its text only.
_TOLD: Final = Key[tuple[_Told, ...]]()


def source_at(document: Document, line: int) -> SourceLine | None:
    """Return the source line in effect at a line of the text; None if no mark above names one."""
    if not has_marks(document):
        return None
    index = index_of(document)
    number = -1
    for at in range(document.chunk_at(line), index.group_at(line).first - 1, -1):
        inside = line - document.line_of(at)
        for told in reversed(_read_facts(index.parts[at])):
            if told.instructions or told.first > inside:
                continue
            if told.number >= 0:
                number = told.number if number < 0 else number
                continue
            return SourceLine(told.file, number) if number > 0 and told.file else None
    return None


def source_of(analysis: Analysis, offset: int) -> tuple[SourceLine, Span | None] | None:
    """Return the source line of the instruction at an offset, and the token that is there, if any.

    None without an instruction, and for a name, because its definition takes precedence.
    """
    document = analysis.document
    line = document.position(offset)[0]
    found = source_at(document, line)
    if found is None or not isinstance(document.statement(line), Instruction):
        return None
    spot = spot_at(focus_at(analysis, offset), offset)
    if spot is None:
        return found, None
    return None if spot.token.kind in _NAMES else (found, spot.span)


def stretches(document: Document) -> Iterator[Stretch]:
    """Yield the instructions of a text with a source line, mark by mark, in text order."""
    if not has_marks(document):
        return iter(())
    parts = enumerate(index_of(document).parts)
    return _stretches((document.line_of(at), one) for at, part in parts for one in _read_facts(part))


def stretches_of_text(text: str) -> Iterator[Stretch]:
    """Yield the instructions with a source line of a text that is not an open document."""
    if not _may_mark(text):
        return iter(())
    return _stretches((0, one) for one in _find_facts(code_of(with_newlines(text), False)))


def has_marks(document: Document) -> bool:
    """Return whether a text may name any source line: a quick test that suffices for most texts."""
    return any(_may_mark(chunk.text) for chunk in document.chunks)


def names_of(file: str) -> tuple[str, ...]:
    """Return the possible local names of a source: the full path, then its last parts, the longest first.

    A text may have been made in another folder or on another machine: ``/build/src/a.cl`` is ``src/a.cl`` in a local
    folder, or ``a.cl``.
    """
    parts = [part for part in file.replace("\\", "/").split("/") if part not in ("", ".", "..")][-_MAX_PATH_PARTS:]
    return tuple(dict.fromkeys((file, *("/".join(parts[at:]) for at in range(len(parts))))))


def _may_mark(text: str) -> bool:
    return any(word in text for word in _SPACED)


def _stretches(told: Iterable[tuple[int, _Told]]) -> Iterator[Stretch]:
    file, number = "", 0
    first = last = count = 0
    for base, one in told:
        if one.instructions:
            first = first if count else base + one.first
            last, count = base + one.last, count + one.instructions
            continue
        if count and file and number > 0:
            yield Stretch(SourceLine(file, number), first, last, count)
        count = 0
        if one.number >= 0:
            number = one.number
        else:
            file, number = one.file, 0
    if count and file and number > 0:
        yield Stretch(SourceLine(file, number), first, last, count)


def _read_facts(part: ChunkIndex) -> tuple[_Told, ...]:
    known = part.memo.get(_TOLD)
    if known is None:
        known = part.memo[_TOLD] = tuple(_find_facts(part.code))
    return known


def _find_facts(code: str) -> Iterator[_Told]:
    """Yield the facts of lines without comments, each line preceded by a newline."""
    first = last = count = 0
    for at, line in enumerate(code.split("\n")[1:]):
        text = line.lstrip("{} \t\r")
        if not text:
            continue
        mark = _mark(at, text)
        if mark is not None:
            if count:
                yield _Told(first, last, count)
            count = 0
            yield mark
        elif text[0] != "." and not _LABEL.match(text):
            first, last, count = (first if count else at), at, count + 1
    if count:
        yield _Told(first, last, count)


def _mark(at: int, text: str) -> _Told | None:
    """Return the mark on a line; None for other lines. A malformed mark has no source."""
    match = _WORD.match(text)
    word = match.group() if match else ""
    if word in _FILES:
        name = _QUOTED.match(text, len(word))
        return _Told(at, at, file=name.group(1) if name else "")
    if word in _LINES:
        number = _NUMBER.match(text, len(word))
        return _Told(at, at, number=int(number.group(1)) if number else 0)
    return _Told(at, at) if word in _BODIES else None
