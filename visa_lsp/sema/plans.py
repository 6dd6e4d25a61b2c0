"""Plans for binding an instruction, which depend only on its row and its dotted words; computed once for all such lines.

Knows rows and words, but no text and no symbols. Plans are shared and must not be changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from visa_lsp.isa.model import Field, FieldKind, FlowClass, Modifier, Shape, Slot, Trait
from visa_lsp.isa.model import Instruction as Row
from visa_lsp.isa.types import UD, ExecControl
from visa_lsp.program.model import NULL_RAW, Immediate, Value

NO_EXEC = ExecControl(1, 0, no_mask=True)
_LISTS = (FieldKind.RAWS, FieldKind.LABELS, FieldKind.VECTORS)


class RowPlan(Struct, frozen=True, eq=False):
    """The part of a row that determines the values of its lines."""

    names: tuple[str, ...]  # of the fields, in order
    exec_field: Field | None
    message: Slot | None  # the slot of the operands of a render target message
    sampler_first: bool  # whether a surface follows a sampler
    counts: tuple[tuple[str, str], ...]  # fields that hold the length of a list, with the list
    repeats: tuple[tuple[str, str], ...]  # vector items without an operand, with the item that they repeat
    moves: bool
    jumps: bool


@lru_cache(maxsize=4096)
def plan_of(row: Row) -> RowPlan:
    """Return the plan of a row."""
    lists = [f.name for f in row.fields if f.kind in _LISTS]
    named = {slot.name for slot in row.slots}
    pairs = itertools.pairwise(row.fields) if all(s.shape is Shape.VECTOR for s in row.slots) else ()
    return RowPlan(
        tuple([f.name for f in row.fields]),
        next((f for f in row.fields if f.kind in (FieldKind.EXEC, FieldKind.EXEC_CODE, FieldKind.EXEC_LOG2)), None),
        next((s for s in row.slots if s.shape is Shape.VECTORS), None),
        any((a.shape, b.shape) == (Shape.SAMPLER, Shape.SURFACE) for a, b in itertools.pairwise(row.slots)),
        tuple([(f.name, lists[0]) for f in row.fields if f.kind is FieldKind.COUNT and lists]),
        # The thread count of a named barrier's wait repeats one too.
        tuple([
            (f.name, before.name)
            for before, f in pairs
            if f.kind is before.kind is FieldKind.VECTOR and f.stored and f.name not in named and before.name in named
        ]),
        row.has(Trait.COPIES),
        row.flow is FlowClass.JUMP,
    )  # fmt: skip


class Wording(Struct, frozen=True, eq=False):
    """The words after a mnemonic, by their numbers, and their field values."""

    modifiers: tuple[tuple[Modifier, int], ...]
    bad: tuple[int, ...]  # words that fit no modifier
    missing: tuple[Modifier, ...]
    seed: tuple[tuple[int, str], ...]  # words of the seed only, with their modern form
    saturates: bool
    values: Mapping[str, Value]
    newest: tuple[tuple[str, int], ...]  # fields with another default in text 4.2 if their words are missing


@lru_cache(maxsize=2048)
def wording_of(row: Row, words: tuple[str, ...]) -> Wording:
    """Return the meanings of the words after the mnemonic of a row."""
    modifiers: list[tuple[Modifier, int]] = []
    bad: list[int] = []
    next_index = 0
    for number, word in enumerate(words):
        for index in range(next_index, len(row.modifiers)):
            value = row.modifiers[index].parse(word)
            if value is not None:
                modifiers.append((row.modifiers[index], value))
                next_index = index + 1
                break
            if not row.modifiers[index].optional:
                # A required word is missing here; later words may still fit the next modifiers.
                continue
        else:
            bad.append(number)
    have = {id(m) for m, _ in modifiers}
    seed = [(n, next((m for m, _ in modifiers if word in m.seed_words), None)) for n, word in enumerate(words)]
    return Wording(
        tuple(modifiers),
        tuple(bad),
        tuple([m for m in row.modifiers if not m.optional and id(m) not in have]),
        tuple([(n, m.format(m.words[words[n]])[1:]) for n, m in seed if m is not None]),
        any(m.field == "sat" for m, _ in modifiers),
        _values(row, modifiers),
        tuple([(m.field, m.newest) for m in row.modifiers if m.newest is not None and id(m) not in have]),
    )


def _values(row: Row, modifiers: list[tuple[Modifier, int]]) -> dict[str, Value]:
    values: dict[str, Value] = {f.name: f.const if f.const is not None else _default(f) for f in row.fields}
    for modifier in row.modifiers:
        if modifier.optional and modifier.field in values and modifier.default:
            merge(values, modifier, modifier.default)
    for modifier, value in modifiers:
        if modifier.field != "sat":
            merge(values, modifier, value)
    return values


def merge(values: dict[str, Value], modifier: Modifier, value: int) -> None:
    """Put the bits of a modifier into its field."""
    old, mask = values[modifier.field], modifier.mask
    values[modifier.field] = value if mask == -1 or not isinstance(old, int) else (old & ~mask) | (value & mask)


def _default(field: Field) -> Value:
    default = field.default
    match field.kind:
        case FieldKind.EXEC_LOG2 if default:
            return ExecControl(1 << default)
        case FieldKind.EXEC | FieldKind.EXEC_CODE | FieldKind.EXEC_LOG2:
            return NO_EXEC
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


@lru_cache(maxsize=512)
def fill_slots(row: Row, count: int) -> tuple[tuple[Slot, ...], tuple[Slot, ...]]:
    """Return the slots for this number of operands, in order, and the empty slots.

    An optional slot is filled only if there are more operands than the later required slots need.
    """
    taken: list[Slot] = []
    slots = row.slots
    for index, slot in enumerate(slots):
        left = count - len(taken)
        if slot.shape in (Shape.RAWS, Shape.VECTORS):
            taken += [slot] * max(0, left - sum(not s.optional for s in slots[index + 1 :]))
            continue
        if slot.optional and left <= sum(not s.optional for s in slots[index:]):
            continue
        if left == 0:
            return tuple(taken), tuple([s for s in slots[index:] if not s.optional])
        taken.append(slot)
    return tuple(taken), ()
