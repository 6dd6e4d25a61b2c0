"""Rules that judge the types of an instruction's operands ask once for each row, types and platform.

What the finalizer's own verifier accepts stands in the rows (``verified``, ``brain``, ``lacks``, ``together``).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from visa_lsp.checks.support.facts import operand_place
from visa_lsp.isa.model import Role
from visa_lsp.isa.operands import SCALAR_REGION
from visa_lsp.program.model import AddressOf, General, Immediate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.checks.rule import Visit
    from visa_lsp.checks.support.context import CheckContext
    from visa_lsp.checks.support.facts import BodyFacts
    from visa_lsp.diagnostics import Diagnostic, Rule, Severity
    from visa_lsp.isa.model import Instruction, Lack, Slot
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType
    from visa_lsp.sema.model import Body, Bound, BoundOperand

    Typed = tuple[tuple[Slot, DataType], ...]
    # What there is to say of operands of some types: the number of the operand, the message, how bad it is.
    Verdict = tuple[int, str, "Severity | None"]


def lacking(row: Instruction, typed: Typed, platform: Platform | None) -> Iterator[tuple[int, Lack]]:
    """The operands whose types a platform lacks for an instruction, by number."""
    for lack in row.lacks if platform is not None else ():
        assert platform is not None
        if platform.name in lack.platforms:
            for at, (slot, type_) in enumerate(typed):
                if type_ in lack.types and (slot.role is Role.WRITE or not lack.result):
                    yield at, lack
                    break


def by_types(rule: Rule, judge: Callable[[Instruction, Typed, Platform | None], Verdict | None]) -> Visit:
    """A visit of instructions that asks ``judge`` once for each row, types of its operands and platform."""
    verdict_on = lru_cache(maxsize=8192)(judge)

    def visit(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
        facts = ctx.facts(body)
        assert bound.row is not None
        typed = [(o, t) for o in bound.operands if (t := _type_of(facts, o)) is not None]
        if bound.row.narrow_immediates:
            typed = [(o, t) for o, t in typed if not (isinstance(o.value, Immediate) and t.is_int)]
        verdict = verdict_on(bound.row, tuple([(o.slot, t) for o, t in typed]), ctx.platform)
        if verdict is not None:
            at, message, severity = verdict
            yield ctx.report(rule, operand_place(bound, typed[at][0]), message, severity=severity)

    return visit


def _type_of(facts: BodyFacts, operand: BoundOperand) -> DataType | None:
    """The type that the verifier sees: behind the first source ``&V`` is nothing but the first element of V."""
    if isinstance(operand.value, AddressOf) and operand.slot.name != "src0":
        return facts.type_of(General(operand.value.var, operand.value.row, operand.value.col, SCALAR_REGION))
    return facts.type_of(operand.value)
