"""Tracks the accesses of a work item that other work items may not see yet.

A barrier orders the accesses that a fence before it covers. A stretch lies between two fences or barriers of the walk.
Invariant: an access is in an open or waiting stretch until a fence, and after it a barrier, have followed. A barrier
without any fence orders shared local memory, as in the races that the simulator notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

SHARED_MEMORY: Final = 0
GLOBAL_MEMORY: Final = 1
_START: Final = frozenset({0})
_NONE: Final[frozenset[int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Stretches:
    """The stretches of one memory: ``now`` has the next access; ``open`` ones lack a fence, ``waiting`` ones only a barrier."""

    now: frozenset[int] = _START
    open: frozenset[int] = _START
    waiting: frozenset[int] = _NONE

    @property
    def pending(self) -> frozenset[int]:
        """The stretches with accesses that other work items may not see yet."""
        return self.open | self.waiting


@dataclass(frozen=True, slots=True)
class FenceOrder:
    """The stretches of each memory. ``has_fence``: a fence may have come since the last barrier."""

    memories: tuple[Stretches, Stretches] = (Stretches(), Stretches())
    has_fence: bool = False

    def add_fence(self, memory: int, stretch: int) -> FenceOrder:
        """Return the order after a fence of a memory."""
        at = frozenset({stretch})
        changed = list(self.memories)
        changed[memory] = Stretches(at, at, changed[memory].pending)
        return FenceOrder((changed[0], changed[1]), has_fence=True)

    def add_barrier(self, stretch: int, *, orders_shared: bool) -> FenceOrder:
        """Return the order after a barrier. ``orders_shared``: the barrier needs no fence of shared local memory."""
        at = frozenset({stretch})
        shared, other = self.memories
        left = _NONE if orders_shared or not self.has_fence else shared.open
        return FenceOrder((Stretches(at, left | at), Stretches(at, other.open | at)))

    def begin(self, stretch: int, *, has_fence: bool = False) -> FenceOrder:
        """Return the order with a new stretch, as at the beginning of a round of a loop and after the loop."""
        at = frozenset({stretch})
        shared, other = (replace(one, now=at, open=one.open | at) for one in self.memories)
        return FenceOrder((shared, other), has_fence=self.has_fence or has_fence)


def join_orders(orders: Sequence[FenceOrder]) -> FenceOrder:
    """Return the order at a place where several ways meet."""
    shared, other = (
        Stretches(
            frozenset().union(*(one.now for one in parts)),
            frozenset().union(*(one.open for one in parts)),
            frozenset().union(*(one.waiting for one in parts)),
        )
        for parts in zip(*(order.memories for order in orders), strict=True)
    )
    return FenceOrder((shared, other), has_fence=any(order.has_fence for order in orders))
