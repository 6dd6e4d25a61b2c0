"""A load/store message asks for what the controller does not do.

* An address of `:a64` is for global memory, `:a16` for shared local memory, which is addressed `flat`.
* Plain data of 8 or 16 bits moves one element a lane; transposed data needs execution size 1.
* Channels (`d32.xyzw`) are for the quad messages; another reads them as the code of a count, which there may not be.
* An atomic moves one element of `d16c32`, `d32` or `d64`; only `icas` takes `d64` in shared local memory, and `fadd` and
  `fsub` need global memory. Data operands beyond those of the operation are `%null`; those that it has are not.
* A store has data.
* A block has rows of at most 64 bytes, at most 32 of them; a block that is written is neither interleaved nor one of several.
* A fence of shared local memory is `.none.group`.

Why: no message descriptor says such a thing, so there is no instruction to generate.

Example:

    lsc_load.slm (M1, 16) V33:d32 flat[V39]:a64

Instead:

    lsc_load.slm (M1, 16) V33:d32 flat[V36]:a32

Authority: the finalizer's verifier and grammar; it rejects the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place, words
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.model import Dialect, Shape, Trait
from visa_lsp.program.model import RawOperand, State
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.program.model import Inst
    from visa_lsp.sema.model import BoundOperand

RULE = rule("V609", "lsc-message", ERROR, __doc__)
_GLOBAL: Final = (codes.SFID_UGM, codes.SFID_UGML)
_PLAIN_SIZES: Final = ("d8", "d16", "d32", "d64")
_BLOCK_COUNTS: Final = {"d8": (1, 2, 4), "d16": (1, 2, 4), "d32": (1, 2), "d64": (1,)}
_ROW_BYTES, _ROWS = 64, 32
_WORD: Final = {code: word for word, code in reversed(codes.DATASIZE.items())}
_SFID: Final = {code: word for word, code in codes.SFID.items()}
Found = tuple[Place, str]


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    if ctx.dialect is not Dialect.V41 or bound.inst is None or not isinstance(bound.statement, tree.Instruction):
        return
    found = next(_findings(bound, bound.inst), None)
    if found is not None:
        yield ctx.report(RULE, *found)


def _findings(bound: Bound, inst: Inst) -> Iterator[Found]:
    if inst.row.has(Trait.FENCE):
        yield from _fence(bound, inst)
        return
    for operand in bound.operands:
        node, place = operand.node, operand_place(bound, operand)
        if isinstance(node, tree.AddressRef):
            yield from _address(inst, operand, node, place)
        elif operand.slot.shape is Shape.LSC_PAYLOAD:
            yield from _payload(inst, operand, place)
        elif operand.slot.shape is Shape.LSC_DATA_2D:
            yield from _block(inst, place)
        elif operand.slot.shape is Shape.LSC_DATA:
            yield from _data(bound, inst, place)
        if operand.slot.name == "src1" and _stores(inst) and _is_null(operand):
            yield place, f"`{inst.row.mnemonic}` stores nothing: its data cannot be `%null`"


def _fence(bound: Bound, inst: Inst) -> Iterator[Found]:
    if inst.get("sfid") == codes.SFID_SLM and (inst.get("op"), inst.get("scope")) != (0, 0):
        assert isinstance(bound.statement, tree.Instruction)
        yield Place(bound.line, bound.statement.words[0].span), "a fence of shared local memory is `.slm.none.group`"


def _address(inst: Inst, operand: BoundOperand, node: tree.AddressRef, place: Place) -> Iterator[Found]:
    if isinstance(inst.get("surface"), State):
        yield place, "a surface variable cannot stand here; the number of a surface or a register with it can"
    model, sfid, size = node.model.text or "flat", inst.get("sfid"), inst.get("addrsize")
    if operand.slot.shape is Shape.LSC_ADDRESS_2D:
        if model != "flat":
            yield place, f"a block lies in flat memory: `flat[..]`, not `{model}`"
        elif node.suffix is not None:
            yield place, "the address of a block has no size behind it"
        return
    if operand.slot.shape is Shape.LSC_ADDRESS_TYPED:
        if model in ("flat", "arg"):
            yield place, f"an image is addressed through `bti`, `ss` or `bss`, not `{model}`"
        elif any(item.scale is not None for item in node.items):
            yield place, "coordinates of an image have no scale"
    if sfid == codes.SFID_SLM and model not in ("flat", "arg"):
        yield place, f"shared local memory is addressed `flat`, not through `{model}`"
    if size == codes.ADDRSIZE_A64 and sfid in (codes.SFID_SLM, codes.SFID_TGM):
        yield place, f"`.{_SFID[sfid]}` has addresses of 32 bits: `:a32`"
    elif size == codes.ADDRSIZE_A16 and sfid != codes.SFID_SLM:
        yield place, "only shared local memory (`.slm`) has addresses of 16 bits"


def _payload(inst: Inst, operand: BoundOperand, place: Place) -> Iterator[Found]:
    atomic = inst.row.atomic
    wanted = None if atomic is None else atomic.sources
    if isinstance(operand.node, tree.Ref) and operand.node.suffix is not None:
        yield place, f"`{operand.slot.name}` has no data shape of its own; it is that of `dst`"
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


def _data(bound: Bound, inst: Inst, place: Place) -> Iterator[Found]:
    size, sfid = _WORD.get(_number(inst, "datasize"), ""), inst.get("sfid")
    transposed = inst.get("order") == codes.ORDER_TRANSPOSED
    quad, atomic, mnemonic = inst.row.has(Trait.CHANNELS), inst.row.atomic, inst.row.mnemonic
    count = 1 if quad else codes.ELEMS_VALUE.get(_number(inst, "elems"))
    if count is None:
        yield (
            place,
            f"only a quad message has channels; `{mnemonic}` reads these as a count, and there is none of this code",
        )
        return
    many = count > 1
    control = exec_control(bound)
    if atomic is not None:
        if transposed or many:
            yield place, "an atomic has one element a lane, not transposed: `d32`, `d64` or `d16c32`"
        if size not in ("d16c32", "d32", "d64"):
            yield place, f"an atomic has data of `d16c32`, `d32` or `d64`, not `{size}`"
        if atomic.global_only and sfid not in _GLOBAL:
            yield place, f"`{mnemonic}` is for `.ugm` and `.ugml` only"
        if size == "d64" and sfid == codes.SFID_SLM and not atomic.wide_shared:
            yield place, "in shared local memory only `lsc_atomic_icas` takes `d64`"
        return
    if transposed and (quad or inst.row.has(Trait.RESIDENCY)):
        yield place, f"`{mnemonic}` cannot be transposed"
    if transposed and control is not None and control.exec_size != 1:
        yield place, f"transposed data needs execution size 1, not {control.exec_size}"
    if many and size not in _PLAIN_SIZES:
        yield place, f"`{size}` moves one element a lane"
    elif many and not transposed and size in ("d8", "d16"):
        yield place, f"several elements a lane are `d32` or `d64`, not `{size}`"


def _block(inst: Inst, place: Place) -> Iterator[Found]:
    size, blocks = _WORD.get(_number(inst, "datasize"), ""), _number(inst, "blocks")
    if size not in _PLAIN_SIZES:
        yield place, f"a block has elements of {words(f'`{s}`' for s in _PLAIN_SIZES)}, not `{size}`"
        return
    row = _number(inst, "width") * int(size[1:]) // 8
    if row > _ROW_BYTES:
        yield place, f"a row of the block has {row} bytes; it can have {_ROW_BYTES}"
    if _number(inst, "height") > _ROWS:
        yield place, f"the block has {_number(inst, 'height')} rows; it can have {_ROWS}"
    transposed, vnni = inst.get("order") == codes.ORDER_TRANSPOSED, bool(inst.get("vnni"))
    if _stores(inst):
        if vnni:
            yield place, "a block that is written is not interleaved: its last letter is `n`"
        if blocks != 1:
            yield place, f"one block is written at a time, not {blocks}"
    elif transposed and not vnni and blocks != 1:
        yield place, f"one block is read transposed at a time, not {blocks}"
    elif blocks not in _BLOCK_COUNTS[size]:
        yield place, f"{words(_BLOCK_COUNTS[size])} blocks of `{size}` are read at a time, not {blocks}"


def _stores(inst: Inst) -> bool:
    return inst.row.has(Trait.WRITES) and inst.row.atomic is None


def _number(inst: Inst, field: str) -> int:
    value = inst.get(field)
    return value if isinstance(value, int) else 0


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: row.family == "lsc")
