"""Float and integer operands are mixed in one instruction, or floats of two sizes.

Arithmetic with a float operand has all operands of that type; only `f` and `hf` may be mixed. `sel` picks between
sources of one type.

Why: the operation does not convert its operands; it would read the bits of an integer as a float.

Example:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> V35(0,0)<1;1,0>

Instead:

    mov (M1, 16) V36(0,0)<1> V35(0,0)<1;1,0>
    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> V36(0,0)<1;1,0>

Authority: seed 003 ("consistent data type"); the finalizer rejects mixed arithmetic and accepts a mixed `sel` silently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, WARNING, Check, rule
from visa_lsp.checks.support.verifier import by_types
from visa_lsp.isa.model import Instruction, Role

if TYPE_CHECKING:
    from visa_lsp.checks.support.verifier import Typed, Verdict
    from visa_lsp.diagnostics import Severity
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType

RULE = rule("V402", "mixed-types", ERROR, __doc__)


def _judge(row: Instruction, typed: Typed, _: Platform | None, __: bool) -> Verdict | None:
    if any(t.name in ("bf", "bool") for _, t in typed):
        return None
    if row.chooses:
        return _select(row, [(i, t) for i, (slot, t) in enumerate(typed) if slot.role is Role.READ])
    demands = [(row.verified.get(slot.name), t) for slot, t in typed]
    if any(demand is not None and t not in demand for demand, t in demands):
        return None
    written = [t for slot, t in typed if slot.role is Role.WRITE]
    for index, (slot, type_) in enumerate(typed):
        if slot.role is Role.READ and written and not _agree(written[0], type_):
            message = (
                f"`{slot.name}` has type `{type_.name}`, the result of `{row.mnemonic}` type `{written[0].name}`;"
                " arithmetic on floats needs one type for all operands"
            )
            return index, message, None
    return None


def _agree(result: DataType, source: DataType) -> bool:
    """Return whether the finalizer accepts a source of this type with such a result."""
    if not (result.is_float or source.is_float or source.name == "vf"):
        return True
    pair = (result.name, source.name)
    return result is source or pair in (("f", "vf"), ("f", "hf"), ("hf", "f"))


def _select(row: Instruction, sources: list[tuple[int, DataType]]) -> tuple[int, str, Severity | None] | None:
    if len(sources) != 2:
        return None
    (_, first_type), (index, second_type) = sources
    kinds = {first_type.is_float or first_type.name == "vf", second_type.is_float or second_type.name == "vf"}
    if len(kinds) != 2:
        return None
    message = (
        f"`{row.mnemonic}` chooses between types `{first_type.name}` and `{second_type.name}`; both sources should have"
        " one type (the finalizer does not check)"
    )
    return index, message, WARNING


CHECK = Check(
    RULE,
    instruction=by_types(RULE, _judge),
    wants=lambda row: row.chooses or row.family in ("arith", "math"),
)
