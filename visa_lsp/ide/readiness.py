"""Caches for requests about a whole text, filled in advance in small steps.

Every step fills a cache that a request would fill anyway, so that skipping it only costs time later. Knows no clock: the
caller takes steps when it is idle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.ide.features.folding import prepare_folds
from visa_lsp.ide.features.semantic_tokens import is_coloured_by_chunk
from visa_lsp.ide.features.token_pieces import pieces_of
from visa_lsp.ide.index.directory import directory_in, directory_of
from visa_lsp.ide.index.line_keys import keys_of
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.syntax.word_search import learn_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.text import Encoding

# New templates made in one step.
_TEMPLATES: Final = 2


def prepare(analysis: Analysis, encoding: Encoding, *, tokens: bool) -> Iterator[None]:
    """Yield after each step of at most some milliseconds; ``tokens``: also prepare the colours of the text."""
    index = index_of(analysis.document)
    yield
    for part in index.parts:
        # The results are cached with the chunk.
        if not part.chunk.words:
            learn_words(part.chunk)
            yield
        if not part.knows_decls:
            _ = part.decls, part.aliases
            yield
        if directory_in(analysis.document).include(part):
            yield
    directory_of(index.document, index.parts)
    yield
    for part in index.parts:
        if not part.knows_instructions:
            _ = part.instructions
            yield
        if prepare_folds(part):
            yield
    if tokens and is_coloured_by_chunk(analysis):
        kept = pieces_of(analysis.document)
        for part in index.parts:
            if not part.knows_naming:
                _ = part.naming, part.label_signs
                yield
        for at in range(len(index.parts)):
            if kept.get(index, at, encoding) is None:
                keys_of(analysis, at)
                yield
                while kept.make(analysis, index, at, encoding, _TEMPLATES) is None:
                    yield
                yield
