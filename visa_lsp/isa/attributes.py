"""Attributes of kernels and variables: names, kinds, legal values.

Sources: seed 000 "Pre-defined Attributes", seed 003 (the two lists), objects of the finalizer for each kind, and
``visa/include/VISAAttributes.h`` of the public compiler for today's names.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from msgspec import Struct


class AttributeKind(Enum):
    """The kind of value that an attribute takes."""

    FLAG = "no value"
    INTEGER = "an integer"
    STRING = "a string"


class AttributeDef(Struct, frozen=True):
    """An attribute. ``values`` is None if any value of the kind is legal."""

    name: str
    of_variable: bool
    kind: AttributeKind
    doc: str
    values: tuple[int | str, ...] | None = None


_F, _I, _S = AttributeKind.FLAG, AttributeKind.INTEGER, AttributeKind.STRING

ATTRIBUTES: Final[tuple[AttributeDef, ...]] = (
    AttributeDef("Extern", False, _F, "The function is defined in another object."),
    AttributeDef("NoBarrier", False, _F, "The kernel has no barrier."),
    AttributeDef("Callable", False, _F, "May be called through a pointer."),
    AttributeDef("Caller", False, _F, "Calls through a pointer."),
    AttributeDef("Composable", False, _F, "May be composed with other kernels."),
    AttributeDef("Entry", False, _F, "Entry point of the program."),
    AttributeDef("SepSpillPvtSS", False, _F, "Spill and private memory have surface states of their own."),
    AttributeDef("LTO_InvokeOptTarget", False, _F, "Call target that link-time optimization may inline."),
    AttributeDef("AllLaneActive", False, _F, "Every lane is active when the function is entered."),
    AttributeDef("DisableLoadThreadPayloadWA", False, _F, "Leaves out the workaround that loads the thread payload."),
    AttributeDef(
        "Target",
        False,
        _I,
        "The software that produced the kernel: `3d` (value 1, also compute) or `cm` (value 0).",
        ("3d", "cm", "cs", 0, 1),
    ),
    AttributeDef("SLMSize", False, _I, "Shared local memory of a thread group, in KB; zero: T0 may not be used."),
    AttributeDef("SpillMemOffset", False, _I, "Offset in scratch space where spills may begin, in bytes; GRF-aligned."),
    AttributeDef("ArgSize", False, _I, "Size of %arg that a function takes, in GRF registers (0 to 32)."),
    AttributeDef("RetValSize", False, _I, "Size of %retval that a function gives, in GRF registers (0 to 12)."),
    AttributeDef("PerThreadInputSize", False, _I, "Bytes of the per-thread part of the payload."),
    AttributeDef("perThreadInputSize", False, _I, "PerThreadInputSize as compilers of 3.x objects spelt it."),
    AttributeDef("CrossThreadInputSize", False, _I, "Bytes of the cross-thread part of the payload."),
    AttributeDef("SimdSize", False, _I, "SIMD width of the kernel: lanes per thread.", (1, 8, 16, 32)),
    AttributeDef("NumGRF", False, _I, "Number of GRF registers; 0 lets the finalizer choose."),
    AttributeDef("NBarrierCnt", False, _I, "Number of named barriers."),
    AttributeDef("MaxRegThreadDispatch", False, _I, "Highest register that thread dispatch fills."),
    AttributeDef("ScratchInlineOffset", False, _I, "Offset of the scratch pointer in inline data."),
    AttributeDef("ScratchIndirectRegOffset", False, _I, "Register offset of the pointer to indirect data."),
    AttributeDef("ScratchIndirectMemOffset", False, _I, "Memory offset of the scratch pointer in indirect data."),
    AttributeDef("OutputAsmPath", False, _S, "Name of the native assembly file that the finalizer writes."),
    AttributeDef("AsmName", False, _S, "Older name of OutputAsmPath; stored under that name."),
    AttributeDef("Input", True, _F, "The variable is an input."),
    AttributeDef("Output", True, _F, "The variable stays live at the kernel's end."),
    AttributeDef("Input_Output", True, _F, "The variable is an input and stays live at the end."),
    AttributeDef("PayloadLiveOut", True, _F, "The variable is part of the payload of the last message."),
    AttributeDef("NoWidening", True, _F, "The finalizer may not widen accesses to the variable."),
    AttributeDef("DoNotSpill", True, _F, "The variable may not be spilled."),
    AttributeDef("ForceSpill", True, _F, "The variable is always spilled."),
    AttributeDef("ExclusiveLoad", True, _F, "Each load defines other lanes of the variable."),
    AttributeDef("Scope", True, _I, "0: visible in the whole kernel, 1: in one subroutine.", (0, 1)),
    AttributeDef("SurfaceUsage", True, _I, "How a surface variable is used."),
)

KERNEL_ATTRIBUTES: Final = {a.name: a for a in ATTRIBUTES if not a.of_variable}
VARIABLE_ATTRIBUTES: Final = {a.name: a for a in ATTRIBUTES if a.of_variable}
