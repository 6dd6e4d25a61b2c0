"""Float and integer operands are mixed in one instruction, or floats of two sizes.

Arithmetic with a float operand has all operands of that type; only `f` and `hf` may meet. `sel` picks between sources of one type.

Why: there is no conversion inside of the operation; bits of an integer would be taken for a float.

Example:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> V35(0,0)<1;1,0>

Instead:

    mov (M1, 16) V36(0,0)<1> V35(0,0)<1;1,0>
    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> V36(0,0)<1;1,0>

Authority: seed 003 ("consistent data type"); the finalizer rejects mixed arithmetic and accepts a mixed `sel` silently.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from visa_lsp.checks.facts import operand_place
from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.verifier import demanded
from visa_lsp.isa.model import Role, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.diagnostics import Severity
    from visa_lsp.isa.model import Instruction, Slot
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType

RULE = rule("V402", "mixed-types", ERROR, __doc__)
_CHOICES = frozenset({"sel", "min", "max"})
# Instructions with operands of several kinds by their nature.
_FREE = frozenset({"sad2", "sad2add", "srnd", "fcvt", "dp4a", "lzd", "addc", "subb", "madw"})


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    facts = ctx.facts(body)
    typed = [
        (o, t) for o in bound.operands if o.slot.shape is Shape.VECTOR and (t := facts.type_of(o.value)) is not None
    ]
    assert bound.row is not None
    found = _judge(bound.row, tuple([(o.slot, t) for o, t in typed]), ctx.platform)
    if found is not None:
        at, message, severity = found
        yield ctx.report(RULE, operand_place(bound, typed[at][0]), message, severity=severity)


@lru_cache(maxsize=8192)
def _judge(
    row: Instruction, typed: tuple[tuple[Slot, DataType], ...], platform: Platform | None
) -> tuple[int, str, Severity | None] | None:
    """What there is to say of operands of these types: the number of the operand, the message, how bad it is."""
    if any(t.name in ("bf", "bool") for _, t in typed):
        return None
    if row.mnemonic in _CHOICES:
        return _select(row, [(i, t) for i, (slot, t) in enumerate(typed) if slot.role is Role.READ])
    demands = [(demanded(row, slot, platform), t) for slot, t in typed]
    if any(demand is not None and t not in demand for demand, t in demands):
        return None
    written = [t for slot, t in typed if slot.role is Role.WRITE]
    for at, (slot, type_) in enumerate(typed):
        if slot.role is Role.READ and written and not _agree(written[0], type_):
            message = (
                f"`{slot.name}` has type `{type_.name}`, the result of `{row.mnemonic}` type `{written[0].name}`;"
                " arithmetic on floats needs one type for all operands"
            )
            return at, message, None
    return None


def _agree(result: DataType, source: DataType) -> bool:
    """Whether the finalizer takes a source of this type with such a result."""
    if not (result.is_float or source.is_float or source.name == "vf"):
        return True
    pair = (result.name, source.name)
    return result is source or pair in (("f", "vf"), ("f", "hf"), ("hf", "f"))


def _select(row: Instruction, sources: list[tuple[int, DataType]]) -> tuple[int, str, Severity | None] | None:
    if len(sources) != 2:
        return None
    (_, first), (at, second) = sources
    kinds = {first.is_float or first.name == "vf", second.is_float or second.name == "vf"}
    if len(kinds) != 2:
        return None
    message = (
        f"`{row.mnemonic}` chooses between types `{first.name}` and `{second.name}`; both sources should have"
        " one type (the finalizer does not check)"
    )
    return at, message, WARNING


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=lambda row: row.mnemonic not in _FREE and (row.family in ("arith", "math") or row.mnemonic in _CHOICES),
)
