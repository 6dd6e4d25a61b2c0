"""Shorthand that only the message families share: atomic words, message rows and their slots.

Knows no family of its own. Invariant: every helper returns plain rows, slots and modifiers; nothing is registered here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.isa.lsc_codes import ATOMIC_OP
from visa_lsp.isa.model import Instruction, Modifier, Role, Shape, Slot, layout
from visa_lsp.isa.types import UD, D

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.isa.lane import Meaning

_SEED_ATOMICS: Final = {"imin": ATOMIC_OP["minsint"], "imax": ATOMIC_OP["maxsint"]}
ATOMIC_WORDS: Final = Modifier(
    "op", ATOMIC_OP | _SEED_ATOMICS, mask=0x1F, seed_words=frozenset(_SEED_ATOMICS), doc="atomic operation"
)
MOD: Final = Modifier(
    "modified", {"mod": 1}, optional=True, doc="the surface may have been written in this kernel; objects drop the word"
)
BLOCKS: Final = {"1": 0, "2": 1, "4": 2, "8": 3}
# Offsets: compilers give them either type, and no tool looks.
OFFSET_TYPES: Final = frozenset({UD, D})


def width_words(words: dict[str, int]) -> Modifier:
    """The width of an atomic in bits, ``.16`` or ``.64``; 32 where it is left out."""
    return Modifier("op", words, optional=True, mask=0x60, doc="width of the operation in bits; 32 if left out")


def raw_any(name: str, role: Role = Role.READ, doc: str = "") -> Slot:
    """A raw operand that need not start on a register."""
    return Slot(name, Shape.RAW, role, doc=doc)


def message(
    mnemonic: str,
    opcode: int | None,
    family: str,
    fields: str,
    slots: Sequence[Slot],
    modifiers: Sequence[Modifier],
    meaning: Meaning,
    summary: str,
    detail: str,
    **more: object,
) -> Instruction:
    """A message row. ``predicable`` follows from the layout: a message without a predicate field takes none."""
    items = layout(fields)
    return Instruction(
        mnemonic,
        opcode,
        family,
        items,
        tuple(slots),
        tuple(modifiers),
        meaning=meaning,
        summary=summary,
        detail=detail,
        **{"predicable": any(f.name == "pred" for f in items), **more},  # type: ignore[arg-type]
    )
