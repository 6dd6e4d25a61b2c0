"""Words and codes of the load/store controller messages: shared by parser, printer, encoder and simulator.

Sources: objects of the finalizer; for words of text 4.2 only, CISA.l and the public header of today's compiler. Knows
no operands and no rows. Invariant: every code below has exactly one printed spelling, the first word that maps to it;
other words are accepted spellings. The ``*_TEXT_ONLY`` sets name the codes that no object can hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from msgspec import Struct

# ---- data shape -------------------------------------------------------------------------------------------------

DATASIZE: Final[dict[str, int]] = {
    "d8": 1, "d16": 2, "d32": 3, "d64": 4, "d8c32": 5, "d16c32": 6, "d16c32h": 7,
    "d8u32": 5, "d16u32": 6, "d16u32h": 7,
    "u8": 1, "u16": 2, "u32": 3, "u64": 4, "u8c32": 5, "u16c32": 6, "u16c32h": 7,
}  # fmt: skip


class DataSize(Struct, frozen=True):
    """A data size: bytes in memory, bytes in a register lane, and whether it lies in the upper half of the lane."""

    code: int
    memory_bytes: int
    register_bytes: int
    high_half: bool
    text41: str
    text42: str
    doc: str


DATASIZES: Final[dict[int, DataSize]] = {
    size.code: size
    for size in (
        DataSize(1, 1, 1, False, "d8", "d8", "bytes, packed (block messages only)"),
        DataSize(2, 2, 2, False, "d16", "d16", "words, packed (block messages only)"),
        DataSize(3, 4, 4, False, "d32", "d32", "dwords"),
        DataSize(4, 8, 8, False, "d64", "d64", "qwords"),
        DataSize(5, 1, 4, False, "d8c32", "d8u32", "bytes, each zero-extended to a dword; a store writes its low byte"),
        DataSize(
            6, 2, 4, False, "d16c32", "d16u32", "words, each zero-extended to a dword; a store writes its low word"
        ),
        DataSize(7, 2, 4, True, "d16c32h", "d16u32h", "words, each in the upper half of a dword"),
    )
}

ORDER_PLAIN: Final = 1
ORDER_TRANSPOSED: Final = 2

ELEMS: Final[dict[int, int]] = {1: 1, 2: 2, 3: 3, 4: 4, 8: 5, 16: 6, 32: 7, 64: 8}
ELEMS_VALUE: Final[dict[int, int]] = {code: count for count, code in ELEMS.items()}

CHMASK_LETTERS: Final = "xyzw"


def chmask_code(letters: str) -> int | None:
    """Return the mask of ``xyw``; None for no letters, unknown or repeated letters, or letters out of order."""
    places = [CHMASK_LETTERS.find(letter) for letter in letters]
    if not places or places[0] < 0 or any(b <= a for a, b in pairwise(places)):
        return None
    return sum(1 << place for place in places)


def chmask_text(mask: int) -> str:
    """Return the letters of a mask: 5 is ``xz``."""
    return "".join(letter for i, letter in enumerate(CHMASK_LETTERS) if mask >> i & 1)


# ---- address ----------------------------------------------------------------------------------------------------

ADDRTYPE_FLAT: Final = 1
ADDRTYPE_BSS: Final = 2
ADDRTYPE_SS: Final = 3
ADDRTYPE_BTI: Final = 4
ADDRTYPE_ARG: Final = 5
ADDRTYPE_SURF: Final = 6
ADDRTYPE: Final[dict[str, int]] = {
    "flat": ADDRTYPE_FLAT,
    "bss": ADDRTYPE_BSS,
    "ss": ADDRTYPE_SS,
    "bti": ADDRTYPE_BTI,
    "arg": ADDRTYPE_ARG,
    "surf": ADDRTYPE_SURF,
}
ADDRTYPE_TEXT: Final[dict[int, str]] = {code: word for word, code in ADDRTYPE.items()}
ADDRTYPE_TEXT_ONLY: Final = frozenset({ADDRTYPE_SURF})

# a32u and a32s exist in text 4.2 only. No object holds them; their codes are defined here.
ADDRSIZE_A16: Final = 1
ADDRSIZE_A32: Final = 2
ADDRSIZE_A64: Final = 3
ADDRSIZE_A32U: Final = 5
ADDRSIZE_A32S: Final = 6
ADDRSIZE: Final[dict[str, int]] = {
    "a16": ADDRSIZE_A16,
    "a32": ADDRSIZE_A32,
    "a64": ADDRSIZE_A64,
    "a32u": ADDRSIZE_A32U,
    "a32s": ADDRSIZE_A32S,
}
ADDRSIZE_TEXT: Final[dict[int, str]] = {code: word for word, code in ADDRSIZE.items()}
ADDRSIZE_TEXT_ONLY: Final = frozenset({ADDRSIZE_A32U, ADDRSIZE_A32S})
ADDRSIZE_BYTES: Final[dict[int, int]] = {1: 2, 2: 4, 3: 8, 5: 4, 6: 4}

# ---- words after the mnemonic  ----------------------------------------------------------------------------------

SFID_UGM: Final = 0
SFID_UGML: Final = 1
SFID_TGM: Final = 2
SFID_SLM: Final = 3
SFID: Final[dict[str, int]] = {"ugm": SFID_UGM, "ugml": SFID_UGML, "tgm": SFID_TGM, "slm": SFID_SLM}
UNTYPED_SFID: Final[dict[str, int]] = {"ugm": SFID_UGM, "ugml": SFID_UGML, "slm": SFID_SLM}
TYPED_SFID: Final[dict[str, int]] = {"tgm": SFID_TGM}

# cc exists in text 4.2 only; its code is that of the compiler's header.
CACHE: Final[dict[str, int]] = {"df": 0, "uc": 1, "ca": 2, "wb": 3, "wt": 4, "st": 5, "ri": 6, "cc": 7}
CACHE_TEXT: Final[dict[int, str]] = {code: word for word, code in CACHE.items()}
CACHE_TEXT_ONLY: Final = frozenset({7})


# The legal combinations besides all default, by kind of message: two words are L1 and L3, three are L1, L2 and L3.
_LOADS: Final = "uc.uc uc.ca ca.uc ca.ca st.uc st.ca ri.ca"
CACHE_PAIRS: Final[dict[str, tuple[str, ...]]] = {
    "a load": tuple(_LOADS.split()),
    "a store": ("uc.uc", "uc.wb", "wb.wb", "wt.uc", "wt.wb", "st.uc", "st.wb"),
    "an atomic": ("uc.uc", "uc.wb"),
}
CACHE_PAIRS_XE2: Final[dict[str, tuple[str, ...]]] = CACHE_PAIRS | {
    "a load": tuple(f"{_LOADS} uc.cc ca.cc ri.ri".split())
}


def _triples(pairs: str, *others: str) -> tuple[str, ...]:
    """Return triples; a triple with default L2 is also legal with L3 uncached."""
    triples = (*pairs.split(), *others)
    short = [f"{l1}.df.{l2}" for l1, l2, l3 in (triple.split(".") for triple in triples) if l3 == "uc"]
    return tuple(dict.fromkeys([*triples, *short]))


CACHE_TRIPLES: Final[dict[str, tuple[str, ...]]] = {
    "a load": _triples(
        " ".join(f"{l1}.{l2}.{l3}" for l1 in ("uc", "ca", "st") for l2 in ("uc", "ca") for l3 in ("uc", "ca")),
        "ri.ri.ri",
    ),
    "a store": _triples(
        "uc.uc.uc uc.uc.wb uc.wb.uc uc.wb.wb wt.uc.uc wt.uc.wb wt.wb.uc wt.wb.wb st.uc.uc st.uc.wb st.wb.uc wb.uc.uc wb.uc.wb wb.wb.uc"
    ),
    "an atomic": _triples("uc.uc.uc uc.uc.wb uc.wb.uc"),
}


def cache_text(*levels: int) -> str:
    """Return the cache words of a message with their dots: empty if all are default, else every level's word."""
    return "".join(f".{CACHE_TEXT.get(level, level)}" for level in levels) if any(levels) else ""


FENCE_OP: Final[dict[str, int]] = {
    "none": 0, "evict": 1, "invalidate": 2, "discard": 3, "clean": 4, "flushl3": 5, "type6": 6,
}  # fmt: skip
FENCE_SCOPE: Final[dict[str, int]] = {
    "group": 0, "local": 1, "tile": 2, "gpu": 3, "gpus": 4, "sysrel": 5, "sysacq": 6,
}  # fmt: skip

# ---- operations -------------------------------------------------------------------------------------------------

SUB: Final[dict[str, int]] = {
    "load": 0, "load_strided": 1, "load_quad": 2, "load_block2d": 3,
    "store": 4, "store_strided": 5, "store_quad": 6, "store_block2d": 7,
    "atomic_iinc": 8, "atomic_idec": 9, "atomic_load": 10, "atomic_store": 11, "atomic_iadd": 12, "atomic_isub": 13,
    "atomic_smin": 14, "atomic_smax": 15, "atomic_umin": 16, "atomic_umax": 17, "atomic_icas": 18,
    "atomic_fadd": 19, "atomic_fsub": 20, "atomic_fmin": 21, "atomic_fmax": 22, "atomic_fcas": 23,
    "atomic_and": 24, "atomic_or": 25, "atomic_xor": 26,
    "load_status": 27, "store_uncompressed": 28, "ccs_update": 29, "read_state_info": 30,
}  # fmt: skip

# Operations whose data operand carries a channel mask (`.xyzw`) instead of a count.
QUAD_SUBS: Final = frozenset({SUB["load_quad"], SUB["store_quad"], 0x31, 0x32, 0x36})


class Atomic(Struct, frozen=True):
    """An atomic operation: the number of its data operands and its effect on the word in memory."""

    name: str
    sources: int
    doc: str
    global_only: bool = False  # before Xe2 only in global memory
    wide_shared: bool = False  # takes 64 bits in shared local memory too


ATOMICS: Final[tuple[Atomic, ...]] = (
    Atomic("iinc", 0, "old + 1"),
    Atomic("idec", 0, "old - 1"),
    Atomic("load", 0, "old"),
    Atomic("store", 1, "src1"),
    Atomic("iadd", 1, "old + src1"),
    Atomic("isub", 1, "old - src1"),
    Atomic("smin", 1, "the smaller of old and src1, signed"),
    Atomic("smax", 1, "the larger of old and src1, signed"),
    Atomic("umin", 1, "the smaller of old and src1, unsigned"),
    Atomic("umax", 1, "the larger of old and src1, unsigned"),
    Atomic("icas", 2, "src2 if old equals src1, else old", wide_shared=True),
    Atomic("fadd", 1, "old + src1, float", global_only=True),
    Atomic("fsub", 1, "old - src1, float", global_only=True),
    Atomic("fmin", 1, "the smaller of old and src1, float"),
    Atomic("fmax", 1, "the larger of old and src1, float"),
    Atomic("fcas", 2, "src2 if old equals src1 as floats, else old"),
    Atomic("and", 1, "old and src1, bitwise"),
    Atomic("or", 1, "old or src1, bitwise"),
    Atomic("xor", 1, "old exclusive-or src1, bitwise"),
)

# Atomics of data_port and svm messages: the low five bits of their ``op`` byte.
ATOMIC_OP: Final[dict[str, int]] = {
    "add": 0, "sub": 1, "inc": 2, "dec": 3, "min": 4, "max": 5, "xchg": 6, "cmpxchg": 7,
    "and": 8, "or": 9, "xor": 10, "minsint": 11, "maxsint": 12,
    "fmax": 16, "fmin": 17, "fcmpwr": 18, "fadd": 19, "fsub": 20,
}  # fmt: skip
ATOMIC_OP_TEXT: Final[dict[int, str]] = {code: word for word, code in ATOMIC_OP.items()}
COMPARING: Final = frozenset({"cmpxchg", "fcmpwr", "icas", "bfcas"})  # the operations that compare and exchange
REPLACING: Final = "xchg"  # the operation whose result does not depend on the old value


class DataShape(Struct, frozen=True):
    """The tag of a data operand: ``:d32x4t``, ``:d32.xyz``. One of ``elems`` and ``chmask`` is None."""

    datasize: int
    elems: int | None
    chmask: int | None
    order: int


class BlockShape(Struct, frozen=True):
    """The tag of a block operand: ``:d8.2x8x16nt``."""

    datasize: int
    blocks: int
    width: int
    height: int
    order: int
    vnni: int


def _size_prefix(text: str) -> tuple[int, str] | None:
    """Return the data size that a tag starts with, longest word first, and the rest."""
    for word in sorted(DATASIZE, key=len, reverse=True):
        if text.startswith(word):
            return DATASIZE[word], text[len(word) :]
    return None


def parse_data_shape(text: str) -> DataShape | None:
    """Return the shape of a tag without its colon, with the codes of the object; None for any other text."""
    prefix = _size_prefix(text)
    if prefix is None:
        return None
    size, rest = prefix
    if rest.startswith("."):
        mask = chmask_code(rest[1:])
        return None if mask is None else DataShape(size, None, mask, ORDER_PLAIN)
    order = ORDER_TRANSPOSED if rest.endswith("t") else ORDER_PLAIN
    rest = rest.removesuffix("t")
    count = "1" if not rest else rest[1:] if rest.startswith("x") else ""
    elems = ELEMS.get(int(count)) if count.isascii() and count.isdigit() else None
    return None if elems is None else DataShape(size, elems, None, order)


def parse_block_shape(text: str) -> BlockShape | None:
    """Return the shape of a block tag without its colon; None for any other text."""
    prefix = _size_prefix(text)
    if prefix is None or not prefix[1].startswith("."):
        return None
    size, rest = prefix[0], prefix[1][1:]
    flags = rest[len(rest.rstrip("nt")) :]
    numbers = rest[: len(rest) - len(flags)].split("x")
    if len(flags) > 2 or len(numbers) not in (2, 3) or not all(n.isascii() and n.isdigit() for n in numbers):
        return None
    values = [int(n) for n in numbers]
    blocks, width, height = values if len(values) == 3 else (1, *values)
    order = ORDER_TRANSPOSED if flags[:1] == "t" else ORDER_PLAIN
    return BlockShape(size, blocks, width, height, order, int(flags[1:] == "t"))


def data_shape_text(
    datasize: int, elems: int, order: int, chmask: int = 0, *, quad: bool = False, v42: bool = False
) -> str:
    """Return the tag of a data operand with its colon, as the tools print it."""
    size = DATASIZES.get(datasize)
    word = (size.text42 if v42 else size.text41) if size else f"d?{datasize}"
    if quad:
        return f":{word}.{chmask_text(chmask)}"
    if elems not in ELEMS_VALUE and elems == chmask < 16:
        return f":{word}.{chmask_text(elems)}"  # because the finalizer accepts a mask in any message
    count = ELEMS_VALUE.get(elems, elems)
    return f":{word}{f'x{count}' if count != 1 else ''}{'t' if order == ORDER_TRANSPOSED else ''}"


def block_shape_text(shape: BlockShape) -> str:
    """Return the tag of a block operand with its colon and all parts."""
    size = DATASIZES.get(shape.datasize)
    word = size.text41 if size else f"d?{shape.datasize}"
    blocks = f"{shape.blocks}x" if shape.blocks != 1 else ""
    order = "t" if shape.order == ORDER_TRANSPOSED else "n"
    return f":{word}.{blocks}{shape.width}x{shape.height}{order}{'t' if shape.vnni else 'n'}"


def word_of(words: Mapping[str, int], code: int) -> str | None:
    """Return the printed spelling of a code: the first word that maps to it."""
    return next((word for word, value in words.items() if value == code), None)
