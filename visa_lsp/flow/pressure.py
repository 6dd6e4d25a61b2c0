"""The variables that are live after each step of a body, and the sum of their weights, as the finalizer counts it.

Variables are live as a whole. A write kills the old value if it fills the variable, alone or together with later writes
without a read in between. The first write of a variable that is local to one block also fills it if only written bits
are read. During a write that fills a variable only with others, its sources are still live. The caller chooses the
variables and their weights: ``register_use`` does so for the register files.

Invariant: the sum of a step is that of the variables that ``Pressure.live`` returns for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.flow.pointers import find_pointed_variables
from visa_lsp.flow.solve import solve
from visa_lsp.flow.steps import AccessPurpose

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from visa_lsp.flow.graph import Block, Graph


class Size(NamedTuple):
    """A variable: all its bits as in accesses, its weight, and whether one instruction can write all of it."""

    bits: int
    weight: int
    at_once: bool = True


class Live(NamedTuple):
    """A step, the sum of the weights after it or during its write, and the variables in the sum.

    ``toggled`` are those added or removed since the previous one, possibly both. Set and list are the working state,
    valid until the next iteration.
    """

    step: int
    sum: int
    variables: set[int]
    toggled: list[int]


class _Write(NamedTuple):
    variable: int
    bits: int  # certainly overwritten
    whole: bool  # overwritten alone, and as one instruction


class _Touch(NamedTuple):
    """The accesses of a step to the counted variables; ``pointed``: the variables that it may access indirectly."""

    writes: tuple[_Write, ...]
    reads: tuple[tuple[int, int], ...]  # (variable, bits)
    taken: tuple[int, ...]
    pointed: frozenset[int]

    @property
    def variables(self) -> Iterator[int]:
        """Yield all accessed variables, with repetitions."""
        yield from (write.variable for write in self.writes)
        yield from (variable for variable, _ in self.reads)
        yield from self.taken
        yield from self.pointed


_NOTHING: Final = _Touch((), (), (), frozenset())


class Pressure:
    """The register pressure of the variables of ``sizes``, by their keys, in a body. ``at``: the sum of weights at each step.

    ``inputs`` have a value at the start. ``waiting`` are the blocks in which lanes wait elsewhere, so that a masked
    write keeps their part of a variable. The graph must be built with ``calls_end_blocks``.
    """

    def __init__(
        self,
        graph: Graph,
        sizes: Mapping[int, Size],
        inputs: frozenset[int] = frozenset(),
        waiting: frozenset[int] = frozenset(),
    ) -> None:
        self.graph = graph
        self._sizes = sizes
        self._touches = list(_touches(graph, sizes, waiting))
        self._blocks = self._touching_blocks()
        outer = inputs.union(*(touch.taken for touch in self._touches if touch.taken))
        self._shared = shared = [v for v, blocks in self._blocks.items() if len(blocks) > 1 or v in outer]
        self._bit = {variable: 1 << number for number, variable in enumerate(shared)}
        self._ends: dict[int, tuple[_Write, ...]] = {}  # by step: the writes that kill the old value
        self._out = self._live_out(sum(self._bit.get(variable, 0) for variable in inputs))
        self.at = [0] * len(graph.steps)
        for live in self._behind_steps(reversed(graph.blocks)):
            self.at[live.step] = live.sum

    @property
    def weights(self) -> dict[int, int]:
        """The weight of each variable while it is live."""
        return {variable: size.weight for variable, size in self._sizes.items()}

    @property
    def peak(self) -> int:
        """The first step with the highest sum; -1 in a body without steps."""
        return self.at.index(max(self.at)) if self.at else -1

    def live(self, step: int) -> dict[int, int]:
        """Return the variables in the sum of a step, each with its weight."""
        block = self.graph.blocks[self.graph.block_of[step]]
        found = next(live.variables for live in self._behind_steps([block]) if live.step == step)
        return {variable: self._sizes[variable].weight for variable in sorted(found)}

    def ranges(self, variables: Collection[int]) -> dict[int, list[tuple[int, int]]]:
        """Return the live ranges (first and last step) of each of ``variables``, in the order of the body."""
        runs: dict[int, list[tuple[int, int]]] = {variable: [] for variable in variables}
        bits = sum(self._bit.get(variable, 0) for variable in runs)
        touching = {block for variable in runs for block in self._blocks.get(variable, ())}
        blocks = (b for b in reversed(self.graph.blocks) if b.number in touching or self._out[b.number] & bits)
        ends: dict[int, int] = {}  # the last step of the range, for each variable that is live here
        before = len(self.at)
        for live in self._behind_steps(blocks):
            if live.step + 1 != before:  # because none of them is live in the blocks between
                for variable, end in ends.items():
                    runs[variable].append((before, end))
                ends = dict.fromkeys(runs.keys() & live.variables, live.step)
            else:
                for variable in live.toggled:
                    if variable not in runs:
                        continue
                    if variable in live.variables:
                        ends.setdefault(variable, live.step)
                    elif variable in ends:
                        runs[variable].append((before, ends.pop(variable)))
            before = live.step
        for variable, end in ends.items():
            runs[variable].append((before, end))
        return {variable: of[::-1] for variable, of in runs.items()}

    def _touching_blocks(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for touch, block in zip(self._touches, self.graph.block_of, strict=True):
            if touch is not _NOTHING:
                for variable in touch.variables:
                    blocks = found.get(variable)
                    if blocks is None:
                        blocks = found[variable] = set()
                    blocks.add(block)
        return found

    def _live_out(self, start: int) -> list[int]:
        """Return, for each block, the shared variables that are needed after it and may be written before, as bits."""
        graph = self.graph
        blocks = [self._summary(block) for block in graph.blocks]
        written, needed = [0] * len(blocks), [0] * len(blocks)
        ahead, behind = graph.flow_successors, graph.flow_predecessors

        def before(number: int) -> int:
            found = start if number == 0 else 0
            for one in behind[number]:
                found |= written[one]
            return found

        def later(number: int) -> int:
            found = 0
            for one in ahead[number]:
                found |= needed[one]
            return found

        solve(written, graph.order, ahead, lambda n: blocks[n].written | before(n))
        solve(needed, graph.order[::-1], behind, lambda n: blocks[n].needed | later(n) & ~blocks[n].filled)
        return [later(number) & written[number] for number in range(len(blocks))]

    def _summary(self, block: Block) -> _Summary:
        """Return the summary of a block for shared variables, and keep the writes that kill."""
        found = _Summary()
        filled: dict[int, int] = {}  # by variable: the bits that are written after this step before they are read
        bit, sizes = self._bit, self._sizes
        for step in range(block.last, block.first - 1, -1):
            touch = self._touches[step]
            if touch is _NOTHING:
                continue
            writes, reads, taken, pointed = touch
            for variable, bits, whole in writes:
                known = filled.get(variable)
                if known is None:
                    known = 0 if variable in bit else sizes[variable].bits
                filled[variable] = sizes[variable].bits if whole else known | bits
                found.write(bit.get(variable, 0), ends=whole)
            for variable, bits in reads:
                known = filled.get(variable)
                if known is None:
                    known = 0 if variable in bit else sizes[variable].bits
                filled[variable] = known & ~bits
                found.needed |= bit.get(variable, 0)
            for variable in taken:
                found.write(bit[variable], ends=False)
            for variable in pointed:
                filled[variable] = 0
                found.needed |= bit[variable]
            ended = tuple(
                write for write in writes if write.whole or filled[write.variable] == sizes[write.variable].bits
            )
            if ended:
                self._ends[step] = ended
            for write in ended:
                if not write.whole:
                    found.write(bit.get(write.variable, 0), ends=True)
        return found

    def _behind_steps(self, blocks: Iterable[Block]) -> Iterator[Live]:
        """Yield, for each block from its last step to its first, the variables that are live after the step or during its write.

        Between blocks only the difference is processed, because very many variables may be live.
        """
        sizes, ends = self._sizes, self._ends
        live: set[int] = set()
        toggled: list[int] = []  # since the previous one
        total = known = 0
        for block in blocks:
            for variable in self._variables(known ^ self._out[block.number]):
                total += sizes[variable].weight * (-1 if variable in live else 1)
                live ^= {variable}
                toggled.append(variable)
            known, at_end, changed = self._out[block.number], total, []
            for step in range(block.last, block.first - 1, -1):
                touch = self._touches[step]
                if touch is _NOTHING:
                    yield Live(step, total, live, toggled)
                    toggled.clear()
                    continue
                ended = ends.get(step, ())
                together = any(not write.whole for write in ended)
                if not together:
                    yield Live(step, total, live, toggled)
                    toggled.clear()
                read = {variable for variable, _ in touch.reads} | touch.pointed
                for variable in read - live:
                    live.add(variable)
                    changed.append(variable)
                    toggled.append(variable)
                    total += sizes[variable].weight
                if together:
                    yield Live(step, total, live, toggled)
                    toggled.clear()
                for write in ended:
                    if write.variable in live and write.variable not in read:
                        live.discard(write.variable)
                        changed.append(write.variable)
                        toggled.append(write.variable)
                        total -= sizes[write.variable].weight
            for variable in changed:
                live ^= {variable}
            toggled += changed
            total = at_end

    def _variables(self, bits: int) -> Iterator[int]:
        """Yield the shared variables of ``bits``."""
        while bits:
            yield self._shared[(bits & -bits).bit_length() - 1]
            bits &= bits - 1


class _Summary:
    """Shared variables as bits: those that a block writes, fills, and reads before it fills them."""

    __slots__ = ("filled", "needed", "written")

    def __init__(self) -> None:
        self.written = self.filled = self.needed = 0

    def write(self, bit: int, *, ends: bool) -> None:
        """Add a write; unless it kills the old value, the variable is needed before."""
        self.written |= bit
        if ends:
            self.filled |= bit
            self.needed &= ~bit
        else:
            self.needed |= bit


def _touches(graph: Graph, sizes: Mapping[int, Size], waiting: frozenset[int]) -> Iterator[_Touch]:
    """Yield the accesses of each step to the variables of ``sizes``."""
    pointed = find_pointed_variables(graph.steps)
    for number, (step, block) in enumerate(zip(graph.steps, graph.block_of, strict=True)):
        if not step.accesses:
            yield _Touch((), (), (), frozenset(pointed[number] & sizes.keys())) if number in pointed else _NOTHING
            continue
        kept = (bool(step.condition) and step.guarded) or (block in waiting and not step.no_mask)
        writes: list[_Write] = []
        reads: list[tuple[int, int]] = []
        taken: list[int] = []
        for access in step.accesses:
            variable = access.variable
            size = sizes.get(variable)
            if size is None:
                continue
            if access.purpose is AccessPurpose.TAKEN:
                taken.append(variable)
            elif not access.writes:
                reads.append((variable, _between(access.possible)))
            elif kept:
                writes.append(_Write(variable, 0, whole=False))
            else:
                # The result of a message without a value counts as all bytes from its start on.
                whole = access.certain == size.bits and size.at_once
                writes.append(_Write(variable, _between(access.certain or access.possible), whole))
        found = frozenset(pointed[number] & sizes.keys()) if number in pointed else _NOTHING.pointed
        yield (
            _Touch(tuple(writes), tuple(reads), tuple(taken), found) if writes or reads or taken or found else _NOTHING
        )


def _between(bits: int) -> int:
    """Return all bits from the lowest to the highest, because gaps between the elements of a region count as touched."""
    return (1 << bits.bit_length()) - (bits & -bits)
