"""Verdicts on whole texts, kept on disk: a text that has not changed since another run is not checked again.

A verdict's key (``verdict.key_of``) is of the text's content and the settings, the mark of the files of all code: what is
found holds wherever text and package lie. Invariant: it is what checking would find; anything else in a file is no verdict.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.check.report import RelatedExcerpt, Remedy, ReportedFinding, TextRange
from visa_lsp.app.check.suppress import Selection
from visa_lsp.app.check.verdict import Task, Verdict, key_of, source_of
from visa_lsp.app.errors import UserError
from visa_lsp.diagnostics import Severity  # noqa: TC001 - the type of a field that is read from JSON
from visa_lsp.identity import digest
from visa_lsp.kept import Kept, folder_of_user, installation
from visa_lsp.reading import is_regular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.diagnostics import Rule

_SHARES: Final = "0123456789abcdef"  # a file for each first digit of a key
_MOST_BYTES: Final = 4 << 20  # of each: one is read whole, be it for a text of a few lines
_MOST: Final = 2_000  # findings of a text that are worth keeping
_LONG: Final = 100_000  # characters: shorter texts are looked at sooner than they are looked up


class _Finding(Struct, frozen=True, array_like=True):
    """A finding without what is known anyway: its path, its rule but for the code, its number."""

    code: str
    place: TextRange
    severity: Severity
    message: str
    excerpt: str
    fingerprint: str
    remedies: tuple[Remedy, ...]
    notes: tuple[RelatedExcerpt, ...]


class KeptVerdicts:
    """The verdicts in a folder. ``asked`` counts the texts that were looked for, ``found`` those that were there."""

    def __init__(self, folder: Path, name: str) -> None:
        mark = f"visa-lsp checked {sys.version_info[:3]} {digest()}"
        self._kept = {digit: Kept(folder / f"{name}-{digit}", mark, _MOST_BYTES) for digit in _SHARES}
        self.asked = 0
        self.found = 0

    def known(self, tasks: Sequence[Task]) -> dict[int, Verdict]:
        """Return the verdicts that are there, by the numbers of their tasks."""
        found = {}
        for number, task in enumerate(tasks):
            verdict = self._verdict(task)
            if verdict is not None:
                found[number] = verdict
        self.asked += len(tasks)
        self.found += len(found)
        return found

    def _verdict(self, task: Task) -> Verdict | None:
        # A pipe can be opened only once: that is for who checks it.
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

    def is_clean(self, key: str) -> bool:
        """Return whether it is known of a text that there is nothing to say of it."""
        return self._findings(key, "") == ()

    def put(self, verdict: Verdict) -> None:
        """Keep a verdict that has a key, if all of it can be kept."""
        if verdict.key and not verdict.error and _can_be_kept(verdict.findings):
            self._kept[verdict.key[0]].put(verdict.key, [
                _Finding(
                    f.code, f.place, f.severity, f.message, f.excerpt, f.fingerprint, f.remedies,
                    tuple(replace(note, path="") for note in f.notes),
                )
                for f in verdict.findings
            ])  # fmt: skip

    def flush(self) -> None:
        """Write what is new."""
        for kept in self._kept.values():
            kept.flush()


def _rules() -> Mapping[str, Rule]:
    from visa_lsp.app.rules import by_word  # most texts have no findings

    return by_word()


def _can_be_kept(findings: Sequence[ReportedFinding]) -> bool:
    """Return whether findings are few, of rules that another run knows, and about their text alone."""
    rules = _rules() if findings else {}
    return len(findings) <= _MOST and all(
        rules.get(f.code) == f.rule and all(note.path == f.path for note in f.notes) for f in findings
    )


def kept_verdicts(folder: str | None) -> KeptVerdicts | None:
    """Return the verdicts in this folder, or in the user's; None where that one is not to be used."""
    if folder:
        return KeptVerdicts(Path(folder), "checked")
    own = folder_of_user()
    return None if own is None else KeptVerdicts(own, f"checked-{installation()}")


class KnownClean:
    """Whether it is known of a long text that there is nothing to say of it; ``note`` keeps that, once it is found out.

    For texts without comments that silence findings: what these hide can be an error all the same.
    """

    def __init__(self, text: str, platform: str | None) -> None:
        self._kept = kept_verdicts(None) if len(text) >= _LONG else None
        self._key = "" if self._kept is None else key_of(Task("", "", platform, Selection(), keep=True), text)
        self.is_known = self._kept is not None and self._kept.is_clean(self._key)

    def note(self) -> None:
        """Keep that nothing was found."""
        if self._kept is not None and not self.is_known:
            self._kept.put(Verdict(key=self._key))
            self._kept.flush()
