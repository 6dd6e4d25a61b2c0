"""The semantic tokens of a whole text in pieces of one chunk each, kept from one snapshot to the next.

A piece is text in the form of an answer and counts lines from its own chunk; only its first number depends on earlier
chunks. Invariant: a kept piece equals a fresh one of its chunk (``tests/ide/test_kept_answers.py``): it is dropped when
the chunk changes, or when a declaration of its body changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.features.semantic_tokens import chunk_lines, pack_lines, pack_tokens, unpack_tokens
from visa_lsp.ide.index.line_keys import signs_at
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.syntax.memo import Key
from visa_lsp.text import Encoding, units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.analysis.analysis import Analysis


@dataclass(slots=True, eq=False)
class Piece:
    """The tokens of a chunk.

    ``lead`` is the line distance of the first token within the chunk, ``body`` the text after that number. ``numbers``
    is the number of all numbers; ``tail`` is the number of lines from that of the last token to the end.
    """

    body: bytes
    numbers: int
    lead: int
    tail: int


# For units of columns, the version of the text, and the declarations of the body.
_PIECE: Final = Key[Piece]()


def piece_of(analysis: Analysis, chunk_number: int, encoding: Encoding) -> tuple[Piece, bool]:
    """Return the piece of a chunk, and whether it is the one of an earlier snapshot."""
    index = index_of(analysis.document)
    memo, of = index.parts[chunk_number].memo, (encoding, index.version, signs_at(index, chunk_number).mark)
    kept = memo.get(_PIECE)
    piece = memo.fact(_PIECE, partial(_make_piece, analysis, chunk_number, encoding), of)
    return piece, memo[_PIECE] is kept


def _make_piece(analysis: Analysis, chunk_number: int, encoding: Encoding) -> Piece:
    document, lines = analysis.document, chunk_lines(analysis, chunk_number)
    if not document.chunks[chunk_number].text.isascii():
        base = document.line_of(chunk_number)
        lines = [
            recode_line(line, document.line_text(base + i), encoding) if line else line for i, line in enumerate(lines)
        ]
    return join_lines(lines)


def join_lines(lines: Iterable[bytes]) -> Piece:
    """Return the piece of lines."""
    out: list[bytes] = []
    lead = last = -1
    many = 0
    for i, line in enumerate(lines):
        many += 1
        if line:
            if lead < 0:
                lead = i
                out.append(line)
            else:
                out.append(b"%d,%b" % (i - last, line))
            last = i
    body = b",".join(out)
    return Piece(body, body.count(b",") + 2 if body else 0, max(lead, 0), many - max(last, 0))


def recode_line(line: bytes, text: str, encoding: Encoding) -> bytes:
    """Return the tokens of a line with columns in the client's units."""
    if text.isascii():
        return line
    tokens = []
    for start, length, type_, bits in unpack_tokens(line):
        begin = units(text[:start], encoding)
        tokens.append((begin, units(text[: start + length], encoding) - begin, type_, bits))
    return pack_tokens(tokens)


def lines_of(analysis: Analysis, first_line: int, last_line: int, encoding: Encoding) -> Piece:
    """Return the tokens of lines ``first_line`` to ``last_line`` as one piece that counts from line ``first_line``."""
    document = analysis.document
    last_line = min(last_line, document.line_count - 1)  # a client may request any range
    lines = [b""] * max(0, last_line + 1 - first_line)
    for line, tokens in pack_lines(analysis, first_line, last_line):
        lines[line - first_line] = recode_line(tokens, document.line_text(line), encoding)
    return join_lines(lines)


def encode_pieces(pieces: Sequence[tuple[Piece, int]]) -> Iterator[bytes]:
    """Yield the numbers of pieces as JSON text, without the brackets."""
    comma = b"%d,"
    for piece, distance in pieces:
        yield comma % distance
        yield piece.body
        comma = b",%d,"
