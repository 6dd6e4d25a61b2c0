"""Facts about a kernel for the cross-check and ``emit``, from its resolved program.

Knows instruction mnemonics and field names of ``program``, no text. A ``KernelText`` adds places in a text. Invariant: an
instruction counts for its certain effects only, not for those that depend on values at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from visa_lsp.program.model import Immediate, Input, Inst, Kernel, State
from visa_lsp.program.traits import FlowClass, Trait
from visa_lsp.text import Span

_SLM_SFID: Final = 3
_BTI_ADDRESS: Final = 4
_FIRST_SURFACE: Final = 6
_START: Final = Span(0, 0)


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel and the places of its parts in a text; without a text every place is the text's start."""

    kernel: Kernel
    path: str
    name: Span = _START
    inputs: tuple[Span, ...] = ()
    attributes: Mapping[str, Span] = field(default_factory=dict)
    line: Callable[[int], Span] | None = None

    def input(self, index: int) -> Span:
        """Return the place of the input with a number."""
        return self.inputs[index] if index < len(self.inputs) else self.name

    def attribute(self, name: str) -> Span:
        """Return the place of a kernel attribute; the kernel's name if it has none."""
        return self.attributes.get(name, self.name)

    def instruction(self, inst: Inst) -> Span:
        """Return the place of an instruction."""
        return self.line(inst.line) if self.line is not None and inst.line >= 0 else self.name


@dataclass(frozen=True, slots=True)
class Uses:
    """The first instruction of each kind described in documents; None if the kernel has none."""

    barrier: Inst | None = None
    stack_call: Inst | None = None
    global_atomic: Inst | None = None
    dpas: Inst | None = None
    sample: Inst | None = None
    slm: Inst | None = None
    stateless_write: Inst | None = None
    named_barriers: int = 0
    surfaces: Mapping[int, Inst] = field(default_factory=dict)


def input_name(kernel: Kernel, entry: Input) -> str:
    """Return the name of an input's variable."""
    kind = entry.kind & 7
    if kind == 0:
        return kernel.variable_name(entry.id)
    states, base = (kernel.samplers, 0) if kind == 1 else (kernel.surfaces, _FIRST_SURFACE)
    index = entry.id - base
    return kernel.string(states[index].name_index) if 0 <= index < len(states) else f"{'_ST'[min(kind, 2)]}{entry.id}"


def uses_of(kernel: Kernel) -> Uses:
    """Read the code of a kernel."""
    inst_by_use: dict[str, Inst] = {}
    surfaces: dict[int, Inst] = {}
    for inst in kernel.instructions:
        row = inst.row
        if row.has(Trait.BARRIER):
            inst_by_use.setdefault("barrier", inst)
        elif row.flow is FlowClass.FUNCTION_CALL:
            inst_by_use.setdefault("stack_call", inst)
        elif row.has(Trait.MATRIX):
            inst_by_use.setdefault("dpas", inst)
        elif row.has(Trait.SAMPLES):
            inst_by_use.setdefault("sample", inst)
        if _is_slm(inst):
            inst_by_use.setdefault("slm", inst)
        elif row.has(Trait.ATOMIC):
            inst_by_use.setdefault("global_atomic", inst)
        if row.has(Trait.STATELESS_WRITE):
            inst_by_use.setdefault("stateless_write", inst)
        number = _surface_number(inst)
        if number is not None:
            surfaces.setdefault(number, inst)
    return Uses(**inst_by_use, named_barriers=kernel.int_attribute("NBarrierCnt") or 0, surfaces=surfaces)


def _is_slm(inst: Inst) -> bool:
    if inst.row.has(Trait.FENCE):
        return False
    if "sfid" in inst.row.index:
        return inst.get("sfid") == _SLM_SFID
    return inst.get("surface") == 0


def _surface_number(inst: Inst) -> int | None:
    """Return the binding table index in the text of an instruction."""
    if inst.row.has(Trait.MOVES_STATE):
        target, value = inst.get("dst"), inst.get("src0")
        if (
            isinstance(target, State)
            and not target.sampler
            and target.var >= _FIRST_SURFACE
            and isinstance(value, Immediate)
        ):
            return value.bits if value.bits < 256 else None
        return None
    if inst.get("addrtype") == _BTI_ADDRESS and inst.get("sfid") != _SLM_SFID:
        surface = inst.get("surface")
        if isinstance(surface, Immediate):
            return surface.bits if surface.bits < 240 else None
    return None
