"""Which lines of a kernel or function have to be bound and checked for all its findings to come out right.

Those that may have a finding, the declarations and labels that they name, and what rules about a whole body ask for.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.checks.name_index import SUGGESTED, likeness
from visa_lsp.checks.undeclared_name import SHOWN
from visa_lsp.ide.framed_body import FramedBody, Place
from visa_lsp.ide.judging import NAME, written
from visa_lsp.ide.limits import SUSPECTS
from visa_lsp.ide.results import instructions_in, label_lines
from visa_lsp.syntax.chunks import code_in, codes_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from visa_lsp.sema.model import Problem
    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document

_CALL: Final = re.compile(r"\s*(?:\([^()]*\)\s*)?call\s*\([^()]*\)\s*([A-Za-z_$@?][A-Za-z0-9_$@?-]*)")
# With more names declared behind the first instruction, every line among the declarations is looked at.
_FEW_LATE: Final = 64


class HardLines(NamedTuple):
    """The code of some lines of a chunk, the names in it, and what they call; None where one of them is no call."""

    chunk: Chunk
    offsets: tuple[int, ...]
    codes: tuple[str, ...]
    names: frozenset[str]
    called: frozenset[str] | None


class BodyState(FramedBody):
    """A body with its findings in view."""

    __slots__ = ("_found", "_hard", "_quiet_key", "cut")

    def __init__(self) -> None:
        super().__init__()
        self._found: set[Place] = set()
        self.cut: Place | None = None  # the first line that is left out because there are too many
        # The hard lines of chunks with all names in them, and the state of all such lines in which they had no finding.
        self._hard: dict[int, HardLines] = {}
        self._quiet_key: object = None

    def has_findings(self, document: Document, versions: tuple[str, ...]) -> bool:
        """Whether the body has to be bound and checked at all."""
        if self._stale:
            self._stale = False
            self._reframed(versions)
            self._find(document)
        if self._open.lines:
            return True
        if self._found:
            return self._quiet_key is None or self._quiet() != self._quiet_key
        return not self.frame_is_clean

    def _find(self, document: Document) -> None:
        """Put the lines together that may have a finding."""
        found = self._suspects(likeness(document.line_count))
        self.cut = None
        if len(found) > SUSPECTS:
            some = sorted(found)
            found, self.cut = set(some[:SUSPECTS]), some[SUSPECTS]
        self._found = found

    def looked(self, document: Document, lines: set[int], verdicts: dict[int, str]) -> bool:
        """Take in what a look at some lines told; whether it has to look at others now."""
        if not self.learn(verdicts):
            return False
        self._find(document)
        return self.cut is not None or any(self._line(document, *place) not in lines for place in self._found)

    def settled(self, *, clean: bool) -> None:
        """Note that the body was checked."""
        if clean and not self._found:
            self._note_clean_frame()
        self._quiet_key = self._quiet() if clean and self._found else None

    def _quiet(self) -> object:
        """What the findings of the suspect lines depend on; None where that is more than calls of functions and the frame.

        A call is looked at with all others, for who calls whom is nothing that one line tells. While nothing of this
        changes, a look finds what the last one found.
        """
        names, functions, parts = self._names, self._names.functions, self.directives.parts
        hard: dict[int, HardLines] = {}
        lines: list[tuple[int, tuple[str, ...]]] = []
        named: set[str] = set()
        count, index = 0, -1
        while (index := self._marks.find(1, index + 1)) >= 0:
            chunk, offsets = self.chunks[index], tuple(sorted(self._results[index].hard))
            if not offsets:
                return None
            known = self._hard.get(id(chunk))
            if known is None or known.chunk is not chunk or known.offsets != offsets:
                codes = codes_in(chunk)
                some = tuple([codes[offset] for offset in offsets])
                calls = [match.group(1) for match in map(_CALL.fullmatch, some) if match is not None]
                called = frozenset(calls) if len(calls) == len(some) else None
                known = HardLines(chunk, offsets, some, frozenset(NAME.findall("\n".join(some))), called)
            if known.called is None or not known.called <= functions:
                return None
            hard[id(chunk)] = known
            named |= known.names
            count += len(offsets)
            first, last = bisect_left(parts, (index, offsets[0])), bisect_left(parts, (index, offsets[-1]))
            if first == last:
                lines.append((first, known.codes))
            else:
                lines += [(bisect_left(parts, (index, o)), (c,)) for o, c in zip(offsets, known.codes, strict=True)]
        self._hard = hard
        if count != len(self._found) or self.cut is not None:
            return None
        tokens = tuple([(name, names.tokens.get(name), name in functions) for name in sorted(named)])
        return self._frame_key, tuple(lines), tokens

    def _suspects(self, like: Callable[[str, Iterable[str]], str | None]) -> set[Place]:
        """(chunk, line) of every line that may have a finding."""
        found: set[Place] = set()
        results = self._results
        undeclared: dict[str, list[Place]] = {}
        index = -1
        while (index := self._marks.find(1, index + 1)) >= 0:
            result = results[index]
            for some in (result.hard, result.decls):
                found.update([(index, o) for o in some])
            for offset, names in sorted(result.undeclared.items()):
                for name in names:
                    undeclared.setdefault(name, []).append((index, offset))
            if len(found) > SUSPECTS:
                break
        for name, places in undeclared.items():
            # Only a fix that renames every use has to know more of them than the finding shows.
            every = len(places) <= SHOWN or self._names.near(name, like)
            found.update(places if every else places[:SHOWN])
            if len(found) > SUSPECTS:
                break
        missing, doubled = self._reviewed()
        suspects = missing | doubled
        if suspects:
            for index in self._names.mentioning(missing) if missing else ():
                found.update((index, o) for o, names in results[index].labels.items() if not suspects.isdisjoint(names))
        if doubled:
            for index, result in enumerate(results):
                found.update((index, o) for o, names in result.labels.items() if not suspects.isdisjoint(names))
                if not doubled.isdisjoint(self._facts[index].labels):
                    found.update((index, o) for o, name in label_lines(self.chunks[index]) if name in doubled)
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
        for name in self._review:
            here = self._labels[name] + (name in functions)
            if here > 1 and self._named_again(name):
                here -= 1
            (self._missing.add if not here and self._uses[name] else self._missing.discard)(name)
            (self._doubled.add if here > 1 else self._doubled.discard)(name)
        self._review.clear()
        return self._missing, self._doubled

    def _named_again(self, name: str) -> bool:
        """Whether a label only repeats the name of a function."""
        return self._repeated_at(name) is not None

    def _repeated_at(self, name: str) -> Place | None:
        """The label that repeats the name of a function: behind its directive, and before the next one."""
        parts, names = self.directives.parts, self.directives.part_names
        if names.count(name) != 1:
            return None
        number = names.index(name)
        start, end = parts[number], parts[number + 1] if number + 1 < len(parts) else (len(self.chunks), 0)
        for index in range(start[0], min(end[0] + 1, len(self.chunks))):
            if name in self._facts[index].labels:
                lines = [(index, offset) for offset, label in label_lines(self.chunks[index]) if label == name]
                between = [line for line in lines if start < line < end]
                if between:
                    return between[0]
        return None

    def _labelled(self, document: Document, wanted: set[str]) -> set[int]:
        """The lines of labels of some names."""
        names = self._labels.keys() & wanted
        found: set[int] = set()
        # That of a function is looked for with every body. It stands where a look through all chunks is spared.
        for name in [name for name in names & self._names.functions if self._labels[name] == 1]:
            place = self._repeated_at(name)
            if place is not None:
                found.add(self._line(document, *place))
                names.discard(name)
        for index in self._names.mentioning(names) if names else ():
            if not names.isdisjoint(self._facts[index].labels):
                base = self._line(document, index, 0)
                found.update([base + offset for offset, name in label_lines(self.chunks[index]) if name in names])
        return found

    def _mentions(self, names: set[str]) -> set[Place]:
        """Every line with one of some names."""
        found: set[Place] = set()
        for index, chunk in enumerate(self.chunks) if names else ():
            if any(name in chunk.text for name in names):
                lines = code_in(chunk).split("\n")[1:]
                found.update((index, i) for i, line in enumerate(lines) if not names.isdisjoint(NAME.findall(line)))
        return found

    def _early(self) -> set[Place]:
        """Lines before the last declaration that use a name declared behind the first instruction."""
        all_facts = self._facts
        first, last = self._first_code(), self._names.last_declaring()
        if last < first or (last == first and not all_facts[first].mixed):
            return set()
        declaring = [facts.decls for facts in all_facts[first : last + 1] if facts.decls]
        if sum(map(len, declaring)) <= _FEW_LATE:
            candidates: Iterable[int] = self._names.mentioning({name for names in declaring for name in names})
        else:
            candidates = range(first, last + 1)
        found: set[Place] = set()
        for index in candidates:
            if first <= index <= last and all_facts[index].has_code:
                lines = enumerate(instructions_in(self.chunks[index]))
                found.update((index, i) for i, line in lines if self._names.any_from(first, NAME.findall(line)))
        return found

    def _jumps(self) -> set[Place]:
        """Lines whose label stands in another part of a body with subroutines."""
        starts = self.directives.parts
        if not starts or (len(starts) == 1 and not self._labels_before(starts[0])):
            return set()
        part_of: dict[str, int] = {}
        uses: list[tuple[int, int, int, list[str]]] = []
        part, waiting = 0, [*starts, (1 << 60, 0)]
        for index, result in enumerate(self._results):
            labels = self._facts[index].labels
            if waiting[part][0] > index:
                # The chunk is of one part.
                for name in labels:
                    part_of.setdefault(name, part)
                uses += [(index, offset, part, names) for offset, names in result.labels.items()]
                continue
            events: list[tuple[int, str | list[str]]] = list(result.labels.items())
            if labels:
                events += label_lines(self.chunks[index])
            for offset, what in sorted(events, key=lambda e: e[0]):
                while waiting[part] < (index, offset):
                    part += 1
                if isinstance(what, str):
                    part_of.setdefault(what, part)
                else:
                    uses.append((index, offset, part, what))
            while waiting[part][0] <= index:
                part += 1
        return {(i, o) for i, o, here, names in uses if any(part_of.get(name, here) != here for name in names)}

    def _labels_before(self, place: Place) -> bool:
        """Whether a label is defined or used before a line."""
        at, line = place
        if any(self._facts[i].labels or self._results[i].labels for i in range(min(self._first_code(), at), at)):
            return True
        defined = label_lines(self.chunks[at]) if self._facts[at].labels else ()
        return any(offset < line for offset, _ in defined) or any(offset < line for offset in self._results[at].labels)

    def wanted(self, document: Document, *, bare: bool) -> set[int]:
        """The lines to bind and check; ``bare`` means that of the frame only what others depend on is among them."""
        places, in_frame = self._frame_shown(bare=bare)
        lines = {self._line(document, index, offset) for index, offset in self._found}
        opened = self._open_lines(document)
        lines.update(opened)
        names, declarations = self._names.with_bases(written(document, lines).union(in_frame))
        lines.update([self._line(document, index, offset) for index, offset in places])
        lines |= self._lines_of(document, declarations) | self._labelled(document, names)
        inputs = self.directives.inputs
        lines |= {self._line(document, *place) for place, name in inputs.items() if name in names}
        # What messages will look for, as far as it is known before binding: that saves binding twice.
        undeclared: dict[str, int] = {}
        for index, offset in sorted(self._found):
            line, result = self._line(document, index, offset), self._results[index]
            # A declaration may be an alias of what nothing declares.
            some = self._unknown_base(document, line) if offset in result.decls else result.undeclared.get(offset, ())
            for name in some:
                undeclared.setdefault(name, line)
        # What nothing declares in a line without a verdict may be a label as well.
        missing = sorted(self._missing)
        for line in sorted(opened):
            for name in self._open_names(document, line, opened[line]):
                undeclared[name] = min(line, undeclared.get(name, line))
                missing.append(name)
        return lines | self._suggested(document, list(undeclared.items()), missing[:SUGGESTED])

    def more(self, document: Document, problems: Iterable[Problem]) -> set[int]:
        """Lines that messages about undeclared names and missing labels of the body look for; the first use counts."""
        undeclared: dict[str, int] = {}
        missing: list[str] = []
        for problem in problems:
            name = str(problem.args["name"])
            if problem.kind == "missing-label":
                missing.append(name)
            else:
                undeclared.setdefault(name, problem.place.line)
        return self._suggested(document, list(undeclared.items()), list(dict.fromkeys(missing))[:SUGGESTED])

    def _suggested(self, document: Document, undeclared: list[tuple[str, int]], missing: list[str]) -> set[int]:
        """The declarations before some undeclared names, and whatever might have been meant by those and by labels."""
        if not undeclared and not missing:
            return set()
        like = likeness(document.line_count)
        found = self._declared_before(document, [line for _, line in undeclared])
        if missing:
            # A label may be added behind the last instruction.
            found.update([self._line(document, *place) for place in self._last_code(len(self.chunks), 0)])
        wanted: set[str] = set()
        for name, _ in undeclared[:SUGGESTED]:
            wanted |= self._names.near(name, like)
        for name in missing:
            label = self._label_names.near(name, self._labels, filter(None, self._names.functions), like)
            wanted.update([label] if label else ())
        if wanted:
            found |= self._lines_of(document, self._names.declared(wanted)) | self._labelled(document, wanted)
        return found | self._closure(document, found) if found else found

    def _declared_before(self, document: Document, lines: list[int]) -> set[int]:
        """The last declaration before each of some lines."""
        declaring = self._names.declaring() if lines else []
        found: set[int] = set()
        for line in lines:
            index = document.chunk_at(line) - self.first
            for at in range(bisect_right(declaring, index) - 1, -1, -1):
                offsets = self._decl_lines(declaring[at])
                base = self._line(document, declaring[at], 0)
                before = bisect_left(offsets, line - base)
                if before:
                    found.add(base + offsets[before - 1])
                    break
        return found
