"""``visa-lsp run --sweep``: runs a launch at every point of its sweep and makes a row for each.

``row_of`` runs one point in any process, like ``unit.perform``, but drops the arrays. Does not load NumPy itself.
Invariant: rows are in the order of the points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from visa_lsp.app.clusters import Cluster, ClusterWork, as_it_is
from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_USAGE
from visa_lsp.app.launch.expectation_words import difference_lines
from visa_lsp.app.launch.unit import LaunchJob, perform
from visa_lsp.app.parallel import in_processes, processors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.launchfile.values import Sweep, SweepPoint

# Points, each some tens of milliseconds: fewer take less time than a process needs to load NumPy.
_WORTH_A_PROCESS: Final = 4
_GUESS: Final = 0.03  # seconds for a point


@dataclass(frozen=True, slots=True)
class SweepRow:
    """The result of one point: ``status`` is ok, FAILED (a failed expectation), fault or error (it did not run).

    ``difference`` is the first failure in one line. ``exit`` is the exit status that a run of this point alone would have;
    ``seconds`` is the time of the kernel alone.
    """

    point: SweepPoint
    status: str
    exit: int
    difference: str = ""
    kernel: str = ""
    platform: str = ""
    engine: str = ""
    seconds: float = 0.0
    groups: int = 0
    threads: int = 0
    instructions: int = 0


def rows_of(job: LaunchJob, sweep: Sweep, processes: int) -> Iterator[SweepRow]:
    """Run a launch at every point of its sweep; yield rows in the order of the points.

    Uses ``processes`` processes of this machine; 0 chooses the number.
    """
    points = list(sweep.points())
    count = processes or max(1, min(processors(), len(points) // _WORTH_A_PROCESS))
    return in_processes(partial(row_of, job), points, count)


def rows_on(cluster: Cluster, job: LaunchJob, sweep: Sweep) -> Iterator[SweepRow]:
    """Run a launch at every point of its sweep on a cluster; yield rows in the order of the points.

    The job, with the bytes of launch file and program, is sent to each worker once.
    """
    points = list(sweep.points())
    work = ClusterWork(partial(row_of, job), _report_lost, as_it_is)
    return cluster.results(work, points, [_GUESS] * len(points))


def _report_lost(point: SweepPoint, why: str) -> SweepRow:
    return SweepRow(point, "error", EXIT_USAGE, why)


def row_of(job: LaunchJob, point: SweepPoint) -> SweepRow:
    """Run a launch at a point of its sweep and return the row."""
    outcome = perform(replace(job, point=point))
    report = outcome.report
    if report is None:
        return SweepRow(point, "error", outcome.status, _one_line(outcome.error))
    faulty = bool(report.faults or report.more_faults)
    holds = all(e.ok for e in report.expectations) and all(report.expected_faults.values())
    status = "FAILED" if not holds else "fault" if faulty else "ok"
    return SweepRow(
        point, status, outcome.status, _difference(report), report.kernel, report.platform, report.engine,
        sum(report.time.run), report.result.groups, report.result.threads, report.instructions,
    )  # fmt: skip


def _difference(report: RunReport) -> str:
    """Return the first failed expectation with its first element, else the first fault."""
    for expectation in report.expectations:
        if expectation.ok:
            continue
        title, wrong = report.title(expectation.arg), expectation.mismatch
        if wrong is None:
            return _one_line(f"{title}: {expectation.message}")
        array = next(buffer.array for buffer in report.buffers if buffer.arg == expectation.arg)
        lines = difference_lines(array, wrong)
        return f"{title}: {lines[1] if wrong.count else lines[0]}"
    if report.faults:
        return _one_line(str(report.faults[0]))
    return next((f"no {kind} was found" for kind, is_found in report.expected_faults.items() if not is_found), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def sweep_of(job: LaunchJob) -> tuple[Sweep, LaunchJob]:
    """Return the sweep of a job's launch file, and the job with the text of the file, which is read once for all points.

    Raises UserError if the file cannot be read, is wrong, or has no sweep.
    """
    from visa_lsp.app.launch.file import launch_file_text, parse_launch
    from visa_lsp.sim.launch.config import LaunchError

    try:
        text = launch_file_text(job.launch, named=job.named) if job.text is None else job.text
        launch = parse_launch(text, job.launch)
    except LaunchError as error:
        raise UserError(str(error)) from None
    if launch.sweep is None:
        raise UserError(f"{job.launch}: no sweep found; add one, such as sweep: {{n: [1, 1000, 65536]}}")
    return launch.sweep, replace(job, text=text)
