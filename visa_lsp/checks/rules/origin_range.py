"""The origin of a region lies beyond the register that its row names, or does not fit its field.

Row and column are stored in one byte each; the column counts elements within one register.

Why: a column past the register is really in the next row, and a number above 255 silently loses its upper bits.

Example:

    add (M1, 1) V33(0,0)<1> V34(0,9)<0;1,0> 0x1:d

Instead:

    add (M1, 1) V33(0,0)<1> V34(1,1)<0;1,0> 0x1:d

Authority: seed 004, `row_offset` and `col_offset` ("may not cross the GRF boundary"); the finalizer rejects negative numbers and accepts
the rest silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, report_as, rule
from visa_lsp.isa.model import Shape
from visa_lsp.program.model import General
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V306", "origin-range", WARNING, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    facts = ctx.facts(body)
    for operand in bound.operands:
        value, node = operand.value, operand.node
        if (
            not isinstance(value, General)
            or not isinstance(node, tree.Ref)
            or not node.indices
            or len(node.indices) != 2
        ):
            continue
        row, col = node.indices
        for what, index, kept in (("row", row, value.row), ("column", col, value.col)):
            if isinstance(index, tree.Number) and index.value > 255:
                message = (
                    f"{what} {index.value} does not fit into a byte; {kept} is used (the finalizer does not check)"
                )
                yield ctx.report(RULE, Place(bound.line, index.span), message)
                return
        type_ = facts.type_of(value) if value.col else None
        if type_ is not None and value.col * type_.size >= max(ctx.grf_sizes):
            yield _column(ctx, bound, node, value, type_.size)


def _column(ctx: CheckContext, bound: Bound, node: tree.Ref, value: General, size: int) -> Diagnostic:
    assert node.indices is not None
    row, col = node.indices
    per = ctx.grf_sizes[0] // size
    place = Place(bound.line, Span(row.span.start, col.span.end))
    fixes = []
    where = f"a register holds {per} elements"
    if ctx.platform is not None:
        new = f"{value.row + value.col // per},{value.col % per}"
        fixes.append(ctx.fix(f"change to `{new}`", place, new))
        where += f"; the same element is `({new})`"
    message = f"column {value.col} lies past the register; {where} (the finalizer does not check)"
    return ctx.report(RULE, Place(bound.line, col.span), message, fixes=fixes)


_NEGATIVE = "{what} {value} is negative; a region begins inside its variable"
CHECK = Check(
    RULE,
    {"negative-origin": report_as(RULE, _NEGATIVE, severity=ERROR)},
    instruction=_instruction,
    wants=lambda row: any(s.shape is Shape.VECTOR for s in row.slots),
)
