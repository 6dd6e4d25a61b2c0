"""Compiles the formulas of ``sim.lane_formulas``: each word is a function of the module for a number of lanes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from llvmlite import ir

from visa_lsp.sim.jit.arithmetic import add, in_double, mul, quiet
from visa_lsp.sim.jit.check_instrumentation import any_of
from visa_lsp.sim.jit.writer import F32, F64, I64, Node, bytes_of, lanes_of, splat, vector
from visa_lsp.sim.lane_formulas import FORMULAS, QUARTERS, Operations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.sim.jit.emitter import Emitter


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


def _operator(
    of_floats: str, of_integers: str, *, turned: bool = False
) -> Callable[[LaneNumbers, LaneNumbers | float], LaneNumbers]:
    """Return the operator as an operation of the builder; ``turned`` means that the lanes are its second source."""

    def operation(a: LaneNumbers, b: LaneNumbers | float) -> LaneNumbers:
        name = of_floats if a.node.type.element is F64 else of_integers
        sources = (a.like(b), a.node) if turned else (a.node, a.like(b))
        return LaneNumbers(a.e, getattr(a.e.builder, name)(*sources))

    return operation


def _comparison(relation: str) -> Callable[[LaneNumbers, LaneNumbers | float], LaneNumbers]:
    def operation(a: LaneNumbers, b: LaneNumbers | float) -> LaneNumbers:
        compare = a.e.builder.fcmp_ordered if a.node.type.element is F64 else a.e.builder.icmp_signed
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

    __add__ = _operator("fadd", "add")
    __sub__ = _operator("fsub", "sub")
    __mul__ = _operator("fmul", "mul")
    __truediv__ = _operator("fdiv", "")
    __rsub__ = _operator("fsub", "sub", turned=True)
    __rmul__ = _operator("fmul", "mul", turned=True)
    __rtruediv__ = _operator("fdiv", "", turned=True)
    __and__ = _operator("", "and_")
    __or__ = _operator("", "or_")
    __lshift__ = _operator("", "shl")
    __rshift__ = _operator("", "ashr")
    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")


def _unary(operation: Callable[[LaneOperations, Node], Node]) -> Callable[[LaneOperations, LaneNumbers], LaneNumbers]:
    return lambda nodes, a: LaneNumbers(nodes.e, operation(nodes, a.node))


@dataclass(frozen=True, slots=True)
class LaneOperations:
    """The operations in LLVM, on a number of lanes."""

    e: Emitter
    count: int

    def choose(self, condition: LaneNumbers, a: LaneNumbers | float, b: LaneNumbers | float) -> LaneNumbers:
        """Return lanes of ``a`` where the condition holds, of ``b`` elsewhere."""
        lanes = next((x for x in (a, b) if isinstance(x, LaneNumbers)), None)
        model = lanes or LaneNumbers(self.e, splat(F64, 0.0, self.count))
        return LaneNumbers(self.e, self.e.builder.select(condition.node, model.like(a), model.like(b)))

    def modulo(self, a: LaneNumbers, b: LaneNumbers) -> LaneNumbers:
        """Return the rest of a division that has the sign of the divisor; 0 by 0, which hosts trap."""
        divisor = self.choose(b < 1, 1, b)
        rest = LaneNumbers(self.e, self.e.builder.srem(a.node, divisor.node))
        return self.choose(rest < 0, rest + b, rest)

    def blend(self, total: LaneNumbers, channel: LaneNumbers, weight: LaneNumbers) -> LaneNumbers:
        """Return a sum and a product, with the operands in this order for NaNs."""
        wide = self.e.builder.fpext(channel.node, vector(F64, self.count))
        return LaneNumbers(self.e, add(self.e, total.node, mul(self.e, wide, weight.node)))

    floor = _unary(lambda nodes, a: nodes.e.each("llvm.floor", a))
    single = _unary(lambda nodes, a: nodes.e.builder.fptrunc(a, vector(F32, nodes.count)))
    is_nan = _unary(lambda nodes, a: nodes.e.builder.fcmp_unordered("uno", a, a))
    magnitude = _unary(lambda nodes, a: nodes.e.each("llvm.fabs", a))
    nearest = _unary(lambda nodes, a: nodes.e.each("llvm.nearbyint", a))
    whole = _unary(lambda nodes, a: nodes.e.builder.fptosi(a, vector(I64, nodes.count)))
    real = _unary(lambda nodes, a: nodes.e.builder.sitofp(a, vector(F64, nodes.count)))
    bits = _unary(lambda nodes, a: nodes.e.builder.bitcast(a, vector(I64, nodes.count)))
    of_bits = _unary(lambda nodes, a: nodes.e.builder.bitcast(a, vector(F64, nodes.count)))

    def entries(self, rows: LaneNumbers) -> Sequence[LaneNumbers]:
        """Return the entries of rows; if all lanes need the first row, which is usual, a constant replaces the table."""
        e, builder = self.e, self.e.builder
        usual_entries = [splat(F64, number, self.count) for number in QUARTERS[0]]
        far = any_of(e, builder.icmp_unsigned("!=", rows.node, splat(I64, 0, self.count)))
        before = builder.block
        with builder.if_then(far, likely=False):
            taken = [self._column(number, rows.node) for number in range(len(usual_entries))]
            after = builder.block
        entries = []
        for usual, entry in zip(usual_entries, taken, strict=True):
            either = builder.phi(vector(F64, self.count))
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
        places = e.places(table, builder.mul(rows, splat(I64, bytes_of(F64), self.count)))
        return e.gather(vector(F64, self.count), places, e.all_on(self.count), bytes_of(F64))
