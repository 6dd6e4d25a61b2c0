"""Reaching definitions of each variable that a step reads, and the bits that may have been written at all.

Definitions are followed bit by bit: two writes of one half each kill an earlier write of the whole. Bits without a
definition on some path have the definition ``OUTSIDE``: an input, or nothing. Indirect writes may define any variable
whose address is taken. For calls see ``liveness``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.flow.divergence import divergent_blocks
from visa_lsp.flow.masks import Atoms, BitFields, address_taken, kill_bits, masks_of, reads_of
from visa_lsp.flow.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from visa_lsp.flow.graph import Graph
    from visa_lsp.flow.steps import Access, Step

OUTSIDE: Final = -1


class UseDefs(Struct, frozen=True):
    """A read with its definitions: ``sources`` has, for each step that may define it, the bits from that step."""

    step: int
    variable: int
    sources: dict[int, int]


class Reaching:
    """The definitions that reach each block, and on demand each read. The step identifies a definition."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._divergent = divergent_blocks(graph)
        self._taken = address_taken(graph.steps)
        # Only variables that some block reads before it overwrites them need definitions of other blocks.
        exposed = self._find_exposed()
        masks = masks_of(graph.steps, exposed)
        self._atoms = Atoms(masks)
        self._widths = widths = self._atoms.widths
        whole = {variable: _union(of) for variable, of in masks.items()}
        made: dict[int, dict[int, int]] = {variable: {OUTSIDE: mask} for variable, mask in whole.items()}
        for number, step in enumerate(graph.steps):
            for variable, mask in self._writes(step):
                if variable in made and mask:
                    made[variable][number] = made[variable].get(number, 0) | mask
        # One field for each definition of each variable, adjacent for one variable.
        self._fields: dict[int, list[int]] = {variable: list(sources) for variable, sources in made.items()}
        self._numbering = BitFields({v: widths[v] * len(sources) for v, sources in made.items()})
        blocks = range(len(graph.blocks))
        gen, kill = [0] * len(blocks), [0] * len(blocks)
        for number in blocks:
            gen[number], kill[number] = self._transfer(number)
        start = self._numbering.pack({v: (1 << widths[v]) - 1 for v in widths})
        behind, ahead = graph.flow_predecessors, graph.flow_successors
        entries = {0} if graph.blocks else set()
        # Unreachable code is treated as entered from outside.
        entries.update(number for number in blocks if not behind[number])

        def collect_arriving(number: int) -> int:
            found = start if number in entries else 0
            for before in behind[number]:
                found |= leaving[before]
            return found

        leaving = [0] * len(blocks)
        solve(leaving, graph.order, ahead, lambda number: gen[number] | collect_arriving(number) & ~kill[number])
        self._in = [collect_arriving(number) for number in blocks]

    def _find_exposed(self) -> set[int]:
        found: set[int] = set()
        for block in self.graph.blocks:
            overwritten: dict[int, int] = {}
            for step in self.graph.code(block):
                for variable, mask in reads_of(step, self._taken):
                    if mask & ~overwritten.get(variable, 0):
                        found.add(variable)
                for access in step.accesses:
                    mask = self._kill(step, access, block.number)
                    overwritten[access.variable] = overwritten.get(access.variable, 0) | mask
        return found

    def _writes(self, step: Step) -> Iterator[tuple[int, int]]:
        for access in step.accesses:
            if access.writes:
                yield access.variable, access.possible
        if step.indirect_write:
            yield from self._taken.items()

    def _kill(self, step: Step, access: Access, block: int) -> int:
        return kill_bits(step, access, divergent=block in self._divergent)

    def _transfer(self, number: int) -> tuple[int, int]:
        """Return the definitions that a block generates, and those that it kills."""
        state: dict[int, dict[int, int]] = {}
        gone: dict[int, int] = {}
        for place, step in self._steps(number):
            self._apply(place, step, number, state)
            for access in step.accesses:
                mask = self._kill(step, access, number)
                gone[access.variable] = gone.get(access.variable, 0) | mask
        gen = self._numbering.pack({v: self._join(v, sources) for v, sources in state.items() if v in self._fields})
        kill = {v: self._join(v, dict.fromkeys(self._fields[v], mask)) for v, mask in gone.items() if v in self._fields}
        return gen, self._numbering.pack(kill)

    def _steps(self, number: int) -> Iterator[tuple[int, Step]]:
        block = self.graph.blocks[number]
        return zip(range(block.first, block.last + 1), self.graph.code(block), strict=True)

    def _apply(self, place: int, step: Step, block: int, state: dict[int, dict[int, int]]) -> None:
        """Kill the definitions that a step overwrites and add its own."""
        for access in step.accesses:
            mask = self._kill(step, access, block)
            sources = state.get(access.variable)
            if mask and sources:
                state[access.variable] = {s: left for s, m in sources.items() if (left := m & ~mask)}
        for variable, mask in self._writes(step):
            if mask:
                sources = state.setdefault(variable, {})
                sources[place] = sources.get(place, 0) | mask

    def _join(self, variable: int, sources: dict[int, int]) -> int:
        width = self._widths[variable]
        found = 0
        for field, source in enumerate(self._fields[variable]):
            mask = sources.get(source, 0)
            if mask:
                found |= self._atoms.encode(variable, mask) << field * width
        return found

    def _split(self, variable: int, packed: int) -> dict[int, int]:
        width = self._widths[variable]
        codes = ((s, packed >> f * width & (1 << width) - 1) for f, s in enumerate(self._fields[variable]))
        return {source: self._atoms.decode(variable, code) for source, code in codes if code}

    def at_entry(self, block: int) -> dict[int, dict[int, int]]:
        """Return, by variable, the definitions that reach a block, each with its bits; only for variables that need them."""
        return {v: self._split(v, packed) for v, packed in self._numbering.unpack(self._in[block]).items()}

    def uses(self, block: int) -> Iterator[UseDefs]:
        """Yield the reads of a block in order, each with its definitions."""
        state = self.at_entry(block)
        for place, step in self._steps(block):
            for variable, mask in reads_of(step, self._taken):
                found = {s: m & mask for s, m in state.get(variable, {}).items() if m & mask}
                yield UseDefs(place, variable, found)
            self._apply(place, step, block, state)


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def maybe_written(graph: Graph) -> Callable[[int], dict[int, int]]:
    """Return, for each block, the bits by variable that some path from the start may have written before it."""
    taken = address_taken(graph.steps)
    atoms = Atoms(masks_of(graph.steps))
    numbering = BitFields(atoms.widths)
    written: list[int] = []
    for block in graph.blocks:
        masks: dict[int, int] = {}
        for step in graph.code(block):
            for access in step.accesses:
                if access.writes:
                    masks[access.variable] = masks.get(access.variable, 0) | access.possible
            if step.indirect_write:
                for variable, mask in taken.items():
                    masks[variable] = masks.get(variable, 0) | mask
        written.append(numbering.pack({v: atoms.encode(v, mask) for v, mask in masks.items()}))
    behind = graph.flow_predecessors

    def before(number: int) -> int:
        found = 0
        for one in behind[number]:
            found |= done[one]
        return found

    done = [0] * len(graph.blocks)
    solve(done, graph.order, graph.flow_successors, lambda number: before(number) | written[number])
    return lambda number: {v: atoms.decode(v, code) for v, code in numbering.unpack(before(number)).items()}
