"""Rows: fixed-function media: motion estimation (vme_*) and the sampler's video analytics (va_*).

Sources: objects of the finalizer for vme; the operand tables of the public finalizer and its pages VME_* for the rest.
No tool reads ``vme_idm`` or any ``va_*`` word in a text; these rows exist for objects of older producers. The simulator
runs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

from visa_lsp.isa.lane import Unmodelled
from visa_lsp.isa.model import Dialect, ExecStyle, Instruction, Role, Shape, Slot
from visa_lsp.isa.platforms import between, since, until
from visa_lsp.isa.rows._messages import message, raw_any
from visa_lsp.isa.rows.shapes import SAMPLER, SURFACE, number, vec
from visa_lsp.isa.types import UB, UW, F, W

if TYPE_CHECKING:
    from visa_lsp.isa.rows._keywords import More

_VME: Final = Unmodelled("the motion estimation unit is not modelled")
_VA: Final = Unmodelled("the sampler's video analytics functions are not modelled")
_NO_TEXT: Final = frozenset({Dialect.SEED})
_NO_TEXT_PITFALL: Final = "No text tool reads this word; it is in objects only."

_UNI: Final = raw_any("uni", Role.READ, "universal input, 128 bytes (96 for vme_ime)")
_OUT: Final = raw_any("out", Role.WRITE, "results")

_DOCS: Final = {
    "sampler": SAMPLER,
    "surface": SURFACE,
    "dst_surface": Slot("dst_surface", Shape.SURFACE, Role.WRITE, doc="surface that receives the result"),
    "u": vec("u", doc="x of the first pixel, normalized", types=frozenset({F})),
    "v": vec("v", doc="y of the first pixel, normalized", types=frozenset({F})),
    "vorigin": vec("vorigin", doc="vertical origin of the search", types=frozenset({F})),
    "horigin": vec("horigin", doc="horizontal origin of the search", types=frozenset({F})),
    "disparity": vec("disparity", doc="distance between the two pictures", types=frozenset({W})),
    "mmf": vec("mmf", doc="minimum, maximum or both", types=frozenset({UB})),
    "vsize": vec("vsize", doc="height of the block", types=frozenset({UB})),
    "hsize": vec("hsize", doc="width of the block", types=frozenset({UB})),
    "xsize": vec("xsize", doc="width of the picture part", types=frozenset({UB})),
    "ysize": vec("ysize", doc="height of the picture part", types=frozenset({UB})),
    "xsearch": vec("xsearch", doc="width of the search window", types=frozenset({UB})),
    "ysearch": vec("ysearch", doc="height of the search window", types=frozenset({UB})),
    "xoff": vec("xoff", doc="x in the destination surface", types=frozenset({UW})),
    "yoff": vec("yoff", doc="y in the destination surface", types=frozenset({UW})),
    "mask_left": vec("mask_left", doc="pixel mask, vertical direction, left"),
    "mask_right": vec("mask_right", doc="pixel mask, vertical direction, right"),
    "loops": vec("loops", doc="number of passes"),
    "mask": raw_any("mask", Role.READ, "pixel mask, horizontal direction"),
    "offsets": raw_any("offsets", Role.READ, "offsets of the pixels"),
    "dst": raw_any("dst", Role.WRITE, "results"),
    "properties": number("properties", "region and size of the kernel"),
    "mode": number("mode", "mode"),
    "execmode": number("execmode", "pixels returned"),
    "cntrl": number("cntrl", "output format"),
    "connect8": number("connect8", "1 for eight neighbours, 0 for four"),
    "pixel_size": number("pixel_size", "bits per pixel"),
    "mmfmode": number("mmfmode", "minimum or maximum"),
}


def _vme(
    mnemonic: str, opcode: int, fields: str, slots: tuple[Slot, ...], summary: str, detail: str, **more: Unpack[More]
) -> Instruction:
    rest: More = {"exec_style": ExecStyle.NONE, **more}
    return message(mnemonic, opcode, "media", fields, slots, (), _VME, summary, detail, **rest)


def _va(name: str, sub: int, fields: str, summary: str, detail: str) -> Instruction:
    """Return a video analytics row: ``fields`` in the order of the record, which is also the order of the printed operands."""
    names = [item.split(":")[0] for item in fields.split()]
    return message(
        f"va_{name}", 0x44 if sub < 8 else 0x4D, "media", f"sub:b={sub} {fields}",
        tuple(_DOCS[field] for field in names), (), _VA, summary, detail,
        exec_style=ExecStyle.NONE, dialects=_NO_TEXT, platforms=until("TGLLP") if sub < 8 else between("SKL", "TGLLP"),
        pitfalls=(_NO_TEXT_PITFALL,),
    )  # fmt: skip


_AT: Final = "u:v v:v"
_TO: Final = "dst_surface:s xoff:v yoff:v"

ROWS: Final[tuple[Instruction, ...]] = (
    _vme(
        "vme_ime", 0x54, "mode:b search:b uni:r ime:r surface:s ref0:r ref1:r cost:r out:r",
        (
            Slot("mode,search", Shape.GROUP, Role.OTHER, choices={"mode": (0, 1, 2, 3), "search": (0, 1, 3, 7)}, doc="stream mode 0 to 3 and search control 0 to 7"),
            SURFACE, _UNI,
            raw_any("ime", Role.READ, "integer search input"),
            raw_any("ref0", Role.READ, "first reference windows, or %null"),
            raw_any("ref1", Role.READ, "second reference windows, or %null"),
            raw_any("cost", Role.READ, "cost centre"),
            _OUT,
        ),
        "Search motion vectors with whole-pixel steps.",
        "Compares a source block with blocks of one or two reference pictures within a window and returns the best motion "
        "vectors and their distortion.",
    ),
    _vme(
        "vme_sic", 0x55, "uni:r sic:r surface:s out:r",
        (SURFACE, _UNI, raw_any("sic", Role.READ, "skip check input"), _OUT),
        "Check for skipped and intra-coded blocks.",
        "Returns how well a block is predicted by given motion vectors or by its neighbours in the same picture.",
    ),
    _vme(
        "vme_fbr", 0x56, "uni:r fbr:r surface:s mbmode:v shape:v predmode:v out:r",
        (
            Slot("mbmode,shape,predmode", Shape.GROUP, Role.READ, doc="macroblock mode, sub-block shape, prediction mode"),
            SURFACE, _UNI, raw_any("fbr", Role.READ, "refinement input"), _OUT,
        ),
        "Refine motion vectors to fractions of a pixel.",
        "Improves whole-pixel motion vectors to half and quarter pixels and tries both directions.",
    ),
    _vme(
        "vme_idm", 0x57, "uni:r idm:r surface:s out:r",
        (SURFACE, _UNI, raw_any("idm", Role.READ, "distortion mesh input"), _OUT),
        "Return the distortion of every position of a search window.",
        "Like an integer search, but returns the whole mesh of distortions instead of the best positions.",
        dialects=_NO_TEXT, platforms=since("SKL"), pitfalls=(_NO_TEXT_PITFALL,),
    ),
    _va("convolve_2d", 1, f"sampler:m surface:s {_AT} properties:b dst:r", "Convolve an image.", "Filters a block of pixels with the kernel in the sampler's state."),
    _va("minmax", 2, f"surface:s {_AT} mmf:v dst:r", "Smallest and largest value of a block.", "Returns minimum and maximum of a block of pixels."),
    _va("minmaxfilter", 3, f"sampler:m surface:s {_AT} cntrl:b execmode:b mmf:v dst:r", "Minimum or maximum filter.", "Replaces each pixel by the smallest or largest of its neighbourhood."),
    _va("erode", 4, f"sampler:m surface:s {_AT} execmode:b dst:r", "Erode a binary image.", "Clears pixels whose neighbourhood is not all set."),
    _va("dilate", 5, f"sampler:m surface:s {_AT} execmode:b dst:r", "Dilate a binary image.", "Sets pixels that have a set neighbour."),
    _va("boolcentroid", 6, f"surface:s {_AT} vsize:v hsize:v dst:r", "Centroid of a binary block.", "Sums the positions of the set pixels of a block."),
    _va("centroid", 7, f"surface:s {_AT} vsize:v dst:r", "Centroid of a block.", "Sums the positions of the pixels of a block, weighted by their values."),
    _va("convolve_1d_v", 8, f"sampler:m surface:s {_AT} mode:b dst:r", "Convolve an image vertically.", "Filters columns of pixels with a kernel of one dimension."),
    _va("convolve_1d_h", 9, f"sampler:m surface:s {_AT} mode:b dst:r", "Convolve an image horizontally.", "Filters rows of pixels with a kernel of one dimension."),
    _va("convolve_1pixel", 10, f"sampler:m surface:s {_AT} mode:b offsets:r dst:r", "Convolve single pixels of an image.", "Filters pixels at given offsets."),
    _va("floodfill", 11, "connect8:b mask:r mask_left:v mask_right:v loops:v dst:r", "Flood fill.", "Spreads marks to connected pixels of a mask, a number of times."),
    _va("lbpcreation", 12, f"surface:s {_AT} mode:b dst:r", "Local binary patterns.", "Returns for each pixel which neighbours are brighter, as a bit pattern."),
    _va("lbpcorrelation", 13, f"surface:s {_AT} disparity:v dst:r", "Correlate local binary patterns.", "Counts differing bits of the patterns of two pictures at a distance."),
    _va(
        "correlationsearch", 15, f"surface:s {_AT} vorigin:v horigin:v xsize:v ysize:v xsearch:v ysearch:v dst:r",
        "Search by correlation.", "Looks for the place in a window where a picture part correlates best.",
    ),
    _va("hdc_convolve_2d", 16, f"sampler:m surface:s {_AT} properties:b {_TO}", "Convolve an image into a surface.", "Like va_convolve_2d, and writes the result to a surface."),
    _va("hdc_minmaxfilter", 17, f"sampler:m surface:s {_AT} pixel_size:b mmfmode:b {_TO}", "Minimum or maximum filter into a surface.", "Like va_minmaxfilter, and writes the result to a surface."),
    _va("hdc_erode", 18, f"sampler:m surface:s {_AT} {_TO}", "Erode a binary image into a surface.", "Like va_erode, and writes the result to a surface."),
    _va("hdc_dilate", 19, f"sampler:m surface:s {_AT} {_TO}", "Dilate a binary image into a surface.", "Like va_dilate, and writes the result to a surface."),
    _va("hdc_lbpcorrelation", 20, f"surface:s {_AT} disparity:v {_TO}", "Correlate local binary patterns into a surface.", "Like va_lbpcorrelation, and writes the result to a surface."),
    _va("hdc_lbpcreation", 21, f"surface:s {_AT} mode:b {_TO}", "Local binary patterns into a surface.", "Like va_lbpcreation, and writes the result to a surface."),
    _va("hdc_convolve_1d_h", 22, f"sampler:m surface:s {_AT} pixel_size:b {_TO}", "Convolve an image horizontally into a surface.", "Like va_convolve_1d_h, and writes the result to a surface."),
    _va("hdc_convolve_1d_v", 23, f"sampler:m surface:s {_AT} pixel_size:b {_TO}", "Convolve an image vertically into a surface.", "Like va_convolve_1d_v, and writes the result to a surface."),
    _va("hdc_convolve_1pixel", 24, f"sampler:m surface:s {_AT} pixel_size:b offsets:r {_TO}", "Convolve single pixels into a surface.", "Like va_convolve_1pixel, and writes the result to a surface."),
)  # fmt: skip
