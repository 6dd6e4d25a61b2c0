"""Finds the texts and objects of a folder on the command line."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from visa_lsp.app.errors import UserError, reason
from visa_lsp.app.inputs import STDIN
from visa_lsp.program.suffixes import PROGRAMS


def is_folder(path: str) -> bool:
    """Return whether a path is a folder. Raises UserError for an empty path."""
    if not path:
        raise UserError("expected a path, got an empty one")
    try:
        return path != STDIN and Path(path).is_dir()
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {reason(error)}") from None


def files_of(folder: str, suffixes: tuple[str, ...] = PROGRAMS) -> dict[str, str]:
    """Map the relative paths of files below a folder to their paths. Raises UserError for an unreadable folder.

    The files are texts and objects, or those with other ``suffixes``.
    """

    def unreadable(error: OSError) -> None:
        raise UserError(f"{error.filename}: {reason(error)}")

    paths = {}
    for here, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(here, name)  # noqa: PTH118 - keeps "./"
            if name.lower().endswith(suffixes) and _is_regular(path):
                paths[os.path.relpath(path, folder)] = path
    return paths


def _is_regular(path: str) -> bool:
    """Return whether a path is a regular file or a dangling link, which is reported when it is read."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a Path for each of many names costs
    except OSError:
        return True
