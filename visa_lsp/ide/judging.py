"""The lines of one kernel or function, judged by their classes; the few that are not plainly clean are kept.

What is kept of a chunk are the lines to be looked at one by one, uses of labels, undeclared names. How a body goes from
one snapshot to the next stands in ``judged_body``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.label_names import LabelNames
from visa_lsp.ide.limits import CLASSES, SUSPECTS
from visa_lsp.ide.names import SCOPED, Names
from visa_lsp.ide.quick import UNKNOWN, UNSURE, Verdicts, judge, letters
from visa_lsp.ide.rests import base_of
from visa_lsp.ide.results import Open, Result, decl_lines, instructions_in
from visa_lsp.ide.storing import active_store
from visa_lsp.syntax.bulk import Facts, classes, instruction_of, instructions_of
from visa_lsp.syntax.chunks import code_in
from visa_lsp.syntax.parse import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.ide.results import Lines
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document

NAME: Final = re.compile(r"%?[A-Za-z_$@?][A-Za-z0-9_$@?-]*")
_BATCH: Final = 4096
_GROUP: Final = 16
# Up to how many new classes of an edit are judged by the look at all findings. A look that finds more lines to look at is
# done again: with many classes that is all but certain, and takes longer than judging them alone.
_OPEN: Final = 40
# Up to how many lines of such classes are looked at with them.
_ALIKE: Final = 40
# Under this name the lineage of a document has how many kinds of lines may still be judged.
BUDGET: Final = "budget"
# Up to how many lines of a chunk are looked up by themselves.
_FEW: Final = 8
# From how many new classes on it is worth while to look at what other processes found.
_MANY: Final = 64


class Judging:
    """The chunks of a body with what is known of their lines, and how lines are judged."""

    __slots__ = (
        "_code_at", "_enough", "_facts", "_label_names", "_labels", "_marks", "_names", "_open", "_results", "_review", "_uses", "_verdicts", "_version_lines", "_whole", "chunks", "first", "specials",
    )  # fmt: skip

    def __init__(self) -> None:
        self.first = 0
        self.chunks: list[Chunk] = []
        self.specials: Sequence[tuple[int, int, str]] = ()
        self._facts: list[Facts] = []
        self._results: list[Result] = []
        # Which of the results have something in them: to look at them all would take longer than a keystroke has.
        self._marks = bytearray()
        self._verdicts: Verdicts = Verdicts()
        self._names = Names()
        self._open = Open()
        self._version_lines: set[int] = set()
        self._uses: Counter[str] = Counter()
        self._labels: Counter[str] = Counter()
        self._label_names = LabelNames()
        self._review: set[str] = set()  # labels whose number of uses or definitions changed
        self._enough = False
        self._whole = True  # whether all chunks are judged, and not those that an edit has touched
        self._code_at: int | None = None

    def _first_code(self) -> int:
        """The first chunk with instructions or labels; the number of chunks where there is none."""
        if self._code_at is None:
            self._code_at = next((i for i, f in enumerate(self._facts) if f.has_code), len(self._facts))
        return self._code_at

    def _line(self, document: Document, index: int, offset: int) -> int:
        return document.line_of(self.first + index) + offset

    def _decl_lines(self, index: int) -> Sequence[int]:
        """The line of each declaration of a chunk."""
        return decl_lines(self.chunks[index])

    def _decls_at(self, index: int, offsets: list[int]) -> list[int]:
        """The numbers of the declarations in some lines of a chunk."""
        lines = self._decl_lines(index)
        places = [(bisect_left(lines, offset), offset) for offset in offsets]
        return [k for k, offset in places if k < len(lines) and lines[k] == offset]

    def _drop_uses(self, result: Result) -> None:
        for names in result.labels.values():
            self._use(names, -1)

    def _use(self, names: Iterable[str], step: int) -> None:
        self._review.update(names)
        for name in names:
            self._uses[name] += step
            if not self._uses[name]:
                del self._uses[name]

    # ---- judging ----

    def _judge(self, document: Document, platform: Platform | None, todo: dict[int, list[int] | None]) -> None:
        every = list(todo.items())
        # By groups, so that a text of lines that are all different does not have all of them in hand at once.
        bad = 0
        self._whole = len(every) == len(self.chunks)
        for at in range(0, len(every), _GROUP):
            group = dict(every[at : at + _GROUP])
            # Of lines that will not be shown nobody has to know what is wrong with them.
            self._enough = bad > 2 * SUSPECTS
            self._judge_group(document, platform, group, last=at + _GROUP >= len(every))
            bad += sum([len(self._results[index].hard) for index in group])
        self._enough = False

    def _judge_group(
        self, document: Document, platform: Platform | None, todo: dict[int, list[int] | None], *, last: bool
    ) -> None:
        work: list[tuple[int, Lines | None, list[tuple[int, str]]]] = []
        pending: dict[str, tuple[int, int]] = {}
        pending_decls: dict[str, tuple[int, int]] = {}
        decls: list[tuple[int, list[int]]] = []
        names, verdicts = self._names, self._verdicts
        for index, offsets in todo.items():
            facts, result = self._facts[index], self._results[index]
            mentioned: set[str] | None = set() if names.noting else None
            if offsets is None:
                self._drop_uses(result)
                result.hard, result.labels, result.undeclared = set(), {}, {}
            if facts.strange:
                every = instructions_in(self.chunks[index])
                if mentioned is not None:
                    mentioned.update(*[NAME.findall(line) for line in every if len(line) <= MAX_LINE])
                result.hard = {i for i, line in enumerate(every) if line.strip()}
            elif facts.has_code:
                code, split = self._instructions(document, index, offsets)
                found = classes(code, names.tokens, names.pattern, mentioned)
                for offset in offsets or ():
                    self._use(result.labels.get(offset, ()), -1)
                    result.forget(offset)
                # As with other labels, what is wrong with those of functions is told by how often they stand where.
                new = set(found).difference(verdicts.clean)
                odd = {line for line in new if line[-1:] != ":" or line[:-1] not in names.functions}
                if odd:
                    lines = list(enumerate(found) if offsets is None else zip(offsets, found, strict=True))
                    result.hard.update(i for i, line in lines if SCOPED in line)
                    pairs = [(i, line) for i, line in lines if line in odd and SCOPED not in line]
                    work.append((index, split, pairs))
                    for i, line in pairs:
                        if line not in verdicts.odd:
                            pending[line] = (index, i)
            if offsets != [] and mentioned is not None:
                names.note(facts, mentioned, None if offsets is None else self._decls_at(index, offsets))
            if facts.decls:
                odd_decls, result.decls = self._odd_decls(index, offsets), set()
                if odd_decls:
                    decls.append((index, odd_decls))
                for k in odd_decls:
                    token = names.decl_token(facts.decls[k])
                    if token not in verdicts.decls and token != SCOPED:
                        pending_decls[token] = (index, k)
        self._open = Open(work, decls)
        self._evaluate(document, platform, pending, pending_decls, last=last)
        self._settle()
        for index in todo:
            self._mark(index)

    def _odd_decls(self, index: int, offsets: list[int] | None) -> list[int]:
        """The numbers of the declarations of a chunk that are not known to be clean.

        Of those that stand elsewhere than in the lines that are looked at, it is known already.
        """
        declared, clean, token_of = self._facts[index].decls, self._verdicts.decls, self._names.tokens.get
        if offsets is None:
            return [k for k, token in enumerate(map(token_of, declared)) if token not in clean]
        some = self._decls_at(index, sorted({*offsets, *self._results[index].decls}))
        return [k for k in some if token_of(declared[k]) not in clean]

    def _instructions(self, document: Document, index: int, offsets: list[int] | None) -> tuple[str, Lines | None]:
        """Some lines of a chunk as one text with a newline before each, and at least these by their numbers.

        Those of directives are blank; None stands for all lines of the chunk.
        """
        chunk = self.chunks[index]
        if offsets is None:
            return instructions_of(code_in(chunk), self._facts[index]), None
        split: Lines
        if len(offsets) > _FEW:
            split = instructions_in(chunk)
        else:
            base = self._line(document, index, 0)
            split = {offset: instruction_of(document.code(base + offset)) for offset in offsets}
        return "".join(["\n" + split[offset] for offset in offsets]), split

    def _mark(self, index: int) -> None:
        result = self._results[index]
        self._marks[index] = bool(result.hard or result.decls or result.undeclared)

    def _settle(self) -> None:
        """Sort the lines that were judged last by the verdicts on their classes.

        Those of open classes wait; the others without a verdict have to be looked at one by one.
        """
        odd, clean, decls, names = self._verdicts.odd, self._verdicts.clean, self._verdicts.decls, self._names
        waiting = set(self._open.lines.values())
        for index, some, pairs in self._open.work:
            result = self._results[index]
            split: Lines = some if some is not None else instructions_in(self.chunks[index])
            for i, line in pairs:
                verdict = odd.get(line)
                if verdict is None:
                    if line not in clean and line not in waiting:
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
        for index, numbers in self._open.decls:
            lines, declared = self._decl_lines(index), self._facts[index].decls
            pairs_of = [(lines[k], names.decl_token(declared[k])) for k in numbers]
            self._results[index].decls = {o for o, token in pairs_of if token not in decls and token not in waiting}

    def _evaluate(
        self,
        document: Document,
        platform: Platform | None,
        pending: dict[str, tuple[int, int]],
        decls: dict[str, tuple[int, int]],
        *,
        last: bool,
    ) -> None:
        """Let the full path judge one line of each new class; the last ones are left to the look at all findings."""
        if len(pending) + len(decls) > _MANY and not self._verdicts.asked:
            self._from_store(pending, decls)
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
        # What is beyond the limit stays without a verdict.
        left = document.lineage.get(BUDGET, CLASSES)
        assert isinstance(left, int)
        most = _BATCH if self._whole else _OPEN
        if last and len(reps) <= min(left, most):
            document.lineage[BUDGET] = left - len(reps)
            return
        frame = {self._line(document, index, offset) for index, offset, _ in self.specials}
        frame |= self._version_lines
        every = [] if self._enough else sorted(reps)[:left]
        document.lineage[BUDGET] = left - len(every)
        for at in range(0, len(every), _BATCH):
            some = every[at : at + _BATCH]
            wanted = frame.union(some)
            judged = judge(document, sorted(wanted | self._closure(document, wanted)), platform)
            self._keep(letters(judged, document, self._tokens(document, some)), some)
            judged.forget()
        reps.clear()

    def _from_store(self, pending: dict[str, tuple[int, int]], decls: dict[str, tuple[int, int]]) -> None:
        """Take in what other processes found of this kind of body; the classes that this answers are not judged."""
        self._verdicts.asked, store = True, active_store()
        if store is not None:
            store.load(self._verdicts)
            for line in pending.keys() & (self._verdicts.clean | self._verdicts.odd.keys()):
                del pending[line]
            for token in decls.keys() & self._verdicts.decls:
                del decls[token]

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
        opened, verdicts, news = self._open, self._verdicts, Verdicts()
        for line in some:
            verdict = found[line]
            if line in opened.of_decls:
                if not verdict:
                    news.decls.add(opened.lines[line])
            elif verdict and verdict != UNSURE:
                news.odd[opened.lines[line]] = verdict
            elif not verdict:
                news.clean.add(opened.lines[line])
        verdicts.clean |= news.clean
        verdicts.odd |= news.odd
        verdicts.decls |= news.decls
        store = active_store()
        # What was few enough to be judged without asking is not worth keeping either.
        if store is not None and verdicts.asked:
            store.put(verdicts.key, news)

    def _open_lines(self, document: Document) -> dict[int, str]:
        """The lines of classes without a verdict, with those: one of each class, and all of them where they are few.

        One that turns out to have a finding has the others looked at as well, which would be a second look.
        """
        opened = self._open
        lines, kinds = dict(opened.lines), set(opened.lines.values())
        if sum([len(pairs) for _, _, pairs in opened.work]) <= _ALIKE:
            for index, _, pairs in opened.work:
                lines.update({self._line(document, index, i): kind for i, kind in pairs if kind in kinds})
        return lines

    def _open_names(self, document: Document, line: int, kind: str) -> list[str]:
        """Names in a line of a class without a verdict that nothing declares: variables or labels."""
        if line in self._open.of_decls:
            return self._unknown_base(document, line)
        if UNKNOWN not in kind:
            return []
        return [name for _, name, token in self._names.tokens_of(document.code(line)) if token == UNKNOWN]

    def _unknown_base(self, document: Document, line: int) -> list[str]:
        """What a declaration is an alias of, if nothing declares that."""
        base = base_of(document.code(line))
        return [base] if base is not None and self._names.tokens[base] == UNKNOWN else []

    def learn(self, found: dict[int, str]) -> bool:
        """Keep what a look at all findings tells about the lines that were left open, if some were."""
        opened = self._open
        if not opened.lines:
            return False
        self._keep(found, opened.lines)
        touched = opened.chunks()
        opened.lines.clear()
        for index, _, pairs in opened.work:
            for i, _ in pairs:
                self._use(self._results[index].labels.get(i, ()), -1)
                self._results[index].forget(i)
        self._settle()
        for index in touched:
            self._mark(index)
        return True

    def prepare(self) -> Iterator[None]:
        """Steps that make ready what the first edits would have to wait for."""
        yield from self._names.mentions.prepare()
        yield from self._label_names.prepare(self._labels)

    # ---- where names are declared ----

    def _closure(self, document: Document, lines: Iterable[int]) -> set[int]:
        """The declarations of all names in some lines, and of everything that they are aliases of."""
        _, places = self._names.with_bases(written(document, lines))
        return self._lines_of(document, places)

    def _lines_of(self, document: Document, declarations: Iterable[tuple[int, int]]) -> set[int]:
        """The lines of some declarations, by their chunks and their numbers in them."""
        return {self._line(document, index, self._decl_lines(index)[number]) for index, number in declarations}


def written(document: Document, lines: Iterable[int]) -> set[str]:
    """All names in some lines."""
    found: set[str] = set()
    for line in lines:
        code = document.code(line)
        if len(code) <= MAX_LINE:
            found.update(NAME.findall(code))
    return found
