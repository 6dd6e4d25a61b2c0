"""Editor requests about a place in a host text, answered by the features for vISA and mapped back to the host.

One layer for all requests: an offset of the host becomes one of the vISA text; spans and words of the answer become
those of the host. The features compute the answers. Outside of vISA strings every answer is None. Invariant: no span of
an answer lies outside of the strings of the host, except those of operands and C variables.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Edit
from visa_lsp.ide.features import completion as of_completion
from visa_lsp.ide.features.definition import Target
from visa_lsp.ide.features.definition import definition as of_definition
from visa_lsp.ide.features.folding import Fold, folding_ranges
from visa_lsp.ide.features.hover import HoverResult
from visa_lsp.ide.features.hover import hover as of_hover
from visa_lsp.ide.features.references import Occurrence
from visa_lsp.ide.features.references import highlights as of_highlights
from visa_lsp.ide.features.references import references as of_references
from visa_lsp.ide.features.rename import NAME, RenameRefused
from visa_lsp.ide.features.rename import prepare_rename as of_prepare_rename
from visa_lsp.ide.features.rename import rename as of_rename
from visa_lsp.ide.features.semantic_tokens import pack_lines, pack_tokens, unpack_tokens
from visa_lsp.ide.features.signature import SignatureHelp
from visa_lsp.ide.features.signature import signature_help as of_signature_help
from visa_lsp.ide.features.token_pieces import Piece, join_lines, recode_line
from visa_lsp.text import Encoding, Span

if TYPE_CHECKING:
    from visa_lsp.embed.host_text import HostText
    from visa_lsp.embed.units import OperandName, Unit
    from visa_lsp.ide.features.completion import CompletionOffer, ItemKind

_VARIABLE: Final = re.compile(r"[\s&*(]*([A-Za-z_]\w*)")
_SIGNS_BEFORE: Final = re.compile(r"[%$]\[?\Z")
_NUMBER: Final = re.compile(r"__asm(\d+)_")


def operand_at(host: HostText, offset: int) -> tuple[Unit, OperandName, Span] | None:
    """Return the operand with its name at an offset of the host, with its body and its place."""
    visa_offset = host.visa_offset(offset)
    if visa_offset is None:
        return None
    unit = host.units[host.unit_at(visa_offset)]
    local = visa_offset - host.start_of(host.unit_at(visa_offset))
    # A cursor just after a name still points at it.
    for place in (local, local - 1):
        segment = unit.map.segment_at(place)
        part = unit.text[segment.text.start : segment.text.end] if segment is not None and not segment.exact else ""
        name = part.partition("(")[0]  # because a whole operand has its region after the name
        if segment is not None and name in unit.operands:
            return unit, unit.operands[name], segment.host.shift(host.base_of(host.unit_at(visa_offset)))
    return None


def hover(host: HostText, offset: int) -> HoverResult | None:
    """Return the hover page at an offset; for an operand, add its description in the asm statement."""
    visa_offset = host.visa_offset(offset)
    page = of_hover(host.analysis, visa_offset) if visa_offset is not None else None
    span = host.host_span(page.span) if page is not None else None
    if visa_offset is None or page is None or span is None:
        return None
    unit = host.units[host.unit_at(visa_offset)]
    words = unit.as_written(page.markdown)
    operand = operand_at(host, offset)
    if operand is not None:
        head = _operand_page(operand[1])
        words = f"{head}\n\n{words}" if unit.is_typed(operand[1]) else f"{head}\n\nIts type is not known here."
    return HoverResult(span, words)


def _operand_page(name: OperandName) -> str:
    operand = name.operand
    constraint = f'`"{operand.constraint}"`' if operand.constraint is not None else "not known"
    expression = f", `{operand.expression}`" if operand.expression else ""
    return f"**`{name.written}`** operand {operand.number} of the asm statement: {constraint}{expression}"


def definition(host: HostText, offset: int) -> tuple[Target, ...]:
    """Return the declarations of the name at an offset; an operand of the statement is declared in C."""
    operand = operand_at(host, offset)
    if operand is not None:
        return tuple(_of_operand(host, *operand))
    visa_offset = host.visa_offset(offset)
    target = of_definition(host.analysis, visa_offset) if visa_offset is not None else None
    if target is None:
        return ()
    origin, name = host.host_span(target.origin), host.host_span(target.name)
    if origin is None or name is None:
        return ()
    return (Target(origin, name, host.host_span(target.line) or name),)


def _of_operand(host: HostText, unit: Unit, name: OperandName, origin: Span) -> list[Target]:
    moved = host.distance_of(unit)
    place = name.operand.span.shift(moved)
    targets = [Target(origin, place, place)]
    variable = _VARIABLE.match(name.operand.expression)
    declared = host.declaration(unit, variable[1], name.operand.span.start) if variable is not None else None
    if declared is not None:
        targets.append(Target(origin, declared, declared))
    return targets


def _block_number(name: str) -> int:
    hit = _NUMBER.match(name)
    return int(hit[1]) if hit is not None else 0


def highlights(host: HostText, offset: int) -> tuple[Occurrence, ...]:
    """Return the places of the name at an offset."""
    visa_offset = host.visa_offset(offset)
    return _in_host(host, of_highlights(host.analysis, visa_offset)) if visa_offset is not None else ()


def references(host: HostText, offset: int, *, declarations: bool = True) -> tuple[Occurrence, ...]:
    """Return every place of the name at an offset and of its aliases."""
    visa_offset = host.visa_offset(offset)
    if visa_offset is None:
        return ()
    return _in_host(host, of_references(host.analysis, visa_offset, declarations=declarations))


def _in_host(host: HostText, occurrences: tuple[Occurrence, ...]) -> tuple[Occurrence, ...]:
    placed = ((host.host_span(o.span), o) for o in occurrences)
    return tuple(replace(o, span=span) for span, o in placed if span is not None)


def prepare_rename(host: HostText, offset: int) -> tuple[Span, str] | None:
    """Return the name that would be renamed; None if there is none, as for an operand without a name."""
    operand = operand_at(host, offset)
    if operand is not None:
        name = operand[1].operand.name
        return (_inner(operand[2], name), name) if name and operand[1].operand.constraint is not None else None
    visa_offset = host.visa_offset(offset)
    renamed = of_prepare_rename(host.analysis, visa_offset) if visa_offset is not None else None
    span = host.host_span(renamed[0]) if renamed is not None else None
    return (span, renamed[1]) if renamed is not None and span is not None else None


def _inner(span: Span, name: str) -> Span:
    """Return the name in `%[name]`."""
    return Span(span.end - 1 - len(name), span.end - 1)


def rename(host: HostText, offset: int, new_name: str) -> tuple[Edit, ...]:
    """Return the edits of a rename. RenameRefused says why it cannot be done."""
    visa_offset = host.visa_offset(offset)
    if visa_offset is None:
        raise RenameRefused("no vISA here")
    operand = operand_at(host, offset)
    if operand is not None:
        return _rename_operand(host, visa_offset, operand, new_name)
    edits = host.edits(of_rename(host.analysis, visa_offset, new_name))
    if edits is None:
        raise RenameRefused("a part of the name is outside of the string, or comes from a macro")
    return edits


def _rename_operand(
    host: HostText, visa_offset: int, operand: tuple[Unit, OperandName, Span], new_name: str
) -> tuple[Edit, ...]:
    unit, name, _ = operand
    old = name.operand.name
    if not old or name.operand.constraint is None:
        raise RenameRefused("an operand without a name has only its number")
    if not NAME.fullmatch(new_name):
        raise RenameRefused(f"`{new_name}` is not a valid name of an operand")
    block = unit.source.blocks[_block_number(name.name)]
    if any(o.name == new_name for o in block.operands if o.name != old):
        raise RenameRefused(f"there is already an operand `{new_name}` in this statement")
    spans = [host.host_span(o.span) for o in of_highlights(host.analysis, visa_offset)]
    place = name.operand.span.shift(host.distance_of(unit))
    own = host.document.slice(place).find(old)
    edits = [Edit(Span(place.start + own, place.start + own + len(old)), new_name)] if own >= 0 else []
    edits += [Edit(_inner(span, old), new_name) for span in spans if span is not None]
    return tuple(sorted(edits, key=lambda e: e.span))


def complete(host: HostText, offset: int) -> tuple[tuple[CompletionOffer, ...], bool]:
    """Return the offers at an offset, and whether there are more; operands have their names in the statement."""
    visa_offset = host.visa_offset(offset)
    if visa_offset is None:
        return (), False
    offers, cut = of_completion.offers(host.analysis, visa_offset)
    number = host.unit_at(visa_offset)
    unit = host.units[number]
    around = unit.literal_around(Span(offset, offset).shift(-host.base_of(number)))
    if around is None:
        return (), False
    block = unit.source.blocks.index(around[0])
    out = []
    for item in offers:
        span = host.host_span(item.span) or Span(offset, offset)
        operand = unit.operands.get(item.label)
        if operand is not None:
            if _block_number(item.label) != block:
                continue
            signs = _SIGNS_BEFORE.search(host.document.slice(Span(max(0, span.start - 2), span.start)))
            span = Span(span.start - (len(signs[0]) if signs is not None else 0), span.end)
            written, detail = operand.written, unit.as_written(item.detail)
            out.append(replace(item, label=written, insert=written, detail=detail, span=span))
            continue
        edits = host.edits((Edit(item.span, item.insert),))
        insert = edits[0].new_text if edits else item.insert
        out.append(replace(item, insert=insert, detail=unit.as_written(item.detail), span=span))
    return tuple(out), cut


def documentation(host: HostText, kind: ItemKind, label: str, offset: int) -> str:
    """Return the documentation of an offer at an offset."""
    visa_offset = host.visa_offset(offset)
    if visa_offset is None:
        return ""
    unit = host.units[host.unit_at(visa_offset)]
    name = next((o.name for o in unit.operands.values() if o.written == label), label)
    here = host.analysis.document.position(visa_offset)[0]
    return unit.as_written(of_completion.documentation(host.analysis, kind, name, here))


def signature_help(host: HostText, offset: int) -> SignatureHelp | None:
    """Return the syntax of the instruction at an offset."""
    visa_offset = host.visa_offset(offset)
    return of_signature_help(host.analysis, visa_offset) if visa_offset is not None else None


def tokens(host: HostText, encoding: Encoding) -> Piece:
    """Return the colours of only the vISA in the host; lines are those of the host."""
    by_line: dict[int, list[tuple[int, int, int, int]]] = {}
    text = host.document
    for visa_line, packed in pack_lines(host.analysis) if host.units else ():
        for start, length, type_, modifiers in unpack_tokens(packed):
            whole = host.analysis.document.span(visa_line, Span(start, start + length))
            span = host.host_span(whole)
            if span is not None and host.is_unbroken(whole):
                line, column = text.position(span.start)
                by_line.setdefault(line, []).append((column, span.end - span.start, type_, modifiers))
    lines = [b""] * (max(by_line, default=-1) + 1)
    for line, line_tokens in by_line.items():
        lines[line] = recode_line(pack_tokens(sorted(line_tokens)), text.line_text(line), encoding)
    return join_lines(lines)


def folds(host: HostText) -> tuple[Fold, ...]:
    """Return the folding ranges: every statement of several lines, and the folds of the vISA text."""
    ranges: set[tuple[int, int]] = set()
    for number, unit in enumerate(host.units):
        for block in unit.source.blocks:
            span = block.span.shift(host.base_of(number) - unit.base)
            ranges.add((host.document.position(span.start)[0], host.document.position(span.end)[0]))
    visa = host.analysis.document
    for fold in folding_ranges(host.analysis) if host.units else ():
        first_span = host.host_span(Span(visa.line_start(fold.first_line), visa.line_start(fold.first_line) + 1))
        last_span = host.host_span(Span(visa.line_start(fold.last_line), visa.line_start(fold.last_line) + 1))
        if first_span is not None and last_span is not None:
            ranges.add((host.document.position(first_span.start)[0], host.document.position(last_span.start)[0]))
    return tuple(Fold(start, end) for start, end in sorted(ranges) if start < end)
