"""Compiles a program of a host, and reads its texts and its ze_info: what is not needed for a program that is in the cache.

Loading compiler, grammar and rules of texts takes longer than a small program runs, so that ``programs`` imports this late.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.app.compile.build import BuildSource, build_source, with_lines
from visa_lsp.app.compile.outputs import file_name
from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.exec.model import BuildRequest, CompiledProgram, ProgramForm, Step
from visa_lsp.app.kernel_source import with_source
from visa_lsp.app.launch.linking import with_callees
from visa_lsp.app.launch.program import link_variables, load_program
from visa_lsp.app.launch.zebin import program_data
from visa_lsp.companions import Beside
from visa_lsp.diagnostics import Severity
from visa_lsp.sim.launch.prepare import choose_kernel
from visa_lsp.zeinfo.read_kernels import read

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Module
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.zeinfo.zebin import Zebin

NOTHING: Final = "visa_lsp_nothing"  # a kernel for sources without one, which the compiler refuses
_UNRESOLVED: Final = re.compile(r"undefined reference|unresolved external", re.IGNORECASE)
# The path of a part of a linked program, in the compiler's folder.
_PART: Final = re.compile(r'"[^"]*/(part[\d.]+\.cl)"')


def compile_program(
    request: BuildRequest, folder: Path, source_name: str, options: str, tool: str, device: str
) -> CompiledProgram:
    """Compile the source in the folder of a program. Raises UserError if the compiler does not know an option."""
    data = request.data
    if request.form is ProgramForm.SOURCE and (b"kernel" not in data or request.step is Step.COMPILE):
        data += f"\nkernel void {NOTHING}(void) {{}}\n".encode()
    path = folder / ("input.spv" if request.form is ProgramForm.SPIRV else "input.cl")
    path.write_bytes(data)
    for name, contents in request.headers:
        header = (folder / name).resolve()
        if not header.is_relative_to(folder.resolve()):
            raise UserError(f"the name of a header leads out of its folder: {printable(name)}")
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_bytes(contents)
    text = data.decode("utf-8", "surrogateescape") if path.suffix == ".cl" else ""
    words = with_lines(f"-cl-kernel-arg-info {options}".strip())
    build = build_source(BuildSource(str(path), data, text), device, words, tool)
    errors = [finding for finding in build.findings if finding.severity is Severity.ERROR]
    name = source_name if text else "program.spv"
    log = "".join(
        f"{name}:{f.place.line}:{f.place.column}: {f.severity.value}: {printable(f.message)}\n" for f in build.findings
    )
    if request.step is Step.COMPILE and errors and all(_UNRESOLVED.search(f.message) for f in errors):
        return CompiledProgram(b"-", (), "")
    if build.zebin is not None and request.step is not Step.COMPILE and (missing := _undefined_functions(build.zebin)):
        return CompiledProgram(b"", (), "".join(f"{name}: error: undefined reference to `{f}`\n" for f in missing))
    if build.program is None or build.zebin is None:
        return CompiledProgram(b"", (), log or "the compiler made no program\n")
    texts = tuple(
        (t.name, t.is_kernel, _PART.sub(r'"\1"', t.text.replace(f'FILE "{path}"', 'FILE "input.cl"')))
        for t in build.texts
    )
    ze_info, sections = program_data(build.program, path)
    parts = tuple((s.name, s.data, s.base, dict(s.symbols), s.pointers) for s in sections)
    return CompiledProgram(build.program, texts, log, ze_info, parts)


def _undefined_functions(zebin: Zebin) -> list[str]:
    """Return the functions that the program calls but does not have; names of the driver begin otherwise than those of sources."""
    defined = {symbol.name for symbol in zebin.symbols if symbol.section > 0}
    names = {one.symbol for one in zebin.relocations if one.section.startswith(".text")} - defined
    return sorted(name for name in names if name and not name.startswith(("INTEL_", "__")))


def read_infos(compiled: CompiledProgram) -> tuple[KernelInfo, ...]:
    """Return the facts of the kernels of a program."""
    names = {name for name, is_kernel, _ in compiled.texts if is_kernel}
    return tuple(info for info in read(compiled.ze_info) if info.name in names and info.name != NOTHING)


def read_kernel(
    folder: Path, info: KernelInfo, platform: Platform
) -> tuple[Module, KernelInfo, tuple[tuple[str, str], ...]]:
    """Return a kernel with what it calls, its facts, also those of its source, and the file of each body in the folder.

    Raises LaunchError and TextProblems if the simulator cannot read its text.
    """
    path = folder / f"{file_name(info.name)}.visaasm"
    notes: list[str] = []
    module, sources = load_program(path.read_bytes(), path, platform, notes)
    module = link_variables(module)
    kernel = choose_kernel(module, info.name)
    module = with_callees(module, kernel, path, platform, Beside(), notes, sources)
    files = tuple((body, source.path.rpartition("/")[2]) for body, source in sources.items())
    return module, with_source(info, kernel, folder), files
