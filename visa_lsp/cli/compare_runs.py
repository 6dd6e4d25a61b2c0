"""The command ``visa-lsp compare-runs``: two programs run at the points of a sweep, and the smallest launch where they differ.

Knows options and exit statuses: 0 the same at every point, 1 different, 2 for usage and what cannot be run. NumPy is loaded
only when programs run.
"""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK
from visa_lsp.cli.common import add_platform, whole_number
from visa_lsp.cli.progress import Progress

if TYPE_CHECKING:
    from argparse import Namespace

    from visa_lsp.cli.parsing import CommandParser


# A program that reads or writes beyond its buffers differs from one that does not, also where the values are the same.
_CHECKS: Final = "bounds"


def add_arguments(parser: CommandParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("a", metavar="A", help="a text or an object")
    parser.add_argument("b", metavar="B", help="another one, such as the same kernel of another compiler")
    parser.add_argument(
        "--launch",
        metavar="FILE",
        help="launch file, at every point of its sweep; default: the sibling of A, else a grid made up for the kernel",
    )
    parser.add_argument(
        "--rtol", metavar="X", type=_tolerance, help="how far results may be off, relative to those of A"
    )
    parser.add_argument("--atol", metavar="X", type=_tolerance, help="how far results may be off")
    parser.add_argument(
        "--ulp", metavar="N", type=whole_number(0), help="how many neighbouring floats results may be off"
    )
    parser.add_argument("--engine", choices=("auto", "jit", "interp"), default="auto", help="what executes the kernels")
    parser.add_argument(
        "--budget", metavar="N", type=whole_number(1), help="end a run after so many instructions; default 10,000,000"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the report")
    add_platform(parser)


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no number from 0")
    return value


def compare_runs_command(args: Namespace) -> int:
    """Compare two programs by what they do; gives the exit status. ``UserError`` for what cannot be read or run."""
    if find_spec("numpy") is None:
        raise UserError("running kernels needs NumPy: pip install 'visa-lsp[run]'")
    from visa_lsp.app.compare_runs.grid import launches_for
    from visa_lsp.app.compare_runs.points import Tolerance
    from visa_lsp.app.compare_runs.programs import program_at
    from visa_lsp.app.compare_runs.report import as_json, text_lines
    from visa_lsp.app.compare_runs.search import compare
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.program import TextProblems

    programs = program_at(args.a), program_at(args.b)
    options = RunOptions(platform=args.platform, engine=args.engine, checks=_CHECKS, budget=args.budget)
    try:
        launches = launches_for(programs, args.launch, options)
        with Progress() as line:
            compared = compare(programs, launches, options, Tolerance(args.rtol, args.atol, args.ulp), line)
    except TextProblems as problems:
        raise UserError(problems.lines[0]) from None
    if not compared.compared:
        raise UserError(f"neither can be run: {compared.skipped[0]}")
    if args.format == "json":
        print(json.dumps(as_json(args.a, args.b, compared), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        for words in text_lines(args.a, args.b, compared):
            print(words)
    return EXIT_OK if compared.found is None else EXIT_FINDINGS
