"""Parts of a C-like text that confuse its grammar; the parser gets blanks instead of them.

These are comments in the bodies of macros, where the grammar would end the macro, and attributes that make a vector of
a type, where it would end the declaration. Knows no tree. Invariant: parts are in text order without overlaps, and none
lies in a string or in another comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from visa_lsp.embed.literals import C_RAW, C_STRING
from visa_lsp.text import Span

_STRING: Final = rf"{C_RAW}|{C_STRING}|(?<!\w)'(?:[^'\\\n]|\\.)*+'"
_COMMENT: Final = r"/\*[\s\S]*?(?:\*/|\Z)|//(?:[^\\\n]|\\\r?\n|\\.)*+"
_VECTOR_NAME: Final = r"_*(?:ext_vector_type|vector_size)_*"
VECTOR: Final = re.compile(
    rf"(?:__attribute(?:__)?\s*\(\((?:[^()\n]|\([^()\n]*\))*?|\[\[(?:[^\[\]()\n])*?)\b(?P<how>{_VECTOR_NAME})\s*\("
    r"(?P<size>(?:[^()\n]|\([^()\n]*\))*)\)(?:[^()\[\]\n]|\([^()\n]*\))*?(?:\)\)|\]\])"
)
_TOKEN: Final = re.compile(
    rf"(?P<string>{_STRING})|(?P<comment>{_COMMENT})|(?P<define>^[ \t]*+#[ \t]*+define\b)|(?P<vector>{VECTOR.pattern})"
    r"|(?P<end>(?<!\\)(?<!\\\r)\n)",
    re.MULTILINE,
)
_DEFINED: Final = re.compile(r"#[ \t]*+define\b(?:[^\\\n/]|\\\r?\n|\\.|/(?![/*]))*+/[/*]")
_MADE: Final = re.compile(_VECTOR_NAME)


def hidden_parts(text: str) -> tuple[Span, ...]:
    """Return the parts of a text that are hidden from its grammar."""
    if not (_MADE.search(text) or _DEFINED.search(text)):
        return ()
    return tuple(_parts(text))


def comments_of_macros(text: str) -> tuple[Span, ...]:
    """Return the parts that are comments."""
    return tuple(part for part in hidden_parts(text) if text.startswith("/", part.start))


def _parts(text: str) -> Iterator[Span]:
    in_macro = False
    for token in _TOKEN.finditer(text):
        if token["end"] is not None:
            in_macro = False
        elif token["define"] is not None:
            in_macro = True
        elif token["vector"] is not None or (in_macro and token["comment"] is not None):
            yield Span(*token.span())
