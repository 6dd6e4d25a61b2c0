r"""Verdicts on classes of lines, kept on disk: what one process judged the next one knows.

A token of a class stands for a declaration by a number of this process (``line_classes.class_token``). On disk a block of verdicts
brings its declarations with it, each after those that it mentions, and ``\x01#3;`` stands for the fourth of them.
Invariant: a verdict from disk is one that the same rules, binder and grammar gave to a line of the same class.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Final

from visa_lsp.analysis.line_classes import Verdicts, class_token, definition_of
from visa_lsp.kept import Kept, kept_for_user
from visa_lsp.syntax.grammar import grammar_path

_TOKEN: Final = re.compile("\x01([0-9]+);")
_NUMBERED: Final = re.compile("\x01#([0-9]+);")
_ROOMS: Final = ("isa", "program", "syntax", "sema", "flow", "checks", "analysis")


class _Strange(Exception):  # noqa: N818
    """A block that no ``VerdictStore`` wrote."""


class VerdictStore:
    """Blocks of verdicts by kind of body."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._fresh: dict[str, Verdicts] = {}

    def load(self, verdicts: Verdicts) -> None:
        """Add what is known of their kind of body."""
        for block in self._kept.get_all(repr(verdicts.key)):
            with contextlib.suppress(_Strange):
                _add(block, verdicts)

    def put(self, key: object, news: Verdicts) -> None:
        """Take in new verdicts on a kind of body."""
        self._fresh.setdefault(repr(key), Verdicts()).learn(news)

    def flush(self) -> None:
        """Write what was taken in."""
        for key, verdicts in self._fresh.items():
            block = _block(verdicts)
            if block is not None:
                self._kept.put(key, block)
        self._fresh.clear()
        self._kept.flush()


def _block(verdicts: Verdicts) -> list[object] | None:
    """Verdicts in the form of the file; None where a token's declaration is forgotten."""
    numbers: dict[str, int] = {}
    definitions: list[str] = []

    def numbered(text: str) -> str:
        return _TOKEN.sub(number_of, text)

    def number_of(match: re.Match[str]) -> str:
        token = match.group()
        if token not in numbers:
            definition = numbered(definition_of(token))
            numbers[token] = len(definitions)
            definitions.append(definition)
        return f"\x01#{numbers[token]};"

    try:
        clean = numbered("\n".join(sorted(verdicts.clean)))
        others = [numbered("\n".join(verdicts.others)), [list(verdict) for verdict in verdicts.others.values()]]
        decls = numbered("\n".join(sorted(verdicts.decls)))
    except (KeyError, RecursionError):
        return None
    return [definitions, clean, others, decls]


def _add(block: object, verdicts: Verdicts) -> None:
    match block:
        case [list(definitions), str(clean), [str(others), list(columns)], str(decls)]:
            pass
        case _:
            raise _Strange
    tokens: list[str] = []

    def token_of(match: re.Match[str]) -> str:
        number = int(match.group(1))
        if number >= len(tokens):
            raise _Strange
        return tokens[number]

    for definition in definitions:
        if not isinstance(definition, str):
            raise _Strange
        tokens.append(class_token(_NUMBERED.sub(token_of, definition)))
    lines = _NUMBERED.sub(token_of, others).split("\n") if others else []
    if len(lines) != len(columns) or not all(map(_is_verdict, columns)):
        raise _Strange
    verdicts.clean.update(_NUMBERED.sub(token_of, clean).split("\n"))
    verdicts.others.update({line: tuple(at) for line, at in zip(lines, columns, strict=True)})
    verdicts.decls.update(filter(None, _NUMBERED.sub(token_of, decls).split("\n")))


def _is_verdict(columns: object) -> bool:
    return isinstance(columns, list) and bool(columns) and all(isinstance(at, int) and at >= -1 for at in columns)


def store_of_user() -> VerdictStore | None:
    """The store of this user and this installation; None where nothing is kept on disk."""
    package = Path(__file__).resolve().parents[2]
    files = [*package.glob("*.py"), *(path for room in _ROOMS for path in (package / room).rglob("*.py"))]
    try:
        kept = kept_for_user("verdicts", [*sorted(files), grammar_path()])
    except FileNotFoundError:
        return None  # whoever asks for the grammar is told
    return VerdictStore(kept) if kept is not None else None
