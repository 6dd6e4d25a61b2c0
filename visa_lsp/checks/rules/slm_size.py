"""Shared local memory is used in a kernel whose `SLMSize` is 0.

Why: the thread group has no shared local memory to access.

Example:

    .kernel_attr SLMSize=0
    gather4_scaled.R (M1, 16) %slm 0x0:ud V36.0 V33.0

Instead:

    .kernel_attr SLMSize=4
    gather4_scaled.R (M1, 16) %slm 0x0:ud V36.0 V33.0

Authority: seed 000, SLMSize ("it is an error to use T0"); the finalizer accepts the text silently. The rule skips a kernel
without the attribute, because the launch may give its size.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import int_attribute, operand_place
from visa_lsp.isa.model import Shape

RULE = rule("V606", "slm-size", WARNING, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    if int_attribute(body, "SLMSize") != 0 or not body.is_kernel:
        return
    for bound in body.code:
        for operand in bound.operands:
            if operand.slot.shape is Shape.SURFACE and operand.value == 0:
                if ctx.first_use(RULE, body, "", bound.line):
                    message = "the instruction uses shared local memory, but the kernel has `SLMSize=0` (the finalizer does not check)"
                    yield ctx.report(RULE, operand_place(bound, operand), message)
                break


CHECK = Check(RULE, body=_body, attributes=("SLMSize",))
