"""Turns counterexamples into launch files, and runs them to show the fault."""

from __future__ import annotations

from contextlib import suppress
from math import gcd, inf, prod
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.runner import run_launch
from visa_lsp.program.elements import cl_element, element_bytes
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.launch.config import LaunchError
from visa_lsp.zeinfo.write import scalar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from visa_lsp.app.prove.answers import Example
    from visa_lsp.app.prove.walk import Walker
    from visa_lsp.companions import Beside

_ROOM_BYTES: Final = 1 << 16  # of a buffer whose size does not matter
_HELD_BYTES: Final = 4096  # of a buffer whose elements are written out
_SHARED_BYTES: Final = 4096
_MAX_STEPS: Final = 200_000  # some 15 seconds of the interpreter
_STEPS_PER_SECOND: Final = 13_000
_MAX_ITEMS: Final = 8192  # work items of a launch, so that a run takes seconds
_MAX_GROUP: Final = 1024  # work items of a group, as devices allow
_MAX_SHARED: Final = 1 << 16  # bytes of shared local memory of a group, as devices have
_RUNS: Final = {  # property -> the checks of a run, the kind of the fault
    "race": ("races,item-races", "data-race"),
    "bounds": ("bounds", "out-of-bounds"),
    "divergence": ("barriers", "barrier-divergence"),
    "uninitialised": ("uninitialised", "uninitialised-read"),
}
_ITEM_CHECKS: Final = "all,item-races"  # for races that the default checks omit: lanes of one thread
_CONTENTS: Final = ("{random: 1}", "arange", "zeros")
_SPREAD: Final = 0x9E3779B97F4A7C15  # times a number: bits without an order


def program_line(path: str) -> str:
    """Return the line of a launch file that names its program."""
    return f"file: {scalar(path)}"


class Confirmer:
    """Runs launches of one kernel."""

    def __init__(
        self, walker: Walker, path: Path, data: bytes, finder: Beside, *, named: bool = False, item_races: bool = True,
        deadline: float = inf,
    ) -> None:  # fmt: skip
        self.walker, self.path, self.data, self.finder = walker, path, data, finder
        self.item_races = item_races
        self.shown: dict[tuple[str, str], set[int]] = {}  # the lines with the fault, by property and launch
        self.deadline = deadline  # of all runs, by ``time.monotonic``
        self.named = named  # without ze_info, arguments are given by the names of inputs

    def confirm(self, property_: str, lines: Sequence[int], example: Example) -> str | None:
        """Return the text of a launch file whose run has the fault at one of the lines; None if there is no such run."""
        for contents in _CONTENTS:
            text = self.launch_text(example, contents)
            if text is None:
                return None
            with suppress(LaunchError, UserError):
                steps = min(_MAX_STEPS, max(0, self.deadline - monotonic()) * _STEPS_PER_SECOND)
                if steps < 1:
                    return None
                checks = "races" if property_ == "race" and not self.item_races else _RUNS[property_][0]
                shown, is_cut = self._run(text, property_, checks, int(steps))
                if shown & set(lines):
                    options = f" --budget {int(steps)}" if is_cut else ""
                    if property_ == "race" and self._run(text, property_, "races", int(steps))[0] != shown:
                        options = f" --checks {_ITEM_CHECKS}{options}"
                    if self.path.is_file():
                        text = text.replace("\n", f"\n{program_line(self.path.name)}\n", 1)
                    launch = f"# run with{options}\n{text}" if options else text
                    self.shown[property_, launch] = shown
                    return launch
        return None

    def _run(self, text: str, property_: str, checks: str, steps: int) -> tuple[set[int], bool]:
        """Return the lines at which a run has the fault, and whether it ended at the limit of steps."""
        launch = parse_launch(text, self.path.with_name(f"{self.path.name}.launch.yaml"))
        options = RunOptions(self.path, self.walker.platform.name, "interp", checks, budget=steps, finder=self.finder)
        faults = run_launch(launch, options, self.data).faults
        shown = [(one.line + 1, one.other_line + 1) for one in faults if one.kind.value == _RUNS[property_][1]]
        return {line for lines in shown for line in lines if line}, any(one.kind is FaultKind.BUDGET for one in faults)

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
        if prod(local) * prod(groups) > _MAX_ITEMS or prod(local) > _MAX_GROUP:
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
            key = f"  {info.argument_name(index)}: " if self.named else "  - "
            kind = entry.kind if entry is not None else ""
            size = value_of(symbols.sizes[index], _ROOM_BYTES) if index in symbols.sizes else _ROOM_BYTES
            if kind == "buffer":
                element = cl_element(info.type_of(index).replace("*", "") + ";4") or "uint32"
                held = example.contents.get(index, {})
                if held:
                    element = f"uint{8 * gcd(*held, *(bytes_ for bytes_, _ in held.values()))}"
                    size = size if size < _ROOM_BYTES else max(_HELD_BYTES, example.reach[index] + 7 & ~7)
                if size % element_bytes(element):
                    element = "uint8"
                count = size // element_bytes(element)
                given = f"shape: [{count}], init: {contents}"
                given = f"values: {_fill_elements(element, count, held, contents)}" if held else given
                lines.append(f"{key}{{buffer: {{dtype: {element}, {given}}}}}")
            elif kind == "local":
                size = max(1, size if size < _ROOM_BYTES else _SHARED_BYTES)
                shared += size
                lines.append(f"{key}{{local: {size}}}")
            elif kind == "value":
                element = info.element_of(index)
                if index in symbols.values:
                    lines.append(f"{key}{{value: {value_of(symbols.values[index], 1)}, dtype: {element}}}")
                else:
                    count = max(1, info.value_parts(entry)[1] // 4) if entry is not None else 1
                    number = "1.0" if element.startswith("float") else "1"
                    given = f"value: {number}" if element and count == 1 else f"values: [{', '.join([number] * count)}]"
                    lines.append(f"{key}{{{given}, dtype: {element or 'uint32'}}}")
            else:
                return None
        return "\n".join(lines) + "\n" if shared <= _MAX_SHARED else None


def _fill_elements(element: str, count: int, held: Mapping[int, tuple[int, int]], contents: str) -> list[int]:
    """Return the elements of a buffer that holds some values at some offsets, and ``contents`` elsewhere."""
    size = element_bytes(element)
    factor = {"zeros": 0, "arange": 1}.get(contents, _SPREAD)
    data = bytearray().join(
        (at * factor >> (factor != 1) * 32 & (1 << 8 * size) - 1).to_bytes(size, "little") for at in range(count)
    )
    for offset, (bytes_, value) in held.items():
        data[offset : offset + bytes_] = value.to_bytes(bytes_, "little")
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, count * size, size)]
