"""What is to be said of one text, whatever of it is wanted; and what of that a file's result shows.

Verdicts come from this process, from others, or from a run before. Invariant: a result depends on the task and the verdict
alone, so that it is the same wherever the verdict comes from.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.check.report import FileResult, ReportedFinding, numbered
from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import SourceText, read_source
from visa_lsp.app.output_files import write_file
from visa_lsp.reading import is_regular

if TYPE_CHECKING:
    from visa_lsp.app.check.suppress import Selection
    from visa_lsp.embed.languages import Host

_YAML: Final = (".yaml", ".yml")


class Task(Struct, frozen=True):
    """One file to check. ``name`` is what it is called in findings; ``source`` is its text where that is known."""

    path: str
    name: str
    platform: str | None
    selection: Selection
    fix: bool = False
    unsafe: bool = False  # fixes that are not safe count too
    write: bool = False
    source: SourceText | None = None
    named: bool = True  # not found below a folder: it may be a pipe
    host: Host | None = None  # the language around its vISA, where it is not vISA itself
    problem: str = ""  # why there is no text, where that is known
    keep: bool = False  # the verdict is to have a key


class Verdict(Struct, frozen=True):
    """All findings about a file, in text order, or why there are none.

    ``key`` names all that the findings depend on, empty where that is more than a text. Where fixes were wanted, ``before`` and
    ``after`` are the texts without and with the ``fixed`` ones, and the findings are those of the second.
    """

    findings: tuple[ReportedFinding, ...] = ()
    error: str = ""
    key: str = ""
    fixed: int = 0
    before: SourceText | None = None
    after: str | None = None
    internal: bool = False  # the error is one of ours


def outgoing(task: Task, *, whole: bool) -> Task:
    """Return a task for another machine, with its text where the file cannot be read there: if ``whole``, or a pipe or the like."""
    if task.source is not None or (is_regular(task.path) and not whole):
        return task
    try:
        return replace(task, source=source_of(task))
    except UserError as error:
        return replace(task, problem=str(error))


def source_of(task: Task) -> SourceText:
    """Return the text of a task; UserError where it cannot be read."""
    if task.problem:
        raise UserError(task.problem)
    return task.source or read_source(task.path, named=task.named, embedded=task.host is not None)


def is_launch(name: str) -> bool:
    """Return whether a file is a launch file, by its name."""
    if not name.endswith(_YAML):
        return False
    from visa_lsp.beside import LAUNCH

    return name.endswith(LAUNCH)


def key_of(task: Task, text: str) -> str:
    """Return what names a text and all else that findings about it depend on; empty where that is more, or where none is wanted.

    A launch file is judged with other files, and what is inside of another language by parsers that are not ours.
    """
    if not task.keep or task.host is not None or is_launch(task.name):
        return ""
    settings = " ".join([task.platform or "", *sorted(task.selection.extra())])
    return hashlib.sha256(f"{settings}\n{text}".encode("utf-8", "surrogateescape")).hexdigest()


def result_of(task: Task, verdict: Verdict) -> FileResult:
    """Return what a task shows of a verdict. Writes the mended text, where that is asked for."""
    before, after = verdict.before, verdict.after
    if task.write and before is not None and after is not None and after != before.text:
        try:
            write_file(task.path, before.to_bytes(after))
        except UserError as error:
            return FileResult(task.name, error=str(error))
    shown = numbered([f for f in verdict.findings if task.selection.shows(f.rule, task.name)])
    text = None if before is None else before.text
    return FileResult(task.name, shown, verdict.error, verdict.fixed, text, after, verdict.internal)
