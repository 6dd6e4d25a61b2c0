"""Baseline files, so that commands report only new or worse results: JSON with a version and one list of items.

``check`` stores findings, ``stats`` the figures of kernels. Paths in the file are relative to its folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from visa_lsp.app.errors import UserError, printable, reason
from visa_lsp.app.output_files import write_file
from visa_lsp.safe_io import read_file

_VERSION: Final = 1


def read_items(path: str, key: str) -> list[dict[str, Any]]:
    """Return the items of the list ``key``. Raises UserError if the file cannot be read or is not a baseline of this version."""
    import json

    try:
        value = json.loads(read_file(path, named=True).decode("utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not a baseline file: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict) or value.get("version") != _VERSION or not isinstance(value.get(key), list):
        raise UserError(f"{path}: not a baseline file: expected version {_VERSION} and the key {key}")
    return [item if isinstance(item, dict) else {} for item in value[key]]


def write_items(path: str, key: str, items: list[dict[str, Any]], inputs: Iterable[str] = ()) -> None:
    """Write a list as the new baseline, sorted. Raises UserError if ``path`` is one of ``inputs``."""
    import json

    items.sort(key=lambda item: tuple(map(str, item.values())))
    text = json.dumps({"version": _VERSION, "tool": "visa-lsp", key: items}, indent=1) + "\n"
    # A name without a folder is the default one, or as good as that.
    write_file(path, text.encode(), inputs, is_default=not os.path.dirname(path))  # noqa: PTH120


def relative(path: str, baseline: str) -> str:
    """Return a path relative to the folder of the baseline; standard input stays unchanged."""
    if path.startswith("<"):
        return path
    folder = Path(baseline).absolute().parent
    try:
        return printable(Path(os.path.relpath(path, folder)).as_posix())
    except ValueError:  # another drive
        return printable(Path(path).absolute().as_posix())
