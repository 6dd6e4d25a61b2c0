"""The types of the table of launch files: a key, a word of a key, the keys of one kind of map.

The rows are in ``tables``. Invariant: every type in a row is one of ``VALUES`` or a table.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

# The types of values in words, as in "KEY is ...". The suffix ``[]`` means a list, ``{}`` a map from names; ``?`` also
# allows null.
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
    "contents": "a word, or one of {random: SEED}, {values: [...]}, {repeat: [...]}, {npy: FILE}",
    "flag": "true or false",
    "channels": "1, 2 or 4",
    "dimensions": "1, 2 or 3",
    "argument": "the number or the name of an argument",
    "tolerance": "a number >= 0",
    "places": "a whole number >= 0",
    "expression": "an expression",
    "address": "an address, a whole number >= 4096",
    "ranges": "a list of [FIRST, END], numbers of bytes from 0",
}


class LaunchWord(Struct, frozen=True):
    """A word of a key. ``doc`` is its meaning."""

    name: str
    doc: str


class LaunchKey(Struct, frozen=True):
    """A row: a key of a map. ``example`` is a valid line of a launch file, or a part of one."""

    name: str
    type: str
    doc: str
    example: str
    default: str = ""
    words: tuple[LaunchWord, ...] = ()

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
        """The name of the table of the value or of its entries; empty for other values."""
        return "" if self.inner in VALUES else self.inner


# The types of numbers or lists of numbers, which may also be expressions; the first ones are of whole numbers.
WHOLE: Final = ("sizes", "offsets", "pair", "bytes", "axes", "seed", "channels", "dimensions", "places")
NUMERIC: Final = (*WHOLE, "numbers", "tolerance")


class LaunchTable(Struct, frozen=True):
    """The keys of one kind of map. ``what`` is its name in messages; ``others`` is the meaning of other names."""

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
