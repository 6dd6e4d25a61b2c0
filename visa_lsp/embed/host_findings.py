"""The findings of the vISA in a host text, at their places in the host.

The usual engine checks the text made of the blocks; this module maps the findings back to the host. Findings do not
depend on facts that only the host has: rules about the flow between blocks are off, and with an unknown type or number
only findings that hold for every choice are reported. Invariant: each reported finding, with all its fixes, lies in a
string of the host.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.diagnostics import Diagnostic, Fix, Related
from visa_lsp.embed.host_text import HEADER, HostText
from visa_lsp.embed.statements import statement_findings
from visa_lsp.embed.units import CHOICES, Unit, unit_of
from visa_lsp.ide.suppressions import Suppression, apply, silent_rules, suppressions_in, visible
from visa_lsp.text import LineIndex, Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from visa_lsp.isa.platforms import Platform

# Rules that are off because the code of the host between two blocks has unknown reads, writes and jumps.
_OF_FLOW: Final = frozenset(
    {
        "missing-return", "unreachable-code", "goto-without-join", "never-read", "never-written", "unused-variable",
        "missing-attribute", "version-line", "missing-kernel", "redeclared-kernel",
    }
)  # fmt: skip
# Rules that are off because a partly unknown line may declare a name, define a label or open a brace.
_OF_OTHER_LINES: Final = frozenset({"undeclared-name", "missing-label", "unmatched-brace", "unclosed-comment"})
# Rules that are off because the compiler inlines bodies into one another, so that a name may belong to any of them.
_OF_OTHER_BODIES: Final = {
    "undeclared-name": re.compile(r"\.decl\s+([^\s]+)"),
    "missing-label": re.compile(r"(?m)^\s*([A-Za-z_][\w$@?]*):"),
}
_MARK: Final = "visa:"
_MAX_CHARS_BEFORE, _MAX_LINE_CHARS, _MAX_LINES = (
    400,
    1000,
    1000,
)  # limits: characters before a comment, characters in a line of it, lines of a comment


def findings(host: HostText, extra: Collection[str] = ()) -> tuple[Diagnostic, ...]:
    """Return the findings of a host text in text order, without those suppressed in its comments and strings."""
    if not host.units:
        return ()
    placed = [d for d in (_place_finding(host, d) for d in _true(host, visible(host.analysis, extra))) if d is not None]
    placed = [*_without_repeated(host, placed), *statement_findings(host)]
    placed.sort(key=lambda d: (d.span, d.code))
    silencers = list(_suppressions(host))
    return (
        apply(host.document.text, placed, silencers, silent_rules(host.platform, extra)) if silencers else tuple(placed)
    )


def unread_lines(host: HostText) -> tuple[int, int]:
    """Return the number of lines of vISA that are not checked, because a part of them is unknown, and of their statements.

    The definition of a macro does not count if calls of it were checked.
    """
    blocks = [(block, unread) for u in host.units for block, unread in zip(u.source.blocks, u.unread, strict=True)]
    called = {name for block, _ in blocks for name in block.macros}
    counts = [unread for block, unread in blocks if unread and not block.is_ptx and block.macro not in called]
    return sum(counts), len(counts)


def _without_repeated(host: HostText, all_findings: list[Diagnostic]) -> list[Diagnostic]:
    """Return findings without those at the calls of a macro that its definition has as well."""
    spans = [
        (block.span.shift(host.base_of(number) - unit.base), block)
        for number, unit in enumerate(host.units)
        for block in unit.source.blocks
        if block.macro or block.macros
    ]
    if not spans:
        return all_findings
    owners = {
        id(d): next((b for span, b in spans if span.start <= d.span.start < span.end), None) for d in all_findings
    }
    defined = {(d.code, d.message) for d in all_findings if (owner := owners[id(d)]) is not None and owner.macro}
    return [
        d
        for d in all_findings
        if (owner := owners[id(d)]) is None or owner.macro or not owner.macros or (d.code, d.message) not in defined
    ]


def _true(host: HostText, all_findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the findings that hold for every meaning of the parts that are not understood."""
    elsewhere: dict[str, frozenset[str]] = {}
    for finding in all_findings:
        name = finding.name
        number = host.unit_at(finding.span.start)
        if name in _OF_FLOW or number < 0:
            continue
        unit = host.units[number]
        if unit.broken and name in _OF_OTHER_LINES:
            continue
        if name in _OF_OTHER_BODIES:
            names = elsewhere.get(name)
            if names is None:
                words = frozenset(_OF_OTHER_BODIES[name].findall(host.visa_text))
                names = elsewhere[name] = words | frozenset(label for u in host.units for label in u.labels)
            if host.analysis.document.slice(finding.span) in names:
                continue
        if unit.open and not _in_every_choice(host, number, finding):
            continue
        yield finding


def _in_every_choice(host: HostText, number: int, finding: Diagnostic) -> bool:
    unit = host.units[number]
    span = unit.map.host_span(finding.span.shift(-host.start_of(number)))
    name = host.platform.name if host.platform is not None else ""
    kept = unit.by_choice.get(name)
    if kept is None:
        kept = unit.by_choice[name] = [
            _find_with_choice(unit, choice, host.platform) for choice in range(1, len(CHOICES))
        ]
    return span is not None and all((finding.code, span) in choice_findings for choice_findings in kept)


def _find_with_choice(unit: Unit, choice: int, platform: Platform | None) -> frozenset[tuple[str, Span]]:
    """Return the findings in a unit with another choice for its unknown parts."""
    other = unit_of(unit.source, choice)
    analysis = Analysis.of(HEADER + other.text, platform.name if platform is not None else None)
    spans = ((d.code, other.map.host_span(d.span.shift(-len(HEADER)))) for d in analysis.full_diagnostics)
    return frozenset((code, span) for code, span in spans if span is not None)


# ---- to the host ----


def _place_finding(host: HostText, finding: Diagnostic) -> Diagnostic | None:
    """Return a finding at its place in the host; None if that is in no string."""
    span = host.host_span(finding.span)
    if span is None:
        return None
    unit = host.units[host.unit_at(finding.span.start)]
    related = []
    for place in finding.related:
        there = host.host_span(place.span) if place.path is None else place.span
        if there is not None:
            related.append(Related(there, unit.as_written(place.message), place.path))
    fixes = []
    for fix in finding.fixes:
        edits = host.edits(fix.edits)
        if edits is not None:
            fixes.append(Fix(unit.as_written(fix.title), edits, fix.safe))
    message = unit.as_written(finding.message)
    return replace(finding, span=span, message=message, related=tuple(related), fixes=tuple(fixes))


# ---- suppressions ----


def _suppressions(host: HostText) -> Iterator[Suppression]:
    """Yield the suppressions in the comments of the host."""
    if not host.comments:
        return
    text = host.document.text
    index = LineIndex(text)
    for comment in host.comments:
        offset = comment.start
        before = text[max(0, offset - _MAX_CHARS_BEFORE) : offset]
        # A comment so far to the right counts as one after code.
        blank = before[before.rfind("\n") + 1 :].isspace() or before[-1:] in ("\n", "")
        alone = blank and ("\n" in before or len(before) == offset)
        offset -= len(before) - len(before.rstrip(" \t"))  # the blanks before a comment are removed with it
        for part in text[offset : comment.end].split("\n")[:_MAX_LINES]:
            if _MARK in part and len(part) <= _MAX_LINE_CHARS:
                code = " " * len(part) + ("" if alone else "x")
                yield from suppressions_in(part, code, index.position(offset)[0], offset)
            offset += len(part) + 1
            alone = True
