"""Compiles OpenCL C or SPIR-V into a program, with Intel's compiler.

Knows builds, not launches. Leaves no file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from visa_lsp.api.findings import TextError, text_findings
from visa_lsp.api.inputs import Material, find_platform, material
from visa_lsp.api.loaded_program import Program
from visa_lsp.api.loading import LoadedModule, as_text_error, module_of_parts
from visa_lsp.app.compile.build import BuildSource, build_source, device_of, with_lines
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.launch_file import LaunchFile
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.ready_run import makings
from visa_lsp.sim.launch.config import LaunchConfig, LaunchError
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from visa_lsp.api.inputs import Source

_SPIRV: Final = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")


def compile_program(
    source: Source, options: str = "", platform: str | None = None, ocloc: str | None = None
) -> Program:
    """Compile OpenCL C or SPIR-V with ``ocloc`` and load the program, whose arguments then have names and types.

    A ``str`` with a line break is a source; any other and path-like objects name files; bytes are SPIR-V, else a source.
    ``options`` are those of clBuildProgram; ``platform`` is the target, TGLLP by default; ``ocloc`` is the compiler's path.

    Raises TextError with the errors of the compiler, LaunchError if it is missing or does not know an option, OSError for an
    unreadable file, and ValueError for an unknown platform.
    """
    began = perf_counter()
    platform = find_platform(platform)
    given = material(source)
    is_spirv = given.data[:4] in _SPIRV
    name = str(given.path) if given.path is not None else "program.spv" if is_spirv else "program.cl"
    text = "" if is_spirv else given.data.decode("utf-8", "surrogateescape")
    words = with_lines(f"-cl-kernel-arg-info {options}".strip())
    try:
        build = build_source(
            BuildSource(name, given.data, text, is_file=given.path is not None), device_of(None, platform), words, ocloc
        )
    except UserError as error:
        raise LaunchError(str(error)) from None
    if build.program is None or build.zebin is None:
        lines = [finding.concise for finding in build.findings]
        raise TextError("\n".join(lines) or f"{name}: the compiler made no program", text_findings(build.findings))
    launch = replace(LaunchFile(None, None, LaunchConfig()), document=build.program)
    notes: list[str] = []
    loaded = RunOptions(Path(name) if given.path is not None else None, build.platform, began=began, compiled=makings())
    with as_text_error():
        texts = [encode_text(t.text) for t in build.texts]
        module, sources = module_of_parts(Material(texts[0]), texts, launch, replace(loaded, path=None), notes)
    return Program(LoadedModule(module, launch, loaded, tuple(notes), sources, perf_counter() - began))
