"""Many cases in one test, where a test of its own for each would cost more than what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Case = TypeVar("Case")


def check_each(cases: Iterable[Case], check: Callable[[Case], object], name: Callable[[Case], str] = str) -> None:
    """Make a check of every case; fail with the names of all the cases that fail, and how each does."""
    count, wrong = 0, []
    for case in cases:
        count += 1
        try:
            check(case)
        except AssertionError as error:
            wrong.append(f"{name(case)}: {error}")
        except Exception as error:
            error.add_note(f"in the case {name(case)}")
            raise
    assert count
    assert not wrong, "\n".join(wrong)


def each_of(
    cases: Iterable[Case], name: Callable[[Case], str] = str
) -> Callable[[Callable[[Case], object]], Callable[[], None]]:
    """Make one test of all the cases out of a check of one."""
    kept = list(cases)

    def make(check: Callable[[Case], object]) -> Callable[[], None]:
        def test() -> None:
            check_each(kept, check, name)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return make
