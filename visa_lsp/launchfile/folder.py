"""The folder of a launch file: which files are there, and what the heads of array files say.

Asked by rims on behalf of whoever wrote the launch file: only regular files are looked into, and of arrays only the head.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from visa_lsp.beside import Beside
from visa_lsp.launchfile.npy import MAX_NPY_BYTES, NpyHeader, OtherTypeError, read_header
from visa_lsp.program.elements import DTYPES
from visa_lsp.reading import MAX_TEXT_BYTES, is_regular, opened_file, read_file

if TYPE_CHECKING:
    from pathlib import Path


_MAX_FOLDER_ENTRIES: Final = 1000


@dataclass(frozen=True)
class LaunchFolder:
    """The files that names in the launch file ``launch`` mean.

    Not ``trusted``: names of files on other machines are passed over, since asking for one tells that machine who asks.
    """

    launch: Path
    trusted: bool = True
    beside: Beside = field(default_factory=Beside)

    def path(self, name: str) -> Path:
        """Return the file that a name means."""
        return self.launch.parent / name

    def asks(self, name: str) -> bool:
        """Return whether a file of this name may be looked for."""
        return self.trusted or not name.startswith(("\\\\", "//"))

    def missing(self, name: str) -> str:
        """Why there is no file to read of this name; empty where there is one."""
        path = self.path(name)
        if is_regular(path) or self.beside.opened(path) is not None:
            return ""
        return f"'{str(path)[:200]}' is not a regular file" if _exists(path) else f"no such file: '{str(path)[:200]}'"

    def names_like(self, name: str) -> list[str]:
        """Return the files of the folder that have the ending of a name, as far as they are looked at."""
        return [] if "/" in name or "\\" in name else self.names((name[name.rfind(".") :] if "." in name else "",))

    def names(self, endings: tuple[str, ...]) -> list[str]:
        """Return the files of the folder that end with one of some endings, as far as they are looked at."""
        try:
            with os.scandir(self.launch.parent) as entries:
                first = [entry.name for entry, _ in zip(entries, range(_MAX_FOLDER_ENTRIES), strict=False)]
        except OSError:
            return []
        return sorted(name for name in first if name.endswith(endings))

    def text(self, path: Path) -> str:
        """Return the text of a file, as an editor has it or as it is on disk; empty where it cannot be read."""
        text = self.beside.opened(path)
        if text is not None:
            return text
        try:
            return read_file(path, MAX_TEXT_BYTES).decode("utf-8-sig", "surrogateescape")
        except (OSError, ValueError):
            return ""

    def sibling(self, stem: str, endings: tuple[str, ...]) -> Path | None:
        """Return the first file of a stem with one of some endings."""
        return next((path for end in endings if is_regular(path := self.launch.with_name((stem or "_") + end))), None)

    def header(self, name: str) -> NpyHeader:
        """Return the head of an array file. Raises ValueError, with one line of words that name the file, where it has none."""
        path = self.path(name)
        try:
            with opened_file(path, MAX_NPY_BYTES) as (stream, about):
                return read_header(stream, about.st_size)
        except OtherTypeError as error:
            raise ValueError(f"'{path}' holds {error}; known types: {', '.join(DTYPES)}") from None
        except (OSError, ValueError) as error:
            words = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ValueError(f"cannot read the array file '{path}': {words.splitlines()[0]:.200}") from None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False
