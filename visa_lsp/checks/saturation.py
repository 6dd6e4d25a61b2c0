"""`.sat` is asked for a destination type that the instruction cannot saturate.

Why: the finalizer rejects the combination; there is no hardware for it.

Example:

    div.sat (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> V34(0,0)<1;1,0>

Instead:

    div (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> V34(0,0)<1;1,0>

Authority: the finalizer, for `div` with integers and for `mod`, `mulh`, `frc`, `lzd`; the documentation of each instruction for others, as a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.operand_type import type_words
from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.verifier import NO_SATURATION
from visa_lsp.isa.types import BF
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = rule("V224", "saturation", ERROR, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    row, statement = bound.row, bound.statement
    if row is None or not isinstance(statement, tree.Instruction):
        return
    word = next((w for w in statement.words if w.text == "sat"), None)
    operand = next((o for o in bound.operands if o.slot.name == "dst"), None)
    if word is None or operand is None:
        return
    type_ = ctx.facts(body).type_of(operand.value)
    if row.mnemonic in NO_SATURATION:
        yield ctx.report(RULE, Place(bound.line, word.span), f"`{row.mnemonic}` has no saturation; leave out `.sat`")
        return
    if type_ is None or row.saturates is None or type_ in row.saturates:
        return
    names = type_words(row.saturates - {BF})
    severity = ERROR if row.mnemonic == "div" else WARNING
    tail = "" if severity is ERROR else " (the finalizer does not check)"
    message = f"`{row.mnemonic}` cannot saturate a result of type `{type_.name}`; it can for {names}{tail}"
    yield ctx.report(RULE, Place(bound.line, word.span), message, severity=severity)


CHECK = Check(
    RULE, instruction=_instruction, wants=lambda row: row.saturates is not None or row.mnemonic in NO_SATURATION
)
