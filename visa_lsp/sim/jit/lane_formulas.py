"""Compiles formulas; those of ``sim.lane_formulas`` are functions of the module, by word and number of lanes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from llvmlite import ir

from visa_lsp.sim.jit.arithmetic import add, cut, div, fma, in_double, mul, quiet, sqrt
from visa_lsp.sim.jit.check_instrumentation import any_of
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.writer import F32, F64, I1, I64, Node, bytes_of, integer, lanes_of, splat, vector
from visa_lsp.sim.lane_formulas import FORMULAS, QUARTERS, Operations
from visa_lsp.sim.odd_formulas import ODD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def body_of(word: str) -> Callable[..., Node]:
    """Return the function of a word on f32 lanes."""

    @in_double
    def formula(e: Emitter, *lanes: Node) -> Node:
        # Quieted, because a signalling NaN would survive a formula if LLVM omits both conversions.
        numbers = (LaneNumbers(e, quiet(e, a)) for a in lanes)
        operations: Operations = LaneOperations(e, lanes_of(lanes[0]))
        outcome: LaneNumbers = FORMULAS[word](operations, *numbers)
        return outcome.node

    def body(e: Emitter, *sources: Node) -> Node:
        kind = sources[0].type
        return e.outline(f"{word}_{kind.count}", kind, sources, partial(formula, e))

    return body


def round_to_odd(e: Emitter, word: str, *sources: Node) -> Node:
    """Return a word on f32 lanes in f64, or ``mad`` on lanes of hf in f32, rounded to odd."""
    result: LaneNumbers = ODD[word](LaneOperations(e, lanes_of(sources[0])), *(LaneNumbers(e, s) for s in sources))
    return result.node


def round_directed(e: Emitter, word: str, sources: list[Node]) -> Node:
    """Return a word on f32 lanes, rounded by the modes. Raises Uncompiled if there is no compiled form."""
    if word not in ODD or any(s.type.element is not F32 for s in sources):
        raise Uncompiled
    wide = [e.builder.fpext(s, vector(F64, lanes_of(s))) for s in sources]
    return cut(e, round_to_odd(e, word, *wide), F32)


def _operator(of_floats: str, of_integers: str) -> Callable[[LaneNumbers, LaneNumbers | float], LaneNumbers]:
    """Return the operator as an operation of the builder."""

    def operation(a: LaneNumbers, b: LaneNumbers | float) -> LaneNumbers:
        return LaneNumbers(a.e, getattr(a.e.builder, of_floats if a.is_float else of_integers)(a.node, a.like(b)))

    return operation


def _turned(
    operator: Callable[[LaneNumbers, LaneNumbers | float], LaneNumbers],
) -> Callable[[LaneNumbers, float], LaneNumbers]:
    """Return an operator whose first source is a constant."""
    return lambda a, b: operator(LaneNumbers(a.e, a.like(b)), a)


def _comparison(relation: str) -> Callable[[LaneNumbers, LaneNumbers | float], LaneNumbers]:
    def operation(a: LaneNumbers, b: LaneNumbers | float) -> LaneNumbers:
        compare = a.e.builder.fcmp_ordered if a.is_float else a.e.builder.icmp_signed
        return LaneNumbers(a.e, compare(relation, a.node, a.like(b)))

    return operation


@dataclass(frozen=True, slots=True)
class LaneNumbers:
    """Lanes with the operators of formulas; sums and products of a NaN are never selected."""

    e: Emitter
    node: Node

    def like(self, other: LaneNumbers | float) -> Node:
        """Return the other operand; a constant is repeated for all lanes."""
        if isinstance(other, LaneNumbers):
            return other.node
        return splat(self.node.type.element, other, lanes_of(self.node))

    @property
    def is_float(self) -> bool:
        """True if the lanes are floats."""
        return not isinstance(self.node.type.element, ir.IntType)

    def __neg__(self) -> LaneNumbers:
        return LaneNumbers(self.e, self.e.builder.fneg(self.node) if self.is_float else (0 - self).node)

    def __invert__(self) -> LaneNumbers:
        return LaneNumbers(self.e, self.e.builder.not_(self.node))

    __add__ = _operator("fadd", "add")
    __sub__ = _operator("fsub", "sub")
    __mul__ = _operator("fmul", "mul")
    __truediv__ = _operator("fdiv", "")
    __and__ = _operator("", "and_")
    __or__ = _operator("", "or_")
    __xor__ = _operator("", "xor")
    __lshift__ = _operator("", "shl")
    __rshift__ = _operator("", "ashr")
    __rsub__ = _turned(__sub__)
    __rmul__ = _turned(__mul__)
    __rtruediv__ = _turned(__truediv__)
    __rlshift__ = _turned(__lshift__)
    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")


def _operation(function: Callable[..., Node]) -> Callable[..., LaneNumbers]:
    """Return a function of nodes as an operation on lanes."""
    return lambda nodes, *lanes: LaneNumbers(nodes.e, function(nodes.e, *(a.node for a in lanes)))


def _unary(operation: Callable[[LaneOperations, Node], Node]) -> Callable[[LaneOperations, LaneNumbers], LaneNumbers]:
    return lambda nodes, a: LaneNumbers(nodes.e, operation(nodes, a.node))


@dataclass(frozen=True, slots=True)
class LaneOperations:
    """The operations in LLVM, on a number of lanes."""

    e: Emitter
    lanes: int

    def choose(self, condition: LaneNumbers, a: LaneNumbers | float, b: LaneNumbers | float) -> LaneNumbers:
        """Return lanes of ``a`` where the condition holds, of ``b`` elsewhere."""
        lanes = next((x for x in (a, b) if isinstance(x, LaneNumbers)), None)
        model = lanes or LaneNumbers(self.e, splat(F64, 0.0, self.lanes))
        holds = condition.node
        if holds.type.element is not I1:  # a number, which counts as true unless it is 0
            holds = self.e.builder.icmp_unsigned("!=", holds, condition.like(0))
        return LaneNumbers(self.e, self.e.builder.select(holds, model.like(a), model.like(b)))

    def quotient(self, a: LaneNumbers, b: LaneNumbers) -> LaneNumbers:
        """Return the truncated quotient, which is exact in f64 for dwords. Raises Uncompiled for qwords."""
        if a.node.type.element is not I64:
            raise Uncompiled
        return self.whole(self.real(a) / self.real(b))

    def length(self, a: LaneNumbers) -> LaneNumbers:
        """Return the number of bits without leading zeros."""
        zeros = self.e.each("llvm.ctlz", a.node, ir.Constant(I1, 0))
        return LaneNumbers(self.e, a.like(a.node.type.element.width)) - LaneNumbers(self.e, zeros)

    def reverse(self, a: LaneNumbers) -> LaneNumbers:
        """Return the lowest 32 bits in the opposite order."""
        whole = LaneNumbers(self.e, self.e.each("llvm.bitreverse", a.node))
        low: LaneNumbers = whole >> a.node.type.element.width - 32 & 0xFFFFFFFF
        return low

    def modulo(self, a: LaneNumbers, b: LaneNumbers) -> LaneNumbers:
        """Return the rest of a division that has the sign of the divisor; 0 by 0, which hosts trap."""
        divisor = self.choose(b < 1, 1, b)
        rest = LaneNumbers(self.e, self.e.builder.srem(a.node, divisor.node))
        return self.choose(rest < 0, rest + b, rest)

    def blend(self, total: LaneNumbers, channel: LaneNumbers, weight: LaneNumbers) -> LaneNumbers:
        """Return a sum and a product, with the operands in this order for NaNs."""
        wide = LaneNumbers(self.e, self.e.builder.fpext(channel.node, vector(F64, self.lanes)))
        return self.add(total, self.multiply(wide, weight))

    add, multiply, multiply_add, divide, root = map(_operation, (add, mul, fma, div, sqrt))

    count = _unary(lambda nodes, a: nodes.e.each("llvm.ctpop", a))
    floor = _unary(lambda nodes, a: nodes.e.each("llvm.floor", a))
    single = _unary(lambda nodes, a: nodes.e.builder.fptrunc(a, vector(F32, nodes.lanes)))
    is_nan = _unary(lambda nodes, a: nodes.e.builder.fcmp_unordered("uno", a, a))
    magnitude = _unary(lambda nodes, a: nodes.e.each("llvm.fabs", a))
    nearest = _unary(lambda nodes, a: nodes.e.each("llvm.nearbyint", a))
    whole = _unary(lambda nodes, a: nodes.e.builder.fptosi(a, vector(I64, nodes.lanes)))
    real = _unary(lambda nodes, a: nodes.e.builder.sitofp(a, vector(F64, nodes.lanes)))
    bits = _unary(
        lambda nodes, a: nodes.e.builder.bitcast(a, vector(integer(8 * bytes_of(a.type.element)), nodes.lanes))
    )
    of_bits = _unary(
        lambda nodes, a: nodes.e.builder.bitcast(a, vector(F64 if a.type.element is I64 else F32, nodes.lanes))
    )

    def entries(self, rows: LaneNumbers) -> Sequence[LaneNumbers]:
        """Return the entries of rows; if all lanes need the first row, which is usual, a constant replaces the table."""
        e, builder = self.e, self.e.builder
        usual_entries = [splat(F64, number, self.lanes) for number in QUARTERS[0]]
        far = any_of(e, builder.icmp_unsigned("!=", rows.node, splat(I64, 0, self.lanes)))
        before = builder.block
        with builder.if_then(far, likely=False):
            taken = [self._column(number, rows.node) for number in range(len(usual_entries))]
            after = builder.block
        entries = []
        for usual, entry in zip(usual_entries, taken, strict=True):
            either = builder.phi(vector(F64, self.lanes))
            either.add_incoming(usual, before)
            either.add_incoming(entry, after)
            entries.append(LaneNumbers(e, either))
        return entries

    def _column(self, number: int, rows: Node) -> Node:
        e, builder, name = self.e, self.e.builder, f"quarters_{number}"
        table = e.module.globals.get(name)
        if table is None:
            table = ir.GlobalVariable(e.module, ir.ArrayType(F64, len(QUARTERS)), name)
            table.global_constant, table.linkage = True, "internal"
            numbers = [ir.Constant(F64, x) for x in QUARTERS[:, number].tolist()]
            table.initializer = ir.Constant(table.value_type, numbers)
        places = e.places(table, builder.mul(rows, splat(I64, bytes_of(F64), self.lanes)))
        return e.gather(vector(F64, self.lanes), places, e.all_on(self.lanes), bytes_of(F64))
