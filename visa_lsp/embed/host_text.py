"""A host text as one snapshot: its blocks, the one vISA text made of them, its analysis, and the way between both.

All bodies stand in one text, so that an edit of the host is an edit of that text and goes through the one engine. A snapshot
never changes; ``edited`` makes the next one and takes over what the edit did not touch.
Invariant: the snapshot after an edit says what a fresh one of the same host text says.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.embed.blocks import of_visa
from visa_lsp.embed.c_blocks import blocks_in
from visa_lsp.embed.c_types import type_named, type_of, whole_number
from visa_lsp.embed.languages import Host, may_hold_visa
from visa_lsp.embed.python_blocks import PythonText
from visa_lsp.embed.surroundings import Surroundings
from visa_lsp.embed.units import KnownType, Unit, UnitSource, unit_of
from visa_lsp.syntax.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.embed.blocks import AsmBlock, Operand
    from visa_lsp.embed.c_types import CType
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.text import Span

HEADER: Final = ".version 4.2\n"
_COMMENT: Final = "visa:"


class Scan:
    """What parsing a host text gives: the units of its blocks, and its comments that speak to this program."""

    def __init__(self, text: str, host: Host) -> None:
        self.units: tuple[Unit, ...] = ()
        self.comments: tuple[Span, ...] = ()
        self.around: Surroundings | None = None
        if not may_hold_visa(text):
            return
        if host is Host.PYTHON:
            python = PythonText(text)
            sources = [UnitSource("asm", 0, (b,), (_unknown(b),)) for b in python.blocks()]
            comments = python.comments
        else:
            self.around = Surroundings(text, host)
            sources = list(_sources(self.around, of_visa(blocks_in(self.around), opencl=host is Host.OPENCL)))
            comments = self.around.comments()
        self.units = tuple(map(unit_of, sources))
        if self.units:
            self.comments = tuple(c for c in comments if text.find(_COMMENT, c.start, c.end) >= 0)


def _sources(around: Surroundings, blocks: list[AsmBlock]) -> Iterator[UnitSource]:
    """Blocks by function, in the order of their first blocks; what is in no function is for itself."""
    by_function: dict[int, list[AsmBlock]] = {}
    for number, block in enumerate(blocks):
        by_function.setdefault(block.function if block.function >= 0 else -1 - number, []).append(block)
    for function, together in by_function.items():
        name = around.functions[function].name if function >= 0 else "asm"
        width = around.width(function, together[0].span.start)
        known = tuple(tuple(_known(around, b, o) for o in b.operands) for b in together)
        yield UnitSource(name, width, tuple(together), known)


def _unknown(block: AsmBlock) -> tuple[KnownType, ...]:
    return tuple(KnownType() for _ in block.operands)


def _known(around: Surroundings, block: AsmBlock, operand: Operand) -> KnownType:
    """What the host tells of an operand."""
    if operand.kind.isdigit() and int(operand.kind) < operand.number:
        return _known(around, block, block.operands[int(operand.kind)])
    if operand.is_immediate:
        return KnownType(value=_value(operand.expression))

    def variable(name: str) -> CType | None:
        declared = around.declaration(name, block.function, operand.span.start)
        return type_named(declared.type, declared.depth, around.host, around.type_names) if declared else None

    found = type_of(operand.expression, around.host, around.type_names, variable)
    declared = found.declared if found is not None else None
    return KnownType(*declared) if declared is not None else KnownType()


def _value(expression: str) -> int | None:
    value = whole_number(expression)
    return value if value is not None and -(1 << 31) <= value < 1 << 32 else None


class HostText:
    """A snapshot of a host text. ``document`` is the host's own."""

    def __init__(
        self,
        host: Host,
        document: Document,
        platform: Platform | None,
        scan: Scan | None = None,
        visa: Document | None = None,
    ) -> None:
        self.document = document
        self.host = host
        self.platform = platform
        self.scan = scan if scan is not None else Scan(document.text, host)
        self.units = self.scan.units
        self._starts = [*accumulate((len(u.text) for u in self.units), initial=len(HEADER))]
        self.comments = self.scan.comments
        self._bases = [u.base for u in self.units]
        # How far the units up to each one reach: a function inside of another begins before that one ends.
        self._reach = [*accumulate((u.base + u.length for u in self.units), max)]
        self.analysis = Analysis(visa if visa is not None else Document.parse(self.visa_text), platform)

    @staticmethod
    def of(text: str, host: Host, platform: Platform | None = None) -> HostText:
        """A snapshot of a whole text. Raises MissingGrammarError where there may be vISA in it and it cannot be parsed."""
        return HostText(host, Document.parse(text), platform)

    @property
    def visa_text(self) -> str:
        """The text that all blocks make."""
        return HEADER + "".join(u.text for u in self.units)

    def on(self, platform: Platform | None) -> HostText:
        """The snapshot of the same text on a platform."""
        return HostText(self.host, self.document, platform, self.scan)

    def edited(self, document: Document) -> HostText:
        """The snapshot of the next state of the host's document."""
        scan = Scan(document.text, self.host)
        old, new = self.visa_text, HEADER + "".join(u.text for u in scan.units)
        head = _same(old, new, 0)
        tail = _same(old[::-1], new[::-1], head)
        visa = self.analysis.document
        if old != new:
            visa = visa.edit(head, len(old) - tail, new[head : len(new) - tail])
        return HostText(self.host, document, self.platform, scan, visa)

    def unit_at(self, offset: int) -> int:
        """The number of the unit that has an offset of the vISA text; -1 before the first."""
        return min(bisect_right(self._starts, offset) - 1, len(self.units) - 1)

    def base_of(self, number: int) -> int:
        """Where a unit begins in the host."""
        return self._bases[number]

    def start_of(self, number: int) -> int:
        """Where a unit begins in the vISA text."""
        return self._starts[number]

    def host_span(self, span: Span) -> Span | None:
        """The part of the host that a span of the vISA text comes from; None for what stands in no string."""
        number = self.unit_at(span.start)
        if number < 0:
            return None
        unit = self.units[number]
        found = unit.map.host_span(span.shifted(-self._starts[number]))
        return found.shifted(self._bases[number]) if found is not None else None

    def visa_offset(self, offset: int) -> int | None:
        """The offset in the vISA text for a cursor in the host; None outside of vISA."""
        number = bisect_right(self._bases, offset) - 1
        while number >= 0 and self._reach[number] >= offset:
            unit = self.units[number]
            found = unit.map.to_text(offset - self._bases[number])
            if found is not None:
                return self._starts[number] + found
            number -= 1
        return None

    def is_unbroken(self, span: Span) -> bool:
        """Whether the part of the host that a span comes from has nothing in it but what the span has."""
        number = self.unit_at(span.start)
        return number >= 0 and self.units[number].map.unbroken(span.shifted(-self._starts[number]))

    def declaration(self, name: str, function: int, offset: int) -> Span | None:
        """Where a C variable is declared that holds at an offset of a function; None where it is not in sight."""
        around = self.scan.around
        found = around.declaration(name, function, offset) if around is not None else None
        return found.span if found is not None else None


def _same(one: str, other: str, taken: int) -> int:
    """How many characters at the head of two texts are the same; ``taken`` of them are spoken for at the other end."""
    most = min(len(one), len(other)) - taken
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
