"""Two bodies as two columns of aligned lines with the kinds of their changes.

Every line that is not blank is in one row. Both columns are in the order of their texts, except that declarations in
another order are beside their counterparts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from visa_lsp.compare.model import ChangeKind, KernelDiff
from visa_lsp.compare.sequences import common

_WORD: Final = re.compile(r"(?<![\w.%$@?])[A-Za-z_$@?][\w$@?]*(?:-[\w$@?]+)*")
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//.*|/\*.*?(?:\*/|$)|[^"/]+|/')


class AlignedLines(Struct, frozen=True):
    """A line of each body, from 0, or None; ``kind`` is None for equal lines."""

    a: int | None
    b: int | None
    kind: ChangeKind | None = None


def rows_of(diff: KernelDiff, lines_a: Sequence[str], lines_b: Sequence[str]) -> list[AlignedLines]:
    """Return the rows of two bodies, or of the only one."""
    kinds_a, kinds_b = _kinds(diff)
    if diff.a is None or diff.b is None:
        sides = ((diff.a, lines_a, kinds_a), (diff.b, lines_b, kinds_b))
        line_numbers = [_select_lines(body.first, body.last, lines) if body else [] for body, lines, _ in sides]
        return [AlignedLines(n, None, kinds_a.get(n)) for n in line_numbers[0]] + [
            AlignedLines(None, n, kinds_b.get(n)) for n in line_numbers[1]
        ]
    counterparts = dict(diff.pairs)
    following = _behind(set(counterparts.values()), _select_lines(diff.b.first, diff.b.last, lines_b))
    out: list[AlignedLines] = []
    waiting: list[int] = []
    left: list[int] = []  # lines of the first since the last row with both
    for line in _select_lines(diff.a.first, diff.a.last, lines_a):
        other = counterparts.get(line)
        if other is None:
            left.append(line)
            continue
        out += _between(left, waiting, kinds_a, kinds_b, lines_a, lines_b)
        left = []
        out.append(AlignedLines(line, other, kinds_a.get(line) if kinds_a.get(line) is kinds_b.get(other) else None))
        waiting = following.get(other, [])
    return [*out, *_between(left, waiting, kinds_a, kinds_b, lines_a, lines_b)]


Kinds = dict[int, ChangeKind]


def _kinds(diff: KernelDiff) -> tuple[Kinds, Kinds]:
    in_a: Kinds = {}
    in_b: Kinds = {}
    for change in diff.changes:
        if change.kind is not ChangeKind.INSERT:
            in_a |= dict.fromkeys(range(change.a.first, change.a.last + 1), change.kind)
        if change.kind is not ChangeKind.DELETE:
            in_b |= dict.fromkeys(range(change.b.first, change.b.last + 1), change.kind)
    return in_a, in_b


def _select_lines(first_line: int, last_line: int, lines: Sequence[str]) -> list[int]:
    return [n for n in range(first_line, min(last_line + 1, len(lines))) if lines[n].strip()]


def _behind(paired: set[int], lines: Sequence[int]) -> dict[int, list[int]]:
    """Return the lines without a counterpart, by the line with one before them."""
    out: dict[int, list[int]] = {}
    last = lines[0] if lines else 0
    for line in lines:
        if line in paired:
            last = line
        else:
            out.setdefault(last, []).append(line)
    return out


def _between(
    left: Sequence[int],
    right: Sequence[int],
    kinds_a: Kinds,
    kinds_b: Kinds,
    lines_a: Sequence[str],
    lines_b: Sequence[str],
) -> Iterator[AlignedLines]:
    """Yield lines without counterparts; equal lines outside of changes, mostly comments, are put side by side."""
    numbers: dict[str, int] = {}
    plain_a = [n for n in left if n not in kinds_a]
    plain_b = [n for n in right if n not in kinds_b]
    tokens = [
        [numbers.setdefault(lines[n].strip(), len(numbers)) for n in plain]
        for lines, plain in ((lines_a, plain_a), (lines_b, plain_b))
    ]
    beside = {plain_a[i]: plain_b[j] for i, j in common(*tokens)}
    rest = iter([*right, None])
    other = next(rest)
    for line in left:
        mate = beside.get(line)
        if mate is not None:
            while other is not None and other != mate:
                yield AlignedLines(None, other, kinds_b.get(other))
                other = next(rest)
            other = next(rest)
        yield AlignedLines(line, mate, kinds_a.get(line))
    while other is not None:
        yield AlignedLines(None, other, kinds_b.get(other))
        other = next(rest)


def rewritten(diff: KernelDiff, lines: Sequence[str]) -> list[str]:
    """Return the lines of the second text with the names of the first body; comments stay the same."""
    out = list(lines)
    if diff.a is None or diff.b is None:
        return out
    for n in range(diff.b.first + 1, min(diff.b.last + 1, len(out))):
        out[n] = "".join(_rename_words(piece, diff.names) for piece in _PIECE.findall(out[n]))
    return out


def _rename_words(piece: str, names: Mapping[str, str]) -> str:
    if piece.startswith(("//", "/*")):
        return piece
    if piece.startswith('"'):  # a subroutine's name is quoted where it begins
        return f'"{names[piece[1:-1]]}"' if piece[1:-1] in names else piece
    return _WORD.sub(lambda word: _word(word[0], names), piece)


def _word(word: str, names: Mapping[str, str]) -> str:
    """Replace a name; only names of labels contain ``-``, which is an operator elsewhere."""
    return names[word] if word in names else "-".join(names.get(part, part) for part in word.split("-"))
