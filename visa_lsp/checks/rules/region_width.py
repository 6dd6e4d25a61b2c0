"""A source region is wider than the execution size.

Why: a row of the region would never be filled.

Example:

    add (M1, 4) V33(0,0)<1> V34(0,0)<8;8,1> 0x1:d

Instead:

    add (M1, 4) V33(0,0)<1> V34(0,0)<4;4,1> 0x1:d

Authority: seed 004, region restriction 4; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control
from visa_lsp.isa.model import Role, Shape, Trait
from visa_lsp.isa.operands import LEGAL_WIDTHS
from visa_lsp.program.model import General, Indirect
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

RULE = rule("V304", "region-width", ERROR, __doc__)


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    control = exec_control(bound)
    if bound.row is not None and bound.row.has(Trait.SCALAR):
        size = 1
    elif control is not None:
        size = control.exec_size
    else:
        return
    for operand in bound.operands:
        value, node = operand.value, operand.node
        if not isinstance(value, (General, Indirect)) or operand.slot.role is Role.WRITE:
            continue
        width = value.region.width or 1
        if width <= size or not isinstance(node, (tree.Ref, tree.IndirectRef)) or node.region is None:
            continue
        place = Place(bound.line, node.region.span)
        fits = max(w for w in LEGAL_WIDTHS if w <= size)
        horz = value.region.horz_stride or 0
        new = "<0;1,0>" if size == 1 else f"<{fits * horz};{fits},{horz}>"
        message = f"the region is {width} wide, but the instruction has execution size {size}; the width can be at most {fits}"
        yield ctx.report(RULE, place, message, fixes=(ctx.fix(f"change to `{new}`", place, new),))


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=lambda row: (
        row.family not in ("data_port", "lsc")
        and not row.has(Trait.OWN_REGIONS)
        and any(s.shape is Shape.VECTOR for s in row.slots)
    ),
)
