"""Liveness: the bits of variables that are read later before they are certainly overwritten.

Values follow calls into subroutines and back (a return leads to all callers). For this the graph must be built with
``calls_end_blocks``; otherwise calls touch no variables. Only variables that some block reads before it overwrites them
can be live between blocks: all others are local to their block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.flow.divergence import divergent_blocks
from visa_lsp.flow.masks import Atoms, BitFields, address_taken, kill_bits, masks_of, reads_of
from visa_lsp.flow.solve import solve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from visa_lsp.flow.graph import Graph


class Liveness:
    """The live bits at the edges of blocks, and on demand at each step.

    ``at_end``: the bits, by variable, that are read after the body (results of a function). ``masked_writes_kill``:
    treat masked writes as if no lane ever waited, as the finalizer does when it counts registers. ``waiting``:
    overrides the blocks in which lanes wait.
    """

    def __init__(
        self,
        graph: Graph,
        at_end: Mapping[int, int] | None = None,
        *,
        masked_writes_kill: bool = False,
        waiting: frozenset[int] | None = None,
    ) -> None:
        self.graph = graph
        found = frozenset[int]() if masked_writes_kill else divergent_blocks(graph) if waiting is None else waiting
        self._divergent = found
        self._taken = address_taken(graph.steps)
        end = dict(at_end or {})
        reads = [self._summary(number) for number in range(len(graph.blocks))]
        between = {variable for needed, _ in reads for variable in needed} | end.keys()
        masks = masks_of(graph.steps, between)
        for variable, mask in end.items():
            masks.setdefault(variable, set()).add(mask)
        self._atoms = Atoms(masks)
        self.numbering = BitFields(self._atoms.widths)
        needed = [self._pack(of) for of, _ in reads]
        overwritten = [self._pack(of) for _, of in reads]
        last = self._pack(end)
        ahead, behind = graph.flow_successors, graph.flow_predecessors

        def at_exit(number: int) -> int:
            found = last if graph.blocks[number].ends or not ahead[number] else 0
            for following in ahead[number]:
                found |= live[following]
            return found

        def at_entry(number: int) -> int:
            return needed[number] | at_exit(number) & ~overwritten[number]

        live = [0] * len(graph.blocks)
        solve(live, graph.order[::-1], behind, at_entry)
        self._in = live
        self._at_exit = at_exit

    def _pack(self, masks: Mapping[int, int]) -> int:
        encode = self._atoms.encode
        return self.numbering.pack({variable: encode(variable, mask) for variable, mask in masks.items()})

    def _unpack(self, packed: int) -> dict[int, int]:
        return {v: self._atoms.decode(v, code) for v, code in self.numbering.unpack(packed).items()}

    def _summary(self, number: int) -> tuple[dict[int, int], dict[int, int]]:
        """Return, by variable, the bits that a block reads before it overwrites them, and the bits that it overwrites."""
        needed: dict[int, int] = {}
        overwritten: dict[int, int] = {}
        divergent = number in self._divergent
        for step in self.graph.code(self.graph.blocks[number]):
            for variable, mask in reads_of(step, self._taken):
                from_before = mask & ~overwritten.get(variable, 0)
                if from_before:
                    needed[variable] = needed.get(variable, 0) | from_before
            for access in step.accesses:
                mask = kill_bits(step, access, divergent=divergent)
                if mask:
                    overwritten[access.variable] = overwritten.get(access.variable, 0) | mask
        return needed, overwritten

    def at_entry(self, block: int) -> dict[int, int]:
        """Return the live bits by variable before a block."""
        return self._unpack(self._in[block])

    def at_exit(self, block: int) -> dict[int, int]:
        """Return the live bits by variable after a block."""
        return self._unpack(self._at_exit(block))

    def behind_steps(self, block: int) -> Iterator[tuple[int, Mapping[int, int]]]:
        """Yield, from the last step of a block to its first, the number of the step and the live bits by variable after it.

        The mapping is the working state, valid until the next iteration.
        """
        live = self.at_exit(block)
        divergent = block in self._divergent
        place = self.graph.blocks[block]
        for number in range(place.last, place.first - 1, -1):
            yield number, live
            step = self.graph.steps[number]
            for access in step.accesses:
                mask = kill_bits(step, access, divergent=divergent)
                if mask and access.variable in live:
                    left = live[access.variable] & ~mask
                    if left:
                        live[access.variable] = left
                    else:
                        del live[access.variable]
            for variable, mask in reads_of(step, self._taken):
                live[variable] = live.get(variable, 0) | mask
