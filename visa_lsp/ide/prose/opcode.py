"""Prose for the hover of a mnemonic, a modifier, a mask and an execution size: rows of the table in Markdown.

Everything comes from the row, without special cases for single instructions. Knows no text and no symbols.
"""

from __future__ import annotations

from collections.abc import Sequence

from visa_lsp.ide.prose.markdown import code
from visa_lsp.ide.prose.message import describe_form
from visa_lsp.isa.glossary import meaning
from visa_lsp.isa.model import EVERY_DIALECT, Dialect, Instruction, Modifier, Role, Shape, Slot
from visa_lsp.isa.operands import describe_classes
from visa_lsp.isa.platforms import PLATFORMS
from visa_lsp.isa.types import FLOAT_TYPES, INT_TYPES, SCALAR_TYPES, TYPES, DataType

_DIALECT_ORDER = (Dialect.SEED, Dialect.V41, Dialect.V42)


def describe_row(row: Instruction) -> str:
    """Return the whole page of an instruction: syntax, operands, semantics, pitfalls, dialects and platforms."""
    parts = [f"```visa\n{row.syntax}\n```", f"**{row.mnemonic}** — {row.summary}"]
    if row.detail:
        parts.append(row.detail)
    if row.slots:
        parts.append("**Operands**\n\n" + "\n".join(f"- {describe_slot(slot)}" for slot in row.slots))
    if row.modifiers:
        parts.append("**Modifiers**\n\n" + "\n".join(f"- {describe_modifier(m)}" for m in row.modifiers))
    memory = describe_form(row.meaning)
    if memory:
        parts.append("**Memory**\n\n" + "\n".join(f"- {line}" for line in memory))
    limits = type_limits(row)
    if limits:
        parts.append("**Types**\n\n" + "\n".join(f"- {line}" for line in limits))
    if row.pitfalls:
        parts.append("**Take care**\n\n" + "\n".join(f"- {pitfall}" for pitfall in row.pitfalls))
    parts.append(_facts(row))
    return "\n\n".join(parts)


def describe_rows(rows: Sequence[Instruction], chosen: Instruction | None = None) -> str:
    """Return the page of a mnemonic: the chosen row in full, and the syntax of its other rows."""
    main_row = chosen or rows[0]
    text = describe_row(main_row)
    others = [row for row in rows if row is not main_row]
    if others:
        text += "\n\n**Other forms**\n\n" + "\n".join(f"- `{row.syntax}` — {row.summary}" for row in others)
    return text


def describe_slot(slot: Slot) -> str:
    """Return one line about an operand: name, role, allowed forms, types."""
    if slot.shape in (Shape.VECTOR, Shape.SIMPLE) and slot.classes:
        what = describe_classes(slot.classes)
    else:
        what = slot.shape.value
    notes = [slot.role.value] if slot.role in (Role.READ, Role.WRITE, Role.READ_WRITE) else []
    notes.append(what)
    if slot.types:
        notes.append(f"type {type_list(slot.types)}")
    if slot.scalar:
        notes.append("first element only")
    if slot.grf_aligned:
        notes.append("GRF-aligned")
    if slot.words:
        notes.append("one of " + ", ".join(f"`{word}`" for word in slot.words))
    name = f"`{slot.name}`" + (" (may be left out)" if slot.optional else "")
    doc = f"{slot.doc}; " if slot.doc else ""
    return f"{name}: {doc}{'; '.join(notes)}"


def type_list(types: frozenset[DataType]) -> str:
    """Return a set of types by the words of a well-known set, else by names."""
    for named_types, word in ((SCALAR_TYPES, "any scalar"), (INT_TYPES, "any integer"), (FLOAT_TYPES, "any float")):
        if types == named_types:
            return word
    return ", ".join(f"`{t.name}`" for t in TYPES if t in types)


def type_limits(row: Instruction) -> list[str]:
    """Return the row's restrictions on combinations of types and on platforms, a line each."""
    lines = []
    for rule in row.together:
        by_slot = ", ".join(f"`{name}` {type_list(types)}" for name, types in rule.types.items())
        notes = [
            text
            for text, holds in (("unmasked", rule.unmasked), ("no predicate or source modifier", rule.plain))
            if holds
        ]
        lines.append("; ".join([f"{by_slot}: {platforms(rule.platforms)}", *notes]))
    if row.brain is not None:
        beside = type_list(row.brain.beside)
        lines.append(f"with a `bf` among them every operand is {beside}: {platforms(row.brain.platforms)}")
    lines.extend(
        f"no {type_list(lack.types).removeprefix('any ')}{' as result' if lack.result else ''}: {platforms(lack.platforms)}"
        for lack in row.lacks
    )
    saturation = row.saturation
    if saturation is not None:
        if saturation.types is None:
            lines.append(f"`.sat`: {platforms(saturation.platforms)}")
        else:
            lines.append(f"`.sat` with a result of {type_list(saturation.types)}" if saturation.types else "no `.sat`")
    return lines


def describe_modifier(modifier: Modifier) -> str:
    """Return one line about a modifier: its words and their effects."""
    if modifier.kind in (Modifier.Kind.WORD, Modifier.Kind.LETTERS, Modifier.Kind.ANGLE) and modifier.words:
        words = list(modifier.words)
        shown = ", ".join(f"`.{word}`" for word in words[:16]) + (", ..." if len(words) > 16 else "")
    else:
        shown = f"{modifier.kind.value} `.{modifier.field}`"
    may = " (may be left out)" if modifier.optional else ""
    return f"{shown}{may}: {modifier.doc}" if modifier.doc else f"{shown}{may}"


def _facts(row: Instruction) -> str:
    facts = [f"Family {row.family}"]
    if row.opcode is not None:
        facts.append(f"opcode `{row.opcode:#04x}`")
    elif row.seed_opcode is not None:
        facts.append(f"opcode `{row.seed_opcode:#04x}` in the seed only")
    else:
        facts.append("no object form")
    if row.exec_sizes != (1, 2, 4, 8, 16, 32):
        facts.append("execution sizes " + ", ".join(map(str, row.exec_sizes)))
    facts.append(f"dialects {dialects(row)}")
    facts.append(f"platforms {platforms(row.platforms)}")
    if not row.predicable:
        facts.append("takes no predicate")
    elif row.predicate_lost:
        facts.append("a predicate is accepted and lost")
    return " · ".join(facts)


def dialects(row: Instruction) -> str:
    """Return the dialects of a row in words."""
    if row.dialects == EVERY_DIALECT:
        return "all"
    return ", ".join(d.value for d in _DIALECT_ORDER if d in row.dialects)


def platforms(names: frozenset[str]) -> str:
    """Return a set of platforms as ranges: ``all``, ``TGLLP and later``, ``BDW to ICLLP``."""
    order = [p.name for p in PLATFORMS]
    runs: list[tuple[int, int]] = []
    for index, name in enumerate(order):
        if name not in names:
            continue
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    if runs == [(0, len(order) - 1)]:
        return "all"
    words = []
    for start, end in runs:
        if start == end:
            words.append(order[start])
        elif end == len(order) - 1:
            words.append(f"{order[start]} and later")
        else:
            words.append(f"{order[start]} to {order[end]}")
    return ", ".join(words) or "none"


def describe_mask(text: str) -> str:
    """Return the lanes that an execution mask word selects."""
    base, no_mask = (text[:-3], True) if text.endswith("_NM") else (text, text == "NoMask")
    if text in ("NoMask", "NM"):
        base = "M1"
    first_lane = 4 * (int(base[1:]) - 1) if base[:1] == "M" and base[1:].isdigit() else None
    if first_lane is None or not 0 <= first_lane < 32:
        return f"{code(text)} is not an execution mask; expected M1 to M8, M1_NM to M8_NM or NoMask"
    where = f"lanes from {first_lane} on of the thread's execution mask"
    if no_mask:
        return (
            f"**{text}** — no mask: every lane of the instruction is enabled, also those that control flow has switched"
            f" off. Predicate bits and lane numbers still count from lane {first_lane}."
        )
    return f"**{text}** — execution mask: uses {where}. A lane runs where its bit is set and the predicate, if any, is true."


def describe_exec_size(size: int | None, mask: str | None) -> str:
    """Return the number and range of an instruction's lanes."""
    if size is None:
        return meaning("execution size")
    word = "lane" if size == 1 else "lanes"
    base = (mask or "M1").removesuffix("_NM")
    text = f"**execution size {size}** — the instruction has {size} {word}"
    if base[:1] == "M" and base[1:].isdigit():
        first_lane = 4 * (int(base[1:]) - 1)
        text += f": {first_lane}" + (f" to {first_lane + size - 1}" if size > 1 else "") + " of the thread"
    return text
