"""Joins the blocks of a function into one body of vISA, as the compiler sees it, with a declaration for each operand.

Places in a unit are relative to its first block in the host and to its first character in the text, so that a unit does
not change when it moves. Knows no rules; unknown types, numbers and parts of lines stay open. Invariant: the unit's map
has exactly the characters of the text that are from a string of the host.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from visa_lsp.embed.blocks import AsmBlock, Operand, StringLiteral
from visa_lsp.embed.literals import HOLE, StringPiece
from visa_lsp.embed.position_map import PositionMap, Segment
from visa_lsp.syntax.comments import strip
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_LANES: Final = 32  # lanes of a function that does not define their number
_ROOM: Final = 4096  # bytes of an operand of unknown type
_MAX_NAME_CHARS: Final = 60
# Choices for an operand of unknown type and for an unknown number: the type, its bytes, a number.
CHOICES: Final = (
    ("d", 4, "0x1:d"),
    ("f", 4, "0x3f800000:f"),
    ("uq", 8, "0x10:uq"),
    ("w", 2, "0x8:w"),
    ("hf", 2, "0x3c00:hf"),
    ("ud", 4, "0x4:ud"),
    ("ub", 1, "0x2:ub"),
    ("df", 8, "0x3ff0000000000000:df"),
    ("bf", 2, "0x0:uw"),
)
_MARKED: Final = re.compile(
    r"(?:%(?P<double>%)|(?P<unique>%=|\$\{:uid\})|(?P<label>\b\B)?[%$](?:(?P<number>\d+)|\[(?P<name>\w+)\]))"
)
_TEMPLATE: Final = {
    "": None,
    "%": re.compile(r"%(?:(?P<double>%)|(?P<unique>=)|(?P<label>l)?(?:(?P<number>\d+)|\[(?P<name>\w+)\]))"),
    "$": re.compile(
        r"\$(?:(?P<double>\$)|(?P<unique>\{:uid\})|(?P<label>\b\B)?(?:(?P<number>\d+)|\{(?P<name>\d+)(?::\w+)?\}))"
    ),
    "%$": _MARKED,
    "$%": _MARKED,
}
UNIQUE: Final = "unique"  # the key of the number for `%=`, among those of operands


class KnownType(NamedTuple):
    """The known facts about an operand: its vISA type and elements per lane, or empty; its value, if it is a number.

    ``varies``: the number is known only at run time.
    """

    type: str = ""
    per_lane: int = 0
    value: int | None = None
    varies: bool = False


class OperandName(Struct, frozen=True):
    """An operand with its name in the text and its name in the host; spans are relative to the unit."""

    name: str
    written: str
    operand: Operand


class UnitSource(Struct, frozen=True):
    """The parts of a unit: a name, a width (0: not known), blocks, and the known facts of the operands of each."""

    name: str
    width: int
    blocks: tuple[AsmBlock, ...]
    facts: tuple[tuple[KnownType, ...], ...]


class Unit(Struct, frozen=True, dict=True):
    """A body of the text.

    ``base`` is the start of the first block in the host; spans count from there. ``written`` maps the placeholders in
    the text to the words of the host. ``open``: a part of it is unknown; ``broken``: whole lines are unknown, whose numbers
    by block are ``unread``.
    """

    source: UnitSource
    base: int
    length: int
    text: str
    map: PositionMap
    operands: dict[str, OperandName]
    written: dict[str, str]
    open: bool
    broken: bool
    labels: frozenset[str]
    unread: tuple[int, ...] = ()

    def is_typed(self, name: OperandName) -> bool:
        """Return whether the type of an operand is known."""
        number = next((n for n, block in enumerate(self.source.blocks) if name.operand in block.operands), -1)
        return number >= 0 and bool(self.source.facts[number][name.operand.number].type)

    @cached_property
    def by_choice(self) -> dict[str, list[frozenset[tuple[str, Span]]]]:
        """By platform: the findings in the body, by code and place, for every choice except the first; filled at first use."""
        return {}

    @cached_property
    def _literals(self) -> list[tuple[Span, StringLiteral, AsmBlock]]:
        return [(lit.span.shift(-self.base), lit, b) for b in self.source.blocks for lit in b.literals]

    def literal_around(self, span: Span) -> tuple[AsmBlock, StringLiteral] | None:
        """Return the literal with a span of the host (relative to the unit) between its quotes, and its block."""
        index = bisect_right(self._literals, span.start, key=lambda placed: placed[0].start) - 1
        if index < 0:
            return None
        where, literal, block = self._literals[index]
        return (block, literal) if where.start < span.start and span.end < where.end else None

    def as_written(self, words: str) -> str:
        """Replace names of operands in words about the vISA text by their names in the host."""
        return self._ours.sub(lambda word: self.written[word[0]], words) if self.written else words

    def parts_as_written(self, words: str) -> str:
        """Replace names of operands inside of other words."""
        for part in sorted(self.written.keys() - self.operands.keys(), key=len, reverse=True):
            words = words.replace(part, self.written[part])
        return words

    @cached_property
    def _ours(self) -> re.Pattern[str]:
        # An operand may be inside of a word; the longest matching name counts.
        return re.compile("|".join(map(re.escape, sorted(self.written, key=len, reverse=True))))


def unit_of(source: UnitSource, choice: int = 0, names: Mapping[str, str] | None = None) -> Unit:
    """Return the body made of blocks of one function; ``choice`` selects one of ``CHOICES`` for the unknown parts.

    ``names`` maps default names of operands to other names.
    """
    return _UnitMaker(source, choice, names or {}).unit()


class _UnitMaker:
    """Builds one unit."""

    def __init__(self, source: UnitSource, choice: int, names: Mapping[str, str]) -> None:
        self._source = source
        self._called = names
        self._choice = choice
        self._base = source.blocks[0].span.start
        self._names: dict[str, OperandName] = {}
        self._written: dict[str, str] = {}
        self._decls: list[str] = []
        self._open = self._broken = False
        self._labels: set[str] = set()

    def unit(self) -> Unit:
        """Assemble the body."""
        bodies = [list(self._lines(number, block)) for number, block in enumerate(self._source.blocks)]
        name = re.sub(r"\W", "_", self._source.name, flags=re.ASCII)[:_MAX_NAME_CHARS] or "asm"
        target = "cm" if all(block.is_of_vectors for block in self._source.blocks) else "3d"
        head = [f'.kernel "{name}"', f'.kernel_attr Target="{target}"']
        if self._source.width:
            head.append(f".kernel_attr SimdSize={self._source.width}")
        text = [line + "\n" for line in (*head, *self._decls)]
        offset = sum(map(len, text))
        unread = []
        segments: list[Segment] = []
        for lines in bodies:
            commented = False
            unread.append(0)
            for line in lines:
                written = ""
                if any(HOLE in part.text for part in line):
                    self._open = self._broken = True
                    unread[-1] += 1
                else:
                    start = offset
                    for part in line:
                        host = part.host.shift(-self._base)
                        segments.append(Segment(Span(start, start + len(part.text)), host, part.exact))
                        start += len(part.text)
                    written = "".join(part.text for part in line)
                if not written.endswith("\n"):
                    written += "\n"
                if commented or "/*" in written:
                    commented = strip(written.rstrip("\r\n"), commented)[1]
                text.append(written)
                offset += len(written)
            if commented:
                text.append("*/\n")
                offset += 3
        text.append("ret (M1, 1)\n")
        end = max(block.span.end for block in self._source.blocks)
        return Unit(
            self._source, self._base, end - self._base, "".join(text), PositionMap(segments),
            self._names, self._written, self._open, self._broken, frozenset(self._labels), tuple(unread),
        )  # fmt: skip

    def _lines(self, number: int, block: AsmBlock) -> Iterator[list[StringPiece]]:
        """Yield the lines of a block, in pieces."""
        self._labels.update(block.labels)
        if block.is_ptx and not block.asked:
            yield [StringPiece(HOLE, block.span, exact=False)]
            return
        line: list[StringPiece] = []
        for piece in self._fill(number, block):
            start = 0
            while start < len(piece.text):
                end = piece.text.find("\n", start) + 1 or len(piece.text)
                line.append(_cut(piece, start, end))
                if piece.text[end - 1] == "\n":
                    yield line
                    line = []
                start = end
        if line:
            yield line

    def _fill(self, number: int, block: AsmBlock) -> Iterator[StringPiece]:
        """Yield the template with its operands replaced."""
        pattern = _TEMPLATE[block.signs]
        starts = list(accumulate((len(p.text) for p in block.pieces), initial=0))
        offset = 0
        for hit in pattern.finditer(block.text) if pattern is not None else ():
            written = self._operand(number, block, hit)
            if written is None:
                continue
            yield from _slice(block.pieces, starts, offset, hit.start())
            parts = list(_slice(block.pieces, starts, hit.start(), hit.end()))
            yield StringPiece(written, Span(parts[0].host.start, parts[-1].host.end), exact=False)
            offset = hit.end()
        yield from _slice(block.pieces, starts, offset, starts[-1])

    def _operand(self, number: int, block: AsmBlock, hit: re.Match[str]) -> str | None:
        """Return the text for an operand of the template; None if it is not an operand."""
        if hit["double"]:
            return hit["double"]
        if hit["unique"]:
            return self._name_part(number, UNIQUE, hit[0])
        if hit["label"]:
            name = hit["name"] or (block.labels[:1] or ("",))[0]
            self._labels.add(name)
            return name or None
        called = hit["number"] or hit["name"]
        operand = next((o for o in block.operands if called in (str(o.number), o.name)), None)
        if operand is None:
            if not block.asked or block.operands or len(called) > 6:
                return None
            # The operands of a marked string are known only by their use.
            numbered = int(called) if called.isdigit() else len(self._names)
            operand = Operand(numbered, "" if called.isdigit() else called, None, "", block.span, written=True)
        before = block.text[block.text.rfind("\n", 0, hit.start()) + 1 : hit.start()]
        is_first = before.rstrip().endswith(")")  # after the execution size
        return self._text_of(number, block, operand, hit[0], is_first=is_first)

    def _name_part(self, number: int, key: object, written: str) -> str:
        """Return the placeholder for a part of a block."""
        name = f"__asm{number}_{key}"
        name = self._called.get(name, name)
        self._written.setdefault(name, written)
        return name

    def _text_of(self, number: int, block: AsmBlock, operand: Operand, written: str, *, is_first: bool) -> str:
        facts = self._source.facts[number][operand.number] if operand.constraint is not None else KnownType()
        if block.is_bare_number(operand):
            return str(facts.value) if facts.value is not None else HOLE
        if operand.is_immediate:
            if facts.value is not None:
                return f"0x{facts.value & 0xFFFFFFFF:x}:d"
            self._open = True
            return CHOICES[self._choice][2]
        key = operand.number if not operand.name or operand.constraint is not None else operand.name
        name = self._name_part(number, key, written)
        if name not in self._names:
            self._names[name] = OperandName(name, written, operand)
            self._decls.append(self._declaration(name, block, operand, facts))
        if not block.is_whole(operand):
            return name
        region = (
            "(0,0)<1>" if operand.written and is_first else "(0,0)<0;1,0>" if facts.per_lane == 1 else "(0,0)<1;1,0>"
        )
        self._written.setdefault(name + region, written)
        return name + region

    def _declaration(self, name: str, block: AsmBlock, operand: Operand, facts: KnownType) -> str:
        if block.kind_of(operand) == "cr":
            return f".decl {name} v_type=P num_elts={facts.per_lane or MAX_LANES}"
        if facts.type:
            alone = operand.is_uniform or block.is_of_vectors
            count = facts.per_lane * (1 if alone else self._source.width or MAX_LANES)
            return f".decl {name} v_type=G type={facts.type} num_elts={count} align=GRF"
        self._open = True
        visa, size, _ = CHOICES[self._choice]
        return f".decl {name} v_type=G type={visa} num_elts={_ROOM // size} align=GRF"


def _slice(pieces: tuple[StringPiece, ...], starts: list[int], start: int, end: int) -> Iterator[StringPiece]:
    """Yield the pieces of a part of the joined text of pieces; ``starts`` has the offset of each."""
    number = bisect_right(starts, start) - 1
    while start < end:
        stop = min(end, starts[number + 1])
        yield _cut(pieces[number], start - starts[number], stop - starts[number])
        start = stop
        number += 1


def _cut(piece: StringPiece, start: int, end: int) -> StringPiece:
    """Return a part of a piece; in a piece that is not exact, it has the place of the whole piece."""
    host = Span(start, end).shift(piece.host.start) if piece.exact else piece.host
    return StringPiece(piece.text[start:end], host, piece.exact)
