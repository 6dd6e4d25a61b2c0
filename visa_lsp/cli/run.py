"""The command ``visa-lsp run``: launches kernels, reports in text or JSON, writes buffers.

Knows the command's options and its exit status: 0 all well, 1 a failed expectation, a fault or an error in a text, 2 a
usage mistake, or a file that cannot be read or written. NumPy is loaded only when a launch runs. Invariant: a buffer file
is complete or absent.

The JSON report of a launch has these keys: ``launch`` (the launch file), ``kernel``, ``platform``, ``engine``,
``buffers`` (``arg``, ``name``, ``dtype``, ``shape``, ``head`` with the first values, ``path`` of the file written or
null), ``expectations`` (``arg``, ``ok``, ``message``), ``faults`` (``kind``, ``message``, ``kernel``, ``group``,
``thread``, ``lane``, ``instruction``, ``line`` from 1 or null, ``address``, ``other``, ``place``, ``excerpt``),
``findings`` (the same, for what is no fault), ``threads``, ``groups``, ``instructions``, ``opcodes`` (counts by
mnemonic), ``barriers``, ``bytes_read``, ``bytes_written``, ``printed``, ``notes``, ``ok``. One that could not be made has ``launch``, ``ok`` and ``error``. One launch gives one
object, several give an array.
"""

from __future__ import annotations

import json
import math
import re
import sys
from argparse import ArgumentTypeError
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from visa_lsp.cli.files import replacing

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from visa_lsp.cli.launchrun import BufferReport, RunReport
    from visa_lsp.sim.faults import Fault

_HEAD: Final = 8
_SUFFIXES: Final = (".yaml", ".yml")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "inputs", nargs="+", metavar="IN", help="a text, an object or a launch file; - is standard input"
    )
    parser.add_argument("--launch", metavar="FILE", help="launch file; default: the sibling NAME.launch.yaml")
    parser.add_argument("--engine", choices=("auto", "jit", "interp"), default="auto", help="what executes the kernel")
    parser.add_argument(
        "--checks",
        default="all",
        metavar="all|none|LIST",
        help="what is watched during the run: bounds, uninitialised, races, barriers, alignment, division; default all",
    )
    parser.add_argument("--budget", metavar="N", type=_count_of_steps, help="end the run after so many instructions")
    parser.add_argument("--out", metavar="DIR", help="write each buffer argument as argN.npy")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the report")
    parser.add_argument("--platform", metavar="NAME", help="platform to run on; default: the launch file's, or TGLLP")
    parser.add_argument(
        "--trace",
        metavar="GROUP,THREAD",
        nargs="?",
        const="0,0",
        action="append",
        help="print the instructions that a thread executes, with values; GROUP is X or X:Y:Z; default 0,0",
    )
    parser.add_argument("--stdin-filename", metavar="PATH", help="what the text on standard input is called")


def _count_of_steps(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 1 << 60:
        raise ArgumentTypeError(f"'{text}' is not a number of instructions")
    return int(text)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One launch for the report: its name and either a report with the files written, or an error line and status."""

    name: str
    report: RunReport | None = None
    paths: tuple[str | None, ...] = ()
    error: str = ""
    status: int = 0


def run_command(args: Namespace) -> int:
    """Run what the command line asks for; gives the exit status."""
    try:
        import_module("numpy")
    except ModuleNotFoundError:
        print("visa-lsp run: running kernels needs NumPy: pip install 'visa-lsp[run]'", file=sys.stderr)
        return 2
    inputs: list[str] = args.inputs
    if len(inputs) > 1 and args.launch:
        print(
            "visa-lsp run: --launch goes with one input; several launch files can be given as inputs", file=sys.stderr
        )
        return 2
    outcomes = []
    for name in inputs:
        outcome = _launch(name, args, several=len(inputs) > 1)
        outcomes.append(outcome)
        if args.format == "text":
            _print_text(outcome)
    if args.format == "json":
        values = [_json(outcome) for outcome in outcomes]
        print(json.dumps(values if len(inputs) > 1 else values[0], indent=2, ensure_ascii=False, allow_nan=False))
    elif len(inputs) > 1:
        passed = sum(o.status == 0 for o in outcomes)
        print(f"{len(outcomes)} launches: {passed} passed, {len(outcomes) - passed} failed")
    return max(outcome.status for outcome in outcomes)


def _launch(name: str, args: Namespace, *, several: bool) -> Outcome:
    """Run one input; user mistakes become an outcome."""
    runner = import_module("visa_lsp.cli.launchrun")
    files = import_module("visa_lsp.cli.launchfile")
    options = {"platform": args.platform, "engine": args.engine, "checks": args.checks, "budget": args.budget}
    try:
        if args.trace:
            options["listeners"] = (_tracer(args.trace, sys.stdout if args.format == "text" else sys.stderr),)
        path, launch_path = _paths(name, args)
        launch = files.read_launch_file(launch_path)
        if path is None:
            if launch.file is None:
                return Outcome(
                    name, error=f"{launch_path}:1:1: no program: say which with file: NAME.visaasm", status=2
                )
            path = launch.file
        data = sys.stdin.buffer.read() if name == "-" else runner.read_bytes(path)
        if data[:4] == b"CISA" or path.suffix == ".isa":
            report: RunReport = runner.run_object(data, launch, path=path, **options)
        else:
            report = runner.run_text(runner.text_of(data, path), launch, path=path, **options)
    except FileNotFoundError as error:
        return Outcome(name, error=str(error), status=2)
    except runner.LaunchError as error:
        return Outcome(name, error=str(error), status=2)
    except runner.TextProblems as problems:
        return Outcome(name, error=str(problems), status=1)
    paths: tuple[str | None, ...] = tuple(None for _ in report.buffers)
    if args.out:
        folder = Path(args.out)
        if several:
            folder /= launch_path.name.removesuffix(".yaml").removesuffix(".launch")
        try:
            paths = tuple(_write(folder, buffer) for buffer in report.buffers)
        except OSError as error:
            return Outcome(name, error=f"{folder}: cannot be written: {error.strerror or error}", status=2)
    return Outcome(name, report, paths, status=0 if report.ok else 1)


_WHO: Final = re.compile(r"(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?,(\d{1,9})")


def _tracer(words: list[str], stream: TextIO) -> Any:
    """The listener for ``--trace``."""
    who = []
    for word in words:
        match = _WHO.fullmatch(word)
        if match is None:
            error = import_module("visa_lsp.sim.launch_config").LaunchError
            raise error(f"--trace {word}: say GROUP,THREAD, such as 0,0 or 2:1:0,3")
        x, y, z, thread = (int(n or 0) for n in match.groups())
        who.append(((x, y, z), thread))
    return import_module("visa_lsp.sim.trace").Tracer(who, lambda line: print(line, file=stream))


def _paths(name: str, args: Namespace) -> tuple[Path | None, Path]:
    """Give the program's file (None: the launch file says it) and the launch file."""
    if name == "-":
        path = Path(args.stdin_filename or "stdin.visaasm")
    else:
        path = Path(name)
        if not path.is_file():
            raise FileNotFoundError(f"{name}: {'is a directory' if path.is_dir() else 'there is no such file'}")
        if path.suffix in _SUFFIXES:
            return None, path
    if args.launch:
        launch = Path(args.launch)
        if not launch.is_file():
            raise FileNotFoundError(f"{args.launch}: there is no such file")
        return path, launch
    launch = path.with_suffix(".launch.yaml")
    if not launch.is_file():
        raise FileNotFoundError(f"{name}: no launch file: neither --launch nor {launch}")
    return path, launch


def _write(folder: Path, buffer: BufferReport) -> str:
    """Write a buffer as ``argN.npy``, by way of a temporary file in the same folder."""
    numpy = import_module("numpy")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"arg{''.join(c if c.isalnum() or c in '_-' else '_' for c in str(buffer.arg))}.npy"
    with replacing(target) as stream:
        numpy.save(stream, buffer.array, allow_pickle=False)
    return str(target)


# The report as text.


def _print_text(outcome: Outcome) -> None:
    report = outcome.report
    if report is None:
        print(outcome.error, file=sys.stderr)
        return
    print(
        f"{outcome.name}: kernel {report.kernel} on {report.platform}, {report.engine}: "
        f"{_count(report.groups, 'group')}, {_count(report.threads, 'thread')}, {_count(report.instructions, 'instruction')}"
    )
    counts = sorted(report.opcodes.items(), key=lambda item: (-item[1], item[0]))
    if counts:
        print(f"  opcodes: {', '.join(f'{word} {count}' for word, count in counts)}")
    barriers = f", {_count(report.barriers, 'barrier arrival')}" if report.barriers else ""
    print(f"  memory: {report.bytes_read} bytes read, {report.bytes_written} bytes written{barriers}")
    for note in report.notes:
        print(f"  note: {note}")
    for buffer, path in zip(report.buffers, outcome.paths, strict=True):
        title = f"arg {buffer.arg}" + (f" ({buffer.name})" if buffer.name and buffer.name != buffer.arg else "")
        more = ", ..." if buffer.array.size > _HEAD else ""
        head = ", ".join(str(value) for value in _head(buffer))
        shape = "x".join(str(n) for n in buffer.array.shape) or "scalar"
        print(f"  {title}: {buffer.array.dtype.name} {shape}: {head}{more}" + (f"  -> {path}" if path else ""))
    for expectation in report.expectations:
        print(f"  expect arg {expectation.arg}: {'holds' if expectation.ok else f'FAILED, {expectation.message}'}")
    for line in report.printed.splitlines():
        print(f"  printed: {line}")
    for word, faults in (("fault", report.faults), ("note", report.findings)):
        for fault in faults:
            print(f"  {word}: {fault}")
            place, excerpt = report.excerpt(fault)
            if excerpt:
                print(f"    {place}: {excerpt}")
    print(f"  {'ok' if report.ok else 'FAILED'}")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _head(buffer: BufferReport) -> list[Any]:
    values: list[Any] = buffer.array.reshape(-1)[:_HEAD].tolist()
    if buffer.array.dtype.name == "float32":  # seven digits say it all; the exact double would not be read
        values = [float(f"{value:.9g}") for value in values]
    return values


# The report as JSON.


def _json(outcome: Outcome) -> dict[str, Any]:
    report = outcome.report
    if report is None:
        return {"launch": outcome.name, "ok": False, "error": outcome.error}
    return {
        "launch": outcome.name,
        "kernel": report.kernel,
        "platform": report.platform,
        "engine": report.engine,
        "buffers": [
            {
                "arg": buffer.arg,
                "name": buffer.name,
                "dtype": buffer.array.dtype.name,
                "shape": list(buffer.array.shape),
                "head": [_finite(value) for value in _head(buffer)],
                "path": path,
            }
            for buffer, path in zip(report.buffers, outcome.paths, strict=True)
        ],
        "expectations": [{"arg": e.arg, "ok": e.ok, "message": e.message} for e in report.expectations],
        "faults": [_fault(report, fault) for fault in report.faults],
        "findings": [_fault(report, fault) for fault in report.findings],
        "threads": report.threads,
        "groups": report.groups,
        "instructions": report.instructions,
        "opcodes": dict(sorted(report.opcodes.items())),
        "barriers": report.barriers,
        "bytes_read": report.bytes_read,
        "bytes_written": report.bytes_written,
        "printed": report.printed,
        "notes": list(report.notes),
        "ok": report.ok,
    }


def _fault(report: RunReport, fault: Fault) -> dict[str, Any]:
    place, excerpt = report.excerpt(fault)
    return {
        "kind": fault.kind.value,
        "message": fault.message,
        "kernel": fault.kernel,
        "group": list(fault.group),
        "thread": fault.thread,
        "lane": fault.lane,
        "instruction": fault.instruction,
        "line": fault.line + 1 if fault.line >= 0 else None,
        "address": fault.address,
        "other": fault.other,
        "place": place,
        "excerpt": excerpt,
    }


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: they are written as words."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
