"""A load/store message moves more than eight registers.

The registers are those of one element, at least one, times the elements of the data shape; a transposed shape counts its bytes.

Why: the message has no larger payload; the access has to be split.

Example:

    .decl V60 v_type=G type=ud num_elts=128 align=GRF
    lsc_load.ugm (M1, 32) V60:d32x4 flat[V60]:a32

Instead:

    .decl V60 v_type=G type=ud num_elts=128 align=GRF
    lsc_load.ugm (M1, 16) V60:d32x4 flat[V60]:a32

Authority: the finalizer rejects the text. How many registers there are depends on the platform.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place
from visa_lsp.checks.support.payloads import message_data
from visa_lsp.isa.model import Dialect, Shape

RULE = rule("V608", "message-size", ERROR, __doc__)
_MAX_REGISTERS = 8


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    data, control = message_data(bound, newest=ctx.dialect is Dialect.V42), exec_control(bound)
    if data is None or control is None:
        return
    counts = [data.registers(control.exec_size, grf) for grf in ctx.grf_sizes]
    if min(counts) > _MAX_REGISTERS:
        message = f"the message moves {min(counts)} registers; at most {_MAX_REGISTERS} are allowed"
        yield ctx.report(RULE, operand_place(bound, data.operand), message)


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.shape is Shape.LSC_DATA for s in row.slots))
