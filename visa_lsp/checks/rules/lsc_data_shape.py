"""The data operand of a load/store message has no shape, or one that does not exist.

A shape is the element's size followed by the number of elements: `d32`, `d32x4`, `d64x8t` (transposed), `d32.xyz`
(quad), `d8.16x8nn` (block).

A quad message chooses channels by a mask: a count there, `d32x4`, is accepted, but its code is read as a mask, `.z`. That is a
warning.

Why: the message moves exactly what the shape says; the finalizer's grammar has no form without it.

Example:

    lsc_load.ugm (M1, 16) V33:d33 flat[V39]:a64

Instead:

    lsc_load.ugm (M1, 16) V33:d32 flat[V39]:a64

Authority: documentation of the LSC instructions; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, Problem, report_as, rule
from visa_lsp.isa import lsc_codes
from visa_lsp.isa.model import Shape, Trait
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

RULE = rule("V605", "lsc-data-shape", ERROR, __doc__)
_EXAMPLES = {
    Shape.LSC_DATA_2D: "a block shape is written as in `d8.16x8nn`",
    Shape.LSC_DATA_TYPED_2D: "a block size is written as in `32x8`",
}


def _bad(ctx: CheckContext, problem: Problem) -> Diagnostic:
    shape = problem.args["shape"]
    example = _EXAMPLES.get(shape) if isinstance(shape, Shape) else None
    how = example or "elements are `d8 d16 d32 d64 d8u32 d16u32`, with `x1 x2 x3 x4 x8 x16 x32 x64` after them"
    return ctx.report(RULE, problem.place, f"invalid data shape `{problem.args['text']}`; {how}")


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    """Yield a count where a quad message has channels."""
    for operand in bound.operands:
        tag = operand.node.suffix if isinstance(operand.node, tree.Ref) else None
        if operand.slot.shape is not Shape.LSC_DATA or tag is None or "x" not in tag.text or "." in tag.text:
            continue
        shape = lsc_codes.parse_data_shape(tag.text)
        count = lsc_codes.ELEMS_VALUE.get(shape.elems or 0, 1) if shape is not None else 1
        if shape is None or shape.elems is None or count == 1:
            continue
        size = tag.text.partition("x")[0]
        taken = lsc_codes.chmask_text(shape.elems)
        message = f"`{tag.text}` is a count, but a quad message takes channels: it is read as `{size}.{taken}`"
        if count <= len(_CHANNELS):
            message += f"; {count} channels are `{size}.{_CHANNELS[:count]}`"
        yield ctx.report(RULE, Place(bound.line, tag.span), message, severity=WARNING)


_CHANNELS = "xyzw"

CHECK = Check(
    RULE,
    {"missing-shape": report_as(RULE, "`{name}` lacks its data shape, as in `{name}:d32`"), "bad-shape": _bad},
    instruction=_instruction,
    wants=lambda row: row.has(Trait.QUAD),
)
