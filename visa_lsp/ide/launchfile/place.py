"""The table, key and argument at an offset of a launch file. Works on an incomplete text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.ide.yaml.path import Step, YamlPath, path_at
from visa_lsp.launchfile.tables import ROOT, TABLES

if TYPE_CHECKING:
    from visa_lsp.launchfile.model import LaunchKey, LaunchTable


@dataclass(frozen=True, slots=True)
class LaunchPlace:
    """A place: ``table`` is the table of the map around it, None for a map with user-defined names or without keys.

    ``row`` is the key whose value, or an entry of it, is at the place. ``in_arguments`` is true in the list or map of
    all arguments; ``argument`` is the number or name of the argument around the place.
    """

    path: YamlPath
    table: LaunchTable | None
    row: LaunchKey | None = None
    in_arguments: bool = False
    argument: Step | None = None


def place_at(text: str, offset: int) -> LaunchPlace | None:
    """Return the place of an offset; None in a comment, and below unknown keys."""
    path = path_at(text, offset)
    if path is None:
        return None
    table: LaunchTable | None = TABLES[ROOT]
    row: LaunchKey | None = None
    argument: Step | None = None
    steps = path.steps if path.key is None else (*path.steps, path.key)
    for at, step in enumerate(steps):
        last = at == len(steps) - 1 and path.key is not None
        if row is not None:  # a list, or a map of names
            if row.type == "arguments":
                argument = step
                if last:
                    return LaunchPlace(path, None, row, in_arguments=True, argument=argument)
                table, row = TABLES["Argument"], None
            elif row.many and row.table:
                if last:
                    return LaunchPlace(path, TABLES[row.table], None, argument=argument)
                table, row = TABLES[row.table], None
            continue  # an entry of a list of plain values
        found = table.get(step) if table is not None and isinstance(step, str) else None
        if found is None:
            return None
        if last:
            return LaunchPlace(path, table, found, argument=argument)
        row = found
        if not row.many and row.type != "arguments":
            inner = "Init" if row.type == "contents" else row.table
            if inner:
                table, row = TABLES[inner], None
    if row is not None and path.key is None:
        return LaunchPlace(path, None, row, in_arguments=row.type == "arguments", argument=argument)
    return LaunchPlace(path, None if row is not None else table, row, argument=argument)
