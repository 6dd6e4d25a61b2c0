"""Proofs of random kernels against launches that keep their assumptions: a fault at a proved line is a mistake of ours.

A mutant of a kernel lacks a barrier or a guard, or has an index or a comparison that is off by one, in the OpenCL source or in the text.
Its proofs are compared with launches in the same way.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.prove_walks import WalkedKernel
from visa_lsp.app.assemble import program_of_text
from visa_lsp.app.compile.build import build_source, read_source
from visa_lsp.app.prove.confirm import LaunchRuns
from visa_lsp.app.prove.document import ProofOptions, prove_kernel
from visa_lsp.app.ze_info import find_or_infer_ze_info
from visa_lsp.companions import Beside
from visa_lsp.diagnostics import has_errors
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.launch.config import BufferArg, LaunchConfig, LocalArg, ValueArg
from visa_lsp.sim.launch.prepare import choose_kernel, prepare, with_budget
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.observers.checkers import checkers
from visa_lsp.zeinfo.read_kernels import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.prove import ProofResult
    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.interp import Code

_CHECKS = "bounds,races,item-races,barriers,uninitialised"
_STEPS = 60_000
_CONFIRMED_STEPS = 200_000  # of a launch that refutes
_WALKED_STEPS = 4_000  # of a launch that only the walk of a proof is compared with
_WALKED_EVERY = 5  # launches, of which one is compared with the walk, because that takes longer than the run
_MAX_ENDLESS = 2  # launches of an endless mutant, of some 5 seconds each
_REPORTED_KERNELS = 10
_PROPERTIES = {
    "data-race": "race", "out-of-bounds": "bounds", "barrier-divergence": "divergence",
    "uninitialised-read": "uninitialised",
}  # fmt: skip
# Assumptions by their first words, and the fault of a launch that breaks them.
_EXCUSES = {
    "all work items of a group come to the barrier": "divergence",
    "no access leaves its memory for another one": "bounds",
}


@dataclass(frozen=True)
class Parameter:
    """An argument of a random kernel: ``kind`` is buffer, local or value; ``dtype`` is that of its elements."""

    name: str
    kind: str
    dtype: str

    @property
    def declaration(self) -> str:
        """The parameter in OpenCL C."""
        return {"buffer": "global {} *{}", "local": "local {} *{}", "value": "{} {}"}[self.kind].format(
            CL_TYPES[self.dtype], self.name
        )


@dataclass(frozen=True)
class RandomKernel:
    """A random OpenCL kernel ``k``, its parameters, the number of axes of its launches, and the size of its groups if it requires one."""

    source: str
    parameters: tuple[Parameter, ...]
    axes: int
    group_size: tuple[int, int, int] | None


CL_TYPES = {
    "int32": "int", "uint32": "uint", "int16": "short", "uint16": "ushort", "int8": "char", "uint8": "uchar", "int64": "long",
    "float32": "float",
}  # fmt: skip
_HEAD = (
    "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n#pragma OPENCL EXTENSION cl_intel_subgroups : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
)


def random_kernel(random: Random) -> RandomKernel:
    """Return a small OpenCL kernel; some have faults, and some are followed by a second kernel in their text."""
    kernel = _make_kernel(random)
    if random.randrange(4):
        return kernel
    other = _make_kernel(random).source.removeprefix(_HEAD).replace("kernel void k(", "kernel void second(")
    return replace(kernel, source=f"{kernel.source}{other}")


def _make_kernel(random: Random) -> RandomKernel:
    choice = random.choice
    axes = choice([1, 1, 2, 2, 3])
    types = [choice([*(["int32"] * 4), "uint32", "int16", "uint16", "int8", "uint8", "float32"]) for _ in range(3)]
    buffers = [Parameter(name, "buffer", dtype) for name, dtype in zip("abc", types, strict=True)]
    buffers.append(Parameter("q", "buffer", choice(["int32", "int32", "int64"])))
    has_local = random.randrange(3) == 0
    values = [Parameter(name, "value", choice(["int32", "int32", "int32", "uint32"])) for name in "nwh"]
    parameters = (*buffers, *([Parameter("t", "local", "int32")] if has_local else []), *values)
    tile = "t" if has_local else "tile"
    rows = [
        "y * w + x", "x * h + y", "(z * h + y) * w + x", "w * h + y * w + x", "y * gszx + x", "(y + 1) * w + x",
            "(2 * h + y) * w + x", "y * (w / 2) + x", "(z * h + y) * (w / 2) + x / 2", "2 * y * w + 2 * x"]  # fmt: skip

    def index() -> str:
        base = choice(["x", "x", "gid", "lid", "grp", "i", *(["y"] if axes > 1 else []), *(["z"] if axes > 2 else [])])
        flat = [
            *[base] * 3, f"{base} + {choice(['1', '2', '16', 'n', '2 * n'])}", f"2 * {base}", f"3 * {base} + {choice('012')}",
            f"n - 1 - {base}", f"({base} & {choice([7, 15, 31])})", f"{base} % w", f"{base} / {choice(['2', '4', 'w'])}",
            f"grp * lsz + {choice(['lid', 'lsz - 1 - lid', '(lid ^ 1)'])}", f"{base} >> 1", f"{base} << 1",
            choice([f"min((int){base}, (int)n - 1)", f"max(0, (int){base} - 1)", f"clamp((int){base} + 1, 0, (int)n - 1)", f"({base} < 4 ? {base} : 0)"]),
            choice(["(int)q[x] & 15", "v & 31", f"(char){base}", f"(char)({base} & 127)", f"({base} * 40503u) >> 28", "(uint)v % 24", f"(short){base}", f"(uchar){base}", f"(ushort)({base} * 3)"]),
        ]  # fmt: skip
        return choice([*flat, *rows, *rows] if axes > 1 else flat)

    def value() -> str:
        return choice([
            "v", "v + 1", "x", "y", "z", "n", "gid * 2", "(int)a[x]", "sub_group_reduce_add(v)", "sub_group_broadcast(v, 0)",
            "intel_sub_group_shuffle_down(v, v, 1u)", "intel_sub_group_shuffle_xor(v, 1u)", "abs(v)", "(short)v",
            "(uchar)v", "clz(v)", "popcount(v)", "add_sat(v, 7)", "mul24(v, 3)", "(v >> 3) ^ y",
        ])  # fmt: skip

    def vectors() -> str:
        name, count = choice("abc"), choice([2, 3, 4])
        element = CL_TYPES[buffers["abc".index(name)].dtype]
        if random.randrange(2):
            return f"v += (int)vload{count}({index()}, {name}).s{random.randrange(count)};"
        return f"vstore{count}(({element}{count})(({element})v), {index()}, {name});"

    def atomic() -> str:
        atom = "atom" if buffers[3].dtype == "int64" else "atomic"
        place = choice(["lid", "lid & 7", "0", "lid / 2"])
        return choice([
            f"{atom}_add(&q[{index()}], 1);", f"v += (int){atom}_inc(&q[{index()}]);", f"{atom}_xchg(&q[{index()}], v);",
            f"a[(int){atom}_inc(&q[0]) & 31] = v;", f"atomic_add(&{tile}[{place}], v);", f"v = atomic_max(&{tile}[{place}], v);",
        ])  # fmt: skip

    def private() -> str:
        place = choice(["lid & 3", "lid & 3", "x & 3", "v & 3", "n & 3", "lid % 5", "x"])
        return choice([f"own[{place}] = v;", f"v += own[{place}];"])

    def nest(depth: int, head: str, *last: str) -> list[str]:
        body = [one for _ in range(random.randrange(1, 3)) for one in statement(depth + 1)]
        kept = [one for one in body if "barrier" not in one or "n > 4" in head]
        pad = "  " * depth
        return [f"{pad}{head} {{", *kept, *(f"{pad}  {one}" for one in last), f"{pad}}}"]

    def statement(depth: int) -> list[str]:
        place = choice(["lid", "lid", "lsz - 1 - lid", "(lid + 1) & 63"])
        kind = random.randrange(16)
        if kind == 0 and depth < 3:
            tests = [
                "x < n", "x < w && y < h", "x < w && y < h", "x < h && y < w", "lid < 8", "x + 1 < n", "x <= n",
                "(lid & 1) == 0", "n > 4", "lid == 0", "y == 0", "x < w && y < h && z < n", "i < w * h", "(uchar)x < 20",
            ]  # fmt: skip
            return nest(depth, f"if ({choice(tests)})")
        if kind == 1 and depth < 2:
            step = choice([
                "int i = 0; i < 4; i++", "int i = lid; i < n; i += lsz", "int i = gid; i < n; i += gszx",
                "int s = lsz / 2; s > 0; s >>= 1", "uint i = 0; i < (uint)n; i += 3", "int i = n - 1; i > x; i--",
                "int i = 0; i < w; i++",
            ])  # fmt: skip
            halving = [f"if (lid < s) {tile}[lid] += {tile}[lid + s];", "barrier(CLK_LOCAL_MEM_FENCE);"]
            return nest(depth, f"for ({step})", *(halving if "s >>=" in step else []))
        if kind == 10 and depth == 1 and random.randrange(2):
            half = choice(["(r & 1) * 32 + (lid & 31)", "lid & 63", "(r & 1) * 16 + (lid & 31)"])
            head = f"  for (int r = {choice(['0', '0', 'lid & 1'])}; r < {choice(['h', 'h', '3', 'n & 3'])}; r++) {{"
            body = [
                f"{tile}[{half}] = v;",
                "barrier(CLK_LOCAL_MEM_FENCE);",
                f"v += {tile}[{half.replace('lid', '(lid ^ 1)')}];",
            ]
            return [head, *(f"    {one}" for one in [*body, *body[1:2] * random.randrange(2)]), "  }"]
        if kind == 9 and depth == 1:
            line = f"if ({choice(['x >= n', 'grp > 1', 'n < 3', 'x >= w || y >= h'])}) return;"
        else:
            line = {
                2: "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
                3: f"{tile}[{choice([place, 'lid / 2'])}] = v;",
                4: f"v += {tile}[{choice([place, '0'])}];",
                5: atomic(),
                6: f"v += (int){choice('ab')}[{index()}];",
                7: f"v = {value()};",
                12: vectors(),
                13: atomic(),
                14: private(),
            }.get(kind) or f"{choice('aabc')}[{index()}] = {value()};"
        return ["  " * depth + line]

    body = [one for _ in range(random.randrange(2, 6)) for one in statement(1)]
    group_size = (choice([8, 16, 33]), choice([1, 2]) if axes > 1 else 1, 1) if random.randrange(6) == 0 else None
    attributes = [f"reqd_work_group_size{group_size}"] if group_size else []
    attributes += [f"intel_reqd_sub_group_size({choice([8, 16, 16, 32])})"] if random.randrange(4) == 0 else []
    source = "\n".join([
        *(f"__attribute__(({one}))" for one in attributes),
        f"kernel void k({', '.join(one.declaration for one in parameters)}) {{",
        *([] if has_local else ["  local int tile[64];"]),
        "  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), gszx = get_global_size(0);",
        f"  {choice(['int', 'int', 'uint', 'size_t', 'ushort'])} gid = get_global_id(0);",
        "  int lid = get_local_id(0), grp = get_group_id(0), lsz = get_local_size(0);",
        "  int v = x * 3 + 1, i = x;",
        *(["  int own[4] = {v, x, n, 7};"] if any("own[" in line for line in body) else []),
        *body,
        "  c[x] = v;" if random.randrange(2) else "",
        "}",
    ])  # fmt: skip
    return RandomKernel(f"{_HEAD}{source}\n", parameters, axes, group_size)


def mutate_source(source: str) -> Iterator[str]:
    """Yield the source without one of its barriers or guards, and with one of its indices shifted by one."""
    lines = source.splitlines(keepends=True)
    for number, line in enumerate(lines):
        changed = []
        if "barrier(" in line:
            changed.append("")
        if (guard := re.search(r"\bif \((.+?)\)(?= [{t])", line)) is not None:
            changed.append(f"{line[: guard.start(1)]}1{line[guard.end(1) :]}")
        if "kernel void" not in line and "local int" not in line and "int own" not in line and "#pragma" not in line:
            changed += [
                f"{line[: m.start(1)]}({m[1]}) + 1{line[m.end(1) :]}" for m in re.finditer(r"\[([^\]]+)\]", line)
            ]
        for new in changed:
            yield "".join([*lines[:number], new, *lines[number + 1 :]])


# Changes of a line of a text: what stands there, and what replaces it.
_CHANGES = [
    (re.compile(pattern), new) for pattern, new in (
        (r"^ *(barrier|lsc_fence|fence).*\n", ""),
        (r"cmp\.lt ", "cmp.le "), (r"cmp\.gt ", "cmp.ge "), (r"cmp\.le ", "cmp.lt "), (r"cmp\.ge ", "cmp.gt "),
        (r"(?<=0x)([0-9a-f]+)(?=:)", lambda m: f"{int(m[1], 16) + 4:x}"),
        (r"^    (mov|add|and|shl|mul|cmp\S*|addr_add|shr|asr|or) .*\n", ""),  # a register without its value
        (r"\(!P", "(P"), (r"^ +\(P", "    (!P"), (r"^ +\(!?P\d+\) (?!sel|goto)", "    "),
        (r"\(M(\d), (8|16|32)\)", r"(M\1_NM, \2)"), (r"\(M(\d)_NM, ", r"(M\1, "), (r"\(M5(\w*), 16\)", r"(M1\1, 16)"),
        (r"<1;1,0>", "<0;1,0>"), (r"<0;1,0>", "<1;1,0>"), (r"<2;1,0>", "<1;1,0>"),
        (r"(?<=^\.decl V....) v_type=G type=(u?)([bw]) num_elts=(\d+)(.*alias)", lambda m: f" v_type=G type={'' if m[1] else 'u'}{m[2]} num_elts={m[3]}{m[4]}"),
        (r"(?<=type=)d(?= num.*alias)", "ud"), (r"(?<=type=)ud(?= num.*alias)", "d"), (r"alias=<(V\d+), 0>", r"alias=<\1, 2>"),
        (r"^    shr ", "    asr "), (r"^    asr ", "    shr "), (r"^    and ", "    or "), (r"^    (add|mul) ", r"    \1.sat "),
        (r"^    add ", "    min "), (r"^    shl (.*) 0x(\w+):", r"    shr \1 0x\2:"), (r" \(-\)V", " V"),
        (r"atomic\.(\w+) \(", r"atomic.\1.16 ("), (r"(atomic\S+ .*:?)d32", r"\1d16c32"),
        (r"^    add (\S+ \S+ \S+ )V", r"    add \1(-)V"), (r"0x([0-9a-f]+):u?d( |$)", r"0x\1:w\2"),
    )
]  # fmt: skip


def mutate_text(text: str) -> Iterator[str]:
    """Yield the text with one line changed: a barrier, a guard, a mask, a region, a type or an operation less or other."""
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        for pattern, new in _CHANGES:
            changed = pattern.sub(new, line, count=1)
            if changed != line:
                yield "".join([*lines[:at], changed, *lines[at + 1 :]])


@dataclass(frozen=True)
class RandomLaunch:
    """The sizes and the global offset of a launch, the values of arguments, and the bytes of each buffer and local argument."""

    groups: tuple[int, int, int]
    local: tuple[int, int, int]
    offset: tuple[int, int, int]
    values: tuple[tuple[str, int], ...]
    lengths: tuple[tuple[str, int], ...]


_MAX_BUFFER_BYTES = 1 << 20
_SIZED = re.compile(r"^(\w+) has at least (.+) (elements?|bytes?)$")
_LOCAL_SIZES = (
    ((1, 2, 3, 7, 8, 10, 16, 24, 32, 33, 64),) * 3,
    ((4, 1, 2, 5, 8, 16), (1, 2, 3, 4), (1, 1, 1)),
    ((3, 2, 4), (1, 2, 3), (1, 2)),
)


def fitting_launch(random: Random, kernel: RandomKernel, assumed: set[str]) -> RandomLaunch | None:
    """Return a launch that keeps some assumptions, with the smallest buffers; None where these sizes cannot."""
    choice = random.choice
    alone = {axis for axis, name in enumerate("xyz") if f"there is one work item along {name}" in "\n".join(assumed)}
    used = [axis < kernel.axes and axis not in alone for axis in range(3)]
    sizes = _LOCAL_SIZES[kernel.axes - 1]
    local = kernel.group_size or tuple([choice(sizes[axis]) if is_used else 1 for axis, is_used in enumerate(used)])
    groups = tuple([choice([1, 1, 2, 3, 5][: 5 - kernel.axes + 1]) if is_used else 1 for is_used in used])
    totals = [a * b for a, b in zip(local, groups, strict=True)]
    offset = tuple([choice([0, 0, 0, 1, 5, 16]) if is_used else 0 for is_used in used])
    numbers: dict[str, int] = {f"offset_{name}": value for name, value in zip("xyz", offset, strict=True)}
    for name, total in zip("nwh", (totals[0], totals[0], totals[1]), strict=True):
        numbers[name] = choice([0, 1, total, total, total, total - 1, total + 1, total // 2, 2 * total, 5, 16, 17])
    if random.randrange(8) == 0:
        numbers[choice("nwh")] = -1
    for axis, name in enumerate("xyz"):
        numbers |= {
            f"global_size_{name}": totals[axis],
            f"local_size_{name}": local[axis],
            f"groups_{name}": groups[axis],
        }
    numbers |= {"global_size": totals[0], "local_size": local[0], "groups": groups[0]}
    for one in kernel.parameters:
        if one.kind == "value" and one.dtype == "uint32":
            numbers[one.name] &= 0xFFFFFFFF
    lengths = dict.fromkeys((one.name for one in kernel.parameters if one.kind != "value"), 0)
    width = {one.name: np.dtype(one.dtype).itemsize for one in kernel.parameters}
    for words in assumed:
        if (sized := _SIZED.match(words)) is not None:
            name, formula, unit = sized.groups()
            count = int(eval(formula, {"__builtins__": {}, "max": max}, numbers))  # noqa: S307 - our own words
            lengths[name] = max(lengths[name], count * (width[name] if unit.startswith("element") else 1))
        elif not _holds_in(words, numbers, totals):
            return None
    if max(lengths.values(), default=0) > _MAX_BUFFER_BYTES:
        return None
    return RandomLaunch(groups, local, offset, tuple([(name, numbers[name]) for name in "nwh"]), tuple(lengths.items()))


def _holds_in(words: str, numbers: dict[str, int], totals: Sequence[int]) -> bool:
    """Return whether an assumption about sizes holds in a launch; true for those about something else."""
    if (cap := re.match(r"a group has at most (\d+) work items", words)) is not None:
        return max(numbers[f"local_size_{axis}"] for axis in "xyz") <= int(cap[1])
    if (sign := re.match(r"(\w+) is (not negative|positive)$", words)) is not None:
        return numbers[sign[1]] >= (sign[2] == "positive")
    if (start := re.match(r"the global offset is 0 along ([xyz])$", words)) is not None:
        return numbers[f"offset_{start[1]}"] == 0
    if (width := re.match(r"(\w+) is the number of work items along ([xyz])$", words)) is not None:
        return numbers[width[1]] == totals["xyz".index(width[2])]
    if (limit := re.match(r"(\w+) is at most (\w+)$", words)) is not None:
        return numbers[limit[1]] <= numbers[limit[2]]
    if (below := re.match(r"(\w+) is less than (\w+)(\^31)?$", words)) is not None:
        return numbers[below[1]] < (1 << 31 if below[3] else numbers[below[2]])
    if (multiple := re.match(r"(\w+) is a multiple of (\d+)$", words)) is not None:
        return numbers[multiple[1]] % int(multiple[2]) == 0
    return True


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

    def __init__(
        self, text: str, path: Path, random_kernel: RandomKernel, platform_name: str, *, only_walks: bool
    ) -> None:  # fmt: skip
        self._kernel, self._only_walks = random_kernel, only_walks
        module = program_of_text(text, platform_name).module
        assert module is not None
        self._module, kernel = module, choose_kernel(module, "k")
        infos = read(find_or_infer_ze_info(kernel, [path], Beside(), platform_name).text)
        self._info = next(one for one in infos if one.name == "k")
        platform = platform_named(platform_name)
        assert platform is not None
        self._platform = platform
        self._walked = WalkedKernel(kernel, self._info, platform)
        self._code: Code | None = None
        self._launches = 0
        self.strays: list[str] = []  # accesses that the walk of a proof does not have
        self.compared = 0
        self.endless = 0  # launches that used up their budget

    def faults(self, launch: RandomLaunch) -> set[tuple[str, int]]:
        """Return the properties and lines, from 1, of the faults of a launch."""
        lengths, values, args = dict(launch.lengths), dict(launch.values), list[BufferArg | ValueArg | LocalArg]()
        for parameter in self._kernel.parameters:
            dtype = np.dtype(parameter.dtype)
            if parameter.kind == "value":
                args.append(ValueArg(np.array(values[parameter.name]).astype(dtype)))
            elif parameter.kind == "local":
                args.append(LocalArg(lengths[parameter.name]))
            else:
                args.append(BufferArg(np.arange(-(-lengths[parameter.name] // dtype.itemsize)).astype(dtype)))
        config = LaunchConfig("k", launch.groups, launch.local, args=tuple(args), global_offset=launch.offset)
        prepared = prepare(self._module, self._info, config, self._platform)
        dispatch = with_budget(prepared, _WALKED_STEPS if self._only_walks else _STEPS)
        self._launches += 1
        is_walked = self._only_walks or self._launches % _WALKED_EVERY == 1
        walks = self._walked.observers(config) if is_walked else []
        machine = _Machine(dispatch, (*(() if self._only_walks else checkers(_CHECKS)), *walks))
        if self._code is not None:
            self._code.frames.clear()
            machine.kept = self._code
        result = machine.run()
        self._code = machine.kept
        self.compared += sum(one.compared for one in walks)
        is_over = any(fault.kind is FaultKind.BUDGET for fault in result.faults)
        self.strays += [words for one in walks for words in (*one.differences, *one.missed * (not is_over))]
        shown = set()
        for fault in result.faults:
            self.endless += fault.kind is FaultKind.BUDGET
            property_ = _PROPERTIES.get(fault.kind.value)
            if property_ == "uninitialised" and not fault.variable:
                continue  # of memory, which is not part of the property
            shown |= {(property_, line + 1) for line in (fault.line, fault.other_line) if property_ and line >= 0}
        return shown


@dataclass
class Verdict:
    """The verdict of launches on the proofs of a kernel."""

    answers: Counter[str] = field(default_factory=Counter)
    is_whole: bool = False  # all is proved
    launches: int = 0
    compared: int = 0  # accesses with those of the walk
    faults: set[tuple[str, int]] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)


def compare(
    text: str, path: Path, kernel: RandomKernel, platform: str, random: Random, launches: int, seconds: float
) -> Verdict:
    """Prove a text and run it; without seconds, compare only the walk of a proof with the runs."""
    verdict = Verdict()
    program = program_of_text(text, platform)
    if program.module is None or has_errors(program.diagnostics):
        return verdict  # a mutant with errors
    path.write_text(text)
    results: Sequence[ProofResult] = ()
    if seconds:
        # In this process: a new one for each text takes as long to begin as many a proof takes.
        kernel_k = choose_kernel(program.module, "k")
        options = ProofOptions(seconds=seconds, platform=platform)
        results = prove_kernel(program.module, kernel_k, str(path), path, text.encode(), options)
    verdict.answers.update(f"{one.property} {one.answer}" for one in results)
    verdict.wrong += not_shown(results, path, platform)
    proved = {(one.property, one.line): one for one in results if one.answer == "proved"}
    verdict.is_whole = len(proved) == len(results)
    if seconds and not proved:
        return verdict
    assumed = {words for one in proved.values() for words in one.assumptions}
    if not seconds:
        assumed = {f"{one.name} has at least 2048 bytes" for one in kernel.parameters if one.kind != "value"}
    runs = KernelRuns(text, path, kernel, platform, only_walks=not seconds)
    for _ in range(4 * launches):
        launch = fitting_launch(random, kernel, assumed)
        if verdict.launches == launches or runs.endless == _MAX_ENDLESS:
            break
        if launch is None:
            continue
        verdict.launches += 1
        shown = runs.faults(launch)
        verdict.faults |= shown
        verdict.wrong += [
            f"WRONG {path}: {property_} of line {line} is proved, {launch}: {proved[property_, line].assumptions}"
            for property_, line in shown & set(proved)
            if _holds(proved[property_, line], shown)
        ]
        if runs.strays:
            verdict.wrong.append(f"STRAY {path}: {runs.strays[0]}: {launch}")
            break
    verdict.compared = runs.compared
    return verdict


def not_shown(results: Sequence[ProofResult], path: Path, platform: str) -> Iterator[str]:
    """Yield the refuted answers whose launch file, run afresh, does not have the fault at their line."""
    runs = LaunchRuns(path, path.read_bytes(), platform, Beside())
    faults_by_launch: dict[str, set[tuple[str, int]]] = {}
    for result in results:
        if result.answer != "refuted":
            continue
        launch = result.launch or ""
        if launch not in faults_by_launch:
            _, faults = runs.run(launch, "all,item-races", _CONFIRMED_STEPS)
            lines = ((_PROPERTIES.get(fault.kind.value, ""), {fault.line, fault.other_line}) for fault in faults)
            faults_by_launch[launch] = {(word, line + 1) for word, both in lines for line in both}
        if (result.property, result.line) not in faults_by_launch[launch]:
            yield f"NOT SHOWN {path}: {result.property} of line {result.line} is refuted: {launch}"


def _holds(proof: ProofResult, faults: set[tuple[str, int]]) -> bool:
    """Return whether a launch keeps the assumptions that work items meet at barriers, and that accesses stay in their memory."""
    shown = {property_ for property_, _ in faults}
    broken = {word for word in _EXCUSES if any(one.startswith(word) for one in proof.assumptions)}
    return not any(_EXCUSES[word] in shown for word in broken)


@dataclass(frozen=True)
class Hunt:
    """The settings of a hunt. ``compilers`` are pairs of a compiler and a device, taken in turn."""

    folder: Path
    seed: int
    launches: int
    mutants: int
    seconds: float
    compilers: tuple[tuple[str | None, str], ...]

    def text_of(self, source: str, place: Path, number: int) -> tuple[str, str] | None:
        """Compile a source; leave its program in a folder and return its text and platform."""
        place.mkdir()
        (place / "k.cl").write_text(source)
        tool, device = self.compilers[number % len(self.compilers)]
        build = build_source(read_source(str(place / "k.cl")), device, "-cl-std=CL2.0" if tool else "", tool)
        texts = [one.text for one in build.texts if one.name in ("k", "second")]
        if not texts or build.program is None:
            return None
        (place / "k.zebin").write_bytes(build.program)
        bodies = [text.partition("\n")[2] for text in texts[1:]]  # a text has one line of the version
        return "\n".join([texts[0], *bodies]), build.platform


def _one_kernel(number: int, hunt: Hunt) -> tuple[Verdict | None, list[Verdict]]:
    random = Random(hunt.seed * 100_000 + number)
    kernel = random_kernel(random)
    place = hunt.folder / str(number)
    compiled = hunt.text_of(kernel.source, place, number)
    if compiled is None:
        return None, []
    text, platform = compiled
    whole = compare(text, place / "k.visaasm", kernel, platform, random, hunt.launches, hunt.seconds)
    verdicts: list[Verdict] = []
    by_kind = [list(mutate_source(kernel.source)), list(mutate_text(text))]
    for index in range(hunt.mutants):
        changes_text = (number + index) % 2
        if not by_kind[changes_text]:
            continue
        mutant, folder = random.choice(by_kind[changes_text]), hunt.folder / f"{number}.{index}"
        changed = (mutant, platform) if changes_text else hunt.text_of(mutant, folder, number)
        if changed is not None:
            path = place / f"k{index}.visaasm" if changes_text else folder / "k.visaasm"
            verdicts.append(compare(changed[0], path, kernel, platform, random, hunt.launches, hunt.seconds))
    return whole, verdicts


def _print_verdicts(words: str, verdicts: Sequence[Verdict]) -> None:
    answers: Counter[str] = Counter()
    for one in verdicts:
        answers.update(one.answers)
    print(
        f"{len(verdicts)} {words}: {sum(len(one.wrong) for one in verdicts)} answers contradicted;"
        f" {sum(one.is_whole for one in verdicts)} proved whole,"
        f" {sum(bool(one.faults) for one in verdicts)} with faults at some launch;"
        f" {sum(one.launches for one in verdicts)} launches, {sum(one.compared for one in verdicts)} accesses compared with the walk"
    )
    print(dict(sorted(answers.items())), flush=True)


def random_kernels(
    count: int, launches: int, seed: int, mutants: int, jobs: int, seconds: float, newer: str | None, start: int = 0
) -> None:
    """Print how often a launch contradicts a proof, which must be never; ``newer`` is a second compiler, of today.

    ``start`` is the number of the first kernel, as in the paths of the printed mistakes.
    """
    compilers: tuple[tuple[str | None, str], ...] = ((None, "tgllp"), (None, "dg2"), (None, "pvc"))
    if newer is not None:
        compilers = (*compilers, (newer, "bmg"), (newer, "tgllp"), (newer, "ptl"))
    folder = Path(tempfile.mkdtemp(prefix="prove-random-"))
    work = partial(_one_kernel, hunt=Hunt(folder, seed, launches, mutants, seconds, compilers))
    kernels: list[Verdict] = []
    changed: list[Verdict] = []
    with ProcessPoolExecutor(jobs) as pool:
        for number, (whole, mutant_verdicts) in enumerate(pool.map(work, range(start, start + count))):
            if number and number % _REPORTED_KERNELS == 0:
                _print_verdicts("random kernels and mutants so far", [*kernels, *changed])
            kernels += [whole] if whole is not None else []
            changed += mutant_verdicts
            for one in (whole, *mutant_verdicts):
                if one is not None and one.wrong:
                    print(one.wrong[0], flush=True)
    _print_verdicts("random kernels", kernels)
    if changed:
        _print_verdicts("mutants", changed)
