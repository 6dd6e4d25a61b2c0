"""Reads texts and objects as programs with lines, and dumps; chooses the size of a GRF row.

The lines of an object are those of the text that ``dis`` prints of it. The size is that of the platform if it is known, else
inferred from the program.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from visa_lsp.app.assemble import CheckedProgram, module_of_object, problem_lines, program_of_text
from visa_lsp.app.errors import UserError
from visa_lsp.app.folders import files_of, is_folder
from visa_lsp.app.inputs import decode, is_object, read_bytes
from visa_lsp.app.stats.dumps import DUMP_MAGIC, DUMP_SUFFIX, DumpFigures, figures_of_dump, is_dump
from visa_lsp.app.stats.figures import KernelFigures, figures_of
from visa_lsp.diagnostics import Severity
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.grf import grf_in_comment, grf_of
from visa_lsp.program.suffixes import PROGRAMS
from visa_lsp.safe_io import MAX_OBJECT_BYTES, open_file
from visa_lsp.text import decode_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.program.model import Module


def inputs_of(path: str) -> list[str]:
    """Return the texts, objects and dumps of a folder; any other path is an input itself.

    Raises UserError for a folder without any.
    """
    if not is_folder(path):
        return [path]
    files = files_of(path, (*PROGRAMS, DUMP_SUFFIX)).values()
    # Other assemblers use the suffix of dumps too.
    dumps = {file for file in files if file.lower().endswith(DUMP_SUFFIX) and _is_dump(file)}
    programs = {file for file in files if not file.lower().endswith(DUMP_SUFFIX)}
    # Objects with the name of a text are skipped, because compilers write them beside dumps, some releases incompletely.
    dumped = {Path(file).parent for file in dumps}
    programs -= {
        file
        for file in programs
        if file.endswith(".isa") and Path(file).parent in dumped and f"{file.removesuffix('.isa')}.visaasm" in programs
    }
    inputs = [file for file in files if file in dumps or file in programs]
    if not inputs:
        raise UserError(f"{path}: no texts or objects in this folder")
    return inputs


def _is_dump(path: str) -> bool:
    try:
        with open_file(Path(path), MAX_OBJECT_BYTES) as (stream, _):
            return is_dump(stream.read(len(DUMP_MAGIC)))
    except (OSError, ValueError):
        return True  # reported when it is read


def dumps_of(path: str) -> dict[str, DumpFigures]:
    """Return the figures of the dumps of a folder by their relative paths, or of one dump.

    Raises UserError if there are none.
    """
    paths = files_of(path, (DUMP_SUFFIX,)) if is_folder(path) else {"": path}
    contents = {place: read_bytes(file) for place, file in paths.items() if place == "" or _is_dump(file)}
    if not all(map(is_dump, contents.values())) or not contents:
        raise UserError(f"{path}: expected native dumps (.asm), which begin with //.kernel")
    return {place: figures_of_dump(paths[place], decode_text(data)) for place, data in contents.items()}


def figures_of_data(
    name: str, data: bytes, platform: str | None, *, lives: bool = False, say: Callable[[str], None]
) -> list[KernelFigures] | None:
    """Return the figures of each kernel and function of a file; None if its text has errors.

    ``say`` is called with each line of errors and warnings of a text.

    Raises UserError if the file is neither a text nor an object.
    """
    if is_object(name, data):
        return _figures_of_module(module_of_object(data, name, platform), platform, name, lives=lives)
    source = decode(name, data)
    program = program_of_text(source.text, platform)
    for line in problem_lines(name, program):
        say(line)
    return figures_of_text(source.text, program, platform, name, lives=lives)


def figures_of_text(
    text: str, program: CheckedProgram, platform: str | None, name: str, *, lives: bool = False
) -> list[KernelFigures] | None:
    """Return the figures of each kernel and function of a text and its program; None if it has errors."""
    if program.module is None:
        return None
    return _figures_of_module(program.module, platform, name, grf_in_comment(text), lives=lives)


def _figures_of_module(
    module: Module, platform: str | None, path: str, said: int | None = None, *, lives: bool
) -> list[KernelFigures]:
    """Return the figures of each body; ``said`` is the size of a GRF row in a comment of the text."""
    chosen = platform_named(platform) if platform else None
    grf_bytes = chosen.grf_bytes if chosen is not None else said or grf_of(module).bytes
    return [figures_of(body, grf_bytes, path, lives=lives) for body in module.bodies]


def platform_of_launch(path: str) -> str | None:
    """Return the platform that a launch file names, if any. Raises UserError if the file has a mistake."""
    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.launchfile.read_launch import read_launch
    from visa_lsp.launchfile.source import launch_source

    source = launch_source(decode(path, read_bytes(path)).text)
    if source.error is not None:
        raise UserError(f"{path}:{source.error.line}:{source.error.column}: {source.error.message}")
    launch, diagnostics = read_launch(source, LaunchFolder(Path(path)))
    wrong = next((d for d in diagnostics if d.severity is Severity.ERROR), None)
    if wrong is not None:
        line, column = source.index.position(wrong.span.start)
        raise UserError(f"{path}:{line + 1}:{column + 1}: {wrong.message}")
    return launch.platform
