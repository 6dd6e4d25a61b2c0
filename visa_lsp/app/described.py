"""What is known of a kernel's launch: the ze_info of its folder, else one that is made from its program.

Joins the finder of files and the maker of documents. Knows neither launch files nor reports. Invariant: which of both it
is, and of which file, is said with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.isa.platforms import DEFAULT_PLATFORM, platform_named
from visa_lsp.zeinfo.emit.document import emitted
from visa_lsp.zeinfo.emit.roles import registers_of_dump
from visa_lsp.zeinfo.layout import registers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from visa_lsp.beside import Beside
    from visa_lsp.program.model import Kernel
    from visa_lsp.zeinfo.emit.document import Doubt
    from visa_lsp.zeinfo.layout import Registers


@dataclass(frozen=True, slots=True)
class DescribedKernel:
    """The ze_info of a kernel: its text, and the file that it is of, or ``path`` None and what was guessed.

    ``is_zebin``: the file is a zebin, which has the program's data too. ``simd_size`` is what the text says of the kernel,
    ``silent`` a file with the program's name that says nothing of it.
    """

    text: str
    path: Path | None
    is_zebin: bool = False
    doubts: tuple[Doubt, ...] = ()
    simd_size: int = 0
    silent: Path | None = None


def found_for(kernel: Kernel, places: Sequence[Path | None], finder: Beside) -> DescribedKernel | None:
    """Give the ze_info that the folders of some places have of a kernel; None where they have none.

    A place is the path of a text, an object or a launch file.
    """
    there = [place for place in places if place is not None]
    told = finder.description(kernel.name, *there, simd_size=kernel.int_attribute("SimdSize") or 0)
    if told is None:
        return None
    own = finder.own_documents(*there)
    silent = own[0] if own and told.path not in own else None
    return DescribedKernel(told.text, told.path, told.is_zebin, simd_size=told.simd_size, silent=silent)


def made_for(kernels: Sequence[Kernel], platform: str | None) -> DescribedKernel:
    """Give the ze_info that the programs themselves tell; raises EmitError where they tell none that could be true."""
    made = emitted(kernels, registers_for(platform, kernels))
    return DescribedKernel(made.text, None, doubts=made.doubts)


def described(
    kernel: Kernel, places: Sequence[Path | None], finder: Beside, platform: str | None = None
) -> DescribedKernel:
    """Give what is found of a kernel, else what is made.

    Raises EmitError where there is neither.
    """
    return found_for(kernel, places, finder) or made_for([kernel], platform)


def registers_for(platform_name: str | None, kernels: Sequence[Kernel]) -> Registers:
    """Return the registers of a platform; without one those that a compiler's dump shows, else the default platform's."""
    found = next((r for k in kernels if (r := registers_of_dump(k)) is not None), None)
    if platform_name is None and found is not None:
        return found
    platform = platform_named(platform_name or DEFAULT_PLATFORM)
    assert platform is not None
    return registers(platform.grf_bytes, platform.generation)
