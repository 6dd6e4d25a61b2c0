"""The grammar file, found and built.

In a wheel the file lies beside the package as ``visa_lsp/_grammar/visa.ppeg``; an editable install does not see that
copy, so the repository's ``grammar/`` is the fallback. Built once per process, when it is first asked: as ``built_grammar``
has it, which saves a start the reading of the grammar's own language, or from the file where that says something else by now.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.digests import digest_of

if TYPE_CHECKING:
    from parsimonious.grammar import Grammar

GRAMMAR_FILE: Final = "visa.ppeg"


def grammar_path() -> Path:
    """Where the grammar lies; FileNotFoundError with both places when the installation is broken."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_grammar" / GRAMMAR_FILE
    beside = package.parent / "grammar" / GRAMMAR_FILE
    for path in (packaged, beside):
        if path.is_file():
            return path
    raise FileNotFoundError(f"the grammar is neither at {packaged} nor at {beside}: reinstall visa-lsp")


@cache
def grammar_text() -> str:
    """The text of the grammar; FileNotFoundError as ``grammar_path``."""
    return grammar_path().read_text(encoding="utf-8")


@cache
def grammar() -> Grammar:
    """The built grammar; its default rule is ``line``."""
    # Loaded here: what a process reads is mostly in the cache, and the grammar's machinery costs a third of a start.
    from visa_lsp.syntax import built_grammar

    text = grammar_text()
    return built_grammar.grammar() if digest_of_text(text) == built_grammar.DIGEST else built(text)


def built(text: str) -> Grammar:
    """A grammar from the text of a grammar file; its default rule is the first."""
    from parsimonious.grammar import Grammar

    return Grammar(text)


def digest_of_text(text: str) -> str:
    """By which the grammar of ``built_grammar`` is known to be of a text."""
    return digest_of([text.encode("utf-8")])
