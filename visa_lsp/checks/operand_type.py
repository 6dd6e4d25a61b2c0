"""An operand's data type is none that the instruction takes.

Why: the result would be computed on bits that mean something else. The finalizer checks arithmetic and logic and rejects them;
moves, comparisons and messages it takes as they are.

Example:

    shl (M1, 16) V35(0,0)<1> V35(0,0)<1;1,0> 0x1:d

Instead:

    shl (M1, 16) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d

Authority: seed 003, data types of each instruction; the finalizer's verifier for arithmetic and logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.facts import slot_words, words
from visa_lsp.checks.rule import ERROR, WARNING, Check, rule
from visa_lsp.checks.verifier import by_types, demanded
from visa_lsp.isa.model import Role, Shape
from visa_lsp.isa.types import BF, BOOL, FLOAT_TYPES, INT_TYPES, TYPES, F

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.checks.verifier import Typed, Verdict
    from visa_lsp.isa.model import Instruction, Slot
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType

RULE = rule("V401", "operand-type", WARNING, __doc__)


_FIRST_BF = 125  # the generation of XeHP_SDV, which also lost the division of integers
_WITH_BF = frozenset({"add", "cmp", "mad", "mov", "mul", "sel"})
_BF_UNVERIFIED = frozenset({"srnd", "fcvt"})


def _judge(row: Instruction, typed: Typed, platform: Platform | None) -> Verdict | None:
    if any(t is BF for _, t in typed) and (platform is None or platform.generation >= _FIRST_BF):
        mixed = _brain_float(row, typed)
        if mixed is not None:
            return *mixed, ERROR
    if row.mnemonic in ("div", "mod") and platform is not None and platform.generation >= _FIRST_BF:
        result = next((i for i, (slot, t) in enumerate(typed) if slot.role is Role.WRITE and t in INT_TYPES), None)
        if result is not None:
            message = f"{platform.name} cannot divide integers; `{row.mnemonic}` of them exists up to TGLLP"
            return result, message, ERROR
    for at, (slot, type_) in enumerate(typed):
        if type_.name == "bf" and platform is not None and platform.generation < _FIRST_BF:
            return at, f"{platform.name} has no type `bf`; it exists from XeHP_SDV on", ERROR
        demand = demanded(row, slot, platform)
        if demand is not None and type_ not in demand and type_.name not in ("bool", "bf"):
            allowed = demand if slot.types is None else demand & slot.types or demand
            message = f"{slot_words(slot)} of `{row.mnemonic}` has type `{type_.name}`; it can be {type_words(allowed)}"
            return at, message, ERROR
    for at, (slot, type_) in enumerate(typed):
        allowed = slot.types or frozenset()
        # v and uv stand for words, vf for floats.
        stands_for = FLOAT_TYPES if type_.name == "vf" else INT_TYPES
        if not allowed or type_ in allowed or type_.name == "bool" or (type_.is_packed and allowed & stands_for):
            continue
        message = (
            f"{slot_words(slot)} of `{row.mnemonic}` has type `{type_.name}`; it can be {type_words(allowed)}"
            " (the finalizer does not check)"
        )
        return at, message, None
    return None


def _brain_float(row: Instruction, typed: tuple[tuple[Slot, DataType], ...]) -> tuple[int, str] | None:
    """What the verifier says to `bf`: few instructions take it, and beside it only `f`."""
    name = row.mnemonic
    if name in _WITH_BF:
        for at, (slot, type_) in enumerate(typed):
            if type_ not in (BF, F, BOOL):
                return at, f"{slot_words(slot)} has type `{type_.name}`; beside `bf` it must be `bf` or `f`"
    elif (row.family in ("arith", "math", "logic") or name in ("min", "max")) and name not in _BF_UNVERIFIED:
        for at, (slot, type_) in enumerate(typed):
            # The last source of min and max is not looked at.
            if type_ is BF and not (name in ("min", "max") and slot.name == "src1"):
                return at, f"`{name}` cannot have type `bf`; {words(f'`{n}`' for n in sorted(_WITH_BF))} can"
    return None


def type_words(allowed: Iterable[DataType]) -> str:
    """A set of types as words, integers and floats by one word where all of them are meant."""
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


CHECK = Check(
    RULE,
    instruction=by_types(RULE, _judge),
    wants=lambda row: any(s.shape is Shape.VECTOR and s.types for s in row.slots),
)
