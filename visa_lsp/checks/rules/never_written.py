"""A variable is read and never written.

Off by default: compilers read undefined values where the result does not matter. Inputs, predefined variables and variables
whose address is taken are exempt.

Why: the instruction reads whatever the register held before.

Example:

    .decl V61 v_type=G type=d num_elts=8
    mov (M1, 8) V33(0,0)<1> V61(0,0)<1;1,0>

Instead:

    .decl V61 v_type=G type=d num_elts=8
    mov (M1, 8) V61(0,0)<1> 0x0:d
    mov (M1, 8) V33(0,0)<1> V61(0,0)<1;1,0>

Authority: none; the finalizer accepts the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, rule

RULE = rule("V135", "never-written", HINT, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    from visa_lsp.checks.support.body_flow import find_used_variables  # loaded late because the rule is off by default

    for variable, usage in find_used_variables(body, ctx.steps(body)):
        if not usage.written and variable.place is not None:
            yield ctx.report(RULE, variable.place, f"`{variable.name}` is read and never written")


CHECK = Check(RULE, body=_body, default=False)
