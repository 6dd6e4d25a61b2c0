"""Rows: messages to the sampler: the 3D families (sample, load, sample4), surface information and the older media forms.

Sources: objects of the finalizer for layouts and codes; the pages 3D_SAMPLE, 3D_LOAD, 3D_SAMPLE4, INFO, SAMPLE_UNORM and AVS
for the meaning; CISA.l and CISA.y for forms of text 4.2 only.

One row per mnemonic and spelling; the dialects distinguish them:

* text 4.1: ``aoffimmi sampler surface dst payload..``; the operation is the field ``op``.
* text 4.2: a second destination is between dst and payload, ``%null.0`` in every known text; the field is ``op42``. Its
record is that of 4.1, which is first, so that objects decode to it; only a null pair can be encoded.
  A state may be one element of a general variable, ``V(0,0)<0;1,0>[0]``: the number in brackets counts states.
* text 4.2, bindless: sampler and surface are general variables with 64-bit pointers; the field is ``op64``, no record.

The three fields have the same contents; their names differ because rows are distinguished by their constant fields.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Unpack

from msgspec.structs import replace

from visa_lsp.isa.lane import Meaning, Unmodelled
from visa_lsp.isa.message_forms import SampleForm
from visa_lsp.isa.model import Dialect, ExecStyle, Instruction, Modifier, Role, Shape, Slot
from visa_lsp.isa.platforms import since, until
from visa_lsp.isa.rows._messages import message
from visa_lsp.isa.rows.shapes import CHANNELS, IMAGE, SAMPLER, SURFACE, raw, vec
from visa_lsp.isa.types import UD, UW, F

if TYPE_CHECKING:
    from visa_lsp.isa.rows._keywords import Forms, More

_V41: Final = frozenset({Dialect.V41})
_V42: Final = frozenset({Dialect.V42})
_XE2: Final = since("BMG")
_SIZES: Final = (8, 16, 32)
# The operations that choose the level of detail themselves; they may be corrected for coarse pixels.
_COARSE: Final = frozenset({0, 1, 3, 5, 9, 32, 33, 35})
_FLOAT: Final = frozenset({F})
_UINT: Final = frozenset({UD})

_AOFFIMMI: Final = vec(
    "aoffimmi", doc="texel offsets: four bits each, u in bits 8-11, v in 4-7, r in 0-3", types=frozenset({UW, UD})
)
_DST: Final = raw("dst", Role.WRITE, "registers that receive the channels")
_PAIRED: Final = raw("paired", Role.OTHER, "paired resource, %null.0")
_PAYLOAD: Final = Slot(
    "payload", Shape.RAWS, Role.READ, grf_aligned=True, doc="one operand per parameter; trailing zeros may be left out"
)
_SAMPLER64: Final = Slot(
    "sampler", Shape.LSC_PAYLOAD, Role.READ, doc="variable with a pointer to the sampler's state, uq"
)
_SURFACE64: Final = Slot(
    "surface", Shape.LSC_PAYLOAD, Role.READ, doc="variable with a pointer to the surface's state, uq"
)
_CHANNEL: Final = Modifier(
    "chan", {"R": 0, "G": 1, "B": 2, "A": 3, "r": 0, "g": 1, "b": 2, "a": 3}, doc="the channel to return"
)
_NULL_MASK_DOC: Final = "one more register is returned, with a bit per pixel that touched a null page"
_LAYOUT: Final = "E P chan:b aoffimmi:v"

_GAPS: Final = "Channels that are left out take no registers: `.RB` returns R, then B."
_ALIGNED: Final = "Each returned channel starts on a register of its own."


@cache
def _flags(op: str, *, coarse: bool, sample: bool) -> tuple[Modifier, ...]:
    null = Modifier(op, {"pixel_null_mask": 0x100}, optional=True, mask=0x100, doc=_NULL_MASK_DOC)
    if not sample:
        return (null,)
    cps = Modifier(
        op,
        {"cps": 0x200},
        optional=True,
        mask=0x200,
        doc="level of detail corrected for coarse pixels, ICLLP and later",
    )
    divergent = Modifier(
        "divs",
        {"divS": 1},
        optional=True,
        heard=("op", 0x400),
        doc="the sampler may differ between lanes; objects drop the word",
    )
    return (null, cps, divergent) if coarse else (null, divergent)


def _forms(
    mnemonic: str,
    opcode: int,
    code: int,
    meaning: Meaning,
    summary: str,
    detail: str,
    *,
    channels: Modifier = CHANNELS,
    sampler: bool = True,
    only42: bool = False,
    recorded: bool = True,
    **more: Unpack[More],
) -> tuple[Instruction, ...]:
    """Return the rows of one mnemonic.

    ``only42`` means that text 4.1 lacks them; without ``recorded``, objects lack them too.
    """
    flags = opcode == 0x6D
    states, state_fields = ((SAMPLER, SURFACE), "sampler:m surface:s") if sampler else ((SURFACE,), "surface:s")
    pointers, pointer_fields = (
        ((_SAMPLER64, _SURFACE64), "sampler:r surface:r") if sampler else ((_SURFACE64,), "surface:r")
    )
    tail = "n:count payload:raws" + (" divs:b!" if flags else "")

    def row(
        number: int | None, op: str, fields: str, slots: tuple[Slot, ...], dialects: frozenset[Dialect]
    ) -> Instruction:
        rest: More = {"dialects": dialects, "exec_sizes": _SIZES, "seed": None, **more}
        return message(
            mnemonic, number, "sampler", f"{op}:w={code}/0xff{'~0x600' if flags else ''} {_LAYOUT} {fields}", slots,
            (*_flags(op, coarse=code in _COARSE, sample=flags), channels), meaning, summary, detail, **rest,
        )  # fmt: skip

    paired = f"dst:r {tail} paired:r? surfaceidx:i?" + (" sampleridx:i?" if sampler else "")
    old = row(opcode, "op", f"{state_fields} dst:r {tail}", (_AOFFIMMI, *states, _DST, _PAYLOAD), _V41)
    number = opcode if recorded else None
    new = row(number, "op42", f"{state_fields} {paired}", (_AOFFIMMI, *states, _DST, _PAIRED, _PAYLOAD), _V42)
    bindless = row(None, "op64", f"{pointer_fields} {paired}", (_AOFFIMMI, *pointers, _DST, _PAIRED, _PAYLOAD), _V42)
    return (new, bindless) if only42 else (old, new, bindless)


def _words(parameters: str) -> tuple[str, ...]:
    """Return the parameters named in prose, one per payload operand: ``u, bias and offsets`` is ``u`` and ``bias+offsets``."""
    return tuple(word.replace(" and ", "+") for word in parameters.split(", "))


def _sample(mnemonic: str, code: int, payload: str, how: str, **more: Unpack[Forms]) -> tuple[Instruction, ...]:
    rest: Forms = {
        "pitfalls": (_ALIGNED, _GAPS),
        "parameters": _words(payload),
        **more,
    }
    return _forms(
        mnemonic, 0x6D, code, SampleForm("sample_3d", floats=True, finest=mnemonic == "sample_lz"),
        f"Sample an image {how}.",
        f"For each lane filters the image at (u, v, r) {how} and returns the chosen channels, red first, each channel of all "
        f"lanes together. Parameters: {payload}."
        + (" Texel offsets come with the parameters." if "_po" in mnemonic else ""),
        **rest,
    )  # fmt: skip


def _load(
    mnemonic: str, code: int, payload: str, how: str, effect: str = "load_3d", /, **more: Unpack[Forms]
) -> tuple[Instruction, ...]:
    rest: Forms = {
        "pitfalls": (_ALIGNED, "Coordinates are integers, in texels."),
        "parameters": _words(payload),
        **more,
    }
    return _forms(
        mnemonic, 0x6E, code, SampleForm(effect),
        f"Read texels of an image {how}.",
        f"For each lane reads the texel at (u, v, r) {how}, without a filter, and returns the chosen channels, red first, each "
        f"channel of all lanes together. Parameters: {payload}.",
        sampler=False, **rest,
    )  # fmt: skip


def _sample4(mnemonic: str, code: int, payload: str, how: str, **more: Unpack[Forms]) -> tuple[Instruction, ...]:
    pitfalls = (
        "The word behind the dot is one channel, not a mask; the object holds its number.",
        "For `.A` of sample4_po_c one tool wrote the mask 8 instead of 3 on XeHP_SDV and DG2.",
    )
    rest: Forms = {"pitfalls": pitfalls, "parameters": _words(payload), **more}
    return _forms(
        mnemonic, 0x6F, code, SampleForm("sample4", floats=True, gathers=True),
        f"Fetch a channel of the four texels around a point {how}.",
        f"For each lane fetches one channel of the four texels that a bilinear filter at (u, v, r) would mix {how}, and returns "
        f"them unmixed. Parameters: {payload}.",
        channels=_CHANNEL, **rest,
    )  # fmt: skip


def _info(mnemonic: str, code: int, summary: str, detail: str, *, lod: bool) -> tuple[Instruction, ...]:
    level = (raw("lod", doc="level of detail per lane, ud"),) if lod else ()
    fields = f"E chan:b surface:{{}} {'lod:r ' if lod else ''}dst:r"
    meaning = SampleForm(mnemonic)
    return (
        message(
            mnemonic, 0x70, "sampler", f"op:b={code} " + fields.format("s"), (SURFACE, *level, _DST), (CHANNELS,), meaning,
            summary, detail, exec_sizes=_SIZES, seed=None, pitfalls=(_ALIGNED,),
        ),
        message(
            mnemonic, None, "sampler", f"op64:b={code} " + fields.format("r"), (_SURFACE64, *level, _DST), (CHANNELS,), meaning,
            summary, detail, exec_sizes=_SIZES, seed=None, pitfalls=(_ALIGNED,), dialects=_V42,
        ),
    )  # fmt: skip


_COORDS: Final = (
    raw("u", doc="U coordinate per lane"),
    raw("v", doc="V coordinate per lane"),
    raw("r", doc="R coordinate per lane"),
)
_MASK4: Final = Modifier("chan", kind=Modifier.Kind.CHANNELS, mask=0xF, doc="channels to return: any of R, G, B, A")


def _simd(mnemonic: str, opcode: int, states: tuple[Slot, ...], fields: str, what: str) -> tuple[Instruction, ...]:
    """Return the rows for both widths of ``sample`` and ``load``: bit 4 of the channel byte means 16 lanes instead of 8."""
    return tuple(
        message(
            mnemonic, opcode, "sampler", f"chan:b={bit}/0x10 {fields} u:r v:r r:r dst:r n:log2!{log2}",
            (*states, *_COORDS, _DST), (_MASK4,), SampleForm(mnemonic, older=True, floats=mnemonic == "sample"), f"{what} ({lanes} lanes).",
            f"{what} at (u, v, r) for {lanes} lanes, whatever the execution mask, and returns the chosen channels, each in "
            "registers of its own. Older form: coordinates that a surface does not have are still written.",
            exec_style=ExecStyle.SIZE, exec_sizes=(lanes,), exec_stored={32: 8} if lanes == 8 else {}, mask_refused=True, exec_optional=lanes == 8, platforms=until("PVCXT"),
            pitfalls=("The number in parentheses is 8 or 16 and takes no mask.", _ALIGNED),
        )
        for lanes, bit, log2 in ((8, 0, 3), (16, 0x10, 4))
    )  # fmt: skip


_OUTPUT: Final = {"16-full": 0, "16-downsampled": 0x10, "8-full": 0x20, "8-downsampled": 0x30}
_AVS_FORMAT: Final = {"AVS_16_FULL": 0, "AVS_16_DOWN_SAMPLE": 1, "AVS_8_FULL": 2, "AVS_8_DOWN_SAMPLE": 3}
_AVS_MODE: Final = {"AVS_16x4": 0, "AVS_8x4": 1, "AVS_16x8": 2, "AVS_4x4": 3}
_NEW: Final[Forms] = {"only42": True, "recorded": False, "platforms": _XE2}


def _float(name: str, doc: str) -> Slot:
    return vec(name, doc=doc, types=_FLOAT)


ROWS: Final[tuple[Instruction, ...]] = (
    *_simd("sample", 0x40, (SAMPLER, IMAGE), "sampler:m surface:s", "Sample an image"),
    message(
        "sample_unorm", 0x41, "sampler", "chan:b sampler:m surface:s u:v v:v du:v dv:v dst:r",
        (
            SAMPLER, IMAGE,
            _float("u", "x of pixel 0, normalized"), _float("v", "y of pixel 0, normalized"),
            _float("du", "step in x"), _float("dv", "step in y"),
            raw("dst", Role.WRITE, "registers that receive the pixels, uw"),
        ),
        (_MASK4, Modifier("chan", _OUTPUT, mask=0x30, doc="bits per channel, and whether chrominance is halved")),
        SampleForm("sample_unorm", floats=True),
        "Sample a block of 8 by 4 pixels of a normalized image.",
        "Samples a grid of pixels: pixel (i, j) at (u + i * du, v + j * dv). Values come back as 16-bit or 8-bit fractions; "
        "the downsampled forms return R and B of even pixels only.",
        exec_style=ExecStyle.NONE, platforms=until("PVCXT"),
        pitfalls=("The execution mask is ignored.",),
    ),
    *_simd("load", 0x42, (IMAGE,), "surface:s", "Read texels of an image"),
    message(
        "avs", 0x43, "sampler",
        "chan:b sampler:m surface:s u:v v:v du:v dv:v u2d:v groupid:v vblock:v cntrl:b v2d:v execmode:b iefbypass:v dst:r",
        (
            IMAGE, SAMPLER,
            _float("u", "x of pixel 0, normalized"), _float("v", "y of pixel 0, normalized"),
            _float("du", "step in x"), _float("dv", "step in y"), _float("u2d", "change of the step in x"),
            vec("groupid", doc="number that messages of one group share", types=_UINT),
            vec("vblock", doc="which block of four rows", types=_UINT),
            Slot("cntrl", Shape.EXEC_WORD, Role.OTHER, words=_AVS_FORMAT, doc="output format"),
            _float("v2d", "change of the step in y"),
            Slot("execmode", Shape.EXEC_WORD, Role.OTHER, words=_AVS_MODE, doc="pixels returned"),
            replace(vec("iefbypass", doc="whether the enhancement filter is left out"), ignored=True),
            raw("dst", Role.WRITE, "registers that receive the pixels"),
        ),
        (CHANNELS,), Unmodelled("the adaptive video scaler's filters are not documented"),
        "Scale video with an adaptive filter.",
        "Reads a block of pixels through the adaptive video scaler, with steps that may change across the picture.",
        exec_style=ExecStyle.NONE, platforms=until("PVCXT"),
        pitfalls=("In the text the surface is before the sampler; in the object, and in `sample_unorm`, after it.",),
    ),
    *_sample("sample_3d", 0, "u, v, r, ai", "with the derivatives of the neighbouring lanes"),
    *_sample("sample_b", 1, "bias, u, v, r, ai", "with a bias on the level of detail"),
    *_sample("sample_l", 2, "lod, u, v, r, ai", "at a given level of detail"),
    *_sample("sample_c", 3, "ref, u, v, r, ai", "and compare with a reference value"),
    *_sample("sample_d", 4, "u, dudx, dudy, v, dvdx, dvdy, r, drdx, drdy, ai", "with given derivatives"),
    *_sample("sample_b_c", 5, "ref, bias, u, v, r, ai", "with a bias, and compare with a reference value"),
    *_sample("sample_l_c", 6, "ref, lod, u, v, r, ai", "at a given level of detail, and compare with a reference value"),
    *_sample(
        "sample_d_c", 20, "ref, u, dudx, dudy, v, dvdx, dvdy, r, drdx, drdy, ai",
        "with given derivatives, and compare with a reference value",
    ),
    *_sample("sample_lz", 24, "u, v, r, ai", "at level of detail 0"),
    *_sample("sample_c_lz", 25, "ref, u, v, r, ai", "at level of detail 0, and compare with a reference value"),
    *_forms(
        "lod", 0x6D, 9, SampleForm("lod", floats=True),
        "Ask which level of detail a sample would use.",
        "For each lane returns the level of detail that `sample_3d` would choose: clamped in R, unclamped in G; B and A are "
        "undefined. Parameters: u, v, r, ai.",
        only42=True, pitfalls=(_ALIGNED,), parameters=_words("u, v, r, ai"),
    ),
    *_sample("sample_d_c_mlod", 17, "ref, mlod, u, dudx, dudy, v, dvdx, dvdy, r, ai", "with derivatives, a minimum level and a comparison", **_NEW),
    *_sample("sample_mlod", 18, "mlod, u, v, r, ai", "at no less than a given level of detail", **_NEW),
    *_sample("sample_c_mlod", 19, "mlod, ref, u, v, r, ai", "at no less than a given level, and compare with a reference value", **_NEW),
    *_sample("sample_po", 32, "u, v, r, offsets", "with texel offsets per lane", **_NEW),
    *_sample("sample_po_b", 33, "bias and offsets, u, v, r, ai", "with texel offsets per lane and a bias", **_NEW),
    *_sample("sample_po_l", 34, "lod and offsets, u, v, r, ai", "with texel offsets per lane at a given level of detail", **_NEW),
    *_sample("sample_po_c", 35, "ref, u, v, offsets and r, lod", "with texel offsets per lane, and compare", **_NEW),
    *_sample("sample_po_d", 36, "u, dudx, dudy, v, dvdx, dvdy, offsets and r, lod", "with texel offsets per lane and given derivatives", **_NEW),
    *_sample("sample_po_l_c", 38, "ref, lod and offsets, u, v, r, ai", "with offsets per lane at a given level, and compare", **_NEW),
    *_sample("sample_po_lz", 56, "u, v, r, offsets", "with texel offsets per lane at level 0", **_NEW),
    *_sample("sample_po_c_lz", 57, "ref, u, v, offsets and r", "with texel offsets per lane at level 0, and compare", **_NEW),
    *_sample("sample_po_b_c", 58, "ref, bias and offsets, u, v, r, ai", "with texel offsets per lane, a bias, and compare", **_NEW),
    *_sample("sample_po_d_c", 59, "ref, u, dudx, dudy, v, dvdx, dvdy, offsets and r, lod", "with texel offsets per lane, derivatives, and compare", **_NEW),
    *_load("load_3d", 7, "u, v, lod, r", "at a given level of detail"),
    *_load("load_lz", 26, "u, v, r", "at level of detail 0"),
    *_load(
        "load_2dms_w", 28, "si, mcsl, mcsh, u, v, r, lod", "with several samples, sample si",
        half_parameters=_words("si, mcs0, mcs1, mcs2, mcs3, u, v, r, lod"),
    ),
    *_load("load_mcs", 29, "u, v, r, lod", "from its multisample control surface", "load_mcs"),
    *_load("load_l", 27, "lod, u, v, r", "at the level of detail in the first parameter", **_NEW),
    *_sample4("sample4", 8, "u, v, r, ai", "at level 0"),
    *_sample4("sample4_c", 16, "ref, u, v, r, ai", "and compare each with a reference value"),
    *_sample4("sample4_po", 17, "u, v, offu, offv, r", "with texel offsets per lane"),
    *_sample4("sample4_po_c", 18, "ref, u, v, offu, offv, r", "with texel offsets per lane, and compare"),
    *_sample4("sample4_l", 13, "lod, u, v, r, ai", "at a given level of detail", **_NEW),
    *_sample4("sample4_b", 14, "bias, u, v, r, ai", "with a bias on the level of detail", **_NEW),
    *_sample4("sample4_i", 15, "u, v, r, ai", "at the implied level of detail", **_NEW),
    *_sample4("sample4_i_c", 21, "ref, u, v, r, ai", "at the implied level of detail, and compare", **_NEW),
    *_sample4("sample4_l_c", 23, "ref, lod, u, v, r, ai", "at a given level of detail, and compare", **_NEW),
    *_sample4("sample4_po_l", 45, "lod and offsets, u, v, r, ai", "with texel offsets per lane at a given level", **_NEW),
    *_sample4("sample4_po_b", 46, "bias and offsets, u, v, r, ai", "with texel offsets per lane and a bias", **_NEW),
    *_sample4("sample4_po_i", 47, "u, v, r, offsets", "with texel offsets per lane at the implied level", **_NEW),
    *_sample4("sample4_po_i_c", 53, "ref, u, v, r, offsets", "with offsets per lane at the implied level, and compare", **_NEW),
    *_sample4("sample4_po_l_c", 55, "ref, lod and offsets, u, v, r, ai", "with offsets per lane at a given level, and compare", **_NEW),
    *_info(
        "resinfo", 10,
        "Ask for the size of an image.",
        "For each lane returns width, height and depth (or layers) of the image at a level of detail in R, G and B, and the "
        "number of levels in A, as ud.",
        lod=True,
    ),
    *_info(
        "sampleinfo", 11,
        "Ask for the number of samples of an image.",
        "Returns in R how many samples each pixel of the surface has.",
        lod=False,
    ),
)  # fmt: skip
