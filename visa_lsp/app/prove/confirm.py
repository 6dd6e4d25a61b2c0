"""Turns counterexamples into launch files, and runs them to show the fault."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import gcd, inf, prod
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.defaults import image_argument
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.printing import fault_values
from visa_lsp.app.launch.program_info import kernel_info
from visa_lsp.app.launch.report import with_declarations, with_sources
from visa_lsp.app.launch.runner import load_for, ready
from visa_lsp.app.prove.assume import name_of
from visa_lsp.app.prove.terms import UNFOLLOWED, atoms_of
from visa_lsp.program.elements import cl_element, element_bytes
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.launch.config import LaunchError, ValueArg
from visa_lsp.sim.launch.prepare import prepare
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.checkers import checkers
from visa_lsp.zeinfo.write import scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from visa_lsp.app.launch.body_source import BodySource
    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.app.prove.answers import Example
    from visa_lsp.app.prove.walk import Walker
    from visa_lsp.companions import Beside
    from visa_lsp.program.model import Module
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.faults import Fault
    from visa_lsp.sim.launch.config import LaunchConfig
    from visa_lsp.sim.launch.prepare import PreparedLaunch
    from visa_lsp.sim.observers.hooks import Observer

ROOM_BYTES: Final = 1 << 16  # of a buffer whose size does not matter
_HELD_BYTES: Final = 4096  # of a buffer whose elements are written out
_SHARED_BYTES: Final = 4096
_MAX_STEPS: Final = 200_000  # some 15 seconds of the interpreter
_STEPS_PER_SECOND: Final = 1_500  # until a run shows how fast the machine is; an idle one does 13,000
_MEASURED_STEPS: Final = 200  # of a run whose time is more than that of its preparation
_MAX_ITEMS: Final = 8192  # work items of a launch, so that a run takes seconds
MAX_GROUP: Final = 1024  # work items of a group, as devices allow
_MAX_SHARED: Final = 1 << 16  # bytes of shared local memory of a group, as devices have
_RUNS: Final = {  # property -> the checks of a run, the kind of the fault
    "race": ("item-races", FaultKind.RACE),  # which are those of threads too
    "bounds": ("bounds", FaultKind.OUT_OF_BOUNDS),
    "divergence": ("barriers", FaultKind.BARRIER),
    "uninitialised": ("uninitialised", FaultKind.UNINITIALISED),
}
_ITEM_CHECKS: Final = "all,item-races"  # for races that the default checks omit: lanes of one thread
_CONTENTS: Final = ("{random: 1}", "arange", "zeros")
_SPREAD: Final = 0x9E3779B97F4A7C15  # times a number: bits without an order


def program_line(path: str) -> str:
    """Return the line of a launch file that names its program."""
    return f"file: {scalar(path)}"


@dataclass(frozen=True, slots=True)
class ShownFault:
    """A fault of a run: the lines of its parties, from 1, and its JSON object."""

    lines: frozenset[int]
    values: Mapping[str, Any]


@dataclass(slots=True)
class LaunchRuns:
    """Runs launches of one program, and keeps the faults that they show.

    ``shown`` has them by property and text of the launch file, ``values`` the symbols of launches that no question of a
    proof has led to; ``item_races`` and ``in_step`` are those of the prover; ``usual`` are those among them that ``run`` would make. ``deadline`` is that of all runs, by
    ``time.monotonic``.
    """

    path: Path
    data: bytes
    platform: str
    finder: Beside
    item_races: bool = True
    in_step: bool = False
    deadline: float = inf
    shown: dict[tuple[str, str], list[ShownFault]] = field(default_factory=dict)
    values: dict[str, Mapping[str, int]] = field(default_factory=dict)
    usual: frozenset[str] = frozenset()
    _steps_per_second: float = _STEPS_PER_SECOND
    _program: tuple[Module, Mapping[str, BodySource]] | None = None

    @property
    def launch_path(self) -> Path:
        """The path of launch files, none of which is written."""
        return self.path.with_name(f"{self.path.name}.launch.yaml")

    @property
    def lines(self) -> dict[tuple[str, str], set[int]]:
        """The lines with the fault, by property and launch."""
        return {key: {line for fault in faults for line in fault.lines} for key, faults in self.shown.items()}

    def numbers_of(self, launch: str, info: KernelInfo) -> dict[str, int]:
        """Return the sizes and arguments of a launch that are whole numbers, by their words in OpenCL."""
        config = parse_launch(launch, self.launch_path).config
        values: dict[str, int] = {}
        for axis, (local, count) in enumerate(zip(config.local_size or (1, 1, 1), config.groups, strict=True)):
            values |= {f"get_local_size({axis})": local, f"get_num_groups({axis})": count}
            values |= {
                f"get_global_size({axis})": local * count,
                f"get_global_offset({axis})": config.global_offset[axis],
            }
        for key, given in config.by_key.items():
            if isinstance(given, ValueArg) and given.array.size == 1 and given.array.dtype.kind in "iu":
                values[name_of(info, key) if isinstance(key, int) else key] = int(given.array)
        return values

    def find(self, property_: str, lines: Sequence[int]) -> str | None:
        """Return a launch that has shown the fault at one of the lines."""
        shown = self.lines.items()
        return next((launch for (word, launch), at in shown if word == property_ and at & set(lines)), None)

    def run(self, text: str, checks: str, steps: int) -> tuple[RunReport, list[Fault]]:
        """Run a launch; return its report, and all faults, which the report may group.

        Raises LaunchError or UserError if that is impossible.
        """
        run = self._ready(parse_launch(text, self.launch_path))
        result = self.interpret(run.dispatch(steps), checkers(checks))
        report = run.report(result, "interp")
        faults = with_sources(with_declarations(result.faults, report.sources, run.module), run.module)
        return report, [one for one in faults if not one.is_note]

    def interpret(self, dispatch: Dispatch, observers: Sequence[Observer]) -> RunResult:
        """Run a launch, and measure how fast the machine is."""
        begun = monotonic()
        result = interpret(dispatch, observers)
        if result.steps > _MEASURED_STEPS:
            self._steps_per_second = result.steps / max(monotonic() - begun, 0.001)
        return result

    def _ready(self, launch: LaunchFile) -> ReadyRun:
        options = RunOptions(self.path, self.platform, finder=self.finder)
        if self._program is None:
            self._program = load_for(self.data, launch, options, [])
        return ready(self._program[0], launch, options, (), self._program[1])

    def prepare(self, text: str) -> Callable[[LaunchConfig], PreparedLaunch]:
        """Return a function that prepares further launches of the kernel that a launch names, quicker than ``run``."""
        launch = parse_launch(text, self.launch_path)
        linked = self._ready(launch)
        info, sections = kernel_info(linked.prepared.dispatch.kernel, launch, linked.options, [])

        def prepared(config: LaunchConfig) -> PreparedLaunch:
            return prepare(linked.module, info, replace(config, sections=config.sections + sections), linked.platform)

        return prepared

    def steps_left(self, limit: int) -> int:
        """Return the number of instructions for which half of the time suffices, at most ``limit``."""
        return int(min(limit, max(0.0, self.deadline - monotonic()) / 2 * self._steps_per_second))

    def checks_of(self, property_: str) -> str:
        """Return the checks that show a property."""
        return "races" if property_ == "race" and not self.item_races else _RUNS[property_][0]

    def faults_of(self, property_: str, faults: Iterable[Fault]) -> list[Fault]:
        """Return the faults that refute a property.

        Reads of memory are not uninitialised ones of a register, and lanes of one thread are ordered on request; if they
        are in step, those of one message are not.
        """
        kind = _RUNS[property_][1]
        found = [one for one in faults if one.kind is kind and not one.is_note]
        if kind is FaultKind.UNINITIALISED:
            return [one for one in found if one.variable]
        return [
            one for one in found
            if "of the same thread" not in f"{one.message} {one.other}"
            or (self.item_races and (not self.in_step or "of the same message" in one.message))
        ]  # fmt: skip

    def keep(self, property_: str, text: str, steps: int, wanted: Collection[int] = ()) -> set[int]:
        """Run a launch, and keep the faults that refute a property, at the ``wanted`` lines if given; return their lines."""
        report, all_ = self.run(text, self.checks_of(property_), steps)
        faults = [one for one in self.faults_of(property_, all_) if not wanted or one.line + 1 in wanted]
        lines = _lines_of(faults)
        if lines:
            options = f" --budget {steps}" if any(one.kind is FaultKind.BUDGET for one in all_) else ""
            if property_ == "race" and self.item_races:
                left = self.steps_left(steps)
                default = self.faults_of("race", self.run(text, "races", left)[1]) if left else []
                if _lines_of(default) == lines:
                    faults = default
                else:
                    options = f" --checks {_ITEM_CHECKS}{options}"
            if self.path.is_file():
                text = text.replace("\n", f"\n{program_line(self.path.name)}\n", 1)
            # The other party of a read is the declaration of the register.
            parties = [(one, [one] if not one.variable else [replace(one, other_line=-1)]) for one in faults]
            self.shown[property_, f"# run with{options}\n{text}" if options else text] = [
                ShownFault(_lines_of(own), fault_values(report, one)) for one, own in parties
            ]
        return set(lines)


def _lines_of(faults: Iterable[Fault]) -> frozenset[int]:
    """Return the lines of the parties of faults, from 1."""
    return frozenset({line + 1 for one in faults for line in (one.line, one.other_line)} - {0})


class Confirmer:
    """Turns counterexamples of a proof into launches, and runs them."""

    def __init__(self, walker: Walker, runs: LaunchRuns, *, named: bool = False) -> None:
        self.walker, self.runs = walker, runs
        self.named = named  # without ze_info, arguments are given by the names of inputs

    def confirm(self, property_: str, lines: Sequence[int], example: Example | None) -> str | None:
        """Return the text of a launch file whose run has the fault at one of the lines; None if there is no such run.

        Without an example only the earlier runs count.
        """
        runs = self.runs
        if example is None:
            return runs.find(property_, lines)
        tries = [(example, contents) for contents in _CONTENTS]
        if example.contents:  # values that are written out are only needed where others do not show the fault
            tries.insert(0, (replace(example, contents={}, reach={}), _CONTENTS[0]))
        # The launch has sizes for this buffer alone; others may need more than it gives them.
        own = [one for one in self.walker.accesses if property_ == "bounds" and one.line in lines]
        spaces = {one.space for one in own}
        wanted = {one.line for one in self.walker.accesses if one.space in spaces}
        if any(atom.why == UNFOLLOWED for one in own for atom in atoms_of(one.offset)):
            # What other values lead to may be the host's matter.
            tries = [(replace(example, contents={}, reach={}), "zeros")]
        for tried, contents in tries:
            text = self.launch_text(tried, contents)
            steps = runs.steps_left(_MAX_STEPS)
            if text is None or steps < 1:
                return None
            with suppress(LaunchError, UserError):
                if runs.keep(property_, text, steps, wanted) & set(lines):
                    return runs.find(property_, lines)
        return None

    def launch_text(self, example: Example, contents: str) -> str | None:
        """Return a launch file; None if a counterexample has no value for the kind of an argument."""
        walker, info, values = self.walker, self.walker.info, example.values
        symbols = walker.symbols

        def value_of(term: Any, default: int) -> int:
            if term.is_constant:
                return int(term.constant)
            return values.get(term.factors[0][0].name, default)

        local = [value_of(one, 32 if axis == 0 else 1) for axis, one in enumerate(symbols.local)]
        groups = [value_of(one, 1) for one in symbols.counts]
        offsets = [value_of(one, 0) for one in symbols.offsets]
        if prod(local) * prod(groups) > _MAX_ITEMS or prod(local) > MAX_GROUP:
            return None
        if self.named and any(not info.argument_name(index) for index in range(info.argument_count)):
            return None
        lines = [
            f"kernel: {walker.kernel.name}", f"platform: {walker.platform.name}",
            f"groups: {groups}", f"local_size: {local}",
            *([f"global_offset: {offsets}"] if any(offsets) else []), "args:" if info.argument_count else "args: []",
        ]  # fmt: skip
        shared = info.env.slm_size
        for index in range(info.argument_count):
            entry = next((one for one in info.payload if one.arg_index == index), None)
            name = info.argument_name(index)
            key, note = (f"  {name}: ", "") if self.named else ("  - ", f"  # {name}" if name else "")
            kind = entry.kind if entry is not None else ""
            size = value_of(symbols.sizes[index], ROOM_BYTES) if index in symbols.sizes else ROOM_BYTES
            if kind == "buffer":
                element = cl_element(info.pointee_of(index)) or "uint32"
                loaded_values = example.contents.get(index, {})
                if loaded_values:
                    element = f"uint{8 * gcd(*loaded_values, *(bytes_ for bytes_, _ in loaded_values.values()))}"
                    size = size if size < ROOM_BYTES else max(_HELD_BYTES, example.reach[index] + 7 & ~7)
                if size % element_bytes(element):
                    element = "uint8"
                count = size // element_bytes(element)
                given = f"shape: [{count}], init: {contents}"
                given = f"values: {_fill_elements(element, count, loaded_values, contents)}" if loaded_values else given
                lines.append(f"{key}{{buffer: {{dtype: {element}, {given}}}}}{note}")
            elif kind == "local":
                size = max(1, size if size < ROOM_BYTES else _SHARED_BYTES)
                shared += size
                lines.append(f"{key}{{local: {size}}}{note}")
            elif kind == "value":
                element = info.element_of(index)
                if index in symbols.values:
                    lines.append(f"{key}{{value: {value_of(symbols.values[index], 1)}, dtype: {element}}}{note}")
                else:
                    count = max(1, info.value_size(entry)[0] // 4) if entry is not None else 1
                    number = "1.0" if element.startswith("float") else "1"
                    given = f"value: {number}" if element and count == 1 else f"values: [{', '.join([number] * count)}]"
                    lines.append(f"{key}{{{given}, dtype: {element or 'uint32'}}}{note}")
            elif kind == "image":
                given = image_argument([one for one in info.payload if one.arg_index == index]).launch["image"]
                lines.append(f"{key}{{image: {{{', '.join(f'{word}: {one}' for word, one in given.items())}}}}}{note}")
            else:
                return None
        return "\n".join(lines) + "\n" if shared <= _MAX_SHARED else None


def _fill_elements(element: str, count: int, loaded_values: Mapping[int, tuple[int, int]], contents: str) -> list[int]:
    """Return the elements of a buffer that holds some values at some offsets, and ``contents`` elsewhere."""
    size = element_bytes(element)
    factor = {"zeros": 0, "arange": 1}.get(contents, _SPREAD)
    data = bytearray().join(
        (at * factor >> (factor != 1) * 32 & (1 << 8 * size) - 1).to_bytes(size, "little") for at in range(count)
    )
    for offset, (bytes_, value) in loaded_values.items():
        data[offset : offset + bytes_] = value.to_bytes(bytes_, "little")
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, count * size, size)]
