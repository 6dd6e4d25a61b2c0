"""Hover on launch files: meaning, type, default and an example of a key or word; name and type of an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.ide.features.hover import HoverResult
from visa_lsp.ide.launchfile.completion import index_of
from visa_lsp.ide.launchfile.place import place_at
from visa_lsp.ide.prose.markdown import code
from visa_lsp.launchfile.model import VALUES, LaunchKey
from visa_lsp.launchfile.templates import type_words
from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.launchfile.kernel import MeantKernel
    from visa_lsp.program.payload import KernelInfo


def hover_launch(text: str, offset: int, meant: MeantKernel) -> HoverResult | None:
    """Return the explanation of the key or word at an offset, or None."""
    place = place_at(text, offset)
    if place is None:
        return None
    word = place.path.word
    found = text[word.start : word.end]
    argument = _argument(meant.info, place.argument)
    parts = []
    if place.path.key is None:
        row = place.table.get(found) if place.table is not None else None
        if row is not None and place.table is not None:
            parts = [argument if place.table.name == "Argument" else "", row_text(place.table.name, row)]
        elif place.in_arguments:
            parts = [_argument(meant.info, found)]
    elif place.row is not None and not place.in_arguments:
        known = next((w for w in place.row.words if w.name.lower() == found.lower()), None)
        if known is not None:
            parts.append(f"`{known.name}`: {known.doc}")
        if place.row.type == "argument":
            parts.append(_argument(meant.info, int(found) if found.isdecimal() and len(found) < 6 else found))
        parts.append(row_text(place.table.name if place.table is not None else "LaunchFile", place.row))
    elif argument and not found.startswith("{"):
        parts = [argument]
    parts = [part for part in parts if part]
    return HoverResult(Span(word.start, word.end), "\n\n".join(parts)) if parts and found else None


def row_text(table: str, row: LaunchKey) -> str:
    """Return a key of the table in Markdown: prose, type, default, example."""
    kind = VALUES.get(row.inner, f"a map, {row.inner}")
    if row.words:
        kind = "one of " + ", ".join(f"`{word.name}`" for word in row.words)
    if row.type == "contents":
        kind += ", or one of `{random: SEED}`, `{values: [...]}`, `{npy: FILE}`"
    if row.many:
        kind = f"a {row.many} of {row.inner}" if row.table else f"a {row.many}, each {kind}"
    facts = f"Type: {kind}{' or null' if row.type.endswith('?') else ''}."
    if row.default:
        facts += f" Default: {row.default}."
    return f"**{row.name}** ({table}): {row.doc}\n\n{facts}\n\n```yaml\n{row.example}\n```"


def _argument(info: KernelInfo | None, argument: int | str | None) -> str:
    """Return number, name, type and address space of an argument of the kernel; empty if unknown."""
    index = index_of(info, argument)
    if info is None or index is None:
        return ""
    name = info.argument_name(index)
    return f"Argument {index}{' ' + code(name) if name else ''} of {code(info.name)}: {type_words(info, index)}"
