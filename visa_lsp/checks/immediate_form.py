"""A decimal number is given a type that cannot be written that way.

Decimal fractions are of type `f` or `df`; a `hf` or `bf` is written as its bits in hexadecimal, even where the number is whole.

Why: the finalizer reads a fraction as single or double precision only.

Example:

    mov (M1, 16) V35(0,0)<1> 1.5:hf

Instead:

    mov (M1, 16) V35(0,0)<1> 0x3e00:hf

Authority: the finalizer's grammar; it rejects the text.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from visa_lsp.checks.facts import operand_place
from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.model import Dialect, Shape
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = rule("V215", "immediate-form", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    type_name = str(problem.args["type"])
    statement = ctx.document.statement(problem.place.line)
    operands = statement.operands if isinstance(statement, tree.Instruction) else ()
    node = next((o for o in operands if o.span == problem.place.span), None)
    whole = isinstance(node, tree.Literal) and isinstance(node.value, tree.Number)
    kind, types = ("number", "an integer type, `f` or `df`") if whole else ("fraction", "type `f` or `df`")
    message = f"a decimal {kind} has {types}, not `{type_name}`"
    fixes = []
    if type_name == "hf" and isinstance(node, tree.Literal) and isinstance(node.value, (tree.Float, tree.Number)):
        bits = _half(node.value.value)
        if bits is not None:
            message += f"; its bits are `{bits}:hf`"
            fixes.append(ctx.fix(f"write `{bits}:hf`", problem.place, f"{bits}:hf"))
    return ctx.report(RULE, problem.place, message, fixes=fixes)


def _half(value: float) -> str | None:
    try:
        return f"0x{int.from_bytes(struct.pack('<e', value), 'little'):04x}"
    except (OverflowError, struct.error):
        return None


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    if ctx.dialect is not Dialect.V41:
        return
    for operand in bound.operands:
        node = operand.node
        if isinstance(node, tree.Literal) and node.suffix is not None and node.suffix.text.lower() == "bf":
            message = "there is no immediate of type `bf`; a number of type `f` stands beside `bf` registers"
            yield ctx.report(RULE, operand_place(bound, operand), message)


CHECK = Check(
    RULE,
    {"immediate-form": _report},
    instruction=_instruction,
    wants=lambda row: any(s.shape is Shape.VECTOR for s in row.slots),
)
