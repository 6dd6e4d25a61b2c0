"""A hunt for miscompiles: random valid vISA through a finalizer with random options, its machine code verified against the text.

    python -m benchmarks.hunt_finalizer [--seconds N] [--seed N] [--iga PATH] [--ocloc PATH] [--keep FOLDER]
    python -m benchmarks.hunt_finalizer --known [--iga PATH] [--ocloc PATH]

Without ``--ocloc`` the finalizer is ``GenX_IR``; with it the vISA is assembly in OpenCL C. Texts mix types, regions, modifiers, predicates and
register pressure. A difference or hazard is made small by leaving out instructions, and kept with the report of ``verify``. Exit status 1 if
there is one. ``--known`` prints the answers about the finds of docs/found.md instead.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.finalizer_bodies import Body
from benchmarks.finalizer_texts import FINDS, LOADED, Layout
from visa_lsp.app.verify.verified_inputs import VerifyOptions, verify
from visa_lsp.app.verify.verify_report import Answer, InputProblem, text_lines
from visa_lsp.toolchain.ocloc import CompilerCall, compile_source

PLATFORMS = ("TGLLP", "DG2", "PVCXT")  # of GenX_IR
OPTIONS: tuple[tuple[str, ...], ...] = (
    (), (), ("-noschedule",), ("-nopresched",), ("-nolocalra",), ("-nocompaction",), ("-debug",), ("-TotalGRFNum", "256"),
    ("-TotalGRFNum", "32", "-nospillcleanup"),
)  # fmt: skip
_DEVICES = {"TGLLP": "tgllp", "DG2": "dg2", "PVCXT": "pvc", "BMG": "bmg", "PTL": "ptl"}  # names of ocloc


@dataclass(frozen=True, slots=True)
class Trial:
    """A finalizer with its options, and a folder for its files, to verify bodies of a layout with them."""

    layout: Layout
    folder: Path
    options: tuple[str, ...]
    iga: str | None
    ocloc: str | None

    def source(self, body: list[str]) -> str:
        """Return the text, or the OpenCL C, with a body."""
        return self.layout.text(body) if self.ocloc is None else self.layout.opencl(body)

    def answer(self, body: list[str]) -> tuple[str, str]:
        """Return the answer about a body, and the report."""
        text, platform = self.folder / "k.visaasm", self.layout.platform
        asked = VerifyOptions(platform=platform, iga=self.iga)
        if self.ocloc is None:
            text.write_text(self.source(body), encoding="utf-8")
            return _verified(text, replace(asked, options=self.options))
        options = " ".join(f"-Xfinalizer {word}" for word in self.options)
        path, data = self.folder / "k.cl", self.source(body).encode()
        path.write_bytes(data)
        compiled = compile_source(path, data, CompilerCall(self.ocloc, _DEVICES[platform], options))
        if compiled.program is None:
            return "refused", f"k.cl: {' '.join((*(m.message for m in compiled.messages), compiled.failure))}"
        text.write_text(next(t.text for t in compiled.texts if t.is_kernel), encoding="utf-8")
        program = self.folder / "k.bin"
        program.write_bytes(compiled.program)
        return _verified(program, replace(asked, kernel="k"))

    def make_small(self, body: list[str], wanted: str) -> list[str]:
        """Return the shortest body found that keeps the answer, by leaving out instructions."""
        size = max(1, len(body) // 2)
        while size:
            for at in range(len(body) - size, -1, -size):
                shorter = body[:at] + body[at + size :]
                if self.answer(shorter)[0] == wanted:
                    body = shorter
            size //= 2
        return body


def _verified(path: Path, options: VerifyOptions) -> tuple[str, str]:
    row = next(iter(verify(str(path), options)))
    if isinstance(row, InputProblem):
        return "refused", row.message
    return row.answer.value, "\n".join(text_lines([row]))


def main() -> int:
    """Hunt for a time and print counts and finds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iga")
    parser.add_argument("--platforms", help="names, separated by commas")
    parser.add_argument("--keep", type=Path, help="folder for the texts with a difference")
    parser.add_argument("--ocloc", help="path of a compiler of OpenCL C, whose finalizer is tried instead")
    parser.add_argument("--known", action="store_true", help="print the answers about finds")
    args = parser.parse_args()
    platforms = args.platforms.split(",") if args.platforms else list(_DEVICES if args.ocloc else PLATFORMS)
    with tempfile.TemporaryDirectory() as folder:
        return _try_finds(args, platforms, Path(folder)) if args.known else _hunt(args, platforms, Path(folder))


def _try_finds(args: argparse.Namespace, platforms: list[str], folder: Path) -> int:
    """Print the answers about the bodies of ``FINDS``, and what the last platform that differs stores; return 0."""
    print(f"{'':32}", *(f"{name:10}" for name in platforms))
    for find in FINDS:
        answers, results = [], ""
        for platform in platforms:
            trial = Trial(Layout(platform, find.vectors, find.branch), folder, (), args.iga, args.ocloc)
            answer, report = trial.answer(list(find.body)) if find.is_for(platform) else ("-", "")
            answers.append(answer)
            stored = re.findall(r"(vISA|Gen) +stores (\S+)", report)
            results = ", ".join(f"{side} {value}" for side, value in stored) or results
        print(f"{find.name:32}", *(f"{answer:10}" for answer in answers), results, flush=True)
    return 0


def _hunt(args: argparse.Namespace, platforms: list[str], folder: Path) -> int:
    """Try random bodies for a time, and print finds and counts; return 1 if there are finds, else 0."""
    counts: Counter[tuple[str, str]] = Counter()
    refusals: Counter[str] = Counter()
    end, seed, finds = time.monotonic() + args.seconds, args.seed, 0
    while time.monotonic() < end:
        pick = random.Random(seed)
        platform, options = pick.choice(platforms), pick.choice(OPTIONS)
        vectors = LOADED if pick.random() < 0.7 else 40  # 40: registers under pressure
        branch = pick.choice(("", "", f"a1 & {pick.choice((1, 2, 4))}", "i != 3")) if args.ocloc else ""
        layout = Layout(platform, vectors, branch)
        body = Body(pick, layout, options).lines
        trial = Trial(layout, folder, options, args.iga, args.ocloc)
        said, report = trial.answer(body)
        counts[platform, said] += 1
        if said == "refused":
            refusals[report.partition(": ")[2][:110]] += 1
        elif said == Answer.UNMODELLED.value:
            refusals[report.splitlines()[0].partition(": ")[2][:110]] += 1
        elif said != Answer.EQUAL.value:
            finds += 1
            body = trial.make_small(body, said)
            print(f"seed {seed}, {platform}, options {' '.join(options) or '-'}: {said}", *body, sep="\n  ")
            print(f"  {trial.answer(body)[1][:700]}", flush=True)
            if args.keep:
                args.keep.mkdir(exist_ok=True)
                name = f"s{seed}.{platform}.{'cl' if args.ocloc else 'visaasm'}"
                (args.keep / name).write_text(trial.source(body), encoding="utf-8")
        seed += 1
    print(f"{seed - args.seed} texts: " + ", ".join(f"{p} {a} {n}" for (p, a), n in sorted(counts.items())))
    print(*(f"{n:5} {words}" for words, n in refusals.most_common(20)), sep="\n")
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
