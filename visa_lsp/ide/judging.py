"""The chunks of one kernel or function, judged by the classes of their lines, from one snapshot to the next.

What is kept of a chunk are the few lines that are not plainly clean: those to be looked at one by one, uses of labels,
undeclared names. Invariant: ``update`` leaves the same state whatever snapshots came before.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.names import Ids, Names
from visa_lsp.ide.quick import UNKNOWN, UNSURE, Verdicts, judge, letters, verdicts_of
from visa_lsp.ide.results import Open, Result, code_in, common, facts_in
from visa_lsp.syntax.bulk import (
    Facts,
    classes,
    decl_offsets,
    instructions_of,
    label_offsets,
)  # fmt: skip
from visa_lsp.syntax.parse import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.syntax.document import Chunk, Document

NAME: Final = re.compile(r"%?[A-Za-z_$@?][A-Za-z0-9_$@?-]*")
FUNCTION: Final = re.compile(r'\s*\.function(?![A-Za-z0-9_])\s*"?([^"\s]*)')
_OPENING: Final = re.compile(r"\s*\.(?:kernel|global_function)(?![A-Za-z0-9_])")
# Attributes that are nothing but text.
_FREE_ATTRIBUTE: Final = re.compile(r"\s*\.kernel_attr\s+(?:AsmName|OutputAsmPath)\s*=")
_BATCH: Final = 4096
# From how many changed names on chunks are judged as a whole instead of line by line.
_FEW: Final = 16


class JudgedBody:
    """The judged chunks of one body."""

    def __init__(self) -> None:
        self.first = 0
        self.chunks: list[Chunk] = []
        self._facts: list[Facts] = []
        self._judged: list[Chunk] = []
        self._results: list[Result] = []
        self._key: object = None
        self._verdicts: Verdicts = Verdicts()
        self._names = Names()
        self._open = Open()
        self._version_lines: set[int] = set()
        self._uses: Counter[str] = Counter()
        self._labels: Counter[str] = Counter()
        self._review: set[str] = set()  # labels whose number of uses or definitions changed
        self._missing: set[str] = set()
        self._doubled: set[str] = set()
        self._frame: tuple[str, ...] | None = None
        self._specials: list[tuple[int, int, str]] | None = None

    # ---- what the chunks are ----

    def moved(self, first: int, chunks: list[Chunk]) -> None:
        """Take the chunks of the next snapshot."""
        if self.chunks != chunks:
            self._specials = None
            self._facts = [facts_in(chunk) for chunk in chunks]
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

    def _line(self, document: Document, index: int, offset: int) -> int:
        return document.line_of(self.first + index) + offset

    def _code(self, index: int) -> str:
        return code_in(self.chunks[index])

    def _decl_lines(self, index: int) -> list[int] | range:
        """The line of each declaration of a chunk."""
        many = len(self._facts[index].decls)
        return range(many) if many == self.chunks[index].count else decl_offsets(self._code(index))

    # ---- going to another snapshot ----

    def update(
        self, document: Document, versions: tuple[str, ...], version_lines: set[int], platform: Platform | None
    ) -> None:
        """Bring everything up to the chunks that ``moved`` gave."""
        self._version_lines = version_lines
        specials = [text for _, _, text in self.specials_of_chunks()]
        attributes = [t for t in specials if t.lstrip().startswith(".kernel_attr") and not _FREE_ATTRIBUTE.match(t)]
        kind = next(self.opening(), "").split('"')[0]
        key = (platform.name if platform else None, versions, kind.strip(), tuple(attributes))
        if key == self._key and self._judged == self.chunks:
            return
        fresh = key != self._key or not self._judged
        head, tail = (0, 0) if fresh else common(self._judged, self.chunks)
        gone = list(zip(self._judged, self._results, strict=True))[head : len(self._judged) - tail]
        if fresh:
            self._key, self._verdicts = key, verdicts_of(key)
        for chunk, result in gone:
            self._count(facts_in(chunk), result, -1)
        added = range(head, len(self.chunks) - tail)
        results = [*self._results[:head], *(Result() for _ in added), *self._results[len(self._results) - tail :]]
        if fresh:
            self._review.update(self._uses, self._labels)
            self._uses.clear()
            self._labels.clear()
            results = [Result() for _ in self.chunks]
        functions = {m.group(1) for text in specials if (m := FUNCTION.match(text))}
        self._review |= self._names.functions
        ids = document.lineage.setdefault("ids", Ids())
        assert isinstance(ids, Ids)
        all_facts = self._facts
        changed = self._names.update(
            all_facts, [facts_in(c) for c, _ in gone], added, specials, functions, ids, fresh=fresh
        )
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
        pattern = (
            re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(map(re.escape, changed))})(?![A-Za-z0-9_])") if few else None
        )
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
                mentioned.update(*[NAME.findall(line) for line in text.split("\n") if len(line) <= MAX_LINE])
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
        self._open = Open(work, [i for i in todo if self._results[i].decls])
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
        frame |= self._version_lines
        every = sorted(reps)
        for at in range(0, len(every), _BATCH):
            some = every[at : at + _BATCH]
            wanted = frame.union(some)
            judged = judge(document, sorted(wanted | self._closure(document, wanted)), platform)
            self._keep(letters(judged, document, self._tokens(document, some)), some)
        reps.clear()

    def _tokens(self, document: Document, some: Iterable[int]) -> dict[int, list[tuple[int, str]] | None]:
        """What ``letters`` has to know of some open lines."""
        tokens: dict[int, list[tuple[int, str]] | None] = dict.fromkeys(some)
        for line in tokens:
            if line not in self._open.of_decls:
                tokens[line] = [(column, token) for column, _, token in self._names.tokens_of(document.code(line))]
        return tokens

    def open_tokens(self, document: Document) -> dict[int, list[tuple[int, str]] | None]:
        """The same of all lines that the look at all findings shall judge."""
        return self._tokens(document, sorted(self._open.lines))

    def _keep(self, found: dict[int, str], some: Iterable[int]) -> None:
        """Keep the verdicts on the classes of some lines."""
        opened, verdicts = self._open, self._verdicts
        for line in some:
            verdict = found[line]
            if line in opened.of_decls:
                if not verdict:
                    verdicts.decls.add(opened.lines[line])
            elif verdict and verdict != UNSURE:
                verdicts.odd[opened.lines[line]] = verdict
            elif not verdict:
                verdicts.clean.add(opened.lines[line])

    def learn(self, found: dict[int, str]) -> None:
        """Keep what a look at all findings tells about the lines that were left open."""
        opened = self._open
        if not opened.lines:
            return
        self._keep(found, opened.lines)
        opened.lines.clear()
        for index, _, pairs in opened.work:
            for i, _ in pairs:
                self._use(self._results[index].labels.get(i, ()), -1)
                self._results[index].forget(i)
        self._settle()
        self._frame = None

    # ---- where names are declared ----

    def _closure(self, document: Document, lines: Iterable[int], *, labels: bool = False) -> set[int]:
        """The declarations, and label lines, of all names in some lines."""
        wanted: set[str] = set()
        for line in sorted(lines):
            code = document.code(line)
            if len(code) <= MAX_LINE:
                wanted.update(NAME.findall(code))
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
                facts = facts_in(chunk)
                if facts.labels and not wanted.isdisjoint(facts.labels):
                    places = label_offsets(self._code(index))
                    found |= {self._line(document, index, o) for o, name in places if name in wanted}
        return found
