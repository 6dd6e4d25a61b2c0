"""Common parts of the benchmarks: processes measured from outside, and tables of ratios.

CPU is user and system time of the process and its children; peak is its largest resident set. Commands of one table run
in turns, so that a change of load meets all of them; the table shows medians.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import visa_lsp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

T = TypeVar("T")

PRODUCT = [sys.executable, "-c", "import sys, visa_lsp.cli.main as m; sys.exit(getattr(m, 'program', m.main)())"]
PEER = shutil.which("GenX_IR")


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run of a command."""

    cpu: float
    wall: float
    peak_mb: float
    status: int


def read_number(doc: str, name: str, default: float) -> float:
    """Return the number on the command line of a benchmark that takes one; ``doc`` is its help."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{Path(sys.argv[0]).stem}", description=doc, formatter_class=form
    )
    parser.add_argument(name, nargs="?", type=type(default), default=default, metavar=name.upper())
    return float(getattr(parser.parse_args(), name))


class Machine:
    """The speed of the machine during a measurement: on a shared one it may change by a factor of two."""

    def __init__(self) -> None:
        self._before, self._pace = _ticks(), pace()

    def words(self) -> str:
        """Return its load, the time of a plain loop at the beginning and now, and the share of time of other machines."""
        given, taken = [after - before for before, after in zip(self._before, _ticks(), strict=True)]
        stolen = 100 * taken / max(1, given + taken)
        load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        return f"{load}, a plain loop {self._pace:.0f} and {pace():.0f} ms, {stolen:.0f} % of the time stolen"


def _ticks() -> tuple[int, int]:
    """Return the ticks that programs had, and those that other machines took meanwhile; zeros where the system does not tell."""
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text("ascii").split("\n")[0].split()[1:]]
    except (OSError, ValueError):
        return 0, 0
    return sum(fields[:3]), fields[7] if len(fields) > 7 else 0


def pace() -> float:
    """Return the median milliseconds of a loop of 300,000 additions."""
    times = []
    for _ in range(7):
        start, total = time.perf_counter(), 0
        for number in range(300_000):
            total += number
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def compile_package() -> None:
    """Byte-compile the package, as an installed one is: a checkout that was never run, or may not write, has no bytecode."""
    compileall.compile_dir(str(Path(visa_lsp.__file__).parent), quiet=1)


def run(command: Sequence[str], folder: Path | None = None, kept: str | None = None) -> Cost:
    """Run a command to its end; its output is dropped. ``kept`` is the folder of its cache, or ``off``."""
    start = time.perf_counter()
    env = None if kept is None else {**os.environ, "VISA_LSP_CACHE": kept}
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, process.returncode)


def measure_in_turns(jobs: Mapping[str, Callable[[], Cost]], rounds: int) -> dict[str, Cost]:
    """Return the median cost of each job, run in turns."""
    return {
        name: Cost(
            statistics.median(c.cpu for c in some),
            statistics.median(c.wall for c in some),
            statistics.median(c.peak_mb for c in some),
            some[-1].status,
        )
        for name, some in in_turns(jobs, rounds).items()
    }


def in_turns(jobs: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """Return the results of each job in each round; rounds alternate, so that other load affects all jobs."""
    found: dict[str, list[T]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            found[name].append(job())
    return found


def product(*arguments: str) -> list[str]:
    """Return the product's command line."""
    return [*PRODUCT, *arguments]


def peer(text: Path, folder: Path) -> list[str]:
    """Return the finalizer on a text: it parses, checks and stops before it makes code."""
    assert PEER is not None
    name = str(folder / (text.stem + ".isa"))
    return [PEER, str(text), "-platform", "TGLLP", "-dumpvisa", "-stopafter", "CFG", "-outputCisaBinaryName", name]


def folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for inputs and the peer's output."""
    return tempfile.TemporaryDirectory(prefix="visa-bench-")


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that so large a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    cells = [[f"{c:.2f}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    widths = [max(len(r[i]) for r in [list(head), *cells]) for i in range(len(head))]
    print(f"\n{title}")
    for row in [list(head), *cells]:
        print(
            "  "
            + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        )


def measure_call(function: Callable[[Any], Any], item: Any) -> tuple[Any, float]:
    """Return the result of a function, and its CPU seconds."""
    began = time.process_time()
    return function(item), time.process_time() - began


def work_of_process() -> float:
    """Return the CPU seconds that this process has taken so far."""
    return time.process_time()
