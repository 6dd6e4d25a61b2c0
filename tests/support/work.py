"""The amount of work of a piece of code, without a clock: machines differ, and share their time with other jobs."""

import sys
from collections.abc import Callable
from typing import Any


def calls_of(function: Callable[[], Any]) -> int:
    """Return the number of calls of Python and C functions that a call of `function` makes (a regular expression counts as one)."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count
