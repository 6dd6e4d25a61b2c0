"""A hunt for miscompiles: random valid vISA through a finalizer with random options, its machine code verified against the text.

    python -m benchmarks.hunt_finalizer [--seconds N] [--seed N] [--iga PATH] [--ocloc PATH] [--keep FOLDER]

Without ``--ocloc`` the finalizer is ``GenX_IR``; with it the texts are assembly in OpenCL C. Texts mix types, regions, modifiers, predicates and
register pressure. A difference or hazard is made small by leaving out instructions, and kept with the report of ``verify``. Exit status 1 if
there is one.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from benchmarks.finalizer_texts import Inline, Text
from visa_lsp.app.verify.verified_inputs import VerifyOptions, verify
from visa_lsp.app.verify.verify_report import Answer, InputProblem, text_lines
from visa_lsp.toolchain.ocloc import CompilerCall, compile_source

PLATFORMS = ("TGLLP", "DG2", "PVCXT")  # of GenX_IR
OPTIONS: tuple[tuple[str, ...], ...] = (
    (), (), ("-noschedule",), ("-nopresched",), ("-nolocalra",), ("-nocompaction",), ("-debug",), ("-TotalGRFNum", "256"),
    ("-TotalGRFNum", "32", "-nospillcleanup"),
)  # fmt: skip
_DEVICES = {"TGLLP": "tgllp", "DG2": "dg2", "PVCXT": "pvc", "BMG": "bmg", "PTL": "ptl"}  # names of ocloc


class Trial:
    """A finalizer with its options, a folder for its files, and the way to verify a body of a text with them."""

    def __init__(self, made: Text, folder: Path, asked: VerifyOptions, ocloc: str | None) -> None:
        self.made, self.folder, self.asked, self.ocloc = made, folder, asked, ocloc

    def answer(self, body: list[str]) -> tuple[str, str]:
        """Return the answer about a body, and the report."""
        source, text = self.made.text(body), self.folder / "k.visaasm"
        if self.ocloc is None:
            text.write_text(source, encoding="utf-8")
            return self._verified(text, self.asked)
        device = _DEVICES[self.made.platform]
        options = " ".join(f"-Xfinalizer {word}" for word in self.made.options)
        path, data = self.folder / "k.cl", source.encode()
        path.write_bytes(data)
        compiled = compile_source(path, data, CompilerCall(self.ocloc, device, options))
        if compiled.program is None:
            return "refused", f"k.cl: {' '.join((*(m.message for m in compiled.messages), compiled.failure))}"
        text.write_text(next(t.text for t in compiled.texts if t.is_kernel), encoding="utf-8")
        program = self.folder / "k.bin"
        program.write_bytes(compiled.program)
        return self._verified(program, replace(self.asked, options=(), kernel="k"))

    @staticmethod
    def _verified(path: Path, options: VerifyOptions) -> tuple[str, str]:
        row = next(iter(verify(str(path), options)))
        if isinstance(row, InputProblem):
            return "refused", row.message
        return row.answer.value, "\n".join(text_lines([row]))

    def make_small(self, wanted: str) -> list[str]:
        """Return the shortest body found that keeps the answer, by leaving out instructions."""
        body, size = list(self.made.body), max(1, len(self.made.body) // 2)
        while size:
            for at in range(len(body) - size, -1, -size):
                shorter = body[:at] + body[at + size :]
                if self.answer(shorter)[0] == wanted:
                    body = shorter
            size //= 2
        return body


def main() -> int:
    """Hunt for a time and print counts and finds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iga")
    parser.add_argument("--platforms", help="names, separated by commas")
    parser.add_argument("--keep", type=Path, help="folder for the texts with a difference")
    parser.add_argument("--ocloc", help="path of a compiler of OpenCL C, whose finalizer is tried instead")
    args = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    refusals: Counter[str] = Counter()
    platforms = args.platforms.split(",") if args.platforms else list(_DEVICES if args.ocloc else PLATFORMS)
    end, seed, finds = time.monotonic() + args.seconds, args.seed, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            pick = random.Random(seed)
            platform, options = pick.choice(platforms), pick.choice(OPTIONS)
            made = (Inline if args.ocloc else Text)(pick, platform, options)
            asked = VerifyOptions(platform=platform, options=options, iga=args.iga, tries=False)
            trial = Trial(made, Path(folder), asked, args.ocloc)
            said, report = trial.answer(made.body)
            counts[platform, said] += 1
            if said == "refused":
                refusals[report.partition(": ")[2][:110]] += 1
            elif said == Answer.UNMODELLED.value:
                refusals[report.splitlines()[0].partition(": ")[2][:110]] += 1
            elif said != Answer.EQUAL.value:
                finds += 1
                body = trial.make_small(said)
                report = trial.answer(body)[1]
                print(
                    f"seed {seed}, {platform}, options {' '.join(options) or '-'}: {said}",
                    *body,
                    report[:700],
                    sep="\n  ",
                    flush=True,
                )
                if args.keep:
                    args.keep.mkdir(exist_ok=True)
                    name = f"s{seed}.{platform}.{'cl' if args.ocloc else 'visaasm'}"
                    (args.keep / name).write_text(made.text(body), encoding="utf-8")
            seed += 1
    print(f"{seed - args.seed} texts: " + ", ".join(f"{p} {a} {n}" for (p, a), n in sorted(counts.items())))
    print(*(f"{n:5} {words}" for words, n in refusals.most_common(20)), sep="\n")
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
