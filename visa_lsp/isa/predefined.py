"""Predefined symbols: variables V0-V31, surfaces T0-T5, sampler S31.

Sources: seed 000 "General Variables", "Sampler Variables", "Surface Variables"; names and numbers of the real tools,
which take precedence over the seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from visa_lsp.isa.platforms import ALL
from visa_lsp.isa.types import UD, UQ, UW, DataType


class PredefinedVariable(Struct, frozen=True):
    """A general variable that every kernel has; ``number`` is its id in operands.

    ``%r0`` fills one GRF register: eight dwords, or sixteen if registers have 64 bytes.
    """

    number: int
    name: str
    type: DataType
    num_elements: int
    readable: bool
    writable: bool
    aliasable: bool
    doc: str
    # The writable elements, each with the platforms that have it; None: all of a writable variable.
    written: Mapping[int, frozenset[str]] | None = None


class ImplicitInput(Struct, frozen=True):
    """The content of an input that the runtime, not the caller, fills."""

    number: int
    name: str
    doc: str


class PredefinedState(Struct, frozen=True):
    """A surface or sampler that every kernel has."""

    number: int
    name: str
    doc: str


VARIABLES: Final[tuple[PredefinedVariable, ...]] = (
    PredefinedVariable(
        0,
        "%null",
        UD,
        1,
        False,
        False,
        False,
        "The null variable: the absence of a variable. Reads give zero, writes go nowhere.",
    ),
    PredefinedVariable(
        1, "%thread_x", UW, 1, True, False, False, "X coordinate of the thread in the thread space. Media mode only."
    ),
    PredefinedVariable(
        2, "%thread_y", UW, 1, True, False, False, "Y coordinate of the thread in the thread space. Media mode only."
    ),
    PredefinedVariable(
        3, "%group_id_x", UD, 1, True, False, False, "X component of the thread group's id. GPGPU mode only."
    ),
    PredefinedVariable(
        4, "%group_id_y", UD, 1, True, False, False, "Y component of the thread group's id. GPGPU mode only."
    ),
    PredefinedVariable(
        5, "%group_id_z", UD, 1, True, False, False, "Z component of the thread group's id. GPGPU mode only."
    ),
    PredefinedVariable(
        6,
        "%tsc",
        UD,
        5,
        True,
        True,
        False,
        "The timestamp register: element 0 low half, 1 high half, 2 bit 0 is set by a context switch since the last read, 4 bits 0-9 pause the thread for about that many cycles (ICLLP and later). Seed 000 calls it %tm.",
        {4: ALL - {"PVC", "PVCXT"}},
    ),
    PredefinedVariable(
        7,
        "%r0",
        UD,
        8,
        True,
        False,
        True,
        "The thread's payload header, one GRF register: element 1, 6 and 7 are the group id x, y and z in GPGPU mode.",
    ),
    PredefinedVariable(
        8, "%arg", UD, 256, True, True, True, "Arguments of a function call; undefined when a kernel starts."
    ),
    PredefinedVariable(
        9, "%retval", UD, 96, True, True, True, "Return value of a function call; undefined when a kernel starts."
    ),
    PredefinedVariable(10, "%sp", UQ, 1, True, True, True, "Stack pointer of calls; undefined when a kernel starts."),
    PredefinedVariable(11, "%fp", UQ, 1, True, True, True, "Frame pointer of calls; undefined when a kernel starts."),
    PredefinedVariable(
        12,
        "%hw_id",
        UD,
        1,
        True,
        False,
        True,
        "Number of the hardware thread, unique among all that run at the same time.",
    ),
    PredefinedVariable(
        13,
        "%sr0",
        UD,
        4,
        True,
        True,
        True,
        "State register. Element 2 is the dispatch mask: the lanes that were active at the thread's start.",
        {1: ALL, 2: ALL},
    ),
    PredefinedVariable(
        14,
        "%cr0",
        UD,
        3,
        True,
        True,
        False,
        "Control register: bit 0 ALT float mode, bits 4-5 rounding (0 nearest even, 1 up, 2 down, 3 to zero), bit 6 keeps df denormals, bit 7 f denormals, bit 10 hf denormals.",
    ),
    PredefinedVariable(
        15,
        "%ce0",
        UD,
        1,
        True,
        False,
        False,
        "Channel enable: the 32-bit execution mask of the instruction that reads it.",
    ),
    PredefinedVariable(16, "%dbg0", UD, 2, True, True, False, "Debug register."),
    PredefinedVariable(17, "%color", UW, 1, True, False, False, "Colour bits of the media dispatch. Media mode only."),
    PredefinedVariable(
        18,
        "%impl_arg_buf_ptr",
        UQ,
        1,
        True,
        True,
        True,
        "Address of the buffer of implicit arguments. Seed 000 calls it %implicit_arg_ptr.",
    ),
    PredefinedVariable(
        19,
        "%local_id_buf_ptr",
        UQ,
        1,
        True,
        True,
        True,
        "Address of the buffer of local ids. Seed 000 calls it %implicit_local_id_buf_ptr.",
    ),
    PredefinedVariable(20, "%msg0", UD, 3, True, False, False, "Message control register."),
)

FIRST_VARIABLE: Final = 32
FIRST_ADDRESS: Final = 0
FIRST_PREDICATE: Final = 1
FIRST_SAMPLER: Final = 0
FIRST_SURFACE: Final = 6

SURFACES: Final[tuple[PredefinedState, ...]] = (
    PredefinedState(0, "%slm", "Shared local memory of the thread group."),
    PredefinedState(1, "T1", "Reserved surface: stateless access through the binding table."),
    PredefinedState(2, "T2", "Reserved surface."),
    PredefinedState(3, "TSS", "The surface state heap, for reading surface states."),
    PredefinedState(4, "%bss", "The bindless surface: holds the address of a surface state."),
    PredefinedState(5, "%scratch", "The thread's scratch space."),
)
SAMPLERS: Final[tuple[PredefinedState, ...]] = (
    PredefinedState(31, "S31", "The bindless sampler: holds the address of a sampler state."),
)

VARIABLE_BY_NAME: Final[dict[str, PredefinedVariable]] = {v.name: v for v in VARIABLES} | {
    f"V{v.number}": v for v in VARIABLES
}
# Only in dialect 4.2 of today's compiler; the string pool of an object has no place for it.
SCRATCHLOC: Final = PredefinedVariable(
    21, "%scratchloc", UQ, 1, True, False, True, "Address of the scratch space (4.2)."
)

# Names of the seed for the same variables.
VARIABLE_ALIASES: Final[dict[str, str]] = {
    "%tm": "%tsc",
    "%implicit_arg_ptr": "%impl_arg_buf_ptr",
    "%implicit_local_id_buf_ptr": "%local_id_buf_ptr",
}
SURFACE_BY_NAME: Final[dict[str, PredefinedState]] = {s.name: s for s in SURFACES} | {
    f"T{s.number}": s for s in SURFACES
}
SURFACE_ALIASES: Final[dict[str, str]] = {"T252": "%bss"}
SAMPLER_BY_NAME: Final[dict[str, PredefinedState]] = {s.name: s for s in SAMPLERS}

# The contents of an input that the runtime fills, by the number after ``.implicit_UNDEFINED_``. Objects have only the
# numbers; the newest compilers write 16 for the last one, and print both 4 and 16 with its name.
_PSEUDO: Final = ImplicitInput(4, "PSEUDO_INPUT", "An input that no caller fills: its place is only reserved.")
IMPLICIT_INPUTS: Final[dict[int, ImplicitInput]] = {
    1: ImplicitInput(1, "LOCAL_SIZE", "Work items of a group in each dimension (3 x ud)."),
    2: ImplicitInput(2, "GROUP_COUNT", "Number of groups in each dimension (3 x ud)."),
    3: ImplicitInput(3, "LOCAL_ID", "Place of the work item in its group (3 x ud)."),
    4: _PSEUDO,
    16: _PSEUDO,
}

# Provenances of reserved registers, which are not arguments; 5 is what assemblers write for every name of an implicit input.
RESERVED_PROVENANCES: Final = frozenset({4, 5, 16})

# The string pool of every kernel starts with its name, followed by these.
POOL_PREFIX: Final[tuple[str, ...]] = (
    *(v.name for v in VARIABLES),
    *(s.name for s in SURFACES),
    *(s.name for s in SAMPLERS),
)
