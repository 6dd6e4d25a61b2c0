"""The command ``visa-lsp prove``: proves that no launch has a race or an access out of bounds, or finds one that has.

Exit status: 0 all proved, 1 refuted or a text with errors, 2 wrong usage or an unreadable file, 3 unknown answers.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.compile.outputs import file_name
from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
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
from visa_lsp.cli.colours import add_color, ink_of
from visa_lsp.cli.common import add_platform, say
from visa_lsp.cli.exits import complain
from visa_lsp.cli.outputs import write_output, write_report
from visa_lsp.cli.progress_line import Progress

if TYPE_CHECKING:
    import argparse


EXIT_UNKNOWN: Final = 3
MAX_SECONDS: Final = 3600


def properties(text: str) -> tuple[str, ...]:
    """Parse the value of ``--property``: names with commas between. Raises ArgumentTypeError for an unknown one."""
    from argparse import ArgumentTypeError

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
    from argparse import ArgumentTypeError

    raise ArgumentTypeError(f"expected seconds, more than 0 and at most {MAX_SECONDS}, got {text!r}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("inputs", nargs="+", metavar="IN", help="a text or an object; - is standard input")
    parser.add_argument(
        "--property", metavar="LIST", type=properties, default=PROPERTIES,
        help=f"properties to prove, separated by commas; default: {','.join(PROPERTIES)}",
    )  # fmt: skip
    parser.add_argument(
        "--assume", metavar="EXPR", action="append", default=[],
        help="assume a condition of launches, such as 'n <= groups*local_size' or 'len(y) >= n'; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=seconds,
        default=DEFAULT_SECONDS,
        help=f"stop the proof of a kernel after S seconds; default: {DEFAULT_SECONDS:g}",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    add_color(parser)
    parser.add_argument("--kernel", metavar="NAME", help="prove only this kernel")
    parser.add_argument("--launches", metavar="DIR", help="write the launch files of refutations to DIR")
    parser.add_argument(
        "-o", "--output", metavar="OUT", default=STDIN, help="write the report to OUT; default: standard output"
    )
    parser.add_argument("--stdin-filename", metavar="PATH", help="file name to report for standard input")
    parser.add_argument(
        "--no-item-races",
        action="store_true",
        help="treat the lanes of one hardware thread as ordered, as they are at this SIMD width",
    )
    add_platform(parser)


def prove_command(args: argparse.Namespace) -> int:
    """Prove the kernels of each input."""
    check_output(args.output, args.inputs)
    options = ProofOptions(
        args.property, tuple(args.assume), args.timeout, args.kernel, args.platform, not args.no_item_races
    )
    status = EXIT_OK
    files: list[ProvedFile] = []
    errors: list[dict[str, str]] = []
    written: dict[tuple[str, str, str], str] = {}
    for path in args.inputs:
        name = (args.stdin_filename or STDIN_NAME) if path == STDIN else path
        place = Path(name) if path != STDIN or args.stdin_filename else None
        try:
            with Progress(f"{name}: proving"):
                found = prove_data(name, place, read_bytes(path), options)
        except UserError as error:
            complain(str(error))
            errors.append({"input": printable(name), "error": printable(str(error))})
            status = EXIT_USAGE
            continue
        for line in found.notes:
            say(line)
        if found.is_broken:
            errors.append({"input": printable(name), "error": "the text has errors"})
        files.append(found)
        if args.launches:
            written.update(_write_launches(found, Path(args.launches), args.inputs))
    if files or args.format == "json":
        ink = ink_of("prove", args.color, args.output)
        report = as_json(files, errors) if args.format == "json" else ink(as_text(files, written))
        write_report(args.output, report, args.inputs)
    return status or _status(files)


def _status(files: list[ProvedFile]) -> int:
    answers = {one.answer for file in files for one in file.results}
    if "refuted" in answers or any(file.is_broken for file in files):
        return EXIT_FINDINGS
    return EXIT_UNKNOWN if answers - {"proved"} else EXIT_OK


def _write_launches(file: ProvedFile, folder: Path, inputs: list[str]) -> dict[tuple[str, str, str], str]:
    """Write the launch files of refutations; return their paths by kernel, property and text."""
    from visa_lsp.app.prove.confirm import program_line

    program, written = Path(file.name), {}
    for key, refuted in group_refutations(file.results).items():
        kernel, property_, launch = key
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{file_name(kernel)}.{property_}.{refuted[0].line}.launch.yaml"
        there = program_line(os.path.relpath(program, folder))
        text = launch.replace(f"\n{program_line(program.name)}\n", f"\n{there}\n", 1)
        write_output(str(path), text.encode(), inputs)
        written[key] = str(path)
    return written


def as_json(files: list[ProvedFile], errors: list[dict[str, str]]) -> str:
    """Return the answers for a program."""
    report: dict[str, Any] = {
        "results": [one for file in files for one in results_json(file)],
        "needs": needs_json(files),
    }
    if errors:
        report["errors"] = errors
    return f"{json.dumps(report, indent=1, ensure_ascii=False)}\n"
