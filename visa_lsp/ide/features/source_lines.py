"""The source line of each instruction of a compiled text, and the instructions of a source line.

``FILE`` and ``LOC`` lines, in any of their spellings, apply to the instructions below them, up to the next mark of the
body. A source line of 0 means none, and a new file begins without one. Files are named as in the text; the caller finds
them. Computed from the chunks without binding, and cached with them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.ide.index.focus import focus_at
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.ide.index.token_at import spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.isa.model import Mark
from visa_lsp.isa.table import TABLE
from visa_lsp.syntax.bulk import code_of
from visa_lsp.syntax.memo import Key
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
    """The instructions below one mark: their number, and lines ``first_line`` to ``last_line`` of the text."""

    source: SourceLine
    first_line: int
    last_line: int
    instructions: int


class _Fact(NamedTuple):
    """Facts of a line, or a run of lines, of a chunk; lines count from its first.

    ``instructions`` is their number. 0 means a mark: a source line (``number``), a ``file``, or the beginning of a
    body, which has no file yet.
    """

    first_line: int
    last_line: int
    instructions: int = 0
    file: str = ""
    number: int = -1


# Facts of the lines of a chunk; cached with the chunk, because they depend on its text only.
_FACTS: Final = Key[tuple[_Fact, ...]]()


def source_at(document: Document, line: int) -> SourceLine | None:
    """Return the source line in effect at a line of the text; None if no mark above names one."""
    if not has_marks(document):
        return None
    index = index_of(document)
    number = -1
    for chunk_number in range(document.chunk_at(line), index.group_at(line).first_chunk - 1, -1):
        inside = line - document.line_of(chunk_number)
        for fact in reversed(_read_facts(index.parts[chunk_number])):
            if fact.instructions or fact.first_line > inside:
                continue
            if fact.number >= 0:
                number = fact.number if number < 0 else number
                continue
            return SourceLine(fact.file, number) if number > 0 and fact.file else None
    return None


def source_of(analysis: Analysis, offset: int) -> tuple[SourceLine, Span | None] | None:
    """Return the source line of the instruction at an offset, and the token that is there, if any.

    None without an instruction, and for a name, because its definition takes precedence.
    """
    document = analysis.document
    line = document.position(offset)[0]
    source = source_at(document, line)
    if source is None or not isinstance(document.statement(line), Instruction):
        return None
    spot = spot_at(focus_at(analysis, offset), offset)
    if spot is None:
        return source, None
    return None if spot.token.kind in _NAMES else (source, spot.span)


def stretches(document: Document) -> Iterator[Stretch]:
    """Yield the instructions of a text with a source line, mark by mark, in text order."""
    if not has_marks(document):
        return iter(())
    parts = enumerate(index_of(document).parts)
    return _stretches((document.line_of(number), fact) for number, part in parts for fact in _read_facts(part))


def stretches_of_text(text: str) -> Iterator[Stretch]:
    """Yield the instructions with a source line of a text that is not an open document."""
    if not _may_mark(text):
        return iter(())
    return _stretches((0, fact) for fact in _find_facts(code_of(with_newlines(text), False)))


def has_marks(document: Document) -> bool:
    """Return whether a text may name any source line: a quick test that suffices for most texts."""
    return any(_may_mark(chunk.text) for chunk in document.chunks)


def names_of(file: str) -> tuple[str, ...]:
    """Return the possible local names of a source: the full path, then its last parts, the longest first.

    A text may have been made in another folder or on another machine: ``/build/src/a.cl`` is ``src/a.cl`` in a local
    folder, or ``a.cl``.
    """
    parts = [part for part in file.replace("\\", "/").split("/") if part not in ("", ".", "..")][-_MAX_PATH_PARTS:]
    return tuple(dict.fromkeys((file, *("/".join(parts[start:]) for start in range(len(parts))))))


def _may_mark(text: str) -> bool:
    return any(word in text for word in _SPACED)


def _stretches(facts: Iterable[tuple[int, _Fact]]) -> Iterator[Stretch]:
    file, number = "", 0
    first_line = last_line = count = 0
    for base, fact in facts:
        if fact.instructions:
            first_line = first_line if count else base + fact.first_line
            last_line, count = base + fact.last_line, count + fact.instructions
            continue
        if count and file and number > 0:
            yield Stretch(SourceLine(file, number), first_line, last_line, count)
        count = 0
        if fact.number >= 0:
            number = fact.number
        else:
            file, number = fact.file, 0
    if count and file and number > 0:
        yield Stretch(SourceLine(file, number), first_line, last_line, count)


def _read_facts(part: ChunkIndex) -> tuple[_Fact, ...]:
    return part.memo.fact(_FACTS, lambda: tuple(_find_facts(part.code)))


def _find_facts(code: str) -> Iterator[_Fact]:
    """Yield the facts of lines without comments, each line preceded by a newline."""
    first_line = last_line = count = 0
    for line_number, line in enumerate(code.split("\n")[1:]):
        text = line.lstrip("{} \t\r")
        if not text:
            continue
        mark = _mark(line_number, text)
        if mark is not None:
            if count:
                yield _Fact(first_line, last_line, count)
            count = 0
            yield mark
        elif text[0] != "." and not _LABEL.match(text):
            first_line, last_line, count = (first_line if count else line_number), line_number, count + 1
    if count:
        yield _Fact(first_line, last_line, count)


def _mark(line_number: int, text: str) -> _Fact | None:
    """Return the mark on a line; None for other lines. A malformed mark has no source."""
    match = _WORD.match(text)
    word = match.group() if match else ""
    if word in _FILES:
        name = _QUOTED.match(text, len(word))
        return _Fact(line_number, line_number, file=name.group(1) if name else "")
    if word in _LINES:
        number = _NUMBER.match(text, len(word))
        return _Fact(line_number, line_number, number=int(number.group(1)) if number else 0)
    return _Fact(line_number, line_number) if word in _BODIES else None
