"""Binds an instruction line to a row: modifiers, execution size, operands, field values.

Of several rows of a mnemonic, the one with the fewest problems is used, because this is most likely the intended form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from visa_lsp.isa.model import Dialect, ExecStyle, Field, FieldKind, Modifier, Role, Shape, Slot
from visa_lsp.isa.model import Instruction as Row
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.render_target import message_operands
from visa_lsp.isa.types import EXEC_SIZES, ExecControl
from visa_lsp.program.model import (
    Combine,
    General,
    Indirect,
    Inst,
    Predicate,
    PredicateOperand,
    RawOperand,
)  # fmt: skip
from visa_lsp.sema import lsc_operands, operand_values, seed
from visa_lsp.sema.binding_pass import HARMLESS, BindingPass
from visa_lsp.sema.model import Bound, BoundOperand, SymbolKind
from visa_lsp.sema.plans import NO_EXEC, RowPlan, fill_slots, merge, plan_of, wording_of
from visa_lsp.sema.slots import bind_operand, items_of
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.model import Value

_MASKS = {f"M{i}": (4 * (i - 1), False) for i in range(1, 9)} | {f"M{i}_NM": (4 * (i - 1), True) for i in range(1, 9)}
_MASKS["NoMask"] = (0, True)
_COMBINE = {"any": Combine.ANY, "all": Combine.ALL}


def instruction(ctx: BindingPass, node: tree.Instruction) -> Bound:
    """Bind one instruction line; problems are added to the binding."""
    before = len(ctx.problems)
    rows, taken = seed.lookup(ctx, node)
    if not rows:
        ctx.problem("unknown-mnemonic", node.words[0].span, name=node.words[0].text)
        _note_names(ctx, node)
        return Bound(ctx.line, node, None, (), None)
    row = rows[0] if len(rows) == 1 else _choose(rows, node, taken, Dialect.V42 if ctx.newest else Dialect.V41)
    return _bind(ctx, node, row, taken, before)


def _choose(rows: Sequence[Row], node: tree.Instruction, taken: int, dialect: Dialect) -> Row:
    """Return the row that best fits the modifiers and the number of operands; of equal ones the first of the text's dialect."""

    def distance(row: Row) -> tuple[int, int, bool]:
        _, bad, missing = match_modifiers(row, node.words[taken:])
        required = sum(not slot.optional for slot in row.slots)
        count = len(node.operands)
        many = bool(row.slots) and row.slots[-1].shape in (Shape.RAWS, Shape.VECTORS)
        off = max(0, required - count) + (0 if many else max(0, count - len(row.slots)))
        size = node.exec.size if node.exec is not None else None
        misfit = isinstance(size, tree.Number) and size.value not in row.exec_sizes
        return len(bad) + len(missing), off + misfit, dialect not in row.dialects

    return min(rows, key=distance)


def match_modifiers(
    row: Row, words: Sequence[tree.Word]
) -> tuple[list[tuple[Modifier, int]], list[tree.Word], list[Modifier]]:
    """Return modifiers with their values, unknown words, and missing required modifiers."""
    wording = wording_of(row, tuple([word.text for word in words]))
    return list(wording.modifiers), [words[number] for number in wording.bad], list(wording.missing)


def _bind(ctx: BindingPass, node: tree.Instruction, row: Row, taken: int, before: int) -> Bound:
    line = node
    name_span = node.words[0].span
    if node.exec is None and row.exec_style is ExecStyle.MASKED:
        node = _with_strange_mask(node)
        line = node
    words = node.words[taken:]
    plan, wording = plan_of(row), wording_of(row, tuple([word.text for word in words]))
    values = dict(wording.values)
    if ctx.newest:
        values.update(wording.newest)
    for number, modern in wording.seed:
        ctx.problem("seed-word", words[number].span, word=words[number].text, modern=modern)
    missing = list(wording.missing)
    if missing:
        node, size = seed.element_size(ctx, node, missing)
        if size is not None:
            merge(values, *size)
            missing.remove(size[0])
    for word in [words[number] for number in wording.bad]:
        # On logic the finalizer accepts a saturation but does not write it.
        ignored = word.text == "sat" and row.saturation_dropped
        kind = "ignored-saturation" if ignored else "unknown-modifier"
        read = tuple([modifier for modifier, _ in wording.modifiers])
        ctx.problem(kind, word.span, row=row, word=word.text, read=read)
    for modifier in missing:
        if not wording.bad:
            ctx.problem("missing-modifier", name_span, row=row, modifier=modifier)
    _execution(ctx, node, row, plan.exec_field, values)
    _predicate(ctx, node, row, values)
    bound = _operands(ctx, node, row, plan, values)
    for operand in bound:
        if operand.value is None and operand.slot.name in row.index:
            values[operand.slot.name] = None
    if wording.saturates:
        _saturate(values)
    inst = None
    if not node.errors and HARMLESS.issuperset([p.kind for p in ctx.problems[before:]]):
        for count, items in plan.counts:
            values[count] = len(items_of(values[items]))
        lsc_operands.default_pitch(values)
        _tool_quirks(row, plan, values)
        inst = Inst(row, tuple([values[name] for name in plan.names]), ctx.line)
    return Bound(ctx.line, line, row, tuple(bound), inst)


def _with_strange_mask(node: tree.Instruction) -> tree.Instruction:
    """Return the instruction with a first operand such as ``(N1, 16)`` read as an execution size with an unknown mask."""
    match node.operands:
        case [
            tree.Group(
                items=(tree.Ref(name=mask, modifier=None, indices=None, region=None), tree.Literal() as size)
            ) as group,
            *rest,
        ] if size.suffix is None:
            return replace(node, exec=tree.ExecText(mask, size.value, group.span), operands=tuple(rest))
    return node


def _execution(
    ctx: BindingPass, node: tree.Instruction, row: Row, field: Field | None, values: dict[str, Value]
) -> None:
    if row.exec_style is ExecStyle.NONE:
        if node.exec is not None:
            ctx.problem("unexpected-exec", node.exec.span, row=row)
        return
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
        if row.mask_refused:
            ctx.problem("refused-mask", mask.span)
        elif mask.text not in _MASKS:
            ctx.problem("unknown-mask", mask.span, name=mask.text)
        offset, unmasked = _MASKS.get(mask.text, (0, False))
        no_mask |= unmasked
    size = ctx.number(node.exec.size)
    if size is None:
        return
    # An exec byte can hold every size; if only an instruction's page forbids one, a rule reports it and the object is
    # still made.
    kind = field.kind if field is not None else None
    if kind is FieldKind.EXEC_CODE and size in EXEC_SIZES and size not in row.exec_sizes:
        # The code has three sizes; for any other size the assembler writes the code of 16.
        ctx.problem("inexact-exec-size", node.exec.size.span, row=row, size=size)
        size = 16
    if size in row.exec_stored:
        ctx.problem("inexact-exec-size", node.exec.size.span, row=row, size=size)
        size = row.exec_stored[size]
    stored = kind is FieldKind.EXEC
    if size not in EXEC_SIZES or (size not in row.exec_sizes and not stored):
        ctx.problem("exec-size", node.exec.size.span, row=row, size=size)
        return
    if field is not None:
        values[field.name] = ExecControl(size, offset, no_mask)


def _predicate(ctx: BindingPass, node: tree.Instruction, row: Row, values: dict[str, Value]) -> None:
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


def _operands(
    ctx: BindingPass, node: tree.Instruction, row: Row, plan: RowPlan, values: dict[str, Value]
) -> list[BoundOperand]:
    slots, missing = fill_slots(row, len(node.operands))
    extra = node.operands[len(slots) :]
    if missing or extra:
        span = extra[0].span if extra else node.words[0].span
        required = sum(not s.optional for s in row.slots)
        ctx.problem("operand-count", span, row=row, missing=list(missing), got=len(node.operands), required=required)
    pairs = list(zip(slots, node.operands, strict=False))
    if plan.sampler_first:
        pairs = seed.sampler_order(ctx, pairs)
    bound = []
    for slot, operand in pairs:
        value = bind_operand(ctx, row, slot, operand, values)
        bound.append(BoundOperand(slot, operand, value))
    if plan.message is not None:
        _message_operands(ctx, node, row, plan.message, values)
    for operand in extra:
        _note_operand(ctx, operand)
    return bound


def _message_operands(ctx: BindingPass, node: tree.Instruction, row: Row, slot: Slot, values: dict[str, Value]) -> None:
    """Check that a render target message has the operands that its mode word selects."""
    mode = values.get("mode")
    if not isinstance(mode, int):
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
            got = operand_values.describe(ctx, operand)
            ctx.problem(
                "operand-class",
                operand.span,
                slot=slot,
                got=got,
                expected="a vector operand" if vector else "a raw operand",
            )


def _saturate(values: dict[str, Value]) -> None:
    dst = values.get("dst")
    if isinstance(dst, (General, Indirect)):
        values["dst"] = replace(dst, modifier=OperandModifier.SAT)


def _tool_quirks(row: Row, plan: RowPlan, values: dict[str, Value]) -> None:
    """Set the values that the finalizer writes although the text has other values or none."""
    if plan.moves and isinstance(values.get("src0"), PredicateOperand):
        # (M1_NM, 1) because a move from a predicate always reads all its bits.
        values["exec"] = NO_EXEC
    elif plan.jumps:
        # Size 1 under M1 because the whole thread jumps.
        values["exec"] = ExecControl(1)
    elif row.family == "logic" and isinstance(values.get("dst"), PredicateOperand):
        values["pred"] = None  # the object loses it, because logic on predicates writes every lane of the mask
    for name, repeated in plan.repeats:
        values[name] = values[repeated]


def _note_operand(ctx: BindingPass, node: tree.Operand) -> None:
    """Record the uses of names in an operand without a slot, so that they count as used."""
    if isinstance(node, (tree.Ref, tree.IndirectRef, tree.AddressOfRef)):
        symbol = ctx.scope.visible(node.name.text) or ctx.body.predefined.get(node.name.text)
        if symbol is not None:
            ctx.lookup(node.name, Role.OTHER)


def _note_names(ctx: BindingPass, node: tree.Instruction) -> None:
    for operand in node.operands:
        _note_operand(ctx, operand)
