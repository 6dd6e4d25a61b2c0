"""The baseline of ``check``: known findings that are not reported again, identified by fingerprints that survive line moves.

The file is sorted JSON with paths relative to its folder. It lists equal findings with their number; more of them are new.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.app.baselines import read_items, relative, write_items
from visa_lsp.app.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.app.check.report import FileResult, ReportedFinding

_KEY: Final = "findings"
Baseline = Counter[tuple[str, str]]


def read_baseline(path: str) -> Baseline:
    """Return the known findings as counts of (path, fingerprint).

    Raises UserError if the file cannot be read or is not a baseline of this version.
    """
    counts: Baseline = Counter()
    for item in read_items(path, _KEY):
        if not {"path", "fingerprint"} <= item.keys():
            raise UserError(f"{path}: expected path and fingerprint of each finding")
        counts[str(item["path"]), str(item["fingerprint"])] += 1
    return counts


def write_baseline(path: str, findings: Iterable[ReportedFinding], inputs: Iterable[str] = ()) -> int:
    """Write the findings as the new baseline and return their number. Raises UserError if ``path`` is one of ``inputs``."""
    items = [
        {
            "path": relative(f.path, path),
            "code": f.code,
            "name": f.name,
            "fingerprint": f.fingerprint,
            "message": f.message,
        }
        for f in findings
    ]
    write_items(path, _KEY, items, inputs)
    return len(items)


def without_known(result: FileResult, baseline: Baseline, path: str) -> FileResult:
    """Return the result of a file without the findings in the baseline."""
    left = Counter(baseline)
    kept = []
    for finding in result.findings:
        key = relative(finding.path, path), finding.fingerprint
        if left[key] > 0:
            left[key] -= 1
        else:
            kept.append(finding)
    return replace(result, findings=tuple(kept))
