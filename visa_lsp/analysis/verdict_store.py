r"""Verdicts on classes of lines on disk, so that later processes use the verdicts of earlier ones.

In memory, a token stands for a declaration by a number of this process (``tokens.class_token``). On disk, a block of
verdicts starts with its declarations, each after those that it mentions, and ``\x01#3;`` stands for the fourth of them.
Invariant: the same rules, binder and grammar gave each verdict on disk to a line of the same class.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.tokens import class_token, definition_of
from visa_lsp.analysis.verdicts import stores
from visa_lsp.disk_cache import Kept, open_for_user
from visa_lsp.syntax.grammar import grammar_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.analysis.verdicts import Verdicts

_TOKEN: Final = re.compile("\x01([0-9]+);")
_NUMBERED: Final = re.compile("\x01#([0-9]+);")
ROOMS: Final = ("isa", "program", "syntax", "sema", "flow", "checks", "analysis")


class _Strange(Exception):  # noqa: N818
    """A block that is not in the format of ``VerdictStore``."""


class VerdictStore:
    """Blocks of verdicts by kind of body. The file is opened for the first text with many classes of lines."""

    def __init__(self, open_file: Callable[[], Kept | None]) -> None:
        self._open = open_file
        self._files: list[Kept] | None = None
        self._fresh: dict[str, Verdicts] = {}

    def load(self, verdicts: Verdicts) -> None:
        """Add the stored verdicts on their kind of body."""
        if self._files is None:
            file = self._open()
            self._files = [] if file is None else [file]
        for file in self._files:
            for block in file.get_all(repr(verdicts.key)):
                with contextlib.suppress(_Strange):
                    _add(block, verdicts)

    def put(self, key: object, news: Verdicts) -> None:
        """Add new verdicts on a kind of body."""
        known = self._fresh.setdefault(repr(key), news)
        if known is not news:
            known.learn(news)

    def flush(self) -> None:
        """Write the added verdicts."""
        for file in self._files or ():
            for key, verdicts in self._fresh.items():
                block = _block(verdicts)
                if block is not None:
                    file.put(key, block)
            file.flush()
        self._fresh.clear()


def _block(verdicts: Verdicts) -> list[object] | None:
    """Return verdicts in the format of the file; None if the declaration of a token was dropped."""
    numbers: dict[str, int] = {}
    definitions: list[str] = []

    def number_tokens(text: str) -> str:
        return _TOKEN.sub(number_of, text)

    def number_of(match: re.Match[str]) -> str:
        token = match.group()
        if token not in numbers:
            definition = number_tokens(definition_of(token))
            numbers[token] = len(definitions)
            definitions.append(definition)
        return f"\x01#{numbers[token]};"

    try:
        clean = number_tokens("\n".join(sorted(verdicts.clean)))
        others = [number_tokens("\n".join(verdicts.others)), [list(verdict) for verdict in verdicts.others.values()]]
        decls = number_tokens("\n".join(sorted(verdicts.decls)))
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


def _file_of_user() -> Kept | None:
    """Return the file of this user and this installation; None if nothing is kept on disk."""
    package = Path(__file__).resolve().parents[1]
    files = [*package.glob("*.py"), *(path for room in ROOMS for path in (package / room).rglob("*.py"))]
    # A missing grammar is reported where it is first used.
    with contextlib.suppress(FileNotFoundError):
        return open_for_user("verdicts", [*sorted(files), grammar_path()])
    return None


@contextlib.contextmanager
def use_store(open_file: Callable[[], Kept | None] = _file_of_user) -> Iterator[None]:
    """Use a store within the context, and write the new verdicts at its end."""
    outer, store = stores[:], VerdictStore(open_file)
    stores[:] = [store]
    try:
        yield
    finally:
        stores[:] = outer
        store.flush()
