"""Verdicts: all findings of one text, from which the result of a file selects.

A verdict may be computed by this process or another one, or cached by an earlier run. Invariant: a result depends on the
task and the verdict alone.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.check.report import FileResult, ReportedFinding, number_findings
from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import SourceText, read_source
from visa_lsp.app.output_files import write_file
from visa_lsp.safe_io import is_regular
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from visa_lsp.app.check.suppress import Selection
    from visa_lsp.embed.languages import Host

_YAML: Final = (".yaml", ".yml")


class Task(Struct, frozen=True):
    """A file to check. ``name`` is its name in findings, ``source`` its text if that is known."""

    path: str
    name: str
    platform: str | None
    selection: Selection
    fix: bool = False
    unsafe: bool = False  # apply unsafe fixes too
    write: bool = False
    source: SourceText | None = None
    named: bool = True  # named on the command line, so it may be a pipe
    host: Host | None = None  # the host language, if the text is not vISA itself
    problem: str = ""  # why the text cannot be read, if that is known
    keep: bool = False  # compute the key of the verdict


class Verdict(Struct, frozen=True):
    """All findings of a file in text order, or an error.

    ``key`` identifies everything that the findings depend on; it is empty if they depend on other files too. With
    fixes, ``before`` and ``after`` are the texts without and with the ``fixed`` fixes, and the findings are those of
    ``after``.
    """

    findings: tuple[ReportedFinding, ...] = ()
    error: str = ""
    key: str = ""
    fixed: int = 0
    before: SourceText | None = None
    after: str | None = None
    internal: bool = False  # an internal error
    unread: tuple[int, int] = (0, 0)  # lines of vISA that could not be checked, and their statements


def pack_task(task: Task, *, whole: bool) -> Task:
    """Return a task for another machine, with its text if ``whole`` or if the file is not a regular file."""
    if task.source is not None or (is_regular(task.path) and not whole):
        return task
    try:
        return replace(task, source=source_of(task))
    except UserError as error:
        return replace(task, problem=str(error))


def source_of(task: Task) -> SourceText:
    """Return the text of a task. Raises UserError if it cannot be read."""
    if task.problem:
        raise UserError(task.problem)
    return task.source or read_source(task.path, named=task.named, embedded=task.host is not None)


def is_launch(name: str) -> bool:
    """Return whether a name is that of a launch file."""
    if not name.endswith(_YAML):
        return False
    from visa_lsp.companions import LAUNCH

    return name.endswith(LAUNCH)


def key_of(task: Task, text: str) -> str:
    """Return the key of everything that the findings of a text depend on; empty if no key is wanted or possible.

    Launch files have none, because their findings depend on other files. Host languages have none because of their parsers.
    """
    if not task.keep or task.host is not None or is_launch(task.name):
        return ""
    settings = " ".join([task.platform or "", *sorted(task.selection.extra())])
    return hashlib.sha256(encode_text(f"{settings}\n{text}")).hexdigest()


def result_of(task: Task, verdict: Verdict) -> FileResult:
    """Return the result of a task from its verdict; write the fixed text if the task says so."""
    before, after = verdict.before, verdict.after
    if task.write and before is not None and after is not None and after != before.text:
        try:
            write_file(task.path, before.to_bytes(after), is_default=not task.named)
        except UserError as error:
            return FileResult(task.name, error=str(error))
    shown = number_findings([f for f in verdict.findings if task.selection.shows(f.rule, task.name)])
    text = None if before is None else before.text
    return FileResult(task.name, shown, verdict.error, verdict.fixed, text, after, verdict.internal, verdict.unread)
