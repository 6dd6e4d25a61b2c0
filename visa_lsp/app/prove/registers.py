"""The registers of a symbolic work item: the values that its own lane reads and writes, as terms.

A cell has the values that one instruction wrote: an element for each of its lanes, contiguous or strided, or one
element for the thread. The item's lane is a symbol, so that a value written for all lanes is one term. The value that
another lane wrote is known only if all lanes have the same value; otherwise it is a new symbol. Invariant: a read value
is that of the register, or a symbol without restrictions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from visa_lsp.app.prove.terms import (
    FALSE,
    TRUE,
    UNFOLLOWED,
    ZERO,
    Claim,
    Level,
    Sum,
    SumPool,
    at_most,
    atoms_of,
    both,
    either,
    less,
    negation,
)


@dataclass(frozen=True, slots=True)
class LanePlace:
    """The place of the elements of lanes: lane ``l`` of ``lanes`` from ``first`` on has ``size`` bytes at ``base + l * stride``.

    With stride 0 there is one element for all lanes.
    """

    root: int
    base: int
    stride: int
    size: int
    first_lane: int = 0
    lanes: int = 1

    @property
    def bits(self) -> int:
        """A bit for each byte of the variable."""
        lane_bits = (1 << self.size) - 1
        bits_of_all = 0
        for lane in range(self.first_lane, self.first_lane + self.lanes) if self.stride else (0,):
            start = self.base + lane * self.stride
            if start >= 0:
                bits_of_all |= lane_bits << start
        return bits_of_all


@dataclass(frozen=True, slots=True)
class Cell:
    """A value at a place. ``by_all``: every lane of the place wrote it."""

    place: LanePlace
    value: Sum
    signed: bool
    by_all: bool
    bits: int


def is_lane_in(lane: Sum, first_lane: int, lanes: int) -> Claim:
    """Return the condition that a lane is one of ``lanes`` lanes from ``first_lane`` on."""
    return both(at_most(lane * -1 + first_lane, 0), less(lane, first_lane + lanes))


@dataclass(slots=True)
class ItemRegisters:
    """The cells of each root variable, the latest last; the conditions in predicates; the surfaces of state variables.

    A surface is a number of the binding table, or the complement of the number of its argument. ``addresses`` are those
    of variables: by the elements that hold them (variable, first, count), the variable and the byte in it.
    """

    pool: SumPool
    lane: Sum
    cells: dict[int, tuple[Cell, ...]] = field(default_factory=dict)
    flags: dict[int, tuple[tuple[int, int, Claim, bool], ...]] = field(default_factory=dict)
    surfaces: dict[int, int | None] = field(default_factory=dict)
    addresses: dict[tuple[int, int, int], tuple[int, Sum]] = field(default_factory=dict)

    def copy(self) -> ItemRegisters:
        """Return a copy that changes independently."""
        parts = dict(self.cells), dict(self.flags), dict(self.surfaces), dict(self.addresses)
        return ItemRegisters(self.pool, self.lane, *parts)

    def forget_addresses(self, var: int) -> None:
        """Forget the elements of an address variable."""
        for key in [one for one in self.addresses if one[0] == var]:
            del self.addresses[key]

    # ---- values

    def read(self, place: LanePlace, *, signed: bool, line: int) -> Sum:
        """Return the value of the item's lane."""
        found = self.find(place, signed=signed)
        if found is not None:
            return found
        low, high = limits(place.size, signed=signed)
        return self.pool.fresh(UNFOLLOWED, Level.ITEM if place.stride else Level.THREAD, low, high, line)

    def find(self, place: LanePlace, *, signed: bool) -> Sum | None:
        """Return the value of the item's lane; None if it is unknown."""
        need = place.bits
        parts: list[tuple[LanePlace, Sum]] = []
        for cell in reversed(self.cells.get(place.root, ())):
            if not cell.bits & need:
                continue
            cell_place = cell.place
            value = self._from(cell, place, need)
            if value is None:
                if cell_place.size < place.size:
                    return self._join(place, cell_place.size, signed=signed)
                moved = self._of_other_lanes(cell, place)
                if moved is None:
                    return None
                cell_place, value = moved
            parts.append((cell_place, self.pool.wrap(value, 8 * place.size, signed=signed)))
            need &= ~cell.bits
            if not need:
                break
        if need or not parts:
            return None
        result = parts[-1][1]
        for cell_place, value in reversed(parts[:-1]):
            here = is_lane_in(self.lane, cell_place.first_lane, cell_place.lanes) if cell_place.stride else TRUE
            result = self.pool.choice(here, value, result)
        return result

    def _from(self, cell: Cell, place: LanePlace, need: int) -> Sum | None:
        """Return the value of a place from a cell, before sign extension; None if the cell does not give it."""
        cell_place = cell.place
        inside = place.base - cell_place.base
        value = cell.value
        if cell_place.stride == place.stride and inside >= 0 and inside + place.size <= cell_place.size:
            return self._piece(value, inside)
        # The element of another lane is known if all lanes have the same value and have written it.
        if need & ~cell.bits or not cell.by_all or not cell_place.stride:
            return None
        if value.level <= Level.THREAD:
            within = inside % cell_place.stride if place.stride % cell_place.stride == 0 else -1
            if within >= 0 and within + place.size <= cell_place.size:
                return self._piece(value, within)
        if not place.stride and 0 <= inside % cell_place.stride <= cell_place.size - place.size:
            # A single lane is read: its value is known if it depends on the number of the lane only.
            other = inside // cell_place.stride
            lanes = [atom for atom, _ in self.lane.factors]
            if cell_place.first_lane <= other < cell_place.first_lane + cell_place.lanes and all(
                a in lanes or a.parts or a.level <= Level.THREAD for a in atoms_of(value)
            ):
                moved = self.pool.replace_atoms(value, lambda a: Sum((), other) if a in lanes else None, {})
                return self._piece(moved, inside % cell_place.stride)
        return None

    def _of_other_lanes(self, cell: Cell, place: LanePlace) -> tuple[LanePlace, Sum] | None:
        """Return the elements of a cell as those of other lanes of a place; None if they do not depend on the lane only."""
        cell_place, apart = cell.place, cell.place.base - place.base
        if (
            not cell.by_all
            or cell_place.stride != place.stride
            or not cell_place.stride
            or apart % cell_place.stride
            or cell_place.size < place.size
        ):
            return None
        lanes, moved = [atom for atom, _ in self.lane.factors], apart // cell_place.stride
        if not all(atom in lanes or atom.parts or atom.level <= Level.THREAD for atom in atoms_of(cell.value)):
            return None
        value = self.pool.replace_atoms(cell.value, lambda atom: self.lane + -moved if atom in lanes else None, {})
        return replace(cell_place, base=place.base, first_lane=cell_place.first_lane + moved), value

    def _piece(self, value: Sum, first_byte: int) -> Sum:
        """Return a value from its byte ``first_byte`` on."""
        return self.pool.quotient(value, 1 << 8 * first_byte) if first_byte else value

    def _join(self, place: LanePlace, size: int, *, signed: bool) -> Sum | None:
        """Return a value that lies in several cells of ``size`` bytes."""
        if place.size % size:
            return None
        total = ZERO
        for first_byte in range(0, place.size, size):
            part = self.find(replace(place, base=place.base + first_byte, size=size), signed=False)
            if part is None:
                return None
            total = total + part * (1 << 8 * first_byte)
        return self.pool.wrap(total, 8 * place.size, signed=signed)

    def write(self, place: LanePlace, value: Sum, *, signed: bool, by_all: bool) -> None:
        """Replace the value of a place."""
        bits = place.bits
        kept = [cell for cell in self.cells.get(place.root, ()) if cell.bits & ~bits]
        self.cells[place.root] = (*kept, Cell(place, value, signed, by_all, bits))

    def forget(self, root: int, bits: int = -1) -> None:
        """Make bytes of a variable unknown."""
        kept: list[Cell] = []
        for cell in reversed(self.cells.get(root, ())):
            if cell.bits & bits:
                bits |= cell.bits  # under which older cells have values of before
            else:
                kept.insert(0, cell)
        self.cells[root] = tuple(kept)

    def is_by_all(self, place: LanePlace) -> bool:
        """Return whether every lane has written the elements of a place, or the thread has one element there."""
        return not place.stride or all(one.by_all for one in self.cells.get(place.root, ()) if one.bits & place.bits)

    # ---- predicates

    def is_flag_by_all(self, var: int) -> bool:
        """Return whether every lane has written its bit of a predicate."""
        return all(one[3] for one in self.flags.get(var, ()))

    def flag(self, var: int, first_bit: int, lanes: int, *, whole: bool) -> Claim | None:
        """Return a predicate's bit for the item's lane, or with ``whole`` bit ``first_bit`` for all lanes; None if unknown."""
        need = 1 if whole else lanes
        wanted = ((1 << need) - 1) << first_bit
        pieces: list[tuple[int, int, Claim]] = []
        for start, count, value, by_all in reversed(self.flags.get(var, ())):
            own = ((1 << count) - 1) << start
            if not own & wanted:
                continue
            if whole and (value.level > Level.THREAD or not by_all):
                return None
            pieces.append((start, count, value))
            wanted &= ~own
            if not wanted:
                break
        if wanted or not pieces:
            return None
        result = pieces[-1][2]
        for start, count, value in reversed(pieces[:-1]):
            if value == result:
                continue
            here = is_lane_in(self.lane, start, count)
            result = either(both(here, value), both(negation(here), result))
        return result

    def set_flag(self, var: int, first_bit: int, lanes: int, value: Claim, *, by_all: bool) -> None:
        """Set bits of a predicate."""
        own = ((1 << lanes) - 1) << first_bit
        kept = [one for one in self.flags.get(var, ()) if ((1 << one[1]) - 1) << one[0] & ~own]
        self.flags[var] = (*kept, (first_bit, lanes, value, by_all))

    # ---- joins

    def merge(self, other: ItemRegisters, test: Claim) -> ItemRegisters:
        """Return the registers after a branch: these if the test holds, otherwise the others."""
        if test == TRUE:
            return self
        if test == FALSE:
            return other
        merged = ItemRegisters(self.pool, self.lane)
        for root in self.cells.keys() | other.cells.keys():
            mine, theirs = self.cells.get(root, ()), other.cells.get(root, ())
            if mine == theirs:
                merged.cells[root] = mine
                continue
            cells: list[Cell] = []
            seen: set[tuple[LanePlace, bool]] = set()
            for cell in (*mine, *theirs):
                key = (cell.place, cell.signed)
                if key in seen:
                    continue
                seen.add(key)
                own_value, other_value = (r.find(cell.place, signed=cell.signed) for r in (self, other))
                if own_value is None or other_value is None:
                    continue
                by_all = (
                    cell.by_all and test.level <= Level.THREAD and all(r.is_by_all(cell.place) for r in (self, other))
                )
                cells.append(
                    Cell(cell.place, self.pool.choice(test, own_value, other_value), cell.signed, by_all, cell.bits)
                )
            merged.cells[root] = tuple(cells)
        for var in self.flags.keys() | other.flags.keys():
            merged.flags[var] = self._merge_flag(other, var, test)
        for var in self.surfaces.keys() | other.surfaces.keys():
            own_surface, other_surface = self.surfaces.get(var), other.surfaces.get(var)
            merged.surfaces[var] = own_surface if own_surface == other_surface else None
        for elements in self.addresses.keys() & other.addresses.keys():
            (variable, mine_at), (second, theirs_at) = self.addresses[elements], other.addresses[elements]
            if variable == second:
                merged.addresses[elements] = variable, self.pool.choice(test, mine_at, theirs_at)
        return merged

    def _merge_flag(self, other: ItemRegisters, var: int, test: Claim) -> tuple[tuple[int, int, Claim, bool], ...]:
        mine, theirs = self.flags.get(var, ()), other.flags.get(var, ())
        if mine == theirs:
            return mine
        out = []
        by_all = test.level <= Level.THREAD and self.is_flag_by_all(var) and other.is_flag_by_all(var)
        for start, count in dict.fromkeys((a, b) for a, b, _, _ in (*mine, *theirs)):
            one, two = (r.flag(var, start, count, whole=False) for r in (self, other))
            if one is not None and two is not None:
                value = either(both(test, one), both(negation(test), two)) if one != two else one
                out.append((start, count, value, by_all))
        return tuple(out)


def limits(size: int, *, signed: bool) -> tuple[int, int]:
    """Return the least and the greatest integer of ``size`` bytes."""
    return (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if signed else (0, (1 << 8 * size) - 1)
