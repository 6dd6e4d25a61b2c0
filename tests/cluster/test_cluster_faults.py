"""Whatever becomes of workers, every item has one answer, in order; who cannot work is told by name."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import ClassVar

import cluster_tasks
import pytest
from tiers import first

from visa_lsp.cluster import crew, job
from visa_lsp.cluster.crew import ClusterError, crew_at, workers_here
from visa_lsp.cluster.job import results

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers are ended by signals of POSIX systems")
REPOSITORY = Path(__file__).resolve().parents[2]
COUNT = 60


def answers(found_crew, function, folder, *, limit=30.0, count=COUNT):
    """Return the answers to so many items; ``(number, why)`` in place of one that was lost."""
    work = partial(getattr(cluster_tasks, function), str(folder))
    lost = lambda number, why: (number, why)  # noqa: E731
    return list(results(found_crew, work, range(count), [0.02] * count, lost, lambda number: number, limit))


def doubled(count=COUNT):
    return [2 * number for number in range(count)]


@contextlib.contextmanager
def worker_at(address, *, path=""):
    """Yield a worker of a process of its own, with another package in front of ours where ``path`` says one."""
    command = [
        sys.executable, "-P", "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
    ]  # fmt: skip
    paths = filter(None, (str(path), str(Path(__file__).parent)))
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.full
def test_what_workers_print_and_read_does_not_come_between(address, tmp_path):
    with crew_at(address, print) as found:
        assert answers(found, "loud", tmp_path) == doubled()
        assert answers(found, "doubled", tmp_path, count=1_000) == doubled(1_000)


def test_an_item_that_hangs_is_tried_elsewhere_and_then_given_up(address, tmp_path, capsys):
    with crew_at(address, print) as found:
        assert answers(found, "hangs_once", tmp_path, limit=1) == doubled()
        left = answers(found, "hangs", tmp_path, limit=1)
    assert left[20] == (20, "it took longer than 1 seconds and was ended, 2 times")
    assert left[:20] + left[21:] == doubled()[:20] + doubled()[21:]


@pytest.mark.full
def test_an_item_that_ends_its_process_costs_no_other_one(address, tmp_path):
    with crew_at(address, print) as found:
        left = answers(found, "dies_always", tmp_path)
    assert left[20] == (20, "the process ended with status -9, 2 times")
    assert left[:20] + left[21:] == doubled()[:20] + doubled()[21:]


def test_a_mistake_of_ours_is_told_of_its_item(address, tmp_path):
    with crew_at(address, print) as found:
        left = answers(found, "raises", tmp_path)
    assert left[20] == (20, "internal error: ZeroDivisionError: integer division or modulo by zero")


@pytest.mark.full
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_is_killed_costs_a_retry_and_nothing_else(tmp_path, workers):
    with workers_here(workers) as address, crew_at(address, print) as found:
        assert answers(found, "ends_its_worker", tmp_path) == doubled()
    assert (tmp_path / "done").exists()


@pytest.mark.full
def test_a_worker_that_says_nothing_is_given_up_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "_GRACE", 1.0)
    said = []
    with workers_here(2) as address:
        try:
            with crew_at(address, said.append) as found:
                assert answers(found, "stops_its_worker", tmp_path, limit=1) == doubled()
        finally:
            os.kill(int((tmp_path / "stopped").read_text()), signal.SIGCONT)
    assert len(said) == 1
    assert "did not answer for 2 seconds; it is not used" in said[0]


@pytest.mark.full
def test_a_worker_that_joins_late_gets_a_share(tmp_path):
    with workers_here(1) as address, crew_at(address, print) as found, contextlib.ExitStack() as stack:
        work = partial(cluster_tasks.told_by, str(tmp_path))
        items = range(400)
        told = []
        for answer in results(found, work, items, [0.02] * len(items), pytest.fail, lambda item: item, 30.0):
            if not told:
                stack.enter_context(worker_at(address))
            told.append(answer)
    assert [number for number, _ in told] == doubled(len(items))
    assert len({who for _, who in told}) == 2


@pytest.mark.full
def test_a_worker_of_another_version_is_refused_by_name(tmp_path):
    shutil.copytree(REPOSITORY / "visa_lsp", tmp_path / "visa_lsp", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "grammar", tmp_path / "grammar")
    init = tmp_path / "visa_lsp" / "__init__.py"
    init.write_text(init.read_text().replace('__version__ = "', '__version__ = "77.'))
    said = []
    with workers_here(1) as address, worker_at(address, path=tmp_path), crew_at(address, said.append) as found:
        until = time.monotonic() + 30
        while not said and time.monotonic() < until:
            assert answers(found, "told_by", tmp_path, count=20)
    (words,) = said
    assert words.startswith("worker tcp://")
    assert "has visa-lsp 77." in words


def test_where_only_strangers_are_nobody_works(tmp_path, monkeypatch, address):
    monkeypatch.setattr(crew, "identity", cluster_tasks.another)
    monkeypatch.setattr(crew, "_REPLACE", 1.0)
    said = []
    with pytest.raises(ClusterError, match="no other worker"), crew_at(address, said.append) as found:
        answers(found, "doubled", tmp_path)
    assert len(said) == 2
    assert all("has visa-lsp 0.0 (" in words for words in said)


@pytest.mark.parametrize(("threads", "count"), [(1, 10), (16, 10), (100, 40), (1_600, 640)])
def test_tasks_are_as_long_as_handing_them_out_asks_for(threads, count):
    class Workers:
        accepted: ClassVar = {f"w{number}": 4 for number in range(threads // 4)} or {"w0": 1}

    work = job._Job(Workers(), b"", job.Batch("", None, "", 1.0), None, [0.01] * 10_000)
    first, second = work._pick("w0"), work._pick("w0")
    assert abs(len(first) - count) <= 1
    assert second[0] == len(first)


@pytest.mark.parametrize("words", ["", "nowhere", "local:", "local:0", "local:1000", "local:x", "a b:1", "tcp://x"])
def test_what_is_no_address_is_said_at_once(words):
    with pytest.raises(ClusterError, match="expected "), crew_at(words, print):
        pass


@pytest.mark.parametrize("listens", first(1, [False, True]))
def test_where_no_scheduler_answers_is_said_soon(monkeypatch, listens):
    monkeypatch.setattr(crew, "_CONNECT", 0.5)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        if listens:
            one.listen()
        port = one.getsockname()[1]
        with (
            pytest.raises(ClusterError, match=f"no scheduler answers at 127.0.0.1:{port}"),
            crew_at(f"127.0.0.1:{port}", print),
        ):
            pass


@pytest.mark.full
def test_ctrl_c_ends_the_command_and_its_workers(tmp_path):
    text = (REPOSITORY / "examples" / "mandelbrot.visaasm").read_text()
    for number in range(1_000):
        (tmp_path / f"k{number}.visaasm").write_text(text.replace("V33", f"W{number}"))
    process = subprocess.Popen(
        [sys.executable, "-m", "visa_lsp", "check", str(tmp_path), "--no-cache", "--cluster", "local:2"],
        start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    until = time.monotonic() + 30
    while not _workers(process.pid) and time.monotonic() < until:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")
    while _workers(process.pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert not _workers(process.pid)


def _workers(group: int) -> set[int]:
    """Return the processes of a group but for its first."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, _, rest = path.read_text().partition(" (")
            if int(rest.rpartition(") ")[2].split()[2]) == group and int(pid) != group:
                found.add(int(pid))
    return found
