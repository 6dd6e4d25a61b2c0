"""Verifies the machine code of every text of folders and prints what came of it.

    python -m benchmarks.verify FOLDER... [--iga PATH] [--platform P] [--options S]... [--five] [--limit N] [--cost]

A table with a row for each folder: kernels, equal, different, with a hazard, not modelled, not verified; then each kernel that is not equal
with its reason, and the CPU time. ``--options`` are those of the finalizer, a row for each; ``--five`` takes scheduling off, few registers, 256
registers, joined messages, and debug information. Launches are generated without trial runs, which changes the lengths of buffers only.
``--cost`` prints the CPU time of an instruction of the text and of the machine code, both with their logs, and of decoding a kernel, instead.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING

from visa_lsp.app.external_tools import split_options
from visa_lsp.app.gen.gen_document import read_input
from visa_lsp.app.verify.both_runs import compare_with
from visa_lsp.app.verify.covering_launches import text_runs
from visa_lsp.app.verify.machine_source import CodeRequest, code_of_text
from visa_lsp.app.verify.verified_inputs import COMPILERS_OWN, VerifyOptions, verify
from visa_lsp.app.verify.verify_launches import beside_of, launches_of
from visa_lsp.app.verify.verify_report import Answer, InputProblem
from visa_lsp.companions import kernels_in
from visa_lsp.eu.scoreboard import Scoreboard
from visa_lsp.isa.platforms import platform_named

if TYPE_CHECKING:
    from collections.abc import Iterable

FIVE = ("-noschedule", "-TotalGRFNum 48", "-TotalGRFNum 256", "-enableSendFusion", "-debug")
_COLUMNS = (*(answer.value for answer in Answer), "not verified")


def print_costs(texts: Iterable[Path], platform: str | None, iga: str | None) -> None:
    """Print the CPU time of an instruction of the text, of the machine code without and with its scoreboard, and of decoding a kernel."""
    seconds, counts = defaultdict[str, float](float), Counter[str]()
    for path in texts:
        source = read_input(str(path), None, platform)
        target = platform_named(source.platform)
        assert target is not None
        for kernel in kernels_in(source.text):
            if kernel == COMPILERS_OWN:
                continue
            launches = list(launches_of(path, None, target.name, kernel, path.read_bytes(), tries=False))
            body = launches[0].ready().prepared.dispatch.kernel
            began = time.process_time()
            code = code_of_text(source, str(path), body, target, CodeRequest(iga=iga))
            seconds["decoding"] += time.process_time() - began
            counts["decoding"] += 1
            board = Scoreboard(code, target)
            runs = text_runs(launches, beside_of(str(path), None))
            while True:
                began = time.process_time()
                run = next(runs, None)
                seconds["text"] += time.process_time() - began
                if run is None:
                    break
                counts["text"] += run.result.steps
                for name, watchers in (("machine code", []), ("with scoreboard", [board])):
                    began = time.process_time()
                    outcome = compare_with(run, code, source.text, watchers)
                    seconds[name] += time.process_time() - began
                    counts[name] += outcome.steps
    for name, count in counts.items():
        print(f"{name:16} {1e6 * seconds[name] / max(1, count):12.1f} us, {count} in {seconds[name]:.1f} s of CPU")


def main() -> None:
    """Verify the folders of the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--iga")
    parser.add_argument("--platform")
    parser.add_argument("--options", action="append", help="options of the finalizer, as one quoted word")
    parser.add_argument("--five", action="store_true", help="five kinds of options")
    parser.add_argument("--limit", type=int, help="texts of each folder")
    parser.add_argument("--cost", action="store_true", help="print the CPU time of an instruction instead")
    args = parser.parse_args()
    if args.cost:
        texts = (path for folder in args.folders for path in sorted(folder.rglob("*.visaasm"))[: args.limit])
        print_costs(texts, args.platform, args.iga)
        return
    lines: list[str] = []
    print(f"{'folder':40} kernels " + " ".join(f"{name:>12}" for name in _COLUMNS), flush=True)
    began = time.process_time()
    threads = 0
    for folder, words in product(args.folders, FIVE if args.five else args.options or [""]):
        counts: Counter[str] = Counter()
        options = split_options(words, "--options")
        asked = VerifyOptions(platform=args.platform, options=options, iga=args.iga, tries=False)
        texts = sorted(folder.rglob("*.visaasm"))[: args.limit] if folder.is_dir() else [folder]
        for row in chain.from_iterable(verify(str(text), asked) for text in texts):
            if isinstance(row, InputProblem):
                counts[_COLUMNS[-1]] += 1
                lines.append(f"{row.path} {words}: not verified: {row.message}")
                continue
            counts[row.answer.value] += 1
            threads += row.threads
            if row.answer is not Answer.EQUAL:
                said = row.first.place if row.first else "; ".join(what for what, _ in row.unmodelled)
                said = said or "; ".join(f"{h.gen} needs {h.needs}" for h in row.hazards[:1])
                lines.append(f"{row.path} {words}: {row.kernel}: {row.answer.value}: {said}")
        total = sum(counts.values())
        print(f"{f'{folder} {words}':40} {total:7} " + " ".join(f"{counts[name]:12}" for name in _COLUMNS), flush=True)
    print(*lines, sep="\n")
    print(f"{time.process_time() - began:.0f} s of CPU, {threads} threads")


if __name__ == "__main__":
    main()
