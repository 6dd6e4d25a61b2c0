"""Rows: messages of the load/store controller, DG2 and later (opcodes 0x89 untyped, 0x8A typed, 0x8B fence).

Sources: objects of the finalizer for layouts and codes; the pages LSC_UNTYPED, LSC_TYPED and LSC_FENCE for the meaning; CISA.l
and CISA.y for what only text 4.2 has. The words live in ``isa.lsc_codes``.

* Typed and untyped messages share mnemonics; the word after the mnemonic (``.tgm``, or ``.ugm .ugml .slm``)
distinguishes them. A typed record has no such byte, so its ``sfid`` is not stored. * The cache words are all present or
all missing. Two are L1 and L3. Three (text 4.2) are L1, L2 and L3, read in turn into the fields ``l1``, ``l3`` and
``l2``. They are only hints without an effect that a kernel can observe here. * ``elems`` and ``chmask`` are one value
in the tools: both bytes hold it, a count code or, in quad messages, the mask. * Fields without a word in the text:
``lsc_fence`` and ``lsc_read_state_info`` are written without a parenthesis and store
  ``ExecControl(1, 0, True)``, the byte 0x80, which lowering supplies. A strided record has no mask: its byte stays 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

from msgspec.structs import replace

from visa_lsp.isa import lsc_codes
from visa_lsp.isa.lane import Meaning, Unmodelled
from visa_lsp.isa.message_forms import BlockForm, ElementForm, Elements, FenceForm, MemoryUse, TexelForm
from visa_lsp.isa.model import Dialect, ExecStyle, Instruction, Modifier, Refusal, Role, Shape, Slot, Trait
from visa_lsp.isa.platforms import since
from visa_lsp.isa.rows._messages import message

if TYPE_CHECKING:
    from visa_lsp.isa.rows._keywords import More

_DG2: Final = since("DG2")
_XE2: Final = since("BMG")
_V42: Final = frozenset({Dialect.V42})

_HEAD: Final = "E P sfid:b l1:b l3:b"
_ADDR: Final = "addrtype:b immscale:w immoffset:i addrsize:b"
_SHAPE: Final = "datasize:b order:b elems:b chmask:b"
_TEXT_ONLY: Final = "l2:b? surfidx:i?"
_UNTYPED: Final = f"{_HEAD} {_ADDR} {_SHAPE} surface:v dst:r src0:r src1:r src2:r {_TEXT_ONLY}"
_TYPED_TAIL: Final = f"surface:v dst:r u:r v:r r:r lod:r src1:r src2:r sfid:b?2 {_TEXT_ONLY} uoff:i? voff:i? roff:i?"
_TYPED: Final = f"E P l1:b l3:b addrtype:b addrsize:b {_SHAPE} {_TYPED_TAIL}"

_UGM: Final = Modifier(
    "sfid", lsc_codes.UNTYPED_SFID, doc="memory: ugm global, ugml global at low bandwidth, slm shared local"
)
_TGM: Final = Modifier("sfid", lsc_codes.TYPED_SFID, doc="memory: tgm, typed global memory (images)")
_ANY: Final = Modifier("sfid", lsc_codes.SFID, doc="memory: ugm, ugml, tgm or slm")
CACHES: Final = (
    Modifier("l1", lsc_codes.CACHE, optional=True, doc="L1 cache"),
    Modifier("l3", lsc_codes.CACHE, optional=True, doc="L3 cache; L2 if there are three words"),
    Modifier("l2", lsc_codes.CACHE, optional=True, doc="L3 cache, if there are three words (text 4.2)"),
)

_DST: Final = Slot("dst", Shape.LSC_DATA, Role.WRITE, grf_aligned=True, doc="registers that receive the data")
_OLD: Final = Slot("dst", Shape.LSC_DATA, Role.WRITE, grf_aligned=True, doc="old values, or %null")
_SRC: Final = Slot("src1", Shape.LSC_DATA, Role.READ, grf_aligned=True, doc="registers with the data")
_ADDRESS: Final = Slot("src0", Shape.LSC_ADDRESS, Role.READ, grf_aligned=True, doc="one address per lane")
_STRIDED: Final = Slot(
    "src0", Shape.LSC_ADDRESS_STRIDED, Role.READ, doc="first address, and the distance between lanes"
)
_COUNTER: Final = Slot("src0", Shape.LSC_SURFACE, Role.READ, doc="surface with the counter")
_BLOCK: Final = Slot(
    "addr", Shape.LSC_ADDRESS_2D, Role.READ,
    doc="base address, width, height and pitch of the surface in bytes less one, x and y of the block in elements",
)  # fmt: skip
_TYPED_ADDRESS: Final = Slot(
    "src0", Shape.LSC_ADDRESS_TYPED, Role.READ, grf_aligned=True, doc="surface and coordinates per lane"
)
_TYPED_BLOCK: Final = Slot(
    "src0", Shape.LSC_ADDRESS_TYPED_2D, Role.READ, doc="surface, x in bytes and y in rows of the block"
)
_PAYLOAD1: Final = Slot("src1", Shape.LSC_PAYLOAD, Role.READ, grf_aligned=True, doc="first operand, or %null")
_PAYLOAD2: Final = Slot("src2", Shape.LSC_PAYLOAD, Role.READ, grf_aligned=True, doc="second operand, or %null")

_PACKED: Final = (
    "d8 and d16 are for block messages; a message per lane takes d8c32 or d16c32 (d8u32, d16u32 in text 4.2)."
)
_TRANSPOSED: Final = "A transposed message (`t`) has one address, execution size 1, and d32 or d64 data."
_NO_SCALE: Final = "A scale other than 1 in the address is for text 4.2; older tools stop at it."
_READS: Final = ElementForm("lsc_load", MemoryUse.READ, Elements.SHAPE, fetches=True)
_WRITES: Final = ElementForm("lsc_store", MemoryUse.WRITE, Elements.SHAPE, data="src1")
_UPDATES_MEMORY: Final = ElementForm(
    "lsc_atomic", MemoryUse.ATOMIC, Elements.SHAPE, alignment=0, sources=("src1", "src2")
)
_WRITES_TEXELS: Final = TexelForm("lsc_typed_store", MemoryUse.WRITE, "src1")
_OVERFETCH: Final = Modifier("ov", {"ov": 1}, optional=True, doc="overfetch (text 4.2)")


def _make_untyped(
    name: str,
    slots: tuple[Slot, ...],
    meaning: Meaning,
    summary: str,
    detail: str,
    *traps: str,
    fields: str = _UNTYPED,
    extra: tuple[Modifier, ...] = (),
    sub: int | None = None,
    **more: Unpack[More],
) -> Instruction:
    code = lsc_codes.SUB.get(name, sub)
    rest: More = {"platforms": _DG2, "seed": None, "pitfalls": traps, **more}
    return message(
        f"lsc_{name}", 0x89 if name in lsc_codes.SUB else None, "lsc", f"sub:b={code} {fields}", slots,
        (_UGM, *CACHES, *extra), meaning, summary, detail,
        **rest,
    )  # fmt: skip


def _make_typed(
    name: str,
    slots: tuple[Slot, ...],
    meaning: Meaning,
    summary: str,
    detail: str,
    *traps: str,
    extra: tuple[Modifier, ...] = (),
    sub: int | None = None,
    fields: str = _TYPED,
    **more: Unpack[More],
) -> Instruction:
    code = lsc_codes.SUB.get(name, sub)
    rest: More = {"platforms": _DG2, "seed": None, "pitfalls": traps, **more}
    return message(
        f"lsc_{name}", 0x8A if name in lsc_codes.SUB else None, "lsc", f"sub:b={code} {fields}", slots,
        (_TGM, *CACHES, *extra), meaning, summary, detail,
        **rest,
    )  # fmt: skip


_SOURCES: Final = (
    "src1 and src2 are %null.",
    "src1 is the operand, src2 is %null.",
    "src1 is compared, src2 is written where it was equal.",
)


# The effects on the word in memory, in the words of older messages; other operations have the same name as those.
_UPDATES: Final = {
    "iinc": "inc", "idec": "dec", "iadd": "add", "isub": "sub", "store": "xchg", "smin": "minsint", "smax": "maxsint",
    "umin": "min", "umax": "max", "fcas": "fcmpwr",
}  # fmt: skip


def _update(atomic: lsc_codes.Atomic) -> str:
    return _UPDATES.get(atomic.name, atomic.name)


def _atomic_detail(atomic: lsc_codes.Atomic, what: str) -> str:
    return (
        f"For each lane writes {atomic.doc} to {what} and returns the old value in dst, without another access in between. "
        f"{_SOURCES[atomic.sources]} 16-bit data (d16c32) takes the low half of a dword in the registers."
    )


def _make_untyped_atomic(atomic: lsc_codes.Atomic) -> Instruction:
    return _make_untyped(
        f"atomic_{atomic.name}", (_OLD, _ADDRESS, _PAYLOAD1, _PAYLOAD2), _UPDATES_MEMORY,
        f"Atomic per lane: {atomic.doc}.", _atomic_detail(atomic, "the element at its address"),
        "Both data operands are written, %null where the operation has no use for them.",
        atomic=atomic, update=_update(atomic),
    )  # fmt: skip


def _make_typed_atomic(atomic: lsc_codes.Atomic, sub: int | None = None) -> Instruction:
    newer: More = {"atomic": atomic, "update": _update(atomic)}
    if sub is not None:
        newer |= {"dialects": _V42, "platforms": _XE2}
    return _make_typed(
        f"atomic_{atomic.name}", (_OLD, _TYPED_ADDRESS, _PAYLOAD1, _PAYLOAD2), TexelForm("lsc_typed_atomic", MemoryUse.ATOMIC, sources=("src1", "src2")),
        f"Atomic per lane on an image: {atomic.doc}.", _atomic_detail(atomic, "the pixel at its coordinates"),
        "The data shape is `d32`, without a channel mask.",
        fields=f"{_TYPED} msaa:b?" if sub is None else f"{_TYPED.replace('sfid:b?2', 'sfid:b=2')} msaa:b?",
        extra=(Modifier("msaa", {"msaa": 1}, optional=True, doc="multisampled (text 4.2)"),), sub=sub, **newer,
    )  # fmt: skip


_BF_ATOMICS: Final = (
    (0x21, lsc_codes.Atomic("bfadd", 1, "old + src1, bfloat16")),
    (0x22, lsc_codes.Atomic("bfsub", 1, "old - src1, bfloat16")),
    (0x23, lsc_codes.Atomic("bfmin", 1, "the smaller of old and src1, bfloat16")),
    (0x24, lsc_codes.Atomic("bfmax", 1, "the larger of old and src1, bfloat16")),
    (0x25, lsc_codes.Atomic("bfcas", 2, "src2 if old equals src1 as bfloat16, else old")),
)
_NO_STRIDES: Final = (Refusal("texts of Efficient64b have no strided messages", efficient64b=True),)
_UNTYPED_ONLY: Final = (Refusal("text 4.2 has it for `.ugm` and `.slm` only"),)
_COUNTERS: Final = ((0x28, "add", "Add to"), (0x29, "sub", "Subtract from"), (0x2A, "store", "Set"))

_BLOCK_FIELDS: Final = (
    f"{_HEAD} datasize:b order:b blocks:b width:w height:w vnni:b "
    "dst:r addr0:v addr1:v addr2:v addr3:v addr4:v addr5:v src1:r l2:b? immx:i? immy:i? payload:b?"
)
_STRIDED_FIELDS: Final = (
    f"{_HEAD} {_ADDR} datasize:b order:b elems:b unused:b surface:v dst:r src0:r pitch:v src1:r {_TEXT_ONLY}"
)
_LOAD_FIELDS: Final = f"{_UNTYPED} ov:b?"
_TYPED_BLOCK_FIELDS: Final = "P sfid:b?2 l1:b l3:b l2:b? addrtype:b width:w height:w surface:v surfidx:i"

ROWS: Final[tuple[Instruction, ...]] = (
    _make_untyped(
        "load", (_DST, _ADDRESS), _READS,
        "Read elements from memory, one address per lane.",
        "For each lane reads 1 to 64 consecutive elements of the given size. Plain order puts the first element of all "
        "lanes first, each element in registers of its own; transposed order (`t`) has a single address and puts the "
        "elements side by side.",
        _PACKED, _TRANSPOSED, _NO_SCALE,
        fields=_LOAD_FIELDS, extra=(_OVERFETCH,),
    ),
    _make_untyped(
        "load_strided", (_DST, _STRIDED), replace(_READS, name="lsc_load_strided"),
        "Read elements at evenly spaced addresses.",
        "One base address and a pitch in bytes: lane n reads at base + n * pitch. Without a pitch the lanes lie side by "
        "side.",
        _TRANSPOSED,
        fields=_STRIDED_FIELDS, refusals=_NO_STRIDES,
    ),
    _make_untyped(
        "load_quad", (_DST, _ADDRESS), replace(_READS, name="lsc_load_quad"),
        "Read chosen ones of four elements per lane.",
        "For each lane reads those of four consecutive elements that the mask names (`.xyzw`). The chosen elements follow "
        "each other in the registers without gaps.",
        "Elements are four bytes: d32 only.",
        fields=_LOAD_FIELDS, extra=(_OVERFETCH,),
    ),
    _make_untyped(
        "load_block2d",
        (Slot("dst", Shape.LSC_DATA_2D, Role.WRITE, grf_aligned=True, doc="registers that receive the block"), _BLOCK),
        BlockForm("lsc_load_block2d", MemoryUse.READ),
        "Read a rectangle of elements from memory.",
        "Reads blocks of width by height elements from a matrix in memory that six numbers describe: base, width, height "
        "and pitch in bytes less one, x and y in elements. The letters behind the shape say whether it is transposed and "
        "whether rows are interleaved for the matrix unit. Elements outside the matrix read as zero.",
        "Width, height and pitch are one less than their value.",
        "A row of the block is padded to a power of two elements, a block to whole registers.",
        fields=_BLOCK_FIELDS, platforms=_DG2, exec_sizes=(1,),
    ),
    _make_untyped(
        "store", (_ADDRESS, _SRC), _WRITES,
        "Write elements to memory, one address per lane.",
        "For each lane writes 1 to 64 consecutive elements of the given size, taken from the registers in the order in "
        "which `lsc_load` would put them.",
        _PACKED, _TRANSPOSED, _NO_SCALE,
        foreign={"store": ""},
    ),
    _make_untyped(
        "store_strided", (_STRIDED, _SRC), replace(_WRITES, name="lsc_store_strided"),
        "Write elements at evenly spaced addresses.",
        "One base address and a pitch in bytes: lane n writes at base + n * pitch. Without a pitch the lanes lie side by "
        "side.",
        _TRANSPOSED,
        fields=_STRIDED_FIELDS, refusals=_NO_STRIDES,
    ),
    _make_untyped(
        "store_quad", (_ADDRESS, _SRC), replace(_WRITES, name="lsc_store_quad"),
        "Write chosen ones of four elements per lane.",
        "For each lane writes those of four consecutive elements that the mask names (`.xyzw`); the others stay.",
        "Elements are four bytes: d32 only.",
    ),
    _make_untyped(
        "store_block2d",
        (_BLOCK, Slot("src1", Shape.LSC_DATA_2D, Role.READ, grf_aligned=True, doc="registers with the block")),
        BlockForm("lsc_store_block2d", MemoryUse.WRITE, "src1"),
        "Write a rectangle of elements to memory.",
        "Writes one block of width by height elements into a matrix in memory that six numbers describe, as for "
        "`lsc_load_block2d`. Elements outside the matrix are dropped.",
        "Width, height and pitch are one less than their value.",
        "A store is neither transposed nor interleaved.",
        fields=_BLOCK_FIELDS, exec_sizes=(1,),
    ),
    *(_make_untyped_atomic(atomic) for atomic in lsc_codes.ATOMICS),
    *(
        _make_untyped(
            f"atomic_{atomic.name}", (_OLD, _ADDRESS, _PAYLOAD1, _PAYLOAD2),
            _UPDATES_MEMORY,
            f"Atomic per lane: {atomic.doc}.", _atomic_detail(atomic, "the element at its address"),
            sub=sub, dialects=_V42, platforms=_XE2, atomic=atomic, update=_update(atomic),
        )
        for sub, atomic in _BF_ATOMICS
    ),
    _make_untyped(
        "load_status", (_DST, _ADDRESS), replace(_READS, name="lsc_load_status", use=MemoryUse.TEST),
        "Ask for each lane whether its address is resident.",
        "Touches the addresses like `lsc_load` and returns one bit per lane, 1 where every page was present.",
        fields=_LOAD_FIELDS, extra=(_OVERFETCH,),
    ),
    _make_untyped(
        "load_quad_status", (_DST, _ADDRESS), replace(_READS, name="lsc_load_quad_status"),
        "Read chosen ones of four elements and the residency of their pages.",
        "Like `lsc_load_quad`, followed by one bit per lane that tells whether its pages were present.",
        fields=_LOAD_FIELDS, extra=(_OVERFETCH,), sub=0x36, dialects=_V42, platforms=_XE2,
        refusals=(Refusal("the message is for images only", stops=True),),
    ),
    _make_untyped(
        "store_uncompressed", (_ADDRESS, _SRC), _WRITES,
        "Write elements to memory uncompressed.",
        "Like `lsc_store`, but the written cache lines are kept uncompressed.",
    ),
    _make_untyped(
        "ccs_update", (_ADDRESS, _SRC), Unmodelled("memory compression is not modelled"),
        "Update the compression state of memory.",
        "Changes the compression control surface of the addressed lines; the data is not touched.",
        refusals=(Refusal("it has no code for the message", stops=True),),
    ),
    _make_untyped(
        "extended_cache_ctrl", (_ADDRESS,), Unmodelled("caches are not modelled"),
        "Act on the cache lines at given addresses.",
        "Sets the cache controls of the addressed lines, or drops dirty lines (`.reset`), 64 to 256 bytes per lane.",
        fields=f"{_HEAD} {_ADDR} operation:b size:b surface:v src0:r {_TEXT_ONLY}",
        extra=(
            Modifier("operation", {"set": 0, "reset": 1}, doc="set the controls, or drop dirty lines"),
            Modifier("size", {"64B": 0, "128B": 1, "192B": 2, "256B": 3}, doc="bytes per lane"),
        ),
        sub=0x33, dialects=_V42, platforms=_XE2,
        refusals=(Refusal("the message is of Efficient64b", efficient64b=False, stops=True),),
    ),
    *(
        _make_untyped(
            f"apndctr_atomic_{word}", slots,
            Unmodelled("append counters are not modelled"),
            f"{verb} a surface's append counter.",
            "Works on the counter that belongs to a surface, in one step for all lanes, and returns old values.",
            fields=fields, sub=sub, dialects=_V42, platforms=platforms,
        )
        for sub, word, verb in _COUNTERS
        for slots, fields, platforms in (
            (
                (_OLD, _COUNTER, Slot("src1", Shape.LSC_DATA, Role.READ, doc="operand")),
                f"{_HEAD} addrtype:b {_SHAPE} surface:v dst:r src0:r src1:r {_TEXT_ONLY}",
                _XE2,
            ),
            ((_OLD, _ADDRESS, _PAYLOAD1, _PAYLOAD2), f"{_UNTYPED} efficient64b:b=1", since("CRI")),
        )
    ),
    _make_typed(
        "load_quad", (_DST, _TYPED_ADDRESS), TexelForm("lsc_typed_load", MemoryUse.READ),
        "Read pixels of an image.",
        "For each lane reads the pixel at (u, v, r), level lod, and returns the channels that the mask names (`.xyzw`), "
        "converted from the surface's format.",
        "Coordinates that the surface does not have are left out of the brackets.",
    ),
    _make_typed(
        "store_quad", (_TYPED_ADDRESS, _SRC), _WRITES_TEXELS,
        "Write pixels of an image.",
        "For each lane writes the channels that the mask names (`.xyzw`) of the pixel at (u, v, r), level lod, converted "
        "to the surface's format.",
        "Coordinates that the surface does not have are left out of the brackets.",
    ),
    *(_make_typed_atomic(atomic) for atomic in lsc_codes.ATOMICS),
    *(_make_typed_atomic(atomic, sub) for sub, atomic in _BF_ATOMICS),
    _make_typed(
        "load_status", (_DST, _TYPED_ADDRESS), TexelForm("lsc_typed_load_status", MemoryUse.TEST),
        "Ask for each lane whether its pixel is resident.",
        "Touches the pixels like `lsc_load_quad` and returns one bit per lane, 1 where every page was present.",
        refusals=_UNTYPED_ONLY,
    ),
    _make_typed(
        "store_uncompressed", (_TYPED_ADDRESS, _SRC), _WRITES_TEXELS,
        "Write pixels of an image uncompressed.",
        "Like `lsc_store_quad`, but the written cache lines are kept uncompressed.",
        refusals=_UNTYPED_ONLY,
    ),
    _make_typed(
        "ccs_update", (_TYPED_ADDRESS, _SRC), Unmodelled("memory compression is not modelled"),
        "Update the compression state of an image.",
        "Changes the compression control surface of the addressed lines; the data is not touched.",
        refusals=_UNTYPED_ONLY,
    ),
    message(
        "lsc_read_state_info", 0x8A, "lsc",
        "sub:b=30 E P l1:b=0 l3:b=0 addrtype:b addrsize:b=2 datasize:b=3 order:b=1 elems:b=1 chmask:b=1 "
        "surface:v dst:r src0:r v:r r:r lod:r src1:r src2:r sfid:b?2 surfidx:i?",
        (
            Slot("dst", Shape.LSC_PAYLOAD, Role.WRITE, grf_aligned=True, doc="registers that receive the information"),
            Slot("src0", Shape.LSC_SURFACE, Role.READ, doc="surface, and in text 4.2 a register with coordinates"),
        ),
        (_TGM,), Unmodelled("the state of surfaces is not modelled"),
        "Read what a surface's state says: size, format, samples.",
        "Returns a description of the surface. Text 4.1 names the surface alone, `bti(0x4)`; text 4.2 adds a register "
        "with packed coordinates, `bti(0x4)[V1]`. No parenthesis is written: one lane, without a mask.",
        exec_style=ExecStyle.NONE, exec_sizes=(1,), platforms=_DG2, seed=None,
    ),
    _make_typed(
        "load_quad_status", (_DST, _TYPED_ADDRESS), TexelForm("lsc_typed_load_quad_status", MemoryUse.READ),
        "Read pixels and the residency of their pages.",
        "Like `lsc_load_quad`, followed by one bit per lane that tells whether its pages were present.",
        sub=0x36, fields=_TYPED.replace("sfid:b?2", "sfid:b=2"), dialects=_V42, platforms=_XE2,
    ),
    _make_typed(
        "load_quad_msrt", (_DST, _TYPED_ADDRESS), TexelForm("lsc_typed_load_msrt", MemoryUse.READ),
        "Read one sample of pixels of a multisampled image.",
        "Like `lsc_load_quad`; the fourth coordinate is the sample's number.",
        sub=0x31, dialects=_V42, platforms=since("PTL"),
    ),
    _make_typed(
        "store_quad_msrt", (_TYPED_ADDRESS, _SRC), replace(_WRITES_TEXELS, name="lsc_typed_store_msrt"),
        "Write one sample of pixels of a multisampled image.",
        "Like `lsc_store_quad`; the fourth coordinate is the sample's number.",
        sub=0x32, dialects=_V42, platforms=since("PTL"),
    ),
    message(
        "lsc_load_block2d", None, "lsc", f"sub:b=3 {_TYPED_BLOCK_FIELDS} dst:r src0:v immx:i src1:v immy:i",
        (Slot("dst", Shape.LSC_DATA_TYPED_2D, Role.WRITE, grf_aligned=True, doc="registers that receive the block"), _TYPED_BLOCK),
        (_TGM, *CACHES), BlockForm("lsc_typed_load_block2d", MemoryUse.READ, corner=("src0", "src1")),
        "Read a rectangle of an image.",
        "Reads width bytes of height rows of an image, from byte x of row y on. Rows are padded to a power of two bytes in "
        "the registers, at least four.",
        exec_style=ExecStyle.NONE, dialects=_V42, platforms=_XE2, seed=None,
        pitfalls=("Width and x count bytes, not pixels.",),
    ),
    message(
        "lsc_store_block2d", None, "lsc", f"sub:b=7 {_TYPED_BLOCK_FIELDS} src0:v immx:i src1:v immy:i data:r",
        (_TYPED_BLOCK, Slot("data", Shape.LSC_DATA_TYPED_2D, Role.READ, grf_aligned=True, doc="registers with the block")),
        (_TGM, *CACHES), BlockForm("lsc_typed_store_block2d", MemoryUse.WRITE, "data", ("src0", "src1")),
        "Write a rectangle of an image.",
        "Writes width bytes of height rows of an image, from byte x of row y on.",
        exec_style=ExecStyle.NONE, dialects=_V42, platforms=_XE2, seed=None,
        pitfalls=("Width and x count bytes, not pixels.",),
    ),
    message(
        "lsc_fence", 0x8B, "lsc", "E P sfid:b op:b scope:b", (),
        (
            _ANY,
            Modifier("op", lsc_codes.FENCE_OP, doc="what happens to the caches"),
            Modifier("scope", lsc_codes.FENCE_SCOPE, doc="who sees the order"),
        ),
        FenceForm("fence"),
        "Order the memory accesses of a thread.",
        "What this thread wrote before the fence is visible to everyone in the scope before anything that it does after "
        "the fence; the operation says what happens to cached lines. No parenthesis is written: one lane, without a mask.",
        exec_style=ExecStyle.NONE, exec_sizes=(1,), predicable=False, platforms=_DG2, seed=None,
        pitfalls=(
            "A fence orders the accesses of one thread; it waits for no other thread. Combine it with `barrier`.",
            "`.slm` and `.ugm` are fenced apart: one fence does not order the other memory.",
        ),
        traits=Trait.FENCE,
    ),
)  # fmt: skip
