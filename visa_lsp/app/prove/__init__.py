"""Proofs that kernels have no race and no access out of bounds in any launch, or a launch with the fault."""

from enum import Enum
from typing import Any, Final

from msgspec import Struct

PROPERTIES: Final = ("race", "bounds", "divergence", "uninitialised")


class Cause(Enum):
    """The cause of an unknown access that says something about other answers, too."""

    CONTENTS = "contents"  # contents of a buffer lead it anywhere, so that a launch with a fault shows no mistake
    OPEN = "open"  # nothing gives a size of the buffer
    SIZE = "size"  # the need of the buffer is known, and exceeds what a host would choose


class BufferNeed(Struct, frozen=True):
    """The least number of elements of a buffer, as a formula of arguments and sizes: ``n + 1``.

    ``unit`` is elements, or bytes where elements have one or their type is unknown. ``exceeds`` is the natural size that a
    need exceeds, ``n``. ``vector`` is the type of elements that are vectors, ``float4``.
    """

    buffer: str
    elements: str
    unit: str = "elements"
    exceeds: str | None = None
    vector: str = ""


class ProofResult(Struct, frozen=True):
    """The answer for a property and a line of the text, from 1.

    ``answer`` is proved, refuted, unknown, or bounded (proved for the first rounds of loops only). ``launch`` is the
    text of a launch file that shows the fault, ``faults`` are those of its run at this line, as ``run`` has them in JSON.
    ``source`` is the place in the source that the text was compiled from, ``path:line``; ``buffer`` is the memory accessed there, ``needs`` are the sizes of buffers that the answer presumes.
    """

    property: str
    kernel: str
    line: int
    answer: str
    assumptions: tuple[str, ...] = ()
    launch: str | None = None
    reason: str | None = None
    cause: Cause | None = None
    source: str | None = None
    buffer: str | None = None
    needs: tuple[BufferNeed, ...] = ()
    faults: tuple[dict[str, Any], ...] = ()
