"""The findings of a text kept from one snapshot to the next, so that an edit costs what it touches.

``TextState.update`` gives exactly what the full path gives (``tests/speed`` compares them), but binds and checks only
lines that may have a finding, with the declarations that they need. It knows no rule but those that look beyond a line.
``benchmarks.open`` and ``benchmarks.edit`` tell what that takes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.checks import run_checks
from visa_lsp.checks.consequences import root_problems
from visa_lsp.checks.context import CheckContext, dialect_of
from visa_lsp.ide.body_state import BodyState
from visa_lsp.ide.judging import BUDGET
from visa_lsp.ide.limits import BODIES, CLASSES, MOST_BODIES, REPEATED, unchecked
from visa_lsp.ide.quick import NAME_PROBLEMS, judge, letters
from visa_lsp.ide.results import NOTHING, facts_in, read
from visa_lsp.sema.bind import bind
from visa_lsp.syntax.chunks import codes_in
from visa_lsp.syntax.tree import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.ide.quick import Judged
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.sema.model import Problem
    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document

# Rules that speak of the lines of a frame alone: where those are known to be clean, not all of them are looked at.
_FRAME_RULES: Final = frozenset({"missing-return"})
# Rules whose findings belong to the text and not to one body.
_TEXT_RULES: Final = frozenset({"redeclared-kernel", "version-line", "unclosed-comment", "missing-kernel"})


class TextState:
    """What is known of one text under one platform; goes from any snapshot of it to any other."""

    def __init__(self, platform: Platform | None) -> None:
        self.platform = platform
        self.bodies: list[BodyState] = []
        self.chunks: Sequence[Chunk] = ()
        self.clean_frame: object = None
        # Bodies that a comment has swallowed, by their first chunk.
        self._asleep: dict[int, BodyState] = {}
        self._braced = 0  # chunks with braces on the lines of statements
        self._end: int | None = None  # the first chunk that is not looked at, where there are too many bodies

    def update(self, document: Document) -> tuple[Diagnostic, ...]:
        """All findings of a snapshot."""
        chunks = document.chunks
        head, tail = document.changed_since(self.chunks)
        fresh, gone = chunks[head : len(chunks) - tail], self.chunks[head : len(self.chunks) - tail]
        document.lineage[BUDGET] = CLASSES
        share: dict[str, str] = document.lineage.setdefault("share", {})  # type: ignore[assignment]
        for chunk in fresh:
            if chunk.cache is None:
                chunk.cache = read(chunk, share)
        self._braced += sum([facts_in(c).braced for c in fresh]) - sum([facts_in(c).braced for c in gone])
        if self._braced:
            return self._looked_through(document)
        outer = any(facts_in(chunk).opens_body for chunk in (*fresh, *gone))
        if outer or not self.bodies or self._end is not None:
            self._match(chunks)
        else:
            self._splice(head, len(gone), fresh)
        self.chunks = chunks
        places = [(body, place) for body in self.bodies for place in body.directives.versions]
        versions = tuple(text for _, (_, _, text) in places)
        lines = {document.line_of(body.first + index) + offset for body, (index, offset, _) in places}
        for body in self.bodies:
            body.update(document, versions, lines, self.platform)
        return self._findings(document, versions, lines)

    def _looked_through(self, document: Document) -> tuple[Diagnostic, ...]:
        """All findings by the full path: where braces stand on the lines of statements, lines are not told by their kinds.

        What is known of bodies is given up; the next text without such braces is looked at as one that was just opened.
        """
        self.chunks = document.chunks
        self.bodies, self.clean_frame, self._end = [], None, None
        self._asleep.clear()
        for chunk in document.chunks:
            chunk.origin = None
        bound = bind(document, self.platform)
        return tuple(run_checks(CheckContext(document, bound, self.platform, dialect_of(bound))))

    def _splice(self, head: int, gone: int, fresh: Sequence[Chunk]) -> None:
        """Give the one body in which something changed its chunks, and those behind it their place."""
        moved = len(fresh) - gone
        inside = bisect_right([body.first for body in self.bodies], head if gone else max(0, head - 1)) - 1
        if gone or fresh:
            body = self.bodies[inside]
            body.spliced(head - body.first, head - body.first + gone, fresh)
        for body in self.bodies[inside + 1 :] if moved else ():
            body.first += moved

    def _match(self, chunks: Sequence[Chunk]) -> None:
        """Give every group of chunks the state of the body that it was."""
        opening = [index for index, chunk in enumerate(chunks) if index and facts_in(chunk).opens_body]
        self._end = opening[MOST_BODIES - 1] if len(opening) >= MOST_BODIES else None
        groups = [(at, list(chunks[at:end])) for at, end in pairwise([0, *opening, len(chunks)][: MOST_BODIES + 1])]
        old = self.bodies
        new: list[BodyState | None] = [None] * len(groups)
        first = 0
        while first < min(len(old), len(groups)) and old[first].chunks == groups[first][1]:
            new[first] = old[first]
            first += 1
        last = 0
        while last < min(len(old), len(groups)) - first and old[-1 - last].chunks == groups[-1 - last][1]:
            new[-1 - last] = old[-1 - last]
            last += 1
        middle = old[first : len(old) - last]
        for offset in range(len(groups) - first - last):
            if offset < len(middle):
                new[first + offset] = middle[offset]
            else:
                known = self._asleep.get(id(groups[first + offset][1][0]))
                new[first + offset] = known if known and known.chunks == groups[first + offset][1] else None
        awake = {id(state) for state in new}
        plain = {id(chunk.plain) for chunk in chunks if chunk.plain is not None}
        dropped = [*self._asleep.values(), *middle] if plain else []
        self._asleep = {
            id(b.chunks[0]): b for b in dropped if id(b) not in awake and b.chunks and id(b.chunks[0]) in plain
        }
        bodies = [state or BodyState() for state in new]
        for state, (index, group) in zip(bodies, groups, strict=True):
            state.moved(index, group)
        self.bodies = bodies

    def _findings(
        self, document: Document, versions: tuple[str, ...], version_lines: set[int]
    ) -> tuple[Diagnostic, ...]:
        shown = [body for body in self.bodies if body.has_findings(document, versions)]
        names = tuple([body.directives.opening for body in self.bodies])
        first = _first_statement(document)
        open_comment = document.chunks[-1].closes_in_block
        frame = (versions, names, isinstance(document.statement(first), Version), open_comment)
        if not shown and self.clean_frame == frame and self._end is None:
            return ()
        always = {first, *version_lines}
        few = len(self.bodies) <= BODIES
        names_again = self.bodies if few else _repeated(self.bodies)
        opened = {line for body in names_again for line in body.opening_lines(document)}
        found: list[Diagnostic] = []
        for at in range(0, max(1, len(shown)), BODIES):
            some = shown[at : at + BODIES]
            lines = always.union(*[body.opening_lines(document) for body in some], opened if at == 0 else ())
            found += self._look(document, some, lines - {-1}, text_rules=at == 0)
        if self._end is not None:
            line = document.line_of(self._end)
            found.append(unchecked(line, document.line_start(line)))
        if len(shown) > BODIES:
            found.sort(key=lambda d: (d.span, d.code))
        self.clean_frame = None if any(d.name in _TEXT_RULES for d in found) else frame
        return tuple(found)

    def _look(
        self, document: Document, shown: list[BodyState], lines: set[int], *, text_rules: bool
    ) -> list[Diagnostic]:
        """The findings of some bodies, by binding and checking the lines that they ask for and some others."""
        again = True
        while again:
            judged, looked = self._judged(document, shown, lines)
            tokens: dict[int, list[tuple[int, str]] | None] = {}
            for body in shown:
                tokens.update(body.open_tokens(document))
            verdicts = letters(judged, document, tokens) if tokens else {}
            judged.forget()
            # All lines of a kind that turned out to have findings are looked at.
            news = [body.looked(document, looked, verdicts) for body in shown]
            again = any(news)
        found = []
        dirty = set()
        shown_at = self._places_of(document, shown)
        for finding in judged.findings:
            at = shown_at(document.position(finding.span.start)[0])
            if at is not None or (text_rules and finding.name in _TEXT_RULES):
                found.append(finding)
            if at is not None:
                dirty.add(at)
        for number, body in enumerate(shown):
            body.settled(clean=number not in dirty)
            if body.cut is not None:
                line = document.line_of(body.first + body.cut[0]) + body.cut[1]
                found.append(unchecked(line, document.line_start(line)))
                found.sort(key=lambda d: (d.span, d.code))
        return found

    def _judged(self, document: Document, shown: list[BodyState], lines: set[int]) -> tuple[Judged, set[int]]:
        """Some lines and those that the bodies ask for, bound and checked, and which they are."""
        clean = all(body.frame_is_clean for body in shown)
        lines = lines.union(*[body.wanted(document, bare=clean) for body in shown])
        without = _FRAME_RULES if clean else ()
        shown_at = self._places_of(document, shown)
        while True:
            judged = judge(document, sorted(lines), self.platform, without)
            problems: dict[int, list[Problem]] = {}
            for problem in _first_uses(document, judged):
                at = shown_at(problem.place.line)
                if at is not None:
                    problems.setdefault(at, []).append(problem)
            more = set[int]()
            for at, some in problems.items():
                more |= shown[at].more(document, some)
            if more <= lines:
                return judged, lines
            lines |= more
            judged.forget()

    def _places_of(self, document: Document, shown: list[BodyState]) -> Callable[[int], int | None]:
        """What tells which of some bodies a line belongs to."""
        starts = [document.line_of(body.first) for body in self.bodies]
        number_of = {id(body): number for number, body in enumerate(shown)}
        return lambda line: number_of.get(id(self.bodies[bisect_right(starts, line) - 1]))


def _repeated(bodies: list[BodyState]) -> list[BodyState]:
    """The bodies whose name another one has as well; of many, the first."""
    names = [(body.directives.opening or "").partition(" ")[2].strip().strip('"') for body in bodies]
    many = Counter(names)
    return [body for body, name in zip(bodies, names, strict=True) if name and many[name] > 1][:REPEATED]


def _first_uses(document: Document, judged: Judged) -> list[Problem]:
    """The problems with names that rules will report: those of first uses that follow from nothing else."""
    first: dict[tuple[str, object, object], Problem] = {}
    body_at = judged.bound.body_at
    for problem in judged.bound.problems:
        if problem.kind in NAME_PROBLEMS:
            first.setdefault((problem.kind, problem.args["name"], id(body_at(problem.place.line))), problem)
    if not first:
        return []
    chosen = {id(problem) for problem in first.values()}
    return [problem for problem in root_problems(document, judged.bound) if id(problem) in chosen]


def _first_statement(document: Document) -> int:
    """The line of the first statement; -1 in a text without one."""
    line = 0
    for chunk in document.chunks:
        if chunk.cache is not NOTHING and chunk.text and not chunk.text.isspace():
            for offset, code in enumerate(codes_in(chunk)):
                if code:
                    return line + offset
        line += chunk.count
    return -1
