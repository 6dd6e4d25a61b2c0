"""Proofs of random kernels against launches that keep their assumptions: a fault at a proved line is a mistake of ours.

A mutant of a kernel lacks a barrier or a guard, or has an index or a comparison that is off by one, in the OpenCL source or in the text.
Its proofs are compared with launches in the same way.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from visa_lsp.app.assemble import program_of_text
from visa_lsp.app.compile.build import build_source, device_of, read_source
from visa_lsp.app.prove.document import ProofOptions, prove_data
from visa_lsp.app.ze_info import find_or_infer_ze_info
from visa_lsp.companions import Beside
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.launch.config import BufferArg, LaunchConfig, ValueArg
from visa_lsp.sim.launch.prepare import choose_kernel, prepare, with_budget
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.observers.checkers import checkers
from visa_lsp.zeinfo.read_kernels import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.prove import ProofResult
    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.interp import Code

_PLATFORM = "TGLLP"
_CHECKS = "bounds,races,item-races,barriers"
_STEPS = 500_000
_MAX_ENDLESS = 3  # launches of an endless mutant, of some 50 seconds each
_REPORTED_KERNELS = 50
_PROPERTIES = {"data-race": "race", "out-of-bounds": "bounds", "barrier-divergence": "divergence"}
_BARRIERS_MET = "all work items of a group come to the barrier"


def random_source(random: Random) -> str:
    """Return a small OpenCL kernel; some have faults."""
    choice = random.choice

    def index() -> str:
        base = choice(["gid", "lid", "gid", "gid", "grp", "i"])
        return choice([
            *[base] * 4, f"{base} + {choice([1, 2, 16])}", f"2 * {base}", f"n - 1 - {base}", f"({base} & {choice([7, 15, 31])})",
            f"grp * lsz + {choice(['lid', 'lsz - 1 - lid', '(lid ^ 1)'])}", f"{base} / {choice([2, 4])}",
            choice([f"min({base}, n - 1)", f"max(0, {base} - 1)", f"({base} < 4 ? {base} : 0)"]),
            choice(["b[gid] & 15", "x & 31", "(uint)x % 24", "(short)gid"]),
        ])  # fmt: skip

    def nest(depth: int, head: str, *last: str) -> list[str]:
        body = [one for _ in range(random.randrange(1, 3)) for one in statement(depth + 1)]
        kept = [one for one in body if "barrier" not in one or "n > 4" in head]
        pad = "  " * depth
        return [f"{pad}{head} {{", *kept, *(f"{pad}  {one}" for one in last), f"{pad}}}"]

    def statement(depth: int) -> list[str]:
        tile = choice(["lid", "lid", "lsz - 1 - lid", "(lid + 1) & 63"])
        kind = random.randrange(10)
        if kind == 0 and depth < 3:
            tests = ["gid < n", "lid < 8", "gid + 1 < n", "gid <= n", "(lid & 1) == 0", "n > 4", "lid == 0"]
            return nest(depth, f"if ({choice(tests)})")
        if kind == 1 and depth < 2:
            step = choice([
                "int i = 0; i < 4; i++", "int i = lid; i < n; i += lsz", "int i = gid; i < n; i += gsz",
                "int s = lsz / 2; s > 0; s >>= 1", "uint i = 0; i < (uint)n; i += 3", "int i = n - 1; i > gid; i--",
            ])  # fmt: skip
            halving = ["if (lid < s) tile[lid] += tile[lid + s];", "barrier(CLK_LOCAL_MEM_FENCE);"]
            return nest(depth, f"for ({step})", *(halving if "s >>=" in step else []))
        if kind == 9 and depth == 1:
            line = f"if ({choice(['gid >= n', 'grp > 1', 'n < 3'])}) return;"
        else:
            line = {
                2: "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
                3: f"tile[{choice([tile, 'lid / 2'])}] = x;",
                4: f"x += tile[{choice([tile, '0'])}];",
                5: f"atomic_add(&b[{index()}], 1);",
                6: f"x += {choice('ab')}[{index()}];",
            }.get(kind) or f"{choice('aabc')}[{index()}] = x + {random.randrange(9)};"
        return ["  " * depth + line]

    body = [one for _ in range(random.randrange(2, 6)) for one in statement(1)]
    return "\n".join([
        "kernel void k(global int *a, global int *b, global int *c, int n) {",
        "  local int tile[64];",
        f"  {choice(['int', 'int', 'uint', 'size_t'])} gid = get_global_id(0);",
        "  int lid = get_local_id(0), grp = get_group_id(0), lsz = get_local_size(0), gsz = get_global_size(0);",
        "  int x = gid * 3 + 1, i = gid;",
        *body,
        "  c[gid] = x;" if random.randrange(2) else "",
        "}",
    ]) + "\n"  # fmt: skip


def mutate_source(source: str) -> Iterator[str]:
    """Yield the source without one of its barriers or guards, and with one of its indices shifted by one."""
    lines = source.splitlines(keepends=True)
    for at, line in enumerate(lines):
        changed = []
        if "barrier(" in line:
            changed.append("")
        if (guard := re.search(r"\bif \((.+?)\)(?= [{t])", line)) is not None:
            changed.append(f"{line[: guard.start(1)]}1{line[guard.end(1) :]}")
        if "kernel void" not in line and "local int" not in line:
            changed += [
                f"{line[: m.start(1)]}({m[1]}) + 1{line[m.end(1) :]}" for m in re.finditer(r"\[([^\]]+)\]", line)
            ]
        for new in changed:
            yield "".join([*lines[:at], new, *lines[at + 1 :]])


_RELAXED = {".lt ": ".le ", ".gt ": ".ge ", ".le ": ".lt ", ".ge ": ".gt "}


def mutate_text(text: str) -> Iterator[str]:
    """Yield the text without one of its barriers, with a relaxed comparison, and with an addend that is greater by four."""
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        words = line.split(maxsplit=1)
        new = line
        if words and words[0] == "barrier":
            new = ""
        elif (relation := re.search(r"cmp(\.[lg][te] )", line)) is not None:
            new = line.replace(relation[1], _RELAXED[relation[1]], 1)
        elif (addend := re.search(r"^ *add .* 0x([0-9a-f]+):u?d", line)) is not None:
            new = f"{line[: addend.start(1)]}{int(addend[1], 16) + 4:x}{line[addend.end(1) :]}"
        if new != line:
            yield "".join([*lines[:at], new, *lines[at + 1 :]])


@dataclass(frozen=True)
class RandomLaunch:
    """The sizes of a launch, and the elements of the buffers ``a``, ``b`` and ``c``."""

    groups: int
    local: int
    n: int
    lengths: tuple[int, ...]


def fitting_launch(random: Random, assumed: set[str]) -> RandomLaunch | None:
    """Return a launch that keeps some assumptions, with the smallest buffers; None where these sizes cannot."""
    local = random.choice([1, 2, 3, 7, 8, 16, 24, 32, 33, 64])
    groups = random.choice([1, 1, 2, 3, 5])
    total = local * groups
    n = random.choice([-1, 0, 1, total, total, total - 1, total + 1, total // 2, 2 * total, 16, 17])
    words = "\n".join(assumed)
    n = total if "n is the number of work items" in words else max(0, n) if "n is not negative" in words else n
    caps = [int(one) for one in re.findall(r"at most (\d+) work items along", words)]
    if min([local, *caps]) < local or ("n is a multiple of 16" in words and n % 16):
        return None
    numbers = {
        "n": n,
        "n * n": n * n,
        "the work items along x": total,
        "the work items along x * the work items along x": total * total,
        "the groups along x": groups,
        "local_size_x": local,
        "n * the work items along x": n * total,
        "(n + the work items along x)": n + total,
    }
    needs = dict.fromkeys("abc", 0)  # bytes of each buffer
    for name, times, size in re.findall(r"^([abc]) has at least (\d+)(?: \* (.*))? bytes$", words, re.MULTILINE):
        needs[name] = max(needs[name], int(times) * (numbers[size] if size else 1))
    return RandomLaunch(groups, local, n, tuple([-(-one // 4) for one in needs.values()]))


class _Machine(Machine):
    """A machine that takes the compiled form of the kernel from an earlier run."""

    kept: Code | None = None

    def code(self, kernel: Kernel) -> Code:
        """Return the compiled form of the kernel."""
        if self.kept is None:
            self.kept = super().code(kernel)
        self.kept.grew = self.grew
        return self.kept


class KernelRuns:
    """Launches of one text. The kernel is compiled once, which is most of the time of a small launch."""

    def __init__(self, text: str, path: Path) -> None:
        module = program_of_text(text, _PLATFORM).module
        assert module is not None
        self._module, kernel = module, choose_kernel(module, "k")
        infos = read(find_or_infer_ze_info(kernel, [path], Beside(), _PLATFORM).text)
        self._info = next(one for one in infos if one.name == "k")
        platform = platform_named(_PLATFORM)
        assert platform is not None
        self._platform = platform
        self._code: Code | None = None
        self.endless = 0  # launches that used up their budget

    def faults(self, launch: RandomLaunch) -> set[tuple[str, int]]:
        """Return the properties and lines, from 1, of the faults of a launch."""
        buffers = [BufferArg(np.arange(one, dtype=np.int32)) for one in launch.lengths]
        args = (*buffers, ValueArg(np.array(launch.n, np.int32)))
        config = LaunchConfig("k", (launch.groups, 1, 1), (launch.local, 1, 1), args=args)
        prepared = with_budget(prepare(self._module, self._info, config, self._platform), _STEPS)
        machine = _Machine(prepared.dispatch, checkers(_CHECKS))
        if self._code is not None:
            self._code.frames.clear()
            machine.kept = self._code
        result = machine.run()
        self._code = machine.kept
        found = set()
        for fault in result.faults:
            self.endless += fault.kind is FaultKind.BUDGET
            property_ = _PROPERTIES.get(fault.kind.value)
            found |= {(property_, line + 1) for line in (fault.line, fault.other_line) if property_ and line >= 0}
        return found


@dataclass
class Verdict:
    """The verdict of launches on the proofs of a kernel."""

    answers: Counter[str] = field(default_factory=Counter)
    is_whole: bool = False  # all is proved
    launches: int = 0
    faults: set[tuple[str, int]] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)


def compare(text: str, path: Path, random: Random, launches: int, seconds: float) -> Verdict:
    """Prove a text and run it."""
    verdict = Verdict()
    path.write_text(text)
    options = ProofOptions(("race", "bounds", "divergence"), (), seconds)
    results = prove_data(str(path), path, text.encode(), options).results
    verdict.answers.update(f"{one.property} {one.answer}" for one in results)
    proved = {(one.property, one.line): one for one in results if one.answer == "proved"}
    verdict.is_whole = len(proved) == len(results)
    if not proved:
        return verdict
    assumed = {words for one in proved.values() for words in one.assumptions}
    runs = KernelRuns(text, path)
    for _ in range(4 * launches):
        launch = fitting_launch(random, assumed)
        if verdict.launches == launches or runs.endless == _MAX_ENDLESS:
            break
        if launch is None:
            continue
        verdict.launches += 1
        found = runs.faults(launch)
        verdict.faults |= found
        verdict.wrong += [
            f"WRONG {path}: {property_} of line {line} is proved, {launch}: {proved[property_, line].assumptions}"
            for property_, line in found & set(proved)
            if _holds(proved[property_, line], found)
        ]
    return verdict


def _holds(proof: ProofResult, found: set[tuple[str, int]]) -> bool:
    """Return whether a launch keeps the assumption that work items meet at barriers."""
    diverges = any(property_ == "divergence" for property_, _ in found)
    return not (diverges and any(one.startswith(_BARRIERS_MET) for one in proof.assumptions))


def _text_of(source: str, place: Path) -> str | None:
    """Compile a source; leave its program in a folder and return its text."""
    place.mkdir()
    (place / "k.cl").write_text(source)
    made = build_source(read_source(str(place / "k.cl")), device_of(None, None))
    text = next((one for one in made.texts if one.name == "k"), None)
    if text is None or made.program is None:
        return None
    (place / "k.zebin").write_bytes(made.program)
    return text.text


def _one_kernel(
    number: int, folder: Path, seed: int, launches: int, mutants: int, seconds: float
) -> tuple[Verdict | None, list[Verdict]]:
    random = Random(seed * 100_000 + number)
    source = random_source(random)
    place = folder / str(number)
    text = _text_of(source, place)
    if text is None:
        return None, []
    whole = compare(text, place / "k.visaasm", random, launches, seconds)
    found: list[Verdict] = []
    if not any(answer.endswith(" proved") for answer in whole.answers):
        return whole, found
    sources, texts = list(mutate_source(source)), list(mutate_text(text))
    for at, one in enumerate(random.sample(sources, min(len(sources), mutants))):
        changed = _text_of(one, folder / f"{number}.{at}")
        if changed is not None:
            found.append(compare(changed, folder / f"{number}.{at}" / "k.visaasm", random, launches, seconds))
    for at, one in enumerate(random.sample(texts, min(len(texts), mutants))):
        found.append(compare(one, place / f"k{at}.visaasm", random, launches, seconds))
    return whole, found


def _print_verdicts(words: str, verdicts: Sequence[Verdict]) -> None:
    answers: Counter[str] = Counter()
    for one in verdicts:
        answers.update(one.answers)
    print(
        f"{len(verdicts)} {words}: {sum(one.is_whole for one in verdicts)} proved whole,"
        f" {sum(bool(one.faults) for one in verdicts)} with faults at some launch;"
        f" {sum(one.launches for one in verdicts)} launches; proofs contradicted: {sum(len(one.wrong) for one in verdicts)}"
    )
    print(dict(sorted(answers.items())), flush=True)


def random_kernels(count: int, launches: int, seed: int, mutants: int, jobs: int, seconds: float) -> None:
    """Print how often a launch contradicts a proof, which must be never."""
    folder = Path(tempfile.mkdtemp(prefix="prove-random-"))
    work = partial(_one_kernel, folder=folder, seed=seed, launches=launches, mutants=mutants, seconds=seconds)
    kernels: list[Verdict] = []
    changed: list[Verdict] = []
    with ProcessPoolExecutor(jobs) as pool:
        for number, (whole, more) in enumerate(pool.map(work, range(count))):
            if number and number % _REPORTED_KERNELS == 0:
                _print_verdicts("random kernels so far", kernels)
            kernels += [whole] if whole is not None else []
            changed += more
            for one in (whole, *more):
                if one is not None and one.wrong:
                    print(one.wrong[0], flush=True)
    _print_verdicts("random kernels", kernels)
    if changed:
        _print_verdicts("mutants", changed)
