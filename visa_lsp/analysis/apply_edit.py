"""Applies an edit: findings move along with their chunks, names get new tokens, and stale dependencies are collected.

``advance`` returns the lines to classify and the stale dependencies. Binds and judges nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.analysis.body import Body, Splice
from visa_lsp.analysis.chunk_findings import Change, ChunkLines
from visa_lsp.analysis.declared_names import NAME
from visa_lsp.analysis.dependencies import Dependency, Need
from visa_lsp.analysis.directives import Place
from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.analysis.setting import setting_of
from visa_lsp.checks.support.name_index import normalize_spelling
from visa_lsp.syntax.chunk_facts import facts_in
from visa_lsp.syntax.chunks import codes_in
from visa_lsp.syntax.document import common
from visa_lsp.syntax.word_search import chunks_with, lines_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.syntax.chunks import Chunk

# Only lines with a changed name are classified anew; with more changed names, all lines of their chunks.
_SEARCHED_NAMES: Final = 16
Ends = tuple[Place | None, Place | None, Place | None, Place | None]
Todo = dict[int, list[int] | None]  # the lines to classify, by chunk; None for all


class Changes(NamedTuple):
    """The consequences of an edit: lines to classify, stale dependencies, and chunks with lines that lost their findings."""

    todo: Todo
    stale: set[Dependency]
    unjudged: set[int]


def ends_of(body: Body) -> Ends:
    """Return the first line of the body, the last declaration before all code, and the first and last line of code."""
    outline = body.outline
    return outline.start, max(outline.leading, default=None), outline.first_code, outline.end


def advance(body: Body, before: Ends | None) -> Changes:
    """Apply the pending splice. ``before`` are the ends of the body before it; with None every line is classified."""
    splice, body.splice = body.splice or Splice(), None
    head, gone, many = splice
    end, added = head + len(gone), range(head, head + many)
    old = body.names.setting
    labels = [
        [name for f in facts for name in f.labels] for facts in (map(facts_in, gone), body.facts[head : head + many])
    ]
    setting = setting_of(
        body.chunks, body.facts, body.directives, body.outline.first_code, body.outline.first_statement, old,
        labels_moved=before is None or body.directives is not old.directives or labels[0] != labels[1],
    )  # fmt: skip
    redeclared = frozenset(body.names.redeclared)
    changed = body.names.update(body.facts, list(map(facts_in, gone)), added, setting, fresh=before is None)
    parts, old_parts = setting.directives.part_names, old.directives.part_names
    parted = len(parts) != len(old_parts) and not (setting.parts is None is old.parts)
    if before is None:
        return _all_lines(body, set(), set())
    removed = list(zip(gone, body.lines[head:end], strict=True))
    todo: Todo = dict.fromkeys(added)
    stale: set[Dependency] = set()
    change = _change_of(removed, [body.chunks[index] for index in added])
    if change.chunk is None:
        stale.update(*[lines.subjects for _, lines in removed])
        body.lines[head:end] = [ChunkLines() for _ in added]
    else:
        ((_, lines),) = removed
        todo[head] = list(range(change.head, change.end + change.shift))
        stale.update(*[lines.subjects_of(offset) for offset in range(change.head, change.end)])
        body.lines[head] = lines.edit(change)
    stale |= _stale_ends(before, ends_of(body), change, splice)
    stale |= _stale_directives(gone, [body.chunks[index] for index in added])
    lost, unjudged = _follow(body, change)
    stale |= lost
    if parts != old_parts:
        # Because calls in other parts have other targets, and rules about the whole body see other code.
        stale |= rule_sets().whole_body.subjects
    if redeclared != body.names.redeclared:
        stale.add(Need.LEADING)
    if changed is None or parted:
        return _all_lines(body, stale, unjudged)
    stale.update(_spellings(changed))
    _add_mentions(body.chunks, todo, changed)
    return Changes(todo, stale, unjudged)


def _all_lines(body: Body, stale: set[Dependency], unjudged: set[int]) -> Changes:
    body.lines = [ChunkLines() for _ in body.chunks]
    return Changes(dict.fromkeys(range(len(body.chunks))), stale, unjudged)


def _spellings(names: Iterable[str]) -> Iterator[Dependency]:
    """Yield the needs of messages about missing names."""
    for name in names:
        alike = normalize_spelling(name)
        yield alike
        if not alike.number:
            yield Need.UNNUMBERED


def _change_of(replaced: Sequence[tuple[Chunk, ChunkLines]], added: Sequence[Chunk]) -> Change:
    """Return the change of the replaced chunks; a single chunk in place of one is taken for an edit of it."""
    gone = frozenset(id(chunk) for chunk, _ in replaced)
    if len(replaced) != 1 or len(added) != 1:
        return Change(gone)
    base, chunk = replaced[0][0], added[0]
    for side in (base, chunk):
        if side.starred or side.opens_in_block or facts_in(side).strange:
            return Change(gone)
    # Lines may belong to other parts of the body after a change of lines between directives.
    if facts_in(base).specials and codes_in(base) != codes_in(chunk):
        return Change(gone)
    head, tail = common(base.lines, chunk.lines)
    return Change(gone, chunk, head, base.count - tail, chunk.count - base.count)


def _stale_ends(before: Ends, ends: Ends, change: Change, splice: Splice) -> set[Dependency]:
    """Return the needs for ends that are different lines now; a moved line counts as the same."""
    head, gone, many = splice

    def move_place(place: Place | None) -> Place | None:
        if place is None or place[0] < head:
            return place
        if place[0] >= head + len(gone):
            return place[0] + many - len(gone), place[1]
        offset = change.map_offset(place[1])
        return (place[0], offset) if offset is not None else (-1, 0)

    was = tuple(map(move_place, before))
    leading: set[Dependency] = {Need.LEADING} if was[:-1] != ends[:-1] else set()
    return leading | {Need.END} if was[-1] != ends[-1] else leading


def _stale_directives(gone: Sequence[Chunk], added: Sequence[Chunk]) -> set[Dependency]:
    """Return the names in added or removed directives, and the need for braces if these changed."""
    texts = [[text for f in map(facts_in, chunks) for _, text in f.specials] for chunks in (gone, added)]
    went, came = map(Counter, texts)
    # Even a broken declaration declares its name.
    stale: set[Dependency] = {name for text in (came - went) + (went - came) for name in NAME.findall(text)}
    braces = [[text.strip() for text in side if text.lstrip()[0] in "{}"] for side in texts]
    return stale | {Need.BRACES} if braces[0] != braces[1] else stale


def _follow(body: Body, change: Change) -> tuple[set[Dependency], set[int]]:
    """Move findings along with their chunks; return the subjects and chunks of the lines that lost theirs."""
    stale: set[Dependency] = set()
    unjudged: set[int] = set()
    if change.gone:
        for index, lines in enumerate(body.lines):
            if lines.kept and not change.gone.isdisjoint(lines.chunks):
                for subjects in lines.follow(change):
                    stale |= subjects
                    unjudged.add(index)
        body.outline.follow(change)
    return stale, unjudged


def _add_mentions(chunks: Sequence[Chunk], todo: Todo, names: set[str]) -> None:
    """Add the lines of chunks that mention one of the names."""
    for index in chunks_with(chunks, names) if names else ():
        lines_to_classify = todo.get(index, [])
        if lines_to_classify is None:
            continue
        if len(names) > _SEARCHED_NAMES:
            todo[index] = None
            continue
        lines = list(lines_with(chunks[index].text, names))
        if lines or lines_to_classify:
            todo[index] = sorted({*lines_to_classify, *lines})
