"""Hover on launch files: meaning, type, default and an example of a key or word; name and type of an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.ide.features.hover import HoverResult
from visa_lsp.ide.launchfile.completion import index_of
from visa_lsp.ide.prose.markdown import code
from visa_lsp.ide.yaml.schema_answers import row_text, word_text
from visa_lsp.ide.yaml.schema_place import place_at
from visa_lsp.launchfile.tables import ROOT, TABLES
from visa_lsp.launchfile.templates import type_words

if TYPE_CHECKING:
    from visa_lsp.launchfile.kernel import MeantKernel
    from visa_lsp.program.payload import KernelInfo


def hover_launch(text: str, offset: int, meant: MeantKernel) -> HoverResult | None:
    """Return the explanation of the key or word at an offset, or None."""
    place = place_at(TABLES, ROOT, text, offset)
    if place is None:
        return None
    span = place.path.word
    word = text[span.start : span.end]
    argument = _argument(meant.info, place.argument)
    parts = []
    if place.path.key is None:
        row = place.table.get(word) if place.table is not None else None
        if row is not None and place.table is not None:
            parts = [argument if place.table.name == "Argument" else "", row_text(place.table.name, row)]
        elif place.in_arguments:
            parts = [_argument(meant.info, word)]
    elif place.row is not None and not place.in_arguments:
        parts.append(word_text(next((w for w in place.row.words if w.name.lower() == word.lower()), None)))
        if place.row.type == "argument":
            parts.append(_argument(meant.info, int(word) if word.isdecimal() and len(word) < 6 else word))
        parts.append(row_text(place.table.name if place.table is not None else "LaunchFile", place.row))
    elif argument and not word.startswith("{"):
        parts = [argument]
    parts = [part for part in parts if part]
    return HoverResult(span, "\n\n".join(parts)) if parts and word else None


def _argument(info: KernelInfo | None, argument: int | str | None) -> str:
    """Return number, name, type and address space of an argument of the kernel; empty if unknown."""
    index = index_of(info, argument)
    if info is None or index is None:
        return ""
    name = info.argument_name(index)
    return f"Argument {index}{' ' + code(name) if name else ''} of {code(info.name)}: {type_words(info, index)}"
