"""An operand has a data type that the instruction does not take.

Why: the result would be computed on bits that mean something else. The finalizer checks and rejects arithmetic and logic;
it accepts moves, comparisons and messages.

Example:

    shl (M1, 16) V35(0,0)<1> V35(0,0)<1;1,0> 0x1:d

Instead:

    shl (M1, 16) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d

Authority: seed 003, data types of each instruction; the finalizer's verifier for arithmetic and logic.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import operand_place, slot_words, words
from visa_lsp.checks.support.verifier import by_types, find_lacks
from visa_lsp.isa.model import COMPUTING, Instruction, Lack, Role, Shape
from visa_lsp.isa.platforms import ALL, MATRIX, PLATFORMS, Platform
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import BF, BOOL, FLOAT_TYPES, INT_TYPES, TYPES, DataType
from visa_lsp.program.model import PredicateOperand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.checks.support.verifier import Typed, Verdict

RULE = rule("V401", "operand-type", WARNING, __doc__)


def _judge(row: Instruction, typed: Typed, platform: Platform | None, newer: bool) -> Verdict | None:
    if row.together and not row.limited:
        return None  # another rule checks its combinations
    brain = _brain_float(row, typed, platform)
    if brain is not None and newer and row.brain is not None and not row.brain.newest:
        return *brain[:2], None
    if brain is not None:
        return brain
    for index, lack in find_lacks(row, typed, platform):
        if not lack.reason:
            assert platform is not None
            what = "the result" if lack.result else slot_words(typed[index][0])
            message = (
                f"{platform.name} has no `{row.mnemonic}` with type `{typed[index][1].name}` for {what}; {_where(lack)}"
            )
            return index, message, ERROR
    for index, (slot, type_) in enumerate(typed):
        demand = row.verified.get(slot.name)
        if demand is not None and type_ not in demand and type_.name not in ("bool", "bf"):
            allowed = demand if slot.types is None else demand & slot.types or demand
            message = f"{slot_words(slot)} of `{row.mnemonic}` has type `{type_.name}`; it can be {type_words(allowed)}"
            return index, message, ERROR
    for index, (slot, type_) in enumerate(typed):
        allowed = slot.types or frozenset()
        # v and uv stand for words, vf for floats.
        stands_for = FLOAT_TYPES if type_.name == "vf" else INT_TYPES
        if not allowed or type_ in allowed or type_.name == "bool" or (type_.is_packed and allowed & stands_for):
            continue
        message = (
            f"{slot_words(slot)} of `{row.mnemonic}` has type `{type_.name}`; it can be {type_words(allowed)}"
            " (the finalizer does not check)"
        )
        return index, message, None
    return None


def _where(lack: Lack) -> str:
    having = [p for p in PLATFORMS if p.name not in lack.platforms]
    if having and having[-1].name == PLATFORMS[-1].name:
        later = [p for p in having if p.generation > max(q.generation for q in PLATFORMS if q.name in lack.platforms)]
        return f"it exists from {later[0].name} on"
    return f"it exists up to {having[-1].name}" if having else "no platform has it"


def _brain_float(row: Instruction, typed: Typed, platform: Platform | None) -> Verdict | None:
    """Return the verifier's message about `bf`, which depends on instruction, platform and the types beside it."""
    brain = row.brain
    brain_index = next(
        (i for i, (slot, t) in enumerate(typed) if t is BF and (brain is None or slot.name not in brain.unseen)), None
    )
    if brain_index is None or row.family not in COMPUTING:
        return None
    if platform is not None and platform.name not in MATRIX:
        return brain_index, f"{platform.name} has no type `bf`; it exists from XeHP_SDV on, except on MTL", ERROR
    if brain is None:
        return brain_index, f"`{row.mnemonic}` cannot have type `bf`; {_takers(platform)} can", ERROR
    if platform is not None and platform.name not in brain.platforms:
        since = next(p.name for p in PLATFORMS if p.name in brain.platforms)
        return (
            brain_index,
            f"`{row.mnemonic}` takes `bf` from {since} on; on {platform.name} {_takers(platform)} can",
            ERROR,
        )
    for index, (slot, type_) in enumerate(typed):
        if type_ not in brain.beside and type_ is not BOOL and slot.name not in brain.apart:
            message = f"{slot_words(slot)} has type `{type_.name}`; beside `bf` it must be {type_words(brain.beside)}"
            if brain.verified >= ALL or (platform is not None and platform.name in brain.verified):
                return index, message, ERROR
            return index, f"{message} (newer finalizers do not check)", None
    return None


@cache
def _takers(platform: Platform | None) -> str:
    """Return the instructions that take `bf` on a platform."""
    taking = [r for r in TABLE.rows if r.brain is not None and (platform is None or platform.name in r.brain.platforms)]
    return words(f"`{name}`" for name in sorted({r.mnemonic for r in taking}))


def type_words(allowed: Iterable[DataType]) -> str:
    """Return a set of types as words; all integers, or all floats, are one word."""
    kept = frozenset(allowed)
    parts = []
    kept = frozenset(t for t in kept if not t.is_packed)
    if kept >= INT_TYPES:
        parts.append("an integer")
        kept -= INT_TYPES
    if kept >= FLOAT_TYPES - {BF}:
        parts.append("a float")
        kept -= FLOAT_TYPES
    parts.extend(f"`{t.name}`" for t in TYPES if t in kept)
    return " or ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


_by_types = by_types(RULE, _judge)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    yield from _by_types(ctx, body, bound)
    assert bound.row is not None
    if not _takes_flags(bound.row):
        return
    flag = next((o for o in bound.operands if isinstance(o.value, PredicateOperand)), None)
    result = next((o for o in bound.operands if o.slot.role is Role.WRITE), None)
    if flag is None or result is None or flag.slot.flag_result is None or bound.row is None:
        return
    type_ = ctx.facts(body).type_of(result.value)
    if type_ is not None and type_ not in flag.slot.flag_result and type_ is not BF:
        words_ = type_words(flag.slot.flag_result)
        message = f"`{result.slot.name}` has type `{type_.name}`; a predicate is copied to {words_}"
        yield ctx.report(RULE, operand_place(bound, result), message, severity=ERROR)


@cache
def _takes_flags(row: Instruction) -> bool:
    return any(slot.flag_result is not None for slot in row.slots)


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=lambda row: any(s.shape is Shape.VECTOR and s.types for s in row.slots),
)
