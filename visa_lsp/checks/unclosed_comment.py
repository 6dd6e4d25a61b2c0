"""A block comment is opened and never closed.

Why: everything behind `/*` is taken for comment up to the end of the file, so that instructions vanish without a word.

Example:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d /* one more
    ret (M1, 1)

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d /* one more */
    ret (M1, 1)

Authority: seed 003, lexemes, wants `*/`; the finalizer accepts the text silently.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from visa_lsp.checks.rule import WARNING, Check, CheckContext, Diagnostic, rule
from visa_lsp.sema.model import Place
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = rule("V002", "unclosed-comment", WARNING, __doc__)
_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*')


def _text(ctx: CheckContext) -> Iterator[Diagnostic]:
    text = ctx.document.text
    at = text.rfind("/*")
    if at < 0 or "*/" in text[at:]:
        return
    for token in _TOKEN.finditer(text):
        if token.group() == "/*":
            end = text.find("*/", token.end())
            if end < 0:
                line, column = ctx.document.position(token.start())
                place = Place(line, Span(column, column + 2))
                yield ctx.report(
                    RULE, place, "`/*` is never closed: the rest of the text is comment; a `*/` is missing"
                )
                return


CHECK = Check(RULE, text=_text)
