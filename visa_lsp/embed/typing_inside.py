"""Edits inside of an exact part of a string: the same edit is applied to the body, and nothing is read again.

An edit that may end a string, begin an escape, an operand or a comment, or decide whether a block is vISA is refused;
the function is then read again. Invariant: the body equals the result of such a reading.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.embed.host_change import HostChange
from visa_lsp.embed.literals import StringPiece

if TYPE_CHECKING:
    from visa_lsp.embed.blocks import AsmBlock, Operand
    from visa_lsp.embed.position_map import Segment
    from visa_lsp.embed.scan import PlacedUnit
    from visa_lsp.embed.units import Unit

_PLAIN: Final = re.compile(r"[\w .,:;()<>\[\]=+~!-]*", re.ASCII)
_SPECIAL: Final = re.compile(r"[%$*\"'\\]|visa|asm")


def apply_typing(placed: PlacedUnit, change: HostChange) -> PlacedUnit | None:
    """Return the body after a change inside of one of its strings; None if the function must be read again."""
    if not (_PLAIN.fullmatch(change.old) and _PLAIN.fullmatch(change.new)):
        return None
    unit = placed.unit
    local = change.span.shift(-placed.base)
    segment = unit.map.exact_around(local)
    around = unit.literal_around(local)
    if segment is None or around is None:
        return None
    at = segment.text.start + local.start - segment.host.start
    text = unit.text[:at] + change.new + unit.text[at + len(change.old) :]
    if _SPECIAL.search(text, segment.text.start, segment.text.end + change.by):
        return None
    # The blocks have the places at which they were read.
    made = _unit(unit, HostChange(local.shift(unit.base), change.old, change.new), around[0], segment, text)
    if made is None:
        return None
    return replace(placed, unit=made, zone=change.map_span(placed.zone), inner=change.map_span(placed.inner))


def _unit(unit: Unit, change: HostChange, inside: AsmBlock, segment: Segment, text: str) -> Unit | None:
    blocks = []
    for block in unit.source.blocks:
        if block.span.end <= change.span.start:
            blocks.append(block)
            continue
        made = _block(block, change)
        if block is inside and not _stays_visa(block, made):
            return None
        blocks.append(made)
    operands = {name: replace(o, operand=_operand(o.operand, change)) for name, o in unit.operands.items()}
    return replace(
        unit,
        source=replace(unit.source, blocks=tuple(blocks)),
        length=unit.length + change.by,
        text=text,
        map=unit.map.grown(segment, change.by),
        operands=operands,
    )


def _block(block: AsmBlock, change: HostChange) -> AsmBlock:
    return replace(
        block,
        span=change.map_span(block.span),
        pieces=tuple(_piece(p, change) for p in block.pieces),
        operands=tuple(_operand(o, change) for o in block.operands),
        literals=tuple(replace(lit, span=change.map_span(lit.span)) for lit in block.literals),
    )


def _piece(piece: StringPiece, change: HostChange) -> StringPiece:
    start, end = piece.host.start, piece.host.end
    if end < change.span.start or (end == change.span.start and not piece.exact):
        return piece
    text = piece.text
    if start < change.span.start:
        at = change.span.start - start
        text = text[:at] + change.new + text[at + len(change.old) :]
    return StringPiece(text, change.map_span(piece.host), piece.exact)


def _operand(operand: Operand, change: HostChange) -> Operand:
    return replace(operand, span=change.map_span(operand.span)) if operand.span.end > change.span.start else operand


def _stays_visa(before: AsmBlock, after: AsmBlock) -> bool:
    """Return whether the decision that a block is vISA has the same reasons."""
    sure = before.asked or before.executes
    return sure == (after.asked or after.executes) and before.is_certain
