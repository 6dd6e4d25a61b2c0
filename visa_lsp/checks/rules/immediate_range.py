"""An integer immediate does not fit its type.

The bits that do not fit are dropped; a negative number for an unsigned type, or the other way round, is taken for its bit
pattern and not reported.

Why: the value that is used is not the one that is written.

Example:

    mov (M1, 16) V37(0,0)<1> 0x12345:uw

Instead:

    mov (M1, 16) V37(0,0)<1> 0x2345:uw

Authority: seed 000, constants, gives the sizes and does not say what happens beyond; the finalizer accepts the text silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import INFORMATION, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.isa.model import Shape
from visa_lsp.program.model import Immediate
from visa_lsp.syntax import tree

RULE = rule("V223", "immediate-range", INFORMATION, __doc__)


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    for operand in bound.operands:
        value, node = operand.value, operand.node
        if not isinstance(value, Immediate) or not isinstance(node, tree.Literal) or not value.type.is_int:
            continue
        number = node.value
        sign = 1
        if isinstance(number, tree.Unary) and number.op == "-":
            number, sign = number.operand, -1
        if not isinstance(number, tree.Number) or (number.value >> 64):
            continue
        written, bits = sign * number.value, value.type.bits
        if -(1 << bits - 1) <= written < 1 << bits:
            continue
        # Compilers print a small negative number with the sign bits of 32 or 64 bits.
        if any(0 <= (1 << wide) - written <= 1 << bits - 1 for wide in (32, 64)):
            continue
        kept = written & (1 << bits) - 1
        message = f"`{ctx.text(operand_place(bound, operand))}` does not fit into {bits} bits; {kept:#x} is used"
        yield ctx.report(RULE, operand_place(bound, operand), message)


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.shape is Shape.VECTOR for s in row.slots))
