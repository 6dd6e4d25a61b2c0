"""The text of a body of a program, for the lines of reports, and the error of a text with findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from visa_lsp.diagnostics import Diagnostic


class BodySource(Struct, frozen=True):
    """The text of a body; ``judged`` is the text to check for the platform, if that is known."""

    path: str
    lines: tuple[str, ...]
    judged: str = ""


class TextProblems(Exception):  # noqa: N818 - findings about a text, not an error of the program
    """A ``text`` with errors: its ``diagnostics``, and one line for each error in ``lines``."""

    def __init__(self, path: Path | None, text: str, diagnostics: Sequence[Diagnostic], lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.path = path
        self.text = text
        self.diagnostics = tuple(diagnostics)
        self.lines = tuple(lines)
