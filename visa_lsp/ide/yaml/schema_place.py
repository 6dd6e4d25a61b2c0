"""The table, key and argument at an offset of a YAML document with a schema. Works on an incomplete text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.ide.yaml.path import Step, YamlPath, path_at

if TYPE_CHECKING:
    from visa_lsp.zeinfo.schema import SchemaKey, SchemaTable


@dataclass(frozen=True, slots=True)
class SchemaPlace:
    """A place: ``table`` is the table of the map around it, None for a map with user-defined names or without keys.

    ``row`` is the key whose value, or an entry of it, is at the place. ``in_arguments`` is true in the list or map of
    all arguments of a launch; ``argument`` is the number or name of the argument around the place.
    """

    path: YamlPath
    table: SchemaTable | None
    row: SchemaKey | None = None
    in_arguments: bool = False
    argument: Step | None = None


def place_at(tables: Mapping[str, SchemaTable], root: str, text: str, offset: int) -> SchemaPlace | None:
    """Return the place of an offset; None in a comment, and below unknown keys."""
    path = path_at(text, offset)
    if path is None:
        return None
    table: SchemaTable | None = tables[root]
    row: SchemaKey | None = None
    argument: Step | None = None
    steps = path.steps if path.key is None else (*path.steps, path.key)
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1 and path.key is not None
        if row is not None:  # a list, or a map of names
            if row.type == "arguments":
                argument = step
                if is_last:
                    return SchemaPlace(path, None, row, in_arguments=True, argument=argument)
                table, row = tables["Argument"], None
                continue
            if not row.table:
                if isinstance(step, str):
                    return None
                continue  # an entry of a list of plain values
            table, is_entry = tables[row.table], row.many == "map" or isinstance(step, int)
            row = None
            if is_entry and is_last:
                return SchemaPlace(path, table, None, argument=argument)
            if is_entry:
                continue
        if isinstance(step, int):  # in a bracket that follows a broken key
            continue
        row = table.get(step) if table is not None else None
        if row is None:
            return None
        if is_last:
            return SchemaPlace(path, table, row, argument=argument)
        if not row.many and row.type != "arguments":
            inner = "Init" if row.type == "contents" else row.table
            if inner:
                table, row = tables[inner], None
    if row is not None and path.key is None:
        return SchemaPlace(path, None, row, in_arguments=row.type == "arguments", argument=argument)
    return SchemaPlace(path, None if row is not None else table, row, argument=argument)
