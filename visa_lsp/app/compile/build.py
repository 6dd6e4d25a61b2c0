"""Compiles OpenCL C to texts, ze_info and zebin, for ``compile`` and ``run K.cl``.

The ze_info decides which of several attempts of the compiler is in the program. Writes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.app.check.report import ReportedFinding, findings_of
from visa_lsp.app.errors import UserError
from visa_lsp.app.external_tools import settings_for, tool_for
from visa_lsp.app.inputs import STDIN, read_bytes
from visa_lsp.children import temporary_folder
from visa_lsp.diagnostics import Diagnostic, Related
from visa_lsp.embed.compiled_lines import place_of_line
from visa_lsp.embed.languages import Host, is_installed
from visa_lsp.embed.statements import REQUIRED_SIZE
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, device_for, platform_named, platform_of_product
from visa_lsp.safe_io import is_regular
from visa_lsp.text import LineIndex, Span, encode_text, lines_of
from visa_lsp.toolchain.find_tools import OCLOC
from visa_lsp.toolchain.ocloc import SECONDS, Compiled, CompiledText, CompilerCall, compile_source
from visa_lsp.toolchain.process import ToolError
from visa_lsp.toolchain.rules import COMPILER_ERROR, COMPILER_WARNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.embed.host_text import HostText
    from visa_lsp.toolchain.build_log import BuildMessage
    from visa_lsp.zeinfo.zebin import Zebin

_WORD: Final = re.compile(r"\w+|.")
_NO_SUCH_SIZE: Final = re.compile(
    r"(?:in kernel '(?P<kernel>\w+)': )?Kernel compiled with required subgroup size (?P<size>\d+)"
)
_COMMENT: Final = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/")


@dataclass(frozen=True, slots=True)
class BuildSource:
    """A source: its name, bytes and text. Standard input is not a file.

    ``is_untrusted``: it is from a stranger, so that the compiler is confined.
    """

    name: str
    data: bytes
    text: str
    is_file: bool = True
    is_untrusted: bool = False

    @property
    def path(self) -> Path:
        """The path of its name; outputs are named after it."""
        return Path(self.name)


@dataclass(frozen=True, slots=True)
class Build:
    """A source compiled for one device. Without errors it has a ``program`` (a zebin) and the texts of that."""

    source: BuildSource
    device: str
    platform: str
    program: bytes | None
    zebin: Zebin | None
    texts: tuple[CompiledText, ...]
    findings: tuple[ReportedFinding, ...]
    ir: dict[str, bytes]


def read_source(path: str, stdin_filename: str | None = None) -> BuildSource:
    """Read a source; standard input gets the name ``stdin_filename``. Raises UserError if it cannot be read."""
    data = read_bytes(path)
    name = (stdin_filename or "stdin.cl") if path == STDIN else path
    return BuildSource(name, data, data.decode("utf-8", "surrogateescape"), path != STDIN)


def device_of(name: str | None, platform: str | None) -> str:
    """Return the device of ``--device``, which may name a platform, else that of the platform in the settings."""
    return device_for(name or platform or DEFAULT_PLATFORM)


def with_lines(options: str) -> str:
    """Return compiler options with ``-g``, which adds source lines to the texts and keeps the instructions."""
    return options if "-g" in options.split() else f"-g {options}".strip()


def build_source(
    source: BuildSource,
    device: str,
    options: str = "",
    tool: str | None = None,
    seconds: float = SECONDS,
    stop: Callable[[], bool] | None = None,
) -> Build:
    """Compile a source for a device; ``stop`` returns whether the request was cancelled.

    Raises UserError if the compiler is missing, or does not know the device or an option.
    """
    chosen = tool_for(OCLOC, tool, settings_for(source.name if source.is_file else STDIN))
    with temporary_folder() as folder:
        path = source.path.absolute()
        if not is_regular(path) or not source.is_file:
            path = folder / (path.name or "source.cl")
            path.write_bytes(source.data)
        try:
            compiled = compile_source(
                path, source.data, CompilerCall(chosen, device, options, seconds, stop, source.is_untrusted)
            )
        except ToolError as error:
            raise UserError(f"{source.name}: {error}") from None
        if path.parent == folder:  # the folder is deleted before the texts are read
            texts = (replace(text, text=text.text.replace(f'FILE "{folder}/', 'FILE "')) for text in compiled.texts)
            compiled = replace(compiled, texts=tuple(texts))
    return _build_of(source, device, compiled)


def _build_of(source: BuildSource, device: str, compiled: Compiled) -> Build:
    from visa_lsp.zeinfo.zebin import ZebinError, read_zebin

    zebin: Zebin | None = None
    if compiled.program is not None:
        try:
            zebin = read_zebin(compiled.program)
        except ZebinError as error:
            raise UserError(f"{source.name}: cannot read the zebin from the compiler: {error}") from None
    findings = findings_of(source.name, source.text, _diagnostics(source, compiled))
    family = zebin.product_family if zebin is not None else None
    platform = (platform_of_product(family) if family is not None else None) or platform_named(device)
    texts = tuple(_in_program(compiled.texts, zebin)) if zebin is not None else ()
    name = platform.name if platform is not None else DEFAULT_PLATFORM
    return Build(source, device, name, compiled.program, zebin, texts, findings, compiled.ir)


def _in_program(texts: tuple[CompiledText, ...], zebin: Zebin) -> Iterator[CompiledText]:
    """Yield each function once, and each kernel once: the attempt with the SIMD size of the ze_info."""
    from visa_lsp.zeinfo.read_kernels import ZeInfoError, read

    try:
        sizes = {kernel.name: kernel.env.simd_size for kernel in read(zebin.ze_info)} if zebin.ze_info_bytes else {}
    except ZeInfoError:
        sizes = {}
    chosen: dict[str, CompiledText] = {}
    for text in texts:
        if text.is_kernel and (text.name not in chosen or text.simd == sizes.get(text.name)):
            chosen[text.name] = text
    attempts = {text.attempt for text in chosen.values()}
    yield from chosen.values()
    functions: dict[str, CompiledText] = {}
    for text in texts:
        if not text.is_kernel and (text.name not in functions or text.attempt in attempts):
            functions[text.name] = text
    yield from functions.values()


def _diagnostics(source: BuildSource, compiled: Compiled) -> Iterator[Diagnostic]:
    lines, index = lines_of(source.text), LineIndex(source.text)
    host = _host(source) if any(message.inline for message in compiled.messages) else None
    for message in compiled.messages:
        rule = COMPILER_ERROR if message.is_error else COMPILER_WARNING
        notes = tuple(Related(_span(lines, index, note), note.message) for note in message.notes)
        span = place_of_line(host, message.inline) if host is not None and message.inline else None
        span = span or _find_required_size(source.text, message)
        yield Diagnostic(rule, span or _span(lines, index, message), _words(message), notes)
    if compiled.failure and not any(message.is_error for message in compiled.messages):
        yield Diagnostic(COMPILER_ERROR, Span(0, 0), f"the compiler {compiled.failure}")


def _host(source: BuildSource) -> HostText | None:
    """Return the parsed source with its strings; None without a grammar."""
    from visa_lsp.embed.host_text import HostText

    return HostText.of(source.text, Host.OPENCL) if is_installed(Host.OPENCL) else None


def _words(message: BuildMessage) -> str:
    inside = message.place.inside if message.place is not None else ""
    words = f"{inside}: {message.message}" if inside else message.message
    return f"{words}: `{message.inline}`" if message.inline else words


def _span(lines: list[str], index: LineIndex, message: BuildMessage) -> Span:
    """Return the word that a message is about; for an included file the line that includes it."""
    place = message.place
    if place is None:
        return _find_inline_line(lines, index, message.inline)
    line = min(max(place.line - 1, 0), len(lines) - 1)
    if place.inside:
        return Span(index.start(line), index.start(line) + len(lines[line]))
    # Columns count bytes.
    before = encode_text(lines[line])[: max(place.column - 1, 0)]
    column = min(len(before.decode("utf-8", "replace")), len(lines[line]))
    word = _WORD.match(lines[line], column)
    return Span(index.start(line) + column, index.start(line) + (word.end() if word else column))


def _find_required_size(text: str, message: BuildMessage) -> Span | None:
    """Return the attribute with the sub-group size that the device lacks, which the compiler reports without a place."""
    reported = _NO_SUCH_SIZE.match(message.message)
    if reported is None:
        return None
    code = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    kernel = re.search(rf"\b{reported['kernel']}\s*\(", code)
    attributes = [m for m in REQUIRED_SIZE.finditer(code) if m[1] == reported["size"] or not m[1].isdecimal()]
    before = [m for m in attributes if kernel is not None and m.start() < kernel.start()][-1:]
    return next((Span(*attribute.span()) for attribute in (*before, *attributes)), None)


def _find_inline_line(lines: list[str], index: LineIndex, code: str) -> Span:
    """Return the first word of a line of inline assembly in the source, preferably after ``asm``; else the first line."""
    word = code.replace("(", " ").split()[0] if code else ""
    having = [number for number, line in enumerate(lines) if word and word in line]
    number = next((number for number in having if "asm" in lines[number]), having[0] if having else None)
    if number is None:
        return Span(0, 0)
    start = index.start(number) + lines[number].find(word)
    return Span(start, start + len(word))
