"""The output files of a build: texts, listings, zebin, ze_info and a launch file per kernel.

Invariant: an existing launch file is kept, because the user may have edited it; all other files are overwritten, and none
of them is the source.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.errors import NEEDS_NUMPY, UserError, reason
from visa_lsp.app.output_files import check_output, write_file
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from visa_lsp.app.compile.build import Build


_COLUMNS: Final = ("kernel", "device", "SIMD", "Gen instructions", "GRF", "spilled bytes")


class WrittenFiles(Struct, frozen=True):
    """The files written for a build, notes on files not written, and the assumptions of the launch files."""

    paths: tuple[str, ...]
    notes: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


def figures_table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return a table of kernels and devices with a line of titles; a row has as many cells as there are titles."""
    cells = [_COLUMNS, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_COLUMNS))]
    return [
        "  ".join(cell.ljust(width) if column < 2 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    ]  # fmt: skip


def file_name(name: str) -> str:
    """Return the name of a kernel as a valid file name."""
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in name) or "_"


def files_of(build: Build, *, ir: bool = False) -> dict[str, bytes]:
    """Return the contents of the files of a build, by name."""
    stem = build.source.path.stem or "program"
    files: dict[str, bytes] = {}
    if build.program is not None and build.zebin is not None:
        files[f"{stem}.zebin"] = build.program
        if build.zebin.ze_info_bytes:
            files[f"{stem}.zeinfo.yaml"] = build.zebin.ze_info_bytes
    for text in build.texts:
        files[f"{file_name(text.name)}.visaasm"] = encode_text(text.text)
        if text.listing_text:
            files[f"{file_name(text.name)}.asm"] = encode_text(text.listing_text)
    if ir:
        files.update({f"{stem}.{end}": data for end, data in build.ir.items()})
    return files


def write_build(build: Build, folder: Path, *, ir: bool = False) -> WrittenFiles:
    """Write a build into a folder, with launch files. Raises UserError if a file cannot be written."""
    names = write_program(build, folder, ir=ir)
    launches = _write_launches(build, folder)
    return replace(launches, paths=(*names, *launches.paths))


def write_program(build: Build, folder: Path, *, ir: bool = False) -> list[str]:
    """Write a build into a folder, without launch files; return the paths. Raises UserError if a file cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: {reason(error)}") from None
    files = files_of(build, ir=ir)
    source = [str(build.source.path)]
    for name in files:
        check_output(str(folder / name), source)
    for name, data in files.items():
        write_file(str(folder / name), data, source, is_default=True)
    return [str(folder / name) for name in files]


def _write_launches(build: Build, folder: Path) -> WrittenFiles:
    """Write a launch file for each kernel that has none, as ``run --init`` does."""
    kernels = [text for text in build.texts if text.is_kernel]
    if find_spec("numpy") is None:
        return WrittenFiles((), (NEEDS_NUMPY,) if kernels else ())
    from visa_lsp.app.launch.body_source import TextProblems
    from visa_lsp.app.launch.init import write_launches
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.proposal import propose_run
    from visa_lsp.sim.launch.config import LaunchError

    written: list[str] = []
    notes: list[str] = []
    assumed: list[str] = []
    for text in kernels:
        path = folder / f"{file_name(text.name)}.visaasm"
        launch = path.with_suffix(".launch.yaml")
        if os.path.lexists(launch):
            notes.append(f"{launch} exists and is kept")
            continue
        try:
            proposal = propose_run(text.text, RunOptions(path), launch).proposal
            written += [str(file) for file in write_launches(launch, proposal, path)]
            assumed += [f"{launch}: {words}" for words in proposal.assumed]
        except (LaunchError, TextProblems) as error:
            notes.append(f"{launch} is not written: {error}")
        except OSError as error:
            raise UserError(f"{launch}: {reason(error)}") from None
    return WrittenFiles(tuple(written), tuple(notes), tuple(assumed))
