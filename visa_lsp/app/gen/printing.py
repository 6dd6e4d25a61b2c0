"""Machine code as text and as JSON. Runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from visa_lsp.app.errors import printable
from visa_lsp.app.gen.allocation import Spills, added_copies
from visa_lsp.text import lines_of
from visa_lsp.toolchain.listing import count_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.app.check.report import ReportedFinding
    from visa_lsp.app.gen.gen_document import GenDocument
    from visa_lsp.toolchain.finalize import FinalizedKernel, GenUnderLine
    from visa_lsp.toolchain.listing import GenLine, GenListing, Issue

_INDENT = " " * 12


def as_json(document: GenDocument) -> dict[str, Any]:
    """Return the JSON object of one input: lines from 1, Gen instructions as written by the finalizer; ``findings`` if any."""
    value: dict[str, Any] = {
        "platform": document.source.platform,
        "tool": document.tool,
        "kernels": [_kernel(kernel) for kernel in document.result.kernels],
    }
    findings = [*findings_json(document.errors, "visa-lsp"), *findings_json(document.findings, "finalizer")]
    if findings:
        value["findings"] = findings
    return value


def findings_json(findings: Iterable[ReportedFinding], who: str) -> list[dict[str, Any]]:
    """Return the findings of the program ``who`` with the keys of ``check --format json``."""
    return [
        {
            "path": printable(f.path), "line": f.place.line, "column": f.place.column, "end_line": f.place.end_line,
            "end_column": f.place.end_column, "severity": f.severity.value, "code": f.code, "name": f.name,
            "source": who, "message": f.message,
        }
        for f in findings
    ]  # fmt: skip


def _kernel(kernel: FinalizedKernel) -> dict[str, Any]:
    listing = kernel.listing
    places = [line for _, line in kernel.place_lines()]
    value: dict[str, Any] = {
        "name": printable(kernel.body.name),
        "gen_instructions": listing.instructions,
        "spill_bytes": listing.spill_bytes,
        "bank_conflicts": listing.bank_conflicts,
        "max_pressure": kernel.max_pressure,
        "registers": listing.registers,
        "lines": [
            {"line": under.line + 1, "pressure": under.pressure, "gen": [line.text for line in under.instructions]}
            for under in kernel.lines
        ],
    }
    if kernel.schedule:
        for line, under in zip(value["lines"], kernel.lines, strict=True):
            line["cycles"], line["stall"] = cycles_of(under)
            line["issue"] = [_issue(gen.issue, places) for gen in under.instructions]
        value["schedule"] = [
            {
                "block": row.block, "cycle": row.cycle, "cycles": row.busy, "stall": row.stall, "instruction": row.text,
                "line": None if row.gen is None else places[row.gen] + 1,
            }
            for row in kernel.schedule
        ]  # fmt: skip
    return value


def _issue(issue: Issue | None, places: list[int]) -> dict[str, Any] | None:
    if issue is None:
        return None
    return {
        "block": issue.block, "cycle": issue.cycle, "cycles": issue.busy, "stall": issue.stall,
        "waits_for": None if issue.waits_for is None else places[issue.waits_for] + 1,
    }  # fmt: skip


def cycles_of(under: GenUnderLine) -> tuple[int, int]:
    """Return the cycles of a line by the finalizer's schedule, waiting included, and the cycles of waiting."""
    issues = [gen.issue for gen in under.gen if gen.issue is not None]
    stall = sum(issue.stall for issue in issues)
    return stall + sum(issue.busy for issue in issues), stall


def figures(kernel: FinalizedKernel) -> str:
    """Return the figures of a kernel in a line: ``24 Gen instructions, 37 of 128 GRF, no spill``; unknown ones are omitted."""
    words = figures_of(kernel.listing, kernel.max_pressure)
    counts = count_code(kernel.listing.lines)
    if counts.spills or counts.fills:
        words += f", {Spills(counts.spills, counts.fills)}"
    if copies := added_copies(kernel):
        words += f", {copies} cop{'ies' if copies != 1 else 'y'} between registers added"
    if not kernel.schedule:
        return words
    stall = sum(row.stall for row in kernel.schedule)
    cycles = stall + sum(row.busy for row in kernel.schedule)
    return f"{words}, scheduled for {cycles} cycles, {stall} of them stalls"


def figures_of(listing: GenListing, pressure: int | None = None) -> str:
    """Return the figures of a listing, of the finalizer or the compiler."""
    words = [f"{listing.instructions} Gen instruction{'s' * (listing.instructions != 1)}"]
    if listing.grf_used is not None:
        words.append(f"{listing.grf_used}{f' of {listing.grf_total}' if listing.grf_total else ''} GRF")
    words.append(f"{listing.spill_bytes} bytes spilled" if listing.spill_bytes else "no spill")
    if listing.bank_conflicts is not None:
        words.append(f"{listing.bank_conflicts} bank conflict{'s' * (listing.bank_conflicts != 1)}")
    if pressure is not None:
        words.append(f"pressure {pressure}")
    return ", ".join(words)


def as_text(document: GenDocument) -> Iterator[str]:
    """Yield each line of the text with its number and pressure, followed by its Gen lines."""
    source = document.source
    lines = lines_of(source.text)
    for kernel in document.result.kernels:
        kind = "kernel" if kernel.body.is_kernel else "function"
        yield f"{kind} {printable(kernel.body.name)} on {source.platform}: {figures(kernel)}"
        places = [line for _, line in kernel.place_lines()] if kernel.schedule else []
        if kernel.schedule:
            yield f"{'line':>6} {'live':>4} {'cycles':>6} {'stall':>5}; of Gen lines: issue cycle in the block, stall, line waited for"
        for under in kernel.lines:
            pressure = "" if under.pressure is None else str(under.pressure)
            sums = "{:>6} {:>5} ".format(*cycles_of(under)) if kernel.schedule else ""
            yield f"{under.line + 1:>6} {pressure:>4} {sums}{printable(lines[under.line].strip())}"
            yield from (
                f"{_issue_cells(line, places) if kernel.schedule else _INDENT}{line.text}" for line in under.gen
            )
        yield ""


def _issue_cells(line: GenLine, places: list[int]) -> str:
    """Return the cells before a Gen line: issue cycle, stall, and the line of the text that it waits for."""
    issue = line.issue
    if issue is None:
        return " " * 26
    cycle = "" if issue.cycle is None else str(issue.cycle)
    waits = "" if issue.waits_for is None else f"<{places[issue.waits_for] + 1}"
    return f"{cycle:>12} {issue.stall or '':>5} {waits:>6} "
