"""The sweep of a launch file, and the file at one point of it: with axes substituted and expressions computed.

Works on the items of the text before any other reader, which then sees a launch file without a sweep. Never raises.
Invariant: an unchanged item is the item of the text itself, and a changed one keeps its place.
"""

from __future__ import annotations

import keyword
import math
from dataclasses import replace as replaced
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.launchfile import rules
from visa_lsp.launchfile.checks import Checks
from visa_lsp.launchfile.formulas import FUNCTIONS, FormulaError, number, read_formula
from visa_lsp.launchfile.tables import ROOT, TABLES
from visa_lsp.launchfile.values import Axis, AxisValue, Number, Sweep, SweepPoint
from visa_lsp.zeinfo.schema import NUMERIC, WHOLE, SchemaKey, SchemaTable
from visa_lsp.zeinfo.yaml import YamlItem

if TYPE_CHECKING:
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.zeinfo.source import YamlSource

MAX_SWEEP_POINTS: Final = 100_000
_MAX_AXES: Final = 16
_SEED: Final = "seed"


class SweptSource(Struct, frozen=True):
    """A launch file at one point of its sweep, which is None without one; ``findings`` are about both.

    ``names`` are the numbers for expressions. Without errors the source has the text of the file, and its items have neither
    sweep nor expressions.
    """

    source: YamlSource
    sweep: Sweep | None = None
    findings: tuple[Diagnostic, ...] = ()
    names: dict[str, Number] = {}


def at_point(source: YamlSource, point: SweepPoint = ()) -> SweptSource:
    """Return the launch file at a point, by default the first.

    A point may have other values than the axis, and set keys that are not axes; missing axes have their first value.
    """
    root = source.root
    if root is None or not isinstance(root.value, dict) or not (point or "sweep" in root.value):
        return SweptSource(source)
    reader = _SweepReader(source)
    sweep = reader.sweep(root.value["sweep"]) if "sweep" in root.value else Sweep(())
    if sweep is None:
        return SweptSource(source, None, tuple(reader.findings))
    values = {**{axis.name: axis.values[0] for axis in sweep.axes}, **dict(point)}
    computed = reader.at(root, values)
    if "sweep" in root.value and not reader.findings:
        reader.judge_axes(root.value["sweep"], sweep)
    findings = tuple(sorted(reader.findings, key=lambda d: (d.span, d.code)))
    return SweptSource(replaced(source, root=computed), sweep if sweep.axes else None, findings, reader.names)


def _plain(value: AxisValue) -> object:
    return list(value) if isinstance(value, tuple) else value


def _item(value: AxisValue, place: YamlItem) -> YamlItem:
    """Return a value as an item at the place of another."""
    entries = [_item(entry, place) for entry in value] if isinstance(value, tuple) else value
    return YamlItem(entries, place.line, place.column, {})


class _SweepReader(Checks):
    """Reads the sweep of one file and computes its expressions."""

    def __init__(self, source: YamlSource) -> None:
        super().__init__(source, None)
        self.names: dict[str, Number] = {}
        self._used: set[str] = set()

    # The sweep.

    def sweep(self, item: YamlItem) -> Sweep | None:
        if not isinstance(item.value, dict):
            self.add(rules.WRONG_TYPE, item, f"expected a map from axes to lists of values, got {item.kind}")
            return None
        if not 1 <= len(item.value) <= _MAX_AXES:
            self.add(rules.SWEEP, item, f"expected 1 to {_MAX_AXES} axes, got {len(item.value)}")
            return None
        axes = [self._axis(item, name) for name in item.value]
        good = tuple(axis for axis in axes if axis is not None)
        if len(good) < len(axes):
            return None
        sweep = Sweep(good)
        if sweep.count > MAX_SWEEP_POINTS:
            self.add(rules.SWEEP, item, f"the sweep has {sweep.count} points; at most {MAX_SWEEP_POINTS} are supported")
            return None
        return sweep

    def _axis(self, item: YamlItem, name: str) -> Axis | None:
        assert isinstance(item.value, dict)
        row, given = TABLES["Sweep"].get(name), item.value[name]
        if row is None and not self._is_name(item, name):
            return None
        if not isinstance(given.value, list):
            self.add(rules.WRONG_TYPE, given, f"expected an axis as a list of values, got {given.kind}")
            return None
        if not given.value:
            self.add(rules.SWEEP, given, f"the axis '{name:.60}' has no values")
            return None
        values = [self._value(entry, row) for entry in given.value]
        good = tuple(value for value in values if value is not None)
        return Axis(name, good, row is not None) if len(good) == len(values) else None

    def _is_name(self, item: YamlItem, name: str) -> bool:
        """Return whether the name of an axis that is not a key is valid in expressions; report it if not."""
        span = self.key(item, name)
        if TABLES[ROOT].get(name) is not None:
            keys = ", ".join(TABLES["Sweep"].names)
            self.add(rules.SWEEP, span, f"the key '{name}' cannot be an axis; possible keys: {keys}")
        elif not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name) or name in FUNCTIONS:
            self.add(rules.SWEEP, span, f"'{name:.60}' is not a valid name in expressions")
        else:
            return True
        return False

    def _value(self, item: YamlItem, row: SchemaKey | None, *, inside: bool = False) -> AxisValue | None:
        """Return a value of an axis, or with ``inside`` an entry of a list value."""
        value = item.value
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return value
        if row is not None and isinstance(value, str):
            return value
        if row is not None and row.inner in NUMERIC and isinstance(value, list) and value and not inside:
            entries = [self._value(entry, row, inside=True) for entry in value]
            plain = tuple(entry for entry in entries if isinstance(entry, int | float | str))
            return plain if len(plain) == len(entries) else None
        what = "a number" if row is None or inside else "a value of the key"
        self.add(rules.WRONG_TYPE, item, f"expected {what}, got {item.kind}")
        return None

    def judge_axes(self, item: YamlItem, sweep: Sweep) -> None:
        """Report axes that no expression uses."""
        for axis in sweep.axes:
            if not axis.is_key and axis.name not in self._used:
                self.add(rules.IDLE_AXIS, self.key(item, axis.name), f"the axis '{axis.name}' has no effect")

    # The file at a point.

    def at(self, root: YamlItem, point: dict[str, AxisValue]) -> YamlItem:
        """Return the file without its sweep, with the values of axes and expressions substituted."""
        assert isinstance(root.value, dict)
        self.names = {name: value for name, value in point.items() if isinstance(value, int | float)}
        axes = root.value.get("sweep", root)
        assert isinstance(axes.value, dict)
        keys = {name: value for name, value in point.items() if TABLES["Sweep"].get(name) is not None}
        items = {name: _item(value, _stands(axes.value.get(name, root), value)) for name, value in keys.items()}
        values = {**root.value, **items}
        values.pop("sweep", None)
        places = {name: axes.key_places.get(name, (root.line, root.column)) for name in items}
        places = {**root.key_places, **places}
        return self._map(YamlItem(values, root.line, root.column, places), TABLES[ROOT])

    def _map(self, item: YamlItem, table: SchemaTable) -> YamlItem:
        if not isinstance(item.value, dict):
            return item
        rows = {name: table.get(name) for name in item.value}
        values = {n: entry if (row := rows[n]) is None else self._key(entry, row) for n, entry in item.value.items()}
        return replace(item, value=values)

    def _key(self, item: YamlItem, row: SchemaKey) -> YamlItem:
        if row.type == "arguments":
            return self._each(item, TABLES["Argument"])
        if row.type == "contents":
            return self._contents(item)
        if row.table:
            return self._each(item, TABLES[row.table]) if row.many else self._map(item, TABLES[row.table])
        if row.inner == "expression" and isinstance(item.value, str):
            self._used.update(set(self.names) & _words(item.value))
        return self._numbers(item, whole=row.inner in WHOLE) if row.inner in NUMERIC else item

    def _each(self, item: YamlItem, table: SchemaTable) -> YamlItem:
        if isinstance(item.value, list):
            return replace(item, value=[self._map(entry, table) for entry in item.value])
        if isinstance(item.value, dict):
            return replace(item, value={name: self._map(entry, table) for name, entry in item.value.items()})
        return item

    def _contents(self, item: YamlItem) -> YamlItem:
        """Add the seed of the point to random contents without a seed."""
        if item.value != "random" or _SEED not in self.names:
            return self._map(item, TABLES["Init"])
        self._used.add(_SEED)
        seed = YamlItem(self.names[_SEED], item.line, item.column, {})
        return replace(item, value={"random": seed}, key_places={"random": (item.line, item.column)})

    def _numbers(self, item: YamlItem, *, whole: bool) -> YamlItem:
        """Return the numbers of an item with expressions computed."""
        if isinstance(item.value, list):
            return replace(item, value=[self._numbers(entry, whole=whole) for entry in item.value])
        if not isinstance(item.value, str):
            return item
        try:
            formula = read_formula(item.value)
            self._used |= formula.names & set(self.names)
            value = number(formula, self.names)
        except FormulaError as error:
            self.add(rules.EXPRESSION, item, str(error))
            return item
        is_whole = whole and isinstance(value, float) and value.is_integer()
        return replace(item, value=int(value) if is_whole else value)


def _stands(axis: YamlItem, value: AxisValue) -> YamlItem:
    """Return the item of a value of an axis; the axis itself for another value."""
    entries = axis.value if isinstance(axis.value, list) else []
    return next((entry for entry in entries if entry.plain() == _plain(value)), axis)


def _words(text: str) -> set[str]:
    """Return the words of a text that may be names, even if the text is invalid."""
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
