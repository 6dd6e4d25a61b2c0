"""The schema of a YAML format as data: the keys of each map, their types, words, versions and conditions.

The rows are in ``zeinfo.tables`` for ze_info (seed 002, version 1.14, and later keys of real compilers, up to 1.73) and in
``launchfile.tables`` for launch files; this module defines a row and its look-up. Validation, completion, hover and
documents read them. Invariant: every type in a row is one of ``VALUES`` or a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

Version = tuple[int, int]

FIRST_VERSION: Final[Version] = (1, 0)
SEED_VERSION: Final[Version] = (1, 14)
KNOWN_VERSION: Final[Version] = (1, 73)

# The types of values in words, as in "KEY is ...", first those of ze_info, then those of launch files.
VALUES: Final = {
    "int32": "a whole number of 32 bits",
    "int64": "a whole number of 64 bits",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "int32x3": "a list of three whole numbers",
    "word": "a word",
    "text": "a word",
    "file": "the name of a file, relative to the launch file",
    "sizes": "one to three numbers >= 1, [X, Y, Z]; omitted numbers are 1",
    "offsets": "one to three numbers >= 0, [X, Y, Z]; omitted numbers are 0",
    "pair": "two numbers >= 1, [X, Y]",
    "arguments": "a list in the order of the kernel's arguments, or a map from their names",
    "numbers": "a number, or a list of numbers, or a list of such lists",
    "bytes": "a number of bytes >= 1",
    "axes": "a number of elements, or a list with one for each axis",
    "seed": "a whole number >= 0",
    "contents": "a word, or one of {random: SEED}, {values: [...]}, {repeat: [...]}, {npy: FILE}",
    "channels": "1, 2 or 4",
    "dimensions": "1, 2 or 3",
    "argument": "the number or the name of an argument",
    "tolerance": "a number >= 0",
    "places": "a whole number >= 0",
    "expression": "an expression",
    "address": "an address, a whole number >= 4096",
    "ranges": "a list of [FIRST, END], numbers of bytes from 0",
}
# The types of numbers or lists of numbers, which may also be expressions; the first ones are of whole numbers.
WHOLE: Final = ("sizes", "offsets", "pair", "bytes", "axes", "seed", "channels", "dimensions", "places")
NUMERIC: Final = (*WHOLE, "numbers", "tolerance")


@dataclass(frozen=True, slots=True)
class SchemaWord:
    """A word of a closed set. ``renamed`` is its name since ``removed``."""

    name: str
    doc: str = ""
    since: Version = FIRST_VERSION
    removed: Version | None = None
    renamed: str = ""


@dataclass(frozen=True, slots=True)
class SchemaKey:
    """A row of a table: a key of a map. ``example`` is a valid line of a document, or a part of one.

    ``type`` is one of ``VALUES`` or the name of a table; the suffix ``[]`` means a list, ``{}`` a map from names, ``?`` also
    allows null. ``when`` is the condition on other keys under
    which it applies: ``arg_type=a,b & addrmode=c | arg_type=d``, a star at the end matches the rest of a word. ``removed`` is
    the first version without the key. ``proposals`` are values to complete.
    """

    name: str
    type: str
    doc: str
    example: str = ""
    required: bool = False
    default: str = ""
    words: tuple[SchemaWord, ...] = ()
    proposals: tuple[str, ...] = ()
    since: Version = FIRST_VERSION
    removed: Version | None = None
    when: str = ""

    @property
    def inner(self) -> str:
        """The type of the value, or of each of its entries."""
        return self.type.rstrip("?[]{}")

    @property
    def many(self) -> str:
        """``list`` or ``map`` if the value has entries of the inner type, else empty."""
        return "list" if self.type.endswith("[]") else "map" if self.type.endswith("{}") else ""

    @property
    def table(self) -> str:
        """The table of the value, or of each entry of it; empty for other values."""
        return "" if self.inner in VALUES else self.inner

    def word(self, name: str) -> SchemaWord | None:
        """Return a word of the key by its name."""
        return next((word for word in self.words if word.name == name), None)

    def applies(self, values: Mapping[str, str]) -> bool:
        """Return whether ``when`` holds for the words of other keys."""
        return not self.when or any(
            all(_holds(condition, values) for condition in option.split("&")) for option in self.when.split("|")
        )

    @property
    def when_text(self) -> str:
        """The condition ``when`` in words for a message."""
        options = []
        for option in self.when.split("|"):
            parts = [part.strip().partition("=") for part in option.split("&")]
            options.append(" and ".join(f"{key} is {_either(words)}" for key, _, words in parts))
        return ", or ".join(options)


def _holds(condition: str, values: Mapping[str, str]) -> bool:
    key, _, words = condition.strip().partition("=")
    value = values.get(key)
    return value is not None and any(
        value.startswith(word[:-1]) if word.endswith("*") else value == word for word in words.split(",")
    )


def _either(words: str) -> str:
    listed = words.split(",")
    return listed[0] if len(listed) == 1 else ", ".join(listed[:-1]) + " or " + listed[-1]


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """The keys of one kind of map. ``unique`` is the key that distinguishes the entries of a list of them.

    ``what`` is its name in messages of launch files; ``others`` is the meaning of other names there.
    """

    name: str
    doc: str
    keys: tuple[SchemaKey, ...]
    unique: str = ""
    what: str = ""
    others: str = ""
    _by_name: dict[str, SchemaKey] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {key.name: key for key in self.keys})

    def get(self, name: str) -> SchemaKey | None:
        """Return the row of a key."""
        return self._by_name.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all keys, in order."""
        return tuple(self._by_name)


def version_text(version: Version) -> str:
    """Return a version as text."""
    return f"{version[0]}.{version[1]}"


def parse_version(text: str) -> Version | None:
    """Return a version from its text; None if it is not two numbers with a dot between."""
    major, point, minor = text.partition(".")
    if not point or not (major.isascii() and minor.isascii() and major.isdigit() and minor.isdigit()):
        return None
    return (int(major), int(minor)) if len(text) <= 9 else None
