"""The renaming between the variables and labels of two bodies: one to one, within a class, by the most evidence.

Evidence is a vote for each place with two names in corresponding instructions, and one for inputs at the same place of
the payload. Names that no instruction uses are paired by their declarations at the end.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, TypeAlias

from visa_lsp.compare.model import Ref
from visa_lsp.compare.refs import declaration, input_ref, refs_of
from visa_lsp.isa import predefined

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from visa_lsp.compare.instruction_shapes import Item
    from visa_lsp.compare.model import ComparedBody
    from visa_lsp.program.model import Kernel

Renaming: TypeAlias = dict[Ref, Ref]


def by_names(a: ComparedBody, b: ComparedBody) -> Renaming:
    """Return the renaming of each name to the same name of the other body, where it exists."""
    there = {(ref[0], b.name(ref)): ref for ref in refs_of(b.kernel)}
    named = ((ref, there.get((ref[0], a.name(ref)))) for ref in refs_of(a.kernel))
    return {ref: other for ref, other in named if other is not None}


def in_order(a: Sequence[Item], b: Sequence[Item]) -> Renaming | None:
    """Return the renaming that turns one body into the other, instruction by instruction; None if there is none."""
    if len(a) != len(b):
        return None
    there: Renaming = {}
    back: Renaming = {}
    for item, other in zip(a, b, strict=True):
        if item.shape != other.shape:
            return None
        for ref, its in zip(item.refs, other.refs, strict=True):
            if there.setdefault(ref, its) != its or back.setdefault(its, ref) != ref:
                return None
    return there


def by_votes(a: ComparedBody, b: ComparedBody, pairs: Iterable[tuple[Item, Item]], assumed: Renaming) -> Renaming:
    """Return the renaming with most votes of the pairs, the strongest pair of names first.

    An ``assumed`` pair has the weight of one place.
    """
    votes: Counter[tuple[Ref, Ref]] = Counter(assumed.items())
    for item, other in pairs:
        if len(item.refs) == len(other.refs):
            votes.update(pair for pair in zip(item.refs, other.refs, strict=True) if pair[0][0] == pair[1][0])
    _vote_for_bases(votes, a.kernel, b.kernel)
    votes.update(dict.fromkeys(_same_inputs(a.kernel, b.kernel), 2))

    def weight(vote: tuple[tuple[Ref, Ref], int]) -> tuple[int, bool, Ref, Ref]:
        (ref, other), count = vote
        alike = declaration(a.kernel, ref) == declaration(b.kernel, other)
        bases = _bases(a.kernel, b.kernel, ref, other)
        fits = bases is not None and draft.get(bases[0]) == bases[1]
        return -(2 * count + alike + 2 * fits), a.name(ref) != b.name(other), ref, other

    draft: Renaming = {}
    draft = _one_to_one(pair for pair, _ in sorted(votes.items(), key=weight))
    return _one_to_one(pair for pair, _ in sorted(votes.items(), key=weight))


def _vote_for_bases(votes: Counter[tuple[Ref, Ref]], a: Kernel, b: Kernel) -> None:
    """Add the votes of two aliases to their bases, with more weight, because declarations rarely change."""
    for pair, count in list(votes.items()):
        bases = _bases(a, b, *pair)
        seen = {pair}
        while bases is not None and bases not in seen:
            seen.add(bases)
            votes[bases] += 2 * count
            bases = _bases(a, b, *bases)


def _bases(a: Kernel, b: Kernel, ref: Ref, other: Ref) -> tuple[Ref, Ref] | None:
    """Return the bases of two aliases; None if one is not an alias, or if the bases are predefined or the offsets differ."""
    variable = a.variable(ref[1]) if ref[0] == "G" else None
    its = b.variable(other[1]) if other[0] == "G" else None
    if variable is None or its is None or variable.alias_offset != its.alias_offset:
        return None
    if min(variable.alias_index, its.alias_index) < predefined.FIRST_VARIABLE:
        return None
    return ("G", variable.alias_index), ("G", its.alias_index)


def _one_to_one(pairs: Iterable[tuple[Ref, Ref]]) -> Renaming:
    renaming: Renaming = {}
    _add(pairs, renaming, set())
    return renaming


def _same_inputs(a: Kernel, b: Kernel) -> Iterator[tuple[Ref, Ref]]:
    there = {(entry.kind, entry.offset, entry.size): entry.id for entry in b.inputs}
    for entry in a.inputs:
        other = there.get((entry.kind, entry.offset, entry.size))
        if other is not None:
            letter = input_ref(entry)[0]
            yield (letter, entry.id), (letter, other)


def count_equal(a: Kernel, b: Kernel, renaming: Renaming) -> int:
    """Return the number of equal declarations and inputs of corresponding variables."""
    inputs = sum(renaming.get(ref) == other for ref, other in _same_inputs(a, b))
    return inputs + sum(
        declaration(a, ref) == declaration(b, other) and _alias(a, ref, renaming) == _alias(b, other, None)
        for ref, other in renaming.items()
    )


def _alias(kernel: Kernel, ref: Ref, renaming: Renaming | None) -> tuple[Ref | None, int] | None:
    """Return the base of an alias and the offset, with the base renamed to the second body if ``renaming`` has it."""
    variable = kernel.variable(ref[1]) if ref[0] == "G" else None
    if variable is None:
        return None
    base: Ref | None = ("G", variable.alias_index)
    if renaming is not None and variable.alias_index >= predefined.FIRST_VARIABLE:
        base = renaming.get(("G", variable.alias_index))
    return base, variable.alias_offset


def complete_renaming(a: ComparedBody, b: ComparedBody, renaming: Renaming) -> Renaming:
    """Extend the renaming to names that no instruction uses: bases of aliases, inputs of one place, equal declarations."""
    out = dict(renaming)
    taken = set(out.values())
    _through_aliases(a.kernel, b.kernel, out, taken)
    inputs = list(_same_inputs(a.kernel, b.kernel))
    _add((pair for pair in inputs if declaration(a.kernel, pair[0]) == declaration(b.kernel, pair[1])), out, taken)
    _through_aliases(a.kernel, b.kernel, out, taken)
    for closely in (True, False):
        # Bases before their aliases, because an alias is compared by the name of its base.
        before = -1
        while before != len(out):
            before = len(out)
            _alike(a, b, out, taken, closely=closely)
    _add(inputs, out, taken)
    _add(by_names(a, b).items(), out, taken)
    return out


def _add(pairs: Iterable[tuple[Ref, Ref]], out: Renaming, taken: set[Ref]) -> None:
    """Add the pairs in which neither has another counterpart."""
    for ref, other in pairs:
        if ref not in out and other not in taken:
            out[ref] = other
            taken.add(other)


def _through_aliases(a: Kernel, b: Kernel, out: Renaming, taken: set[Ref]) -> None:
    waiting = list(out.items())
    while waiting:
        bases = _bases(a, b, *waiting.pop())
        if bases is not None and bases[0] not in out and bases[1] not in taken:
            out[bases[0]] = bases[1]
            taken.add(bases[1])
            waiting.append(bases)


def _alike(a: ComparedBody, b: ComparedBody, out: Renaming, taken: set[Ref], *, closely: bool) -> None:
    """Pair equal declarations, those of one name first, then in order; ``closely`` also by their use."""
    ours, theirs = (_Declarations(body.kernel, closely=closely) for body in (a, b))
    waiting = [(ref, ours.describe(ref, out)) for ref in refs_of(a.kernel) if ref not in out]
    left = [(ref, theirs.describe(ref, None)) for ref in refs_of(b.kernel) if ref not in taken]
    named = {(said, b.name(ref)): ref for ref, said in left}
    _add(((ref, named[said, a.name(ref)]) for ref, said in waiting if (said, a.name(ref)) in named), out, taken)
    in_order: defaultdict[Hashable, deque[Ref]] = defaultdict(deque)
    for ref, said in left:
        if ref not in taken:
            in_order[said].append(ref)
    _add(((ref, in_order[said].popleft()) for ref, said in waiting if ref not in out and in_order[said]), out, taken)


class _Declarations:
    """The declarations of a body, in terms that another body shares."""

    def __init__(self, kernel: Kernel, *, closely: bool) -> None:
        self.kernel = kernel
        self._inputs = {input_ref(entry) for entry in kernel.inputs} if closely else set()
        self._aliases: defaultdict[Ref, list[str]] = defaultdict(list)
        for number, variable in enumerate(kernel.variables if closely else (), predefined.FIRST_VARIABLE):
            if variable.alias_index:
                said = repr((declaration(kernel, ("G", number)), variable.alias_offset))
                self._aliases["G", variable.alias_index].append(said)

    def describe(self, ref: Ref, renaming: Renaming | None) -> Hashable:
        """Return a declaration, with the base of an alias renamed to the second body if ``renaming`` has it."""
        whole = ref[0], declaration(self.kernel, ref), ref in self._inputs, tuple(sorted(self._aliases.get(ref, ())))
        return whole, _alias(self.kernel, ref, renaming)
