"""The differences with a release of Intel's compiler: ``python -m benchmarks.newest OCLOC [--before FILE] [--device NAME]...``.

1. *Devices:* those that the compiler has and visa-lsp does not know, and those whose text names another platform.
2. *Texts:* all OpenCL sources of the repository, and of the corpus beside it, for each device and each set of options; every
   error and warning in what the compiler prints.
3. *Launches:* every kernel with a launch, on both engines with all checkers, against what pocl or a reference leaves.
4. *Verdicts:* one-instruction texts through inline assembly, where the compiler and ``check`` disagree. ``--forms`` of the
   corpus beside the repository for each device (0: all); its table has the verdict of a finalizer built from source with
   assertions, which released compilers lack: where ``check`` agrees with that, a difference is counted and not printed.

FILE is what an earlier run has printed: with it, only lines that are not there are printed, so that a release is compared with
the one before. Every line that is not a count is something to look at; exit status 1 where there are any. All of it takes half an
hour on two cores, one device some five minutes.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import re
import runpy
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

sys.path.extend(str(Path(__file__).parents[1] / "tests" / room) for room in ("support", "own", "oracle"))

import newest
from corpus import BESIDE

from visa_lsp.app.compile.build import build_source, read_source
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.launch.config import LaunchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.compile.build import Build

_OPTIONS: Final = ("", "-g", "-cl-opt-disable", "-cl-fast-relaxed-math")
_ENGINES: Final = ("interp", "jit")
_KERNEL: Final = "kernel void k(global int *p) { p[get_global_id(0)] += 1; }\n"
_NAMES: Final = re.compile(r"<device_type> can be: (.*)")
_PLATFORM: Final = re.compile(r"^//Platform: (\S+)", re.MULTILINE)
_MAX_WORDS: Final = 300


def main(arguments: Sequence[str] | None = None) -> int:
    """Go through all that can be new and print it; the exit status."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.newest", description=__doc__, formatter_class=form)
    parser.add_argument(
        "ocloc", metavar="OCLOC", help="the compiler (install one with tests/oracle/ocloc2026/install.sh)"
    )
    parser.add_argument("--device", action="append", help=f"default: {' '.join(newest.DEVICES)}")
    parser.add_argument("--forms", type=int, default=500, help="verdicts of the corpus for each device; default: 500")
    parser.add_argument(
        "--before", metavar="FILE", type=Path, help="leave out the entries of this output of an earlier run"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the choice of verdicts")
    args = parser.parse_args(arguments)
    devices, wrong = args.device or newest.DEVICES, 0
    before = set(args.before.read_text(encoding="utf-8").splitlines()) if args.before else set()
    print(_run(args.ocloc, "--version").strip().splitlines()[-1])
    for title, lines in (
        ("devices", _devices(args.ocloc)),
        ("texts and launches", _programs(args.ocloc, devices)),
        ("verdicts", _verdicts(args.ocloc, devices, args.forms, args.seed)),
    ):
        counts: Counter[str] = Counter()
        for kind, words in lines:
            counts[kind] += 1
            line = f"{kind}: {' '.join(words.split())[:_MAX_WORDS]}"
            if words and line not in before:
                wrong += 1
                print(line, flush=True)
        print(f"== {title}: {', '.join(f'{count} {kind}' for kind, count in counts.items())}", flush=True)
    return int(wrong > 0)


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _devices(tool: str) -> Iterator[tuple[str, str]]:
    """Yield every device of the compiler's help: known, with the platform of text and zebin."""
    match = _NAMES.search(_run(tool, "compile", "--help"))
    names = re.findall(r"[\w-]+", match[1].partition("ip version")[0]) if match is not None else []
    with TemporaryDirectory() as room:
        source = Path(room) / "k.cl"
        source.write_text(_KERNEL, encoding="utf-8")
        for name in names:
            platform = platform_named(name)
            if platform is None:
                yield "unknown device", name
            elif name not in platform.families:  # the compiler makes archives of families
                build = build_source(read_source(str(source)), name, "", tool)
                told = {match[1] for text in build.texts if (match := _PLATFORM.search(text.text))}
                same = told in ({platform.name}, {word for word in told if platform_named(word) is platform})
                yield (
                    ("known", "")
                    if same
                    else ("another platform", f"{name}: {platform}, its text tells {told or 'none'}")
                )


def _programs(tool: str, devices: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the findings in all texts, and the launches of those that are compiled without options."""
    jobs = [(path, device, options) for path in newest.sources() for device in devices for options in _OPTIONS]
    launches = newest.launches()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (path, device, options), build in zip(
            jobs, pool.map(lambda job: newest.compile_source(job[0], job[1], tool, job[2]), jobs), strict=True
        ):
            title = f"{path.stem} for {device} {options}".strip()
            if build.program is None:
                yield "not compiled", f"{title}: {'; '.join(finding.message for finding in build.findings)}"
                continue
            found = newest.findings_in(build)
            yield from (("finding", f"{title}: {words}") for words in found)
            yield from (("texts", "") for _ in build.texts)
            if not options and path.stem in launches and path == newest.source_of(path.stem):
                yield from _launches(build, title, launches[path.stem])


def _launches(build: Build, title: str, cases: list[newest.Case]) -> Iterator[tuple[str, str]]:
    for case in cases:
        for engine in _ENGINES:
            try:
                newest.check_launch(case, build, engine)
            except AssertionError as error:
                yield "wrong launch", f"{case} of {title}, {engine}: {error}"
            except LaunchError as error:
                yield "refused launch", f"{case} of {title}, {engine}: {str(error).rpartition(':1:1: ')[2]}"
            else:
                yield "launches", ""


def _verdicts(tool: str, devices: Sequence[str], most: int, seed: int) -> Iterator[tuple[str, str]]:
    """Compare the verdicts of the compiler and of ``check`` on one-instruction texts."""
    for device in devices:
        forms = [(form, newest.whole_text(form, device), "") for form in newest.own_forms()]
        forms += _of_table(device, most, seed)
        verdicts = newest.compiler_verdicts([text for _, text, _ in forms], device, tool)
        for (form, text, of_table), verdict in zip(forms, verdicts, strict=True):
            ours = "accept" if newest.is_accepted(text, device) else "reject"
            if verdict in (ours, "crash"):
                yield "verdicts", ""
            elif ours == of_table:
                yield f"{verdict} where check and the table have {of_table}", ""
            else:
                yield ("missed error" if ours == "accept" else "false error"), f"{device}: {form}"


def _of_table(device: str, most: int, seed: int) -> list[tuple[str, str, str]]:
    """Return statements of the corpus' table for a device's platform, each with its text and the verdict of the table."""
    folder = BESIDE / "forms2026"
    if not folder.is_dir():
        return []
    whole_text = runpy.run_path(str(folder / "whole_text.py"))["whole_text"]
    with (folder / "forms.tsv").open(encoding="utf-8", newline="") as file:
        rows = [
            (row[2], row[1])
            for row in list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
            if platform_named(row[0]) is platform_named(device)
        ]
    chosen = random.Random(seed).sample(rows, min(most, len(rows))) if most else rows
    return [(form, newest.for_device(whole_text(form), device), verdict) for form, verdict in chosen]


if __name__ == "__main__":
    raise SystemExit(main())
