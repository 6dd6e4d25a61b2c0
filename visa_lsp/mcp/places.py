"""The files that an agent may use: only those below the client's roots, after following links."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from visa_lsp.app.errors import UserError
from visa_lsp.safe_io import is_readable_place, limit_reading


class Roots:
    """The roots of one call. Creating them confines this process to them, until the next ones are created.

    ``own`` are the files that calls of this session wrote, ``written`` those of this call.
    """

    def __init__(self, folders: Sequence[str], own: Sequence[str] = ()) -> None:
        self.folders = [Path(folder) for folder in folders]
        self.own = frozenset(own)
        self.written: list[str] = []
        limit_reading(self.folders)

    def output_path(self, name: str, *, overwrite: bool) -> str:
        """Return the path of a file to write. Raises UserError if it exists and is not one of ours, unless ``overwrite``."""
        path = self.path(name)
        real = os.path.realpath(path)
        if os.path.lexists(path) and real not in self.own and not overwrite:
            raise UserError(f"{name}: exists already, and no tool of this session wrote it; `overwrite` replaces it")
        self.written.append(real)
        return path

    def path(self, name: str) -> str:
        """Return the path of a file or folder; a relative name is searched below each root.

        Raises UserError if it is outside of the roots.
        """
        if not name or "\0" in name:
            raise UserError(f"expected a path, got {name!r}")
        if name == "-":
            raise UserError("standard input belongs to the protocol; give the text itself as `text`")
        candidates = [folder / name for folder in self.folders]
        inside = [path for path in candidates if is_readable_place(path)]
        if not inside:
            roots = ", ".join(map(str, self.folders)) or "none"
            raise UserError(f"{name}: outside of the folders that the client allows ({roots})")
        return str(next((path for path in inside if path.exists()), inside[0]))

    def display_path(self, path: str | Path) -> str:
        """Return a path in the form of the client: relative to the first root around it."""
        for folder in self.folders:
            if Path(path).is_relative_to(folder):
                return str(Path(path).relative_to(folder))
        return str(path)
