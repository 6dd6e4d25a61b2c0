"""A raw operand begins past the end of its variable.

Why: the message reads or writes whichever variable the allocator placed there.

Example:

    oword_ld (4) T6 0x0:ud V36.128

Instead:

    oword_ld (4) T6 0x0:ud V36.0

Authority: seed 004, raw operands; the finalizer accepts the text silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.rules.raw_alignment import RAW_SHAPES
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.program.model import RawOperand

RULE = rule("V602", "raw-bounds", WARNING, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    variables = ctx.facts(body).variables
    for operand in bound.operands:
        value = operand.value
        if not isinstance(value, RawOperand) or not value.offset:
            continue
        if value.var == 0:
            yield ctx.report(
                RULE, operand_place(bound, operand), "`%null` has no bytes; its offset must be 0", severity=ERROR
            )
            continue
        symbol = variables.get(value.var)
        if symbol is None or symbol.predefined or value.offset < symbol.byte_size:
            continue
        message = f"raw operand begins at byte {value.offset} of `{symbol.name}`, which has {symbol.byte_size} bytes (the finalizer does not check)"
        related = [(symbol.place, f"`{symbol.name}` is declared here")] if symbol.place else []
        yield ctx.report(RULE, operand_place(bound, operand), message, related=related)


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.shape in RAW_SHAPES for s in row.slots))
