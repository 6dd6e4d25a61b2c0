"""The sizes of groups that a kernel is written for: 16 of ``16 * get_group_id(0) + get_local_id(0)``.

Such a kernel is right for groups of one size only. Knows terms, no launches. Invariant: a size is found only where a number of a
group and a local id differ in their factor alone.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from visa_lsp.app.prove.payload import AXES
from visa_lsp.app.prove.terms import atoms_of, without_wraps
from visa_lsp.sim.launch.layout import MAX_GROUP_ITEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.prove.terms import Atom, Sum
    from visa_lsp.app.prove.walk import Walker

_LEAST: Final = 2
Factors = tuple[int, ...]  # the atoms of a product by their numbers


def written_sizes(walker: Walker) -> dict[str, str]:
    """Return why a kernel needs groups of one size, by the assumption: ``local_size_x == 16``; those that the launch leaves open."""
    symbols, names = walker.symbols, dict[int, str]()
    sums_by_size: dict[int, dict[int, str]] = defaultdict(dict)  # axis of the local id -> size -> the sum
    groups = {atom.number: axis for axis in range(3) for atom, _ in symbols.groups[axis].factors}
    locals_ = {atom.number: axis for axis in range(3) for atom, _ in symbols.ids[axis].factors}
    for numbers, words in ((groups, "get_group_id"), (locals_, "get_local_id")):
        names.update({number: f"{words}({axis})" for number, axis in numbers.items()})
    for term in _sums(walker):
        products = {_atoms_in(atom): factor for atom, factor in term.factors}
        for product, factor in products.items():
            for number in groups.keys() & set(product):
                rest = _without(product, number)
                for other, axis in locals_.items():
                    least = products.get(tuple(sorted((*rest, other))))
                    if least and not factor % least and _LEAST <= factor // least <= MAX_GROUP_ITEMS:
                        size = factor // least
                        sums_by_size[axis][size] = f"{size} * {names[number]} + {names[other]}"
    return {
        f"local_size_{AXES[axis]} == {size}": words
        for axis, sizes in sorted(sums_by_size.items())
        if len(sizes) == 1 and not symbols.local[axis].is_constant
        for size, words in sizes.items()
    }


def _sums(walker: Walker) -> Iterator[Sum]:
    """Yield the offsets of the accesses of a kernel, and the terms within them."""
    for access in walker.accesses:
        yield access.offset
        for atom in atoms_of(access.offset):
            yield from atom.parts


def _atoms_in(atom: Atom) -> Factors:
    """Return the atoms that a product multiplies; the atom itself if it is none."""
    factors: list[int] = []
    for part in map(without_wraps, atom.parts) if atom.is_product else ():
        if len(part.factors) != 1 or part.constant or part.factors[0][1] != 1:
            return (atom.number,)
        factors += _atoms_in(part.factors[0][0])
    return tuple(sorted(factors)) or (atom.number,)


def _without(product: Factors, number: int) -> Factors:
    position = product.index(number)
    return product[:position] + product[position + 1 :]
