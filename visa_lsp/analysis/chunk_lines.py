"""What is known of the lines of a chunk that are not plainly clean, by their number in it; and what is put aside.

A line is here as one that is judged by itself, as one with nothing wrong but that names are missing, or as one whose class
has no verdict yet. What was found of it stays until something that it depends on changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from visa_lsp.analysis.findings import Change, Finding
    from visa_lsp.syntax.chunks import Chunk


def names_in(missing: Iterable[str]) -> list[str]:
    """Missing names, without the sign of those that should be labels."""
    return [name.removesuffix(":") for name in missing]


class Kept(Struct, frozen=True):
    """The findings of a line, and what they depend on besides it and the declarations of its names.

    ``subjects`` are what lines have in common: a change of one that has a subject concerns all that have it. ``needs`` are
    what else there is in the body: how names are spelt, where a line would be added, the braces. ``missing`` are the names in it that nothing declares, whether the findings tell of them or those of an earlier line do.
    """

    findings: tuple[Finding, ...]
    subjects: frozenset[str]
    needs: frozenset[str]
    missing: frozenset[str]

    def depends_on(self, changed: set[str]) -> bool:
        """Whether a change of some subjects and needs concerns the line."""
        return not (changed.isdisjoint(self.subjects) and changed.isdisjoint(self.needs))


class ChunkLines(Struct):
    """The lines of one chunk. ``decls`` are those among them that declare something."""

    alone: set[int] = field(default_factory=set)
    decls: set[int] = field(default_factory=set)
    missing: dict[int, tuple[str, ...]] = field(default_factory=dict)  # a colon behind what should be a label
    waiting: dict[int, str] = field(default_factory=dict)  # with their classes
    kept: dict[int, Kept] = field(default_factory=dict)
    _subjects: frozenset[str] | None = None
    _needs: frozenset[str] | None = None
    _chunks: frozenset[int] | None = None
    _shown: tuple[Finding, ...] | None = None

    def changed(self) -> None:
        """Forget what was derived."""
        self._subjects = self._needs = self._chunks = self._shown = None

    @property
    def subjects(self) -> frozenset[str]:
        """What the findings of these lines depend on, and the names that are missing in them."""
        if self._subjects is None:
            kept = [kept.subjects for kept in self.kept.values()]
            self._subjects = frozenset().union(*kept, *map(names_in, self.missing.values()))
        return self._subjects

    @property
    def needs(self) -> frozenset[str]:
        """What findings depend on besides other lines."""
        if self._needs is None:
            self._needs = frozenset().union(*[kept.needs for kept in self.kept.values()])
        return self._needs

    @property
    def chunks(self) -> frozenset[int]:
        """The chunks, by ``id``, that findings have places in."""
        if self._chunks is None:
            self._chunks = frozenset(
                id(anchor.chunk) for kept in self.kept.values() for f in kept.findings for anchor in f.anchors
            )
        return self._chunks

    @property
    def shown(self) -> tuple[Finding, ...]:
        """All findings, in order."""
        if self._shown is None:
            every = [finding for kept in self.kept.values() for finding in kept.findings]
            self._shown = tuple(sorted(every, key=lambda f: f.order))
        return self._shown

    def subjects_of(self, offset: int) -> frozenset[str]:
        """What depends on a line."""
        kept = self.kept.get(offset)
        return frozenset(names_in(self.missing.get(offset, ()))).union(kept.subjects if kept is not None else ())

    def forget(self, offset: int) -> frozenset[str]:
        """Drop a line; what depends on it."""
        subjects = self.subjects_of(offset)
        self.alone.discard(offset)
        self.decls.discard(offset)
        self.missing.pop(offset, None)
        self.waiting.pop(offset, None)
        self.kept.pop(offset, None)
        self.changed()
        return subjects

    def edited(self, head: int, behind: int, shift: int) -> ChunkLines:
        """The same of a chunk in which the lines ``[head, behind)`` were replaced, and those behind moved by ``shift``."""

        def places(some: Iterable[int]) -> Iterator[tuple[int, int]]:
            for at in some:
                if at < head:
                    yield at, at
                elif at >= behind:
                    yield at, at + shift

        return ChunkLines(
            {new for _, new in places(self.alone)},
            {new for _, new in places(self.decls)},
            {new: self.missing[at] for at, new in places(self.missing)},
            {new: self.waiting[at] for at, new in places(self.waiting)},
            {new: self.kept[at] for at, new in places(self.kept)},
        )

    def follow(self, change: Change) -> Iterator[frozenset[str]]:
        """Take findings along with chunks; of lines that lose theirs, what depended on them."""
        for offset, kept in list(self.kept.items()):
            findings = [finding.moved(change) for finding in kept.findings]
            if None in findings:
                del self.kept[offset]
                yield kept.subjects.union(names_in(self.missing.get(offset, ())))
            else:
                self.kept[offset] = Kept(
                    tuple([f for f in findings if f is not None]), kept.subjects, kept.needs, kept.missing
                )
        self.changed()


class Dormant(Struct):
    """The lines of chunks that are not there now, and the tokens that names had when they went.

    ``before`` has the names whose token changed since; what is taken back is right but for lines with one of ``others``.
    """

    lines: dict[int, tuple[Chunk, ChunkLines]] = field(default_factory=dict)
    before: dict[str, str | None] = field(default_factory=dict)

    def note(self, changed: Iterable[str], before: Mapping[str, str | None]) -> None:
        """The tokens of some names have changed."""
        if self.lines:
            for name in changed:
                self.before.setdefault(name, before.get(name))

    def others(self, tokens: dict[str, str]) -> set[str]:
        """The names that stand for something else than they did."""
        return {name for name, token in self.before.items() if dict.get(tokens, name) != token}
