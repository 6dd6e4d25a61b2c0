"""The findings of a text, kept from one snapshot to the next, so that the cost of an edit depends on its size.

``update_body`` updates a body to its snapshot: it applies the chunks (``apply_edit``), sorts lines (``classify``) and judges
them (``judge``). Invariant: the findings do not depend on earlier snapshots.

``TextFindings.update`` returns exactly the findings of the full path, but binds and checks only lines that may have
unknown findings, with the declarations that they need. README.md explains the model and its words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.apply_edit import Todo, advance, ends_of
from visa_lsp.analysis.body import Body, Setup
from visa_lsp.analysis.chunk_findings import ChunkLines, Findings
from visa_lsp.analysis.classify import classify_chunk
from visa_lsp.analysis.judge import judge_lines, judge_pending, judge_with_outline
from visa_lsp.analysis.line_classes import judge
from visa_lsp.analysis.outline import hide_name
from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.analysis.verdicts import verdicts_of
from visa_lsp.checks.rule import Scope
from visa_lsp.checks.run import run_checks
from visa_lsp.checks.support.context import CheckContext, dialect_of
from visa_lsp.checks.support.limits import BODIES, MAX_BODIES, REPEATED, REPORTED_LINES, report_unchecked
from visa_lsp.sema.bind import bind
from visa_lsp.syntax.chunk_facts import NOTHING, facts_in
from visa_lsp.syntax.chunks import codes_in
from visa_lsp.syntax.document import common
from visa_lsp.syntax.parse import statement_of
from visa_lsp.syntax.tree import Version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.analysis.dependencies import Dependency
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document

_TEXT_SCOPES = frozenset({Scope.TEXT})
# Lines are classified in groups of chunks, because a text of different lines would otherwise have all of them in memory
# at once, and because later groups use the verdicts of earlier ones.
_GROUP_CHUNKS: Final = 16


class TextFindings:
    """The findings of a text under one platform; can be moved from any snapshot to any other."""

    def __init__(self, platform: Platform | None) -> None:
        self.platform = platform
        self._bodies: list[Body] = []
        self._chunks: Sequence[Chunk] = ()
        self._clean_frame: object = None  # the facts of a snapshot without findings of rules of scope TEXT
        self._end: int | None = None  # the first unchecked chunk, if there are too many bodies
        self._braced = 0  # the number of chunks with braces on the lines of statements

    def update(self, document: Document) -> Findings:
        """Return all findings of a snapshot."""
        chunks = document.chunks
        head, tail = common(self._chunks, chunks)
        fresh, gone = chunks[head : len(chunks) - tail], self._chunks[head : len(self._chunks) - tail]
        self._braced += sum([facts_in(c).braced for c in fresh]) - sum([facts_in(c).braced for c in gone])
        if self._braced:
            return self._whole(document)
        if any(facts_in(c).opens_body for c in (*fresh, *gone)) or not self._bodies or self._end is not None:
            self._match(chunks)
        else:
            self._splice(head, len(gone), fresh)
        self._chunks = chunks
        places = [(body, place) for body in self._bodies for place in body.directives.versions]
        versions = tuple([text for _, (_, _, text) in places])
        lines = {body.line(document, (index, offset)) for body, (index, offset, _) in places}
        setup = Setup(document, self.platform, versions, lines, _dialect_key(versions))
        for body in self._bodies:
            update_body(body, setup)
        parts = [part for body in self._bodies for part in body.findings()]
        return Findings(document, parts, [*self._of_text(document, setup), *self._report_left_out(document)])

    def _whole(self, document: Document) -> Findings:
        """Return all findings by the full path, because classes cannot describe lines with braces and a statement.

        The state of all bodies is dropped, so that the next text without such braces is checked like a newly opened
        one.
        """
        self._chunks = document.chunks
        self._bodies, self._end = [], None
        bound = bind(document, self.platform)
        return Findings(document, (), run_checks(CheckContext(document, bound, self.platform, dialect_of(bound))))

    def _splice(self, head: int, gone: int, fresh: Sequence[Chunk]) -> None:
        """Replace chunks of the one changed body, and move the bodies after it."""
        moved = len(fresh) - gone
        inside = bisect_right([body.first_chunk for body in self._bodies], head if gone else max(0, head - 1)) - 1
        if gone or fresh:
            body = self._bodies[inside]
            body.replace_chunks(head - body.first_chunk, head - body.first_chunk + gone, fresh)
        for body in self._bodies[inside + 1 :] if moved else ():
            body.first_chunk += moved

    def _match(self, chunks: Sequence[Chunk]) -> None:
        """Assign to every group of chunks the state of the earlier body that it continues."""
        opening = [index for index, chunk in enumerate(chunks) if index and facts_in(chunk).opens_body]
        self._end = opening[MAX_BODIES - 1] if len(opening) >= MAX_BODIES else None
        groups = [
            (start, list(chunks[start:end])) for start, end in pairwise([0, *opening, len(chunks)][: MAX_BODIES + 1])
        ]
        old = self._bodies
        head, tail = common([body.chunks for body in old], [group for _, group in groups])
        middle = old[head : len(old) - tail]
        fresh = [Body() for _ in range(len(groups) - len(old))]
        bodies = [*old[:head], *middle[: len(groups) - head - tail], *fresh, *old[len(old) - tail :]]
        for state, (index, group) in zip(bodies, groups, strict=True):
            state.take_chunks(index, group)
        self._bodies = bodies

    def _of_text(self, document: Document, setup: Setup) -> list[Diagnostic]:
        """Return the findings of rules of scope TEXT."""
        first_line = _first_statement(document)
        openings = [body.directives.opening or body.start(document) is None for body in self._bodies]
        if len(named := [opening for opening in openings if isinstance(opening, str)]) == 1:
            # A single kernel shares its name with no other, so that only the length of the name matters.
            openings[openings.index(named[0])] = hide_name(named[0])
        open_comment = document.chunks[-1].closes_in_block
        statement = document.code(first_line).strip() if first_line >= 0 else ""
        frame = self.platform and self.platform.variant, setup.versions, tuple(openings), statement, open_comment
        if frame == self._clean_frame:
            return []
        bodies = (
            self._bodies if len(self._bodies) <= BODIES else [*self._bodies[:2], *_find_repeated_bodies(self._bodies)]
        )
        starts = [line for body in bodies if (line := body.start(document)) is not None]
        judged = judge(
            document, sorted({first_line, *setup.version_lines, *starts} - {-1}), self.platform, _TEXT_SCOPES
        )
        findings = [d for d in judged.findings if d.name in rule_sets().text]
        judged.forget()
        if not findings:
            self._clean_frame = frame
        return findings

    def _report_left_out(self, document: Document) -> Iterator[Diagnostic]:
        """Yield a finding for the lines beyond the limit, which are not checked."""
        lines = [body.line(document, body.cut) for body in self._bodies if body.cut is not None]
        if self._end is not None:
            lines.append(document.line_of(self._end))
        for line in lines:
            yield report_unchecked(line, document.line_start(line))


def update_body(body: Body, setup: Setup) -> None:
    """Update the state and the findings of a body to its new chunks."""
    kind = (body.directives.opening or "").split('"')[0].strip()
    platform = setup.platform.variant if setup.platform else None
    key = platform, setup.dialect, kind, body.directives.attributes
    changed = key != body.key or body.splice is not None
    if changed:
        before = ends_of(body) if body.lines and key == body.key else None
        body.key = key
        body.verdicts = verdicts_of((*key[:-1], *filter(rule_sets().common.match, body.directives.attributes)))
        body.outline.place(body.chunks)
        todo, stale, unjudged = advance(body, before)
    body.outline.refresh(key, setup.versions, body.names, body.chunks, changed=changed)
    if changed:
        _check_lines(body, setup, todo, stale, unjudged)
    if body.outline.findings is None:
        judge_with_outline(body, setup, set()).forget()


def _check_lines(body: Body, setup: Setup, todo: Todo, stale: set[Dependency], unjudged: set[int]) -> None:
    """Classify some lines, or all, of some chunks, and judge those that may have findings, up to the limit of findings."""
    active = unjudged if body.cut is None else set(range(len(body.lines)))
    body.cut = body.find_cut()
    batch = REPORTED_LINES
    while True:
        suspects = 0
        while suspects <= batch and (group := _take_group(body, todo, stale)):
            for index, offsets in group.items():
                stale |= classify_chunk(body, setup.document, index, offsets)
            stale |= judge_pending(body, setup, group)
            active.update(group)
            suspects += sum([len(body.lines[index].alone) for index in group])
        judge_lines(body, setup, stale, active)
        if not todo and not _list_deferred(body):
            return
        stale = set()
        # Larger each time, because lines that depend on each other are judged again with each batch.
        batch *= 2


def _take_group(body: Body, todo: Todo, stale: set[Dependency]) -> Todo:
    """Remove the next chunks to classify; those beyond the cut are deferred until findings before it are mended."""
    last = len(body.lines) if body.cut is None else body.cut[0]
    for index in [index for index in todo if index > last]:
        del todo[index]
        stale |= body.lines[index].subjects
        body.lines[index] = ChunkLines(is_deferred=True)
    todo |= dict.fromkeys(_list_deferred(body))
    return {index: todo.pop(index) for index in sorted(todo)[:_GROUP_CHUNKS]}


def _list_deferred(body: Body) -> list[int]:
    """Return the deferred chunks that are not beyond the cut."""
    last = len(body.lines) if body.cut is None else body.cut[0]
    return [index for index, lines in enumerate(body.lines) if lines.is_deferred and index <= last]


def _dialect_key(versions: tuple[str, ...]) -> object:
    """Return the effect of the version on lines: whether the text has the newest dialect."""
    if len(versions) != 1:
        return versions
    statement = statement_of(versions[0])
    if not isinstance(statement, Version) or statement.major is None or statement.minor is None:
        return False
    return (statement.major, statement.minor) >= (4, 2)


def _find_repeated_bodies(bodies: list[Body]) -> list[Body]:
    """Return the first bodies that share their name with another one."""
    names = [(body.directives.opening or "").partition(" ")[2].strip().strip('"') for body in bodies]
    many = Counter(names)
    return [body for body, name in zip(bodies, names, strict=True) if name and many[name] > 1][:REPEATED]


def _first_statement(document: Document) -> int:
    """Return the line of the first statement; -1 in a text without one."""
    line = 0
    for chunk in document.chunks:
        if chunk.facts is not NOTHING and chunk.text and not chunk.text.isspace():
            for offset, code in enumerate(codes_in(chunk)):
                if code:
                    return line + offset
        line += chunk.count
    return -1
