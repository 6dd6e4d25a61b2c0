"""Checks of single items of a launch file: each returns a value, or None and adds a finding.

Knows YAML items, words and numbers, but no keys of launch files. Invariant: no check raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.launchfile import rules
from visa_lsp.suggest import nearest
from visa_lsp.zeinfo.source_findings import SourceFindings, change_to

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.launchfile.values import Triple
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.schema import SchemaTable
    from visa_lsp.zeinfo.source import YamlSource
    from visa_lsp.zeinfo.yaml import YamlItem

_SHOWN: Final = 100  # characters of a wrong word


class Checks(SourceFindings):
    """Checks of the items of one file, and their findings. Without a folder no files are checked."""

    def __init__(self, source: YamlSource, folder: LaunchFolder | None) -> None:
        super().__init__(source)
        self.folder = folder
        self.reads: list[Path] = []  # the files named so far

    def key(self, item: YamlItem, key: str) -> Span:
        """Return the span of a key of a map."""
        return self.source.key_span(item, key)

    def entries(
        self, item: YamlItem, table: SchemaTable, explained: Mapping[str, str] | None = None
    ) -> tuple[dict[str, YamlItem], bool] | None:
        """Return the known entries of a map, and whether there are no unknown ones, which may be misspelt keys."""
        if not isinstance(item.value, dict):
            self.add(rules.WRONG_TYPE, item, f"expected {table.what} as a map, got {item.kind}")
            return None
        entries = {name: item.value[name] for name in table.names if name in item.value}
        for key in item.value:
            if key in entries:
                continue
            span = self.key(item, key)
            near = nearest(key, [name for name in table.names if name not in entries]) or nearest(key, table.names)
            if explained and key in explained:
                hint = explained[key]
            else:
                hint = f"did you mean '{near}'?" if near else f"known keys of {table.what}: {', '.join(table.names)}"
            fixes = change_to(span, near) if near not in entries else ()
            self.add(rules.UNKNOWN_KEY, span, f"unknown key '{key:.{_SHOWN}}'; {hint}", fixes)
        return entries, len(entries) == len(item.value)

    def sequence(self, item: YamlItem) -> list[YamlItem] | None:
        """Return the entries of a list."""
        if not isinstance(item.value, list):
            self.add(rules.WRONG_TYPE, item, f"expected a list, got {item.kind}")
            return None
        return item.value

    def text(self, item: YamlItem) -> str | None:
        """Return a word; numbers and flags are words too."""
        if isinstance(item.value, dict | list) or item.value is None:
            self.add(rules.WRONG_TYPE, item, f"expected a word, got {item.kind}")
            return None
        return str(item.value)

    def number(self, item: YamlItem, low: int, high: int) -> int | None:
        """Return a whole number within limits."""
        if isinstance(item.value, bool) or not isinstance(item.value, int):
            self.add(rules.WRONG_TYPE, item, f"expected a whole number, got {item.kind}")
            return None
        if not low <= item.value <= high:
            self.add(rules.RANGE, item, f"{item.value} is out of range: expected {low} to {high}")
            return None
        return item.value

    def real(self, item: YamlItem) -> float | None:
        """Return a number >= 0."""
        value = item.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.add(rules.WRONG_TYPE, item, f"expected a number >= 0, got {item.kind}")
            return None
        if not 0 <= value < float("inf"):
            self.add(rules.RANGE, item, f"expected a number >= 0, got {item.kind}")
            return None
        try:
            return float(value)
        except OverflowError:
            self.add(rules.RANGE, item, "the number is too large")
            return None

    def word(self, item: YamlItem, words: Sequence[str], what: str, meant: str = "") -> str | None:
        """Return one of ``words``; ``meant`` is the replacement of a word from another tool."""
        text = self.text(item)
        if text is None or text in words:
            return text
        near = meant or nearest(text, words)
        hint = f"did you mean '{near}'?" if near else f"known: {', '.join(words)}"
        fixes = change_to(self.source.span(item), near)
        self.add(rules.WRONG_WORD, item, f"unknown {what} '{text:.{_SHOWN}}'; {hint}", fixes)
        return None

    def triple(self, item: YamlItem, low: int) -> Triple | None:
        """Return one to three numbers, each at least ``low``; the others are 1, or 0 where 0 is allowed."""
        entries = item.value if isinstance(item.value, list) else [item]
        if not 1 <= len(entries) <= 3:
            self.add(rules.RANGE, item, f"expected one to three numbers, got {len(entries)}")
            return None
        numbers = [self.number(entry, low, (1 << 32) - 1) for entry in entries]
        given = [n for n in numbers if n is not None]
        if len(given) < len(numbers):
            return None
        given += [1 if low else 0] * (3 - len(given))
        return given[0], given[1], given[2]

    def file(self, item: YamlItem) -> str | None:
        """Return the name of a file, unless it is known to be missing."""
        name = self.text(item)
        if name is None or self.folder is None or not self.folder.asks(name):
            return name
        missing = self.folder.why_missing(name)
        if missing:
            near = nearest(name, self.folder.names_like(name))
            hint = f"; did you mean '{near}'?" if near else ""
            self.add(rules.NO_FILE, item, missing + hint, change_to(self.source.span(item), near))
            return None
        self.reads.append(self.folder.path(name))
        return name
