"""The grammar file, found and read.

In a wheel the file lies beside the package as ``visa_lsp/_grammar/visa.ppeg``; an editable install does not see that
copy, so the repository's ``grammar/`` is the fallback. Its rules are those that ``built_grammar`` has written down, which
saves a start the grammar's library and own language, or are read from the file where that says something else by now.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.digests import digest_of

if TYPE_CHECKING:
    from visa_lsp.syntax.rules import Rules

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
def rules() -> Rules:
    """The rules of the grammar; the first is that of a line."""
    from visa_lsp.syntax import built_grammar
    from visa_lsp.syntax.rules import rules_of

    text = grammar_text()
    return built_grammar.RULES if digest_of_text(text) == built_grammar.DIGEST else rules_of(text)


def digest_of_text(text: str) -> str:
    """By which the grammar of ``built_grammar`` is known to be of a text."""
    return digest_of([text.encode("utf-8")])
