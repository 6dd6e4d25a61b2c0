"""``visa-lsp run K.cl``: compiles the source into a temporary folder and runs the program from there.

Knows builds and folders, not launches. Invariant: the folder exists as long as the run, and no file beside the source is
written.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from visa_lsp.app.compile.build import Build, BuildSource, build_source, device_of, with_lines
from visa_lsp.app.compile.outputs import file_name, files_of
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.body_source import BodySource, TextProblems
from visa_lsp.children import temporary_folder
from visa_lsp.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from visa_lsp.app.launch.report import RunReport


@dataclass(frozen=True, slots=True)
class CompilerWords:
    """The compiler settings of the command line: its ``options`` as one text, its path, the name of standard input."""

    options: str
    ocloc: str | None
    stdin_filename: str | None


@dataclass(frozen=True, slots=True)
class CompiledProgram:
    """A compiled kernel: the ``path`` of its text, with the whole program beside it, and the assumptions."""

    path: Path
    kernel: str
    assumed: tuple[str, ...]


def build_program(source: BuildSource, compiler: CompilerWords, platform: str | None) -> Build:
    """Compile a source for a platform.

    Raises UserError if the compiler is missing or there is no kernel, and TextProblems with the errors of the compiler.
    """
    build = build_source(source, device_of(None, platform), with_lines(compiler.options), compiler.ocloc)
    if build.program is None:
        lines = [f.concise for f in build.findings if f.severity is Severity.ERROR]
        raise TextProblems(source.path, source.text, (), lines)
    if not kernels_of(build):
        raise UserError(f"{source.name}: no kernel found")
    return build


def rename_texts(name: str, folder: Path, report: RunReport) -> RunReport:
    """Return a report whose texts are named after the input ``name``, because their temporary folder will be gone."""
    sources = {
        body: BodySource(source.path.replace(f"{folder}/", f"{name}: "), source.lines)
        for body, source in report.sources.items()
    }
    return structs.replace(report, sources=sources)


def kernels_of(build: Build) -> list[str]:
    """Return the names of the kernels of a build."""
    return [text.name for text in build.texts if text.is_kernel]


def refuse_unknown_kernel(build: Build, kernel: str) -> None:
    """Raise UserError if a build has no such kernel."""
    kernels = kernels_of(build)
    if kernel not in kernels:
        raise UserError(f"{build.source.name}: unknown kernel '{kernel}'; known kernels: {', '.join(kernels)}")


@contextlib.contextmanager
def unpack_program(build: Build, kernel: str | None) -> Iterator[CompiledProgram]:
    """Unpack a build; the program is that of ``kernel``, else of the first. Raises UserError if there is no such kernel."""
    kernels = kernels_of(build)
    if kernel is not None:
        refuse_unknown_kernel(build, kernel)
    chosen = kernel or kernels[0]
    others = ", ".join(other for other in kernels if other != chosen)
    words = f"kernel: {chosen}, the first; there are also {others} (--kernel NAME|all)"
    with temporary_folder() as folder:
        for file, data in files_of(build).items():
            (folder / file).write_bytes(data)
        path = folder / f"{file_name(chosen)}.visaasm"
        yield CompiledProgram(path, chosen, (words,) if others and kernel is None else ())
