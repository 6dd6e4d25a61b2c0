"""Which data types the finalizer's own verifier demands, by instruction: what it rejects is an error, the rest is advice.

Facts read from its behaviour on one-instruction texts (TGLLP, 1.0.12504). Only arithmetic and logic are verified; a set is
None where any type passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.isa.model import Role
from visa_lsp.isa.types import DF, HF, INT_TYPES, UB, UD, UQ, UV, UW, VF, B, D, F, Q, V, W

if TYPE_CHECKING:
    from visa_lsp.isa.model import Instruction, Slot
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType

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
