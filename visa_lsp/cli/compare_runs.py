"""The command ``visa-lsp compare-runs``: runs two programs at the points of a sweep and finds the smallest difference.

Exit status: 0 equal results at every point, 1 different, 2 wrong usage or a program that cannot run. NumPy is loaded
only when programs run.
"""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from importlib.util import find_spec
from typing import Annotated, Final, Literal

from visa_lsp.app.errors import NEEDS_NUMPY, UserError
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK
from visa_lsp.cli.options import CommandArguments, Option, PlatformName, TextOrJson, arg, flag, whole_number
from visa_lsp.cli.progress_line import Progress

# Out-of-bounds accesses count as a difference even if the values agree.
_CHECKS: Final = "bounds"


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    a: Annotated[str, arg("A", "a text or an object")]
    b: Annotated[str, arg("B", "another text or object, such as the same kernel from another compiler")]
    launch: Annotated[str | None, Option("FILE", "launch file whose sweep gives the launches; default: the sibling of A, else a generated grid")] = None
    rtol: Annotated[float | None, Option("X", "relative tolerance of results, relative to those of A", _tolerance)] = None
    atol: Annotated[float | None, Option("X", "absolute tolerance of results", _tolerance)] = None
    ulp: Annotated[int | None, Option("N", "tolerance of results in units in the last place", whole_number(0))] = None
    engine: Annotated[Literal["auto", "jit", "interp"], flag("engine that executes the kernels")] = "auto"
    budget: Annotated[int | None, Option("N", "stop a run after N instructions; default: 10,000,000", whole_number(1))] = None
    format: TextOrJson = "text"
    platform: PlatformName = None
# fmt: on


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"expected a number >= 0, got {text!r}")
    return value


def execute(args: Arguments) -> int:
    """Compare the results of two programs and return the exit status. Raises UserError if one cannot be read or run."""
    if find_spec("numpy") is None:
        raise UserError(NEEDS_NUMPY)
    from visa_lsp.app.compare_runs.grid import launches_for
    from visa_lsp.app.compare_runs.points import Tolerance
    from visa_lsp.app.compare_runs.printing import as_json, text_lines
    from visa_lsp.app.compare_runs.programs import program_at
    from visa_lsp.app.compare_runs.search import compare
    from visa_lsp.app.launch.body_source import TextProblems
    from visa_lsp.app.launch.options import RunOptions

    programs = program_at(args.a), program_at(args.b)
    options = RunOptions(platform=args.platform, engine=args.engine, checks=_CHECKS, budget=args.budget)
    try:
        with Progress(f"{args.a}: comparing with {args.b}") as line:
            launches = launches_for(programs, args.launch, options)
            compared = compare(programs, launches, options, Tolerance(args.rtol, args.atol, args.ulp), line)
    except TextProblems as problems:
        raise UserError(problems.lines[0]) from None
    if not compared.compared:
        raise UserError(f"no launch ran: {compared.skipped[0]}")
    if args.format == "json":
        print(json.dumps(as_json(args.a, args.b, compared), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        for words in text_lines(args.a, args.b, compared):
            print(words)
    return EXIT_OK if compared.difference is None else EXIT_FINDINGS
