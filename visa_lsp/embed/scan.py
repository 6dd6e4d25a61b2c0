"""Parses a host text: the bodies of its blocks with the known facts about their operands, and comments for this program.

After an edit the text is read again, except functions with unchanged text. Does not check vISA.
Invariant: bodies are in the order of their first blocks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.embed.blocks import MARK, Compiler, of_visa
from visa_lsp.embed.c_blocks import blocks_in, strings_in
from visa_lsp.embed.c_types import type_named, type_of, whole_number
from visa_lsp.embed.host_tree import HostTree
from visa_lsp.embed.ir_blocks import sources_in
from visa_lsp.embed.languages import Host, may_hold_visa
from visa_lsp.embed.nested_sources import NestedText, is_opencl
from visa_lsp.embed.python_blocks import PythonText
from visa_lsp.embed.surroundings import SPEAKS, Surroundings, keywords
from visa_lsp.embed.units import KnownType, Unit, UnitSource, unit_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from visa_lsp.embed.blocks import AsmBlock, Operand
    from visa_lsp.embed.c_types import CType
    from visa_lsp.embed.outer_names import OuterNames


_VARIES: Final = re.compile(r"\s*=[^;,]*?(?:\[|\bget_\w+\s*\()")


class PlacedUnit(Struct, frozen=True):
    """A body in its host: its start, and the part of the host that it depends on.

    ``is_alone``: it depends only on one function and on the names of the whole text.
    """

    unit: Unit
    base: int
    zone: Span
    is_alone: bool = False

    def shift(self, by: int) -> PlacedUnit:
        """Return the body, moved by a distance."""
        return PlacedUnit(self.unit, self.base + by, self.zone.shift(by), self.is_alone) if by else self


class Scan(Struct, frozen=True):
    """The vISA content of a host text. ``tree`` and ``names`` are those of the whole text."""

    placed: tuple[PlacedUnit, ...] = ()
    comments: tuple[Span, ...] = ()
    tree: HostTree | None = None
    names: OuterNames | None = None


class Before(NamedTuple):
    """A text before an edit, and its blocks; the tree already has the places of the new text."""

    text: str
    scan: Scan


def scan(text: str, host: Host, before: Before | None = None) -> Scan:
    """Read a whole host text.

    Raises MissingGrammarError if it may contain vISA and cannot be parsed. The tree and unchanged functions are reused
    from ``before``.
    """
    if host in (Host.LLVM, Host.MLIR):
        return Scan(tuple(_place_unit(unit_of(source), None) for source in sources_in(text, host)))
    old_tree = before.scan.tree if before is not None else None
    if not ((SPEAKS in text and MARK.search(text)) or _is_worth_it(text, host)):
        return Scan(tree=old_tree)
    tree = old_tree.parse(text) if old_tree is not None else HostTree.of(text, host)
    if host is Host.PYTHON:
        python = PythonText(text, tree.tree)
        sources = (UnitSource("asm", 0, (b,), (_unknown(b),)) for b in python.blocks())
        placed = tuple(
            sorted(
                [*(_place_unit(unit_of(source), None) for source in sources), *_scan_nested(python.others())],
                key=lambda p: p.base,
            )
        )
        return Scan(placed, _select_comments(text, python.comments) if placed else (), tree)
    around = Surroundings(text, host, tree.tree)
    kept = _reuse_bodies(around, before) if before is not None and before.scan.names == around.names else {}
    units = [*kept.values(), *(_place_unit(unit_of(source), around) for source in _sources(around, kept))]
    units += _scan_nested(strings_in(around))
    units.sort(key=lambda p: p.base)
    return Scan(tuple(units), tuple(around.comments) if units else (), tree, around.names)


def _is_worth_it(text: str, host: Host) -> bool:
    """Return whether a text without marks must be parsed, because it has a keyword of C, or constraints."""
    if host is Host.PYTHON:
        return may_hold_visa(text) and ("rw" in text or "inline_asm" in text or "__asm" in text)
    return may_hold_visa(text) and ("=rw" in text or next(keywords(text), None) is not None)


def _scan_nested(texts: Iterable[NestedText]) -> Iterator[PlacedUnit]:
    """Yield the bodies in strings of OpenCL C."""
    for text in texts:
        if is_opencl(text.text):
            for source in _sources(Surroundings(text.text, Host.OPENCL)):
                blocks = tuple(text.in_host(block) for block in source.blocks)
                unit = unit_of(replace(source, blocks=blocks))
                yield PlacedUnit(unit, unit.base, text.span)


def _reuse_bodies(around: Surroundings, before: Before) -> dict[int, PlacedUnit]:
    """Return the bodies of functions with unchanged text, by the number of the function."""
    units_by_text = {before.text[p.zone.start : p.zone.end]: p for p in before.scan.placed if p.is_alone}
    bodies = {}
    for number, function in enumerate(around.functions):
        if not function.is_macro and around.is_outermost(number):
            same = units_by_text.get(around.text[function.span.start : function.span.end])
            if same is not None:
                bodies[number] = same.shift(function.span.start - same.zone.start)
    return bodies


def _place_unit(unit: Unit, around: Surroundings | None) -> PlacedUnit:
    number = unit.source.blocks[0].function
    if around is None or number < 0:
        reach = unit.source.blocks[0].reach
        return PlacedUnit(unit, unit.base, reach if reach.end else Span(unit.base, unit.base + unit.length))
    function = around.functions[number]
    alone = not function.is_macro and around.is_outermost(number) and unit.base + unit.length <= function.span.end
    return PlacedUnit(unit, unit.base, function.span, alone and function.body.start < function.body.end)


def _select_comments(text: str, comments: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(c for c in comments if text.find(SPEAKS, c.start, c.end) >= 0)


def _sources(around: Surroundings, but: Container[int] = ()) -> Iterator[UnitSource]:
    """Yield the blocks by function, in the order of their first blocks; a block outside of functions is alone.

    Functions with the numbers ``but`` are skipped.
    """
    candidates = (_of_compiler(around, b) for b in blocks_in(around, but))
    blocks = of_visa(list(candidates), opencl=around.host is Host.OPENCL)
    by_function: dict[int, list[AsmBlock]] = {}
    for number, block in enumerate(blocks):
        by_function.setdefault(block.function if block.function >= 0 else -1 - number, []).append(block)
    for function, together in by_function.items():
        name = around.functions[function].name if function >= 0 else "asm"
        width = around.width(function, together[0].span.start)
        facts = tuple(tuple(_find_type(around, b, o) for o in b.operands) for b in together)
        yield UnitSource(name, width, tuple(together), facts)


def _of_compiler(around: Surroundings, block: AsmBlock) -> AsmBlock:
    """Return a block with its compiler."""
    compiler = around.compiler(block.function, block.span.start)
    plain = around.host is not Host.OPENCL and not around.width(block.function, block.span.start)
    if compiler is Compiler.SCALAR and plain and block.has_whole_operands:
        compiler = Compiler.EITHER
    return replace(block, compiler=compiler)


def _unknown(block: AsmBlock) -> tuple[KnownType, ...]:
    return tuple(KnownType() for _ in block.operands)


def _find_type(around: Surroundings, block: AsmBlock, operand: Operand) -> KnownType:
    """Return the type and value of an operand, as declared in the host."""
    if operand.kind.isdigit() and int(operand.kind) < operand.number:
        return _find_type(around, block, block.operands[int(operand.kind)])
    if operand.is_immediate:
        macro = around.names.macros.get(operand.expression.strip())
        value = _value(operand.expression if macro is None or macro.parameters is not None else macro.body)
        return KnownType(value=value, varies=value is None and _varies(around, block, operand))

    def variable(name: str) -> CType | None:
        declared = around.declaration(name, block.function, operand.span.start)
        return type_named(declared.type, declared.depth, around.host, around.names.types) if declared else None

    c_type = type_of(operand.expression, around.host, around.names.types, variable)
    declared = c_type.declared if c_type is not None else None
    return KnownType(*declared) if declared is not None else KnownType()


def _varies(around: Surroundings, block: AsmBlock, operand: Operand) -> bool:
    """Return whether an expression is a variable whose initial value is read from memory or from a work-item function."""
    name = operand.expression.strip()
    declared = around.declaration(name, block.function, operand.span.start) if name.isidentifier() else None
    return declared is not None and _VARIES.match(around.text, declared.span.end) is not None


def _value(expression: str) -> int | None:
    value = whole_number(expression)
    return value if value is not None and -(1 << 31) <= value < 1 << 32 else None
