"""Checking files: one after another, or many at once with the same outcome in the same order.

Every text goes through ``Analysis`` and ``visible``, as in the server. One file's failure is its own: it becomes the error
of that file's result. Knows nothing of formats and exit statuses.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.analysis.disk.storing import storing
from visa_lsp.cli.check.report import FileResult, findings_of
from visa_lsp.cli.common import CliError, SourceText, read_source
from visa_lsp.cli.files import write_output
from visa_lsp.cli.processes import MOST_PROCESSES, in_processes, processors
from visa_lsp.embed.languages import Host, may_hold_visa
from visa_lsp.ide.suppressions import visible
from visa_lsp.isa.platforms import platform_named
from visa_lsp.syntax.parse import flush_statement_cache, use_statement_cache
from visa_lsp.syntax.statement_cache import statement_cache_of_user

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from visa_lsp.cli.check.suppress import Selection
    from visa_lsp.diagnostics import Diagnostic

_WORTH_A_PROCESS: Final = 400_000  # bytes of text: about a second of work
_YAML: Final = (".yaml", ".yml")


class Task(Struct, frozen=True):
    """One file to check. ``name`` is what it is called in findings; ``source`` is its text when it is no file."""

    path: str
    name: str
    platform: str | None
    selection: Selection
    fix: bool = False
    write: bool = False
    source: SourceText | None = None
    named: bool = True  # not found below a folder: it may be a pipe
    host: Host | None = None  # the language around its vISA, where it is not vISA itself


def check_file(task: Task) -> FileResult:
    """Check one file, and with ``fix`` mend it first."""
    try:
        source = task.source or read_source(task.path, named=task.named, embedded=task.host is not None)
        return _check(task, source)
    except CliError as error:
        return FileResult(task.name, error=str(error))
    except (Exception, RecursionError) as error:
        if os.environ.get("VISA_LSP_DEBUG"):
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return FileResult(task.name, error=f"{task.name}: internal error: {text} (VISA_LSP_DEBUG=1 shows where)")


def _check(task: Task, source: SourceText) -> FileResult:
    def wanted(diagnostic: Diagnostic) -> bool:
        return task.selection.shows(diagnostic.rule, task.name)

    extra = task.selection.extra()

    def inspect(text: str) -> tuple[Diagnostic, ...]:
        if task.name.endswith(_YAML) and _is_launch(task.name):
            return _launch_findings(text, Path(task.name))
        if task.host is not None:
            return _embedded_findings(text, task.host, task.platform, extra)
        return visible(Analysis.of(text, task.platform), extra)

    if not task.fix:
        found = [d for d in inspect(source.text) if wanted(d)]
        return FileResult(task.name, findings_of(task.name, source.text, found))
    from visa_lsp.cli.check.fixes import mend

    mended = mend(source.text, inspect, wanted)
    if task.write and mended.text != source.text:
        write_output(task.path, source.to_bytes(mended.text))
    findings = findings_of(task.name, mended.text, [d for d in mended.diagnostics if wanted(d)])
    return FileResult(task.name, findings, "", mended.count, source.text, mended.text)


def _embedded_findings(text: str, host: Host, platform: str | None, extra: Collection[str]) -> tuple[Diagnostic, ...]:
    """What is wrong with the vISA inside of a text of another language."""
    if not may_hold_visa(text):
        return ()
    # Loaded here: most files of a source tree have no vISA in them.
    from visa_lsp.embed.findings import findings
    from visa_lsp.embed.host_text import HostText

    return findings(HostText.of(text, host, platform_named(platform) if platform else None), extra)


def _is_launch(name: str) -> bool:
    from visa_lsp.beside import LAUNCH

    return name.endswith(LAUNCH)


def _launch_findings(text: str, path: Path) -> tuple[Diagnostic, ...]:
    """What is wrong in a launch file, alone, with the files that it names, and against its kernel."""
    # Loaded here: a text needs no YAML.
    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.launchfile.judge import judge
    from visa_lsp.launchfile.source import launch_source

    return judge(launch_source(text), LaunchFolder(path)).diagnostics


def check_files(
    tasks: Sequence[Task], jobs: int = 0, progress: Callable[[int, int], None] | None = None
) -> list[FileResult]:
    """Check files in as many processes as pay (``jobs`` 0) or as are said; results in the order of the tasks.

    ``progress`` hears after each how many are done, and how much was found in them.
    """
    # Statements are values without cycles: looking for garbage often costs a quarter of the time and finds none.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    with storing():
        return _check_files(tasks, jobs, progress)


def _check_files(tasks: Sequence[Task], jobs: int, progress: Callable[[int, int], None] | None) -> list[FileResult]:
    count = min(jobs or _processes(tasks), len(tasks), MOST_PROCESSES)
    results = []
    found = 0
    for result in map(check_file, tasks) if count <= 1 else _in_processes(tasks, count):
        results.append(result)
        found += len(result.findings)
        if progress is not None:
            progress(len(results), found)
    return results


def _processes(tasks: Sequence[Task]) -> int:
    if len(tasks) < 2:
        return 1
    size = sum(_size(t.path) for t in tasks)
    return max(1, min(processors(), size // _WORTH_A_PROCESS))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0


def _in_processes(tasks: Sequence[Task], count: int) -> Iterator[FileResult]:
    yield from in_processes(_check_and_keep, tasks, count, _begin)


def _begin() -> None:
    from multiprocessing.util import Finalize

    use_statement_cache(statement_cache_of_user())
    store = storing()
    store.__enter__()
    # Runs when the process has no more to do.
    Finalize(None, store.__exit__, (None, None, None), exitpriority=0)


def _check_and_keep(task: Task) -> FileResult:
    """``check_file`` in a process that may end at any time: what the parser learnt is written at once."""
    result = check_file(task)
    flush_statement_cache()
    return result
