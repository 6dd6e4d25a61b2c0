"""The values of `exec`: programs as a host builds them, launches as a host enqueues them, and what came of them.

Knows neither OpenCL's numbers nor sockets; the adapter in ``opencl`` converts. Nothing here runs anything.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from visa_lsp.sim.launch.config import Arg, Array


class ProgramForm(Enum):
    """The form in which a host gives a program."""

    SOURCE = "S"
    SPIRV = "I"
    BINARY = "B"
    LINKED = "L"


class Step(Enum):
    """The purpose of a build: an executable, or a part for a later link."""

    BUILD = "B"
    COMPILE = "C"
    LINK = "L"


class Verdict(Enum):
    """The end of a build."""

    BUILT = "built"
    ERRORS = "errors"
    BAD_OPTIONS = "bad options"
    NO_COMPILER = "no compiler"
    BAD_BINARY = "bad binary"


class BuildRequest(Struct, frozen=True):
    """A build. ``headers`` are names and texts of included programs, ``parts`` the numbers of linked ones.

    ``folder`` is the current folder of the host, to which folders of includes are relative.
    """

    form: ProgramForm
    step: Step
    data: bytes
    options: str
    headers: tuple[tuple[str, bytes], ...] = ()
    parts: tuple[int, ...] = ()
    folder: str = ""


class CompiledProgram(Struct, frozen=True):
    """A compiled program for the cache: the zebin, and the texts of kernels and functions; or errors without both.

    ``ze_info`` and ``sections``, the fields of DataSection, are those of the zebin, because a reader of ELF files takes 50 ms to load.
    """

    zebin: bytes
    texts: tuple[tuple[str, bool, str], ...]  # name, is a kernel, text
    log: str
    ze_info: str = ""
    sections: tuple[tuple[str, bytes, str, dict[str, int], tuple[tuple[int, str, int], ...]], ...] = ()


class KernelParameter(Struct, frozen=True):
    """A parameter of a kernel: its kind (``value``, ``buffer``, ``local``, ``image``, ``sampler``), type and qualifiers.

    ``size`` is that of a value in bytes, 0 if unknown.
    """

    name: str
    kind: str
    type: str
    size: int
    address: str
    access: str
    qualifiers: str = ""


class ProgramKernel(Struct, frozen=True):
    """The facts of a kernel that a host may query. ``attributes`` are those of the source, separated by spaces."""

    name: str
    parameters: tuple[KernelParameter, ...]
    lanes: int
    required: tuple[int, int, int]
    local_bytes: int
    private_bytes: int
    is_ragged: bool  # the last groups may have fewer work items
    attributes: str


class ProgramBuild(Struct, frozen=True):
    """The result of a build: its number for launches and links, the compiler's log, and bytes that build it again."""

    verdict: Verdict
    log: str
    number: int = 0
    is_executable: bool = False
    is_library: bool = False
    binary: bytes = b""
    kernels: tuple[ProgramKernel, ...] = ()


class Allocation(Struct, frozen=True):
    """The memory behind an argument, in a host's words: the number of the allocation, its size, and the part of it.

    The number is 0 for a pointer that leads to no allocation.
    """

    number: int
    size: int
    origin: int
    part: int
    is_released: bool = False

    def describe(self) -> str:
        """Return words for a report."""
        if not self.number:
            return "a pointer to no shared memory: behind its end, to memory that was freed, or to memory of the program alone"
        words = f"buffer {self.number} of {self.size} bytes"
        if self.part != self.size:
            words = f"bytes {self.origin} to {self.origin + self.part - 1} of {words}"
        return words + (", which the program has released" if self.is_released else "")


class Enqueue(Struct, frozen=True):
    """A launch as a host enqueues it; ``local_size`` is None if it leaves that open. ``shared`` lies at fixed addresses.

    ``shared_numbers`` has the numbers of those allocations by address. ``command`` is its number in the record of the order of commands, 0 if it can only be ordered.
    """

    program: int
    kernel: int
    dimensions: int
    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int] | None
    global_offset: tuple[int, int, int]
    args: tuple[Arg, ...]
    allocations: dict[int, Allocation]  # by index of the argument
    shared: tuple[tuple[int, Array], ...] = ()
    shared_numbers: dict[int, int] = {}
    command: int = 0


class Refusal(Struct, frozen=True):
    """A call that did nothing, and why.

    ``is_harmless`` if a device of this kind has no such thing and says so, or the program went another way.
    """

    call: str
    reason: str
    is_harmless: bool = False
