"""The map, table and key at an offset of a well-formed ze_info text, and whether the offset is in the key or the value.

Knows tables, no editor. Invariant: never raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.zeinfo.tables import ROOT, TABLES

if TYPE_CHECKING:
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.schema import SchemaKey, SchemaTable
    from visa_lsp.zeinfo.source import ZeInfoSource
    from visa_lsp.zeinfo.yaml import YamlItem


@dataclass(frozen=True, slots=True)
class YamlEntry:
    """A key or a value. ``item`` is the map; ``kernel`` the entry of ``kernels`` around it, if any."""

    table: SchemaTable
    item: YamlItem
    key: str
    span: Span
    on_key: bool
    kernel: YamlItem | None

    @property
    def row(self) -> SchemaKey | None:
        """The row of the key."""
        return self.table.get(self.key)


def spot_at(source: ZeInfoSource, offset: int) -> YamlEntry | None:
    """Return the key or value at an offset; None between keys and values, and in a malformed text."""
    if source.root is None or not isinstance(source.root.value, dict):
        return None
    return _in_map(source, source.root, TABLES[ROOT], offset, None)


def _in_map(
    source: ZeInfoSource, item: YamlItem, table: SchemaTable, offset: int, kernel: YamlItem | None
) -> YamlEntry | None:
    if not isinstance(item.value, dict):
        return None
    best: tuple[int, str] | None = None
    for key in item.value:
        start = source.offset(*item.key_places[key])
        if start <= offset and (best is None or start > best[0]):
            best = (start, key)
    if best is None:
        return None
    key = best[1]
    span = source.key_span(item, key)
    if span.touches(offset):
        return YamlEntry(table, item, key, span, True, kernel)
    child = item.value[key]
    row = table.get(key)
    if row is not None and row.table and isinstance(child.value, dict):
        return _in_map(source, child, TABLES[row.table], offset, kernel)
    if row is not None and row.table and isinstance(child.value, list):
        inside = [e for e in child.value if source.offset(e.line, e.column) <= offset]
        if not inside:
            return None
        return _in_map(source, inside[-1], TABLES[row.table], offset, inside[-1] if key == "kernels" else kernel)
    span = source.span(child)
    return YamlEntry(table, item, key, span, False, kernel) if span.touches(offset) else None
