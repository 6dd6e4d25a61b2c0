"""Figures of kernels as text, a page for one and a table for several, and as JSON."""

from __future__ import annotations

from csv import DictWriter
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import asdict

from visa_lsp.app.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.stats.dumps import DumpFigures
    from visa_lsp.app.stats.figures import KernelFigures, LiveVariable, Peak

_SHOWN_VARIABLES: Final = 16
_SHOWN_LINES: Final = 8
_DUMP_HEAD: Final = (
    "kernel", "instructions", "SIMD", "GRF", "spill bytes", "spills", "fills", "private bytes", "sends", "syncs", "dpas",
    "bank conflicts", "platform", "allocation", "dump",
)  # fmt: skip
_HEAD: Final = ("kernel", "instructions", "sends", "blocks", "loops", "GRF rows", "at line", "flags", "input")


def csv_of(kernels: Sequence[KernelFigures], dumps: Sequence[DumpFigures]) -> str:
    """Return the rows of ``--format csv``, with the columns of kernels, of dumps, or of both if there are both."""
    rows: list[dict[str, Any]] = [dict(zip(_HEAD, map(printable, _cells(one)), strict=True)) for one in kernels]
    return csv_text([*rows, *map(dump_json, dumps)])


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as CSV; the columns are those of all rows, in order."""
    out = StringIO()
    writer = DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_json(kernels: Sequence[KernelFigures]) -> dict[str, Any]:
    """Return the document of ``--format json``."""
    return {"kernels": [_kernel(one) for one in kernels]}


def _kernel(one: KernelFigures) -> dict[str, Any]:
    return {
        "path": printable(one.path),
        "name": printable(one.name),
        "grf_bytes": one.grf_bytes,
        "instructions": one.instructions,
        "variables": one.variables,
        "blocks": one.blocks,
        "loops": one.loops,
        "pressure": _peak(one.pressure),
        "flags": _peak(one.flags),
        "addresses": _peak(one.addresses),
        "lines": [{"line": line.line, "pressure": line.pressure, "loop_depth": line.loop_depth} for line in one.lines],
        "sends": one.sends,
        "by_family": one.by_family,
        **({} if one.lives is None else {"lives": [_live(variable) for variable in one.lives]}),
    }


def _live(one: LiveVariable) -> dict[str, Any]:
    aliases = [printable(name) for name in one.aliases]
    return {"name": printable(one.name), "aliases": aliases, "takes": one.rows, "runs": one.runs}


def _peak(peak: Peak) -> dict[str, Any]:
    return {
        "max": peak.max,
        "line": peak.line,
        "variables": [printable(v.name) for v in peak.variables],
        "live": [
            {"name": printable(v.name), "takes": v.rows, "first": v.first, "last": v.last} for v in peak.variables
        ],
    }


def page(one: KernelFigures) -> Iterator[str]:
    """Yield the lines of the page of one kernel."""
    yield f"{one.path}: '{one.name}'"
    code = f"{_count_words(one.instructions, 'instruction')}, {one.sends} of them messages"
    held = ", ".join(
        (_count_words(one.blocks, "block"), _count_words(one.loops, "loop"), _count_words(one.variables, "variable"))
    )
    yield f"  {code}; {held}"
    yield "  by family: " + (", ".join(f"{name} {count}" for name, count in one.by_family.items()) or "none")
    at = "" if one.pressure.line is None else f" at line {one.pressure.line}"
    yield (
        f"  needs up to {_count_words(one.pressure.max, 'GRF row')} of {one.grf_bytes} bytes{at}, "
        f"{_count_words(one.flags.max, 'flag')} of 16 bits, {_count_words(one.addresses.max, 'address element')}"
    )
    variables = one.pressure.variables
    for variable in variables[:_SHOWN_VARIABLES]:
        lines = "" if variable.first is None else f"   lines {variable.first} to {variable.last}"
        yield f"    {variable.name:<16} {variable.rows:>7.3g}{lines}"
    if len(variables) > _SHOWN_VARIABLES:
        rest = sum(variable.rows for variable in variables[_SHOWN_VARIABLES:])
        yield f"    and {len(variables) - _SHOWN_VARIABLES} more {rest:>7.3g}"
    deep = sorted(one.lines, key=lambda line: (-line.loop_depth, -line.pressure, line.line))[:_SHOWN_LINES]
    if deep and deep[0].loop_depth:
        yield "  heaviest lines of the innermost loops: " + ", ".join(
            f"{line.line} ({line.pressure} rows, depth {line.loop_depth})" for line in deep if line.loop_depth
        )


def _count_words(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def table(kernels: Sequence[KernelFigures]) -> Iterator[str]:
    """Yield the lines of a table with a row for each kernel."""
    yield from align([_HEAD, *(_cells(one) for one in kernels)])


def _cells(one: KernelFigures) -> list[str]:
    return [
        one.name, str(one.instructions), str(one.sends), str(one.blocks), str(one.loops), str(one.pressure.max),
        str(one.pressure.line or "-"), str(one.flags.max), one.path,
    ]  # fmt: skip


def align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table: first and last column to the left, the others to the right."""
    rows = [[printable(cell) for cell in row] for row in rows]
    last = len(rows[0]) - 1
    widths = [max(len(row[column]) for row in rows) for column in range(last + 1)]
    for row in rows:
        cells = [
            cell if at == last else cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def dump_json(one: DumpFigures) -> dict[str, Any]:
    """Return the figures of a dump as in JSON and CSV."""
    return {key: printable(value) if isinstance(value, str) else value for key, value in asdict(one).items()}


def dump_summary(one: DumpFigures) -> str:
    """Return the figures of a dump as a line of words."""
    spill = "no spill"
    if one.spill_bytes:
        spill = f"{one.spill_bytes} bytes spilled by {_count_words(one.spills, 'message')}, filled by {one.fills}"
    parts = (
        f"{one.name} on {one.platform or 'an unknown platform'}: {_count_words(one.instructions, 'instruction')}",
        f"SIMD{one.simd}",
        f"{one.grf} GRF" if one.grf is not None else "",
        spill,
        f"{one.private_bytes} bytes of private memory" if one.private_bytes else "",
        _count_words(one.sends, "send"),
        _count_words(one.syncs, "sync"),
        f"{one.dpas} dpas" if one.dpas else "",
        _count_words(one.bank_conflicts, "bank conflict") if one.bank_conflicts else "",
        one.allocation,
    )
    return ", ".join(part for part in parts if part)


def dump_table(dumps: Sequence[DumpFigures]) -> Iterator[str]:
    """Yield the lines of a table with a row for each dump."""
    yield from align([_DUMP_HEAD, *(_dump_cells(one) for one in dumps)])


def _dump_cells(one: DumpFigures) -> list[str]:
    figures = (
        one.instructions, one.simd, one.grf, one.spill_bytes, one.spills, one.fills, one.private_bytes, one.sends, one.syncs,
        one.dpas, one.bank_conflicts,
    )  # fmt: skip
    words = (one.platform, one.allocation, one.path)
    return [one.name, *("-" if value is None else str(value) for value in figures), *words]
