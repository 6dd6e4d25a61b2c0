"""Register pressure against the finalizer's own estimate, on every text of the corpora that it finishes.

The finalizer prints its estimate for each instruction with ``-dumpRPE``; without its local allocation, so that the estimate is
made for every kernel. A second pass without copy propagation and hoisting shows how much of the difference comes from what it
rewrites before it counts. Two figures agree that differ by no more than 10 % or 4 GRF rows. Lines are compared by rank
within a kernel. A third pass gives it half of the registers (``-TotalGRFNum``), so that kernels spill, and compares the variables that
it spills (``-ratrace``) with five of ours. At last the CPU seconds for one kernel of ``--long`` lines.
Exit 1 where a limit of ``LIMITS`` does not hold.
"""

from __future__ import annotations

import argparse
import gc
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.inputs import kernel
from benchmarks.measure import PEER, percentile, table
from visa_lsp.app.stats.figures import figures_of
from visa_lsp.flow.register_use import registers_of
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sema.lower import program_of, resolve_text
from visa_lsp.syntax.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ROOT: Final = Path(__file__).resolve().parents[1]
CORPORA: Final = (_ROOT.parent / "shared" / "corpus" / "dev", _ROOT / "tests" / "own" / "dev")
PASSES: Final = {"as it comes": (), "no rewriting": ("-nocopyprop", "-nodefhoist")}
NEAR, NEAR_ROWS = 0.1, 4
_MIN_LINES: Final = 5
# Of a pass: the share of peaks that agree, their rank correlation, that of lines: the median and the lowest tenth.
LIMITS: Final = {"as it comes": (0.88, 0.98, 0.92, 0.75), "no rewriting": (0.94, 0.98, 0.92, 0.75)}
_FILE_NAMED: Final = re.compile(r"(?m)^\s*\.kernel_attr\s+OutputAsmPath\b.*$")  # the finalizer would write there
_COUNTED: Final = re.compile(r"^\[(\d+)\] .*//[^$\n]*\$(\d+):", re.MULTILINE)
_PEAK: Final = re.compile(r"max pressure: (\d+)")
_TABLE: Final = "\nBB 0:"
_SPILLED: Final = re.compile(r"--spilled variables:(.*)")
_FEW_ROWS, _TOLD = 64, 5


@dataclass(frozen=True, slots=True)
class Estimate:
    """The finalizer's estimate of a kernel: its peak, and GRF rows by the ordinal of the instruction."""

    peak: int
    rows: dict[int, int]


@dataclass(frozen=True, slots=True)
class Spilled:
    """Spilled registers of a kernel: the share of five variables of ours that are spilled, and of all variables.

    ``largest``: the first five of ``stats``, the largest of the peak. ``longest``: those of the peak that take most rows for
    most lines. ``peak`` and ``any``: what five at random would have, of the peak, of all that are live somewhere.
    """

    largest: float
    longest: float
    peak: float
    any: float


@dataclass(frozen=True, slots=True)
class Compared:
    """A text, both peaks, and the rank correlation of its lines (None where there is none)."""

    path: Path
    ours: int
    theirs: int
    lines: float | None

    @property
    def near(self) -> bool:
        """True if the peaks agree."""
        return abs(self.ours - self.theirs) <= max(NEAR_ROWS, NEAR * self.theirs)


def estimate(text: str, platform: str, options: Sequence[str] = ()) -> Estimate | None:
    """Return the finalizer's estimate for a text of one kernel; None where it does not finish it."""
    status, printed = _finalize(text, platform, ("-dumpRPE", *options))
    peaks = list(_PEAK.finditer(printed))
    if status or not peaks:
        return None
    # It may allocate several times; the last table counts.
    start = max(0, printed.rfind(_TABLE, 0, peaks[-1].start()))
    rows: dict[int, int] = {}
    for found in _COUNTED.finditer(printed, start, peaks[-1].start()):
        rows[int(found[2])] = max(rows.get(int(found[2]), 0), int(found[1]))
    return Estimate(int(peaks[-1][1]), rows)


def _finalize(text: str, platform: str, options: Sequence[str]) -> tuple[int, str]:
    """Return the finalizer's exit status for a copy of a text in its own folder, and its output."""
    assert PEER is not None
    with tempfile.TemporaryDirectory(prefix="visa-pressure-") as folder:
        (Path(folder) / "x.visaasm").write_text(_FILE_NAMED.sub("", text), encoding="utf-8", errors="surrogateescape")
        command = [PEER, "x.visaasm", "-platform", platform, "-output", "-nolocalra", *options]
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=120
        )
    return done.returncode, done.stdout.decode("utf-8", "replace")


def spills(text: str, platform: str) -> Spilled | None:
    """Return the finalizer's spills of a text with few registers, and our estimate; None where it spills nothing."""
    _, printed = _finalize(text, platform, ("-ratrace", "-TotalGRFNum", str(_FEW_ROWS)))
    spilled = {name for found in _SPILLED.findall(printed) for name in found.split()}
    chosen, module = platform_named(platform), resolve_text(text, platform).module
    if not spilled or chosen is None or module is None:
        return None
    found = figures_of(module.bodies[0], chosen.grf_bytes, "", lives=True)
    lines = {life.name: sum(last - first + 1 for first, last in life.runs) for life in found.lives or ()}
    peak = [(variable.name, variable.rows * lines.get(variable.name, 0)) for variable in found.pressure.variables]
    longest = sorted(peak, key=lambda one: -one[1])
    shares = [
        len(spilled & set(names)) / max(1, len(names))
        for names in (
            [name for name, _ in peak[:_TOLD]],
            [name for name, _ in longest[:_TOLD]],
            [name for name, _ in peak],
            list(lines),
        )
    ]
    return Spilled(*shares)


def texts(corpora: Iterable[Path] = CORPORA) -> list[tuple[Path, str]]:
    """Return the texts of the corpora with their platforms."""
    found = [path for corpus in corpora for path in sorted(corpus.glob("[A-Z]*/*.visaasm"))]
    return [(path, path.parent.name) for path in found if platform_named(path.parent.name) is not None]


def ours(text: str, platform: str) -> list[int] | None:
    """Return our GRF rows for each instruction of a text of one kernel; None where there is no program."""
    chosen, module = platform_named(platform), resolve_text(text, platform).module
    if module is None or chosen is None or len(module.bodies) != 1:
        return None
    return registers_of(module.bodies[0], chosen.grf_bytes).grf_rows


def compare(path: Path, rows: list[int], theirs: Estimate) -> Compared:
    """Return both figures of a text."""
    both = [(rows[number], found) for number, found in theirs.rows.items() if number < len(rows)]
    lines = correlation([a for a, _ in both], [b for _, b in both]) if len(both) >= _MIN_LINES else None
    return Compared(path, max(rows, default=0), theirs.peak, lines)


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return the rank correlation (Spearman) of two series; None where one of them does not change."""
    try:
        return statistics.correlation(_ranks(one), _ranks(other))
    except statistics.StatisticsError:
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value; equal values share the mean of theirs."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [statistics.fmean(places[value]) for value in values]


def figures(compared: Sequence[Compared]) -> tuple[float, float, float, float]:
    """Return the share of peaks that agree, their rank correlation, that of lines: the median and the lowest tenth."""
    lines = [one.lines for one in compared if one.lines is not None]
    near = sum(one.near for one in compared) / len(compared)
    peaks = correlation([one.ours for one in compared], [one.theirs for one in compared])
    return near, peaks or 0.0, statistics.median(lines), percentile(lines, 0.1)


def _distance(one: Compared) -> tuple[bool, float]:
    return one.near, -abs(one.ours - one.theirs) / max(1, one.theirs)


def main(corpora: Sequence[Path], show: int) -> int:
    """Compare, print, and say whether the limits hold."""
    if PEER is None:
        print("GenX_IR is not installed (apt-get install libigc-tools): nothing to compare")
        return 0
    inputs = [(path, platform, path.read_text("utf-8", "surrogateescape")) for path, platform in texts(corpora)]
    known = [
        (path, platform, text, rows) for path, platform, text in inputs if (rows := ours(text, platform)) is not None
    ]
    status, rows_of_table = 0, []
    worst: dict[str, list[Compared]] = {}
    for name, options in PASSES.items():
        answers = [(path, rows, estimate(text, platform, options)) for path, platform, text, rows in known]
        compared = [compare(path, rows, theirs) for path, rows, theirs in answers if theirs is not None]
        if not compared:
            print(f"{name}: the finalizer finished none of {len(known)} texts")
            return 1
        found = figures(compared)
        status |= any(value < limit for value, limit in zip(found, LIMITS[name], strict=True))
        words = [f"{value:.3f} (at least {limit})" for value, limit in zip(found, LIMITS[name], strict=True)]
        rows_of_table.append([name, len(compared), *words])
        worst[name] = sorted(compared, key=_distance)[:show]
    head = ["finalizer", "texts", "peaks near", "rank of peaks", "rank of lines, median", "lowest tenth"]
    table(f"register pressure: ours against the finalizer's ({len(known)} texts)", head, rows_of_table)
    for name, some in worst.items():
        cells = [[f"{one.path.parent.name}/{one.path.name}", one.ours, one.theirs] for one in some]
        table(f"farthest off, {name}", ["text", "ours", "finalizer"], cells)
    spilled = [one for _, platform, text, _ in known if (one := spills(text, platform)) is not None]
    if spilled:
        words = ("largest", "longest", "peak", "any")
        shares = [[word, f"{statistics.fmean(getattr(one, word) for one in spilled):.0%}"] for word in words]
        table(
            f"of five variables, those that are spilled with {_FEW_ROWS} GRF rows ({len(spilled)} texts spill)",
            ["five of", "spilled"],
            shares,
        )
    return status


def measure(lines: int) -> None:
    """Print the CPU seconds for the pressure of one long kernel, and those for its program."""
    gc.set_threshold(100_000, 50, 100)  # as the commands do
    text = kernel(lines)
    start = time.process_time()
    module = program_of(Document.parse(text), platform_named("TGLLP"))
    assert module is not None
    between = time.process_time()
    use = registers_of(module.bodies[0], 32)
    for pressure in (use.general, use.flags, use.addresses):
        assert len(pressure.at) == len(module.bodies[0].instructions)
    end = time.process_time()
    print(
        f"one kernel of {lines:,} lines: {between - start:.1f} s CPU to its program, {end - between:.1f} s for all pressure"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pressure")
    parser.add_argument(
        "corpora",
        nargs="*",
        type=Path,
        default=CORPORA,
        metavar="FOLDER",
        help="corpus: a folder of texts per platform",
    )
    parser.add_argument(
        "--show", type=int, default=10, metavar="N", help="list the N texts with the largest differences"
    )
    parser.add_argument("--long", type=int, default=200_000, metavar="N", help="number of lines of the timed kernel")
    given = parser.parse_args()
    outcome = main(given.corpora, given.show)
    measure(given.long)
    raise SystemExit(outcome)
