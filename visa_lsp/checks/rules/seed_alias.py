"""An alias is written in the form of the specification, in round brackets.

Why: today's tools read `alias=<V1, 0>` only.

Example:

    .decl V40 v_type=G type=d num_elts=4 alias=(V33, 0)

Instead:

    .decl V40 v_type=G type=d num_elts=4 alias=<V33, 0>

Authority: seed 000, text format of declarations, has the round brackets; the finalizer rejects them.
"""

from __future__ import annotations

from visa_lsp.checks.rule import WARNING, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.name_index import index_of
from visa_lsp.isa.predefined import VARIABLE_BY_NAME
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V118", "seed-alias", WARNING, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    alias = problem.get("alias", tree.Alias)
    line = problem.place.line
    text = ctx.document.line_text(line)
    offset = text[alias.offset.span.start : alias.offset.span.end]
    end = text.find(")", alias.offset.span.end)
    start = text.rfind("alias", 0, alias.name.span.start)
    modern = f"alias=<{alias.name.text}, {offset}>"
    # The modern form of an alias of `%null` is an error.
    body = ctx.bound.body_at(line)
    name = alias.name.text
    is_known = name in VARIABLE_BY_NAME or (body is not None and name in index_of(ctx, body).by_name)
    fix = ctx.fix(f"write `{modern}`", Place(line, Span(start, end + 1)), modern, safe=True)
    return ctx.report(
        RULE,
        problem.place,
        f"the finalizer does not read this form; write `{modern}`",
        fixes=(fix,) if is_known else (),
    )


CHECK = Check(RULE, {"seed-alias": _report})
