"""The outline of a ze_info text: kernels and functions with their parts and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.ide.yaml.schema_answers import YamlSymbol, end_of
from visa_lsp.text import Span
from visa_lsp.zeinfo.kernels import entries, number, word_of

if TYPE_CHECKING:
    from visa_lsp.zeinfo.source import ZeInfoSource
    from visa_lsp.zeinfo.yaml import YamlItem

_PARTS = (
    "payload_arguments",
    "per_thread_payload_arguments",
    "binding_table_indices",
    "per_thread_memory_buffers",
    "inline_samplers",
)


def symbols(source: ZeInfoSource) -> tuple[YamlSymbol, ...]:
    """Return the outline, in the order of the text; empty for a malformed text."""
    outline = []
    for key, kind in (("kernels", "kernel"), ("functions", "function")):
        items = entries(source.root, key)
        for index, item in enumerate(items):
            end = source.start(items[index + 1]) if index + 1 < len(items) else end_of(source, item)
            outline.append(_body(source, item, kind, max(end, source.start(item))))
    return tuple(sorted(outline, key=lambda s: s.span))


def _body(source: ZeInfoSource, item: YamlItem, kind: str, end: int) -> YamlSymbol:
    assert isinstance(item.value, dict)
    name = item.value.get("name")
    span = source.span(name if name is not None else item)
    children = []
    for part in item.value:
        if part == "execution_env":
            env = item.value[part]
            detail = f"SIMD{number(env, 'simd_size')}, {number(env, 'grf_count')} GRFs"
            children.append(_leaf(part, "part", detail, source.key_span(item, part)))
        elif part in _PARTS:
            rows = tuple(_argument(source, entry) for entry in entries(item, part))
            place = source.key_span(item, part)
            last = max((r.span.end for r in rows), default=place.end)
            children.append(YamlSymbol(part, "part", str(len(rows)), place, Span(place.start, last), rows))
    start = min(source.start(item), span.start)
    return YamlSymbol(word_of(item, "name") or "?", kind, "", span, Span(start, max(end, span.end)), tuple(children))


def _argument(source: ZeInfoSource, entry: YamlItem) -> YamlSymbol:
    name = word_of(entry, "arg_type") or word_of(entry, "type") or f"surface {number(entry, 'bti_value')}"
    index = number(entry, "arg_index")
    detail = f"argument {index}" if index is not None and index >= 0 else ""
    if number(entry, "offset") is not None:
        detail = f"{detail + ', ' if detail else ''}{number(entry, 'size')} bytes at {number(entry, 'offset')}"
    return _leaf(name, "argument", detail, source.span(entry))


def _leaf(name: str, kind: str, detail: str, span: Span) -> YamlSymbol:
    return YamlSymbol(name, kind, detail, span, span)
