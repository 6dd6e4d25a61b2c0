"""Accesses in terms of global ids, for questions about all work items of a launch.

Most kernels use the number of a group and a local id in one sum only. With that sum as a symbol, terms have no products
of sizes and groups, and work items of one group and of two groups are one case. Invariant: the symbols of an axis have a
value for each work item along it and no other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from visa_lsp.app.prove.payload import AXES, MAX_ITEMS
from visa_lsp.app.prove.terms import Atom, Claim, Level, Sum, atoms_of, both, less

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.prove.payload import LaunchSymbols
    from visa_lsp.app.prove.spaces import ItemAccess


class GlobalIds:
    """The global ids of one work item, from 0 on, along the axes that a kernel uses; ``lane`` is its lane."""

    def __init__(self, symbols: LaunchSymbols, axes: Sequence[int], lane: Sum) -> None:
        self._pool = symbols.pool
        self.ids: list[Sum] = []
        self._replaced: dict[Atom, Sum] = {}
        self._accesses: dict[tuple[ItemAccess, bool], ItemAccess | None] = {}
        own = (*symbols.ids, *symbols.groups)
        self._parts = {atom for term in (*own, lane) for atom, _ in term.factors}
        self._ids = {atom for term in own for atom, _ in term.factors}
        for axis in axes:
            item = self._pool.symbol(f"item_{AXES[axis]}", Level.ITEM, 0, MAX_ITEMS - 1)
            self._pool.facts[item.factors[0][0]] = [less(item, symbols.totals(axis))]
            self.ids.append(item)
            group = symbols.groups[axis]
            if symbols.ids[axis].factors:
                before = self._pool.product(group, symbols.local[axis])
                self._replaced[symbols.ids[axis].factors[0][0]] = item - before
            elif group.factors:
                self._replaced[group.factors[0][0]] = item

    def rewrite(self, access: ItemAccess, *, weakly: bool = False) -> ItemAccess | None:
        """Return an access in terms of global ids; None if it depends on a lane, a group or a local id by itself.

        ``weakly`` leaves out conditions on the way that do: more work items make the access then.
        """
        if (access, weakly) not in self._accesses:
            offset = self._pool.replace_atoms(access.offset, self._exchange, self._replaced)
            path = self.replace_in(access.path)
            if weakly:
                path = both(*(part for part in (path.parts if path.word == "and" else (path,)) if self._is_whole(part)))
            is_whole = self._is_whole(offset, path)
            self._accesses[access, weakly] = replace(access, offset=offset, path=path) if is_whole else None
        return self._accesses[access, weakly]

    def _is_whole(self, *things: Sum | Claim) -> bool:
        facts = [fact for atom in atoms_of(*things) for fact in self._pool.facts.get(atom, ())]
        return self._parts.isdisjoint(atoms_of(*things, *facts))

    def replace_in(self, claim: Claim) -> Claim:
        """Return a condition in terms of global ids."""
        return self._pool.replace_in(claim, self._exchange, self._replaced)

    def _exchange(self, atom: Atom) -> Sum | None:
        """Return a symbol with facts about global ids in place of one with facts about local ids."""
        facts = self._pool.facts.get(atom, ())
        if self._ids.isdisjoint(atoms_of(*facts)):
            return None
        symbol = self._replaced[atom] = self._pool.fresh(atom.why, atom.level, atom.low, atom.high, atom.line)
        self._pool.facts[symbol.factors[0][0]] = [self.replace_in(fact) for fact in facts]
        return symbol
