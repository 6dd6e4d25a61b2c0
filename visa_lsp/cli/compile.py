"""The command ``visa-lsp compile``: OpenCL C to texts, machine code, ze_info and launch files, for one device or several.

Knows the command's options and its exit status: 0 built, 1 the compiler reports errors, 2 a usage mistake, a
missing compiler, or a file that cannot be read or written. Several devices have a folder each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from visa_lsp.app.check.formats.data import finding_object
from visa_lsp.app.check.formats.table import FOR_PEOPLE, FORMATS, Look
from visa_lsp.app.check.report import CheckReport, FileResult
from visa_lsp.app.compile.build import Build, BuildSource, build_source, device_of, read_source, with_lines
from visa_lsp.app.compile.outputs import WrittenFiles, figures_table, file_name, write_build
from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.external_tools import settings_for
from visa_lsp.app.inputs import STDIN
from visa_lsp.cli.exits import complain
from visa_lsp.cli.options import CommandArguments, Option, ReportColor, StdinFilename, arg, flag, seconds_argument
from visa_lsp.cli.outputs import wants_colour
from visa_lsp.cli.progress_line import Progress
from visa_lsp.diagnostics import Severity
from visa_lsp.program.suffixes import PROGRAMS
from visa_lsp.toolchain.ocloc import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    inputs: Annotated[list[str], arg("K.cl", "OpenCL C; - is standard input")]
    device: Annotated[list[str] | None, Option("NAME", "target device, named as in ocloc or visa-lsp; separate several with commas; default: tgllp")] = None
    options: Annotated[list[str] | None, Option("S", "compiler options, as one quoted word: '-cl-fast-relaxed-math -DN=4'", dashed=1)] = None
    no_debug_info: Annotated[bool, flag("compile without -g; the texts then have no source lines")] = False
    output: Annotated[str | None, Option("DIR", "output folder; default: the folder of the source", flags=("-o", "--output"))] = None
    keep_ir: Annotated[bool, flag("also write the intermediate code: SPIR-V, LLVM")] = False
    format: Annotated[str | None, Option(None, "output format of the compiler's diagnostics", choices=tuple(FORMATS))] = None
    color: ReportColor = "auto"
    ocloc: Annotated[str | None, Option("PATH", "path of the compiler; default: ocloc on PATH")] = None
    timeout: Annotated[float, Option("SECONDS", "stop the compiler after this time", seconds_argument)] = SECONDS
    stdin_filename: StdinFilename = None
# fmt: on


def execute(args: Arguments) -> int:
    """Compile each source for each device, write the files, and report the result."""
    builds: list[Build] = []
    failures: list[FileResult] = []
    for path in args.inputs:
        try:
            builds += list(_build_for_devices(args, _source(path, args.stdin_filename)))
        except UserError as error:
            complain(str(error))
            failures.append(FileResult(path, error=str(error)))
    several = len({build.device for build in builds}) > 1
    _refuse_doubles(builds, args)
    outcomes: list[tuple[Build, WrittenFiles]] = []
    for build in builds:
        folder = Path(args.output) if args.output else build.source.path.parent
        place = folder / file_name(build.device) if several else folder
        files = write_build(build, place, ir=args.keep_ir) if build.program is not None else WrittenFiles(())
        outcomes.append((build, files))
    report = _report(builds, failures)
    _print(args, outcomes, report)
    if failures:
        return EXIT_USAGE
    failed = any(build.program is None for build in builds) or report.count(Severity.ERROR)
    return EXIT_FINDINGS if failed else EXIT_OK


def _print(args: Arguments, outcomes: Sequence[tuple[Build, WrittenFiles]], report: CheckReport) -> None:
    """Print the diagnostics, the files written, and a table of the kernels; as JSON, one object per build."""
    chosen = args.format or ("full" if sys.stdout.isatty() else "concise")
    if chosen == "json":
        failures = [{"input": printable(r.path), "error": printable(r.error)} for r in report.errors]
        print(json.dumps([*(_values(build, files) for build, files in outcomes), *failures], indent=2))
        return
    if report.findings or chosen not in FOR_PEOPLE:
        for piece in FORMATS[chosen].write(report, Look(wants_colour(sys.stdout, args.color))):
            sys.stdout.write(piece)
    # Reports for programs must not be mixed with text for people.
    stream = sys.stdout if chosen in FOR_PEOPLE else sys.stderr
    lines = [line for _, files in outcomes for line in (*(f"written: {path}" for path in files.paths), *files.notes)]
    for line in (*lines, *_table([build for build, _ in outcomes])):
        print(printable(line), file=stream)


def _values(build: Build, files: WrittenFiles) -> dict[str, Any]:
    """Return the JSON object of a build."""
    return {
        "input": printable(build.source.name),
        "device": build.device,
        "platform": build.platform,
        "written": [printable(path) for path in files.paths],
        "kernels": [
            {
                "name": printable(text.name),
                "simd": text.simd,
                "gen_instructions": text.listing.instructions,
                "grf": text.listing.grf_total,
                "spill_bytes": text.listing.spill_bytes,
            }
            for text in build.texts
            if text.is_kernel
        ],
        "assumed": [printable(words) for words in files.assumed],
        "notes": [printable(words) for words in files.notes],
        "findings": [finding_object(finding) for finding in build.findings],
    }


def _source(path: str, stdin_filename: str | None) -> BuildSource:
    """Read a source. Raises UserError for a vISA text or object, by its suffix."""
    if path != STDIN and Path(path).suffix in PROGRAMS:
        raise UserError(f"{path}: expected OpenCL C, found vISA; visa-lsp gen shows its machine code")
    return read_source(path, stdin_filename)


def _build_for_devices(args: Arguments, source: BuildSource) -> Iterator[Build]:
    """Yield the build of a source for each device."""
    platform = settings_for(source.name if source.is_file else STDIN).platform
    names = [name.strip() for word in args.device or [""] for name in word.split(",")]
    options = " ".join(args.options or ())
    options = options if args.no_debug_info else with_lines(options)
    for device in dict.fromkeys(device_of(name, platform) for name in names):
        with Progress(f"{source.name}: compiling for {device}"):
            build = build_source(source, device, options, args.ocloc, args.timeout)
        yield build


def _refuse_doubles(builds: Sequence[Build], args: Arguments) -> None:
    """Raise UserError if two sources would write the same file."""
    owners: dict[tuple[str, Path, str], str] = {}
    for build in builds:
        folder = Path(args.output) if args.output else build.source.path.parent
        for text in build.texts:
            owner = owners.setdefault((build.device, folder, file_name(text.name)), build.source.name)
            if owner != build.source.name:
                raise UserError(
                    f"{build.source.name}: '{text.name}' is also in {owner}; compile them separately, each with its own -o"
                )


def _report(builds: Sequence[Build], failures: Sequence[FileResult]) -> CheckReport:
    """Return the diagnostics of each source, those of several devices once."""
    results = []
    for name in dict.fromkeys(build.source.name for build in builds):
        findings = dict.fromkeys(f for build in builds if build.source.name == name for f in build.findings)
        results.append(FileResult(name, tuple(findings)))
    return CheckReport((*results, *failures))


def _table(builds: Sequence[Build]) -> list[str]:
    """Return a row for each kernel and device, sorted by source and kernel."""
    rows = []
    for build in builds:
        for text in build.texts:
            if text.is_kernel:
                listing = text.listing
                grf = "-" if listing.grf_total is None else str(listing.grf_total)
                figures = (str(text.simd), str(listing.instructions), grf, str(listing.spill_bytes))
                rows.append((build.source.name, text.name, build.device, *figures))
    if not rows:
        return []
    rows.sort(key=lambda row: row[:2])
    return figures_table(row[1:] for row in rows)
