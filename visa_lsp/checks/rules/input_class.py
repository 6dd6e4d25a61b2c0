"""An input is a variable that cannot be one.

Inputs are general variables, samplers and surfaces that the kernel declares; predicates and addresses cannot be passed.

Why: the thread payload is a part of the general register file; there are no predicates in it.

Example:

    .decl P1 v_type=P num_elts=16
    .input P1 offset=64 size=2

Instead:

    .decl V40 v_type=G type=uw num_elts=1
    .input V40 offset=64 size=2

Authority: seed 000, storage classes of inputs; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, report_as, rule

RULE = rule("V122", "input-class", ERROR, __doc__)


_MESSAGE = "{got} `{name}` cannot be an input; pass a general variable, a sampler or a surface"
CHECK = Check(RULE, {"bad-input": report_as(RULE, _MESSAGE)})
