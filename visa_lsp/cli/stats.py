"""The command ``visa-lsp stats``: statistics and register pressure of kernels from vISA alone, and the figures of native dumps.

Exit status: 0 success, 1 a text with errors, a kernel over a limit, or a dump that its ze_info contradicts, 2 wrong usage or an
unreadable file. Loads neither NumPy nor pygls. Invariant: errors and exceeded limits are written to stderr, so that stdout
is the report alone.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.clusters import Cluster, ClusterWork, InputFile, Said, attach_error, capture_output
from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.gen.printing import findings_json
from visa_lsp.app.inputs import STDIN, STDIN_NAME
from visa_lsp.app.output_files import check_output
from visa_lsp.app.stats.dump_pairs import pair_dumps, pairs_csv, pairs_json, pairs_table
from visa_lsp.app.stats.dumps import DumpFigures, figures_of_dump, is_dump
from visa_lsp.app.stats.limits import complaints, measures, read_known, write_known
from visa_lsp.app.stats.measured_inputs import dumps_of, figures_of_data, inputs_of, platform_of_launch
from visa_lsp.app.stats.printing import as_json, csv_of, dump_json, dump_summary, dump_table, page, table
from visa_lsp.cli import options as opt
from visa_lsp.cli.cluster_options import CLUSTER_SECONDS, ClusterAddress, ClusterLimit, cluster_of
from visa_lsp.cli.colours import ink_of
from visa_lsp.cli.exits import complain
from visa_lsp.cli.outputs import say, tell
from visa_lsp.cli.progress_line import Progress
from visa_lsp.cli.text_inputs import TextInputs
from visa_lsp.text import decode_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.app.check.report import ReportedFinding
    from visa_lsp.app.stats.figures import KernelFigures

_DEFAULT_BASELINE: Final = "visa-lsp-stats.json"
_SUFFIX: Final = ".json"
_GUESS: Final = 0.05  # seconds for an input


# fmt: off
class Arguments(opt.CommandArguments, kw_only=True):
    """The options of the command."""

    inputs: Annotated[list[str], opt.arg("IN", "a text, an object, OpenCL C, a native dump (.asm), or a folder of texts, objects and dumps; - is standard input")]
    launch: Annotated[str | None, opt.Option("FILE", "use the platform of this launch file")] = None
    format: Annotated[Literal["text", "json", "csv"], opt.flag("output format")] = "text"
    max_pressure: Annotated[int | None, opt.Option("N", "exit 1 if a kernel needs more than N GRF rows", opt.whole_number(0))] = None
    max_spill: Annotated[int | None, opt.Option("N", "exit 1 if a dump has more than N bytes of spills", opt.whole_number(0))] = None
    baseline: Annotated[str | None, opt.Option("FILE", "exit 1 if a kernel needs more GRF rows, or a dump spills more bytes, than FILE records for it")] = None
    write_baseline: Annotated[str | None, opt.Option("FILE", f"record the GRF rows of each kernel and the spills of each dump in FILE; default: the file of --baseline, else {_DEFAULT_BASELINE}", bare="")] = None
    compare: Annotated[bool, opt.flag("compare the dumps of two folders or two files, kernel by kernel")] = False
    color: opt.Color = "auto"
    stdin_filename: opt.StdinFilename = None
    platform: opt.PlatformName = None
    ocloc: opt.Ocloc = None
    options: opt.CompilerOptions = None
    cluster: ClusterAddress = None
    send: Annotated[bool, opt.flag("with --cluster: send the inputs to workers that cannot read the files of this machine")] = False
    cluster_limit: ClusterLimit = CLUSTER_SECONDS
# fmt: on


def execute(args: Arguments) -> int:
    """Report the figures of each input."""
    if args.compare:
        return _compare(args)
    status = EXIT_OK
    paths: list[str] = []
    with TextInputs(args) as inputs:
        for named in args.inputs:
            try:
                paths += [path for _, text in inputs.texts_of(named) for path in inputs_of(text)]
            except UserError as error:
                status = max(status, inputs.report(named, error))
        args.inputs = paths
        return max(status, _report_figures(args, inputs))


def _report_figures(args: Arguments, inputs: TextInputs) -> int:
    """Report the figures of texts, objects and dumps; return the exit status."""
    baseline = _baseline_to_write(args)
    recorded = read_known(args.baseline) if args.baseline and baseline is None else None
    platform = args.platform or (platform_of_launch(args.launch) if args.launch else None)
    status = EXIT_OK
    kernels: list[KernelFigures] = []
    dumps: list[DumpFigures] = []
    with Progress(wanted=len(args.inputs) > 1) as line, cluster_of(args) as cluster:
        for number, counted in enumerate(_count_inputs(args, platform, cluster)):
            sys.stderr.write(counted.said)
            status = max(status, counted.result.status)
            kernels += [replace(kernel, path=inputs.rename(kernel.path)) for kernel in counted.result.kernels]
            dumps += counted.result.dumps
            if counted.result.status:
                inputs.errors.append(
                    {"input": printable(args.inputs[number]), "error": printable(counted.said.strip())}
                )
            if line.is_due():
                line.show(f"{number + 1} of {len(args.inputs)} inputs")
    # Written first, so that an error here is the only JSON on standard output.
    if baseline is not None:
        count = write_known(baseline, measures(kernels, dumps), args.inputs)
        print(f"{baseline}: {count} kernel{'s' * (count != 1)}", file=sys.stderr)
    findings: tuple[ReportedFinding, ...] = ()
    if any(counted.spill_bytes for counted in dumps):
        # Imported here because it loads the YAML reader.
        from visa_lsp.app.stats.dump_folder import find_undeclared_spills

        findings = tuple(find_undeclared_spills(dumps))
    _print(kernels, dumps, inputs.errors, findings, args)
    tell(findings)
    limits = {"pressure": args.max_pressure, "spill_bytes": args.max_spill}
    exceeded = list(complaints(measures(kernels, dumps), limits, recorded, args.baseline or ""))
    for words in exceeded:
        print(printable(words), file=sys.stderr)
    return max(status, EXIT_FINDINGS if findings or exceeded else EXIT_OK)


def _compare(args: Arguments) -> int:
    """Print the dumps of two folders, or two dumps, side by side."""
    if len(args.inputs) != 2:
        raise UserError(f"--compare: expected two folders or two dumps, got {len(args.inputs)}")
    limits = (args.max_pressure, args.max_spill, args.baseline, args.write_baseline)
    if any(limit is not None for limit in limits):
        raise UserError("--compare: expected no limit and no baseline")
    pairs = pair_dumps(*(dumps_of(named) for named in args.inputs))
    if args.format == "json":
        _print_json(pairs_json(pairs))
    elif args.format == "csv":
        sys.stdout.write(pairs_csv(pairs))
    else:
        print("\n".join(pairs_table(pairs)))
    return EXIT_OK


class InputFigures(Struct, frozen=True):
    """The exit status of an input, and its kernels or its dump."""

    status: int
    kernels: Sequence[KernelFigures] = ()
    dumps: Sequence[DumpFigures] = ()


def _count_inputs(args: Arguments, platform: str | None, cluster: Cluster | None) -> Iterator[Said[InputFigures]]:
    """Yield the figures of each input, in order."""
    inputs = [InputFile(path) for path in args.inputs]
    count = partial(_count, platform, args.stdin_filename or STDIN_NAME)
    if cluster is None:
        return (capture_output(count, input_file) for input_file in inputs)
    work = ClusterWork(partial(capture_output, count), _report_lost, partial(InputFile.pack, whole=cluster.sends))
    return cluster.results(work, inputs, [_GUESS] * len(inputs))


def _count(platform: str | None, stdin_name: str, input_file: InputFile) -> InputFigures:
    try:
        name = stdin_name if input_file.path == STDIN else input_file.path
        data = input_file.read()
        if is_dump(data):
            return InputFigures(EXIT_OK, dumps=(figures_of_dump(name, decode_text(data)),))
        figures = figures_of_data(name, data, platform, say=say)
    except UserError as error:
        complain(str(error))
        return InputFigures(EXIT_USAGE)
    return InputFigures(EXIT_FINDINGS) if figures is None else InputFigures(EXIT_OK, figures)


def _report_lost(input_file: InputFile, why: str) -> Said[InputFigures]:
    return attach_error(InputFigures(EXIT_USAGE), f"{input_file.path}: {why}")


def _baseline_to_write(args: Arguments) -> str | None:
    """Return the file for ``--write-baseline``; None without it. Raises UserError for a file without the suffix."""
    if args.write_baseline is None:
        return None
    path: str = args.write_baseline or args.baseline or _DEFAULT_BASELINE
    if not path.endswith(_SUFFIX):
        raise UserError(f"--write-baseline {path}: expected a {_SUFFIX} file")
    check_output(path, args.inputs)
    return path


def _print(
    kernels: list[KernelFigures],
    dumps: list[DumpFigures],
    errors: list[dict[str, str]],
    findings: Sequence[ReportedFinding],
    args: Arguments,
) -> None:
    if args.format == "json":
        answer = as_json(kernels)
        answer |= {"dumps": [dump_json(dump) for dump in dumps]} if dumps else {}
        answer |= {"findings": findings_json(findings, "visa-lsp")} if findings else {}
        _print_json({**answer, **({"errors": errors} if errors else {})})
    elif args.format == "csv":
        sys.stdout.write(csv_of(kernels, dumps))
    else:
        parts: list[Iterable[str]] = []
        if kernels:
            parts.append(page(kernels[0]) if len(kernels) == 1 else table(kernels))
        if dumps:
            parts.append([dump_summary(dumps[0])] if len(dumps) == 1 else dump_table(dumps))
        ink = ink_of("stats", args.color)
        for number, lines in enumerate(parts):
            print("\n" * bool(number) + ink(printable("\n".join(lines))))


def _print_json(value: dict[str, Any]) -> None:
    from msgspec import json

    print(json.format(json.encode(value), indent=2).decode())
