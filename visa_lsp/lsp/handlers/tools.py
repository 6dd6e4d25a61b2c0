"""Commands that call other tools: the finalizer, the compiler of OpenCL C, the prover. Cancelling a request ends the tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.embed.languages import Host, host_of
from visa_lsp.lsp.capabilities import GEN
from visa_lsp.lsp.convert import raw_range
from visa_lsp.lsp.handlers.commands import BadArgument, Call, Work, command, is_object, later, plain
from visa_lsp.lsp.visa_server import MachineCode
from visa_lsp.syntax.document import Document
from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.lsp.jobs.model import Result


@command(GEN, "vISA: machine code", trusted=True)
def on_gen(call: Call) -> Work:
    """Return the machine code of a text by the finalizer, line by line; lens and hover show it from then on."""
    options = call.read()
    opened, machine_code, is_named = call.opened, call.ls.machine_code.get(call.uri), bool(call.platform)
    if platform := call.platform or (machine_code.assumed if machine_code is not None else ""):
        options["platform"] = platform
    if source := options.get("source"):
        options["source"] = call.ls.files.path_of(source) or source

    def remember(answer: Result) -> Result:
        if opened is not None:
            code = MachineCode(opened.analysis.document, answer, is_platform_named=is_named)
            if not (is_named or answer.get("kernels")) and (before := call.ls.machine_code.get(opened.key)) is not None:
                code.assumed = before.assumed
            call.ls.machine_code[opened.key] = code
            call.ls.refresh("code_lens")
        return answer

    call.finish = remember
    return later("machine_code", "machine_code", call.text, call.path, options, call.stop)


@command("visa.compile", "vISA: compiling", trusted=True)
def on_compile(call: Call) -> Work:
    """Compile the file of a source for one device; return the texts of its kernels, and the messages of the compiler."""
    options = call.read()
    if call.path is None:
        raise BadArgument(f"`{call.uri}` is not a file")
    if call.platform:
        options["platform"] = call.platform
    compiled = call.ls.documents.compiled
    if compiled and (folder := call.ls.files.path_of(compiled)):
        options["folder"] = folder
    return later("compiling", "compile_source", call.path, options, call.stop)


@command("visa.checkWithCompiler", "vISA: compiling", trusted=True)
def on_check_with_compiler(call: Call) -> Work:
    """Compile an OpenCL source as open in the editor, and return the compiler's findings in columns of the client.

    Findings about inline assembly lie at the line of the string.
    """
    options = call.read()
    if call.platform:
        options["platform"] = call.platform
    text = call.text
    if host_of(call.path or call.uri) is not Host.OPENCL:
        raise BadArgument(f"`{call.uri}` is not an OpenCL source, the only language that the compiler accepts")
    document = Document.parse(text)

    def add_ranges(answer: Result) -> Result:
        for finding in answer.get("findings", ()):
            finding["range"] = raw_range(document, _span_of(document, finding), call.ls.encoding)
        return answer

    call.finish = add_ranges
    return later("compiling", "compiler_check", text, call.path, options, call.stop)


def _span_of(document: Document, finding: dict[str, int]) -> Span:
    """Return the place of a finding that has lines and columns from 1."""
    start = document.line_start(finding["line"] - 1) + finding["column"] - 1
    end = document.line_start(finding["end_line"] - 1) + finding["end_column"] - 1
    return Span(start, max(start, min(end, len(document))))


@command("visa.prove", "vISA: proving", trusted=True)
def on_prove(call: Call) -> Work:
    """Prove a text or an object for every launch.

    Options: ``assume``, a list of conditions of launches; ``properties``, with commas between; ``kernel``, ``timeout`` and
    ``platform``. The answer is that of ``visa-lsp prove --format json``, and the same as ``text``.
    """
    value = plain(call.arguments[0] if call.arguments else None)
    assume = value.pop("assume", None) or [] if isinstance(value, dict) else []
    if not isinstance(assume, list) or not all(isinstance(condition, str) for condition in assume):
        raise BadArgument("`assume` must be a list of conditions, such as `len(y) >= n`")
    call.arguments = [value]
    options = call.read(second="properties")
    if is_object(call.uri) and call.path is None:
        raise BadArgument("an object has to be a file")
    if not is_object(call.uri) and call.platform:
        options["platform"] = call.platform
    text = None if is_object(call.uri) else call.text
    return later("proving", "prove", call.path or call.uri, text, call.path, options, assume, call.beside, call.stop)
