"""`.sat` is on a destination type that the instruction cannot saturate.

Why: the finalizer rejects the combination; there is no hardware for it.

Example:

    div.sat (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> V34(0,0)<1;1,0>

Instead:

    div (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> V34(0,0)<1;1,0>

Conversions to narrow floats (`fcvt`, `srnd`) saturate from PTL on.

Authority: the finalizer, for `div` with integers, for `mod`, `mulh`, `frc`, `lzd`, the conversions and addresses, from Xe2 on for `mad` with integers;
the documentation of each instruction for others, as a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.rules.operand_type import type_words
from visa_lsp.isa.model import Dialect
from visa_lsp.isa.operands import A
from visa_lsp.isa.platforms import ALL, PLATFORMS
from visa_lsp.isa.types import BF, DataType
from visa_lsp.program.model import Address
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.diagnostics import Severity
    from visa_lsp.isa.model import Instruction

RULE = rule("V224", "saturation", ERROR, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    row, statement = bound.row, bound.statement
    if row is None or not isinstance(statement, tree.Instruction):
        return
    word = next((w for w in statement.words if w.text == "sat"), None)
    operand = next((o for o in bound.operands if o.slot.name == "dst"), None)
    if word is None or operand is None:
        return
    if isinstance(operand.value, Address):
        finding: tuple[str, Severity] | None = (f"`{row.mnemonic}` cannot saturate an address; leave out `.sat`", ERROR)
    else:
        finding = _judge(row, ctx.facts(body).type_of(operand.value), ctx)
    if finding is not None:
        place = Place(bound.line, word.span)
        remove = ctx.fix("leave out `.sat`", Place(bound.line, Span(word.span.start - 1, word.span.end)), "")
        yield ctx.report(RULE, place, finding[0], severity=finding[1], fixes=(remove,))


def _judge(row: Instruction, type_: DataType | None, ctx: CheckContext) -> tuple[str, Severity] | None:
    """Return the message and severity of a wrong saturation of a result; None if it is legal."""
    saturation, platform = row.saturation, ctx.platform
    newest = ctx.dialect is Dialect.V42  # whose finalizer refuses each of them
    if saturation is None:
        return None
    if saturation.types is not None and not saturation.types:
        if not saturation.verified and not newest:
            return f"`{row.mnemonic}` has no saturation; leave out `.sat` (the finalizer does not check)", WARNING
        return f"`{row.mnemonic}` has no saturation; leave out `.sat`", ERROR
    if platform is not None and platform.name not in saturation.platforms:
        oldest = next(p.name for p in PLATFORMS if p.name in saturation.platforms)
        return f"`{row.mnemonic}` can saturate from {oldest} on, not on {platform.name}", ERROR
    if type_ is None or saturation.types is None or type_ in saturation.types:
        return None
    checked = newest or saturation.verified >= ALL or (platform is not None and platform.name in saturation.verified)
    tail = "" if checked else " (the finalizer does not check)"
    names = type_words(saturation.types - {BF})
    message = f"`{row.mnemonic}` cannot saturate a result of type `{type_.name}`; expected {names}{tail}"
    return message, ERROR if checked else WARNING


def _clamps(row: Instruction) -> bool:
    """Return whether `.sat` can be wrong for a row: for some results, or for an address."""
    saturable = any(modifier.field == "sat" for modifier in row.modifiers)
    return row.saturation is not None or (saturable and any(s.name == "dst" and A in s.classes for s in row.slots))


CHECK = Check(RULE, instruction=_instruction, wants=_clamps)
