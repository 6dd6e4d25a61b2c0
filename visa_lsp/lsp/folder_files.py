"""The files of the open folders and their contents, cached until they change.

Besides this module only commands read files, namely those in their arguments. An open document replaces its file.
Invariant: the value for a file belongs to the bytes with its current time and size.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pygls.uris import from_fs_path, to_fs_path

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.companions import Beside
from visa_lsp.ide.workspace import Language, OpenDocument, Workspace
from visa_lsp.program.suffixes import TEXTS
from visa_lsp.safe_io import is_regular, read_file
from visa_lsp.syntax.memo import Memo
from visa_lsp.text import decode_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_FILES: Final = 5000
_MAX_ENTRIES: Final = 100_000
_MAX_FOLDERS: Final = 16
_MAX_FILE_BYTES: Final = 32 << 20
_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "venv"})

Stamp = tuple[int, int]


@dataclass(slots=True)
class Files:
    """The files below the open folders.

    Facts about a file are cached by URI, with the state of the file and other inputs.
    """

    documents: Workspace
    roots: list[str] = field(default_factory=list)
    beside: Beside = field(init=False)
    _memos: dict[str, Memo] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.beside = Beside(self._open_text)

    def _open_text(self, path: Path) -> str | None:
        opened = self.documents.get(self.uri_of(path))
        return opened.analysis.document.text if opened is not None else None

    @staticmethod
    def path_of(uri: str) -> str | None:
        """Return the file of a URI; None for a document without a file."""
        if not uri.startswith("file:"):
            return None
        try:
            return to_fs_path(uri)
        except ValueError:
            return None

    @staticmethod
    def uri_of(path: Path | str) -> str:
        """Return the URI of a file."""
        return from_fs_path(str(path)) or Path(path).as_uri()

    def visa_files(self) -> Iterator[Path]:
        """Yield the vISA texts below the folders, in order, each once."""
        seen: set[str] = set()
        entries = count = 0
        for root in self.roots:
            folder = self.path_of(root)
            if folder is None:
                continue
            for place, folders, names in os.walk(folder):
                folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED)
                entries += len(names)
                for name in sorted(names):
                    path = os.path.join(place, name)  # noqa: PTH118 - a Path for each of many names costs
                    if name.endswith(TEXTS) and path not in seen and is_regular(path):
                        seen.add(path)
                        count += 1
                        yield Path(path)
                        if count >= MAX_FILES:
                            return
                if entries > _MAX_ENTRIES:
                    return

    def stamp(self, path: Path) -> Stamp | None:
        """Return the stamp of a file's state; None if it is not a regular file, cannot be read, or is too long."""
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_FILE_BYTES:
            return None
        return (status.st_mtime_ns, status.st_size)

    def text(self, path: Path) -> str | None:
        """Return the text in a file, or None."""
        try:
            return decode_text(read_file(path, _MAX_FILE_BYTES))
        except (OSError, ValueError):
            return None

    @staticmethod
    def stamp_place(path: Path) -> Stamp | None:
        """Return the stamp of the state of a file or folder; None if it does not exist."""
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        return (status.st_mtime_ns, status.st_size)

    def analysis(self, path: Path) -> Analysis | None:
        """Return the analysis of a file's text, or None."""
        text = self.text(path)
        if text is None:
            return None
        uri = self.uri_of(path)
        return Analysis.of(text, self.documents.platform_name(uri) or None)

    def memo(self, uri: str) -> Memo:
        """Return the cached facts about a file; each names the stamp of the file among its inputs."""
        return self._memos.setdefault(uri, Memo())

    def forget(self, uri: str | None = None) -> None:
        """Drop the cached values of a file, or all."""
        if uri is None:
            self._memos.clear()
        else:
            self._memos.pop(uri, None)

    def find_open(self, path: Path) -> OpenDocument | None:
        """Return the open document of a file."""
        return self.documents.get(self.uri_of(path)) or next(
            (d for d in self.documents if d.language is Language.VISA and self.path_of(d.key) == str(path)), None
        )

    def find_existing(self, uri: str, candidates: tuple[str, ...]) -> str | None:
        """Return the URI of the first existing file among names relative to a document."""
        base = self.path_of(uri)
        return self._first([Path(base).parent] if base is not None else [], candidates)

    def existing_near(self, uri: str, candidates: tuple[str, ...]) -> str | None:
        """Return the URI of the first existing file in the document's folder, a folder above it, or an open folder."""
        base = self.path_of(uri)
        roots = [Path(root) for root in map(self.path_of, self.roots) if root is not None]
        above = list(Path(base).parents)[:_MAX_FOLDERS] if base is not None else []
        inside = [folder for folder in above if any(folder.is_relative_to(root) for root in roots)]
        return self._first(list(dict.fromkeys((*above[:1], *inside, *roots[:_MAX_FOLDERS]))), candidates)

    def _first(self, folders: Sequence[Path], candidates: tuple[str, ...]) -> str | None:
        bases: Sequence[Path | None] = folders or (None,)
        for folder, name in ((folder, name) for folder in bases for name in candidates):
            if name.startswith(("\\\\", "//")):
                continue  # skipped, because opening a file of another machine would send the user's name there
            path = Path(name)
            if not path.is_absolute():
                if folder is None:
                    continue
                path = folder / name
            try:
                if path.is_file():
                    return self.uri_of(path)
            except (OSError, ValueError):
                continue
        return None
