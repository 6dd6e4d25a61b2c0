"""Statistics of a kernel: instructions, messages, blocks, loops, and register pressure line by line.

Knows programs, not files or formats. Lines count from 1; a program without lines has none. Invariant: pressure is in GRF
rows as ``flow.register_use`` counts them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.flow.register_use import RegisterUse, registers_of
from visa_lsp.flow.steps import Space, number_of, space_of
from visa_lsp.isa import predefined
from visa_lsp.isa.model import SENDING, FlowClass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.flow.pressure import Pressure
    from visa_lsp.program.model import Kernel

_MAX_RANGES: Final = 256  # variables of a peak with lines; more than any machine has registers
_NO_CODE: Final = frozenset({FlowClass.LABEL, FlowClass.SUBROUTINE, FlowClass.NOTE})


class LineFigures(Struct, frozen=True):
    """A line with the pressure after it, or during its write, and its loop depth."""

    line: int
    pressure: int
    loop_depth: int


class PeakVariable(Struct, frozen=True):
    """A variable of the peak: its GRF rows, and the first and last line of its live range around the peak.

    The lines are None for a program without lines, and for variables beyond the limit.
    """

    name: str
    rows: float
    first_line: int | None
    last_line: int | None


class Peak(Struct, frozen=True):
    """The highest pressure, its first line, and its variables, the largest first."""

    max: int
    line: int | None
    variables: tuple[PeakVariable, ...] = ()


class LiveVariable(Struct, frozen=True):
    """A general variable with its own storage: its aliases, its GRF rows, and the line ranges where it is live.

    A range is a first and a last line, in the order of the body; it includes lines of other blocks in between.
    """

    name: str
    aliases: tuple[str, ...]
    rows: float
    runs: tuple[tuple[int, int], ...]


class KernelFigures(Struct, frozen=True):
    """A kernel or function of the input ``path``. ``variables`` counts declared general variables, including aliases.

    ``lives`` is None if it was not requested.
    """

    path: str
    name: str
    grf_bytes: int
    instructions: int
    variables: int
    blocks: int
    loops: int
    sends: int
    by_family: dict[str, int]
    pressure: Peak
    flags: Peak
    addresses: Peak
    lines: tuple[LineFigures, ...]
    lives: tuple[LiveVariable, ...] | None = None


def figures_of(kernel: Kernel, grf_bytes: int, path: str, *, lives: bool = False) -> KernelFigures:
    """Return the statistics of a kernel with GRF rows of ``grf_bytes``; ``lives`` adds the live range of each variable."""
    use = registers_of(kernel, grf_bytes)
    code = [inst for inst in kernel.instructions if inst.row.flow not in _NO_CODE]
    families = Counter(inst.row.family for inst in code)
    rows = use.grf_rows
    lines = tuple(
        LineFigures(inst.line + 1, rows[step], use.depth(step))
        for step, inst in enumerate(kernel.instructions)
        if inst.line >= 0
    )
    return KernelFigures(
        path,
        kernel.name,
        grf_bytes,
        len(code),
        len(kernel.variables),
        len(use.graph.blocks),
        len(use.loops.by_head),
        sum(families[family] for family in SENDING),
        dict(sorted(families.items())),
        _peak(use, use.general, max(rows, default=0), grf_bytes),
        _peak(use, use.flags, max(use.flags.at, default=0), 1),
        _peak(use, use.addresses, max(use.addresses.at, default=0), 1),
        lines,
        tuple(_lives(use)) if lives else None,
    )


def _lives(use: RegisterUse) -> Iterator[LiveVariable]:
    """Yield every general variable that is ever live, in the order of declaration."""
    kernel, weights = use.kernel, use.general.weights
    aliases: dict[int, list[str]] = {}
    for number in range(predefined.FIRST_VARIABLE, predefined.FIRST_VARIABLE + len(kernel.variables)):
        root = use.storage.root(number)
        if root != number:
            aliases.setdefault(root, []).append(kernel.variable_name(number))
    for key, runs in sorted(use.general.ranges(weights).items()):
        ends = [(_line(kernel, start), _line(kernel, end)) for start, end in runs]
        lines = tuple((start, end) for start, end in ends if start is not None and end is not None)
        if lines:
            yield LiveVariable(
                _name(kernel, key), tuple(aliases.get(number_of(key), ())), weights[key] / use.grf_bytes, lines
            )


def _peak(use: RegisterUse, pressure: Pressure, most: int, unit: int) -> Peak:
    step = pressure.peak
    if step < 0:
        return Peak(0, None)
    live = pressure.live(step)
    heaviest = sorted(live.items(), key=lambda item: -item[1])
    around = {
        variable: next((start, stop) for start, stop in runs if start <= step <= stop)
        for variable, runs in pressure.ranges([key for key, _ in heaviest[:_MAX_RANGES]]).items()
    }
    variables = [
        PeakVariable(
            _name(use.kernel, key), weight / unit, *(_line(use.kernel, end) for end in around.get(key, (-1, -1)))
        )
        for key, weight in heaviest
    ]
    return Peak(most, _line(use.kernel, step), tuple(variables))


def _line(kernel: Kernel, step: int) -> int | None:
    line = kernel.instructions[step].line if step >= 0 else -1
    return line + 1 if line >= 0 else None


def _name(kernel: Kernel, key: int) -> str:
    number = number_of(key)
    match space_of(key):
        case Space.PREDICATE:
            return kernel.string(kernel.predicates[number - predefined.FIRST_PREDICATE].name_index)
        case Space.ADDRESS:
            return kernel.string(kernel.addresses[number - predefined.FIRST_ADDRESS].name_index)
        case _:
            return kernel.variable_name(number)
