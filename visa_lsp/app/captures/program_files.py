"""Makes the program of a capture runnable: compiles its source or SPIR-V, or takes the vISA of its device binary.

Invariant: options of the recording machine reach the compiler only if they name no file, and the compiler opens no file
outside of its own, as far as the system can confine it (``toolchain.confine``) and the source shows (``file_access``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from visa_lsp.app.captures.file_access import refuse_file_access
from visa_lsp.app.captures.model import CapturedProgram
from visa_lsp.app.compile.build import BuildSource
from visa_lsp.app.compile.outputs import file_name, files_of
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.opencl import build_program, refuse_unknown_kernel
from visa_lsp.app.zebins import visa_text
from visa_lsp.isa.platforms import platform_named, platform_of_product
from visa_lsp.text import encode_text
from visa_lsp.toolchain.confine import can_confine
from visa_lsp.zeinfo.zebin import SECTION_TYPES, ZebinError, is_elf, read_zebin

if TYPE_CHECKING:
    from visa_lsp.app.captures.model import Capture
    from visa_lsp.app.launch.opencl import CompilerWords
    from visa_lsp.zeinfo.zebin import Zebin

_SPIRV: Final = next(number for number, name in SECTION_TYPES.items() if name == "SPIR-V")
_OPTION: Final = re.compile(r'(?:"[^"]*"|[^\s"])+|"')
_PASSED: Final = re.compile(r"-(?:cl|ze|vc)-[\w.:=+-]+|-[DU].*|-w|-Werror|-g|-O[0-3]")
_DROPPED: Final = re.compile(r"-spir-std=.*|-I.*")  # without a note: they say where files were, or what a file is
_WITH_NEXT: Final = ("-I", "-x", "-D", "-U")


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """The files of a program, by name; ``zebin`` is the name of the one with its ze_info."""

    files: dict[str, bytes]
    zebin: str
    ze_info: str
    platform: str | None
    notes: tuple[str, ...] = ()


def program_files(capture: Capture, compiler: CompilerWords, platform: str | None) -> ProgramFiles:
    """Return the files of the program, compiled for ``platform``, else for the device of the captured binary.

    Raises UserError if there is no usable form of the program or no such kernel, TextProblems for errors of the compiler.
    """
    binaries = {program.name: _zebin(program) for program in capture.programs if program.is_binary}
    device = next((name for zebin in binaries.values() if zebin is not None and (name := _platform(zebin))), None)
    options, notes = options_of(capture)
    compiler = replace(compiler, options=f"{options} {compiler.options}".strip())
    for program in capture.programs:
        zebin = binaries.get(program.name)
        if not program.is_binary:
            files = _compile(capture, program, compiler, platform or device)
        elif zebin is None:
            continue
        elif zebin.visa:
            return _disassemble(capture, program, zebin)
        elif spirv := next((section.data for section in zebin.sections if section.type == _SPIRV), b""):
            files = _compile(capture, CapturedProgram(program.name, spirv), compiler, platform or device)
        else:
            continue
        return replace(files, notes=notes)
    names = ", ".join(binaries)
    raise UserError(
        f"{capture.name}: the program is only a device binary ({names}) without source, SPIR-V or vISA, which cannot be "
        "run; record it again with the program built from source or SPIR-V (driver caches off: NEO_CACHE_PERSISTENT=0)"
    )


def options_of(capture: Capture) -> tuple[str, tuple[str, ...]]:
    """Return the build options for the compiler, and a note about those that are not passed. Raises UserError."""
    words: list[str] = _OPTION.findall(capture.options)
    if '"' in words:
        raise UserError(f"{capture.name}: malformed build options: a quotation mark is not closed")
    kept: list[str] = []
    left: list[str] = []
    index = 0
    while index < len(words):
        count = 2 if words[index] in _WITH_NEXT else 1
        taken = words[index : index + count]
        index += count
        if words[index - count] in ("-D", "-U") or (count == 1 and _PASSED.fullmatch(taken[0])):
            kept += taken
        elif count == 1 and not _DROPPED.fullmatch(taken[0]):
            left += taken
    notes = (f"build options that are not passed to the compiler: {' '.join(left):.200}",) if left else ()
    return " ".join(kept), notes


def _zebin(program: CapturedProgram) -> Zebin | None:
    """Return the zebin of a device binary; None for another container, or a damaged file."""
    try:
        return read_zebin(program.data) if is_elf(program.data) else None
    except ZebinError:
        return None


def _platform(zebin: Zebin) -> str | None:
    family = zebin.product_family
    platform = platform_of_product(family) if family is not None else None
    return platform.name if platform is not None else None


def _compile(capture: Capture, program: CapturedProgram, compiler: CompilerWords, platform: str | None) -> ProgramFiles:
    name = f"{capture.name}/{program.name}"
    is_source = program.name.endswith(".cl")
    text = program.data.decode("utf-8", "surrogateescape") if is_source else ""
    refuse_file_access(name, text, compiler.options)
    build = build_program(BuildSource(name, program.data, text, is_file=False, is_untrusted=True), compiler, platform)
    refuse_unknown_kernel(build, capture.kernel)
    files = files_of(build)
    if not can_confine():
        # A listing quotes the lines of files that debug information names, whatever these are.
        files = {file: data for file, data in files.items() if not file.endswith(".asm")}
    if is_source:
        files[program.name] = program.data
    zebin = build.zebin
    assert zebin is not None
    return ProgramFiles(files, f"{build.source.path.stem}.zebin", zebin.ze_info, build.platform)


def _disassemble(capture: Capture, program: CapturedProgram, zebin: Zebin) -> ProgramFiles:
    data = zebin.visa.get(capture.kernel)
    if data is None:
        raise UserError(
            f"{capture.name}/{program.name}: no vISA of kernel '{capture.kernel}'; it has that of {', '.join(zebin.visa)}"
        )
    name = f"{capture.name}/{program.name}"
    stem = file_name(capture.kernel)
    platform = _platform(zebin)
    text = visa_text(name, data, platform_named(platform) if platform else None, comments=False)
    files = {f"{stem}.visaasm": encode_text(text), f"{stem}.zebin": program.data}
    return ProgramFiles(files, f"{stem}.zebin", zebin.ze_info, platform)
