"""What the table of launch files is made of: a key, a word that a key takes, the keys of one kind of map.

Values only; the rows stand in ``tables``. Invariant: every type that a row names is one of ``VALUES`` or a table.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

# What a key takes, in words: "KEY is ...". A type that ends in ``[]`` is a list, in ``{}`` a map from names, of what
# stands before it; ``?`` allows null as well.
VALUES: Final = {
    "text": "a word",
    "file": "the name of a file, relative to the launch file",
    "word": "a word",
    "sizes": "one to three numbers >= 1, [X, Y, Z]; omitted numbers are 1",
    "offsets": "one to three numbers >= 0, [X, Y, Z]; omitted numbers are 0",
    "pair": "two numbers >= 1, [X, Y]",
    "arguments": "a list in the order of the kernel's arguments, or a map from their names",
    "numbers": "a number, or a list of numbers, or a list of such lists",
    "bytes": "a number of bytes >= 1",
    "axes": "a number of elements, or a list with one for each axis",
    "seed": "a whole number >= 0",
    "contents": "a word, or one of {random: SEED}, {values: [...]}, {npy: FILE}",
    "flag": "true or false",
    "channels": "1, 2 or 4",
    "argument": "the number or the name of an argument",
    "tolerance": "a number >= 0",
    "places": "a whole number >= 0",
    "expression": "an expression",
}


class LaunchWord(Struct, frozen=True):
    """One word that a key takes. ``doc`` says what it means."""

    name: str
    doc: str


class LaunchKey(Struct, frozen=True):
    """One row: a key of a map. ``example`` is a line of a launch file, or a part of one, that is right as it stands."""

    name: str
    type: str
    doc: str
    example: str
    default: str = ""
    words: tuple[LaunchWord, ...] = ()

    @property
    def inner(self) -> str:
        """The type of the value, or of each entry of it."""
        return self.type.rstrip("?[]{}")

    @property
    def many(self) -> str:
        """``list`` or ``map`` where the value has entries of the inner type; empty where it is one itself."""
        return "list" if self.type.endswith("[]") else "map" if self.type.endswith("{}") else ""

    @property
    def table(self) -> str:
        """The name of the table that the value, or each entry of it, has; empty for all other values."""
        return "" if self.inner in VALUES else self.inner


# The types whose value is a number, or numbers in lists, which an expression may stand for; of the first whole numbers.
WHOLE: Final = ("sizes", "offsets", "pair", "bytes", "axes", "seed", "channels", "places")
NUMERIC: Final = (*WHOLE, "numbers", "tolerance")


class LaunchTable(Struct, frozen=True):
    """The keys of one kind of map. ``what`` is the map in words for messages; ``others`` says what other names may be."""

    name: str
    what: str
    doc: str
    keys: tuple[LaunchKey, ...]
    others: str = ""

    def get(self, name: str) -> LaunchKey | None:
        """Return the row of a key."""
        return next((key for key in self.keys if key.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all keys, in order."""
        return tuple(key.name for key in self.keys)
