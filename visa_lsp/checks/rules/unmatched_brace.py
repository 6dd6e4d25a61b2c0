"""A `}` closes no scope, or a `{` is never closed.

Why: `{` and `}` bound the scope of declarations; one `}` too many means that a scope ended earlier than intended, one too few
that names live longer. A scope ends in the kernel or function in which it began.

Example:

    }

Instead:

    {
    .decl V40 v_type=G type=d num_elts=8
    }

Authority: seed 000, scopes; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, report_as, rule

RULE = rule("V004", "unmatched-brace", ERROR, __doc__)


CHECK = Check(
    RULE,
    {
        "unmatched-brace": report_as(RULE, "`}}` closes no scope; no `{{` is open here"),
        "unclosed-scope": report_as(RULE, "`{{` is never closed in this body; a `}}` is missing"),
    },
)
