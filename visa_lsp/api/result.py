"""The result of a launch: arrays, findings, counts and times, with HTML for notebooks.

A view of the report that ``visa-lsp run`` prints. Invariant: an array that was passed is returned as the same object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from visa_lsp.api import html
from visa_lsp.api.findings import FindingList, RunFinding, run_findings
from visa_lsp.app.launch.expectation_words import numbers
from visa_lsp.app.launch.printing import Outcome, report_values, text_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.app.launch.report import ExpectationReport, RunReport, RunTime
    from visa_lsp.sim.launch.config import Array

_HEAD = 8


class LaunchResult:
    """The result of one launch.

    ``result[key]`` is the array of a buffer or image argument, by index or by name. ``str(result)`` is the report that
    ``visa-lsp run`` prints, and ``to_dict`` the one of its ``--format json``.
    """

    def __init__(self, report: RunReport, given: Mapping[int | str, Array]) -> None:
        self._report = report
        self.args: dict[int | str, Array] = {
            buffer.arg: given.get(buffer.arg, buffer.array) for buffer in report.buffers
        }
        """The arrays of buffer and image arguments, by index or name as they were given; the caller's own where they are."""
        self.findings: FindingList[RunFinding] = run_findings(report)
        """Faults and notes, faults first."""
        self.faults = FindingList[RunFinding](finding for finding in self.findings if finding.severity == "fault")
        """The findings except notes."""
        self.ok: bool = report.ok
        """True if there is no fault and every expectation of the launch file holds."""
        self.kernel: str = report.kernel
        """The name of the kernel."""
        self.platform: str = report.platform
        """The name of the platform."""
        self.engine: str = report.engine
        """The engine that ran the kernel: ``jit`` or ``interp``."""
        self.groups: int = report.result.groups
        """The number of groups."""
        self.threads: int = report.result.threads
        """The number of threads."""
        self.instructions: int = report.instructions
        """The number of executed instructions of all threads."""
        self.opcodes: Mapping[str, int] = report.result.instructions
        """The number of executed instructions by mnemonic."""
        self.barriers: int = report.result.barriers
        """The number of arrivals of threads at barriers."""
        self.bytes_read: int = report.result.reads
        """The number of bytes that messages read."""
        self.bytes_written: int = report.result.writes
        """The number of bytes that messages wrote."""
        self.printed: str = report.printed
        """The printed output of the kernel."""
        self.notes: tuple[str, ...] = report.notes
        """Remarks about the run that are not findings, a sentence each."""
        self.time: RunTime = report.time
        """Wall seconds: ``load``, ``compile``, and ``run`` with one number for each repetition."""
        self.replayed_groups: int = report.result.replayed_groups
        """The number of groups that the interpreter ran again because a check stopped compiled code."""
        self.expectations: tuple[ExpectationReport, ...] = report.expectations
        """The expectations of the launch file: ``arg``, ``ok``, ``message``."""

    def __getitem__(self, key: int | str) -> Array:
        if key in self.args:
            return self.args[key]
        named = next((buffer.arg for buffer in self._report.buffers if buffer.name and buffer.name == key), None)
        if named is None:
            titles = ", ".join(
                str(buffer.arg) + (f" ({buffer.name})" if buffer.name else "") for buffer in self._report.buffers
            )
            raise KeyError(f"unknown buffer argument {key!r}; known: {titles or 'none'}")
        return self.args[named]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, with the keys of ``visa-lsp run --format json``."""
        return report_values(self._report)

    def __str__(self) -> str:
        return "\n".join(text_lines(Outcome("launch", self._report)))

    def __repr__(self) -> str:
        return f"<{self._words()}>"

    def _words(self) -> str:
        faults = len(self.faults)
        verdict = "ok" if self.ok else f"FAILED, {faults} fault{'' if faults == 1 else 's'}"
        return f"{self.kernel} on {self.platform}, {self.engine}: {self.groups} groups, {self.instructions} instructions, {verdict}"

    def _repr_html_(self) -> str:
        rows = []
        for buffer in self._report.buffers:
            array = buffer.array
            shape = "x".join(str(n) for n in array.shape)
            head = ", ".join(str(value) for value in numbers(array, _HEAD)) + (", ..." if array.size > _HEAD else "")
            rows.append((buffer.title, array.dtype.name, shape, "written" if buffer.written else "", head))
        parts = [html.paragraph(self._words()), html.table(("argument", "type", "shape", "", "values"), rows)]
        parts += [html.paragraph(f"argument {e.arg}: {e.message}") for e in self.expectations]
        if self.findings:
            parts.append(self.findings._repr_html_())
        parts += [html.paragraph(f"note: {note}") for note in self.notes]
        if self.printed:
            parts.append(html.verbatim(self.printed))
        return "".join(parts)
