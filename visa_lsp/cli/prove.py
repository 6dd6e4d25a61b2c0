"""The command ``visa-lsp prove``: proves that no launch has a race or an access out of bounds, or finds one that has.

Exit status: 0 all proved, 1 refuted, 2 wrong usage or an input that cannot be proved, 3 unknown answers.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import field

from visa_lsp.app.compile.outputs import file_name
from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_UNDECIDED, EXIT_USAGE
from visa_lsp.app.inputs import STDIN, STDIN_NAME, read_bytes
from visa_lsp.app.output_files import check_output
from visa_lsp.app.prove import PROPERTIES
from visa_lsp.app.prove.document import (
    DEFAULT_SECONDS,
    ProofOptions,
    ProvedFile,
    check_properties,
    prove_data,
)
from visa_lsp.app.prove.report import as_text, group_refutations, needs_json, results_json
from visa_lsp.cli import options as opt
from visa_lsp.cli.colours import ink_of
from visa_lsp.cli.exits import complain
from visa_lsp.cli.outputs import write_output, write_report
from visa_lsp.cli.progress_line import Progress
from visa_lsp.cli.text_inputs import TextInputs

MAX_SECONDS: Final = 3600


def properties(text: str) -> tuple[str, ...]:
    """Parse the value of ``--property``: names with commas between. Raises ArgumentTypeError for an unknown one."""
    names = [name for name in text.split(",") if name.strip()]
    if not names:
        raise ArgumentTypeError(f"expected properties with commas between, got {text!r}")
    try:
        return check_properties(names)
    except UserError as error:
        raise ArgumentTypeError(str(error)) from None


def seconds(text: str) -> float:
    """Parse the value of ``--timeout``. Raises ArgumentTypeError if it is not a number of seconds."""
    if re.fullmatch(r"\d{1,4}(\.\d{1,3})?", text) and 0 < float(text) <= MAX_SECONDS:
        return float(text)
    raise ArgumentTypeError(f"expected seconds, more than 0 and at most {MAX_SECONDS}, got {text!r}")


# fmt: off
class Arguments(opt.CommandArguments, kw_only=True):
    """The options of the command."""

    inputs: Annotated[list[str], opt.arg("IN", "a text or OpenCL C; - is standard input")]
    property: Annotated[tuple[str, ...], opt.Option("LIST", f"properties to prove, separated by commas; default: {','.join(PROPERTIES)}", properties)] = PROPERTIES
    assume: Annotated[list[str], opt.Option("EXPR", "assume a condition of launches, such as 'n <= groups*local_size' or 'len(y) >= n'; repeatable")] = field(default_factory=list)
    timeout: Annotated[float, opt.Option("S", f"stop the proof of a kernel after S seconds; default: {DEFAULT_SECONDS:g}", seconds)] = DEFAULT_SECONDS
    format: opt.TextOrJson = "text"
    color: opt.Color = "auto"
    kernel: Annotated[str | None, opt.Option("NAME", "prove only this kernel")] = None
    launches: Annotated[str | None, opt.Option("DIR", "write the launch files of refutations to DIR")] = None
    output: opt.Report = STDIN
    stdin_filename: opt.StdinFilename = None
    no_item_races: Annotated[bool, opt.flag("treat the lanes of one hardware thread as ordered, as they are at this SIMD width")] = False
    platform: opt.PlatformName = None
    ocloc: opt.Ocloc = None
    options: opt.CompilerOptions = None
# fmt: on


def execute(args: Arguments) -> int:
    """Prove the kernels of each input."""
    check_output(args.output, args.inputs)
    options = ProofOptions(
        args.property, tuple(args.assume), args.timeout, args.kernel, args.platform, not args.no_item_races
    )
    status = EXIT_OK
    files: list[ProvedFile] = []
    errors: list[dict[str, str]] = []
    written: dict[tuple[str, str, str], str] = {}
    with TextInputs(args) as inputs:
        for named in args.inputs:
            name = (args.stdin_filename or STDIN_NAME) if named == STDIN else named
            try:
                for text, path in inputs.texts_of(named, args.kernel):
                    files.append(_prove(text, path, args, options, inputs))
                    if args.launches:
                        source = None if text == name else name
                        written.update(_write_launches(files[-1], Path(args.launches), args.inputs, source))
            except UserError as error:
                complain(inputs.rename(str(error)))
                errors.append({"input": printable(name), "error": printable(inputs.rename(str(error)))})
                status = EXIT_USAGE
        if files or args.format == "json":
            ink = ink_of("prove", args.color, args.output)
            report = as_json(files, errors) if args.format == "json" else ink(as_text(files, written))
            write_report(args.output, inputs.rename(report), args.inputs)
    return status or _status(files)


def _prove(
    name: str, path: str, args: Arguments, options: ProofOptions, inputs: TextInputs
) -> ProvedFile:  # fmt: skip
    place = Path(name) if path != STDIN or args.stdin_filename else None
    title = inputs.rename(name)
    with Progress(f"{title}: proving") as line:

        def show(words: str) -> None:
            if line.is_due():
                line.show(f"{title}: {words}")

        return prove_data(name, place, read_bytes(path), options, on_progress=show if line.wanted else None)


def _status(files: list[ProvedFile]) -> int:
    answers = {result.answer for file in files for result in file.results}
    if "refuted" in answers:
        return EXIT_FINDINGS
    return EXIT_UNDECIDED if answers - {"proved"} else EXIT_OK


def _write_launches(
    file: ProvedFile, folder: Path, inputs: list[str], source: str | None
) -> dict[tuple[str, str, str], str]:
    """Write the launch files of refutations; return their paths by kernel, property and text.

    ``source`` is the file that the program was compiled from, if any.
    """
    from visa_lsp.app.prove.confirm import program_line

    program, written = Path(file.name), {}
    for key, refuted in group_refutations(file.results).items():
        kernel, property_, launch = key
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{file_name(kernel)}.{property_}.{refuted[0].line}.launch.yaml"
        there = f"\n{program_line(os.path.relpath(program, folder))}" if source is None else ""
        text = launch.replace(f"\n{program_line(program.name)}", there, 1)
        if source is not None:  # a launch file does not name a source, because that has to be compiled
            text = f"# visa-lsp run {shlex.quote(source)} --launch {shlex.quote(str(path))}\n{text}"
        write_output(str(path), text.encode(), inputs, is_default=True)
        written[key] = str(path)
    return written


def as_json(files: list[ProvedFile], errors: list[dict[str, str]]) -> str:
    """Return the answers for a program."""
    report: dict[str, Any] = {
        "results": [result for file in files for result in results_json(file)],
        "needs": needs_json(files),
    }
    if errors:
        report["errors"] = errors
    return f"{json.dumps(report, indent=1, ensure_ascii=False)}\n"
