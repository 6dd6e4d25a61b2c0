"""One launch as a unit of work: ``perform`` turns a ``LaunchJob`` into an ``Outcome``, in any process.

Both can be pickled, so that processes or a cluster may call ``perform``. It reads the files where it runs (or uses the bytes
in the job), writes none, prints nothing, and turns every user error into an outcome. NumPy is loaded when a launch runs, not
to make a job. Invariant: equal jobs on equal files have outcomes that differ only in time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.printing import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from visa_lsp.app.launch.file import LaunchFile
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.launchfile.values import SweepPoint

OBJECTS: Final = (".isa",)


@dataclass(frozen=True, slots=True)
class LaunchJob:
    """A launch: its name, its launch file, its options, and its point of a sweep.

    ``launch`` is the path of the launch file; ``text`` its text and ``data`` the bytes of the program (``options.path``), if
    they are sent instead of read. Without text and file the launch is generated. ``named``: the user named the launch file,
    so it may be a pipe. ``point`` has a value for each axis of the sweep; empty is the first point.
    """

    name: str
    launch: Path
    options: RunOptions
    text: str | None = None
    data: bytes | None = None
    named: bool = False
    point: SweepPoint = ()


def perform(job: LaunchJob) -> Outcome:
    """Run one launch; a user error becomes an outcome with an error."""

    def run() -> Outcome:
        _, report, text = run_job(job)
        paths = tuple(None for _ in report.buffers)
        return Outcome(job.name, report, paths, status=0 if report.ok else 1, launch_text=text)

    return guard(job.name, run)


def guard(name: str, work: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of ``work``; a user error becomes an outcome with status 1 for errors in a text, else 2."""
    from visa_lsp.app.launch import runner

    try:
        return work()
    except (FileNotFoundError, UserError, runner.LaunchError) as error:
        return Outcome(name, error=str(error), status=2)
    except runner.TextProblems as problems:
        return Outcome(name, error=str(problems), status=1)
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        return Outcome(name, error=f"{name}: cannot write: {words}", status=2)


def run_job(job: LaunchJob) -> tuple[LaunchFile, RunReport, str]:
    """Run one launch; return the launch, its report, and the text of a generated launch.

    Raises LaunchError, TextProblems and UserError for mistakes of the user.
    """
    from visa_lsp.app.launch import runner
    from visa_lsp.app.launch.file import parse_launch, read_launch_file

    options = replace(job.options, began=perf_counter())  # the clock of another machine differs
    if job.text is None and options.path is not None and not job.launch.is_file() and not job.named:
        return _run_generated(job, options)
    if job.text is not None:
        launch = parse_launch(job.text, job.launch, job.point)
    else:
        launch = read_launch_file(job.launch, named=job.named, point=job.point)
    return launch, runner.run_launch(launch, options, job.data), ""


def _run_generated(job: LaunchJob, options: RunOptions) -> tuple[LaunchFile, RunReport, str]:
    """Run a program without a launch file, with a generated launch."""
    from visa_lsp.app.launch import runner
    from visa_lsp.app.launch.init import launch_text
    from visa_lsp.app.launch.proposal import propose_run

    assert options.path is not None
    data = runner.read_bytes(options.path) if job.data is None else job.data
    made = propose_run(program_of(data, options.path), options, job.launch)
    launch = made.proposal.read(job.launch)
    with made.proposal.without_file(job.launch):
        report = runner.run_module(made.module, launch, options, made.notes, made.sources)
    return launch, report.with_assumed(made.proposal.assumed), launch_text(made.proposal)


def program_of(data: bytes, path: Path) -> str | bytes:
    """Return the program in a file: the bytes of an object, or a text. Raises LaunchError if it is neither."""
    from visa_lsp.app.launch import runner

    return data if data[:4] == b"CISA" or path.suffix in OBJECTS else runner.text_of(data, path)
