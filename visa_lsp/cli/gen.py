"""The command ``visa-lsp gen``: the machine code of texts and objects, as text, JSON or a page.

Knows the command's options and its exit status: 0 machine code of every input, 1 the finalizer reports errors in a
text or gives no code, 2 a usage mistake, a missing tool, or a file that cannot be read or written.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.external_tools import settings_for, split_options
from visa_lsp.app.gen.gen_document import GenDocument, Source, finalize_text, read_input, with_errors
from visa_lsp.app.gen.printing import as_json, as_text, figures, findings_json
from visa_lsp.app.inputs import STDIN, is_opencl
from visa_lsp.app.output_files import check_output
from visa_lsp.cli import options as opt
from visa_lsp.cli.colours import ink_of
from visa_lsp.cli.exits import complain
from visa_lsp.cli.outputs import tell, write_output, write_report
from visa_lsp.cli.progress_line import Progress
from visa_lsp.diagnostics import Severity
from visa_lsp.toolchain.finalize import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.check.report import ReportedFinding


# fmt: off
class Arguments(opt.CommandArguments, kw_only=True):
    """The options of the command."""

    inputs: Annotated[list[str], opt.arg("IN", "a text, an object or OpenCL C; - is standard input")]
    platform: opt.PlatformName = None
    device: Annotated[list[str] | None, opt.Option("NAME", "target device of OpenCL C; separate several with commas; default: that of the platform, else tgllp")] = None
    compile_options: Annotated[list[str] | None, opt.Option("S", "options for the OpenCL C compiler, as one quoted word; -g is always added", dashed=1)] = None
    ocloc: opt.Ocloc = None
    options: Annotated[list[str] | None, opt.Option("S", "options for the finalizer, as one quoted word: '-noschedule'", dashed=1)] = None
    output: Annotated[str | None, opt.Option("OUT", "write the report to OUT; default: standard output", flags=("-o", "--output"))] = None
    format: Annotated[Literal["text", "json"] | None, opt.flag("output format; default: text")] = None
    html: Annotated[str | None, opt.Option("OUT", "write an HTML page with source, vISA and Gen side by side")] = None
    source: Annotated[str | None, opt.Option("FILE", "source file for the page; default: the file named by FILE in the text, in the same folder")] = None
    tool: Annotated[list[str] | None, opt.Option("PATH", "path of the finalizer; default: GenX_IR on PATH; give two to compare them")] = None
    compare_options: Annotated[list[str] | None, opt.Option("A B", "compare the machine code of two sets of options: '' -noschedule", dashed=2)] = None
    schedule: Annotated[bool, opt.flag("add the issue cycle, the stall and the awaited line of each instruction, from the finalizer's model")] = False
    timeout: Annotated[float, opt.Option("SECONDS", "stop the finalizer after this time", opt.seconds_argument)] = SECONDS
    color: opt.Color = "auto"
    stdin_filename: opt.StdinFilename = None
# fmt: on


def execute(args: Arguments) -> int:
    """Make and print the machine code of each input; returns the exit status."""
    _judge(args)
    for output in (args.output, args.html):
        check_output(output, args.inputs)
    documents: list[tuple[GenDocument, ...]] = []
    failures: list[dict[str, Any]] = []
    status = EXIT_OK
    for path in args.inputs:
        try:
            for source, said in _sources(args, path):
                status = max(status, _report_findings(said))
                if any(f.severity is Severity.ERROR for f in said):
                    findings = findings_json(said, "compiler")
                    failures.append(
                        {"input": printable(path), "error": "the compiler reports errors", "findings": findings}
                    )
                if source is not None:
                    with Progress(f"{path}: making machine code"):
                        documents.append(_make_documents(args, source, path))
                    status = max(
                        status,
                        *(_report_findings((*document.errors, *document.findings)) for document in documents[-1]),
                    )
        except UserError as error:
            complain(str(error))
            failures.append({"input": printable(path), "error": printable(str(error))})
            status = EXIT_USAGE
    if documents or (failures and args.format == "json"):
        _write(args, documents, failures)
    return status


def _sources(args: Arguments, path: str) -> Iterator[tuple[Source | None, tuple[ReportedFinding, ...]]]:
    """Yield the texts of an input, the first with the findings of the compiler; None if compiling gave no text."""
    if not is_opencl((args.stdin_filename or "") if path == STDIN else path):
        yield read_input(path, args.stdin_filename, args.platform), ()
        return
    from visa_lsp.app.gen.opencl_source import builds_of, sources_of

    options = " ".join(args.compile_options or ())
    with Progress(f"{path}: compiling"):
        builds = list(builds_of(path, args.stdin_filename, _devices(args), args.platform, options, args.ocloc))
    for build in builds:
        yield None, build.findings
        yield from ((source, ()) for source in sources_of(build))


def _devices(args: Arguments) -> list[str]:
    return [name.strip() for word in args.device or () for name in word.split(",")]


def _report_findings(findings: tuple[ReportedFinding, ...]) -> int:
    """Print findings and return their exit status."""
    tell(findings)
    bad = any(f.severity in (Severity.ERROR, Severity.WARNING) for f in findings)
    return EXIT_FINDINGS if bad else EXIT_OK


def _judge(args: Arguments) -> None:
    """Raise UserError for options that exclude each other."""
    tools, compared = args.tool or [], args.compare_options or []
    if len(tools) > 2:
        raise UserError("gen: expected --tool once, or twice to compare two finalizers")
    if compared and len(compared) != 2:
        raise UserError("gen: --compare-options takes two sets of options, such as: --compare-options '' -noschedule")
    if compared and len(tools) == 2:
        raise UserError("gen: compare two finalizers or two sets of options, not both at once")
    if args.html and (compared or len(tools) == 2):
        raise UserError("gen: --html shows one finalizer with one set of options")
    if args.schedule and (compared or len(tools) == 2):
        raise UserError("gen: --schedule shows one finalizer with one set of options")
    if args.source and not args.html:
        raise UserError("gen: --source needs --html")
    if args.html is not None and args.html == (args.output or (STDIN if args.format else None)):
        raise UserError("gen: --html and the report name the same file; name another with -o")


def _make_documents(args: Arguments, source: Source, path: str) -> tuple[GenDocument, ...]:
    """Return the machine code of an input: one document, or two to compare."""
    always = split_options(" ".join(args.options or ()), "--options")
    tools: Sequence[str | None] = args.tool or [None]
    compared = args.compare_options or [""]
    calls = [(tool, split_options(words, "--compare-options")) for tool in tools for words in compared]
    platform = args.platform or settings_for(path).platform
    return tuple(
        with_errors(
            finalize_text(source, tool, (*always, *options), args.timeout, path, schedule=args.schedule), platform
        )
        for tool, options in calls
    )


def _write(args: Arguments, documents: list[tuple[GenDocument, ...]], failures: list[dict[str, Any]]) -> None:
    if args.html and documents:
        from visa_lsp.app.gen.page import page

        write_output(
            args.html,
            page([document[0] for document in documents], args.source).encode("utf-8", "replace"),
            args.inputs,
        )
        if args.format is None and args.output is None:
            if args.html != STDIN:
                _tell_figures(documents)
            return
    ink = ink_of("gen", args.color, args.output)
    report = _json(documents, failures) if args.format == "json" else ink(_text(documents))
    write_report(args.output or STDIN, report, args.inputs)


def _tell_figures(documents: list[tuple[GenDocument, ...]]) -> None:
    for document, *_ in documents:
        for kernel in document.result.kernels:
            print(f"{document.source.name}: {kernel.body.name} on {document.source.platform}: {figures(kernel)}")


def _json(documents: list[tuple[GenDocument, ...]], failures: list[dict[str, Any]]) -> str:
    values: list[Any] = []
    for document in documents:
        if len(document) == 1:
            values.append(as_json(document[0]))
        else:
            from visa_lsp.app.gen.compared_results import compare_documents, comparison_json

            values.append(comparison_json(compare_documents(*document)))
    values += failures
    return json.dumps(values[0] if len(values) == 1 else values, indent=1, ensure_ascii=False) + "\n"


def _text(documents: list[tuple[GenDocument, ...]]) -> str:
    parts: list[str] = []
    for group in documents:
        if len(documents) > 1:
            parts.append(f"== {group[0].source.name} ==")
        if len(group) == 1:
            parts += as_text(group[0])
        else:
            from visa_lsp.app.gen.compared_results import compare_documents, comparison_text

            parts += comparison_text(compare_documents(*group))
    compiled = [group[0] for group in documents if group[0].source.device]
    if len({document.source.device for document in compiled}) > 1:
        from visa_lsp.app.gen.opencl_source import table

        parts += table(compiled)
    return "\n".join(parts).rstrip("\n") + "\n" if parts else ""
