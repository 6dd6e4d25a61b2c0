"""The command ``visa-lsp import``: a captured enqueue to a launch file with its program, arrays and expectations.

Knows the command's options and its exit status: 0 written, 1 the compiler reports errors, 2 a usage mistake, a malformed
capture, or a file that cannot be written.
"""

from __future__ import annotations

import json
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from visa_lsp.app.errors import NEEDS_NUMPY, UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK
from visa_lsp.cli.common import add_platform
from visa_lsp.cli.exits import complain

if TYPE_CHECKING:
    from argparse import Namespace

    from visa_lsp.cli.parsing import CommandParser


def add_arguments(parser: CommandParser) -> None:
    """Declare the options of the command."""
    parser.dashed = {"--options": 1}
    parser.add_argument(
        "capture",
        metavar="CAPTURE",
        help="folder of one enqueue, from opencl-intercept-layer (CaptureReplay) or Triton (args_data.json)",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="output folder; no file in it is overwritten"
    )
    parser.add_argument("--options", metavar="S", action="append", help="further compiler options, as one quoted word")
    parser.add_argument("--ocloc", metavar="PATH", help="path of the compiler; default: ocloc on PATH")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    add_platform(parser)


def import_command(args: Namespace) -> int:
    """Write the launch of a capture and report the files.

    Raises UserError without NumPy, for a malformed capture, and if a file cannot be written.
    """
    if find_spec("numpy") is None:
        raise UserError(f"import: {NEEDS_NUMPY}")
    from visa_lsp.app.captures.importing import import_capture, read_capture
    from visa_lsp.app.launch.opencl import CompilerWords
    from visa_lsp.app.launch.program import TextProblems

    capture = read_capture(args.capture)
    words = CompilerWords(" ".join(args.options or ()), args.ocloc, None)
    try:
        done = import_capture(capture, Path(args.output), words, args.platform)
    except TextProblems as problems:
        if args.format == "json":
            print(json.dumps({"capture": printable(args.capture), "error": printable(str(problems))}, indent=2))
        complain(str(problems))
        return EXIT_FINDINGS
    if args.format == "json":
        values = {
            "capture": printable(args.capture),
            "kernel": printable(capture.kernel),
            "launch": printable(str(done.launch)),
            "written": [printable(str(path)) for path in done.written],
            "assumed": [printable(words) for words in done.assumed],
            "notes": [printable(words) for words in done.notes],
        }
        print(json.dumps(values, indent=2))
        return EXIT_OK
    lines = [f"written: {path}" for path in done.written]
    lines += [f"assumed: {words}" for words in done.assumed]
    for line in (*lines, *done.notes, f"run it: visa-lsp run {shlex.quote(str(done.launch))}"):
        print(printable(line))
    return EXIT_OK
