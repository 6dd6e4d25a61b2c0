"""Finds all mistakes in a launch file for ``check`` and editors: in itself, in the files that it names, and against its kernel.

A run uses the same reader, and compares the file with the loaded kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from visa_lsp.diagnostics import Diagnostic, has_errors
from visa_lsp.launchfile.checks import Checks
from visa_lsp.launchfile.kernel import MeantKernel, find_kernel
from visa_lsp.launchfile.kernel_checks import compare
from visa_lsp.launchfile.read_launch import read_launch
from visa_lsp.launchfile.sweep import SweptSource, at_point
from visa_lsp.launchfile.values import LaunchText, point_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.zeinfo.source import YamlSource

_MAX_POINTS: Final = 64  # checked points of a sweep: 40 ms for a file of a thousand characters
_MAX_READ_CHARS: Final = 300_000  # over all points


class JudgedLaunch(Struct, frozen=True):
    """A launch file as far as it is valid, its kernel, and the findings in text order."""

    launch: LaunchText
    meant: MeantKernel
    diagnostics: tuple[Diagnostic, ...]


def judge(source: YamlSource, folder: LaunchFolder | None) -> JudgedLaunch:
    """Check a launch file; without a folder only the text. Never raises.

    A sweep is checked at its first point, and at points that differ from it in one value, as many as are affordable while
    the user types.
    """
    swept = at_point(source)
    judged = _judge_point(swept, folder)
    if swept.sweep is None or has_errors(swept.findings):
        return judged
    findings = {(d.span, d.code): d for d in judged.diagnostics}
    most = min(_MAX_POINTS, max(4, _MAX_READ_CHARS // len(source.text)))
    for point in swept.sweep.one_at_a_time(most):
        for d in _judge_point(at_point(source, point), folder).diagnostics:
            findings.setdefault((d.span, d.code), structs.replace(d, message=f"{d.message}; with {point_words(point)}"))
    return structs.replace(judged, diagnostics=_in_order(findings.values()))


def _judge_point(swept: SweptSource, folder: LaunchFolder | None) -> JudgedLaunch:
    """Check a launch file at one point of its sweep."""
    if has_errors(swept.findings):
        return JudgedLaunch(LaunchText(), MeantKernel(), swept.findings)
    launch, findings = read_launch(swept.source, folder)
    findings = (*swept.findings, *findings)
    if folder is None:
        return JudgedLaunch(launch, MeantKernel(), _in_order(findings))
    meant = find_kernel(launch, folder)
    checks = Checks(swept.source, folder)
    compare(checks, launch, meant)
    return JudgedLaunch(launch, meant, _in_order((*findings, *checks.findings)))


def _in_order(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(findings, key=lambda d: (d.span, d.code)))
