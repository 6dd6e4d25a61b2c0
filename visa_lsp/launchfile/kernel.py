"""Finds the kernel of a launch file and its ze_info.

Reads files through the folder. Invariant: a program that is not a readable text gives no kernels.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.program.suffixes import TEXTS
from visa_lsp.safe_io import read_file
from visa_lsp.text import decode_text
from visa_lsp.zeinfo.read_kernels import ZeInfoError, read
from visa_lsp.zeinfo.zebin import ZebinError, is_elf, read_zebin

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.companions import Description
    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.launchfile.values import LaunchText
    from visa_lsp.program.payload import KernelInfo

_SIMD: Final = re.compile(r"SimdSize=(\d{1,4})\b")
MAX_ARGUMENTS: Final = 4096  # a payload has space for some hundreds
_MAX_ZE_INFO_BYTES: Final = 64 << 20


class MeantKernel(Struct, frozen=True):
    """A kernel and its ze_info.

    ``kernels`` are those of the program, None if unknown; ``described`` are those in the ze_info of the launch file,
    None if that is missing or unreadable. ``name`` is empty if the kernel is ambiguous. ``told_by`` is the file with
    ``info``.
    """

    name: str = ""
    kernels: tuple[str, ...] | None = None
    described: tuple[str, ...] | None = None
    info: KernelInfo | None = None
    told_by: Path | None = None


def find_kernel(launch: LaunchText, folder: LaunchFolder) -> MeantKernel:
    """Find the kernel of a launch file: the one it names, else the only one of its program."""
    kernels = _kernels(launch, folder)
    name = launch.kernel or (kernels[0] if kernels is not None and len(kernels) == 1 else "")
    told_by = launch.ze_info or launch.zebin
    if told_by is not None:
        infos = _infos(_ze_info_of(told_by, folder))
        described = tuple(info.name for info in infos) or None
        if not name and kernels is None and len(infos) == 1:
            name = infos[0].name
        return MeantKernel(name, kernels, described, _find_named(infos, name), told_by)
    description = _describe(name, launch.file, folder) if name else None
    if description is None:
        return MeantKernel(name, kernels)
    return MeantKernel(name, kernels, None, _find_named(_infos(description.text), name), description.path)


def _describe(name: str, program: Path | None, folder: LaunchFolder) -> Description | None:
    """Return the document of the folder that a run uses; if there are several, the one with the SIMD width of the text."""
    description = folder.beside.description(name, program, folder.launch)
    if (
        description is None
        or program is None
        or description.path in folder.beside.own_documents(program, folder.launch)
    ):
        return description
    body = folder.text(program).partition(f'.kernel "{name}"')[2].partition("\n.kernel ")[0]
    width = _SIMD.search(body)
    return folder.beside.description(name, program, folder.launch, simd_size=int(width[1])) if width else description


def _kernels(launch: LaunchText, folder: LaunchFolder) -> tuple[str, ...] | None:
    if launch.file is None:
        return None
    names: list[str] = []
    for path in (launch.file, *launch.files):
        if not path.name.endswith(TEXTS):
            return None
        names += folder.beside.kernels_in(path)
    return tuple(dict.fromkeys(names))


def _find_named(infos: tuple[KernelInfo, ...], name: str) -> KernelInfo | None:
    info = next((info for info in infos if info.name == name), None)
    return info if info is not None and info.argument_count <= MAX_ARGUMENTS else None


def _ze_info_of(path: Path, folder: LaunchFolder) -> str:
    """Return the ze_info text of a document or zebin; empty if there is none."""
    text = folder.beside.opened(path)
    if text is not None:
        return text
    try:
        data = read_file(path, _MAX_ZE_INFO_BYTES)
        return read_zebin(data).ze_info if is_elf(data) else decode_text(data)
    except (OSError, ValueError, ZebinError):
        return ""


@lru_cache(maxsize=16)
def _infos(text: str) -> tuple[KernelInfo, ...]:
    """Return the kernels of a ze_info text; none if it is unreadable, which other checks report."""
    try:
        return tuple(read(text))
    except ZeInfoError:
        return ()
