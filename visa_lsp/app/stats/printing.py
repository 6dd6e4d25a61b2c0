"""Figures of kernels as text, a page for one and a table for several, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.stats.figures import KernelFigures, LiveVariable, Peak

_SHOWN_VARIABLES: Final = 16
_SHOWN_LINES: Final = 8
_HEAD: Final = ("kernel", "instructions", "sends", "blocks", "loops", "GRF rows", "at line", "flags", "input")


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
    code = f"{_counted(one.instructions, 'instruction')}, {one.sends} of them messages"
    held = ", ".join((_counted(one.blocks, "block"), _counted(one.loops, "loop"), _counted(one.variables, "variable")))
    yield f"  {code}; {held}"
    yield "  by family: " + (", ".join(f"{name} {count}" for name, count in one.by_family.items()) or "none")
    at = "" if one.pressure.line is None else f" at line {one.pressure.line}"
    yield (
        f"  needs up to {_counted(one.pressure.max, 'GRF row')} of {one.grf_bytes} bytes{at}, "
        f"{_counted(one.flags.max, 'flag')} of 16 bits, {_counted(one.addresses.max, 'address element')}"
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


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def table(kernels: Sequence[KernelFigures]) -> Iterator[str]:
    """Yield the lines of a table with a row for each kernel."""
    rows = [list(_HEAD)]
    rows += [
        [
            one.name, str(one.instructions), str(one.sends), str(one.blocks), str(one.loops), str(one.pressure.max),
            str(one.pressure.line or "-"), str(one.flags.max), one.path,
        ]
        for one in kernels
    ]  # fmt: skip
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    last = len(_HEAD) - 1
    for row in rows:
        cells = [
            cell if at == last else cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
