"""The command ``visa-lsp read``: kernels of texts and objects as structured pseudo-code.

Exit status: 0 shown, 1 a text with errors, 2 wrong usage or an unreadable file.
"""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from typing import Annotated, Any, Literal

from msgspec import field

from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK
from visa_lsp.app.inputs import STDIN, STDIN_NAME, read_bytes
from visa_lsp.app.output_files import check_output
from visa_lsp.app.read.prelude import read_prelude
from visa_lsp.app.read.pseudo_code import ReadFile, as_json, as_text, chosen, read_data
from visa_lsp.cli import options as opt
from visa_lsp.cli.colours import ink_of
from visa_lsp.cli.outputs import say, write_report
from visa_lsp.cli.text_inputs import TextInputs


def line_range(text: str) -> tuple[int, int]:
    """Parse the value of ``--lines``: one number, or two with a dash between. Raises ArgumentTypeError for other words."""
    first_line, dash, last = text.partition("-")
    numbers = (first_line, last if dash else first_line)
    if not all(word.isdecimal() and len(word) < 10 for word in numbers) or not 0 < int(numbers[0]) <= int(numbers[1]):
        raise ArgumentTypeError(f"expected two line numbers from 1 on, as 60-80, got {text!r}")
    return int(numbers[0]), int(numbers[1])


# fmt: off
class Arguments(opt.CommandArguments, kw_only=True):
    """The options of the command."""

    inputs: Annotated[list[str], opt.arg("IN", "a text, an object or OpenCL C; - is standard input", "*")] = field(default_factory=list)
    format: Annotated[Literal["text", "c", "html", "json"], opt.flag("output format; c: with the prelude")] = "text"
    prelude: Annotated[bool, opt.flag("print the prelude of the C: types and functions")] = False
    kernel: Annotated[str | None, opt.Option("NAME", "show only this kernel or function")] = None
    lines: Annotated[tuple[int, int] | None, opt.Option("A-B", "show only the pseudo-code of these lines of the text", line_range)] = None
    output: opt.Report = STDIN
    color: opt.Color = "auto"
    stdin_filename: opt.StdinFilename = None
    platform: opt.PlatformName = None
    ocloc: opt.Ocloc = None
    options: opt.CompilerOptions = None
# fmt: on


def execute(args: Arguments) -> int:
    """Show each input as pseudo-code."""
    check_output(args.output, args.inputs)
    if args.prelude:
        write_report(args.output, read_prelude(), ())
        return EXIT_OK
    if not args.inputs:
        raise UserError("no input; name a text, an object or OpenCL C, or - for standard input")
    status = EXIT_OK
    files: list[ReadFile] = []
    with TextInputs(args) as inputs:
        for named in args.inputs:
            name = (args.stdin_filename or STDIN_NAME) if named == STDIN else named
            try:
                for text, path in inputs.texts_of(named, args.kernel):
                    read_file = read_data(text, read_bytes(path), args.platform, say=say)
                    if read_file is None:
                        status = max(status, EXIT_FINDINGS)
                        inputs.errors.append({"input": printable(name), "error": "the text has errors"})
                    else:
                        files.append(chosen(read_file, args.kernel, args.lines))
            except UserError as error:
                status = max(status, inputs.report(name, error))
        if files or args.format == "json":
            write_report(args.output, inputs.rename(_report(files, inputs.errors, args)), args.inputs)
    return status


def _report(files: list[ReadFile], errors: list[dict[str, str]], args: Arguments) -> str:
    if args.format == "html":
        from visa_lsp.app.read.page import page

        return page(files, args.platform)
    if args.format == "json":
        values: list[Any] = [as_json(file) for file in files] + errors
        return json.dumps(values[0] if len(values) == 1 else values, indent=1, ensure_ascii=False) + "\n"
    many = len(files) > 1
    return ink_of("read", args.color, args.output)(
        (read_prelude() + "\n" if args.format == "c" else "")
        + "\n".join((f"// {printable(file.name)}\n" if many else "") + printable_lines(as_text(file)) for file in files)
    )


def printable_lines(text: str) -> str:
    """Escape the control characters of a text, line by line."""
    return "\n".join(printable(line) for line in text.split("\n"))
