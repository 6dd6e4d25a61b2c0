"""The command ``visa-lsp asm``: assembles texts to objects. A text with errors gives no object."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from visa_lsp.app.assemble import assemble_text, finding_lines
from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.inputs import STDIN, read_source
from visa_lsp.app.output_files import check_output
from visa_lsp.cli.exits import complain
from visa_lsp.cli.options import CommandArguments, Option, PlatformName, StdinFilename, arg, flag
from visa_lsp.cli.outputs import say, write_output


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    inputs: Annotated[list[str], arg("IN", "a text; - is standard input")]
    output: Annotated[str | None, Option("OUT", "write the object to OUT; - is standard output; default: IN with the suffix .isa", flags=("-o", "--output"))] = None
    zebin: Annotated[bool, flag("write a zebin (.zebin): the object with ze_info, taken from the sibling NAME.zeinfo.yaml, else generated")] = False
    stdin_filename: StdinFilename = None
    format: Annotated[Literal["text", "json"], flag("output format of the diagnostics")] = "text"
    platform: PlatformName = None
# fmt: on


def execute(args: Arguments) -> int:
    """Assemble each input and return the exit status: 0 all written, 1 errors, 2 a file that cannot be read or written.

    Raises UserError for options that exclude each other.
    """
    if args.output and len(args.inputs) > 1:
        raise UserError("asm: -o takes one input, got several; without -o each object is written beside its text")
    status = EXIT_OK
    written: dict[str, str] = {}
    reports: list[dict[str, Any]] = []
    for path in args.inputs:
        about: dict[str, Any] = {"input": path, "output": None, "findings": []}
        try:
            status = max(status, _assemble(args, path, written, about))
        except UserError as error:
            complain(str(error))
            about["error"] = str(error)
            status = EXIT_USAGE
        reports.append(about)
    if args.format == "json":
        import json

        # Diagnostics are not printed to standard output if the object is written there.
        stream = sys.stderr if args.output == STDIN or (STDIN in args.inputs and not args.output) else sys.stdout
        print(json.dumps(reports, indent=2), file=stream)
    return status


def _assemble(args: Arguments, path: str, written: dict[str, str], about: dict[str, Any]) -> int:
    """Assemble one input. ``written`` maps each object written so far to its text; ``about`` collects the JSON report."""
    if path.endswith(".isa") and not args.output:
        raise UserError(f"{path}: expected a text, found an object; visa-lsp dis converts it to text")
    # Checked first, because errors of the text do not matter if the object cannot be written.
    suffix = ".zebin" if args.zebin else ".isa"
    output = args.output or (STDIN if path == STDIN else str(_beside(path, suffix)))
    inputs = [*args.inputs, *(str(_beside(path, ".zeinfo.yaml")) for _ in range(args.zebin))]
    check_output(output, inputs)
    if output != STDIN and output in written:
        raise UserError(
            f"{path}: its object would overwrite {output}, the object of {written[output]}; assemble one of them with -o"
        )
    source = read_source(path, args.stdin_filename)
    result = assemble_text(source.text, args.platform)
    if args.format == "json":
        from visa_lsp.app.check.formats.data import finding_object
        from visa_lsp.app.check.report import findings_of

        about["findings"] = [finding_object(f) for f in findings_of(source.name, source.text, result.diagnostics)]
    else:
        for line in finding_lines(source.name, result):
            say(line)
    if result.data is None:
        return EXIT_FINDINGS
    data = result.data
    if args.zebin:
        from visa_lsp.cli.zeinfo import pack_with_ze_info

        zebin = pack_with_ze_info(source.name, result, args.platform)
        if zebin is None:
            return EXIT_FINDINGS
        data = zebin
    write_output(output, data, inputs, is_default=not args.output)
    written[output] = source.name
    about["output"] = output
    return EXIT_OK


def _beside(path: str, suffix: str) -> Path:
    try:
        return Path(path).with_suffix(suffix)
    except ValueError:
        raise UserError(f"{path!r}: not the name of a file") from None
