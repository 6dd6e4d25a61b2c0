"""One launch from text or object to a report: assemble, encode, decode, prepare, run, compare.

The command line and the language server's ``visa.run`` both come through ``run_text``. Prints nothing and writes no file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import TYPE_CHECKING, Final

from visa_lsp.cli.launch.program import (
    TextProblems,
    decoded,
    linked,
    load_program,
    merged,
    module_of_text,
    read_bytes,
    sources_of,
    text_of,
)
from visa_lsp.cli.launch.report import RunReport, with_declarations, with_sources
from visa_lsp.cli.launch.results import buffer_reports, expectation_reports
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, PLATFORMS, platform_named
from visa_lsp.sim.launch.config import PLATFORM, LaunchError
from visa_lsp.sim.launch.prepare import choose_kernel, prepare, with_budget
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.checkers import CHECKERS, checkers
from visa_lsp.sim.printf import text_of as text_printed
from visa_lsp.zeinfo.read import ZeInfoError, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from visa_lsp.cli.launch.file import LaunchFile
    from visa_lsp.cli.launch.program import BodySource
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Kernel, Module
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.launch.config import DataSection
    from visa_lsp.sim.launch.prepare import PreparedLaunch
    from visa_lsp.sim.observers.hooks import Observer

__all__ = ["LaunchError", "RunOptions", "TextProblems", "read_bytes", "run_module", "run_object", "run_text", "text_of"]

ENGINES: Final = ("auto", "jit", "interp")
INTERPRETED_STEPS: Final = 50_000_000  # some minutes; a kernel that takes more may never end


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a program is run, whatever it is made from.

    ``path`` is where it comes from, for its siblings and for messages; ``checks`` is ``all``, ``none`` or a list by commas;
    ``listeners`` hear of the run beside the checkers; ``files`` are further files of the program. ``first_fault`` ends the
    run at its first fault; ``told`` hears now and then how many groups there are, how many are done, and how many steps.
    """

    path: Path | None = None
    platform: str | None = None
    engine: str = "auto"
    checks: str = "all"
    listeners: tuple[Observer, ...] = ()
    budget: int | None = None
    files: tuple[Path, ...] = ()
    first_fault: bool = False
    told: Callable[[int, int, int], None] | None = None


_DEFAULT: Final = RunOptions()


def run_text(text: str, launch: LaunchFile, options: RunOptions = _DEFAULT) -> RunReport:
    """Run a text as a launch file says.

    Raises ``TextProblems`` for a text with errors and ``LaunchError`` for all that cannot be launched.
    """
    where = choose_platform(launch, options.platform, options.path)
    notes: list[str] = []
    module = module_of_text(text, options.path, where, notes)
    return run_module(module, launch, options, notes, sources_of(module, text, options.path))


def run_object(data: bytes, launch: LaunchFile, options: RunOptions = _DEFAULT) -> RunReport:
    """Run an object as a launch file says."""
    return run_module(decoded(data, options.path), launch, options)


def run_module(
    module: Module,
    launch: LaunchFile,
    options: RunOptions = _DEFAULT,
    notes: Sequence[str] = (),
    sources: Mapping[str, BodySource] | None = None,
) -> RunReport:
    """Run a program as a launch file says; further files, its own and those of the options, are added to it.

    ``sources`` are the texts of bodies, for the lines of reports. Raises LaunchError where the launch does not fit the
    program: a wrong engine, platform, argument or ze_info, or a listener that cannot follow the run. What the kernel
    does wrong is in the report.
    """
    engine_name, run = _engine("interp" if options.listeners and options.engine == "auto" else options.engine)
    if options.listeners and engine_name != "interp":
        raise LaunchError("instructions can be followed with --engine interp only")
    observers = (*observers_named(options.checks), *options.listeners)
    texts = dict(sources or {})
    where = choose_platform(launch, options.platform, options.path)
    said = list(notes)
    module = linked(module)
    defined = {body.name: str(options.path or launch.file or "the program") for body in module.bodies}
    for extra in (*launch.files, *options.files):
        module = merged(module, load_program(extra, where, said, texts), defined, str(extra))
    _check_instructions(module, launch, where, said, chosen=options.platform or launch.platform)
    prepared = _prepared(module, launch, where, options.path)
    for listener in options.listeners:
        if unfit := listener.unfit(prepared.dispatch):
            raise LaunchError(unfit)
    steps = options.budget or (INTERPRETED_STEPS if engine_name == "interp" else None)
    dispatch = (with_budget(prepared, steps) if steps else prepared).dispatch
    groups = prod(dispatch.groups)
    told = options.told and partial(options.told, groups)
    result = run(replace(dispatch, first_fault=options.first_fault, told=told), observers)
    if result.ended:
        said.append(
            f"the run was ended at its first fault, in group {result.groups + 1} of {groups}: nothing is compared"
        )
    faults = with_sources(with_declarations(result.faults, texts), module)
    return RunReport(
        prepared.dispatch.kernel.name,
        where.name,
        engine_name,
        buffer_reports(prepared, launch.config),
        () if result.ended else expectation_reports(prepared, launch.config),
        tuple(fault for fault in faults if not fault.is_note),
        result.threads,
        result.groups,
        sum(result.instructions.values()),
        (*said, *result.limits),
        text_printed(prepared.printf, prepared.dispatch.memory) if prepared.printf else "",
        result.instructions,
        result.barriers,
        result.reads,
        result.writes,
        tuple(fault for fault in faults if fault.is_note),
        texts,
        result.sent,
    )


def _prepared(module: Module, launch: LaunchFile, where: Platform, path: Path | None) -> PreparedLaunch:
    try:
        kernel = choose_kernel(module, launch.config.kernel)
        info, sections = _kernel_info(kernel, launch, path)
        config = replace(launch.config, kernel=kernel.name, sections=launch.config.sections + sections)
        prepared = prepare(module, info, config, where)
        _check_expectations(launch, prepared)
    except LaunchError as error:
        raise launch.locate(error) from None
    return prepared


def _check_expectations(launch: LaunchFile, prepared: PreparedLaunch) -> None:
    unknown = next((e.arg for e in launch.config.expect if e.arg not in prepared.arrays), None)
    if unknown is not None:
        raise LaunchError(f"argument {unknown} is expected to hold something, but it is no buffer", unknown)


def choose_platform(launch: LaunchFile, name: str | None, path: Path | None = None) -> Platform:
    """Give the platform of a run: the one named, else the launch file's, else the zebin's, else the default.

    ``path`` is the program's, beside which a zebin may lie. Raises LaunchError where no platform has the name, or where
    the zebin was made for one with other registers or numbers of threads.
    """
    chosen = name or launch.platform
    told = _platform_of_zebin(launch, path)
    if chosen is None:
        return told or platform_named(DEFAULT_PLATFORM) or PLATFORMS[0]
    platform = platform_named(chosen)
    if platform is None:
        raise LaunchError(f"unknown platform '{chosen}'")
    if told is not None and (told.grf_bytes, told.thread_number) != (platform.grf_bytes, platform.thread_number):
        raise launch.locate(
            LaunchError(
                f"the platform is {platform.name}, the zebin was made for {told.name}, whose registers and numbers of "
                f"threads are others; say platform: {told.name}, or leave it out",
                PLATFORM,
            )
        )
    return platform


def _platform_of_zebin(launch: LaunchFile, path: Path | None) -> Platform | None:
    for source in (launch.zebin, launch.ze_info, *([] if launch.ze_info or launch.zebin else _siblings(launch, path))):
        if source is not None and source.is_file():
            data = read_bytes(source)
            if data[:4] == b"\x7fELF":
                from visa_lsp.cli.launch.zebin import platform_of

                return platform_of(data, source)
    return None


def _check_instructions(
    module: Module, launch: LaunchFile, where: Platform, notes: list[str], chosen: str | None
) -> None:
    """Tell before the run that a text has instructions which the platform lacks: refused where the user chose it."""
    for body in module.bodies:
        for inst in body.instructions:
            if where.name in inst.row.platforms:
                continue
            have = [p.name for p in PLATFORMS if p.name in inst.row.platforms]
            line = f", line {inst.line + 1}" if inst.line >= 0 else ""
            words = f"'{body.name}'{line}: {where.name} has no {inst.row.mnemonic}; it is there on {', '.join(have)}"
            if chosen:
                raise launch.locate(LaunchError(f"{words}; text and platform do not fit", PLATFORM))
            notes.append(f"{words}; say platform: {have[0] if have else 'NAME'}")
            return


def observers_named(checks: str) -> tuple[Observer, ...]:
    """Give the checkers of ``all``, ``none``, or names by commas.

    ``all`` has every checker but those that run only where they are named. Raises LaunchError where a name is no
    checker's.
    """
    for name in (n.strip() for n in checks.split(",")):
        if name and name not in CHECKERS and name not in ("all", "none"):
            raise LaunchError(f"unknown check '{name}'; known are all, none, {', '.join(CHECKERS)}")
    return checkers(checks)


def _kernel_info(
    kernel: Kernel, launch: LaunchFile, path: Path | None
) -> tuple[KernelInfo | None, tuple[DataSection, ...]]:
    """Give what ze_info says of the kernel, and the program's data.

    The launch file may name a ze_info, a zebin, or both; else siblings count, the program's first.
    """
    siblings = _siblings(launch, path)
    source = launch.ze_info or launch.zebin or next((sibling for sibling in siblings if sibling.is_file()), None)
    if source is None:
        return None, ()
    data = read_bytes(source)
    elf = data[:4] == b"\x7fELF"
    zebin = source if elf else launch.zebin or next((s for s in siblings if s.suffix == ".zebin" and s.is_file()), None)
    sections: tuple[DataSection, ...] = ()
    text = ""
    if zebin is not None:
        from visa_lsp.cli.launch.zebin import program_data

        text, sections = program_data(data if elf else read_bytes(zebin), zebin)
    try:
        infos = read(text if elf else text_of(data, source))
    except ZeInfoError as error:
        raise LaunchError(error.message, place=f"{source}:{error.line}:{error.column}") from None
    found = next((info for info in infos if info.name == kernel.name), None)
    if found is None:
        raise LaunchError(f"the ze_info '{source}' says nothing of kernel '{kernel.name}'")
    return found, sections


def _siblings(launch: LaunchFile, path: Path | None) -> list[Path]:
    """Where ze_info may lie that no launch file names."""
    stem = launch.path.name.removesuffix(".yaml").removesuffix(".launch")
    siblings = [] if path is None else [path.with_suffix(".zeinfo.yaml"), path.with_suffix(".zebin")]
    return [*siblings, launch.path.with_name(f"{stem}.zeinfo.yaml"), launch.path.with_name(f"{stem}.zebin")]


def _engine(name: str) -> tuple[str, Callable[[Dispatch, Sequence[Observer]], RunResult]]:
    """Give an engine by name; auto is the interpreter where the JIT is not there."""
    if name not in ENGINES:
        raise LaunchError(f"unknown engine '{name}'; known are {', '.join(ENGINES)}")
    if name == "jit" and (find_spec("visa_lsp.sim.jit") is None or find_spec("llvmlite") is None):
        raise LaunchError("the engine 'jit' is not part of this installation; use --engine interp")
    if name == "jit":
        # By its name, as long as there is no such module: a statement would name what types cannot find.
        return "jit", import_module("visa_lsp.sim.jit").run
    return "interp", interpret
