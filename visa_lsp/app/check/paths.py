"""Collects the files of the paths on the command line: folders are searched in sorted order, each file is listed once."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from visa_lsp.app.check.suppress import glob_matches
from visa_lsp.app.errors import reason
from visa_lsp.app.inputs import STDIN
from visa_lsp.program.suffixes import TEXTS
from visa_lsp.safe_io import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.app.settings import Finder


class Inputs(Struct):
    """Files to check, in order; unreadable paths with the reason; folders without texts.

    ``irregular`` are paths with the suffix of a text that are not regular files, with their kind; ``named`` are files that
    the command line names itself.
    """

    files: list[str] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    irregular: list[tuple[str, str]] = field(default_factory=list)
    named: set[str] = field(default_factory=set)


def collect(
    paths: Iterable[str], finder: Finder, exclude: Iterable[str] = (), suffixes: tuple[str, ...] = TEXTS
) -> Inputs:
    """Return the files with one of ``suffixes``. A file that is named itself may have any suffix and is never excluded."""
    inputs = Inputs()
    seen: set[str] = set()
    extra = tuple(exclude)
    for path in paths:
        if path not in ("", STDIN) and Path(path).is_dir():
            files = [f for f in _walk(path, inputs, suffixes) if not _is_excluded(f, finder, extra)]
            if not files:
                inputs.empty.append(path)
        else:
            files = [path]
            inputs.named.add(path)
        for file in files:
            key = file if file in ("", STDIN) else os.path.abspath(file)  # noqa: PTH100 - resolves ".." without following links
            if key not in seen:
                seen.add(key)
                inputs.files.append(file)
    return inputs


def _walk(top: str, inputs: Inputs, suffixes: tuple[str, ...]) -> list[str]:
    def unreadable(error: OSError) -> None:
        inputs.problems.append((str(error.filename), reason(error)))

    files = []
    for folder, folders, names in os.walk(top, onerror=unreadable):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "node_modules")
        for name in names:
            if name.lower().endswith(suffixes):
                path = os.path.join(folder, name)  # noqa: PTH118 - keeps "./"
                what = _odd(path)
                if what:
                    inputs.irregular.append((path, what))
                else:
                    files.append(path)
    return sorted(files)


def _odd(path: str) -> str:
    """Return the kind of a path that is not a regular file, else an empty text; a dangling link is reported when it is read."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a Path for each of many names costs
    except OSError:
        return ""
    return "" if stat.S_ISREG(mode) else kind_of(mode)


def _is_excluded(file: str, finder: Finder, extra: tuple[str, ...]) -> bool:
    if any(glob_matches(pattern, ".", file) for pattern in extra):
        return True
    settings = finder.of_file(file)
    return any(glob_matches(pattern, settings.root, file) for pattern in settings.exclude)
