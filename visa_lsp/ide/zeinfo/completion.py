"""Completion in ze_info: the missing keys of a map, and the values of a key. Works on broken texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.ide.zeinfo.place import typing_at
from visa_lsp.zeinfo.closed_words import WORDS
from visa_lsp.zeinfo.schema import SCALARS, SchemaKey, version_text

if TYPE_CHECKING:
    from visa_lsp.text import Span


@dataclass(frozen=True, slots=True)
class ZeCompletion:
    """A proposal: ``insert`` replaces ``span``. ``is_key`` is true for keys, false for values."""

    label: str
    insert: str
    span: Span
    detail: str
    doc: str
    is_key: bool


_VALUES = {
    "simd_size": ("1", "8", "16", "32"),
    "grf_count": ("128", "256"),
    "version": ("'1.14'", "'1.20'", "'1.73'"),
    "work_group_walk_order_dimensions": ("[0, 0, 0]", "[0, 1, 0]", "[0, 1, 2]", "[1, 0, 0]", "[2, 1, 0]"),
    "slm_alloc_mode": ("0", "1"),
}


def completions(text: str, offset: int) -> tuple[ZeCompletion, ...]:
    """Return the proposals for an offset."""
    typing = typing_at(text, offset)
    if typing is None:
        return ()
    if typing.row is not None:
        return tuple(ZeCompletion(v, v, typing.word, typing.row.name, doc, False) for v, doc in _values(typing.row))
    return tuple(
        ZeCompletion(row.name, f"{row.name}: ", typing.word, _detail(row), row.doc, True)
        for row in sorted(typing.table.attributes, key=lambda r: not r.required)
        if row.name not in typing.keys and row.removed is None
    )


def _values(row: SchemaKey) -> list[tuple[str, str]]:
    if row.words:
        return [(w.name, w.doc) for w in WORDS[row.words] if not w.removed]
    if row.type == "bool":
        return [("true", row.doc), ("false", row.doc)]
    return [(value, row.doc) for value in _VALUES.get(row.name, ())]


def _detail(row: SchemaKey) -> str:
    kind = row.table or ("word" if row.words else SCALARS[row.type])
    since = f", since {version_text(row.since)}" if row.since > (1, 0) else ""
    return f"{kind}, {'required' if row.required else 'optional'}{since}"
