"""A `}` closes no scope.

Why: `{` and `}` bound the life of declarations; one `}` too many means that a scope ended earlier than was meant.

Example:

    }

Instead:

    {
    .decl V40 v_type=G type=d num_elts=8
    }

Authority: seed 000, scopes; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule

RULE = rule("V004", "unmatched-brace", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    return ctx.report(RULE, problem.place, "`}` closes no scope; there is no `{` open here")


CHECK = Check(RULE, {"unmatched-brace": _report})
