"""Folding: kernels, runs of declarations and inputs, blocks of comments, basic blocks, brace scopes.

Read off the index: what a chunk says of its lines is kept until the chunk changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.memo import Key
from visa_lsp.ide.index.text_index import index_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.index.text_index import Group, Index, Part


class FoldKind(Enum):
    """What is folded away."""

    REGION = "region"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True, order=True)
class Fold:
    """Lines from ``first`` to ``last``, both included; ``first`` stays visible."""

    first: int
    last: int
    kind: FoldKind = FoldKind.REGION


_SORTS: Final = (".decl", ".input", ".parameter", ".implicit", ".kernel_attr")
# Both follow from the text of a chunk alone: the runs of ``_runs`` and the numbers of its blank lines.
_RUNS: Final = Key[list[tuple[int, int, str]]]("runs of lines")
_BLANK: Final = Key[set[int]]("blank lines")


def folding_ranges(analysis: Analysis) -> tuple[Fold, ...]:
    """Every fold of a text of two lines or more, in text order."""
    index = index_of(analysis.document)
    found = [*_line_runs(index)]
    for group in index.groups:
        found.extend(_of_body(index, group))
    unique = {(f.first, f.last): f for f in found if f.last > f.first}
    return tuple(unique[key] for key in sorted(unique))


def prepare_folds(part: Part) -> bool:
    """Look at a chunk ahead of the question; whether that was still to be done."""
    fresh = _RUNS not in part.memo or _BLANK not in part.memo
    _runs(part)
    _blank(part)
    return fresh


def _line_runs(index: Index) -> Iterator[Fold]:
    """Runs of lines of one sort: comments, declarations, inputs, attributes."""
    last_sort, first, last = "", 0, 0
    for at, part in enumerate(index.parts):
        base = index.document.line_of(at)
        for start, end, sort in _runs(part):
            if sort == last_sort and base + start == last + 1:
                last = base + end
                continue
            if last_sort:
                yield Fold(first, last, FoldKind.COMMENT if last_sort == "//" else FoldKind.REGION)
            last_sort, first, last = sort, base + start, base + end
    if last_sort:
        yield Fold(first, last, FoldKind.COMMENT if last_sort == "//" else FoldKind.REGION)


def _runs(part: Part) -> list[tuple[int, int, str]]:
    """(first line, last line, sort) of each run in a chunk."""
    found = part.memo.get(_RUNS)
    if found is None:
        found = []
        # The text with its comments and the text without them, line by line.
        for offset, (whole, code) in enumerate(
            zip(part.chunk.text.split("\n"), part.code.split("\n")[1:], strict=False)
        ):
            sort = _sort(whole, code.lstrip())
            if sort and found and found[-1][2] == sort and found[-1][1] == offset - 1:
                found[-1] = (found[-1][0], offset, sort)
            elif sort:
                found.append((offset, offset, sort))
        part.memo[_RUNS] = found
    return found


def _sort(whole: str, code: str) -> str:
    if not code:
        return "//" if whole and not whole.isspace() else ""
    if code[0] == ".":
        word = next((w for w in _SORTS if code.startswith(w)), "")
        return ".input" if word in (".parameter", ".implicit") else word
    return ""


def _of_body(index: Index, group: Group) -> Iterator[Fold]:
    if group.opener >= 0:
        yield Fold(group.first_line, _content_end(index, group.end_line - 1))
    opened: list[int] = []
    for line, opens in index.braces(group):
        if opens:
            opened.append(line)
        elif opened:
            first = opened.pop()
            if first < line:
                yield Fold(first, line)
    functions = {name: line for line, name, _ in index.functions(group)}
    labels = sorted({*(line for line, name in index.labels(group) if name not in functions), *functions.values()})
    for start, following in pairwise([*labels, group.end_line]):
        yield Fold(start, _content_end(index, following - 1))


def _content_end(index: Index, line: int) -> int:
    """The last line, from ``line`` upward, that is not blank."""
    document = index.document
    line = min(line, document.line_count - 1)
    at = document.chunk_at(line)
    while line > 0:
        blank = _blank(index.parts[at])
        base = document.line_of(at)
        while line >= base and line - base in blank:
            line -= 1
        if line >= base or at == 0:
            break
        at -= 1
    return max(line, 0)


def _blank(part: Part) -> set[int]:
    """The blank lines of a chunk."""
    known = part.memo.get(_BLANK)
    if known is None:
        lines = part.chunk.text.split("\n")[: part.chunk.count]
        known = part.memo[_BLANK] = {i for i, line in enumerate(lines) if not line or line.isspace()}
    return known
