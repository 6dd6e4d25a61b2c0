"""The answers of a proof: for each property and access, proved, refuted by a launch, or unknown with a reason."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations, islice, permutations
from typing import TYPE_CHECKING, Final, cast

import z3
from msgspec import structs

from visa_lsp.app.prove import BufferNeed, Cause, ProofResult
from visa_lsp.app.prove.assume import assumption, name_of, vector_type
from visa_lsp.app.prove.axes import find_used_axes
from visa_lsp.app.prove.definedness import Definedness, IndexedRow
from visa_lsp.app.prove.global_ids import GlobalIds
from visa_lsp.app.prove.journal import LATE, Journal, worst_answers
from visa_lsp.app.prove.needs import MAX_DIVISOR, Need, NeedFinder, loads_of, parts_of
from visa_lsp.app.prove.payload import AXES, size_of
from visa_lsp.app.prove.solve import OutOfTime, Question, Solver, SolverAnswer, SymbolicItem, has_moment
from visa_lsp.app.prove.spaces import (
    ARRAY,
    BUFFER,
    IMAGE,
    NO_POINTER,
    PRIVATE,
    SHARED,
    UNKNOWN,
    VARIABLE,
    ItemAccess,
    LoadedElement,
    Space,
    memory_of,
)
from visa_lsp.app.prove.terms import (
    TRUE,
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
)
from visa_lsp.app.read.effects import Effects
from visa_lsp.flow.bit_accesses import exec_control_of
from visa_lsp.flow.steps import Space as RegisterSpace
from visa_lsp.flow.steps import number_of, space_of, variable_key
from visa_lsp.isa.predefined import FIRST_VARIABLE
from visa_lsp.program import regions
from visa_lsp.program.model import Indirect
from visa_lsp.sim.launch.layout import MAX_GROUP_ITEMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from visa_lsp.app.prove.walk import Meeting, Walker

PROVED, REFUTED, UNKNOWN_ANSWER = "proved", "refuted", "unknown"
QUESTION_SECONDS: Final = 5.0
PLAIN_SECONDS: Final = 2.0  # of a question whether arithmetic that wraps around does not matter
MODEL_SECONDS: Final = 2.0
ASSUMPTION_SECONDS: Final = 0.2
SMALL_SECONDS: Final = 1.0
SMALL_LINE: Final = 1 << 17  # work items of a small launch along its only axis, and its arguments
SMALL_SIDE: Final = 1 << 8  # the same if it has several axes
SMALL_PRODUCT: Final = 1 << 20  # of its arguments, sizes and ids
MAX_NAMES: Final = 2  # arguments in the assumptions that are offered
MAX_MISSES: Final = 3  # unanswered questions about one counterexample
MAX_OVERHANG: Final = 8  # work items by whose accesses a group may leave shared local memory that others fill
LOCAL_CAPS: Final = (MAX_GROUP_ITEMS, 1024, 512, 256, 128, 64, 32, 16, 8)  # work items along an axis of a group
MAX_MODEL_BYTES: Final = 1 << 16
MAX_MODEL_SHARED: Final = 1 << 12
MAX_MODEL_LOCAL_BYTES: Final = 1 << 15  # of an argument in shared local memory
MAX_MODEL_LOCAL: Final = (64, 4, 4)  # work items along each axis of a group
MAX_MODEL_GROUPS: Final = 4
MAX_MODEL_VALUE: Final = 4096
MAX_CONTENT_BYTES: Final = 1 << 12  # of a buffer, whose first contents a counterexample chooses
MAX_LOADS: Final = 24  # whose values a counterexample chooses
MAX_EXAMPLES: Final = 3  # launches of a counterexample to run
PARTIAL_LOCAL_SIZE: Final = 10  # work items of a group whose thread is not full, whatever its SIMD width
FIRST_POINTER: Final = 1 << 32  # of a counterexample: buffers lie at multiples of it
TILE: Final = 16  # work items along an axis of a tile, because compilers and programmers use multiples of it
_MET: Final = "all work items of a group come to the barrier of line {}"
_IN_STEP: Final = (
    "lanes of one thread may meet there, between which compilers drop barriers; --no-item-races takes them for ordered"
)
_STAYS: Final = "accesses of shared local memory stay in their arrays (see the answers for bounds)"
_STAYS_PRIVATE: Final = "accesses of private memory stay in the part of their work item"
_EQUAL: Final = "the work items seem to store equal values, which the simulator does not report"
_STAYS_IN_MEMORY: Final = "no access leaves its memory for another one (see the answers for bounds)"
_STAYS_INDIRECT: Final = "indices of private arrays stay inside the arrays (see the answers for bounds)"
_ITEM: Final = SymbolicItem(1, 0)
_OF_A_GROUP: Final = SymbolicItem(1, 0), SymbolicItem(2, 0)
_OF_TWO_GROUPS: Final = SymbolicItem(1, 1), SymbolicItem(2, 2)
_LOCAL_SIZES: Final = (
    (32, 1, 1),
    (16, 1, 1),
    (64, 1, 1),
    (8, 4, 1),
    (16, 16, 1),
    (128, 1, 1),
    (256, 1, 1),
    (4, 4, 4),
    (3, 1, 1),
)


@dataclass(frozen=True, slots=True)
class Example:
    """A launch: the values of symbols, and of each buffer argument the contents (size and value by offset) and bytes in use."""

    values: Mapping[str, int]
    contents: Mapping[int, Mapping[int, tuple[int, int]]] = field(default_factory=dict)
    reach: Mapping[int, int] = field(default_factory=dict)


_Contract = list[tuple[str, "Claim"]]
_Conditions = Callable[[Question], list[object]]


@dataclass(slots=True)
class _Group:
    """Accesses that differ only in their instructions."""

    access: ItemAccess
    lines: list[int] = field(default_factory=list)


class _MemoryOfModel:
    """The loads of the work items of a counterexample; their values are the first contents of buffers."""

    def __init__(
        self, loaded: Mapping[Atom, LoadedElement], question: Question, items: Sequence[SymbolicItem],
        accesses: Sequence[ItemAccess],
    ) -> None:  # fmt: skip
        self._loaded, self._question, self._items = loaded, question, items
        self._accesses = [one for one in zip(accesses, items, strict=False) if one[0].space[0] == BUFFER]
        self._loads: list[tuple[LoadedElement, str, str]] = []  # with the names of their offset and their value

    def conditions(self) -> list[object]:
        """Return the conditions that equal places hold equal values, and that all lie near the start of their buffers."""
        question = self._question
        for at, (access, item) in enumerate(self._accesses):
            question.name(f"place {at}", access.offset, item)
        conditions: list[object] = []
        work = True
        while work and len(self._loads) < MAX_LOADS:
            # The offset of a load may be a loaded value.
            done = {name for _, _, name in self._loads}
            fresh = [
                (one, item, name) for item in self._items for atom, one in self._loaded.items()
                if one.space[0] == BUFFER and (name := question.name_of(atom, item)) in question.names and name not in done
            ]  # fmt: skip
            work = bool(fresh)
            for load, item, name in fresh[: MAX_LOADS - len(self._loads)]:
                offset, value = question.name(f"offset of {name}", load.offset, item), question.names[name]
                conditions += [offset >= 0, offset + load.size <= MAX_CONTENT_BYTES]
                conditions += [
                    z3.Implies(offset == question.names[there], value == question.names[other])
                    for earlier, there, other in self._loads
                    if earlier.space == load.space and earlier.size == load.size
                ]
                self._loads.append((load, f"offset of {name}", name))
        return conditions

    def usual_values(self) -> list[object]:
        """Return the conditions that loaded values are small, as indices of a host are; none without a load."""
        loaded_values = [self._question.names[name] for _, _, name in self._loads]
        return [one for value in loaded_values for one in (value >= 0, value <= MAX_MODEL_VALUE)]

    def contents(self, values: Mapping[str, int]) -> tuple[dict[int, dict[int, tuple[int, int]]], dict[int, int]]:
        """Return for each buffer its contents, as size and value by offset, and the bytes that the accesses reach."""
        contents_by_buffer: dict[int, dict[int, tuple[int, int]]] = {}
        reach: dict[int, int] = {}
        for one, offset, name in self._loads:
            contents_by_buffer.setdefault(one.space[1], {})[values[offset]] = (one.size, values[name])
            reach[one.space[1]] = max(reach.get(one.space[1], 0), values[offset] + one.size)
        for at, (access, _) in enumerate(self._accesses):
            reach[access.space[1]] = max(reach.get(access.space[1], 0), values[f"place {at}"] + access.size)
        return contents_by_buffer, reach


class Prover:
    """Answers for one kernel.

    ``known_needs`` and ``known_tiles`` replace the needs of buffers, and the tiles of arguments, that the walk shows, where it leaves
    rounds of loops out.
    ``confirm`` runs the launch of a counterexample, given the property, the lines and the example, and returns the
    text of its launch file if the simulator finds the fault; without an example, that of an earlier launch. Lanes of one
    thread may race if ``item_races``; if they are ``in_step``, barriers between them may have been dropped. ``given`` are
    the user's assumptions, with their words. ``journal`` receives the answers as soon as they are decided.
    """

    def __init__(
        self, walker: Walker, seconds: float, given: _Contract,
        confirm: Callable[[str, Sequence[int], Example | None], str | None], *, item_races: bool = True,
        in_step: bool = False, journal: Journal | None = None, known_needs: Mapping[Space, Need] | None = None,
        known_tiles: Mapping[int, int] | None = None,
    ) -> None:  # fmt: skip
        self.journal = journal or Journal(walker.kernel.name)
        self.walker, self.pool, self.symbols = walker, walker.pool, walker.symbols
        self.solver = Solver(walker.pool, time.monotonic() + seconds, min(QUESTION_SECONDS, seconds))
        self.given, self.confirm = given, confirm
        self._ids = self.symbols.ids if item_races else self._thread  # what differs between two parties of a group
        self._in_step = in_step
        self._inside: dict[ItemAccess, bool] = {}
        self._may_leave = False  # whether an access may leave its memory for another one; known once bounds are decided
        self._apart: dict[frozenset[ItemAccess], ProofResult] = {}  # pairs of accesses that never meet
        self._may_wrap: dict[Claim, bool] = {}  # in small launches, by the condition that arithmetic does not
        self._signs: dict[str, dict[str, Claim]] = {}  # what else an assumption about a wrap presumes, by its words
        self.claims: dict[str, Claim] = {}  # the conditions of assumptions, by their words
        self._known_needs, self._known_tiles = known_needs, known_tiles
        self._needs: dict[Space, Need | None] = {}
        self.groups = _group_accesses(walker.accesses)
        self.always = [words for words, _ in given] + list(walker.presumed.values())
        if len({group.access.space for group in self.groups if group.access.space[0] == BUFFER}) > 1:
            self.always.append("buffers of different arguments do not overlap")
        if self.symbols.variables:
            self.always.append("variables of the program do not lie in buffers of arguments")
        self.facts = [condition for _, condition in given] + list(self.symbols.facts)
        self.axes = [0, 1, 2]  # the properties that the kernel uses
        self._flat_axes()
        self._item: Sum | None = None  # the number of a work item in its group, where the lane matters
        self._number_items()
        self._global_ids = GlobalIds(self.symbols, self.axes, self.walker.lane)
        self.cap: _Contract = []
        self._largest_local = MAX_GROUP_ITEMS  # along each axis, by the cap
        with suppress(OutOfTime):
            self._cap_groups()
            arrays = [group.access for group in self.groups if group.access.space[0] == ARRAY]
            if not all(map(self._is_inside, arrays)):
                self.always.append(_STAYS_INDIRECT)

    @cached_property
    def _neighbours(self) -> set[Space]:
        """The memories whose accesses out of bounds may hit another one: buffers by flat addresses, and local arguments."""
        spaces = {group.access.space for group in self.groups}
        buffers, local = ({space for space in spaces if space[0] == kind} for kind in (BUFFER, SHARED))
        flat = buffers & self.walker.memory.flat if len(buffers) > 1 else set[Space]()
        return flat | (local if len(local) > 1 else set[Space]())

    @cached_property
    def _thread(self) -> list[Sum]:
        """The number of the thread of a work item in its group."""
        return [self._number_of_thread()]

    @cached_property
    def effects(self) -> Effects:
        """The registers that the instructions read and write."""
        return Effects(self.walker.kernel, self.walker.platform.grf_bytes)

    def results(self, properties: Sequence[str]) -> list[ProofResult]:
        """Return the answers for properties, in the order of the lines."""
        if not self._is_possible(TRUE):
            return [self._report_unknown(one, 1, "the assumptions allow no launch") for one in properties]
        tasks: list[tuple[str, Sequence[int], Callable[[], Iterable[ProofResult]]]] = [
            ("uninitialised", (), self._definedness)
        ]
        tasks += [
            (property_, group.lines, partial(self._answer_group, property_, decide, group))
            for property_, decide in (("bounds", self._bounds), ("race", self._race))
            for group in self.groups
            if property_ != "race" or group.access.space[0] != ARRAY  # registers, which no other work item accesses
        ]
        unreached = self.walker.find_unreached_lines()
        for property_ in ("bounds", "race"):
            proved = [self._report_proved(property_, line) for line in unreached]
            tasks.append((property_, unreached, partial(list, proved)))
        tasks.append(("divergence", [one.line for one in self.walker.meetings], self._meetings))
        tasks = [one for one in tasks if one[0] in properties]
        self._may_leave = "bounds" not in properties and bool(self._neighbours)
        self.journal.plan((property_, lines) for property_, lines, _ in tasks)
        answers: list[ProofResult] = []
        for number_, (_, _, decide_) in enumerate(tasks):
            results = list(decide_())
            self.journal.add(number_, results)
            answers += results
        return worst_answers(answers)

    def _answer_group(
        self, property_: str, decide: Callable[[_Group], ProofResult], group: _Group
    ) -> list[ProofResult]:  # fmt: skip
        result = self._in_time(property_, group.access.line, partial(decide, group))
        if property_ == "bounds" and result.reason == LATE and loads_of(group.access.offset):
            result = structs.replace(result, cause=Cause.CONTENTS)
        self._may_leave |= property_ == "bounds" and result.answer != PROVED and group.access.space in self._neighbours
        if property_ == "race" and result.answer == PROVED and self._may_leave:
            result = structs.replace(result, assumptions=(*result.assumptions, _STAYS_IN_MEMORY))
        kind, argument = group.access.space
        need = self._needs.get(group.access.space) if property_ == "bounds" else None
        if property_ == "bounds" and kind in (BUFFER, SHARED) and argument >= 0 and result.answer == UNKNOWN_ANSWER:
            is_open = need is None or need.formula is None
            result = structs.replace(result, cause=result.cause or (Cause.OPEN if is_open else None))
        if need is not None and need.formula is not None:
            exceeds = need.nearest.words if need.nearest is not None else None
            vector = vector_type(self.walker.info, group.access.space[1])
            own = BufferNeed(need.name, need.formula.words, f"{need.unit}s", exceeds, vector)
            result = structs.replace(result, needs=(own,))
        return [structs.replace(result, line=line) for line in group.lines]

    def _meetings(self) -> list[ProofResult]:
        """Return the answers for all barriers."""
        met = [
            self._in_time("divergence", one.line, partial(self._divergence, one)) for one in self.walker.meetings
        ]  # fmt: skip
        # Work items that miss one barrier are behind the others at the next one.
        missed = [_MET.format(one.line) for one in met if one.answer != PROVED]
        return [
            structs.replace(one, assumptions=(*one.assumptions, *missed)) if one.answer == PROVED else one
            for one in met
        ]

    def _in_time(self, property_: str, line: int, decide: Callable[[], ProofResult]) -> ProofResult:
        try:
            return decide()
        except OutOfTime:
            return self._report_unknown(property_, line, LATE)

    def _report_proved(self, property_: str, line: int, assumptions: Iterable[str] = ()) -> ProofResult:
        others = dict.fromkeys(one for one in assumptions if one not in self.always)
        return ProofResult(property_, self.walker.kernel.name, line, PROVED, (*self.always, *others))

    def _report_unknown(
        self, property_: str, line: int, why: str | None = None, cause: Cause | None = None
    ) -> ProofResult:
        return ProofResult(property_, self.walker.kernel.name, line, UNKNOWN_ANSWER, reason=why, cause=cause)

    def _report_refuted(self, property_: str, line: int, launch: str, assumptions: Sequence[str] = ()) -> ProofResult:
        return ProofResult(property_, self.walker.kernel.name, line, REFUTED, tuple(assumptions), launch)

    def _flat_axes(self) -> None:
        """Assume one work item along an axis that the kernel does not use."""
        used = find_used_axes(self.walker.start, self.symbols, self.effects)
        given = set(atoms_of(*(condition for _, condition in self.given)))
        only_numbers = self._find_axes_of_numbers() & used
        for axis, name in enumerate(AXES):
            sizes = {atom for part in (self.symbols.counts, self.symbols.local) for atom, _ in part[axis].factors}
            if axis in used - only_numbers or name == "x" or sizes & given:
                continue
            pair = (self.symbols.counts[axis], self.symbols.local[axis])
            if all(one == number(1) for one in pair):
                self.axes.remove(axis)
                continue
            if any(
                one.is_constant and (one != number(1) or f"local_size_{name}" in self.symbols.fixed) for one in pair
            ):
                continue
            self.axes.remove(axis)
            self.facts += [equal(self.symbols.counts[axis], 1), equal(self.symbols.local[axis], 1)]
            why = "uses only to number threads" if axis in only_numbers else "does not use"
            self.always.append(f"there is one work item along {name}, which the kernel {why}")

    def _find_axes_of_numbers(self) -> set[int]:
        """Return the axes that only the numbers of work items and of threads in a group depend on, as far as terms tell."""
        wholes = [self.pool.product(self.pool.product(a, b), c) for a, b, c in permutations(self.symbols.local)]
        numbers = {
            atom for one in (self.symbols.item(self.walker.info), *wholes) for atom, _ in one.factors if atom.parts
        }
        things: list[Sum | Claim] = []
        for access in self.walker.accesses:
            things += [access.offset, access.path, *access.stored]
        for meeting in self.walker.meetings:
            things += [*meeting.path, *meeting.facts]
        if not numbers & set(atoms_of(*things)):
            return set()
        others = set(atoms_of(*things, without=numbers))
        return {axis for axis in range(3) if not others & self.symbols.atoms_of_axis(axis)}

    def _cap_groups(self) -> None:
        """Find the largest groups for which the static shared local memory suffices."""
        if all(local.is_constant for local in self.symbols.local):
            return
        static = [group.access for group in self.groups if group.access.space == (SHARED, -1) and not group.access.why]
        if not static:
            return
        index = 0
        caps = [cap for cap in LOCAL_CAPS if self._is_possible(self._cap_size(cap))]
        for access in static:
            # No size suffices for some accesses.
            index = next((one for one in range(index, len(caps)) if self._fits(access, caps[one])), index)
        if index:
            size = self._find_filled_size(static, caps[index], caps[index - 1]) or caps[index]
            self._largest_local = size
            self.cap = [(f"a group has at most {size} work items along an axis", self._cap_size(size))]

    def _find_filled_size(self, static: Sequence[ItemAccess], least: int, most: int) -> int | None:
        """Return the size of groups that fill the memory by some accesses, or that guards allow, where others leave it.

        Smaller groups would excuse ``t[i + 1]`` in an array that ``t[i]`` fills. All accesses fit ``least``, not ``most``.
        """
        limiting = [one for one in static if not self._fits(one, most)]
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if all(self._fits(one, middle) for one in limiting) else (least, middle)
        filling = [
            one for one in static if self._suits(one, least + 1) and not self._suits(one, least + MAX_OVERHANG + 1)
        ]  # fmt: skip
        sizes = range(least + MAX_OVERHANG, least, -1) if filling else ()
        return next((size for size in sizes if any(self._suits(one, size) for one in filling)), None)

    def _suits(self, access: ItemAccess, size: int) -> bool:
        """Return whether an access stays in its memory in groups of a size, and some group of that size makes it."""
        question = self.solver.question()
        groups = z3.Or([question.condition(equal(local, size), _ITEM) for local in self.symbols.local])
        hard = [*self._base(question, [_ITEM]), question.condition(access.path, _ITEM), groups]
        return self.solver.ask(question, hard, seconds=1.0).word != "no" and self._fits(access, size)

    def _fits(self, access: ItemAccess, cap: int) -> bool:
        question = self.solver.question()
        hard = [
            *self._outside(access, question), *self._base(question, [_ITEM]),
            question.condition(self._cap_size(cap), _ITEM),
        ]  # fmt: skip
        return self.solver.ask(question, hard, seconds=1.0).word == "no"

    def _cap_size(self, cap: int) -> Claim:
        return both(*(at_most(local, cap) for local in self.symbols.local))

    def _is_possible(self, condition: Claim) -> bool:
        with suppress(OutOfTime):
            question = self.solver.question()
            hard = [*self._base(question, [_ITEM]), question.condition(condition, _ITEM)]
            return self.solver.ask(question, hard, seconds=1.0).word != "no"
        return True

    # ---- questions

    def _base(
        self, question: Question, items: Iterable[SymbolicItem], facts: Sequence[Claim] | None = None
    ) -> list[object]:
        return [question.condition(fact, item) for item in items for fact in (self.facts if facts is None else facts)]

    def _soft_wraps(self, things: Iterable[Claim | Sum]) -> _Contract:
        """Return the conditions that the index arithmetic in terms and conditions does not wrap around."""
        wraps = self.pool.wraps
        lines: dict[Claim, int] = {}
        work = list(things)
        while work:
            new_lines = dict(wraps[atom] for atom in atoms_of(*work) if atom in wraps)
            # A sum of a shifted value says that it wraps no more than that value, which has a condition of its own.
            work = [condition for condition in new_lines if condition not in lines]
            lines |= new_lines
        contract: _Contract = []
        for condition, line in lines.items():
            words = f"the index arithmetic of line {line} does not wrap around"
            signs = dict.fromkeys(one for atom in atoms_of(condition) for one in self.pool.signs.get(atom, ()))
            self._signs.setdefault(words, {}).update({self._below_half(one): one for one in signs})
            contract.append((words, both(condition, *signs)))
        return contract

    def _below_half(self, limit: Claim) -> str:
        """Return the words for the condition that an unsigned argument is the same as a signed number."""
        names = [
            self._name(index) for index, value in self.symbols.values.items() if {*atoms_of(value)} & {*atoms_of(limit)}
        ]
        return f"{', '.join(names)} is less than 2^31"

    def _decide(
        self, items: Sequence[SymbolicItem], build: _Conditions, path: _Conditions, wraps: _Contract, contract: _Contract,
        facts: Sequence[Claim] | None = None,
    ) -> tuple[str, list[str]]:  # fmt: skip
        """Return ``no``, with the assumptions that it needs, ``vacuous`` if these exclude the path, ``yes`` or ``unknown``."""

        def ask(soft: _Contract, seconds: float | None = None) -> SolverAnswer:
            question = self.solver.question()
            hard = [*build(question), *self._base(question, items, facts)]
            marks = [z3.And([question.condition(one, item) for item in items]) for _, one in soft]
            return self.solver.ask(question, hard, marks, seconds=seconds)

        def may_hold(assumed: _Contract) -> bool:
            question = self.solver.question()
            hard = [*path(question), *self._base(question, items, facts)]
            hard += [question.condition(one, item) for _, one in assumed for item in items]
            return self.solver.ask(question, hard).word != "no"

        soft = contract
        answer = ask(contract, PLAIN_SECONDS if wraps else None)
        if answer.word != "no" and wraps:
            soft = [*wraps, *contract]
            answer = ask(soft)
        if answer.word != "no":
            return answer.word, []
        needs = [soft[index] for index in answer.needs]
        wrapping = [one for one in needs if one in wraps]
        if wrapping and self._wrap_in_small_launches(items, path, wrapping, facts):
            return "yes", []
        if needs and not may_hold(needs) and may_hold([]):
            return "vacuous", []
        needs += [pair for words, _ in wrapping for pair in self._signs.get(words, {}).items()]
        self.claims.update(needs)
        return "no", [words for words, _ in needs]

    def _wrap_in_small_launches(
        self, items: Sequence[SymbolicItem], path: _Conditions, wraps: _Contract, facts: Sequence[Claim] | None
    ) -> bool:
        """Return whether arithmetic wraps around in a launch of few work items, as in the conversion ``i << 24 >> 24``.

        Such a wrap is no accident of sizes that a host does not have, so that a proof may not presume that there is none.
        """
        for _, one in wraps:
            if one not in self._may_wrap:  # whatever the way to the access is
                words = self._ask_small_launches([_ITEM], lambda _: [], [one], facts)
                self._may_wrap[one] = any(word != "no" for word in words)
        doubtful = [one for _, one in wraps if self._may_wrap[one]]
        return bool(doubtful) and "yes" in self._ask_small_launches(items, path, doubtful, facts)

    def _ask_small_launches(
        self, items: Sequence[SymbolicItem], path: _Conditions, wraps: Sequence[Claim], facts: Sequence[Claim] | None
    ) -> Iterator[str]:
        """Yield the answers, for each shape of small launches, whether one of the conditions fails there."""
        arguments = {atom for value in self.symbols.values.values() for atom, _ in value.factors}
        for alone in self.axes if len(self.axes) == 1 else (*self.axes, None):
            question = self.solver.question(exact=True)
            hard = [*path(question), *self._base(question, items, facts)]
            hard.append(z3.Or([question.condition(negation(one), item) for one in wraps for item in items]))
            largest = SMALL_SIDE if alone is None else SMALL_LINE
            for axis in range(3):
                most = 1 if alone not in (None, axis) else largest
                sizes = (self.symbols.totals(axis), most), (self.symbols.offsets[axis], 0)
                hard += [question.term(one, items[0]) <= size for one, size in sizes if not one.is_constant]
            for (atom, _), value in list(question.values.items()):
                # Also of what the walk does not know: such values are seldom the largest of their type.
                if atom in arguments or atom.line or (atom.parts and not atom.divisor and atom.test is None):
                    most = largest if atom in arguments else SMALL_PRODUCT
                    hard += [value >= (0 if atom in arguments else -most), value <= most]
            yield self.solver.ask(question, hard, seconds=SMALL_SECONDS).word

    def _prove(
        self, property_: str, access: ItemAccess, items: Sequence[SymbolicItem], build: _Conditions, path: _Conditions,
        things: Sequence[Sum | Claim], *, by_global_ids: bool = False, more: _Contract | None = None,
    ) -> ProofResult | None:  # fmt: skip
        """Return the answer if it needs no launch, with as few assumptions as suffice.

        Adds the parts of a contract one by one, the simplest first; ``more`` are the last ones, without which there is no proof.
        """
        wraps, facts = self._soft_wraps(things), self.facts
        if by_global_ids:
            wraps = [(words, self._global_ids.replace_in(one)) for words, one in wraps]
            facts = [one for one in facts if one.level is Level.LAUNCH]
        parts = [part for at, part in enumerate((*self._contract(access, property_), more or [])) if part or not at]

        def decide(count: int) -> tuple[str, list[str]]:
            assumed = [one for part in parts[:count] for one in part]
            return self._decide(items, build, path, wraps, assumed, facts)

        word, needs = decide(1) if more is None else ("unknown", [])
        if word != "no" and len(parts) > 1 and (word := decide(len(parts))[0]) == "no":
            decisions = map(decide, range(2, len(parts) + 1))
            word, needs = next((decision for decision in decisions if decision[0] == "no"), ("unknown", []))
        if word == "no":
            return self._report_proved(property_, access.line, needs)
        if word == "vacuous":
            return self._report_unknown(property_, access.line, "its index arithmetic wraps around")
        return None

    def _model(
        self, items: Sequence[SymbolicItem], build: _Conditions, assumed: Sequence[Claim], accesses: Sequence[ItemAccess]
    ) -> Iterator[Example]:  # fmt: skip
        """Yield small launches in which some conditions hold, for the accesses of the work items."""
        misses = 0
        fixed = set(atoms_of(*(condition for _, condition in self.given)))
        free = [one for part in self.symbols.local for one, _ in part.factors if one not in fixed]
        largest = [(self._largest_local, 1, 1)] if self.cap else []  # groups that fill shared local memory
        sizes = (None, *((*largest, *_LOCAL_SIZES) if free else ()), ())
        for local, is_usual in ((None, True), *((size, False) for size in sizes)):
            if misses == MAX_MISSES:
                return
            question = self.solver.question(exact=True)
            hard = [*build(question), *self._base(question, items)]
            hard += [question.condition(one, item) for one in assumed for item in items]
            counts = [
                question.term(count, items[0])
                for count in self.symbols.counts
                if not count.is_constant and (local != () or not fixed & {atom for atom, _ in count.factors})
            ]
            if counts:
                hard.append(z3.Sum(counts) < MAX_MODEL_GROUPS + len(counts))
            for axis, size in enumerate(self.symbols.local):
                if not size.is_constant and not fixed & {atom for atom, _ in size.factors}:
                    term = question.term(size, items[0])
                    hard.append(term == local[axis] if local else term <= MAX_MODEL_LOCAL[axis])
            hard += [question.term(one, items[0]) == 0 for one in self.symbols.offsets if not one.is_constant]
            for value in self.symbols.values.values():
                term = question.term(value, items[0])
                if fixed & {atom for atom, _ in value.factors}:
                    continue
                least = -MAX_MODEL_VALUE if local == () else 0  # a negative number is seldom what the author intended
                hard += [term >= least, term <= MAX_MODEL_VALUE]
            for index, size_ in self.symbols.sizes.items():
                term = question.term(size_, items[0])
                most = MAX_MODEL_LOCAL_BYTES if index in self.symbols.shared else MAX_MODEL_BYTES
                hard += [term >= 1, term <= most]  # OpenCL has no empty buffers
            for at, pointer in enumerate(self.symbols.pointers.values()):
                hard.append(question.term(pointer, items[0]) == FIRST_POINTER * (at + 1))
            memory = _MemoryOfModel(self.walker.loaded, question, items, accesses)
            hard += memory.conditions()
            if is_usual and not (usual := memory.usual_values()):
                continue
            hard += usual if is_usual else []
            answer = self.solver.ask(question, hard, seconds=MODEL_SECONDS if local is None else 1.0)
            misses += answer.word == "unknown" and not is_usual
            if answer.word == "yes":
                yield Example(answer.values, *memory.contents(answer.values))

    def _search_launch(
        self, property_: str, lines: Sequence[int], items: Sequence[SymbolicItem],
        builds: Sequence[_Conditions], assumed: Sequence[Claim], accesses: Sequence[ItemAccess],
        settle: Callable[[Example], Example] = lambda example: example,
    ) -> ProofResult:  # fmt: skip
        """Look for a launch that the simulator confirms, first with the conditions that make the fault most likely.

        ``settle`` makes an example more like one of a host.
        """
        shown = self.confirm(property_, lines, None)
        if shown is not None:
            return self._report_refuted(property_, lines[0], shown, self.always)
        tried = False
        for build in builds:
            for example in islice(self._model(items, build, assumed, accesses), MAX_EXAMPLES):
                tried = True
                if property_ != "bounds" and not any("len(" in words for words, _ in self.given):
                    kept = {name: one for name, one in example.values.items() if not name.startswith("bytes_")}
                    example = replace(example, values=kept)  # noqa: PLW2901 - with large buffers
                launch = self.confirm(property_, lines, settle(example))
                if launch is not None:
                    return self._report_refuted(property_, lines[0], launch, self.always)
            if tried:
                break
        if not tried:
            why = "neither a proof nor a counterexample was found"
        elif build is builds[0]:
            why = "the simulator did not confirm the launch that was found"
            with suppress(OutOfTime):
                # Sizes do not excuse numbers that a buffer holds twice.
                if (
                    not loads_of(*(one.offset for one in accesses))
                    and (text := self._find_assumption(items, build)) is not None
                ):
                    why += f"; with --assume {text!r} there is no such launch"
        else:
            why = _EQUAL
        return self._report_unknown(property_, lines[0], why)

    def _find_assumption(self, items: Sequence[SymbolicItem], build: _Conditions) -> str | None:
        """Return an assumption of the user's language that excludes some conditions, but not all launches."""
        names = [self._name(at) for at in self.symbols.values][:MAX_NAMES]
        axes = [AXES[axis] for axis in self.axes]
        texts = [f"{name} {sign} global_size_{axis}" for name in names for axis in axes for sign in ("<=", "==")]
        texts += [f"{a} {sign} {b}" for a, b in combinations(names, 2) for sign in ("<=", ">=")]
        texts += [f"{size}_{axis} == 1" for size in ("groups", "global_size") for axis in axes]
        for text in texts:
            claim = assumption(text, self.walker.info, self.symbols)
            question = self.solver.question()
            hard = [*build(question), *self._base(question, items), *(question.condition(claim, one) for one in items)]
            if self.solver.ask(question, hard, seconds=ASSUMPTION_SECONDS).word == "no" and self._is_possible(claim):
                return text
        return None

    # ---- bounds

    def _size(self, space: Space) -> Sum | None:
        kind, index = space
        if kind == SHARED and index < 0:
            return number(self.walker.info.env.slm_size)
        if kind == ARRAY:
            declared = self.walker.kernel.variable(index)
            return number(declared.byte_size) if declared is not None else None
        if kind in (BUFFER, SHARED):
            return size_of(self.symbols, index)
        return None

    def _contract(self, access: ItemAccess, property_: str) -> Iterator[_Contract]:
        """Yield candidates for assumptions: the natural size of the buffer, that for the access, and other relations."""
        kind, index = access.space
        if kind == SHARED and index < 0:
            yield self.cap
            return
        if kind not in (BUFFER, SHARED):
            yield []
        else:
            need, size = self.need(access.space), size_of(self.symbols, index)
            if need is not None:
                contract = need.contract(size)
                yield contract
                if self._known_needs is None:
                    own = self._need_finder.find(access.space, access).contract(size)
                    if own != contract:
                        yield own
            yield self._ranges(access, property_)
            yield self._widths(access)

    def need(self, space: Space) -> Need | None:
        """Return the need of a buffer; None if the user's assumptions give its size."""
        if space not in self._needs:
            given = any(f"len({self._name(space[1])})" in words for words, _ in self.given)
            known = self._known_needs
            need = self._need_finder.find(space) if known is None else known.get(space)
            self._needs[space] = None if given else need
        return self._needs[space]

    @property
    def tiles(self) -> Mapping[int, int]:
        """The sizes of tiles of which arguments are multiples, by the argument."""
        return self._need_finder.tiles if self._known_tiles is None else self._known_tiles

    def find_needs(self) -> dict[Space, Need]:
        """Return the needs of buffers that are known so far."""
        return {space: need for space, need in self._needs.items() if need is not None}

    @cached_property
    def _need_finder(self) -> NeedFinder:
        fixed = atoms_of(*(condition for _, condition in self.given))
        accesses = [group.access for group in self.groups]
        facts = [*self.facts, *(condition for _, condition in self.cap)]
        return NeedFinder(self.walker, self.solver, accesses, facts, fixed, self.axes, self._largest_local)

    def _axes_under_guards(self, access: ItemAccess) -> set[int]:
        """Return the axes whose ids occur in the offset of an access and are compared with an argument by its conditions."""
        values = {atom for value in self.symbols.values.values() for atom, _ in value.factors}
        own = set(atoms_of(access.offset))
        guarded: set[int] = set()
        for part in parts_of(access.path):
            atoms = atoms_without_wraps(part)
            if values & atoms and all(atom in own for atom in atoms if atom.line):
                guarded |= self._need_finder.axes_of(atoms & own) & set(self.axes)
        return guarded

    def _ranges(self, access: ItemAccess, property_: str) -> _Contract:
        """Return bounds of arguments and offsets that the author of a kernel may have assumed."""
        pitches = self._need_finder.pitches_of([access])
        values = [(self._name(index), value) for index, value in self.symbols.values.items()]
        contract = [
            (f"the global offset is 0 along {AXES[axis]}", equal(self.symbols.offsets[axis], 0)) for axis in self.axes
        ]
        contract += [(f"{a} is not negative", claim) for a, x in values if (claim := at_most(x * -1, 0)) != TRUE]
        if property_ == "bounds":
            # Of `a[n - 1]` and `a[min(i, n - 1)]`, too: a buffer has elements.
            sums = [access.offset, *(part for atom in atoms_of(access.offset) for part in atom.parts)]
            ends = {atom for term in sums if term.constant < 0 for atom, factor in term.factors if factor > 0}
            contract += [
                (f"{a} is positive", at_most(x * -1, -1))
                for a, x in values
                if (pitches.keys() | ends) & set(atoms_of(x))
            ]
        arguments = {atom: (name, value) for name, value in values for atom, _ in value.factors}
        columns = [arguments[atom] for atom, _ in access.offset.factors if atom in arguments]
        rows = [arguments[atom] for atom in pitches]
        contract += [(f"{a} is less than {b}", at_most(x - y, -1)) for a, x in columns for b, y in rows if a != b]
        for atom, axis in self._need_finder.free_pitches_of([access]).items():
            for limit in self._need_finder.guards_of([access]).get(axis - 1, ()):
                (a, x), (b, y) = arguments[limit], arguments[atom]
                contract.append((f"{a} is at most {b}", at_most(x - y, 0)))
        return contract

    def _widths(self, access: ItemAccess) -> _Contract:
        """Return relations of widths of rows to sizes that the author may have assumed, where no guard compares them.

        The proof itself is about the relation of other arguments to sizes.
        """
        pitches = self._need_finder.pitches_of([access])
        totals = [(f"the work items along {AXES[axis]}", self.symbols.totals(axis)) for axis in self.axes]
        edges = self._need_finder.edges
        contract: _Contract = [
            (
                f"{self._name(index)} is the number of work items along {AXES[edges[atom]]}",
                equal(x, self.symbols.totals(edges[atom])),
            )
            for index, x in self.symbols.values.items()
            for atom, _ in x.factors
            if atom in edges
        ]
        for index, size in self.tiles.items():
            x = self.symbols.values[index]
            rest = x - self.pool.quotient(x, size) * size
            contract.append((f"{self._name(index)} is a multiple of {size}", equal(rest, 0)))
        for index, x in () if self._axes_under_guards(access) else self.symbols.values.items():
            a = self._name(index)
            numbered = [pitches[atom] for atom, _ in x.factors if atom in pitches and atom not in edges]
            if not numbered:
                continue
            contract += [
                (f"{a} is the number of {b.removeprefix('the ')}", equal(x, y))
                for axis, (b, y) in zip(self.axes, totals, strict=True)
                if not any(axis in axes for axes in numbered)  # the width of its step is along another axis
            ]
            rest = x - self.pool.quotient(x, TILE) * TILE
            contract.append((f"{a} is a multiple of {TILE}", equal(rest, 0)))
        return contract

    def _whole_parts(self, access: ItemAccess) -> _Contract:
        """Return the assumption that a group consists of whole parts, where a local id is divided: ``lid / 32``, ``lid % 32``.

        The number of a thread in its group divides a sum of all local ids and sizes: whole rows along x are enough.
        """
        quotients = [one for one in atoms_of(access.offset, access.path) if 1 < one.divisor <= MAX_DIVISOR]
        contract = dict[str, Claim]()
        everywhere = {atom for term in (*self.symbols.ids, *self.symbols.local) for atom, _ in term.factors}
        for axis in self.axes:
            local, own = self.symbols.local[axis], {atom for atom, _ in self.symbols.ids[axis].factors}
            suffix = f"_{AXES[axis]}" if len(self.axes) > 1 else ""
            for one in quotients:
                atoms = {atom for atom in atoms_of(*one.parts) if not atom.parts}
                is_of_group = axis == self.axes[0] and own <= atoms <= everywhere
                if not local.is_constant and (atoms <= own or is_of_group):
                    words = f"local_size{suffix} % {one.divisor} == 0"
                    contract[words] = equal(local - self.pool.quotient(local, one.divisor) * one.divisor, 0)
        given = {words for words, _ in self.given}
        return [part for part in contract.items() if part[0] not in given]

    def _outside(self, access: ItemAccess, question: Question) -> list[object]:
        size = self._size(access.space)
        assert size is not None
        outside = negation(both(at_most(access.offset * -1, 0), at_most(access.offset + access.size, size)))
        return [question.condition(access.path, _ITEM), question.condition(outside, _ITEM)]

    def _name(self, index: int) -> str:
        return name_of(self.walker.info, index)

    def _bounds(self, group: _Group, *, search: bool = True) -> ProofResult:
        access = group.access
        line, size = access.line, self._size(access.space)
        if access.why == NO_POINTER and search:
            return self._no_pointer(access)
        if access.space[0] == IMAGE and not access.why:
            return self._report_proved("bounds", line)  # reads outside of it give a fixed value, writes are dropped
        if access.why or size is None:
            return self._report_unknown("bounds", line, access.why or "its memory is not modelled")

        things: list[Sum | Claim] = [access.offset, access.path]
        simpler = self._global_ids.rewrite(access)
        plain = simpler or access
        prove = partial(
            self._prove, "bounds", access, [_ITEM], lambda question: self._outside(plain, question),
            lambda question: [question.condition(plain.path, _ITEM)], things, by_global_ids=simpler is not None
        )  # fmt: skip
        proof = prove()
        if proof is not None or not search:
            return proof or self._report_unknown("bounds", line)
        need = self.need(access.space) if access.space[0] in (BUFFER, SHARED) and access.space[1] >= 0 else None
        if need is not None and self._need_finder.is_by_contents(access):
            why = f"its address depends on {self._words_of(loads_of(access.offset)[0])}"
            return self._report_unknown("bounds", line, why, Cause.CONTENTS)
        parts = self._whole_parts(access)
        if parts and (other := prove(more=parts)) is not None and other.answer == PROVED:
            return self._report_unknown("bounds", line, _need_of_parts(parts, other))
        excuse = None
        if need is not None and need.nearest is not None and need.formula is not None:
            words = need.formula.words
            excuse = f"{need.name} needs {need.amount}: --assume 'len({need.name}) >= {words}'"
            if self._leads_on(access.space):
                return self._report_unknown("bounds", line, excuse, Cause.SIZE)
        # Any launch with a smaller buffer than an unknown product would look like a mistake; one below its start is a mistake.
        is_open = need is not None and need.formula is None and (need.nearest is None or self._leads_on(access.space))
        if need is not None and is_open:
            excuse = (
                f"no product of arguments and sizes of the launch was found to suffice for {need.name}: "
                f"--assume 'len({need.name}) >= SIZE' states one"
            )
        # A launch that breaks any of these would not show a mistake, because the author may have assumed it.
        assumed = [one for part in self._contract(access, "bounds") for _, one in part]
        assumed += [one for _, one in parts]
        if need is not None:
            assumed += need.is_nearest(size) or self._usual_sizes(size, need)
            # What the proofs of other accesses presume of the buffer.
            assumed += [one for words, one in self.claims.items() if words.startswith(f"{need.name} has at least ")]

        def example(question: Question) -> list[object]:
            # The launch may have no fault at other buffers, because all lines with a fault count as refuted.
            is_given = any("len(" in words for words, _ in self.given)
            hard = self._outside(access, question)
            hard += [question.condition(at_most(access.offset, -1), _ITEM)] if is_open else []
            for index, one in self.symbols.sizes.items():
                if index != access.space[1] and not is_given:
                    room = MAX_MODEL_SHARED if index in self.symbols.shared else MAX_MODEL_BYTES
                    hard.append(question.term(one, _ITEM) == room)
            return hard

        def settle(example: Example) -> Example:
            unit = need.bytes_each if need is not None else 1
            return self._with_least_size(example, access.space[1], unit, assumed)

        result = self._search_launch("bounds", group.lines or [line], [_ITEM], [example], assumed, [], settle)
        if result.answer == UNKNOWN_ANSWER and parts and excuse is None:
            whole = " and ".join(words for words, _ in parts)
            return structs.replace(result, reason=f"{result.reason} with groups of whole parts, {whole}")
        if result.answer == UNKNOWN_ANSWER and excuse is not None:
            result = structs.replace(result, reason=excuse, cause=None if is_open else Cause.SIZE)
        return result if result.cause is Cause.SIZE else self._explain(result, things)

    def _with_least_size(self, example: Example, index: int, unit: int, assumed: Sequence[Claim]) -> Example:
        """Return an example whose buffer has the least whole number of elements that meets the assumptions, if there is one."""
        values = dict(example.values)
        atom = self.symbols.sizes[index].factors[0][0] if index in self.symbols.sizes else None
        claims = [one for one in assumed if atom is not None and atom in atoms_of(one)]
        if atom is None or not claims or atom.name not in values:
            return example
        size = atom.name

        def is_met(count: int) -> bool:
            values[size] = count * unit
            terms = {name: number(value) for name, value in values.items()}
            return all(self.pool.replace_in(one, lambda own: terms.get(own.name), {}) == TRUE for one in claims)

        counts = range(1, values[size] // unit + 1)
        least = bisect_left(counts, True, key=is_met)
        return replace(example, values={**values, size: counts[least] * unit}) if least < len(counts) else example

    def _usual_sizes(self, size: Sum, need: Need) -> list[Claim]:
        """Return the conditions that a buffer is not smaller than those that hosts use, whatever the kernel needs."""
        totals = [self.symbols.totals(axis) for axis in self.axes]
        whole = totals[0] if totals else number(1)
        for total in totals[1:]:
            whole = self.pool.product(whole, total)
        return [at_most(one * need.bytes_each, size) for one in (whole, *self.symbols.values.values())]

    def _leads_on(self, space: Space) -> bool:
        """Return whether values of a buffer decide where other accesses lie: a list of starts has one entry more than rows."""
        own = {atom for atom, loaded in self.walker.loaded.items() if loaded.space == space}
        return any(own & set(atoms_of(group.access.offset, group.access.path)) for group in self.groups)

    def _no_pointer(self, access: ItemAccess) -> ProofResult:
        """Answer for an address that lies below all buffers of a launch."""

        def build(question: Question) -> list[object]:
            return [question.condition(access.path, _ITEM)]

        result = self._search_launch("bounds", [access.line], [_ITEM], [build], [], [access])
        return result if result.answer == REFUTED else structs.replace(result, reason=access.why)

    def _explain(self, result: ProofResult, things: Sequence[Sum | Claim]) -> ProofResult:
        if result.answer != UNKNOWN_ANSWER:
            return result
        for thing in things:
            for atom in atoms_of(thing):
                if atom.line:
                    where = "address" if thing is things[0] else "condition"
                    why = f"{result.reason}; its {where} depends on {self._words_of(atom)}"
                    return structs.replace(result, reason=why)
        return result

    def _words_of(self, atom: Atom) -> str:
        """Return a value that is not computed from arguments and ids in words: ``what `perm` holds, loaded at line 7``."""
        loaded = self.walker.loaded.get(atom)
        if loaded is None or loaded.space[0] not in (BUFFER, SHARED) or loaded.space[1] < 0:
            return f"{atom.why} at line {atom.line}"
        return f"what `{self._name(loaded.space[1])}` holds, loaded at line {atom.line}"

    # ---- races

    def _race(self, group: _Group) -> ProofResult:
        access = group.access
        written = {one.access.space[0] for one in self.groups if one.access.write}
        if access.space[0] == IMAGE and not written & {IMAGE, UNKNOWN}:
            return self._report_proved("race", access.line)
        if access.space[0] == PRIVATE:
            return self._report_proved("race", access.line, [_STAYS_PRIVATE])
        if access.why:
            return self._report_unknown("race", access.line, access.why)
        needs: dict[str, None] = dict.fromkeys(self.missed_meetings)
        for other in self.groups:
            pair = frozenset((access, other.access))
            result = self._apart.get(pair) or self._pair(group, other)
            if result is None:
                continue
            if result.answer != PROVED:
                return result
            self._apart[pair] = result
            needs.update(dict.fromkeys(result.assumptions))
        return self._report_proved("race", access.line, needs)

    @cached_property
    def missed_meetings(self) -> list[str]:
        """The barriers that a proof of a race relies on although work items may miss them."""
        divergences = [self._divergence(meeting, search=False) for meeting in self.walker.meetings]
        return [_MET.format(one.line) for one in divergences if one.answer != PROVED]

    def _pair(self, group: _Group, other: _Group) -> ProofResult | None:
        a, b = group.access, other.access
        if not (a.write or b.write) or (a.atomic and b.atomic and a.size == b.size):
            return None
        if b.space[0] == UNKNOWN or (a.space[0] == IMAGE and b.space == (IMAGE, -1)):
            return self._report_unknown("race", a.line, f"it may meet the access of line {b.line}: {b.why}")
        if a.space != b.space:
            if a.space[0] != SHARED or b.space[0] != SHARED or (self._is_inside(a) and self._is_inside(b)):
                return None
            a, b = (self.walker.memory.place_in_shared(one) for one in (a, b))
            if a.space != b.space:
                return self._answer_other_array(a, b)
        apart = b.offset - a.offset
        is_fixed = apart.is_constant and a.offset.level is Level.LAUNCH
        if is_fixed and not -b.size < apart.constant < a.size:
            return None  # the same places for all work items, side by side
        # Also of other lanes, because the question does not fix the lane of a work item.
        lines = [*group.lines, *other.lines]
        needs: dict[str, None] = {}
        may_meet = bool(a.intervals & b.intervals), a.space[0] in (BUFFER, VARIABLE, IMAGE)
        if all(may_meet) and (result := self._meet_in_launch(a, b)) is not None:
            may_meet = False, False
            needs.update(dict.fromkeys(result.assumptions))
        cases = [items for items, may in zip((_OF_A_GROUP, _OF_TWO_GROUPS), may_meet, strict=True) if may]
        for items in cases:
            # The barrier between two statements may have been dropped for the lanes of a thread, not for threads.
            is_open = self._in_step and a is not b and items is _OF_A_GROUP
            result = self._meet(a, b, items, lines, search=not is_open)
            if is_open and result.answer != PROVED:
                result = self._meet(a, b, items, lines, ids=self._thread)
                if result.answer == PROVED:
                    return self._report_unknown("race", a.line, _IN_STEP)
            if result.answer != PROVED:
                return self._explain(result, [a.offset, b.offset, a.path, b.path])
            needs.update(dict.fromkeys(result.assumptions))
        unfenced = self._find_unfenced_items(a, b)
        if unfenced is not None:
            result = self._meet(a, b, unfenced, lines, search=False, steps=self._find_steps(a, b))
            if result.answer != PROVED:
                memory = "shared local memory" if a.space[0] == SHARED else "global memory"
                why = f"a barrier between it and line {b.line} may have no fence of {memory} before it"
                return structs.replace(result, reason=why)
            needs.update(dict.fromkeys(result.assumptions))
        return self._report_proved("race", a.line, needs)

    def _answer_other_array(self, a: ItemAccess, b: ItemAccess) -> ProofResult:
        """Answer for two accesses of shared local memory, each in an array of its own unless it leaves that."""
        for one in (a, b):
            # The address may be that of any array, as of two that a loop exchanges.
            if one.space[1] < 0 and not self._is_inside(one) and any(atom.line for atom in atoms_of(one.offset)):
                why = f"the access of line {one.line} may lie in any array of shared local memory"
                return self._report_unknown("race", a.line, why)
        return self._report_proved("race", a.line, [_STAYS])

    def _find_unfenced_items(self, a: ItemAccess, b: ItemAccess) -> tuple[SymbolicItem, SymbolicItem] | None:
        """Return two work items of a group that may have no fence and barrier between their accesses; None if there are none."""
        memory = memory_of(a.space)
        carried = [self._find_carried(one.fences.pending, memory) for one in (a, b)]
        if a.fences.now & carried[1] or b.fences.now & carried[0]:
            is_fixed = not any(has_moment(atom) for atom in atoms_of(a.offset, b.offset, a.path, b.path))
            return None if is_fixed and a.intervals & b.intervals else (SymbolicItem(1, 0, 1), SymbolicItem(2, 0, 2))
        if not a.intervals & b.intervals and (a.fences.now & b.fences.pending or b.fences.now & a.fences.pending):
            return SymbolicItem(1, 0), SymbolicItem(2, 0)
        return None

    def _find_steps(self, a: ItemAccess, b: ItemAccess) -> tuple[Sum, list[int]] | None:
        """Return the number of a round, and by how much that of ``b`` may exceed that of ``a``; None if by any amount.

        Where a round leaves nothing of the round before pending, unfenced accesses are at most one round apart.
        """
        if len(self.walker.carried) != 1:
            return None
        ((mark, pending),) = self.walker.carried.items()
        memory = memory_of(a.space)
        in_one_round = a.fences.now & b.fences.pending or b.fences.now & a.fences.pending
        trip = self.walker.rounds[mark]
        if mark in pending[memory] or trip.level is not Level.GROUP or (in_one_round and not a.intervals & b.intervals):
            return None
        first, second = (self._find_carried(one.fences.pending, memory) for one in (a, b))
        return trip, [step for step, met in ((1, a.fences.now & second), (-1, b.fences.now & first)) if met]

    def _find_carried(self, pending: frozenset[int], memory: int) -> frozenset[int]:
        """Return the stretches of earlier rounds that the pending ones stand for."""
        stretches: set[int] = set()
        work = [one for one in pending if one in self.walker.carried]
        while work:
            for one in self.walker.carried[work.pop()][memory] - stretches:
                stretches.add(one)
                if one in self.walker.carried:
                    work.append(one)
        return frozenset(stretches)

    def _number_of_thread(self) -> Sum:
        """Return the number of the hardware thread of a work item in its group."""
        return self.pool.quotient(self.symbols.item(self.walker.info), self.walker.simd)

    def _number_items(self) -> None:
        """Relate the lane to the number of its work item, if accesses depend on it."""
        lanes = {atom for atom, _ in self.walker.lane.factors}
        if not lanes & set(atoms_of(*(part for one in self.walker.accesses for part in (one.offset, one.path)))):
            return
        item = self.symbols.item(self.walker.info)
        thread_start = self._number_of_thread() * self.walker.simd
        self.facts += [equal(item - thread_start, self.walker.lane)]
        self._item = item

    def _is_inside(self, access: ItemAccess) -> bool:
        """Return whether an access is proved to stay in its memory."""
        is_inside = self._inside.get(access)
        if is_inside is None:
            is_inside = self._inside[access] = self._bounds(_Group(access), search=False).answer == PROVED
        return is_inside

    def _meet_in_launch(self, a: ItemAccess, b: ItemAccess) -> ProofResult | None:
        """Return the proof that no two work items of a launch meet, if one is found by their global ids."""
        plain = self._global_ids.rewrite(a, weakly=True), self._global_ids.rewrite(b, weakly=True)
        if None in plain:
            return None
        plain_a, plain_b = cast("tuple[ItemAccess, ItemAccess]", plain)
        item_a, item_b = items = _OF_TWO_GROUPS  # with values of their own for all that work items of a group share

        def path(question: Question) -> list[object]:
            ids = self._global_ids.ids
            apart = z3.Or([question.term(id_, item_a) != question.term(id_, item_b) for id_ in ids])
            return [apart, question.condition(plain_a.path, item_a), question.condition(plain_b.path, item_b)]

        def build(question: Question) -> list[object]:
            x, y = question.term(plain_a.offset, item_a), question.term(plain_b.offset, item_b)
            return [*path(question), x < y + plain_b.size, y < x + plain_a.size]

        things: list[Sum | Claim] = [a.offset, b.offset, a.path, b.path]
        proof = self._prove("race", a, items, build, path, things, by_global_ids=True)
        return proof if proof is not None and proof.answer == PROVED else None

    def _meet(
        self, a: ItemAccess, b: ItemAccess, items: tuple[SymbolicItem, SymbolicItem], lines: list[int], *, search: bool = True,
        steps: tuple[Sum, list[int]] | None = None, ids: Sequence[Sum] | None = None,
    ) -> ProofResult:  # fmt: skip
        item_a, item_b = items
        ids = (ids or self._ids) if item_a.group == item_b.group else self.symbols.groups

        def path(question: Question) -> list[object]:
            apart = z3.Or([question.term(one, item_a) != question.term(one, item_b) for one in ids])
            if self._item is not None and item_a.group == item_b.group:
                apart = z3.And(apart, question.term(self._item, item_a) != question.term(self._item, item_b))
            conditions = [apart, question.condition(a.path, item_a), question.condition(b.path, item_b)]
            if steps is not None:
                one, other = (question.term(steps[0], item) for item in items)
                conditions.append(z3.Or([other == one + step for step in steps[1]]))
            return conditions

        def build(question: Question) -> list[object]:
            x, y = question.term(a.offset, item_a), question.term(b.offset, item_b)
            return [*path(question), x < y + b.size, y < x + a.size]

        prove = partial(self._prove, "race", a, items, build, path, [a.offset, b.offset, a.path, b.path])
        proof = prove()
        if proof is not None or not search:
            return proof or self._report_unknown("race", a.line)

        parts = list(dict([*self._whole_parts(a), *self._whole_parts(b)]).items())
        if parts and (other := prove(more=parts)) is not None and other.answer == PROVED:
            return self._report_unknown("race", a.line, _need_of_parts(parts, other))
        if _store_equal_values(a, b):
            return self._report_unknown("race", a.line, _EQUAL)

        def inside(question: Question) -> list[object]:
            x, y = question.term(a.offset, item_a), question.term(b.offset, item_b)
            room = MAX_MODEL_BYTES if a.space[0] == BUFFER else MAX_MODEL_SHARED
            return [*build(question), x >= 0, y >= 0, x + a.size <= room, y + b.size <= room]

        def differ(question: Question) -> list[object]:
            pairs = zip(a.stored, b.stored, strict=False)
            return [*inside(question), z3.Or([question.term(x, item_a) != question.term(y, item_b) for x, y in pairs])]

        # The simulator reports no race between stores of equal values.
        builds = [differ, inside] if a.stored and b.stored else [inside]
        return self._search_launch("race", lines, items, builds, [], [a, b])

    # ---- uninitialised registers

    def _definedness(self) -> Iterator[ProofResult]:
        """Yield, for each line that reads variables of the kernel, whether everything that it reads is written before."""
        kernel, effects = self.walker.kernel, self.effects
        given: dict[int, int] = {}
        for entry in kernel.arguments:
            where = effects.storage.general.get(entry.id)
            if where is not None and not entry.kind & 7:
                key = variable_key(RegisterSpace.GENERAL, where.root)
                given[key] = given.get(key, 0) | ((1 << entry.size) - 1) << where.offset
        are_full, assumed = self._are_threads_full()
        lines = Definedness(effects, given, self._find_indexed_rows(), are_full=are_full)
        own = {key for place in range(len(kernel.instructions)) for key in effects.reads(place) if _is_own(key)}
        doubtful = {self.walker.line(place): None for place in sorted(lines.find_doubtful(own))}
        for place, inst in enumerate(kernel.instructions):
            line = self.walker.line(place)
            if not inst.row.marks_source and line not in doubtful and any(map(_is_own, effects.reads(place))):
                yield ProofResult("uninitialised", kernel.name, line, PROVED, assumed)
        # The launches that show a read: of full threads, and of one that is not full.
        for example in (Example({}), Example({"local_size_x": PARTIAL_LOCAL_SIZE})) if doubtful else ():
            self.confirm("uninitialised", list(doubtful), example)
        for line in doubtful:
            yield self._report_unknown("uninitialised", line, "it may read a register that was never written")

    def _find_indexed_rows(self) -> dict[int, IndexedRow]:
        """Return the indirect operands, by instruction, whose lanes certainly read their own elements of a row."""
        rows_by_instruction: dict[int, IndexedRow] = {}
        for access in self.walker.accesses:
            inst = self.walker.kernel.instructions[access.instruction]
            values = [value for value in inst.values if isinstance(value, Indirect)]
            if access.space[0] != ARRAY or access.why or len(values) != 1:
                continue
            (value,), lanes = values, exec_control_of(inst).exec_size
            row = lanes * value.type.size
            is_whole = value.region.width is not None and value.region.vert_stride is not None
            is_whole = is_whole and regions.source_elements(value.region, lanes) == list(range(lanes))
            if is_whole and access.offset.constant % row == access.offset.common_divisor % row == 0:
                low, high = self.pool.limits(access.offset)
                rows_by_instruction[access.instruction] = IndexedRow(
                    access.space[1], value.type.size, max(low, 0), high + row
                )
        return rows_by_instruction

    def _are_threads_full(self) -> tuple[bool, tuple[str, ...]]:
        """Return whether all lanes of each thread are work items, and the assumptions that it follows from."""
        simd, items = self.walker.simd, self.pool.product(self.symbols.local[0], self.symbols.local[1])
        items = self.pool.product(items, self.symbols.local[2])
        if items.is_constant:
            words = (
                () if any(self.walker.info.env.required_work_group_size) else tuple(words for words, _ in self.given)
            )
            return items.constant % simd == 0, words
        rest = items - self.pool.quotient(items, simd) * simd
        is_full = not self._is_possible(negation(equal(rest, 0)))
        return is_full, tuple(self.always) if is_full else ()

    # ---- divergence

    def _divergence(self, meeting: Meeting, *, search: bool = True) -> ProofResult:
        own = [one for one in meeting.path if one.level > Level.GROUP]
        if not own:
            return self._report_proved("divergence", meeting.line)
        items = (SymbolicItem(1, 0), SymbolicItem(2, 0))
        here = both(*meeting.path, *meeting.facts)
        absent = negation(both(*own))

        def path(question: Question) -> list[object]:
            return [question.condition(here, items[0])]

        def build(question: Question) -> list[object]:
            return [*path(question), question.condition(absent, items[1])]

        word, needs = self._decide(items, build, path, self._soft_wraps([here, absent]), [])
        if word == "no":
            return self._report_proved("divergence", meeting.line, needs)
        if not search:
            return self._report_unknown("divergence", meeting.line)
        result = self._search_launch("divergence", [meeting.line], items, [build], [], [])
        return self._explain(result, [here])


def _is_own(key: int) -> bool:
    """Return whether a variable is a register that the kernel declares."""
    space = space_of(key)
    return space is RegisterSpace.PREDICATE or (space is RegisterSpace.GENERAL and number_of(key) >= FIRST_VARIABLE)


def _store_equal_values(a: ItemAccess, b: ItemAccess) -> bool:
    """Return whether two work items store the same known values at one place of all work items."""
    is_one = a.write and b.write and a.offset == b.offset and a.stored == b.stored
    return is_one and bool(a.stored) and all(one.level is Level.LAUNCH for one in (a.offset, *a.stored))


def _group_accesses(accesses: Sequence[ItemAccess]) -> list[_Group]:
    groups: dict[object, _Group] = {}
    for access in accesses:
        key = (
            access.write,
            access.atomic,
            access.space,
            access.offset,
            access.size,
            access.path,
            access.intervals,
            access.fences,
            access.why,
        )
        group = groups.setdefault(key, _Group(access))
        if access.line not in group.lines:
            group.lines.append(access.line)
    return list(groups.values())


def _need_of_parts(parts: _Contract, proof: ProofResult) -> str:
    """Return why an access is right only in groups of whole parts, by a proof that presumes them."""
    sizes = [words for words, _ in parts if words in proof.assumptions]
    return f"it needs groups of whole parts: --assume {' and '.join(sizes)!r}"
