"""Checks files one by one, in several processes or on a cluster, with the same results in the same order.

Every text is checked by ``Analysis`` and ``visible``, as in the server. The failure of a file becomes the error of its
result. Knows neither formats nor exit statuses.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.app.check.report import FileResult, findings_of
from visa_lsp.app.check.verdict import Task, Verdict, is_launch, key_of, pack_task, result_of, source_of
from visa_lsp.app.clusters import Cluster, ClusterWork
from visa_lsp.app.errors import UserError
from visa_lsp.embed.languages import Host, may_hold_visa
from visa_lsp.isa.platforms import platform_named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.app.check.kept_verdicts import KeptVerdicts
    from visa_lsp.app.inputs import SourceText
    from visa_lsp.diagnostics import Diagnostic

_BYTES_A_SECOND: Final = 400_000  # of text that are checked
_WORTH_A_PROCESS: Final = _BYTES_A_SECOND
_LEAST: Final = 0.002  # seconds that any file takes


def check_file(task: Task) -> FileResult:
    """Check one file; ``fix`` applies fixes first."""
    return result_of(task, judge(task))


def judge(task: Task) -> Verdict:
    """Return the verdict of one file. Writes nothing; a failure becomes the error of the verdict."""
    try:
        source = source_of(task)
        if task.fix:
            return _fix_text(task, source)
        key = key_of(task, source.text)
        if task.host is not None:
            others, unread = _embedded_findings(source.text, task.host, task.platform, task.selection.extra())
            return Verdict(findings_of(task.name, source.text, others), unread=unread)
        if is_launch(task.name):
            return Verdict(findings_of(task.name, source.text, _launch_findings(source.text, Path(task.name))))
        analysis = _analysis(task, source.text)
        # The text is released because its chunks hold it too, and a long text must not be in memory twice.
        del source
        diagnostics = _visible(task, analysis)
        return Verdict(findings_of(task.name, analysis.document.text if diagnostics else "", diagnostics), key=key)
    except UserError as error:
        return Verdict(error=str(error))
    except (Exception, RecursionError) as error:
        if os.environ.get("VISA_LSP_DEBUG"):
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return Verdict(
            error=f"{task.name}: internal error: {text} (set VISA_LSP_DEBUG=1 for a traceback)", internal=True
        )


def _inspect(task: Task, text: str) -> tuple[Diagnostic, ...]:
    if is_launch(task.name):
        return _launch_findings(text, Path(task.name))
    if task.host is not None:
        return _embedded_findings(text, task.host, task.platform, task.selection.extra())[0]
    return _visible(task, _analysis(task, text))


def _analysis(task: Task, text: str) -> Analysis:
    # Imported here because the verdicts of most texts are cached.
    from visa_lsp.analysis.analysis import Analysis

    return Analysis.of(text, task.platform)


def _visible(task: Task, analysis: Analysis) -> tuple[Diagnostic, ...]:
    from visa_lsp.ide.suppressions import visible
    from visa_lsp.syntax.chunk_facts import forget_chunks

    diagnostics = visible(analysis, task.selection.extra())
    # Cached chunks are dropped because with hundreds of short texts they would take a tenth of the memory.
    forget_chunks()
    return diagnostics


def _fix_text(task: Task, source: SourceText) -> Verdict:
    from visa_lsp.app.check.fixes import mend

    mended = mend(
        source.text, partial(_inspect, task), lambda d: task.selection.shows(d.rule, task.name), unsafe=task.unsafe
    )
    findings = findings_of(task.name, mended.text, mended.diagnostics)
    unread = (0, 0) if task.host is None else _embedded_findings(mended.text, task.host, task.platform, ())[1]
    return Verdict(findings, "", key_of(task, mended.text), mended.count, source, mended.text, unread=unread)


def _embedded_findings(
    text: str, host: Host, platform: str | None, extra: Collection[str]
) -> tuple[tuple[Diagnostic, ...], tuple[int, int]]:
    """Return the findings of the vISA inside a text of another language, and the lines and statements that were not checked."""
    if not may_hold_visa(text):
        return (), (0, 0)
    # Imported here because most files of a source tree have no vISA.
    from visa_lsp.embed.host_findings import findings, unread_lines
    from visa_lsp.embed.host_text import HostText

    snapshot = HostText.of(text, host, platform_named(platform) if platform else None)
    return findings(snapshot, extra), unread_lines(snapshot)


def _launch_findings(text: str, path: Path) -> tuple[Diagnostic, ...]:
    """Return the findings of a launch file: alone, with the files that it names, and against its kernel."""
    # Imported here because a text needs no YAML.
    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.launchfile.judge import judge
    from visa_lsp.launchfile.source import launch_source

    return judge(launch_source(text), LaunchFolder(path)).diagnostics


def check_files(
    tasks: Sequence[Task],
    jobs: int = 0,
    progress: Callable[[int, int], None] | None = None,
    cluster: Cluster | None = None,
    kept: KeptVerdicts | None = None,
) -> list[FileResult]:
    """Check files in ``jobs`` processes (0 chooses the number) or on a cluster; return results in the order of the tasks.

    ``progress`` is called after each file with the numbers of files and findings. Verdicts in ``kept`` are not computed;
    without it nothing of earlier runs is used.
    """
    verdicts = {}
    if kept is not None:
        tasks = [replace(task, keep=True) for task in tasks]
        verdicts = kept.find_verdicts(tasks)
    fresh = _verdicts([task for number, task in enumerate(tasks) if number not in verdicts], jobs, cluster)
    results = []
    finding_count = 0
    for number, task in enumerate(tasks):
        verdict = verdicts.pop(number, None)
        if verdict is None:
            verdict = next(fresh)
            if kept is not None:
                kept.put(verdict)
        results.append(result_of(task, verdict))
        finding_count += len(results[-1].findings)
        if progress is not None:
            progress(len(results), finding_count)
    next(fresh, None)  # the workers may end now
    if kept is not None:
        kept.flush()
    return results


def _verdicts(tasks: Sequence[Task], jobs: int, cluster: Cluster | None) -> Iterator[Verdict]:
    if cluster is not None:
        return _on_cluster(tasks, cluster)
    count = min(jobs or _processes(tasks), len(tasks))
    if count <= 1:
        return map(judge, tasks)
    from visa_lsp.app.parallel import MAX_PROCESSES, in_processes

    return in_processes(judge, tasks, min(count, MAX_PROCESSES))


def _on_cluster(tasks: Sequence[Task], cluster: Cluster) -> Iterator[Verdict]:
    # Launch files are checked here, because the files around them are not sent.
    here = {number for number, task in enumerate(tasks) if cluster.sends and is_launch(task.name)}
    sent = [task for number, task in enumerate(tasks) if number not in here]
    guesses = [guess(task) for task in sent]
    work = ClusterWork(judge, _report_lost, partial(pack_task, whole=cluster.sends))
    done = cluster.results(work, sent, guesses)
    for number, task in enumerate(tasks):
        yield judge(task) if number in here else next(done)


def guess(task: Task) -> float:
    """Return the estimated seconds of a check."""
    return _LEAST + size_of(task.path) / _BYTES_A_SECOND


def _report_lost(task: Task, why: str) -> Verdict:
    return Verdict(error=f"{task.name}: {why}")


def _processes(tasks: Sequence[Task]) -> int:
    if len(tasks) < 2:
        return 1
    from visa_lsp.app.parallel import processors

    size = sum(size_of(t.path) for t in tasks)
    return max(1, min(processors(), size // _WORTH_A_PROCESS))


def size_of(path: str) -> int:
    """Return the size of a file in bytes; 0 if it does not exist."""
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0
