"""The second half of ``docs/instructions.md``: the records that instructions have in an object, and the codes of their words.

Derived from the rows alone. ``docs/format.md`` explains the letters; this module holds no facts about instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.isa.model import Dialect, Field, Instruction, Modifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from visa_lsp.isa.table import InstructionTable

_RECORDS: Final = """## Records

The fields after the opcode byte in an object of version 4.1, in this order, without padding: `name:kind`, kinds as
[format.md](format.md#instruction-records) lists them. `=n` is a value that is always the same, `=n/m` one that is fixed in
the bits of the mask `m` only, `=*` the value in parentheses behind the mnemonic, by which instructions of one opcode differ.

| opcode | mnemonics | record |
| --- | --- | --- |"""

_WORDS: Final = """## Words after the mnemonic

The words of text 4.1 and of the seed. Each gives the value of a field, or of the bits of it that the mask in parentheses names. `sat` is
not a field but modifier 4 of the destination.

| field | words | mnemonics |
| --- | --- | --- |"""

_SPELT: Final = {
    Modifier.Kind.CHANNELS: "any of R 1, G 2, B 4, A 8",
    Modifier.Kind.HEX: "`x` and two hexadecimal digits",
    Modifier.Kind.NUMBER: "a decimal number",
}


def records(table: InstructionTable) -> Iterator[str]:
    """Yield the lines of the two sections, for all rows except those of text 4.2, which has no objects."""
    rows = [row for row in table.rows if row.dialects != {Dialect.V42}]
    yield _RECORDS
    groups: dict[tuple[int, tuple[str, ...]], list[Instruction]] = {}
    for row in rows:
        if row.opcode is not None:
            groups.setdefault((row.opcode, tuple(map(_outline, _list_stored(row)))), []).append(row)
    for (opcode, _), alike in sorted(groups.items(), key=lambda item: item[0][0]):
        yield f"| 0x{opcode:02X} | {_mnemonics(alike)} | {record_of(alike)} |"
    yield ""
    yield _WORDS
    words: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        for name, text in _words(row):
            words.setdefault((name, text), {})[f"`{row.mnemonic}`"] = None
    for (name, text), mnemonics in sorted(words.items()):
        yield f"| {name} | {text} | {', '.join(mnemonics)} |"


def _list_stored(row: Instruction) -> list[Field]:
    return [field for field in row.fields if field.stored]


def _outline(field: Field) -> str:
    """Return the common outline of the fields of one group."""
    return f"{_item(field)} {field.const is not None} {field.const_mask}"


def _item(field: Field) -> str:
    kind = field.kind.value
    return kind if kind in ("E", "P") else f"{field.name}:{kind}"


def _constant(field: Field) -> str:
    mask = "" if field.const_mask == -1 else f"/{field.const_mask:#x}"
    return f"{field.const}{mask}"


def _find_varying(rows: Iterable[Instruction]) -> list[bool]:
    """Return, for each field, whether the rows of a group have different constants there."""
    return [len({field.const for field in fields}) > 1 for fields in zip(*map(_list_stored, rows), strict=True)]


def record_of(rows: list[Instruction]) -> str:
    """Return the items of a record, as Markdown, for rows that share an opcode and differ in constants."""
    items = []
    for field, varies in zip(_list_stored(rows[0]), _find_varying(rows), strict=True):
        fixed = "" if field.const is None else "=*" if varies else f"={_constant(field)}"
        items.append(f"`{_item(field)}{fixed}`")
    return " ".join(items) or "nothing"


def _mnemonics(rows: list[Instruction]) -> str:
    varying = _find_varying(rows)
    names: dict[str, None] = {}
    for row in rows:
        values = [_constant(field) for field, varies in zip(_list_stored(row), varying, strict=True) if varies]
        names[f"`{row.mnemonic}`" + (f" ({', '.join(values)})" if values else "")] = None
    return ", ".join(names)


def _words(row: Instruction) -> Iterator[tuple[str, str]]:
    """Return field and words of each modifier of a row, and of each operand that is a word."""
    forgotten = {field.name for field in row.fields if not field.stored}
    for modifier in row.modifiers:
        name = f"`{modifier.field}`" + ("" if modifier.mask == -1 else f" ({modifier.mask:#x})")
        name += " (in no object)" if modifier.field in forgotten else ""
        text = _SPELT.get(modifier.kind) or _format_codes(modifier.words)
        if modifier.kind is Modifier.Kind.LETTERS:
            text += ", any in this order"
        yield name, text + (f"; {modifier.default} if left out" if modifier.optional else "")
    for slot in row.slots:
        if slot.words:
            yield f"`{slot.name}`", _format_codes(slot.words)


def _format_codes(words: Mapping[str, int]) -> str:
    return ", ".join(f"`{word}` {code}" for word, code in words.items())
