"""The kernels that people try first: the answers for each, and for a twin with a fault.

A source of ``benchmarks/standard`` begins with the fault of its twin, as ``// fault: PROPERTY: TEXT -> NEW TEXT``, and with the
properties that hold only for arguments or contents that a host chooses well, as ``// open: PROPERTY``.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import PRODUCT
from visa_lsp.app.compile.build import build_source, device_of, read_source
from visa_lsp.app.prove import PROPERTIES
from visa_lsp.app.prove.document import ProofOptions, prove_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.prove import ProofResult

ORDER = ("proved", "bounded", "unknown", "refuted")
FOLDER = Path(__file__).with_name("standard")


@dataclass(frozen=True)
class StandardKernel:
    """A source, its twin with a fault, the property of the fault, and the properties that no natural size proves."""

    name: str
    source: str
    faulty: str
    property: str
    open: tuple[str, ...]


def read_standard() -> Iterator[StandardKernel]:
    """Yield the kernels by name, then those of ``benchmarks/deceptive.cl``."""
    parts = [(path.stem, path.read_text()) for path in sorted(FOLDER.glob("*.cl"))]
    for part in FOLDER.with_name("deceptive.cl").read_text().split("// fault:")[1:]:
        name = re.search(r"kernel void (\w+)", part)
        assert name is not None, part
        parts.append((name[1], f"// fault:{part}"))
    for kernel_name, source in parts:
        first, *_ = source.splitlines()
        _, property_, change = first.split(":", 2)
        old, _, new = change.strip().partition("->")
        body = source.removeprefix(first)
        assert body.count(old.strip()) >= 1, kernel_name
        faulty = body.replace(old.strip(), new.strip())
        open_ = [line.split(":")[1].split() for line in source.splitlines() if line.startswith("// open:")]
        yield StandardKernel(kernel_name, body, faulty, property_.strip(), tuple(one for line in open_ for one in line))


def answers_of(source: str, name: str, folder: Path, seconds: float) -> tuple[dict[str, str], float, list[ProofResult]]:
    """Compile a source and prove its kernel; return the worst answer for each property, the processor's seconds, and all answers."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.cl"
    path.write_text(source)
    build = build_source(read_source(str(path)), device_of(None, None))
    if build.program is None:
        raise AssertionError(f"{name} does not compile: {build.findings}")
    (folder / f"{name}.zebin").write_bytes(build.program)
    text = next(one.text for one in build.texts if one.name == name)
    target = folder / f"{name}.visaasm"
    target.write_text(text)
    before = os.times()
    results = prove_data(str(target), target, text.encode(), ProofOptions(seconds=seconds)).results
    worst: dict[str, str] = {}
    for one in results:
        worst[one.property] = max(worst.get(one.property, "proved"), one.answer, key=ORDER.index)
    after = os.times()  # of the processes that have ended: processor time, because the machine may be busy
    took = after.children_user + after.children_system - before.children_user - before.children_system
    return worst, took, list(results)


def prove_standard(only: str, seconds: float, folder: Path, *, table: bool) -> bool:
    """Print the answers for each kernel and its twin; return whether all are as they should be."""
    is_right = True
    print(f"{'kernel':20} {'race':8} {'bounds':8} {'divergence':10} {'uninitialised':13} CPU s    twin")
    for kernel in read_standard():
        if not any(word in kernel.name for word in only.split(",")):
            continue
        worst, took, results = answers_of(kernel.source, kernel.name, folder / kernel.name, seconds)
        other, _, faults = answers_of(kernel.faulty, kernel.name, folder / f"{kernel.name}-faulty", seconds)
        words = [worst.get(property_, "-") for property_ in PROPERTIES]
        open_ = ("bounded", "unknown", "refuted")
        expected = [open_ if property_ in kernel.open else ("proved",) for property_ in PROPERTIES]
        as_expected = all(a in (*b, "-") for a, b in zip(words, expected, strict=True))
        twin = other.get(kernel.property)
        mark = "" if as_expected and twin == "refuted" else "  <--"
        is_right &= not mark
        print(
            f"{kernel.name:20} {words[0]:8} {words[1]:8} {words[2]:10} {words[3]:13} {took:7.1f}  {kernel.property} {twin}{mark}",
            flush=True,
        )
        if table:
            for result in results:
                if result.answer != "proved":
                    print(f"    {result.property} {result.line} {result.answer}: {result.reason}")
            for result in faults if twin != "refuted" else ():
                if result.property == kernel.property and result.answer != "proved":
                    print(f"    twin: {result.property} {result.line} {result.answer}: {result.reason}")
            for words in dict.fromkeys(words for one in results for words in one.assumptions):
                print(f"    - {words}")
    return is_right


def print_for_readers(seed: int, seconds: float, folder: Path) -> None:
    """Print what `prove` prints for ten twins and ten kernels without a fault, drawn by chance, without their sources."""
    kernels, draw = list(read_standard()), random.Random(seed)
    twins = draw.sample(kernels, 10)
    others = draw.sample([one for one in kernels if one not in twins], 10)
    texts = [("refutation", one.faulty) for one in twins] + [("contract", one.source) for one in others]
    for number, (what, source) in enumerate(texts):
        place = folder / f"{number}"
        place.mkdir(exist_ok=True)
        (place / "k.cl").write_text(source.lstrip("\n"))
        command = [*PRODUCT, "prove", "k.cl", "--timeout", f"{seconds:g}"]
        said = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        print(f"{what} {number % 10 + 1}\n{said.stdout}{said.stderr}", flush=True)
