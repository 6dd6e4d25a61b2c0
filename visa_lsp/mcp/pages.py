"""Answers in pages: each at most a number of tokens, the rest behind a cursor.

Knows JSON values, not tools. Invariant: a page never exceeds its limit, and the pages of an answer together have each
of its items once, in order. A truncated string ends with the number of missing characters; a list within an item keeps
its first entries.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from visa_lsp.app.errors import UserError

DEFAULT_TOKENS: Final = 2_000
MIN_TOKENS: Final = 400
MAX_TOKENS: Final = 100_000
# Characters per token: a lower bound for tokenizers of language models, because vISA has more digits and punctuation
# than words.
_TOKEN: Final = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^A-Za-z0-9\s]|\n| {2,}")
# A client may show its model both forms of an answer, text and values; together they have four characters per token.
_CHARS_PER_TOKEN: Final = 2
_MAX_STRING_CHARS: Final = 600
_MAX_LIST_ITEMS: Final = 32
_CURSOR: Final = re.compile(r"([0-9]{1,9})-([0-9a-f]{12})")


class ToolAnswer(Struct, frozen=True):
    """An answer: the values of every page, and the items of the one member that is divided into pages.

    ``is_text``: the items are lines, and a page has them as one string.
    """

    head: Mapping[str, Any]
    member: str
    items: Sequence[Any]
    is_text: bool = False


def tokens_of(text: str) -> int:
    """Return an upper bound on the number of tokens of a text."""
    # A character outside of ASCII may be three tokens.
    return len(_TOKEN.findall(text)) + (0 if text.isascii() else 2 * sum(not char.isascii() for char in text))


def page(answer: ToolAnswer, cursor: str, max_tokens: int) -> dict[str, Any]:
    """Return the page at a cursor, the first for an empty one. Raises UserError for a cursor of another answer."""
    digest = _digest(answer)
    start = _start(cursor, digest)
    # The numbers below and the cursor take some 40 tokens.
    room = max_tokens - 40
    head = _fit(dict(answer.head), max_tokens, room // 2)
    shown: list[Any] = []
    left = _RoomLeft(room - tokens_of(_json(head)), room * _CHARS_PER_TOKEN - len(_json(head)))
    for item in answer.items[start:]:
        kept = _cut(item, *_limits(max_tokens))
        if not left.take(_json(kept)):
            if shown:
                break
            kept = _fit(item, max_tokens, room // 2)
        shown.append(kept)
    end = start + len(shown)
    value = {**head, answer.member: "\n".join(shown) if answer.is_text else shown}
    if start or end < len(answer.items):
        value |= {"total": len(answer.items), "first": start + 1}
    if end < len(answer.items):
        value["cursor"] = f"{end}-{digest}"
    return value


class _RoomLeft:
    """The remaining tokens and characters of a page."""

    def __init__(self, tokens: int, chars: int) -> None:
        self.tokens, self.chars = tokens, chars

    def take(self, text: str) -> bool:
        """Reserve the room of an item; return whether there is enough."""
        self.tokens -= tokens_of(text) + 1
        self.chars -= len(text) + 1
        return self.tokens >= 0 and self.chars >= 0


def _start(cursor: str, digest: str) -> int:
    if not cursor:
        return 0
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise UserError(f"unknown cursor {cursor[:40]!r}: expected one that an answer of this tool gave")
    if match[2] != digest:
        raise UserError(
            "this cursor belongs to another answer: the input or the arguments differ; call without a cursor"
        )
    return int(match[1])


def _digest(answer: ToolAnswer) -> str:
    text = _json([answer.head, answer.items])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _limits(max_tokens: int) -> tuple[int, int]:
    """Return the lengths of the longest string and the longest list within an item."""
    times = max(1, max_tokens // DEFAULT_TOKENS)
    return _MAX_STRING_CHARS * times, _MAX_LIST_ITEMS * times


def _fit(value: Any, max_tokens: int, tokens: int) -> Any:
    """Truncate the strings and lists of a value until it fits a number of tokens."""
    chars, length = _limits(max_tokens)
    cut = _cut(value, chars, length)
    while chars > 8 and (tokens_of(_json(cut)) > tokens or len(_json(cut)) > tokens * _CHARS_PER_TOKEN):
        chars, length = chars // 2, max(length // 2, 2)
        cut = _cut(value, chars, length)
    return cut


def _cut(value: Any, chars: int, length: int) -> Any:
    match value:
        case str():
            text = value.encode("utf-8", "replace").decode()
            return text if len(text) <= chars else f"{text[:chars]} ... {len(text) - chars} more characters"
        case dict():
            return {key: _cut(entry, chars, length) for key, entry in value.items()}
        case list() | tuple():
            return [_cut(entry, chars, length) for entry in value[:length]]
    return value


def item_ids(values: Sequence[tuple[str, Sequence[object]]]) -> list[str]:
    """Return an id for each item, from a word and its identifying values; equal items are numbered.

    An id is the same in every call as long as these values are.
    """
    seen: dict[str, int] = {}
    ids = []
    for word, parts in values:
        digest = hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:8]
        name = f"{word}-{digest}"
        seen[name] = seen.get(name, 0) + 1
        ids.append(name if seen[name] == 1 else f"{name}.{seen[name]}")
    return ids
