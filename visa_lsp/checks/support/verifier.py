"""Checks of operand types, cached for each row, types and platform.

The rows record what the finalizer's verifier accepts (``verified``, ``brain``, ``lacks``, ``together``).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from visa_lsp.checks.support.facts import BodyFacts, operand_place
from visa_lsp.diagnostics import Diagnostic, Rule, Severity
from visa_lsp.isa.model import Dialect, Instruction, Lack, Role, Slot, Trait
from visa_lsp.isa.operands import SCALAR_REGION
from visa_lsp.isa.table import TABLE
from visa_lsp.program.model import AddressOf, General, Immediate
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.checks.rule import Visit
    from visa_lsp.checks.support.context import CheckContext
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType
    from visa_lsp.sema.model import Body, Bound, BoundOperand

    Typed = tuple[tuple[Slot, DataType], ...]
    # The findings about operand types: the number of the operand, the message, and the severity.
    Verdict = tuple[int, str, "Severity | None"]


def find_lacks(row: Instruction, typed: Typed, platform: Platform | None) -> Iterator[tuple[int, Lack]]:
    """Yield the operands whose types a platform lacks for an instruction, by number."""
    for lack in row.lacks if platform is not None else ():
        assert platform is not None
        if platform.name in lack.platforms:
            for index, (slot, type_) in enumerate(typed):
                if type_ in lack.types and (slot.role is Role.WRITE or not lack.result):
                    yield index, lack
                    break


def lower_severity(ctx: CheckContext, rows: Iterable[Instruction]) -> Severity | None:
    """Return the severity of a mistake that the finalizer of 2026 does not check; None for the default of the rule."""
    newest = ctx.dialect is Dialect.V42 and any(row.has(Trait.OVERLOOKED) for row in rows)
    return Severity.WARNING if newest else None


def rows_at(ctx: CheckContext, line: int) -> Sequence[Instruction]:
    """Return the rows of the mnemonic of a line."""
    statement = ctx.document.statement(line)
    return TABLE.lookup([w.text for w in statement.words])[0] if isinstance(statement, tree.Instruction) else ()


def by_types(rule: Rule, judge: Callable[[Instruction, Typed, Platform | None, bool], Verdict | None]) -> Visit:
    """Return a visit that calls ``judge`` once for each row, operand types, platform and whether the text is 4.2."""
    verdict_on = lru_cache(maxsize=8192)(judge)

    def visit(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
        facts = ctx.facts(body)
        assert bound.row is not None
        typed = [(o, t) for o in bound.operands if (t := _type_of(facts, o)) is not None]
        if bound.row.narrow_immediates:
            typed = [(o, t) for o, t in typed if not (isinstance(o.value, Immediate) and t.is_int)]
        if ctx.dialect is Dialect.V42:
            typed = [(o, t) for o, t in typed if not _is_undefined(facts, o)]
        verdict = verdict_on(
            bound.row, tuple([(o.slot, t) for o, t in typed]), ctx.platform, ctx.dialect is Dialect.V42
        )
        if verdict is not None:
            index, message, severity = verdict
            yield ctx.report(rule, operand_place(bound, typed[index][0]), message, severity=severity)

    return visit


def _is_undefined(facts: BodyFacts, operand: BoundOperand) -> bool:
    """Return whether an operand is an alias of ``%r0``, which compilers print for an undefined value of any type."""
    symbol = facts.variables.get(operand.value.var) if isinstance(operand.value, General) else None
    return symbol is not None and not symbol.predefined and symbol.base()[0].name == "%r0"


def _type_of(facts: BodyFacts, operand: BoundOperand) -> DataType | None:
    """Return the type that the verifier sees; a first source ``&V`` counts as the first element of V."""
    if isinstance(operand.value, AddressOf) and operand.slot.name != "src0":
        return facts.type_of(General(operand.value.var, operand.value.row, operand.value.col, SCALAR_REGION))
    return facts.type_of(operand.value)
