"""The command ``visa-lsp why``: explains how a value of a run, or a fault, came about.

Exit status: 0 explained, 1 a text with errors, 2 wrong usage, or a program that cannot be run. NumPy is loaded only when
the program runs.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Literal

from visa_lsp.app.errors import NEEDS_NUMPY, UserError
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK
from visa_lsp.app.inputs import STDIN, is_opencl
from visa_lsp.app.output_files import check_output
from visa_lsp.cli import options as opt
from visa_lsp.cli.colours import ink_of
from visa_lsp.cli.outputs import say, write_report

if TYPE_CHECKING:
    from visa_lsp.app.why.report import WhyReport


# fmt: off
class Arguments(opt.CommandArguments, kw_only=True):
    """The options of the command."""

    input: Annotated[str, opt.arg("IN", "a text, an object, OpenCL C or a launch file; - is standard input")]
    value: Annotated[str | None, opt.Option("NAME[INDEX]", "element of a buffer, such as y[37] or 0[37]; default: the first difference of a failed expectation, else a fault", group="start")] = None
    fault: Annotated[int | None, opt.Option("N", "fault number N of the run, counted from 1", opt.whole_number(1), group="start")] = None
    launch: Annotated[str | None, opt.Option("FILE", "launch file; default: the sibling NAME.launch.yaml, else a generated one")] = None
    against: Annotated[str | None, opt.Option("REF", "reference program: show the nodes that differ from its run, the first differences first")] = None
    budget: Annotated[int | None, opt.Option("N", "stop the run after N instructions", opt.whole_number(1))] = None
    max_nodes: Annotated[int, opt.Option("N", "show at most N nodes; default: 40", opt.whole_number(1))] = 40
    format: Annotated[Literal["text", "json", "html"], opt.flag("output format")] = "text"
    color: opt.Color = "auto"
    stdin_filename: opt.StdinFilename = None
    output: Annotated[str, opt.Option("OUT", "output file; default: standard output", flags=("-o", "--output"))] = STDIN
    platform: opt.PlatformName = None
    ocloc: opt.Ocloc = None
    options: opt.CompilerOptions = None
# fmt: on


def execute(args: Arguments) -> int:
    """Explain a value and return the exit status. Raises UserError for mistakes of the user."""
    if find_spec("numpy") is None:
        raise UserError(f"why: {NEEDS_NUMPY}")
    from visa_lsp.app.compare_runs.programs import program_at
    from visa_lsp.app.launch.runner import LaunchError, RunOptions, TextProblems
    from visa_lsp.app.launch.unit import job_at, launch_paths
    from visa_lsp.app.why.answer import WhyQuestion, answer

    inputs = [name for name in (args.input, args.launch, args.against) if name]
    check_output(args.output, inputs)
    options = RunOptions(platform=args.platform, budget=args.budget)
    try:
        with ExitStack() as folder:
            program, launch = args.input, args.launch
            if is_opencl((args.stdin_filename or "") if program == STDIN else program):
                from visa_lsp.cli.run import compile_kernel

                path, beside = launch_paths(program, launch, args.stdin_filename)
                assert path is not None
                build, launched = compile_kernel(program, path, beside, args, folder)
                program, launch = str(build.path), str(launched) if launched.is_file() else launch
            job = job_at(program, launch, options, args.stdin_filename)
            reference = program_at(args.against) if args.against is not None else None
            report = answer(WhyQuestion(args.value, args.fault, args.max_nodes), job, reference)
            written = _report_text(report, args.format)
            if program != args.input:
                written = written.replace(f"{build.path.parent}/", f"{args.stdin_filename or args.input}: ")
    except TextProblems as problems:
        for line in problems.lines:
            say(line)
        if args.format == "json":
            print(json.dumps({"error": problems.lines[0], "exit": EXIT_FINDINGS}, ensure_ascii=False))
        return EXIT_FINDINGS
    except LaunchError as error:
        raise UserError(str(error)) from None
    ink = ink_of("why", args.color, args.output) if args.format == "text" else str
    write_report(args.output, ink(written), inputs)
    return EXIT_OK


def _report_text(report: WhyReport, form: str) -> str:
    from visa_lsp.app.why.page import page
    from visa_lsp.app.why.report import as_json, text_lines

    if form == "json":
        return json.dumps(as_json(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if form == "html":
        return page(report)
    return "\n".join(text_lines(report)) + "\n"
