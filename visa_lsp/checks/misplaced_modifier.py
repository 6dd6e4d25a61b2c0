"""A source modifier stands where none can stand, or is of the wrong sort for the instruction.

`(-)`, `(abs)` and `(-abs)` belong to sources of arithmetic, moves and shifts; `(~)` to sources of and, or, xor and not. A
destination, an immediate and an address have none.

Why: the hardware's source modifiers are part of the register read.

Example:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> (-)0x3:d

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> -0x3:d

Authority: seed 004, modifiers; the finalizer rejects the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.model import General, Indirect
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = rule("V216", "misplaced-modifier", ERROR, __doc__)
_SHIFTS = frozenset({"shl", "shr", "asr", "rol", "ror"})


def _destination(ctx: CheckContext, problem: Problem) -> Diagnostic:
    text = problem.args["modifier"]
    fix = ctx.fix(f"remove `{text}`", problem.place, "")
    return ctx.report(RULE, problem.place, f"`{text}` modifies sources; a destination cannot have it", fixes=(fix,))


def _immediate(ctx: CheckContext, problem: Problem) -> Diagnostic:
    line, span = problem.place
    text = ctx.document.line_text(line)
    close = text.find(")", span.start)
    modifier, rest = text[span.start : close + 1], text[close + 1 : span.end]
    place = Place(line, Span(span.start, close + 1))
    if modifier == "(-)" and not rest.startswith("-"):
        fix = ctx.fix(f"write `-{rest}`", problem.place, f"-{rest}", safe=True)
        return ctx.report(RULE, place, f"`(-)` cannot stand before an immediate; write `-{rest}`", fixes=(fix,))
    return ctx.report(RULE, place, f"`{modifier}` cannot stand before an immediate; write the value itself")


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    row = bound.row
    assert row is not None
    for operand in bound.operands:
        value, node = operand.value, operand.node
        if not isinstance(value, (General, Indirect)) or value.modifier in (OperandModifier.NONE, OperandModifier.SAT):
            continue
        if not isinstance(node, (tree.Ref, tree.IndirectRef)) or node.modifier is None:
            continue
        place = Place(bound.line, node.modifier.span)
        text = node.modifier.text
        if value.modifier is OperandModifier.NOT and row.family != "logic":
            yield ctx.report(RULE, place, f"`{text}` belongs to and, or, xor and not; `{row.mnemonic}` cannot invert a source")
        elif value.modifier is not OperandModifier.NOT and row.family == "logic" and row.mnemonic not in _SHIFTS:
            yield ctx.report(RULE, place, f"`{text}` is arithmetic; a source of `{row.mnemonic}` can only have `(~)`")


CHECK = Check(
    RULE,
    {"destination-modifier": _destination, "modifier-on-immediate": _immediate},
    instruction=_instruction,
    wants=lambda row: row.family in ("arith", "math", "logic", "mov", "compare"),
)
