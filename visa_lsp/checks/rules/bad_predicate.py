"""The parenthesis before an instruction does not hold a predicate.

It holds the name of a predicate variable, with `!` before it for the inverse and `.any` or `.all` after it to combine lanes.

Why: only predicate variables hold a bit for each lane.

Example:

    (V33) add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    setp (M1, 16) P1 V33(0,0)<1;1,0>
    (P1) add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 004, predication; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, report_as, rule

RULE = rule("V212", "bad-predicate", ERROR, __doc__)


CHECK = Check(
    RULE,
    {
        "bad-predicate": report_as(RULE, "`{name}` is a {got}; only a predicate variable can guard an instruction"),
        "bad-combine": report_as(RULE, "`.{word}` does not combine lanes; expected `.any` or `.all`"),
    },
)
