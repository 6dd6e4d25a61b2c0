"""Shorthand that only the message families share: atomic words, message rows and their slots.

Knows no single family. Invariant: every helper returns plain rows, slots and modifiers; nothing is registered here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Unpack

from visa_lsp.isa.lsc_codes import ATOMIC_OP
from visa_lsp.isa.model import Instruction, Modifier, Operation, Refusal, Role, Shape, Slot, Trait, layout
from visa_lsp.isa.types import UD, D, F

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.isa.lane import Meaning
    from visa_lsp.isa.rows._keywords import More

_SEED_ATOMICS: Final = {"imin": ATOMIC_OP["minsint"], "imax": ATOMIC_OP["maxsint"]}
ATOMIC_WORDS: Final = Modifier(
    "op", ATOMIC_OP | _SEED_ATOMICS, mask=0x1F, seed_words=frozenset(_SEED_ATOMICS), doc="atomic operation"
)


def _operation(word: str) -> Operation:
    """Return the finalizer's operand types of an atomic on dwords: ud, but d if it is signed and f if it is float."""
    if word in ("fmax", "fmin", "fcmpwr", "fadd", "fsub"):
        types = {F}
    elif word in ("minsint", "maxsint"):
        types = {D}
    else:
        types = {UD, D} if word in ("add", "sub") else {UD}
    unused = {"src1"} if word not in ("cmpxchg", "fcmpwr") else set()
    if word in ("inc", "dec", "predec"):
        unused.add("src0")
    return Operation(
        {"off": frozenset({UD})} | dict.fromkeys(("src0", "src1", "dst"), frozenset(types)), frozenset(unused)
    )


DWORD_OPERATIONS: Final = {word: _operation(word) for word in ATOMIC_OP}
# With 16 bits the finalizer treats every operation as one of ud with one operand.
DWORD_OPERATIONS["16"] = Operation(dict.fromkeys(("off", "src0", "src1", "dst"), frozenset({UD})), frozenset({"src1"}))
MOD: Final = Modifier(
    "modified", {"mod": 1}, optional=True, doc="the surface may have been written in this kernel; objects drop the word"
)
BLOCKS: Final = {"1": 0, "2": 1, "4": 2, "8": 3}
# Offsets: compilers use either type, and no tool checks it.
OFFSET_TYPES: Final = frozenset({UD, D})


_SIXTEEN: Final = "a message has 16 lanes at most"
NO_WIDE_LANES: Final = (Refusal(_SIXTEEN, stops=True, lanes=frozenset({32})),)
NO_WIDE_BLOCKS: Final = (Refusal("a block has 8 owords at most", stops=True, lanes=frozenset({16})),)


def width_words(words: dict[str, int]) -> Modifier:
    """Return the word for the bits of an atomic, ``.16`` or ``.64``; 32 if it is missing."""
    return Modifier("op", words, optional=True, mask=0x60, doc="width of the operation in bits; 32 if left out")


def raw_any(name: str, role: Role = Role.READ, doc: str = "") -> Slot:
    """Return a raw operand that need not start on a register."""
    return Slot(name, Shape.RAW, role, doc=doc)


_STORING: Final = ("scatter", "store", "_st", "write")
_IMAGES: Final = ("sample", "load_", "resinfo", "gather4_typed", "scatter4_typed", "typed_atomic", "media_", "avs")


@cache
def _traits(mnemonic: str, family: str) -> Trait:
    """Return the traits that follow from the regular names of messages: writing, counting, sampling, and addressing."""
    traits = Trait.PLAIN
    if "atomic" in mnemonic:
        traits |= Trait.ATOMIC
    if any(word in mnemonic for word in _STORING) and "_status" not in mnemonic and "_strided" not in mnemonic:
        traits |= Trait.WRITES
    if "store_strided" in mnemonic:
        traits |= Trait.WRITES
    if mnemonic.endswith(("_quad", "_msrt")):
        traits |= Trait.CHANNELS
    if mnemonic.endswith("_msrt"):
        traits |= Trait.MULTISAMPLED
    if mnemonic.endswith("_quad") or "_quad_" in mnemonic:
        traits |= Trait.QUAD
    if mnemonic.endswith("_status"):
        traits |= Trait.RESIDENCY
    if mnemonic.startswith(_IMAGES):
        traits |= Trait.IMAGE
    if mnemonic.startswith("sample"):
        traits |= Trait.SAMPLES
    if mnemonic.startswith("load_"):
        traits |= Trait.LOADS_PIXELS
    if mnemonic.endswith("_lz"):
        traits |= Trait.NO_LEVEL
    if mnemonic.startswith("media_"):
        traits |= Trait.MEDIA
    if mnemonic.startswith(("raw_send", "rt_write", "urb_write")):
        traits |= Trait.MAY_END
    if mnemonic.endswith("_eot"):
        traits |= Trait.ENDS
    if mnemonic.startswith(("oword_", "svm_block_")):
        traits |= Trait.BLOCK
    if family == "svm":
        traits |= Trait.SIZES_UNCHECKED
        if mnemonic.startswith("svm_block_"):
            traits |= Trait.SCALAR
        elif traits & (Trait.ATOMIC | Trait.WRITES):
            traits |= Trait.STATELESS_WRITE
    return traits


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
    **more: Unpack[More],
) -> Instruction:
    """Return a message row. ``predicable`` follows from the layout: a message without a predicate field takes none."""
    items = layout(fields)
    rest: More = {
        "predicable": any(f.name == "pred" for f in items),
        **more,
        "traits": _traits(mnemonic, family) | more.get("traits", Trait.PLAIN),
    }
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
        **rest,
    )
