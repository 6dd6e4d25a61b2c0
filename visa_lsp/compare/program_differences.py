"""The differences of two programs: bodies paired by name and then by content, and the differences of each pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final

from visa_lsp.compare.body_differences import compare_bodies
from visa_lsp.compare.instruction_shapes import items_of
from visa_lsp.compare.model import ChangeKind, ComparedBody, Difference, KernelDiff, Lines

_ALIKE: Final = 50  # per cent of equal instructions in two bodies with different names that count as the same body


def compare_programs(
    a: Sequence[ComparedBody], b: Sequence[ComparedBody], end_a: int = 0, end_b: int = 0
) -> list[KernelDiff]:
    """Compare bodies with those of the other program, in the order of the first; bodies of the second only are last.

    ``end_a`` and ``end_b`` are the lines after each text, where a missing body would be.
    """
    pairs = counterparts(a, b)
    taken = set(pairs.values())
    out = []
    for i, body in enumerate(a):
        other = pairs.get(i)
        out.append(_alone(body, ChangeKind.DELETE, end_b) if other is None else compare_bodies(body, b[other]))
    out += [_alone(body, ChangeKind.INSERT, end_a) for j, body in enumerate(b) if j not in taken]
    return out


def counterparts(a: Sequence[ComparedBody], b: Sequence[ComparedBody]) -> dict[int, int]:
    """Return the places of corresponding bodies: by name first (among several the most alike), then by content."""
    named: dict[str, list[int]] = {}
    for j, body in enumerate(b):
        named.setdefault(body.kernel.name, []).append(j)
    same_name = [(i, j) for i, body in enumerate(a) for j in named.get(body.kernel.name, ())]
    ours, theirs = Counter(i for i, _ in same_name), Counter(j for _, j in same_name)
    pairs = {i: j for i, j in same_name if ours[i] == theirs[j] == 1}
    several = [pair for pair in same_name if pair[0] not in pairs]
    pairs = _strongest(_likenesses(a, b, several), pairs)
    taken = set(pairs.values())
    left = [(i, j) for i in range(len(a)) if i not in pairs for j in range(len(b)) if j not in taken]
    return _strongest((candidate for candidate in _likenesses(a, b, left) if -candidate[0] >= _ALIKE), pairs)


def _likenesses(
    a: Sequence[ComparedBody], b: Sequence[ComparedBody], pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Yield the likeness of each pair, negative, with its places."""
    ours = {i: _content(a[i]) for i in {i for i, _ in pairs}}
    theirs = {j: _content(b[j]) for j in {j for _, j in pairs}}
    return ((-_likeness(ours[i], theirs[j]), i, j) for i, j in pairs)


def _strongest(candidates: Iterable[tuple[int, int, int]], pairs: dict[int, int]) -> dict[int, int]:
    out = dict(pairs)
    taken = set(out.values())
    for _, i, j in sorted(candidates):
        if i not in out and j not in taken:
            out[i] = j
            taken.add(j)
    return out


def _content(body: ComparedBody) -> Counter[Hashable]:
    return Counter(item.shape for item in items_of(body.kernel))


def _likeness(a: Counter[Hashable], b: Counter[Hashable]) -> int:
    """Return the likeness of two bodies in per cent; 0 where their lengths alone imply less than half."""
    shorter, longer = sorted((a.total(), b.total()))
    if longer >= 3 * shorter:
        return 100 * (longer == 0)
    return 200 * (a & b).total() // (shorter + longer)


def _alone(body: ComparedBody, kind: ChangeKind, end: int) -> KernelDiff:
    """Return the difference for a body that the other program lacks."""
    whole, there = Lines(body.first, body.last), Lines(end, end)
    word = "kernel" if body.kernel.is_kernel else "function"
    if kind is ChangeKind.DELETE:
        change = Difference(kind, whole, there, f"{word} {body.kernel.name} deleted")
        return KernelDiff(body.kernel.name, body, None, (change,))
    change = Difference(kind, there, whole, f"{word} {body.kernel.name} inserted")
    return KernelDiff(body.kernel.name, None, body, (change,))
