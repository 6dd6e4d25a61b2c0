"""The data operand of a load/store message has no shape, or one that does not exist.

A shape is the element's size with how many there are: `d32`, `d32x4`, `d64x8t` (transposed), `d32.xyz` (quad), `d8.16x8nn` (block).

Why: the message moves exactly what the shape says; the finalizer's grammar has no form without.

Example:

    lsc_load.ugm (M1, 16) V33:d33 flat[V39]:a64

Instead:

    lsc_load.ugm (M1, 16) V33:d32 flat[V39]:a64

Authority: documentation of the LSC instructions; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.model import Shape

RULE = rule("V605", "lsc-data-shape", ERROR, __doc__)
_EXAMPLES = {
    Shape.LSC_DATA_2D: "a block shape is written as in `d8.16x8nn`",
    Shape.LSC_DATA_TYPED_2D: "a block size is written as in `32x8`",
}


def _missing(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name = problem.args["name"]
    return ctx.report(RULE, problem.place, f"`{name}` lacks its data shape, as in `{name}:d32`")


def _bad(ctx: CheckContext, problem: Problem) -> Diagnostic:
    shape = problem.args["shape"]
    known = _EXAMPLES.get(shape) if isinstance(shape, Shape) else None
    how = known or "elements are `d8 d16 d32 d64 d8u32 d16u32`, with `x1 x2 x3 x4 x8 x16 x32 x64` behind"
    return ctx.report(RULE, problem.place, f"`{problem.args['text']}` is no data shape; {how}")


CHECK = Check(RULE, {"missing-shape": _missing, "bad-shape": _bad})
