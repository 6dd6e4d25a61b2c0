"""The words with a page in ``explain``, each with its kind and a line, from the tables.

Invariant: every word has a page and occurs once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from visa_lsp.app.rule_registry import by_word, list_rules
from visa_lsp.isa import predefined
from visa_lsp.isa.attributes import ATTRIBUTES
from visa_lsp.isa.glossary import TERMS
from visa_lsp.isa.platforms import PLATFORMS
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPES
from visa_lsp.suggest import nearest


class Explained(NamedTuple):
    """A word, its kind, and one line about it."""

    word: str
    kind: str
    line: str


@cache
def words() -> tuple[Explained, ...]:
    """Return the words: instructions, rules by code, variables and states, attributes, types, platforms, terms."""
    words_by_name: dict[str, Explained] = {}
    for word in _words():
        words_by_name.setdefault(word.word, word)
    return tuple(words_by_name.values())


def list_words() -> list[str]:
    """Return every word with a page, the names of rules, and the other names of terms."""
    others = (name for term in TERMS for name in term.also)
    return list(dict.fromkeys([*(word.word for word in words()), *by_word(), *others]))


def nearest_word(word: str) -> str | None:
    """Return the word with a page that a misspelt one most likely means, by its first part if it has dots."""
    return nearest(word, list_words()) or nearest(word.partition(".")[0], list_words())


def _words() -> Iterator[Explained]:
    for name in sorted(TABLE.mnemonics):
        yield Explained(name, "instruction", _line(TABLE.by_mnemonic[name][0].summary))
    for rule in list_rules():
        yield Explained(rule.code, "rule", f"{rule.name}: {_line(rule.doc)}")
    for variable in predefined.VARIABLES:
        yield Explained(variable.name, "predefined variable", _line(variable.doc))
    for state in (*predefined.SURFACES, *predefined.SAMPLERS):
        yield Explained(state.name, "predefined state", _line(state.doc))
    for attribute in ATTRIBUTES:
        yield Explained(attribute.name, "attribute", _line(attribute.doc))
    for type_ in TYPES:
        yield Explained(type_.name, "type", _line(type_.doc))
    for platform in PLATFORMS:
        yield Explained(platform.name, "platform", _line(platform.doc))
    for term in TERMS:
        yield Explained(term.name, "term", _line(term.doc))


def _line(text: str) -> str:
    """Return the first sentence or line of a text, without its full stop."""
    first_line = text.strip().split("\n")[0]
    return first_line.split(". ")[0].removesuffix(".")
