"""One block as a separate vISA text, which an editor can open, check and change.

Each operand is a variable; the declarations are above the block, the end of the body below. Two comments mark the
beginning and the end of the block: only the text between them is the user's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.embed.host_text import HEADER, HostText
from visa_lsp.embed.literals import HOLE
from visa_lsp.embed.units import UNIQUE, Unit, UnitSource, unit_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from visa_lsp.embed.blocks import AsmBlock, Operand

BEGINS: Final = "// ---- the block begins below this line ----\n"
ENDS: Final = "// ---- the block ends above this line ----\n"
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_DECLARES: Final = re.compile(r"\s*\.decl\s+([^\s]+)")


class BlockRefused(ValueError):  # noqa: N818 - it says what cannot be done
    """A change that cannot be written into the host, or a missing block; the message says why."""


class BlockText(Struct, frozen=True):
    """A block as a text: its number and place in the host, the text, the place of the user's part in the text.

    ``names`` maps a name in the text to the name of the operand in the strings.
    """

    number: int
    span: Span
    text: str
    body: Span
    names: Mapping[str, str]
    block: AsmBlock
    unit: Unit

    @property
    def head_lines(self) -> int:
        """The number of lines above the block in its unit: those of every body, and one per operand."""
        return _head_lines(self.unit)

    def lines_in_host(self, host: HostText) -> list[int | None]:
        """Return, for each line of the text, its line of the host, from 0; None for lines outside of the user's part."""
        above = self.text.count("\n", 0, self.body.start)
        host_lines: list[int | None] = [None] * (self.text.count("\n") + 1)
        start = 0
        for number, line in enumerate(self.unit.text.split("\n"), above - self.head_lines):
            indent = len(line) - len(line.lstrip())
            place = self.unit.map.to_host(start + indent)
            if place is not None and above <= number < len(host_lines):
                host_lines[number] = host.document.position(place + self.span.start)[0]
            start += len(line) + 1
        return host_lines

    @property
    def lines(self) -> str:
        """The user's part of the text."""
        return self.text[self.body.start : self.body.end]


def blocks_of(host: HostText) -> list[tuple[Span, Unit, AsmBlock]]:
    """Return the blocks of a host in text order, each with its place and its body; its number is its index in the list.

    Blocks that the call of a macro makes are omitted, because no string of the host has their lines.
    """
    blocks = [
        (block.span.shift(host.base_of(n) - unit.base), unit, block)
        for n, unit in enumerate(host.units)
        for block in unit.source.blocks
        if (block.asked or not block.is_ptx) and not (block.macros and not block.literals)
    ]
    return sorted(blocks, key=lambda entry: entry[0])


def block_text(host: HostText, number: int, called: str, width: int = 0) -> BlockText:
    """Return a block of a host as a text; ``called`` is the name of the host in its head.

    Raises BlockRefused if there is no such block. ``width`` is the number of lanes if the host does not define it; 0
    means unknown.
    """
    blocks = blocks_of(host)
    if not 0 <= number < len(blocks):
        raise BlockRefused(f"there is no block {number + 1} in {called}: it has {len(blocks)}")
    span, whole, block = blocks[number]
    index = whole.source.blocks.index(block)
    names = _names(whole, block)
    source = UnitSource(whole.source.name, whole.source.width or width, (block,), (whole.source.facts[index],))
    unit = unit_of(source, names={f"__asm0_{key}": name for key, name in names.items()})
    head = _head_lines(unit)
    generated, lines = unit.text.split("\n")[:head], unit.text.split("\n")[head:-2]
    written = {name: operand.written for name, operand in unit.operands.items()}
    above = [
        f"// {called}, line {host.document.position(span.start)[0] + 1}: the text outside of the marks is generated from it",
        HEADER.rstrip("\n"),
        *(f"{line}{_operand_words(unit, line)}" for line in generated),
        *_from_other_blocks(whole, block, lines),
    ]
    start = "\n".join(above) + "\n" + BEGINS
    body = "\n".join(lines) + "\n" if lines else ""
    ends = unit.text[unit.text.rindex("\n", 0, -1) + 1 :]
    return BlockText(
        number, span, start + body + ENDS + ends, Span(len(start), len(start) + len(body)), written, block, unit
    )


def _head_lines(unit: Unit) -> int:
    return 2 + bool(unit.source.width) + len(unit.operands)


def _operand_words(unit: Unit, line: str) -> str:
    """Return the operand declared by a line, in the words of the asm statement, for a comment."""
    match = _DECLARES.match(line)
    name = unit.operands.get(match[1]) if match is not None else None
    if name is None:
        return ""
    operand = name.operand
    words = " ".join(f'"{operand.constraint}"({operand.expression})'.split()) if operand.constraint is not None else ""
    unknown = "" if unit.is_typed(name) else "; its type is not known here"
    return f"  // {name.written} {words}{unknown}".replace(HOLE, "?")


def _from_other_blocks(unit: Unit, block: AsmBlock, lines: list[str]) -> Iterator[str]:
    """Yield the declarations in the function's other blocks whose names this block uses."""
    used = set(_WORD.findall("\n".join(lines)))
    own = {match[1] for line in lines if (match := _DECLARES.match(line))}
    if len(unit.source.blocks) < 2:
        return
    for other in unit.source.blocks:
        for line in other.text.split("\n") if other is not block else ():
            match = _DECLARES.match(line)
            if match is not None and match[1] in used - own and not set(line) & {HOLE, "%", "$"}:
                own.add(match[1])
                yield line.strip()


def _names(unit: Unit, block: AsmBlock) -> dict[str, str]:
    """Return the name of each operand in the text, by its key: its own name, its variable's, else its number."""
    lines = [line for other in unit.source.blocks for line in other.text.split("\n")]
    taken = set(_WORD.findall(block.text)) | {match[1] for line in lines if (match := _DECLARES.match(line))}
    names: dict[str, str] = {}
    for operand in block.operands:
        key = operand.name if operand.name and operand.constraint is None else str(operand.number)
        taken -= {operand.name}
        wanted = [operand.name, _variable(operand), f"operand{key}"]
        chosen = next((w for w in wanted if w and w not in taken), f"operand{key}_")
        while chosen in taken:
            chosen += "_"
        names[key] = chosen
        taken.add(chosen)
    names[UNIQUE] = "_unique"
    return names


def _variable(operand: Operand) -> str:
    match = _IDENTIFIER.fullmatch(operand.expression.strip())
    # Names such as V0 and P1 are reserved by the instruction set.
    return match[0] if match is not None and not re.fullmatch(r"[VPATS]\d+", match[0]) else ""


def user_part(text: str) -> str:
    """Return the text between the marks. Raises BlockRefused if the marks are missing."""
    text = text.replace("\r\n", "\n")
    start, end = text.find(BEGINS), text.rfind(ENDS)
    if start < 0 or end < start:
        raise BlockRefused("the comments that mark the block were deleted: undo that, or open the block again")
    part = text[start + len(BEGINS) : end]
    return part if not part or part.endswith("\n") else part + "\n"
