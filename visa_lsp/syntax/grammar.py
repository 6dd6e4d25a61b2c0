"""The grammar file, found and built.

In a wheel the file lies beside the package as ``visa_lsp/_grammar/visa.ppeg``; an editable install does not see that
copy, so the repository's ``grammar/`` is the fallback (STYLE section 3). Built once per process.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from parsimonious.grammar import Grammar

GRAMMAR_FILE: Final = "visa.ppeg"


@cache
def grammar_text() -> str:
    """The text of the grammar; FileNotFoundError with both places when the installation is broken."""
    packaged = files("visa_lsp").joinpath("_grammar", GRAMMAR_FILE)
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    beside = Path(__file__).resolve().parents[2] / "grammar" / GRAMMAR_FILE
    if beside.is_file():
        return beside.read_text(encoding="utf-8")
    raise FileNotFoundError(f"the grammar is neither at {packaged} nor at {beside}: reinstall visa-lsp")


@cache
def grammar() -> Grammar:
    """The built grammar; its default rule is ``line``."""
    return Grammar(grammar_text())
