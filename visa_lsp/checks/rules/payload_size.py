"""A message reads or writes behind the end of its variable.

Every lane takes its elements: a message of 16 lanes with shape `d32x2` moves 128 bytes. The rows of a block lie at powers of
two, of a media block at least four bytes apart. Counted to the end of the variable that
the operand lies in.

Why: the message moves whole registers, whatever the allocator put into them.

Example:

    gather4_scaled.RG (M1, 16) T6 0x0:ud V36.0 V33.0

Instead:

    .decl V60 v_type=G type=ud num_elts=32 align=GRF
    gather4_scaled.RG (M1, 16) T6 0x0:ud V36.0 V60.0

Authority: seed 004, raw operands (behaviour is undefined beyond the variable); the finalizer accepts the text silently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.rules.raw_alignment import RAW_SHAPES
from visa_lsp.checks.support.facts import exec_control, operand_place
from visa_lsp.checks.support.payloads import needed, storage
from visa_lsp.program.model import RawOperand

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = rule("V607", "payload-size", WARNING, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    variables = ctx.facts(body).variables
    for operand, size in needed(bound):
        value = operand.value
        symbol = variables.get(value.var) if isinstance(value, RawOperand) else None
        if symbol is None or symbol.predefined or not isinstance(value, RawOperand):
            continue
        whole, offset = storage(symbol)
        start = offset + value.offset
        left = whole.byte_size - start
        # An operand that begins at a wrong place is reported as that; an alias of a predefined variable has its room there.
        if left >= size or left <= 0 or start % ctx.grf_sizes[0] or whole.alias is not None:
            continue
        control = exec_control(bound)
        lanes = f" (size {control.exec_size})" if control else ""
        message = (
            f"the message moves {size} bytes here{lanes}, but `{whole.name}` has {left} (the finalizer does not check)"
        )
        related = [(whole.place, f"`{whole.name}` is declared here")] if whole.place else []
        yield ctx.report(RULE, operand_place(bound, operand), message, related=related)


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.shape in RAW_SHAPES for s in row.slots))
