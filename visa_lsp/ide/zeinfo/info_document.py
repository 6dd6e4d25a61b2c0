"""A ze_info document in the editor, together with the texts that it describes.

One value per snapshot, so that callers need no YAML. The caller provides the texts of a document. Never raises for any
text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.features.hover import HoverResult
from visa_lsp.ide.prose.markdown import code
from visa_lsp.ide.yaml.schema_answers import (
    YamlCompletion,
    YamlSymbol,
    end_of,
    propose_keys,
    propose_values,
    row_text,
    word_text,
)
from visa_lsp.ide.yaml.schema_place import place_at
from visa_lsp.ide.zeinfo.described_inputs import HELD
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts, registers_of
from visa_lsp.text import Span
from visa_lsp.zeinfo.kernel_checks import disagreements, find_layout
from visa_lsp.zeinfo.kernels import child, entries, number, word_of
from visa_lsp.zeinfo.placement import Argument, TextInput, arguments_of, inputs_of
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.tables import ROOT, TABLES
from visa_lsp.zeinfo.validate import validate_source

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.program.payload_layout import Registers
    from visa_lsp.zeinfo.facts import KernelText
    from visa_lsp.zeinfo.schema import SchemaTable
    from visa_lsp.zeinfo.yaml import YamlItem

_ARGUMENTS: Final = ("PayloadArgument", "PerThreadPayloadArgument", "BindingTableIndex")
_PARTS: Final = (
    "payload_arguments",
    "per_thread_payload_arguments",
    "binding_table_indices",
    "per_thread_memory_buffers",
    "inline_samplers",
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A key or a value. ``item`` is the map; ``kernel`` the entry of ``kernels`` around it, if any."""

    table: SchemaTable
    item: YamlItem
    key: str
    span: Span
    on_key: bool
    kernel: YamlItem | None


@dataclass(frozen=True)
class InfoDocument:
    """A document's text, and the texts that it describes, each with its name."""

    text: str
    partners: tuple[tuple[str, Analysis], ...] = ()

    @cached_property
    def source(self) -> ZeInfoSource:
        """The parsed document."""
        return ZeInfoSource.of(self.text)

    @cached_property
    def texts(self) -> tuple[KernelText, ...]:
        """The kernels of the texts; none of texts with errors."""
        return tuple(kernel for name, analysis in self.partners for kernel in kernel_texts(analysis, name))

    @property
    def registers(self) -> Registers | None:
        """The register layout of the texts' platform."""
        return next((registers for _, a in self.partners if (registers := registers_of(a)) is not None), None)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings of the document, alone and against the texts, in text order."""
        findings = list(validate_source(self.source, self.registers))
        if self.source.root is not None and self.texts:
            findings += disagreements(self.source, self.texts, self.registers)
        return tuple(sorted(findings, key=lambda d: (d.span, d.code)))

    def hover(self, offset: int) -> HoverResult | None:
        """Return the meaning, type, default and version of the key or word at an offset; for an argument, its bytes."""
        entry = self._entry_at(offset)
        row = entry.table.get(entry.key) if entry is not None else None
        if entry is None or row is None:
            return None
        assert isinstance(entry.item.value, dict)
        parts = [] if entry.on_key else [word_text(row.word(str(entry.item.value[entry.key].value)))]
        parts.append(row_text(entry.table.name, row))
        text = self._text_of(entry.kernel)
        if text is not None and (pair := self._argument_of(entry, text)) is not None:
            name = f": {code('.input ' + pair[1].name)}" if pair[1] is not None and pair[1].name else ""
            parts.append(f"Lies at bytes {pair[0].start} to {pair[0].end - 1} of the registers{name}.")
        return HoverResult(entry.span, "\n\n".join(p for p in parts if p))

    def completions(self, offset: int) -> tuple[YamlCompletion, ...]:
        """Return the proposals for an offset."""
        place = place_at(TABLES, ROOT, self.text, offset)
        if place is None:
            return ()
        row = place.row
        if row is not None and row.table and place.table is None:  # a list whose entry has no dash yet
            place, row = replace(place, table=TABLES[row.table]), None
        if row is None:
            return tuple(propose_keys(place))
        return tuple(propose_values(row, place.path.word)) if isinstance(place.path.key, str) else ()

    def definition(self, offset: int) -> tuple[str, Span] | None:
        """Return the name of the text and the place in it: the ``.input`` of the argument at an offset, else the kernel."""
        entry = self._entry_at(offset)
        text = self._text_of(entry.kernel) if entry is not None else None
        if entry is None or text is None:
            return None
        pair = self._argument_of(entry, text)
        if pair is not None:
            return (text.path, text.input(pair[1].index)) if pair[1] is not None else None
        return (text.path, text.name) if entry.key == "name" and not entry.on_key else None

    def symbols(self) -> tuple[YamlSymbol, ...]:
        """Return the outline, in the order of the text: kernels and functions with their parts and arguments."""
        outline = []
        for key, kind in (("kernels", "kernel"), ("functions", "function")):
            items = entries(self.source.root, key)
            for index, item in enumerate(items):
                end = self.source.start(items[index + 1]) if item is not items[-1] else end_of(self.source, item)
                outline.append(_outline(self.source, item, kind, max(end, self.source.start(item))))
        return tuple(sorted(outline, key=lambda s: s.span))

    def hints(self) -> tuple[tuple[int, str], ...]:
        """Return (offset, text) of the hints after the size of each argument: its register bytes and its ``.input``."""
        hints = []
        for kernel in entries(self.source.root, "kernels"):
            text = self._text_of(kernel)
            if text is None:
                continue
            inputs = inputs_of(text)
            for argument in arguments_of(kernel, find_layout(self.source, kernel, text, self.registers)):
                size = child(argument.item, "size")
                entry = next((i for i in inputs if i.overlaps(argument)), None)
                if size is not None:
                    name = f", .input {entry.name}" if entry is not None else ", no .input"
                    hints.append((self.source.span(size).end, f"bytes {argument.start}..{argument.end - 1}{name}"))
        return tuple(sorted(hints))

    def _entry_at(self, offset: int) -> _Entry | None:
        """Return the key or value at an offset; None between keys and values, and in a malformed text."""
        source, item, table = self.source, self.source.root, TABLES[ROOT]
        kernel: YamlItem | None = None
        while item is not None and isinstance(item.value, dict):
            starts = {key: source.offset(*item.key_places[key]) for key in item.value}
            key = max((key for key in starts if starts[key] <= offset), key=starts.__getitem__, default=None)
            if key is None:
                return None
            span = source.key_span(item, key)
            if span.touches(offset):
                return _Entry(table, item, key, span, True, kernel)
            value, row = item.value[key], table.get(key)
            if row is None or not row.table or not isinstance(value.value, dict | list):
                span = source.span(value)
                return _Entry(table, item, key, span, False, kernel) if span.touches(offset) else None
            item, table = value, TABLES[row.table]
            if isinstance(value.value, list):
                item = next((e for e in reversed(value.value) if source.offset(e.line, e.column) <= offset), None)
                kernel = item if key == "kernels" else kernel
        return None

    def _text_of(self, kernel: YamlItem | None) -> KernelText | None:
        name = word_of(kernel, "name")
        return next((t for t in self.texts if t.kernel.name == name), None) if kernel is not None else None

    def _argument_of(self, entry: _Entry, text: KernelText) -> tuple[Argument, TextInput | None] | None:
        """Return the argument around a key or value, and the input at its place.

        An entry without its own bytes, such as a surface, has the input of its argument's address; local ids have the
        first input.
        """
        kernel, item = entry.kernel, entry.item
        if kernel is None or entry.table.name not in _ARGUMENTS:
            return None
        layout = find_layout(self.source, kernel, text, self.registers)
        if entry.table.name == "PerThreadPayloadArgument":
            start, size = layout.grf + (number(item, "offset") or 0), number(item, "size") or 0
            argument: Argument | None = Argument(item, word_of(item, "arg_type"), start, size, local=False)
        else:
            arguments = arguments_of(kernel, layout)
            index = number(item, "arg_index")
            own = next((a for a in arguments if a.item is item), None)
            same = (a for a in arguments if index not in (None, -1) and number(a.item, "arg_index") == index)
            argument = own or next((a for a in same if a.kind in HELD), None)
        if argument is None:
            return None
        return argument, next((i for i in inputs_of(text) if i.overlaps(argument)), None)


def _outline(source: ZeInfoSource, item: YamlItem, kind: str, end: int) -> YamlSymbol:
    assert isinstance(item.value, dict)
    name = item.value.get("name")
    span = source.span(name if name is not None else item)
    children = []
    for part in item.value:
        place = source.key_span(item, part)
        if part == "execution_env":
            env = item.value[part]
            detail = f"SIMD{number(env, 'simd_size')}, {number(env, 'grf_count')} GRFs"
            children.append(YamlSymbol(part, "part", detail, place, place))
        elif part in _PARTS:
            rows = tuple(_outline_argument(source, entry) for entry in entries(item, part))
            last = max((r.span.end for r in rows), default=place.end)
            children.append(YamlSymbol(part, "part", str(len(rows)), place, Span(place.start, last), rows))
    start = min(source.start(item), span.start)
    return YamlSymbol(word_of(item, "name") or "?", kind, "", span, Span(start, max(end, span.end)), tuple(children))


def _outline_argument(source: ZeInfoSource, entry: YamlItem) -> YamlSymbol:
    name = word_of(entry, "arg_type") or word_of(entry, "type") or f"surface {number(entry, 'bti_value')}"
    index = number(entry, "arg_index")
    detail = f"argument {index}" if index is not None and index >= 0 else ""
    if number(entry, "offset") is not None:
        detail = f"{detail + ', ' if detail else ''}{number(entry, 'size')} bytes at {number(entry, 'offset')}"
    span = source.span(entry)
    return YamlSymbol(name, "argument", detail, span, span)
