"""Rows: messages to the data port, which reads and writes surfaces, and messages written by hand.

Sources: objects of the finalizer for layouts and codes; the documentation page of each name for the meaning.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from visa_lsp.isa.lane import Unmodelled
from visa_lsp.isa.message_forms import BlockForm, ElementForm, Elements, MemoryUse, TexelForm
from visa_lsp.isa.model import Dialect, ExecStyle, Instruction, Modifier, Refusal, Role, Shape, Slot, Trait
from visa_lsp.isa.platforms import ALL, since, until
from visa_lsp.isa.render_target import MODE_WORDS
from visa_lsp.isa.rows._messages import (
    ATOMIC_WORDS,
    BLOCKS,
    DWORD_OPERATIONS,
    MOD,
    NO_WIDE_BLOCKS,
    NO_WIDE_LANES,
    OFFSET_TYPES,
    message,
    raw_any,
    width_words,
)
from visa_lsp.isa.rows.shapes import CHANNELS, IM, IMAGE, SURFACE, G, number, raw, vec

_DST: Final = raw("dst", Role.WRITE, "registers that receive the data")
_SRC: Final = raw("src", Role.READ, "registers with the data")
_OFFSET: Final = vec("offset", doc="offset of the block, the same for all lanes", types=OFFSET_TYPES)
_GOFF: Final = vec("goff", doc="offset added for every lane", types=OFFSET_TYPES)
_OFF: Final = raw("off", doc="one offset per lane, ud")
_OWORDS: Final = (1, 2, 4, 8, 16)
_ELTSIZE: Final = Modifier("eltsize", {"1": 0, "2": 1, "4": 2}, doc="bytes of one element")
_BLOCKS: Final = Modifier("n", BLOCKS, any_number=True, doc="bytes per lane")
_SCALED_SIZES: Final = (1, 2, 4, 8, 16, 32)
_COORDS: Final = (
    raw("u", doc="U coordinate, one per lane"),
    raw("v", doc="V coordinate, or %null"),
    raw("r", doc="R coordinate, or %null"),
    raw("lod", doc="level of detail, or %null"),
)
_EIGHT: Final = "a typed message has 8 lanes at most here"
_NARROW_TYPED: Final = (Refusal(_EIGHT, until("TGLLP"), stops=True, lanes=frozenset({16})),)
_NARROW_ATOMICS: Final = (Refusal(_EIGHT, until("ARL"), stops=True, lanes=frozenset({16, 32})), *NO_WIDE_LANES)
_SOURCES: Final = ("src0", "src1")
_RAW_SEND: Final = Unmodelled("the descriptor of a message written by hand is not decoded")


def _elements(
    mnemonic: str, elements: Elements, *, store: bool, address: str = "off", unit: int = 1, alignment: int = 1
) -> ElementForm:
    """Return the form of a message to the surface of its field."""
    use, data = (MemoryUse.WRITE, "src") if store else (MemoryUse.READ, "dst")
    return ElementForm(mnemonic, use, elements, address, data, unit, alignment=alignment)


def _oword(mnemonic: str, opcode: int, store: bool, summary: str, detail: str, *pitfalls: str) -> Instruction:
    head = "n:log2" if store else "n:log2 mod_byte:b~0xff"
    data = "src:r" if store else "dst:r"
    return message(
        mnemonic, opcode, "data_port", f"{head} surface:s offset:v {data} modified:b!",
        (replace(SURFACE, barred={0: until("CNL")}), _OFFSET, _SRC if store else _DST), (MOD,),
        _elements(
            mnemonic, Elements.OWORDS, store=store, address="offset", unit=1 if "unaligned" in mnemonic else 16, alignment=4
        ),
        summary, detail,
        exec_style=ExecStyle.SIZE, exec_sizes=_OWORDS, pitfalls=pitfalls,
        refusals=NO_WIDE_BLOCKS,
    )  # fmt: skip


def _media(mnemonic: str, opcode: int, modes: dict[str, int], summary: str, detail: str) -> Instruction:
    store = mnemonic.endswith("st")
    return message(
        mnemonic, opcode, "data_port",
        f"mode:b surface:s plane:b width:b height:b x:v y:v {'src' if store else 'dst'}:r",
        (
            Slot("width,height", Shape.GROUP, Role.OTHER, doc="width in bytes and height in rows"),
            IMAGE,
            number("plane", "plane of the surface, 0 to 3", optional=True, limits=(0, 3)),
            vec("x", doc="left edge in bytes"),
            vec("y", doc="top row"),
            _SRC if store else _DST,
        ),
        (Modifier("mode", modes, doc="which rows of an interlaced surface"),),
        BlockForm(mnemonic, MemoryUse.WRITE, "src", ("x", "y")) if store
        else BlockForm(mnemonic, MemoryUse.READ, "dst", ("x", "y"), edge=True),
        summary, detail,
        exec_style=ExecStyle.NONE,
        pitfalls=(
            "A row of the block takes a power of two bytes in the registers, at least four.",
            "Width times height is limited: 64 rows up to 4 bytes, 32 up to 8, 16 up to 16, 8 up to 32, 4 up to 64.",
        ),
    )  # fmt: skip


def _gather(mnemonic: str, opcode: int, store: bool, summary: str, detail: str) -> Instruction:
    head = "eltsize:b n:code" if store else "eltsize:b mod_byte:b~0xff n:code"
    return message(
        mnemonic, opcode, "data_port", f"{head} surface:s goff:v off:r {'src' if store else 'dst'}:r modified:b!",
        (
            SURFACE, vec("goff", doc="offset added for every lane, in elements", types=OFFSET_TYPES), _OFF,
            _SRC if store else _DST,
        ),
        (_ELTSIZE, replace(MOD, after_size=True)), _elements(mnemonic, Elements.ONE, store=store, unit=0), summary,
        detail, exec_sizes=(1, 8, 16), traits=Trait.SIZES_UNCHECKED | Trait.DWORD_DATA,
        pitfalls=(
            "Offsets count elements, not bytes; `gather_scaled` and `scatter_scaled` count bytes.",
            "Each lane's element takes a dword of the register, whatever its size.",
        ),
    )  # fmt: skip


def _make_scaled(mnemonic: str, opcode: int, store: bool, summary: str, detail: str) -> Instruction:
    return message(
        mnemonic, opcode, "data_port",
        f"E P eltsize:b=0 n:b scale:w=0 surface:s goff:v off:r {'src' if store else 'dst'}:r",
        (SURFACE, _GOFF, _OFF, _SRC if store else _DST), (_BLOCKS,), _elements(mnemonic, Elements.SMALL, store=store),
        summary, detail,
        exec_sizes=_SCALED_SIZES, refusals=NO_WIDE_LANES,
        pitfalls=("With one or two bytes per lane each lane still takes a whole dword of the register.",),
    )  # fmt: skip


def _scaled4(mnemonic: str, opcode: int, store: bool, summary: str, detail: str) -> Instruction:
    return message(
        mnemonic, opcode, "data_port", f"E P chan:b scale:w=0 surface:s goff:v off:r {'src' if store else 'dst'}:r",
        (SURFACE, _GOFF, _OFF, _SRC if store else _DST), (CHANNELS,),
        _elements(mnemonic, Elements.CHANNELS, store=store, alignment=4), summary, detail,
        exec_sizes=(1, 2, 4, 8, 16, 32), refusals=NO_WIDE_LANES,
        pitfalls=("A channel starts on a register of its own; channels left out take no registers.",),
    )  # fmt: skip


def _typed4(mnemonic: str, opcode: int, store: bool, summary: str, detail: str) -> Instruction:
    return message(
        mnemonic, opcode, "data_port", f"E P chan:b surface:s u:r v:r r:r lod:r {'src' if store else 'dst'}:r",
        (replace(IMAGE, barred={0: ALL, 5: ALL}), *_COORDS, _SRC if store else _DST), (CHANNELS,),
        # Page GATHER4_TYPED: outside, ones are returned in the alpha channel and zeros in the others.
        TexelForm(mnemonic, MemoryUse.WRITE, "src") if store else TexelForm(mnemonic, MemoryUse.READ, alpha=True),
        summary, detail,
        exec_sizes=(1, 2, 4, 8, 16, 32), refusals=_NARROW_TYPED,
        pitfalls=("A coordinate that the surface does not have must be %null.",),
    )  # fmt: skip


def _qword(mnemonic: str, opcode: int, store: bool, summary: str, detail: str) -> Instruction:
    return message(
        mnemonic, opcode, "data_port", f"E P n:b surface:s off:r {'src' if store else 'dst'}:r",
        (SURFACE, _OFF, _SRC if store else _DST),
        (Modifier("n", {"1": 0, "2": 1, "4": 2}, any_number=True, doc="qwords per lane"),),
        _elements(mnemonic, Elements.QWORDS, store=store, alignment=8), summary, detail,
        exec_sizes=(1, 2, 4, 8, 16), platforms=since("XeHP_SDV")
    )  # fmt: skip


_PLAIN_SENDS: Final = (Refusal("texts of Efficient64b send by `raw_sendg`", efficient64b=True, stops=True),)
# Names that begin with the letter of a channel, and one for which the finalizer has no word.
_UNREAD_UNITS: Final = frozenset({"rc", "gtwy", "btd", "rta", "urb"})


def _raw_send(mnemonic: str, kind: int) -> Instruction:
    return message(
        mnemonic, 0x5D, "data_port", f"kind:b={kind} E P exdesc:d nsrc:b ndst:b desc:v src:r dst:r",
        (
            Slot("exdesc", Shape.INTEGER, Role.OTHER, hexadecimal=True, doc="extended message descriptor, written in hexadecimal"),
            number("nsrc", "registers sent, 1 to 15", limits=(1, 15)),
            number("ndst", "registers received, 0 to 16", limits=(0, 16)),
            vec("desc", G | IM, "message descriptor"),
            raw_any("src", Role.READ, "payload"),
            raw_any("dst", Role.WRITE, "response"),
        ),
        (), _RAW_SEND,
        "Send a message written by hand." if not kind else "Send a message written by hand, after the thread's dependencies.",
        "Sends the registers of src to the function unit that the extended descriptor names and stores the response in dst. "
        "Nothing is checked: descriptor, lengths and operands must fit the platform."
        + (" The conditional form waits until earlier threads that touch the same pixels are done." if kind else ""),
        refusals=_PLAIN_SENDS,
    )  # fmt: skip


def _raw_sends(mnemonic: str, kind: int) -> Instruction:
    conditional, last = kind & 1, kind & 2
    counts = (
        Modifier("nsrc0", kind=Modifier.Kind.NUMBER, doc="registers of the first payload"),
        Modifier("nsrc1", kind=Modifier.Kind.NUMBER, doc="registers of the second payload"),
        Modifier("ndst", kind=Modifier.Kind.NUMBER, doc="registers of the response"),
    )
    unit = Modifier("ffid", kind=Modifier.Kind.NUMBER, doc="function unit")
    return message(
        mnemonic, 0x7A, "data_port",
        f"kind:b={kind} E P nsrc0:b nsrc1:b ndst:b ffid:b{'~0xff' if conditional else ''} exdesc:v desc:v src0:r src1:r dst:r",
        (
            vec("exdesc", G | IM, "extended message descriptor"),
            vec("desc", G | IM, "message descriptor"),
            raw_any("src0", Role.READ, "first payload"),
            raw_any("src1", Role.READ, "second payload"),
            raw_any("dst", Role.WRITE, "response"),
        ),
        counts if conditional else (unit, *counts), _RAW_SEND,
        "Send a message with two payloads, written by hand" + (", and end the thread." if last else "."),
        "Sends src0 and src1 as the two halves of one message and stores the response in dst. Nothing is checked."
        + (" The thread ends with this message." if last else "")
        + (" The conditional form waits for earlier threads that touch the same pixels; it names no function unit." if conditional else ""),
        refusals=_PLAIN_SENDS,
    )  # fmt: skip


_UNITS: Final = {
    "null": 0,
    "smpl": 2,
    "gtwy": 3,
    "rc": 5,
    "urb": 6,
    "btd": 7,
    "rta": 8,
    "tgm": 13,
    "ugm": 14,
    "slm": 15,
}
_UNIT_WORDS: Final = (
    _UNITS
    | {str(i): i for i in range(16)}
    | {f"0x{i:x}": i for i in range(16)}
    | {f"0x{i:X}": i for i in range(10, 16)}
)


def _length(name: str, registers: int) -> Slot:
    """Return the bytes of a payload, limited to a number of registers of the instruction's platforms."""
    return Slot(name, Shape.INTEGER, Role.OTHER, length=True, most=registers * 64, doc="its bytes, behind a slash")


def _raw_sendg(mnemonic: str, kind: int) -> Instruction:
    conditional, last = kind & 1, kind & 2
    return message(
        mnemonic, None, "data_port",
        f"kind:b={kind} E P sfid:b dst:r dst_len:w src0:r src0_len:w src1:r src1_len:w ind0:v ind1:v desc:d",
        (
            raw_any("dst", Role.WRITE, "response"),
            _length("dst_len", 32),
            raw_any("src0", Role.READ, "first payload"),
            _length("src0_len", 31),
            raw_any("src1", Role.READ, "second payload"),
            _length("src1_len", 31),
            vec("ind0", G | IM, "first indirect descriptor, or %null"),
            vec("ind1", G | IM, "second indirect descriptor, or %null"),
            replace(number("desc", "message descriptor, 47 bits"), most=(1 << 47) - 1),
        ),
        (Modifier("sfid", _UNIT_WORDS, unread=_UNREAD_UNITS, doc="function unit: a name, or a number below 16"),), _RAW_SEND,
        "Send a message of the newest form, written by hand" + (", and end the thread." if last else "."),
        "Sends two payloads, each written with its length behind a slash, with an immediate descriptor and two that come "
        "from registers. Nothing is checked." + (" The thread ends with this message." if last else "")
        + (" The conditional form waits for earlier threads that touch the same pixels." if conditional else ""),
        dialects=frozenset({Dialect.V42}), platforms=since("CRI"), seed=None,
    )  # fmt: skip


ROWS: Final[tuple[Instruction, ...]] = (
    _oword(
        "oword_ld", 0x35, False,
        "Read a block of owords from a surface.",
        "Reads 1, 2, 4, 8 or 16 owords (16 bytes each) from one place of the surface into consecutive registers. The "
        "offset counts owords and is the same for all lanes; no lane is masked.",
        "The offset counts owords; that of `oword_ld_unaligned` counts bytes.",
        "The number in parentheses is a count of owords, not an execution size; a mask written there is dropped.",
    ),
    _oword(
        "oword_st", 0x36, True,
        "Write a block of owords to a surface.",
        "Writes 1, 2, 4, 8 or 16 owords (16 bytes each) from consecutive registers to one place of the surface. The "
        "offset counts owords.",
        "The offset counts owords, not bytes.",
    ),
    _media(
        "media_ld", 0x37, {"nomod": 0, "modified": 1, "top": 2, "bottom": 3, "top_mod": 4, "bottom_mod": 5},
        "Read a rectangle of bytes from a 2D surface.",
        "Reads a block of width by height bytes at (x, y) of a 2D surface; each row starts at the next multiple of the "
        "row pitch in the registers. Outside the surface the nearest edge pixel is read.",
    ),
    _media(
        "media_st", 0x38, {"nomod": 0, "modified": 1, "top": 2, "bottom": 3, "top_mod": 4, "bottom_mod": 5},
        "Write a rectangle of bytes to a 2D surface.",
        "Writes a block of width by height bytes at (x, y) of a 2D surface; rows are taken from the registers at the row "
        "pitch. What lies outside the surface is dropped.",
    ),
    _gather(
        "gather", 0x39, False,
        "Read one element per lane from a surface.",
        "For each lane reads an element of 1, 2 or 4 bytes at (goff + off[lane]) elements. Every lane's element takes a "
        "dword of dst.",
    ),
    _gather(
        "scatter", 0x3A, True,
        "Write one element per lane to a surface.",
        "For each lane writes an element of 1, 2 or 4 bytes at (goff + off[lane]) elements, taken from the low part of "
        "the lane's dword.",
    ),
    message(
        "dword_atomic", 0x7D, "data_port", "op:b E P surface:s off:r src0:r src1:r dst:r",
        (
            SURFACE,
            raw("off", doc="byte offset per lane"),
            raw("src0", doc="operand; what cmpxchg writes, what fcmpwr compares; %null for inc and dec"),
            raw("src1", doc="what cmpxchg compares, what fcmpwr writes; else %null"),
            raw("dst", Role.WRITE, "old values, or %null"),
        ),
        (ATOMIC_WORDS, width_words({"16": 0x20})),
        ElementForm("dword_atomic", MemoryUse.ATOMIC, Elements.WIDTH, "off", alignment=0, sources=_SOURCES),
        "Atomic operation per lane on dwords of a surface.",
        "For each lane reads the dword at its byte offset, combines it with src0 (and src1), writes the result back and "
        "returns the old value, without another access in between. With `.16` the operation works on words, each in the "
        "low half of a dword.",
        exec_sizes=(1, 2, 4, 8, 16), seed_opcode=0x3B, operations=DWORD_OPERATIONS,
        pitfalls=(
            "cmpxchg compares with src1 and writes src0; fcmpwr compares with src0 and writes src1.",
            "Lanes that meet at one address are served one after the other, in no fixed order.",
        ),
    ),
    _oword(
        "oword_ld_unaligned", 0x3C, False,
        "Read a block of owords from any dword of a surface.",
        "Reads 1, 2, 4, 8 or 16 owords from one place of the surface into consecutive registers. The offset counts bytes "
        "and must be a multiple of four.",
        "The offset counts bytes; that of `oword_ld` counts owords.",
    ),
    _typed4(
        "gather4_typed", 0x4B, False,
        "Read pixels of a typed surface.",
        "For each lane reads the pixel at (u, v, r) and returns the chosen channels, converted from the surface's format. "
        "Each channel starts on a register of its own. Outside the surface alpha is 1 and the other channels are 0.",
    ),
    _typed4(
        "scatter4_typed", 0x4C, True,
        "Write pixels of a typed surface.",
        "For each lane writes the chosen channels of the pixel at (u, v, r), converted to the surface's format.",
    ),
    message(
        "rt_write_3d", 0x71, "data_port", "E P mode:w surface:s operands:vectors",
        (
            SURFACE,
            Slot(
                "operands", Shape.VECTORS, Role.READ,
                doc="header or %null.0, then what the flags ask for: sample index, CPS counter, target index, source-0 alpha, oMask, R G B A, depth, stencil",
            ),
        ),
        (Modifier("mode", MODE_WORDS, Modifier.Kind.ANGLE, optional=True, doc="what the message carries"),),
        Unmodelled("render targets belong to the 3D pipeline"),
        "Write pixels to a render target.",
        "Hands the colours of a pixel shader's pixels to the render target, with depth, stencil, oMask or alpha where the "
        "flags say so. The header comes first in every form.",
        exec_sizes=(8, 16, 32)
    ),
    message(
        "urb_write_3d", 0x72, "data_port", "E P nout:b chmask:r goff:w handle:r slotoff:r data:r",
        (
            number("nout", "output parameters, 1 to 8", limits=(1, 8)),
            number("goff", "offset of all handles, in owords", limits=(0, 2047)),
            raw("chmask", doc="channel mask per vertex, or %null for all"),
            raw("handle", doc="handle per vertex"),
            raw("slotoff", doc="offset per handle in owords, or %null"),
            raw("data", doc="one register per output parameter"),
        ),
        (), Unmodelled("the unified return buffer belongs to the 3D pipeline"),
        "Write vertex outputs to the unified return buffer.",
        "Writes nout registers of vertex data behind each vertex's handle, subject to the channel mask.",
        exec_sizes=(8,), exec_verified=(1, 8),
        pitfalls=("In the object the channel mask is before the global offset; in the text after it.",),
    ),
    message(
        "typed_atomic", 0x73, "data_port", "op:b E P surface:s u:r v:r r:r lod:r src0:r src1:r dst:r",
        (
            SURFACE, *_COORDS,
            raw("src0", doc="operand; what cmpxchg writes, what fcmpwr compares; %null for inc and dec"),
            raw("src1", doc="what cmpxchg compares, what fcmpwr writes; else %null"),
            raw("dst", Role.WRITE, "old values, or %null"),
        ),
        (ATOMIC_WORDS, width_words({"16": 0x20})), TexelForm("typed_atomic", MemoryUse.ATOMIC, sources=_SOURCES),
        "Atomic operation per lane on pixels of a typed surface.",
        "For each lane reads the pixel at (u, v, r), combines it with src0 (and src1), writes the result back and returns "
        "the old value. The surface must have a single 32-bit channel.",
        exec_sizes=(1, 2, 4, 8, 16), refusals=_NARROW_ATOMICS,
    ),
    _scaled4(
        "gather4_scaled", 0x74, False,
        "Read up to four dwords per lane from a surface.",
        "For each lane reads the chosen of four consecutive dwords at byte offset goff + off[lane]. The first chosen dword "
        "of all lanes comes first, then the second.",
    ),
    _scaled4(
        "scatter4_scaled", 0x75, True,
        "Write up to four dwords per lane to a surface.",
        "For each lane writes the chosen of four consecutive dwords at byte offset goff + off[lane].",
    ),
    _make_scaled(
        "gather_scaled", 0x78, False,
        "Read 1, 2, 4 or 8 bytes per lane from a surface.",
        "For each lane reads the given number of bytes at byte offset goff + off[lane].",
    ),
    _make_scaled(
        "scatter_scaled", 0x79, True,
        "Write 1, 2, 4 or 8 bytes per lane to a surface.",
        "For each lane writes the given number of bytes at byte offset goff + off[lane].",
    ),
    _qword(
        "qw_gather", 0x86, False,
        "Read qwords per lane from a surface.",
        "For each lane reads 1, 2 or 4 consecutive qwords at its byte offset. The first qword of all lanes comes first.",
    ),
    _qword(
        "qw_scatter", 0x87, True,
        "Write qwords per lane to a surface.",
        "For each lane writes 1, 2 or 4 consecutive qwords at its byte offset.",
    ),
    _raw_send("raw_send", 0),
    _raw_send("raw_sendc", 1),
    _raw_sends("raw_sends", 0),
    _raw_sends("raw_sendsc", 1),
    _raw_sends("raw_sends_eot", 2),
    _raw_sends("raw_sendsc_eot", 3),
    _raw_sendg("raw_sendg", 0),
    _raw_sendg("raw_sendgc", 1),
    _raw_sendg("raw_sendg_eot", 2),
    _raw_sendg("raw_sendgc_eot", 3),
)  # fmt: skip
