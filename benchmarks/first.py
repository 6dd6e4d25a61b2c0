"""First runs: every kernel of the corpora, and ten long texts, as whole processes with an empty cache.

The launch of a kernel is the one that ``run --init`` proposes, with --groups groups. The engine ``auto`` is compared with the
better of ``jit`` and ``interp``: it may take 1.2 times its CPU time, or 1 s. A kernel that takes more is measured again with ``auto``
and the better engine, in rounds of which the medians count. Prints a table; exit 1 where a kernel still takes more.
Usage: python -m benchmarks.first [--groups N] [--platform NAME] [--checks none|all] [--only TEXT] [--rounds N]
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks.inputs import CORPUS, kernel
from benchmarks.measure import Cost, Machine, compile_package, measure_in_turns, product, run, table
from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.proposal import propose_run
from visa_lsp.app.launch.runner import LaunchError

if TYPE_CHECKING:
    from collections.abc import Iterator

ALLOWED: Final = 1.2  # CPU time of auto to that of the better engine
ALLOWED_SECONDS: Final = 1.0
LINES_OF_LONG_TEXTS: Final = (1_000, 12_000)
_MAX_LONG_TEXTS: Final = 10
_ROUNDS: Final = 5  # of a kernel that took more
_STEPS: Final = 3_000_000  # some 20 s of the interpreter: a launch that was made up may never end


def short_texts(platform: str, corpora: str = "run") -> Iterator[tuple[str, Path]]:
    """Yield the names of the kernels of a platform and their texts, in the corpora whose names match."""
    for path in sorted(CORPUS.glob(f"{corpora}/{platform}/*/*.visaasm")):
        if ".kernel " in path.read_text("utf-8"):
            yield path.stem, path


def long_texts(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield ten texts of 1,000 to 12,000 lines, evenly spaced by length: of both corpora, else made from a kernel of the corpus."""
    by_lines = {}
    for path in sorted(CORPUS.glob("run*/*/*/*.visaasm")):
        text = path.read_text("utf-8")
        if ".kernel " in text and LINES_OF_LONG_TEXTS[0] <= (lines := text.count("\n")) <= LINES_OF_LONG_TEXTS[1]:
            by_lines[lines] = path
    chosen = sorted(by_lines.items())
    if len(chosen) >= _MAX_LONG_TEXTS:
        step = (len(chosen) - 1) / (_MAX_LONG_TEXTS - 1)
        for lines, path in (chosen[round(step * number)] for number in range(_MAX_LONG_TEXTS)):
            yield f"{path.parts[-3]} {path.stem}, {lines} lines", path
        return
    for number in range(1, _MAX_LONG_TEXTS + 1):
        lines = LINES_OF_LONG_TEXTS[1] * number // _MAX_LONG_TEXTS
        path = folder / f"long{lines}.visaasm"
        path.write_text(kernel(lines), "utf-8")
        yield f"{lines} lines", path


def launch_of(path: Path, number: int, groups: int, folder: Path) -> Path | str:
    """Write the launch that is proposed for a text into a folder, with its program; the reason where there is none."""
    platform = path.parts[-3] if path.is_relative_to(CORPUS) else "TGLLP"
    where = folder / f"{number}.launch.yaml"
    try:
        made = propose_run(path.read_text("utf-8"), RunOptions(platform=platform, path=path), path.with_suffix(".launch.yaml"), {"groups": [groups, 1, 1]}).proposal  # fmt: skip
    except (LaunchError, TextProblems) as error:
        return str(error)
    where.write_text((made.even or made).written.text, "utf-8")
    return where


def measure(
    path: Path, launch: Path, checks: str, rounds: int, engines: tuple[str, ...] = ("auto", "jit", "interp")
) -> dict[str, Cost]:
    """Return the cost of the first run with each engine, after a process that is not measured: one after a pause takes longer."""
    command = product(
        "run", str(path), "--launch", str(launch), "--checks", checks, "--budget", str(_STEPS), "--engine"
    )
    run([*command, "auto"], kept="off")
    return measure_in_turns({name: partial(run, [*command, name], kept="off") for name in engines}, rounds)


def ratio(costs: dict[str, Cost]) -> float:
    """Return the CPU time of ``auto`` as a multiple of that of the better engine."""
    return costs["auto"].cpu / min(costs["jit"].cpu, costs["interp"].cpu)


def is_over(costs: dict[str, Cost]) -> bool:
    """Return whether ``auto`` takes more than it may."""
    return ratio(costs) > ALLOWED and costs["auto"].cpu > ALLOWED_SECONDS


def main() -> None:
    """Run the benchmark of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--groups", type=int, default=64)
    parser.add_argument("--platform", default="TGLLP")
    parser.add_argument("--checks", default="none")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    compile_package()
    machine, late = Machine(), 0
    rows: list[list[object]] = []
    with TemporaryDirectory(prefix="visa-bench-") as name:
        folder = Path(name)
        texts = [t for t in (*short_texts(asked.platform, "run*"), *long_texts(folder)) if asked.only in t[0]]
        for number, (words, path) in enumerate(texts):
            launch = launch_of(path, number, asked.groups, folder)
            if isinstance(launch, str):
                rows.append([words, launch])
                continue
            costs = measure(path, launch, asked.checks, asked.rounds)
            if again := is_over(costs):
                better = min("jit", "interp", key=lambda name: costs[name].cpu)
                costs |= measure(path, launch, asked.checks, max(_ROUNDS, asked.rounds), ("auto", better))
            late += is_over(costs)
            status = {cost.status for cost in costs.values()}
            row = [words, costs["auto"].cpu, costs["jit"].cpu, costs["interp"].cpu, ratio(costs), costs["auto"].wall]
            note = "over" if is_over(costs) else "measured again" if again else ""
            rows.append([*row, note, "" if status == {0} else f"exit {sorted(status)}"])
    rows = [[*row, *[""] * (8 - len(row))] for row in rows]
    table(
        f"first runs, {asked.groups} groups, checks {asked.checks}, CPU seconds of the process ({machine.words()})",
        ["", "auto", "jit", "interp", "auto/better", "auto wall s", "", ""],
        rows,
    )
    print(
        f"{late} of {len(rows)} take more than {ALLOWED} times the better engine's CPU time and more than {ALLOWED_SECONDS} s"
    )
    sys.exit(bool(late))


if __name__ == "__main__":
    main()
