"""A media block is larger than one message can move.

A block is at most 64 bytes wide and 256 bytes in all; the wider it is, the fewer rows it may have.

Why: media block messages have a fixed payload of eight registers.

Example:

    media_ld.nomod (128,128) T6 0x0:ud 0x0:ud V33.0

Instead:

    media_ld.nomod (32,8) T6 0x0:ud 0x0:ud V33.0

Authority: seed 003, MEDIA_LD; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import operand_place
from visa_lsp.checks.support.payloads import most_rows

RULE = rule("V603", "media-block", ERROR, __doc__)


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    operand = next((o for o in bound.operands if o.slot.name == "width,height"), None)
    if operand is None or not isinstance(operand.value, tuple):
        return
    width, height = operand.value
    if not isinstance(width, int) or not isinstance(height, int):
        return
    place = operand_place(bound, operand)
    if not 1 <= width <= 64 or not 1 <= height <= 64:
        yield ctx.report(
            RULE,
            place,
            f"a block of {width} by {height} does not exist; a block must be 1 to 64 bytes wide and 1 to 64 rows high",
        )
        return
    most = most_rows(width)
    if height > most:
        yield ctx.report(RULE, place, f"a block {width} bytes wide has at most {most} rows, not {height}")


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.name == "width,height" for s in row.slots))
