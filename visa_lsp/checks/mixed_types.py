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

from typing import TYPE_CHECKING

from visa_lsp.checks.facts import operand_place
from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.verifier import demanded
from visa_lsp.isa.model import Role, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.types import DataType
    from visa_lsp.sema.model import BoundOperand

RULE = rule("V402", "mixed-types", ERROR, __doc__)
_CHOICES = frozenset({"sel", "min", "max"})
# Instructions with operands of several kinds by their nature.
_FREE = frozenset({"sad2", "sad2add", "srnd", "fcvt", "dp4a", "lzd", "addc", "subb", "madw"})


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    assert bound.row is not None
    facts = ctx.facts(body)
    typed = [
        (o, t) for o in bound.operands if o.slot.shape is Shape.VECTOR and (t := facts.type_of(o.value)) is not None
    ]
    if any(t.name in ("bf", "bool") for _, t in typed):
        return
    if bound.row.mnemonic in _CHOICES:
        yield from _select(ctx, bound, [(o, t) for o, t in typed if o.slot.role is Role.READ])
        return
    demands = [(demanded(bound.row, o.slot, ctx.platform), t) for o, t in typed]
    if any(demand is not None and t not in demand for demand, t in demands):
        return
    written = [t for o, t in typed if o.slot.role is Role.WRITE]
    for operand, type_ in typed:
        if operand.slot.role is not Role.READ or not written:
            continue
        result = written[0]
        if _agree(result, type_):
            continue
        message = (
            f"`{operand.slot.name}` has type `{type_.name}`, the result of `{bound.row.mnemonic}` type `{result.name}`;"
            " arithmetic on floats needs one type for all operands"
        )
        yield ctx.report(RULE, operand_place(bound, operand), message)
        return


def _agree(result: DataType, source: DataType) -> bool:
    """Whether the finalizer takes a source of this type with such a result."""
    if not (result.is_float or source.is_float or source.name == "vf"):
        return True
    pair = (result.name, source.name)
    return result is source or pair in (("f", "vf"), ("f", "hf"), ("hf", "f"))


def _select(ctx: CheckContext, bound: Bound, sources: list[tuple[BoundOperand, DataType]]) -> Iterator[Diagnostic]:
    if len(sources) != 2:
        return
    (_, first), (operand, second) = sources
    kinds = {first.is_float or first.name == "vf", second.is_float or second.name == "vf"}
    if len(kinds) == 2 and bound.row is not None:
        message = (
            f"`{bound.row.mnemonic}` chooses between types `{first.name}` and `{second.name}`; both sources should have"
            " one type (the finalizer does not check)"
        )
        yield ctx.report(RULE, operand_place(bound, operand), message, severity=WARNING)


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=lambda row: row.mnemonic not in _FREE and (row.family in ("arith", "math") or row.mnemonic in _CHOICES),
)
