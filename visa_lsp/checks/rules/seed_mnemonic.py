"""A mnemonic is written in upper case, as the tables of the specification print it.

Why: today's tools know the lower-case words only; to them the line is a syntax error.

Example:

    ADD (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 003, table of instructions; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import WARNING, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.model import ExecStyle
from visa_lsp.isa.table import TABLE
from visa_lsp.syntax import tree

RULE = rule("V230", "seed-mnemonic", WARNING, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name, modern = str(problem.args["name"]), str(problem.args["modern"])
    fix = ctx.fix(f"change to `{modern}`", problem.place, modern, safe=True)
    return ctx.report(
        RULE,
        problem.place,
        f"mnemonics are lower case: the finalizer knows `{modern}`, not `{name}`",
        fixes=(fix,) if _is_whole(ctx, problem, modern) else (),
    )


def _is_whole(ctx: CheckContext, problem: Problem, modern: str) -> bool:
    """Return whether an instruction has the execution size that its modern form must have."""
    statement = ctx.document.statement(problem.place.line)
    has_size = isinstance(statement, tree.Instruction) and statement.exec is not None
    return has_size or all(row.exec_style is ExecStyle.NONE for row in TABLE.by_mnemonic.get(modern, ()))


CHECK = Check(RULE, {"seed-mnemonic": _report})
