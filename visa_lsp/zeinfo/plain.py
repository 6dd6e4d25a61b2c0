"""A fast reader for the YAML of compilers: block maps and lists of plain scalars, one key per line.

A real ze_info of 10,000 lines takes the YAML library a second, but this reader some milliseconds. It reads only known
forms. Invariant: it returns the same items as ``yaml.load``, or None to leave the text to the library.
"""

from __future__ import annotations

import re
from typing import Final

from visa_lsp.zeinfo.yaml import YamlError, YamlItem

_LINE: Final = re.compile(
    r"( *)(- +)?([A-Za-z_]\w*) *:(?: +(?:(-?(?:0|[1-9]\d{0,18}))|([A-Za-z_][\w./*-]*)|'([^'\n]*)'|(\[[ \d,]*\])))?"
    r"(?: *| +#.*)\r?",
    re.ASCII,
)
_EMPTY: Final = re.compile(r" *(?:#.*)?\r?")
_RESERVED: Final = frozenset({"true", "false", "null"})
_BOOLS: Final = {"true": True, "false": False}
_NOWHERE: Final[dict[str, tuple[int, int]]] = {}  # the key places of values that are not maps
_NUMBER: Final = re.compile(r"\d+")


def load_plain(text: str) -> YamlItem | None:
    """Return the document of a text; None if the text has anything unusual. Raises YamlError for a repeated key."""
    lines = text.split("\n")
    start = 1 if lines[0].rstrip() == "---" else 0
    reader = _PlainReader()
    for number in range(start, len(lines)):
        line = lines[number]
        match = _LINE.fullmatch(line)
        if match is None:
            if _EMPTY.fullmatch(line):
                continue
            if line.rstrip() == "..." and not any(rest.strip() for rest in lines[number + 1 :]):
                break
            return None
        if not reader.line(number + 1, match):
            return None
    return reader.root if reader.root is not None and reader.pending is None else None


class _PlainReader:
    """The open containers: (column, item) from the outermost on, and the key that waits for its value."""

    def __init__(self) -> None:
        self.root: YamlItem | None = None
        self.open: list[tuple[int, YamlItem]] = []
        self.pending: tuple[int, YamlItem, str] | None = None

    def line(self, number: int, match: re.Match[str]) -> bool:
        """Read a line; return False if it does not have the plain form."""
        lead, dash, key, digits, word, quoted, numbers = match.groups()
        column = indent = len(lead)
        if dash:
            column += len(dash)
            target = self._entry(number, indent, column)
        elif (
            self.pending is None
            and self.open
            and self.open[-1][0] == indent
            and self.open[-1][1].key_places is not _NOWHERE
        ):
            target = self.open[-1][1]
        else:
            target = self._map(number, indent)
        if target is None or key.lower() in _RESERVED:
            return False
        values = target.value
        assert isinstance(values, dict)
        if key in values:
            line_number = target.key_places[key][0]
            raise YamlError(f"duplicate key '{key}', first in line {line_number}", number, column + 1)
        target.key_places[key] = (number, column + 1)
        if digits is not None:
            values[key] = YamlItem(int(digits), number, match.start(4) + 1, _NOWHERE)
        elif word is not None:
            if word.lower() in _RESERVED:
                if word not in _BOOLS:
                    return False
                values[key] = YamlItem(_BOOLS[word], number, match.start(5) + 1, _NOWHERE)
            else:
                values[key] = YamlItem(word, number, match.start(5) + 1, _NOWHERE)
        elif quoted is not None:
            values[key] = YamlItem(quoted, number, match.start(6), _NOWHERE)
        elif numbers is not None:
            return self._sequence(number, numbers, match.start(7) + 1, values, key)
        else:
            self.pending = (column, target, key)
        return True

    def _sequence(self, number: int, text: str, column: int, values: dict[str, YamlItem], key: str) -> bool:
        if not re.fullmatch(r"\[ *\d{1,18}(?: *, *\d{1,18})* *\]", text):
            return False
        numbers = list(_NUMBER.finditer(text))
        if any(len(n[0]) > 1 and n[0][0] == "0" for n in numbers):
            return False
        values[key] = YamlItem(
            [YamlItem(int(n[0]), number, column + n.start(), _NOWHERE) for n in numbers], number, column, _NOWHERE
        )
        return True

    def _map(self, number: int, indent: int) -> YamlItem | None:
        """Return the map for a key at this column."""
        if self.pending is not None:
            column, parent, key = self.pending
            if indent <= column:
                return None  # a key without a value
            return self._put(parent, key, indent, YamlItem({}, number, indent + 1, {}))
        if self.root is None:
            self.root = YamlItem({}, number, indent + 1, {})
            self.open.append((indent, self.root))
            return self.root
        while self.open and self.open[-1][0] > indent:
            self.open.pop()
        if not self.open or self.open[-1][0] != indent or not isinstance(self.open[-1][1].value, dict):
            # A list may have the column of its key.
            if len(self.open) > 1 and self.open[-1][0] == indent and self.open[-2][0] == indent:
                self.open.pop()
                return self.open[-1][1]
            return None
        return self.open[-1][1]

    def _entry(self, number: int, indent: int, column: int) -> YamlItem | None:
        """Return the map of a new entry of a list at this column."""
        if self.pending is not None:
            parent_column, parent, key = self.pending
            if indent < parent_column:
                return None
            self._put(parent, key, indent, YamlItem([], number, indent + 1, _NOWHERE))
        else:
            while self.open and (self.open[-1][0] > indent):
                self.open.pop()
        if not self.open or self.open[-1][0] != indent or not isinstance(self.open[-1][1].value, list):
            return None
        entry = YamlItem({}, number, column + 1, {})
        self.open[-1][1].value.append(entry)
        self.open.append((column, entry))
        return entry

    def _put(self, parent: YamlItem, key: str, column: int, item: YamlItem) -> YamlItem:
        assert isinstance(parent.value, dict)
        parent.value[key] = item
        self.open.append((column, item))
        self.pending = None
        return item
