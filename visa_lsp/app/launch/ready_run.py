"""Runs one launch that is ready: link, prepare and texts are done. Reports what it left.

Knows no text, no file and no compiler, so that a program that is kept on disk runs without loading them. Prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.app.launch.profile import profile_of
from visa_lsp.app.launch.report import (
    BufferReport,
    ExpectationReport,
    ImageShape,
    RunReport,
    RunTime,
    ValueReport,
    group_faults,
    with_declarations,
    with_sources,
)
from visa_lsp.disk_cache import open_for_user
from visa_lsp.sim.contents import Contents
from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.launch.config import Arg, Array, BufferArg, ImageArg, LaunchConfig, LaunchError, ValueArg
from visa_lsp.sim.launch.prepare import PreparedLaunch, with_budget
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.checkers import CHECKERS, checkers, listed_names, select_watched_kinds
from visa_lsp.sim.observers.profile import Profiler
from visa_lsp.sim.printf import text_of as text_printed

if TYPE_CHECKING:
    from visa_lsp.app.launch.body_source import BodySource
    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Module
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.jit.code_cache import Making, Makings
    from visa_lsp.sim.observers.hooks import Observer

    Engine = Callable[..., RunResult]

ENGINES: Final = ("auto", "jit", "interp")
INTERPRETED_STEPS: Final = 50_000_000  # some minutes; a longer kernel may never end
_ITEM_RACES: Final = "item-races"
_PILOT_STEPS: Final = 2_000
_MAX_PILOT_BYTES: Final = 64 << 20  # 20 ms to copy
COMPILED_STEPS: Final = 200_000_000_000  # for the compiled engine


@dataclass(frozen=True, slots=True, eq=False)
class ReadyRun:
    """A launch that is ready to run: the linked program, its dispatch, and the notes so far."""

    module: Module
    launch: LaunchFile
    options: RunOptions
    platform: Platform
    prepared: PreparedLaunch
    texts: Mapping[str, BodySource]
    notes: tuple[str, ...]
    loading: float  # seconds since loading began
    judge: Callable[[ReadyRun], tuple[ExpectationReport, ...]] = lambda _: ()  # returns the reports of all expectations

    def dispatch(self, steps: int) -> Dispatch:
        """Return the dispatch with a budget of ``steps`` instructions, unless the options set one."""
        return with_budget(self.prepared, self.options.budget or steps)

    @property
    def values(self) -> tuple[ValueReport, ...]:
        """The arguments passed by value."""
        given, names = self.launch.config.by_key, self.prepared.names
        return tuple(
            ValueReport(key, names.get(key, ""), arg.array) for key, arg in given.items() if isinstance(arg, ValueArg)
        )

    @property
    def printed(self) -> str:
        """The output of the kernel so far."""
        return text_printed(self.prepared.printf, self.prepared.dispatch.memory) if self.prepared.printf else ""

    def expectations(self) -> tuple[ExpectationReport, ...]:
        """Return all expectations of the launch file, in its order."""
        return self.judge(self)

    def report(
        self, result: RunResult, engine: str, time: RunTime | None = None, profiler: Profiler | None = None
    ) -> RunReport:
        """Return the report of the run."""
        prepared, config, said = self.prepared, self.launch.config, list(self.notes)
        if profiler is not None and self.options.engine == "auto":
            said.append(
                "--profile uses the interpreter, because only it records lanes and messages; --counts works with any engine"
            )
        if result.side_by_side > 1:
            said.append(
                f"groups ran in parallel on {result.side_by_side} threads; the order of atomics of different groups is undefined"
            )
        elif self.options.threads > 1 and engine == "interp":
            said.append("groups ran on one thread; only the compiled engine supports several")
        if result.ended:
            groups = prod(prepared.dispatch.groups)
            said.append(
                f"the run stopped at its first fault, in group {result.groups + 1} of {groups}; nothing is compared"
            )
        faults = group_faults(with_sources(with_declarations(result.faults, self.texts, self.module), self.module))
        expected = select_watched_kinds(self.launch.expect_faults, self.options.checks)
        wrong: list[Fault] = []
        notes: list[Fault] = []
        for fault in faults:
            (notes if fault.is_note or fault.kind.value in expected else wrong).append(fault)
        found_kinds = {
            kind: any(fault.kind.value == kind and not fault.note for fault in faults)
            for kind in expected
            if not result.ended
        }
        return RunReport(
            prepared.dispatch.kernel.name,
            self.platform.name,
            "interp" if result.interpreted else engine,
            _buffer_reports(prepared, config),
            () if result.ended else self.expectations(),
            tuple(wrong),
            result,
            (*said, *result.limits),
            self.printed,
            tuple(notes),
            self.texts,
            values=self.values,
            time=time or RunTime(self.loading),
            profile=profile_of(self.module.bodies, result.executions, profiler)
            if self.options.counts or profiler
            else None,
            is_watched=bool(listed_names(self.options.checks)),
            expected_faults=found_kinds,
        )


def _buffer_reports(prepared: PreparedLaunch, config: LaunchConfig) -> tuple[BufferReport, ...]:
    """Return every buffer and image argument after the run; ``config`` has the arrays before it.

    An array that the run modified in place counts as changed if it was written, because its old contents are lost.
    """
    order = [key for key in prepared.names if key in prepared.arrays] or list(prepared.arrays)
    given = config.by_key
    return tuple(_buffer(prepared, key, given[key]) for key in order)


def _buffer(prepared: PreparedLaunch, key: int | str, given: Arg) -> BufferReport:
    array = prepared.arrays[key]
    written = prepared.buffers[key].written
    changed = isinstance(given, BufferArg | ImageArg) and (
        written if given.in_place else _bytes(array) != _bytes(given.array)
    )
    shape = ImageShape(*given.dims, given.channels, given.format) if isinstance(given, ImageArg) else None
    written |= changed
    return BufferReport(key, prepared.names.get(key, ""), array, written=written, changed=changed, image=shape)


def _bytes(array: Array) -> memoryview:
    """Return the bytes of an array for comparison without a copy; values would not work, because NaN differs from itself."""
    return array.reshape(-1).view("u1").data


def run_ready(run: ReadyRun) -> RunReport:
    """Run a prepared launch as often as its options say, and check the expectations against the last run.

    Faults of the kernel are in the report. Raises LaunchError for an unknown engine or checker, and for a listener that the
    engine does not support.
    """
    options = run.options
    follows = bool(options.listeners) or options.profile
    engine_name = installed_engine("interp" if follows and options.engine == "auto" else options.engine)
    if follows and engine_name != "interp":
        raise LaunchError("tracing instructions needs --engine interp")
    refuse_unknown_checks(options.checks)
    for listener in options.listeners:
        if unfit := listener.unfit(run.prepared.dispatch):
            raise LaunchError(unfit)
    dispatch = run.dispatch(INTERPRETED_STEPS if engine_name == "interp" else COMPILED_STEPS)
    show = options.show_progress and partial(options.show_progress, prod(dispatch.groups))
    dispatch = structs.replace(
        dispatch, first_fault=options.first_fault, show_progress=show, host_threads=options.threads
    )
    engine = engine_function(
        options, engine_name, options.compiled.of(dispatch) if options.compiled is not None else None
    )
    item_race = _item_race(dispatch, options.checks)
    result, time, profiler = _run_timed(dispatch, engine, options, run.loading)
    if item_race is not None and not any(fault.kind is FaultKind.RACE for fault in result.faults):
        result.faults = (*result.faults, item_race)
    return run.report(result, engine_name, time, profiler)


def _item_race(dispatch: Dispatch, checks: str) -> Fault | None:
    """Return the first race between work items of one thread as a note, if all other checks are on.

    Runs only the beginning of the first group, and only for kernels whose work items share memory, which takes 20 to 40 ms.
    Memory is restored.
    """
    names = {name.strip() for name in checks.split(",")}
    if "all" not in names or _ITEM_RACES in names or not dispatch.slm_bytes or dispatch.simd == 1:
        return None
    if sum(buffer.size for buffer in dispatch.buffers) > _MAX_PILOT_BYTES:
        return None
    before = Contents(dispatch)
    pilot = structs.replace(dispatch, groups=(1, 1, 1), step_budget=_PILOT_STEPS, first_fault=False, show_progress=None)
    faults = interpret(pilot, checkers(_ITEM_RACES)).faults
    before.restore()
    race = next((fault for fault in faults if fault.kind is FaultKind.RACE and not fault.is_note), None)
    if race is None:
        return None
    hint = f"right here, because one thread runs both lanes, but not with another SIMD width; --checks all,{_ITEM_RACES} makes these faults"
    return replace(race, message=f"{race.message}: {hint}", note=True)


def _run_timed(
    dispatch: Dispatch, engine: Engine, options: RunOptions, loading: float
) -> tuple[RunResult, RunTime, Profiler | None]:
    """Run the launch; return the result of the last run, the times of loading, compiling and each run, and the last profiler."""
    before = Contents(dispatch) if options.repeat > 1 else None
    compiling, running = 0.0, []
    while True:
        profiler = Profiler() if options.profile else None
        observers = (*checkers(options.checks), *options.listeners, *((profiler,) if profiler else ()))
        began = perf_counter()
        result = engine(dispatch, observers)
        running.append(perf_counter() - began - result.compile_seconds)
        compiling += result.compile_seconds
        if before is None or len(running) == options.repeat:
            return result, RunTime(loading, compiling, tuple(running)), profiler
        before.restore()


def observers_named(checks: str) -> tuple[Observer, ...]:
    """Return the checkers of ``all``, ``none``, or names separated by commas.

    ``all`` has every checker except those that must be named. Raises LaunchError for an unknown name.
    """
    refuse_unknown_checks(checks)
    return checkers(checks)


def refuse_unknown_checks(checks: str) -> None:
    """Raise LaunchError if a list of checks has an unknown name."""
    unknown = next((name for name in listed_names(checks) if name not in CHECKERS), None)
    if unknown is not None:
        raise LaunchError(f"unknown check '{unknown}'; known checks: all, none, {', '.join(CHECKERS)}")


def makings() -> Makings:
    """Return a cache of compiled code of one program, for ``RunOptions``."""
    from visa_lsp.sim.jit.code_cache import Makings

    return Makings(open_for_user("native", ()))


def installed_engine(name: str) -> str:
    """Return the engine for a name of the options; ``auto`` is the compiled one if llvmlite is installed."""
    if name not in ENGINES:
        raise LaunchError(f"unknown engine '{name}'; known engines: {', '.join(ENGINES)}")
    if name != "interp" and find_spec("llvmlite") is not None:
        return "jit"
    if name == "jit":
        raise LaunchError("the engine 'jit' needs llvmlite: pip install 'visa-lsp[jit]'")
    return "interp"


def engine_function(options: RunOptions, name: str, making: Making | None = None) -> Engine:
    """Return the function that runs launches; the budget of the options also applies when the interpreter takes over."""
    if name == "interp":
        return interpret
    from visa_lsp.sim.jit.code_cache import Making
    from visa_lsp.sim.jit.engine import run

    making = making or Making(open_for_user("native", ()))
    interpreted = options.budget or INTERPRETED_STEPS
    return partial(run, interpreted=interpreted, making=making, at_once=options.engine == "jit")
