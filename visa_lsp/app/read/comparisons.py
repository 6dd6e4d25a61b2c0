"""Compares conditions of loops with conditions around them, in lines of C; finds the brackets of these."""

from __future__ import annotations

import re
from typing import Final

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
