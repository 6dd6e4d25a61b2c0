"""An instruction belongs to another version of the language than the text.

There are three: the specification's appendix (structured `if`, `else`, `while`), 4.1 with its object format, and 4.2, which
today's compiler prints.

Why: the finalizer of one version reports the other's words as syntax errors.

Example:

    .version 4.1
    tanh (M1, 16) V35(0,0)<1> V35(0,0)<1;1,0>

Instead:

    .version 4.2
    tanh (M1, 16) V35(0,0)<1> V35(0,0)<1;1,0>

Authority: the finalizer 1.0.12504 for 4.1; for 4.2 what the compiler of 2026 prints; seed 003 for the appendix.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.model import Dialect
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

RULE = rule("V221", "wrong-dialect", ERROR, __doc__)


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    row, statement = bound.row, bound.statement
    if row is None or ctx.dialect in row.dialects or not isinstance(statement, tree.Instruction):
        return
    if row.dialects == {Dialect.SEED} and row.family == "simd_flow":
        return  # structured-flow reports it in more detail
    place = Place(bound.line, statement.words[0].span)
    if row.dialects == {Dialect.SEED}:
        message = f"`{row.mnemonic}` is a word of the specification only; no finalizer reads it"
        yield ctx.report(RULE, place, message)
    elif Dialect.V42 in row.dialects:
        yield ctx.report(RULE, place, f"`{row.mnemonic}` needs `.version 4.2`; this text is {ctx.dialect.value}")


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: len(row.dialects) < len(Dialect))
