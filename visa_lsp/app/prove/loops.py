"""Loops: a state that stands for the beginning of any round.

A register that a round does not change keeps its value. A register that each round increases by a fixed amount has its
value before the loop plus that amount times the number of the round. Any other changed register is a new symbol with a
relation to the round before. In a loop with a barrier, the work items of a group are in the same round between two
barriers, so that they share the number of the round and all values that are equal in a group.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from visa_lsp.app.prove.fences import join_orders
from visa_lsp.app.prove.registers import Cell, ItemRegisters, LanePlace, limits
from visa_lsp.app.prove.terms import (
    TRUE,
    ZERO,
    Atom,
    Claim,
    Level,
    Sum,
    at_most,
    atoms_of,
    both,
    either,
    equal,
    negation,
    number,
)
from visa_lsp.app.prove.walk import MAX_ROUNDS, Walker, Way, places_in
from visa_lsp.isa.message_forms import FenceForm
from visa_lsp.isa.model import Trait

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.app.read.model import BranchTest, Repeat

BOUNDED_ROUNDS: Final = 4  # of a loop without a proof; its body is walked as often for each loop around it
MAX_KNOWN_ROUNDS: Final = 32  # of a loop whose conditions are known
MAX_TRIPS: Final = ((1 << 31) - 1, (1 << 32) - 1)  # rounds after the first one, tried in this order
_Key = tuple[int, LanePlace]


def walk_loop(walker: Walker, loop: Repeat, way: Way) -> Way:
    """Walk a loop; return the way after it."""
    places = places_in(loop.body, walker.reading)
    has_barrier = _has_barrier(walker, loop)
    line = min((walker.line(place) for place in (*places, *loop.first_places, *loop.last_places)), default=0)
    if has_barrier and not walker.ignores_barriers and _may_pass_none(walker, loop, way):
        # Because work items may be in different rounds between two barriers, all of the loop is one stretch.
        walker.ignores_barriers = True
        found = walk_loop(walker, loop, way)
        walker.ignores_barriers = False
        return found
    has_barrier = has_barrier and not walker.ignores_barriers
    has_fence = any(isinstance(walker.kernel.instructions[place].row.meaning, FenceForm) for place in places)
    mark = walker.new_interval()
    order = way.order.begin(mark, has_fence=has_fence)
    finder = _Head(walker, loop, way, line, has_barrier=has_barrier)
    head, facts = finder.any_round()
    walker.rounds[mark] = finder.trip
    exits: list[Way] = []
    before = walker.departures
    if not has_barrier:
        start = Way(head.copy(), way.path, way.intervals, (*way.facts, *facts), order)
        end = _round(walker, loop, start, exits)
        _carry(walker, mark, end)
        return _behind(walker, loop, exits, way, all_leave=walker.departures == before)
    # Accesses before the loop meet those of the first round; accesses at the end of a round meet the beginning of the next one.
    outer = walker.stops_at_barrier
    walker.stops_at_barrier = True
    repeated: list[Way] = []
    _round(walker, loop, way.copy(), repeated)
    walker.stops_at_barrier = outer
    if outer:
        return _behind(walker, loop, repeated, way, all_leave=False)
    first_interval = walker.new_interval()
    start = Way(head.copy(), way.path, frozenset({first_interval}), (*way.facts, *facts), order)
    inner: list[Way] = []
    end = _round(walker, loop, start, inner)
    _carry(walker, mark, end)
    exits += [one for one in inner if one.intervals != {first_interval}]
    if not end.is_dead:
        walker.stops_at_barrier = True
        _round(walker, loop, end, repeated)
        walker.stops_at_barrier = outer
    orders = [one.order for one in inner if one.intervals == {first_interval}]
    exits += [replace(one, order=join_orders([one.order, *orders])) for one in repeated]
    return _behind(walker, loop, exits, way, all_leave=walker.departures == before)


def unroll_loop(walker: Walker, loop: Repeat, way: Way) -> Way:
    """Walk the first rounds of a loop one after the other; ``walker.is_cut`` is set if a work item may need more rounds."""
    if _has_barrier(walker, loop) and _may_pass_none(walker, loop, way):
        walker.is_cut = True  # the rounds of work items between two barriers may differ
    exits: list[Way] = []
    before = walker.departures
    end = way.copy()
    for count in range(MAX_KNOWN_ROUNDS):
        if count >= BOUNDED_ROUNDS and (end.path != way.path or walker.is_long):
            break
        end = _round(walker, loop, end, exits)
        if end.is_dead:
            break
    if not end.is_dead and not walker.never([*end.path, *end.facts]):
        walker.is_cut = True
    return _behind(walker, loop, exits, way, all_leave=walker.departures == before)


def _carry(walker: Walker, stretch: int, end: Way) -> None:
    """Record the stretches that are pending after a round, because accesses of later rounds may meet them."""
    if not end.is_dead:
        walker.carried[stretch] = tuple([one.pending for one in end.order.memories])


def _has_barrier(walker: Walker, loop: Repeat) -> bool:
    instructions = (walker.kernel.instructions[place] for place in places_in(loop.body, walker.reading))
    return any(one.row.has(Trait.BARRIER) for one in instructions)


def _may_pass_none(walker: Walker, loop: Repeat, way: Way) -> bool:
    """Return whether a way through the body has no barrier."""
    presumed = walker.presumed
    with walker.trial():
        probe = walker.new_interval()
        unknown = ItemRegisters(walker.pool, walker.lane, surfaces=dict(way.registers.surfaces))
        end = _round(walker, loop, Way(unknown, way.path, frozenset({probe}), way.facts), [])
    walker.presumed = presumed
    return not end.is_dead and probe in end.intervals


def _behind(walker: Walker, loop: Repeat, exits: list[Way], way: Way, *, all_leave: bool) -> Way:
    """Return the way after a loop. ``all_leave`` means that every work item that enters the loop also leaves it."""
    if not exits:
        return replace(way.end(), facts=())
    for one in exits:
        # Lanes that left earlier see the values that the thread later computes for all lanes.
        if any(part.level > Level.THREAD for part in one.path[len(way.path) :]):
            walker.forget_shared(loop.body, one.registers)
    after = walker.join(exits)
    after = replace(after, order=after.order.begin(walker.new_interval()))
    if all_leave:
        after = replace(after, path=way.path, facts=(*after.facts, *after.path[len(way.path) :]))
    return after


def _round(walker: Walker, loop: Repeat, start: Way, exits: list[Way]) -> Way:
    """Walk one round; return the way to the next one, and add the ways that leave to ``exits``."""
    way, left = start, list[Way]()
    if loop.first is not None:
        way = _leave(walker, loop.first, loop.first_places[0], way, left)
    if not way.is_dead:
        way, broken = walker.body(loop.body, way)
        left += broken
        if loop.last is not None and not way.is_dead:
            way = _leave(walker, loop.last, loop.last_places[0], way, left)
    exits += [one for one in left if not one.is_dead]
    return way


def _leave(walker: Walker, test: BranchTest, place: int, way: Way, left: list[Way]) -> Way:
    """Test whether work items stay; return the way of those, and add the way of the others to ``left``."""
    stay = walker.test(test, way, place)
    left.append(way.copy(negation(stay)))
    return way.copy(stay)


class _Head:
    """Finds the state at the beginning of any round."""

    def __init__(self, walker: Walker, loop: Repeat, way: Way, line: int, *, has_barrier: bool) -> None:
        self.walker, self.loop, self.way, self.line = walker, loop, way, line
        self.pool = walker.pool
        self.lowest = Level.GROUP if has_barrier else Level.THREAD
        self.trip = ZERO
        self.levels: dict[_Key, Level] = {}
        self.steps: dict[_Key, Sum] = {}
        self.constant: set[_Key] = set()
        self.masked: set[_Key] = set()  # of values that lanes without a work item, or that have left, do not have
        self.kept = way.registers.copy()  # without what a round writes
        for place in places_in(loop.body, walker.reading):
            walker.forget_writes(walker.kernel.instructions[place], self.kept)
        self.changed = {root for root, cells in way.registers.cells.items() if self.kept.cells.get(root, ()) != cells}

    def any_round(self) -> tuple[ItemRegisters, tuple[Claim, ...]]:
        """Return the registers at the beginning of any round, and the facts about them."""
        presumed = self.walker.presumed
        for limit in (*MAX_TRIPS, 0):
            self.trip = self.pool.fresh("the round of a loop", self.lowest, 0, limit or MAX_TRIPS[0], self.line)
            with self.walker.trial():
                head, symbols, end = self._converge()
                facts = (*self._facts(symbols, end), *self._invariants(symbols, end))
            last = equal(self.trip, limit)
            # Without values that it moves, the number of a round says only whether it is the first one.
            is_certain = end.is_dead or not self.steps
            if is_certain or (limit and self.walker.never([*facts, *end.path, *end.facts, last])):
                return head, facts
            self.walker.presumed = presumed
        loop, sources = self.loop, self.walker.kernel.source_places
        tests = (*loop.first_places, *loop.last_places, *sorted(places_in(loop.body, self.walker.reading)))
        source = next((f" ({one[0]}:{one[1]})" for place in tests if (one := sources[place]) is not None), "")
        words = f"the loop at line {self.line}{source} has at most 2^31 rounds"
        self.walker.presumed = {**self.walker.presumed, self.line: words}
        return head, facts

    def _converge(self) -> tuple[ItemRegisters, dict[_Key, Sum], Way]:
        """Walk rounds until the classes of the values hold; return the state at their beginning, its symbols, and their end."""
        self.steps, self.constant, self.levels, self.masked = {}, set(), {}, set()
        presumed = self.walker.presumed
        attempt = self._attempt()
        for _ in range(MAX_ROUNDS):
            head, symbols, end = attempt
            if not self._refine(symbols, head, end):
                return attempt
            self.walker.presumed = presumed  # what an earlier attempt presumed does not count
            attempt = self._attempt()
        # The classes do not converge, so that every value is a new symbol.
        self.steps.clear()
        self.constant.clear()
        self.levels = dict.fromkeys(self.levels, Level.ITEM)
        self.masked = {(root, cell.place) for root in self.changed for cell in attempt[0].cells[root]}
        self.walker.presumed = presumed
        return self._attempt()

    def _attempt(self) -> tuple[ItemRegisters, dict[_Key, Sum], Way]:
        """Walk a round from a state with the present classes of values."""
        entry = self.way.registers
        head = self.kept.copy()
        head.cells = dict(entry.cells)
        symbols: dict[_Key, Sum] = {}
        for root in self.changed:
            cells: list[Cell] = []
            for cell in entry.cells.get(root, ()):
                key = (root, cell.place)
                value = entry.find(cell.place, signed=cell.signed)
                if value is None:
                    continue
                if key in self.steps:
                    value = value + self.pool.product(self.steps[key], self.trip)
                    value = self.pool.wrap(value, 8 * cell.place.size, signed=cell.signed, line=self.line)
                elif key not in self.constant:
                    lowest = self.lowest if not cell.place.stride else Level.ITEM
                    level = self.levels.setdefault(key, max(value.level, lowest))
                    low, high = limits(cell.place.size, signed=cell.signed)
                    value = self.pool.fresh("a value that changes in a loop", level, low, high, self.line)
                    symbols[key] = value
                by_all = cell.by_all and key not in self.masked
                cells.append(Cell(cell.place, value, cell.signed, by_all, cell.bits))
            head.cells[root] = tuple(cells)
        start = Way(head.copy(), self.way.path, self.way.intervals, self.way.facts)
        return head, symbols, _round(self.walker, self.loop, start, [])

    def _refine(self, symbols: dict[_Key, Sum], head: ItemRegisters, end: Way) -> bool:
        """Reclassify values by the changes of a round; return whether the class of any value changed."""
        if end.is_dead:
            return False
        classes = set(self.constant), dict(self.steps), dict(self.levels), set(self.masked)
        inner = {atom for value in symbols.values() for atom, _ in value.factors} | {self.trip.factors[0][0]}
        for root in self.changed:
            for cell in head.cells[root]:
                key = (root, cell.place)
                if cell.by_all and not end.registers.is_by_all(cell.place):
                    self.masked.add(key)
                after, before = (one.find(cell.place, signed=cell.signed) for one in (end.registers, head))
                step = self._step(before, after, cell.place.size)
                if key in self.constant or key in self.steps:
                    if after is None or (after != before if key in self.constant else step != self.steps[key]):
                        self.constant.discard(key)
                        self.steps.pop(key, None)
                        self.levels[key] = Level.ITEM if cell.place.stride else self.levels.get(key, Level.THREAD)
                elif after is None:
                    self.levels[key] = Level.ITEM
                elif after == before:
                    self.constant.add(key)
                elif step is not None and not any(a in inner or a.line for a in atoms_of(step)):
                    self.steps[key] = step
                else:
                    passed = (one.level for one in end.path[len(self.way.path) :])
                    self.levels[key] = max(self.levels[key], after.level, *passed)
        return classes != (self.constant, self.steps, self.levels, self.masked)

    def _step(self, before: Sum | None, after: Sum | None, size: int) -> Sum | None:
        """Return the amount that a round adds, modulo the range of the register."""
        if before is None or after is None:
            return None
        step = after - before
        kept = [(atom, factor) for atom, factor in step.factors if factor % (1 << 8 * size)]
        return Sum(tuple(kept), step.constant) if len(kept) <= 2 else None

    def _facts(self, symbols: dict[_Key, Sum], end: Way) -> tuple[Claim, ...]:
        """Return the facts at the beginning of a round: either it is the first, or the round before it continued."""
        if end.is_dead:
            return (equal(self.trip, 0),)
        earlier = self._round_before(symbols)
        cache: dict[Atom, Sum] = {}
        went_on = self.pool.replace_in(self._get_continuation(end), earlier, cache)
        ties = []
        start_values = []
        for (_, place), value in symbols.items():
            signed = value.limits()[0] < 0
            after = end.registers.find(place, signed=signed)
            start = self.way.registers.find(place, signed=signed)
            if after is not None:
                ties.append(equal(value, self.pool.replace_atoms(after, earlier, cache)))
            if start is not None:
                start_values.append(equal(value, start))
        again = both(negation(equal(self.trip, 0)), went_on, *ties)
        fact = either(both(equal(self.trip, 0), *start_values), again)
        return (fact,) if fact != TRUE else ()

    def _get_continuation(self, end: Way) -> Claim:
        """Return the condition under which a round continues with the next one."""
        return both(*end.path[len(self.way.path) :], *end.facts[len(self.way.facts) :])

    def _round_before(self, symbols: dict[_Key, Sum]) -> Callable[[Atom], Sum | None]:
        """Return a function that replaces atoms of a round by those of the round before."""
        exchanged: dict[Atom, Sum] = {}
        own = {value.factors[0][0] for value in symbols.values()}
        trip = self.trip.factors[0][0]
        known_before = self._atoms_before() | set(atoms_of(*self.way.path, *self.way.facts))

        def earlier(atom: Atom) -> Sum | None:
            if atom is trip:
                return self.trip + -1
            if atom in own or (atom.line and atom not in known_before):
                if atom not in exchanged:
                    why = atom.why or "a value that changes in a loop"
                    exchanged[atom] = self.pool.fresh(why, atom.level, atom.low, atom.high, atom.line)
                return exchanged[atom]
            return None

        return earlier

    def _invariants(self, symbols: dict[_Key, Sum], end: Way) -> tuple[Claim, ...]:
        """Return the bounds of the symbols that hold before the loop and that each round keeps."""
        before: list[Claim] = [*self.way.path, *self.way.facts]
        candidates: list[tuple[Claim, Claim]] = []
        inner = {atom for value in (*symbols.values(), self.trip) for atom, _ in value.factors}
        for (_, place), value in symbols.items():
            signed = value.limits()[0] < 0
            start, after = (way.registers.find(place, signed=signed) for way in (self.way, end))
            if start is None or after is None or end.is_dead:
                continue
            for bound in (start, number(0), number(1)):
                candidates += [
                    (test(value, bound), test(after, bound))
                    for test in (lambda a, b: at_most(b, a), at_most)
                    if self.walker.never([*before, negation(test(start, bound))])
                ]
            # What a round demands of the next value, as ``s < n`` of ``s * 2``, may hold before the loop too.
            for part in end.path[len(self.way.path) :]:
                for sign in (1, -1) if part.word == "le" else ():
                    rest = part.term - after * sign
                    bounded = at_most(start * sign + rest, 0)
                    if not inner & set(atoms_of(rest)) and self.walker.never([*before, negation(bounded)]):
                        candidates.append((at_most(value * sign + rest, 0), part))
        if not end.is_dead:
            # The round before continued without wrapping, which means that no arithmetic of earlier rounds has wrapped around.
            plain = self.pool.replace_in(self._get_continuation(end), self._drop_wrap, {})
            earlier = self.pool.replace_in(plain, self._round_before(symbols), {})
            candidates.append((either(equal(self.trip, 0), earlier), plain))
        candidates = list(dict.fromkeys(one for one in candidates if one[0] != TRUE))
        round_ = [*end.path, *end.facts]
        while candidates:
            kept = [
                one for one in candidates
                if self.walker.never([*round_, *(other[0] for other in candidates), negation(one[1])])
            ]  # fmt: skip
            if len(kept) == len(candidates):
                break
            candidates = kept
        return tuple([one[0] for one in candidates])

    def _drop_wrap(self, atom: Atom) -> Sum | None:
        return number(0) if atom in self.pool.wraps else None

    def _atoms_before(self) -> set[Atom]:
        registers = self.way.registers
        values = [cell.value for cells in registers.cells.values() for cell in cells]
        return set(atoms_of(*values, *(one[2] for flags in registers.flags.values() for one in flags)))
