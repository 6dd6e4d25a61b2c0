"""The command ``visa-lsp exec``: runs an unmodified OpenCL program with its kernels on the simulator, checked.

Exit status: that of the program, but 1 if a kernel had a fault or did not run on the simulator; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.app.errors import NEEDS_NUMPY, UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.external_tools import settings_for
from visa_lsp.app.inputs import STDIN
from visa_lsp.cli.common import add_platform, whole_number
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, platform_named

if TYPE_CHECKING:
    from visa_lsp.cli.parsing import CommandParser


_FAULT_FOLDER: Final = "visa-lsp-exec"


def add_arguments(parser: CommandParser) -> None:
    """Declare the options of the command."""
    add_platform(parser)
    parser.add_argument(
        "--checks", metavar="LIST", default="all", help="checks, separated by commas: all, none, or names as for run"
    )
    parser.add_argument("--report", metavar="FILE", help="write the report as JSON to FILE")
    parser.add_argument(
        "--capture", metavar="DIR", help="write each enqueue as a launch file into DIR, for visa-lsp run"
    )
    parser.add_argument("--capture-kernel", metavar="NAME", help="write only enqueues of this kernel")
    parser.add_argument(
        "--capture-enqueue", metavar="N", type=whole_number(1), help="write only this enqueue, counted from 1"
    )
    parser.add_argument(
        "--break-on-fault",
        action="store_true",
        help=f"end the program at its first fault and write that enqueue, into DIR or {_FAULT_FOLDER}",
    )
    parser.add_argument("--fail-fast", action="store_true", help="end the program at its first fault")
    parser.add_argument(
        "--exit-zero", action="store_true", help="exit with the status of the program even if kernels had faults"
    )
    parser.add_argument(
        "--print-env",
        action="store_true",
        help='print the environment for programs that start without this command, for IDEs and CI: eval "$(...)"',
    )
    parser.add_argument("--ocloc", metavar="PATH", help="path of the compiler; default: ocloc on PATH")
    parser.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        metavar="PROGRAM",
        help="the program and its arguments, after --; default: a shell",
    )


def exec_command(args: argparse.Namespace) -> int:
    """Run the program, print its faults as they come, and a summary at its end."""
    from importlib.util import find_spec

    if find_spec("numpy") is None:
        raise UserError(NEEDS_NUMPY)
    from visa_lsp.app.exec.captures import Captures
    from visa_lsp.app.output_files import check_output, write_file
    from visa_lsp.opencl.run_program import ExecOptions, exec_program, print_environment
    from visa_lsp.opencl.serve_process import say_lines

    command = args.program[1:] if args.program[:1] == ["--"] else args.program
    command = command or [os.environ.get("SHELL") or "/bin/sh"]
    if args.report:
        check_output(args.report, ())
        if not Path(args.report).absolute().parent.is_dir():
            raise UserError(f"{args.report}: its folder does not exist")
    platform = platform_named(args.platform or settings_for(STDIN).platform or DEFAULT_PLATFORM)
    assert platform is not None
    folder = args.capture or (_FAULT_FOLDER if args.break_on_fault else None)
    if folder is None and (args.capture_kernel or args.capture_enqueue):
        raise UserError("--capture-kernel and --capture-enqueue choose what --capture DIR writes")
    captures = (
        Captures(Path(folder), args.capture_kernel, args.capture_enqueue, args.break_on_fault) if folder else None
    )
    options = ExecOptions(platform, args.checks, args.ocloc, args.fail_fast or args.break_on_fault, captures)
    if args.print_env:
        for name, value in print_environment(options).items():
            print(f"export {name}={shlex.quote(value)}")
        return EXIT_OK
    try:
        result = exec_program(command, options, say_lines)
    except UserError as error:
        if args.report:
            write_file(args.report, f"{json.dumps({'error': printable(str(error)), 'exit': EXIT_USAGE})}\n".encode())
        raise
    report = result.report
    status = result.status if report.is_clean or args.exit_zero else EXIT_FINDINGS
    say_lines(report.summary())
    if args.report:
        write_file(args.report, f"{json.dumps(report.values(status), indent=1)}\n".encode())
    return status
