"""The findings of a text kept from one snapshot to the next, so that an edit costs what it touches.

``TextState.update`` gives exactly what the full path gives (``tests/speed`` compares them), but binds and checks only
lines that may have a finding, with the declarations that they need. It knows no rule but those that look beyond a line.
Measured at 200,000 lines: 2.7 us a line to open a clean text; an edit re-reads the chunks that it touches.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.body_state import BodyState
from visa_lsp.ide.quick import NAME_PROBLEMS, judge, letters
from visa_lsp.syntax.bulk import code_of, facts_of
from visa_lsp.syntax.tree import Version

if TYPE_CHECKING:
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.sema.model import Problem
    from visa_lsp.syntax.document import Chunk, Document

_SCOPES: Final = attrgetter("scopes")
_OPENS: Final = attrgetter("opens_body")
_VERSION: Final = re.compile(r"\s*\.version(?![A-Za-z0-9_])")
# Rules whose findings belong to the text and not to one body.
_TEXT_RULES: Final = frozenset({"redeclared-kernel", "version-line", "unclosed-comment"})


class TextState:
    """What is known of one text under one platform; goes from any snapshot of it to any other."""

    def __init__(self, platform: Platform | None) -> None:
        self.platform = platform
        self.bodies: list[BodyState] = []
        self.clean_frame: object = None

    def update(self, document: Document) -> tuple[Diagnostic, ...] | None:
        """All findings of a snapshot; None where only the full path can tell (scopes in braces)."""
        every = _facts(document)
        chunks = document.chunks
        # What an open comment swallows is text for its rule and nothing for every other: too rare to be tracked.
        if any(map(_SCOPES, every)) or chunks[-1].closes_in_block:
            return None
        starts = [0, *[index for index, opens in enumerate(map(_OPENS, every)) if opens and index], len(chunks)]
        groups = [(at, list(chunks[at:end])) for at, end in pairwise(starts)]
        self._match(groups)
        places = [place for body in self.bodies for place in body.specials_of_chunks() if _VERSION.match(place[2])]
        versions = tuple(text for _, _, text in places)
        lines = {document.line_of(index) + offset for index, offset, _ in places}
        for body in self.bodies:
            body.update(document, versions, lines, self.platform)
        return self._findings(document, versions, lines)

    def _match(self, groups: list[tuple[int, list[Chunk]]]) -> None:
        """Give every group of chunks the state of the body that it was."""
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
        bodies = [state or BodyState() for state in new]
        for state, (index, chunks) in zip(bodies, groups, strict=True):
            state.moved(index, chunks)
        self.bodies = bodies

    def _findings(
        self, document: Document, versions: tuple[str, ...], version_lines: set[int]
    ) -> tuple[Diagnostic, ...]:
        shown = [body for body in self.bodies if body.has_findings(document)]
        names = tuple(text for body in self.bodies for text in body.opening())
        first = _first_statement(document)
        open_comment = document.chunks[-1].closes_in_block
        frame = (versions, names, isinstance(document.statement(first), Version), open_comment)
        if not shown and self.clean_frame == frame:
            return ()
        lines = {first, *version_lines}
        for body in self.bodies:
            lines.update(body.opening_lines(document))
        for body in shown:
            lines |= body.wanted(document)
        lines.discard(-1)
        starts = [document.line_of(body.first) for body in self.bodies]
        number_of = {id(body): number for number, body in enumerate(shown)}

        def shown_at(line: int) -> int | None:
            return number_of.get(id(self.bodies[bisect_right(starts, line) - 1]))

        while True:
            judged = judge(document, sorted(lines), self.platform)
            problems: dict[int, list[Problem]] = {}
            for problem in judged.bound.problems:
                at = shown_at(problem.place.line) if problem.kind in NAME_PROBLEMS else None
                if at is not None:
                    problems.setdefault(at, []).append(problem)
            more = set[int]()
            for at, some in problems.items():
                more |= shown[at].more(document, some)
            if more <= lines:
                break
            lines |= more
        found = []
        dirty = set()
        for finding in judged.findings:
            at = shown_at(document.position(finding.span.start)[0])
            if at is not None or finding.name in _TEXT_RULES:
                found.append(finding)
            if at is not None:
                dirty.add(at)
        tokens: dict[int, list[tuple[int, str]] | None] = {}
        for body in shown:
            tokens.update(body.open_tokens(document))
        verdicts = letters(judged, document, tokens) if tokens else {}
        for number, body in enumerate(shown):
            body.settled(clean=number not in dirty)
            body.learn(verdicts)
        self.clean_frame = None if found else frame
        return tuple(found)


def _facts(document: Document) -> list[object]:
    """The facts of every chunk, worked out where they are missing."""
    every = [chunk.cache for chunk in document.chunks]
    if not all(every):
        share: dict[str, str] = document.lineage.setdefault("share", {})  # type: ignore[assignment]
        for index, known in enumerate(every):
            if known is None:
                chunk = document.chunks[index]
                every[index] = chunk.cache = facts_of(code_of(chunk.text, chunk.opens_in_block), share)
    return every


def has_scopes(document: Document) -> bool:
    """Whether braces open scopes: then only the full path can tell what a name means."""
    return any(map(_SCOPES, _facts(document)))


def _first_statement(document: Document) -> int:
    """The line of the first statement; -1 in a text without one."""
    line = 0
    for chunk in document.chunks:
        if chunk.text and not chunk.text.isspace():
            for offset, code in enumerate(chunk.codes()):
                if code:
                    return line + offset
        line += chunk.count
    return -1
