"""Statements on disk, by the shape of their line: a new process need not build the grammar to parse such a line.

A shape maps to a line and its tree. A tree is data: numbers, texts, and lists that name a class of ``syntax/tree.py``
by its number; nothing in the file is executed, and invalid entries are ignored. Invariant: an entry is the result of
``Parser.full`` for its line, by the same grammar and the same modules.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from visa_lsp.disk_cache import Kept, open_for_user
from visa_lsp.syntax import tree
from visa_lsp.syntax.grammar import grammar_path
from visa_lsp.syntax.parse import flush_statement_cache, use_statement_cache
from visa_lsp.text import Span

_CLASSES: Final[tuple[type[msgspec.Struct], ...]] = tuple(
    c for c in vars(tree).values() if isinstance(c, type) and issubclass(c, msgspec.Struct) and c is not msgspec.Struct
)
_NUMBER_OF: Final[dict[type[msgspec.Struct], int]] = {Span: 0, **{c: i for i, c in enumerate(_CLASSES, 1)}}
_CLASS_OF: Final[dict[int, type[msgspec.Struct]]] = {i: c for c, i in _NUMBER_OF.items()}
_TUPLE: Final = -1
_MAX_INTEGER: Final = 1 << 62
_MAX_LINE_CHARS: Final = 1000
# The modules that an entry depends on; some are not loaded if all lines are cached.
_MAKERS: Final = ("build", "build_operands", "nodes", "parse", "shapes", "statement_cache", "tree")
# Limited because every command reads the file; 864 texts of 8 platforms fill 0.4 MB.
_MAX_FILE_BYTES: Final = 2 << 20


class Unfit(Exception):  # noqa: N818
    """A tree has a value that the file cannot represent."""


def pack_tree(node: object) -> object:
    """Return a tree as lists of plain values. Raises Unfit for numbers that the file cannot represent."""
    if isinstance(node, msgspec.Struct):
        return [_NUMBER_OF[type(node)], *[pack_tree(getattr(node, name)) for name in node.__struct_fields__]]
    if isinstance(node, tuple):
        return [_TUPLE, *[pack_tree(item) for item in node]]
    if isinstance(node, (int, float)) and not -_MAX_INTEGER < node < _MAX_INTEGER:
        raise Unfit
    return node


def unpack_tree(value: object) -> object:
    """Return the tree that ``pack_tree`` packed. Raises Unfit for anything else."""
    if type(value) is not list:
        return value
    if not value or type(value[0]) is not int:
        raise Unfit
    parts = [unpack_tree(item) for item in value[1:]]
    if value[0] == _TUPLE:
        return tuple(parts)
    cls = _CLASS_OF.get(value[0])
    if cls is None or len(parts) != len(cls.__struct_fields__):
        raise Unfit
    return cls(*parts)


class StatementCache:
    """Lines with their statements, by shape."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def get(self, key: str) -> tuple[str, tree.Statement] | None:
        """Return the line and the statement under this key."""
        match self._kept.get(key):
            case [str(text), list(value)]:
                with contextlib.suppress(Unfit, TypeError, RecursionError):
                    statement = unpack_tree(value)
                    if isinstance(statement, tree.Statement):
                        return text, statement
        return None

    def put(self, key: str, text: str, statement: tree.Statement) -> None:
        """Add a line and its statement under a key, if they can be written."""
        if len(text) <= _MAX_LINE_CHARS:
            with contextlib.suppress(Unfit, RecursionError):
                self._kept.put(key, [text, pack_tree(statement)])

    def flush(self) -> None:
        """Write the added lines."""
        self._kept.flush()


@contextlib.contextmanager
def use_cache_of_user() -> Iterator[StatementCache | None]:
    """Let the process-wide parser use the user's cache, and write the new entries at the end."""
    cache = statement_cache_of_user()
    use_statement_cache(cache)
    try:
        yield cache
    finally:
        flush_statement_cache()
        use_statement_cache(None)


def statement_cache_of_user() -> StatementCache | None:
    """Return the cache of this user and this installation; None if nothing is kept on disk."""
    files = [Path(__file__).with_name(f"{name}.py") for name in _MAKERS]
    try:
        kept = open_for_user("shapes", [*files, grammar_path()], _MAX_FILE_BYTES)
    except FileNotFoundError:
        return None  # because the missing file is reported when the grammar is built
    return StatementCache(kept) if kept is not None else None
