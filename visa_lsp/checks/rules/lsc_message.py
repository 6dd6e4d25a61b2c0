"""A load/store message requests something that the load/store controller does not support.

* An address of `:a64` is for global memory, `:a16` for shared local memory, which is addressed `flat`.
* Plain data of 8 or 16 bits moves one element per lane; transposed data needs execution size 1.
* Channels (`d32.xyzw`) are for the quad messages; other messages read them as the code of a count, which may not exist.
* A quad store writes `.x`, `.xy`, `.xyz` or `.xyzw`; `.ugml` moves 1, 2 or 4 elements per lane.
* An offset beside an address of `:a16` is between -0x7fff and 0x7fff, a pitch at most 0xffff, a scale before CRI a power of two.
* In text 4.2 an address of `:a64` is in a variable of `uq` or `q`, one of `:a32` in a variable of `ud` or `d`.
* An atomic moves one element of `d16c32`, `d32` or `d64`; only `icas` takes `d64` in shared local memory, and `fadd` and
  `fsub` need global memory, from Xe2 on or images, from CRI on or shared local memory. Data operands that the operation does
  not use must be `%null`; those that it uses must not.
* A store needs data.
* A block has rows of at most 64 bytes, at most 32 of them (64 on CRI); a store takes one block, which is not interleaved.
  In text 4.2 the rows of all blocks that are read count together. A block of an image has at most 64 bytes a row, 256 in all.
* A fence of shared local memory is `.none.group`.

Why: no message descriptor can express it, so there is no instruction to generate.

Example:

    lsc_load.slm (M1, 16) V33:d32 flat[V39]:a64

Instead:

    lsc_load.slm (M1, 16) V33:d32 flat[V36]:a32

Authority: the finalizer's verifier and grammar; it rejects the text. For text 4.2 the public verifier of 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place, words
from visa_lsp.checks.support.lsc_newest import counts_as_prefetch, judge_message
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.model import REAL, Dialect, Shape, Trait
from visa_lsp.isa.platforms import Platform, since
from visa_lsp.program.model import General, Immediate, Inst, RawOperand, State
from visa_lsp.sema.model import BoundOperand, Place
from visa_lsp.syntax import tree

RULE = rule("V609", "lsc-message", ERROR, __doc__)
_GLOBAL: Final = (codes.SFID_UGM, codes.SFID_UGML)
_PLAIN_SIZES: Final = ("d8", "d16", "d32", "d64")
_BLOCK_COUNTS: Final = {"d8": (1, 2, 4), "d16": (1, 2, 4), "d32": (1, 2), "d64": (1,)}
_ROW_BYTES, _ROWS = 64, 32
_WRITTEN_BYTES, _PREFETCHED_BYTES, _IMAGE_BYTES = 512, 256, 256
_UGML_COUNTS: Final = (1, 2, 4)
_COUNTS: Final = (1, 2, 3, 4, 8)
_HAVING: Final = since("DG2")
_SHORT_OFFSET, _PITCH = 0x7FFF, 0xFFFF
_SCALARS: Final = ("surface", "pitch", *(f"addr{n}" for n in range(6)))
_MEANINGS: Final = {"surface": "the surface", "pitch": "the distance between lanes"}
_ADDRESS_TYPES: Final = {"a64": ("uq", "q")} | dict.fromkeys(("a32", "a32u", "a32s"), ("ud", "d"))
_WORD: Final = {code: word for word, code in reversed(codes.DATASIZE.items())}
_SFID: Final = {code: word for word, code in codes.SFID.items()}
Found = tuple[Place, str]


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    if ctx.dialect not in REAL or bound.inst is None or not isinstance(bound.statement, tree.Instruction):
        return
    finding = next(_findings(ctx, body, bound, bound.inst), None)
    if finding is not None:
        yield ctx.report(RULE, *finding)
    elif ctx.dialect is Dialect.V42 and ctx.platform is not None and ctx.platform.name in _HAVING:
        newest = next(judge_message(bound, bound.inst, ctx.platform), None)
        if newest is not None:
            yield ctx.report(RULE, *newest[:2], severity=newest[2])


def _findings(ctx: CheckContext, body: Body, bound: Bound, inst: Inst) -> Iterator[Found]:
    newer = ctx.dialect is Dialect.V42
    if inst.row.has(Trait.FENCE):
        yield from _fence(bound, inst)
        return
    for operand in bound.operands:
        node, place = operand.node, operand_place(bound, operand)
        if isinstance(node, tree.AddressRef):
            yield from _address(inst, operand, node, place)
            yield from _numbers(inst, node, place)
            if newer:
                yield from _address_type(ctx, body, operand, node, place)
        elif operand.slot.shape is Shape.LSC_PAYLOAD:
            yield from _payload(inst, operand, place)
        elif operand.slot.shape is Shape.LSC_DATA_2D:
            yield from _block(inst, place, ctx.platform, newer=newer)
        elif operand.slot.shape is Shape.LSC_DATA_TYPED_2D:
            yield from _image_block(inst, place)
        elif operand.slot.shape is Shape.LSC_DATA:
            yield from _data(bound, inst, place, ctx.platform, newer=newer)
        if newer and operand.slot.shape is Shape.LSC_ADDRESS and inst.row.has_field("operation"):
            yield from _cache_lines(inst, place)
        if operand.slot.name == "src1" and _stores(inst) and _is_null(operand):
            yield place, f"the data of `{inst.row.mnemonic}` cannot be `%null`"


def _cache_lines(inst: Inst, place: Place) -> Iterator[Found]:
    """Yield an address of cache lines that is not one of global memory."""
    if (
        inst.get("sfid") != codes.SFID_UGM
        or inst.get("addrtype") != codes.ADDRTYPE_FLAT
        or inst.get("addrsize") != codes.ADDRSIZE_A64
    ):
        yield place, f"`{inst.row.mnemonic}` acts on cache lines of global memory; expected `.ugm` and `flat[..]:a64`"


def _fence(bound: Bound, inst: Inst) -> Iterator[Found]:
    if inst.get("sfid") == codes.SFID_SLM and (inst.get("op"), inst.get("scope")) != (0, 0):
        assert isinstance(bound.statement, tree.Instruction)
        yield (
            Place(bound.line, bound.statement.words[0].span),
            "a fence of shared local memory must be `.slm.none.group`",
        )


def _address(inst: Inst, operand: BoundOperand, node: tree.AddressRef, place: Place) -> Iterator[Found]:
    if isinstance(inst.get("surface"), State):
        yield (
            place,
            "a surface variable is not allowed here; expected the number of a surface or a register that holds it",
        )
        return
    model, sfid, size = node.model.text or "flat", inst.get("sfid"), inst.get("addrsize")
    if operand.slot.shape is Shape.LSC_ADDRESS_2D:
        if model != "flat":
            yield place, f"a block is addressed through `flat[..]`, not `{model}`"
        elif node.suffix is not None:
            yield place, "the address of a block takes no size"
        return
    if operand.slot.shape is Shape.LSC_ADDRESS_TYPED:
        if model in ("flat", "arg"):
            yield place, f"an image is addressed through `bti`, `ss` or `bss`, not `{model}`"
        elif any(item.scale is not None for item in node.items):
            yield place, "coordinates of an image take no scale"
    if sfid == codes.SFID_SLM and model not in ("flat", "arg"):
        yield place, f"shared local memory is addressed through `flat`, not `{model}`"
    if size == codes.ADDRSIZE_A64 and sfid in (codes.SFID_SLM, codes.SFID_TGM):
        yield place, f"`.{_SFID[sfid]}` takes addresses of 32 bits; expected `:a32`"
    elif size == codes.ADDRSIZE_A16 and sfid != codes.SFID_SLM:
        yield place, "only shared local memory (`.slm`) has addresses of 16 bits"


def _numbers(inst: Inst, node: tree.AddressRef, place: Place) -> Iterator[Found]:
    """Yield numbers of an address that are out of range, and registers in it that have a region."""
    offset = inst.get("immoffset")
    if inst.get("addrsize") == codes.ADDRSIZE_A16 and isinstance(offset, int) and abs(offset) > _SHORT_OFFSET:
        yield (
            place,
            f"an offset beside `:a16` must be between {-_SHORT_OFFSET:#x} and {_SHORT_OFFSET:#x}, not {offset:#x}",
        )
    pitch = inst.get("pitch") if inst.row.has_field("pitch") else None
    if isinstance(pitch, Immediate) and pitch.bits > _PITCH:
        yield place, f"the distance between lanes must be at most {_PITCH:#x}, not {pitch.bits:#x}"
    for name in _SCALARS:
        value = inst.get(name) if inst.row.has_field(name) else None
        if isinstance(value, State):
            yield place, "a surface or sampler variable is not allowed here; expected a register or a number"
        elif (
            isinstance(value, General) and value.var == 0 and (name != "surface" or node.model.text not in ("", "flat"))
        ):
            yield (
                place,
                f"`%null` has no value; {_MEANINGS.get(name, 'a number of the block')} must be a register or a number",
            )
    for part in (node.argument, *(item.base for item in node.items)):
        if isinstance(part, tree.Ref) and part.region is not None and part.element is None:
            name = part.name.text
            where = Place(place.line, part.region.span)
            yield where, f"`{name}` takes no region here; name one element, as in `{name}(0,0)`"


def _address_type(
    ctx: CheckContext, body: Body, operand: BoundOperand, node: tree.AddressRef, place: Place
) -> Iterator[Found]:
    """Yield addresses in a variable whose type does not have the address size."""
    value = operand.value
    symbol = ctx.facts(body).variables.get(value.var) if isinstance(value, RawOperand) else None
    size = node.suffix.text if node.suffix is not None else ""
    wanted = _ADDRESS_TYPES.get(size)
    if operand.slot.shape not in (Shape.LSC_ADDRESS, Shape.LSC_ADDRESS_STRIDED) or wanted is None or symbol is None:
        return
    if not symbol.predefined and symbol.type is not None and symbol.type.name not in wanted:
        names = words(f"`{w}`" for w in wanted)
        message = (
            f"addresses of `:{size}` need a variable of type {names}; `{symbol.name}` has type `{symbol.type.name}`"
        )
        yield Place(place.line, node.items[0].span), message


def _payload(inst: Inst, operand: BoundOperand, place: Place) -> Iterator[Found]:
    atomic = inst.row.atomic
    wanted = None if atomic is None else atomic.sources
    if isinstance(operand.node, tree.Ref) and operand.node.suffix is not None:
        yield place, f"`{operand.slot.name}` takes no data shape; it has that of `dst`"
    elif wanted is not None:
        needed = int(operand.slot.name[-1]) <= wanted
        if needed and _is_null(operand):
            yield place, f"`{inst.row.mnemonic}` takes {wanted} data operands; `{operand.slot.name}` cannot be `%null`"
        elif not needed and not _is_null(operand):
            yield (
                place,
                f"`{inst.row.mnemonic}` takes {wanted or 'no'} data operands; `{operand.slot.name}` must be `%null`",
            )


def _is_null(operand: BoundOperand) -> bool:
    return isinstance(operand.value, RawOperand) and operand.value.var == 0


def _data(bound: Bound, inst: Inst, place: Place, platform: Platform | None, *, newer: bool) -> Iterator[Found]:
    size, sfid = _WORD.get(_number(inst, "datasize"), ""), inst.get("sfid")
    transposed = inst.get("order") == codes.ORDER_TRANSPOSED
    quad, atomic, mnemonic = inst.row.has(Trait.CHANNELS), inst.row.atomic, inst.row.mnemonic
    count = 1 if quad else codes.ELEMS_VALUE.get(_number(inst, "elems"))
    if count is None:
        yield (
            place,
            f"only a quad message takes channels; `{mnemonic}` reads them as the code of a count, and no count has this code",
        )
        return
    many = count > 1
    half = "d16u32" if newer else "d16c32"
    control = exec_control(bound)
    if atomic is not None:
        if transposed or many:
            yield place, f"an atomic takes one element per lane, not transposed; expected `d32`, `d64` or `{half}`"
        if size not in ("d16c32", "d32", "d64"):
            yield place, f"an atomic takes data of `{half}`, `d32` or `d64`, not `{size}`"
        units = _float_units(platform, newer=newer)
        if atomic.global_only and sfid not in units:
            yield place, f"`{mnemonic}` is for {words((f'`.{_SFID[u]}`' for u in units), 'and')} only"
        if size == "d64" and sfid == codes.SFID_SLM and not atomic.wide_shared:
            yield place, "in shared local memory only `lsc_atomic_icas` takes `d64`"
        return
    if transposed and (quad or (inst.row.has(Trait.RESIDENCY) and not newer)):
        yield place, f"`{mnemonic}` cannot be transposed"
    if transposed and control is not None and control.exec_size != 1:
        yield place, f"transposed data needs execution size 1, not {control.exec_size}"
    if quad and _stores(inst) and not transposed and not inst.row.has(Trait.MULTISAMPLED):
        yield from _quad_store(inst, place, free=newer and (platform is None or platform.name in since("CRI")))
    if many and not transposed and sfid == codes.SFID_UGML and count not in _UGML_COUNTS:
        yield place, f"`.ugml` moves {words(_UGML_COUNTS)} elements per lane, not {count}"
    if newer and many and not transposed and sfid in (codes.SFID_UGM, codes.SFID_SLM) and count not in _COUNTS:
        yield place, f"`.{_SFID[sfid]}` moves {words(_COUNTS)} elements per lane, not {count}"
    if many and size not in _PLAIN_SIZES:
        yield place, f"`{size}` moves one element per lane"
    elif many and not transposed and size in ("d8", "d16"):
        yield place, f"several elements per lane must be `d32` or `d64`, not `{size}`"


def _float_units(platform: Platform | None, *, newer: bool) -> tuple[int, ...]:
    """Return the units that add floats on the platform; an older finalizer knows the oldest only."""
    if not newer:
        return _GLOBAL
    if platform is None:
        return (*_GLOBAL, codes.SFID_TGM, codes.SFID_SLM)
    if platform.name in since("CRI"):
        return (codes.SFID_UGM, codes.SFID_TGM, codes.SFID_SLM)
    return (*_GLOBAL, codes.SFID_TGM) if platform.name in since("BMG") else _GLOBAL


def _quad_store(inst: Inst, place: Place, *, free: bool) -> Iterator[Found]:
    """Yield channels of a quad store that are not the first ones; a ``free`` platform allows any in memory."""
    mask = _number(inst, "chmask")
    if mask & mask + 1 and not (free and inst.get("sfid") != codes.SFID_TGM):
        yield place, "a quad store must write the first channels; expected `.x`, `.xy`, `.xyz` or `.xyzw`"


def _image_block(inst: Inst, place: Place) -> Iterator[Found]:
    width, height = _number(inst, "width"), _number(inst, "height")
    if not 0 < width <= _ROW_BYTES:
        yield place, f"a row of the block has {width} bytes; it can have 1 to {_ROW_BYTES}"
    if height < 1:
        yield place, "the block has no rows"
    if width * height > _IMAGE_BYTES:
        yield place, f"the block has {width * height} bytes; it can have {_IMAGE_BYTES}"


def _block(inst: Inst, place: Place, platform: Platform | None, *, newer: bool) -> Iterator[Found]:
    size, blocks = _WORD.get(_number(inst, "datasize"), ""), _number(inst, "blocks")
    if size not in _PLAIN_SIZES:
        yield place, f"a block takes elements of {words(f'`{s}`' for s in _PLAIN_SIZES)}, not `{size}`"
        return
    if not _number(inst, "width") or not _number(inst, "height"):
        yield place, "a block needs a width and a height"
    row = _number(inst, "width") * int(size[1:]) // 8
    loads = not _stores(inst)
    # A newer finalizer takes longer rows of a block that is written, and on CRI of one that is only prefetched.
    late = newer and (platform is None or platform.name in since("CRI"))
    all_rows = row * blocks if newer and loads else row
    prefetched = loads and newer and counts_as_prefetch(inst, platform)
    most = _WRITTEN_BYTES if newer and not loads else _ROW_BYTES
    if all_rows > most and not (prefetched and all_rows == _PREFETCHED_BYTES):
        yield place, f"a row of the block{'s' if blocks > 1 and newer else ''} has {all_rows} bytes; it can have {most}"
    rows = _number(inst, "height")
    if newer and inst.get("order") == codes.ORDER_TRANSPOSED:
        rows = _number(inst, "width")
    top = 2 * _ROWS if late else _ROWS
    if rows > top:
        yield place, f"the block has {rows} rows; it can have {top}"
    transposed, vnni = inst.get("order") == codes.ORDER_TRANSPOSED, bool(inst.get("vnni"))
    if _stores(inst):
        if vnni:
            yield place, "a store of a block cannot be interleaved; its last letter must be `n`"
        if blocks != 1:
            yield place, f"a store takes one block, not {blocks}"
    elif transposed and not vnni and blocks != 1:
        yield place, f"a transposed load takes one block, not {blocks}"
    elif blocks not in _BLOCK_COUNTS["d8" if prefetched else size]:
        yield place, f"a load takes {words(_BLOCK_COUNTS[size])} blocks of `{size}`, not {blocks}"


def _stores(inst: Inst) -> bool:
    return inst.row.has(Trait.WRITES) and inst.row.atomic is None


def _number(inst: Inst, field: str) -> int:
    value = inst.get(field)
    return value if isinstance(value, int) else 0


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: row.family == "lsc")
