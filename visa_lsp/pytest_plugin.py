"""Launch files as tests of pytest: each ``*.launch.yaml`` is one item, which fails as ``visa-lsp run`` does.

Nothing is collected unless ``--visa`` or ``visa_launches = true`` requests it. ``--visa-exec`` runs pytest under `visa-lsp exec`. Loads nothing before a launch runs,
because pytest loads this module at every start.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ENDINGS = (".launch.yaml", ".launch.yml")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and the setting."""
    group = parser.getgroup("visa", "vISA launch files")
    group.addoption("--visa", action="store_true", help="collect launch files (*.launch.yaml) as tests")
    group.addoption(
        "--visa-engine", choices=("auto", "jit", "interp"), default="auto", help="what executes their kernels"
    )
    group.addoption("--visa-exec", action="store_true", help="run pytest under visa-lsp exec: OpenCL on the simulator")
    group.addoption("--visa-checks", default="all", metavar="all|none|LIST", help="checks during the run; default: all")
    parser.addini("visa_launches", "collect launch files (*.launch.yaml) as tests", type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run pytest again under `visa-lsp exec`, if that is requested; the status is 1 if a kernel had a fault."""
    if not config.getoption("visa_exec") or "VISA_LSP_EXEC_SOCKET" in os.environ:
        return None
    exec_command = [sys.executable, "-m", "visa_lsp", "exec", "--checks", config.getoption("visa_checks"), "--"]
    again = [sys.executable, "-m", "pytest", *map(str, config.invocation_params.args)]
    return subprocess.run([*exec_command, *again], check=False).returncode


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a launch file, if that is requested."""
    config = parent.config
    if not file_path.name.endswith(_ENDINGS) or not (config.getoption("visa") or config.getini("visa_launches")):
        return None
    return LaunchFileTests.from_parent(parent, path=file_path)


class LaunchFileTests(pytest.File):
    """A launch file; it has one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the launch, named after the file."""
        name = next(self.path.name.removesuffix(end) for end in _ENDINGS if self.path.name.endswith(end))
        yield LaunchTest.from_parent(self, name=name)


class LaunchTest(pytest.Item):
    """A test of the launch in a file at every point of its sweep: no fault, and every expectation holds."""

    def __init__(self, **known: Any) -> None:
        super().__init__(**known)
        # Empty, because other plugins such as pytest-lsp read them from every item.
        self.funcargs: dict[str, object] = {}

    def runtest(self) -> None:
        """Run the launch. Raises LaunchFailure with the output of ``visa-lsp run``."""
        with _without_rewriting():
            self._run()

    def _run(self) -> None:
        try:
            from visa_lsp.app.launch import runner
            from visa_lsp.app.launch.file import read_launch_file
        except ModuleNotFoundError as error:
            if error.name != "numpy":
                raise
            from visa_lsp.app.errors import NEEDS_NUMPY

            raise LaunchFailure(NEEDS_NUMPY) from None
        from visa_lsp.app.launch.printing import Outcome, failure_line, text_lines
        from visa_lsp.launchfile.values import point_words

        engine, checks = self.config.getoption("visa_engine"), self.config.getoption("visa_checks")
        options = runner.RunOptions(engine=engine, checks=checks)
        try:
            launch_file = read_launch_file(self.path)
            for point in launch_file.sweep.points() if launch_file.sweep is not None else [()]:
                report = runner.run_launch(read_launch_file(self.path, point=point), options)
                if not report.ok:
                    name = " at ".join(word for word in (_format_path(self.path), point_words(point)) if word)
                    raise LaunchFailure("\n".join(text_lines(Outcome(name, report))), failure_line(report))
        except (runner.LaunchError, runner.TextProblems) as error:
            raise LaunchFailure(str(error)) from None

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **more: Any) -> Any:
        """Return only the report, whose line in the summary names the failure; for an internal error, the traceback."""
        if not isinstance(excinfo.value, LaunchFailure):
            return super().repr_failure(excinfo, *args, **more)
        shown = excinfo.getrepr(style="value")
        if shown.reprcrash is not None:
            shown.reprcrash.message = excinfo.value.line
        return shown

    def reportinfo(self) -> tuple[os.PathLike[str], int | None, str]:
        """Return the file and the name of the test."""
        return self.path, 0, f"launch {self.name}"


class LaunchFailure(Exception):  # noqa: N818 - a failed test, in the words of its report
    """A launch that fails its test: the report, and the line for the summary."""

    def __init__(self, report: str, line: str = "") -> None:
        super().__init__(report)
        self.line = line or report.partition("\n")[0]


@contextmanager
def _without_rewriting() -> Iterator[None]:
    """Import without pytest's rewriting of assertions, which compiles every module of a plugin's package at its first import."""
    before = sys.meta_path[:]
    sys.meta_path[:] = [finder for finder in before if type(finder).__module__ != "_pytest.assertion.rewrite"]
    try:
        yield
    finally:
        sys.meta_path[:] = before


def _format_path(path: Path) -> str:
    """Return a path relative to the current folder if possible."""
    try:
        return os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)
