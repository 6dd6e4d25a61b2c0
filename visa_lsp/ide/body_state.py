"""Which lines of a kernel or function have to be bound and checked for all its findings to come out right.

Those that may have a finding, the declarations and labels that they name, and what rules about a whole body ask for.
"""

from __future__ import annotations

import re
from types import NoneType
from typing import TYPE_CHECKING, Final

from visa_lsp.checks.context import near, near_name
from visa_lsp.ide.judging import FUNCTION, NAME, JudgedBody
from visa_lsp.ide.results import facts_in, instructions_in
from visa_lsp.syntax.bulk import label_offsets, statement_of
from visa_lsp.syntax.tree import Instruction, Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.sema.model import Problem
    from visa_lsp.syntax.document import Document

_NOTE: Final = re.compile(r"\s*(?:\([^()]*\)\s*)?(?:lifetime|\.loc|\.file|loc|file)", re.IGNORECASE)


class BodyState(JudgedBody):
    """A body with its findings in view."""

    def __init__(self) -> None:
        super().__init__()
        self._frame_key: object = None
        self._frame_clean = False
        self._dirty = False

    def _frame_of(self, document: Document) -> set[int]:
        """Directives, the first instruction, and the last ones of each part: what rules about the whole body ask for."""
        specials = self.specials_of_chunks()
        lines = {document.line_of(index) + offset for index, offset, _ in specials}
        ends = [(index - self.first, offset) for index, offset, text in specials if FUNCTION.match(text)]
        for index, offset in [*ends, (len(self.chunks), 0)]:
            lines |= {self._line(document, i, o) for i, o in self._last_code(index, offset)}
        for index, chunk in enumerate(self.chunks):
            if facts_in(chunk).has_code:
                split = instructions_in(chunk)
                at = next(
                    (i for i, line in enumerate(split) if isinstance(statement_of(line.rstrip()), Instruction)), None
                )
                if at is not None:
                    lines.add(self._line(document, index, at))
                    break
        if not any(self.opening()):
            lines |= self._beginning(document)
        return lines

    def _beginning(self, document: Document) -> set[int]:
        """Where a body without a directive begins: at the first statement that is no version."""
        for index, chunk in enumerate(self.chunks):
            for offset, code in enumerate(chunk.codes()):
                if code.strip() and not isinstance(statement_of(code), (Version, NoneType)):
                    return {self._line(document, index, offset)}
        return set()

    def _last_code(self, index: int, offset: int) -> Iterator[tuple[int, int]]:
        """The statements from a place backwards to the first that is no label and no mark."""
        while index >= 0:
            if index < len(self.chunks) and self._facts[index].has_code:
                split = instructions_in(self.chunks[index])
                for i in range(min(offset, len(split)) - 1, -1, -1):
                    if split[i].strip():
                        yield index, i
                        if isinstance(statement_of(split[i].rstrip()), Instruction) and not _NOTE.match(split[i]):
                            return
            index, offset = index - 1, 1 << 30

    def has_findings(self, document: Document) -> bool:
        """Whether the body has to be bound and checked at all."""
        if self._frame is None:
            self._frame = tuple([document.code(line) for line in sorted(self._frame_of(document))])
            frame_names = {name for code in self._frame for name in NAME.findall(code)}
            rests = tuple(sorted((n, self._names.tokens.get(n, "")) for n in frame_names))
            key = (self._key, self._frame, rests)
            self._frame_clean = self._frame_clean and key == self._frame_key
            self._frame_key = key
            self._dirty = bool(self._suspects())
        return self._dirty or not self._frame_clean

    def settled(self, *, clean: bool) -> None:
        """Note that the body was checked."""
        self._frame_clean = clean and not self._dirty

    def _suspects(self) -> set[tuple[int, int]]:
        """(chunk, line) of every line that may have a finding."""
        found: set[tuple[int, int]] = set()
        for index, result in enumerate(self._results):
            if result.hard or result.decls or result.undeclared:
                found.update((index, o) for o in result.hard)
                found.update((index, o) for o in result.decls)
                found.update((index, o) for o in result.undeclared)
        missing, doubled = self._reviewed()
        suspects = missing | doubled
        if suspects:
            for index, result in enumerate(self._results):
                found.update((index, o) for o, names in result.labels.items() if not suspects.isdisjoint(names))
                if not doubled.isdisjoint(self._facts[index].labels):
                    found.update((index, o) for o, name in label_offsets(self._code(index)) if name in doubled)
        found |= self._jumps()
        for index in self._names.chunks_declaring(self._names.doubled) if self._names.doubled else ():
            lines = zip(self._decl_lines(index), self._facts[index].decls, strict=True)
            found.update((index, o) for o, name in lines if name in self._names.doubled)
        found |= self._mentions(self._names.odd)
        found |= self._early()
        return found

    def _reviewed(self) -> tuple[set[str], set[str]]:
        """Labels that are used and not defined, and those defined twice."""
        functions = self._names.functions
        for name in self._review | functions:
            here = self._labels[name] + (name in functions)
            (self._missing.add if not here and self._uses[name] else self._missing.discard)(name)
            (self._doubled.add if here > 1 else self._doubled.discard)(name)
        self._review.clear()
        return self._missing, self._doubled

    def _mentions(self, names: set[str]) -> set[tuple[int, int]]:
        """Every line with one of some names."""
        found: set[tuple[int, int]] = set()
        for index, chunk in enumerate(self.chunks) if names else ():
            if any(name in chunk.text for name in names):
                lines = self._code(index).split("\n")[1:]
                found.update((index, i) for i, line in enumerate(lines) if not names.isdisjoint(NAME.findall(line)))
        return found

    def _early(self) -> set[tuple[int, int]]:
        """Lines before the last declaration that use a name declared behind the first instruction."""
        all_facts = self._facts
        first = next((i for i, f in enumerate(all_facts) if f.has_code), len(all_facts))
        last = next((i for i in range(len(all_facts) - 1, -1, -1) if all_facts[i].decls), -1)
        if last < first or (last == first and not all_facts[first].mixed):
            return set()
        late = {name for f in all_facts[first:] for name in f.decls}
        found: set[tuple[int, int]] = set()
        for index in self._names.mentioning(late, range(first, last + 1)):
            if all_facts[index].has_code:
                lines = instructions_in(self.chunks[index])
                found.update((index, i) for i, line in enumerate(lines) if not late.isdisjoint(NAME.findall(line)))
        return found

    def _jumps(self) -> set[tuple[int, int]]:
        """Lines whose label stands in another part of a body with subroutines."""
        starts = [(i - self.first, o) for i, o, text in self.specials_of_chunks() if FUNCTION.match(text)]
        if not starts:
            return set()
        part_of: dict[str, int] = {}
        part, waiting = 0, [*starts, (1 << 60, 0)]
        uses: list[tuple[int, int, int, list[str]]] = []
        for index, result in enumerate(self._results):
            events: list[tuple[int, str | list[str]]] = list(result.labels.items())
            if self._facts[index].labels:
                events += label_offsets(self._code(index))
            for offset, what in sorted(events, key=lambda e: e[0]):
                while waiting[part] < (index, offset):
                    part += 1
                if isinstance(what, str):
                    part_of.setdefault(what, part)
                else:
                    uses.append((index, offset, part, what))
        return {(i, o) for i, o, here, names in uses if any(part_of.get(name, here) != here for name in names)}

    def wanted(self, document: Document) -> set[int]:
        """The lines to bind and check."""
        lines = self._frame_of(document)
        lines.update(self._line(document, index, offset) for index, offset in self._suspects())
        return lines | self._closure(document, lines, labels=True)

    def more(self, document: Document, problems: Iterable[Problem]) -> set[int]:
        """Lines that messages about undeclared names and missing labels of the body look for."""
        wanted: set[str] = set()
        found: set[int] = set()
        for problem in problems:
            name = str(problem.args["name"])
            if problem.kind == "missing-label":
                near_label = near_name(name, [n for n in [*self._labels, *self._names.functions] if n])
                wanted.update([near_label] if near_label else ())
            else:
                wanted.update(self._names.near(name, near))
                found |= self._declaration_before(document, problem.place.line)
        if wanted:
            found |= self._defining(document, wanted, labels=True)
            for line in list(found):
                found |= self._closure(document, [line])
        return found

    def _declaration_before(self, document: Document, line: int) -> set[int]:
        at = document.chunk_at(line) - self.first
        for index in range(min(at, len(self.chunks) - 1), -1, -1):
            facts = self._facts[index]
            if facts.decls:
                offsets = [o for o in self._decl_lines(index) if self._line(document, index, o) < line]
                if offsets:
                    return {self._line(document, index, offsets[-1])}
        return set()
