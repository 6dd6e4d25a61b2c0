"""The quality of pseudo-code: launches that it computes alike, instructions that it expresses, its length.

Each launch of the corpus, and each launch file of examples and tests, runs twice: as it is, and by the evaluator from its pseudo-code; buffers, printed text and faults are compared.
Texts are the same corpus's, and with ``--texts`` all texts of its folder ``dev`` too. A kernel counts as free of ``goto`` where no line
has one. vISA lines are the lines of a text that hold an instruction, and all its lines but blank ones and comments.
Times are of CPU: a text of many kernels, read first and after an edit of one, and one kernel of many instructions, both of several lengths.
Usage: python -m benchmarks.read [--texts] [--no-launches] [--own] [--speed]; ``--own`` leaves out the corpus beside the repository.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.extend(str(Path(__file__).parents[1] / "tests" / room) for room in ("support", "own", "oracle"))

from corpus import OWN, files
from corpus_launches import CASES, FILES, prepare, prepare_file
from pseudo_code_machine import evaluate

from visa_lsp.app.read.fold import fold_reading
from visa_lsp.app.read.names import names_for
from visa_lsp.app.read.pseudo_code import Kept, read_data
from visa_lsp.app.read.structure import reading_of
from visa_lsp.sim.machine import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.app.launch.runner import ReadyRun
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
        found = read_data(str(path), data, None, say=lambda _line: None)
        spent += time.process_time() - began
        if found is None:
            counts["texts with errors"] += 1
            continue
        counts["texts"] += 1
        for kernel in found.kernels:
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
        shown = [line.strip() for line in found.text if line.strip() and not line.strip().startswith("//")]
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
        first = next(at for at, line in enumerate(lines) if line.startswith((".kernel", ".global_function")))
        heads += [f'.kernel "k{len(heads)}"', *lines[first + 1 :]] if lines[first].startswith(".kernel") else []
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
        to, one, other = (names[(number * step + step) % 8] for step in (1, 3, 5))
        lines.append(f"    mad (M1, 16) {to}(0,0)<1> {one}(0,0)<1;1,0> {other}(0,0)<1;1,0> {to}(0,0)<1;1,0>")
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
        first = seconds(text, kept)
        edited = text.replace("    ret (M1, 1)", "    fence_local.E\n    ret (M1, 1)", 1)
        again = seconds(edited, kept)
        alone = seconds(_one_kernel(count), {})
        print(
            f"{count} lines: {first:.2f} s first, {again:.2f} s after an edit of one kernel; {alone:.2f} s as one kernel"
        )


def main() -> int:
    """Measure what the options say."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.read", description=__doc__)
    parser.add_argument("--texts", action="store_true", help="the texts of the folder dev too")
    parser.add_argument("--no-launches", action="store_true", help="texts alone")
    parser.add_argument("--own", action="store_true", help="the project's own corpus alone")
    parser.add_argument("--speed", action="store_true", help="times of long texts alone")
    args = parser.parse_args()
    if args.speed:
        speed()
        return 0
    patterns = ("run/*/*/*.visaasm", *(("dev/[A-Z]*/*.visaasm",) if args.texts else ()))
    texts([path for path in files(*patterns) if not args.own or path.is_relative_to(OWN)])
    return int(not (args.no_launches or launches(own=args.own)))


if __name__ == "__main__":
    sys.exit(main())
