"""The instructions that compiled code leaves to the interpreter, by kernel: ``python -m benchmarks.run --left`` prints the table.

Each kernel of both corpora runs with the launch that ``run --init`` proposes. The first share is that of the executed instructions
that the interpreter carries out: within compiled code, or because compiled code is left there. Barriers of whole groups are
compiled. The second is that of the time of a launch whose code is made: what goes to the interpreter for them. Where nothing is
left, none goes there. A kernel is notable that spends more than 5 % so, whatever their number is.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Final, Self

from benchmarks.first import launch_of, short_texts
from benchmarks.measure import table
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.runner import ReadyRun, ready
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.jit import engine
from visa_lsp.sim.jit.code_cache import Making
from visa_lsp.sim.jit.machine import CompiledMachine, CompiledThread
from visa_lsp.sim.jit.native import Native

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.jit.bodies import CompiledBody

_GROUPS: Final = 4
_STEPS: Final = 3_000_000
NOTABLE: Final = 0.05  # a share above which instructions are worth a compiled form


def instructions_left(run: ReadyRun) -> tuple[Counter[str], int]:
    """Return the interpreted executions of each opcode, and the number of all executed instructions."""
    making = Making()
    result = engine.run(run.dispatch(_STEPS), making=making, at_once=True)
    left = Counter[str]()
    for compiled in making.bodies.values():
        plan, counts = compiled.body, result.executions.get(compiled.code.kernel.name, ())
        for pc in (plan.called_out | plan.leaving) - plan.barriers:
            if pc < len(counts) and counts[pc]:
                left[plan.instructions[pc].row.mnemonic] += counts[pc]
    return left, result.steps


class Clock:
    """The seconds that a launch spends in the interpreter, within compiled code and between calls of it."""

    def __init__(self) -> None:
        self.seconds, self._compiled, self._depth = 0.0, 0.0, 0

    def __enter__(self) -> Self:
        self._kept = CompiledMachine.interpret, CompiledThread._enter, Native.function
        clock, (interpret, enter, function) = self, self._kept

        def timed_interpret(machine: CompiledMachine, registers: int, block: int, pc: int) -> int:
            began = perf_counter()
            failed = interpret(machine, registers, block, pc)
            clock.seconds += perf_counter() - began
            return failed

        def timed_enter(thread: CompiledThread, compiled: CompiledBody, used: int) -> tuple[int | None, int, bool]:
            began, inside = perf_counter(), clock._compiled
            found = enter(thread, compiled, used)
            clock.seconds += perf_counter() - began - (clock._compiled - inside)
            return found

        def timed_function(native: Native, name: str, *more: object) -> Callable[..., object]:
            made = function(native, name, *more)

            def run(*arguments: object) -> object:
                began = perf_counter()
                found = made(*arguments)
                clock._compiled += perf_counter() - began
                return found

            return run

        CompiledMachine.interpret, CompiledThread._enter = timed_interpret, timed_enter  # type: ignore[method-assign]
        Native.function = timed_function  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *_: object) -> None:
        CompiledMachine.interpret, CompiledThread._enter, Native.function = self._kept  # type: ignore[method-assign]


def share_of_time(run: ReadyRun) -> float:
    """Return the share of a launch's time that goes to the interpreter, the least of three runs of code that is made."""
    making, shares = Making(), list[float]()
    for _ in range(4):
        with Clock() as clock:
            began = perf_counter()
            engine.run(run.dispatch(_STEPS), making=making, at_once=True)
            shares.append(clock.seconds / (perf_counter() - began))
    return min(shares[1:])


def print_left(platform: str) -> None:
    """Print the table of all kernels of the corpora for a platform."""
    rows: list[list[object]] = []
    notable = 0
    with TemporaryDirectory(prefix="visa-bench-") as name:
        for number, (kernel, path) in enumerate(short_texts(platform, "run*")):
            launch = launch_of(path, number, _GROUPS, Path(name))
            if isinstance(launch, str):
                rows.append([f"{path.parts[-4]} {kernel}", "", "", launch])
                continue
            options = RunOptions(platform=platform, path=path)
            module = module_of_text(path.read_text("utf-8"), path, platform_named(platform), [])
            run = ready(module, parse_launch(launch.read_text("utf-8"), launch), options)
            left, steps = instructions_left(run)
            time = share_of_time(run) if left else 0.0
            notable += time > NOTABLE
            words = ", ".join(f"{word} {100 * count / steps:.1f} %" for word, count in left.most_common(6))
            rows.append([f"{path.parts[-4]} {kernel}", 100 * left.total() / max(1, steps), 100 * time, words])
    table(f"left to the interpreter, {platform}, {_GROUPS} groups", ["", "% of instructions", "% of time", ""], rows)
    print(f"{notable} of {len(rows)} kernels spend more than {100 * NOTABLE:.0f} % of their time there")
