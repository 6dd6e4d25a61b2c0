"""The folder of a launch file: its files and the headers of array files.

Reads regular files only, and only the headers of arrays, because the launch file may come from anyone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from visa_lsp.companions import Beside
from visa_lsp.launchfile.npy import MAX_NPY_BYTES, NpyHeader, OtherTypeError, read_header
from visa_lsp.program.elements import DTYPES
from visa_lsp.safe_io import MAX_TEXT_BYTES, is_readable_place, is_regular, open_file, read_file
from visa_lsp.text import decode_text

if TYPE_CHECKING:
    from pathlib import Path


_MAX_FOLDER_ENTRIES: Final = 1000


@dataclass(frozen=True)
class LaunchFolder:
    """Resolves names in the launch file ``launch`` to files.

    Unless ``trusted``, files on other machines are never accessed, because that would reveal the user to the other machine.
    """

    launch: Path
    trusted: bool = True
    beside: Beside = field(default_factory=Beside)

    def path(self, name: str) -> Path:
        """Return the file of a name."""
        return self.launch.parent / name

    def asks(self, name: str) -> bool:
        """Return whether a file of this name may be accessed."""
        return self.trusted or not name.startswith(("\\\\", "//"))

    def why_missing(self, name: str) -> str:
        """Return the reason why the file of a name cannot be read; empty if it can."""
        path = self.path(name)
        if is_regular(path) or self.beside.opened(path) is not None:
            return ""
        if not is_readable_place(path):
            return f"'{str(path)[:200]}' is outside of the folders that may be read"
        return f"'{str(path)[:200]}' is not a regular file" if _exists(path) else f"no such file: '{str(path)[:200]}'"

    def names_like(self, name: str) -> list[str]:
        """Return the files of the folder with the suffix of a name, among the first entries."""
        return [] if "/" in name or "\\" in name else self.names((name[name.rfind(".") :] if "." in name else "",))

    def names(self, endings: tuple[str, ...]) -> list[str]:
        """Return the files of the folder with one of ``endings``, among the first entries."""
        try:
            with os.scandir(self.launch.parent) as entries:
                file_names = [entry.name for entry, _ in zip(entries, range(_MAX_FOLDER_ENTRIES), strict=False)]
        except OSError:
            return []
        return sorted(name for name in file_names if name.endswith(endings))

    def text(self, path: Path) -> str:
        """Return the text of a file from the editor or from disk; empty if it cannot be read."""
        text = self.beside.opened(path)
        if text is not None:
            return text
        try:
            return decode_text(read_file(path, MAX_TEXT_BYTES))
        except (OSError, ValueError):
            return ""

    def find_sibling(self, stem: str, endings: tuple[str, ...]) -> Path | None:
        """Return the first existing file of a stem with one of ``endings``."""
        return next((path for end in endings if is_regular(path := self.launch.with_name((stem or "_") + end))), None)

    def header(self, name: str) -> NpyHeader:
        """Return the header of an array file. Raises ValueError with a line that names the file if it is invalid."""
        path = self.path(name)
        try:
            with open_file(path, MAX_NPY_BYTES) as (stream, about):
                return read_header(stream, about.st_size)
        except OtherTypeError as error:
            raise ValueError(f"'{path}' holds {error}; known types: {', '.join(DTYPES)}") from None
        except (OSError, ValueError) as error:
            words = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ValueError(f"cannot read the array file '{path}': {words.splitlines()[0]:.200}") from None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # an invalid file name
        return False
