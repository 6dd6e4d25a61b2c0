"""A block comment is opened and never closed.

Why: everything after `/*` is a comment up to the end of the file, so instructions silently vanish.

Example:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d /* one more
    ret (M1, 1)

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d /* one more */
    ret (M1, 1)

Authority: seed 003, lexemes, wants `*/`; the finalizer accepts the text silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.sema.model import Place
from visa_lsp.syntax.comments import find_open_comment, strip
from visa_lsp.text import Span

RULE = rule("V002", "unclosed-comment", WARNING, __doc__)


def _text(ctx: CheckContext) -> Iterator[Diagnostic]:
    chunks = ctx.document.chunks
    if not chunks[-1].closes_in_block:
        return
    # The open comment begins in the last chunk that is not entirely inside a comment.
    through = (chunk.opens_in_block and "*/" not in chunk.text for chunk in reversed(chunks))
    number = len(chunks) - 1 - next((i for i, swallowed in enumerate(through) if not swallowed), 0)
    first_line = ctx.document.line_of(number)
    in_block, opening = chunks[number].opens_in_block, (first_line, 0)
    for offset, line in enumerate(chunks[number].text.split("\n")):
        text = line.rstrip("\r")
        was_open = in_block
        _, in_block = strip(text, in_block)
        if in_block:
            column = find_open_comment(text, was_open)
            if column is not None:
                opening = (first_line + offset, column)
    line_number, column = opening
    place = Place(line_number, Span(column, column + 2))
    yield ctx.report(RULE, place, "`/*` is never closed, so the rest of the text is a comment; a `*/` is missing")


CHECK = Check(RULE, text=_text, scope=Scope.TEXT)
