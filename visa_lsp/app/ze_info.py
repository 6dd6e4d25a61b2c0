"""The ze_info of a kernel: that of its folder, else one inferred from its program.

Knows neither launch files nor reports. Invariant: a description records its origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.isa.platforms import DEFAULT_PLATFORM, platform_named
from visa_lsp.program.payload_layout import Registers, registers
from visa_lsp.zeinfo.emit.emission import Doubt, emit_with_doubts
from visa_lsp.zeinfo.emit.roles import registers_of_dump

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from visa_lsp.companions import Beside
    from visa_lsp.program.model import Kernel


@dataclass(frozen=True, slots=True)
class DescribedKernel:
    """The ze_info of a kernel: its text and its file, or ``path`` None and the guesses.

    ``is_zebin``: the file is a zebin, which also has the data of the program. ``simd_size`` is that of the kernel in the
    ze_info.
    """

    text: str
    path: Path | None
    is_zebin: bool = False
    doubts: tuple[Doubt, ...] = ()
    simd_size: int = 0


def find_ze_info(kernel: Kernel, places: Sequence[Path | None], finder: Beside) -> DescribedKernel | None:
    """Return the ze_info of a kernel in the folders of ``places``; None if there is none.

    A place is the path of a text, an object or a launch file.
    """
    there = [place for place in places if place is not None]
    description = finder.description(kernel.name, *there, simd_size=kernel.int_attribute("SimdSize") or 0)
    if description is None:
        return None
    return DescribedKernel(description.text, description.path, description.is_zebin, simd_size=description.simd_size)


def infer_ze_info(kernels: Sequence[Kernel], platform: str | None) -> DescribedKernel:
    """Return ze_info inferred from the programs. Raises EmitError if that is impossible."""
    emitted = emit_with_doubts(kernels, registers_for(platform, kernels))
    return DescribedKernel(emitted.text, None, doubts=emitted.doubts)


def find_or_infer_ze_info(
    kernel: Kernel, places: Sequence[Path | None], finder: Beside, platform: str | None = None
) -> DescribedKernel:
    """Return the ze_info found for a kernel, else an inferred one.

    Raises EmitError if there is neither.
    """
    return find_ze_info(kernel, places, finder) or infer_ze_info([kernel], platform)


def registers_for(platform_name: str | None, kernels: Sequence[Kernel]) -> Registers:
    """Return the size of a register on a platform; for None, the size of a compiler's dump, else that of the default platform."""
    dumped = next((r for k in kernels if (r := registers_of_dump(k)) is not None), None)
    if platform_name is None and dumped is not None:
        return dumped
    platform = platform_named(platform_name or DEFAULT_PLATFORM)
    assert platform is not None
    return registers(platform.grf_bytes, platform.generation)
