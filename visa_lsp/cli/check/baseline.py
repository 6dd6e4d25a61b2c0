"""A baseline: findings that are known and not reported again, told by fingerprints that survive line moves.

The file is JSON, sorted, with paths relative to its folder. An equal finding more than it lists is a new one.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.cli.common import CliError, printable, reason
from visa_lsp.cli.files import write_output
from visa_lsp.reading import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.cli.check.report import FileResult, ReportedFinding

_VERSION: Final = 1
Baseline = Counter[tuple[str, str]]


def read_baseline(path: str) -> Baseline:
    """The known findings as counts of (path, fingerprint).

    Raises CliError where the file cannot be read or is no baseline of the known version.
    """
    import json

    try:
        value = json.loads(read_file(path, named=True).decode("utf-8"))
    except OSError as error:
        raise CliError(f"{path}: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise CliError(f"{path}: this is no baseline: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict) or value.get("version") != _VERSION or not isinstance(value.get("findings"), list):
        raise CliError(f"{path}: this is no baseline of version {_VERSION}")
    known: Baseline = Counter()
    for item in value["findings"]:
        if not (isinstance(item, dict) and {"path", "fingerprint"} <= item.keys()):
            raise CliError(f"{path}: a finding without path and fingerprint")
        known[str(item["path"]), str(item["fingerprint"])] += 1
    return known


def write_baseline(path: str, findings: Iterable[ReportedFinding], inputs: Iterable[str] = ()) -> int:
    """Write the findings as the new baseline, and tell how many they are; ``inputs`` are never written over."""
    import json

    items = [
        {
            "path": _relative(f.path, path),
            "code": f.code,
            "name": f.name,
            "fingerprint": f.fingerprint,
            "message": f.message,
        }
        for f in findings
    ]
    items.sort(key=lambda i: tuple(i.values()))
    text = json.dumps({"version": _VERSION, "tool": "visa-lsp", "findings": items}, indent=1) + "\n"
    write_output(path, text.encode(), inputs)
    return len(items)


def without_known(result: FileResult, known: Baseline, path: str) -> FileResult:
    """A file's result without the findings that the baseline of this path lists."""
    left = Counter(known)
    kept = []
    for finding in result.findings:
        key = _relative(finding.path, path), finding.fingerprint
        if left[key] > 0:
            left[key] -= 1
        else:
            kept.append(finding)
    return replace(result, findings=tuple(kept))


def _relative(path: str, baseline: str) -> str:
    if path.startswith("<"):
        return path
    folder = Path(baseline).absolute().parent
    try:
        return printable(Path(os.path.relpath(path, folder)).as_posix())
    except ValueError:  # another drive
        return printable(Path(path).absolute().as_posix())
