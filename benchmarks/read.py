"""The quality of pseudo-code: launches that it computes alike, instructions that it expresses, its length.

Each launch of the corpus, and each launch file of examples and tests, runs twice: as it is, and by the evaluator from its pseudo-code; buffers, printed text and faults are compared.
Texts are the same corpus's, and with ``--texts`` all texts of its folder ``dev`` too. A kernel counts as free of ``goto`` where no line
has one. vISA lines are the lines of a text that hold an instruction, and all its lines but blank ones and comments.
Times are of CPU: a text of many kernels, read first and after an edit of one, and one kernel of many instructions, both of several lengths.
With ``--execute`` the printed C of each launch is compiled and run lane by lane instead, of the corpus of both compilers and of
``--random`` N kernels, a third of them of the compiler in VISA_LSP_TEST_OCLOC if it is set; what does not run is named.
Usage: python -m benchmarks.read [--texts] [--no-launches] [--own] [--speed] [--execute [--random N [--seed N]] [NAME ..]]; ``--own`` leaves
out the corpus beside the repository.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

sys.path.extend(str(Path(__file__).parents[1] / "tests" / room) for room in ("support", "own", "oracle"))

import numpy as np
from c_runner import run_in_c
from corpus import OWN, files, place
from corpus_launches import CASES, FILES, launch_of, prepare, prepare_file, program
from pseudo_code_machine import evaluate

from benchmarks.read_random import Kernel, make_programs
from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.app.launch.launch_file import LaunchFile
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.runner import LaunchError, RunOptions, ready
from visa_lsp.app.read.fold import fold_reading
from visa_lsp.app.read.names import names_for
from visa_lsp.app.read.pseudo_code import Kept, read_data
from visa_lsp.app.read.structure import reading_of
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.machine import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from corpus_cases import Case

    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.sim.dispatch import Dispatch, RunResult

_STEPS = 50_000_000


def _by_pseudo_code(ready: ReadyRun, dispatch: Dispatch) -> RunResult:
    return evaluate(
        dispatch, lambda kernel: fold_reading(reading_of(kernel), kernel, names_for(kernel, ready.platform, None))
    )


def _collect_results(ready: ReadyRun, result: RunResult) -> tuple[dict[int | str, bytes], str, list[str]]:
    buffers = {key: array.tobytes() for key, array in ready.prepared.arrays.items()}
    return buffers, ready.printed, [str(fault) for fault in result.faults]


def _launches() -> Iterator[tuple[str, str, Callable[[], ReadyRun | None]]]:
    """Yield launches of the corpus and the project's launch files: name, platform, a function that prepares them."""
    for case in CASES:
        for platform in case.platforms:
            yield str(case), platform, partial(prepare, case, platform)
    for path, name in FILES:
        yield path.name, name or "own platform", partial(prepare_file, path, name)


def launches(*, own: bool) -> bool:
    """Print how many launches leave the same; false where one does not."""
    same: Counter[str] = Counter()
    every: Counter[str] = Counter()
    wrong = []
    for what, platform, make in _launches():
        ready = make()
        if ready is None or (own and not (ready.launch.path or OWN).is_relative_to(OWN.parents[1])):
            continue
        expected = _collect_results(ready, run(ready.dispatch(_STEPS)))
        ready = make()
        assert ready is not None
        every[platform] += 1
        if _collect_results(ready, _by_pseudo_code(ready, ready.dispatch(_STEPS))) == expected:
            same[platform] += 1
        else:
            wrong.append(f"{what} on {platform}")
    for platform, count in every.items():
        print(f"launches equal, {platform}: {same[platform]} of {count}")
    print(f"launches equal: {same.total()} of {every.total()}")
    for line in wrong:
        print(f"  differs: {line}")
    return not wrong


def texts(paths: list[Path]) -> None:
    """Print what the pseudo-code of some texts expresses, and its size."""
    counts: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    spent = 0.0
    for path in paths:
        data = path.read_bytes()
        began = time.process_time()
        reading = read_data(str(path), data, None, say=lambda _line: None)
        spent += time.process_time() - began
        if reading is None:
            counts["texts with errors"] += 1
            continue
        counts["texts"] += 1
        for kernel in reading.kernels:
            if not kernel.instructions:
                continue
            counts["bodies"] += 1
            counts["instructions"] += kernel.instructions
            counts["kept"] += kernel.kept
            counts["named"] += kernel.named
            counts["without goto"] += not any("goto " in line.text for line in kernel.lines)
            counts["structured"] += kernel.structured
            counts["lines"] += sum(bool(line.text.strip()) for line in kernel.lines)
            kept.update(line.text.strip()[5:30] for line in kernel.lines if line.text.strip().startswith("asm("))
        shown = [line.strip() for line in reading.text if line.strip() and not line.strip().startswith("//")]
        counts["visa lines"] += len(shown)
    lines, code = counts["lines"], counts["instructions"]
    print(f"{counts['texts']} texts, {counts['bodies']} bodies, {code} instructions, {spent:.1f} s of CPU")
    print(f"instructions expressed: {100 * (1 - counts['kept'] / code):.2f} % (aim 97)")
    print(f"  of them by name, as a call of an operation: {100 * counts['named'] / code:.2f} %")
    print(f"bodies without goto: {100 * counts['without goto'] / counts['bodies']:.1f} % (aim 90)")
    print(f"bodies structured: {100 * counts['structured'] / counts['bodies']:.1f} %")
    print(
        f"lines: {lines} of pseudo-code; 1:{code / lines:.2f} instructions, 1:{counts['visa lines'] / lines:.2f} vISA lines (aim 3)"
    )
    for words, count in kept.most_common(5):
        print(f"  kept as vISA: {count} x {words}")


def _many_kernels(count: int) -> str:
    """Return a text of so many lines, or a few more: kernels of the project's own corpus, each with a name of its own."""
    heads: list[str] = [".version 4.1"]
    for path in itertools.cycle(sorted(OWN.glob("run/TGLLP/*/*.visaasm"))):
        lines = path.read_text().splitlines()
        head_line = next(index for index, line in enumerate(lines) if line.startswith((".kernel", ".global_function")))
        heads += [f'.kernel "k{len(heads)}"', *lines[head_line + 1 :]] if lines[head_line].startswith(".kernel") else []
        if len(heads) >= count:
            return "\n".join(heads) + "\n"
    raise AssertionError("the corpus has no text")


def _one_kernel(count: int) -> str:
    """Return a kernel of so many lines: sums of products in a row, in eight variables."""
    names = [f"V{number}" for number in range(64, 72)]
    lines = [
        ".version 4.1",
        '.kernel "long"',
        *(f".decl {name} v_type=G type=f num_elts=16 align=GRF" for name in names),
    ]
    lines += [f"    mov (M1, 16) {name}(0,0)<1> 0x3f800000:f" for name in names]
    for number in range(count - len(lines) - 1):
        target, left, right = (names[(number * step + step) % 8] for step in (1, 3, 5))
        lines.append(f"    mad (M1, 16) {target}(0,0)<1> {left}(0,0)<1;1,0> {right}(0,0)<1;1,0> {target}(0,0)<1;1,0>")
    return "\n".join([*lines, "    ret (M1, 1)", ""])


def speed() -> None:
    """Print the time of reading, of a process that has read another text before."""

    def seconds(text: str, kept: Kept) -> float:
        began = time.process_time()
        assert read_data("long.visaasm", text.encode(), None, say=lambda _line: None, kept=kept) is not None
        return time.process_time() - began

    seconds(_many_kernels(100), {})
    for count in (5_000, 10_000, 20_000):
        text, kept = _many_kernels(count), Kept()
        whole_time = seconds(text, kept)
        edited = text.replace("    ret (M1, 1)", "    fence_local.E\n    ret (M1, 1)", 1)
        again = seconds(edited, kept)
        alone = seconds(_one_kernel(count), {})
        print(
            f"{count} lines: {whole_time:.2f} s first, {again:.2f} s after an edit of one kernel; {alone:.2f} s as one kernel"
        )


def _executions(
    names: list[str], *, own: bool, random: int, seed: int, folder: Path
) -> Iterator[tuple[str, Callable[[], ReadyRun]]]:
    """Yield launches by name: one of each kernel and platform of the corpus, then random kernels."""
    seen: set[tuple[str, str, str, str]] = set()
    for part in ("run",) if own else ("run", "run2026"):
        for case in CASES:
            for platform in case.platforms if part == "run" else _NEWEST:
                key = (part, case.source, case.kernel, platform)
                label = f"{part}/{platform}/{case.source}/{case.kernel}"
                if key in seen or (names and not any(name in label for name in names)):
                    continue
                path = place(f"{part}/{platform}/{case.source}/{case.kernel}.visaasm")
                if not path.is_file() or (own and not path.is_relative_to(OWN)):
                    continue
                seen.add(key)
                yield label, partial(_prepare_part, case, platform, part)
    newest = os.environ.get("VISA_LSP_TEST_OCLOC", "")
    parts = [("tgllp", ""), ("pvc", ""), *([("bmg", newest)] if newest else [])]
    for number, (device, ocloc) in enumerate(parts):
        share = random * (number + 1) // len(parts) - random * number // len(parts)
        for kernel, path in make_programs(share, seed, folder / device, device, ocloc) if share else ():
            yield f"random/{device}/{kernel.name}", partial(_prepare_random, kernel, path, _PLATFORMS[device])


_NEWEST = ("TGLLP", "DG2", "PVCXT", "BMG", "PTL", "CRI", "NVL")
_PLATFORMS = {"tgllp": "TGLLP", "pvc": "PVCXT", "bmg": "BMG"}
_BATCH = 60  # launches of one compilation


def _prepare_part(case: Case, platform: str, part: str) -> ReadyRun:
    launch = launch_of(case, place(f"{part}/{platform}/{case.source}"), case.source)
    options = RunOptions(platform=platform, engine="interp", checks="none")
    return ready(program(case.source, case.kernel, platform, part), launch, options)


def _prepare_random(kernel: Kernel, path: Path, platform: str) -> ReadyRun:
    module = module_of_text(path.read_text(), path, platform_named(platform), [])
    launch = LaunchFile(path.with_suffix(".launch.yaml"), path, kernel.launch())
    return ready(module, launch, RunOptions(path, platform=platform, engine="interp", checks="none"))


def execute(names: list[str], *, own: bool, random: int, seed: int) -> bool:
    """Print how many launches the printed C computes alike; false where one differs."""
    counts: Counter[str] = Counter()
    said: list[str] = []
    with TemporaryDirectory() as folder, np.errstate(all="ignore"):
        executions = iter(_executions(names, own=own, random=random, seed=seed, folder=Path(folder)))
        while batch := list(itertools.islice(executions, _BATCH)):
            pairs = []
            for name, make in batch:
                try:
                    pairs.append((name, make(), make()))
                except (LaunchError, TextProblems) as error:
                    counts["refused"] += 1
                    said.append(f"  refused: {name}: {str(error)[:100]}")
            words = run_in_c([mine for _, mine, _ in pairs])
            for (name, mine, theirs), why in zip(pairs, words, strict=True):
                if why:
                    counts["not executed"] += 1
                    said.append(f"  not executed: {name}: {why}")
                    continue
                run(theirs.dispatch(_STEPS))
                same = all(same_values(a, theirs.prepared.arrays[key]) for key, a in mine.prepared.arrays.items())
                counts["equal" if same else "differ"] += 1
                if not same:
                    said.append(f"  differs: {name}")
            print(f"{counts.total()}: {dict(counts)}", flush=True)
    for line in said:
        print(line)
    total = counts.total() or 1
    print(
        f"C executed: {counts['equal']} equal, {counts['differ']} differ, {100 * counts['not executed'] / total:.1f} % not executed"
    )
    return not counts["differ"]


def same_values(array: np.ndarray, other_array: np.ndarray) -> bool:
    """Return whether two arrays have the same bits; NaNs of floating-point arrays count as equal."""
    if array.dtype.kind == "f":
        return bool(np.array_equal(array, other_array, equal_nan=True))
    return array.tobytes() == other_array.tobytes()


def main() -> int:
    """Measure what the options say."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.read", description=__doc__)
    parser.add_argument("--texts", action="store_true", help="the texts of the folder dev too")
    parser.add_argument("--no-launches", action="store_true", help="texts alone")
    parser.add_argument("--own", action="store_true", help="the project's own corpus alone")
    parser.add_argument("--execute", action="store_true", help="compile and run the printed C")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="with --execute: so many random kernels too")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="with --random: which kernels")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="with --execute: launches with one of these words in their name"
    )
    parser.add_argument("--speed", action="store_true", help="times of long texts alone")
    args = parser.parse_args()
    if args.speed:
        speed()
        return 0
    if args.execute:
        return int(not execute(args.names, own=args.own, random=args.random, seed=args.seed))
    patterns = ("run/*/*/*.visaasm", *(("dev/[A-Z]*/*.visaasm",) if args.texts else ()))
    texts([path for path in files(*patterns) if not args.own or path.is_relative_to(OWN)])
    return int(not (args.no_launches or launches(own=args.own)))


if __name__ == "__main__":
    sys.exit(main())
