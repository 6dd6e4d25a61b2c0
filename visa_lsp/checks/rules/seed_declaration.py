"""A declaration has the specification's properties: a type for an address, no element count for a surface or sampler.

Why: the finalizer rejects a type there, and requires `num_elts` for every class.

Example:

    .decl S0 v_type=S

Instead:

    .decl S0 v_type=S num_elts=1

Authority: seed 003, table of declarations; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import WARNING, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.sema.model import Place, SymbolKind
from visa_lsp.text import Span

RULE = rule("V131", "seed-declaration", WARNING, __doc__)


def _property(ctx: CheckContext, problem: Problem) -> Diagnostic:
    line, span = problem.place
    text = ctx.document.line_text(line)
    start = len(text[: text.rfind("type", 0, span.start)].rstrip())
    fix = ctx.fix("remove the type", Place(line, Span(start, span.end)), "", safe=True)
    kind = problem.get("of", SymbolKind)
    return ctx.report(
        RULE,
        problem.place,
        f"the declaration of an {kind.value} takes no `type`"
        if kind is SymbolKind.ADDRESS
        else f"the declaration of a {kind.value} takes no `type`",
        fixes=(fix,),
    )


def _count(ctx: CheckContext, problem: Problem) -> Diagnostic:
    kind, end = problem.get("of", SymbolKind), problem.get("end", int)
    fix = ctx.fix("add `num_elts=1`", Place(problem.place.line, Span(end, end)), " num_elts=1", safe=True)
    return ctx.report(
        RULE, problem.place, f"the finalizer requires an element count for a {kind.value}: `num_elts=1`", fixes=(fix,)
    )


CHECK = Check(RULE, {"seed-property": _property, "seed-count": _count})
