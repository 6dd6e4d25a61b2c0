"""Which file is compared with which: two files with each other, the files of two folders by name, the rest by their kernels."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.cli.common import STDIN, CliError, reason

if TYPE_CHECKING:
    from collections.abc import Iterable

# What a folder's files are looked for by: texts and objects.
SUFFIXES: Final = (".visaasm", ".isaasm", ".isa")


def is_folder(path: str) -> bool:
    """Whether a path of the command line names a folder; CliError for an empty path."""
    if not path:
        raise CliError("an empty path names no file")
    try:
        return path != STDIN and Path(path).is_dir()
    except (OSError, ValueError) as error:
        raise CliError(f"{path}: {reason(error)}") from None


def files_of(folder: str) -> dict[str, str]:
    """The texts and objects of a folder and those below: path inside of it to path. CliError where one cannot be looked into."""

    def unreadable(error: OSError) -> None:
        raise CliError(f"{error.filename}: {reason(error)}")

    found = {}
    for here, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(here, name)  # noqa: PTH118 - keeps "./"
            if name.lower().endswith(SUFFIXES) and _is_regular(path):
                found[os.path.relpath(path, folder)] = path
    return found


def _is_regular(path: str) -> bool:
    """Whether something with the name of a text is a file; a link to nothing is told when it is read."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a Path for each of many names costs
    except OSError:
        return True


def by_name(a: Iterable[str], b: Iterable[str]) -> dict[str, str]:
    """Files of one path inside their folders, then those of one name without suffix where it is the only one of both."""
    ours, theirs = list(a), list(b)
    pairs = {name: name for name in ours if name in set(theirs)}
    taken = set(pairs.values())
    left = _stems(name for name in ours if name not in pairs)
    others = _stems(name for name in theirs if name not in taken)
    for stem, names in left.items():
        found = others.get(stem, [])
        if len(names) == len(found) == 1:
            pairs[names[0]] = found[0]
    return pairs


def _stems(names: Iterable[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for name in names:
        out.setdefault(os.path.basename(name).rpartition(".")[0], []).append(name)  # noqa: PTH119 - text, as it came
    return out
