"""Runs one launch from text or object to report: load, link, prepare, run, compare.

``ready`` and ``run_ready`` are the two halves, which every caller passes: ``run`` and ``visa.run`` by ``unit.OpenedLaunch``,
the debugger with its own machine between them. Prints nothing and writes no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import count
from math import prod
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.app.inputs import is_object, is_opencl
from visa_lsp.app.kernel_source import with_source
from visa_lsp.app.launch.conditions import condition_reports
from visa_lsp.app.launch.linking import with_callees
from visa_lsp.app.launch.on_cpu import on_cpu
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.profile import profile_of
from visa_lsp.app.launch.program import (
    DEFAULT,
    BodySource,
    TextProblems,
    link_variables,
    load_program,
    merge_modules,
    read_bytes,
    refuse_errors,
)
from visa_lsp.app.launch.program_info import kernel_info, platform_told
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
from visa_lsp.companions import kernels_in
from visa_lsp.disk_cache import open_for_user
from visa_lsp.isa.platforms import PLATFORMS, Platform, thread_widths
from visa_lsp.sim.contents import Contents
from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.launch.config import PLATFORM, Arg, Array, BufferArg, ImageArg, LaunchConfig, LaunchError, ValueArg
from visa_lsp.sim.launch.expect import mismatch
from visa_lsp.sim.launch.prepare import PreparedLaunch, choose_kernel, prepare, with_budget
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.checkers import CHECKERS, checkers, select_watched_kinds
from visa_lsp.sim.observers.profile import Profiler
from visa_lsp.sim.printf import text_of as text_printed
from visa_lsp.text import decode_text, encode_text

if TYPE_CHECKING:
    from visa_lsp.app.launch.file import LaunchFile
    from visa_lsp.program.model import Kernel, Module
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.jit.code_cache import Making, Makings
    from visa_lsp.sim.observers.hooks import Observer

    Engine = Callable[..., RunResult]

__all__ = [
    "LaunchError",
    "RunOptions",
    "TextProblems",
    "read_bytes",
    "run_launch",
    "run_text",
]

ENGINES: Final = ("auto", "jit", "interp")
INTERPRETED_STEPS: Final = 50_000_000  # some minutes; a longer kernel may never end
_ITEM_RACES: Final = "item-races"
_PILOT_STEPS: Final = 2_000
_MAX_PILOT_BYTES: Final = 64 << 20  # 20 ms to copy
COMPILED_STEPS: Final = 200_000_000_000  # for the compiled engine


def run_launch(launch: LaunchFile, options: RunOptions, data: bytes | None = None) -> RunReport:
    """Run the program of the options, else the one that the launch file names; ``data`` are its bytes, if known.

    Raises LaunchError if there is no program, and as ``run_text``.
    """
    path = options.path or program_path(launch)
    return run_ready(ready_data(read_bytes(path) if data is None else data, launch, replace(options, path=path)))


def program_path(launch: LaunchFile) -> Path:
    """Return the program that a launch file names. Raises LaunchError if it names none."""
    if launch.file is None:
        raise LaunchError("no program; name it with file: NAME.visaasm", place=f"{launch.path}:1:1")
    return launch.file


def run_text(text: str, launch: LaunchFile, options: RunOptions | None = None) -> RunReport:
    """Run a text with a launch file.

    Raises TextProblems for a text with errors, and LaunchError for a launch that cannot run.
    """
    return run_ready(ready_data(encode_text(text), launch, options or RunOptions()))


def ready_data(data: bytes, launch: LaunchFile, options: RunOptions) -> ReadyRun:
    """Prepare a launch of the bytes of a text or an object. Raises as ``run_text``."""
    notes: list[str] = []
    module, sources = load_for(data, launch, options, notes)
    return ready(module, launch, options, notes, sources)


def load_for(
    data: bytes, launch: LaunchFile, options: RunOptions, notes: list[str]
) -> tuple[Module, dict[str, BodySource]]:
    """Load the program of a launch as ``load_program`` does, for the platform that the launch and its folder name."""
    kernels = () if is_object(options.path or "", data) else kernels_in(decode_text(data))
    return load_program(data, options.path, platform_told(launch, options, kernels), notes)


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

    def dispatch(self, steps: int) -> Dispatch:
        """Return the dispatch with a budget of ``steps`` instructions, unless the options set one."""
        return with_budget(self.prepared, self.options.budget or steps).dispatch

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
        launch, prepared = self.launch, self.prepared
        reports = list(condition_reports(launch.conditions, prepared, launch.config, launch.names, self._run_reference))
        free = (number for number in count() if number not in launch.conditions)
        reports += zip(free, _expectation_reports(prepared, launch.config), strict=False)
        return tuple(report for _, report in sorted(reports, key=lambda entry: entry[0]))

    def _run_reference(self, path: Path) -> Mapping[int | str, Array]:
        """Return the arrays after a reference program ran with the same arguments."""
        launch, options, config = self.launch, self.options, self.launch.config
        data = read_bytes(path)
        if is_opencl(str(path)):
            return on_cpu(decode_text(data), path, self.prepared, config)
        options = RunOptions(
            path, options.platform, options.engine, "none", budget=options.budget, finder=options.finder
        )
        notes: list[str] = []
        module, _ = load_program(data, path, self.platform, notes)
        kernels = {kernel.name for kernel in module.kernels}
        same = self.prepared.dispatch.kernel.name in kernels
        config = replace(config, expect=(), kernel=self.prepared.dispatch.kernel.name if same else None)
        launch = replace(launch, file=path, files=(), config=config, conditions={})
        if not same:
            launch = replace(launch, ze_info=None, zebin=None, document=None)
        run = ready(module, launch, options, notes)
        name = _engine_name(options.engine)
        result = _engine(options, name)(run.dispatch(INTERPRETED_STEPS if name == "interp" else COMPILED_STEPS), ())
        fault = next((fault for fault in result.faults if not fault.is_note), None)
        if fault is not None:
            raise LaunchError(f"the reference '{path}' fails: {fault}")
        return run.prepared.arrays

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
            is_watched=bool(checkers(self.options.checks)),
            expected_faults=found_kinds,
        )


def _buffer_reports(prepared: PreparedLaunch, config: LaunchConfig) -> tuple[BufferReport, ...]:
    """Return every buffer and image argument after the run; ``config`` has the arrays before it.

    An array that the run modified in place counts as changed if it was written, because its old contents are lost.
    """
    order = [key for key in prepared.names if key in prepared.arrays] or list(prepared.arrays)
    given = config.by_key
    return tuple(_buffer(prepared, key, given[key]) for key in order)


def _expectation_reports(prepared: PreparedLaunch, config: LaunchConfig) -> tuple[ExpectationReport, ...]:
    """Return every expectation, with the differences if it fails."""
    mismatches = ((expect.arg, mismatch(prepared.arrays[expect.arg], expect)) for expect in config.expect)
    return tuple(
        ExpectationReport(key, ok=wrong is None, message=wrong.message if wrong else "holds", mismatch=wrong)
        for key, wrong in mismatches
    )


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


def ready(
    module: Module,
    launch: LaunchFile,
    options: RunOptions,
    notes: Sequence[str] = (),
    sources: Mapping[str, BodySource] | None = None,
) -> ReadyRun:
    """Link a program with the further files of launch file and options, and prepare its launch.

    ``sources`` has the texts of bodies, for the lines of reports. Raises LaunchError if the launch does not fit the
    program: a wrong platform, argument or ze_info.
    """
    texts = dict(sources or {})
    platform = platform_told(launch, options, [kernel.name for kernel in module.kernels])
    where = platform or DEFAULT
    said = [*launch.notes, *notes]
    module = link_variables(module)
    defined = {body.name: str(options.path or launch.file or "the program") for body in module.bodies}
    for extra in (*launch.files, *options.files):
        further_module, lines = load_program(read_bytes(extra), extra, platform, said)
        texts |= lines
        module = merge_modules(module, further_module, defined, str(extra))
    program = options.path or launch.file
    try:
        kernel = choose_kernel(module, launch.config.kernel)
        if program is not None:
            module = with_callees(module, kernel, program, platform, options.finder, said, texts)
        _check_instructions(module, kernel, where, said, chosen=options.platform or launch.platform)
        info, sections = kernel_info(kernel, launch, options, said)
        own_text = texts.get(kernel.name)
        if info is not None and own_text is not None and own_text.path:
            info = with_source(info, kernel, Path(own_text.path).parent)
        config = replace(launch.config, kernel=kernel.name, sections=launch.config.sections + sections)
        prepared = prepare(module, info, config, where)
        launch = _find_named(launch, prepared)
        _check_expectations(launch, prepared)
    except LaunchError as error:
        raise launch.locate(error) from None
    if platform is not None:
        for text, path in {(source.judged, source.path) for source in texts.values() if source.judged}:
            refuse_errors(text, Path(path) if path else None, platform)
    loading = perf_counter() - options.began
    return ReadyRun(module, launch, options, where, prepared, texts, tuple(said), loading)


def run_ready(run: ReadyRun) -> RunReport:
    """Run a prepared launch as often as its options say, and check the expectations against the last run.

    Faults of the kernel are in the report. Raises LaunchError for an unknown engine or checker, and for a listener that the
    engine does not support.
    """
    options = run.options
    follows = bool(options.listeners) or options.profile
    engine_name = _engine_name("interp" if follows and options.engine == "auto" else options.engine)
    if follows and engine_name != "interp":
        raise LaunchError("tracing instructions needs --engine interp")
    observers_named(options.checks)
    for listener in options.listeners:
        if unfit := listener.unfit(run.prepared.dispatch):
            raise LaunchError(unfit)
    dispatch = run.dispatch(INTERPRETED_STEPS if engine_name == "interp" else COMPILED_STEPS)
    show = options.show_progress and partial(options.show_progress, prod(dispatch.groups))
    dispatch = replace(dispatch, first_fault=options.first_fault, show_progress=show, host_threads=options.threads)
    engine = _engine(options, engine_name, options.compiled.of(dispatch) if options.compiled is not None else None)
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
    pilot = replace(dispatch, groups=(1, 1, 1), step_budget=_PILOT_STEPS, first_fault=False, show_progress=None)
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
        observers = (*observers_named(options.checks), *options.listeners, *((profiler,) if profiler else ()))
        began = perf_counter()
        result = engine(dispatch, observers)
        running.append(perf_counter() - began - result.compile_seconds)
        compiling += result.compile_seconds
        if before is None or len(running) == options.repeat:
            return result, RunTime(loading, compiling, tuple(running)), profiler
        before.restore()


def _find_named(launch: LaunchFile, prepared: PreparedLaunch) -> LaunchFile:
    """Return a launch whose expectations name arguments as ``prepared`` does: those of a list by number, not by name."""
    numbers: dict[int | str | None, int | str] = {
        name: key for key, name in prepared.names.items() if name and name not in prepared.arrays
    }
    expect = tuple(replace(e, arg=numbers.get(e.arg, e.arg)) for e in launch.config.expect)
    conditions = {place: structs.replace(c, arg=numbers.get(c.arg, c.arg)) for place, c in launch.conditions.items()}
    return replace(launch, config=replace(launch.config, expect=expect), conditions=conditions)


def _check_expectations(launch: LaunchFile, prepared: PreparedLaunch) -> None:
    expected = [*(e.arg for e in launch.config.expect), *(c.arg for c in launch.conditions.values())]
    unknown = next((arg for arg in expected if arg is not None and arg not in prepared.arrays), None)
    if unknown is not None:
        names = ", ".join(str(prepared.names.get(key) or key) for key in prepared.arrays)
        raise LaunchError(
            f"argument {unknown} has an expectation, but is not a buffer; buffers: {names or 'none'}", unknown
        )


def _check_instructions(module: Module, kernel: Kernel, where: Platform, notes: list[str], chosen: str | None) -> None:
    """Report instructions that the platform lacks, or a number of lanes that its threads cannot have.

    Raises LaunchError if the user has ``chosen`` the platform; otherwise adds a note.
    """
    lanes = kernel.int_attribute("SimdSize")
    if lanes in thread_widths(0) and lanes not in thread_widths(where.grf_bytes):
        words = f"'{kernel.name}' has threads of {lanes} lanes, but {where.name} supports 16 or 32"
        if chosen:
            raise LaunchError(f"{words}; text and platform do not fit", PLATFORM)
        notes.append(words)
    for body in module.bodies:
        for inst in body.instructions:
            if where.name in inst.row.platforms:
                continue
            have = [p.name for p in PLATFORMS if p.name in inst.row.platforms]
            line = f", line {inst.line + 1}" if inst.line >= 0 else ""
            words = f"'{body.name}'{line}: {where.name} has no {inst.row.mnemonic}; platforms that have it: {', '.join(have) or 'none'}"
            if chosen:
                raise LaunchError(f"{words}; text and platform do not fit", PLATFORM)
            notes.append(f"{words}; write platform: {have[0] if have else 'NAME'}")
            return


def observers_named(checks: str) -> tuple[Observer, ...]:
    """Return the checkers of ``all``, ``none``, or names separated by commas.

    ``all`` has every checker except those that must be named. Raises LaunchError for an unknown name.
    """
    for name in (n.strip() for n in checks.split(",")):
        if name and name not in CHECKERS and name not in ("all", "none"):
            raise LaunchError(f"unknown check '{name}'; known checks: all, none, {', '.join(CHECKERS)}")
    return checkers(checks)


def makings() -> Makings:
    """Return a cache of compiled code of one program, for ``RunOptions``."""
    from visa_lsp.sim.jit.code_cache import Makings

    return Makings(open_for_user("native", ()))


def _engine_name(name: str) -> str:
    """Return the engine for a name of the options; ``auto`` is the compiled one if llvmlite is installed."""
    if name not in ENGINES:
        raise LaunchError(f"unknown engine '{name}'; known engines: {', '.join(ENGINES)}")
    if name != "interp" and find_spec("llvmlite") is not None:
        return "jit"
    if name == "jit":
        raise LaunchError("the engine 'jit' needs llvmlite: pip install 'visa-lsp[jit]'")
    return "interp"


def _engine(options: RunOptions, name: str, making: Making | None = None) -> Engine:
    """Return the function that runs launches; the budget of the options also applies when the interpreter takes over."""
    if name == "interp":
        return interpret
    from visa_lsp.sim.jit.code_cache import Making
    from visa_lsp.sim.jit.engine import run

    making = making or Making(open_for_user("native", ()))
    interpreted = options.budget or INTERPRETED_STEPS
    return partial(run, interpreted=interpreted, making=making, at_once=options.engine == "jit")
