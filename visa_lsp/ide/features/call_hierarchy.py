"""Call hierarchy: kernels, subroutines and functions, and the calls between them.

A kernel's code before its first subroutine belongs to the kernel, as does the subroutine at the start of a dump. Reads
only the lines with calls; knows no protocol.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.features.outline import first_code
from visa_lsp.ide.index.focus import focus_at
from visa_lsp.ide.index.text_index import BodyChunks, Index, index_of
from visa_lsp.ide.index.token_at import spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.isa.model import FlowClass, Role
from visa_lsp.isa.table import TABLE
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.analysis.analysis import Analysis

# Calls with a named callee, and whether the callee is another body.
_CALLS: Final = {
    row.mnemonic: row.flow is not FlowClass.CALL
    for row in TABLE.rows
    if row.flow in (FlowClass.CALL, FlowClass.KERNEL_CALL, FlowClass.FUNCTION_CALL)
    and any(slot.role is Role.TARGET for slot in row.slots)
}
_HINTS: Final = tuple(w for w in _CALLS if not any(other != w and other in w for other in _CALLS))  # for speed
_CALL: Final = re.compile(
    rf'\n\s*(?:\([^()\n]*\)\s*)?({"|".join(map(re.escape, _CALLS))})\b[^\n]*?\)\s*"?([A-Za-z_$@?][A-Za-z0-9_$@?]*)'
)


@dataclass(frozen=True, slots=True)
class Callable:
    """A caller or callee: a body (``subroutine`` empty) or a subroutine of one.

    ``name_span`` is the name in ``line``; its code is in lines ``first_line`` to ``end``, the last not included.
    """

    body: str
    subroutine: str
    is_kernel: bool
    line: int
    name_span: Span
    first_line: int
    end: int

    @property
    def name(self) -> str:
        """Name of the subroutine, or of the body."""
        return self.subroutine or self.body

    @property
    def kind(self) -> str:
        """Kernel, function or subroutine."""
        return "subroutine" if self.subroutine else "kernel" if self.is_kernel else "function"


@dataclass(frozen=True, slots=True)
class Call:
    """A partner with the places, (line, span in it), of the calls."""

    partner: Callable
    places: tuple[tuple[int, Span], ...]


def callables(analysis: Analysis) -> tuple[Callable, ...]:
    """Return the bodies and subroutines of a text."""
    index = index_of(analysis.document)
    return tuple(c for group in index.groups if group.opener >= 0 for c in _of_body(index, group))


def _of_body(index: Index, group: BodyChunks) -> Iterator[Callable]:
    functions = list(index.functions(group))
    code_line = first_code(index, group)
    bounds = [line for line, _, _ in functions]
    own_end = bounds[0] if bounds else group.end_line
    if bounds and bounds[0] <= code_line:
        own_end = bounds[1] if len(bounds) > 1 else group.end_line
    text = index.document.line_text(group.opener)
    column = max(0, text.find(f'"{group.name}"') + 1 if f'"{group.name}"' in text else text.rfind(group.name))
    span = Span(column, column + len(group.name))
    yield Callable(group.name, "", group.is_kernel, group.opener, span, group.first_line, own_end)
    for (line, name, start), (_, end) in zip(functions, pairwise([*bounds, group.end_line]), strict=True):
        yield Callable(group.name, name, group.is_kernel, line, Span(start, start + len(name)), line, end)


def prepare(analysis: Analysis, offset: int) -> Callable | None:
    """Return the callable named at the cursor, or else the one that contains the line."""
    spot = spot_at(focus_at(analysis, offset), offset)
    entries = callables(analysis)
    line = analysis.document.position(offset)[0]
    body = index_of(analysis.document).group_at(line).name
    if spot is not None and spot.token.kind is TokenKind.FUNCTION:
        return next((c for c in entries if not c.subroutine and c.name == spot.token.text), None)
    if spot is not None and spot.token.kind is TokenKind.LABEL:
        named = next((c for c in entries if c.subroutine == spot.token.text and c.body == body), None)
        if named is not None:
            return named
    inside = [c for c in entries if c.first_line <= line < c.end]
    return max(inside, key=lambda c: (c.first_line, bool(c.subroutine)), default=None)


def find(analysis: Analysis, body: str, subroutine: str) -> Callable | None:
    """Return the callable of a name."""
    return next((c for c in callables(analysis) if (c.body, c.subroutine) == (body, subroutine)), None)


def find_callees(analysis: Analysis, caller: Callable) -> tuple[Call, ...]:
    """Return the callees of a callable in the same text."""
    names = _Names(callables(analysis))
    places: dict[Callable, list[tuple[int, Span]]] = {}
    for line, span, name, far in _calls(analysis, caller.first_line, caller.end):
        partner = names.callee(caller.body, name, far=far)
        if partner is not None:
            places.setdefault(partner, []).append((line, span))
    return tuple(Call(partner, tuple(where)) for partner, where in places.items())


def find_callers(analysis: Analysis, callee: Callable) -> tuple[Call, ...]:
    """Return the callers of a callable in the same text."""
    names = _Names(callables(analysis))
    places: dict[Callable, list[tuple[int, Span]]] = {}
    for line, span, name, far in _calls(analysis, 0, analysis.document.line_count):
        if name not in (callee.subroutine, callee.name):
            continue
        caller = names.around(line)
        if caller is not None and names.callee(caller.body, name, far=far) == callee:
            places.setdefault(caller, []).append((line, span))
    return tuple(Call(partner, tuple(where)) for partner, where in places.items())


class _Names:
    """Index of callables by name and by line, because a text may have thousands."""

    def __init__(self, entries: tuple[Callable, ...]) -> None:
        self._near: dict[tuple[str, str], Callable] = {}
        self._far: dict[str, Callable] = {}
        for entry in entries:
            if entry.subroutine:
                self._near.setdefault((entry.body, entry.subroutine), entry)
            else:
                self._far.setdefault(entry.name, entry)
        self._order = sorted(entries, key=lambda c: (c.first_line, bool(c.subroutine)))

    def callee(self, body: str, name: str, *, far: bool) -> Callable | None:
        """Return the callable of a name in a body; ``far`` names are those of other bodies."""
        return self._far.get(name) if far else self._near.get((body, name))

    def around(self, line: int) -> Callable | None:
        """Return the innermost callable that contains a line."""
        index = bisect_right(self._order, line, key=lambda c: c.first_line) - 1
        while index >= 0 and self._order[index].end <= line:
            index -= 1
        return self._order[index] if index >= 0 else None


def _calls(analysis: Analysis, first_line: int, end: int) -> Iterator[tuple[int, Span, str, bool]]:
    """Return (line, span of the name, name, whether the callee is another body) of the calls in some lines."""
    document = analysis.document
    index = index_of(document)
    if first_line >= end:
        return
    for number in range(document.chunk_at(first_line), document.chunk_at(max(first_line, end - 1)) + 1):
        part = index.parts[number]
        if not any(word in part.chunk.text for word in _HINTS):
            continue
        code, base, seen, offset = part.code, document.line_of(number), 0, -1
        for match in _CALL.finditer(code):
            offset += code.count("\n", seen, match.start(2))
            seen = match.start(2)
            line = base + offset
            if first_line <= line < end:
                column = match.start(2) - (code.rfind("\n", 0, match.start(2)) + 1)
                span = Span(column, column + len(match.group(2)))
                yield line, span, match.group(2), _CALLS[match.group(1)]
