"""A source modifier is on an operand that takes none, or is of the wrong kind for the instruction.

`(-)`, `(abs)` and `(-abs)` belong to sources of arithmetic, moves and shifts; `(~)` to sources of and, or, xor and not. A
destination, an immediate and an address take none.

Why: the hardware's source modifiers are part of the register read.

Example:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> (-)0x3:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> -0x3:d

Authority: seed 004, modifiers; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, Problem, report_as, rule
from visa_lsp.checks.support.facts import slot_words
from visa_lsp.isa.model import Dialect, Instruction, Role
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.platforms import ALL, Platform
from visa_lsp.program.model import General, Indirect
from visa_lsp.sema.model import BoundOperand, Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V216", "misplaced-modifier", ERROR, __doc__)


def _immediate(ctx: CheckContext, problem: Problem) -> Diagnostic:
    line, span = problem.place
    text = ctx.document.line_text(line)
    close = text.find(")", span.start)
    modifier, rest = text[span.start : close + 1], text[close + 1 : span.end]
    place = Place(line, Span(span.start, close + 1))
    if modifier == "(-)" and not rest.startswith("-"):
        fix = ctx.fix(f"write `-{rest}`", problem.place, f"-{rest}", safe=True)
        return ctx.report(RULE, place, f"`(-)` is not allowed before an immediate; write `-{rest}`", fixes=(fix,))
    return ctx.report(RULE, place, f"`{modifier}` is not allowed before an immediate; write the value itself")


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    row = bound.row
    assert row is not None
    for operand in bound.operands:
        node = operand.node
        if not isinstance(node, (tree.Ref, tree.IndirectRef)) or node.modifier is None or operand.value is None:
            continue
        message = _wrong(row, operand, node.modifier.text, ctx.platform, newest=ctx.dialect is Dialect.V42)
        if message is not None:
            place = Place(bound.line, node.modifier.span)
            yield ctx.report(RULE, place, message, fixes=(ctx.fix(f"remove `{node.modifier.text}`", place, ""),))


def _wrong(
    row: Instruction, operand: BoundOperand, text: str, platform: Platform | None, *, newest: bool
) -> str | None:
    """Return the message about a modifier that is wrong; None if it is legal."""
    value, name = operand.value, row.mnemonic
    if not isinstance(value, (General, Indirect)):
        return f"`{text}` modifies sources in registers; {slot_words(operand.slot)} of `{name}` cannot have it"
    if operand.slot.role is Role.WRITE:
        # Binding has already reported a modifier on a general destination.
        return f"`{text}` modifies sources; a destination cannot have it" if isinstance(value, Indirect) else None
    inverts = value.modifier is OperandModifier.NOT
    if (
        row.unmodified >= ALL
        or (newest and row.unmodified_newest)
        or (platform is not None and platform.name in row.unmodified)
    ):
        return f"sources of `{name}` take no modifier; remove `{text}`"
    if inverts and not row.inverts:
        return f"`{text}` belongs to and, or, xor and not; `{name}` cannot invert a source"
    if not inverts and not row.negates:
        return f"`{text}` is arithmetic; a source of `{name}` can only have `(~)`"
    return None


CHECK = Check(
    RULE,
    {
        "destination-modifier": report_as(
            RULE, "`{modifier}` modifies sources; a destination cannot have it", fix=("remove `{modifier}`", "")
        ),
        "modifier-on-immediate": _immediate,
    },
    instruction=_instruction,
    wants=lambda row: bool(row.slots),
)
