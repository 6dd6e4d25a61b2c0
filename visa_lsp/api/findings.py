"""Findings of the Python API, about a text and about a run, and the exceptions with findings.

Plain frozen values, converted from reports of the command line. Lines and columns count from 1. Loads no NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from visa_lsp.api import html

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.app.check.report import ReportedFinding
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.sim.faults import Fault


@dataclass(frozen=True, slots=True)
class TextFinding:
    """A finding about a text; the end column is exclusive.

    ``severity`` is ``error``, ``warning``, ``information`` or ``hint``, ``code`` and ``name`` are the rule's, ``excerpt``
    is the line.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    severity: str
    code: str
    name: str
    message: str
    excerpt: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.severity} {self.code} {self.name}: {self.message}"

    def cells(self) -> tuple[object, ...]:
        """Return the cells of its table row."""
        where = f"{self.path}:{self.line}:{self.column}"
        return where, self.severity, f"{self.code} {self.name}", self.message, self.excerpt.strip()


@dataclass(frozen=True, slots=True)
class RunFinding:
    """A finding about a run. ``severity`` is ``fault``, or ``note`` if it does not fail the run.

    ``kind`` is the family (``out-of-bounds``, ``data-race``); ``lane`` is None for the whole thread, ``line``
    without a text. ``place`` is ``path:line`` with the line itself in ``excerpt``; ``other`` names the other party,
    such as that of a race. ``text`` has all in one line.
    """

    kind: str
    severity: str
    message: str
    kernel: str
    group: tuple[int, int, int]
    thread: int
    lane: int | None
    instruction: int
    line: int | None
    place: str
    excerpt: str
    other: str
    text: str

    def __str__(self) -> str:
        return self.text

    def cells(self) -> tuple[object, ...]:
        """Return the cells of its table row."""
        who = f"group {self.group}, thread {self.thread}" + ("" if self.lane is None else f", lane {self.lane}")
        return self.place or self.kernel, self.severity, self.kind, f"{self.message} ({who})", self.excerpt


Found = TypeVar("Found", TextFinding, RunFinding)


class FindingList(list[Found]):
    """Findings in order: a list that notebooks show as a table."""

    def _repr_html_(self) -> str:
        if not self:
            return html.paragraph("no findings")
        return html.table(("where", "severity", "what", "message", "line"), (finding.cells() for finding in self))


class TextError(ValueError):
    """A text with errors; ``findings`` has them."""

    def __init__(self, message: str, findings: Iterable[TextFinding] = ()) -> None:
        super().__init__(message)
        self.findings = FindingList[TextFinding](findings)

    def _repr_html_(self) -> str:
        return self.findings._repr_html_() if self.findings else html.paragraph(self)


class ObjectError(ValueError):
    """Bytes that are not a readable object."""


def text_findings(reported: Iterable[ReportedFinding]) -> FindingList[TextFinding]:
    """Convert findings of a report to findings about texts."""
    return FindingList[TextFinding](
        TextFinding(
            finding.path,
            finding.place.line,
            finding.place.column,
            finding.place.end_line,
            finding.place.end_column,
            finding.severity.value,
            finding.code,
            finding.name,
            finding.message,
            finding.excerpt,
        )
        for finding in reported
    )


def run_findings(report: RunReport) -> FindingList[RunFinding]:
    """Return the faults of a run, then its notes."""
    return FindingList[RunFinding](_run_finding(report, fault) for fault in (*report.faults, *report.findings))


def _run_finding(report: RunReport, fault: Fault) -> RunFinding:
    place, excerpt = report.excerpt(fault)
    return RunFinding(
        fault.kind.value,
        "note" if fault.is_note else "fault",
        fault.message,
        fault.kernel,
        fault.group,
        fault.thread,
        fault.lane,
        fault.instruction,
        fault.line + 1 if fault.line >= 0 else None,
        place,
        excerpt,
        fault.other or "",
        str(fault),
    )
