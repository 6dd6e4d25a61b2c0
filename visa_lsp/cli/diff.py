"""The command ``visa-lsp diff``: compares programs apart from names, the order of declarations, and comments."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Literal

from visa_lsp.app.diff.comparison import ProgramComparison, compare_paths
from visa_lsp.app.errors import printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.inputs import STDIN
from visa_lsp.app.output_files import check_output
from visa_lsp.cli.cluster_options import CLUSTER_SECONDS, ClusterAddress, ClusterLimit, cluster_of
from visa_lsp.cli.exits import print_error
from visa_lsp.cli.options import CommandArguments, Option, PlatformName, Report, StdinFilename, arg, flag
from visa_lsp.cli.outputs import say, wants_colour, write_report
from visa_lsp.cli.progress_line import Progress

FORMATS = ("text", "json", "html")


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    a: Annotated[str, arg("A", "a text, an object, or a folder of them; - is standard input")]
    b: Annotated[str, arg("B", "the program or folder to compare with")]
    format: Annotated[str, Option(None, "output format; default: text", choices=FORMATS)] = "text"
    output: Report = STDIN
    color: Annotated[Literal["auto", "always", "never"], flag("use colours; default: on a terminal")] = "auto"
    stdin_filename: StdinFilename = None
    platform: PlatformName = None
    cluster: ClusterAddress = None
    send: Annotated[bool, flag("with --cluster: send the files to workers that cannot read the files of this machine")] = False
    cluster_limit: ClusterLimit = CLUSTER_SECONDS
# fmt: on


def execute(args: Arguments) -> int:
    """Compare two programs and return the exit status: 0 the same, 1 different, 2 wrong usage or an unreadable program."""
    inputs = [args.a, args.b]
    check_output(args.output, inputs)
    said: list[str] = []

    def tell(line: str) -> None:
        say(line)
        said.append(printable(line))

    with Progress() as progress, cluster_of(args) as cluster:
        comparison = compare_paths(args.a, args.b, args.platform, args.stdin_filename, progress, cluster, tell)
    if comparison.files or comparison.folders:
        colour = args.output == STDIN and wants_colour(sys.stdout, args.color)
        report = _report(comparison, args.format, said, colour=colour)
        write_report(args.output, report, inputs)
    else:
        print_error("\n".join(said), EXIT_USAGE, ("--format", args.format))
    if comparison.unreadable:
        return EXIT_USAGE
    return EXIT_OK if comparison.same else EXIT_FINDINGS


def _report(comparison: ProgramComparison, form: str, said: list[str], *, colour: bool) -> str:
    if form == "json":
        from visa_lsp.app.diff.comparison_values import comparison_values

        errors = {"errors": [{"error": line} for line in said]} if comparison.unreadable else {}
        return json.dumps({**comparison_values(comparison), **errors}, indent=2) + "\n"
    if form == "html":
        from visa_lsp.app.diff.page import comparison_page

        return comparison_page(comparison)
    from visa_lsp.app.diff.printing import comparison_text

    return "".join(f"{line}\n" for line in comparison_text(comparison, colour=colour))
