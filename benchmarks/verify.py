"""Verifies the machine code of every text of folders and prints what came of it.

    python -m benchmarks.verify FOLDER... [--iga PATH] [--platform P] [--options S]... [--five] [--limit N]

A table with a row for each folder: kernels, equal, different, with a hazard, not modelled, not verified; then each kernel that is not equal
with its reason, and the CPU time. ``--options`` are those of the finalizer, a row for each; ``--five`` takes scheduling off, few registers, 256
registers, joined messages, and debug information. Launches are generated without trial runs, which changes the lengths of buffers only.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from itertools import chain, product
from pathlib import Path

from visa_lsp.app.external_tools import split_options
from visa_lsp.app.verify.verified_inputs import VerifyOptions, verify
from visa_lsp.app.verify.verify_report import Answer, InputProblem

FIVE = ("-noschedule", "-TotalGRFNum 48", "-TotalGRFNum 256", "-enableSendFusion", "-debug")
_COLUMNS = (*(answer.value for answer in Answer), "not verified")


def main() -> None:
    """Verify the folders of the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--iga")
    parser.add_argument("--platform")
    parser.add_argument("--options", action="append", help="options of the finalizer, as one quoted word")
    parser.add_argument("--five", action="store_true", help="five kinds of options")
    parser.add_argument("--limit", type=int, help="texts of each folder")
    args = parser.parse_args()
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
