"""The cost and speedup of a cluster: time for a task, from one worker to two, and the same reports as without one.

``work`` is CPU time of the processes that do the work, ``worker`` that of the Dask workers, ``client`` that of the command with its
scheduler: a scheduler of its own takes a part of that. CPU time counts, for wall time is what a shared machine makes of it.
Usage: python -m benchmarks.cluster [TEXTS]; exit status 1 where a report is another one.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.disguise import disguise_text
from benchmarks.measure import PRODUCT, Machine, compile_package, folder, measure_call, read_number, work_of_process
from visa_lsp.app.check.runner import guess, judge
from visa_lsp.app.check.suppress import Selection
from visa_lsp.app.check.verdict import Task
from visa_lsp.cluster import job
from visa_lsp.cluster.crew import crew_at, workers_here

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN = Path(__file__).resolve().parents[1] / "tests" / "own" / "dev"
SAXPY = Path(__file__).resolve().parents[1] / "examples" / "saxpy.visaasm"
EMPTY_TASKS = 1_000
LAUNCHES = 500
SWEEP = """\
file: saxpy.visaasm
groups: [ceil(n / 16), 1, 1]
local_size: [16]
sweep: {{n: [{sizes}], seed: [{seeds}]}}
args:
  x: {{buffer: {{dtype: float32, shape: [n], init: random}}}}
  y: {{buffer: {{dtype: float32, shape: [n], init: ones}}}}
  a: {{value: 2.5}}
  n: {{value: n}}
"""


def main(count: int) -> int:
    compile_package()
    machine = Machine()
    with folder() as name:
        room = Path(name)
        (room / "texts").mkdir()
        paths = _texts(room / "texts", count)
        print(f"{count} texts, {sum(path.stat().st_size for path in paths):,} bytes")
        _run_command(room, ["check", "texts", "--no-cache"])  # what the parser learns, it knows from here on
        walls = [_measure(paths, workers) for workers in (1, 2)]
        print(f"check, from 1 worker to 2: {walls[0] / walls[1]:.2f} times as quick; {machine.words()}")
        return _same(room)


def _texts(into: Path, count: int) -> list[Path]:
    """Return texts of our own, each in another disguise, every fifth with mistakes."""
    sources = sorted(OWN.glob("*/*.visaasm"))
    draw = random.Random(1)
    paths = []
    for number in range(count):
        text, _ = disguise_text(sources[number % len(sources)].read_text(encoding="utf-8"), draw)
        if number % 5 == 0:
            text = re.sub(r"(?m)^( +)mov ", r"\1nov ", text, count=3)
        paths.append(into / f"k{number:05}.visaasm")
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def _measure(paths: Sequence[Path], workers: int) -> float:
    """Run empty tasks and a check on a number of workers; return the wall seconds of the check."""
    wall = 0.0
    most = job.MAX_TASK_ITEMS
    with workers_here(workers) as address, crew_at(address, print) as crew:
        from distributed import Client

        with Client(address, set_as_default=False) as watcher:
            # The first tasks start the processes; the second ones load what a check needs, and keep on disk what lines say.
            _run(crew, partial(measure_call, abs), [0] * 50 * workers)
            _run(crew, partial(measure_call, judge), [_task(path) for path in paths])

            def spent() -> tuple[float, float, float]:
                return time.perf_counter(), time.process_time(), sum(watcher.run(work_of_process).values())

            for words, work, items, guesses, job.MAX_TASK_ITEMS in (
                (f"{EMPTY_TASKS} tasks of one item", abs, [0] * EMPTY_TASKS, [1.0] * EMPTY_TASKS, 1),
                (
                    "check",
                    judge,
                    [_task(path) for path in paths],
                    [guess(_task(path)) for path in paths],
                    most,
                ),
            ):
                before = spent()
                cpu = sum(seconds for _, seconds in _run(crew, partial(measure_call, work), items, guesses))
                wall, client, worker = (b - a for a, b in zip(before, spent(), strict=True))
                each = 1e3 / len(items)
                print(
                    f"{workers} worker{'s' * (workers != 1)}, {words}: wall {wall:.2f} s, work {cpu:.2f} s, worker {worker:.2f} s, "
                    f"client {client:.2f} s; per item: wall {wall * each:.2f} ms, work {cpu * each:.2f}, worker {worker * each:.2f}, "
                    f"client {client * each:.2f}"
                )
    return wall


def _run(crew, work, items, guesses=None):  # noqa: ANN001, ANN202
    def fail(item: object, why: str) -> None:
        raise SystemExit(f"{item}: {why}")

    return list(job.results(crew, work, items, guesses or [0.02] * len(items), fail, lambda item: item, 300.0))


def _task(path: Path) -> Task:
    return Task(str(path), str(path), None, Selection())


def _same(room: Path) -> int:
    """Return whether check and a sweep print the same on clusters of 2 and 4 workers as without one."""
    (room / "saxpy.visaasm").write_bytes(SAXPY.read_bytes())
    sizes, seeds = range(1, LAUNCHES // 20 + 1), range(20)
    launch = SWEEP.format(sizes=", ".join(map(str, sizes)), seeds=", ".join(map(str, seeds)))
    (room / "saxpy.launch.yaml").write_text(launch, encoding="utf-8")
    wrong = 0
    for what, words in (
        ("check", ["check", "texts", "--no-cache", "--format", "json"]),
        ("sweep", ["run", "--sweep", "saxpy.launch.yaml", "--format", "json"]),
    ):
        plain = _run_command(room, words)
        for workers in (2, 4):
            same = _run_command(room, [*words, "--cluster", f"local:{workers}"]) == plain
            wrong += not same
            how = f"{len(json.loads(plain[1])['points'])} launches" if what == "sweep" else f"{len(plain[1]):,} bytes"
            print(f"{what} on {workers} workers, {how}: {'the same' if same else 'ANOTHER REPORT'}")
    return 1 if wrong else 0


def _run_command(room: Path, words: Sequence[str]) -> tuple[int, str, str]:
    """Exit status and output of a command, without the seconds that launches took."""
    done = subprocess.run([*PRODUCT, *words], cwd=room, capture_output=True, text=True, check=False)
    return done.returncode, re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', done.stdout), done.stderr


if __name__ == "__main__":
    sys.exit(main(int(read_number(__doc__ or "", "texts", 2_000))))
