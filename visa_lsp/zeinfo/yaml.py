"""Converts YAML text to values with their places; the only module that uses the YAML library.

Knows nothing of ze_info or launch files. Only plain data is read: maps with text keys, lists, text, numbers, flags.
Invariant: a text with too many characters, levels or aliases raises a ``YamlError`` with a place, never another
exception.
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct
from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, StreamMark, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from visa_lsp.text import LineIndex, with_newlines

MAX_CHARACTERS: Final = 64 << 20
MAX_NODES: Final = 4_000_000
MAX_ALIAS_COPIES: Final = 10_000
MAX_DEPTH: Final = 100
_MAX_MESSAGE: Final = 200  # characters
MAX_DIGITS: Final = 400  # digits of a whole number, because no type here has more than 64 bits
# Characters that end a line for the library but not in editors.
_OTHER_ENDS: Final = re.compile("[\x85\u2028\u2029]")

Scalar = str | int | float | bool | None


class YamlError(Exception):
    """A text that is not YAML of the supported kind; ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class Limits(Struct, frozen=True):
    """Limits on the nodes of a document: every key, value, list and map is one.

    A node takes some 50 microseconds, so that an untrusted document needs lower limits than memory does. ``of_entries``
    limits the nodes below the keys of the root map, counted together. ``advice`` ends the message.
    """

    of_document: int = MAX_NODES
    of_entries: int = MAX_NODES
    advice: str = ""


class YamlItem(Struct, frozen=True, gc=False):
    """A value with its place. ``key_places`` has the places of a map's keys."""

    value: dict[str, YamlItem] | list[YamlItem] | Scalar
    line: int
    column: int
    key_places: dict[str, tuple[int, int]]

    def plain(self) -> object:
        """Return the value without places."""
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        return self.value

    @property
    def kind(self) -> str:
        """The kind of the value, in words for messages."""
        match self.value:
            case dict():
                return "a map"
            case list():
                return "a list"
            case None:
                return "nothing"
            case bool():
                return "true or false"
            case int() | float():
                return f"the number {self.value}"
            case _:
                return f"the text '{self.value:.40}'"


def load(text: str, limits: Limits = Limits()) -> YamlItem:  # noqa: B008 - a frozen value
    """Return the document of a text; an empty text is an item with the value None.

    Raises YamlError, with line and column from 1, if the text is not YAML, or has more characters, levels or copies of
    aliases than ``limits`` allow.
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlError(f"the text has {len(text)} characters; the limit is {MAX_CHARACTERS}")
    text = with_newlines(text)
    places = _MarkPlaces(text)
    try:
        reader = YAML(typ="safe", pure=True)
        reader.Composer = _composer(limits, places)
        root = reader.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(_in_one_line(error.problem or error.context or ""), *places.of(mark)) from None
    except RecursionError:
        raise YamlError("nested too deeply") from None
    except (YAMLError, ValueError) as error:
        raise YamlError(_in_one_line(str(error))) from None
    if root is None:
        return YamlItem(None, 1, 1, {})
    return _NodeReader(places).item(root, 0)


def _in_one_line(message: str) -> str:
    """Return the first line of a message of the library, which may quote a word of any length."""
    line = message.strip().partition("\n")[0] or "not valid YAML"
    return line if len(line) <= _MAX_MESSAGE else f"{line[:_MAX_MESSAGE]}..."


class _MarkPlaces:
    """Converts the library's marks to lines and columns from 1, as editors count them."""

    def __init__(self, text: str) -> None:
        self._index = LineIndex(text) if _OTHER_ENDS.search(text) is not None else None

    def of(self, mark: StreamMark | None) -> tuple[int, int]:
        """Return the line and column of a mark; the start of the text for None."""
        if mark is None:
            return 1, 1
        line, column = (mark.line, mark.column) if self._index is None else self._index.position(mark.index)
        return line + 1, column + 1


_ENTRY_DEPTH: Final = 3  # the root is 1, its values are 2


def _composer(limits: Limits, places: _MarkPlaces) -> type[Composer]:
    """Return a composer that stops when a document exceeds the limit of nodes."""

    class Counted(Composer):
        def __init__(self, loader: Any = None) -> None:
            super().__init__(loader)
            self.warn_double_anchors = False  # YAML allows these, and a warning would be one of Python
            self.nodes = self.entries = self.level = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            self.level += 1
            self.nodes += 1
            self.entries += self.level == _ENTRY_DEPTH
            if self.nodes > limits.of_document or self.entries > limits.of_entries:
                mark = self.loader.parser.peek_event().start_mark
                most = limits.of_document if self.nodes > limits.of_document else limits.of_entries
                raise YamlError(
                    f"too many entries; the limit is {most}{limits.advice}",
                    *places.of(mark),
                )
            node = super().compose_node(parent, index)
            self.level -= 1
            return node

    return Counted


class _NodeReader:
    """Converts the composed nodes of one document to items, and counts the copies made by aliases."""

    def __init__(self, places: _MarkPlaces) -> None:
        self._places = places
        self._seen: set[int] = set()
        self._nodes = 0
        self._copies = 0

    def item(self, node: Node, depth: int) -> YamlItem:
        line, column = self._places.of(node.start_mark)
        self._nodes += 1
        if id(node) in self._seen:
            self._copies += 1
        self._seen.add(id(node))
        if self._nodes > MAX_NODES or self._copies > MAX_ALIAS_COPIES:
            raise YamlError("too many values, or aliases that multiply", line, column)
        if depth > MAX_DEPTH:
            raise YamlError("nested too deeply, or an alias inside itself", line, column)
        if isinstance(node, MappingNode):
            return self._mapping(node, depth, line, column)
        if isinstance(node, SequenceNode):
            return YamlItem([self.item(child, depth + 1) for child in node.value], line, column, {})
        return YamlItem(_scalar(node, line, column), line, column, {})

    def _mapping(self, node: MappingNode, depth: int, line: int, column: int) -> YamlItem:
        values: dict[str, YamlItem] = {}
        places: dict[str, tuple[int, int]] = {}
        for key_node, value_node in node.value:
            place = self._places.of(key_node.start_mark)
            if not isinstance(key_node, ScalarNode):
                raise YamlError("a key must be a word", *place)
            key = str(key_node.value)
            if key in values:
                raise YamlError(f"duplicate key '{key}', first in line {places[key][0]}", *place)
            values[key] = self.item(value_node, depth + 1)
            places[key] = place
        return YamlItem(values, line, column, places)


def _scalar(node: Node, line: int, column: int) -> Scalar:
    text = str(node.value)
    tag = str(node.tag).rpartition(":")[2]
    try:
        match tag:
            case "null":
                return None
            case "bool":
                return text.lower() in ("true", "yes", "on")
            case "int":
                if len(text) > MAX_DIGITS:
                    raise YamlError(f"a number of {len(text)} digits is too long", line, column)
                return int(text.replace("_", ""), _base(text))
            case "float":
                return _float(text)
    except ValueError:
        raise YamlError(f"'{text[:40]}' is not a valid number", line, column) from None
    if tag not in ("str", "timestamp", "value", "merge"):
        raise YamlError(f"the tag {node.tag} is not supported here", line, column)
    return text


def _base(text: str) -> int:
    digits = text.lstrip("+-").lower()
    return 0 if digits[:2] in ("0x", "0o", "0b") else 10


def _float(text: str) -> float:
    lowered = text.replace("_", "").lower()
    sign = -1.0 if lowered.startswith("-") else 1.0
    match lowered.lstrip("+-"):
        case ".inf":
            return sign * float("inf")
        case ".nan":
            return float("nan")
    return float(lowered)
