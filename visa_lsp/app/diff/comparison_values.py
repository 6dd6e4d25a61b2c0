"""A comparison as values for JSON: ``--format json`` and the server's command have the same keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from visa_lsp.app.errors import printable

if TYPE_CHECKING:
    from visa_lsp.app.diff.comparison import ProgramComparison
    from visa_lsp.compare.model import Difference, KernelDiff, Lines


def comparison_values(comparison: ProgramComparison) -> dict[str, Any]:
    """Return ``{"kernels": [...]}``; if folders were compared, each kernel names its two files in ``files``."""
    kernels = []
    for file in comparison.files:
        names = [printable(side.name) if side else None for side in (file.a, file.b)]
        files = {"files": names} if comparison.folders else {}
        kernels += [{**kernel_values(kernel), **files} for kernel in file.kernels]
    return {"kernels": kernels}


def kernel_values(diff: KernelDiff) -> dict[str, Any]:
    """Return one kernel; lines count from 1."""
    return {
        "name": printable(diff.name),
        "same": diff.same,
        "renamed": diff.renamed,
        "changes": [_change(change) for change in diff.changes],
    }


def _change(change: Difference) -> dict[str, Any]:
    said = {"kind": change.kind.value, "a": _lines(change.a), "b": _lines(change.b)}
    return {**said, "what": printable(change.what)}


def _lines(lines: Lines) -> list[int]:
    return [lines.first + 1, lines.last + 1]
