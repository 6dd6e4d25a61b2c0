"""Hover on ze_info: meaning, type, default and version of a key or word; for an argument, its register bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.ide.features.hover import HoverResult
from visa_lsp.ide.prose.markdown import code
from visa_lsp.ide.yaml.schema_answers import row_text, word_text
from visa_lsp.ide.zeinfo.definition import argument_place
from visa_lsp.ide.zeinfo.place import spot_at

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
    assert isinstance(spot.item.value, dict)
    parts = [] if spot.on_key else [word_text(row.word(str(spot.item.value[spot.key].value)))]
    parts.append(row_text(spot.table.name, row))
    place = argument_place(source, spot, texts, platform)
    if place is not None:
        start, end, name = place
        parts.append(
            f"Lies at bytes {start} to {end - 1} of the registers"
            + (f": {code('.input ' + name)}" if name else "")
            + "."
        )
    return HoverResult(spot.span, "\n\n".join(p for p in parts if p))
