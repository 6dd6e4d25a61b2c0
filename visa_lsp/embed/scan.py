"""Parsing a host text: the bodies of its blocks with what is known of their operands, and comments that speak to this program.

A function can be parsed again by itself: nothing but the macros and names of types of the whole text is then taken as it was.
It judges no vISA. Invariant: bodies are in the order of their first blocks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.embed.blocks import of_visa
from visa_lsp.embed.c_blocks import blocks_in
from visa_lsp.embed.c_types import type_named, type_of, whole_number
from visa_lsp.embed.languages import Host, may_hold_visa
from visa_lsp.embed.python_blocks import PythonText
from visa_lsp.embed.surroundings import Surroundings
from visa_lsp.embed.units import KnownType, Unit, UnitSource, unit_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.embed.blocks import AsmBlock, Operand
    from visa_lsp.embed.c_types import CType

SPEAKS: Final = "visa:"
_MARK: Final = re.compile(r"visa:\s*asm\b")
# Without any of these a text has no vISA: keywords of C; constraints in Python.
_WORTH: Final = {False: re.compile(r"\b(?:asm|__asm|__asm__)\b"), True: re.compile(r"rw")}


class PlacedUnit(Struct, frozen=True):
    """A body in its host: where it begins, and the part of the host that it depends on.

    ``around`` is what the body was read with. ``inner`` is the part of a function behind its head, where an edit changes
    nothing but this function; empty where there is no such part.
    """

    unit: Unit
    base: int
    zone: Span
    around: Surroundings | None = None
    inner: Span = Span(0, 0)

    def moved(self, by: int) -> PlacedUnit:
        """The same body, further on."""
        return PlacedUnit(self.unit, self.base + by, self.zone.shifted(by), self.around, self.inner.shifted(by))


class Scan(Struct, frozen=True):
    """What a host text has in it; ``marked`` where a comment may mark a string."""

    placed: tuple[PlacedUnit, ...] = ()
    comments: tuple[Span, ...] = ()
    marked: bool = False


def scan(text: str, host: Host) -> Scan:
    """Read a whole host text. Raises MissingGrammarError where there may be vISA in it and it cannot be parsed."""
    marked = may_mark(text)
    if not may_hold_visa(text) or not (marked or _WORTH[host is Host.PYTHON].search(text)):
        return Scan(marked=marked)
    if host is Host.PYTHON:
        python = PythonText(text)
        sources = (UnitSource("asm", 0, (b,), (_unknown(b),)) for b in python.blocks())
        placed = tuple(_placed(unit_of(source), None) for source in sources)
        return Scan(placed, _speaking(text, python.comments) if placed else (), marked)
    around = Surroundings(text, host)
    placed = tuple(_placed(unit_of(source), around) for source in _sources(around))
    return Scan(placed, _speaking(text, around.comments()) if placed else (), marked)


def may_mark(text: str) -> bool:
    """Whether a comment of a text may mark a string."""
    return SPEAKS in text and _MARK.search(text) is not None


def scan_function(text: str, before: PlacedUnit) -> tuple[PlacedUnit, tuple[Span, ...]] | None:
    """Read the text of one function again, and its comments; None where it is no longer one function with one body.

    Places count from the start of the function.
    """
    if before.around is None:
        return None
    around = Surroundings(text, before.around.host, before.around.outermost)
    if not around.is_one_function or not may_hold_visa(text):
        return None
    sources = list(_sources(around))
    if len(sources) != 1:
        return None
    return _placed(unit_of(sources[0]), around), _speaking(text, around.comments())


def _placed(unit: Unit, around: Surroundings | None) -> PlacedUnit:
    number = unit.source.blocks[0].function
    if around is None or number < 0:
        return PlacedUnit(unit, unit.base, Span(unit.base, unit.base + unit.length), around)
    function = around.functions[number]
    alone = not function.is_macro and around.is_outermost(number)
    return PlacedUnit(unit, unit.base, function.span, around, function.body if alone else Span(0, 0))


def _speaking(text: str, comments: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(c for c in comments if text.find(SPEAKS, c.start, c.end) >= 0)


def _sources(around: Surroundings) -> Iterator[UnitSource]:
    """The blocks by function, in the order of their first blocks; what is in no function is for itself."""
    blocks = of_visa(blocks_in(around), opencl=around.host is Host.OPENCL)
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
