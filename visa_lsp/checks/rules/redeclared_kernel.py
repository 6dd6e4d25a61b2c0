"""Two kernels or functions of one text have the same name.

Why: a loader of the object finds only one of them by name.

Example:

    .kernel "k"
    ret (M1, 1)
    .kernel "k"
    ret (M1, 1)

Instead:

    .kernel "k"
    ret (M1, 1)
    .kernel "k2"
    ret (M1, 1)

Authority: seed 000 names kernels by their string and says nothing of equal ones; the finalizer accepts the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import WARNING, Check, Scope, report_as, rule

RULE = rule("V107", "redeclared-kernel", WARNING, __doc__)


_MESSAGE = "`{name}` is already the name of a kernel or function; a loader will find only one of them"
CHECK = Check(RULE, {"redeclared-body": report_as(RULE, _MESSAGE)}, scope=Scope.TEXT)
