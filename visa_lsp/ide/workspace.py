"""The open documents with their versions, and the settings of their analyses.

The only mutable value of the room, owned by the language server. Knows no protocol and reads no files.
Invariant: the analysis of a document always belongs to its text, its version and the settings of its folder.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, Protocol

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.inlay_hints import HintKind
from visa_lsp.isa.platforms import Platform, platform_named
from visa_lsp.syntax.document import Document


class Language(Enum):
    """Language of a document."""

    VISA = "visa"
    LAUNCH = "launch file"
    ZEINFO = "ze_info"
    HOST = "host"
    OTHER = "other"


_ENDINGS: Final = (
    (".launch.yaml", Language.LAUNCH),
    (".launch.yml", Language.LAUNCH),
    (".zeinfo.yaml", Language.ZEINFO),
    (".zeinfo.yml", Language.ZEINFO),
    (".ze_info", Language.ZEINFO),
    (".zeinfo", Language.ZEINFO),
    (".visaasm", Language.VISA),
    (".isaasm", Language.VISA),
    (".isa", Language.OTHER),
)


LAUNCH_ID: Final = "visa-launch"  # the identifier of launch files in some editors; others use YAML


def language_of(key: str, identifier: str = "") -> Language:
    """Return the language of a document by the editor's identifier, else by its name, else vISA."""
    lower = key.lower()
    by_ending = next((language for ending, language in _ENDINGS if lower.endswith(ending)), None)
    # Some clients use one identifier for all documents of a server.
    if identifier == LAUNCH_ID or by_ending is Language.LAUNCH:
        return Language.LAUNCH
    if identifier in ("visa", "visaasm"):
        return Language.VISA
    if by_ending is not None:
        return by_ending
    return Language.OTHER if identifier in ("yaml", "json", "plaintext") else Language.VISA


# Off by default, because types beside every operand make lines twice as long.
_CALM: Final = frozenset(HintKind) - {HintKind.TYPE}
# ``visa.inlayHints.types``; earlier versions had true or false.
_TYPES: Final = ("off", "cursorLine", "on")


@dataclass(frozen=True, slots=True)
class UserSettings:
    """The settings of a user. An empty ``platform`` means none."""

    platform: str = ""
    hints: frozenset[HintKind] = _CALM
    type_hints_at_cursor: bool = False
    code_lens: bool = True
    fold_header: bool = True
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    workspace_diagnostics: bool = True
    embedded: bool = True


_FLAGS: Final = {
    "codeLens": "code_lens",
    "foldHeader": "fold_header",
    "workspaceDiagnostics": "workspace_diagnostics",
}
_LISTS: Final = {"ignore": "ignore", "extendSelect": "extend_select"}
# Settings of clients, listed so that they are not reported as unknown.
_CLIENT: Final = frozenset({
    "compileLens", "compilerOptions", "finalizer", "finalizerOptions", "finalizerTimeout", "heat", "inlineValues", "ocloc",
    "sourceLens", "showLanes", "testTimeout", "serverPath", "trace", "trusted", "compiled", "interpreter", "python", "run",
    "server",
})  # fmt: skip


def read_settings(value: object, base: UserSettings | None = None) -> tuple[UserSettings, tuple[str, ...]]:
    """Return the settings of an editor's message, with or without the section's name around them, and error messages."""
    settings = base or UserSettings()
    section = value.get("visa", value) if isinstance(value, dict) else None
    if not isinstance(section, dict):
        return settings, ()
    problems: list[str] = []
    for key, item in section.items():
        if item is None or key in _CLIENT:
            continue
        change = _one(key, item, problems)
        if change:
            settings = replace(settings, **change)
    return settings, tuple(problems)


def _one(key: str, item: object, problems: list[str]) -> dict[str, Any]:
    """Return the change of one setting."""
    if key == "platform":
        if isinstance(item, str) and (not item or platform_named(item) is not None):
            return {"platform": item}
        problems.append(f"visa.platform: unknown platform {item!r}")
    elif key == "inlayHints":
        if isinstance(item, bool):
            return {"hints": frozenset(HintKind) if item else frozenset(), "type_hints_at_cursor": False}
        if isinstance(item, dict):
            types = item.get(HintKind.TYPE.value, False)
            off = {kind for kind in _CALM if item.get(kind.value) is False}
            if not isinstance(types, bool) and types not in _TYPES:
                problems.append(
                    f"visa.inlayHints.types must be {', '.join(_TYPES[:-1])} or {_TYPES[-1]}, not {types!r}"
                )
                types = False
            shown = frozenset(HintKind) if types not in (False, "off") else _CALM
            return {"hints": shown - off, "type_hints_at_cursor": types == "cursorLine"}
        names = ", ".join(kind.value for kind in HintKind)
        problems.append(f"visa.inlayHints must be true, false, or an object with {names}")
    elif key == "embedded":
        if isinstance(item, dict) and isinstance(item.get("enabled", True), bool):
            return {"embedded": item.get("enabled", True)}
        problems.append("visa.embedded must be an object whose `enabled` is true or false")
    elif key in _FLAGS:
        if isinstance(item, bool):
            return {_FLAGS[key]: item}
        problems.append(f"visa.{key} must be true or false")
    elif key in _LISTS:
        if isinstance(item, list) and all(isinstance(i, str) for i in item):
            return {_LISTS[key]: tuple(item)}
        problems.append(f"visa.{key} must be a list of codes, prefixes of codes or slugs")
    else:
        problems.append(f"visa.{key} is not a setting")
    return {}


class HostView(Protocol):
    """A document of another language with vISA inside, as the workspace sees it."""

    @property
    def analysis(self) -> Analysis:
        """The analysis of the vISA."""

    @property
    def document(self) -> Document:
        """The text in the editor."""

    def edit(self, document: Document) -> HostView:
        """Return the view of the document's next state."""

    def on(self, platform: Platform | None) -> HostView:
        """Return the view of the same text on a platform."""


_serials = itertools.count(1)


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document in the editor. ``key`` is the editor's name for it; ``serial`` is unique to this state.

    ``host`` is set for a document of another language with vISA inside; ``analysis`` is then that of the vISA.
    """

    key: str
    version: int
    analysis: Analysis
    language: Language = Language.VISA
    host: HostView | None = None
    serial: int = field(default_factory=lambda: next(_serials), compare=False)

    @property
    def document(self) -> Document:
        """The text in the editor."""
        return self.analysis.document if self.host is None else self.host.document


@dataclass(slots=True)
class Workspace:
    """All open documents. ``platform_for`` returns the platform set by a file in a document's folder, if any.

    ``compiled`` is the folder of texts that were compiled for the client; their platform is the name of their folder.
    """

    settings: UserSettings = field(default_factory=UserSettings)
    folders: dict[str, UserSettings] = field(default_factory=dict)
    trusted: bool = True
    compiled: str = ""
    platform_for: Callable[[str], str] | None = None
    _documents: dict[str, OpenDocument] = field(default_factory=dict)

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(tuple(self._documents.values()))

    def get(self, key: str) -> OpenDocument | None:
        """Return the open document of a name; None if it is not open."""
        return self._documents.get(key)

    def settings_for(self, key: str) -> UserSettings:
        """Return the settings of the innermost folder around a document."""
        inside = [f for f in self.folders if key == f or key.startswith(f.rstrip("/") + "/")]
        return self.folders[max(inside, key=len)] if inside else self.settings

    def platform_name(self, key: str) -> str:
        """Return the platform of a document; empty if none is set."""
        if self.compiled and key.startswith(self.compiled):
            made_for = platform_named(key.split("/")[-2])
            if made_for is not None:
                return made_for.name
        return self.settings_for(key).platform or (self.platform_for(key) if self.platform_for else "")

    def open(
        self,
        key: str,
        version: int,
        text: str,
        language: Language | None = None,
        host: Callable[[Document, Platform | None], HostView] | None = None,
    ) -> OpenDocument:
        """Add a document with its whole text; ``host`` views one of another language."""
        if host is not None:
            return self._view(key, version, host(Document.parse(text), platform_named(self.platform_name(key))))
        earlier = self._documents.get(key)
        chosen = language or (earlier.language if earlier else language_of(key))
        return self._put(key, version, Document.parse(text), chosen)

    def update(self, key: str, version: int, document: Document) -> OpenDocument:
        """Replace a document by its next snapshot."""
        earlier = self._documents.get(key)
        if earlier is not None and earlier.host is not None:
            return self._view(key, version, earlier.host.edit(document))
        return self._put(key, version, document, earlier.language if earlier else language_of(key))

    def _view(self, key: str, version: int, host: HostView) -> OpenDocument:
        opened = self._documents[key] = OpenDocument(key, version, host.analysis, Language.HOST, host)
        return opened

    def _put(self, key: str, version: int, document: Document, language: Language) -> OpenDocument:
        opened = OpenDocument(key, version, Analysis(document, platform_named(self.platform_name(key))), language)
        self._documents[key] = opened
        return opened

    def close(self, key: str) -> None:
        """Remove a document; does nothing if it is not open."""
        self._documents.pop(key, None)

    def configure(self, settings: UserSettings, folders: dict[str, UserSettings] | None = None) -> bool:
        """Apply new settings; return True if they change an analysis of an open document."""
        if settings == self.settings and (folders is None or folders == self.folders):
            return False
        self.settings = settings
        if folders is not None:
            self.folders = folders
        self.renew()
        return True

    def renew(self) -> None:
        """Renew the analysis of every document, because its inputs have changed."""
        for opened in self:
            if opened.host is not None:
                self._view(opened.key, opened.version, opened.host.on(platform_named(self.platform_name(opened.key))))
                continue
            self._put(opened.key, opened.version, opened.analysis.document, opened.language)
