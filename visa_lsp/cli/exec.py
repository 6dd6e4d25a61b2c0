"""The command ``visa-lsp exec``: runs an unmodified OpenCL program with its kernels on the simulator, checked.

Exit status: that of the program, but 1 if a kernel had a fault or did not run on the simulator; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
from pathlib import Path
from typing import Annotated, Final

from msgspec import field

from visa_lsp.app.errors import NEEDS_NUMPY, UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.external_tools import settings_for
from visa_lsp.app.inputs import STDIN
from visa_lsp.cli.options import CommandArguments, Option, PlatformName, arg, flag, whole_number
from visa_lsp.cli.progress_line import Progress
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, platform_named

_FAULT_FOLDER: Final = "visa-lsp-exec"


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    platform: PlatformName = None
    checks: Annotated[str, Option("LIST", "checks, separated by commas: all, none, or names as for run")] = "all"
    report: Annotated[str | None, Option("FILE", "write the report as JSON to FILE")] = None
    capture: Annotated[str | None, Option("DIR", "write each enqueue as a launch file into DIR, for visa-lsp run")] = None
    capture_kernel: Annotated[str | None, Option("NAME", "write only enqueues of this kernel")] = None
    capture_enqueue: Annotated[int | None, Option("N", "write only this enqueue, counted from 1", whole_number(1))] = None
    break_on_fault: Annotated[bool, flag(f"end the program at its first fault and write that enqueue, into DIR or {_FAULT_FOLDER}")] = False
    fail_fast: Annotated[bool, flag("end the program at its first fault")] = False
    exit_zero: Annotated[bool, flag("exit with the status of the program even if kernels had faults")] = False
    print_env: Annotated[bool, flag('print the environment for programs that start without this command, for IDEs and CI: eval "$(...)"')] = False
    ocloc: Annotated[str | None, Option("PATH", "path of the compiler; default: ocloc on PATH")] = None
    program: Annotated[list[str], arg("PROGRAM", "the program and its arguments, after --; default: a shell", argparse.REMAINDER)] = field(default_factory=list)
# fmt: on


def execute(args: Arguments) -> int:
    """Run the program, print its faults as they come, and a summary at its end."""
    from importlib.util import find_spec

    if find_spec("numpy") is None:
        raise UserError(NEEDS_NUMPY)
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
    captures: Captures | None = None
    if folder is not None:
        from visa_lsp.app.exec.captures import Captures

        captures = Captures(Path(folder), args.capture_kernel, args.capture_enqueue, args.break_on_fault)
    progress = Progress if Progress().wanted else None
    options = ExecOptions(platform, args.checks, args.ocloc, args.fail_fast or args.break_on_fault, captures, progress)
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
    if captures is not None and not captures.written and not args.break_on_fault:
        say_lines([f"nothing is written into {captures.folder}: the program had no such enqueue"])
    say_lines(report.summary())
    if args.report:
        write_file(args.report, f"{json.dumps(report.values(status), indent=1)}\n".encode())
    return status
