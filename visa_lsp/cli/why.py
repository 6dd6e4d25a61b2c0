"""The command ``visa-lsp why``: explains how a value of a run, or a fault, came about.

Exit status: 0 explained, 1 a text with errors, 2 wrong usage, or a program that cannot be run. NumPy is loaded only when
the program runs.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING

from visa_lsp.app.errors import NEEDS_NUMPY, UserError
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK
from visa_lsp.app.inputs import STDIN, is_opencl
from visa_lsp.app.output_files import check_output
from visa_lsp.cli.colours import add_color, ink_of
from visa_lsp.cli.common import add_platform, say, whole_number
from visa_lsp.cli.outputs import write_report
from visa_lsp.cli.text_inputs import add_compiler

if TYPE_CHECKING:
    import argparse

    from visa_lsp.app.why.report import WhyReport
    from visa_lsp.cli.parsing import CommandParser


def add_arguments(parser: CommandParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("input", metavar="IN", help="a text, an object, OpenCL C or a launch file; - is standard input")
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--value",
        metavar="NAME[INDEX]",
        help="element of a buffer, such as y[37] or 0[37]; default: the first difference of a failed expectation, else a fault",
    )
    start.add_argument("--fault", metavar="N", type=whole_number(1), help="fault number N of the run, counted from 1")
    parser.add_argument(
        "--launch", metavar="FILE", help="launch file; default: the sibling NAME.launch.yaml, else a generated one"
    )
    parser.add_argument(
        "--against",
        metavar="REF",
        help="reference program: show the nodes that differ from its run, the first differences first",
    )
    parser.add_argument("--budget", metavar="N", type=whole_number(1), help="stop the run after N instructions")
    parser.add_argument(
        "--max-nodes", metavar="N", type=whole_number(1), default=40, help="show at most N nodes; default: 40"
    )
    parser.add_argument("--format", choices=("text", "json", "html"), default="text", help="output format")
    add_color(parser)
    parser.add_argument("--stdin-filename", metavar="PATH", help="file name to report for standard input")
    parser.add_argument("-o", "--output", metavar="OUT", default=STDIN, help="output file; default: standard output")
    add_platform(parser)
    add_compiler(parser)
    parser.set_defaults(init=False)  # an option of ``run``, which compiles in the same way


def why_command(args: argparse.Namespace) -> int:
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
                build, launched = compile_kernel(program, path, beside, args, folder, None, None)
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
