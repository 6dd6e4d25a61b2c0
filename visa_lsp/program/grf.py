"""The size of a GRF row implied by a program of unknown platform.

Only ``&V[bytes]`` needs the size, because an object has row and column, but a text has bytes. The size is derived from
facts in both forms of a program, so that a text and its object give the same answer. A comment written by ``dis`` can
also state it, because some objects imply it by facts that a text does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from msgspec import Struct, structs

from visa_lsp.isa.platforms import DEFAULT_PLATFORM, Platform, platform_named, platform_numbered
from visa_lsp.program.model import AddressOf, General, Kernel, Module

_T = TypeVar("_T")

SHORT_GRF_BYTES: Final = 32
LONG_GRF_BYTES: Final = 64
_R0: Final = 7
_SAID: Final = re.compile(r"^[ \t]*//[ \t]*GRF size: (32|64) bytes\b", re.MULTILINE)
_BODY: Final = re.compile(r"^[ \t]*\.(?:kernel|global_function)\b", re.MULTILINE)


class GrfSize(Struct, frozen=True):
    """The bytes of a GRF row, and the reason in words. ``certain`` is false for the default."""

    bytes: int
    reason: str
    certain: bool = True


def grf_in_comment(text: str) -> int | None:
    """Return the size stated by a comment (``comment``) before the first body of a text; None without one."""
    opening = _BODY.search(text)
    statement = _SAID.search(text, 0, opening.start() if opening else len(text))
    return int(statement[1]) if statement else None


def comment(size: GrfSize) -> str:
    """Return the comment line for a size."""
    return f"// GRF size: {size.bytes} bytes ({size.reason})"


def grf_by_contents(bodies: Iterable[Kernel]) -> GrfSize | None:
    """Return the size implied by facts in both text and object."""
    short = None
    for kernel in bodies:
        for value in _values(kernel, General):
            type_ = kernel.variable_type(value.var)
            if type_ is not None and value.col * type_.size >= SHORT_GRF_BYTES:
                name = kernel.variable_name(value.var)
                return GrfSize(
                    LONG_GRF_BYTES, f"{name}({value.row},{value.col}) lies after byte {SHORT_GRF_BYTES - 1} of a row"
                )
        size = _of_payload(kernel)
        if size is not None and size.bytes == LONG_GRF_BYTES:
            return size
        short = short or size
    return short


def _of_payload(kernel: Kernel) -> GrfSize | None:
    """Return the size by the attributes about local ids, which start rows, else by the first input of a dump."""
    size, lanes = kernel.int_attribute("PerThreadInputSize"), kernel.int_attribute("SimdSize")
    if size and size % LONG_GRF_BYTES:
        return GrfSize(SHORT_GRF_BYTES, f"PerThreadInputSize={size} is not a multiple of {LONG_GRF_BYTES}")
    # Up to three ids; 16 lanes of a word fill a short row.
    if size and lanes in (8, 16) and size > 3 * SHORT_GRF_BYTES:
        return GrfSize(LONG_GRF_BYTES, f"PerThreadInputSize={size} with SimdSize={lanes}")
    offsets = [entry.offset for entry in kernel.arguments if entry.kind & 7 == 0]
    # A compiler's dump first declares a row, then an alias of %r0; the first input follows.
    if len(kernel.variables) > 1 and offsets and kernel.variables[1].alias_index == _R0:
        row = kernel.variables[0].byte_size
        if row in (SHORT_GRF_BYTES, LONG_GRF_BYTES) and not kernel.variables[0].alias_index and min(offsets) == row:
            return GrfSize(row, f"the first input of this dump is at byte {row}")
    return None


def assembler_grf(bodies: Iterable[Kernel]) -> int:
    """Return the size that the assembler uses for the text of a program without a comment."""
    shown = grf_by_contents(bodies)
    return shown.bytes if shown is not None else default_platform().grf_bytes


def needs_grf(bodies: Iterable[Kernel]) -> bool:
    """Return whether the size matters, because of an address that is not at the start of a variable."""
    return any(value.row or value.col for kernel in bodies for value in _values(kernel, AddressOf))


def grf_of(module: Module) -> GrfSize:
    """Return the size for the text of an object: the implied one, else the default."""
    shown = grf_by_contents(module.bodies)
    if shown is not None and shown.bytes == LONG_GRF_BYTES:
        return shown
    for kernel in module.bodies:
        for value in _values(kernel, AddressOf):
            type_ = kernel.variable_type(value.var)
            # No assembler writes a column past the end of a row, because it would be in the next row.
            if type_ is not None and SHORT_GRF_BYTES <= value.col * type_.size < LONG_GRF_BYTES:
                return GrfSize(
                    LONG_GRF_BYTES,
                    f"an address in {kernel.variable_name(value.var)} lies after byte {SHORT_GRF_BYTES - 1} of a row",
                )
    if shown is not None:
        return shown
    for kernel in module.kernels:
        for binary in kernel.gen_binaries:
            platform = platform_numbered(binary.platform) if binary.data else None
            if platform is not None:
                return GrfSize(platform.grf_bytes, f"its Gen binary is for {platform.name}")
    return GrfSize(SHORT_GRF_BYTES, "assumed: the object does not show it; choose it with --platform", certain=False)


def default_platform(grf_bytes: int = SHORT_GRF_BYTES) -> Platform:
    """Return the default platform with rows of this size."""
    platform = platform_named(DEFAULT_PLATFORM)
    assert platform is not None
    return structs.replace(platform, grf_bytes=grf_bytes)


def _values(kernel: Kernel, wanted: type[_T]) -> Iterator[_T]:
    return (value for inst in kernel.instructions for value in inst.values if isinstance(value, wanted))
