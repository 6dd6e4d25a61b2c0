"""The open documents with their versions, and the settings that their analyses were made with.

The only mutable value of the room, owned by whoever serves an editor. Knows no protocol and reads no files.
Invariant: the analysis of a document always belongs to its text, its version and the current settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from visa_lsp.ide.analysis import Analysis
from visa_lsp.isa.platforms import platform_named
from visa_lsp.syntax.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user can set. ``platform`` empty: none is assumed."""

    platform: str = ""


def settings_of(value: object) -> Settings:
    """The settings in what an editor sent, with or without the section's name around them; unknown things are ignored."""
    section = value.get("visa", value) if isinstance(value, dict) else None
    platform = section.get("platform") if isinstance(section, dict) else None
    if isinstance(platform, str) and platform_named(platform) is not None:
        return Settings(platform)
    return Settings()


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document as the editor has it. ``key`` is the editor's name for it."""

    key: str
    version: int
    analysis: Analysis


@dataclass(slots=True)
class Workspace:
    """All open documents."""

    settings: Settings = field(default_factory=Settings)
    _documents: dict[str, OpenDocument] = field(default_factory=dict)

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(tuple(self._documents.values()))

    def get(self, key: str) -> OpenDocument | None:
        """The open document of a name; None if it is not open."""
        return self._documents.get(key)

    def open(self, key: str, version: int, text: str) -> OpenDocument:
        """Take a document in, with its whole text."""
        return self.update(key, version, Document.parse(text))

    def update(self, key: str, version: int, document: Document) -> OpenDocument:
        """Replace a document by its next snapshot."""
        opened = OpenDocument(key, version, Analysis(document, platform_named(self.settings.platform)))
        self._documents[key] = opened
        return opened

    def close(self, key: str) -> None:
        """Forget a document; nothing happens where it is not open."""
        self._documents.pop(key, None)

    def configure(self, settings: Settings) -> bool:
        """Take new settings; True where they change what is known of the open documents."""
        if settings == self.settings:
            return False
        self.settings = settings
        for opened in self:
            self.update(opened.key, opened.version, opened.analysis.document)
        return True
