"""A hexadecimal literal has more than 16 digits.

Why: no immediate has more than 64 bits; the finalizer's lexer gives up on the whole text.

Example:

    mov (M1, 1) V40(0,0)<1> 0x11112222333344445:uq

Instead:

    mov (M1, 1) V40(0,0)<1> 0x1112222333344445:uq

Authority: the finalizer stops with "hex literal too long"; seed 000, constants, has 64 bits at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, rule
from visa_lsp.sema.model import Place
from visa_lsp.text import Span

RULE = rule("V005", "literal-length", ERROR, __doc__)
_OVERLONG_HEX = re.compile(r"(?<![\w$@?])0[xX]([0-9a-fA-F]{17,})(?![\w$@?])")
_HINT = re.compile(r"0[xX][0-9a-fA-F]{17}")  # because this search is faster in texts without such a literal


def _text(ctx: CheckContext) -> Iterator[Diagnostic]:
    if _HINT.search(ctx.document.text) is None:
        return
    for line, _ in ctx.document.statements():
        code = ctx.document.code(line)
        for hit in _OVERLONG_HEX.finditer(code):
            if code[: hit.start()].count('"') % 2 == 0:
                place = Place(line, Span(*hit.span()))
                digits = len(hit.group(1))
                yield ctx.report(RULE, place, f"hexadecimal literal has {digits} digits; at most 16 are allowed")


CHECK = Check(RULE, text=_text)
