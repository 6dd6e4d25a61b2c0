"""An instruction that has no lanes has an execution size.

Why: barriers, fences and the like work on the whole thread; the finalizer's grammar has no parenthesis there.

Example:

    barrier (M1, 16)

Instead:

    barrier

Authority: seed 003, the instructions' text forms; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, report_as, rule

RULE = rule("V208", "unexpected-exec-size", ERROR, __doc__)


_MESSAGE = "`{row.mnemonic}` takes no execution size; remove `{text}`"
CHECK = Check(RULE, {"unexpected-exec": report_as(RULE, _MESSAGE, fix=("remove `{text}`", ""))})
