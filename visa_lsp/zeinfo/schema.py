"""The schema of ze_info as data: the keys of each map, their types, versions and conditions.

Tables of seed 002 (version 1.14) and later keys of real compilers (up to 1.73) are in ``tables`` and ``closed_words``; this
module defines a row and its look-up. Invariant: every type that a row names is a scalar type of ``SCALARS``, a table,
or a set of words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

Version = tuple[int, int]

SEED_VERSION: Final[Version] = (1, 14)
KNOWN_VERSION: Final[Version] = (1, 73)

SCALARS: Final = {
    "int32": "a whole number of 32 bits",
    "int64": "a whole number of 64 bits",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "int32x3": "a list of three whole numbers",
}


@dataclass(frozen=True, slots=True)
class SchemaKey:
    """A row of a table: a key of a map.

    ``type`` is a scalar type, ``<words>``, ``Name`` for a map with the keys of the table of that name, or ``Name[]``
    for a list of such maps. ``when`` is the condition on other keys under which it applies: ``arg_type=a,b & addrmode=c
    | arg_type=d``, a star at the end matches the rest of a word. ``removed`` is the first version without the key.
    """

    name: str
    type: str
    doc: str
    required: bool = False
    default: str = ""
    since: Version = (1, 0)
    removed: Version | None = None
    when: str = ""

    @property
    def is_list(self) -> bool:
        """True if the value is a list of maps."""
        return self.type.endswith("[]")

    @property
    def table(self) -> str:
        """The table of the value, or of each entry of it; empty for scalars and words."""
        name = self.type.removesuffix("[]")
        return "" if name in SCALARS or name.startswith("<") else name

    @property
    def words(self) -> str:
        """The set of words with the value; empty for other types."""
        return self.type[1:-1] if self.type.startswith("<") else ""

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
class SchemaWord:
    """A word of a closed set. ``renamed`` is its name since ``removed``."""

    name: str
    doc: str = ""
    since: Version = (1, 0)
    removed: Version | None = None
    renamed: str = ""


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """The keys of one kind of map. ``unique`` is the key that distinguishes the entries of a list of them."""

    name: str
    doc: str
    attributes: tuple[SchemaKey, ...]
    unique: str = ""
    _by_name: dict[str, SchemaKey] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {a.name: a for a in self.attributes})

    def get(self, name: str) -> SchemaKey | None:
        """Return the row of a key."""
        return self._by_name.get(name)


def version_text(version: Version) -> str:
    """Return a version as text."""
    return f"{version[0]}.{version[1]}"


def parse_version(text: str) -> Version | None:
    """Return a version from its text; None if it is not two numbers with a dot between."""
    major, point, minor = text.partition(".")
    if not point or not (major.isascii() and minor.isascii() and major.isdigit() and minor.isdigit()):
        return None
    return (int(major), int(minor)) if len(text) <= 9 else None
