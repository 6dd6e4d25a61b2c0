"""Hover and completion from the rows of a schema, and the types of answers about YAML documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.zeinfo.schema import FIRST_VERSION, VALUES, SchemaKey, SchemaWord, version_text

if TYPE_CHECKING:
    from visa_lsp.ide.yaml.schema_place import SchemaPlace
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.source import YamlSource
    from visa_lsp.zeinfo.yaml import YamlItem


@dataclass(frozen=True, slots=True)
class YamlCompletion:
    """A proposal: ``insert`` replaces ``span``. ``is_key`` is true for keys, false for values."""

    label: str
    insert: str
    span: Span
    detail: str
    doc: str
    is_key: bool


@dataclass(frozen=True, slots=True)
class YamlSymbol:
    """An entry of an outline: ``kind`` is kernel, function, part or argument; ``span`` is its name or first key."""

    name: str
    kind: str
    detail: str
    span: Span
    whole: Span
    children: tuple[YamlSymbol, ...] = ()


def propose_keys(place: SchemaPlace, wanted: str = "") -> Iterator[YamlCompletion]:
    """Yield the missing keys of a map: first the ``wanted`` one, then those that are required."""
    rows = place.table.keys if place.table is not None else ()
    for row in sorted(rows, key=lambda row: (row.name != wanted, not row.required)):
        if row.name not in place.path.keys and row.removed is None:
            yield YamlCompletion(row.name, f"{row.name}: ", place.path.word, _detail(row), row.doc, is_key=True)


def propose_values(row: SchemaKey, span: Span) -> Iterator[YamlCompletion]:
    """Yield the values of a key that its row names."""
    for word in row.words:
        if not word.removed:
            yield YamlCompletion(word.name, word.name, span, row.name, word.doc, is_key=False)
    for value in row.proposals or (("true", "false") if row.type == "bool" else ()):
        yield YamlCompletion(value, value, span, row.name, row.doc, is_key=False)


def _detail(row: SchemaKey) -> str:
    kind = VALUES.get(row.inner, row.inner)
    if row.example:
        return f"{kind}; default: {row.default}" if row.default else kind
    since = f", since {version_text(row.since)}" if row.since > FIRST_VERSION else ""
    return f"{kind}, {'required' if row.required else 'optional'}{since}"


def word_text(word: SchemaWord | None) -> str:
    """Return a word of a key in Markdown; empty without one."""
    if word is None:
        return ""
    since = f" *(since {version_text(word.since)})*" if word.since > FIRST_VERSION else ""
    return f"`{word.name}`: {word.doc}{since}"


def row_text(table: str, row: SchemaKey) -> str:
    """Return a key of a table in Markdown: prose, type, default, conditions, example."""
    kind = VALUES.get(row.inner, f"a map, {row.inner}")
    if row.words:
        kind = "one of " + ", ".join(f"`{word.name}`" for word in row.words if not word.removed)
    if row.type == "contents":
        kind += ", or one of `{random: SEED}`, `{values: [...]}`, `{npy: FILE}`"
    if row.many:
        kind = f"a {row.many} of {row.inner}" if row.table else f"a {row.many}, each {kind}"
    facts = [f"Type: {kind}{' or null' if row.type.endswith('?') else ''}."]
    if row.example:
        facts += [f"Default: {row.default}."] if row.default else []
    else:
        default = f"Optional, default `{row.default}`." if row.default else "Optional."
        facts.append("Required." if row.required else default)
    if row.when:
        facts.append(f"Present when {row.when_text}.")
    if row.since > FIRST_VERSION:
        facts.append(f"Since version {version_text(row.since)}.")
    if row.removed:
        facts.append(f"Removed by version {version_text(row.removed)}.")
    example = f"\n\n```yaml\n{row.example}\n```" if row.example else ""
    return f"**{row.name}** ({table}): {row.doc}\n\n{' '.join(facts)}{example}"


def end_of(source: YamlSource, item: YamlItem) -> int:
    """Return the end of the last item of a map."""
    end = source.start(item)
    if isinstance(item.value, dict):
        for key, child in item.value.items():
            end = max(end, source.key_span(item, key).end, end_of(source, child))
    elif isinstance(item.value, list):
        for child in item.value:
            end = max(end, end_of(source, child))
    else:
        end = max(end, source.span(item).end)
    return end
