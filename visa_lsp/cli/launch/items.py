"""Items of a launch file with checks that end in an error with a place.

Knows YAML items and one path, no key of a launch file. Invariant: every method returns a checked value or raises
``LaunchError`` with ``path:line:column``.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, NoReturn

from visa_lsp.reading import is_regular
from visa_lsp.sim.launch.config import LaunchError, Triple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from visa_lsp.zeinfo.yaml import YamlItem


class Items:
    """Checks of the items of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.array_bytes = 0  # of the arrays read so far
        self.files: list[Path] = []  # that are named so far

    def place(self, item: YamlItem, key: str | None = None) -> str:
        """Where an item, or one of its keys, stands: ``path:line:column``."""
        line, column = item.key_places[key] if key is not None else (item.line, item.column)
        return f"{self.path}:{line}:{column}"

    def fail(self, item: YamlItem, message: str, key: str | None = None) -> NoReturn:
        """Raise a ``LaunchError`` with the place."""
        raise LaunchError(message, place=self.place(item, key))

    def entries(
        self, item: YamlItem, allowed: Iterable[str], what: str, explained: Mapping[str, str] | None = None
    ) -> dict[str, YamlItem]:
        """Check that an item is a map with known keys, and give its entries; ``explained`` says more of some wrong keys."""
        if not isinstance(item.value, dict):
            self.fail(item, f"{what} is a map, this is {item.kind}")
        known = tuple(allowed)
        for key in item.value:
            if key not in known and explained and key in explained:
                self.fail(item, f"unknown key '{key}'; {explained[key]}", key)
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"; did you mean '{near[0]}'?" if near else f"; {what} knows {', '.join(known)}"
                self.fail(item, f"unknown key '{key}'{hint}", key)
        return item.value

    def sequence(self, item: YamlItem) -> list[YamlItem]:
        """Check that an item is a list, and give its entries."""
        if not isinstance(item.value, list):
            self.fail(item, f"a list is expected here, this is {item.kind}")
        return item.value

    def text(self, item: YamlItem) -> str:
        """Check that an item is a word, and give it."""
        if isinstance(item.value, dict | list) or item.value is None:
            self.fail(item, f"a word is expected here, this is {item.kind}")
        return str(item.value)

    def number(self, item: YamlItem, low: int, high: int) -> int:
        """Check that an item is a whole number within limits, and give it."""
        if isinstance(item.value, bool) or not isinstance(item.value, int):
            self.fail(item, f"a whole number is expected here, this is {item.kind}")
        if not low <= item.value <= high:
            self.fail(item, f"{item.value} is out of range, it must be from {low} to {high}")
        return item.value

    def real(self, item: YamlItem) -> float:
        """Check that an item is a number from 0 up, and give it."""
        if (
            isinstance(item.value, bool)
            or not isinstance(item.value, int | float)
            or not 0 <= item.value < float("inf")
        ):
            self.fail(item, f"a number from 0 up is expected here, this is {item.kind}")
        return float(item.value)

    def word(self, item: YamlItem, words: tuple[str, ...], what: str) -> str:
        """Check that an item is one of some words, and give it."""
        text = self.text(item)
        if text not in words:
            near = difflib.get_close_matches(text, words, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(words)}"
            self.fail(item, f"unknown {what} '{text}'; {hint}")
        return text

    def triple(self, item: YamlItem, low: int) -> Triple:
        """One to three numbers, each at least ``low``; the others are 1, or 0 where 0 is allowed."""
        entries = item.value if isinstance(item.value, list) else [item]
        if not 1 <= len(entries) <= 3:
            self.fail(item, f"one to three numbers are expected here, these are {len(entries)}")
        numbers = [self.number(entry, low, (1 << 32) - 1) for entry in entries]
        numbers += [1 if low else 0] * (3 - len(numbers))
        return numbers[0], numbers[1], numbers[2]

    def file(self, item: YamlItem) -> Path:
        """Check that an item names an existing file, relative to the launch file, and give its path."""
        path = self.path.parent / self.text(item)
        if not is_regular(path):
            self.fail(
                item,
                f"there is no file '{str(path)[:200]}'"
                if not _exists(path)
                else f"'{str(path)[:200]}' is no regular file",
            )
        self.files.append(path)
        return path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False
