"""Verifies the machine code of every text of folders and prints what came of it.

    python -m benchmarks.verify FOLDER... [--iga PATH] [--platform P] [--options S]... [--five] [--sample N] [--cost]

Each kernel that is not equal with its reason, as it comes; a table with a row for each folder: kernels, equal, different, with a hazard, not modelled,
not verified; the CPU time, and the kernels that took most of it. ``--options`` are those of the finalizer, a row for each; ``--five`` takes scheduling
off, few registers, 256 registers, joined messages, and debug information. ``--sample`` takes N texts of each folder, evenly spaced.
Launches are generated without trial runs, which changes the lengths of buffers only.
``--cost`` prints the CPU time of an instruction of the text and of the machine code, both with their logs, and of decoding a kernel, instead: for each
kernel, and for all. A kernel is left after 20,000 instructions of its text.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from visa_lsp.app.errors import UserError
from visa_lsp.app.external_tools import split_options
from visa_lsp.app.gen.gen_document import read_input
from visa_lsp.app.verify.both_runs import compare_with, run_text
from visa_lsp.app.verify.machine_source import CodeRequest, code_of_text
from visa_lsp.app.verify.verified_inputs import COMPILERS_OWN, VerifyOptions, verify
from visa_lsp.app.verify.verify_launches import launches_of
from visa_lsp.app.verify.verify_report import Answer, InputProblem
from visa_lsp.companions import kernels_in
from visa_lsp.eu.scoreboard import Scoreboard
from visa_lsp.isa.platforms import platform_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.app.gen.gen_document import Source
    from visa_lsp.isa.platforms import Platform

FIVE = ("-noschedule", "-TotalGRFNum 48", "-TotalGRFNum 256", "-enableSendFusion", "-debug")
_TEXT, _CODE, _WATCHED, _DECODING = "text", "machine code", "with scoreboard", "decoding"
_COST_STEPS = 20_000  # of the text of a kernel
_SLOWEST = 5
_COLUMNS = (*(answer.value for answer in Answer), "not verified")


class _Costs:
    """CPU seconds and counts of several kinds of work."""

    def __init__(self) -> None:
        self.seconds, self.counts = defaultdict[str, float](float), Counter[str]()

    def add(self, what: str, began: float, count: int) -> None:
        """Add the time since a clock of the process."""
        self.seconds[what] += time.process_time() - began
        self.counts[what] += count

    def include(self, other: _Costs) -> None:
        """Add another object's costs."""
        for what, count in other.counts.items():
            self.seconds[what] += other.seconds[what]
            self.counts[what] += count

    def each(self, what: str) -> float:
        """Return the seconds of one instruction, or kernel."""
        return self.seconds[what] / max(1, self.counts[what])

    def line(self) -> str:
        """Return the costs in words."""
        text, alone, watched = (1e6 * self.each(what) for what in (_TEXT, _CODE, _WATCHED))
        factor = watched / text if text else 0.0
        return (
            f"text {text:6.1f} us, machine code {alone:6.1f} us, with scoreboard {watched:6.1f} us ({factor:.2f}x) an instruction, "
            f"{self.counts[_TEXT]} and {self.counts[_CODE]} instructions; decoding {1e3 * self.each(_DECODING):.0f} ms"
        )


def cost_of(path: Path, kernel: str, source: Source, target: Platform, iga: str | None) -> _Costs:
    """Return the costs of a kernel: of its text, of its machine code without and with its scoreboard, and of decoding it."""
    costs = _Costs()
    launches = list(launches_of(path, None, target.name, kernel, path.read_bytes(), tries=False))
    body = launches[0].ready().prepared.dispatch.kernel
    began = time.process_time()
    code = code_of_text(source, str(path), body, target, CodeRequest(iga=iga))
    costs.add(_DECODING, began, 1)
    board = Scoreboard(code, target)
    for launch in launches:
        began = time.process_time()
        run = run_text(launch)
        costs.add(_TEXT, began, run.result.steps)
        for name, watchers in ((_CODE, []), (_WATCHED, [board])):
            began = time.process_time()
            outcome = compare_with(run, code, source.text, watchers)
            costs.add(name, began, outcome.steps)
        if costs.counts[_TEXT] > _COST_STEPS:
            break
    return costs


def print_costs(texts: Iterable[Path], platform: str | None, iga: str | None) -> None:
    """Print the costs of each kernel of some texts, and of all."""
    total, factors = _Costs(), list[float]()
    for path in texts:
        source = read_input(str(path), None, platform)
        target = platform_named(source.platform)
        assert target is not None
        for kernel in kernels_in(source.text):
            if kernel == COMPILERS_OWN:
                continue
            try:
                costs = cost_of(path, kernel, source, target, iga)
            except UserError as error:
                print(f"left out: {error}", flush=True)
                continue
            total.include(costs)
            factors.append(costs.each(_WATCHED) / max(1e-9, costs.each(_TEXT)))
            print(f"{kernel:20} {costs.line()}", flush=True)
    print(f"{f'{total.counts[_DECODING]} kernels':20} {total.line()}")
    print(f"median of the factors {median(factors or [0.0]):.2f}; {sum(total.seconds.values()):.0f} s of CPU")


def sampled(folder: Path, count: int | None) -> list[Path]:
    """Return the texts of a folder, or ``count`` of them, evenly spaced; a text stands for itself."""
    texts = sorted(folder.rglob("*.visaasm")) if folder.is_dir() else [folder]
    if count is None or count >= len(texts):
        return texts
    return [texts[n * len(texts) // count] for n in range(count)]


def main() -> None:
    """Verify the folders of the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--iga")
    parser.add_argument("--platform")
    parser.add_argument("--options", action="append", help="options of the finalizer, as one quoted word")
    parser.add_argument("--five", action="store_true", help="five kinds of options")
    parser.add_argument("--sample", type=int, help="texts of each folder")
    parser.add_argument("--cost", action="store_true", help="print the CPU time of an instruction instead")
    args = parser.parse_args()
    if args.cost:
        texts = (path for folder in args.folders for path in sampled(folder, args.sample))
        print_costs(texts, args.platform, args.iga)
        return
    table: list[str] = []
    began, threads, times = time.process_time(), 0, list[tuple[float, str]]()
    for folder, words in product(args.folders, FIVE if args.five else args.options or [""]):
        counts: Counter[str] = Counter()
        asked = VerifyOptions(
            platform=args.platform, options=split_options(words, "--options"), iga=args.iga, tries=False
        )
        for text in sampled(folder, args.sample):
            start = time.process_time()
            for row in verify(str(text), asked):
                if isinstance(row, InputProblem):
                    counts[_COLUMNS[-1]] += 1
                    print(f"{row.path} {words}: not verified: {row.message}", flush=True)
                    continue
                counts[row.answer.value] += 1
                threads += row.threads
                if row.answer is not Answer.EQUAL:
                    said = row.first.place if row.first else "; ".join(what for what, _ in row.unmodelled)
                    said = said or "; ".join(f"{h.gen} needs {h.needs}" for h in row.hazards[:1])
                    print(f"{row.path} {words}: {row.kernel}: {row.answer.value}: {said}", flush=True)
            times.append((time.process_time() - start, f"{text} {words}"))
        total = sum(counts.values())
        table.append(f"{f'{folder} {words}':40} {total:7} " + " ".join(f"{counts[name]:12}" for name in _COLUMNS))
    print(f"{'folder':40} kernels " + " ".join(f"{name:>12}" for name in _COLUMNS), *table, sep="\n")
    print(
        "most time:", *(f"  {seconds:6.1f} s {name}" for seconds, name in sorted(times)[: -_SLOWEST - 1 : -1]), sep="\n"
    )
    print(f"{time.process_time() - began:.0f} s of CPU, {threads} threads")


if __name__ == "__main__":
    main()
