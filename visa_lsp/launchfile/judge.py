"""All that is wrong in a launch file, for ``check`` and editors: by itself, by the files that it names, by its kernel.

A run reads the file by the same reader, and compares it with the kernel that it has at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from visa_lsp.launchfile.against import compare
from visa_lsp.launchfile.checks import Checks
from visa_lsp.launchfile.kernel import MeantKernel, meant_kernel
from visa_lsp.launchfile.read import read_launch

if TYPE_CHECKING:
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.launchfile.values import LaunchText
    from visa_lsp.zeinfo.source import YamlSource


class JudgedLaunch(Struct, frozen=True):
    """A launch file as far as it can be read, the kernel that it means, and the findings in text order."""

    launch: LaunchText
    meant: MeantKernel
    diagnostics: tuple[Diagnostic, ...]


def judge(source: YamlSource, folder: LaunchFolder | None) -> JudgedLaunch:
    """Judge a launch file; without a folder only by itself. Never raises."""
    launch, found = read_launch(source, folder)
    if folder is None:
        return JudgedLaunch(launch, MeantKernel(), found)
    meant = meant_kernel(launch, folder)
    checks = Checks(source, folder)
    compare(checks, launch, meant)
    return JudgedLaunch(launch, meant, tuple(sorted([*found, *checks.found], key=lambda d: (d.span, d.code))))
