"""Places of instructions: lines of texts, lines of the sources that texts were compiled from, listings of objects.

Knows programs and texts, no run. Lines count from 0 here. Invariant: labels and marks, which are not executed, are never
a place to stop at.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from visa_lsp.program.operand_text import OperandNames, instruction
from visa_lsp.program.text_form import names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from visa_lsp.program.model import Inst, Kernel
    from visa_lsp.sim.dispatch import Dispatch

_CODE: Final = 1 << 56  # the first address of instructions, far from those of memory
_BODY: Final = 32  # bits of the number of an instruction


class BodyLines(Protocol):
    """The text of a body."""

    @property
    def path(self) -> str:
        """Its file; empty if it has none."""

    @property
    def lines(self) -> Sequence[str]:
        """Its lines, without their ends."""


@dataclass(frozen=True, slots=True)
class CodePlace:
    """An instruction of a body. ``line`` is that of its text or listing, ``source`` file and line (from 0) of its source."""

    body: str
    pc: int
    line: int
    source: tuple[str, int] | None


@dataclass(frozen=True, slots=True, eq=False)
class VariableShape:
    """Byte range of a variable in the registers of a body, and its display format."""

    name: str
    type: str
    dtype: np.dtype[Any]
    start: int
    end: int
    note: str
    root: int


class BodyText:
    """A body and its text; a body of an object has a listing with an empty ``path``."""

    def __init__(self, number: int, kernel: Kernel, names: OperandNames, text: BodyLines | None) -> None:
        self.number = number
        self.kernel = kernel
        self.names = names
        self.listed = text is None or all(inst.line < 0 for inst in kernel.instructions)
        self.path = "" if self.listed or text is None else os.path.abspath(text.path) if text.path else ""  # noqa: PTH100
        if self.listed or text is None:
            self.lines: Sequence[str] = [self.format_instruction(pc) for pc in range(len(kernel.instructions))]
            self.line_of = list(range(len(kernel.instructions)))
        else:
            self.lines = text.lines
            self.line_of = [inst.line for inst in kernel.instructions]
        folder = os.path.dirname(self.path)  # noqa: PTH120
        self._sources = [
            source and (os.path.join(folder, source[0]), source[1] - 1)  # noqa: PTH118
            for source in kernel.source_places
        ]
        self.shapes: dict[int, VariableShape] = {}  # cache, by number of the variable
        # Cache of displayed variables, by number and style: bytes, text, type and number of elements.
        self.rows: dict[tuple[int, str], tuple[bytes, str, str, int]] = {}
        self.declared = [number for number in names.general if kernel.variable(number) is not None]

    @cached_property
    def ids(self) -> dict[str, tuple[str, int]]:
        """Kind and number of each name of the text."""
        names = self.names
        tables = {
            "surface": names.surface, "address": names.address, "predicate": names.predicate, "general": names.general,
        }  # fmt: skip
        return {name: (kind, number) for kind, table in tables.items() for number, name in table.items()}

    @property
    def name(self) -> str:
        """The name of the kernel or function."""
        return self.kernel.name

    def format_instruction(self, pc: int) -> str:
        """Return an instruction or label as text."""
        inst = self.kernel.instructions[pc]
        if inst.row.opens_label:
            number = inst.values[0]
            return f"{self.names.labels.get(number, f'L{number}') if isinstance(number, int) else ''}:"
        return f"    {instruction(self.names, inst)}"

    def is_instruction(self, pc: int) -> bool:
        """Return whether an index is that of an executed instruction."""
        instructions = self.kernel.instructions
        return pc < len(instructions) and executes(instructions[pc])

    def next_executed(self, pc: int) -> int | None:
        """Return the first executed instruction at or after an index."""
        return next((index for index in range(pc, len(self.kernel.instructions)) if self.is_instruction(index)), None)

    def place(self, pc: int) -> CodePlace:
        """Return the place of an instruction; the end of the body has the place of the last one."""
        index = min(pc, len(self.line_of) - 1)
        if index < 0:
            return CodePlace(self.name, 0, 0, None)
        return CodePlace(self.name, pc, max(0, self.line_of[index]), self._sources[index])

    def starts(self) -> dict[str, int]:
        """Return the first instruction of the body, and of each subroutine, by name."""
        starts: dict[str, int] = {}
        entry = self.next_executed(0)
        if entry is not None:
            starts[self.name] = entry
        for pc, inst in enumerate(self.kernel.instructions):
            following = self.next_executed(pc)
            if inst.row.opens_label and following is not None:
                starts.setdefault(self.format_instruction(pc).rstrip(":"), following)
        return starts


def executes(inst: Inst) -> bool:
    """Return whether an item of a body is executed, not a label or a mark."""
    return not inst.row.opens_label and not inst.row.marks_source


class Places:
    """The texts of all bodies of a program, with their lookups."""

    def __init__(self, dispatch: Dispatch, texts: Mapping[str, BodyLines]) -> None:
        bodies = {id(body): body for body in (dispatch.kernel, *dispatch.functions.values())}.values()
        self.bodies = {
            body.name: BodyText(number, body, names_of(body, dispatch.platform), texts.get(body.name))
            for number, body in enumerate(bodies)
        }

    def of(self, kernel: Kernel) -> BodyText:
        """Return the text of a body."""
        return self.bodies[kernel.name]

    def at_line(self, path: str, line: int) -> tuple[int, list[tuple[BodyText, int]]]:
        """Return the line and instructions of a breakpoint: the first line at or after the given one with instructions.

        ``path`` is a text, or a source that texts name. No instructions are returned if none follow.
        """
        places_by_line: dict[int, list[tuple[BodyText, int]]] = {}
        for body, pc, line_number in self._lines(path):
            if line_number >= line:
                places_by_line.setdefault(line_number, []).append((body, pc))
        if not places_by_line:
            return line, []
        best = min(places_by_line)
        return best, places_by_line[best]

    def lines(self, path: str) -> list[int]:
        """Return all lines of a text or source that have instructions."""
        return sorted({line for _, _, line in self._lines(path)})

    def at_listing(self, body: str, line: int) -> tuple[int, list[tuple[BodyText, int]]]:
        """Return line and instructions of a breakpoint in a listing, whose lines are instruction numbers."""
        text = self.bodies.get(body)
        index = text.next_executed(line) if text is not None and 0 <= line < len(text.line_of) else None
        return (line, []) if text is None or index is None else (index, [(text, index)])

    def _lines(self, path: str) -> Iterator[tuple[BodyText, int, int]]:
        wanted = os.path.realpath(path)
        for body in self.bodies.values():
            if body.path and os.path.realpath(body.path) == wanted:
                seen = set()
                for pc, line in enumerate(body.line_of):
                    if line >= 0 and line not in seen and body.is_instruction(pc):
                        seen.add(line)
                        yield body, pc, line
                continue
            before = None
            for pc in range(len(body.line_of)):
                place = body.place(pc).source
                if place is not None and place != before and same_source(place[0], wanted) and body.is_instruction(pc):
                    yield body, pc, place[1]
                if body.is_instruction(pc):
                    before = place

    def start_of(self, name: str) -> list[tuple[BodyText, int]]:
        """Return the starts of functions, kernels and subroutines of a name."""
        return [(body, pc) for body in self.bodies.values() if (pc := body.starts().get(name)) is not None]

    def names(self) -> list[str]:
        """Return the names that ``start_of`` knows."""
        return sorted({name for body in self.bodies.values() for name in body.starts()})

    def address(self, body: BodyText, pc: int) -> int:
        """Return an instruction's address for editors."""
        return _CODE + (body.number << _BODY) + pc

    def at_address(self, address: int) -> tuple[BodyText, int] | None:
        """Return the instruction at an address, also after the end of its body; None if no body has it."""
        number, pc = address - _CODE >> _BODY, address & (1 << _BODY) - 1
        body = (
            next((body for body in self.bodies.values() if body.number == number), None) if address >= _CODE else None
        )
        return None if body is None else (body, pc)


def same_source(named: str, wanted: str) -> bool:
    """Return whether a file named in a text is a file of the editor; the text may have the path of another machine."""
    return os.path.realpath(named) == wanted or (
        not os.path.exists(named) and os.path.basename(named) == os.path.basename(wanted)  # noqa: PTH110, PTH119
    )
