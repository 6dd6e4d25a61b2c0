"""The command ``visa-lsp run``: launches kernels, reports in text or JSON, and writes buffers.

Knows the command's options and its exit status: 0 success, 1 a failed expectation, a fault or an error in a text, 2 a
usage mistake, or a file that cannot be read or written. NumPy is loaded only when a launch runs. Invariant: a buffer file
is complete or absent.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import sys
from argparse import ArgumentTypeError
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TextIO

from msgspec import structs

from visa_lsp.app.clusters import Cluster, ClusterWork, Said, as_it_is, capture_output
from visa_lsp.app.compile.outputs import file_name
from visa_lsp.app.errors import NEEDS_NUMPY, UserError
from visa_lsp.app.inputs import STDIN, foreign, is_opencl, read_bytes
from visa_lsp.app.launch.printing import Outcome, as_json, cause_option, text_lines
from visa_lsp.app.launch.sweep_table import refuse_table
from visa_lsp.app.launch.unit import LAUNCHES, LaunchJob, guard, launch_paths, open_job
from visa_lsp.app.output_files import check_output, refuse_input
from visa_lsp.cli import options as opt
from visa_lsp.cli.cluster_options import CLUSTER_SECONDS, ClusterAddress, ClusterLimit, cluster_of
from visa_lsp.cli.colours import ink_of
from visa_lsp.cli.outputs import write_output
from visa_lsp.cli.progress_line import Progress
from visa_lsp.program.suffixes import TEXTS
from visa_lsp.safe_io import MAX_OBJECT_BYTES, is_regular, open_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.captures.importing import Imported
    from visa_lsp.app.compile.build import Build
    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.app.launch.opencl import CompiledProgram, CompilerWords
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.sim.observers.hooks import Observer
    from visa_lsp.sim.observers.trace import Tracer

_ALL: Final = "all"
_GUESS: Final = 0.1  # seconds for a launch
# An input of the command line, further files of its program, and its launch file unless that is NAME.launch.yaml alone.
Input = tuple[str, tuple[Path, ...], str | None]


# fmt: off
class Arguments(opt.CommandArguments, kw_only=True):
    """The options of the command."""

    inputs: Annotated[list[str], opt.arg("IN", "a text, an object, a launch file, OpenCL C or the folder of a capture (both with Intel's ocloc); - is standard input; texts and objects without a launch file are linked to the one with a launch file")]
    launch: Annotated[str | None, opt.Option("FILE", "launch file; default: each sibling NAME.launch.yaml and NAME.WORD.launch.yaml, else one generated from ze_info")] = None
    kernel: Annotated[str | None, opt.Option("NAME|all", "kernel of OpenCL C to run, with NAME.launch.yaml if it exists; all runs each kernel")] = None
    engine: Annotated[Literal["auto", "jit", "interp"], opt.flag("engine that executes the kernel")] = "auto"
    checks: Annotated[str, opt.Option("all|none|LIST", "checks during the run: bounds, uninitialised, races, barriers, alignment, division, access; default: all of these; all,item-races adds races between work items of one thread")] = "all"
    budget: Annotated[int | None, opt.Option("N", "stop after N instructions", _count_of_steps)] = None
    max_errors: Annotated[int | None, opt.Option("N", "print at most N faults, then a count of the rest", opt.whole_number(1))] = None
    first_fault: Annotated[bool, opt.flag("stop at the first fault")] = False
    repeat: Annotated[int, opt.Option("N", "run the kernel N times from the same initial memory and report the last run", opt.whole_number(1))] = 1
    threads: Annotated[int, opt.Option("N", "run groups on N threads of this machine; needs --checks none and does not keep the order of atomics", opt.whole_number(1))] = 1
    time: Annotated[bool, opt.flag("print the time of loading, compiling and each run")] = False
    out: Annotated[str | None, opt.Option("DIR", "write each buffer argument as argN.npy or argNAME.npy")] = None
    format: opt.TextOrJson = "text"
    color: opt.Color = "auto"
    platform: Annotated[str | None, opt.Option("NAME", "platform to run on; default: the launch file's, else the zebin's, else TGLLP")] = None
    trace: Annotated[list[str] | None, opt.Option("GROUP,THREAD", "print the instructions that a thread executes, with values; GROUP is X or X:Y:Z; default: 0,0", bare="0,0")] = None
    counts: Annotated[bool, opt.flag("print the number of executions of each instruction")] = False
    profile: Annotated[bool, opt.flag("print executions, active lanes, divergent branches and memory accesses; uses the interpreter")] = False
    profile_out: Annotated[str | None, opt.Option("FILE", "write the profile for speedscope; implies --profile unless --counts is given")] = None
    init: Annotated[bool, opt.flag("write the generated launch to NAME.launch.yaml; never overwrites")] = False
    expect: Annotated[bool, opt.flag("with --init: run, and write the results to the launch file as expectations")] = False
    sweep: Annotated[bool, opt.flag("run every point of the sweep in the launch file and print a row for each")] = False
    table: Annotated[str | None, opt.Option("FILE", "with --sweep: write the rows as .csv, .json or .parquet (with pyarrow)")] = None
    jobs: Annotated[int, opt.Option("N", "with --sweep: number of processes; 0 chooses it automatically", opt.whole_number(0))] = 0
    ocloc: opt.Ocloc = None
    options: opt.CompilerOptions = None
    stdin_filename: opt.StdinFilename = None
    cluster: ClusterAddress = None
    cluster_limit: ClusterLimit = CLUSTER_SECONDS
# fmt: on


def _count_of_steps(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 1 << 60:
        raise ArgumentTypeError(f"expected a number of instructions, got '{text}'")
    return int(text)


def execute(args: Arguments) -> int:
    """Run the inputs of the command line and return the exit status. Raises UserError if the profile cannot be written."""
    if find_spec("numpy") is None:
        raise UserError(f"run: {NEEDS_NUMPY}")
    if args.expect and not args.init:
        raise UserError("run: --expect needs --init")
    _refuse_kernel(args)
    if args.sweep or args.table or args.jobs:
        _refuse_with_sweep(args)
        return _run_sweep(args)
    programs = [p for p in args.inputs if Path(p).suffix not in LAUNCHES and not is_opencl(p)]
    tasks: list[Input] = [(name, (), None) for name in args.inputs]
    if len(args.inputs) > 1 and args.launch and len(programs) < len(args.inputs):
        raise UserError("run: --launch takes the files of one program and excludes other launch files")
    main_program = programs[0] if args.launch and programs else _with_launch_file(programs)
    if len(programs) > 1 and main_program is not None:  # one program of several files
        rest = list(programs)
        rest.remove(main_program)
        launches = [name for name in args.inputs if name not in programs]
        tasks = [(main_program, tuple(Path(p) for p in rest), None), *((name, (), None) for name in launches)]
    if not args.launch and not args.init:
        tasks = [each for task in tasks for each in _each_launch(task)]
    if args.profile_out and not args.profile_out.endswith(".json"):
        raise UserError(f"--profile-out {args.profile_out}: expected a .json file")
    check_output(args.profile_out, args.inputs)
    outcomes = []
    with cluster_of(args) as cluster:
        for outcome in _outcomes(tasks, args, cluster):
            outcomes.append(outcome)
            if args.format == "text":
                print_text(outcome, args.color, timed=args.time)
    if args.profile_out:
        _write_profile(args.profile_out, args, outcomes)
    # Printed last, so that an error above is the only JSON on standard output.
    if args.format == "json":
        values = [as_json(outcome) for outcome in outcomes]
        several = len(tasks) > 1 or args.kernel == _ALL
        print(json.dumps(values if several else values[0], indent=2, ensure_ascii=False, allow_nan=False))
    elif len(outcomes) > 1:
        passed = sum(o.status == 0 for o in outcomes)
        print(f"{len(outcomes)} launches: {passed} passed, {len(outcomes) - passed} failed")
    return max(outcome.status for outcome in outcomes)


def _each_launch(task: Input) -> list[Input]:
    """Return an input once for each launch file beside it; unchanged if it has none but its own."""
    from visa_lsp.companions import launches_beside

    name, further_files, _ = task
    if name == STDIN or Path(name).suffix in LAUNCHES or is_opencl(name) or not Path(name).is_file():
        return [task]
    launches = launches_beside(Path(name))
    is_usual = launches in ([], [Path(name).with_suffix(".launch.yaml")])
    return [task] if is_usual else [(name, further_files, str(launch)) for launch in launches]


def print_text(outcome: Outcome, color: str = "auto", *, timed: bool = False) -> None:
    """Print the report of one launch, in colours by ``--color``; if ``timed``, with its times."""
    if outcome.report is None and not outcome.written:
        print(outcome.error, file=sys.stderr)
        return
    ink = ink_of("run", color)
    for line in text_lines(outcome, timed=timed):
        print(ink(line))


def _refuse_kernel(args: Arguments) -> None:
    """Raise UserError if ``--kernel`` does not fit the rest of the command line."""
    if args.kernel is None:
        return
    names = [args.stdin_filename or name if name == "-" else name for name in args.inputs]
    other = next((name for name in names if not is_opencl(name)), None)
    if other is not None:
        raise UserError(
            f"{other}: --kernel takes OpenCL C only; for other inputs write kernel: {args.kernel} in the launch file"
        )
    if args.kernel == _ALL and (args.launch or args.cluster):
        raise UserError(f"--kernel all excludes {'--launch' if args.launch else '--cluster'}")


def _refuse_with_sweep(args: Arguments) -> None:
    """Raise UserError for options that exclude each other."""
    if not args.sweep:
        raise UserError(f"{'--table' if args.table else '--jobs'} needs --sweep")
    for option in ("trace", "counts", "profile", "profile_out", "init", "out", "time"):
        if getattr(args, option):
            raise UserError(f"--{option.replace('_', '-')} applies to one launch and excludes --sweep")
    launches = [name for name in args.inputs if Path(name).suffix in LAUNCHES]
    sources = [name for name in args.inputs if is_opencl(name)]
    if sources:
        raise UserError(
            f"{sources[0]}: --sweep takes texts and objects, not OpenCL C; compile it first with visa-lsp compile"
        )
    if launches and len(args.inputs) > 1:
        raise UserError("--sweep takes one launch file or the files of one program")
    if args.table:
        refuse_table(args.table)
        check_output(args.table, [*args.inputs, *([args.launch] if args.launch else [])])


def _run_sweep(args: Arguments) -> int:
    """Run a launch at every point of its sweep."""
    from visa_lsp.app.launch.options import RunOptions

    main_program = (args.inputs[0] if args.launch else _with_launch_file(args.inputs)) or args.inputs[0]
    rest = list(args.inputs)
    rest.remove(main_program)
    path, launch_path = _paths(main_program, args)
    if path is not None and not args.launch and not launch_path.exists():
        raise UserError(f"{main_program}: --sweep needs a launch file with sweep:, {launch_path} does not exist")
    options = RunOptions(
        path, args.platform, args.engine, args.checks, budget=args.budget, files=tuple(Path(p) for p in rest),
        first_fault=args.first_fault, repeat=args.repeat, threads=args.threads,
    )  # fmt: skip
    # Another process cannot read a pipe or the standard input of this one.
    data = _program(main_program, path) if path is not None and not is_regular(path) else None
    return _print_sweep(
        LaunchJob(main_program, launch_path, options, data=data, named=bool(args.launch) or path is None), args
    )


def _print_sweep(job: LaunchJob, args: Arguments) -> int:
    """Run a launch at every point of its sweep, print the results, and return the exit status.

    Raises UserError if there is no sweep or the table cannot be written.
    """
    from visa_lsp.app.launch.sweep import rows_of, rows_on, sweep_of
    from visa_lsp.app.launch.sweep_table import head_line, row_line, summary, sweep_values, table_bytes

    sweep, job = sweep_of(job)
    as_text = args.format == "text"
    if as_text:
        print(f"{job.name}: {sweep.count} points of {', '.join(axis.name for axis in sweep.axes)}")
        print(head_line(sweep))
    rows = []
    with Progress(wanted=not (as_text and sys.stdout.isatty())) as line, cluster_of(args) as cluster:
        for row in rows_of(job, sweep, args.jobs) if cluster is None else rows_on(cluster, job, sweep):
            rows.append(row)
            if as_text:
                print(row_line(sweep, row), flush=True)
            if line.is_due():
                line.show(f"{job.name}: {len(rows):,} of {sweep.count:,} points")
    if args.table:
        write_output(args.table, table_bytes(args.table, sweep, rows), args.inputs)
    if as_text:
        print(summary(rows))
    else:
        values = sweep_values(job.name, sweep, rows)
        print(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))
    return max(row.exit for row in rows)


def _write_profile(path: str, args: Arguments, outcomes: list[Outcome]) -> None:
    """Write the profile of all runs for speedscope. Raises UserError if it cannot be written."""
    from visa_lsp.app.launch.profile import speedscope

    reports = [(outcome.name, outcome.report) for outcome in outcomes if outcome.report is not None]
    value = speedscope((name, r.profile, r.sources) for name, r in reports if r.profile is not None)
    write_output(path, (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "replace"), args.inputs)


def _with_launch_file(programs: list[str]) -> str | None:
    """Return the text or object with a launch file beside it; the other files are linked to it.

    If none has a launch file, return the only text with a kernel, provided that all files are texts.
    """
    if len(programs) < 2 or not all(Path(p).is_file() for p in programs):
        return None
    from visa_lsp.companions import kernels_in, launches_beside

    candidates = [p for p in programs if launches_beside(Path(p))]
    if not candidates and all(p.endswith(TEXTS) for p in programs):
        candidates = [p for p in programs if kernels_in(read_bytes(p).decode("utf-8", "replace"))]
    return candidates[0] if len(candidates) == 1 else None


def _outcomes(tasks: Sequence[Input], args: Arguments, cluster: Cluster | None) -> Iterator[Outcome]:
    """Yield the outcome of each input, in order."""
    several = len(tasks) > 1
    if cluster is None:
        for task in tasks:
            if args.kernel == _ALL:
                yield from _each_kernel(task[0], args)
            else:
                yield _launch(args, several, task)
        return
    for name in (*(name for name, *_ in tasks), *([args.launch] if args.launch else ())):
        if name == STDIN or (Path(name).exists() and not is_regular(name)):
            raise UserError(f"{name}: --cluster takes files, because workers read them themselves")
    work = ClusterWork(partial(capture_output, partial(_launch, args, several)), _report_lost, as_it_is)
    with Progress() as line:
        for number, said in enumerate(cluster.results(work, tasks, [_GUESS] * len(tasks))):
            if line.is_due():
                line.show(f"{number + 1} of {len(tasks)} launches")
            sys.stdout.write(said.printed)
            sys.stderr.write(said.said)
            yield said.result


def _report_lost(task: Input, why: str) -> Said[Outcome]:
    name, *_ = task
    return Said(Outcome(name, error=f"{name}: {why}", status=2), "")


def _each_kernel(name: str, args: Arguments) -> Iterator[Outcome]:
    """Compile OpenCL C once and run its kernels one after the other."""
    from visa_lsp.app.compile.build import read_source
    from visa_lsp.app.launch.opencl import build_program, kernels_of

    builds: list[Build] = []

    def build() -> Outcome:
        builds.append(build_program(read_source(name, args.stdin_filename), _compiler_words(args), args.platform))
        return Outcome(name)

    failure = guard(name, build)
    if not builds:
        yield failure
    for compiled in builds:
        for kernel in kernels_of(compiled):
            work = partial(_run_input, name, args, (), several=True, kernel=kernel, compiled=compiled)
            yield guard(f"{name}: {kernel}", work)


def _launch(args: Arguments, several: bool, task: Input) -> Outcome:
    """Run one input with the further files of its program, here or on a worker; a UserError becomes an outcome."""
    name, further_files, launch = task
    if launch is not None:
        args = structs.replace(args, launch=launch)
    return guard(launch or name, lambda: _run_input(name, args, further_files, several=several, kernel=args.kernel))


def _run_input(
    name: str,
    args: Arguments,
    further_files: tuple[Path, ...],
    *,
    several: bool,
    kernel: str | None = None,
    compiled: Build | None = None,
) -> Outcome:
    """Run one input; for OpenCL C the given ``kernel``, of the compiled program ``compiled`` if that is given."""
    from visa_lsp.app.launch import runner
    from visa_lsp.app.launch.opencl import rename_texts

    listeners: tuple[Observer, ...] = ()
    if args.trace:
        listeners = (_tracer(args.trace, sys.stdout if args.format == "text" else sys.stderr),)
    build: CompiledProgram | None = None
    capture: Imported | None = None
    with contextlib.ExitStack() as folder_of_build:
        if os.path.isdir(name):  # noqa: PTH112 - an empty name is not a folder
            capture = _import_capture(name, args, folder_of_build)
        path, launch_path = _paths(name, args) if capture is None else (None, capture.launch)
        if path is not None and is_opencl(str(path)):
            build, launch_path = compile_kernel(
                name, path, launch_path, args, folder_of_build, kernel, compiled, init=args.init
            )
            path = build.path
            name = f"{name}: {build.kernel}" if compiled is not None else name
        with Progress(f"{name}: running", wanted=not args.trace) as line:

            def show_progress(of: int, done: int, steps: int) -> None:
                if line.is_due():
                    line.show(f"{name}: {done:,} of {of:,} groups, {steps:,} steps")

            options = runner.RunOptions(
                path, args.platform, args.engine, args.checks, listeners, args.budget, further_files,
                first_fault=args.first_fault, show_progress=show_progress if line.wanted else None, repeat=args.repeat,
                threads=args.threads, counts=args.counts,
                profile=args.profile or bool(args.profile_out and not args.counts),
            )  # fmt: skip
            # Standard input that is OpenCL C has been read to compile it.
            data = _program(name if build is None else str(path), path) if path is not None else None
            job = LaunchJob(name, launch_path, options, data=data, named=bool(args.launch) or path is None)
            try:
                if args.init and path is not None:
                    done = _write_launch_file(job, args, path if build is None else None)
                else:
                    opened = open_job(job)
                    done = opened.launch, opened.run(), opened.text
            except runner.LaunchError as error:
                if capture is None:
                    raise
                raise UserError(str(error).replace(f"{launch_path.parent}/", f"{name}: ")) from None
            if isinstance(done, Outcome):
                return done
            launch, report, text = done
        if capture is not None:
            report = rename_texts(name, launch_path.parent, report.with_assumed((*capture.assumed, *report.assumed)))
            report = structs.replace(report, notes=(*capture.notes, *report.notes))
        if build is not None:
            report = report.with_assumed((*build.assumed, *report.assumed)) if text else report
            report = rename_texts(name, build.path.parent, report)
    report = report.with_most(args.max_errors)
    inputs = (path or launch_path, launch_path, *further_files, *launch.reads)
    named = launch_path if capture is None else Path(name).absolute()
    paths = _write_buffers(args.out, named, report, inputs, several=several)
    done = Outcome(
        args.launch if several and args.launch else name, report, paths, status=0 if report.ok else 1, launch_text=text
    )
    if not (option := cause_option(report)):
        return done
    if capture is not None:
        steps = f"visa-lsp import {shlex.quote(name)} -o DIR; visa-lsp why DIR/{launch_path.name}"
        return structs.replace(done, next_step=f"{steps} {option}")
    given = f" --launch {shlex.quote(args.launch)}" if args.launch else ""
    return structs.replace(done, next_step=f"visa-lsp why {shlex.quote(name)}{given} {option}")


def _import_capture(name: str, args: Arguments, folder: contextlib.ExitStack) -> Imported:
    """Write a capture into a temporary folder. Raises UserError if it is malformed, or for options that do not apply."""
    from visa_lsp.app.captures.importing import import_into_temporary, read_capture

    for option in ("init", "launch"):
        if getattr(args, option):
            raise UserError(f"{name}: --{option} does not apply to a capture; visa-lsp import writes its launch file")
    return folder.enter_context(import_into_temporary(read_capture(name), _compiler_words(args), args.platform))


def _write_buffers(
    out: str | None, launch_path: Path, report: RunReport, inputs: tuple[Path, ...], *, several: bool
) -> tuple[str | None, ...]:
    """Write the buffers if ``--out`` is given and return their files. Raises UserError if one cannot be written."""
    if not out:
        return tuple(None for _ in report.buffers)
    from visa_lsp.app.launch.arrays import write_array

    folder = Path(out)
    if several:
        folder /= launch_path.name.removesuffix(".yaml").removesuffix(".launch")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        targets = [folder / f"arg{file_name(str(buffer.arg))}.npy" for buffer in report.buffers]
        for target in targets:
            refuse_input(target, inputs)
        for target, buffer in zip(targets, report.buffers, strict=True):
            write_array(target, buffer.array)
        return tuple(map(str, targets))
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise UserError(f"{folder}: cannot write: {words}") from None


def _compiler_words(args: Any) -> CompilerWords:
    from visa_lsp.app.launch.opencl import CompilerWords

    return CompilerWords(" ".join(args.options or ()), args.ocloc, args.stdin_filename)


def compile_kernel(
    name: str,
    path: Path,
    launch_path: Path,
    args: Any,
    folder: contextlib.ExitStack,
    chosen: str | None = None,
    compiled: Build | None = None,
    *,
    init: bool = False,
) -> tuple[CompiledProgram, Path]:
    """Compile OpenCL C with the options of its launch file, unless it is ``compiled`` already.

    The launch file is that of the ``chosen`` kernel; without a choice that of the source, else of its first kernel.
    """
    from visa_lsp.app.compile.build import read_source
    from visa_lsp.app.launch.file import read_launch_file
    from visa_lsp.app.launch.opencl import build_program, unpack_program

    launch = None
    if chosen is not None and not args.launch:
        launch_path = path.with_name(f"{file_name(chosen)}.launch.yaml")
    if launch_path.is_file() and not init:
        launch = read_launch_file(launch_path, named=bool(args.launch))
    kernel = (launch.config.kernel if launch is not None else None) or chosen
    if chosen is not None and kernel != chosen:
        raise UserError(f"{launch_path}: --kernel is '{chosen}', but the launch file is for kernel '{kernel}'")
    platform = args.platform or (launch.platform if launch is not None else None)
    if compiled is None:
        with Progress(f"{name}: compiling"):
            compiled = build_program(read_source(name, args.stdin_filename), _compiler_words(args), platform)
    build = folder.enter_context(unpack_program(compiled, kernel))
    if launch is None and chosen is None and not args.launch and not init:
        beside = path.with_name(f"{build.path.stem}.launch.yaml")
        launch_path = beside if beside.is_file() else launch_path
    return build, launch_path


def _program(name: str, path: Path) -> bytes:
    from visa_lsp.app.launch import runner

    return read_bytes(name) if name == "-" else runner.read_bytes(path, named=path == Path(name))


def _write_launch_file(
    job: LaunchJob, args: Arguments, program: Path | None
) -> tuple[LaunchFile, RunReport, str] | Outcome:
    """Write the launch file of a program that has none, and run it for ``--expect``.

    ``program`` is the file to name in the launch file, None for OpenCL C.
    """
    from visa_lsp.app.launch import ready_run, runner
    from visa_lsp.app.launch.init import launch_text, refuse_existing, write_launch, write_launches
    from visa_lsp.app.launch.proposal import propose_run

    assert job.data is not None
    refuse_existing(job.launch)
    proposed = propose_run(job.data, job.options, job.launch)
    proposal = proposed.proposal
    if not args.expect:
        files = write_launches(job.launch, proposal, program)
        proposal = proposal.even if len(files) > 1 and proposal.even is not None else proposal
        written = tuple(map(str, files))
        return Outcome(job.name, launch_text=launch_text(proposal), assumed=proposal.assumed, written=written)
    launch = proposal.read(job.launch)
    with proposal.without_file(job.launch):
        run = runner.ready(proposed.module, launch, job.options, proposed.notes, proposed.sources)
        report = ready_run.run_ready(run)
    report = report.with_assumed(proposal.assumed)
    if report.ok:
        files = write_launch(job.launch, proposal, report)
        note = f"written: {', '.join(map(str, files))}"
    else:
        note = f"{job.launch} is not written: the run has faults, so its results cannot serve as expectations"
    return launch, structs.replace(report, notes=(*report.notes, note)), launch_text(proposal)


_WHO: Final = re.compile(r"(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?,(\d{1,9})")


def _tracer(words: list[str], stream: TextIO) -> Tracer:
    """Return the listener for ``--trace``."""
    from visa_lsp.sim.launch.config import LaunchError
    from visa_lsp.sim.observers.trace import Tracer

    who = []
    for word in words:
        match = _WHO.fullmatch(word)
        if match is None:
            raise LaunchError(f"--trace {word}: expected GROUP,THREAD, such as 0,0 or 2:1:0,3")
        x, y, z, thread = (int(n or 0) for n in match.groups())
        who.append(((x, y, z), thread))
    return Tracer(who, lambda line: print(line, file=stream))


def _paths(name: str, args: Arguments) -> tuple[Path | None, Path]:
    """Return the file of the program, None if the launch file names it, and the launch file, which may not exist."""
    path, launch = launch_paths(name, args.launch, args.stdin_filename)
    if path is None and args.init:
        raise UserError(f"{name}: --init expects a text, an object or OpenCL C, found a launch file")
    if path is not None and name != STDIN and not is_opencl(name):
        _refuse_foreign(path)
    if args.launch and path is not None and not args.init and (not launch.exists() or launch.is_dir()):
        raise UserError(f"{args.launch}: no such file")
    return path, launch


def _refuse_foreign(path: Path) -> None:
    """Raise UserError for sources such as OpenCL C, which a launch file cannot make runnable."""
    with contextlib.suppress(OSError), open_file(path, MAX_OBJECT_BYTES) as (stream, _):
        other = foreign(str(path), stream.read(1 << 16))
        if other:
            raise UserError(f"{path}: {other}")
