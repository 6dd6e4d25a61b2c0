"""Hover on ze_info: meaning, type, default and version of a key or word; for an argument, its register bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.ide.features.hover import HoverResult
from visa_lsp.ide.prose.markdown import code
from visa_lsp.ide.zeinfo.definition import argument_place
from visa_lsp.ide.zeinfo.place import YamlEntry, spot_at
from visa_lsp.zeinfo.closed_words import WORDS, word
from visa_lsp.zeinfo.schema import SCALARS, SchemaKey, version_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.payload_layout import Registers
    from visa_lsp.zeinfo.facts import KernelText
    from visa_lsp.zeinfo.source import ZeInfoSource


def hover_ze_info(
    source: ZeInfoSource, offset: int, texts: Sequence[KernelText] = (), platform: Registers | None = None
) -> HoverResult | None:
    """Return the explanation of the key or value at an offset, or None. ``texts`` are the described kernels."""
    spot = spot_at(source, offset)
    row = spot.row if spot is not None else None
    if spot is None or row is None:
        return None
    parts = [_word(spot, row)] if not spot.on_key and row.words else []
    parts.append(_row(spot.table.name, row))
    place = argument_place(source, spot, texts, platform)
    if place is not None:
        first, end, name = place
        parts.append(
            f"Lies at bytes {first} to {end - 1} of the registers"
            + (f": {code('.input ' + name)}" if name else "")
            + "."
        )
    return HoverResult(spot.span, "\n\n".join(p for p in parts if p))


def _word(spot: YamlEntry, row: SchemaKey) -> str:
    assert isinstance(spot.item.value, dict)
    known = word(row.words, str(spot.item.value[spot.key].value))
    if known is None:
        return ""
    since = f" *(since {version_text(known.since)})*" if known.since > (1, 0) else ""
    return f"`{known.name}`: {known.doc}{since}"


def _row(table: str, row: SchemaKey) -> str:
    if row.words:
        kind = "one of " + ", ".join(f"`{w.name}`" for w in WORDS[row.words] if not w.removed)
    elif row.is_list:
        kind = f"a list of {row.table}"
    else:
        kind = f"{row.table}" if row.table else SCALARS[row.type]
    facts = [f"**{row.name}** ({table}): {row.doc}", f"Type: {kind}."]
    facts.append("Required." if row.required else f"Optional, default `{row.default}`." if row.default else "Optional.")
    if row.when:
        facts.append(f"Present when {row.when_text}.")
    if row.since > (1, 0):
        facts.append(f"Since version {version_text(row.since)}.")
    if row.removed:
        facts.append(f"Removed by version {version_text(row.removed)}.")
    return "\n\n".join([facts[0], " ".join(facts[1:])])
