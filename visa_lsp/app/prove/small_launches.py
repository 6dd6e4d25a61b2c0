"""Launches that are run before a proof: those that ``run`` would make, and small ones with sizes of all kinds.

What they show refutes without a question to the solver. Knows launches and symbols, no answers. Invariant: a launch
that is run keeps the user's assumptions, and buffers are as large as a launch of ``run`` has them, or larger.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.prove import PROPERTIES
from visa_lsp.app.prove.answers import Example
from visa_lsp.app.prove.confirm import MAX_GROUP, ROOM_BYTES
from visa_lsp.app.prove.terms import FALSE, TRUE, number
from visa_lsp.isa.model import Trait
from visa_lsp.sim.launch.config import BufferArg, LaunchConfig, LaunchError, LocalArg, Triple, ValueArg
from visa_lsp.sim.launch.prepare import with_budget
from visa_lsp.sim.observers.checkers import checkers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from visa_lsp.app.launch.proposal import Proposal
    from visa_lsp.app.prove.confirm import Confirmer, LaunchRuns
    from visa_lsp.app.prove.payload import LaunchSymbols
    from visa_lsp.app.prove.terms import Claim, Sum, SumPool
    from visa_lsp.program.payload import KernelInfo

MAX_ITEMS: Final = 384  # work items of a small launch
MAX_BOUNDS_ITEMS: Final = 256  # of one that shows accesses out of bounds
MORE_ROOM: Final = 64  # times the size of buffers whose size does not matter, to see whether it does
MAX_STEPS: Final = 4_000  # instructions of all small launches, some 0.3 s
MAX_USUAL_STEPS: Final = 8_000  # of a launch that ``run`` would make
# Sizes of groups and numbers of groups by the number of axes: single work items, partly filled threads, primes, and more work
# items than a byte numbers.
_SHAPES: Final[tuple[tuple[tuple[Triple, Triple], ...], ...]] = (
    (
        ((3, 1, 1), (5, 1, 1)), ((19, 1, 1), (3, 1, 1)), ((1, 1, 1), (7, 1, 1)), ((64, 1, 1), (2, 1, 1)),
        ((10, 1, 1), (1, 1, 1)), ((32, 1, 1), (3, 1, 1)), ((37, 1, 1), (2, 1, 1)), ((128, 1, 1), (3, 1, 1)),
    ),
    (
        ((4, 3, 1), (3, 2, 1)), ((1, 5, 1), (2, 3, 1)), ((8, 8, 1), (1, 2, 1)), ((7, 1, 1), (3, 5, 1)),
        ((16, 2, 1), (1, 3, 1)), ((3, 16, 1), (2, 1, 1)), ((16, 16, 1), (1, 1, 1)), ((5, 4, 1), (1, 1, 1)),
    ),
    (((3, 2, 2), (2, 1, 3)), ((2, 3, 5), (1, 2, 1)), ((1, 1, 3), (2, 3, 2)), ((4, 4, 2), (1, 1, 2))),
)  # fmt: skip
UNDEFINED_SHAPES: Final = 3  # the first shapes, whose threads are partly filled, show reads of registers


def holds(claim: Claim, values: Mapping[str, int], pool: SumPool) -> bool | None:
    """Return whether a condition holds in a launch; None if it depends on more than the launch."""
    decided = pool.replace_in(claim, lambda atom: number(values[atom.name]) if atom.name in values else None, {})
    return {TRUE: True, FALSE: False}.get(decided)


def values_of(config: LaunchConfig, symbols: LaunchSymbols, info: KernelInfo) -> dict[str, int] | None:
    """Return the values that a launch gives to symbols; None if assumptions give them other ones."""
    values: dict[str, int] = {}
    others: list[Sum] = []

    def put(term: Sum, value: int) -> None:
        values.update({atom.name: value for atom, _ in term.factors})
        if term.is_constant and term.constant != value:
            others.append(term)

    for axis, (local, count) in enumerate(zip(config.local_size or (1, 1, 1), config.groups, strict=True)):
        put(symbols.local[axis], local)
        put(symbols.counts[axis], count)
        put(symbols.offsets[axis], config.global_offset[axis])
    for index in range(info.argument_count):
        given = config.by_key.get(index, config.by_key.get(info.argument_name(index)))
        if isinstance(given, ValueArg) and index in symbols.values and given.array.size == 1:
            put(symbols.values[index], int(given.array))
        elif isinstance(given, BufferArg):
            values[f"bytes_{index}"] = given.array.nbytes
        elif isinstance(given, LocalArg):
            values[f"bytes_{index}"] = given.size
    return None if others else values


def fixed_keys(symbols: LaunchSymbols) -> dict[str, list[Any]]:
    """Return what assumptions fix, as keys of a launch file."""
    sizes = {"local_size": symbols.local, "groups": symbols.counts}
    keys: dict[str, list[Any]] = {
        key: [term.constant if term.is_constant else 1 for term in terms]
        for key, terms in sizes.items()
        if terms[0].is_constant
    }
    values = {index: term.constant for index, term in symbols.values.items() if term.is_constant}
    return keys | ({"args": [values.get(index) for index in range(max(values) + 1)]} if values else {})


def run_first_launches(
    confirmer: Confirmer, proposal: Proposal, properties: Sequence[str], given: Sequence[Claim]
) -> None:
    """Run the launches that ``run`` would make, their twins, and small ones; keep the first fault of each property."""
    runs, symbols, info = confirmer.runs, confirmer.walker.symbols, confirmer.walker.info
    left = dict.fromkeys(properties)
    if all(not inst.row.has(Trait.BARRIER) for inst in confirmer.walker.kernel.instructions):
        left.pop("divergence", None)
    path = runs.launch_path
    usual = [one for one in (proposal, proposal.even, proposal.uneven) if one is not None]
    usual_texts = tuple(dict.fromkeys(one.written.text for one in usual))
    try:
        prepare_launch = runs.prepare(proposal.written.text)
    except (LaunchError, UserError):  # no launch of this kernel can be run
        return

    def try_launch(text: str, values: Mapping[str, int] | None, counted: Sequence[str], steps: int) -> int:
        """Run a launch, keep the faults of the ``counted`` properties, and return the number of instructions."""
        wanted = [one for one in left if one in counted]
        steps = runs.steps_left(steps)
        if (
            steps < 1
            or not wanted
            or values is None
            or any(holds(claim, values, symbols.pool) is False for claim in given)
        ):
            return 0
        with suppress(LaunchError, UserError):
            watched = checkers(",".join(map(runs.checks_of, {*wanted, "bounds"})))
            config = parse_launch(text, path).config
            if prod(config.local_size or ()) > MAX_GROUP:
                return 0
            prepared = prepare_launch(config)
            result = runs.interpret(with_budget(prepared, steps), watched)
            outside = {fault.line for fault in runs.faults_of("bounds", result.faults)}
            if outside:
                # Values that were loaded from beyond a buffer are those of no launch.
                wanted = [one for one in wanted if one == "bounds"]
            for property_ in wanted:
                if not runs.faults_of(property_, result.faults):
                    continue
                if outside and not _faults_at(outside, runs, _with_zeros(text), steps):
                    continue
                if outside and text not in usual_texts and not _faults_at(outside, runs, _with_room(text), steps):
                    continue  # rows of several numbers may need more than the room that small launches have
                before = len(runs.shown)
                if runs.keep(property_, text, steps):
                    runs.values.update({launch: values for _, launch in list(runs.shown)[before:]})
                    del left[property_]
            return result.steps
        return steps

    for text in usual_texts:
        # With other counts than work items, a kernel without guards has races that its author has excluded.
        is_even = text == proposal.written.text or proposal.even is None or text == proposal.even.written.text
        counted = [one for one in PROPERTIES if is_even or one != "race"]
        try_launch(text, values_of(parse_launch(text, path).config, symbols, info), counted, MAX_USUAL_STEPS)
    runs.usual = frozenset(launch for _, launch in runs.shown)
    room = {f"bytes_{index}": ROOM_BYTES for index in symbols.sizes}
    budget = MAX_STEPS
    base = (proposal.even or proposal).read(path).config
    for place, (values, by_counts) in enumerate(_small_values(base, symbols, info)):
        counted = [*by_counts, "divergence"]
        counted += ["uninitialised"] if place < UNDEFINED_SHAPES else []
        # Rows of numbers that count up may give equal results, whose stores are no race.
        contents = "{random: 1}" if place % 2 else "arange"
        small = confirmer.launch_text(Example(values), contents) if {*counted} & {*left} - {"bounds"} else None
        if small is not None and budget > 0:
            budget -= try_launch(small, {**room, **values}, counted, min(budget, MAX_STEPS // 4))


def _faults_at(lines: set[int], runs: LaunchRuns, text: str, steps: int) -> bool:
    """Return whether accesses at one of some lines leave memory in a launch, too."""
    return any(fault.line in lines for fault in runs.faults_of("bounds", runs.run(text, "bounds", steps)[1]))


def _with_zeros(text: str) -> str:
    """Return a launch whose buffers hold zeros: indices that are loaded are the host's matter."""
    return re.sub(r"init: (?:arange|cycle|\{random: 1\})", "init: zeros", text)


def _with_room(text: str) -> str:
    """Return a launch with much larger buffers."""
    return re.sub(r"shape: \[(\d+)\]", lambda size: f"shape: [{MORE_ROOM * int(size[1])}]", text)


def _small_values(
    base: LaunchConfig, symbols: LaunchSymbols, info: KernelInfo
) -> Iterator[tuple[dict[str, int], tuple[str, ...]]]:
    """Yield values of symbols for small launches, and the properties that count because the counts are those of the work items.

    ``base`` is a launch that ``run`` would make: what is a count in it is one in all.
    """
    usual = values_of(base, symbols, info)
    if base.threads is not None or base.local_size is None or usual is None:
        return
    extents = [local * count for local, count in zip(base.local_size, base.groups, strict=True)]
    axes = max((axis + 1 for axis, extent in enumerate(extents) if extent > 1), default=1)
    fixed = [size.constant if size.is_constant else 0 for size in (*symbols.local, *symbols.counts)]
    counts: dict[str, int] = {}  # argument -> the axis that it counts
    for term in symbols.values.values():
        for atom, _ in term.factors:
            # A count is at most that of the work items, and leaves less than a group idle.
            value = usual.get(atom.name, 0)
            own = [axis for axis in range(axes) if extents[axis] - base.local_size[axis] < value <= extents[axis]]
            if own:
                counts[atom.name] = own[len(counts) % len(own)]
    # More work items than elements, or fewer, after those with equal numbers.
    for surplus, (shape, groups) in product((0, -1, 1) if counts else (0,), _SHAPES[axes - 1]):
        sizes = [own or size for own, size in zip(fixed, (*shape, *groups), strict=True)]
        local = sizes[:3]
        # A kernel with an array of its own may need groups that are no larger than usual.
        if prod(sizes) > MAX_ITEMS or (
            info.env.slm_size and any(size > most for size, most in zip(local, base.local_size, strict=True))
        ):
            continue
        chosen = {
            atom.name: value
            for term, value in zip((*symbols.local, *symbols.counts), sizes, strict=True)
            for atom, _ in term.factors
        }
        for name, axis in counts.items():
            rest = (local[axis] // 2 + 1) * surplus - axis * bool(surplus)
            total = sizes[axis] * sizes[axis + 3]
            if len(counts) == 1:  # both sides of a square, as in a launch of ``run``
                total = max(size * count for size, count in zip(sizes[:3], sizes[3:], strict=True))
            chosen[name] = max(1, total + rest)
        # Buffers have room for the square of a few work items only.
        counted = () if surplus else ("race",) if prod(sizes) > MAX_BOUNDS_ITEMS else ("race", "bounds")
        yield {**{key: value for key, value in usual.items() if key.startswith("argument")}, **chosen}, counted
