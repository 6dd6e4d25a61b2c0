"""``validate``: all findings about one ze_info text, by the tables.

This module walks the tables; ``kernels`` checks a kernel as a whole. Invariant: never raises; returns at most
``MAX_FINDINGS`` findings in the order of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Severity
from visa_lsp.suggest import nearest
from visa_lsp.text import Span
from visa_lsp.zeinfo import rules
from visa_lsp.zeinfo.kernels import check_document
from visa_lsp.zeinfo.schema import (
    KNOWN_VERSION,
    SEED_VERSION,
    VALUES,
    SchemaKey,
    SchemaTable,
    SchemaWord,
    Version,
    parse_version,
    version_text,
)
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.source_findings import SourceFindings, change_to
from visa_lsp.zeinfo.tables import ROOT, TABLES

if TYPE_CHECKING:
    from visa_lsp.program.payload_layout import Registers
    from visa_lsp.zeinfo.yaml import YamlItem

_TABS: Final = re.compile(r"(?m)^\t+")
_MAX_DIGITS: Final = 9  # digits of a number that always fits into 32 bits
_LIMITS: Final = {"int32": 1 << 31, "int64": 1 << 63}


def validate(text: str) -> tuple[Diagnostic, ...]:
    """Return all findings about a ze_info text."""
    return validate_source(ZeInfoSource.of(text))


def validate_source(source: ZeInfoSource, platform: Registers | None = None) -> tuple[Diagnostic, ...]:
    """Return all findings about a text that was read already; ``platform`` is its platform, if known."""
    if source.root is None:
        assert source.error is not None
        return (_broken(source),)
    report = SourceFindings(source)
    root = source.root
    if not isinstance(root.value, dict):
        report.add(rules.WRONG_TYPE, root, f"ze_info must be a map with the keys version and kernels, not {root.kind}")
        return report.list_in_order()
    walk = _Walk(report, _version(report, root))
    walk.table(root, TABLES[ROOT], "the document")
    check_document(report, root, platform)
    return report.list_in_order()


def _broken(source: ZeInfoSource) -> Diagnostic:
    assert source.error is not None
    span, message = source.error_span(), source.error.message
    fixes: tuple[Fix, ...] = ()
    if message.startswith("a tab"):
        end = span.start
        while source.text[end : end + 1] == "\t":
            end += 1
        span = Span(span.start, end)
        edits = tuple(Edit(Span(*tabs.span()), "  " * len(tabs.group())) for tabs in _TABS.finditer(source.text))
        # Spaces are a fix only if the indentation has no other mistake.
        spaced = _TABS.sub(lambda tabs: "  " * len(tabs.group()), source.text)
        fixes = (Fix("indent by spaces", edits),) if ZeInfoSource.of(spaced).error is None else ()
    return Diagnostic(rules.SYNTAX, span, message, fixes=fixes)


def _version(report: SourceFindings, root: YamlItem) -> Version:
    """Return the document's version; without a readable one the newest known."""
    assert isinstance(root.value, dict)
    item = root.value.get("version")
    if item is None or not isinstance(item.value, str):
        return KNOWN_VERSION
    version = parse_version(item.value)
    span = report.source.span(item)
    if version is None:
        report.add(
            rules.VERSION,
            span,
            f"invalid version '{item.value:.40}'; expected two numbers with a point between, such as '1.14'",
        )
        return KNOWN_VERSION
    newest = version_text(KNOWN_VERSION)
    if version[0] > KNOWN_VERSION[0]:
        report.add(
            rules.VERSION,
            span,
            f"major version {version[0]} is newer than {KNOWN_VERSION[0]}: its keys may mean anything",
        )
    elif version > KNOWN_VERSION:
        report.add(
            rules.VERSION, span, f"version {item.value} is newer than {newest}, the newest known version; unknown keys are ignored",
            severity=Severity.INFORMATION,
        )  # fmt: skip
    elif version[0] == 0:
        report.add(rules.VERSION, span, f"version {item.value} is older than 1.0, the first version with a number")
    return version


@dataclass(frozen=True, slots=True)
class _Walk:
    """Compares items with tables."""

    report: SourceFindings
    version: Version

    def table(self, item: YamlItem, table: SchemaTable, what: str) -> None:
        if self.report.full:
            return
        if not isinstance(item.value, dict):
            self.report.add(rules.WRONG_TYPE, item, f"{what} must be a map, not {item.kind}")
            return
        words = {key: child.value for key, child in item.value.items() if isinstance(child.value, str)}
        # Keys that depend on a misspelt word are not checked, because the word is reported.
        misspelt = [a.name for a in table.keys if a.words and a.name in words and a.word(words[a.name]) is None]
        meant: dict[str, str] = {}
        for key, child in item.value.items():
            row = table.get(key)
            if row is None:
                if self.report.full:
                    return
                meant[self._unknown(item, key, table)] = key
                continue
            self._since(self.report.source.key_span(item, key), row)
            if not row.applies(words) and not any(f"{name}=" in row.when for name in misspelt):
                self._report_misplaced(item, key, row)
            self._value(child, row)
        for row in table.keys:
            if row.required and row.name not in item.value and row.since <= max(self.version, SEED_VERSION):
                self._report_missing(item, row, what, meant.get(row.name, ""))

    def _unknown(self, item: YamlItem, key: str, table: SchemaTable) -> str:
        """Report an unknown key; return the known key that it most likely means."""
        span = self.report.source.key_span(item, key)
        names = [a.name for a in table.keys if a.name not in (item.value if isinstance(item.value, dict) else ())]
        near = nearest(key, names)
        hint = f"; did you mean '{near}'?" if near else ""
        fixes = change_to(span, near)
        self.report.add(rules.UNKNOWN, span, f"unknown key '{key:.60}' in {table.name}{hint}", fixes=fixes)
        return near or ""

    def _since(self, span: Span, entry: SchemaKey | SchemaWord) -> None:
        """Report a key or a word that the document's version does not have."""
        if entry.removed and self.version >= entry.removed:
            renamed = entry.renamed if isinstance(entry, SchemaWord) else ""
            words = f"'{entry.name}' was removed by version {version_text(entry.removed)}"
            words += f"; it is now called {renamed}" if renamed else ""
            self.report.add(rules.NEWER_KEY, span, words, change_to(span, renamed), severity=Severity.WARNING)
        elif entry.since > self.version:
            document = version_text(self.version)
            words = f"'{entry.name}' needs version {version_text(entry.since)}, but the document has {document}"
            self.report.add(rules.NEWER_KEY, span, words)

    def _report_misplaced(self, item: YamlItem, key: str, row: SchemaKey) -> None:
        span = self.report.source.key_span(item, key)
        self.report.add(rules.OUT_OF_PLACE, span, f"'{key}' applies only where {row.when_text}")

    def _report_missing(self, item: YamlItem, row: SchemaKey, what: str, misspelt: str) -> None:
        """Report a required key that is missing or misspelt."""
        source = self.report.source
        if misspelt:
            span = source.key_span(item, misspelt)
            self.report.add(
                rules.MISSING, span, f"the key '{row.name}' is missing in {what}; '{misspelt:.60}' is not a key",
                change_to(span, row.name),
            )  # fmt: skip
            return
        fixes: tuple[Fix, ...] = ()
        span = source.span(item)
        if (
            item.key_places
            and source.text[source.start(item)] != "{"
            and not (row.table or row.words)
            and row.name != "offset"
        ):
            value = (
                "'1.14'" if row.name == "version" else {"str": "''", "bool": "false", "int32": "0"}.get(row.type, "0")
            )
            value = {"grf_count": "128", "simd_size": "16"}.get(row.name, value)
            start = source.key_span(item, next(iter(item.key_places))).start
            indent = " " * (item.column - 1)
            fixes = (Fix(f"add {row.name}: {value}", (Edit(Span(start, start), f"{row.name}: {value}\n{indent}"),)),)
        self.report.add(rules.MISSING, span, f"the key '{row.name}' is missing in {what}", fixes=fixes)

    # Values.

    def _value(self, item: YamlItem, row: SchemaKey) -> None:
        if row.many:
            self._list(item, row)
        elif row.table:
            self.table(item, TABLES[row.table], row.name)
        elif row.words:
            self._word(item, row)
        elif not _fits(item, row.type):
            self._wrong_type(item, row)
        elif row.type in _LIMITS and isinstance(item.value, int):
            limit = _LIMITS[row.type]
            if not -limit <= item.value < limit:
                self.report.add(rules.RANGE, item, f"{row.name} must be {VALUES[row.type]}; {item.value} does not fit")

    def _list(self, item: YamlItem, row: SchemaKey) -> None:
        if item.value is None:
            return  # because an empty list may be written as nothing
        if not isinstance(item.value, list):
            self.report.add(rules.WRONG_TYPE, item, f"{row.name} must be a list, not {item.kind}")
            return
        for entry in item.value:
            self.table(entry, TABLES[row.table], f"an entry of {row.name}")

    def _wrong_type(self, item: YamlItem, row: SchemaKey) -> None:
        source = self.report.source
        span = source.span(item)
        fixes: tuple[Fix, ...] = ()
        written = source.text[span.start : span.end]
        message = f"{row.name} must be {VALUES[row.type]}, not {item.kind}"
        if row.type == "int32x3" and isinstance(item.value, list):
            message = f"{row.name} must be {VALUES[row.type]}, but this list has {len(item.value)} entries"
            if len(item.value) == 3:
                message = f"{row.name} must be {VALUES[row.type]}, but an entry of this list is not a whole number"
        elif row.type == "str" and isinstance(item.value, int | float | bool):
            message = f"{row.name} must be a text, but {written:.40} without quotes is {item.kind}"
            if row.name != "version" or parse_version(written) is not None:
                fixes = (Fix("put it in quotes", (Edit(span, f"'{written}'"),)),)
        elif row.type == "bool" and isinstance(item.value, str | int):
            meant = {"1": "true", "yes": "true", "on": "true", "0": "false", "no": "false", "off": "false"}
            value = meant.get(str(item.value).lower()) or {"true": "true", "false": "false"}.get(
                str(item.value).lower()
            )
            fixes = (Fix(f"change to {value}", (Edit(span, value),)),) if value else ()
        elif (
            row.type == "int32"
            and isinstance(item.value, str)
            and item.value.strip().isascii()
            and item.value.strip().isdigit()
            and len(item.value) <= _MAX_DIGITS
        ):
            fixes = (Fix("write it as a number", (Edit(span, str(int(item.value))),)),)
        self.report.add(rules.WRONG_TYPE, span, message, fixes=fixes)

    def _word(self, item: YamlItem, row: SchemaKey) -> None:
        span = self.report.source.span(item)
        if not isinstance(item.value, str):
            self.report.add(rules.WRONG_TYPE, span, f"{row.name} must be a word, not {item.kind}")
            return
        word = row.word(item.value)
        if word is not None:
            self._since(span, word)
            return
        names = [w.name for w in row.words if w.since <= self.version and (not w.removed or self.version < w.removed)]
        near = nearest(item.value, names)
        expected = f"expected {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}"
        hint = f"did you mean '{near}'?" if near else expected
        severity = Severity.INFORMATION if self.version > KNOWN_VERSION else None
        words = f"unknown {row.name} '{item.value:.60}'; {hint}"
        self.report.add(rules.WRONG_WORD, span, words, change_to(span, near), severity=severity)


def _fits(item: YamlItem, type_: str) -> bool:
    value = item.value
    match type_:
        case "bool":
            return isinstance(value, bool)
        case "str":
            return isinstance(value, str)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "int32x3":
            return isinstance(value, list) and len(value) == 3 and all(_fits(v, "int32") for v in value)
    return isinstance(value, int) and not isinstance(value, bool)
