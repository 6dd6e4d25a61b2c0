"""The command ``visa-lsp stats``: statistics and register pressure of kernels, computed from vISA alone.

Exit status: 0 success, 1 a text with errors or a kernel over a limit, 2 wrong usage or an unreadable file. Loads
neither NumPy nor pygls. Invariant: errors and exceeded limits are written to stderr, so that stdout is the report
alone.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.clusters import ClusterWork, InputFile, Said, complained, listened
from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.folders import files_of, is_folder
from visa_lsp.app.inputs import STDIN, STDIN_NAME
from visa_lsp.app.output_files import check_output
from visa_lsp.app.stats.inputs import figures_of_data, platform_of_launch
from visa_lsp.app.stats.limits import complaints, read_known, write_known
from visa_lsp.app.stats.printing import as_json, page, table
from visa_lsp.cli.cluster_options import add_cluster, cluster_of
from visa_lsp.cli.common import add_platform, say, whole_number
from visa_lsp.cli.exits import complain
from visa_lsp.cli.progress import Progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.clusters import Cluster
    from visa_lsp.app.stats.figures import KernelFigures

_DEFAULT_BASELINE: Final = "visa-lsp-stats.json"
_SUFFIX: Final = ".json"
_GUESS: Final = 0.05  # seconds for an input


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "inputs", nargs="+", metavar="IN", help="a text, an object, or a folder of them; - is standard input"
    )
    parser.add_argument("--launch", metavar="FILE", help="use the platform of this launch file")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    parser.add_argument(
        "--max-pressure", metavar="N", type=whole_number(0), help="exit 1 if a kernel needs more than N GRF rows"
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="exit 1 if a kernel needs more GRF rows than FILE records for it"
    )
    parser.add_argument(
        "--write-baseline", nargs="?", const="", metavar="FILE",
        help=f"record the GRF rows of each kernel in FILE; default: the file of --baseline, else {_DEFAULT_BASELINE}",
    )  # fmt: skip
    parser.add_argument("--stdin-filename", metavar="PATH", help="file name to report for standard input")
    add_platform(parser)
    add_cluster(parser, send="send the inputs to workers that cannot read the files of this machine")


def stats_command(args: argparse.Namespace) -> int:
    """Report the figures of each input."""
    args.inputs = [path for named in args.inputs for path in _inputs(named)]
    baseline = _baseline_to_write(args)
    known = read_known(args.baseline) if args.baseline and baseline is None else None
    platform = args.platform or (platform_of_launch(args.launch) if args.launch else None)
    status = EXIT_OK
    kernels: list[KernelFigures] = []
    errors: list[dict[str, str]] = []
    with Progress(wanted=len(args.inputs) > 1) as line, cluster_of(args) as cluster:
        for number, one in enumerate(_count_inputs(args, platform, cluster)):
            sys.stderr.write(one.said)
            status = max(status, one.result.status)
            kernels += one.result.kernels
            if one.result.status:
                errors.append({"input": printable(args.inputs[number]), "error": printable(one.said.strip())})
            if line.is_due():
                line.show(f"{number + 1} of {len(args.inputs)} inputs")
    # Written first, so that an error here is the only JSON on standard output.
    if baseline is not None:
        count = write_known(baseline, kernels, args.inputs)
        print(f"{baseline}: {count} kernel{'s' * (count != 1)}", file=sys.stderr)
    _print(kernels, errors, args.format)
    for words in complaints(kernels, args.max_pressure, known, args.baseline or ""):
        print(printable(words), file=sys.stderr)
        status = max(status, EXIT_FINDINGS)
    return status


def _inputs(path: str) -> list[str]:
    """Return the texts and objects of a folder; any other path is an input itself."""
    if not is_folder(path):
        return [path]
    found = list(files_of(path).values())
    if not found:
        raise UserError(f"{path}: no texts or objects in this folder")
    return found


class InputFigures(Struct, frozen=True):
    """The kernels of an input and its exit status."""

    kernels: Sequence[KernelFigures]
    status: int


def _count_inputs(
    args: argparse.Namespace, platform: str | None, cluster: Cluster | None
) -> Iterator[Said[InputFigures]]:
    """Yield the figures of each input, in order."""
    inputs = [InputFile(path) for path in args.inputs]
    count = partial(_count, platform, args.stdin_filename or STDIN_NAME)
    if cluster is None:
        return (listened(count, one) for one in inputs)
    work = ClusterWork(partial(listened, count), _lost, partial(InputFile.outgoing, whole=cluster.sends))
    return cluster.results(work, inputs, [_GUESS] * len(inputs))


def _count(platform: str | None, stdin_name: str, one: InputFile) -> InputFigures:
    try:
        name = stdin_name if one.path == STDIN else one.path
        found = figures_of_data(name, one.read(), platform, say=say)
    except UserError as error:
        complain(str(error))
        return InputFigures((), EXIT_USAGE)
    return InputFigures((), EXIT_FINDINGS) if found is None else InputFigures(found, EXIT_OK)


def _lost(one: InputFile, why: str) -> Said[InputFigures]:
    return complained(InputFigures((), EXIT_USAGE), f"{one.path}: {why}")


def _baseline_to_write(args: argparse.Namespace) -> str | None:
    """Return the file for ``--write-baseline``; None without it. Raises UserError for a file without the suffix."""
    if args.write_baseline is None:
        return None
    path: str = args.write_baseline or args.baseline or _DEFAULT_BASELINE
    if not path.endswith(_SUFFIX):
        raise UserError(f"--write-baseline {path}: expected a {_SUFFIX} file")
    check_output(path, args.inputs)
    return path


def _print(kernels: list[KernelFigures], errors: list[dict[str, str]], form: str) -> None:
    if form == "json":
        from msgspec import json

        print(
            json.format(json.encode({**as_json(kernels), **({"errors": errors} if errors else {})}), indent=2).decode()
        )
    elif len(kernels) == 1:
        print(printable("\n".join(page(kernels[0]))))
    elif kernels:
        print("\n".join(table(kernels)))
