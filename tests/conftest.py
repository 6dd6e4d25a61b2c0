"""For all tests: what they share can be imported; what processes keep on disk goes to a folder of this run, not to the user's."""

from __future__ import annotations

import atexit
import compileall
import gc
import io
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS.parent), *(str(TESTS / room) for room in ("support", "own", "oracle"))]

import tiers  # noqa: E402 # it is found by the line above

if "VISA_LSP_CACHE" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="visa-lsp-tests-")
    os.environ["VISA_LSP_CACHE"] = _folder  # xdist's workers and all servers inherit it
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)


def pytest_addoption(parser):
    parser.addoption("--compiled", action="store_true", help="run every kernel in the compiled engine")
    tiers = parser.getgroup("tiers", "by default the tests marked `full` and `editors` are left out")
    tiers.addoption("--full", action="store_true", help="run all tests")
    tiers.addoption("--editors", action="store_true", help="run only the tests marked `editors`")
    tiers.addoption(
        "--beside",
        action="store_true",
        help="run only what the corpus beside the repository adds, with the default tests",
    )
    tiers.addoption("--slice", metavar="K/N", help="run only the K-th of N parts of the tests marked `full`, K from 1")


def pytest_configure(config):
    # A shell has jobs in the background ignore Ctrl-C, `nohup` has them ignore the end of the terminal, and both hand that
    # on to the programs that tests interrupt.
    normal = {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}
    for name, handler in normal.items() if threading.current_thread() is threading.main_thread() else ():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    if config.getoption("--beside"):
        import corpus

        corpus.leave_out_own()
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        # In a new clone each worker would compile the package for itself.
        compileall.compile_dir(TESTS.parent / "visa_lsp", quiet=2)
    if config.getoption("--compiled"):
        from compiled_engine import everywhere

        everywhere()


def pytest_ignore_collect(collection_path, config):
    """Leave out the editors unless an option names them: to see which ones are there takes seconds."""
    named = config.getoption("--full") or config.getoption("--editors")
    return True if collection_path == Path(__file__).with_name("editors") and not named else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Keep the items of the tier that the options name."""
    chosen = tiers.chosen(items, config)
    if len(chosen) < len(items):
        kept = set(chosen)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = chosen


def pytest_collection_finish():
    """Leave the tests themselves out of every collection of garbage from now on: they stay to the end.

    Hypothesis would parse every module of the package for constants, in each worker: our strategies need none.
    """
    providers = sys.modules.get("hypothesis.internal.conjecture.providers")
    if hasattr(providers, "is_local_module_file"):
        providers.is_local_module_file = lambda _: False
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)  # a test leaves little in cycles, and each collection takes time


@pytest.fixture(scope="module", autouse=True)
def _collected():
    """Give back what the tests of a module have left in cycles, before those of the next one fill as much again."""
    yield
    gc.collect()
    gc.freeze()  # what is left, such as caches, stays to the end too: every later collection would look at all of it again


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys, monkeypatch):
    """Run the program, also with bytes on standard input; gives (status, stdout, stderr)."""

    def call(*argv, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        from visa_lsp.cli.main import main

        status = main([str(a) for a in argv])
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.fixture
def printed(run):
    """Run the program, which ends with a status; gives what it prints."""

    def call(*argv, status=0, stdin=None):
        found, out, err = run(*argv, stdin=stdin)
        assert found == status, err
        return out

    return call


@pytest.fixture
def refused(run):
    """Run the program, which ends with a status that is not 0; gives what it says on standard error."""

    def call(*argv, status=2):
        found, _, err = run(*argv)
        assert found == status, err
        return err

    return call


PEAKS = []  # of the workers that are done
SECONDS = Counter()  # of the tests of each folder
COUNTS = "tests.sim.generator.counts"  # what the generated instruction tests covered: loaded where they run


def _peak_megabytes():
    """Return the most memory that this process has had; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def pytest_sessionfinish(session):
    """Pass the counts and the peak of memory of a worker of xdist to the process that prints."""
    output = getattr(session.config, "workeroutput", None)
    if output is None:
        return
    output["peak"] = _peak_megabytes()
    if COUNTS in sys.modules:
        output["generated"] = sys.modules[COUNTS].as_data()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take the counts and the peak of a worker that is done."""
    output = getattr(node, "workeroutput", {})
    PEAKS.append(output.get("peak", 0))
    data = output.get("generated")
    if data:
        from tests.sim.generator import counts

        counts.merge(data)


def pytest_runtest_logreport(report):
    """Add the time of a test to that of its folder."""
    SECONDS["/".join(Path(report.location[0]).parts[1:-1]) or "tests"] += report.duration


def pytest_terminal_summary(terminalreporter):
    """Print the folders that take longest, the peak of memory, and of generated tests rows, cases and rows without a model."""
    terminalreporter.write_line(f"seconds by folder: {', '.join(f'{n} {s:.0f}' for n, s in SECONDS.most_common(12))}")
    terminalreporter.write_line(f"peak memory of a process: {max([*PEAKS, _peak_megabytes()])} MB")
    found = sys.modules[COUNTS].lines() if COUNTS in sys.modules else []
    if found:
        terminalreporter.section("generated instruction tests")
        for line in found:
            terminalreporter.write_line(line)
