"""A constant expression has no value.

It divides by zero, shifts by a negative number, uses a decimal fraction, or takes the size of something that has no size.

Why: the assembler computes such expressions itself and needs a whole number.

Example:

    .decl V40 v_type=G type=d num_elts=8/0

Instead:

    .decl V40 v_type=G type=d num_elts=8/2

Authority: the finalizer's grammar of constant expressions; it rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, report_as, rule

RULE = rule("V214", "bad-expression", ERROR, __doc__)


CHECK = Check(RULE, {"bad-expression": report_as(RULE, "{message}")})
