"""A YAML text with its items and their spans, for validation, the cross-check and the editor.

Knows YAML's places, no keys of ze_info. Invariant: a hostile text takes at most about two seconds, because the library
reads texts that the fast reader rejects only up to a size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from visa_lsp.text import LineIndex, Span, with_newlines
from visa_lsp.zeinfo.plain import load_plain
from visa_lsp.zeinfo.yaml import YamlError, YamlItem, load

MAX_LINES: Final = 200_000
MAX_CHARACTERS: Final = 16 << 20
# The library reads some 20,000 values per second.
MAX_LIBRARY_MARKS: Final = 15_000
MAX_LIBRARY_CHARACTERS: Final = 1 << 20
MAX_NESTING: Final = 200

_MARK: Final = re.compile(r"[\n,:\[\]{}&*?!|>]|- ")
_BAD: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_TAB: Final = re.compile(r"^ *(?:- *)*(\t+)(?=[^\s#])", re.MULTILINE)
_QUOTED: Final = re.compile(r"'(?:[^'\n]|'')*'|\"(?:[^\"\\\n]|\\.)*\"")
_PLAIN: Final = re.compile(r"[^\n,\]}]+")
_KEY: Final = re.compile(r"'(?:[^'\n]|'')*'|\"(?:[^\"\\\n]|\\.)*\"|[^\s:,\[\]{}]+")


@dataclass(frozen=True)
class YamlSource:
    """A text, and its root item or the error that makes it unreadable.

    In ``text`` a newline replaces each lone carriage return at a line end, without a change of places.
    """

    text: str
    root: YamlItem | None
    error: YamlError | None = None

    @cached_property
    def index(self) -> LineIndex:
        """The starts of the lines."""
        return LineIndex(self.text)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place whose line and column count from 1."""
        return min(self.index.start(line - 1) + column - 1, len(self.text))

    def span(self, item: YamlItem) -> Span:
        """Return the span of a scalar, of the first key of a map, or of the first character of other values."""
        if isinstance(item.value, dict) and item.key_places and self.text[self.start(item)] != "{":
            return self.key_span(item, next(iter(item.key_places)))
        return self._scalar(self.start(item))

    def start(self, item: YamlItem) -> int:
        """Return the offset of an item, within the text."""
        return min(self.offset(item.line, item.column), max(0, len(self.text) - 1))

    def key_span(self, item: YamlItem, key: str) -> Span:
        """Return the word of a key of a map."""
        start = self.offset(*item.key_places[key])
        if self.text.startswith(key, start):
            return Span(start, start + len(key))
        match = _KEY.match(self.text, start)
        return Span(start, match.end()) if match else Span(start, min(start + 1, len(self.text)))

    def error_span(self) -> Span:
        """Return the place of the error."""
        assert self.error is not None
        return self._scalar(min(self.offset(self.error.line, self.error.column), max(0, len(self.text) - 1)))

    def _scalar(self, start: int) -> Span:
        match = _QUOTED.match(self.text, start)
        if match is not None:
            return Span(start, match.end())
        match = _PLAIN.match(self.text, start)
        words = match[0].split(" #", 1)[0].rstrip() if match and match[0][0] not in "[{#" else ""
        return Span(start, start + len(words)) if words else Span(start, min(start + 1, len(self.text)))


@dataclass(frozen=True)
class ZeInfoSource(YamlSource):
    """The source of a ze_info document."""

    @staticmethod
    def of(text: str) -> ZeInfoSource:
        """Read a text; never raises."""
        text = with_newlines(text)
        try:
            return ZeInfoSource(text, _load(text))
        except YamlError as error:
            return ZeInfoSource(text, None, error)


def _load(text: str) -> YamlItem:
    if len(text) > MAX_CHARACTERS:
        raise YamlError(f"the text has {len(text)} characters; the limit is {MAX_CHARACTERS}")
    lines = text.count("\n")
    if lines > MAX_LINES:
        raise YamlError(f"the text has {lines} lines; the limit is {MAX_LINES}")
    bad = _BAD.search(text)
    if bad is not None:
        raise YamlError(_explain_character(bad[0]), *_place(text, bad.start()))
    root = load_plain(text)
    if root is not None:
        return root
    tab = _TAB.search(text)
    if tab is not None and not _in_block_text(text):
        raise YamlError("a tab indents this line; YAML requires spaces", *_place(text, tab.start(1)))
    if _measure_nesting(text) > MAX_NESTING:
        raise YamlError("nested too deeply")
    if is_long(text):
        raise YamlError(
            f"this YAML is not the plain form that compilers write, and too large to be read in any other form "
            f"({len(text)} characters)"
        )
    return load(text)


def is_long(text: str) -> bool:
    """Return whether the library would take too long for a text while the user is typing."""
    return len(text) > MAX_LIBRARY_CHARACTERS or _marks(text) > MAX_LIBRARY_MARKS


def _explain_character(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "the text is not UTF-8"
    if character == "\0":
        return "the text has null bytes; expected UTF-8 text"
    return f"YAML does not allow the control character 0x{ord(character):02x}"


def _in_block_text(text: str) -> bool:
    return re.search(r"[|>][-+\d]*[ \t]*$", text, re.MULTILINE) is not None


def _marks(text: str) -> int:
    count = 0
    for _ in _MARK.finditer(text):
        count += 1
        if count > MAX_LIBRARY_MARKS:
            break
    return count


def _measure_nesting(text: str) -> int:
    """Return an upper bound of the depth of brackets, because brackets in quoted text count too."""
    depth = deepest = 0
    for bracket in re.finditer(r"[\[\]{}]", text):
        depth = depth + 1 if bracket[0] in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
        if deepest > MAX_NESTING:
            break
    return deepest


def _place(text: str, offset: int) -> tuple[int, int]:
    line = text.count("\n", 0, offset)
    return line + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1
