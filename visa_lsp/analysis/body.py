"""The findings of one kernel or function, kept from one snapshot to the next.

``BodyFindings.update`` takes what an edit took and gave, sorts the lines that changed, or whose names did, by the verdicts
on their classes, and judges those that may have a finding and of which nothing is kept. Model and words: the README beside.
Invariant: ``update`` leaves the same findings whatever snapshots came before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.analysis.findings import Change, ChunkLines, Dormant, Finding, Kept, names_in
from visa_lsp.analysis.line_classes import (
    ALONE,
    CLEAN,
    DECLARATION,
    LABEL,
    LATE,
    LINE_SCOPES,
    OUTLINE_SCOPES,
    SINGLE,
    UNKNOWN,
    Verdicts,
    definition_of,
    judge,
    tokens_in,
    verdicts_of,
    verdicts_on,
    with_values,
)
from visa_lsp.analysis.names import Names, Setting
from visa_lsp.analysis.outline import NAME, Directives, Outline, Place, names_of
from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.analysis.scopes import ScopedBody, scoped_names
from visa_lsp.checks.support.limits import CLASSES, SUSPECTS
from visa_lsp.checks.support.name_index import MAX_RENAMED_USES, is_likened, spelling
from visa_lsp.sema.context import reads_attributes
from visa_lsp.syntax.bulk import Facts, classes, instruction_of, instructions_of
from visa_lsp.syntax.chunk_facts import INPUT, decl_lines, facts_in, instructions_in, label_lines
from visa_lsp.syntax.chunks import code_in
from visa_lsp.syntax.document import common
from visa_lsp.syntax.parse import MAX_LINE
from visa_lsp.syntax.words import AT_ONCE, chunks_with, learn_words, lines_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.analysis.line_classes import Judged
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document

# Lines are sorted by so many chunks at a time, so that a text of lines that are all different does not have all of them in
# hand at once; and judged for their classes so many at a time.
_GROUP: Final = 16
_BATCH: Final = 4096
# Up to so many new classes of an edit are judged together with the lines that may have findings: with more, a second pass
# over those of classes that turn out to have some is all but certain. Of whole chunks the classes come first.
_FEW_CLASSES: Final = 40
# From so many new classes on it is worth while to look at what other processes found.
_MANY_CLASSES: Final = 64
# Up to so many changed names lines are looked for one by one, else their chunks are sorted anew.
_FEW_NAMES: Final = 16
# Passes of judging in one update: the second is for lines that depend on what the first has found. More are not seen.
_PASSES: Final = 6
# What findings about missing names depend on besides those: the spelling of declared names and labels, where the
# declarations before the code end, and where the code does.
_SPELT: Final = "\x0f~"
_HEADER: Final = "\x0fheader"
_LAST: Final = "\x0flast"
# What findings about names depend on that do not mean the same everywhere: which braces there are, in what order.
_BRACES: Final = "\x0fbraces"
_ALONE, _KEPT = attrgetter("alone"), attrgetter("kept")
_SINGLE_LABEL: Final = SINGLE + ":"
Ends = tuple[Place | None, Place | None, Place | None, Place | None]


class Setup(Struct):
    """What the text says to all of its bodies: one object for each update."""

    platform: Platform | None
    versions: tuple[str, ...]
    version_lines: set[int]
    dialect: object
    classes: int = CLASSES  # how many classes may still be judged


class BodyFindings:
    """A body with what is known of its lines. ``first`` is the number of its first chunk in the text."""

    __slots__ = (
        "_change", "_dormant", "_facts", "_key", "_label_parts", "_lines", "_lone", "_names", "_outline", "_outline_findings",
        "_part_names", "_renamed", "_setting", "_stale_outline", "_stale_parts", "_unjudged_chunks", "_verdicts", "chunks", "cut", "first",
    )  # fmt: skip

    def __init__(self) -> None:
        self.first = 0
        self.chunks: list[Chunk] = []
        self.cut: Place | None = None  # the first line that is left out because too many may have findings
        self._facts: list[Facts] = []
        self._lines: list[ChunkLines] = []
        self._names = Names()
        self._outline = Outline()
        self._outline_findings: list[tuple[int, Finding]] | None = None  # with the number of the line in the outline
        self._setting = Setting()
        self._label_parts: dict[str, int] | None = None
        self._lone: set[str] = set()
        self._stale_parts = True
        self._part_names: list[str] = []
        self._key: object = None
        self._verdicts = Verdicts()
        self._stale_outline = True
        self._renamed = True  # whether names of the outline may mean something else
        # What is new since the last update: the first chunk that changed, those that went, and how many came.
        self._change: tuple[int, list[Chunk], int] | None = None
        self._unjudged_chunks: set[int] = set()  # with lines that lost their findings
        self._dormant = Dormant()  # what is known of chunks that a comment has swallowed

    # ---- what the chunks are ----

    @property
    def directives(self) -> Directives:
        """The directives of the body that are no declarations."""
        return self._outline.directives

    def moved(self, first: int, chunks: Sequence[Chunk]) -> None:
        """Take the chunks of the next snapshot."""
        head, tail = common(self.chunks, chunks)
        if len(chunks) != len(self.chunks) or head < len(chunks):
            self.spliced(head, len(self.chunks) - tail, chunks[head : len(chunks) - tail])
        self.first = first

    def spliced(self, head: int, behind: int, new: Sequence[Chunk]) -> None:
        """Take other chunks for ``[head, behind)``; once for each snapshot."""
        assert self._change is None
        old, fresh = self._facts[head:behind], [facts_in(chunk) for chunk in new]
        again = any(f.specials for f in (*fresh, *old))
        again = again or (len(new) != behind - head and any(at >= head for at, _, _ in self.directives.places))
        # Most often a chunk comes in the place of another, among instructions: then the outline stays as it is.
        if (
            again
            or len(fresh) != 1
            or len(old) != 1
            or self._outline.is_touched(head, has_code=fresh[0].has_code or old[0].has_code)
            or fresh[0].has_code != old[0].has_code
            or fresh[0].decls
            or old[0].decls
        ):
            self._stale_outline = True
        self._change = head, self.chunks[head:behind], len(new)
        # In place: what is copied at each keystroke is touched, chunk by chunk.
        self.chunks[head:behind] = new
        self._facts[head:behind] = fresh
        if again:
            self._outline.directives = Directives(self._facts)

    def start(self, document: Document) -> int | None:
        """The line of the directive that opens the body; without one, of the first statement that needs a body."""
        return self._line(document, *self._outline.start) if self._outline.start is not None else None

    def _line(self, document: Document, index: int, offset: int) -> int:
        return document.line_of(self.first + index) + offset

    # ---- going to another snapshot ----

    def update(self, document: Document, setup: Setup) -> None:
        """Bring everything up to the chunks that ``moved`` or ``spliced`` gave."""
        kind = (self.directives.opening or "").split('"')[0].strip()
        platform = setup.platform.variant if setup.platform else None
        key = platform, setup.dialect, kind, self.directives.attributes
        if key == self._key and self._change is None and not self._stale_outline:
            self._update_outline(setup)
            if self._outline_findings is None:
                self._look(document, setup, set()).forget()
            return
        before = self._ends() if self._lines and key == self._key else None
        common = filter(rule_sets().common.match, self.directives.attributes)
        self._key, self._verdicts = key, verdicts_of((*key[:-1], *common))
        head, _, many = self._change or (0, [], 0)
        if self._stale_outline:
            self._outline.place(self.chunks)
            self._stale_outline = False
            self._renamed = self._stale_parts = True
        dirty: set[str] = set()
        todo = self._advance(before, dirty)
        self._update_outline(setup)
        self._sort(document, setup, todo, dirty)
        self._judge(document, setup, dirty, self._unjudged_chunks.union(todo))
        self._unjudged_chunks = set()
        if self._outline_findings is None:
            self._look(document, setup, set()).forget()
        for index in range(head, head + many):
            self.chunks[index].origin = None

    def _ends(self) -> Ends:
        """Where the body begins, the last declaration before all code, the first line of code, and the last one."""
        outline = self._outline
        return outline.start, max(outline.leading, default=None), outline.first_code, outline.end

    def _ends_changed(self, before: Ends, change: Change, head: int, behind: int, shift: int) -> set[str]:
        """Which of the ends are other lines than they were, and not the same ones at another place."""

        def now(place: Place | None) -> Place | None:
            if place is None or place[0] < head:
                return place
            if place[0] >= behind:
                return place[0] + shift, place[1]
            offset = change.moved(place[1])
            return (place[0], offset) if offset is not None else (-1, 0)

        was, ends = tuple(map(now, before)), self._ends()
        changed = {_HEADER} if was[:-1] != ends[:-1] else set[str]()
        return changed | {_LAST} if was[-1] != ends[-1] else changed

    def _advance(self, before: Ends | None, dirty: set[str]) -> dict[int, list[int] | None]:
        """Take the chunks in; the lines to be sorted, by chunk, None for all; adds to ``dirty`` what findings depend on.

        ``before`` are the ends that the body had, None where all is to be looked at.
        """
        fresh = before is None
        head, gone, many = self._change or (0, [], 0)
        self._change = None
        behind, added = head + len(gone), range(head, head + many)
        known = list(zip(gone, self._lines[head:behind], strict=True)) if self._lines else []
        todo: dict[int, list[int] | None] = dict.fromkeys(added)
        change, edited = self._edited(known, added, todo, dirty)
        if before is not None:
            dirty |= self._ends_changed(before, change, head, behind, many - len(gone))
        self._lines[head:behind] = [edited] if edited is not None else [ChunkLines() for _ in added]
        for _, lines in known if edited is None else ():
            dirty |= lines.subjects
        came = Counter(text for index in added for _, text in self._facts[index].specials)
        went = Counter(text for chunk in gone for _, text in facts_in(chunk).specials)
        for text in (came - went) + (went - came):
            # A declaration that is broken declares its name all the same.
            dirty.update(NAME.findall(text))
        if _braces_in(gone) != _braces_in([self.chunks[index] for index in added]):
            dirty.add(_BRACES)
        self._follow(change, dirty)
        was_parted, redeclared = self._label_parts is not None, frozenset(self._names.redeclared)
        changed = self._rename([facts_in(c) for c in gone], added, fresh=fresh)
        if not fresh and self.directives.part_names != self._part_names:
            # Who calls whom is another question, and with more or fewer parts lines are in others than they were.
            dirty |= rule_sets().whole_body.subjects
            parted = was_parted or self._label_parts is not None
            if parted and len(self._part_names) != len(self.directives.part_names):
                changed = None
        if redeclared != self._names.redeclared:
            dirty.add(_HEADER)
        self._part_names = self.directives.part_names
        self._renamed = self._renamed or changed is None or bool(changed)
        if changed is None:
            self._lines = [ChunkLines() for _ in self.chunks]
            self._dormant = Dormant()
            return dict.fromkeys(range(len(self.chunks)))
        self._put_aside(known, added)
        self._dormant.note(changed, self._names.before)
        woken = self._take_back(todo)
        if changed:
            dirty.update(_SPELT + "".join(spelling(name)) for name in changed)
            if any(not spelling(name).number for name in changed):
                dirty.add(_SPELT)
            self._touch(changed, set(range(len(self.chunks))).difference(woken) if woken else None, todo)
        if woken:
            self._touch(self._dormant.others(self._names.tokens), woken, todo)
            for index in woken:
                dirty |= self._lines[index].subjects
        return todo

    def _edited(
        self,
        known: list[tuple[Chunk, ChunkLines]],
        added: range,
        todo: dict[int, list[int] | None],
        dirty: set[str],
    ) -> tuple[Change, ChunkLines | None]:
        """What became of the chunks that went; the lines of the one chunk that was edited, less those that changed."""
        gone = frozenset(id(chunk) for chunk, _ in known)
        plain = Change(gone), None
        if len(known) != 1 or len(added) != 1:
            return plain
        (base, lines), chunk = known[0], self.chunks[added[0]]
        origin = chunk.origin
        if origin is None or origin.base is not base or facts_in(base).strange or facts_in(chunk).strange:
            return plain
        if base.opens_in_block or chunk.opens_in_block:
            return plain
        behind = base.count - origin.tail
        todo[added[0]] = list(range(origin.head, chunk.count - origin.tail))
        if base.words:
            learn_words(chunk)
        change = Change(gone, chunk, origin.head, behind, chunk.count - base.count)
        for offset in range(origin.head, behind):
            dirty |= lines.subjects_of(offset)
        return change, lines.edited(change)

    def _follow(self, change: Change, dirty: set[str]) -> None:
        """Take findings along with the chunks that their places are in."""
        if not change.gone:
            return
        for index, lines in enumerate(self._lines):
            if lines.kept and not change.gone.isdisjoint(lines.chunks):
                for subjects in lines.follow(change):
                    dirty |= subjects
                    self._unjudged_chunks.add(index)
        if self._outline_findings:
            moved = [(at, finding.moved(change)) for at, finding in self._outline_findings]
            found = [(at, finding) for at, finding in moved if finding is not None]
            self._outline_findings = found if len(found) == len(moved) else None

    def _rename(self, gone: list[Facts], added: range, *, fresh: bool) -> set[str] | None:
        """Bring the names up to date; those whose token changed, None where every line has to be sorted anew."""
        directives = self.directives
        came = [label for index in added for label in self._facts[index].labels]
        if fresh or self._stale_parts or came != [label for facts in gone for label in facts.labels]:
            self._stale_parts = False
            self._lone = self._lone_subroutines()
            self._label_parts = self._parts_of_labels()
        parts = self._label_parts
        setting = self._setting
        late = self._declared_late()
        scoped = self._scoped()
        same = directives.texts, late, self._lone, parts
        known = setting.specials, setting.declared_late, setting.lone, setting.parts
        if scoped is not None or setting.scoped is not None or same != known:
            self._setting = Setting(
                directives.texts, directives.functions, late, self._lone, directives.broken, parts, scoped
            )
        return self._names.update(self._facts, gone, added, self._setting, fresh=fresh)

    def _declared_late(self) -> set[str]:
        """The names that are declared in a chunk with code before it, and the inputs that are behind an input directive."""
        code, inputs, end = self._outline.first_code, self.directives.inputs, (len(self._facts), 0)
        passed = min([place for places in inputs.values() for place in places], default=end)
        found: set[str] = set()
        for index in range(min(passed, code or end)[0], len(self._facts)):
            if not (decls := self._facts[index].decls):
                continue
            if code is not None and (index > code[0] or (index == code[0] and self._facts[index].mixed)):
                found.update(decls)
            elif not inputs.keys().isdisjoint(decls):
                places = zip(decls, decl_lines(self.chunks[index]), strict=True)
                found.update([name for name, at in places if name in inputs and (index, at) > passed])
        return found

    def _lone_subroutines(self) -> set[str]:
        """The subroutines that stand once, and whose name is no label but in their own part."""
        starts, named = self.directives.parts, self.directives.part_names
        once = {name for name, many in Counter(named).items() if many == 1 and name}
        if not once:
            return set()
        ends = [*starts[1:], (1 << 60, 0)]
        bounds = {name: (start, end) for name, start, end in zip(named, starts, ends, strict=False)}
        labels: dict[str, list[Place]] = {}
        for index, facts in enumerate(self._facts):
            if facts.labels and not once.isdisjoint(facts.labels):
                for offset, name in label_lines(self.chunks[index]):
                    labels.setdefault(name, []).append((index, offset))
        return {
            name
            for name in once
            if len(labels.get(name, ())) <= 1
            and all(bounds[name][0] < at < bounds[name][1] for at in labels.get(name, ()))
        }

    def _parts_of_labels(self) -> dict[str, int] | None:
        """The part of the body that each label stands in; None where all code is of one part."""
        starts, first = self.directives.parts, self._outline.first_statement
        if not starts or (len(starts) == 1 and (first is None or first >= starts[0])):
            return None
        found: dict[str, int] = {}
        part, waiting = 0, [*starts, (1 << 60, 0)]
        for index, facts in enumerate(self._facts):
            if waiting[part][0] > index:
                for name in facts.labels:
                    found.setdefault(name, part)
                continue
            for offset, name in label_lines(self.chunks[index]):
                while waiting[part] < (index, offset):
                    part += 1
                found.setdefault(name, part)
            while waiting[part][0] <= index:
                part += 1
        return self._label_parts if found == self._label_parts else found

    def _scoped(self) -> Callable[[set[str]], set[str]] | None:
        """What tells the names that do not mean the same everywhere, because a brace ends the life of some of them."""
        braces = self.directives.braces
        if not braces:
            return None
        body = ScopedBody(self.chunks, self._facts)
        return lambda redeclared: scoped_names(braces, body, redeclared)

    def _put_aside(self, known: list[tuple[Chunk, ChunkLines]], added: range) -> None:
        """Remember what is known of chunks that are comment now."""
        plain = {id(p) for i in added if (p := self.chunks[i].plain) is not None}
        if plain:
            if self._dormant.before:
                self._dormant = Dormant()
            self._dormant.lines.update(
                {id(c): (c, lines) for c, lines in known if id(c) in plain and not lines.waiting}
            )

    def _take_back(self, todo: dict[int, list[int] | None]) -> set[int]:
        """Take back what is known of chunks that are no comment any more; which they are."""
        woken = set[int]()
        for index in list(todo) if self._dormant.lines else ():
            found = self._dormant.lines.pop(id(self.chunks[index]), None)
            if found is not None and todo[index] is None:
                found[1].kept.clear()
                self._lines[index] = found[1]
                todo[index] = []
                woken.add(index)
        return woken

    def _touch(self, changed: set[str], where: set[int] | None, todo: dict[int, list[int] | None]) -> None:
        """Note the lines of chunks, or of some of them, that mention a changed name."""
        few = len(changed) <= _FEW_NAMES
        for index in chunks_with(self.chunks, changed, AT_ONCE):
            known = todo.get(index, [])
            if known is None or (where is not None and index not in where):
                continue
            if not few:
                todo[index] = None
                continue
            lines = list(lines_with(self.chunks[index].text, changed))
            if lines or known:
                todo[index] = sorted({*known, *lines})

    # ---- sorting lines by the verdicts on their classes ----

    def _sort(self, document: Document, setup: Setup, todo: dict[int, list[int] | None], dirty: set[str]) -> None:
        every = list(todo.items())
        suspects, few = 0, 0 if None in todo.values() else _FEW_CLASSES
        self._judge_declarations(document, setup, [i for i, some in every if some is None and self._facts[i].decls])
        for at in range(0, len(every), _GROUP):
            group = dict(every[at : at + _GROUP])
            for index, offsets in group.items():
                self._sort_chunk(document, index, offsets, dirty)
            # What is wrong with lines that will not be shown does not matter.
            self._settle_classes(document, setup, group, dirty, few, enough=suspects > 2 * SUSPECTS)
            suspects += sum([len(self._lines[index].alone) for index in group])
        self._settle_classes(document, setup, todo, dirty, few, enough=False)

    def _settle_classes(
        self, document: Document, setup: Setup, group: Iterable[int], dirty: set[str], few: int, *, enough: bool
    ) -> None:
        """Find verdicts on the classes that lines of some chunks wait for, if not ``few``; ``enough``: for no more."""
        pending = self._representatives(group)
        if len(pending) > _MANY_CLASSES and self._verdicts.ask_store():
            self._settle(group, dirty)
            pending = self._representatives(group)
        if enough or setup.classes < len(pending):
            self._give_up(group)
        elif len(pending) > few:
            self._judge_classes(document, setup, pending)
            self._settle(group, dirty)
            self._give_up(group)

    def _sort_chunk(self, document: Document, index: int, offsets: list[int] | None, dirty: set[str]) -> None:
        facts, lines = self._facts[index], self._lines[index]
        if offsets is None:
            dirty |= lines.subjects
            lines = self._lines[index] = ChunkLines()
        if facts.strange:
            for offset, line in enumerate(instructions_in(self.chunks[index])):
                if offsets is None or offset in offsets:
                    dirty |= lines.forget(offset)
                    if line.strip():
                        self._alone(lines, offset, line, dirty)
        elif facts.has_code:
            self._sort_code(document, index, offsets, dirty)
        else:
            for offset in offsets or ():
                dirty |= lines.forget(offset)
        if facts.decls:
            self._sort_decls(index, offsets, dirty)
        if facts.specials:
            self._sort_directives(index, offsets, dirty)
        lines.changed()

    def _sort_code(self, document: Document, index: int, offsets: list[int] | None, dirty: set[str]) -> None:
        names, lines, chunk = self._names, self._lines[index], self.chunks[index]
        clean, others = self._verdicts.clean, self._verdicts.others
        if offsets is None:
            split: Sequence[str] | dict[int, str] = ()
            code = instructions_of(code_in(chunk), self._facts[index])
            found = classes(code, names.tokens, names.pattern)
        else:
            base = self._line(document, index, 0)
            split = {offset: instruction_of(document.code(base + offset)) for offset in offsets}
            found = classes("".join(["\n" + split[o] for o in offsets]), names.tokens, names.pattern)
            for offset in offsets:
                dirty |= lines.forget(offset)
        readers, irregular = rule_sets().value_readers, self._irregular_in(chunk)
        reading = reads_attributes(chunk.text)
        regular = readers is None and not irregular and not reading and self._label_parts is None
        new = set(found).difference(clean) if regular else None
        if new is not None and not new and not names.setting.declared_late:
            return
        if offsets is None:
            split = instructions_in(chunk)
        places = enumerate(found) if offsets is None else zip(offsets, found, strict=True)
        uncoupled: set[str] = set()  # classes of which no line has a name that findings depend on other lines by
        for offset, plain in places if new is None else [(o, c) for o, c in places if c in new or LATE in c]:
            line, line_class = split[offset], plain
            if plain == _SINGLE_LABEL and line.rstrip(": \t") in self._lone:
                continue
            if readers is not None and plain:
                line_class = with_values(plain, line, readers)
            reads = reading and reads_attributes(line)
            if reads:
                line_class += names.said
            if (
                SINGLE in line_class
                or (reads and (index, offset) < self.directives.last_attribute)
                or (irregular and not irregular.isdisjoint(NAME.findall(line)))
                or self._is_out_of_place(index, offset, line_class, line)
            ):
                self._alone(lines, offset, line, dirty)
            elif line_class not in clean:
                verdict = others.get(line_class)
                if verdict is None:
                    lines.waiting[offset] = line_class
                    if line_class not in uncoupled:
                        coupled = names.coupled(NAME.findall(line))
                        dirty.update(coupled)
                        uncoupled.update([] if coupled else [line_class])
                else:
                    self._place(lines, offset, line, verdict, dirty)

    def _irregular_in(self, chunk: Chunk) -> set[str]:
        return {name for name in self._names.irregular if name in chunk.text} if self._names.irregular else set()

    def _is_out_of_place(self, index: int, offset: int, line_class: str, line: str) -> bool:
        """Whether a line stands before the declaration of a name in it, or in another part than a label that it names."""
        if self._label_parts is not None and LABEL in line_class:
            here = f"{bisect_left(self.directives.parts, (index, offset))};"
            if any(not piece.startswith(here) for piece in line_class.split(LABEL)[1:]):
                return True
        if LATE in line_class:
            for name in NAME.findall(line):
                if (
                    name in self._names.setting.declared_late
                    and name in self._names.decl
                    and self._decl_place(name) > (index, offset)
                ):
                    return True
        return False

    def _decl_place(self, name: str) -> Place:
        where, number = self._names.place(name)
        return where, decl_lines(self.chunks[where])[number]

    def _alone(self, lines: ChunkLines, offset: int, line: str, dirty: set[str]) -> None:
        lines.alone.add(offset)
        if len(line) <= MAX_LINE:
            dirty.update(self._names.coupled(NAME.findall(line)))

    def _place(self, lines: ChunkLines, offset: int, line: str, verdict: tuple[int, ...], dirty: set[str]) -> None:
        """Put a line where the verdict on its class says."""
        if verdict == ALONE:
            self._alone(lines, offset, line, dirty)
        elif verdict != CLEAN:
            unknown = [name for _, name, token in self._names.tokens_of(line) if token == UNKNOWN]
            lines.missing[offset] = tuple([unknown[at >> 1] + ":" * (at & 1) for at in verdict])
            dirty.update([unknown[at >> 1] for at in verdict])

    def _decls_at(self, index: int, offsets: list[int]) -> list[int]:
        """The numbers of the declarations in some lines of a chunk."""
        lines = decl_lines(self.chunks[index])
        places = [(bisect_left(lines, offset), offset) for offset in offsets]
        return [k for k, offset in places if k < len(lines) and lines[k] == offset]

    def _sort_decls(self, index: int, offsets: list[int] | None, dirty: set[str]) -> None:
        """Sort declarations by the verdicts on their tokens; of those in other lines it is known already."""
        declared, names, strange = self._facts[index].decls, self._names, self._facts[index].strange
        lines, token_of, clean = self._lines[index], names.tokens.get, set() if strange else self._verdicts.decls
        if offsets is None:
            some: Iterable[int] = [k for k, token in enumerate(map(token_of, declared)) if token not in clean]
            twice = names.redeclared | names.setting.broken
            if twice:
                some = sorted({*some, *[k for k, name in enumerate(declared) if name in twice]})
        else:
            some = self._decls_at(index, offsets)
        at = decl_lines(self.chunks[index]) if some else ()
        for k in some:
            token, offset = names.decl_token(declared[k]), at[k]
            if offsets is not None:
                dirty |= lines.forget(offset)
            if token in clean:
                continue
            if token == SINGLE or strange:
                lines.alone.add(offset)
                dirty.add(declared[k])
            else:
                lines.waiting[offset] = DECLARATION + token
            lines.decls.add(offset)

    def _sort_directives(self, index: int, offsets: list[int] | None, dirty: set[str]) -> None:
        """Inputs that nothing declares, subroutines and irregular directives are judged as lines, not with the outline."""
        here = bisect_left(self.directives.parts, (index, 0))
        for at in range(here, len(self.directives.parts)):
            part, offset = self.directives.parts[at]
            if part != index:
                break
            if self.directives.part_names[at] in self._lone:
                self._lines[index].alone.discard(offset)
                continue
            self._lines[index].alone.add(offset)
            if self.directives.part_names[at] and (offsets is None or offset in offsets):
                dirty.add(self.directives.part_names[at])
        for offset, text in self._facts[index].specials:
            if offsets is not None and offset not in offsets:
                continue
            if (index, offset) in self.directives.irregular:
                self._alone(self._lines[index], offset, text, dirty)
            match = INPUT.match(text)
            name = match.group(1) if match is not None else ""
            if not name:
                continue
            known = name in self._names.decl and self._decl_place(name) < (index, offset)
            if not known or self._names.coupled((name,)):
                self._lines[index].alone.add(offset)
                dirty.add(name)

    def _settle(self, group: Iterable[int], dirty: set[str]) -> None:
        """Sort the lines that wait for verdicts by those that are there now."""
        verdicts = self._verdicts
        for index in group:
            lines = self._lines[index]
            if not lines.waiting:
                continue
            split = instructions_in(self.chunks[index])
            for offset, line_class in list(lines.waiting.items()):
                if offset in lines.decls:
                    if line_class[1:] in verdicts.decls:
                        del lines.waiting[offset]
                        lines.decls.discard(offset)
                elif line_class in verdicts.clean:
                    del lines.waiting[offset]
                elif line_class in verdicts.others:
                    del lines.waiting[offset]
                    self._place(lines, offset, split[offset], verdicts.others[line_class], dirty)
            lines.changed()

    def _give_up(self, group: Iterable[int]) -> None:
        """Judge every line that still waits for a verdict by itself."""
        for index in group:
            lines = self._lines[index]
            lines.alone.update(lines.waiting)
            lines.waiting.clear()
            lines.changed()

    def _representatives(self, group: Iterable[int]) -> dict[str, Place]:
        """One line of each class that waits for a verdict."""
        return {c: (index, offset) for index in group for offset, c in self._lines[index].waiting.items()}

    def _judge_classes(self, document: Document, setup: Setup, chosen: dict[str, Place]) -> None:
        """Judge one line of each of some classes, for the verdict alone."""
        lines = sorted([(self._line(document, *place), line_class) for line_class, place in chosen.items()])
        setup.classes -= len(chosen)
        for at in range(0, len(lines), _BATCH):
            some = dict(lines[at : at + _BATCH])
            judged = self._look(document, setup, self._with_declarations(document, setup, set(some)), some)
            self._take_verdicts(document, judged, some)
            judged.forget()

    def _judge_declarations(self, document: Document, setup: Setup, chunks: Sequence[int]) -> None:
        """Judge one declaration of each kind in some chunks, where there are many: so many do not wait for each other."""
        many = sum([len(self._facts[index].decls) for index in chunks])
        if many > _MANY_CLASSES:
            self._verdicts.ask_store()
        if many <= _BATCH:
            return
        token_of, clean, chosen = self._names.tokens.get, self._verdicts.decls, dict[str, Place]()
        for index in chunks:
            declared = self._facts[index].decls
            new = {token for token in set(map(token_of, declared)) - clean if token is not None and SINGLE not in token}
            new = {token for token in new if DECLARATION + token not in chosen}
            for name, offset in zip(declared, decl_lines(self.chunks[index]), strict=True) if new else ():
                token = token_of(name)
                if token in new:
                    new.discard(token)
                    chosen[DECLARATION + token] = index, offset
        if chosen and len(chosen) <= setup.classes:
            self._judge_classes(document, setup, chosen)

    def _take_verdicts(self, document: Document, judged: Judged, classes_of: dict[int, str]) -> None:
        """Keep the verdicts on the classes of some lines."""
        tokens: dict[int, list[tuple[int, str]] | None] = dict.fromkeys(classes_of)
        others = [line for line, line_class in classes_of.items() if line_class[0] != DECLARATION]
        for line, code in document.codes_at(sorted(others)).items():
            tokens[line] = [(column, token) for column, _, token in self._names.tokens_of(code)]
        news = Verdicts()
        news.clean.clear()
        for line, verdict in verdicts_on(judged, document, tokens).items():
            if tokens[line] is None:
                if verdict == CLEAN:
                    news.decls.add(classes_of[line][1:])
            elif verdict is not None:
                news.add(classes_of[line], verdict)
        self._verdicts.learn(news)

    # ---- judging lines ----

    def _judge(self, document: Document, setup: Setup, dirty: set[str], active: set[int]) -> None:
        """Judge every line that may have a finding and of which nothing is kept."""
        everywhere = self.cut is not None
        known: set[Place] = set()  # lines that are judged again: what they depend on is nothing new
        rechecked, joint = self._drop(dirty, active, known), set[str]()
        for _ in range(_PASSES):
            self._limit()
            where = range(len(self._lines)) if everywhere or self.cut is not None else sorted(active)
            places = self._unjudged(where, rechecked)
            if self.cut is not None:
                places = {place for place in places if place < self.cut}
            if not places:
                return
            coupled = self._coupled(document, places, rechecked)
            lines = {self._line(document, *place) for place in places | coupled}
            required = self._with_declarations(document, setup, lines)
            judged = self._judged(document, setup, places, required)
            waiting = [place for place in places if place[1] in self._lines[place[0]].waiting]
            if waiting:
                some = {self._line(document, i, o): self._lines[i].waiting[o] for i, o in waiting}
                self._take_verdicts(document, judged, some)
            news = self._keep(document, judged, places, known)
            judged.forget()
            rechecked = set()
            self._settle(active, rechecked)
            for place in waiting:
                # A class that got no verdict, for what its line says is not in it.
                lines_of = self._lines[place[0]]
                if place[1] in lines_of.waiting:
                    del lines_of.waiting[place[1]]
                    lines_of.alone.add(place[1])
                    lines_of.changed()
            # Lines with a missing name are judged with all that have it. What a rule tells of the first time only shows when
            # a line is judged: the first pass may have had one line of each class, and not the first.
            news = {s for s in news if s not in (joint if s[:1] == "\x0f" else dirty)}
            # What these lines turned out to depend on and others do as well: those were judged without them.
            shared = {
                subject
                for index, known in enumerate(self._lines if news else ())
                if not news.isdisjoint(known.subjects)
                for offset, kept in known.kept.items()
                if (index, offset) not in places
                for subject in news & kept.subjects
            }
            if shared:
                joint |= shared
                dirty |= shared
                rechecked |= self._drop(shared, active, known)

    def _judged(self, document: Document, setup: Setup, places: set[Place], required: set[int]) -> Judged:
        """Some lines bound and checked, with what the messages about missing names in ``places`` look for."""
        mine = {self._line(document, *place) for place in places}
        tokens = self._names.tokens
        unknown = {n for place in places for n in self._words(document, *place) if tokens[n] == UNKNOWN}
        while True:
            required |= self._for_messages(document, unknown)
            judged = self._look(document, setup, required, mine)
            told = {name for line in mine for name in names_in(judged.missing.get(line, ()))}
            if told <= unknown:
                return judged
            unknown |= told
            judged.forget()

    def _look(self, document: Document, setup: Setup, lines: set[int], asked: Iterable[int] = ()) -> Judged:
        """Bind and check some lines for findings in those ``asked`` about, and the outline where it is not known what to say of it."""
        wanted = set(asked)
        is_due = self._outline_findings is None
        if is_due:
            lines = lines | self._outline_lines(document, setup)
            wanted.update([self._line(document, *place) for place in self._outline.places])
        scopes = OUTLINE_SCOPES if is_due else LINE_SCOPES
        judged = judge(document, sorted(lines), setup.platform, scopes, frozenset(wanted))
        if is_due:
            self._keep_outline(document, judged)
        return judged

    def _drop(self, dirty: set[str], active: set[int], dropped: set[Place]) -> set[str]:
        """Give up what depends on some subjects, and note the chunks and lines; the names whose first use is to be found."""
        rechecked = set(dirty)
        for index, lines in enumerate(self._lines) if dirty else ():
            if lines.kept and not (dirty.isdisjoint(lines.subjects) and dirty.isdisjoint(lines.needs)):
                for offset in [o for o, kept in lines.kept.items() if kept.depends_on(dirty)]:
                    rechecked.update(names_in(lines.missing.get(offset, ())), lines.kept[offset].subjects)
                    del lines.kept[offset]
                    dropped.add((index, offset))
                    active.add(index)
                lines.changed()
        return rechecked

    def _limit(self) -> None:
        """Find the first line that is left out, where there are too many."""
        self.cut = None
        if sum(map(len, map(_ALONE, self._lines))) + sum(map(len, map(_KEPT, self._lines))) <= SUSPECTS:
            return
        many = 0
        for index, lines in enumerate(self._lines):
            some = lines.alone | lines.kept.keys() if lines.kept else lines.alone
            if many + len(some) > SUSPECTS:
                self.cut = index, sorted(some)[SUSPECTS - many]
                return
            many += len(some)

    def _unjudged(self, where: Iterable[int], rechecked: set[str]) -> set[Place]:
        """The lines to be judged: of a class without a verdict one, or all where they are few."""
        found: set[Place] = set()
        waiting: list[Place] = []
        for index in where:
            lines = self._lines[index]
            found.update([(index, o) for o in lines.alone if o not in lines.kept])
            waiting += [(index, o) for o in lines.waiting]
        if len(waiting) > _FEW_CLASSES:
            waiting = list(self._representatives(where).values())
        found.update(waiting)
        for place in self._first_uses(rechecked):
            if place[1] not in self._lines[place[0]].kept:
                found.add(place)
        return found

    def _first_uses(self, names: set[str]) -> Iterator[Place]:
        """The lines with nothing wrong but that a name is missing, where they are the first ones with one of some names."""
        unknown = {name for name in names if name[:1] != "\x0f" and self._names.tokens[name] == UNKNOWN}
        if not unknown:
            return
        where = [index for index, lines in enumerate(self._lines) if lines.missing or lines.alone]
        chunks = [self.chunks[index] for index in where]
        seen: set[str] = set()
        for at in chunks_with(chunks, unknown) if len(unknown) <= MAX_RENAMED_USES else range(len(chunks)):
            index = where[at]
            lines = self._lines[index]
            for offset in sorted({*lines.missing, *lines.alone, *lines.waiting}):
                some: Iterable[str] | None = lines.missing.get(offset)
                if some is None:
                    # What is missing in a line that is judged by itself is known once it is judged.
                    kept = lines.kept.get(offset)
                    seen |= kept.missing if kept is not None else set()
                    continue
                new = {name for name in some if name.removesuffix(":") in unknown} - seen
                if new:
                    seen |= new
                    yield index, offset
                if len(seen) > SUSPECTS:
                    return

    def _words(self, document: Document, index: int, offset: int) -> frozenset[str]:
        return names_of(document.code(self._line(document, index, offset)))

    def _coupled(self, document: Document, places: set[Place], more: set[str]) -> set[Place]:
        """The other lines that the findings of some lines depend on: of a missing name as many as a message tells of."""
        wanted = more.union(*[self._names.coupled(self._words(document, *place)) for place in places])
        unknown = {n for n in wanted if n[:1] != "\x0f" and self._names.tokens[n] == UNKNOWN}
        # Names without a digit stand in classes as they are, where all declared names have one.
        plain = [name for name in unknown if not any(map(str.isdigit, name))]
        found: set[Place] = set()
        counts: Counter[str] = Counter()
        for index, lines in enumerate(self._lines) if wanted else ():
            if not (lines.alone or lines.missing or lines.waiting):
                continue
            if not lines.waiting and wanted.isdisjoint(lines.subjects) and lines.alone <= lines.kept.keys():
                continue
            found.update([(index, o) for o, kept in lines.kept.items() if not wanted.isdisjoint(kept.subjects)])
            waiting = [offset for offset, line_class in lines.waiting.items() if _may_have(line_class, plain)]
            for offset in sorted({*lines.missing, *lines.alone, *waiting}):
                some = lines.missing.get(offset)
                if some is not None:
                    few = [n for n in some if n.removesuffix(":") in unknown and counts[n] <= MAX_RENAMED_USES]
                    if few:
                        counts.update(few)
                        found.add((index, offset))
                elif offset not in lines.kept and not wanted.isdisjoint(self._words(document, index, offset)):
                    found.add((index, offset))
        return found

    def _keep(self, document: Document, judged: Judged, places: set[Place], known: set[Place]) -> set[str]:
        """Keep the findings of some lines; what those of them that are not known depend on in other lines."""
        by_line: dict[int, list[Finding]] = {}
        lines_of = {self._line(document, *place): place for place in places}
        for diagnostic in judged.findings:
            line = document.line_at(diagnostic.span.start)
            if line in lines_of and diagnostic.name not in rule_sets().outline:
                by_line.setdefault(line, []).append(Finding.of(diagnostic, document))
        news: set[str] = set()
        for line, (index, offset) in lines_of.items():
            missing = frozenset(judged.missing.get(line, ()))
            told = judged.subjects.get(line, set()).union(names_in(missing))
            subjects = told.union(self._names.coupled(self._words(document, index, offset)))
            news |= told if (index, offset) not in known else set()
            needs: set[str] = set()
            if any(self._names.tokens[name] == SINGLE for name in subjects):
                needs.add(_BRACES)
            for name in names_in(missing):
                if name in self._names.decl:
                    needs.add(_BRACES)
                needs |= {_HEADER, _LAST, _SPELT + "".join(spelling(name))}
                if is_likened(name):
                    needs.add(_SPELT)
            lines = self._lines[index]
            lines.kept[offset] = Kept(tuple(by_line.get(line, ())), frozenset(subjects), frozenset(needs), missing)
            lines.changed()
        return news

    def _with_declarations(self, document: Document, setup: Setup, lines: set[int]) -> set[int]:
        """Some lines with everything that their names are declared by, and the lines that all others depend on."""
        outline = self._outline
        shaping = {self._line(document, *place) for place in outline.shaping} | setup.version_lines
        wanted = lines | shaping
        names = map(names_of, document.codes_at(sorted(wanted)).values())
        return wanted | self._declarations(document, set[str]().union(*names))

    def _declarations(self, document: Document, wanted: set[str]) -> set[int]:
        """The lines that declare some names and what those are aliases of, and the labels and inputs among them."""
        names, declarations = self._names.with_bases(wanted)
        found = {self._line(document, i, decl_lines(self.chunks[i])[number]) for i, number in declarations}
        for index in self._names.with_label(names):
            base = self._line(document, index, 0)
            found.update([base + offset for offset, name in label_lines(self.chunks[index]) if name in names])
        inputs = self.directives.inputs
        found.update([self._line(document, *place) for name in inputs.keys() & names for place in inputs[name]])
        return found

    def _for_messages(self, document: Document, unknown: set[str]) -> set[int]:
        """The lines that messages about missing names look for: what may have been meant, and where to add a line."""
        if not unknown:
            return set()
        outline = self._outline
        leading = outline.leading if self._names.redeclared else outline.leading[-1:]
        some = [*outline.last_code, *leading, *([outline.first_code] if outline.first_code is not None else [])]
        found = {self._line(document, *place) for place in some}
        wanted = {name for word in unknown for name in self._names.spelt_like(word)}
        for line in found:
            wanted.update(NAME.findall(document.code(line)))
        return found | self._declarations(document, wanted)

    # ---- the outline ----

    def _outline_lines(self, document: Document, setup: Setup) -> set[int]:
        """The lines to look at for what there is to say of the outline."""
        places = {self._line(document, *place) for place in self._outline.places}
        return places | setup.version_lines | self._declarations(document, set(self._outline.names))

    def _update_outline(self, setup: Setup) -> None:
        """Forget what was found of the outline where it says something else now, or in other lines."""
        outline, before = self._outline, self._outline.key
        if self._renamed or outline.of != (self._key, setup.versions):
            outline.update(self._key, setup.versions, self._names, self.chunks)
            self._renamed = False
        if outline.is_clean:
            self._outline_findings = []
        elif outline.key != before or not self._outline_stands():
            self._outline_findings = None

    def _keep_outline(self, document: Document, judged: Judged) -> None:
        """Keep the findings about the outline, and those in its lines that are judged with it."""
        places = {self._line(document, *place): at for at, place in enumerate(self._outline.places)}
        special = {self._line(document, i, o) for i, o, _ in self.directives.places}
        found = []
        for diagnostic in judged.findings:
            line = document.line_at(diagnostic.span.start)
            if diagnostic.name in rule_sets().outline or (line in special and diagnostic.name in rule_sets().line):
                at = places.get(line)
                if at is not None:
                    found.append((at, Finding.of(diagnostic, document)))
        self._outline_findings = found
        if not found:
            self._outline.note_clean()

    def _outline_stands(self) -> bool:
        """Whether the findings about the outline are in the lines of it that they were in."""
        return all(
            (self.chunks[index], offset) == finding.anchors[0]
            for at, finding in self._outline_findings or ()
            for index, offset in (self._outline.places[at],)
        )

    def parts(self) -> Iterator[tuple[Chunk, tuple[Finding, ...]]]:
        """The findings by chunk, in order of the text."""
        of_outline: dict[int, list[Finding]] = {}
        for at, finding in self._outline_findings or ():
            index, offset = self._outline.places[at]
            # A directive that is judged by itself has its findings among those of lines.
            if finding.judged.name in rule_sets().outline or offset not in self._lines[index].alone:
                of_outline.setdefault(index, []).append(finding)
        for index, (chunk, lines) in enumerate(zip(self.chunks, self._lines, strict=True)):
            if not lines.kept and index not in of_outline:
                continue
            some = lines.shown
            if self.cut is not None and index >= self.cut[0]:
                some = tuple([f for f in some if (index, f.anchors[0].offset) < self.cut])
            more = of_outline.get(index)
            if more:
                some = tuple(sorted([*some, *more], key=lambda f: f.order))
            if some:
                yield chunk, some


def _may_have(line_class: str, names: Iterable[str]) -> bool:
    """Whether a class that waits for its verdict has a name in it that nothing declares; ``names`` are some of those."""
    if UNKNOWN in line_class or any(name in line_class for name in names):
        return True
    # Of a declaration it is the token; what that stands for has the names.
    return line_class[0] == DECLARATION and any(UNKNOWN in definition_of(token) for token in tokens_in(line_class))


def _braces_in(chunks: Iterable[Chunk]) -> list[str]:
    scopes = [facts.specials for c in chunks if (facts := facts_in(c)).scopes]
    return [text.strip() for specials in scopes for _, text in specials if text.strip()[0] in "{}"]
