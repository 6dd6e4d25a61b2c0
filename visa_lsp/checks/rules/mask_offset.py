"""The execution mask reaches past the last lane, or begins at a lane that is not a multiple of the size.

`(M5, 16)` means lanes 16 to 31, which a kernel that is dispatched with 16 lanes does not have.

Why: lanes that are not dispatched are never enabled, so the instruction does nothing; a misaligned mask has no encoding in the
hardware.

Example:

    .kernel_attr SimdSize=16
    add (M5, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    .kernel_attr SimdSize=16
    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 001, execution mask ("it is an error"). The finalizer rejects only a mask that reaches beyond lane 31.
It silently accepts the rest, so that is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control
from visa_lsp.isa.types import ExecControl
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

RULE = rule("V219", "mask-offset", WARNING, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    control = exec_control(bound)
    statement = bound.statement
    if control is None or not control.mask_offset or not isinstance(statement, tree.Instruction) or not statement.exec:
        return
    size, offset = control.exec_size, control.mask_offset
    place = Place(bound.line, statement.exec.span)
    simd = ctx.facts(body).simd_size
    last = offset + size - 1
    if last > 31:
        message = f"`{control.mask_name}` with size {size} means lanes {offset} to {last}; only lanes 0 to 31 exist"
        if bound.row is not None and bound.row.family == "svm":
            yield ctx.report(RULE, place, f"{message} (the finalizer does not check)")
        else:
            yield ctx.report(RULE, place, message, severity=ERROR)
    elif offset % size:
        message = f"`{control.mask_name}` begins at lane {offset}, which is not a multiple of the size {size} (the finalizer does not check)"
        yield ctx.report(RULE, place, message)
    elif simd in (8, 16, 32) and last >= simd and not control.no_mask:
        message = f"`{control.mask_name}` with size {size} means lanes {offset} to {last}, but the kernel has {simd} lanes (the finalizer does not check)"
        yield ctx.report(RULE, place, message)


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=lambda row: any(f.kind.value == "E" for f in row.fields),
    attributes=("SimdSize",),
    attribute_words=tuple([ExecControl(1, offset).mask_name for offset in range(4, 32, 4)]),
)
