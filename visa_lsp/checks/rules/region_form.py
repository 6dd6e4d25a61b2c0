"""A region is missing, or a destination has the region of a source or the reverse.

A destination is written `V(row,col)<stride>`, a source `V(row,col)<vert;width,horz>`, an indirect source over several addresses
`r[A(0),0]<width,horz>:type`; the latter cannot be a destination.

Why: the finalizer's grammar tells destination and source apart by the region.

Example:

    add (M1, 16) V33(0,0)<16;16,1> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 004, region-based addressing; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, report_as, rule
from visa_lsp.sema.model import Place
from visa_lsp.text import Span

RULE = rule("V303", "region-form", ERROR, __doc__)


def _form(ctx: CheckContext, problem: Problem) -> Diagnostic:
    text = ctx.text(problem.place)
    if problem.args["indirect"]:
        if ";" in text:
            message = f"a destination has one stride, not `{text}`; write `<1>`"
        else:
            message = f"`{text}` takes one address per row, which a destination cannot; write `<1>`"
        return ctx.report(RULE, problem.place, message, fixes=(ctx.fix("change to `<1>`", problem.place, "<1>"),))
    if problem.args["write"]:
        fix = ctx.fix("change to `<1>`", problem.place, "<1>")
        return ctx.report(
            RULE, problem.place, f"a destination has one stride, not the region `{text}`; write `<1>`", fixes=(fix,)
        )
    new = {"<1>": "<1;1,0>", "<0>": "<0;1,0>"}.get(text.replace(" ", ""), "<1;1,0>")
    fix = ctx.fix(f"change to `{new}`", problem.place, new)
    return ctx.report(
        RULE,
        problem.place,
        f"a source region has three numbers, `<vert;width,horz>`, not `{text}`; write `{new}`",
        fixes=(fix,),
    )


def _report_missing(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name, form = problem.args["name"], str(problem.args["form"])
    text = ctx.text(problem.place)
    region = form[form.index("<") :]
    new = text + region if text.endswith(")") else form
    # A destination that takes its elements in a row has one region only.
    fix = ctx.fix(f"write `{new}`", problem.place, new, safe=region == "<1>")
    return ctx.report(RULE, problem.place, f"`{name}` lacks its region; write `{new}`", fixes=(fix,))


def _origin(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name = str(problem.args["name"])
    text = ctx.text(problem.place)
    after = problem.place.span.start + text.index(name) + len(name)
    end_place = Place(problem.place.line, Span(after, after))
    fix = ctx.fix("add `(0,0)`", end_place, "(0,0)", safe=True)
    return ctx.report(RULE, problem.place, f"source `{name}` lacks its origin; write `{name}(0,0)`", fixes=(fix,))


CHECK = Check(
    RULE,
    {
        "region-form": _form,
        "missing-region": _report_missing,
        "missing-origin": _origin,
        "origin-form": report_as(
            RULE, "`{name}` is a general variable; its origin has a row and a column, as in `{name}(0,0)`"
        ),
    },
)
