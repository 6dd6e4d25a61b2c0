"""The rows of a sweep as lines, as JSON and as tables for other programs (CSV, JSON, Parquet).

Runs nothing and writes no file. Invariant: every form has the same rows in the same order.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.expectation_words import finite
from visa_lsp.app.launch.printing import duration
from visa_lsp.launchfile.values import Sweep, value_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from visa_lsp.app.launch.sweep import SweepRow

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
_SECONDS: Final = 9  # characters of the column with the time


def head_line(sweep: Sweep) -> str:
    """Return the line above the rows."""
    return f"  {_axes_line(sweep, [axis.name for axis in sweep.axes])}  status  engine  {'time':>{_SECONDS}}  first difference"


def row_line(sweep: Sweep, row: SweepRow) -> str:
    """Return one row."""
    axes = _axes_line(sweep, [value_words(value) for _, value in row.point])
    time = duration(row.seconds) if row.engine else ""
    return f"  {axes}  {row.status:<6}  {row.engine:<6}  {time:>{_SECONDS}}  {row.difference}".rstrip()


def _axes_line(sweep: Sweep, words: Iterable[str]) -> str:
    """Return a word for each axis, in columns as wide as the longest value."""
    widths = [max(len(axis.name), *(len(value_words(value)) for value in axis.values)) for axis in sweep.axes]
    return "  ".join(f"{word:<{width}}" for word, width in zip(words, widths, strict=True))


def summary(rows: Sequence[SweepRow]) -> str:
    """Return the line below the rows."""
    failed = sum(row.exit != 0 for row in rows)
    return f"{len(rows)} points: {len(rows) - failed} passed, {failed} failed"


def row_values(row: SweepRow) -> dict[str, Any]:
    """Return one row as a JSON object."""
    point = {name: _json(value) for name, value in row.point}
    return {**asdict(row), "point": point, "ok": row.exit == 0}


def sweep_values(name: str, sweep: Sweep, rows: Sequence[SweepRow]) -> dict[str, Any]:
    """Return the whole sweep as a JSON object."""
    failed = sum(row.exit != 0 for row in rows)
    return {
        "launch": name,
        "axes": {axis.name: [_json(value) for value in axis.values] for axis in sweep.axes},
        "points": [row_values(row) for row in rows],
        "passed": len(rows) - failed,
        "failed": failed,
        "ok": not failed,
    }


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else finite(value)


# ---- tables


def refuse_table(path: str) -> None:
    """Raise UserError if the suffix names no table format or pyarrow is missing."""
    suffix = path.rpartition(".")[2].lower() if "." in path else ""
    if suffix not in _TABLES:
        raise UserError(
            f"--table {path}: expected a file name ending in {', '.join(f'.{ending}' for ending in _TABLES)}"
        )
    if suffix == "parquet":
        from importlib.util import find_spec

        if find_spec("pyarrow") is None:
            raise UserError(f"--table {path}: Parquet needs pyarrow: pip install pyarrow; .csv and .json do not")


def table_bytes(path: str, sweep: Sweep, rows: Sequence[SweepRow]) -> bytes:
    """Return the rows as CSV, JSON or Parquet by the suffix, with a column for each axis and each result."""
    columns = _columns(sweep, rows)
    return _TABLES[path.rpartition(".")[2].lower()](columns, rows)


_RESULTS: Final = (
    "status", "ok", "kernel", "platform", "engine", "seconds", "groups", "threads", "instructions", "difference",
)  # fmt: skip


def _columns(sweep: Sweep, rows: Sequence[SweepRow]) -> dict[str, list[Any]]:
    """Return each column with a value for every row; an axis named like a result becomes ``axis.NAME``."""
    columns: dict[str, list[Any]] = {}
    for index, axis in enumerate(sweep.axes):
        name = f"axis.{axis.name}" if axis.name in _RESULTS else axis.name
        values = [row.point[index][1] for row in rows]
        columns[name] = values if all(map(_is_number, values)) else [value_words(value) for value in values]
    results_by_row = [row_values(row) for row in rows]
    return columns | {name: [row[name] for row in results_by_row] for name in _RESULTS}


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and -(1 << 63) <= value < 1 << 63)


def _csv(columns: dict[str, list[Any]], _: Sequence[SweepRow]) -> bytes:
    import csv
    from io import StringIO

    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    writer.writerows(map(_cell, row) for row in zip(*columns.values(), strict=True))
    return out.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    """Return a cell that spreadsheets do not interpret as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


def _json_table(_: dict[str, list[Any]], rows: Sequence[SweepRow]) -> bytes:
    text = json.dumps([row_values(row) for row in rows], indent=2, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "replace")


def _parquet(columns: dict[str, list[Any]], _: Sequence[SweepRow]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), out)
    return bytes(out.getvalue())


_TABLES: Final[dict[str, Callable[[dict[str, list[Any]], Sequence[SweepRow]], bytes]]] = {
    "csv": _csv, "json": _json_table, "parquet": _parquet,
}  # fmt: skip
