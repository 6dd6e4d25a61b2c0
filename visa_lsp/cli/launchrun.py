"""One launch from text or object to a report: assemble, encode, decode, prepare, run, compare.

The command line and the language server's ``visa.run`` both come through ``run_text``. Prints nothing and writes no
file. Invariant: the program that runs is what the object format carries, unless a note of the report says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.diagnostics import Severity
from visa_lsp.ide.analysis import Analysis
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, platform_named
from visa_lsp.program.model import Module
from visa_lsp.sema.lower import assemble
from visa_lsp.sim.checkers import CHECKERS, checkers
from visa_lsp.sim.dispatch import run as interpret
from visa_lsp.sim.launch import choose_kernel, prepare, with_budget
from visa_lsp.sim.launch_config import LaunchError
from visa_lsp.sim.launch_expect import difference
from visa_lsp.sim.printf import text_of as text_printed
from visa_lsp.text import LineIndex
from visa_lsp.zeinfo.read import ZeInfoError, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from visa_lsp.cli.launchfile import LaunchFile
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Kernel
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sema.lower import AssembleResult
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.faults import Fault
    from visa_lsp.sim.launch import PreparedLaunch
    from visa_lsp.sim.launch_config import Array, DataSection
    from visa_lsp.sim.observers import Observer

ENGINES: Final = ("auto", "jit", "interp")
INTERPRETED_STEPS: Final = 50_000_000  # some minutes; a kernel that takes more may never end


class TextProblems(Exception):  # noqa: N818 - findings about a text, not an error of ours
    """A text that leaves no program: its ``diagnostics``, and one line for each error in ``lines``."""

    def __init__(self, path: Path | None, diagnostics: Sequence[Diagnostic], lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.path = path
        self.diagnostics = tuple(diagnostics)
        self.lines = tuple(lines)


@dataclass(frozen=True, slots=True, eq=False)
class BufferReport:
    """A buffer or image argument after the run; ``name`` is the source's, where ze_info tells it."""

    arg: int | str
    name: str
    array: Array


@dataclass(frozen=True, slots=True)
class ExpectationReport:
    """One expectation: whether it holds, and if not the first differences in one line."""

    arg: int | str
    ok: bool
    message: str


@dataclass(frozen=True, slots=True)
class Source:
    """The text that a body comes from."""

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RunReport:
    """What came of one launch."""

    kernel: str
    platform: str
    engine: str
    buffers: tuple[BufferReport, ...]
    expectations: tuple[ExpectationReport, ...]
    faults: tuple[Fault, ...]
    threads: int
    groups: int
    instructions: int
    notes: tuple[str, ...] = ()
    printed: str = ""
    opcodes: Mapping[str, int] = field(default_factory=dict)
    barriers: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    findings: tuple[Fault, ...] = ()  # notes of observers that are no fault
    sources: Mapping[str, Source] = field(default_factory=dict)

    def excerpt(self, fault: Fault) -> tuple[str, str]:
        """Where a fault stands, ``path:line``, and that line of the text; empty where there is no text."""
        source = self.sources.get(fault.kernel)
        if source is None or not 0 <= fault.line < len(source.lines):
            return "", ""
        return f"{source.path}:{fault.line + 1}", source.lines[fault.line].strip()

    @property
    def ok(self) -> bool:
        """No fault, and every expectation holds."""
        return not self.faults and all(e.ok for e in self.expectations)


def run_text(
    text: str,
    launch: LaunchFile,
    *,
    path: Path | None = None,
    platform: str | None = None,
    engine: str = "auto",
    checks: str = "all",
    listeners: Sequence[Observer] = (),
    budget: int | None = None,
) -> RunReport:
    """Run a text as a launch file says. ``path`` is where the text comes from, for its siblings and for messages.

    Raises ``TextProblems`` for a text with errors and ``LaunchError`` for all that cannot be launched.
    """
    where = choose_platform(launch, platform)
    notes: list[str] = []
    module = module_of_text(text, path, where, notes)
    return run_module(
        module, launch, path=path, platform=where.name, engine=engine, checks=checks, listeners=listeners, budget=budget, notes=notes,
        sources=_sources(module, text, path),
    )  # fmt: skip


def run_object(
    data: bytes,
    launch: LaunchFile,
    *,
    path: Path | None = None,
    platform: str | None = None,
    engine: str = "auto",
    checks: str = "all",
    listeners: Sequence[Observer] = (),
    budget: int | None = None,
) -> RunReport:
    """Run an object as a launch file says."""
    return run_module(
        _decoded(data, path), launch, path=path, platform=platform, engine=engine, checks=checks, listeners=listeners,
        budget=budget,
    )  # fmt: skip


def run_module(
    module: Module,
    launch: LaunchFile,
    *,
    path: Path | None = None,
    platform: str | None = None,
    engine: str = "auto",
    checks: str = "all",
    listeners: Sequence[Observer] = (),
    budget: int | None = None,
    notes: Sequence[str] = (),
    sources: Mapping[str, Source] | None = None,
) -> RunReport:
    """Run a program as a launch file says; the launch file's further ``files`` are added to it.

    ``listeners`` hear of the run beside the checkers; ``sources`` are the texts of bodies, for the lines of reports.
    """
    engine_name, run = _engine("interp" if listeners and engine == "auto" else engine)
    if listeners and engine_name != "interp":
        raise LaunchError("instructions can be followed with --engine interp only")
    observers = (*observers_named(checks), *listeners)
    texts = dict(sources or {})
    where = choose_platform(launch, platform)
    said = list(notes)
    for extra in launch.files:
        module = _merged(module, _load(extra, where, said, texts))
    try:
        kernel = choose_kernel(module, launch.config.kernel)
        info, sections = _told(kernel, launch, path)
        config = replace(launch.config, kernel=kernel.name, sections=launch.config.sections + sections)
        prepared = prepare(module, info, config, where)
        _check_expectations(launch, prepared)
    except LaunchError as error:
        raise launch.locate(error) from None
    steps = budget or (INTERPRETED_STEPS if engine_name == "interp" else None)
    result = run((with_budget(prepared, steps) if steps else prepared).dispatch, observers)
    expectations = []
    for expect in launch.config.expect:
        message = difference(prepared.arrays[expect.arg], expect)
        expectations.append(ExpectationReport(expect.arg, message is None, message or "holds"))
    order = [key for key in prepared.names if key in prepared.arrays] or list(prepared.arrays)
    return RunReport(
        kernel.name,
        where.name,
        engine_name,
        tuple(BufferReport(key, prepared.names.get(key, ""), prepared.arrays[key]) for key in order),
        tuple(expectations),
        tuple(fault for fault in result.faults if not fault.is_note),
        result.threads,
        result.groups,
        sum(result.instructions.values()),
        tuple(said),
        text_printed(prepared.printf, prepared.dispatch.memory) if prepared.printf else "",
        result.instructions,
        result.barriers,
        result.reads,
        result.writes,
        tuple(fault for fault in result.faults if fault.is_note),
        texts,
    )


def _check_expectations(launch: LaunchFile, prepared: PreparedLaunch) -> None:
    unknown = next((e.arg for e in launch.config.expect if e.arg not in prepared.arrays), None)
    if unknown is not None:
        raise LaunchError(f"argument {unknown} is expected to hold something, but it is no buffer", unknown)


def choose_platform(launch: LaunchFile, name: str | None) -> Platform:
    """Give the platform of a run: the one named, else the launch file's, else the default."""
    platform = platform_named(name or launch.platform or DEFAULT_PLATFORM)
    if platform is None:
        raise LaunchError(f"unknown platform '{name}'")
    return platform


def observers_named(checks: str) -> tuple[Observer, ...]:
    """Give the checkers of ``all``, ``none`` or a list by commas."""
    if checks == "none":
        return ()
    for name in [] if checks == "all" else [n.strip() for n in checks.split(",") if n.strip()]:
        if name not in CHECKERS:
            raise LaunchError(f"unknown check '{name}'; known are all, none, {', '.join(CHECKERS)}")
    return checkers(checks)


def module_of_text(text: str, path: Path | None, platform: Platform, notes: list[str]) -> Module:
    """Give the program that the object of a text carries, with the source lines of its instructions."""
    result = assemble(text, platform.name)
    if result.module is None:
        raise _problems(text, path, platform, result)
    try:
        carried = decode(encode(result.module))
    except CodecError as error:
        notes.append(f"{path or 'the text'} runs from its text, not from its object: {error.message}")
        return result.module
    return structs.replace(
        carried,
        kernels=_with_lines(carried.kernels, result.module.kernels),
        functions=_with_lines(carried.functions, result.module.functions),
    )


def _problems(text: str, path: Path | None, platform: Platform, result: AssembleResult) -> TextProblems:
    diagnostics = Analysis.of(text, platform.name).diagnostics
    index = LineIndex(text)
    lines = []
    for diagnostic in diagnostics:
        if diagnostic.severity is Severity.ERROR:
            line, column = index.position(diagnostic.span.start)
            place = f"{path or 'text'}:{line + 1}:{column + 1}"
            lines.append(f"{place}: error {diagnostic.code} {diagnostic.name}: {diagnostic.message}")
    if not lines:  # a problem for which there is no rule still has a name and a place
        for problem in result.bound.problems:
            place = f"{path or 'text'}:{problem.place.line + 1}:{problem.place.span.start + 1}"
            words = ", ".join(f"{key} {value}" for key, value in problem.args.items())
            lines.append(f"{place}: error {problem.kind}: {words}")
    return TextProblems(path, diagnostics, lines or [f"{path or 'text'}: has errors and cannot be run"])


def _with_lines(carried: tuple[Kernel, ...], written: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Take over source lines: records of an object stand in the order of the instructions that they came from."""
    return tuple(
        structs.replace(
            new,
            instructions=tuple(
                structs.replace(inst, line=source.line)
                for inst, source in zip(new.instructions, old.instructions, strict=True)
            ),
        )
        for new, old in zip(carried, written, strict=True)
    )


def _decoded(data: bytes, path: Path | None) -> Module:
    try:
        return decode(data)
    except CodecError as error:
        raise LaunchError(f"not a vISA object that can be read: {error}", place=str(path or "")) from None


def _load(path: Path, platform: Platform, notes: list[str], texts: dict[str, Source]) -> Module:
    data = read_bytes(path)
    if path.suffix == ".isa" or data[:4] == b"CISA":
        return _decoded(data, path)
    text = text_of(data, path)
    module = module_of_text(text, path, platform, notes)
    texts.update(_sources(module, text, path))
    return module


def _sources(module: Module, text: str, path: Path | None) -> dict[str, Source]:
    source = Source(str(path or ""), tuple(text.splitlines()))
    return {body.name: source for body in module.bodies}


def read_bytes(path: Path) -> bytes:
    """Read a file, or say why that does not work."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise LaunchError(f"cannot be read: {error.strerror or error}", place=str(path)) from None


def text_of(data: bytes, path: Path) -> str:
    """Read bytes as UTF-8, or say where they are not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LaunchError(f"is not UTF-8 text (byte {error.start})", place=str(path)) from None


def _merged(left: Module, right: Module) -> Module:
    """One program of two; a name defined twice is refused."""
    names = {body.name for body in left.bodies}
    double = next((body.name for body in right.bodies if body.name in names), None)
    if double is not None:
        raise LaunchError(f"'{double}' is defined in two files of the program")
    return Module(
        left.version, left.kernels + right.kernels, left.variables + right.variables, left.functions + right.functions
    )


def _told(kernel: Kernel, launch: LaunchFile, path: Path | None) -> tuple[KernelInfo | None, tuple[DataSection, ...]]:
    """Give what ze_info says of the kernel, and the program's data.

    The launch file may name a ze_info, a zebin, or both; else siblings count, the program's first.
    """
    stem = launch.path.name.removesuffix(".yaml").removesuffix(".launch")
    siblings = [] if path is None else [path.with_suffix(".zeinfo.yaml"), path.with_suffix(".zebin")]
    siblings += [launch.path.with_name(f"{stem}.zeinfo.yaml"), launch.path.with_name(f"{stem}.zebin")]
    source = launch.ze_info or launch.zebin or next((sibling for sibling in siblings if sibling.is_file()), None)
    if source is None:
        return None, ()
    data = read_bytes(source)
    elf = data[:4] == b"\x7fELF"
    zebin = source if elf else launch.zebin or next((s for s in siblings if s.suffix == ".zebin" and s.is_file()), None)
    sections: tuple[DataSection, ...] = ()
    text = ""
    if zebin is not None:
        programs = import_module("visa_lsp.cli.launchzebin")
        text, sections = programs.program_data(data if elf else read_bytes(zebin), zebin)
    try:
        infos = read(text if elf else text_of(data, source))
    except ZeInfoError as error:
        raise LaunchError(error.message, place=f"{source}:{error.line}:{error.column}") from None
    found = next((info for info in infos if info.name == kernel.name), None)
    if found is None:
        raise LaunchError(f"the ze_info '{source}' says nothing of kernel '{kernel.name}'")
    return found, sections


def _engine(name: str) -> tuple[str, Callable[[Dispatch, Sequence[Observer]], RunResult]]:
    """Give an engine by name; auto is the interpreter where the JIT is not there."""
    if name not in ENGINES:
        raise LaunchError(f"unknown engine '{name}'; known are {', '.join(ENGINES)}")
    if name == "jit" and (find_spec("visa_lsp.sim.jit") is None or find_spec("llvmlite") is None):
        raise LaunchError("the engine 'jit' is not part of this installation; use --engine interp")
    if name == "jit":
        return "jit", import_module("visa_lsp.sim.jit").run
    return "interp", interpret
