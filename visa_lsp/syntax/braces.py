"""Braces on the line of a statement: ``{ mov .. }`` is a statement in a scope that begins and ends on its line.

The grammar reads one statement; braces that open scopes before it and close scopes after it are removed here, without a
change of columns. Braces of the statement itself (``attrs={..}``, the seed's ``{NoMask}``) are recognized by their
counterpart.
"""

from __future__ import annotations

import re
from typing import Final

from visa_lsp.syntax import tree
from visa_lsp.text import Span

_OPENING: Final = re.compile(r"\s*(?:\{\s*)++")
_SIGN: Final = re.compile(r'"(?:\\.|[^"\\])*+"?|[{}]')


def strip_braces(code: str) -> tuple[str, tree.Braces] | None:
    """Return a line without the braces around its statement, and the braces; None for a line without them, or a single brace.

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
        # In a line of braces only, the last opening or the first closing one is the statement.
        closes = closes[1:]
    opens = [offset for offset in range(start) if code[offset] == "{"]
    if not opens and not closes:
        return None
    inner = " " * start + code[start : closes[0] if closes else None].rstrip()
    return inner, tree.Braces(tuple(map(_span, opens)), tuple(map(_span, closes)))


def _span(offset: int) -> Span:
    return Span(offset, offset + 1)


def _find_closing_braces(code: str, start: int) -> list[int]:
    """Return the places, from ``start`` on, of the braces at the end of the line that close earlier scopes."""
    depth = 0
    braces: list[int] = []
    for sign in _SIGN.finditer(code, start):
        text = sign.group()
        if text == "{":
            depth += 1
        elif text == "}" and depth:
            depth -= 1
        elif text == "}":
            braces.append(sign.start())
    end = len(code)
    while braces and not code[braces[-1] + 1 : end].strip():
        end = braces.pop()
    # Some of the braces at the end belong to the statement; the others close scopes.
    return [offset for offset in range(end, len(code)) if code[offset] == "}"]
