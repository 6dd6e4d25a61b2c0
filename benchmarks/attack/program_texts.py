"""Random programs that end: straight code, loops, divergence, shared memory, barriers, atomics, subroutines, recursive functions.

Every program begins with all of its variables holding something and ends by storing what all of their bytes sum up to. A *tidy* one does
nothing that a checker reports or cannot be sure of: no indirect registers, no odd addresses, no shared memory that is read before it is written.
Behind that, some go astray in one group.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from benchmarks.attack.kernels import Kernels
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.isa.lane import Effect, Lane
from visa_lsp.isa.model import ExecStyle
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPE_BY_NAME

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from visa_lsp.isa.model import Instruction

_EFFECTS: Final = {"mov", "select", "compare", "setp", "addc", "subb", "bfn", "minmax", "madw"}
_TYPES: Final = ("d", "ud", "w", "uw", "b", "ub", "f", "f", "hf", "df", "q", "uq")
_INTEGERS: Final = ("d", "ud", "w", "uw", "b", "ub", "q", "uq")
_LAUNCH: Final = """groups: [{groups}, 1, 1]
local_size: [{local}, 1, 1]
args:
  src: {{buffer: {{dtype: uint32, shape: [1024], init: {{random: {seed}}}}}}}
  dst: {{buffer: {{dtype: uint32, shape: [{size}], init: zeros}}}}
"""
_PASSED: Final = "  {name}: {{values: [{values}], dtype: uint64}}\n"
_LOOPS: Final = 2  # inside of each other
_SLM: Final = 2048
_BYTES: Final = 512  # of a variable
_BASES: Final = 4  # variables with registers of their own; as many more are other views of these
_GIVEN: Final = 3  # of them come with the payload, the others are loaded
ASTRAY: Final = "a group that goes astray"  # what a program has, as it is counted
_STRAYS: Final = 0.3  # of all programs
_RECURSIVE: Final = 0.3  # of all programs
_ARGUMENT: Final = (
    ".decl argument v_type=G type=ud num_elts=64 align=GRF alias=<%arg, 0>",
    ".decl result v_type=G type=ud num_elts=32 align=GRF alias=<%retval, 0>",
)
_TRIED: Final = 80  # random lines, a quarter of them right


def _add_to_sum(size: int, row: str) -> str:
    """Add a row of dwords to the sum."""
    return f"mad (M1_NM, {size}) V56(0,0)<1> V56(0,0)<1;1,0> 0x21:uw {row}<1;1,0>"


@cache
def _rows() -> tuple[Instruction, ...]:
    """Instructions that compute: the thread continues for any operands."""
    return tuple(
        row
        for row in TABLE.rows
        if row.exec_style is ExecStyle.MASKED
        and (isinstance(row.meaning, Lane) or (isinstance(row.meaning, Effect) and row.meaning.name in _EFFECTS))
    )


@dataclass(frozen=True, slots=True)
class Program:
    """A text, how it is launched, and what is in it: how many statements of each kind, and its types."""

    text: str
    launch: str
    platform: str
    has: Counter[str]
    types: frozenset[str]


def program(draw: random.Random) -> Program:
    """Return a program and its launch."""
    writer = _Writer(draw, draw.choice(("TGLLP", "TGLLP", "DG2", "SKL")))
    text = writer.text(draw.randrange(6, 30))
    local = writer.threads * writer.lanes
    launch = _LAUNCH.format(groups=writer.groups, local=local, seed=draw.randrange(1000), size=writer.stored_bytes // 4)
    for number in range(_GIVEN):
        values = ", ".join(str(draw.getrandbits(64)) for _ in range(_BYTES // 8))
        launch += _PASSED.format(name=f"V{40 + number}", values=values)
    return Program(text, launch, writer.platform, writer.has, frozenset(writer.kinds))


class _Writer(Kernels):
    """Writes one program."""

    def __init__(self, draw: random.Random, platform: str) -> None:
        super().__init__(draw)
        self.platform = platform
        self.tidy = draw.random() < 0.5
        self.most_subroutines = 0 if self.tidy and draw.random() < 0.7 else 2  # checkers' code has no calls
        self.lanes = draw.choice((8, 16, 16, 32))
        self.threads, self.groups = draw.choice((1, 2, 3)), draw.choice((1, 2, 3))
        self.own: list[tuple[str, str]] = []  # variables with their types
        self.subroutines: list[list[str]] = []
        self.has_function = draw.random() < _RECURSIVE
        self.count = 0
        self.stored_bytes = 4 * self.threads * self.groups * self.lanes  # atomics have these first ones
        self.ok: list[str] = []
        self.has = Counter(["tidy" if self.tidy else "untidy", f"SIMD{self.lanes}", platform])
        self.has["several threads"] = int(self.threads > 1)

    def declarations(self) -> list[str]:
        """Return the declarations of the program."""
        out = [
            f".decl ids v_type=G type=uw num_elts={max(16, self.lanes)} align=GRF",
            f".input ids offset=32 size={max(32, 2 * self.lanes)}",
        ]
        for number in range(2 * _BASES):
            # What is given is an integer: a launch does not pass bits of one as a float.
            kind, alias, size = self.draw.choice(_INTEGERS if number < _GIVEN else _TYPES), "", _BYTES
            if number >= _BASES:
                offset = self.draw.choice((0, 0, 8, 32, 64))
                alias, size = f" alias=<V{40 + self.draw.randrange(_BASES)}, {offset}>", _BYTES - offset
            self.own.append((f"V{40 + number}", kind))
            self.kinds.setdefault(kind, []).append(f"V{40 + number}")
            count = size // TYPE_BY_NAME[kind].size
            out.append(f".decl V{40 + number} v_type=G type={kind} num_elts={count} align=GRF{alias}")
        out += [f".input V{40 + n} offset={160 + _BYTES * n} size={_BYTES}" for n in range(_GIVEN)]
        out += [
            f".decl V5{n} v_type=G type={kind} num_elts=32 align=GRF"
            for n, kind in enumerate(("ud", "ud", "d", "d", "ud", "ud", "ud", "ud"))
        ]
        out += [
            f".decl bits{n} v_type=G type=ud num_elts={_BYTES // 4} align=GRF alias=<V{40 + n}, 0>"
            for n in range(_BASES)
        ]
        out += [".decl group v_type=G type=ud num_elts=1 align=dword alias=<%r0, 4>"]
        out += [f".decl P{n} v_type=P num_elts=32" for n in range(1, 6)]
        out += [".decl A0 v_type=A num_elts=16", ".decl A1 v_type=A num_elts=16"]
        out += [".decl src v_type=T num_elts=1", ".input src offset=128 size=4"]
        out += [".decl dst v_type=T num_elts=1", ".input dst offset=132 size=4", *_ARGUMENT * self.has_function]
        return [*out, f".kernel_attr SimdSize={self.lanes}", f".kernel_attr SLMSize={_SLM // 1024}"]

    def make_computation(self) -> str:
        """Return an instruction that computes."""
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
        tried = [self.make_computation() for _ in range(_TRIED)]
        if self.tidy:
            tried = [line for line in tried if "r[" not in line]
        analysis = Analysis.of("\n".join([*head, *tried]), self.platform)
        wrong = {analysis.document.position(found.span.start)[0] for found in analysis.full_diagnostics}
        return [line for at, line in enumerate(tried, len(head)) if at not in wrong]

    def text(self, lines: int) -> str:
        """Return a program of about so many instructions."""
        self.declared = self.declarations()
        head = [".version 4.1", '.kernel "k"', *self.declared]
        self.ok = self.candidates(head) or ["mov (M1, 8) V50(0,0)<1> 0x1:ud"]
        call = self.call_function() if self.has_function else []
        body = [*self.begin(), *self.block(lines, 0), *call, *self.end(), *self.stray(), "ret (M1, 1)"]
        for number, inside in enumerate(self.subroutines):
            body += [f'.function "sub{number}"', f"sub{number}:", *inside, f"ret (M1, {self.lanes})"]
        body += self.function() if self.has_function else ()
        return "\n".join([*head, *(line if line.endswith((":", '"')) else f"    {line}" for line in body), ""])

    def function(self) -> Iterator[str]:
        """Return a function that some lanes call again, as often as the low bits of its first argument say."""
        lanes, row = self.lanes, max(1, self.lanes // 8)
        yield '.global_function "walk"'
        yield from (line for line in self.declared if not line.startswith((".input", ".kernel_attr SLM")))
        yield f"mov (M1_NM, {lanes}) V50(0,0)<1> argument(0,0)<1;1,0>"
        yield f"and (M1_NM, {lanes}) V52(0,0)<1> argument(0,0)<1;1,0> 0x3:ud"
        for number in range(_BASES):
            for at in range(0, _BYTES, 128):
                factor = self.draw.randrange(1, 1 << 15)
                yield f"mov (M1_NM, 32) bits{number}({at // 32},0)<1> {self.draw.getrandbits(32):#x}:ud"
                yield f"mul (M1_NM, {lanes}) bits{number}({at // 32},0)<1> V50(0,0)<1;1,0> {factor:#x}:uw"
        for number in range(1, 4):
            word = self.draw.choice(("lt", "gt", "ne"))
            yield f"cmp.{word} (M1_NM, 32) P{number} bits{number}(0,0)<1;1,0> {self.draw.getrandbits(32):#x}:ud"
        yield from (line for line in self.draw.choices(self.ok, k=6) if not re.search(r"ids|A[01]|src|dst|group", line))
        yield f"cmp.gt (M1, {lanes}) P4 V52(0,0)<1;1,0> 0x0:d"
        yield f"add (M1_NM, {lanes}) argument(0,0)<1> V52(0,0)<1;1,0> 0xffffffff:d"
        yield f"add (M1_NM, {lanes}) argument({row},0)<1> bits1(0,0)<1;1,0> V50(0,0)<1;1,0>"
        yield f"mov (M1_NM, {lanes}) result(0,0)<1> bits0(0,0)<1;1,0>"
        if self.draw.random() < 0.5:
            yield f"(!P4) goto (M1, {lanes}) last"
            yield f"fcall (M1, {lanes}) walk {2 * row} {row}"
            yield "last:"
        else:
            yield f"(P4) fcall (M1, {lanes}) walk {2 * row} {row}"
        yield f"mad (M1, {lanes}) result(0,0)<1> result(0,0)<1;1,0> 0x21:uw bits2(0,0)<1;1,0>"
        yield f"fret (M1, {lanes})"

    def begin(self) -> Iterator[str]:
        """Give every variable a value, and the number of each lane to V50, four times that to V51."""
        lanes = self.lanes
        yield f"mov (M1_NM, {lanes}) V50(0,0)<1> ids(0,0)<1;1,0>"
        yield f"mad (M1_NM, {lanes}) V50(0,0)<1> group(0,0)<0;1,0> {self.threads * lanes:#x}:uw V50(0,0)<1;1,0>"
        yield f"shl (M1_NM, {lanes}) V51(0,0)<1> V50(0,0)<1;1,0> 0x2:ud"
        for name, _ in self.own[_GIVEN:_BASES]:
            offset = self.draw.randrange(128)
            for row in range(0, _BYTES, 128):
                yield f"oword_ld (8) src {offset + row // 16:#x}:ud {name}.{row}"
        for number in range(1, 4):
            if self.draw.random() < 0.5 and (lanes == 32 or not self.tidy):
                word, limit = self.draw.choice(("lt", "gt", "ne")), self.draw.randrange(40)
                yield f"cmp.{word} (M1_NM, {lanes}) P{number} V50(0,0)<1;1,0> {limit:#x}:ud"
            else:
                limit = self.draw.choice((0x10000000, 0x40000000, 0x80000000, 0xE0000000))
                yield f"cmp.lt (M1_NM, 32) P{number} bits{number}(0,0)<1;1,0> {limit:#x}:ud"
        for number in range(2):
            name, _ = self.draw.choice(self.own)
            yield f"addr_add (M1_NM, 16) A{number}(0)<1> &{name} 0x0:uw"

    def end(self) -> Iterator[str]:
        """Sum up every byte that has registers of its own, and the predicates, and store the sum: 32 dwords of a thread.

        Each step can be undone, so that one difference is always seen; storing all as it is would be most of the program.
        """
        yield "mov (M1_NM, 32) V56(0,0)<1> 0x0:ud"
        for number in range(1, 4):
            yield f"(P{number}) sel (M1_NM, {self.lanes}) V57(0,0)<1> 0x1:ud 0x0:ud"
            yield _add_to_sum(self.lanes, "V57(0,0)")
        for number in range(_BASES):
            for at in range(0, _BYTES, 128):
                yield _add_to_sum(32, f"bits{number}({at // 32},0)")
        self.stored_bytes = -(-self.stored_bytes // 128) * 128
        yield f"div (M1_NM, 1) V55(0,0)<1> V50(0,0)<0;1,0> {self.lanes // 8:#x}:ud"
        yield f"add (M1_NM, 1) V55(0,0)<1> V55(0,0)<0;1,0> {self.stored_bytes // 16:#x}:ud"
        yield "oword_st (8) dst V55(0,0)<0;1,0> V56.0"
        self.stored_bytes += 128 * self.threads * self.groups

    def block(self, lines: int, depth: int) -> list[str]:
        """Return some statements."""
        out: list[str] = []
        while len(out) < lines:
            out += self.statement(max(2, lines // 3), depth)
        return out

    def statement(self, lines: int, depth: int) -> list[str]:
        """Return an instruction or a block of instructions."""
        pick = self.draw.random()
        if depth < _LOOPS and pick < 0.12:
            return self.branch(lines, depth)
        if depth < _LOOPS and pick < 0.2:
            return self.loop(lines, depth)
        if pick < 0.28:
            return self.memory()
        if depth == 0 and pick < 0.38:
            return self.exchange_dword()
        if depth < _LOOPS and pick < 0.42 and len(self.subroutines) < self.most_subroutines:
            self.has["calls"] += 1
            number = len(self.subroutines)
            self.subroutines.append([])
            self.subroutines[number] = self.block(3, _LOOPS)
            return [f"call (M1, {self.lanes}) sub{number}"]
        if depth and not self.tidy and pick < 0.43:
            self.has["barriers that lanes or threads miss"] += 1
            return ["barrier"]
        if self.has_function and depth < _LOOPS and pick < 0.46:
            return self.call_function()
        return [self.draw.choice(self.ok)]

    def call_function(self) -> list[str]:
        """Call the recursive function with all lanes or some, and take its result."""
        self.has["functions"] += 1
        lanes, row, name = self.lanes, max(1, self.lanes // 8), f"bits{self.draw.randrange(_BASES)}"
        return [
            f"and (M1_NM, {lanes}) argument(0,0)<1> {name}(0,0)<1;1,0> 0xff:ud",
            f"mov (M1_NM, {lanes}) argument({row},0)<1> V50(0,0)<1;1,0>",
            f"mov (M1_NM, {lanes}) result(0,0)<1> V50(0,0)<1;1,0>",
            self.draw.choice(("", "(P1) ", "(!P2) ")) + f"fcall (M1, {lanes}) walk {2 * row} {row}",
            f"mov (M1, {lanes}) {name}(0,0)<1> result(0,0)<1;1,0>",
        ]

    def label(self) -> str:
        """Return a new label."""
        self.count += 1
        return f"L{self.count}"

    def branch(self, lines: int, depth: int) -> list[str]:
        """Statements that some lanes leave out, and others for these, perhaps."""
        self.has["divergence"] += 1
        predicate, end = self.draw.choice(("(P1)", "(!P2)", "(P3)")), self.label()
        body = self.block(lines, depth + 1)
        begin = f"{predicate} goto (M1, {self.lanes}) {end}"
        if self.draw.random() < 0.5:
            return [begin, *body, f"{end}:"]
        other = self.block(lines, depth + 1)
        return [begin, *body, f"goto (M1, {self.lanes}) {end}e", f"{end}:", *other, f"{end}e:"]

    def loop(self, lines: int, depth: int) -> list[str]:
        """Statements that each lane repeats as often as its number says."""
        self.has["loops"] += 1
        lanes, counter, predicate, again = self.lanes, f"V5{2 + depth}", f"P{4 + depth}", self.label()
        return [
            f"and (M1, {lanes}) {counter}(0,0)<1> V50(0,0)<1;1,0> {self.draw.choice((1, 3, 7)):#x}:d",
            f"{again}:",
            *self.block(lines, depth + 1),
            f"add (M1, {lanes}) {counter}(0,0)<1> {counter}(0,0)<1;1,0> -1:d",
            f"cmp.ge (M1, {lanes}) {predicate} {counter}(0,0)<1;1,0> 0x0:d",
            f"({predicate}) goto (M1, {lanes}) {again}",
        ]

    def memory(self) -> list[str]:
        """Read the input somewhere, or count something up in a place of the lane's own."""
        name, kind = self.draw.choice(self.own)
        size = min(16, self.lanes)
        where = (
            f"shl (M1, {size}) V54(0,0)<1> V50(0,0)<1;1,0> {self.draw.choice((2, 3) if self.tidy else (0, 2, 3)):#x}:ud"
        )
        if kind in ("d", "ud") and self.draw.random() < 0.7:
            where = f"and (M1, {size}) V54(0,0)<1> {name}(0,0)<1;1,0> 0x3fc:ud"
        other, _ = self.draw.choice(self.own)
        if self.draw.random() < 0.7:
            self.has["gathers"] += 1
            return [where, f"gather4_scaled.R (M1, {size}) src 0x0:ud V54.0 {other}.0"]
        self.has["atomics"] += 1
        word = self.draw.choice(("add", "xor", "max", "inc"))
        payload = "%null.0" if word == "inc" else "V50.0"
        return [
            f"mov (M1, {size}) V54(0,0)<1> V51(0,0)<1;1,0>",
            f"dword_atomic.{word} (M1, {size}) dst V54.0 {payload} %null.0 V54.0",
            f"mov (M1, {size}) {other}(0,0)<1> V54(0,0)<1;1,0>",
        ]

    def exchange_dword(self) -> list[str]:
        """Hand a dword to another lane, perhaps of another thread, through shared memory."""
        self.has["shared memory with barriers"] += 1
        size = min(16, self.lanes)
        name, _ = self.draw.choice(self.own)
        written = {thread * self.lanes + lane for thread in range(self.threads) for lane in range(size)}
        apart = [n for n in (1, 2, 3, 8, 16) if not self.tidy or all(lane ^ n in written for lane in written)]
        return [
            "barrier",
            f"mov (M1, {size}) V54(0,0)<1> ids(0,0)<1;1,0>",
            f"shl (M1, {size}) V54(0,0)<1> V54(0,0)<1;1,0> 0x2:ud",
            f"scatter4_scaled.R (M1, {size}) %slm 0x0:ud V54.0 {name}.0",
            "fence_local.E",
            "barrier",
            f"xor (M1, {size}) V54(0,0)<1> V54(0,0)<1;1,0> {4 * self.draw.choice(apart):#x}:ud",
            f"gather4_scaled.R (M1, {size}) %slm 0x0:ud V54.0 {self.draw.choice(self.own)[0]}.0",
        ]

    def stray(self) -> Iterator[str]:
        """Store in each lane's place; in one group of some programs elsewhere as well: outside, or where others have stored."""
        if self.draw.random() >= _STRAYS:
            return
        self.has[ASTRAY] += 1
        size, of_thread = min(16, self.lanes), 4 * self.lanes
        by = self.draw.choice((0x100000, 2, of_thread, -of_thread, self.threads * of_thread, -self.threads * of_thread))
        yield f"mov (M1, {size}) V54(0,0)<1> V51(0,0)<1;1,0>"
        yield f"scatter4_scaled.R (M1, {size}) dst 0x0:ud V54.0 V50.0"
        yield f"cmp.eq (M1_NM, {size}) P5 group(0,0)<0;1,0> {self.draw.randrange(self.groups):#x}:ud"
        yield f"(P5) add (M1, {size}) V54(0,0)<1> V54(0,0)<1;1,0> {by}:d"
        word = self.draw.choice(("scatter", "scatter", "gather"))
        data = "V50.0" if word == "scatter" else "V57.0"
        yield f"{word}4_scaled.R (M1, {size}) dst 0x0:ud V54.0 {data}"
