"""A line is not a statement, or a part of it is not an operand.

The rest of the line is still checked; only errors that follow from the broken part are suppressed.

Why: the finalizer stops at the first such line, with the name of a token that it did not expect.

Example:

    add (M1, 16 V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 003, grammar of the assembly text; the finalizer rejects the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.sema.model import Place
from visa_lsp.text import Span

_SIGN: Final = re.compile(r'["()]|//')

RULE = rule("V001", "syntax-error", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    line, span = problem.place
    text = ctx.document.line_text(line)
    opened = _find_unclosed(text)
    if opened is not None and span.start >= opened:
        inner = text[opened + 1 : opened + 24].strip()
        where = f" before `{inner}`" if inner else ""
        return ctx.report(RULE, Place(line, Span(opened, opened + 1)), f"`(`{where} is never closed; a `)` is missing")
    return ctx.report(RULE, problem.place, str(problem.args["message"]))


@lru_cache(maxsize=64)
def _find_unclosed(text: str) -> int | None:
    """Return the column of an opening parenthesis that the line never closes."""
    opened: list[int] = []
    quoted = False
    for match in _SIGN.finditer(text):
        sign = match.group()
        if sign == '"':
            quoted = not quoted
        elif not quoted and sign == "(":
            opened.append(match.start())
        elif not quoted and sign == ")" and opened:
            opened.pop()
        elif not quoted and sign == "//":
            break
    return opened[0] if opened else None


CHECK = Check(RULE, {"syntax": _report})
