"""A variable is written and never read.

Off by default: compilers leave such writes in their output, and the finalizer removes them.

Why: the write does useless work; often a later line names another variable by mistake.

Example:

    .decl V61 v_type=G type=d num_elts=8
    mov (M1, 8) V61(0,0)<1> V33(0,0)<1;1,0>

Instead:

    mov (M1, 8) V34(0,0)<1> V33(0,0)<1;1,0>
    mov (M1, 8) V33(0,0)<1> V34(0,0)<1;1,0>

Authority: none; the finalizer accepts the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import HINT, Body, Check, CheckContext, Diagnostic, rule

RULE = rule("V134", "never-read", HINT, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    from visa_lsp.checks.support.body_flow import find_used_variables  # loaded late because the rule is off by default

    for variable, usage in find_used_variables(body, ctx.steps(body)):
        if not usage.read and variable.place is not None:
            yield ctx.report(RULE, variable.place, f"`{variable.name}` is written and never read")


CHECK = Check(RULE, body=_body, default=False)
