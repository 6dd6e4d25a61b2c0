"""Suppression of problems that only follow from another problem of the line.

A broken parenthesis makes the rest of its line look wrong; an invalid operand changes the number of operands. Every
line is judged alone. Invariant: a line with problems keeps at least one.
"""

from __future__ import annotations

import re
from itertools import groupby, islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from visa_lsp.sema.model import BoundModule, Place, Problem
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.syntax.document import Document

_MODIFIED_IMMEDIATE = re.compile(r"\((?:-|abs|-abs|~|not)\)\s*[-\d(][\w.()+*/-]*(?::\w+)?")
# Missing parts of a line that follow from an unreadable part.
_INCOMPLETE = frozenset({
    "operand-count", "missing-exec", "missing-modifier", "missing-property", "unknown-modifier", "missing-region",
    "raw-form", "indirect-form", "missing-shape", "missing-address-size",
})  # fmt: skip

# A line's problems beyond this number are dropped because each is compared with all others.
_MAX_PROBLEMS_PER_LINE = 64


def root_problems(document: Document, bound: BoundModule) -> Iterator[Problem]:
    """Yield the problems that deserve a finding, in text order."""
    for line, group in groupby(bound.problems, key=lambda p: p.place.line):
        problems = list(islice(group, _MAX_PROBLEMS_PER_LINE))
        alone = len(problems) == 1 and problems[0].kind != "syntax"
        yield from problems if alone else _roots(document.line_text(line), problems)


def _roots(text: str, problems: list[Problem]) -> Iterator[Problem]:
    broken = [p for p in problems if p.kind == "syntax"]
    if broken:
        yield from _broken(text, problems, broken)
        return
    seen: list[Span] = []
    for problem in problems:
        # A second problem at the same or an enclosed place repeats the first one.
        if any(s.start <= problem.place.span.start and problem.place.span.end <= s.end for s in seen):
            continue
        if problem.kind == "destination-stride" and any(
            p.kind == "region-form" and p.place == problem.place for p in problems
        ):
            continue
        seen.append(problem.place.span)
        yield problem


def _broken(text: str, problems: list[Problem], broken: list[Problem]) -> Iterator[Problem]:
    first_broken = broken[0]
    start = first_broken.place.span.start
    modified = _MODIFIED_IMMEDIATE.match(text, start)
    if modified is not None:
        place = Place(first_broken.place.line, Span(*modified.span()))
        yield replace(first_broken, kind="modifier-on-immediate", place=place)
        rest = [p for p in problems if p.place.span.start >= modified.end()]
        yield from (p for p in rest if p.kind not in _INCOMPLETE)
        return
    # All text after an unmatched bracket is unreadable.
    ends_line = text[start : start + 1] in ("(", ")", ",", "[", "]", "<", ">", '"') or text.count("(") != text.count(
        ")"
    )
    for problem in problems:
        span = problem.place.span
        if problem is first_broken:
            yield problem
        elif (
            problem.kind in _INCOMPLETE
            or (ends_line and span.start >= start)
            or (problem.kind == "syntax" and span.start < first_broken.place.span.end)
        ):
            continue
        else:
            yield problem
