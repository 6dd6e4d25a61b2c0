"""Which chunks of a body may have a name in them, found without a look at every chunk.

Names are numbers; those of a chunk are packed in its facts. Numbers fall into buckets, and a bucket is a set of chunks
as the bits of an integer: a megabyte for 200,000 lines, where a list of chunks for each name would take ten. It is made
when it is first asked for. Invariant: a chunk that has a name is among the candidates, whatever was edited before.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.syntax.bulk import Facts

_BUCKETS: Final = 8192
# With more names than that every chunk is looked at.
_FEW: Final = 64


class Mentions:
    """The chunks by the names in them. ``facts`` are those of all chunks of the body, in order."""

    __slots__ = (
        "_buckets", "_free", "_slots", "facts",
    )  # fmt: skip

    def __init__(self) -> None:
        self.facts: Sequence[Facts] = ()
        self._buckets: list[int] | None = None
        self._slots: dict[int, int] = {}
        self._free: list[int] = []

    def clear(self) -> None:
        """Forget every chunk."""
        self._buckets = None
        self._slots, self._free = {}, []

    def add(self, facts: Facts, ids: Iterable[int]) -> None:
        """A chunk has these names in it, besides those that it is known to have."""
        if self._buckets is None:
            return
        slot = self._slots.get(id(facts))
        if slot is None:
            slot = self._slots[id(facts)] = self._free.pop() if self._free else len(self._slots)
        bit, buckets = 1 << slot, self._buckets
        for number in ids:
            buckets[number % _BUCKETS] |= bit

    def replace(self, old: Facts, new: Facts) -> None:
        """A chunk is another one now that has the same names, and maybe more."""
        slot = self._slots.pop(id(old), None)
        if slot is not None:
            self._slots[id(new)] = slot

    def drop(self, facts: Facts) -> None:
        """A chunk is gone."""
        slot = self._slots.pop(id(facts), None)
        if slot is None or self._buckets is None:
            return
        bit, buckets = 1 << slot, self._buckets
        for number in array("I", facts.names):
            if buckets[number % _BUCKETS] & bit:
                buckets[number % _BUCKETS] ^= bit
        self._free.append(slot)

    def prepare(self) -> None:
        """Make the buckets, if they are not there yet."""
        if self._buckets is None:
            self._slots, self._free = {}, []
            self._buckets = [0] * _BUCKETS
            for facts in self.facts:
                if facts.names:
                    self.add(facts, array("I", facts.names))

    def having(self, ids: Sequence[int]) -> list[int]:
        """The chunks that may have one of these names in them, in order."""
        facts = self.facts
        if len(ids) > _FEW:
            wanted = set(ids)
            return [i for i, f in enumerate(facts) if f.names and not wanted.isdisjoint(array("I", f.names))]
        self.prepare()
        assert self._buckets is not None
        found = 0
        for number in ids:
            found |= self._buckets[number % _BUCKETS]
        if not found:
            return []
        slots = self._slots
        packed = [number.to_bytes(4, "little") for number in ids]
        chosen = _bits(found)
        some = [i for i, f in enumerate(facts) if slots.get(id(f)) in chosen]
        return [i for i in some if any(p in facts[i].names for p in packed)]


def _bits(value: int) -> set[int]:
    """The places of the bits that are set."""
    found = set()
    while value:
        low = value & -value
        found.add(low.bit_length() - 1)
        value ^= low
    return found
