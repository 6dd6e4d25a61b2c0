"""Folding: kernels, runs of declarations and inputs, blocks of comments, basic blocks, brace scopes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.ide.analysis import Analysis
    from visa_lsp.sema.model import Body


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


_RUNS: Final = (tree.Decl, tree.InputDecl, tree.KernelAttr)


def folding_ranges(analysis: Analysis) -> tuple[Fold, ...]:
    """Every fold of a text of two lines or more, in text order."""
    found = [*_line_runs(analysis)]
    for body in analysis.bound.bodies:
        found.extend(_of_body(analysis, body))
    unique = {(f.first, f.last): f for f in found if f.last > f.first}
    return tuple(unique[key] for key in sorted(unique))


def _line_runs(analysis: Analysis) -> Iterator[Fold]:
    """Runs of lines of one sort: comments, declarations, inputs, attributes."""
    document = analysis.document
    sort: object = None
    first = last = 0
    for line in range(document.line_count + 1):
        here = _sort(analysis, line)
        if here is sort:
            last = line
            continue
        if sort is not None:
            yield Fold(first, last, FoldKind.COMMENT if sort == "comment" else FoldKind.REGION)
        sort, first, last = here, line, line


def _sort(analysis: Analysis, line: int) -> object:
    statement = analysis.document.statement(line)
    if statement is None:
        return "comment" if analysis.document.line_text(line).strip() else None
    return type(statement) if isinstance(statement, _RUNS) else None


def _of_body(analysis: Analysis, body: Body) -> Iterator[Fold]:
    last = _content_end(analysis, body.last_line)
    yield Fold(body.first_line, last)
    for scope in body.scopes:
        if scope.parent is not None:
            yield Fold(scope.first_line, scope.last_line)
    labels = sorted(s.place.line for s in body.labels.values() if s.place is not None)
    for start, following in zip(labels, [*labels[1:], body.last_line + 1], strict=True):
        yield Fold(start, _content_end(analysis, following - 1))


def _content_end(analysis: Analysis, line: int) -> int:
    """The last line, from ``line`` upward, that is not blank."""
    line = min(line, analysis.document.line_count - 1)
    while line > 0 and not analysis.document.line_text(line).strip():
        line -= 1
    return line
