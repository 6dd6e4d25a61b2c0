"""The semantic tokens of a whole text in pieces of one chunk each, kept from one snapshot to the next.

A piece is text in the form of an answer and counts lines from its own chunk; only its first number depends on earlier
chunks. Invariant: a kept piece equals a fresh one of its chunk (``tests/ide/test_kept_answers.py``): it is dropped when
the chunk changes, or when a declaration of its body changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from visa_lsp.ide.features.semantic_tokens import chunk_lines, pack_lines, pack_tokens, unpack_tokens
from visa_lsp.ide.index.line_keys import signs_at
from visa_lsp.text import Encoding, units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.index.chunk_index import PartNaming
    from visa_lsp.ide.index.text_index import Index
    from visa_lsp.syntax.document import Chunk, Document


@dataclass(slots=True, eq=False)
class Piece:
    """The tokens of a chunk.

    ``lead`` is the line distance of the first token within the chunk, ``body`` the text after that number. ``numbers``
    is the number of all numbers; ``tail`` is the number of lines from that of the last token to the end.
    """

    chunk: Chunk | None
    body: bytes
    numbers: int
    lead: int
    tail: int
    naming: tuple[PartNaming, ...] = ()
    version: str = ""


@dataclass(slots=True)
class Pieces:
    """The kept pieces of a text, by encoding and chunk."""

    kept: dict[tuple[Encoding, int], Piece] = field(default_factory=dict)

    def get(self, index: Index, chunk_number: int, encoding: Encoding) -> Piece | None:
        """Return the piece of a chunk if it is known."""
        chunk = index.document.chunks[chunk_number]
        piece = self.kept.get((encoding, id(chunk)))
        if piece is None or piece.chunk is not chunk or piece.version != index.version:
            return None
        return piece if piece.naming is signs_at(index, chunk_number).naming else None

    def make(self, analysis: Analysis, index: Index, chunk_number: int, encoding: Encoding) -> Piece:
        """Return the piece of a chunk from its lines."""
        chunk = analysis.document.chunks[chunk_number]
        piece = _make_piece(chunk_lines(analysis, chunk_number), analysis.document, chunk_number, encoding)
        piece.chunk, piece.naming, piece.version = chunk, signs_at(index, chunk_number).naming, index.version
        if len(self.kept) > 3 * len(analysis.document.chunks) + 64:
            alive = set(map(id, analysis.document.chunks))
            self.kept = {key: piece for key, piece in self.kept.items() if key[1] in alive}
        self.kept[encoding, id(chunk)] = piece
        return piece


def pieces_of(document: Document) -> Pieces:
    """Return the pieces kept for a text and its earlier snapshots."""
    return document.session.part(Pieces)


def _make_piece(lines: Sequence[bytes], document: Document, chunk_number: int, encoding: Encoding) -> Piece:
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
    return Piece(None, body, body.count(b",") + 2 if body else 0, max(lead, 0), many - max(last, 0))


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
