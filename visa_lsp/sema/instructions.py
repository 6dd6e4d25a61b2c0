"""One instruction line bound to a row: modifiers, execution size, operands, field values.

Where a mnemonic has several rows, each is tried and the one with the fewest problems is kept, so that a line is judged
by the form that its author meant.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from visa_lsp.isa.lane import Effect
from visa_lsp.isa.model import ExecStyle, Field, FieldKind, Modifier, Role, Shape, Slot
from visa_lsp.isa.model import Instruction as Row
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.render_target import message_operands
from visa_lsp.isa.types import EXEC_SIZES, UD, ExecControl
from visa_lsp.program.model import (
    NULL_RAW,
    Combine,
    General,
    Immediate,
    Indirect,
    Inst,
    Predicate,
    PredicateOperand,
    RawOperand,
)  # fmt: skip
from visa_lsp.sema import lsc_operands, operands, seed
from visa_lsp.sema.context import HARMLESS
from visa_lsp.sema.model import Bound, BoundOperand, SymbolKind
from visa_lsp.sema.slots import bind_operand, items_of
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.model import FieldValue
    from visa_lsp.sema.context import Binding

_MASKS = {f"M{i}": (4 * (i - 1), False) for i in range(1, 9)} | {f"M{i}_NM": (4 * (i - 1), True) for i in range(1, 9)}
_MASKS["NoMask"] = (0, True)
_COMBINE = {"any": Combine.ANY, "all": Combine.ALL}
_NO_EXEC = ExecControl(1, 0, no_mask=True)


def instruction(ctx: Binding, node: tree.Instruction) -> Bound:
    """Bind one instruction line; problems go to the binding."""
    before = len(ctx.problems)
    rows, taken = seed.lookup(ctx, node)
    if not rows:
        ctx.problem("unknown-mnemonic", node.words[0].span, name=node.words[0].text)
        _note_names(ctx, node)
        return Bound(ctx.line, node, None, (), None)
    row = rows[0] if len(rows) == 1 else _choose(rows, node, taken)
    return _bind(ctx, node, row, taken, before)


def _choose(rows: Sequence[Row], node: tree.Instruction, taken: int) -> Row:
    """The row that fits the modifiers and the number of operands best; the first of equals."""

    def distance(row: Row) -> tuple[int, int]:
        _, bad, missing = match_modifiers(row, node.words[taken:])
        required = sum(not slot.optional for slot in row.slots)
        count = len(node.operands)
        many = bool(row.slots) and row.slots[-1].shape in (Shape.RAWS, Shape.VECTORS)
        off = max(0, required - count) + (0 if many else max(0, count - len(row.slots)))
        size = node.exec.size if node.exec is not None else None
        misfit = isinstance(size, tree.Number) and size.value not in row.exec_sizes
        return len(bad) + len(missing), off + misfit

    return min(rows, key=distance)


def match_modifiers(
    row: Row, words: Sequence[tree.Word]
) -> tuple[list[tuple[Modifier, int]], list[tree.Word], list[Modifier]]:
    """(modifiers with their values, words that fit none, required modifiers that are missing)."""
    found: list[tuple[Modifier, int]] = []
    bad: list[tree.Word] = []
    at = 0
    for word in words:
        for index in range(at, len(row.modifiers)):
            value = row.modifiers[index].parse(word.text)
            if value is not None:
                found.append((row.modifiers[index], value))
                at = index + 1
                break
            if not row.modifiers[index].optional:
                # A required word is missing here; later words may still fit what follows it.
                continue
        else:
            bad.append(word)
    have = {id(m) for m, _ in found}
    missing = [m for m in row.modifiers if not m.optional and id(m) not in have]
    return found, bad, missing


def _bind(ctx: Binding, node: tree.Instruction, row: Row, taken: int, before: int) -> Bound:
    line = node
    name_span = node.words[0].span
    if node.exec is None and row.exec_style is ExecStyle.MASKED:
        node = _with_strange_mask(node)
        line = node
    values: dict[str, object] = {}
    for f in row.fields:
        values[f.name] = f.const if f.const is not None else _default(f)
    modifiers, bad, missing = match_modifiers(row, node.words[taken:])
    for word in node.words[taken:]:
        found = next((m for m, _ in modifiers if word.text in m.seed_words), None)
        if found is not None:
            ctx.problem("seed-word", word.span, word=word.text, modern=found.format(found.words[word.text])[1:])
    node, size = seed.element_size(ctx, node, missing)
    if size is not None:
        modifiers.append(size)
        missing.remove(size[0])
    for word in bad:
        # On logic the finalizer reads a saturation and writes none.
        ignored = word.text == "sat" and row.family == "logic" and row.mnemonic != "bfn"
        ctx.problem("ignored-saturation" if ignored else "unknown-modifier", word.span, row=row, word=word.text)
    for modifier in missing:
        if not bad:
            ctx.problem("missing-modifier", name_span, row=row, modifier=modifier)
    saturate = False
    for modifier in row.modifiers:
        if modifier.optional and modifier.field in values and modifier.default:
            values[modifier.field] = _merge(values[modifier.field], modifier.default, modifier.mask)
    for modifier, value in modifiers:
        if modifier.field == "sat":
            saturate = True
        else:
            values[modifier.field] = _merge(values[modifier.field], value, modifier.mask)
    _execution(ctx, node, row, values)
    _predicate(ctx, node, row, values)
    bound = _operands(ctx, node, row, values)
    for operand in bound:
        if operand.value is None and operand.slot.name in row.index:
            values[operand.slot.name] = None
    if saturate:
        _saturate(values)
    clean = all(p.kind in HARMLESS for p in ctx.problems[before:]) and not node.errors
    inst = None
    if clean:
        _counts(row, values)
        lsc_operands.default_pitch(values)
        _tool_quirks(row, values)
        inst = Inst(row, tuple(cast("FieldValue", values[f.name]) for f in row.fields), ctx.line)
    return Bound(ctx.line, line, row, tuple(bound), inst)


def _with_strange_mask(node: tree.Instruction) -> tree.Instruction:
    """The instruction with a first operand such as ``(N1, 16)`` read as what it stands for: a parenthesis with no known mask."""
    match node.operands:
        case [
            tree.Group(
                items=(tree.Ref(name=mask, modifier=None, indices=None, region=None), tree.Literal() as size)
            ) as group,
            *rest,
        ] if size.suffix is None:
            return replace(node, exec=tree.ExecText(mask, size.value, group.span), operands=tuple(rest))
    return node


def _default(field: Field) -> object:
    default = field.default
    match field.kind:
        case FieldKind.EXEC_LOG2 if default:
            return ExecControl(1 << default)
        case FieldKind.EXEC | FieldKind.EXEC_CODE | FieldKind.EXEC_LOG2:
            return _NO_EXEC
        case FieldKind.PREDICATE:
            return None
        case FieldKind.RAW:
            return NULL_RAW
        case FieldKind.VECTOR:
            return Immediate(UD, default)
        case FieldKind.RAWS | FieldKind.LABELS | FieldKind.VECTORS:
            return ()
        case _:
            return default


def _merge(old: object, value: int, mask: int) -> object:
    if mask == -1 or not isinstance(old, int):
        return value
    return (old & ~mask) | (value & mask)


def _execution(ctx: Binding, node: tree.Instruction, row: Row, values: dict[str, object]) -> None:
    if row.exec_style is ExecStyle.NONE:
        if node.exec is not None:
            ctx.problem("unexpected-exec", node.exec.span, row=row)
        return
    field = next(
        (f.name for f in row.fields if f.kind in (FieldKind.EXEC, FieldKind.EXEC_CODE, FieldKind.EXEC_LOG2)), None
    )
    if node.exec is None:
        if not row.exec_optional:
            ctx.problem("missing-exec", node.words[0].span, row=row)
        return
    offset, no_mask = 0, seed.option(ctx, node)
    mask = node.exec.mask
    if mask is not None and mask.text in seed.MASKS:
        modern, unmasked = seed.MASKS[mask.text]
        no_mask |= unmasked
        ctx.problem("seed-mask", mask.span, name=mask.text, modern=modern)
    elif mask is not None:
        if mask.text not in _MASKS:
            ctx.problem("unknown-mask", mask.span, name=mask.text)
        offset, unmasked = _MASKS.get(mask.text, (0, False))
        no_mask |= unmasked
    size = ctx.number(node.exec.size)
    if size is None:
        return
    # An exec byte holds every size; where only an instruction's page forbids one, a rule says so and the object is made.
    kind = row.fields[row.index[field]].kind if field is not None else None
    if kind is FieldKind.EXEC_CODE and size in EXEC_SIZES and size not in row.exec_sizes:
        # The code knows three sizes; for any other the tool writes that of 16.
        ctx.problem("inexact-exec-size", node.exec.size.span, row=row, size=size)
        size = 16
    stored = kind is FieldKind.EXEC
    if size not in EXEC_SIZES or (size not in row.exec_sizes and not stored):
        ctx.problem("exec-size", node.exec.size.span, row=row, size=size)
        return
    if field is not None:
        values[field] = ExecControl(size, offset, no_mask)


def _predicate(ctx: Binding, node: tree.Instruction, row: Row, values: dict[str, object]) -> None:
    text = node.predicate
    if text is None:
        return
    symbol = ctx.lookup(text.name, Role.READ, expected="predicate variable")
    if symbol is None:
        return
    if symbol.kind is not SymbolKind.PREDICATE:
        ctx.problem("bad-predicate", text.name.span, name=symbol.name, got=symbol.kind.value)
        return
    combine = Combine.NONE
    if text.combine is not None:
        if text.combine.text not in _COMBINE:
            ctx.problem("bad-combine", text.combine.span, word=text.combine.text)
            return
        combine = _COMBINE[text.combine.text]
    if not row.predicable:
        ctx.problem("not-predicable", text.span, row=row)
        return
    if "pred" in values:
        values["pred"] = Predicate(symbol.id, text.inverse, combine)


def assign(
    row: Row, nodes: Sequence[tree.Operand]
) -> tuple[list[tuple[Slot, tree.Operand]], list[Slot], list[tree.Operand]]:
    """(slots with their operands, slots left empty, operands left over).

    Optional slots are filled only when there are more operands than the required slots behind them need.
    """
    pairs: list[tuple[Slot, tree.Operand]] = []
    at = 0
    slots = row.slots
    for index, slot in enumerate(slots):
        left = len(nodes) - at
        if slot.shape in (Shape.RAWS, Shape.VECTORS):
            keep = sum(not s.optional for s in slots[index + 1 :])
            take = max(0, left - keep)
            pairs.extend((slot, node) for node in nodes[at : at + take])
            at += take
            continue
        needed = sum(not s.optional for s in slots[index:])
        if slot.optional and left <= needed:
            continue
        if left == 0:
            return pairs, [s for s in slots[index:] if not s.optional], []
        pairs.append((slot, nodes[at]))
        at += 1
    return pairs, [], list(nodes[at:])


def _operands(ctx: Binding, node: tree.Instruction, row: Row, values: dict[str, object]) -> list[BoundOperand]:
    pairs, missing, extra = assign(row, node.operands)
    if missing or extra:
        at = extra[0].span if extra else node.words[0].span
        required = sum(not s.optional for s in row.slots)
        ctx.problem("operand-count", at, row=row, missing=missing, got=len(node.operands), required=required)
    bound = []
    for slot, operand in seed.sampler_order(ctx, pairs):
        value = bind_operand(ctx, row, slot, operand, values)
        bound.append(BoundOperand(slot, operand, value))
    _message_operands(ctx, node, row, values)
    for operand in extra:
        _note_operand(ctx, operand)
    return bound


def _message_operands(ctx: Binding, node: tree.Instruction, row: Row, values: dict[str, object]) -> None:
    """The mode word of a render target message says which operands there are."""
    slot = next((s for s in row.slots if s.shape is Shape.VECTORS), None)
    mode = values.get("mode")
    if slot is None or not isinstance(mode, int):
        return
    wanted = message_operands(mode, with_header=True)
    items = items_of(values.get(slot.name))
    others = len(row.slots) - 1
    if len(items) != len(wanted):
        ctx.problem(
            "operand-count",
            node.words[0].span,
            row=row,
            missing=[],
            got=len(node.operands),
            required=len(wanted) + others,
        )
        return
    for item, vector, operand in zip(items, wanted, node.operands[others:], strict=True):
        if item is not None and vector == isinstance(item, RawOperand):
            got = operands.describe(ctx, operand)
            ctx.problem(
                "operand-class",
                operand.span,
                slot=slot,
                got=got,
                expected="a vector operand" if vector else "a raw operand",
            )


def _saturate(values: dict[str, object]) -> None:
    dst = values.get("dst")
    if isinstance(dst, (General, Indirect)):
        values["dst"] = replace(dst, modifier=OperandModifier.SAT)


def _counts(row: Row, values: dict[str, object]) -> None:
    """Fill COUNT fields with the length of the record's list."""
    lists = [f for f in row.fields if f.kind in (FieldKind.RAWS, FieldKind.LABELS, FieldKind.VECTORS)]
    for f in row.fields:
        if f.kind is FieldKind.COUNT and lists:
            values[f.name] = len(items_of(values[lists[0].name]))


def _tool_quirks(row: Row, values: dict[str, object]) -> None:
    """What the real tool writes where the text says something else or nothing."""
    if isinstance(values.get("src0"), PredicateOperand) and row.meaning == Effect("mov"):
        # A move from a predicate reads all its bits whatever size the text gives: (M1_NM, 1) is written.
        values["exec"] = _NO_EXEC
    elif row.meaning == Effect("jmp"):
        # The whole thread jumps: size 1 under M1 is written, whatever the parenthesis says.
        values["exec"] = ExecControl(1)
    elif row.family == "logic" and isinstance(values.get("dst"), PredicateOperand):
        values["pred"] = None  # lost: logic on predicates writes every lane of the mask
    named = {s.name for s in row.slots}
    for before, f in itertools.pairwise(row.fields):
        # A vector item without an operand repeats the one before it (the thread count of a named barrier's wait).
        repeats = (
            f.kind is before.kind is FieldKind.VECTOR and f.stored and f.name not in named and before.name in named
        )
        if repeats and all(s.shape is Shape.VECTOR for s in row.slots):
            values[f.name] = values[before.name]


def _note_operand(ctx: Binding, node: tree.Operand) -> None:
    """Note the uses of names in an operand that has no slot, so that they count as used."""
    if isinstance(node, (tree.Ref, tree.IndirectRef, tree.AddressOfRef)):
        symbol = ctx.scope.find(node.name.text) or ctx.body.predefined.get(node.name.text)
        if symbol is not None:
            ctx.lookup(node.name, Role.OTHER)


def _note_names(ctx: Binding, node: tree.Instruction) -> None:
    for operand in node.operands:
        _note_operand(ctx, operand)
