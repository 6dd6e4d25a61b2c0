"""The words for a difference, in the names of the first body.

A name of the second body without a counterpart in the first is unchanged; if the first body uses that name for another
thing, a ``'`` is added, which no name contains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.compare.model import LABEL, ComparedBody, Ref
from visa_lsp.compare.refs import refs_of
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import Inst, Predicate
from visa_lsp.program.operand_text import OperandNames, instruction, modifiers, operand, predicate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.compare.renaming import Renaming

_NONE: Final = "none"
_MAX_MNEMONICS: Final = 6  # mnemonics of a stretch that are listed


def arrow(before: object, after: object) -> str:
    """Return ``before -> after``."""
    return f"{before} -> {after}"


def names_of_second(a: ComparedBody, b: ComparedBody, renaming: Renaming) -> OperandNames:
    """Return names for the second body's variables and labels in terms of the first."""
    back = {other: ref for ref, other in renaming.items()}
    ours = {a.name(ref) for ref in refs_of(a.kernel)}
    tables: dict[str, dict[int, str]] = {letter: {} for letter in "GAPST" + LABEL}
    for ref in refs_of(b.kernel):
        counterpart = back.get(ref)
        name = a.name(counterpart) if counterpart else b.name(ref)
        tables[ref[0]][ref[1]] = name if counterpart or name not in ours else f"{name}'"
    names = b.names
    return structs.replace(
        names,
        general={**names.general, **tables["G"]},
        address={**names.address, **tables["A"]},
        predicate={**names.predicate, **tables["P"]},
        sampler={**names.sampler, **tables["S"]},
        surface={**names.surface, **tables["T"]},
        labels={**names.labels, **tables[LABEL]},
    )


def name_in(names: OperandNames, ref: Ref) -> str:
    """Return the name of a variable or label."""
    table = {
        "G": names.general, "A": names.address, "P": names.predicate,
        "S": names.sampler, "T": names.surface, LABEL: names.labels,
    }[ref[0]]  # fmt: skip
    return table.get(ref[1], f"{ref[0]}{ref[1]}")


def instruction_text(inst: Inst, names: OperandNames) -> str:
    """Return an instruction as text, or the label of its record."""
    if not inst.row.opens_label:
        return instruction(names, inst)
    number = inst.values[0]
    return f"label {name_in(names, (LABEL, number))}" if isinstance(number, int) else LABEL


def stretch(instructions: Sequence[Inst], names: OperandNames) -> str:
    """Return words for a stretch of instructions and labels."""
    if len(instructions) == 1:
        return instruction_text(instructions[0], names)
    code = [inst.row.mnemonic for inst in instructions if not inst.row.opens_label]
    labels = len(instructions) - len(code)
    counts = [
        f"{n} {nouns[: -1 if n == 1 else None]}" for n, nouns in ((len(code), "instructions"), (labels, "labels")) if n
    ]
    return " and ".join(counts) + f": {join_words(code)}" * bool(code)


def join_words(words: Sequence[str]) -> str:
    """Return the first of ``words`` as a list in text."""
    return ", ".join(words[:_MAX_MNEMONICS]) + ", ..." * (len(words) > _MAX_MNEMONICS)


def describe_change(inst: Inst, names: OperandNames, other: Inst, its_names: OperandNames) -> str:
    """Return words for the differences of two instructions: word, predicate, lanes, then operand by operand."""
    if inst.row.opens_label or other.row.opens_label:
        return arrow(instruction_text(inst, names), instruction_text(other, its_names))
    words = list(_words(inst, names, other, its_names))
    lanes, operands = list(_lanes(inst, other)), list(_operands(inst, names, other, its_names))
    if lanes and not (words or operands):
        return "; ".join(lanes)  # because such a difference is common to whole stretches
    said = [*words, *lanes, *operands] or [f"{name} {arrow(value, its)}" for name, value, its in _fields(inst, other)]
    return f"{inst.row.mnemonic}: {'; '.join(said)}"


def _words(inst: Inst, names: OperandNames, other: Inst, its_names: OperandNames) -> Iterator[str]:
    for what, before, after in (
        ("opcode", inst.row.mnemonic, other.row.mnemonic),
        ("modifier", modifiers(inst), modifiers(other)),
        ("predicate", _guard(inst, names), _guard(other, its_names)),
    ):
        if before != after:
            yield f"{what} {arrow(before or _NONE, after or _NONE)}"


def _guard(inst: Inst, names: OperandNames) -> str:
    value = inst.get("pred")
    return predicate(names, value).strip() if isinstance(value, Predicate) else _NONE


def _lanes(inst: Inst, other: Inst) -> Iterator[str]:
    lanes, its = execution_of(inst), execution_of(other)
    if lanes is None or its is None or lanes == its:
        return
    if lanes.exec_size != its.exec_size:
        yield f"execution size {arrow(lanes.exec_size, its.exec_size)}"
    if (lanes.mask_offset, lanes.no_mask) != (its.mask_offset, its.no_mask):
        yield f"execution mask {arrow(_mask(lanes), _mask(its))}"


def execution_of(inst: Inst) -> ExecControl | None:
    """Return the lanes of an instruction."""
    return next((value for value in inst.values if isinstance(value, ExecControl)), None)


def _mask(lanes: ExecControl) -> str:
    return str(lanes).strip("()").partition(",")[0]


def _operands(inst: Inst, names: OperandNames, other: Inst, its_names: OperandNames) -> Iterator[str]:
    ours = {slot.name: operand(names, inst, slot) for slot in inst.row.slots}
    theirs = {slot.name: operand(its_names, other, slot) for slot in other.row.slots}
    for name in {**ours, **theirs}:
        before, after = ours.get(name), theirs.get(name)
        if before != after:
            yield f"{name} {arrow(before or _NONE, after or _NONE)}"


def _fields(inst: Inst, other: Inst) -> Iterator[tuple[str, object, object]]:
    """Yield the differences without a word in the text."""
    ours = dict(zip((f.name for f in inst.row.fields), inst.values, strict=True))
    theirs = dict(zip((f.name for f in other.row.fields), other.values, strict=True))
    for name in {**ours, **theirs}:
        if ours.get(name) != theirs.get(name):
            yield name, ours.get(name), theirs.get(name)
