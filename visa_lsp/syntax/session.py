"""State kept from one snapshot of a text to the next: a typed place for each part, made at its first use.

All documents that were edited out of each other share one session. A part is a class that can be made without arguments;
its owner is the module that defines it. Invariant: nothing here is needed for a right answer, only for a quick one.
"""

from __future__ import annotations

from typing import TypeVar

Part = TypeVar("Part")


class Session:
    """The parts by their class."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: dict[type[object], object] = {}

    def part(self, kind: type[Part]) -> Part:
        """Return the part of a class; made by ``kind()`` if there is none yet."""
        found = self._parts.get(kind)
        if not isinstance(found, kind):
            found = self._parts[kind] = kind()
        return found
