"""One instruction on many lanes at once: by the code of the interpreter, and as the term of a symbolic work item.

The registers of the work item hold symbols. A comparison gives them the numbers of the lanes, evaluates the term, and
asks whether the interpreter's value is among those that the term allows: each symbol for a value that is not modelled
may have any value within its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace

import numpy as np

from tests.support.builders import Builder
from visa_lsp.app.prove.loops import walk_loop
from visa_lsp.app.prove.registers import LanePlace, limits
from visa_lsp.app.prove.solve import Solver, SymbolicItem
from visa_lsp.app.prove.terms import Claim, Level, atoms_of, number
from visa_lsp.app.prove.walk import Walker, Way
from visa_lsp.app.read.lower import statements_of
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Lane
from visa_lsp.isa.operands import OperandModifier, Region
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import General, Immediate, Inst, Predicate, PredicateOperand
from visa_lsp.program.payload import ExecutionEnv, KernelInfo
from visa_lsp.sim.effects import moves, wide
from visa_lsp.sim.lanes import compile_lane
from visa_lsp.sim.operands import Site
from visa_lsp.sim.values import DTYPE, Rounding

LANES = ExecControl(8, 0)
TYPES = (ty.B, ty.UB, ty.W, ty.UW, ty.D, ty.UD, ty.Q, ty.UQ)
EFFECTS = moves.EFFECTS | wide.EFFECTS
COPIES = 4  # variables of each type
RESULTS = ("dst", "carry", "borrow")
ASKED = 1  # lane of a result that is not modelled, because each is a question to Z3


@cache
def _bench():
    """Return the kernel that declares the variables, their numbers by type and copy, and the walker."""
    builder = Builder()
    variables = {(type_, at): builder.var(type_, 16) for type_ in TYPES for at in range(COPIES + 2)}
    builder.pred()
    builder.pred()
    builder.op("ret")
    kernel = builder.kernel()
    walker = Walker(kernel, KernelInfo("k", ExecutionEnv(simd_size=8)), builder.platform, walk_loop)
    return kernel, variables, walker


def source(type_, at, modifier=OperandModifier.NONE):
    """Return a source whose symbol is ``s`` and its number."""
    return General(_bench()[1][type_, at], 0, 0, Region(1, 1, 0), modifier)


def destination(type_, at=0, *, sat=False):
    modifier = OperandModifier.SAT if sat else OperandModifier.NONE
    return General(_bench()[1][type_, COPIES + at], 0, 0, Region(None, None, 1), modifier)


def instruction(mnemonic, **fields):
    row = next(r for r in TABLE.by_mnemonic[mnemonic] if all(r.has_field(name) for name in fields))
    given = {"exec": LANES, "pred": None} | fields
    values = [
        item.const if item.const is not None else given.get(item.name, 0) for item in row.fields
    ]  # fmt: skip
    return Inst(row, tuple(values), 0)


class _ManyLanes(Site):
    """A site whose general operands are arrays of any length; what is written is kept by field."""

    def __init__(self, inst, arrays, count):
        self.inst, self.control, self.lanes, self.full = inst, LANES, count, (1 << count) - 1
        self.code = SimpleNamespace(kernel=_bench()[0], layout=SimpleNamespace(grf_bytes=32))
        self.arrays, self.written = arrays, {}

    def read(self, operand, lanes=None, dtype=None):
        if not isinstance(operand, General):
            return super().read(operand, lanes, dtype)
        array = self.arrays[operand.var]
        array = array if dtype is None else array.view(dtype)
        return lambda _f: array

    def enable(self, *, predicate=True):
        return lambda _f: self.full

    def write(self, operand, lanes=None):
        kind = DTYPE[self.operand_type(operand)]

        def store(_f, _mask, value):
            value = value if value.dtype == object else value.astype(kind)
            self.written[operand.var] = np.broadcast_to(value, (self.lanes,)).astype(kind)

        return store


@dataclass
class Comparison:
    """The lanes of an instruction: the numbers of each source variable, the bits of its predicate."""

    inst: Inst
    arrays: dict[int, np.ndarray]
    bits: np.ndarray
    wrong: list[str] = field(default_factory=list)
    compared: int = 0

    def run(self):
        """Compare every result of the instruction."""
        inst = self.inst
        site = _ManyLanes(inst, self.arrays, len(self.bits))
        meaning = inst.row.meaning
        op = compile_lane(site, meaning.expr) if isinstance(meaning, Lane) else EFFECTS[meaning.name](site)
        packed = int.from_bytes(np.packbits(self.bits, bitorder="little").tobytes(), "little")
        frame = SimpleNamespace(plain=True, emask=-1, rounding=Rounding.EVEN, preds=[0, packed, 0, 0])
        with np.errstate(all="ignore"):
            op(frame)
        way, names, walker = self._walk()
        for name in RESULTS:
            target = inst.get(name) if inst.row.has_field(name) else None
            if isinstance(target, General):
                kind = site.operand_type(target)
                place = LanePlace(walker.storage.root(target.var), 0, kind.size, kind.size, 0, 8)
                for signed in (True, False):
                    found = way.registers.read(place, signed=signed, line=1)
                    exact = site.written[target.var].view(f"<{'i' if signed else 'u'}{kind.size}").astype(object)
                    self._check(name, walker, found, exact, names)
            elif isinstance(target, PredicateOperand):
                found = way.registers.flag(target.var, 0, 8, whole=False)
                value = np.array([frame.preds[target.var] >> at & 1 for at in range(len(self.bits))], object)
                if found is not None:
                    self._check(name, walker, walker.pool.choice(found, number(1), number(0)), value, names)
        return self

    def _walk(self):
        """Return the way behind the instruction, the numbers of its symbols, and the walker."""
        kernel, variables, _ = _bench()
        walker = Walker(kernel, KernelInfo("k", ExecutionEnv(simd_size=8)), Builder().platform, walk_loop)
        way = Way(walker.start.copy(), (), frozenset({0}))
        names = {"lane": np.arange(len(self.bits), dtype=object) % 8}
        by_number = {number: type_ for (type_, _), number in variables.items()}
        for var, array in self.arrays.items():
            type_ = by_number[var]
            symbol = walker.pool.symbol(f"s{var}", Level.ITEM, *limits(type_.size, signed=type_.is_signed))
            place = LanePlace(walker.storage.root(var), 0, type_.size, type_.size, 0, 8)
            way.registers.write(place, symbol, signed=type_.is_signed, by_all=False)
            names[f"s{var}"] = array.astype(object)
        held = walker.pool.symbol("p", Level.ITEM, 0, 1)
        names["p"] = self.bits.astype(object)
        way.registers.set_flag(1, 0, 8, Claim("fact", held, level=Level.ITEM), by_all=False)
        for statement in statements_of(kernel, self.inst, 0):
            way = walker._one(statement, way)
        return way, names, walker

    def _check(self, name, walker, found, exact, names):
        self.compared += len(exact)
        allowed = _Evaluation(walker.pool, names, exact).allows(found)
        if isinstance(allowed, str):
            self.wrong.append(f"{name}: {allowed}")
        elif not allowed.all():
            at = int(np.flatnonzero(~allowed)[0])
            lanes = {key: values[at] for key, values in names.items()}
            self.wrong.append(f"{name}: {exact[at]} of {lanes}")


class _Evaluation:
    """Evaluates terms with numbers for symbols; checks the bounds that the pool claims."""

    def __init__(self, pool, names, exact):
        self.pool, self.names, self.exact = pool, names, exact
        self.made = {}
        self.problem = ""

    def allows(self, found):
        """Return for each lane whether the term may have the exact value, or the problem of a bound."""
        if len(found.factors) == 1 and self._is_free(found.factors[0][0]) and found.factors[0][1] == 1:
            value, atom = self.exact - found.constant, found.factors[0][0]
            return (value >= atom.low) & (value <= atom.high)
        free = set()
        value = self.term(found, free)
        if not free:
            return self.problem or (value == self.exact) & self._within_known()
        return self._ask(found)

    def _ask(self, found):
        """Return the same by Z3, which chooses the values that are not modelled; all but a few lanes count as allowed."""
        item, solver = SymbolicItem(1, 0), Solver(self.pool, float("inf"), 2.0)
        allowed = np.ones(len(self.exact), bool)
        for at in np.linspace(0, len(self.exact) - 1, ASKED).astype(int):
            question = solver.question(exact=True)
            named = {atom.name: question.atom(atom, item) for atom in atoms_of(found) if atom.name in self.names}
            hard = [value == int(self.names[name][at]) for name, value in named.items()]
            hard.append(question.term(found, item) == int(self.exact[at]))
            allowed[at] = solver.ask(question, hard).word != "no"
        return allowed

    def _is_free(self, atom):
        return not atom.parts and atom.name not in self.names

    def _within_known(self):
        inside = np.ones(len(self.exact), bool)
        for factors, (low, high) in self.pool.sum_limits.items():
            if all(atom in self.made for atom, _ in factors):
                value = sum(self.made[atom] * factor for atom, factor in factors)
                inside = inside & (value >= low) & (value <= high)
        return inside

    def term(self, term, free):
        value = np.full(len(self.exact), term.constant, object)
        for atom, factor in term.factors:
            value = value + self.atom(atom, free) * factor
        return value

    def atom(self, atom, free):
        if self._is_free(atom):
            free.add(atom)
            return np.full(len(self.exact), atom.low, object)
        if atom not in self.made:
            value = self.made[atom] = self._value(atom, free)
            if not free and not ((value >= atom.low) & (value <= atom.high)).all():
                self.problem = f"{atom.name} leaves its bounds {atom.low} to {atom.high}"
        return self.made[atom]

    def _value(self, atom, free):
        if atom.name in self.names:
            return self.names[atom.name]
        parts = [self.term(part, free) for part in atom.parts]
        if atom.test is not None:
            return np.where(self.holds(atom.test, free), parts[0], parts[1])
        if atom.is_bits:
            return parts[0] & parts[1]
        return parts[0] // atom.divisor if atom.divisor else parts[0] * parts[1]

    def holds(self, claim, free):
        match claim.word:
            case "true" | "false":
                return np.full(len(self.exact), claim.word == "true")
            case "le":
                return (self.term(claim.term, free) <= 0).astype(bool)
            case "eq":
                return (self.term(claim.term, free) == 0).astype(bool)
            case "fact":
                return (self.term(claim.term, free) >= 1).astype(bool)
            case "not":
                return ~self.holds(claim.parts[0], free)
        parts = [self.holds(part, free) for part in claim.parts]
        return np.logical_and.reduce(parts) if claim.word == "and" else np.logical_or.reduce(parts)


def corners(type_, random, count):
    """Return numbers of a type: its ends, numbers near powers of two, and random ones of all lengths."""
    low, high = limits(type_.size, signed=type_.is_signed)
    near = [
        sign * (1 << bit) + one for bit in (0, 1, 3, 7, 8, 15, 16, 31, 32, 63) for one in (-1, 0, 1) for sign in (1, -1)
    ]
    found = [low, low + 1, high, high - 1, high // 2, *[one for one in near if low <= one <= high]]
    while len(found) < count:
        value = random.getrandbits(random.randint(1, type_.bits))
        found.append(min(value, high) if random.random() < 0.5 or low == 0 else max(-value, low))
    return found


def filled(type_, numbers):
    """Return numbers as an array of a type."""
    mask = (1 << type_.bits) - 1
    return np.array([one & mask for one in numbers], f"<u{type_.size}").view(DTYPE[type_])


def immediate(type_, value):
    return Immediate(type_, value & ((1 << 8 * max(4, type_.size)) - 1))


HELD = Predicate(1)
RESULT = PredicateOperand(2)
