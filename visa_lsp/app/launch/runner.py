"""Runs one launch from text or object to report: load, link, prepare, run, compare.

``ready`` and ``run_ready`` are the two halves, which every caller passes: ``run`` and ``visa.run`` by ``unit.OpenedLaunch``,
the debugger with its own machine between them. Prints nothing and writes no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import structs

from visa_lsp.app.inputs import is_object, is_opencl
from visa_lsp.app.kernel_source import with_source
from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.app.launch.conditions import condition_reports
from visa_lsp.app.launch.linking import with_callees
from visa_lsp.app.launch.on_cpu import on_cpu
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.program import DEFAULT, link_variables, load_program, merge_modules, read_bytes, refuse_errors
from visa_lsp.app.launch.program_info import kernel_info, platform_told
from visa_lsp.app.launch.ready_run import (
    COMPILED_STEPS,
    INTERPRETED_STEPS,
    ReadyRun,
    engine_function,
    installed_engine,
    run_ready,
)
from visa_lsp.app.launch.report import (
    ExpectationReport,
    RunReport,
)
from visa_lsp.companions import kernels_in
from visa_lsp.isa.platforms import PLATFORMS, Platform, thread_widths
from visa_lsp.sim.launch.config import PLATFORM, Array, LaunchConfig, LaunchError
from visa_lsp.sim.launch.expect import mismatch
from visa_lsp.sim.launch.prepare import PreparedLaunch, choose_kernel, prepare
from visa_lsp.text import decode_text, encode_text

if TYPE_CHECKING:
    from visa_lsp.app.launch.body_source import BodySource
    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.program.model import Kernel, Module
    from visa_lsp.sim.dispatch import RunResult

    Engine = Callable[..., RunResult]

__all__ = [
    "LaunchError",
    "RunOptions",
    "TextProblems",
    "read_bytes",
    "run_launch",
    "run_text",
]


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
    return ReadyRun(module, launch, options, where, prepared, texts, tuple(said), loading, judge_expectations)


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


def judge_expectations(run: ReadyRun) -> tuple[ExpectationReport, ...]:
    """Return all expectations of the launch file, in its order."""
    launch, prepared = run.launch, run.prepared
    reports = list(
        condition_reports(launch.conditions, prepared, launch.config, launch.names, partial(_run_reference, run))
    )
    free = (number for number in count() if number not in launch.conditions)
    reports += zip(free, _expectation_reports(prepared, launch.config), strict=False)
    return tuple(report for _, report in sorted(reports, key=lambda entry: entry[0]))


def _run_reference(run: ReadyRun, path: Path) -> Mapping[int | str, Array]:
    """Return the arrays after a reference program ran with the same arguments."""
    launch, options, config = run.launch, run.options, run.launch.config
    data = read_bytes(path)
    if is_opencl(str(path)):
        return on_cpu(decode_text(data), path, run.prepared, config)
    options = RunOptions(path, options.platform, options.engine, "none", budget=options.budget, finder=options.finder)
    notes: list[str] = []
    module, _ = load_program(data, path, run.platform, notes)
    kernels = {kernel.name for kernel in module.kernels}
    same = run.prepared.dispatch.kernel.name in kernels
    config = replace(config, expect=(), kernel=run.prepared.dispatch.kernel.name if same else None)
    launch = replace(launch, file=path, files=(), config=config, conditions={})
    if not same:
        launch = replace(launch, ze_info=None, zebin=None, document=None)
    own = ready(module, launch, options, notes)
    name = installed_engine(options.engine)
    result = engine_function(options, name)(own.dispatch(INTERPRETED_STEPS if name == "interp" else COMPILED_STEPS), ())
    fault = next((fault for fault in result.faults if not fault.is_note), None)
    if fault is not None:
        raise LaunchError(f"the reference '{path}' fails: {fault}")
    return own.prepared.arrays


def _expectation_reports(prepared: PreparedLaunch, config: LaunchConfig) -> tuple[ExpectationReport, ...]:
    """Return every expectation, with the differences if it fails."""
    mismatches = ((expect.arg, mismatch(prepared.arrays[expect.arg], expect)) for expect in config.expect)
    return tuple(
        ExpectationReport(key, ok=wrong is None, message=wrong.message if wrong else "holds", mismatch=wrong)
        for key, wrong in mismatches
    )
