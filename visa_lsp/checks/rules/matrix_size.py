"""The platform does not support the execution size of a matrix instruction: it is 8 before PVC, 16 from PVC on.

Why: the finalizer rejects the text; the matrix unit works on whole registers of dwords.

Example:

    dpas.s8.s8.8.8 (M1, 16) V40.0 V40.0 V33.0 V34(0,0)

Instead:

    dpas.s8.s8.8.8 (M1, 8) V40.0 V40.0 V33.0 V34(0,0)

Authority: the finalizer on XeHP_SDV, DG2 and PVCXT; public page DPAS.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control
from visa_lsp.isa.model import Trait
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

RULE = rule("V236", "matrix-size", ERROR, __doc__)


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    control, node = exec_control(bound), bound.statement
    if ctx.platform is None or control is None or not isinstance(node, tree.Instruction) or node.exec is None:
        return
    if bound.row is None or ctx.platform.name not in bound.row.platforms:
        return
    wanted = ctx.platform.grf_bytes // 4
    if control.exec_size != wanted:
        place = Place(bound.line, node.exec.size.span)
        fix = ctx.fix(f"change to {wanted}", place, str(wanted))
        message = f"`{node.words[0].text}` has execution size {wanted} on {ctx.platform.name}, not {control.exec_size}"
        yield ctx.report(RULE, place, message, fixes=(fix,))


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: row.has(Trait.MATRIX))
