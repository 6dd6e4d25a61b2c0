"""A message reads or writes past the end of its variable.

Every lane takes its elements: a message of 16 lanes with shape `d32x2` moves 128 bytes. The rows of a block lie at powers of
two, of a media block at least four bytes apart. The rule counts to the end of the variable that
the operand lies in.

Why: the message also moves the bytes of whichever variables the allocator placed next.

Example:

    gather4_scaled.RG (M1, 16) T6 0x0:ud V36.0 V33.0

Instead:

    .decl V60 v_type=G type=ud num_elts=32 align=GRF
    gather4_scaled.RG (M1, 16) T6 0x0:ud V36.0 V60.0

Authority: seed 004, raw operands (behaviour is undefined beyond the variable); the finalizer of 2022 accepts the text
silently, that of 2026 counts the registers that loads return and that addresses take, and refuses too few, so that is
an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.rules.raw_alignment import RAW_SHAPES
from visa_lsp.checks.support.facts import exec_control, operand_place
from visa_lsp.checks.support.payloads import needed, storage
from visa_lsp.isa.model import Role, Shape
from visa_lsp.program.model import RawOperand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import BoundOperand

_MAX_LANES = 32
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
        # An operand at a wrong place is reported by another rule; an alias of a predefined variable has the room of
        # that variable.
        if left >= size or left <= 0 or start % ctx.grf_sizes[0] or whole.alias is not None:
            continue
        control = exec_control(bound)
        lanes = f" (size {control.exec_size})" if control else ""
        refused = _is_refused(ctx, bound, operand, size, whole.byte_size)
        how = "of 2026 refuses it" if refused else "does not check"
        message = f"the message moves {size} bytes here{lanes}, but `{whole.name}` has {left} (the finalizer {how})"
        related = [(whole.place, f"`{whole.name}` is declared here")] if whole.place else []
        severity = ERROR if refused else None
        yield ctx.report(RULE, operand_place(bound, operand), message, related=related, severity=severity)


def _is_refused(ctx: CheckContext, bound: Bound, operand: BoundOperand, size: int, room: int) -> bool:
    """Return whether the finalizer counts the registers of an operand, and finds too few.

    It counts the whole registers of results and addresses of load/store messages with addresses. For 32 lanes it
    requires half of them, and none for fewer lanes than a register has dwords.
    """
    control = exec_control(bound)
    of_data = operand.slot.shape is Shape.LSC_DATA and operand.slot.role is Role.WRITE
    if control is None or not (of_data or operand.slot.shape is Shape.LSC_ADDRESS):
        return False
    return all(
        control.exec_size * 4 >= grf and max(room // grf, 1) * (1 + (control.exec_size == _MAX_LANES)) < -(-size // grf)
        for grf in ctx.grf_sizes
    )


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.shape in RAW_SHAPES for s in row.slots))
