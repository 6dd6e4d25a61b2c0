"""Finds the source of a text for the page: in the folder of the text, or named by the user.

Only files in the folder of the text or below are used, because ``FILE`` lines may name any file of the disk, and pages are
shared.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from visa_lsp.app.errors import UserError, reason
from visa_lsp.ide.features.source_lines import Stretch, names_of, stretches_of_text
from visa_lsp.safe_io import MIB, is_regular, read_file
from visa_lsp.text import lines_of

_MAX_SOURCE_BYTES: Final = 16 * MIB


@dataclass(frozen=True, slots=True)
class TiedSource:
    """A source: its path, name and lines, and a map from lines of the text (from 0) to its own lines (from 1)."""

    path: str
    name: str
    lines: list[str]
    by_line: dict[int, int] = field(default_factory=dict)


def source_for(name: str, text: str, named: str | None) -> TiedSource | None:
    """Return the source ``named``, else that of a text; None if not found. Raises UserError if the named one is unreadable."""
    marks = list(stretches_of_text(text))
    files = [file for file, _ in Counter(mark.source.file for mark in marks).most_common()]
    if named is not None:
        try:
            source_text = read_source_file(named)
        except OSError as error:
            raise UserError(f"{named}: {reason(error)}") from None
        base = Path(named).name
        meant = [file for file in files if names_of(file)[-1] == base] or files[:1]
        return TiedSource(str(Path(named).absolute()), base, source_text, _by_line(marks, meant[0] if meant else ""))
    for file in files:
        path = _beside(Path(name), file)
        if path is not None:
            return TiedSource(str(path), path.name, read_source_file(path), _by_line(marks, file))
    return None


def read_source_file(path: str | Path) -> list[str]:
    """Return the lines of a source. Raises OSError if it cannot be read."""
    return lines_of(read_file(path, _MAX_SOURCE_BYTES, named=isinstance(path, str)).decode("utf-8", "replace"))


def _beside(text: Path, file: str) -> Path | None:
    """Return the file of a ``FILE`` line, if its resolved path is in the folder of the text or below."""
    folder = text.resolve().parent
    for name in names_of(file):
        path = (folder / name).resolve()
        if path.is_relative_to(folder) and is_regular(path):
            return path
    return None


def _by_line(marks: list[Stretch], file: str) -> dict[int, int]:
    return {
        line: mark.source.line
        for mark in marks
        if mark.source.file == file
        for line in range(mark.first_line, mark.last_line + 1)
    }
