"""The frame of a kernel or function: the lines that rules about the whole body ask for, whatever else is looked at.

Its directives and attributes, its first instruction and the last ones of each part. A frame that had no findings by itself
is clean in every body that has the same one, in any text of this process.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.judged_body import JudgedBody
from visa_lsp.ide.judging import NAME
from visa_lsp.ide.results import first_instruction, instructions_in
from visa_lsp.syntax.bulk import statement_of
from visa_lsp.syntax.chunks import codes_in
from visa_lsp.syntax.tree import Decl, InputDecl, Instruction, KernelAttr, Label, Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_NOTE: Final = re.compile(r"\s*(?:\([^()]*\)\s*)?(?:lifetime|\.loc|\.file|loc|file)", re.IGNORECASE)
_INSIDE: Final = (Instruction, Label, Decl, InputDecl, KernelAttr, Scope)
_QUOTED: Final = re.compile(r'"[^"]*"')
# Frames of any body in this process that had no findings by themselves, and how many characters a kept one may have.
_clean_frames: set[object] = set()
_MAX_FRAMES: Final = 1024
_LONGEST_FRAME: Final = 20_000
Place = tuple[int, int]  # chunk of the body, line of the chunk


class FramedBody(JudgedBody):
    """A body that knows its frame, and whether anything is wrong with that by itself."""

    __slots__ = ("_bare", "_clean_key", "_frame", "_frame_class", "_frame_key", "_frame_names", "_places", "_versions")

    def __init__(self) -> None:
        super().__init__()
        self._places: list[Place] = []
        self._frame: tuple[str, ...] = ()  # the code of these places
        self._frame_names: dict[str, int] = {}  # in these lines, with the first of them that has it
        self._bare: tuple[list[Place], set[str]] | None = None
        self._versions: tuple[str, ...] = ()
        self._frame_key: object = None
        self._frame_class: object = None
        self._clean_key: object = None  # the last frame that had no findings by itself

    def _reframed(self, versions: tuple[str, ...]) -> None:
        """Put the frame together anew where an edit, or another version of the text, may have changed it."""
        if self._reframe or versions != self._versions:
            self._reframe, self._versions = False, versions
            self._take_frame()

    def _note_clean_frame(self) -> None:
        """Note that the frame had no findings by itself."""
        self._clean_key = self._frame_key
        if len(_clean_frames) >= _MAX_FRAMES:
            _clean_frames.clear()
        if self._frame_class is not None:
            _clean_frames.add(self._frame_class)

    @property
    def frame_is_clean(self) -> bool:
        """Whether it is known that nothing is wrong with the frame by itself."""
        return self._frame_key == self._clean_key

    def _take_frame(self) -> None:
        """Put the lines of the frame together, and tell whether it is known to be clean."""
        self._bare = None
        self._places = sorted(self._frame_places())
        codes = tuple([codes_in(self.chunks[index])[offset] for index, offset in self._places])
        if codes != self._frame:
            self._frame, self._frame_names = codes, {}
            for at, code in enumerate(codes):
                for name in NAME.findall(code):
                    self._frame_names.setdefault(name, at)
        rests = tuple(map(self._names.tokens.get, self._frame_names))
        late = self._late()
        key = self._key, self._versions, codes, rests, late
        if key != self._frame_key:
            self._frame_key = key
            self._frame_class = self._class_of_frame(late)
            if self._frame_class in _clean_frames:
                self._clean_key = key

    def _late(self) -> tuple[str, ...]:
        """The names in the frame that are declared behind the first line of it that has them."""
        found = []
        for name, at in self._frame_names.items():
            if name in self._names.decl:
                index, offset = self._places[at]
                where = self._names.chunk_of(name)
                lines = self._decl_lines(index) if where == index else ()
                # Most declarations of a chunk stand before all else in it.
                behind = bool(lines) and lines[-1] > offset and lines[self._names.place(name)[1]] > offset
                if where > index or behind:
                    found.append(name)
        return tuple(found)

    def _class_of_frame(self, late: tuple[str, ...]) -> object:
        """What rules about a frame may ask of it: each declared name as its number and what it is declared as.

        None for one that is too long to be kept.
        The name of a kernel matters to other bodies of the text alone, but for its length.
        """
        if sum(map(len, self._frame)) > _LONGEST_FRAME:
            return None
        tokens, decl, functions = self._names.tokens, self._names.decl, self._names.functions
        numbers: dict[str, str] = {}

        def sign(match: re.Match[str]) -> str:
            name = match.group()
            if name not in decl and name not in functions:
                return name
            return numbers.setdefault(name, f"\x01{len(numbers)}{tokens.get(name)}")

        codes = list(self._frame)
        if self.directives.opening is not None:
            codes[0] = _QUOTED.sub(lambda match: f'"{len(match.group())}"', codes[0])
        signs = tuple([NAME.sub(sign, code) for code in codes])
        return self._key, self._versions, signs, tuple([numbers.get(name) for name in late])

    def _frame_shown(self, *, bare: bool) -> tuple[list[Place], Collection[str]]:
        """The lines of the frame, and the names in them; ``bare`` are those that other lines depend on."""
        if not bare:
            return self._places, self._frame_names.keys()
        if self._bare is None:
            beginning = self._beginning() if self.directives.opening is None else set[Place]()
            some = self.directives.shaping | beginning
            codes = [code for place, code in zip(self._places, self._frame, strict=True) if place in some]
            self._bare = sorted(some), set(NAME.findall("\n".join(codes)))
        return self._bare

    def _frame_places(self) -> set[Place]:
        """Directives, the first instruction, and the last ones of each part: what rules about the whole body ask for."""
        places = {(index, offset) for index, offset, _ in self.directives.places}
        for index, offset in [*self.directives.parts, (len(self.chunks), 0)]:
            places.update(self._last_code(index, offset))
        first = self._first_code()
        for index in range(first, len(self.chunks)):
            at = first_instruction(self.chunks[index]) if self._facts[index].has_code else -1
            first = index
            if at >= 0:
                places.add((index, at))
                break
        if self.directives.opening is None:
            places |= self._beginning()
        self._framed = {*range(first + 1), *[index for index, _ in places]}
        return places

    def _beginning(self) -> set[Place]:
        """Where a body without a directive begins: at the first statement that can stand in one only."""
        for index, chunk in enumerate(self.chunks):
            for offset, code in enumerate(codes_in(chunk)):
                if isinstance(statement_of(code), _INSIDE):
                    return {(index, offset)}
        return set()

    def _last_code(self, index: int, offset: int) -> Iterator[Place]:
        """The statements from a place backwards to the first that is no label and no mark."""
        first = self._first_code()
        while index >= first:
            if index < len(self.chunks) and self._facts[index].has_code:
                split = instructions_in(self.chunks[index])
                for i in range(min(offset, len(split)) - 1, -1, -1):
                    if split[i].strip():
                        yield index, i
                        if isinstance(statement_of(split[i].rstrip()), Instruction) and not _NOTE.match(split[i]):
                            return
            index, offset = index - 1, 1 << 30
