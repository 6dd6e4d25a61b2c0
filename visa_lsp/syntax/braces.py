"""Braces on the line of a statement: ``{ mov .. }`` is a statement in a scope that begins and ends on its line.

The grammar reads one statement; what opens scopes before it and closes some behind it is taken off here, and the columns
of the rest stay. Braces that belong to the statement (``attrs={..}``, the seed's ``{NoMask}``) are recognized by their
other half.
"""

from __future__ import annotations

import re
from typing import Final

from visa_lsp.syntax import tree
from visa_lsp.text import Span

_OPENING: Final = re.compile(r"\s*(?:\{\s*)++")
_SIGN: Final = re.compile(r'"(?:\\.|[^"\\])*+"?|[{}]')


def strip_braces(code: str) -> tuple[str, tree.Braces] | None:
    """Return a line without the braces around its statement, and these; None for a line that has none, or is one brace alone.

    ``code`` has no comment and no blanks at its end.
    """
    head = _OPENING.match(code)
    start = head.end() if head is not None else 0
    if start == len(code):
        start = code.rindex("{")
    elif head is None and code[-1] != "}":
        return None
    closes = _find_closing_braces(code, start) if code[-1] == "}" else []
    if closes and not code[start : closes[0]].strip():
        # Of a line of nothing but braces the last one to open, or the first one to close, is the statement.
        closes = closes[1:]
    opens = [at for at in range(start) if code[at] == "{"]
    if not opens and not closes:
        return None
    inner = " " * start + code[start : closes[0] if closes else None].rstrip()
    return inner, tree.Braces(tuple(map(_span, opens)), tuple(map(_span, closes)))


def _span(at: int) -> Span:
    return Span(at, at + 1)


def _find_closing_braces(code: str, start: int) -> list[int]:
    """Return the places, from ``start`` on, of the braces that end the line and close scopes opened before it."""
    depth = 0
    found: list[int] = []
    for sign in _SIGN.finditer(code, start):
        text = sign.group()
        if text == "{":
            depth += 1
        elif text == "}" and depth:
            depth -= 1
        elif text == "}":
            found.append(sign.start())
    behind = len(code)
    while found and not code[found[-1] + 1 : behind].strip():
        behind = found.pop()
    # Some of the braces at the end belong to the statement: those that close a scope follow.
    return [at for at in range(behind, len(code)) if code[at] == "}"]
