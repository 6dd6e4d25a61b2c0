"""A capture: one enqueue that was recorded on a machine, with its program, arguments and results.

The readers of the formats build these values, ``importing`` writes them as a launch. Nothing here knows a format.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

Triple = tuple[int, int, int]

MAX_PROGRAM_BYTES: Final = 64 << 20
MAX_FACTS_BYTES: Final = 1 << 20  # of a small file: sizes, options, names


class CapturedBuffer(Struct, frozen=True):
    """A buffer before and after the enqueue; ``after`` is None if it was not recorded.

    ``dtype`` and ``shape`` are empty if the capture does not have them. ``identity`` is equal for arguments that were one
    allocation, and empty if unknown.
    """

    before: bytes
    after: bytes | None = None
    dtype: str = ""
    shape: tuple[int, ...] = ()
    identity: bytes = b""


class CapturedImage(Struct, frozen=True):
    """An image before and after the enqueue. ``shape`` ends with the channels; ``is_bgra`` has blue first.

    ``identity`` is that of a buffer.
    """

    before: bytes
    after: bytes | None
    dtype: str
    format: str
    shape: tuple[int, ...]
    is_bgra: bool = False
    identity: bytes = b""


class CapturedSampler(Struct, frozen=True):
    """The state of a sampler, in the words of a launch file."""

    address: str
    filter: str
    normalized: bool


class CapturedValue(Struct, frozen=True):
    """The bytes that the host passed for an argument: of a value, or of a pointer without recorded contents."""

    data: bytes


class CapturedSize(Struct, frozen=True):
    """An argument for which the host passed a size alone: local memory, or a null pointer."""

    size: int


CapturedArg = CapturedBuffer | CapturedImage | CapturedSampler | CapturedValue | CapturedSize


class CapturedProgram(Struct, frozen=True):
    """A program: OpenCL C, SPIR-V or a device binary. ``name`` is its file in the capture."""

    name: str
    data: bytes
    is_binary: bool = False


class Capture(Struct, frozen=True):
    """A recorded enqueue.

    ``programs`` are forms of one program, the best first. ``args`` has the recorded files of each argument, the most
    specific first; some may be of an earlier kernel. ``local_size`` is None if the driver chose it. ``shared_bytes`` is
    the size of a local argument after the recorded ones, None if all arguments are recorded.
    """

    name: str
    kernel: str
    programs: tuple[CapturedProgram, ...]
    options: str
    args: tuple[tuple[CapturedArg, ...], ...]
    global_size: Triple
    local_size: Triple | None
    global_offset: Triple = (0, 0, 0)
    shared_bytes: int | None = None
    notes: tuple[str, ...] = ()
