"""Finds `switch` in trees of comparisons of one number with constants, in lines of C."""

from __future__ import annotations

import re
from copy import copy
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.read.code_lines import Node

MIN_CASES: Final = 3
_TEST: Final = re.compile(r"(?:\} else )?if \((\(uint\))?(\w+) (<|<=|>|>=|==|!=) (?:\(uint\))?(-?\d+)\) \{")
_CHOICE: Final = re.compile(
    r"(?P<to>\w+) = \((?P<name>\w+) == (?P<number>-?\d+)\) \? (?P<yes>[^?:]+) : (?P<no>[^?:]+);"
)
_MASKED: Final = re.compile(r"(?P<to>\w+) = (?P<yes>[^?:|^]+) & -\((?P<name>\w+) == (?P<number>-?\d+)\);")


class Branch(NamedTuple):
    """The numbers from ``low`` to ``high``, and the lines for them."""

    low: int
    high: int
    code: Sequence[Node]


def find_cases(code: Sequence[Node], at: int, low: int, high: int) -> tuple[str, list[Branch], int] | None:
    """Return the variable that a chain of `if` compares, the lines for each of its values, and the end of the chain."""
    hit = _TEST.fullmatch(code[at].text)
    if hit is None or code[at].continues:
        return None
    end = at + 1
    while end < len(code) and code[end].continues:
        end += 1
    found = list(_split(code[at:end], hit[2], Branch(low, high, ())))
    return None if any(one.low > one.high for one in found) else (hit[2], found, end)


def _split(chain: Sequence[Node], name: str, whole: Branch) -> Iterator[Branch]:
    """Yield the branches of a chain for some numbers; one of no number where a condition is of another form."""
    rest = [whole]
    for node in chain:
        hit = _TEST.fullmatch(node.text)
        if node.text == "} else {":
            taken, rest = rest, []
        elif hit is None or hit[2] != name or (hit[1] and (whole.low < 0 or hit[4].startswith("-"))):
            yield Branch(1, 0, ())
            return
        else:
            pieces = [piece for one in rest for piece in _cut(one, int(hit[4]))]
            taken = [one for one in pieces if _holds(one.low, hit[3], int(hit[4]))]
            rest = [one for one in pieces if one not in taken]
        inner = node.inner or []
        first = _TEST.fullmatch(inner[0].text) if inner else None
        nested = first is not None and first[2] == name and all(one.continues for one in inner[1:])
        for one in taken:
            if nested:
                yield from _split(inner, name, one)
            else:
                yield from _choices(inner, name, one)
    yield from rest


def _choices(code: Sequence[Node], name: str, whole: Branch) -> Iterator[Branch]:
    """Yield the branches of an assignment that chooses by one more comparison; else one for all numbers."""
    text = code[0].text if len(code) == 1 and code[0].inner is None else ""
    hit = _CHOICE.fullmatch(text) or _MASKED.fullmatch(text)
    if hit is None or hit["name"] != name:
        yield Branch(whole.low, whole.high, code)
        return
    for one in _cut(whole, int(hit["number"])):
        value = hit["yes"] if one.low == one.high == int(hit["number"]) else hit.groupdict().get("no", "0")
        line = copy(code[0])
        line.text, line.range = f"{hit['to']} = {value};", None
        yield Branch(one.low, one.high, [line])


def _cut(one: Branch, at: int) -> list[Branch]:
    parts = ((one.low, min(one.high, at - 1)), (max(one.low, at), min(one.high, at)), (max(one.low, at + 1), one.high))
    return [Branch(low, high, ()) for low, high in parts if low <= high]


def _holds(value: int, relation: str, other: int) -> bool:
    return {
        "<": value < other,
        "<=": value <= other,
        ">": value > other,
        ">=": value >= other,
        "==": value == other,
        "!=": value != other,
    }[relation]
