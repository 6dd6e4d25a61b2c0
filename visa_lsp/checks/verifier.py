"""Which data types the finalizer's own verifier demands, by instruction: what it rejects is an error, the rest is advice.

Facts read from its behaviour on one-instruction texts (TGLLP, 1.0.12504). Only arithmetic and logic are verified; a set is
None where any type passes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from visa_lsp.checks.facts import operand_place
from visa_lsp.isa.model import Role
from visa_lsp.isa.operands import SCALAR_REGION
from visa_lsp.isa.types import DF, HF, INT_TYPES, UB, UD, UQ, UV, UW, VF, B, D, F, Q, V, W
from visa_lsp.program.model import AddressOf, General

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.checks.context import CheckContext
    from visa_lsp.checks.facts import Facts
    from visa_lsp.checks.rule import Visit
    from visa_lsp.diagnostics import Diagnostic, Rule, Severity
    from visa_lsp.isa.model import Instruction, Slot
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType
    from visa_lsp.sema.model import Body, Bound, BoundOperand

    Typed = tuple[tuple[Slot, DataType], ...]
    # What there is to say of operands of some types: the number of the operand, the message, how bad it is.
    Verdict = tuple[int, str, "Severity | None"]

_F: Final = frozenset({F})
_F_HF: Final = frozenset({F, HF})
_DWORDS: Final = frozenset({D, UD})
_PACKED: Final = frozenset({V, UV, VF})
_ARITHMETIC: Final = INT_TYPES | {F, DF, HF}
_LONG: Final = frozenset({Q, UQ})
_RESULT: Final[dict[str, frozenset[DataType]]] = {
    **dict.fromkeys(("cos", "exp", "log", "pow", "sin"), _F_HF),
    **dict.fromkeys(("rndd", "rndu", "rnde", "rndz", "plane", "dp2", "dp3", "dp4", "dph", "frc", "lrp"), _F),
    "line": INT_TYPES | _F,
    "avg": INT_TYPES - _LONG,
    "mod": INT_TYPES - _LONG,
    "lzd": frozenset({UD}),
    **dict.fromkeys(("mulh", "dp4a", "madw"), _DWORDS),
    **dict.fromkeys(("sad2", "sad2add"), frozenset({W, UW})),
    **dict.fromkeys(("addc", "subb"), frozenset({UD})),
    **dict.fromkeys(("add3", "add3.o"), frozenset({D, UD, W, UW})),
}
_SOURCE: Final[dict[str, frozenset[DataType]]] = {
    "mul": (_ARITHMETIC | _PACKED) - _LONG,
    "div": (_ARITHMETIC | _PACKED) - _LONG,
    "divm": frozenset({F, DF, VF}),
    "sqrtm": frozenset({F, DF, VF}),
    "addc": frozenset({UD, UV}),
    "subb": frozenset({UD, UV}),
    "dp4a": _DWORDS,
    "add3": frozenset({D, UD, W, UW}),
    "add3.o": frozenset({D, UD, W, UW}),
    "madw": INT_TYPES | {V, UV},
    "lzd": INT_TYPES | {V, UV},
}
_DOUBLE: Final = frozenset({"mul", "add", "mad", "div", "inv", "sqrtm", "sqrt", "divm", "invm", "rsqtm"})
_UNVERIFIED: Final = frozenset({"srnd", "min", "max"})
_NO_LONG_LOGIC: Final = frozenset({"fbl", "fbh", "cbit"})
# Instructions that the verifier rejects with ``.sat``; ``div`` only with an integer result.
NO_SATURATION: Final = frozenset({"frc", "lzd", "mod", "mulh", "madw", "invm", "rsqtm"})


def demanded(row: Instruction, slot: Slot, platform: Platform | None) -> frozenset[DataType] | None:
    """The types that the verifier accepts for an operand; None where it does not look."""
    name = row.mnemonic
    if name == "addr_add":
        return frozenset({B, UB, W, UW}) if slot.name == "src1" else None
    if row.family == "logic" and name not in _RESULT:
        types = INT_TYPES | {V, UV}
        if name in ("rol", "ror"):
            types -= {UB, B}
            if platform is not None and platform.generation < 130:
                types -= _LONG
        return types - _LONG if name in _NO_LONG_LOGIC else types
    if (row.family not in ("arith", "math") and name not in _RESULT) or name in _UNVERIFIED:
        return None
    if slot.role is Role.WRITE and slot.name == "dst":
        types = _RESULT.get(name, _ARITHMETIC)
    elif slot.role is Role.READ:
        types = _SOURCE.get(name, _ARITHMETIC | _PACKED)
        if name in ("sad2", "sad2add") and slot.name in ("src0", "src1"):
            types = frozenset({B, UB, V, UV})
    else:
        return None
    return types if name in _DOUBLE else types - {DF}


def by_types(rule: Rule, judge: Callable[[Instruction, Typed, Platform | None], Verdict | None]) -> Visit:
    """A visit of instructions that asks ``judge`` once for each row, types of its operands and platform."""
    verdict_on = lru_cache(maxsize=8192)(judge)

    def visit(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
        facts = ctx.facts(body)
        typed = [(o, t) for o in bound.operands if (t := _type_of(facts, o)) is not None]
        assert bound.row is not None
        verdict = verdict_on(bound.row, tuple([(o.slot, t) for o, t in typed]), ctx.platform)
        if verdict is not None:
            at, message, severity = verdict
            yield ctx.report(rule, operand_place(bound, typed[at][0]), message, severity=severity)

    return visit


def _type_of(facts: Facts, operand: BoundOperand) -> DataType | None:
    """The type that the verifier sees: behind the first source ``&V`` is nothing but the first element of V."""
    if isinstance(operand.value, AddressOf) and operand.slot.name != "src0":
        return facts.type_of(General(operand.value.var, operand.value.row, operand.value.col, SCALAR_REGION))
    return facts.type_of(operand.value)
