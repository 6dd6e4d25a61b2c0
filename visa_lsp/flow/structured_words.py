"""The matching of the appendix's structured words: ``if else endif``, ``do break cont while``.

Conditions and loops nest independently of each other. A word without its partner is in no table.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from visa_lsp.isa.model import FlowClass


class Structure(Struct):
    """Partners by the places of the words in their body."""

    other: dict[int, int] = field(default_factory=dict)  # if -> its (first) else
    end: dict[int, int] = field(default_factory=dict)  # if, else -> endif; do, break, cont -> while
    start: dict[int, int] = field(default_factory=dict)  # while -> do

    def targets(self, place: int, flow: FlowClass) -> tuple[int, ...]:
        """Return the targets of a structured word besides the next place."""
        other, end = self.other.get(place), self.end.get(place)
        match flow:
            case FlowClass.IF if other is not None:
                return (other + 1,)
            case FlowClass.IF | FlowClass.ELSE | FlowClass.CONTINUE if end is not None:
                return (end,)
            case FlowClass.BREAK if end is not None:
                return (end + 1,)
            case FlowClass.WHILE if place in self.start:
                return (self.start[place],)
        return ()


def structure_of(flows: Iterable[FlowClass]) -> Structure:
    """Match the structured words of a body, given as the flow classes of its instructions."""
    found = Structure()
    conditions: list[list[int]] = []
    loops: list[list[int]] = []
    for place, flow in enumerate(flows):
        match flow:
            case FlowClass.IF:
                conditions.append([place])
            case FlowClass.ELSE if conditions:
                found.other.setdefault(conditions[-1][0], place)
                conditions[-1].append(place)
            case FlowClass.ENDIF if conditions:
                found.end.update(dict.fromkeys(conditions.pop(), place))
            case FlowClass.DO:
                loops.append([place])
            case FlowClass.BREAK | FlowClass.CONTINUE if loops:
                loops[-1].append(place)
            case FlowClass.WHILE if loops:
                members = loops.pop()
                found.start[place] = members[0]
                found.end.update(dict.fromkeys(members, place))
            case _:
                pass
    return found
