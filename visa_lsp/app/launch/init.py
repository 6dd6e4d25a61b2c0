"""``visa-lsp run --init``: writes the launch file of a default launch, with ``--expect`` also its results as expectations.

Invariant: no existing file is replaced, and a launch file is written after the arrays that it names.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.arrays import write_array
from visa_lsp.app.launch.forms import flow
from visa_lsp.app.output_files import replace_file
from visa_lsp.companions import stem_of
from visa_lsp.sim.launch.config import Array, BufferArg, ImageArg
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.app.launch.proposal import Proposal
    from visa_lsp.app.launch.report import BufferReport, RunReport

_MAX_INLINE_VALUES: Final = 64  # a longer array is written to a .npy file


def refuse_existing(path: Path) -> None:
    """Raise UserError if a path exists."""
    if os.path.lexists(path):
        raise UserError(f"{path}: exists already, and --init overwrites no file; run it, or remove it first")


def launch_text(proposal: Proposal, program: str = "") -> str:
    """Return the text of a launch file with the assumptions as comments; ``program``, if any, is the value of ``file``."""
    comments = "".join(f"# {line}\n" for line in ("Assumed:", *proposal.assumed))
    return comments + (f"file: {flow(program)}\n" if program else "") + proposal.written.text


def write_launches(path: Path, proposal: Proposal, program: Path | None) -> list[Path]:
    """Write the launch file of a proposal and a second one of its uneven launch; return the files written.

    ``program`` is the file to run; without it only the more revealing launch is written. Raises as ``write_launch``.
    """
    if proposal.even is None or proposal.uneven is None or program is None or not program.is_file():
        return write_launch(path, proposal, None)
    name = path.name.removesuffix(".yaml").removesuffix(".launch")
    second = path.with_name(f"{name}.odd{path.name.removeprefix(name)}")
    refuse_existing(second)
    file = os.path.relpath(program, path.parent)
    return [*write_launch(path, proposal.even, None), *write_launch(second, proposal.uneven, None, file)]


def write_launch(path: Path, proposal: Proposal, report: RunReport | None, program: str = "") -> list[Path]:
    """Write a launch file with the arrays that a run has changed as expectations; return the files written.

    ``program`` is the file to run, if that is not the sibling of the same name.

    Raises UserError if a file exists already, and OSError if one cannot be written.
    """
    arrays: dict[Path, Array] = {}
    text = launch_text(proposal, program)
    changed = _list_changed(proposal.read(path), report) if report is not None else []
    if changed:
        lines = [_expectation(path, buffer, arrays) for buffer in changed]
        text += "expect:\n" + "".join(f"  - {flow(line)}\n" for line in lines)
    elif report is not None:
        text += "# The run changed no buffer, so nothing is expected.\n"
    for target in (path, *arrays):
        refuse_existing(target)
    for target, array in arrays.items():
        write_array(target, array)
    with replace_file(path, is_default=True) as stream:
        stream.write(encode_text(text))
    return [path, *arrays]


def _list_changed(launch: LaunchFile, report: RunReport) -> list[BufferReport]:
    """Return the buffers that the run has changed."""
    given = launch.config.by_key
    changed = []
    for buffer in report.buffers:
        arg = given.get(buffer.arg)
        before = arg.array if isinstance(arg, BufferArg | ImageArg) else None
        if before is None or before.tobytes() != buffer.array.tobytes():
            changed.append(buffer)
    return changed


def _expectation(path: Path, buffer: BufferReport, arrays: dict[Path, Array]) -> dict[str, Any]:
    """Return the expectation of an array: its values, or the name of a file that is added to ``arrays``."""
    values = buffer.array.reshape(-1)
    if values.size <= _MAX_INLINE_VALUES and (values.dtype.kind != "f" or bool(np.isfinite(values).all())):
        return {"arg": buffer.arg, "values": values.tolist(), "dtype": values.dtype.name}
    safe = "".join(c if c.isalnum() or c in "_-" else "_" for c in str(buffer.arg))
    target = path.with_name(f"{stem_of(path)}.arg{safe}.npy")
    arrays[target] = buffer.array
    return {"arg": buffer.arg, "npy": target.name}
