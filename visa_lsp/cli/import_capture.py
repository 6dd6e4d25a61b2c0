"""The command ``visa-lsp import``: a captured enqueue to a launch file with its program, arrays and expectations.

Knows the command's options and its exit status: 0 written, 1 the compiler reports errors, 2 a usage mistake, a malformed
capture, or a file that cannot be written.
"""

from __future__ import annotations

import json
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from visa_lsp.app.errors import NEEDS_NUMPY, UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK
from visa_lsp.cli.exits import complain
from visa_lsp.cli.options import CommandArguments, Option, PlatformName, TextOrJson, arg


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    capture: Annotated[str, arg("CAPTURE", "folder of one enqueue, from opencl-intercept-layer (CaptureReplay) or Triton (args_data.json)")]
    output: Annotated[str, Option("DIR", "output folder; no file in it is overwritten", flags=("-o", "--output"))]
    options: Annotated[list[str] | None, Option("S", "further compiler options, as one quoted word", dashed=1)] = None
    ocloc: Annotated[str | None, Option("PATH", "path of the compiler; default: ocloc on PATH")] = None
    format: TextOrJson = "text"
    platform: PlatformName = None
# fmt: on


def execute(args: Arguments) -> int:
    """Write the launch of a capture and report the files. Raises UserError without NumPy, for a malformed capture."""
    if find_spec("numpy") is None:
        raise UserError(f"import: {NEEDS_NUMPY}")
    from visa_lsp.app.captures.importing import import_capture, read_capture
    from visa_lsp.app.launch.body_source import TextProblems
    from visa_lsp.app.launch.opencl import CompilerWords

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
