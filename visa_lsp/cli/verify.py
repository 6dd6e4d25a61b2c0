"""The command ``visa-lsp verify``: runs machine code beside its text and compares.

Exit status: 0 equal, 1 different or a hazard, 3 something is not modelled, 2 wrong usage, a missing tool or an unreadable
input.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from visa_lsp.app.errors import NEEDS_NUMPY, UserError
from visa_lsp.app.external_tools import split_options
from visa_lsp.app.inputs import STDIN
from visa_lsp.app.output_files import check_output
from visa_lsp.cli.colours import ink_of
from visa_lsp.cli.exits import complain
from visa_lsp.cli.options import Color, CommandArguments, Option, PlatformName, TextOrJson, arg, flag
from visa_lsp.cli.outputs import write_report
from visa_lsp.cli.progress_line import Progress

if TYPE_CHECKING:
    from visa_lsp.app.verify.verify_report import Row


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    inputs: Annotated[list[str], arg("IN", "a text, a zebin, a listing (.asm) beside its text, or a folder")]
    launch: Annotated[str | None, Option("FILE", "launch file; default: the sibling NAME.launch.yaml, else generated ones")] = None
    kernel: Annotated[str | None, Option("NAME", "verify only this kernel")] = None
    options: Annotated[list[str] | None, Option("S", "options for the finalizer, as one quoted word: '-noschedule'", dashed=1)] = None
    hazards: Annotated[bool, flag("run the machine code alone and report hazards only")] = False
    slack: Annotated[bool, flag("also list the waits without which no hazard exists")] = False
    format: TextOrJson = "text"
    output: Annotated[str, Option("OUT", "output file; default: standard output", flags=("-o", "--output"))] = STDIN
    tool: Annotated[str | None, Option("PATH", "path of the finalizer; default: GenX_IR on PATH")] = None
    iga: Annotated[str | None, Option("PATH", "path of iga64, of 2024 or later; default: beside ocloc, else on PATH")] = None
    platform: PlatformName = None
    color: Color = "auto"
# fmt: on


def execute(args: Arguments) -> int:
    """Verify the inputs and return the exit status. Raises UserError for mistakes of the user."""
    if find_spec("numpy") is None:
        raise UserError(f"verify: {NEEDS_NUMPY}")
    from visa_lsp.app.verify.verified_inputs import VerifyOptions, verify
    from visa_lsp.app.verify.verify_report import InputProblem, as_json, exit_status, text_lines

    check_output(args.output, args.inputs)
    options = VerifyOptions(
        args.launch, args.platform, args.kernel, split_options(" ".join(args.options or ()), "--options"), args.tool, args.iga,
        args.hazards, args.slack,
    )  # fmt: skip
    rows: list[Row] = []
    for name in args.inputs:
        with Progress(f"{name}: verifying"):
            rows += verify(name, options)
    for row in rows:
        if isinstance(row, InputProblem):
            complain(row.message)
    if args.format == "json":
        report = json.dumps(as_json(rows), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        report = "".join(f"{line}\n" for line in text_lines(rows))
        report = ink_of("verify", args.color, args.output)(report)
    if report or args.output != STDIN:
        write_report(args.output, report, args.inputs)
    return exit_status(rows)
