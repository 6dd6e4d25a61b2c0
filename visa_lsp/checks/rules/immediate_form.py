"""A decimal number has a type that has no decimal form.

Decimal fractions are of type `f` or `df`; a `hf` or `bf` is written as its bits in hexadecimal, even where the number is whole.
No number is of type `bool`.

Why: the finalizer reads a fraction as single or double precision only.

Example:

    mov (M1, 16) V35(0,0)<1> 1.5:hf

Instead:

    mov (M1, 16) V35(0,0)<1> 0x3e00:hf

Authority: the finalizer's grammar; it rejects the text.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.isa.model import Shape
from visa_lsp.syntax import tree

# Types of variables only.
_REGISTERS_ONLY = frozenset({"bf", "tf32", "bf8", "hf8", "e2m1"})

RULE = rule("V215", "immediate-form", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    type_name = str(problem.args["type"])
    statement = ctx.document.statement(problem.place.line)
    operands = statement.operands if isinstance(statement, tree.Instruction) else ()
    node = next((o for o in operands if o.span == problem.place.span), None)
    whole = isinstance(node, tree.Literal) and isinstance(node.value, tree.Number)
    kind, types = ("number", "an integer type, `f` or `df`") if whole else ("fraction", "type `f` or `df`")
    message = f"a decimal {kind} must have {types}, not `{type_name}`"
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
    for operand in bound.operands:
        node = operand.node
        if not isinstance(node, tree.Literal) or node.suffix is None:
            continue
        name = node.suffix.text
        if name.lower() == "bool":
            place = operand_place(bound, operand)
            text = ctx.text(place)
            number = text[: text.rfind(":")].rstrip()
            fix = ctx.fix(f"write `{number}:ud`", place, f"{number}:ud")
            message = f"there is no immediate of type `bool`; a number has a type such as `ud`: `{number}:ud`"
            yield ctx.report(RULE, place, message, fixes=(fix,))
        elif name.lower() in _REGISTERS_ONLY:
            message = f"there is no immediate of type `{name}`; use a number of type `f` beside `{name}` registers"
            yield ctx.report(RULE, operand_place(bound, operand), message)


CHECK = Check(
    RULE,
    {"immediate-form": _report},
    instruction=_instruction,
    wants=lambda row: any(s.shape is Shape.VECTOR for s in row.slots),
)
