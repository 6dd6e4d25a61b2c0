"""The sizes that a kernel needs of its buffers, as formulas of arguments and sizes of the launch.

For two sample launches, whose sizes are distinct and mostly prime, the solver finds the end of the farthest access of a
buffer. A formula is natural if it is a number, or a product of up to three arguments and sizes times a number, and both
ends lie at it or a little below (a stencil leaves out the border). An end a little above a natural size is a mistake
that a larger buffer would hide: ``n + 1`` elements. The formulas are guesses; the proofs decide whether they suffice.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, permutations
from typing import TYPE_CHECKING, Final

import numpy as np
import z3

from visa_lsp.app.prove.assume import element_size, name_of, read_term, sum_words
from visa_lsp.app.prove.payload import AXES
from visa_lsp.app.prove.sampled_values import NotSampled, SampledValues
from visa_lsp.app.prove.solve import SymbolicItem
from visa_lsp.app.prove.spaces import BUFFER, SHARED
from visa_lsp.app.prove.terms import (
    FALSE,
    LOADED,
    RETURNED,
    UNFOLLOWED,
    Atom,
    Claim,
    Level,
    Sum,
    at_most,
    atoms_of,
    atoms_without_wraps,
    both,
    equal,
    negation,
    number,
    without_wraps,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from visa_lsp.app.prove.payload import LaunchSymbols
    from visa_lsp.app.prove.solve import Solver
    from visa_lsp.app.prove.spaces import ItemAccess, Space
    from visa_lsp.app.prove.walk import Walker
    from visa_lsp.program.payload import KernelInfo

MAX_FACTORS: Final = 3
MAX_SYMBOLS: Final = 9  # of a formula's candidates
MAX_ACCESSES: Final = 64  # of a question
MAX_END: Final = 1 << 31  # of an access, in bytes
MAX_CONSTANT_BYTES: Final = 1 << 16  # of a buffer whose size no argument gives
MAX_MULTIPLE: Final = 64
DIVISORS: Final = (2, 4, 8, 16, 32, 64)
SLACK: Final = Fraction(1, 8)  # of a size that accesses may leave unused or exceed, relative to it
_STARTS: Final = 13, 7  # values of arguments at which accesses start, by sample
MAX_DIVISOR: Final = 1024  # of an id: larger ones are of values that wrap around
MAX_CHOSEN: Final = 1024  # of values that assumptions restrict
SMALLER_CAPS: Final = (64, 16)  # of the groups of further samples, if no work item gets to an access
PART_DIVISORS: Final = (2, 3, 4, 8, 16, 32, 64)  # of an argument in the factor of a formula
NEAR: Final = 2  # elements that a small size may be away from a need
ROUND: Final = 16  # one element more than a multiple of it is off by one
_ITEM: Final = SymbolicItem(1, 0)
# Values of arguments, of which further ones are larger, group sizes by the number of axes, and groups, of each sample. The values of
# an argument differ in their rests by 3, 4 and 5, so that a number rounded up to a multiple is not the same sum in both samples.
_VALUES: Final = ((193, 157, 241, 137, 181, 229), (179, 263, 239, 223, 227, 167))
_LOCAL: Final = (((64, 1, 1), (16, 8, 1), (8, 4, 4)), ((192, 1, 1), (8, 32, 1), (4, 8, 2)))
_GROUPS: Final = ((7, 11, 13), (17, 5, 9))
_GRAINS: Final = 5, 3  # elements of each work item, by sample


@dataclass(frozen=True, slots=True)
class Formula:
    """A number of elements: ``factor`` times a product of symbols, and a rest."""

    factor: Fraction
    symbols: tuple[str, ...]
    value: Sum
    rest: str = ""

    @property
    def words(self) -> str:
        """The formula as an expression for ``--assume``."""
        names = " * ".join(self.symbols)
        if not names:
            return str(self.factor)
        if len(self.symbols) == 1 and self.factor == 1:
            names = re.sub(r"^\((.*)\)$", r"\1", names)
        if self.factor.denominator > 1:
            divisor = self.factor.denominator  # rounded up
            return f"({names} + {divisor - 1}) // {divisor}{self.rest}"
        return (names if self.factor == 1 else f"{self.factor} * {names}") + self.rest


@dataclass(frozen=True, slots=True)
class Need:
    """The need of a buffer: elements of ``bytes_each`` bytes. ``formula`` is None where no formula fits.

    ``nearest`` is the natural size that the need exceeds; None if a host would recognise the need itself, or if there is none.
    """

    name: str
    bytes_each: int
    formula: Formula | None
    nearest: Formula | None = None

    @property
    def natural(self) -> Formula | None:
        """The natural size: the need itself, or the one that it exceeds."""
        return self.nearest or self.formula

    @property
    def unit(self) -> str:
        """The unit of the need, ``element`` or ``byte``: an element whose type is unknown is a byte."""
        return "element" if self.bytes_each > 1 else "byte"

    @property
    def amount(self) -> str:
        """The need in words: ``n + 1 elements``."""
        return self._count(self.formula) if self.formula is not None else ""

    def _count(self, formula: Formula) -> str:
        return f"{formula.words} {self.unit}{'' if formula.words == '1' else 's'}"

    def translate(self, info: KernelInfo, symbols: LaunchSymbols) -> Need:
        """Return the need in the symbols of another walk of the kernel."""
        formula, nearest = (
            one and replace(one, value=read_term(one.words, info, symbols)) for one in (self.formula, self.nearest)
        )
        return replace(self, formula=formula, nearest=nearest)

    def contract(self, size: Sum) -> list[tuple[str, Claim]]:
        """Return the contract that the buffer of ``size`` bytes has its natural size, with its words."""
        if self.natural is None:
            return []
        least = self.natural.value * self.bytes_each
        return [(f"{self.name} has at least {self._count(self.natural)}", at_most(least, size))]

    def is_nearest(self, size: Sum) -> list[Claim]:
        """Return the condition that the buffer of ``size`` bytes has just the natural size that the need exceeds."""
        return [equal(self.nearest.value * self.bytes_each, size)] if self.nearest is not None else []


class NeedFinder:
    """Finds the needs of one kernel. ``facts`` hold in each launch; ``local_cap`` limits a group along each axis."""

    def __init__(
        self, walker: Walker, solver: Solver, accesses: Sequence[ItemAccess], facts: Sequence[Claim],
        fixed: Iterable[Atom], axes: Sequence[int], local_cap: int,
    ) -> None:  # fmt: skip
        self.walker, self.pool, self.symbols, self.solver = walker, walker.pool, walker.symbols, solver
        self.accesses = [one for one in accesses if not one.why and one.space[0] in (BUFFER, SHARED)]
        self.facts, self.fixed, self.axes, self.local_cap = facts, set(fixed), axes, local_cap
        self._smaller = next(
            (NeedFinder(walker, solver, accesses, facts, fixed, axes, cap) for cap in SMALLER_CAPS if cap < local_cap),
            None,
        )  # for kernels that return in large groups
        self._found: dict[tuple[Space, ItemAccess | None], Need] = {}
        self._by_contents: dict[ItemAccess, bool] = {}
        self._ids = [
            {atom for part in parts for atom, _ in part.factors}
            for parts in zip(self.symbols.ids, self.symbols.groups, strict=True)
        ]
        self._groups = [{atom for atom, _ in one.factors} for one in self.symbols.groups]
        self._values = {atom: index for index, value in self.symbols.values.items() for atom, _ in value.factors}

    def find(self, space: Space, access: ItemAccess | None = None) -> Need:
        """Return what the accesses of a buffer need, or one of them. Raises OutOfTime."""
        if (space, access) not in self._found:
            self._found[space, access] = self._find(space, access)
        return self._found[space, access]

    def _find(self, space: Space, access: ItemAccess | None) -> Need:
        own = [one for one in self.accesses if one.space == space and access in (None, one)]
        accesses = [one for one in own if not self.is_by_contents(one)]
        nothing = Need(name_of(self.walker.info, space[1]), element_size(self.walker.info, space[1]), None)
        if not accesses or len(accesses) > MAX_ACCESSES:
            return nothing
        ends, last = [], accesses[0]
        for sample in self.samples:
            reach = self._find_end(accesses, sample)
            if reach is None:
                return self._smaller.find(space, access) if self._smaller is not None else nothing
            ends.append(-(-reach[0] // nothing.bytes_each))
            last = accesses[reach[1]]
        return self._fit(nothing, ends, accesses, last)

    def is_by_contents(self, access: ItemAccess) -> bool:
        """Return whether a loaded value leads the access to any place. Raises OutOfTime."""
        is_free = self._by_contents.get(access)
        if is_free is None:
            is_free = bool(loads_of(access.offset))
            if is_free:
                reach = self._find_end([access], self.samples[0])
                is_free = reach is None or reach[0] > MAX_END // 2 or self._begins_far_before(access)
            self._by_contents[access] = is_free
        return is_free

    def _begins_far_before(self, access: ItemAccess) -> bool:
        """Return whether an access may begin anywhere before its buffer."""
        question = self.solver.question()
        far = both(access.path, at_most(access.offset, -MAX_END // 2))
        return self.solver.ask(question, [question.condition(far, _ITEM)], seconds=1.0).word == "yes"

    # ---- samples

    @cached_property
    def samples(self) -> list[Mapping[Atom, int]]:
        """The values of the symbols of each sample launch."""
        launches: list[Mapping[Atom, int]] = []
        for index in range(len(_VALUES)):
            sample = self._make_sample(index, {})
            if not self._keeps_facts(sample):
                given = self._choose_given(self._without_fixed(sample), launches)
                # With as many work items as the values need.
                sample = self._without_fixed(self._make_sample(index, given)) | given
            launches.append(sample)
        return launches

    def _choose_given(self, sample: Mapping[Atom, int], others: Sequence[Mapping[Atom, int]]) -> dict[Atom, int]:
        """Return large values that the user's assumptions allow for the symbols that they name, other than in a sample before."""
        question = self.solver.question(exact=True)
        hard: list[object] = [question.atom(atom, _ITEM) == value for atom, value in sample.items()]
        hard += [question.condition(fact, _ITEM) for fact in self.facts]
        sizes = {atom for value in self.symbols.sizes.values() for atom, _ in value.factors}
        chosen = [a for a in self.fixed - sizes if not a.parts and a.level is Level.LAUNCH]
        if not chosen:
            return {}
        least = question.names["least"] = z3.Int("least of the chosen values")
        hard += [z3.And(least <= term, term <= MAX_CHOSEN) for term in (question.atom(atom, _ITEM) for atom in chosen)]
        hard += [least < min(one.get(atom, 0) for atom in chosen) for one in others]
        values = self.solver.greatest(question, hard, "least", MAX_CHOSEN) or {}
        return {atom: values[atom.name] for atom in chosen if atom.name in values}

    def _make_sample(self, index: int, given: Mapping[Atom, int]) -> dict[Atom, int]:
        symbols, sample = self.symbols, dict[Atom, int]()
        for at, atom in enumerate(self._values):
            turn, at_value = divmod(at, len(_VALUES[index]))
            sample[atom] = given.get(atom, _VALUES[index][at_value] + 100 * turn)
        sizes = _LOCAL[index][len(self.axes) - 1 if self.axes else 0]
        place = {axis: number_ for number_, axis in enumerate(self.axes)}
        local = [1, 1, 1]
        for axis in self.axes:
            local[axis] = min(sizes[place[axis]], self.local_cap >> index)  # also then another size in each sample
        local = [own.constant if own.is_constant else local[axis] for axis, own in enumerate(symbols.local)]
        for atom in self._starts - given.keys():
            sample[atom] = _STARTS[index]
        guards = self.guards_of(self.accesses)
        for axis, atoms in guards.items():
            # So that there are several groups, of which each sample has another number.
            for atom in atoms - given.keys() - self._starts:
                sample[atom] += local[axis] * (3 + 2 * index) if sample[atom] <= 2 * local[axis] else 0
        for grain, limits in self._grains.items():
            if grain not in given:
                sample[grain] = _GRAINS[index]
                for atom in limits - given.keys() - self._grains.keys():
                    sample[atom] *= _GRAINS[index]
        totals = [local[axis] * (_GROUPS[index][axis] if axis in self.axes else 1) for axis in range(3)]
        for axis, bounds in self._bounds_of_axes(sample, local, totals).items():
            totals[axis] = max(-(-one // local[axis]) * local[axis] for one in bounds)
        for atom, axis in self.free_pitches_of(self.accesses).items():
            if atom in sample and axis:
                sample[atom] = totals[axis - 1] + (3 if axis - 1 in guards else 0)
        sample |= {atom: totals[axis] for atom, axis in self.edges.items() if atom in sample.keys() - given.keys()}
        sample |= {atom: -(-sample[atom] // size) * size for atom, size in self._tiled.items() if atom not in given}
        for axis in range(3):
            for own, value in (
                (symbols.local[axis], local[axis]),
                (symbols.counts[axis], max(1, totals[axis] // local[axis])),
                (symbols.offsets[axis], 0),
            ):
                if not own.is_constant:
                    sample[own.factors[0][0]] = value
        return sample

    def _without_fixed(self, sample: Mapping[Atom, int]) -> dict[Atom, int]:
        """Return a sample without what the user's assumptions name."""
        return {atom: value for atom, value in sample.items() if atom not in self.fixed}

    def _keeps_facts(self, sample: Mapping[Atom, int]) -> bool:
        """Return whether a sample keeps the user's assumptions."""
        values = {atom: number(value) for atom, value in sample.items()}
        return not self.fixed or all(self.pool.replace_in(fact, values.get, {}) != FALSE for fact in self.facts)

    @cached_property
    def _compared(self) -> tuple[Claim, ...]:
        """The comparisons in the conditions of all accesses, each once."""
        return tuple(dict.fromkeys(part for one in self.accesses for part in _comparisons(one.path)))

    @cached_property
    def _tiled(self) -> dict[Atom, int]:
        """The arguments up to which loops count in steps of a fixed size of groups, with that size: whole tiles are their matter."""
        sizes = {size.constant for size in self.symbols.local if size.is_constant} - {1}
        rounds = {atom for term in self.walker.rounds.values() for atom, _ in term.factors}
        size_by_limit: dict[Atom, int] = {}
        for part in self._compared:
            factors = without_wraps(part.term).factors
            steps = {abs(factor) for atom, factor in factors if atom in rounds}
            if len(steps) == 1 and steps <= sizes:
                size_by_limit.update({atom: min(steps) for atom, _ in factors if atom in self._values})
        return size_by_limit

    @property
    def tiles(self) -> dict[int, int]:
        """The sizes of tiles of which arguments are multiples, by the argument."""
        return {self._values[atom]: size for atom, size in self._tiled.items()}

    @cached_property
    def _indices(self) -> set[Atom]:
        """The arguments that nothing counts with: a host has one element, row or plane more than such an index."""
        products = {atom for one in self.accesses for atom in atoms_of(one.offset) if atom.is_product}
        pitches = {part for atom in products if self.axes_of(atoms_of(*atom.parts)) for part in atom.parts}
        return self._values.keys() - set(atoms_of(*self._compared, *pitches))

    @cached_property
    def _starts(self) -> set[Atom]:
        """The arguments that conditions only add to ids, which are less than the arguments that they are compared with."""
        added, bounds = set[Atom](), set[Atom]()
        for part in self._compared:
            plain = [pair for pair in part.term.factors if not pair[0].divisor]
            signs = {factor > 0 for atom, factor in plain if self.axes_of({atom, *atoms_of(*atom.parts)})}
            for atom, factor in plain if len(signs) == 1 else ():
                if atom in self._values:
                    (added if (factor > 0) in signs else bounds).add(atom)
        return added - bounds if bounds else set()

    @cached_property
    def _grains(self) -> dict[Atom, set[Atom]]:
        """The arguments that conditions multiply by ids, elements of each work item, with those that limit the products."""
        grains: dict[Atom, set[Atom]] = {}
        for part in self._compared if len(self.axes) == 1 else ():
            values = self._values.keys() & set(atoms_of(part))
            for atom, _ in part.term.factors:
                inner = set(atoms_of(*atom.parts)) if atom.is_product else set[Atom]()
                own = self._values.keys() & inner
                if self.axes_of(inner) and len(own) == 1:
                    grains.setdefault(next(iter(own)), set()).update(values - own)
        return grains

    def guards_of(self, accesses: Iterable[ItemAccess]) -> dict[int, set[Atom]]:
        """Return for each axis the arguments that conditions compare with its ids.

        What relates the values of a loop to its rounds and to ids is no comparison, unless the access depends on them.
        """
        arguments_by_axis: dict[int, set[Atom]] = {}
        for atoms in self._find_guards(accesses):
            for axis in self.axes_of(atoms):
                arguments_by_axis.setdefault(axis, set()).update(atoms & self._values.keys())
        return arguments_by_axis

    def _find_guards(self, accesses: Iterable[ItemAccess]) -> Iterator[set[Atom]]:
        """Yield the atoms of each condition about arguments; an equality, and its opposite, bound no ids."""
        for part, offset in {(part, one.offset): None for one in accesses for part in parts_of(one.path)}:
            atoms = atoms_without_wraps(part) if any(_comparisons(part)) else set[Atom]()
            if atoms & self._values.keys() and {atom for atom in atoms if atom.line}.issubset(atoms_of(offset)):
                yield atoms

    def _bounds_items(self, accesses: Iterable[ItemAccess], axis: int) -> bool:
        """Return whether a condition about arguments has the local id of an axis, and not only the group id."""
        items = {atom for atom, _ in self.symbols.ids[axis].factors}
        return any(items & atoms for atoms in self._find_guards(accesses))

    def _bounds_groups(self, accesses: Iterable[ItemAccess], axis: int) -> bool:
        """Return whether a condition about arguments has the group id of an axis."""
        groups = {atom for atom, _ in self.symbols.groups[axis].factors}
        return any(groups & atoms for atoms in self._find_guards(accesses))

    def _bounds_of_axes(
        self, sample: Mapping[Atom, int], local: Sequence[int], totals: Sequence[int]
    ) -> dict[int, list[int]]:
        """Return for each axis the numbers of work items that reach the bounds of its ids in a sample.

        Bounds that are numbers only add to the work items that a sample has without them.
        """
        bounds_by_axis: dict[int, list[int]] = {}
        numbers: dict[int, list[int]] = {}
        for compared in {term: None for part in self._compared for term in _cases_of(part.term)}:
            terms = [
                (atom, Fraction(factor * self._grain_in(atom, sample), atom.divisor or 1), axis)
                for atom, factor in compared.factors
                for axis, ids in enumerate(self._ids)
                if atom.divisor <= MAX_DIVISOR and ids & {atom, *atoms_of(*atom.parts)}
            ]
            groups = {one for atom, _, axis in terms for one in self._groups[axis] & {atom, *atoms_of(*atom.parts)}}
            if not groups or min(factor for _, factor, _ in terms) <= 0:
                continue
            rest = Sum(tuple([pair for pair in compared.factors if self._is_of_arguments(pair[0])]), compared.constant)
            # The size of a group is a factor where it is fixed. A transposed index has the groups of another axis.
            axis = next((axis for atom, _, axis in terms if atom.level is Level.GROUP), terms[0][2])
            has_local = any(atom.level is Level.ITEM for atom, _, _ in terms)
            scale = min(factor for _, factor, _ in terms)
            bound = (-self._evaluate(rest, sample) // scale + 1) * (1 if has_local else local[axis])
            if 0 < bound < 1 << 20:
                bounds = (
                    bounds_by_axis.setdefault(axis, []) if rest.factors else numbers.setdefault(axis, [totals[axis]])
                )
                bounds.append(bound)
        return numbers | bounds_by_axis

    def _grain_in(self, atom: Atom, sample: Mapping[Atom, int]) -> int:
        return next((sample[one] for one in atoms_of(*atom.parts) if one in self._grains), 1)

    def _is_of_arguments(self, atom: Atom) -> bool:
        if atom in self._values:
            return True
        tests = () if atom.test is None else (atom.test,)
        inner = list(atoms_of(*atom.parts, *tests))
        return bool(inner) and not atom.is_bits and all(one in self._values or one.parts for one in inner)

    def _evaluate(self, term: Sum, sample: Mapping[Atom, int]) -> int:
        exchanged = self.pool.replace_atoms(term, lambda atom: number(sample[atom]) if atom in sample else None, {})
        return exchanged.constant if exchanged.is_constant else 0

    def axes_of(self, atoms: Iterable[Atom]) -> set[int]:
        """Return the axes whose ids are among some atoms."""
        own = set(atoms)
        return {axis for axis, ids in enumerate(self._ids) if ids & own}

    def free_pitches_of(self, accesses: Iterable[ItemAccess]) -> dict[Atom, int]:
        """Return the pitches that no condition compares with ids, with the first axis that they are multiplied by.

        Such a width of rows is at least the number of work items along the axis below, or what limits these.
        """
        guarded = {one for found in self.guards_of(self.accesses).values() for one in found} | self._tiled.keys()
        return {atom: min(axes) for atom, axes in self.pitches_of(accesses).items() if axes and atom not in guarded}

    def pitches_of(self, accesses: Iterable[ItemAccess]) -> dict[Atom, set[int]]:
        """Return the arguments that are factors in offsets, with the axes of the ids that they are multiplied by."""
        axes_by_pitch: dict[Atom, set[int]] = {}
        for atom in atoms_of(*(one.offset for one in accesses)):
            if not atom.is_product:
                continue
            inner = set(atoms_of(*atom.parts))
            for value in inner & self._values.keys():
                axes_by_pitch.setdefault(value, set()).update(self.axes_of(inner))
        return axes_by_pitch

    @cached_property
    def edges(self) -> dict[Atom, int]:
        """The arguments with which choices in offsets compare the ids of one axis, ``y == h - 1 ? i : i + w``, with the axis."""
        axis_by_edge: dict[Atom, int] = {}
        tests = [atom.test for atom in atoms_of(*(one.offset for one in self.accesses)) if atom.test is not None]
        for test in tests:
            for part in _comparisons(test, "eq"):
                atoms = {atom for atom, _ in part.term.factors}
                axes = self.axes_of(atoms_of(part.term))
                if len(values := atoms & self._values.keys()) == len(axes) == 1:
                    axis_by_edge[values.pop()] = axes.pop()
        return axis_by_edge

    def sizes_as_pitches(self, accesses: Iterable[ItemAccess]) -> dict[int, set[Atom]]:
        """Return for each axis the numbers of groups that are factors in offsets: ``a[k * get_global_size(0) + i]``.

        A loop in steps of that size is none where a condition about arguments compares its values.
        """
        atoms = set(atoms_of(*(one.offset for one in accesses))) - set().union(*self._find_guards(accesses))
        inside = atoms.union(*(atoms_of(*one.parts) for one in atoms if one.is_product))
        counts = {axis: {atom for atom, _ in self.symbols.counts[axis].factors} & inside for axis in self.axes}
        return {axis: own for axis, own in counts.items() if own}

    # ---- the farthest access

    def _find_end(self, accesses: Sequence[ItemAccess], sample: Mapping[Atom, int]) -> tuple[int, int] | None:
        """Return the end of the farthest access in a sample launch, in bytes, and its index; None if it is not known."""
        wraps = any(atom in self.pool.wraps for one in accesses for atom in atoms_of(one.offset, one.path))
        # It may be that no work item gets there with these values of arguments.
        sizes = {atom: value for atom, value in sample.items() if atom not in self._values}
        for values in (sample, sizes) if len(sizes) < len(sample) else (sample,):
            for may_wrap in (False, True) if wraps else (True,):
                end = self._ask_end(accesses, values, may_wrap=may_wrap)
                if end is not None:
                    return end
        return None

    def _ask_end(
        self, accesses: Sequence[ItemAccess], sample: Mapping[Atom, int], *, may_wrap: bool
    ) -> tuple[int, int] | None:
        cache: dict[Atom, Sum] = {}
        wraps = self.pool.wraps

        def exchange(atom: Atom) -> Sum | None:
            return number(sample[atom]) if atom in sample else None

        def plain_of(access: ItemAccess) -> list[Claim]:
            """Return the conditions that the arithmetic of an access does not wrap around."""
            atoms = () if may_wrap else (one for one in atoms_of(access.offset, access.path) if one in wraps)
            return [self.pool.replace_in(wraps[atom][0], exchange, cache) for atom in atoms]

        offsets = [self.pool.replace_atoms(one.offset, exchange, cache) for one in accesses]
        paths = [both(self.pool.replace_in(one.path, exchange, cache), *plain_of(one)) for one in accesses]
        facts = [self.pool.replace_in(fact, exchange, cache) for fact in self.facts]
        with suppress(NotSampled):
            return self._sample_end(accesses, offsets, paths, facts, sample)
        question = self.solver.question(exact=True)
        end, which = z3.Int("end of the farthest access"), z3.Int("the farthest access")
        hard: list[object] = [question.atom(atom, _ITEM) == value for atom, value in sample.items()]
        hard += [question.condition(fact, _ITEM) for fact in facts]
        cases, high = [], 0
        for at, (access, offset, path) in enumerate(zip(accesses, offsets, paths, strict=True)):
            high = max(high, self.pool.limits(offset)[1] + access.size)
            start = question.term(offset, _ITEM)
            cases.append(z3.And(question.condition(path, _ITEM), start >= 0, end == start + access.size, which == at))
        question.names["end"], question.names["which"] = end, which
        # Offsets above that have wrapped around.
        values = self.solver.greatest(question, [*hard, z3.Or(cases), end <= MAX_END], "end", min(high, MAX_END))
        return None if values is None else (values["end"], values["which"])

    def _sample_end(
        self, accesses: Sequence[ItemAccess], offsets: Sequence[Sum], paths: Sequence[Claim], facts: Sequence[Claim],
        sample: Mapping[Atom, int],
    ) -> tuple[int, int] | None:  # fmt: skip
        """Return the end of the farthest access, and its index, by the values for each work item. Raises NotSampled."""
        symbols, counts = self.symbols, dict[Atom, int]()
        for ids, sizes in ((symbols.ids, symbols.local), (symbols.groups, symbols.counts)):
            for id_, size in zip(ids, sizes, strict=True):
                counts.update({atom: self._evaluate(size, sample) for atom, _ in id_.factors})
        if 0 in counts.values():
            raise NotSampled
        values = SampledValues(counts)
        are_allowed = values.claim(both(*facts))
        ends = []
        for index, (access, offset, path) in enumerate(zip(accesses, offsets, paths, strict=True)):
            start = values.term(offset)
            is_made = are_allowed & values.claim(path) & (start >= 0) & (start + access.size <= MAX_END)
            if is_made.any():
                ends.append((int(np.where(is_made, start, -1).max()) + access.size, -index))
        end, index = max(ends, default=(0, 0))
        return (end, -index) if ends else None

    # ---- formulas

    def _fit(self, nothing: Need, ends: Sequence[int], accesses: Sequence[ItemAccess], last: ItemAccess) -> Need:
        """Return the need with the formula nearest to the ends."""
        if max(ends) * nothing.bytes_each > MAX_END // 2:
            return nothing
        if len(set(ends)) == 1:
            return self._constant(nothing, ends[0])
        fits = []
        for formula, values in self._formulas(ends, accesses, last):
            rests = [end - value for end, value in zip(ends, values, strict=True)]
            distance = max(Fraction(abs(rest), value) for rest, value in zip(rests, values, strict=True))
            is_near = distance <= SLACK or max(map(abs, rests)) <= NEAR or self._leaves_a_group(formula, rests)
            sizes = sum(name.startswith(("global_size", "local_size", "groups")) for name in formula.symbols)
            simplicity = len(formula.symbols), max(formula.factor.as_integer_ratio()), sizes, formula.words
            fits.append((not is_near, distance, simplicity, formula, rests))
        if not fits:
            return nothing
        is_far, _, _, formula, rests = min(fits, key=lambda fit: fit[:3])
        if is_far or (len(set(rests)) > 1 and max(rests) > 0):
            guards = {} if self.sizes_as_pitches([last]) else self.guards_of([last])
            compared = {atom for atoms in guards.values() for atom in atoms}
            # Several planes are a size where one sample needs more of them, and another one less.
            related = [
                fit
                for fit in fits
                if compared
                and _is_related(ends, fit[4])
                and (
                    fit[3].factor == 1
                    or (min(fit[4]) < 0 < max(fit[4]) and compared == self._values.keys() & set(atoms_of(fit[3].value)))
                )
            ]
            nearest = (
                min(related, key=lambda fit: (len(compared - set(atoms_of(fit[3].value))), fit[0], fit[2]))[3]
                if related
                else None
            )
            exact = nearest and self._with_one_more(nearest, ends, accesses, guards)
            return Need(nothing.name, nothing.bytes_each, exact, nearest)
        if all(rest <= 0 for rest in rests):
            return Need(nothing.name, nothing.bytes_each, formula)
        whole = Formula(formula.factor, formula.symbols, formula.value + rests[0], f" + {rests[0]}")
        return Need(nothing.name, nothing.bytes_each, whole, formula)

    def _with_one_more(
        self, nearest: Formula, ends: Sequence[int], accesses: Sequence[ItemAccess], guards: Mapping[int, set[Atom]]
    ) -> Formula | None:
        """Return the formula of the ends that has one more of one of the sizes of a natural one, as ``z <= n`` lets through."""
        symbols = self._relevant_symbols(accesses, guards)
        for place, name in enumerate(nearest.symbols):
            terms = [symbols[one] + int(at == place) for at, one in enumerate(nearest.symbols)]
            product = self._multiply(terms)
            if nearest.factor == 1 and [self._evaluate(product, sample) for sample in self.samples] == list(ends):
                names = (*nearest.symbols[:place], f"({name} + 1)", *nearest.symbols[place + 1 :])
                return Formula(nearest.factor, names, product)
        return None

    def _leaves_a_group(self, formula: Formula, rests: Sequence[int]) -> bool:
        """Return whether accesses leave out less than the elements of a group: those of the first work item of each do."""
        axis = next((axis for axis in self.axes if self.symbols.totals(axis) == formula.value), None)
        if axis is None:
            return False
        sizes = [self._evaluate(self.symbols.local[axis], sample) for sample in self.samples]
        return all(-size < rest <= 0 for size, rest in zip(sizes, rests, strict=True))

    def _constant(self, nothing: Need, end: int) -> Need:
        if end * nothing.bytes_each > MAX_CONSTANT_BYTES:
            return nothing
        own = Formula(Fraction(end), (), number(end))
        nearest = Formula(Fraction(end - 1), (), number(end - 1)) if end > ROUND and end % ROUND == 1 else None
        return Need(nothing.name, nothing.bytes_each, own, nearest)

    def _formulas(
        self, ends: Sequence[int], accesses: Sequence[ItemAccess], last: ItemAccess
    ) -> Iterator[tuple[Formula, list[int]]]:
        """Yield natural formulas that may be near the ends, with their values in the samples."""
        guards = self.guards_of([last])
        own = set(atoms_of(last.offset))
        pitches, sizes = self.free_pitches_of([last]), self.sizes_as_pitches([last])
        wanted = [
            sizes.get(axis) or values | {atom for atom, at in pitches.items() if at == axis + 1}
            for axis, values in guards.items()
            if own & (self._ids[axis] if self._bounds_items([last], axis) else self._groups[axis])
        ]
        symbols = self._relevant_symbols(accesses, guards)
        for count in range(1, MAX_FACTORS + 1):
            for chosen in combinations_with_replacement(symbols.items(), count):
                inside = set(atoms_of(*(term for _, term in chosen)))
                if any(not values & inside for values in wanted):
                    continue
                names = tuple(name for name, _ in chosen)
                yield from self._multiples(names, self._multiply([term for _, term in chosen]), ends)
        for (name, term), (other, value) in combinations_with_replacement(symbols.items(), 2):
            # An argument that is added to an index is a start that the host chooses.
            added = {atom for atom, _ in last.offset.factors}
            if name != other and added & ({atom for atom, _ in term.factors} | {atom for atom, _ in value.factors}):
                total = term + value
                values = [self._evaluate(total, sample) for sample in self.samples]
                if min(values) > 0:
                    yield Formula(Fraction(1), (f"({name} + {other})",), total), values

    def _multiply(self, terms: Sequence[Sum]) -> Sum:
        """Return a product, with the fact that the order of three factors does not matter."""
        product = number(1)
        for term in terms:
            product = self.pool.product(product, term)
        if len(terms) == MAX_FACTORS and len(product.factors) == 1:
            a, b, c = terms
            orders = [self.pool.product(self.pool.product(b, c), a), self.pool.product(self.pool.product(a, c), b)]
            self.pool.facts.setdefault(product.factors[0][0], [equal(product, one) for one in orders])
        return product

    def _multiples(
        self, names: tuple[str, ...], product: Sum, ends: Sequence[int]
    ) -> Iterator[tuple[Formula, list[int]]]:
        values = [self._evaluate(product, sample) for sample in self.samples]
        if min(values) <= 0:
            return
        for times in {max(1, round(Fraction(end, value))) for end, value in zip(ends, values, strict=True)}:
            if times <= MAX_MULTIPLE:
                yield Formula(Fraction(times), names, product * times), [times * value for value in values]
        for divisor in DIVISORS:
            yield (
                Formula(Fraction(1, divisor), names, self.pool.quotient(product + (divisor - 1), divisor)),
                [max(1, -(-value // divisor)) for value in values],
            )

    def _find_parts(self, accesses: Sequence[ItemAccess]) -> Iterator[tuple[str, Sum]]:
        """Yield parts of arguments that offsets multiply or conditions compare with ids, by their words: ``(w // 2)``.

        The value is the kernel's own, in which compilers round towards zero.
        """
        terms = [part for atom in atoms_of(*(one.offset for one in accesses)) for part in atom.parts]
        terms += [part.term for one in accesses for part in _comparisons(one.path)]
        own = [
            Sum(tuple([pair for pair in term.factors if self._is_of_arguments(pair[0])]), 0)
            for term in terms
            if any(atom.divisor and self._is_of_arguments(atom) for atom, _ in term.factors)
        ]
        for value in dict.fromkeys(sign for one in own for sign in (one, one * -1)):
            ends = [self._evaluate(value, sample) for sample in self.samples]
            for atom in sorted(self._values.keys() & set(atoms_of(value)), key=lambda one: one.number):
                size = Sum(((atom, 1),), 0)
                for divisor in PART_DIVISORS:
                    part = self.pool.quotient(size, divisor)
                    if ends == [self._evaluate(part, sample) for sample in self.samples] and self._are_equal(
                        value, part, size
                    ):
                        yield f"({name_of(self.walker.info, self._values[atom])} // {divisor})", value

    def _find_row_lengths(self, accesses: Sequence[ItemAccess]) -> Iterator[tuple[str, Sum]]:
        """Yield the lengths of rows that the kernel computes, with their words: the ``2 * k + 1`` of ``a[i * (2 * k + 1)]``."""
        for access in accesses:
            unit = element_size(self.walker.info, access.space[1])
            factors = dict(access.offset.factors)
            lengths: dict[Sum, Sum] = {}
            for atom, factor in access.offset.factors:
                for item, row in permutations(map(without_wraps, atom.parts)) if atom.is_product else ():
                    if self.axes_of(dict(item.factors)) and dict(row.factors).keys() <= self._values.keys():
                        lengths[item] = lengths.get(item, number(0)) + row * factor
            for item, length in lengths.items():
                rests = {Fraction(factors.get(atom, 0), factor) for atom, factor in item.factors}
                whole = length + int(rests.pop())
                if rests or any(number_ % unit for number_ in (whole.constant, *dict(whole.factors).values())):
                    continue
                row = whole.divide(unit, whole.constant // unit)
                if row.constant or len(row.factors) > 1:
                    words = [(name_of(self.walker.info, self._values[atom]), factor) for atom, factor in row.factors]
                    yield f"({sum_words(words, row.constant)})", row

    def _are_equal(self, left: Sum, right: Sum, size: Sum) -> bool:
        """Return whether two terms are certainly equal for any size that is not negative."""
        question = self.solver.question()
        differ = both(at_most(size * -1, 0), negation(equal(left, right)))
        return self.solver.ask(question, [question.condition(differ, _ITEM)], seconds=1.0).word == "no"

    def _relevant_symbols(self, accesses: Sequence[ItemAccess], guards: Mapping[int, set[Atom]]) -> dict[str, Sum]:
        """Return the arguments and sizes that the accesses of a buffer depend on, by their words."""
        atoms = set(atoms_of(*(one.offset for one in accesses), *(one.path for one in accesses)))
        offsets = set(atoms_of(*(one.offset for one in accesses)))
        symbols = {
            name_of(self.walker.info, index): value
            for index, value in self.symbols.values.items()
            if any(atom in atoms for atom, _ in value.factors)
        }
        symbols |= {
            f"({name} + 1)": value + 1
            for name, value in symbols.items()
            if atoms.intersection(self._indices | self._starts, atoms_of(value))
        }
        symbols |= dict(self._find_parts(accesses))
        symbols |= dict(self._find_row_lengths(accesses))
        pitches = self.sizes_as_pitches(accesses)
        for axis in self.axes:
            own = [
                part.factors[0][0] in offsets
                for part in (self.symbols.ids[axis], self.symbols.groups[axis])
                if part.factors
            ]
            sizes = {atom for atom, _ in (*self.symbols.counts[axis].factors, *self.symbols.local[axis].factors)}
            suffix = f"_{AXES[axis]}" if len(self.axes) > 1 else ""
            if axis in guards and not self._bounds_items(accesses, axis):
                symbols[f"local_size{suffix}"] = self.symbols.local[axis]
            if axis in guards and own[-1:] == [True] and not self._bounds_groups(accesses, axis):
                symbols[f"groups{suffix}"] = self.symbols.counts[axis]  # a row of each group
            if (axis in guards and axis not in pitches) or not (any(own) or sizes & atoms):
                continue
            symbols[f"global_size{suffix}"] = self.symbols.totals(axis)
            symbols[f"local_size{suffix}"] = self.symbols.local[axis]
            symbols[f"groups{suffix}"] = self.symbols.counts[axis]
        return {name: value for name, value in list(symbols.items())[:MAX_SYMBOLS] if not value.is_constant}


def _is_related(ends: Sequence[int], rests: Sequence[int]) -> bool:
    """Return whether needs say anything about a size that they exceed by some rests, in no sample by more than its half.

    In some sample they are at least half as large; in others the work items may not get to the end.
    """
    parts = [Fraction(rest, end - rest) for end, rest in zip(ends, rests, strict=True)]
    return max(parts) <= Fraction(1, 2) and min(map(abs, parts)) <= Fraction(1, 2)


def parts_of(path: Claim) -> tuple[Claim, ...]:
    """Return the conditions that a path consists of."""
    return path.parts if path.word == "and" else (path,)


def _comparisons(path: Claim, word: str = "le") -> Iterator[Claim]:
    """Yield the comparisons in a condition, at any depth, by their word in claims."""
    work = [path]
    while work:
        one = work.pop()
        if one.word == word:
            yield one
        work += one.parts


def _cases_of(term: Sum) -> Iterator[Sum]:
    """Yield a term with each value of a choice in it, such as ``min(a, b)``; itself if it has none."""
    pair = next((one for one in term.factors if one[0].test is not None), None)
    if pair is None:
        yield term
        return
    rest = Sum(tuple([one for one in term.factors if one != pair]), term.constant)
    for value in pair[0].parts:
        yield rest + value * pair[1]


def loads_of(*things: Sum | Claim) -> list[Atom]:
    """Return the values from memory that terms and conditions depend on."""
    return [atom for atom in atoms_of(*things) if atom.why in (LOADED, RETURNED, UNFOLLOWED)]
