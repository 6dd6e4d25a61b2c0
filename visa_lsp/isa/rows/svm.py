"""Rows: messages to shared virtual memory, addressed by 64-bit pointers (opcode 0x4E with a sub-opcode).

Sources: objects of the finalizer for layouts and codes; the documentation pages SVM_* for the meaning.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.message_forms import ElementForm, Elements, MemoryUse
from visa_lsp.isa.model import ExecStyle, Instruction, Modifier, Refusal, Role
from visa_lsp.isa.rows._messages import (
    ATOMIC_WORDS,
    BLOCKS,
    NO_WIDE_BLOCKS,
    NO_WIDE_LANES,
    OFFSET_TYPES,
    message,
    width_words,
)
from visa_lsp.isa.rows.shapes import CHANNELS, raw, vec

_ADDRESS: Final = raw("address", doc="one address per lane, uq")
_LOADED: Final = raw("data", Role.WRITE, "registers that receive the data")
_STORED: Final = raw("data", Role.READ, "registers with the data")
# `.2` is a misprint that the tools read as `.1`; it is never printed.
_BLOCK: Final = Modifier(
    "block", {"1": 0, "4": 1, "8": 2, "2": 0}, any_number=True, doc="bytes of one block: 1, 4 or 8"
)
_COUNT: Final = Modifier("n", BLOCKS, any_number=True, doc="blocks per lane")
# Bit 7 of the size byte. In text 4.2 a block without a word is unaligned; text 4.1 has no word, and its blocks are aligned.
_ALIGNED: Final = Modifier(
    "alignment", {"unaligned": 1, "aligned": 0}, optional=True, heard=("n", 0x80), newest=1,
    doc="whether the address is a multiple of 16 (text 4.2; without a word the block is unaligned)",
)  # fmt: skip


def _elements(mnemonic: str, elements: Elements, *, store: bool, alignment: int) -> ElementForm:
    use = MemoryUse.WRITE if store else MemoryUse.READ
    return ElementForm(mnemonic, use, elements, "address", "data", flat=True, alignment=alignment)


def _block(mnemonic: str, sub: int, summary: str, detail: str) -> Instruction:
    store = mnemonic.endswith("st")
    return message(
        mnemonic, 0x4E, "svm", f"sub:b={sub} n:log2~0x80 address:v data:r alignment:b?",
        (vec("address", doc="address of the block, uq"), _STORED if store else _LOADED),
        (_ALIGNED,), _elements(mnemonic, Elements.OWORDS, store=store, alignment=4), summary, detail,
        exec_style=ExecStyle.SIZE, exec_sizes=(1, 2, 4, 8, 16), refusals=NO_WIDE_BLOCKS,
        pitfalls=("The number in parentheses counts owords of 16 bytes; it is not an execution size, and no lane is masked.",),
    )  # fmt: skip


def _make_scattered(mnemonic: str, sub: int, summary: str, detail: str) -> Instruction:
    store = mnemonic.endswith("scatter")
    return message(
        mnemonic, 0x4E, "svm", f"sub:b={sub} E P block:b n:b address:r data:r",
        (_ADDRESS, _STORED if store else _LOADED), (_BLOCK, _COUNT),
        _elements(mnemonic, Elements.BLOCKS, store=store, alignment=0), summary, detail,
        exec_sizes=(1, 2, 4, 8, 16, 32), refusals=NO_WIDE_LANES,
        pitfalls=(
            "1-byte blocks of a lane lie side by side in its dword (eight in a qword); of larger blocks, the first block of each lane comes first.",
            "There is no 2-byte block: `.1.2` reads two bytes. The tools read `.2` as `.1`, with a message.",
        ),
    )  # fmt: skip


def _make_scaled(mnemonic: str, sub: int, summary: str, detail: str) -> Instruction:
    store = "scatter" in mnemonic
    return message(
        mnemonic, 0x4E, "svm", f"sub:b={sub} E P chan:b scale:w=0 goff:v address:r data:r",
        (vec("goff", doc="offset added to every address", types=OFFSET_TYPES), _ADDRESS, _STORED if store else _LOADED),
        (CHANNELS,), _elements(mnemonic, Elements.CHANNELS, store=store, alignment=4), summary, detail,
        exec_sizes=(1, 2, 4, 8, 16),
        refusals=(Refusal("the message has 8 or 16 lanes", stops=True, lanes=frozenset({1, 2, 4})),),
    )  # fmt: skip


ROWS: Final[tuple[Instruction, ...]] = (
    _block(
        "svm_block_ld", 1,
        "Read a block of owords from memory.",
        "Reads 1, 2, 4, 8 or 16 owords (16 bytes each) at one address into consecutive registers. An unaligned address "
        "must still be a multiple of four.",
    ),
    _block(
        "svm_block_st", 2,
        "Write a block of owords to memory.",
        "Writes 1, 2, 4, 8 or 16 owords (16 bytes each) from consecutive registers to one address. "
        "Older platforms need a multiple of 16.",
    ),
    _make_scattered(
        "svm_gather", 3,
        "Read one or more blocks per lane from memory.",
        "For each lane reads a number of consecutive blocks of 1, 4 or 8 bytes at its address.",
    ),
    _make_scattered(
        "svm_scatter", 4,
        "Write one or more blocks per lane to memory.",
        "For each lane writes a number of consecutive blocks of 1, 4 or 8 bytes at its address.",
    ),
    message(
        "svm_atomic", 0x4E, "svm", "sub:b=5 E P op:b address:r src0:r src1:r dst:r",
        (
            _ADDRESS,
            raw("dst", Role.WRITE, "old values, or %null"),
            raw("src0", doc="operand; what cmpxchg writes, what fcmpwr compares; %null for inc and dec"),
            raw("src1", doc="what cmpxchg compares, what fcmpwr writes; else %null"),
        ),
        (ATOMIC_WORDS, width_words({"16": 0x20, "64": 0x40, "32": 0})),
        ElementForm(
            "svm_atomic", MemoryUse.ATOMIC, Elements.WIDTH, "address", flat=True, alignment=0, sources=("src0", "src1")
        ),
        "Atomic operation per lane on memory.",
        "For each lane reads the value at its address, combines it with src0 (and src1), writes the result back and "
        "returns the old value, without another access in between. `.64` works on qwords, `.16` on words that each take "
        "the low half of a dword in the registers.",
        exec_sizes=(1, 2, 4, 8, 16),
        pitfalls=(
            "In the text dst is before src0; in the object, and in `dword_atomic`, it is last.",
            "cmpxchg compares with src1 and writes src0; fcmpwr compares with src0 and writes src1.",
        ),
    ),
    _make_scaled(
        "svm_gather4scaled", 6,
        "Read up to four dwords per lane from memory.",
        "For each lane reads the chosen of four consecutive dwords at its address plus goff. The first chosen dword of "
        "all lanes comes first, then the second.",
    ),
    _make_scaled(
        "svm_scatter4scaled", 7,
        "Write up to four dwords per lane to memory.",
        "For each lane writes the chosen of four consecutive dwords at its address plus goff.",
    ),
)  # fmt: skip
