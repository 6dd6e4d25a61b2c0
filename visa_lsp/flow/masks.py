"""Sets of bits of many variables as one integer, so that unions and differences over a whole body are single operations.

Each variable has a field of bits in that integer, as wide as its highest bit that some access may touch. Variables that
need no field, because an analysis can settle them within one block, are left out of the numbering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.flow.steps import How

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from visa_lsp.flow.steps import Access, Step


class Numbering:
    """The fields of variables; ``widths`` gives the bits of each."""

    def __init__(self, widths: Mapping[int, int]) -> None:
        self.widths = dict(widths)
        self.starts: dict[int, int] = {}
        at = 0
        for variable, width in self.widths.items():
            self.starts[variable] = at
            at += width
        self.size = at

    def pack(self, masks: Mapping[int, int]) -> int:
        """One integer for masks by variable; variables without a field are left out."""
        found = 0
        for variable, mask in masks.items():
            start = self.starts.get(variable)
            if start is not None:
                found |= (mask & (1 << self.widths[variable]) - 1) << start
        return found

    def unpack(self, packed: int) -> dict[int, int]:
        """The masks that are not empty."""
        return dict(self._unpack(packed))

    def _unpack(self, packed: int) -> Iterator[tuple[int, int]]:
        if not packed:
            return
        for variable, start in self.starts.items():
            mask = packed >> start & (1 << self.widths[variable]) - 1
            if mask:
                yield variable, mask


def widths_of(steps: Iterable[Step], only: Collection[int] | None = None) -> dict[int, int]:
    """How many bits each variable needs that the steps touch; ``only`` these variables if given."""
    found: dict[int, int] = {}
    for step in steps:
        for access in step.accesses:
            if only is None or access.variable in only:
                found[access.variable] = max(found.get(access.variable, 0), access.possible.bit_length())
    return found


def taken_of(steps: Iterable[Step]) -> dict[int, int]:
    """The variables whose address is taken, with all their bits: what an indirect access may touch."""
    found: dict[int, int] = {}
    for step in steps:
        for access in step.accesses:
            if access.how is How.TAKEN:
                found[access.variable] = found.get(access.variable, 0) | access.possible
    return found


def killed(step: Step, access: Access, *, divergent: bool) -> int:
    """The bits that a write certainly overwrites, whatever lanes run. ``divergent``: some lanes may wait elsewhere.

    A guarded write kills nothing, since the predicate may leave out any lane. Where lanes wait, only writes without a mask
    kill: those of other lanes keep their old values.
    """
    if not access.writes or step.guarded or (divergent and not step.no_mask):
        return 0
    return access.certain
