"""A text with its machine code, for every output format of ``gen``.

Invariant: lines are those of ``text``, which is the disassembly of an object.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from visa_lsp.app.check.report import ReportedFinding, findings_of
from visa_lsp.app.errors import UserError
from visa_lsp.app.external_tools import convert_findings, is_file_name, settings_for, tool_for
from visa_lsp.app.gen.older import EFFICIENT, in_older_forms, name_for, reads_newest
from visa_lsp.app.inputs import STDIN, STDIN_NAME, decode, decode_object, is_object, other_text, read_bytes
from visa_lsp.app.told_platform import platform_of_program
from visa_lsp.diagnostics import Severity
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, platform_named
from visa_lsp.program.grf import LONG_GRF_BYTES, grf_by_contents, grf_in_comment
from visa_lsp.sema.bind import is_newest
from visa_lsp.syntax.document import Document
from visa_lsp.text import decode_text
from visa_lsp.toolchain.finalize import Finalized, FinalizerCall, ToolFinding, finalize, of_listing, platforms_of
from visa_lsp.toolchain.find_tools import FINALIZER, OCLOC
from visa_lsp.toolchain.listing import read_listing
from visa_lsp.toolchain.process import ToolError
from visa_lsp.toolchain.rules import OLDER_FINALIZER

_NO_LISTING = (
    "the compiler's own machine code would be the .asm beside the text, but there is none, or the text has changed since; "
    "`visa-lsp compile` writes both for an OpenCL source"
)
_COPY_SECONDS = 60
_GRF64_PLATFORM = "PVCXT"  # the only platform of the finalizer with registers of 64 bytes


@dataclass(frozen=True, slots=True)
class Source:
    """A text to finalize: its name, text and platform, and whether it was an object.

    For a text compiled here also the path of the source (None for standard input), the device, the SIMD width, and the
    compiler's listing of the machine code.
    """

    name: str
    text: str
    platform: str
    is_object: bool = False
    made_from: str | None = None
    device: str = ""
    simd: int = 0
    listing: str = ""


@dataclass(frozen=True, slots=True)
class GenDocument:
    """A text, its machine code from one tool with its options, and the findings of the tool.

    ``errors`` are findings of this program about a text that the tool refuses, if they were added.
    """

    source: Source
    tool: str
    options: tuple[str, ...]
    result: Finalized
    findings: tuple[ReportedFinding, ...]
    errors: tuple[ReportedFinding, ...] = ()


def read_input(path: str, stdin_filename: str | None, platform: str | None) -> Source:
    """Read a text, or read and disassemble an object. Raises UserError if it is neither or cannot be read."""
    return source_of((stdin_filename or STDIN_NAME) if path == STDIN else path, read_bytes(path), platform, path)


def source_of(name: str, data: bytes, platform: str | None, path: str) -> Source:
    """Return the text of the bytes of a file; ``path`` locates its settings and companion files.

    Raises UserError for bytes that are neither a text nor an object.
    """
    asked = platform or settings_for(path).platform
    disassembled = is_object(name, data)
    text = _disassemble(name, data, asked) if disassembled else decode(name, data).text
    if other := other_text(text):
        raise UserError(f"{name}: {other}")
    return Source(name, text, asked or platform_for(path, text), disassembled)


def _disassemble(name: str, data: bytes, platform: str | None) -> str:
    from visa_lsp.program.text_form import module_text

    return module_text(decode_object(name, data), platform_named(platform) if platform else None)


def platform_for(path: str, text: str) -> str:
    """Return the default platform of a text: the one that files tell, else by its register size, else the default."""
    platform = platform_of_program(Path(path) if is_file_name(path) else None, text)
    if platform is not None:
        return platform[0].name
    return _GRF64_PLATFORM if _has_long_registers(text) else DEFAULT_PLATFORM


def _has_long_registers(text: str) -> bool:
    from visa_lsp.sema.lower import program_of

    said = grf_in_comment(text)
    if said is not None:
        return said == LONG_GRF_BYTES
    module = program_of(Document.parse(text))
    shown = grf_by_contents(module.bodies) if module is not None else None
    return shown is not None and shown.bytes == LONG_GRF_BYTES


def finalize_text(
    source: Source,
    tool: str | None,
    options: tuple[str, ...],
    seconds: float,
    path: str = STDIN,
    stop: Callable[[], bool] | None = None,
    *,
    schedule: bool = False,
    with_code: bool = False,
) -> GenDocument:
    """Finalize a text; ``path`` locates its settings, ``stop`` returns whether the request was cancelled.

    ``schedule`` adds the finalizer's schedule, ``with_code`` the bytes of the machine code instead of the register pressure.

    Raises UserError if the tool is missing or refuses the call.
    """
    settings = settings_for(path)
    document = Document.parse(source.text)
    codes = [code for chunk in document.chunks for code in chunk.codes()]
    if not tool and not settings.finalizer and shutil.which(FINALIZER.program) is None:
        source = with_listing(source, path)
        if source.listing:
            return _of_compiler(source, codes, "no finalizer found")
    call = FinalizerCall(tool_for(FINALIZER, tool, settings), source.platform, options, seconds, stop)
    note: tuple[ToolFinding, ...] = ()
    try:
        if is_newest(statement for _, statement in document.statements()):
            platforms = platforms_of(call)
            name = name_for(source.platform, platforms)
            if platforms and name is None:
                reason = f"the finalizer has no platform {source.platform} (known: {', '.join(platforms)})"
                source = with_listing(source, path)
                if source.listing:
                    return _of_compiler(source, codes, reason)
                raise UserError(f"{source.name}: {reason}; {_NO_LISTING}")
            call = replace(call, platform=name or source.platform)
            if platforms and not reads_newest(platforms):
                codes, note = in_older_forms(document, source.platform, codes)
            elif EFFICIENT in source.text:
                call = replace(call, options=(EFFICIENT, *options))
        result = finalize(codes, call, with_pressure=not with_code, with_schedule=schedule, with_code=with_code)
    except ToolError as error:
        raise UserError(f"{source.name}: {error}") from None
    return _document(source, call.tool, options, result, note)


def with_listing(source: Source, path: str) -> Source:
    """Return a compiler's text with the listing that its dump left beside it, unless the text has changed since."""
    dump = Path(path).with_suffix(".asm")
    if source.listing or source.is_object or not is_file_name(path) or not is_file_name(str(dump)):
        return source
    from visa_lsp.companions import kernels_in  # loads the YAML reader

    # A copy of a folder gives its files times of any order, but close to each other.
    is_later = Path(path).stat().st_mtime > dump.stat().st_mtime + _COPY_SECONDS
    if is_later or _code_of(decode(path, read_bytes(path)).text) != _code_of(source.text):
        return source
    listing = decode_text(read_bytes(str(dump)))
    return replace(source, listing=listing) if read_listing(listing).kernel in kernels_in(source.text) else source


def _code_of(text: str) -> list[str]:
    """Return the lines of a text that are more than comments."""
    codes = (code for chunk in Document.parse(text).chunks for code in chunk.codes())
    return [code for code in codes if code.strip()]


def _of_compiler(source: Source, codes: Sequence[str], reason: str) -> GenDocument:
    """Return the machine code from the compiler's own listing."""
    note = ToolFinding(OLDER_FINALIZER, 0, f"{reason}: showing the machine code from the compiler")
    return _document(source, OCLOC.program, (), of_listing(codes, source.listing), (note,))


def _document(
    source: Source, tool: str, options: tuple[str, ...], result: Finalized, notes: tuple[ToolFinding, ...]
) -> GenDocument:
    findings = convert_findings(source.name, source.text, (*notes, *result.findings))
    return GenDocument(source, tool, options, result, findings)


def with_errors(document: GenDocument, platform: str | None) -> GenDocument:
    """Add the errors that ``asm`` reports for a platform, if the finalizer refuses the text."""
    if not any(f.severity is Severity.ERROR for f in document.findings):
        return document
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.app.assemble import problems_of

    source = document.source
    errors = [d for d in problems_of(Analysis.of(source.text, platform)) if d.severity is Severity.ERROR]
    return replace(document, errors=findings_of(source.name, source.text, errors))


def own_findings(source: Source) -> tuple[ReportedFinding, ...]:
    """Return the findings of this program about a text, except suppressed ones."""
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.suppressions import visible

    return findings_of(source.name, source.text, visible(Analysis.of(source.text, source.platform)))
