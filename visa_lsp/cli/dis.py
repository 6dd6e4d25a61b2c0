"""The command ``visa-lsp dis``: disassembles objects, or with ``--summary`` lists their contents.

Of a zebin it prints the sections, ze_info and vISA; with ``-o`` it writes them into a folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_OK, EXIT_USAGE
from visa_lsp.app.inputs import STDIN, foreign, read_bytes
from visa_lsp.app.output_files import check_output
from visa_lsp.app.zebins import extract_zebin, zebin_of, zebin_text
from visa_lsp.cli.exits import complain
from visa_lsp.cli.options import CommandArguments, Option, PlatformName, StdinFilename, TextOrJson, arg, flag
from visa_lsp.cli.outputs import write_output, write_report
from visa_lsp.codec.decode import decode
from visa_lsp.codec.errors import CodecError
from visa_lsp.codec.object_reader import BodySummary, Summary, summary
from visa_lsp.isa.platforms import platform_named, platform_numbered
from visa_lsp.isa.predefined import IMPLICIT_INPUTS
from visa_lsp.program.text_form import module_text
from visa_lsp.text import encode_text
from visa_lsp.zeinfo.zebin import is_elf

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLASS = ("general", "sampler", "surface")


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    inputs: Annotated[list[str], arg("IN", "an object or a zebin; - is standard input")]
    output: Annotated[str | None, Option("OUT", "output file, for a zebin the output folder; default: standard output", flags=("-o", "--output"))] = None
    summary: Annotated[bool, flag("list kernels, inputs, attributes, sizes and Gen binaries")] = False
    no_comments: Annotated[bool, flag("omit the comments that compilers print")] = False
    format: TextOrJson = "text"
    stdin_filename: StdinFilename = None
    platform: PlatformName = None
# fmt: on


def execute(args: Arguments) -> int:
    """Disassemble each input and return the exit status: 0 all written, 2 a file that cannot be read or written.

    Raises UserError for options that exclude each other.
    """
    if args.output and len(args.inputs) > 1:
        raise UserError("dis: -o takes one input, got several; without -o all texts are written to standard output")
    status = EXIT_OK
    reports: list[dict[str, str]] = []
    for path in args.inputs:
        name = (args.stdin_filename or "<stdin>") if path == STDIN else path
        try:
            check_output(args.output, args.inputs)
            data = read_bytes(path)
            text = _zebin(args, data, name) if is_elf(data) else _text(args, data, name)
            _write(args, text)
            reports.append({"input": name, "output": args.output} if args.output else {"input": name, "text": text})
        except UserError as error:
            complain(str(error))
            reports.append({"input": name, "error": str(error)})
            status = EXIT_USAGE
    if args.format == "json":
        import json

        print(json.dumps(reports, indent=2))
    return status


def _zebin(args: Arguments, data: bytes, name: str) -> str:
    """Return the text of a zebin, or write its parts into a folder and return an empty text."""
    zebin = zebin_of(name, data)
    platform = platform_named(args.platform) if args.platform else None
    if args.output and not args.summary:
        extract_zebin(name, zebin, args.output, platform, comments=not args.no_comments)
        return ""
    return zebin_text(name, zebin, platform, comments=not args.no_comments, summary=args.summary)


def _write(args: Arguments, text: str) -> None:
    if not text or (args.format == "json" and not args.output):
        return
    if args.summary:
        write_report(args.output or STDIN, text, args.inputs)
    else:
        write_output(args.output or STDIN, encode_text(text), args.inputs)


def _text(args: Arguments, data: bytes, name: str) -> str:
    try:
        if args.summary:
            return "\n".join(_summary(name, summary(data))) + "\n"
        platform = platform_named(args.platform) if args.platform else None
        return module_text(decode(data), platform, comments=not args.no_comments)
    except CodecError as error:
        raise UserError(f"{name}: {foreign(name, data) or error}") from None


def _summary(name: str, value: Summary) -> Iterator[str]:
    yield f"{name}: vISA object {value.version[0]}.{value.version[1]}, {value.size} bytes"
    for variable in value.variables:
        yield f"  file variable {variable.name}: {variable.num_elements} x {variable.type.name}"
    for body in (*value.kernels, *value.functions):
        yield from _body(body)


def _body(body: BodySummary) -> Iterator[str]:
    kernel = body.kernel
    yield f"{'kernel' if kernel.is_kernel else 'function'} {body.name}: {body.size} bytes at 0x{body.offset:x}, code {body.code_size} bytes"
    counts = (
        (len(kernel.variables), "variables"), (len(kernel.addresses), "addresses"), (len(kernel.predicates), "predicates"),
        (len(kernel.samplers), "samplers"), (len(kernel.surfaces), "surfaces"), (len(kernel.labels), "labels"),
    )  # fmt: skip
    yield "  declares " + ", ".join(f"{number} {what}" for number, what in counts)
    for name, value in body.attributes:
        yield f"  attribute {name}" + (f" = {_value(value)}" if value else "")
    for name, item in body.inputs:
        number = item.kind >> 3 & 31
        origin = f" ({IMPLICIT_INPUTS[number].name})" if number in IMPLICIT_INPUTS else ""
        provenance = f", implicit {number}{origin}" if number else ""
        yield f"  input {name}: {_CLASS[min(item.kind & 3, 2)]}, offset {item.offset}, {item.size} bytes{provenance}"
    for binary in body.binaries:
        if binary.size:
            platform = platform_numbered(binary.platform)
            label = platform.name if platform else f"platform {binary.platform}"
            yield f"  Gen binary for {label}: {binary.size} bytes at 0x{binary.offset:x}"


def _value(value: bytes) -> str:
    if len(value) in (1, 2, 4):
        return str(int.from_bytes(value, "little"))
    return repr(value.decode("latin-1"))
