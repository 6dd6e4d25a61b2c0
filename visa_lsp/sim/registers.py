"""The registers of one activation of a kernel or function, and the places of its variables.

One byte-addressed file per activation: predefined variables first, then every declared variable that is not an alias,
each on a register boundary; aliases are places inside others. Address variables hold byte numbers in that file,
predicates are 32-bit integers. Instructions access the file through views, which are created once per activation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import predefined
from visa_lsp.sim.faults import FaultKind, KernelFault
from visa_lsp.sim.values import Rounding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.program.model import FileVariable, Kernel, Variable
    from visa_lsp.sim.interp import Code, Thread

Array = np.ndarray[Any, np.dtype[Any]]

# Values of surface variables other than binding table indexes.
SLM_SURFACE: Final = -1
SCRATCH_SURFACE: Final = -2
STATELESS_SURFACE: Final = 0xFF
FIRST_HANDLE: Final = 0x1_0000  # first handle of surfaces and samplers, above every binding table index
# The value of %scratchloc and of the payload's scratch pointer: a handle of the thread's scratch space, above all other
# handles.
SCRATCH_HANDLE: Final = 0xFFFF_FF00

_NULL_GRFS: Final = 32


class RegisterLayout:
    """Byte offsets of the variables of a kernel in its register file. ``size`` grows with the operands."""

    def __init__(self, kernel: Kernel, grf_bytes: int, shared: Sequence[FileVariable] = ()) -> None:
        self.kernel = kernel
        self.grf_bytes = grf_bytes
        self._offsets: dict[int, int] = {}
        offset = _NULL_GRFS * grf_bytes
        self._offsets[0] = 0
        for variable in (*predefined.VARIABLES[1:], predefined.SCRATCHLOC):
            self._offsets[variable.number] = offset
            size = grf_bytes if variable.name == "%r0" else variable.num_elements * variable.type.size
            offset += -(-size // grf_bytes) * grf_bytes
        # Variables of file scope belong to the thread, not to a body, so that calls copy them with the predefined ones.
        self._shared: list[int] = []
        for variable_ in shared:
            self._shared.append(offset)
            offset += -(-max(1, variable_.num_elements * variable_.type.size) // grf_bytes) * grf_bytes
        self.predefined_end = offset
        for number, declared in enumerate(kernel.variables, predefined.FIRST_VARIABLE):
            if not is_alias(declared):
                self._offsets[number] = offset
                offset += -(-declared.byte_size // grf_bytes) * grf_bytes
        self.declared_end = offset
        self.size = offset + 8 * grf_bytes
        self.address_base = _bases(v.num_elements for v in kernel.addresses)
        self.surface_base: list[int] = [*range(predefined.FIRST_SURFACE)]
        base = predefined.FIRST_SURFACE
        for surface in kernel.surfaces:
            self.surface_base.append(base)
            base += max(1, surface.num_elements)
        self.surface_cells = base
        self.sampler_base = _bases(v.num_elements for v in kernel.samplers)
        self.sampler_cells = sum(max(1, v.num_elements) for v in kernel.samplers) + 1

    def offset(self, variable: int) -> int:
        """Return the byte offset of a variable in the register file, with aliases resolved.

        Raises KernelFault if there is no variable of the number.
        """
        offset = self._offsets.get(variable)
        if offset is not None:
            return offset
        declared = self.kernel.variable(variable)
        if declared is None:
            raise KernelFault(FaultKind.OPERAND, f"there is no variable V{variable}")
        if declared.alias_scope:
            if declared.alias_index >= len(self._shared):
                raise KernelFault(FaultKind.OPERAND, f"there is no variable {declared.alias_index} of file scope")
            self._offsets[variable] = offset = self._shared[declared.alias_index] + declared.alias_offset
            return offset
        self._offsets[variable] = 0  # a cycle of aliases ends here
        self._offsets[variable] = offset = self.offset(declared.alias_index) + declared.alias_offset
        return offset

    def root(self, variable: int) -> int:
        """Return the number of the variable at the end of an alias chain."""
        seen = set()
        declared = self.kernel.variable(variable)
        while declared and is_alias(declared) and not declared.alias_scope and variable not in seen:
            seen.add(variable)
            variable = declared.alias_index
            declared = self.kernel.variable(variable)
        return variable

    def byte_size(self, variable: int) -> int:
        """Return the size of a variable in bytes; for an alias, as declared."""
        declared = self.kernel.variable(variable)
        if declared:
            return declared.byte_size
        if variable == 7:
            return self.grf_bytes
        register = predefined.VARIABLES[variable] if variable < len(predefined.VARIABLES) else predefined.SCRATCHLOC
        return register.num_elements * register.type.size

    def at(self, place: int) -> int | None:
        """Return the variable, not an alias, that contains byte ``place`` of the file; None for padding."""
        declared = range(predefined.FIRST_VARIABLE, predefined.FIRST_VARIABLE + len(self.kernel.variables))
        number: int
        for number in (*range(1, predefined.FIRST_VARIABLE), *declared):
            start = self._offsets.get(number)
            if start is not None and self.root(number) == number and start <= place < start + self.byte_size(number):
                return number
        return None

    def need(self, end: int) -> None:
        """Grow the file to at least byte ``end``, by whole GRF rows."""
        self.size = max(self.size, -(-end // self.grf_bytes) * self.grf_bytes)


def is_alias(variable: Variable) -> bool:
    """Return whether a variable names part of another one, of its body or of the file."""
    return bool(variable.alias_index or variable.alias_offset or variable.alias_scope)


def _bases(counts: Iterable[int]) -> list[int]:
    bases: list[int] = []
    base = 0
    for count in counts:
        bases.append(base)
        base += max(1, count)
    return bases


class Frame:
    """An activation: registers, masks, and the current place.

    ``waiting`` holds the lanes that wait per instruction; ``calls`` the subroutine frames (return place, emask, call
    mask, waiting lanes, place of the subroutine).
    """

    __slots__ = (
        "addr", "call_mask", "calls", "code", "emask", "keep_df", "keep_f", "keep_hf", "pc", "plain", "preds", "regs",
        "rounding", "samplers", "shadow", "surfaces", "thread", "typed", "views", "waiting",
    )  # fmt: skip

    def __init__(self, code: Code) -> None:
        layout = code.layout
        self.code = code
        self.regs: Array = np.zeros(0, np.uint8)
        self.views: list[Array] = []
        self.typed: dict[int, Array] = {}
        self.grow()
        code.frames.append(self)
        self.addr: Array = np.zeros(sum(max(1, v.num_elements) for v in layout.kernel.addresses), np.int64)
        self.preds = [0] * (len(layout.kernel.predicates) + predefined.FIRST_PREDICATE)
        self.surfaces = [0] * layout.surface_cells
        self.samplers = [0] * layout.sampler_cells
        self.thread: Thread | None = None
        self.shadow: Any = None  # data that an observer attaches to this activation
        self.reset()

    def grow(self) -> None:
        """Grow the register file to the size of the layout; its contents stay."""
        old, size = self.regs, self.code.layout.size
        self.lie_in(np.zeros(size, np.uint8))
        self.regs[: old.size] = old

    def lie_in(self, regs: Array) -> None:
        """Replace the bytes of the register file by others."""
        self.regs, size = regs, regs.size
        self.views[:] = self.code.make_views(self.regs)
        self.typed = {s: self.regs[: size // s * s].view(f"<u{s}") for s in (1, 2, 4, 8)}

    def reset(self) -> None:
        """Set the initial state, with all registers zero."""
        self.regs[:] = 0
        self.addr[:] = 0
        self.preds[:] = [0] * len(self.preds)
        self.surfaces[:] = [0] * len(self.surfaces)
        self.surfaces[0], self.surfaces[1], self.surfaces[5] = SLM_SURFACE, STATELESS_SURFACE, SCRATCH_SURFACE
        self.samplers[:] = [0] * len(self.samplers)
        self.shadow = None
        self.emask = self.call_mask = 0
        self.waiting: dict[int, int] = {}
        self.calls: list[tuple[int, int, int, dict[int, int], int]] = []
        self.pc = 0
        self.set_modes(0)

    def set_modes(self, control: int) -> None:
        """Set rounding and denormal handling from the value of ``%cr0``."""
        self.rounding = Rounding(control >> 4 & 3)
        self.keep_df, self.keep_f, self.keep_hf = bool(control & 0x40), bool(control & 0x80), bool(control & 0x400)
        self.plain = self.rounding is Rounding.EVEN and self.keep_df and self.keep_f and self.keep_hf

    def word(self, offset: int) -> int:
        """Return the dword at a byte offset."""
        return int.from_bytes(self.regs[offset : offset + 4].tobytes(), "little")

    def put(self, offset: int, value: int, size: int = 4) -> None:
        """Write the low ``size`` bytes of an integer at a byte offset."""
        self.regs.data[offset : offset + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def next_waiting(self) -> int | None:
        """Deactivate all lanes and return the lowest place where lanes wait; None without any."""
        if not self.waiting:
            return None
        pc = min(self.waiting)
        self.emask = 0
        return pc
