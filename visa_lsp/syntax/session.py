"""State kept from one snapshot of a text to the next, as typed parts created at first use.

All snapshots of a text share one session. A part is a class that can be created without arguments; its owner is the
module that defines it. Invariant: the state affects only speed, never the answer.
"""

from __future__ import annotations

from typing import TypeVar

Part = TypeVar("Part")


class Session:
    """The parts by class."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: dict[type[object], object] = {}

    def part(self, kind: type[Part]) -> Part:
        """Return the part of a class; created by ``kind()`` if there is none yet."""
        part = self._parts.get(kind)
        if not isinstance(part, kind):
            part = self._parts[kind] = kind()
        return part
