"""Random programs on both engines: straight code, loops, divergence, shared memory, barriers, atomics, subroutines.

Every program ends by storing all of its variables. What the engines leave in memory, count and report has to be the same; with
checkers too, and groups that run side by side leave the same memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.attack.core import Target, Wrong
from benchmarks.attack.kernels import Kernels
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.cli.launch.file import parse_launch
from visa_lsp.cli.launch.runner import RunOptions, run_module
from visa_lsp.isa.lane import Effect, Lane
from visa_lsp.isa.model import ExecStyle
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.lower import assemble
from visa_lsp.sim.jit import engine, machine

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from visa_lsp.cli.launch.report import RunReport
    from visa_lsp.isa.model import Instruction

_EFFECTS: Final = {"mov", "select", "compare", "setp", "addc", "subb", "bfn", "minmax", "madw"}
_TYPES: Final = ("d", "ud", "w", "uw", "b", "ub", "f", "f", "hf", "df", "q", "uq")
_SIZES: Final = {"d": 4, "ud": 4, "w": 2, "uw": 2, "b": 1, "ub": 1, "f": 4, "hf": 2, "df": 8, "q": 8, "uq": 8}
_LAUNCH: Final = """groups: [{groups}, 1, 1]
local_size: [{local}, 1, 1]
args:
  src: {{buffer: {{dtype: uint32, shape: [1024], init: {{random: {seed}}}}}}}
  dst: {{buffer: {{dtype: uint32, shape: [{size}], init: zeros}}}}
"""
_LOOPS: Final = 2  # inside of each other
_SLM: Final = 2048


@cache
def _rows() -> tuple[Instruction, ...]:
    """Instructions that compute: whatever they are given, the thread goes on."""
    return tuple(
        row
        for row in TABLE.rows
        if row.exec_style is ExecStyle.MASKED
        and (isinstance(row.meaning, Lane) or (isinstance(row.meaning, Effect) and row.meaning.name in _EFFECTS))
    )


@dataclass(frozen=True, slots=True)
class Program:
    """A text and how it is launched."""

    text: str
    launch: str
    platform: str


class _Writer(Kernels):
    """Writes one program."""

    def __init__(self, draw: random.Random, platform: str) -> None:
        super().__init__(draw)
        self.platform = platform
        self.lanes = draw.choice((8, 16, 16, 32))
        self.threads, self.groups = draw.choice((1, 2, 3)), draw.choice((1, 2, 3))
        self.own: list[tuple[str, str]] = []  # variables with their types
        self.subroutines: list[list[str]] = []
        self.count = 0
        self.ok: list[str] = []

    def declarations(self) -> list[str]:
        """What the program declares."""
        out = [
            f".decl ids v_type=G type=uw num_elts={max(16, self.lanes)} align=GRF",
            f".input ids offset=32 size={max(32, 2 * self.lanes)}",
        ]
        for number in range(8):
            kind = self.draw.choice(_TYPES)
            self.own.append((f"V{40 + number}", kind))
            self.kinds.setdefault(kind, []).append(f"V{40 + number}")
            out.append(f".decl V{40 + number} v_type=G type={kind} num_elts=128 align=GRF")
        out += [
            f".decl V5{n} v_type=G type={kind} num_elts=32 align=GRF"
            for n, kind in enumerate(("ud", "ud", "d", "d", "ud"))
        ]
        out += [".decl group v_type=G type=ud num_elts=1 align=dword alias=<%r0, 4>"]
        out += [f".decl P{n} v_type=P num_elts=32" for n in range(1, 6)]
        out += [".decl A0 v_type=A num_elts=16", ".decl A1 v_type=A num_elts=16"]
        out += [".decl src v_type=T num_elts=1", ".input src offset=128 size=4"]
        out += [".decl dst v_type=T num_elts=1", ".input dst offset=132 size=4"]
        return [*out, f".kernel_attr SimdSize={self.lanes}", f".kernel_attr SLMSize={_SLM // 1024}"]

    def computed(self) -> str:
        """An instruction that computes."""
        row, pick = self.draw.choice(_rows()), self.draw
        kind = pick.choice(list(self.kinds))
        head = row.mnemonic + "".join(self.word(m) for m in row.modifiers)
        if row.predicable and pick.random() < 0.25:
            head = pick.choice(("(P1) ", "(!P2) ", "(P3.any) ", "(P1.all) ")) + head
        size = self.lanes if self.lanes in row.exec_sizes and pick.random() < 0.8 else pick.choice(row.exec_sizes)
        mask = pick.choice(("M1", "M1", "M1", "M1_NM", "M5" if size <= 16 else "M1"))
        parts = [head, f"({mask}, {size})"]
        return " ".join([*parts, *(self.operand(slot, kind) for slot in row.slots if not slot.optional)])

    def candidates(self, head: list[str]) -> list[str]:
        """Instructions that the assembler takes, of many that were written by chance."""
        tried = [self.computed() for _ in range(150)]
        analysis = Analysis.of("\n".join([*head, *tried]), self.platform)
        wrong = {analysis.document.position(found.span.start)[0] for found in analysis.diagnostics}
        return [line for at, line in enumerate(tried, len(head)) if at not in wrong]

    def text(self, lines: int) -> str:
        """A program of about so many instructions."""
        head = [".version 4.1", '.kernel "k"', *self.declarations()]
        self.ok = self.candidates(head) or ["mov (M1, 8) V50(0,0)<1> 0x1:ud"]
        body = [*self.beginning(), *self.block(lines, 0), *self.ending(), "ret (M1, 1)"]
        for number, inside in enumerate(self.subroutines):
            body += [f'.function "sub{number}"', f"sub{number}:", *inside, f"ret (M1, {self.lanes})"]
        return "\n".join([*head, *(line if line.endswith((":", '"')) else f"    {line}" for line in body), ""])

    def beginning(self) -> Iterator[str]:
        """Give every variable a value of the input, and the place of each lane to V50 and V51."""
        lanes = self.lanes
        yield f"mov (M1_NM, {lanes}) V50(0,0)<1> ids(0,0)<1;1,0>"
        yield f"mad (M1_NM, {lanes}) V50(0,0)<1> group(0,0)<0;1,0> {self.threads * lanes:#x}:uw V50(0,0)<1;1,0>"
        yield f"shl (M1_NM, {lanes}) V51(0,0)<1> V50(0,0)<1;1,0> 0x2:ud"
        for name, kind in self.own:
            offset = self.draw.randrange(128)
            for row in range(0, 128 * _SIZES[kind], 128):
                yield f"oword_ld (8) src {(offset + row // 16) % 240:#x}:ud {name}.{row}"
        for number in range(1, 4):
            yield f"cmp.{self.draw.choice(('lt', 'gt', 'ne'))} (M1_NM, {lanes}) P{number} V50(0,0)<1;1,0> {self.draw.randrange(40):#x}:ud"
        for number in range(2):
            name, _ = self.draw.choice(self.own)
            yield f"addr_add (M1_NM, 16) A{number}(0)<1> &{name} 0x0:uw"

    def ending(self) -> Iterator[str]:
        """Store every variable, a row of dwords for each; predicates as well."""
        stride = 4 * self.groups * self.threads * self.lanes
        for number in range(1, 4):
            yield f"(P{number}) sel (M1, {self.lanes}) V52(0,0)<1> 0x1:d 0x0:d"
            yield from self.stored("V52", number * stride)
        for number, (name, _) in enumerate(self.own, 4):
            yield from self.stored(name, number * stride)

    def stored(self, name: str, offset: int) -> Iterator[str]:
        """Store a dword of each lane."""
        for at in range(0, self.lanes, 16):
            size = min(16, self.lanes)
            yield f"add ({'M1' if not at else 'M5'}, {size}) V54({at // 8},0)<1> V51({at // 8},0)<1;1,0> {offset:#x}:ud"
            yield f"scatter4_scaled.R ({'M1' if not at else 'M5'}, {size}) dst 0x0:ud V54.{4 * at} {name}.{4 * at}"

    def block(self, lines: int, depth: int) -> list[str]:
        """Some statements."""
        out: list[str] = []
        while len(out) < lines:
            out += self.statement(max(2, lines // 3), depth)
        return out

    def statement(self, lines: int, depth: int) -> list[str]:
        """Something that is one instruction or has some inside."""
        pick, lanes = self.draw.random(), self.lanes
        self.count += 1
        end = f"L{self.count}"
        if depth < _LOOPS and pick < 0.12:
            predicate = self.draw.choice(("(P1)", "(!P2)", "(P3)"))
            body = self.block(lines, depth + 1)
            if self.draw.random() < 0.5:
                return [f"{predicate} goto (M1, {lanes}) {end}", *body, f"{end}:"]
            other = self.block(lines, depth + 1)
            return [
                f"{predicate} goto (M1, {lanes}) {end}",
                *body,
                f"goto (M1, {lanes}) {end}e",
                f"{end}:",
                *other,
                f"{end}e:",
            ]
        if depth < _LOOPS and pick < 0.2:
            counter, predicate = f"V5{2 + depth}", f"P{4 + depth}"
            begin = [
                f"and (M1, {lanes}) {counter}(0,0)<1> V50(0,0)<1;1,0> {self.draw.choice((1, 3, 7)):#x}:d",
                f"{end}:",
            ]
            again = [
                f"add (M1, {lanes}) {counter}(0,0)<1> {counter}(0,0)<1;1,0> -1:d",
                f"cmp.ge (M1, {lanes}) {predicate} {counter}(0,0)<1;1,0> 0x0:d",
                f"({predicate}) goto (M1, {lanes}) {end}",
            ]
            return [*begin, *self.block(lines, depth + 1), *again]
        if pick < 0.28:
            return self.memory()
        if depth == 0 and pick < 0.34:
            return self.shared()
        if depth < _LOOPS and pick < 0.38 and len(self.subroutines) < 2:
            number = len(self.subroutines)
            self.subroutines.append([])
            self.subroutines[number] = self.block(3, _LOOPS)
            return [f"call (M1, {lanes}) sub{number}"]
        return [self.draw.choice(self.ok)]

    def memory(self) -> list[str]:
        """Read the input somewhere, or count something up in a place of the lane's own."""
        name, kind = self.draw.choice(self.own)
        size = min(16, self.lanes)
        where = f"shl (M1, {size}) V54(0,0)<1> V50(0,0)<1;1,0> {self.draw.choice((0, 2, 3)):#x}:ud"
        if kind in ("d", "ud") and self.draw.random() < 0.7:
            where = f"and (M1, {size}) V54(0,0)<1> {name}(0,0)<1;1,0> 0x3fc:ud"
        other, _ = self.draw.choice(self.own)
        if self.draw.random() < 0.7:
            return [where, f"gather4_scaled.R (M1, {size}) src 0x0:ud V54.0 {other}.0"]
        word = self.draw.choice(("add", "xor", "max", "inc"))
        payload = "%null.0" if word == "inc" else "V50.0"
        return [
            f"mov (M1, {size}) V54(0,0)<1> V51(0,0)<1;1,0>",
            f"dword_atomic.{word} (M1, {size}) dst V54.0 {payload} %null.0 V54.0",
            f"mov (M1, {size}) {other}(0,0)<1> V54(0,0)<1;1,0>",
        ]

    def shared(self) -> list[str]:
        """Hand a dword to the neighbour through shared memory."""
        size = min(16, self.lanes)
        name, _ = self.draw.choice(self.own)
        return [
            "barrier",
            f"mov (M1, {size}) V54(0,0)<1> ids(0,0)<1;1,0>",
            f"shl (M1, {size}) V54(0,0)<1> V54(0,0)<1;1,0> 0x2:ud",
            f"scatter4_scaled.R (M1, {size}) %slm 0x0:ud V54.0 {name}.0",
            "fence_local.E",
            "barrier",
            f"xor (M1, {size}) V54(0,0)<1> V54(0,0)<1;1,0> {self.draw.choice((4, 8, 12)):#x}:ud",
            f"gather4_scaled.R (M1, {size}) %slm 0x0:ud V54.0 {self.draw.choice(self.own)[0]}.0",
        ]


class Programs(Target):
    """Programs whose runs are compared."""

    name = "programs"
    suffix = ".visaasm"

    def __init__(self) -> None:
        # Nothing is too small to be compiled, and nothing is interpreted first.
        engine.LARGE = 0
        engine.PROBE = machine.WARM = 0

    def make(self, draw: random.Random) -> Program:
        """A program."""
        platform = draw.choice(("TGLLP", "TGLLP", "DG2", "SKL"))
        writer = _Writer(draw, platform)
        text = writer.text(draw.randrange(6, 30))
        local = writer.threads * writer.lanes
        return Program(
            text,
            _LAUNCH.format(
                groups=writer.groups, local=local, seed=draw.randrange(1000), size=16 * writer.groups * local
            ),
            platform,
        )

    def shown(self, case: Any) -> bytes:
        """The text, and the launch as a comment."""
        launch = "".join(f"// {line}\n" for line in case.launch.splitlines())
        return f"{case.text}\n// platform: {case.platform}\n{launch}".encode()

    def attempt(self, case: Any, draw: random.Random) -> str:
        """Run it."""
        del draw
        made = assemble(case.text, case.platform)
        if made.module is None:
            return "refused"
        launch = replace(parse_launch(case.launch, Path("k.launch.yaml")), platform=case.platform)

        def run(which: str, checks: str, threads: int = 1) -> RunReport:
            options = RunOptions(engine=which, checks=checks, budget=2_000_000, threads=threads)
            return run_module(made.module, launch, options)

        for checks in ("none", "all"):
            one, other = run("interp", checks), run("jit", checks)
            _compare(one, other, f"checks {checks}")
            if checks == "none":
                _compare_memory(one, run("jit", checks, threads=3), "side by side")
        return "a fault in both" if one.faults else f"the same, {other.engine}"


def _compare(one: RunReport, other: RunReport, where: str) -> None:
    _compare_memory(one, other, where)
    for name in (
        "faults",
        "instructions",
        "opcodes",
        "groups",
        "threads",
        "barriers",
        "bytes_read",
        "bytes_written",
        "findings",
    ):
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine != theirs:
            raise Wrong(f"{where}: {name} of the interpreter {mine!r:.300}, compiled {theirs!r:.300}")


def _compare_memory(one: RunReport, other: RunReport, where: str) -> None:
    for mine, theirs in zip(one.buffers, other.buffers, strict=True):
        different = np.flatnonzero(mine.array != theirs.array)
        if different.size:
            at = int(different[0])
            raise Wrong(
                f"{where}: {mine.title}[{at}] is {mine.array[at]:#x} interpreted and {theirs.array[at]:#x} compiled"
                f" ({different.size} differ)"
            )
