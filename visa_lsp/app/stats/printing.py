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
    rows: list[dict[str, Any]] = [dict(zip(_HEAD, map(printable, _cells(figures)), strict=True)) for figures in kernels]
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
    return {"kernels": [_kernel(figures) for figures in kernels]}


def _kernel(figures: KernelFigures) -> dict[str, Any]:
    return {
        "path": printable(figures.path),
        "name": printable(figures.name),
        "grf_bytes": figures.grf_bytes,
        "instructions": figures.instructions,
        "variables": figures.variables,
        "blocks": figures.blocks,
        "loops": figures.loops,
        "pressure": _peak(figures.pressure),
        "flags": _peak(figures.flags),
        "addresses": _peak(figures.addresses),
        "lines": [
            {"line": line.line, "pressure": line.pressure, "loop_depth": line.loop_depth} for line in figures.lines
        ],
        "sends": figures.sends,
        "by_family": figures.by_family,
        **({} if figures.lives is None else {"lives": [_live(variable) for variable in figures.lives]}),
    }


def _live(variable: LiveVariable) -> dict[str, Any]:
    aliases = [printable(name) for name in variable.aliases]
    return {"name": printable(variable.name), "aliases": aliases, "takes": variable.rows, "runs": variable.runs}


def _peak(peak: Peak) -> dict[str, Any]:
    return {
        "max": peak.max,
        "line": peak.line,
        "variables": [printable(v.name) for v in peak.variables],
        "live": [
            {"name": printable(v.name), "takes": v.rows, "first": v.first_line, "last": v.last_line}
            for v in peak.variables
        ],
    }


def page(figures: KernelFigures) -> Iterator[str]:
    """Yield the lines of the page of one kernel."""
    yield f"{figures.path}: '{figures.name}'"
    code = f"{_count_words(figures.instructions, 'instruction')}, {figures.sends} of them messages"
    counts = ", ".join(
        (
            _count_words(figures.blocks, "block"),
            _count_words(figures.loops, "loop"),
            _count_words(figures.variables, "variable"),
        )
    )
    yield f"  {code}; {counts}"
    yield "  by family: " + (", ".join(f"{name} {count}" for name, count in figures.by_family.items()) or "none")
    where = "" if figures.pressure.line is None else f" at line {figures.pressure.line}"
    yield (
        f"  needs up to {_count_words(figures.pressure.max, 'GRF row')} of {figures.grf_bytes} bytes{where}, "
        f"{_count_words(figures.flags.max, 'flag')} of 16 bits, {_count_words(figures.addresses.max, 'address element')}"
    )
    variables = figures.pressure.variables
    for variable in variables[:_SHOWN_VARIABLES]:
        lines = "" if variable.first_line is None else f"   lines {variable.first_line} to {variable.last_line}"
        yield f"    {variable.name:<16} {variable.rows:>7.3g}{lines}"
    if len(variables) > _SHOWN_VARIABLES:
        rest = sum(variable.rows for variable in variables[_SHOWN_VARIABLES:])
        yield f"    and {len(variables) - _SHOWN_VARIABLES} more {rest:>7.3g}"
    deep = sorted(figures.lines, key=lambda line: (-line.loop_depth, -line.pressure, line.line))[:_SHOWN_LINES]
    if deep and deep[0].loop_depth:
        yield "  heaviest lines of the innermost loops: " + ", ".join(
            f"{line.line} ({line.pressure} rows, depth {line.loop_depth})" for line in deep if line.loop_depth
        )


def _count_words(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def table(kernels: Sequence[KernelFigures]) -> Iterator[str]:
    """Yield the lines of a table with a row for each kernel."""
    yield from align([_HEAD, *(_cells(figures) for figures in kernels)])


def _cells(figures: KernelFigures) -> list[str]:
    return [
        figures.name, str(figures.instructions), str(figures.sends), str(figures.blocks), str(figures.loops),
        str(figures.pressure.max), str(figures.pressure.line or "-"), str(figures.flags.max), figures.path,
    ]  # fmt: skip


def align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table: first and last column to the left, the others to the right."""
    rows = [[printable(cell) for cell in row] for row in rows]
    last = len(rows[0]) - 1
    widths = [max(len(row[column]) for row in rows) for column in range(last + 1)]
    for row in rows:
        cells = [
            cell if index == last else cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def dump_json(dump: DumpFigures) -> dict[str, Any]:
    """Return the figures of a dump as in JSON and CSV."""
    return {key: printable(value) if isinstance(value, str) else value for key, value in asdict(dump).items()}


def dump_summary(dump: DumpFigures) -> str:
    """Return the figures of a dump as a line of words."""
    spill = "no spill"
    if dump.spill_bytes:
        spill = f"{dump.spill_bytes} bytes spilled by {_count_words(dump.spills, 'message')}, filled by {dump.fills}"
    parts = (
        f"{dump.name} on {dump.platform or 'an unknown platform'}: {_count_words(dump.instructions, 'instruction')}",
        f"SIMD{dump.simd}",
        f"{dump.grf} GRF" if dump.grf is not None else "",
        spill,
        f"{dump.private_bytes} bytes of private memory" if dump.private_bytes else "",
        _count_words(dump.sends, "send"),
        _count_words(dump.syncs, "sync"),
        f"{dump.dpas} dpas" if dump.dpas else "",
        _count_words(dump.bank_conflicts, "bank conflict") if dump.bank_conflicts else "",
        dump.allocation,
    )
    return ", ".join(part for part in parts if part)


def dump_table(dumps: Sequence[DumpFigures]) -> Iterator[str]:
    """Yield the lines of a table with a row for each dump."""
    yield from align([_DUMP_HEAD, *(_dump_cells(dump) for dump in dumps)])


def _dump_cells(dump: DumpFigures) -> list[str]:
    figures = (
        dump.instructions, dump.simd, dump.grf, dump.spill_bytes, dump.spills, dump.fills, dump.private_bytes, dump.sends,
        dump.syncs, dump.dpas, dump.bank_conflicts,
    )  # fmt: skip
    words = (dump.platform, dump.allocation, dump.path)
    return [dump.name, *("-" if value is None else str(value) for value in figures), *words]
