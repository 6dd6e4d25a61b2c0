"""Binds one operand to its slot; the shape of the slot determines how its text is read, and the fields that it fills."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from visa_lsp.isa.model import FieldKind, FlowClass, Role, Shape, Slot
from visa_lsp.isa.model import Instruction as Row
from visa_lsp.isa.operands import IM, G, I
from visa_lsp.program.model import FieldValue, General, ListItem, RawOperand, Value, VectorOperand
from visa_lsp.sema import lsc_operands, operand_values, seed
from visa_lsp.sema.model import SymbolKind
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from visa_lsp.sema.binding_pass import BindingPass

_INT_BITS = {FieldKind.U8: 8, FieldKind.U16: 16}


def bind_operand(ctx: BindingPass, row: Row, slot: Slot, node: tree.Operand, values: dict[str, Value]) -> FieldValue:
    """Bind one operand and store its value in the fields of its shape."""
    value: FieldValue
    match slot.shape:
        case Shape.VECTOR:
            value = operand_values.vector(ctx, slot, node)
        case Shape.SIMPLE:
            value = operand_values.simple(ctx, slot, node)
        case Shape.RAW:
            value = operand_values.raw(ctx, slot, node)
        case Shape.LSC_PAYLOAD:
            value = operand_values.raw(ctx, slot, node, bare=True)
        case Shape.SURFACE | Shape.SAMPLER:
            value = operand_values.state(ctx, slot, node)
            if isinstance(value, General) and isinstance(node, tree.Ref) and node.element is not None:
                values[f"{slot.name}idx"] = ctx.number(node.element, 0, (1 << 31) - 1, "number of the state")
            else:
                seed.plane(ctx, row, node, values)
        case Shape.RAWS:
            return _add_item(slot, operand_values.raw(ctx, slot, node), values)
        case Shape.VECTORS:
            return _add_item(slot, _raw_or_vector(ctx, slot, node), values)
        case (
            Shape.LABEL | Shape.NAME | Shape.IDENTIFIER | Shape.STRING | Shape.LABELS | Shape.INTEGER | Shape.EXEC_WORD
        ):
            value = _plain(ctx, slot, node, row)
        case Shape.GROUP:
            return _group(ctx, row, slot, node, values)
        case Shape.VARIABLE:
            value = _variable(ctx, slot, node, values)
        case _:
            return lsc_operands.bind(ctx, row, slot, node, values)
    if slot.name in row.index:
        values[slot.name] = value
    return value


def items_of(value: Value) -> tuple[ListItem, ...]:
    """Return the items of a list field; empty if it has no list yet."""
    return value if isinstance(value, tuple) else ()


def _add_item(slot: Slot, item: ListItem, values: dict[str, Value]) -> ListItem:
    """Append an item to the list of a slot."""
    values[slot.name] = (*items_of(values.get(slot.name)), item)
    return item


def _raw_or_vector(ctx: BindingPass, slot: Slot, node: tree.Operand) -> VectorOperand | RawOperand | None:
    if isinstance(node, tree.Ref) and node.dot is not None and node.region is None:
        return operand_values.raw(ctx, slot, node)
    return operand_values.vector(ctx, _for_numbers(slot), node)


@lru_cache(maxsize=4096)
def _for_numbers(slot: Slot) -> Slot:
    """Return a slot for registers and numbers, for a row without operand classes."""
    return replace(slot, classes=G | I | IM)


def _word(node: tree.Operand) -> tree.Word | None:
    """Return the name of an operand that is only a name."""
    if isinstance(node, tree.Quoted):
        return tree.Word(node.text, node.span, quoted=True)
    if isinstance(node, tree.Ref) and not (node.indices or node.region or node.dot or node.suffix or node.modifier):
        return node.name
    return None


def _plain(ctx: BindingPass, slot: Slot, node: tree.Operand, row: Row) -> FieldValue:
    """Bind labels, names, strings, numbers and keywords."""
    if isinstance(node, tree.Junk):
        return None
    word = _word(node)
    match slot.shape:
        case Shape.LABEL if word is not None:
            return ctx.label(word, Role.TARGET, subroutine=row.flow in (FlowClass.CALL, FlowClass.KERNEL_CALL)).id
        case Shape.NAME | Shape.IDENTIFIER if word is not None:
            if slot.shape is Shape.IDENTIFIER and word.quoted:
                ctx.problem("quoted-name", word.span, name=word.text)
            return ctx.string(word.text)
        case Shape.STRING if isinstance(node, tree.Quoted):
            return ctx.string(node.text)
        case Shape.LABELS if isinstance(node, tree.Group):
            words = [_word(item) if isinstance(item, tree.Ref) else None for item in node.items]
            if all(words):
                return tuple(ctx.label(w, Role.TARGET).id for w in words if w is not None)
        case Shape.EXEC_WORD if word is not None and slot.words and word.text in slot.words:
            return slot.words[word.text]
        case Shape.INTEGER if (
            isinstance(node, tree.Literal)
            and node.suffix is None
            and not isinstance(node.value, tree.Float)
            and node.length == slot.length
        ):
            value = ctx.number(node.value)
            bits = _INT_BITS.get(row.fields[row.index[slot.name]].kind, 32)
            # Integers that are too large lose their upper bits, as in the real assembler.
            return None if value is None else value & (1 << bits) - 1
    ctx.problem("operand-class", node.span, slot=slot, got=operand_values.describe(ctx, node))
    return None


def _group(ctx: BindingPass, row: Row, slot: Slot, node: tree.Operand, values: dict[str, Value]) -> FieldValue:
    names = slot.name.split(",")
    slot = slot if slot.classes else _for_numbers(slot)
    items = list(node.items) if isinstance(node, tree.Group) else []
    if len(items) != len(names):
        ctx.problem("operand-class", node.span, slot=slot, got=operand_values.describe(ctx, node))
        return None
    group_values: list[ListItem] = []
    for name, item in zip(names, items, strict=True):
        value: ListItem = None
        kind = row.fields[row.index[name]].kind
        if kind is FieldKind.VECTOR:
            value = operand_values.vector(ctx, slot, item)
        elif isinstance(item, tree.Literal) and item.suffix is None:
            value = ctx.number(item.value)
        else:
            ctx.problem("operand-class", item.span, slot=slot, got=operand_values.describe(ctx, item))
        values[name] = value
        group_values.append(value)
    return tuple(group_values)


def _variable(ctx: BindingPass, slot: Slot, node: tree.Operand, values: dict[str, Value]) -> FieldValue:
    word = _word(node)
    if word is None:
        ctx.problem("operand-class", node.span, slot=slot, got=operand_values.describe(ctx, node))
        return None
    symbol = ctx.lookup(word, slot.role)
    if symbol is None:
        return None
    codes = {SymbolKind.GENERAL: 0, SymbolKind.ADDRESS: 1, SymbolKind.PREDICATE: 2}
    if symbol.kind not in codes:
        ctx.problem("operand-class", node.span, slot=slot, got=f"{symbol.kind.value} `{symbol.name}`")
        return None
    if word.text.startswith("%"):
        # The finalizer reads no predefined names here, except older spellings such as `V1`.
        ctx.problem("operand-class", node.span, slot=slot, got=f"predefined name `{word.text}`")
        return None
    prop = values["prop"]
    values["prop"] = (prop if isinstance(prop, int) else 0) | codes[symbol.kind] << 4
    return symbol.id
