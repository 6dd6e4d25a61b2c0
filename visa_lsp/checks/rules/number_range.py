"""A number is out of the range of its field.

Why: offsets, sizes and counts are stored in fields of 8, 16 or 32 bits; some tools truncate a number that does not fit, others refuse
it.

Example:

    .input V38 offset=100000 size=4

Instead:

    .input V38 offset=1024 size=4

Authority: seed 000 and seed 004, widths of the fields. The finalizer rejects numbers below zero and input offsets past the
register file; of other numbers it silently keeps the low bits.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, Problem, report_as, rule
from visa_lsp.checks.support.facts import operand_place, words
from visa_lsp.syntax import tree

RULE = rule("V213", "number-range", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    what, value = problem.args["what"], problem.args["value"]
    low, high = problem.args["low"], problem.args["high"]
    limit = f"at least {low}" if high is None else f"between {low} and {high}"
    if what == "element count":
        limit = "at least 1"
    return ctx.report(RULE, problem.place, f"{what} {value} is out of range; it must be {limit}")


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    """Yield numbers that the instruction limits: sizes of messages and calls, the modes of a motion search."""
    for operand in bound.operands:
        node, place = operand.node, operand_place(bound, operand)
        if operand.slot.limits is not None:
            text, (low, high) = ctx.text(place), operand.slot.limits
            if not text.isdecimal():
                yield ctx.report(RULE, place, f"`{operand.slot.name}` must be a decimal number, not `{text}`")
            elif high is not None and not low <= int(text) <= high:
                message = f"`{operand.slot.name}` {text} is out of range; it must be between {low} and {high}"
                yield ctx.report(RULE, place, message)
        elif operand.slot.most is not None and isinstance(node, tree.Literal) and isinstance(node.value, tree.Number):
            if node.value.value > operand.slot.most:
                message = (
                    f"`{operand.slot.name}` {node.value.text} is out of range; it must be at most {operand.slot.most}"
                )
                yield ctx.report(RULE, place, message)
        elif operand.slot.choices is not None and isinstance(node, tree.Group) and bound.inst is not None:
            for field, legal in operand.slot.choices.items():
                value = bound.inst.get(field)
                if value not in legal:
                    yield ctx.report(RULE, place, f"`{field}` {value} is out of range; expected {words(legal)}")


_EMPTY = "element count 0 is out of range; it must be at least 1 (the finalizer does not check)"
CHECK = Check(
    RULE,
    {"number-range": _report, "no-elements": report_as(RULE, _EMPTY, severity=WARNING)},
    instruction=_instruction,
    wants=lambda row: any(
        slot.limits is not None or slot.most is not None or slot.choices is not None for slot in row.slots
    ),
)
