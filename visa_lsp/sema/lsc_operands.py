"""Operands of the load/store controller messages: data with its shape, addresses in brackets.

Each form fills several fields of the record; ``isa.model.Shape`` lists their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from visa_lsp.isa import lsc_codes
from visa_lsp.isa.model import Instruction as Row
from visa_lsp.isa.model import Role, Shape, Slot
from visa_lsp.isa.operands import SCALAR_REGION
from visa_lsp.isa.types import UD, UQ
from visa_lsp.program.model import (
    NULL_RAW,
    FieldValue,
    General,
    Immediate,
    ListItem,
    RawOperand,
    State,
    Value,
    VectorOperand,
)
from visa_lsp.sema import operand_values
from visa_lsp.sema.model import SymbolKind
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from visa_lsp.sema.binding_pass import BindingPass

_READ = Slot("address", Shape.RAW, Role.READ, doc="address register")
_TYPED_NAMES = ("u", "v", "r", "lod")


def bind(ctx: BindingPass, row: Row, slot: Slot, node: tree.Operand, values: dict[str, Value]) -> FieldValue:
    """Bind one operand of an LSC shape; store its fields in ``values``."""
    if isinstance(node, tree.Junk):
        return None
    if isinstance(node, tree.AddressRef) and slot.shape is not Shape.LSC_SURFACE:
        pair = next((i for i in node.items if i.pair is not None), None)
        if not node.items or (pair is not None and (slot.shape is not Shape.LSC_ADDRESS_2D or len(node.items) > 1)):
            ctx.problem("address-items", (pair or node).span, got=len(node.items), wanted="a register in brackets")
            return None
    match slot.shape:
        case Shape.LSC_DATA | Shape.LSC_DATA_2D | Shape.LSC_DATA_TYPED_2D if isinstance(node, tree.Ref):
            return _data(ctx, slot, node, values)
        case Shape.LSC_ADDRESS | Shape.LSC_ADDRESS_STRIDED if isinstance(node, tree.AddressRef):
            return _address(ctx, slot, node, values)
        case Shape.LSC_ADDRESS_2D if isinstance(node, tree.AddressRef):
            return _block_address(ctx, node, values)
        case Shape.LSC_ADDRESS_TYPED if isinstance(node, tree.AddressRef):
            return _bind_typed_address(ctx, node, values)
        case Shape.LSC_ADDRESS_TYPED_2D if isinstance(node, tree.AddressRef):
            return _bind_typed_block(ctx, node, values)
        case Shape.LSC_SURFACE:
            return _surface_only(ctx, row, slot, node, values)
    ctx.problem("operand-class", node.span, slot=slot, got=operand_values.describe(ctx, node))
    return None


def _set(values: dict[str, Value], **fields: FieldValue) -> None:
    """Fill the fields that exist in the record."""
    for name, value in fields.items():
        if name in values:
            values[name] = value


def _data(ctx: BindingPass, slot: Slot, node: tree.Ref, values: dict[str, Value]) -> FieldValue:
    value = operand_values.raw(ctx, slot, node, bare=True)
    values[slot.name] = value
    tag = node.suffix
    if tag is None:
        ctx.problem("missing-shape", node.span, name=node.name.text)
        return None
    if slot.shape is Shape.LSC_DATA:
        shape = lsc_codes.parse_data_shape(tag.text)
        if shape is not None:
            elems = shape.elems if shape.elems is not None else shape.chmask
            _set(values, datasize=shape.datasize, order=shape.order, elems=elems, chmask=elems)
            return value
    elif slot.shape is Shape.LSC_DATA_2D:
        block = lsc_codes.parse_block_shape(tag.text)
        if block is not None:
            _set(
                values, datasize=block.datasize, order=block.order, blocks=block.blocks, width=block.width,
                height=block.height, vnni=block.vnni,
            )  # fmt: skip
            return value
    else:
        numbers = tag.text.split("x")
        if len(numbers) == 2 and all(n.isascii() and n.isdigit() for n in numbers):
            _set(values, width=int(numbers[0]), height=int(numbers[1]))
            return value
    ctx.problem("bad-shape", tag.span, text=tag.text, shape=slot.shape)
    return None


def _model(ctx: BindingPass, node: tree.AddressRef, values: dict[str, Value]) -> VectorOperand | None:
    """Bind address type, surface and surface index; return the surface, None if one of them is wrong."""
    code = lsc_codes.ADDRTYPE[node.model.text]
    surface: VectorOperand | None = Immediate(UD, 0)
    if node.argument is not None:
        surface = _scalar(ctx, node.argument, wide=code in (lsc_codes.ADDRTYPE_SURF, lsc_codes.ADDRTYPE_FLAT))
    elif code not in (lsc_codes.ADDRTYPE_FLAT, lsc_codes.ADDRTYPE_ARG):
        ctx.problem("missing-surface", node.model.span, model=node.model.text)
        return None
    index = ctx.number(node.surface_index) if node.surface_index is not None else 0
    _set(values, addrtype=code, surface=surface, surfidx=index)
    return surface if index is not None else None


def _scalar(ctx: BindingPass, node: tree.Ref | tree.Expr, *, wide: bool = False) -> VectorOperand | None:
    """Bind one element of a variable, or a number: ``VecOpRegOrImm`` of the grammar."""
    if not isinstance(node, tree.Ref):
        value = ctx.number(node)
        if value is None:
            return None
        return Immediate(UQ, value & (1 << 64) - 1) if wide else Immediate(UD, value & 0xFFFFFFFF)
    symbol = ctx.lookup(node.name, Role.READ)
    if symbol is None:
        return None
    if symbol.kind in (SymbolKind.SURFACE, SymbolKind.SAMPLER):
        return State(symbol.kind is SymbolKind.SAMPLER, symbol.id, 0)
    if symbol.kind is not SymbolKind.GENERAL:
        ctx.problem("operand-class", node.span, slot=_READ, got=f"{symbol.kind.value} `{symbol.name}`")
        return None
    if node.indices is not None and len(node.indices) == 2:
        row, col = (ctx.number(i, 0, 255) for i in node.indices)
    else:
        row, col = 0, ctx.number(node.dot, 0, 255) if node.dot is not None else 0
    if row is None or col is None:
        return None
    return General(symbol.id, row, col, SCALAR_REGION)


def _register(ctx: BindingPass, node: tree.Ref | tree.Expr) -> RawOperand | None:
    """Bind an address register, ``V`` or ``V.32``."""
    if not isinstance(node, tree.Ref):
        ctx.problem("operand-class", node.span, slot=_READ, got="number")
        return None
    value = operand_values.raw(ctx, _READ, node, bare=True)
    if isinstance(value, RawOperand) and value.var == 0:
        ctx.problem("operand-class", node.span, slot=_READ, got="the null variable")
        return None
    return value if isinstance(value, RawOperand) else None


def _size(ctx: BindingPass, node: tree.AddressRef, values: dict[str, Value]) -> bool:
    if node.suffix is None:
        ctx.problem("missing-address-size", node.span, words=tuple(lsc_codes.ADDRSIZE))
        return False
    code = lsc_codes.ADDRSIZE.get(node.suffix.text)
    if code is None:
        ctx.problem("bad-address-size", node.suffix.span, got=node.suffix.text, words=tuple(lsc_codes.ADDRSIZE))
        return False
    _set(values, addrsize=code)
    return True


def _address(ctx: BindingPass, slot: Slot, node: tree.AddressRef, values: dict[str, Value]) -> FieldValue:
    item = node.items[0]
    if _is_null(item) and len(node.items) == 1 and node.suffix is None:
        # The size of an access without an address in the grammar of text 4.2.
        values[slot.name] = NULL_RAW
        _set(values, addrsize=lsc_codes.ADDRSIZE_A32U, immscale=1, immoffset=0, pitch=Immediate(UD, 4))
        return None if _model(ctx, node, values) is None else NULL_RAW
    ok = (_model(ctx, node, values) is not None) & _size(ctx, node, values)
    scale = ctx.number(item.scale) if item.scale is not None else 1
    offset = ctx.number(item.offset, -(1 << 31), (1 << 31) - 1, "offset") if item.offset is not None else 0
    register = _register(ctx, item.base)
    _set(values, immscale=scale, immoffset=offset)
    values[slot.name] = register
    if slot.shape is Shape.LSC_ADDRESS_STRIDED:
        # A missing pitch depends on the data shape, which may follow; `default_pitch` fills it in.
        values["pitch"] = _scalar(ctx, node.items[1].base) if len(node.items) > 1 else None
    extra = node.items[2:] if slot.shape is Shape.LSC_ADDRESS_STRIDED else node.items[1:]
    for extra_item in extra:
        ctx.problem("address-items", extra_item.span, got=len(node.items), wanted="one register")
    return register if ok and scale is not None and offset is not None else None


def default_pitch(values: dict[str, Value]) -> None:
    """Return the pitch of a strided message without one: its lanes are adjacent."""
    if "pitch" not in values or values["pitch"] is not None:
        return
    size = lsc_codes.DATASIZES.get(cast("int", values["datasize"]))
    count = 1
    if values["order"] != lsc_codes.ORDER_TRANSPOSED:
        count = lsc_codes.ELEMS_VALUE.get(cast("int", values["elems"]), 1)
    values["pitch"] = Immediate(UD, (size.register_bytes if size else 4) * count)


def _is_null(item: tree.AddressItem) -> bool:
    base = item.base
    return item.scale is None and item.offset is None and isinstance(base, tree.Ref) and base.name.text == "%null"


def _block_address(ctx: BindingPass, node: tree.AddressRef, values: dict[str, Value]) -> FieldValue:
    if node.items[0].pair is not None and "payload" in values:
        values["payload"] = 1
        values["immx"], values["immy"] = (ctx.number(part) for part in node.items[0].pair)
        base = values["addr0"] = _scalar(ctx, node.items[0].base, wide=True)
        return base
    if len(node.items) != 6:
        ctx.problem("address-items", node.span, got=len(node.items), wanted="base, width, height, pitch, x and y")
        return None
    members: list[ListItem] = []
    for number, item in enumerate(node.items):
        value = _scalar(ctx, item.base, wide=number == 0)
        values[f"addr{number}"] = value
        members.append(value)
    for name, item in (("immx", node.items[4]), ("immy", node.items[5])):
        if item.offset is not None:
            values[name] = ctx.number(item.offset)
    return tuple(members) if None not in members else None


def _bind_typed_address(ctx: BindingPass, node: tree.AddressRef, values: dict[str, Value]) -> FieldValue:
    ok = (_model(ctx, node, values) is not None) & _size(ctx, node, values)
    if len(node.items) > len(_TYPED_NAMES):
        ctx.problem("address-items", node.span, got=len(node.items), wanted="at most u, v, r and lod")
        return None
    members: list[ListItem] = []
    for name, item in zip(_TYPED_NAMES, node.items, strict=False):
        value = _register(ctx, item.base)
        values[name] = value
        members.append(value)
        if item.offset is not None:
            _set(values, **{f"{name}off": ctx.number(item.offset)})
    return tuple(members) if ok and None not in members else None


def _bind_typed_block(ctx: BindingPass, node: tree.AddressRef, values: dict[str, Value]) -> FieldValue:
    if _model(ctx, node, values) is None:
        return None
    if len(node.items) != 2:
        ctx.problem("address-items", node.span, got=len(node.items), wanted="x and y")
        return None
    members: list[ListItem] = []
    for number, item in enumerate(node.items):
        value = _scalar(ctx, item.base)
        values[f"src{number}"] = value
        members.append(value)
        if item.offset is not None:
            values["immx" if number == 0 else "immy"] = ctx.number(item.offset)
    return tuple(members) if None not in members else None


def _surface_only(ctx: BindingPass, row: Row, slot: Slot, node: tree.Operand, values: dict[str, Value]) -> FieldValue:
    """Bind ``bti(0x4)``, with a register in brackets in 4.2."""
    if isinstance(node, tree.AddressRef):
        surface = _model(ctx, node, values)
        if node.items and slot.name in row.index and slot.name != "surface":
            values[slot.name] = _register(ctx, node.items[0].base)
        return surface if "surface" in values else None
    ctx.problem("operand-class", node.span, slot=slot, got=operand_values.describe(ctx, node))
    return None
