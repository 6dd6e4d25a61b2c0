"""The cache of verdicts on disk: a text that has not changed since another run is not checked again.

The key of a verdict (``verdict.key_of``) covers the text and the settings; the mark of a cache file covers all code. So
a verdict does not depend on the folders of the text and of the package. Invariant: a verdict is what checking would
find; damaged entries are ignored.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.check.report import RelatedExcerpt, Remedy, ReportedFinding, TextRange
from visa_lsp.app.check.verdict import Task, Verdict, key_of, source_of
from visa_lsp.app.errors import UserError
from visa_lsp.build_id import digest
from visa_lsp.diagnostics import Severity  # noqa: TC001 - the type of a field that is read from JSON
from visa_lsp.disk_cache import Kept, folder_of_user, installation
from visa_lsp.safe_io import is_regular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.diagnostics import Rule

_SHARES: Final = "0123456789abcdef"  # one file per first digit of a key
_MAX_CACHE_FILE_BYTES: Final = 4 << 20  # a file is read whole even for a text of a few lines
_MAX_FINDINGS: Final = 2_000  # findings of a text that are worth keeping


class _Finding(Struct, frozen=True, array_like=True):
    """A finding without the parts that can be restored: its path, its number, and its rule except the code."""

    code: str
    place: TextRange
    severity: Severity
    message: str
    excerpt: str
    fingerprint: str
    remedies: tuple[Remedy, ...]
    notes: tuple[RelatedExcerpt, ...]


class KeptVerdicts:
    """The verdicts in a folder. ``asked`` and ``hits`` count the lookups and what they gave."""

    def __init__(self, folder: Path, name: str) -> None:
        mark = f"visa-lsp checked {sys.version_info[:3]} {digest()}"
        self._kept = {digit: Kept(folder / f"{name}-{digit}", mark, _MAX_CACHE_FILE_BYTES) for digit in _SHARES}
        self.asked = 0
        self.hits = 0

    def find_verdicts(self, tasks: Sequence[Task]) -> dict[int, Verdict]:
        """Return the cached verdicts by the numbers of their tasks."""
        verdicts = {}
        for number, task in enumerate(tasks):
            verdict = self._verdict(task)
            if verdict is not None:
                verdicts[number] = verdict
        self.asked += len(tasks)
        self.hits += len(verdicts)
        return verdicts

    def _verdict(self, task: Task) -> Verdict | None:
        # A pipe is not read here because it can be opened only once, by the check itself.
        if task.source is None and not is_regular(task.path):
            return None
        try:
            source = source_of(replace(task, named=False))
        except UserError:
            return None
        key = key_of(task, source.text)
        findings = self._findings(key, task.name) if key else None
        if findings is None:
            return None
        if not task.fix:
            return Verdict(findings, key=key)
        shown = [f for f in findings if task.selection.shows(f.rule, task.name)]
        if any((r.safe or task.unsafe) and r.edits for f in shown for r in f.remedies):
            return None
        return Verdict(findings, key=key, before=source, after=source.text)

    def _findings(self, key: str, path: str) -> tuple[ReportedFinding, ...] | None:
        value = self._kept[key[0]].get(key)
        try:
            kept = msgspec.convert(value, tuple[_Finding, ...])
            rules = _rules() if kept else {}
            return tuple(
                ReportedFinding(
                    path, f.place, f.severity, rules[f.code], f.message, f.excerpt, f.fingerprint, f.remedies,
                    tuple(replace(note, path=path) for note in f.notes),
                )
                for f in kept
            )  # fmt: skip
        except (msgspec.ValidationError, KeyError):
            return None

    def put(self, verdict: Verdict) -> None:
        """Store a verdict that has a key, if all of it can be stored."""
        if verdict.key and not verdict.error and _can_be_kept(verdict.findings):
            self._kept[verdict.key[0]].put(verdict.key, [
                _Finding(
                    f.code, f.place, f.severity, f.message, f.excerpt, f.fingerprint, f.remedies,
                    tuple(replace(note, path="") for note in f.notes),
                )
                for f in verdict.findings
            ])  # fmt: skip

    def flush(self) -> None:
        """Write the new verdicts."""
        for kept in self._kept.values():
            kept.flush()


def _rules() -> Mapping[str, Rule]:
    from visa_lsp.app.rule_registry import by_word  # most texts have no findings

    return by_word()


def _can_be_kept(findings: Sequence[ReportedFinding]) -> bool:
    """Return whether the findings are few, have rules that another run knows, and concern their text alone."""
    rules = _rules() if findings else {}
    return len(findings) <= _MAX_FINDINGS and all(
        rules.get(f.code) == f.rule and all(note.path == f.path for note in f.notes) for f in findings
    )


def open_kept_verdicts(folder: str | None) -> KeptVerdicts | None:
    """Return the verdicts in a folder, by default the user's; None if that cache is disabled."""
    if folder:
        return KeptVerdicts(Path(folder), "checked")
    own = folder_of_user()
    return None if own is None else KeptVerdicts(own, f"checked-{installation()}")
