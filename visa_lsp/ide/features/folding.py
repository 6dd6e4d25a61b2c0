"""Folding: kernels, runs of declarations and inputs, blocks of comments, basic blocks, brace scopes.

Computed from the index and cached per chunk. A header fold hides the lines that a compiler prints above the code of
every kernel: long runs of declarations, and the comments that list the predefined variables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.ide.index.memo import Key
from visa_lsp.ide.index.text_index import BodyChunks, Index, index_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.index.chunk_index import ChunkIndex


class FoldKind(Enum):
    """Content of a fold: a run of directives, of comments, or code (a body, a block, a scope)."""

    REGION = "region"
    COMMENT = "comment"
    CODE = "code"


@dataclass(frozen=True, slots=True, order=True)
class Fold:
    """Lines from ``first`` to ``last``, both included; ``first`` stays visible. A ``header`` is folded when the file opens."""

    first: int
    last: int
    kind: FoldKind = FoldKind.CODE
    header: bool = False


class _Run(NamedTuple):
    """Lines of one sort; ``lists`` is true for comments that contain declarations."""

    first: int
    last: int
    sort: str
    lists: bool

    @property
    def fold(self) -> Fold:
        """The fold of the run."""
        if self.sort == "//":
            return Fold(self.first, self.last, FoldKind.COMMENT, self.lists)
        long = self.last - self.first >= _MIN_BLOCK_LINES - 1
        return Fold(self.first, self.last, FoldKind.REGION, self.sort == ".decl" and long)


# Shorter runs are not a header, because people read the few declarations of a hand-written kernel.
_MIN_BLOCK_LINES: Final = 10
# The predefined variables in compiler output: `// .decl V0 v_type=G v_name=%null`.
_LISTED: Final = re.compile(r"\s*//+\s*\.decl\s+\S+\s+v_type=\w+\s+v_name=")


_SORTS: Final = (".decl", ".input", ".parameter", ".implicit", ".kernel_attr")
# The runs of ``_runs`` and the numbers of blank lines; cached with the chunk, because they depend on its text only.
_RUNS: Final = Key[list[_Run]]()
_BLANK: Final = Key[set[int]]()


def folding_ranges(analysis: Analysis) -> tuple[Fold, ...]:
    """Return every fold of a text of two lines or more, in text order."""
    index = index_of(analysis.document)
    found = [*_line_runs(index)]
    for group in index.groups:
        found.extend(_of_body(index, group))
    unique = {(f.first, f.last): f for f in found if f.last > f.first}
    return tuple(unique[key] for key in sorted(unique))


def _line_runs(index: Index) -> Iterator[Fold]:
    """Return the runs of lines of one sort: comments, declarations, inputs, attributes."""
    open_run: _Run | None = None
    for at, part in enumerate(index.parts):
        base = index.document.line_of(at)
        for first, last, sort, lists in _runs(part):
            if open_run is not None and sort == open_run.sort and base + first == open_run.last + 1:
                open_run = _Run(open_run.first, base + last, sort, open_run.lists or lists)
                continue
            if open_run is not None:
                yield open_run.fold
            open_run = _Run(base + first, base + last, sort, lists)
    if open_run is not None:
        yield open_run.fold


def _runs(part: ChunkIndex) -> list[_Run]:
    """Return the runs of a chunk, with lines from its first."""
    found = part.memo.get(_RUNS)
    if found is None:
        found = []
        # the text with comments and without, line by line
        for offset, (whole, code) in enumerate(
            zip(part.chunk.text.split("\n"), part.code.split("\n")[1:], strict=False)
        ):
            sort = _sort(whole, code.lstrip())
            if not sort:
                continue
            lists = sort == "//" and _LISTED.match(whole) is not None
            if found and found[-1].sort == sort and found[-1].last == offset - 1:
                found[-1] = _Run(found[-1].first, offset, sort, found[-1].lists or lists)
            else:
                found.append(_Run(offset, offset, sort, lists))
        part.memo[_RUNS] = found
    return found


def _sort(whole: str, code: str) -> str:
    if not code:
        return "//" if whole and not whole.isspace() else ""
    if code[0] == ".":
        word = next((w for w in _SORTS if code.startswith(w)), "")
        return ".input" if word in (".parameter", ".implicit") else word
    return ""


def _of_body(index: Index, group: BodyChunks) -> Iterator[Fold]:
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
    """Return the last line, from ``line`` upward, that is not blank."""
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


def _blank(part: ChunkIndex) -> set[int]:
    """Return the blank lines of a chunk."""
    known = part.memo.get(_BLANK)
    if known is None:
        lines = part.chunk.text.split("\n")[: part.chunk.count]
        known = part.memo[_BLANK] = {i for i, line in enumerate(lines) if not line or line.isspace()}
    return known
