"""Sets of bits of many variables as one integer, so that unions and differences over a whole body are single operations.

Bits of a variable that no access separates share one bit (``Atoms``): a variable that is always accessed as a whole
needs one. Variables that an analysis treats as local to one block have no number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from visa_lsp.flow.steps import Access, AccessPurpose, Step


class Atoms:
    """The bits of each variable in groups, such that each of the given masks is a union of groups."""

    def __init__(self, masks: Mapping[int, Iterable[int]]) -> None:
        self._atoms = {variable: _groups(of) for variable, of in masks.items()}

    @property
    def widths(self) -> dict[int, int]:
        """The number of groups of each variable."""
        return {variable: len(atoms) for variable, atoms in self._atoms.items()}

    def encode(self, variable: int, mask: int) -> int:
        """Return a mask with one bit for each group in it; 0 for a variable without groups."""
        found = 0
        for number, atom in enumerate(self._atoms.get(variable, ())):
            if atom & mask:
                found |= 1 << number
        return found

    def decode(self, variable: int, code: int) -> int:
        """Return the bits of the groups."""
        found = 0
        for number, atom in enumerate(self._atoms[variable]):
            if code >> number & 1:
                found |= atom
        return found


def _groups(masks: Iterable[int]) -> list[int]:
    atoms: list[int] = []
    for mask in set(masks):
        left = mask
        split: list[int] = []
        for atom in atoms:
            inside = atom & mask
            left &= ~atom
            split.extend(part for part in (inside, atom ^ inside) if part)
        atoms = [*split, left] if left else split
    return sorted(atoms)


class BitFields:
    """The packing of codes by variable into one integer: each variable has a field of the given width."""

    def __init__(self, widths: Mapping[int, int]) -> None:
        self.widths = {variable: width for variable, width in widths.items() if width}
        self._variables = list(self.widths)
        self._starts = [0, *accumulate(self.widths.values())]
        self._place = dict(zip(self._variables, self._starts, strict=False))
        self.size = self._starts[-1]

    def pack(self, codes: Mapping[int, int]) -> int:
        """Return the codes in their fields; codes of variables without a field are dropped."""
        found = 0
        for variable, code in codes.items():
            start = self._place.get(variable)
            if start is not None:
                found |= (code & (1 << self.widths[variable]) - 1) << start
        return found

    def unpack(self, packed: int) -> dict[int, int]:
        """Return the codes that are not 0."""
        found: dict[int, int] = {}
        done = 0
        while packed:
            done += (packed & -packed).bit_length() - 1
            at = bisect_right(self._starts, done) - 1
            packed >>= (packed & -packed).bit_length() - 1
            variable, left = self._variables[at], self._starts[at + 1] - done
            found[variable] = (packed & (1 << left) - 1) << done - self._starts[at]
            packed >>= left
            done += left
        return found


def masks_of(steps: Sequence[Step], only: Collection[int] | None = None) -> dict[int, set[int]]:
    """Return the masks by which the steps access each variable; ``only`` these variables if given."""
    found: dict[int, set[int]] = {}
    for step in steps:
        for access in step.accesses:
            if only is None or access.variable in only:
                found.setdefault(access.variable, set()).update((access.possible, access.certain))
    for variable, mask in address_taken(steps).items():
        if variable in found:
            found[variable].add(mask)
    return found


def address_taken(steps: Iterable[Step]) -> dict[int, int]:
    """Return the variables whose address is taken, with all their bits, because an indirect access may touch them."""
    found: dict[int, int] = {}
    for step in steps:
        for access in step.accesses:
            if access.purpose is AccessPurpose.TAKEN:
                found[access.variable] = found.get(access.variable, 0) | access.possible
    return found


def reads_of(step: Step, taken: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield (variable, bits) that an instruction may read; ``taken`` are those that an indirect read may touch."""
    for access in step.accesses:
        if not access.writes and access.possible:
            yield access.variable, access.possible
    if step.indirect_read:
        yield from taken.items()


def kill_bits(step: Step, access: Access, *, divergent: bool) -> int:
    """Return the bits that a write certainly overwrites, independent of active lanes.

    A guarded write kills nothing, because the predicate may disable any lane. ``divergent``: some lanes may wait
    elsewhere, so that only writes without a mask kill.
    """
    if not access.writes or step.guarded or (divergent and not step.no_mask):
        return 0
    return access.certain
