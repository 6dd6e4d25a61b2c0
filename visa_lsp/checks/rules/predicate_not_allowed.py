"""An instruction that cannot be predicated has a predicate.

Why: its record has no place for one; the finalizer's grammar does not read it.

Example:

    (P1) cmp.eq (M1, 16) P1 V33(0,0)<1;1,0> 0x1:d

Instead:

    cmp.eq (M1, 16) P1 V33(0,0)<1;1,0> 0x1:d

Authority: seed 003, the instructions' text forms; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, report_as, rule

RULE = rule("V211", "predicate-not-allowed", ERROR, __doc__)


_MESSAGE = "`{row.mnemonic}` cannot be predicated; leave out `{text}`"
CHECK = Check(RULE, {"not-predicable": report_as(RULE, _MESSAGE, fix=("remove `{text}`", ""))})
