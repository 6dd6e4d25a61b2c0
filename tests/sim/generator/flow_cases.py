"""Random programs of branches, loops, calls and returns; each lane's result is a hash of the way that it took.

Conditions come from bits of a number per lane. Uniform rows (jmp, switchjmp, size 1) get uniform conditions. The rows of
the appendix make programs of their own, since their partners are found by nesting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from tests.sim.generator.bench import ONE, Bench
from tests.sim.generator.pairwise import SEED
from visa_lsp.isa.operands import Region
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import UD, ExecControl
from visa_lsp.program.model import Combine, General, Immediate, Predicate, PredicateOperand

MARKS = ("FILE", "LOC", ".file", ".loc", "file", "loc", "lifetime.start", "lifetime.end", "yield", "breakpoint")
NAMES = ("f", "g")


class Program(Bench):
    """A body that grows from random statements. ``width`` is the number of lanes."""

    def __init__(self, seed: int, width: int, *, function: str = "") -> None:
        platform = ("TGLLP", "PVCXT")[seed % 2]
        super().__init__(function or "k", platform=platform)
        self.builder.is_kernel = not function
        self.dice = np.random.default_rng(SEED + seed)
        self.width, self.depth, self.labels, self.subs = width, 0, 0, 0
        self.used: Counter[str] = Counter()
        self.way, self.bits, self.temp = (self.var("ud", width) for _ in range(3))
        self.flag = self.builder.pred()
        self.loops = 0
        self.pending: list[str] = []  # labels behind the statement in hand, for jumps out of it
        self.in_sub = False

    # ---- small pieces

    def whole(self) -> list[ExecControl]:
        """Return controls that together cover all lanes: one, or two halves."""
        if self.width == 32 and self.dice.random() < 0.5:
            return [ExecControl(16, 0), ExecControl(16, 16)]
        return [ExecControl(self.width, 0)]

    def at(self, var: int, control: ExecControl, *, dst: bool = False) -> General:
        """Return the part of a variable that belongs to a control's lanes."""
        byte = 4 * control.mask_offset
        region = Region(None, None, 1) if dst else Region(1, 1, 0)
        return General(var, byte // self.grf, byte % self.grf // 4, region)

    def say(self, row, **fields) -> None:
        """Emit, and count flow rows."""
        self.used[row if isinstance(row, str) else row.mnemonic] += 1
        self.emit(row, **fields)

    def compute(self, name: str, part: ExecControl, dst: int, *sources: int | Immediate) -> None:
        """Write a variable in the lanes of a control, from their parts of other variables and from numbers."""
        found = [s if isinstance(s, Immediate) else self.at(s, part) for s in sources]
        fields = {f"src{i}": source for i, source in enumerate(found)}
        self.emit(name, exec=part, dst=self.at(dst, part, dst=True), **fields)

    def move(self, dst: int, src: int) -> None:
        """Copy a variable in all lanes."""
        for part in self.whole():
            self.compute("mov", part, dst, src)

    def compare(self, part: ExecControl, flag: int, var: int) -> None:
        """Set a flag in the lanes in which a variable is not zero."""
        zero = Immediate(UD, 0)
        self.emit("cmp", exec=part, relop=1, dst=PredicateOperand(flag), src0=self.at(var, part), src1=zero)

    def count_down(self, part: ExecControl, flag: int, counter: int) -> None:
        """Set a flag in the lanes in which a counter is not zero yet, and decrement it."""
        self.compare(part, flag, counter)
        self.compute("add", part, counter, counter, Immediate(UD, 0xFFFFFFFF))

    def step(self) -> None:
        """way = way * 3 + a number, in the lanes that come here."""
        for part in self.whole():
            for name, number in (("mul", 3), ("add", int(self.dice.integers(1, 1000)))):
                self.compute(name, part, self.way, self.way, Immediate(UD, number))

    def condition(self) -> None:
        """Set the flag from a bit of each lane's number, mixed with the way."""
        bit = Immediate(UD, 1 << int(self.dice.integers(0, 20)))
        for part in self.whole():
            self.compute("xor", part, self.temp, self.bits, self.way)
            self.compute("and", part, self.temp, self.temp, bit)
            self.compare(part, self.flag, self.temp)

    def guard(self) -> Predicate:
        """Return the flag, or its inverse."""
        return Predicate(self.flag, bool(self.dice.integers(2)))

    def new(self) -> str:
        """Return a new label's name."""
        self.labels += 1
        return f"L{self.labels}"

    def mark(self, label: str, row: str = "label") -> None:
        """Define a label here."""
        self.say(row, label=self.builder.label(label))

    def branch(self, label: str, guard: Predicate | None) -> None:
        """All lanes of the flag go to a label."""
        for part in self.whole():
            self.say("goto", exec=part, pred=guard, label=self.builder.label(label))

    # ---- statements

    def block(self, size: int = 3) -> None:
        """Write a few statements."""
        self.depth += 1
        kinds: list[Callable] = [self.step, self.step, self.note]
        if self.depth < 4:
            kinds += [self.choice, self.choice, self.loop, self.leave, self.early]
            kinds += [self.sub, self.function] if not self.in_sub else []
        for _ in range(size):
            kinds[int(self.dice.integers(len(kinds)))]()
        self.depth -= 1

    def note(self) -> None:
        """Write a row that does nothing."""
        row = TABLE.by_mnemonic[MARKS[int(self.dice.integers(len(MARKS)))]][0]
        self.say(row)

    def choice(self) -> None:
        """Two ways, by forward gotos."""
        other, end = self.new(), self.new()
        self.condition()
        self.branch(other, self.guard())
        self.pending.append(end)
        self.block(2)
        self.branch(end, None)
        self.mark(other)
        self.block(2)
        self.pending.pop()
        self.mark(end)

    def loop(self) -> None:
        """Write a loop with a backward goto and a different number of rounds for each lane."""
        head, out = self.new(), self.new()
        counter = self.var("ud", self.width)
        shift, rounds = Immediate(UD, int(self.dice.integers(0, 20))), Immediate(UD, 1 if self.loops else 3)
        for part in self.whole():
            self.compute("shr", part, counter, self.bits, shift)
            self.compute("and", part, counter, counter, rounds)
        self.mark(head)
        self.pending.append(out)
        self.loops += 1
        self.block(2)
        self.loops -= 1
        self.pending.pop()
        test = self.builder.pred()
        for part in self.whole():
            self.count_down(part, test, counter)
        self.branch(head, Predicate(test))
        self.mark(out)

    def leave(self) -> None:
        """Let some lanes jump out of a statement around this one."""
        if self.pending:
            self.condition()
            self.branch(self.pending[int(self.dice.integers(len(self.pending)))], self.guard())
            self.step()

    def early(self) -> None:
        """Let some lanes return here."""
        if self.dice.random() < 0.3:
            self.condition()
            for part in self.whole():
                self.say("ret" if self.builder.is_kernel or self.in_sub else "fret", exec=part, pred=self.guard())

    def sub(self) -> None:
        """Call a subroutine with some lanes, or with the whole thread."""
        self.subs += 1
        name = f"S{self.subs}"
        row = ("call", "fccall")[int(self.dice.integers(2))]
        if self.dice.random() < 0.3:
            self.say(row, exec=ONE, label=self.builder.label(name))
        else:
            self.condition()
            for part in self.whole()[:1]:
                self.say(row, exec=part, pred=self.guard(), label=self.builder.label(name))

    def function(self) -> None:
        """Hand the way over in %arg, call by name or by address, take %retval back."""
        if not self.builder.is_kernel:
            return
        name = NAMES[int(self.dice.integers(2))]
        for part in self.whole():
            self.compute("mov", part, 8, self.way)
            self.compute("mov", part, 9, self.way)
        fields = {"argsize": 1, "retsize": 1, "exec": ExecControl(self.width)}
        if self.dice.random() < 0.5:
            self.condition()
            fields["pred"] = self.guard()
        text = self.builder.string(name)
        if self.dice.random() < 0.5:
            self.say("fcall", name=text, **fields)
        else:
            address = self.var("uq", 1)
            # Every lane has to know it, so that it is found outside of divergent code.
            self.say("faddr", name=text, dst=General(address, 0, 0, Region(None, None, 1)))
            self.say("ifcall", callee=General(address, 0, 0, Region(0, 1, 0)), **fields)
        self.move(self.way, 9)

    def uniform(self) -> None:
        """Jumps of the whole thread: by jmp, switchjmp, or a goto of size 1, with a condition that all lanes share."""
        other, end, third = self.new(), self.new(), self.new()
        bits = int(self.dice.choice([0, 0xFFFFFFFF, 0x8421]))
        self.emit(
            "setp", exec=ExecControl(32, 0, no_mask=True), dst=PredicateOperand(self.flag), src0=Immediate(UD, bits)
        )
        kind = int(self.dice.integers(3))
        label = self.builder.label(other)
        if kind == 0:
            combine = Combine(int(self.dice.integers(3)))
            size = 1 if combine is Combine.NONE else self.width
            self.say(
                "jmp",
                exec=ExecControl(size, 0, no_mask=True),
                pred=Predicate(self.flag, bool(self.dice.integers(2)), combine),
                label=label,
            )
        elif kind == 1:
            self.say("goto", exec=ONE, pred=Predicate(self.flag, bool(self.dice.integers(2))), label=label)
        else:
            labels = tuple(self.builder.label(n) for n in (other, third, end))
            self.say("switchjmp", exec=ONE, n=3, index=Immediate(UD, int(self.dice.integers(3))), labels=labels)
        self.step()
        self.mark(third)
        self.step()
        self.mark(other)
        self.step()
        self.mark(end)

    def any_of_all(self) -> None:
        """Write a goto on any or all bits of a flag that no lane changes."""
        end = self.new()
        bits = int(self.dice.choice([0, 0xFFFFFFFF, 0x0000_8421]))
        self.emit(
            "setp", exec=ExecControl(32, 0, no_mask=True), dst=PredicateOperand(self.flag), src0=Immediate(UD, bits)
        )
        guard = Predicate(self.flag, bool(self.dice.integers(2)), Combine(int(self.dice.integers(1, 3))))
        self.branch(end, guard)
        self.step()
        self.mark(end)

    def finish(self) -> None:
        """Write the last return, and the subroutines after it."""
        word = "ret" if self.builder.is_kernel else "fret"
        if not self.builder.is_kernel:
            self.move(9, self.way)
        self.say(word, exec=ONE)
        self.in_sub, self.depth, self.pending = True, 2, []
        for number in range(1, self.subs + 1):
            self.mark(f"S{number}", ".function")
            self.block(3)
            self.say("ret", exec=ExecControl(self.width))


def goto_program(seed: int) -> tuple[Program, list[Program]]:
    """Return a kernel of modern control flow and the functions that it calls."""
    width = (8, 16, 32)[seed % 3]
    kernel = Program(seed, width)
    for _ in range(3):
        kernel.uniform()
        kernel.any_of_all()
        kernel.block(4)
    kernel.finish()
    functions = []
    for number, name in enumerate(NAMES):
        body = Program(2 * (1000 + 10 * seed + number) + seed % 2, width, function=name)
        for part in body.whole():
            body.compute("mov", part, body.way, 8)
            body.compute("mov", part, body.bits, 8)
        body.block(4)
        # Lanes that return early hand back what %retval had.
        body.finish()
        functions.append(body)
    return kernel, functions


class Structured(Program):
    """Programs in the words of the appendix."""

    def block(self, size: int = 3) -> None:
        """Write a few statements."""
        self.depth += 1
        kinds = [self.step, self.step] if self.depth > 3 else [self.step, self.alternative, self.repeat, self.quit]
        for _ in range(size):
            kinds[int(self.dice.integers(len(kinds)))]()
        self.depth -= 1

    def word(self, name: str, guard: Predicate | None = None) -> None:
        """One of the words, for all lanes."""
        fields = {"pred": guard} if guard else {}
        self.say(name, exec=ExecControl(self.width), **fields)

    def alternative(self) -> None:
        """if, perhaps else, endif."""
        self.condition()
        self.word("if", self.guard())
        self.block(2)
        if self.dice.random() < 0.6:
            self.word("else")
            self.block(2)
        self.word("endif")

    def repeat(self) -> None:
        """do .. while, a few rounds."""
        counter, test = self.var("ud", self.width), self.builder.pred()
        part = ExecControl(self.width)
        self.compute("and", part, counter, self.bits, Immediate(UD, 1 if self.loops else 3))
        self.word("do")
        # The test comes first: a lane that continues goes right to the ``while``.
        self.count_down(part, test, counter)
        self.loops += 1
        self.block(3)
        self.loops -= 1
        self.word("while", Predicate(test))

    def quit(self) -> None:
        """break or cont under a condition."""
        if self.loops:
            self.condition()
            self.word("break" if self.dice.random() < 0.5 else "cont", self.guard())
            self.step()


def structured_program(seed: int) -> tuple[Program, list[Program]]:
    """Return a kernel in the words of the appendix."""
    kernel = Structured(seed, (8, 16, 32)[seed % 3])
    kernel.block(6)
    kernel.say("ret", exec=ONE)
    return kernel, []
