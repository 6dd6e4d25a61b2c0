"""The judged chunks of one body, brought from one snapshot to the next by what an edit takes and gives.

Invariant: ``update`` leaves the same state whatever snapshots came before.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.judging import NAME, Judging
from visa_lsp.ide.mentions import Ids
from visa_lsp.ide.quick import verdicts_of
from visa_lsp.ide.rests import INPUT
from visa_lsp.ide.results import NOTHING, Open, Result, Shelf, facts_in
from visa_lsp.ide.scopes import Body, scoped_names
from visa_lsp.syntax.bulk import statement_of
from visa_lsp.syntax.chunks import code_in
from visa_lsp.syntax.document import common
from visa_lsp.syntax.tree import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.syntax.bulk import Facts
    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document

FUNCTION: Final = re.compile(r'\s*\.function(?![A-Za-z0-9_])\s*"?([^"\s]*)')
_OPENING: Final = re.compile(r"\s*\.(?:kernel|global_function)(?![A-Za-z0-9_])")
_VERSION: Final = re.compile(r"\s*\.version(?![A-Za-z0-9_])")
# The attributes that a rule about one line, or a number in it, may ask for; what is wrong with others shows in the frame.
_ASKED: Final = re.compile(r"\s*\.kernel_attr\s+(?:SimdSize|SLMSize)(?![A-Za-z0-9_])")
_ATTRIBUTE: Final = re.compile(r"\s*\.kernel_attr\s")
# Those, and the attributes that a rule about a body looks for.
_SOUGHT: Final = re.compile(r"\s*\.kernel_attr\s+(?:SimdSize|SLMSize|ArgSize|RetValSize)(?![A-Za-z0-9_])")
# From how many changed names on chunks are judged as a whole instead of line by line.
_FEW: Final = 16
# Under this name the lineage of a document has the numbers of all names; None where no edit is to come that asks for them.
IDS: Final = "ids"
# The results of so many kinds of body (dialects, attributes) are remembered.
_SHELVES: Final = 3


def _mentions(text: str, names: Iterable[str]) -> set[int]:
    """The lines of a text that have one of some names in them, be it in a comment."""
    found: set[int] = set()
    for name in names:
        at, line, counted = text.find(name), 0, 0
        while at >= 0:
            # What stands beside a name may belong to a longer one: a line too many does no harm.
            line += text.count("\n", counted, at)
            found.add(line)
            counted = at
            at = text.find(name, max(text.find("\n", at), at + 1))
    return found


class Directives:
    """The directives of a body that are no declarations, and what they say of it.

    ``shaping`` are those that other lines depend on; inputs, which some do, are not among them.
    """

    __slots__ = (
        "attributes", "braces", "functions", "inputs", "opening", "part_names", "parts", "places", "shaping", "texts",
        "versions",
    )  # fmt: skip

    def __init__(self, facts: Sequence[Facts]) -> None:
        self.places = [(i, offset, text) for i, f in enumerate(facts) if f.specials for offset, text in f.specials]
        texts = [text for _, _, text in self.places]
        self.texts = texts
        self.opening = texts[0] if texts and _OPENING.match(texts[0]) else None
        self.versions = [place for place in self.places if _VERSION.match(place[2])]
        self.inputs = {(i, offset): m.group(1) for i, offset, text in self.places if (m := INPUT.match(text))}
        parts = [(i, offset, m.group(1)) for i, offset, text in self.places if (m := FUNCTION.match(text))]
        self.parts = [(i, offset) for i, offset, _ in parts]
        self.part_names = [name for _, _, name in parts]
        self.functions = set(self.part_names)
        self.attributes = tuple([text for text in texts if _ASKED.match(text)])
        plain = [p for p in self.places if _SOUGHT.match(p[2]) or not _ATTRIBUTE.match(p[2])]
        self.shaping = {(i, offset) for i, offset, _ in plain} - self.inputs.keys()
        self.braces = [place for place in self.places if place[2].lstrip()[0] in "{}"]


class JudgedBody(Judging):
    """The judged chunks of one body."""

    __slots__ = (
        "_asleep", "_change", "_doubled", "_framed", "_key", "_missing", "_reframe", "_shelves", "_stale", "directives",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.directives = Directives(())
        # What is new since the last update: the first chunk that changed, those that went, and how many came.
        self._change: tuple[int, list[Chunk], int] | None = None
        self._key: object = None
        # The chunks that lines of the frame stand in, those before the first instruction among them; whether it has to
        # be put together anew, and whether it has to be found out which lines may have a finding.
        self._framed: set[int] = set()
        self._reframe = self._stale = True
        self._missing: set[str] = set()
        self._doubled: set[str] = set()
        # What is known of chunks that a comment has swallowed, and of all chunks under other kinds of body.
        self._asleep = Shelf()
        self._shelves: dict[object, Shelf] = {}

    # ---- what the chunks are ----

    def moved(self, first: int, chunks: Sequence[Chunk]) -> None:
        """Take the chunks of the next snapshot."""
        head, tail = common(self.chunks, chunks)
        if len(chunks) != len(self.chunks) or head < len(chunks):
            self.spliced(head, len(self.chunks) - tail, chunks[head : len(chunks) - tail])
        self.first = first

    def spliced(self, head: int, behind: int, new: Sequence[Chunk]) -> None:
        """Take other chunks for ``[head, behind)``; once for each snapshot."""
        assert self._change is None
        fresh = [facts_in(chunk) for chunk in new]
        if self._code_at is not None and head <= self._code_at:
            before = behind <= self._code_at and not any(f.has_code for f in fresh)
            self._code_at = self._code_at + len(new) - (behind - head) if before else None
        old = self._facts[head:behind]
        again = any(f.specials for f in (*fresh, *old))
        again = again or (len(new) != behind - head and any(at >= head for at, _, _ in self.directives.places))
        self._change = head, self.chunks[head:behind], len(new)
        # Most often a chunk comes in the place of another, among instructions: then the frame stays as it is.
        if (
            again
            or len(fresh) != 1
            or len(old) != 1
            or head in self._framed
            or fresh[0].has_code != old[0].has_code
            or fresh[0].decls
            or old[0].decls
        ):
            self._reframe = True
        # In place: what is copied at each keystroke is touched, chunk by chunk.
        self.chunks[head:behind] = new
        self._facts[head:behind] = fresh
        if again:
            self.directives = Directives(self._facts)
            self.specials = self.directives.places

    def opening_lines(self, document: Document) -> Iterator[int]:
        """The line of the directive that opens the body."""
        if self.directives.opening is not None:
            index, offset, _ = self.directives.places[0]
            yield self._line(document, index, offset)

    # ---- going to another snapshot ----

    def update(
        self, document: Document, versions: tuple[str, ...], version_lines: set[int], platform: Platform | None
    ) -> None:
        """Bring everything up to the chunks that ``moved`` or ``spliced`` gave."""
        self._version_lines = version_lines
        directives = self.directives
        kind = (directives.opening or "").split('"')[0]
        key = (platform.name if platform else None, _dialect_key(versions), kind.strip(), directives.attributes)
        if key == self._key and self._change is None:
            return
        known = self._key if self._results else key
        self._advance(document, known, platform)
        if key != known:
            self._switch(document, key, platform)
            self._reframe = True
        self._stale = True

    def _switch(self, document: Document, key: object, platform: Platform | None) -> None:
        """Go over to another kind of body, of which something may be known from before."""
        # Of chunks with lines that wait for a look nothing is known that could be taken back.
        waiting = self._open.chunks()
        known = zip(self.chunks, self._results, strict=True)
        self._shelves[self._key] = Shelf({id(c): (c, r) for at, (c, r) in enumerate(known) if at not in waiting})
        self._asleep = Shelf()
        self._open = Open()
        self._key, self._verdicts = key, verdicts_of(key)
        self._review.update(self._uses)
        self._uses.clear()
        shelf = self._shelves.pop(key, None) or Shelf()
        while len(self._shelves) > _SHELVES:
            self._shelves.pop(next(iter(self._shelves)))
        self._results = [Result() for _ in self.chunks]
        self._marks = bytearray(len(self.chunks))
        todo: dict[int, list[int] | None] = dict.fromkeys(range(len(self.chunks)))
        woken = self._wake(shelf, todo)
        if woken:
            self._touched(shelf.others(self._names.tokens), woken, todo)
        self._judge(document, platform, todo)

    def _advance(self, document: Document, key: object, platform: Platform | None) -> None:
        """Bring everything up to the chunks, for the kind of body that it was."""
        directives = self.directives
        fresh = not self._results
        if fresh:
            self._key, self._verdicts = key, verdicts_of(key)
        head, gone_chunks, many = self._change or (0, [], 0)
        self._change = None
        behind = head + len(gone_chunks)
        gone = list(zip(gone_chunks, self._results[head:behind], strict=True))
        all_facts, added = self._facts, range(head, head + many)
        todo: dict[int, list[int] | None] = dict.fromkeys(added)
        edited = self._edited(gone, added, todo)
        # An edit within a chunk most often leaves its labels as they were.
        same = edited is not None and facts_in(gone[0][0]).labels == all_facts[head].labels
        for chunk, result in gone if not same else ():
            self._count(facts_in(chunk), None if edited else result, -1)
        self._results[head:behind] = [edited] if edited else [Result() for _ in added]
        self._marks[head:behind] = bytes(many)
        self._review |= self._functions_near(gone_chunks, added)
        ids: Ids | None = document.lineage.setdefault(IDS, Ids())  # type: ignore[assignment]
        if ids is None and directives.braces:
            # Where names live is found by where they are mentioned.
            ids = document.lineage[IDS] = Ids()
        # With the first brace of a text that was to be looked at once, names are kept from here on: those of all chunks.
        late = ids is not None and not self._names.noting
        scoped = self._scoped(ids, range(len(self.chunks)) if late else added)
        changed = self._names.update(
            all_facts, [facts_in(c) for c, _ in gone], added, directives.texts, directives.functions, ids, scoped,
            fresh=fresh or late,
        )  # fmt: skip
        if changed is None:
            for result in self._results:
                self._drop_uses(result)
            todo = dict.fromkeys(range(len(self.chunks)))
            self._results = [Result() for _ in self.chunks]
            self._labels = Counter(name for f in all_facts for name in f.labels)
            self._label_names.clear()
            self._review.update(self._labels, directives.functions)
            self._asleep = Shelf()
            self._shelves.clear()
        else:
            for index in added if not same else ():
                self._count(all_facts[index], None, 1)
            before = self._names.before
            for shelf in self._shelves.values():
                shelf.note(changed, before)
            self._sleep(gone, added)
            self._asleep.note(changed, before)
            woken = self._wake(self._asleep, todo)
            if changed:
                self._touched(changed, set(range(len(self.chunks))).difference(woken) if woken else None, todo)
            if woken:
                self._touched(self._asleep.others(self._names.tokens), woken, todo)
        self._judge(document, platform, todo)
        for index in added:
            self.chunks[index].origin = None

    def _functions_near(self, gone: Sequence[Chunk], added: range) -> set[str]:
        """The functions that chunks declare or give a label to, and the one before them."""
        parts, names = self.directives.parts, self.directives.part_names
        if not names and not self._names.functions:
            return set()
        first, behind = bisect_left(parts, (added.start, 0)), bisect_left(parts, (added.stop, 0))
        found = set(names[max(0, first - 1) : behind])
        for facts in (*map(facts_in, gone), *[self._facts[index] for index in added]):
            found.update([m.group(1) for _, text in facts.specials if (m := FUNCTION.match(text))])
            found.update(self.directives.functions.intersection(facts.labels))
        return found

    def _edited(
        self, gone: list[tuple[Chunk, Result]], added: range, todo: dict[int, list[int] | None]
    ) -> Result | None:
        """The result of the one chunk that was edited, with the lines that changed left to be judged; None otherwise."""
        if len(gone) != 1 or len(added) != 1:
            return None
        (base, known), chunk = gone[0], self.chunks[added[0]]
        origin = chunk.origin
        if origin is None or origin.base is not base or facts_in(base).strange or facts_in(chunk).strange:
            return None
        if base.opens_in_block or chunk.opens_in_block:
            return None
        behind = base.count - origin.tail
        for at, names in known.labels.items():
            if origin.head <= at < behind:
                self._use(names, -1)
        todo[added[0]] = list(range(origin.head, chunk.count - origin.tail))
        facts, old = facts_in(chunk), facts_in(base)
        facts.names = facts.names or old.names
        return known.edited(origin.head, behind, chunk.count - base.count)

    def _scoped(self, ids: Ids | None, added: range) -> Callable[[set[str]], set[str]] | None:
        """What tells the names that do not mean the same everywhere, because a brace ends the life of some of them."""
        braces = self.directives.braces
        if not braces or ids is None:
            return None
        for index in added:
            facts = self._facts[index]
            if facts is not NOTHING and not facts.names:
                self._names.note_first(facts, set(NAME.findall(code_in(self.chunks[index]))), ids)
        body = Body(self.chunks, self._facts, ids)
        return lambda doubled: scoped_names(braces, body, doubled)

    # ---- what a comment swallows ----

    def _sleep(self, gone: list[tuple[Chunk, Result]], added: range) -> None:
        """Remember what is known of chunks that are comment now, and how the tokens of names were."""
        plain = {id(p) for i in added if (p := self.chunks[i].plain) is not None}
        if plain:
            if self._asleep.before:
                self._asleep = Shelf()
            self._asleep.results.update({id(c): (c, result) for c, result in gone if id(c) in plain})

    def _wake(self, shelf: Shelf, todo: dict[int, list[int] | None]) -> set[int]:
        """Take back what is known of chunks that have still to be judged; which they are."""
        woken = set[int]()
        for index in list(todo) if shelf.results else ():
            known = shelf.results.pop(id(self.chunks[index]), None)
            if known is not None and todo[index] is None:
                self._results[index] = known[1]
                for names in known[1].labels.values():
                    self._use(names, 1)
                todo[index] = []
                woken.add(index)
        return woken

    def _count(self, facts: Facts, result: Result | None, step: int) -> None:
        self._review.update(facts.labels)
        for name in facts.labels:
            many = self._labels[name] = self._labels[name] + step
            if not many:
                del self._labels[name]
                self._label_names.drop(name)
            elif many == step:
                self._label_names.add(name)
        if result is not None:
            self._drop_uses(result)

    def _touched(self, changed: set[str], where: set[int] | None, todo: dict[int, list[int] | None]) -> None:
        """Note the lines of chunks, or of some of them, that mention a changed name."""
        few = len(changed) <= _FEW
        for index in self._names.mentioning(changed):
            known = todo.get(index, [])
            if known is None or (where is not None and index not in where):
                continue
            if not few:
                todo[index] = None
                continue
            lines = _mentions(self.chunks[index].text, changed)
            if lines or known:
                todo[index] = sorted({*known, *lines})
            else:
                self._names.unmentioned(self._facts[index], changed)


def _dialect_key(versions: tuple[str, ...]) -> object:
    """What the version of a text means for its lines: whether it is of the newest dialect."""
    if len(versions) != 1:
        return versions
    statement = statement_of(versions[0])
    if not isinstance(statement, Version) or statement.major is None or statement.minor is None:
        return False
    return (statement.major, statement.minor) >= (4, 2)
