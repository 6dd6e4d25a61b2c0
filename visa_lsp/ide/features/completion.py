"""Completion: proposals for the cursor, best first, with the text that each inserts.

``cursor_context`` determines what is expected; the table, the binding and the attribute tables provide the proposals. Snippets
use the placeholder form ``${1:text}``; the rim strips it for editors without snippets.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.features.hover import DIRECTIVES
from visa_lsp.ide.index.cursor_context import Context, Expected, context_at
from visa_lsp.ide.index.focus import WHOLE, Focus, focus
from visa_lsp.ide.index.text_index import BodyChunks, Index, index_of, words_of
from visa_lsp.ide.prose.opcode import describe_row, describe_rows
from visa_lsp.ide.prose.symbol import describe_symbol
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES, VARIABLE_ATTRIBUTES, AttributeKind
from visa_lsp.isa.model import ExecStyle, Instruction, Modifier, Role, Shape, Slot
from visa_lsp.isa.operands import ALIGN_CODE, IM, ST, A, G, P
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import EXEC_SIZES, TYPES, DataType
from visa_lsp.sema.model import Body, Symbol, SymbolKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.text import Span


class ItemKind(Enum):
    """Kind of a proposal."""

    MNEMONIC = "mnemonic"
    DIRECTIVE = "directive"
    MODIFIER = "modifier"
    VARIABLE = "variable"
    LABEL = "label"
    TYPE = "type"
    VALUE = "value"
    PROPERTY = "property"


@dataclass(frozen=True, slots=True)
class CompletionOffer:
    """An offer. ``insert`` is a snippet where ``snippet`` is set; ``rank`` sorts offers, low first."""

    label: str
    kind: ItemKind
    span: Span
    insert: str
    detail: str = ""
    snippet: bool = False
    rank: int = 0


_CLASS_OF: Final = {SymbolKind.GENERAL: G, SymbolKind.ADDRESS: A, SymbolKind.PREDICATE: P}
_PROPERTIES: Final = {
    "v_type": "v_type=${1|G,A,P,S,T|}",
    "type": "type=${1:d}",
    "num_elts": "num_elts=${1:8}",
    "align": "align=${1:GRF}",
    "alias": "alias=<${1:base}, ${2:0}>",
    "attrs": "attrs={${1:Output}}",
    "v_name": "v_name=${1:name}",
}
_CLASS_WORDS: Final = {
    "G": "general variable", "A": "address variable", "P": "predicate variable", "S": "sampler variable",
    "T": "surface variable",
}  # fmt: skip
_SOURCE_REGIONS: Final = (
    ("1;1,0", "contiguous: each lane the next element"),
    ("0;1,0", "scalar: every lane the same element"),
    ("8;8,1", "rows of eight"),
    ("16;8,2", "every second element"),
)


def offers(analysis: Analysis, offset: int) -> tuple[tuple[CompletionOffer, ...], bool]:
    """Return the offers at an offset, which the editor filters by the text before it, and whether some names are missing."""
    context = context_at(analysis, offset)
    view, cut = _view(analysis, context)
    body = view.bound.body_at(context.line) if view is not None else None
    return tuple(sorted(_items(context, body), key=lambda i: (i.rank, i.label))), cut


_NAMED: Final = (
    Expected.PREDICATE, Expected.OPERAND, Expected.REGION, Expected.DECL_VALUE, Expected.INPUT,
)  # fmt: skip


def _view(analysis: Analysis, context: Context) -> tuple[Analysis | None, bool]:
    """Bind the part of the text whose names are needed; if there are many, only the matching names and those near the cursor."""
    if context.expected not in _NAMED:
        return None, False
    document = analysis.document
    if isinstance(analysis, Focus) or document.line_count < WHOLE:
        return analysis, False
    index = index_of(document)
    group = index.group_at(context.line)
    near = {
        w
        for line in range(context.line - _NEAR_LINES, context.line + _NEAR_LINES)
        for w in words_of(document.code(line))
    }
    lines = [context.line, *(line for line, _, _ in index.declarations(group, near))]
    head = context.prefix.lower()
    for number in range(group.first_chunk, group.end_chunk):
        part = index.parts[number]
        if len(lines) >= _MAX_NAMES:
            break
        if not any(name.lower().startswith(head) for name in part.facts.decls):
            continue
        base = document.line_of(number)
        fits = [places for name, places in part.decls.items() if name not in near and name.lower().startswith(head)]
        # Sorted by line, because the selection must not depend on chunk borders.
        lines += sorted(base + offset for places in fits for offset, _ in places)[: _MAX_NAMES - len(lines)]
    cut = len(lines) - 1 < sum(len(part.facts.decls) for part in index.parts[group.first_chunk : group.end_chunk])
    slot = context.slot
    if slot is not None and slot.shape in (Shape.LABEL, Shape.LABELS, Shape.NAME, Shape.IDENTIFIER):
        labels, cut = _labels_near(index, group, context.line)
        lines = [context.line, *labels]
    return focus(analysis, lines), cut


def _labels_near(index: Index, group: BodyChunks, line: int) -> tuple[list[int], bool]:
    """Return the lines of the nearest labels, and whether there are more."""
    labels = sorted((label for label, _ in index.labels(group)), key=lambda label: (abs(label - line), label))
    return labels[:_MAX_LABELS], len(labels) > _MAX_LABELS


_NEAR_LINES: Final = 40  # on each side of the cursor; their names are offered first
_MAX_NAMES: Final = 200
_MAX_LABELS: Final = 300
_MAX_MENTIONS: Final = 300  # lines of a name that are read for its page


def _items(context: Context, body: Body | None) -> Iterator[CompletionOffer]:
    match context.expected:
        case Expected.STATEMENT:
            yield from _mnemonics(context)
            yield from _directives(context)
        case Expected.DIRECTIVE:
            yield from _directives(context)
        case Expected.PREDICATE:
            yield from _variables(context, body, None, SymbolKind.PREDICATE)
        case Expected.MODIFIER:
            yield from _modifiers(context)
        case Expected.EXEC:
            yield from _exec(context)
        case Expected.OPERAND:
            yield from _operands(context, body)
        case Expected.REGION:
            yield from _regions(context)
        case Expected.TYPE:
            types = context.slot.types if context.slot and context.slot.types else frozenset(TYPES)
            yield from _types(context, types)
        case _:
            yield from _directive_parts(context, body)


def _item(context: Context, label: str, kind: ItemKind, detail: str = "", rank: int = 0) -> CompletionOffer:
    return CompletionOffer(label, kind, context.word, label, detail, rank=rank)


def _mnemonics(context: Context) -> Iterator[CompletionOffer]:
    for mnemonic, rows in TABLE.by_mnemonic.items():
        row = rows[0]
        if row.opens_label:
            continue
        yield CompletionOffer(
            mnemonic, ItemKind.MNEMONIC, context.word, instruction_snippet(row), row.summary, snippet=True, rank=1
        )


def instruction_snippet(row: Instruction) -> str:
    """Return the whole instruction with a tab stop at each operand."""
    parts = [row.mnemonic]
    stop = 0

    def place(text: str) -> str:
        nonlocal stop
        stop += 1
        return f"${{{stop}:{text}}}"

    for modifier in row.modifiers:
        if not modifier.optional:
            word = next(iter(modifier.words), "") if modifier.kind is Modifier.Kind.WORD else modifier.field
            parts[0] += "." + place(word or modifier.field)
    if row.exec_style is ExecStyle.MASKED and not row.exec_optional:
        size = max((s for s in row.exec_sizes if s <= 16), default=row.exec_sizes[0])
        parts.append(f"({place('M1')}, {place(str(size))})")
    elif row.exec_style is ExecStyle.SIZE:
        parts.append(f"({place(str(row.exec_sizes[0]))})")
    parts.extend(place(slot.name.split(",")[0]) for slot in row.slots if not slot.optional)
    return " ".join(parts)


def _directives(context: Context) -> Iterator[CompletionOffer]:
    for name, (form, _) in DIRECTIVES.items():
        yield _item(context, name, ItemKind.DIRECTIVE, form.strip("`"), 2)


def _modifiers(context: Context) -> Iterator[CompletionOffer]:
    seen = set()
    for row in context.rows:
        if "." in row.mnemonic:
            continue
        for modifier in row.modifiers:
            for word in modifier.words:
                if word not in seen and word not in context.used:
                    seen.add(word)
                    yield _item(context, word, ItemKind.MODIFIER, modifier.doc)
    head = context.rows[0].mnemonic.split(".")[0] if context.rows else ""
    for mnemonic in TABLE.by_mnemonic:
        if head and mnemonic.startswith(head + "."):
            yield _item(context, mnemonic[len(head) + 1 :], ItemKind.MNEMONIC, TABLE.by_mnemonic[mnemonic][0].summary)


def _exec(context: Context) -> Iterator[CompletionOffer]:
    sizes = context.row.exec_sizes if context.row else EXEC_SIZES
    if "," in context.name or (context.row and context.row.exec_style is ExecStyle.SIZE):
        for rank, size in enumerate(sizes):
            yield _item(context, str(size), ItemKind.VALUE, f"{size} lanes", rank)
        return
    for number in range(1, 9):
        lane = 4 * (number - 1)
        yield _item(context, f"M{number}", ItemKind.VALUE, f"lanes from {lane} on", number)
        yield _item(
            context, f"M{number}_NM", ItemKind.VALUE, f"lanes from {lane} on, also those switched off", 10 + number
        )


def _operands(context: Context, body: Body | None) -> Iterator[CompletionOffer]:
    slot = context.slot
    if slot is None or body is None:
        return
    match slot.shape:
        case Shape.LABEL | Shape.LABELS | Shape.NAME | Shape.IDENTIFIER:
            for label in body.labels.values():
                yield _item(context, label.name, ItemKind.LABEL, label.kind.value)
        case Shape.SURFACE:
            yield from _variables(context, body, slot, SymbolKind.SURFACE)
        case Shape.SAMPLER:
            yield from _variables(context, body, slot, SymbolKind.SAMPLER)
        case Shape.EXEC_WORD:
            for word in slot.words or ():
                yield _item(context, word, ItemKind.VALUE)
        case Shape.VECTOR | Shape.SIMPLE | Shape.RAW | Shape.RAWS | Shape.VECTORS | Shape.VARIABLE:
            for kind, cls in _CLASS_OF.items():
                if kind is SymbolKind.GENERAL or cls in slot.classes:
                    yield from _variables(context, body, slot, kind)
            if ST in slot.classes:
                yield from _variables(context, body, slot, SymbolKind.SURFACE)
                yield from _variables(context, body, slot, SymbolKind.SAMPLER)
            if IM in slot.classes:
                yield from _immediates(context, slot)
        case _:
            yield from _variables(context, body, None, SymbolKind.GENERAL)


def _variables(context: Context, body: Body | None, slot: Slot | None, kind: SymbolKind) -> Iterator[CompletionOffer]:
    if body is None:
        return
    predefined = {s.name: s for s in body.predefined.values()}
    for rank, symbols in ((0, body.symbols), (5, predefined.values())):
        for symbol in symbols:
            if symbol.kind is not kind or (symbol.name == "%null" and slot is not None and slot.role is Role.READ):
                continue
            fits = slot is None or slot.types is None or symbol.type in slot.types
            insert = _use(symbol, slot)
            yield CompletionOffer(
                symbol.name, ItemKind.VARIABLE, context.word, insert, _type_of(symbol), snippet="$" in insert,
                rank=rank + (0 if fits else 2),
            )  # fmt: skip


def _type_of(symbol: Symbol) -> str:
    if symbol.kind is SymbolKind.GENERAL and symbol.type:
        return f"{symbol.num_elements} × {symbol.type.name}"
    return symbol.kind.value


def _use(symbol: Symbol, slot: Slot | None) -> str:
    """Return the operand text of a variable in a slot."""
    if slot is None:
        return symbol.name
    if slot.shape in (Shape.RAW, Shape.RAWS):
        return f"{symbol.name}.${{1:0}}"
    if slot.shape is Shape.SIMPLE:
        return f"{symbol.name}(${{1:0}},${{2:0}})"
    if slot.shape is Shape.VECTOR and symbol.kind is SymbolKind.GENERAL:
        if slot.role is Role.WRITE:
            return f"{symbol.name}(${{1:0}},${{2:0}})<${{3:1}}>"
        scalar = slot.scalar or symbol.num_elements == 1
        return f"{symbol.name}(${{1:0}},${{2:0}})<${{3:{'0;1,0' if scalar else '1;1,0'}}}>"
    if slot.shape is Shape.VECTOR and symbol.kind in (SymbolKind.SURFACE, SymbolKind.SAMPLER):
        return f"{symbol.name}(${{1:0}})"
    if slot.shape is Shape.VECTOR and symbol.kind is SymbolKind.ADDRESS:
        return f"{symbol.name}(${{1:0}})<${{2:1}}>"
    return symbol.name


def _immediates(context: Context, slot: Slot) -> Iterator[CompletionOffer]:
    for type_ in TYPES:
        if (slot.types is None or type_ in slot.types) and not type_.is_packed and type_.name != "bool":
            number = "0.0" if type_.name in ("f", "df") else "0x0"
            yield CompletionOffer(
                f"{number}:{type_.name}", ItemKind.VALUE, context.word, f"${{1:{number}}}:{type_.name}", "immediate",
                snippet=True, rank=8,
            )  # fmt: skip


def _regions(context: Context) -> Iterator[CompletionOffer]:
    slot = context.slot
    if slot is not None and slot.role is Role.WRITE:
        for rank, stride in enumerate((1, 2, 4)):
            yield _item(context, str(stride), ItemKind.VALUE, f"elements {stride} apart", rank)
        return
    for rank, (region, doc) in enumerate(_SOURCE_REGIONS):
        yield _item(context, region, ItemKind.VALUE, doc, rank)


def _types(context: Context, types: frozenset[DataType]) -> Iterator[CompletionOffer]:
    for type_ in TYPES:
        if type_ in types:
            yield _item(context, type_.name, ItemKind.TYPE, type_.doc)


def _directive_parts(context: Context, body: Body | None) -> Iterator[CompletionOffer]:
    match context.expected:
        case Expected.DECL_PROPERTY:
            for rank, (name, snippet) in enumerate(_PROPERTIES.items()):
                if name not in context.used:
                    yield CompletionOffer(f"{name}=", ItemKind.PROPERTY, context.word, snippet, snippet=True, rank=rank)
        case Expected.DECL_VALUE if context.name == "type":
            yield from _types(context, frozenset(t for t in TYPES if not t.is_packed and t.name != "bool"))
        case Expected.DECL_VALUE if context.name == "v_type":
            for letter, doc in _CLASS_WORDS.items():
                yield _item(context, letter, ItemKind.VALUE, doc)
        case Expected.DECL_VALUE if context.name == "align":
            for word in ALIGN_CODE:
                yield _item(context, word, ItemKind.VALUE)
        case Expected.DECL_VALUE if context.name == "alias":
            yield from _variables(context, body, None, SymbolKind.GENERAL)
        case Expected.ATTRIBUTE_NAME:
            table = VARIABLE_ATTRIBUTES if context.name == ".decl" else KERNEL_ATTRIBUTES
            for name, attribute in table.items():
                insert = name if attribute.kind is AttributeKind.FLAG else f"{name}=${{1}}"
                yield CompletionOffer(
                    name, ItemKind.PROPERTY, context.word, insert, attribute.doc, snippet="$" in insert
                )
        case Expected.ATTRIBUTE_VALUE:
            known_values = KERNEL_ATTRIBUTES[context.name].values if context.name in KERNEL_ATTRIBUTES else None
            for value in known_values or ():
                yield _item(context, str(value), ItemKind.VALUE)
        case Expected.INPUT if not context.used:
            for kind in (SymbolKind.GENERAL, SymbolKind.SAMPLER, SymbolKind.SURFACE):
                yield from (i for i in _variables(context, body, None, kind) if i.rank < 5)
        case Expected.INPUT:
            for name in ("offset", "size"):
                yield CompletionOffer(f"{name}=", ItemKind.PROPERTY, context.word, f"{name}=${{1:0}}", snippet=True)


def documentation(analysis: Analysis, kind: ItemKind, label: str, line: int) -> str:
    """Return the page of an offer, for editors that resolve offers on display."""
    if kind is ItemKind.MNEMONIC and label in TABLE.by_mnemonic:
        rows = TABLE.by_mnemonic[label]
        return describe_rows(rows) if len(rows) > 1 else describe_row(rows[0])
    if kind not in (ItemKind.VARIABLE, ItemKind.LABEL):
        return DIRECTIVES[label][1] if label in DIRECTIVES else ""
    analysis = focus(analysis, [line], [label], most=_MAX_MENTIONS)
    body = analysis.bound.body_at(line)
    if body is not None:
        symbol = body.find(label, line) if kind is ItemKind.VARIABLE else body.labels.get(label)
        if symbol is not None:
            return describe_symbol(analysis, body, symbol)
    return ""
