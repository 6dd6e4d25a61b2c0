"""Folding: kernels, runs of declarations and inputs, blocks of comments, basic blocks, brace scopes.

Computed from the index and cached per chunk. A header fold hides the lines that a compiler prints above the code of
every kernel: long runs of declarations, and the comments that list the predefined variables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.ide.index.text_index import BodyChunks, Index, index_of
from visa_lsp.syntax.memo import Key

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
    """Lines from ``first_line``, which stays visible, to ``last_line``, included. A ``header`` is folded when the file opens."""

    first_line: int
    last_line: int
    kind: FoldKind = FoldKind.CODE
    header: bool = False


class _Run(NamedTuple):
    """Lines of one sort; ``lists`` is true for comments that contain declarations."""

    first_line: int
    last_line: int
    sort: str
    lists: bool

    @property
    def fold(self) -> Fold:
        """The fold of the run."""
        if self.sort == "//":
            return Fold(self.first_line, self.last_line, FoldKind.COMMENT, self.lists)
        long = self.last_line - self.first_line >= _MIN_BLOCK_LINES - 1
        return Fold(self.first_line, self.last_line, FoldKind.REGION, self.sort == ".decl" and long)


# Shorter runs are not a header, because people read the few declarations of a hand-written kernel.
_MIN_BLOCK_LINES: Final = 10
# The predefined variables in compiler output: `// .decl V0 v_type=G v_name=%null`.
_LISTED: Final = re.compile(r"\s*//+\s*\.decl\s+\S+\s+v_type=\w+\s+v_name=")


_SORTS: Final = (".decl", ".input", ".parameter", ".implicit", ".kernel_attr")
# The runs of ``_runs``; cached with the chunk, because they depend on its text only.
_RUNS: Final = Key[list[_Run]]()


def folding_ranges(analysis: Analysis) -> tuple[Fold, ...]:
    """Return every fold of a text of two lines or more, in text order."""
    index = index_of(analysis.document)
    folds = [*_line_runs(index)]
    for group in index.groups:
        folds.extend(_of_body(index, group))
    unique = {(f.first_line, f.last_line): f for f in folds if f.last_line > f.first_line}
    return tuple(unique[key] for key in sorted(unique))


def _line_runs(index: Index) -> Iterator[Fold]:
    """Return the runs of lines of one sort: comments, declarations, inputs, attributes."""
    open_run: _Run | None = None
    for number, part in enumerate(index.parts):
        base = index.document.line_of(number)
        for first_line, last_line, sort, lists in part.memo.fact(_RUNS, partial(_runs, part)):
            if open_run is not None and sort == open_run.sort and base + first_line == open_run.last_line + 1:
                open_run = _Run(open_run.first_line, base + last_line, sort, open_run.lists or lists)
                continue
            if open_run is not None:
                yield open_run.fold
            open_run = _Run(base + first_line, base + last_line, sort, lists)
    if open_run is not None:
        yield open_run.fold


def _runs(part: ChunkIndex) -> list[_Run]:
    """Return the runs of a chunk, with lines from its first."""
    runs: list[_Run] = []
    # the text with comments and without, line by line
    for offset, (whole, code) in enumerate(zip(part.chunk.text.split("\n"), part.code.split("\n")[1:], strict=False)):
        sort = _sort(whole, code.lstrip())
        if not sort:
            continue
        lists = sort == "//" and _LISTED.match(whole) is not None
        if runs and runs[-1].sort == sort and runs[-1].last_line == offset - 1:
            runs[-1] = _Run(runs[-1].first_line, offset, sort, runs[-1].lists or lists)
        else:
            runs.append(_Run(offset, offset, sort, lists))
    return runs


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
            opener = opened.pop()
            if opener < line:
                yield Fold(opener, line)
    functions = {name: line for line, name, _ in index.functions(group)}
    labels = sorted({*(line for line, name in index.labels(group) if name not in functions), *functions.values()})
    for start, following in pairwise([*labels, group.end_line]):
        yield Fold(start, _content_end(index, following - 1))


def _content_end(index: Index, line: int) -> int:
    """Return the last line, from ``line`` upward, that is not blank."""
    line = max(0, min(line, index.document.line_count - 1))
    while line > 0 and not index.document.line_text(line).strip():
        line -= 1
    return line
