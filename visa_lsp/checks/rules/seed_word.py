"""A word after the mnemonic is the specification's: `.GT` for `.gt`, `.imin` for `.minsint`.

Why: the finalizer stops at these words.

Example:

    cmp.GT (M1, 16) P1 V34(0,0)<1;1,0> 0x1:d

Instead:

    cmp.gt (M1, 16) P1 V34(0,0)<1;1,0> 0x1:d

Authority: seed 003, tokens; the finalizer gives up on `.GT` and does not know `.imin`.
"""

from __future__ import annotations

from visa_lsp.checks.rule import WARNING, Check, report_as, rule

RULE = rule("V232", "seed-word", WARNING, __doc__)


_MESSAGE = "the finalizer does not know `.{word}`; write `.{modern}`"
CHECK = Check(RULE, {"seed-word": report_as(RULE, _MESSAGE, fix=("change to `{modern}`", "{modern}"), safe=True)})
