"""The execution size is none that the instruction can have.

Sizes are 1, 2, 4, 8, 16 and 32; messages and branches allow fewer.

Why: there is no encoding for other sizes, and a message moves a fixed number of lanes.

Example:

    add (M1, 3) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    add (M1, 4) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 001, execution sizes, and seed 003, the instructions; the finalizer rejects sizes that do not exist, and accepts
silently a size that only the instruction's page forbids.
"""

from __future__ import annotations

from visa_lsp.checks.facts import words
from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.model import Instruction
from visa_lsp.isa.types import EXEC_SIZES

RULE = rule("V209", "exec-size", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    row, size = problem.args["row"], problem.args["size"]
    assert isinstance(row, Instruction)
    assert isinstance(size, int)
    if size not in EXEC_SIZES:
        message = f"`{ctx.text(problem.place)}` is no execution size; it is {words(row.exec_sizes)}"
    else:
        message = f"`{row.mnemonic}` cannot have execution size {size}; it is {words(row.exec_sizes)}"
    nearest = min(row.exec_sizes, key=lambda legal: (abs(legal - size), -legal))
    fixes = [ctx.fix(f"change to {nearest}", problem.place, str(nearest))]
    return ctx.report(RULE, problem.place, message, fixes=fixes)


CHECK = Check(RULE, {"exec-size": _report})
