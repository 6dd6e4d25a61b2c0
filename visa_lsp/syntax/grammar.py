"""Finds and reads the grammar file.

A wheel has the file in the package as ``visa_lsp/_grammar/visa.ppeg``; an editable install has no such copy, so that
the repository's ``grammar/`` is the fallback.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

GRAMMAR_FILE: Final = "visa.ppeg"


def grammar_path() -> Path:
    """Return the path of the grammar. Raises FileNotFoundError with both places if the installation is broken."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_grammar" / GRAMMAR_FILE
    beside = package.parent / "grammar" / GRAMMAR_FILE
    for path in (packaged, beside):
        if path.is_file():
            return path
    raise FileNotFoundError(f"the grammar is neither at {packaged} nor at {beside}: reinstall visa-lsp")


@cache
def grammar_text() -> str:
    """Return the text of the grammar. Raises FileNotFoundError like ``grammar_path``."""
    return grammar_path().read_text(encoding="utf-8")
