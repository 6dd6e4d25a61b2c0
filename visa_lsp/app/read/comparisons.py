"""Compares conditions of loops with conditions around them, in lines of C; finds the brackets of these."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORD: Final = re.compile(r"[A-Za-z_]\w*")
COMPARISON: Final = re.compile(r"([^<>=&|?]+) (<|>|<=|>=|!=|==) ([^<>=&|?]+)")
NEGATED: Final = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "!=": "==", "==": "!="}
MIRROR: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "==": "=="}


def find_close(text: str) -> int:
    """Return the place of the bracket that closes the first one."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return at
    return len(text)


def closes(text: str) -> bool:
    """Return whether the first bracket of a text encloses all of it."""
    return find_close(text) == len(text) - 1


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Replace variables by their values in a text."""

    def value(hit: re.Match[str]) -> str:
        found = values.get(hit[0])
        if found is None or re.fullmatch(r"[\w.]+(?:\(\d\))?", found):
            return hit[0] if found is None else found
        return f"({found})"

    return WORD.sub(value, text)


def normalize(text: str, *, negated: bool = False) -> tuple[str, str, str]:
    """Return a comparison such that equal ones look alike; integers are compared by `<=`, `==` and `!=`."""
    hit = re.fullmatch(r"([^<>=&|?]+|[^=&|?]+?) (<|>|<=|>=|!=|==) ([^<>=&|?]+)", text)
    if hit is None:
        return ("not" if negated else "", "", text)
    left, relation, right = (re.sub(r"^\((?:u?int)\)(\d+)$", r"\1", part) for part in hit.groups())
    if negated:
        relation = NEGATED[relation]
    if relation in (">", ">="):
        left, relation, right = right, MIRROR[relation], left
    if relation == "<" and left.isdecimal():
        left, relation = str(int(left) + 1), "<="
    if relation == "<" and re.fullmatch(r"[1-9]\d*", right):
        right, relation = str(int(right) - 1), "<="
    if relation in ("==", "!=") and left > right:
        left, right = right, left
    return left, relation, right


def holds_first(condition: str, starts: Mapping[str, str], tests: Sequence[str]) -> bool:
    """Return whether the condition of a loop is one of some tests before the first round."""
    first = normalize(with_values(condition, starts))
    not_zero = f"{first[2]} != 0" if first[:2] == ("1", "<=") and "(uint)" in condition else ""
    return any(normalize(test) == first or test == not_zero for test in tests)
