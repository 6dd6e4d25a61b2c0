"""One kernel or function of a text, kept from one snapshot to the next: its names, and the lines that need a look.

Chunks are judged by the classes of their lines; what is kept of a chunk are the few lines that are not plainly clean.
Invariant: ``update`` leaves the same state whatever snapshots came before.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from visa_lsp.checks.context import near, near_name
from visa_lsp.ide.names import Ids, Names
from visa_lsp.ide.quick import UNKNOWN, UNSURE, Judged, Verdicts, judge, letters, verdicts_of
from visa_lsp.syntax.bulk import (
    Facts,
    classes,
    code_of,
    decl_offsets,
    instructions_of,
    label_offsets,
    statement_of,
)  # fmt: skip
from visa_lsp.syntax.tree import Instruction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.sema.model import BoundModule
    from visa_lsp.syntax.document import Chunk, Document

_NAME: Final = re.compile(r"%?[A-Za-z_$@?][A-Za-z0-9_$@?-]*")
_FUNCTION: Final = re.compile(r'\s*\.function(?![A-Za-z0-9_])\s*"?([^"\s]*)')
_OPENING: Final = re.compile(r"\s*\.(?:kernel|global_function)(?![A-Za-z0-9_])")
_NOTE: Final = re.compile(r"\s*(?:\([^()]*\)\s*)?(?:lifetime|\.loc|\.file|loc|file)", re.IGNORECASE)
# Attributes that are nothing but text.
_FREE_ATTRIBUTE: Final = re.compile(r"\s*\.kernel_attr\s+(?:AsmName|OutputAsmPath)\s*=")
_BATCH: Final = 4096
# From how many changed names on chunks are judged as a whole instead of line by line.
_FEW: Final = 16


@dataclass(slots=True)
class Result:
    """The lines of a chunk that are not plainly clean, by their number in it."""

    hard: set[int] = field(default_factory=set)
    decls: set[int] = field(default_factory=set)
    labels: dict[int, list[str]] = field(default_factory=dict)
    undeclared: dict[int, list[str]] = field(default_factory=dict)

    def forget(self, offset: int) -> None:
        """Drop what is known of an instruction line."""
        self.hard.discard(offset)
        self.labels.pop(offset, None)
        self.undeclared.pop(offset, None)


@dataclass(slots=True)
class _Open:
    """What was judged last: (chunk, its instructions, (line, class) of lines not known to be clean), chunks whose
    declarations are not all clean; and of the classes without a verdict one line each.
    """

    work: list[tuple[int, str, list[tuple[int, str]]]] = field(default_factory=list)
    decls: list[int] = field(default_factory=list)
    lines: dict[int, str] = field(default_factory=dict)
    of_decls: set[int] = field(default_factory=set)


class BodyState:
    """State of one body."""

    def __init__(self) -> None:
        self.first = 0
        self.chunks: list[Chunk] = []
        self._facts: list[Facts] = []
        self._judged: list[Chunk] = []
        self._results: list[Result] = []
        self._key: object = None
        self._verdicts: Verdicts = Verdicts()
        self._names = Names()
        self._open = _Open()
        self._uses: Counter[str] = Counter()
        self._labels: Counter[str] = Counter()
        self._review: set[str] = set()  # labels whose number of uses or definitions changed
        self._missing: set[str] = set()
        self._doubled: set[str] = set()
        self._frame: tuple[object, ...] | None = None
        self._frame_clean = False
        self._specials: list[tuple[int, int, str]] | None = None

    # ---- what the chunks are ----

    def moved(self, first: int, chunks: list[Chunk]) -> None:
        """Take the chunks of the next snapshot."""
        if self.chunks != chunks:
            self._specials = None
            self._facts = [_facts_of(chunk) for chunk in chunks]
        self.first, self.chunks = first, chunks

    def specials_of_chunks(self) -> list[tuple[int, int, str]]:
        """(chunk of the document, line in it, text) of every directive that is no declaration."""
        if self._specials is None or (self._specials and self._specials_first != self.first):
            self._specials = [
                (self.first + i, offset, text)
                for i, facts in enumerate(self._facts)
                if facts.specials
                for offset, text in facts.specials
            ]
            self._specials_first = self.first
        return self._specials

    _specials_first = 0

    def opening(self) -> Iterator[str]:
        """The directive that opens the body."""
        specials = self.specials_of_chunks()
        if specials and _OPENING.match(specials[0][2]):
            yield specials[0][2]

    def opening_lines(self, document: Document) -> Iterator[int]:
        """Its line."""
        for index, offset, text in self.specials_of_chunks()[:1]:
            if _OPENING.match(text):
                yield document.line_of(index) + offset

    def lines(self, document: Document) -> range:
        """The lines of the body."""
        return range(document.line_of(self.first), document.line_of(self.first + len(self.chunks)))

    def _line(self, document: Document, index: int, offset: int) -> int:
        return document.line_of(self.first + index) + offset

    def _code(self, index: int) -> str:
        return _code_of(self.chunks[index])

    def _decl_lines(self, index: int) -> list[int] | range:
        """The line of each declaration of a chunk."""
        many = len(self._facts[index].decls)
        return range(many) if many == self.chunks[index].count else decl_offsets(self._code(index))

    # ---- going to another snapshot ----

    def update(self, document: Document, versions: tuple[str, ...], platform: Platform | None) -> None:
        """Bring everything up to the chunks that ``moved`` gave."""
        specials = [text for _, _, text in self.specials_of_chunks()]
        attributes = [t for t in specials if t.lstrip().startswith(".kernel_attr") and not _FREE_ATTRIBUTE.match(t)]
        kind = next(self.opening(), "").split('"')[0]
        key = (platform.name if platform else None, versions, kind.strip(), tuple(attributes))
        if key == self._key and self._judged == self.chunks:
            return
        fresh = key != self._key or not self._judged
        head, tail = (0, 0) if fresh else _common(self._judged, self.chunks)
        gone = list(zip(self._judged, self._results, strict=True))[head : len(self._judged) - tail]
        if fresh:
            self._key, self._verdicts = key, verdicts_of(key)
        for chunk, result in gone:
            self._count(_facts_of(chunk), result, -1)
        added = range(head, len(self.chunks) - tail)
        results = [*self._results[:head], *(Result() for _ in added), *self._results[len(self._results) - tail :]]
        if fresh:
            self._review.update(self._uses, self._labels)
            self._uses.clear()
            self._labels.clear()
            results = [Result() for _ in self.chunks]
        functions = {m.group(1) for text in specials if (m := _FUNCTION.match(text))}
        self._review |= self._names.functions
        ids = document.lineage.setdefault("ids", Ids())
        assert isinstance(ids, Ids)
        all_facts = self._facts
        changed = self._names.update(all_facts, [_facts_of(c) for c, _ in gone], added, specials, functions, ids, fresh=fresh)
        self._judged, self._results = list(self.chunks), results
        todo: dict[int, list[int] | None] = {}
        if changed is None:
            for result in results:
                self._drop_uses(result)
            todo = dict.fromkeys(range(len(self.chunks)))
            for index in range(len(self.chunks)):
                results[index] = Result()
            self._labels = Counter(name for f in all_facts for name in f.labels)
            self._review.update(self._labels)
        else:
            for index in added:
                self._count(all_facts[index], None, 1)
            if changed:
                self._touched(changed, set(added), todo)
            todo.update(dict.fromkeys(added))
        self._judge(document, platform, todo)
        self._frame = None

    def _count(self, facts: Facts, result: Result | None, step: int) -> None:
        self._review.update(facts.labels)
        for name in facts.labels:
            self._labels[name] += step
            if not self._labels[name]:
                del self._labels[name]
        if result is not None:
            self._drop_uses(result)

    def _drop_uses(self, result: Result) -> None:
        for names in result.labels.values():
            self._use(names, -1)

    def _use(self, names: Iterable[str], step: int) -> None:
        self._review.update(names)
        for name in names:
            self._uses[name] += step
            if not self._uses[name]:
                del self._uses[name]

    def _touched(self, changed: set[str], added: set[int], todo: dict[int, list[int] | None]) -> None:
        """Note the lines of untouched chunks that mention a changed name."""
        few = len(changed) <= _FEW
        pattern = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(map(re.escape, changed))})(?![A-Za-z0-9_])") if few else None
        for index in self._names.mentioning(changed, range(len(self.chunks))):
            if index in added:
                continue
            if pattern is None:
                todo[index] = None
                continue
            code, offsets, at, line = self._code(index), list[int](), 0, -1
            for match in pattern.finditer(code):
                line += code.count("\n", at, match.start())
                at = match.start()
                if not offsets or offsets[-1] != line:
                    offsets.append(line)
            todo[index] = offsets

    # ---- judging ----

    def _judge(self, document: Document, platform: Platform | None, todo: dict[int, list[int] | None]) -> None:
        work: list[tuple[int, str, list[tuple[int, str]]]] = []
        pending: dict[str, tuple[int, int]] = {}
        pending_decls: dict[str, tuple[int, int]] = {}
        names, verdicts = self._names, self._verdicts
        for index, offsets in todo.items():
            facts, code, result = self._facts[index], self._code(index), self._results[index]
            text = instructions_of(code, facts) if facts.has_code else ""
            if offsets is None:
                self._drop_uses(result)
                result.hard, result.labels, result.undeclared = set(), {}, {}
            mentioned: set[str] = set()
            if facts.strange:
                mentioned.update(_NAME.findall(text))
                result.hard = {i for i, line in enumerate(text.split("\n")[1:]) if line.strip()}
            elif facts.has_code:
                if offsets is None:
                    lines = list(enumerate(classes(text, names.tokens, names.pattern, mentioned)))
                else:
                    split = text.split("\n")[1:]
                    some = "\n" + "\n".join([split[i] for i in offsets])
                    lines = list(zip(offsets, classes(some, names.tokens, names.pattern), strict=False))
                    for offset in offsets:
                        self._use(result.labels.get(offset, ()), -1)
                        result.forget(offset)
                odd = {line for _, line in lines} - verdicts.clean
                if odd:
                    pairs = [(i, line) for i, line in lines if line in odd]
                    work.append((index, text, pairs))
                    for i, line in pairs:
                        if line not in verdicts.odd:
                            pending[line] = (index, i)
            if offsets is None:
                names.note(facts, mentioned)
            if facts.decls:
                result.decls = set()
                if not verdicts.decls.issuperset(map(names.tokens.get, facts.decls)):
                    result.decls = {-1}
                    for k, token in enumerate([names.decl_token(name) for name in facts.decls]):
                        if token not in verdicts.decls:
                            pending_decls[token] = (index, k)
        self._open = _Open(work, [i for i in todo if self._results[i].decls])
        self._evaluate(document, platform, pending, pending_decls)
        self._settle()

    def _settle(self) -> None:
        """Sort the lines that were judged last by the verdicts on their classes; those without one have to be looked at."""
        odd, clean, names = self._verdicts.odd, self._verdicts.clean, self._names
        for index, text, pairs in self._open.work:
            result, split = self._results[index], text.split("\n")[1:]
            for i, line in pairs:
                verdict = odd.get(line)
                if verdict is None:
                    if line not in clean:
                        result.hard.add(i)
                    continue
                if verdict == "!":
                    result.hard.add(i)
                    continue
                unknown = [name for _, name, token in names.tokens_of(split[i]) if token == UNKNOWN]
                labels = [name for name, letter in zip(unknown, verdict, strict=True) if letter == "L"]
                undeclared = [name for name, letter in zip(unknown, verdict, strict=True) if letter == "U"]
                if labels:
                    result.labels[i] = labels
                    self._use(labels, 1)
                if undeclared:
                    result.undeclared[i] = undeclared
        for index in self._open.decls:
            known = self._verdicts.decls
            pairs_of = zip(self._decl_lines(index), self._facts[index].decls, strict=True)
            self._results[index].decls = {o for o, name in pairs_of if names.decl_token(name) not in known}

    def _evaluate(
        self,
        document: Document,
        platform: Platform | None,
        pending: dict[str, tuple[int, int]],
        decls: dict[str, tuple[int, int]],
    ) -> None:
        """Let the full path judge one line of each new class; a few are left to the look at all findings."""
        if not pending and not decls:
            return
        reps = self._open.lines
        reps.update({self._line(document, index, i): line for line, (index, i) in pending.items()})
        for index in {index for index, _ in decls.values()}:
            offsets = self._decl_lines(index)
            for token, (where, k) in decls.items():
                if where == index:
                    reps[self._line(document, index, offsets[k])] = token
                    self._open.of_decls.add(self._line(document, index, offsets[k]))
        if len(reps) <= _FEW:
            return
        frame = {document.line_of(index) + offset for index, offset, _ in self.specials_of_chunks()}
        frame |= self._versions(document)
        every = sorted(reps)
        for at in range(0, len(every), _BATCH):
            some = every[at : at + _BATCH]
            wanted = frame.union(some)
            self._learn(document, judge(document, sorted(wanted | self._closure(document, wanted)), platform), some)
        reps.clear()

    def _learn(self, document: Document, judged: Judged, some: list[int]) -> None:
        """Keep the verdicts on the classes of some lines."""
        opened, verdicts = self._open, self._verdicts
        tokens: dict[int, list[tuple[int, str]] | None] = dict.fromkeys(some)
        for line in some:
            if line not in opened.of_decls:
                tokens[line] = [(column, token) for column, _, token in self._names.tokens_of(document.code(line))]
        broken = {p.place.line for p in judged.bound.problems}
        for line, verdict in letters(judged, document, tokens).items():
            if line in opened.of_decls:
                if not verdict and line not in broken:
                    verdicts.decls.add(opened.lines[line])
            elif verdict and verdict != UNSURE:
                verdicts.odd[opened.lines[line]] = verdict
            elif not verdict:
                verdicts.clean.add(opened.lines[line])

    def learn(self, document: Document, judged: Judged) -> None:
        """Keep what a look at all findings tells about the lines that were left open."""
        opened = self._open
        if not opened.lines:
            return
        self._learn(document, judged, sorted(opened.lines))
        opened.lines.clear()
        for index, _, pairs in opened.work:
            for i, _ in pairs:
                self._use(self._results[index].labels.get(i, ()), -1)
                self._results[index].forget(i)
        self._settle()
        self._frame = None

    def _versions(self, document: Document) -> set[int]:
        """The lines before the body that say the version: the body's own directives do not."""
        found = set()
        for index in range(self.first + 1):
            facts = document.chunks[index].cache
            if isinstance(facts, Facts) and (index == 0 or len(facts.specials) < 3):
                found |= {document.line_of(index) + o for o, text in facts.specials if ".version" in text}
        return found

    # ---- which lines matter ----

    def _closure(self, document: Document, lines: Iterable[int], *, labels: bool = False) -> set[int]:
        """The declarations, and label lines, of all names in some lines."""
        wanted: set[str] = set()
        for line in sorted(lines):
            wanted.update(_NAME.findall(document.code(line)))
        return self._defining(document, wanted, labels=labels)

    def _defining(self, document: Document, wanted: set[str], *, labels: bool = False) -> set[int]:
        wanted = self._names.with_bases(wanted)
        found = set()
        for index in self._names.chunks_declaring(wanted):
            facts = self._facts[index]
            offsets = self._decl_lines(index)
            found |= {self._line(document, index, o) for o, n in zip(offsets, facts.decls, strict=True) if n in wanted}
        if labels:
            for index, chunk in enumerate(self.chunks):
                facts = _facts_of(chunk)
                if facts.labels and not wanted.isdisjoint(facts.labels):
                    places = label_offsets(self._code(index))
                    found |= {self._line(document, index, o) for o, name in places if name in wanted}
        return found

    def _frame_of(self, document: Document) -> set[int]:
        """Directives, the first instruction, and the last ones of each part: what rules about the whole body ask for."""
        specials = self.specials_of_chunks()
        lines = {document.line_of(index) + offset for index, offset, _ in specials}
        ends = [(index - self.first, offset) for index, offset, text in specials if _FUNCTION.match(text)]
        for index, offset in [*ends, (len(self.chunks), 0)]:
            lines |= {self._line(document, i, o) for i, o in self._last_code(index, offset)}
        for index, chunk in enumerate(self.chunks):
            if _facts_of(chunk).has_code:
                split = _instructions(chunk)
                at = next((i for i, line in enumerate(split) if isinstance(statement_of(line.rstrip()), Instruction)), None)
                if at is not None:
                    lines.add(self._line(document, index, at))
                    break
        return lines

    def _last_code(self, index: int, offset: int) -> Iterator[tuple[int, int]]:
        """The statements from a place backwards to the first that is no label and no mark."""
        while index >= 0:
            if index < len(self.chunks) and self._facts[index].has_code:
                split = _instructions(self.chunks[index])
                for i in range(min(offset, len(split)) - 1, -1, -1):
                    if split[i].strip():
                        yield index, i
                        if isinstance(statement_of(split[i].rstrip()), Instruction) and not _NOTE.match(split[i]):
                            return
            index, offset = index - 1, 1 << 30

    def has_findings(self, document: Document) -> bool:
        """Whether the body has to be bound and checked at all."""
        if self._frame is None:
            self._frame = tuple(sorted((line, document.code(line)) for line in self._frame_of(document)))
            self._frame = tuple(code for _, code in self._frame)
            wanted = self._suspects()
            frame_names = {name for code in self._frame for name in _NAME.findall(str(code))}
            rests = tuple(sorted((n, self._names.tokens.get(n, "")) for n in frame_names))
            key = (self._key, self._frame, rests)
            self._frame_clean = self._frame_clean and key == self._frame_key
            self._frame_key = key
            self._dirty = bool(wanted)
        return self._dirty or not self._frame_clean

    _frame_key: object = None
    _dirty = False

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
                found.update((index, i) for i, line in enumerate(lines) if not names.isdisjoint(_NAME.findall(line)))
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
                lines = instructions_of(self._code(index), all_facts[index]).split("\n")[1:]
                found.update((index, i) for i, line in enumerate(lines) if not late.isdisjoint(_NAME.findall(line)))
        return found

    def _jumps(self) -> set[tuple[int, int]]:
        """Lines whose label stands in another part of a body with subroutines."""
        starts = [(i - self.first, o) for i, o, text in self.specials_of_chunks() if _FUNCTION.match(text)]
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

    def more(self, document: Document, bound: BoundModule) -> set[int]:
        """Lines that messages about undeclared names and missing labels look for."""
        lines = self.lines(document)
        wanted: set[str] = set()
        found: set[int] = set()
        for problem in bound.problems:
            if problem.place.line not in lines or problem.kind not in ("undeclared-name", "missing-label"):
                continue
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


def _facts_of(chunk: Chunk) -> Facts:
    """The facts of a chunk; made before by the text's state."""
    facts = chunk.cache
    assert isinstance(facts, Facts)
    return facts


# A few chunks are looked at again and again: those at the ends of a body, and those under the user's hands.
@lru_cache(maxsize=16)
def _code_of(chunk: Chunk) -> str:
    return code_of(chunk.text, chunk.opens_in_block)


@lru_cache(maxsize=16)
def _instructions(chunk: Chunk) -> tuple[str, ...]:
    return tuple(instructions_of(_code_of(chunk), _facts_of(chunk)).split("\n")[1:])


def _common(old: list[Chunk], new: list[Chunk]) -> tuple[int, int]:
    """How many chunks at the head and at the tail are the same."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] is new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] is new[-1 - tail]:
        tail += 1
    return head, tail
