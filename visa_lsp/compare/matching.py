"""The alignment of two bodies: corresponding instructions up to renaming, moved ones and changed ones.

The renaming is unknown at first. Variables are distinguished by their use: in a few rounds variables are coloured by
their instructions, and instructions by their variables. The finest colours give the first pairs, coarser ones fill the
gaps. The pairs vote for a renaming, which gives better pairs, until nothing changes. Equal names are a second starting
point; the better result counts. Invariant: ``match_bodies(b, a)`` is ``match_bodies(a, b)`` with its sides exchanged.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from visa_lsp.compare.instruction_shapes import Item, items_of
from visa_lsp.compare.pairing import MovedRun, similar_pairs
from visa_lsp.compare.refs import declaration
from visa_lsp.compare.renaming import Renaming, by_names, by_votes, complete_renaming, count_equal, in_order
from visa_lsp.compare.sequences import align_levels

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from visa_lsp.compare.model import ComparedBody, Ref

Tokens: TypeAlias = tuple[
    list[int], list[int]
]  # numbers of the instructions of both bodies, the same for equal instructions

_COLOURINGS: Final = 2
_MAX_ROUNDS: Final = 5
_MAX_CANDIDATES: Final = 40  # where a moved line is searched


class Matching(Struct, frozen=True):
    """The matched items by their places in ``a`` and ``b``. Items in none of the pairs and runs are in one body only."""

    a: Sequence[Item]
    b: Sequence[Item]
    renaming: Renaming
    equal: list[tuple[int, int]]
    changed: list[tuple[int, int]] = []
    moved: list[MovedRun] = []

    def exchange(self) -> Matching:
        """Return the matching with its sides exchanged."""
        return Matching(
            self.b,
            self.a,
            {other: ref for ref, other in self.renaming.items()},
            [(j, i) for i, j in self.equal],
            sorted((j, i) for i, j in self.changed),
            sorted(MovedRun(run.b, run.a, run.length) for run in self.moved),
        )


def match_bodies(a: ComparedBody, b: ComparedBody) -> Matching:
    """Return the alignment of two bodies."""
    items_a, items_b = items_of(a.kernel), items_of(b.kernel)
    direct = in_order(items_a, items_b)
    if direct is not None:
        renaming = complete_renaming(a, b, direct)
        # Otherwise another renaming may have fewer differences in declarations.
        if count_equal(a.kernel, b.kernel, renaming) == len(renaming) + len(a.kernel.inputs):
            return Matching(items_a, items_b, renaming, [(n, n) for n in range(len(items_a))])
    if _precedes(b, a, items_b, items_a):
        return _match_items(b, a, items_b, items_a).exchange()
    return _match_items(a, b, items_a, items_b)


def _precedes(a: ComparedBody, b: ComparedBody, items_a: Sequence[Item], items_b: Sequence[Item]) -> bool:
    """Return whether ``a`` is first in an order independent of the arguments' order: by length, else by the first difference."""
    if len(items_a) != len(items_b):
        return len(items_a) < len(items_b)
    for item, other in zip(items_a, items_b, strict=True):
        if item.shape != other.shape:
            return repr(item.shape) < repr(other.shape)
        ours, theirs = [a.name(ref) for ref in item.refs], [b.name(ref) for ref in other.refs]
        if ours != theirs:
            return ours < theirs
    return False


def _match_items(a: ComparedBody, b: ComparedBody, items_a: Sequence[Item], items_b: Sequence[Item]) -> Matching:
    numbers = _Numbers()
    shapes = numbers.of(i.shape for i in items_a), numbers.of(i.shape for i in items_b)
    coarse = [shapes, (numbers.of(i.loose for i in items_a), numbers.of(i.loose for i in items_b))]
    colours = _colours(a, b, items_a, items_b, numbers)
    by_use = by_votes(a, b, _items(align_levels([*colours, *coarse]), items_a, items_b), {})

    def tokens(renaming: Renaming) -> Tokens:
        """Return instructions with their names, those of the second body renamed to those of the first."""
        back = {other: ref for ref, other in renaming.items()}
        ours = numbers.of((shape, item.refs) for shape, item in zip(shapes[0], items_a, strict=True))
        named = (tuple([back.get(ref, ("b", ref)) for ref in item.refs]) for item in items_b)
        return ours, numbers.of(zip(shapes[1], named, strict=True))

    def end_of(start: Renaming, assumed: Renaming) -> Matching:
        """Return the fixpoint from a starting point: pairs give a better renaming, which gives better pairs."""
        renaming = start
        for _ in range(_MAX_ROUNDS):
            pairs = align_levels([tokens(renaming), *coarse])
            improved = by_votes(a, b, _items(pairs, items_a, items_b), assumed)
            if improved == renaming:
                break
            renaming = improved
        match = settle(renaming)
        # The final names decide which of several similar instructions was changed or moved.
        better = _items([*match.equal, *_pair_by_names(match)], items_a, items_b)
        return max(match, settle(by_votes(a, b, better, assumed)), key=count_explained)

    def settle(renaming: Renaming) -> Matching:
        named = tokens(renaming)
        equal = [(i, j) for i, j, _ in align_levels([named])]
        moved = _find_moved_runs(named, equal)
        changed = similar_pairs(a, b, items_a, items_b, renaming, equal, moved)
        return Matching(items_a, items_b, complete_renaming(a, b, renaming), equal, changed, moved)

    def count_explained(match: Matching) -> tuple[int, int]:
        """Return the amount of two bodies that a matching explains: equal lines of code and declarations, and moved lines."""
        unsaid = len(match.equal) + count_equal(a.kernel, b.kernel, match.renaming)
        return unsaid, sum(run.length for run in match.moved)

    names = by_names(a, b)
    return max(end_of(names, names), end_of(by_use, {}), key=count_explained)


def _items(pairs: Iterable[tuple[int, ...]], a: Sequence[Item], b: Sequence[Item]) -> list[tuple[Item, Item]]:
    return [(a[pair[0]], b[pair[1]]) for pair in pairs]


def _pair_by_names(match: Matching) -> Iterator[tuple[int, int]]:
    """Return pairs of unequal lines: those with unique known names, anywhere; then changes."""
    back = {other: ref for ref, other in match.renaming.items()}
    ours = _only(match.a, {i for i, _ in match.equal}, {ref: ref for ref in match.renaming})
    theirs = _only(match.b, {j for _, j in match.equal}, back)
    pairs = {i: theirs[key] for key, i in ours.items() if key in theirs}
    yield from pairs.items()
    taken = set(pairs.values())
    yield from ((i, j) for i, j in match.changed if i not in pairs and j not in taken)


def _only(items: Sequence[Item], equal: set[int], names: Mapping[Ref, Ref]) -> dict[Hashable, int]:
    """Return the places of unmatched items by shape and known names, where these are unique."""
    places: dict[Hashable, int] = {}
    several: set[Hashable] = set()
    for index, item in enumerate(items):
        if index not in equal:
            key = item.shape, tuple(names.get(ref) for ref in item.refs)
            if key in places:
                several.add(key)
            places[key] = index
    return {key: index for key, index in places.items() if key not in several}


class _Numbers(dict["Hashable", int]):
    """A number for each value, assigned on first use."""

    def __missing__(self, key: Hashable) -> int:
        self[key] = number = len(self)
        return number

    def of(self, values: object) -> list[int]:
        return [self[value] for value in values]  # type: ignore[attr-defined]


def _colours(
    a: ComparedBody, b: ComparedBody, items_a: Sequence[Item], items_b: Sequence[Item], numbers: _Numbers
) -> list[Tokens]:
    """Return colours of instructions, the finest first; the last are shapes with the declarations of their names."""
    names_a = {ref: numbers["declared", ref[0], declaration(a.kernel, ref)] for i in items_a for ref in i.refs}
    names_b = {ref: numbers["declared", ref[0], declaration(b.kernel, ref)] for i in items_b for ref in i.refs}
    out: list[Tokens] = []
    for depth in range(_COLOURINGS + 1):
        if depth:
            names_a = _by_uses(names_a, items_a, out[0][0], numbers)
            names_b = _by_uses(names_b, items_b, out[0][1], numbers)
        out.insert(0, (_by_names(items_a, names_a, numbers), _by_names(items_b, names_b, numbers)))
    return out


def _by_names(items: Sequence[Item], names: dict[Ref, int], numbers: _Numbers) -> list[int]:
    return numbers.of((item.shape, *[names[ref] for ref in item.refs]) for item in items)


def _by_uses(names: dict[Ref, int], items: Sequence[Item], colours: list[int], numbers: _Numbers) -> dict[Ref, int]:
    uses: defaultdict[Ref, list[tuple[int, int]]] = defaultdict(list)
    for item, colour in zip(items, colours, strict=True):
        for position, ref in enumerate(item.refs):
            uses[ref].append((colour, position))
    return {ref: numbers["used", colour, tuple(sorted(uses[ref]))] for ref, colour in names.items()}


def _find_moved_runs(tokens: Tokens, equal: list[tuple[int, int]]) -> list[MovedRun]:
    """Return the runs that are in both bodies at other places, the longest first; none of their items is in ``equal``."""
    a, b = tokens
    free_a = set(range(len(a))) - {i for i, _ in equal}
    free_b = set(range(len(b))) - {j for _, j in equal}
    places: defaultdict[int, list[int]] = defaultdict(list)
    for j in sorted(free_b):
        places[b[j]].append(j)
    candidates = []
    for i in sorted(free_a):
        for j in places[a[i]][:_MAX_CANDIDATES]:
            if i - 1 in free_a and j - 1 in free_b and a[i - 1] == b[j - 1]:
                continue  # because the run begins earlier
            length = 1
            while i + length in free_a and j + length in free_b and a[i + length] == b[j + length]:
                length += 1
            candidates.append((-length, i, j))
    out = []
    for negative, i, j in sorted(candidates):
        run: list[int] = []
        for n in range(-negative):
            if i + n in free_a and j + n in free_b:
                run.append(n)
                free_a.discard(i + n)
                free_b.discard(j + n)
            elif run:
                break
        if run:
            out.append(MovedRun(i + run[0], j + run[0], len(run)))
    return sorted(out)
