"""One launch as a unit of work: ``perform`` turns a ``LaunchJob`` into an ``Outcome``, in any process.

Both can be pickled, so that processes or a cluster may call ``perform``. It reads the files where it runs (or uses the bytes
in the job), writes none, prints nothing, and turns every user error into an outcome. NumPy is loaded when a launch runs, not
to make a job. Invariant: equal jobs on equal files have outcomes that differ only in time.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import STDIN, foreign, read_bytes
from visa_lsp.app.launch.printing import Outcome
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.proposal import ProposedRun
    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.launchfile.values import SweepPoint

LAUNCHES: Final = (".yaml", ".yml")
STDIN_TEXT: Final = "stdin.visaasm"  # the file name of standard input


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


@dataclass(frozen=True, slots=True)
class OpenedLaunch:
    """A launch, its options with the path of its program, and the bytes of that; ``proposed`` is set if it is generated."""

    launch: LaunchFile
    options: RunOptions
    data: bytes
    proposed: ProposedRun | None = None

    @property
    def text(self) -> str:
        """The text of a generated launch; else empty."""
        from visa_lsp.app.launch.init import launch_text

        return launch_text(self.proposed.proposal) if self.proposed is not None else ""

    def ready(self) -> ReadyRun:
        """Prepare the run. Raises LaunchError, TextProblems and UserError for mistakes of the user."""
        from visa_lsp.app.launch import runner

        if self.proposed is None:
            return runner.ready_data(self.data, self.launch, self.options)
        return runner.ready(self.proposed.module, self.launch, self.options, self.proposed.notes, self.proposed.sources)

    def run(self) -> RunReport:
        """Run the launch; the report names the assumptions of a generated one. Raises as ``ready``."""
        from visa_lsp.app.launch import ready_run

        with self.errors_named():
            report = ready_run.run_ready(self.ready())
        return report if self.proposed is None else report.with_assumed(self.proposed.proposal.assumed)

    def errors_named(self) -> AbstractContextManager[None]:
        """Let a LaunchError name the key of a generated launch, because that has no file."""
        if self.proposed is None or self.launch.path is None:
            return nullcontext()
        return self.proposed.proposal.without_file(self.launch.path)


def open_job(job: LaunchJob, quick: dict[str, Any] | None = None, kernel: str = "") -> OpenedLaunch:
    """Read the launch and the program of a job; without a launch file, or with ``quick`` keys of one, generate the launch.

    ``kernel`` replaces the kernel of the launch. The text of an open document replaces its file. Raises LaunchError,
    TextProblems and UserError.
    """
    from visa_lsp.app.launch import runner
    from visa_lsp.app.launch.file import parse_launch, read_launch_file
    from visa_lsp.app.launch.proposal import propose_run

    options = replace(job.options, began=perf_counter())  # the clock of another machine differs
    launch = None
    if job.text is not None:
        launch = parse_launch(job.text, job.launch, job.point)
    elif quick is None and (options.path is None or job.named or job.launch.is_file()):
        launch = read_launch_file(job.launch, named=job.named, point=job.point)
    if launch is not None and options.path is None:
        options = replace(options, path=launch.file if job.data is not None else runner.program_path(launch))
    data = job.data
    if data is None:
        assert options.path is not None
        text = options.finder.opened(options.path)
        data = runner.read_bytes(options.path) if text is None else encode_text(text)
    if other := foreign(str(options.path or job.name), data):
        raise UserError(f"{options.path or job.name}: {other}")
    if launch is not None:
        config = replace(launch.config, kernel=kernel or launch.config.kernel)
        return OpenedLaunch(replace(launch, config=config), options, data)
    proposed = propose_run(data, options, job.launch, {"kernel": kernel, **(quick or {})} if kernel else quick)
    return OpenedLaunch(proposed.proposal.read(job.launch), options, data, proposed)


def launch_paths(name: str, launch: str | None, stdin_filename: str | None) -> tuple[Path | None, Path]:
    """Return the file of a program that a user names, None for a launch file, and its launch file, which may not exist.

    Raises UserError if the named file does not exist.
    """
    path = Path((stdin_filename or STDIN_TEXT) if name == STDIN else name)
    if name != STDIN and (not path.exists() or path.is_dir()):
        raise UserError(f"{name}: {'is a directory' if path.is_dir() else 'no such file'}")
    if name != STDIN and path.suffix in LAUNCHES:
        return None, path
    return path, Path(launch) if launch else path.with_suffix(".launch.yaml")


def job_at(name: str, launch: str | None, options: RunOptions, stdin_filename: str | None = None) -> LaunchJob:
    """Return the launch of a text, an object, a launch file or standard input that a user names.

    Raises UserError and LaunchError for files that cannot be read.
    """
    from visa_lsp.app.launch import runner

    path, file = launch_paths(name, launch, stdin_filename)
    if path is None:
        return LaunchJob(name, file, options, named=True)
    data = read_bytes(name) if name == STDIN else runner.read_bytes(path, named=True)
    return LaunchJob(str(path), file, replace(options, path=path), data=data, named=bool(launch))


def perform(job: LaunchJob) -> Outcome:
    """Run one launch; a user error becomes an outcome with an error."""

    def run() -> Outcome:
        opened = open_job(job)
        report = opened.run()
        paths = tuple(None for _ in report.buffers)
        return Outcome(job.name, report, paths, status=0 if report.ok else 1, launch_text=opened.text)

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
