"""Converts operand texts to operand values, slot by slot (docs/format.md, "Operands").

Each function takes the binding, the slot and the node; it returns the value in the program, or None after recording a
problem. The forms of the load/store controller are in ``lsc_operands``.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.model import Role, Shape, Slot
from visa_lsp.isa.operands import (
    AO,
    CLASS_NAMES,
    CONTIGUOUS_REGION,
    IM,
    MODIFIER_BY_TEXT,
    ST,
    A,
    G,
    I,
    OperandClass,
    OperandModifier,
    P,
    Region,
)  # fmt: skip
from visa_lsp.isa.types import DF, UQ, DataType, F, Q, type_named
from visa_lsp.program.model import (
    Address,
    AddressOf,
    General,
    Immediate,
    Indirect,
    PredicateOperand,
    RawOperand,
    State,
)  # fmt: skip
from visa_lsp.sema.model import Symbol, SymbolKind
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from visa_lsp.program.model import VectorOperand
    from visa_lsp.sema.binding_pass import BindingPass

_KIND_CLASS: Final = {
    SymbolKind.GENERAL: G,
    SymbolKind.ADDRESS: A,
    SymbolKind.PREDICATE: P,
    SymbolKind.SAMPLER: ST,
    SymbolKind.SURFACE: ST,
}
_WIDTHS: Final = (1, 2, 4, 8, 16)


def _wrong(ctx: BindingPass, slot: Slot, node: tree.Operand, got: str) -> None:
    ctx.problem("operand-class", node.span, slot=slot, got=got)


def describe(ctx: BindingPass, node: tree.Operand) -> str:
    """Return words for the kind of an operand: ``a predicate variable``."""
    match node:
        case tree.Ref(name=name):
            symbol = ctx.scope.visible(name.text) or ctx.body.predefined.get(name.text)
            return f"{symbol.kind.value} `{name.text}`" if symbol else f"`{name.text}`"
        case tree.Literal(suffix=None):
            return "number without a type"
        case tree.Literal():
            return CLASS_NAMES[IM]
        case tree.IndirectRef():
            return CLASS_NAMES[I]
        case tree.AddressOfRef():
            return CLASS_NAMES[AO]
        case tree.Quoted():
            return "string"
        case tree.AddressRef():
            return "load/store address"
        case tree.Group():
            return "group in parentheses"
        case _:
            return "text"


def _modifier(word: tree.Word | None) -> OperandModifier:
    return OperandModifier.NONE if word is None else MODIFIER_BY_TEXT.get(word.text, OperandModifier.NONE)


def _region_value(ctx: BindingPass, node: tree.Expr | None, legal: tuple[int, ...], what: str) -> int | None:
    if node is None:
        return None
    value = ctx.number(node)
    if value is not None and value not in legal:
        ctx.problem("region-value", node.span, what=what, value=value, legal=legal)
        return None
    return value


def _region(ctx: BindingPass, text: tree.RegionText, *, write: bool) -> Region | None:
    """Return the region of a vector operand; None after a problem."""
    horz = _region_value(ctx, text.horz, (0, 1, 2, 4), "horizontal stride")
    width = _region_value(ctx, text.width, (1, 2, 4, 8, 16), "width")
    vert = _region_value(ctx, text.vert, (0, 1, 2, 4, 8, 16, 32), "vertical stride")
    if horz is None or (text.width is not None and width is None) or (text.vert is not None and vert is None):
        return None
    if write and horz == 0:
        ctx.problem("destination-stride", text.span)
    return Region(vert, width, horz)


def _general(ctx: BindingPass, slot: Slot, node: tree.Ref, symbol: Symbol) -> General | None:
    write = slot.role is Role.WRITE
    if node.region is None:
        form = f"{node.name.text}(0,0)<1>" if write else f"{node.name.text}(0,0)<1;1,0>"
        ctx.problem("missing-region", node.span, name=node.name.text, form=form)
        return None
    if node.indices is None and not write:
        ctx.problem("missing-origin", node.span, name=node.name.text)
        return None
    if node.indices is not None and len(node.indices) != 2:
        ctx.problem("origin-form", node.span, name=node.name.text)
        return None
    if node.region.form != (1 if write else 3) or (not write and node.region.vert is None):
        ctx.problem("region-form", node.region.span, write=write, indirect=False)
        return None
    row = ctx.number(node.indices[0]) if node.indices else 0
    col = ctx.number(node.indices[1]) if node.indices else 0
    for index, (what, value) in enumerate((("row", row), ("column", col))):
        if value is not None and value < 0 and node.indices:
            ctx.problem("negative-origin", node.indices[index].span, what=what, value=value)
            return None
    region = _region(ctx, node.region, write=write)
    if row is None or col is None or region is None:
        return None
    if write and node.modifier is not None:
        ctx.problem("destination-modifier", node.modifier.span, modifier=node.modifier.text)
    return General(symbol.id, row & 0xFF, col & 0xFF, region, _modifier(node.modifier))


def _address(ctx: BindingPass, node: tree.Ref, symbol: Symbol) -> Address | None:
    if node.indices is None or len(node.indices) != 1:
        ctx.problem("address-form", node.span, name=node.name.text)
        return None
    offset = ctx.number(node.indices[0], 0, 255, "address element")
    width: int | None = 1
    if node.region is None:
        ctx.problem("seed-width", node.span, name=node.name.text)
    else:
        single = node.region.form == 1
        width = ctx.number(node.region.horz) if single else None
        if width not in _WIDTHS:
            what = "address width" if single else "address region"
            ctx.problem("region-value", node.region.span, what=what, value=width, legal=_WIDTHS)
            return None
    return None if offset is None else Address(symbol.id, offset, width or 1)


def _state(ctx: BindingPass, node: tree.Ref, symbol: Symbol) -> State | None:
    offset = ctx.number(node.indices[0], 0, 255, "element") if node.indices else 0
    return None if offset is None else State(symbol.kind is SymbolKind.SAMPLER, symbol.id, offset)


def _indirect(ctx: BindingPass, slot: Slot, node: tree.IndirectRef) -> Indirect | None:
    symbol = ctx.lookup(node.name, Role.READ, expected="address variable")
    if symbol is None:
        return None
    if symbol.kind is not SymbolKind.ADDRESS:
        ctx.problem("operand-class", node.name.span, slot=slot, got=symbol.kind.value, expected="an address variable")
        return None
    write = slot.role is Role.WRITE
    if node.seed_form:
        ctx.problem("seed-indirect", node.span, node=node)
        return None
    if node.suffix is None or node.region is None:
        ctx.problem("indirect-form", node.span)
        return None
    type_ = _type(ctx, node.suffix)
    index = ctx.number(node.index, 0, 255, "address element") if node.index is not None else 0
    offset = ctx.number(node.offset, -32768, 32767, "indirect offset") if node.offset is not None else 0
    region = _region(ctx, node.region, write=write)
    if type_ is None or index is None or offset is None or region is None:
        return None
    if not write and node.region.form == 3 and node.region.vert is None:
        ctx.problem("seed-region", node.region.span)
    if write and node.region.form != 1:
        ctx.problem("region-form", node.region.span, write=True, indirect=True)
        return None
    return Indirect(symbol.id, index, offset, type_, region, _modifier(node.modifier))


def _type(ctx: BindingPass, word: tree.Word) -> DataType | None:
    type_ = type_named(word.text)
    if type_ is None:
        ctx.problem("unknown-type", word.span, name=word.text)
    return type_


def _immediate(ctx: BindingPass, node: tree.Literal) -> Immediate | None:
    assert node.suffix is not None
    type_ = _type(ctx, node.suffix)
    if type_ is None:
        return None
    if isinstance(node.value, tree.Float):
        if type_ is F:
            return Immediate(type_, _float_bits(node.value.value))
        if type_ is DF:
            return Immediate(type_, int.from_bytes(struct.pack("<d", node.value.value), "little"))
        ctx.problem("immediate-form", node.span, type=type_.name)
        return None
    if type_.name == "hf" and isinstance(node.value, tree.Number) and node.value.text[:2].lower() != "0x":
        ctx.problem("immediate-form", node.span, type=type_.name)
        return None
    value = ctx.number(node.value)
    if value is None:
        return None
    if type_.name in ("hf", "bf") and not 0 <= value <= 0xFFFF:
        ctx.problem("number-range", node.span, what=f"bit pattern of {type_.name}", value=value, low=0, high=0xFFFF)
        return None
    return Immediate(type_, value & (0xFFFFFFFFFFFFFFFF if type_ in (DF, Q, UQ) else 0xFFFFFFFF))


def _float_bits(value: float) -> int:
    """Return the bits of the nearest single-precision number; infinity for a value that is too large."""
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0xFF800000 if value < 0 else 0x7F800000


def _address_of(ctx: BindingPass, node: tree.AddressOfRef) -> AddressOf | State | None:
    symbol = ctx.lookup(node.name, Role.OTHER)
    if symbol is None:
        return None
    if node.seed_form:
        ctx.problem("seed-address-of", node.span, node=node)
    offset = ctx.number(node.offset, -32768, 32767, "address offset") if node.offset is not None else 0
    if offset is None:
        return None
    if symbol.kind is SymbolKind.SURFACE:
        return State(False, symbol.id, offset // 4 & 0xFF)
    if symbol.kind is not SymbolKind.GENERAL:
        ctx.problem("address-of", node.span, got=symbol.kind.value, name=symbol.name)
        return None
    grf = ctx.platform.grf_bytes
    size = symbol.type.size if symbol.type else 1
    return AddressOf(symbol.id, offset // grf & 0xFF, offset % grf // size & 0xFF)


@lru_cache(maxsize=4096)
def _symbol_kinds(slot: Slot) -> frozenset[SymbolKind]:
    """Return the kinds of symbols that a slot accepts."""
    return frozenset(kind for kind, cls in _KIND_CLASS.items() if cls in slot.classes)


def _report_second_type(ctx: BindingPass, node: tree.Ref, symbol: Symbol) -> bool:
    """Report a type after an operand with the type of its variable; return whether there is one."""
    if node.suffix is None:
        return False
    ctx.problem("operand-suffix", node.suffix.span, end=node.span.end, symbol=symbol)
    return True


def _reference(ctx: BindingPass, slot: Slot, node: tree.Ref) -> VectorOperand | None:
    symbol = ctx.lookup(node.name, slot.role)
    if symbol is None:
        return None
    kind = symbol.kind
    if kind not in _symbol_kinds(slot):
        _wrong(ctx, slot, node, f"{kind.value} `{symbol.name}`")
        return None
    if kind is not SymbolKind.PREDICATE and _report_second_type(ctx, node, symbol):
        return None
    if kind is SymbolKind.GENERAL:
        return _general(ctx, slot, node, symbol)
    if kind is SymbolKind.ADDRESS:
        return _address(ctx, node, symbol)
    if kind is not SymbolKind.PREDICATE:
        return _state(ctx, node, symbol)
    if node.indices or node.region or node.dot or node.suffix:
        ctx.problem("predicate-form", node.span, name=symbol.name)
        return None
    return PredicateOperand(symbol.id)


def vector(ctx: BindingPass, slot: Slot, node: tree.Operand) -> VectorOperand | None:
    """Bind a vector operand of the classes that the slot allows."""
    allowed: OperandClass = slot.classes
    match node:
        case tree.Ref():
            return _reference(ctx, slot, node)
        case tree.Literal(suffix=tree.Word()) if IM in allowed:
            return _immediate(ctx, node)
        case tree.IndirectRef() if I in allowed:
            return _indirect(ctx, slot, node)
        case tree.AddressOfRef() if AO in allowed:
            return _address_of(ctx, node)
        case tree.Junk():
            return None
        case _:
            _wrong(ctx, slot, node, describe(ctx, node))
            return None


def simple(ctx: BindingPass, slot: Slot, node: tree.Operand) -> General | None:
    """Bind ``V(row, col)`` without a region, read as <1;1,0>."""
    if not isinstance(node, tree.Ref) or node.indices is None or len(node.indices) != 2:
        _wrong(ctx, slot, node, describe(ctx, node))
        return None
    symbol = ctx.lookup(node.name, slot.role)
    row, col = (ctx.number(i, 0, 255) for i in node.indices)
    if symbol is None or row is None or col is None or _report_second_type(ctx, node, symbol):
        return None
    return General(symbol.id, row, col, CONTIGUOUS_REGION)


def raw(ctx: BindingPass, slot: Slot, node: tree.Operand, *, bare: bool = False) -> RawOperand | None:
    """Bind ``V.offset``; a bare name only if ``bare`` allows it."""
    if isinstance(node, tree.Junk):
        return None
    if not isinstance(node, tree.Ref):
        _wrong(ctx, slot, node, describe(ctx, node))
        return None
    symbol = ctx.lookup(node.name, slot.role)
    if symbol is None:
        return None
    if symbol.kind is not SymbolKind.GENERAL:
        _wrong(ctx, slot, node, f"{symbol.kind.value} `{symbol.name}`")
        return None
    if node.indices is not None or node.region is not None or (node.dot is None and not bare):
        ctx.problem("raw-form", node.span, name=node.name.text)
        return None
    if not bare and _report_second_type(ctx, node, symbol):
        return None
    offset = ctx.number(node.dot, 0, 0xFFFF, "byte offset") if node.dot is not None else 0
    return None if offset is None else RawOperand(symbol.id, offset)


def state(ctx: BindingPass, slot: Slot, node: tree.Operand) -> VectorOperand | RawOperand | int | None:
    """Bind a surface or sampler: a variable; in 4.2 also a pair ``(T6, 1)`` or a handle in a register."""
    wanted = SymbolKind.SAMPLER if slot.shape is Shape.SAMPLER else SymbolKind.SURFACE
    if isinstance(node, tree.Group) and node.items and isinstance(node.items[0], tree.Ref):
        symbol = ctx.lookup(node.items[0].name, slot.role)
        index = node.items[1] if len(node.items) > 1 else None
        number = ctx.number(index.value) if isinstance(index, tree.Literal) else 0
        if symbol is None or number is None:
            return None
        return symbol.id if number == 0 else State(wanted is SymbolKind.SAMPLER, symbol.id, number & 0xFF)
    if isinstance(node, tree.Junk):
        return None
    if not isinstance(node, tree.Ref):
        _wrong(ctx, slot, node, describe(ctx, node))
        return None
    symbol = ctx.lookup(node.name, slot.role)
    if symbol is None or _report_second_type(ctx, node, symbol):
        return None
    if symbol.kind is SymbolKind.GENERAL and ctx.newest:
        # Today's text may have the handle in a register; an object cannot, because it has a number there.
        return _general(ctx, slot, node, symbol) if node.region is not None else RawOperand(symbol.id, 0)
    if symbol.kind is not wanted:
        _wrong(ctx, slot, node, f"{symbol.kind.value} `{symbol.name}`")
        return None
    return symbol.id
