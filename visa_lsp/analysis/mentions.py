"""Which chunks of a body may have a name in them, found without a look at every chunk.

Names are numbers; those of a chunk are packed in its facts. Numbers fall into buckets, and a bucket is a set of chunks
as the bits of an integer: a megabyte for 200,000 lines, where a list of chunks for each name would take ten. It is made
when it is first asked for. Invariant: a chunk that has a name is among the candidates, whatever was edited before.
"""

from __future__ import annotations

from array import array
from itertools import compress, count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.syntax.bulk import Facts

_BUCKETS: Final = 8192
# With more names than that every chunk is looked at.
_FEW: Final = 64
# How many chunks are taken in at one step.
_STEP: Final = 8


class Ids(dict[str, int]):
    """Numbers for names, given out as they come."""

    __slots__ = ()

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


class Numbering:
    """The numbers of the names of a text; without ``ids`` it is not kept which names stand where."""

    __slots__ = ("ids",)

    def __init__(self, ids: Ids | None) -> None:
        self.ids = ids


class Mentions:
    """The chunks by the names in them. ``facts`` are those of all chunks of the body, in order."""

    __slots__ = (
        "_buckets", "_free", "_of_slot", "_slots", "facts",
    )  # fmt: skip

    def __init__(self) -> None:
        self.facts: Sequence[Facts] = ()
        self._buckets: list[int] | None = None
        self._slots: dict[int, int] = {}
        self._of_slot: dict[int, Facts] = {}
        self._free: list[int] = []

    def clear(self) -> None:
        """Forget every chunk."""
        self._buckets = None
        self._slots, self._of_slot, self._free = {}, {}, []

    def add(self, facts: Facts, ids: Iterable[int]) -> None:
        """A chunk has these names in it, besides those that it is known to have."""
        if self._buckets is None:
            return
        slot = self._slots.get(id(facts))
        if slot is None:
            # A place is taken or free, so that there are as many as both together.
            slot = self._free.pop() if self._free else len(self._of_slot)
            self._slots[id(facts)] = slot
            self._of_slot[slot] = facts
        bit, buckets = 1 << slot, self._buckets
        for number in ids:
            buckets[number % _BUCKETS] |= bit

    def remove(self, facts: Facts, ids: set[int]) -> None:
        """A chunk has none of these names in it."""
        kept = [number for number in array("I", facts.names) if number not in ids]
        facts.names = array("I", kept).tobytes()
        slot = self._slots.get(id(facts))
        if slot is None or self._buckets is None:
            return
        # A bit that is left behind makes the chunk a candidate for ever.
        for number in {number % _BUCKETS for number in ids}.difference([number % _BUCKETS for number in kept]):
            self._buckets[number] &= ~(1 << slot)

    def replace(self, old: Facts, new: Facts) -> None:
        """A chunk is another one now that has the same names, and maybe more."""
        if id(new) in self._slots:
            self.drop(old)
            return
        slot = self._slots.pop(id(old), None)
        if slot is not None:
            self._slots[id(new)] = slot
            self._of_slot[slot] = new

    def drop(self, facts: Facts) -> None:
        """A chunk is gone."""
        slot = self._slots.pop(id(facts), None)
        if slot is None or self._buckets is None:
            return
        bit, buckets = 1 << slot, self._buckets
        for number in array("I", facts.names):
            if buckets[number % _BUCKETS] & bit:
                buckets[number % _BUCKETS] ^= bit
        del self._of_slot[slot]
        self._free.append(slot)

    def prepare(self) -> Iterator[None]:
        """Make the buckets, if they are not there yet, in steps; they count when the last one is done."""
        if self._buckets is not None:
            return
        made = Mentions()
        made._buckets = [0] * _BUCKETS
        for number, facts in enumerate(self.facts):
            if facts.names:
                made.add(facts, array("I", facts.names))
            if number % _STEP == _STEP - 1:
                yield
        self._buckets, self._slots, self._of_slot, self._free = made._buckets, made._slots, made._of_slot, made._free

    def having(self, ids: Sequence[int]) -> list[int]:
        """The chunks that may have one of these names in them, in order."""
        facts = self.facts
        if len(ids) > _FEW:
            wanted = set(ids)
            return [i for i, f in enumerate(facts) if f.names and not wanted.isdisjoint(array("I", f.names))]
        for _ in self.prepare():
            pass
        assert self._buckets is not None
        found = 0
        for number in ids:
            found |= self._buckets[number % _BUCKETS]
        packed = [number.to_bytes(4, "little") for number in ids]
        # A chunk that is gone may have left a bit: then its place is empty, or another chunk's.
        chosen = [self._of_slot.get(slot) for slot in _bits(found)]
        if len(packed) == 1:
            some = {id(f) for f in chosen if f is not None and packed[0] in f.names}
        else:
            some = {id(f) for f in chosen if f is not None and any(p in f.names for p in packed)}
        return list(compress(count(), map(some.__contains__, map(id, facts)))) if some else []


def packed_in(numbers: bytes, number: int) -> bool:
    """Whether a number is among some packed ones: a search through them, where a set of them would have to be made."""
    wanted = number.to_bytes(4, "little")
    at = numbers.find(wanted)
    while at % 4 and at > 0:
        at = numbers.find(wanted, at + 1)
    return at >= 0


def _bits(value: int) -> set[int]:
    """The places of the bits that are set."""
    found = set()
    while value:
        low = value & -value
        found.add(low.bit_length() - 1)
        value ^= low
    return found
