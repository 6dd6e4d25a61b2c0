"""Finds the machine code of a text: from the finalizer, a zebin, or a compiler's listing beside the text.

Each instruction keeps its line of the text where the listing tells it. Invariant: code of another SIMD width than the text's
is not taken, because a compiler's dump has all attempted widths.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.external_tools import is_file_name, settings_for
from visa_lsp.app.gen.gen_document import Source, finalize_text, with_listing
from visa_lsp.companions import Beside
from visa_lsp.eu.decode import DecodeError, decode, symbol_part
from visa_lsp.eu.model import PATCHED, MachineCode, Symbol
from visa_lsp.isa.platforms import EFFICIENT64B_SINCE
from visa_lsp.safe_io import read_file
from visa_lsp.toolchain.finalize import SECONDS, of_listing
from visa_lsp.toolchain.find_tools import OCLOC
from visa_lsp.toolchain.iga import assemble, disassemble, find_iga
from visa_lsp.toolchain.process import ToolError
from visa_lsp.zeinfo.zebin import Zebin, ZebinError, read_zebin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Kernel
    from visa_lsp.toolchain.finalize import FinalizedKernel

_CODE: Final = ".text."
_INLINE: Final = "-useInlineData"


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A request for machine code: options of the finalizer, its path, that of iga64, and a zebin given instead of both."""

    options: tuple[str, ...] = ()
    tool: str | None = None
    iga: str | None = None
    zebin: Zebin | None = None
    zebin_name: str = ""
    listing: str = ""
    finder: Beside = field(default_factory=Beside)


def code_of_text(source: Source, path: str, body: Kernel, platform: Platform, request: CodeRequest) -> MachineCode:
    """Return the machine code of a kernel of a text.

    Raises UserError if there is none: no finalizer for the platform and no zebin or listing beside the text.
    """
    kernel, simd = body.name, body.int_attribute("SimdSize") or 0
    if platform.generation >= EFFICIENT64B_SINCE:
        raise UserError(
            f"{path}: `verify` does not know the messages (`sendg`) and the payload of {platform.name}'s machine code; it knows platforms up to PTL"
        )
    command = iga_command(path, request.iga)
    if request.zebin is not None:
        code = code_of_zebin(request.zebin, request.zebin_name, kernel, platform, command)
        return _with_lines_of_listing(code, source, path)
    beside = None if request.options or request.tool else zebin_beside(path, kernel, simd, request.finder)
    if request.listing:
        return _code_of_listing(source, request.listing, kernel, platform, command)
    if beside is not None and _has_symbols(beside[0], kernel):
        code = code_of_zebin(beside[0], beside[1], kernel, platform, command)  # listings lack the addresses of symbols
        return _with_lines_of_listing(code, source, path)
    reason = ""
    try:
        document = finalize_text(source, request.tool, request.options, SECONDS, path, with_code=True)
        is_compilers = (
            document.tool == OCLOC.program
        )  # the listing beside the text, because no finalizer knows the platform
        finalized = next((k for k in document.result.kernels if k.body.name == kernel), None)
        if finalized is not None and not (is_compilers and beside is not None):
            has_inline_data = is_compilers or _INLINE in request.options
            return replace(_assembled(finalized, kernel, platform, command), has_inline_data=has_inline_data)
        said = next((f.message for f in document.findings), "it gives no machine code")
        reason = f"the finalizer refuses '{kernel}': {said}"
    except UserError as error:
        reason = str(error)
    except _NotAssembled as error:
        reason = str(error)
    if beside is not None:
        code = code_of_zebin(beside[0], beside[1], kernel, platform, command)
        return _with_lines_of_listing(code, source, path)
    raise UserError(f"{source.name}: {reason}" if not reason.startswith(source.name) else reason)


class _NotAssembled(Exception):  # noqa: N818 - another source of the code is tried
    """A listing that iga64 cannot assemble, because it has addresses of symbols."""


def iga_command(path: str, named: str | None) -> tuple[str, ...]:
    """Return the command of iga64. Raises UserError with advice if there is none."""
    ocloc = settings_for(path).ocloc
    ocloc_path = shutil.which(ocloc) if ocloc else None
    try:
        return find_iga(named, (ocloc_path,) if ocloc_path else ())
    except ToolError as error:
        raise UserError(str(error)) from None


def zebin_beside(path: str, kernel: str, simd: int, finder: Beside) -> tuple[Zebin, str] | None:
    """Return a zebin in the folder of a text with the machine code of its kernel in its SIMD width."""
    if not is_file_name(path):
        return None
    beside = finder.zebin(kernel, Path(path))
    if beside is None or (simd and beside.simd_size and beside.simd_size != simd):
        return None
    try:
        zebin = read_zebin(read_file(beside.path))
    except (ZebinError, OSError):
        return None
    return (zebin, str(beside.path)) if kernel in zebin.kernels else None


def _has_symbols(zebin: Zebin, kernel: str) -> bool:
    """Return whether the loader writes addresses of symbols into the code of a kernel."""
    return any(r.section == f"{_CODE}{kernel}" and not r.symbol.startswith(PATCHED) for r in zebin.relocations)


def code_of_zebin(zebin: Zebin, name: str, kernel: str, platform: Platform, command: tuple[str, ...]) -> MachineCode:
    """Return the machine code of a kernel of a zebin. Raises UserError if it has none or iga64 cannot read it."""
    section = zebin.section(f"{_CODE}{kernel}")
    if section is None:
        raise UserError(f"{name}: no machine code of '{kernel}': missing section {_CODE}{kernel}")
    symbols = {
        r.offset: Symbol(r.symbol, symbol_part(r.type), r.addend)
        for r in zebin.relocations
        if r.section == section.name and symbol_part(r.type)
    }
    return _decode(name, section.data, kernel, platform, command, symbols)


def _decode(
    name: str, data: bytes, kernel: str, platform: Platform, command: tuple[str, ...], symbols: Mapping[int, Symbol]
) -> MachineCode:
    try:
        read = disassemble(command, data, platform.name)
        return decode(kernel, read.elements, read.texts, platform.grf_bytes, symbols)
    except (ToolError, DecodeError) as error:
        raise UserError(f"{name}: {error}") from None


def _code_of_listing(
    source: Source, listing: str, kernel: str, platform: Platform, command: tuple[str, ...]
) -> MachineCode:
    """Return the machine code of a compiler's listing of a text. Raises UserError if it cannot be assembled."""
    codes = source.text.splitlines()
    result = of_listing(codes, listing)
    if not result.kernels:
        raise UserError(f"{source.name}: no kernel for the listing")
    try:
        return _assembled(result.kernels[0], kernel, platform, command)
    except _NotAssembled as error:
        raise UserError(f"{source.name}: {error}") from None


def _assembled(finalized: FinalizedKernel, kernel: str, platform: Platform, command: tuple[str, ...]) -> MachineCode:
    try:
        data = finalized.code or assemble(
            command, "\n".join(line.text for line, _ in finalized.place_lines()), platform.name
        )
    except ToolError as error:
        raise _NotAssembled(str(error)) from None
    code = _decode(kernel, data, kernel, platform, command, {})
    return _with_lines(code, _lines_in_order(finalized))


def _with_lines_of_listing(code: MachineCode, source: Source, path: str) -> MachineCode:
    """Return the code of a zebin with lines of the text, if the compiler's listing beside the text has the same instructions."""
    listing = with_listing(source, path).listing
    kernels = of_listing(source.text.splitlines(), listing).kernels if listing else ()
    finalized = next((k for k in kernels if k.body.name == code.name), None)
    lines = _lines_in_order(finalized) if finalized is not None else []
    return _with_lines(code, lines) if len(lines) == len(code.instructions) else code


def _lines_in_order(finalized: FinalizedKernel) -> list[tuple[int, bool]]:
    """Return the line of the text of each instruction of a listing, and whether the listing tells it."""
    return [
        (line, gen.number is not None) for gen, line in finalized.place_lines() if not gen.is_label and gen.text.strip()
    ]


def _with_lines(code: MachineCode, lines: Sequence[tuple[int, bool]]) -> MachineCode:
    """Return the code with the line of the text of each instruction, in the order of a listing."""
    instructions = list(code.instructions)
    for n, (line, is_numbered) in enumerate(lines[: len(instructions)]):
        instructions[n] = replace(instructions[n], line=line, is_numbered=is_numbered)
    return replace(code, instructions=tuple(instructions))
