"""Tokens: the text that replaces a name, or a long immediate, in the class of a line.

The token of a name stands for its whole declaration; names with the same token mean the same to every rule of scope
LINE. The token of an immediate of three or more hex digits has its length, its bit length and whether it is a power of
two.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import count
from types import MappingProxyType
from typing import Final

from visa_lsp.sema.special_words import special_words

# The tokens of an undeclared name, and of a name whose lines are judged alone; the prefix for a name declared after
# the first instruction; the token of a label, with the number of its part of the body if there are several.
UNKNOWN: Final = "\x02"
SINGLE: Final = "\x07"
LATE: Final = "\x06"
LABEL: Final = "\x08"
# The class of a declaration is this and its token.
DECLARATION: Final = "\x10"
_MAX_TOKENS: Final = 4_096
_ids = count()
_tokens: dict[str, str] = {}


def class_token(definition: str) -> str:
    """Return a token for a definition. A dropped definition gets a new token, so that no token ever has two meanings."""
    token = _tokens.get(definition)
    if token is None:
        if len(_tokens) > _MAX_TOKENS:
            _tokens.clear()
        token = _tokens[definition] = f"\x01{next(_ids)};"
    return token


@lru_cache(maxsize=4096)
def _value_class(text: str) -> str:
    if text[:2] not in ("0x", "0X"):
        return "\x04"
    value = int(text, 16)
    rest = value ^ ((1 << 4 * (len(text) - 2)) - 1)  # the significant bits of a negative number
    return f"\x03{text[1]}{len(text)}.{value.bit_length()}.{rest.bit_length()}.{value & (value - 1) == 0};"


class Tokens(dict[str, str]):
    """The tokens of the names of a body; those of undeclared names and immediates are computed at first use.

    ``words`` maps special words to tokens if the token is not the word itself.
    """

    __slots__ = ("words",)

    def __init__(self, words: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__()
        self.words = words

    def __missing__(self, name: str) -> str:
        if name[:1].isdigit():
            token = self[name] = _value_class(name)
        elif name in special_words():
            token = self[name] = self.words.get(name, name)
        else:
            token = UNKNOWN
        return token
