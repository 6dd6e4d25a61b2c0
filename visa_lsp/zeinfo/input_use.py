"""The uses of inputs in the code of a kernel: the flow of their values, and reads, writes and atomics on them.

Knows instruction fields by name, no ze_info. One pass over the code, independent of its order, except that a surface or
sampler variable has the value of the last ``movs``, because compilers set it directly before each use. Invariant:
values are followed through general variables only, not through memory, so that every use is certain.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec import field as member

from visa_lsp.flow.bit_accesses import accesses_of
from visa_lsp.flow.steps import AccessPurpose, Space, number_of, space_of
from visa_lsp.flow.storage import storage_of
from visa_lsp.flow.value_flow import ValueFlow
from visa_lsp.program.message import MemoryKind, memory_of
from visa_lsp.program.model import General, Immediate, Inst, Kernel, RawOperand, State, Value
from visa_lsp.program.traits import Trait

R0: Final = 7
THREAD_NUMBERS: Final = (12, 13)  # %hw_id, %sr0
PREDEFINED: Final = (R0, *THREAD_NUMBERS)
FIRST_DECLARED: Final = 32
_SOME_GRF: Final = 32  # any size, because the variable of an operand does not depend on it
_POINTER_BYTES: Final = 8
_SOURCES: Final = ("src0", "src1", "src2")
_ADDRESSES: Final = ("address", "off", "offset", "goff", "src0")


def has_own_memory(kernel: Kernel) -> bool:
    """Return whether the kernel certainly has shared local memory: an address not from memory or a pointer.

    Code for pointers of any address space also has instructions for shared local memory, which may never run.
    """
    flow = InputUse(kernel)
    pointers = {flow.root(e.id) for e in kernel.arguments if e.kind & 7 == 0 and e.size == _POINTER_BYTES}
    given = flow.find_reached(flow.loaded | pointers)
    return any(root is None or root not in given for root in flow.slm_roots)


class Surface(Struct):
    """The uses of one index of the binding table."""

    typed: bool = False
    sampled: bool = False
    coordinates: int = 0  # 0: unknown
    written: bool = False
    origins: set[int] = member(default_factory=set)  # origins of the addresses in it


class InputUse:
    """The uses of a kernel's inputs; ids are those of general variables, without aliases."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.read: set[int] = set()
        self.written: set[int] = set()  # variables whose values reach the address of a write or an atomic operation
        self.counted: set[int] = set()  # the same for atomic operations
        self.slm: list[frozenset[int]] = []  # the origins of each address in shared local memory
        self.slm_roots: list[int | None] = []  # the addresses themselves; None for an immediate
        self.loaded: set[int] = set()  # variables written by messages
        self.targets: set[int] = set()  # variables written by any instruction
        self.computed: set[int] = set()  # variables read by anything except a comparison with zero
        self.surfaces: dict[int, Surface] = {}
        self.samplers: set[int] = set()
        self.surface_handles: set[int] = set()  # variables that are moved to a surface variable
        self.sampler_handles: set[int] = set()
        self._products: list[tuple[int, int]] = []
        self._sums: list[tuple[int, int]] = []
        self._values = ValueFlow()
        self._storage = storage_of(kernel, _SOME_GRF)
        self._messages: list[tuple[Inst, int | None, int | None]] = []
        self._state: dict[tuple[bool, int], int | None] = {}
        for inst in kernel.instructions:
            self._instruction(inst)
        self._settle()

    def root(self, id_: int) -> int:
        """Return the variable at the end of an alias chain."""
        return self._storage.root(id_)

    @cached_property
    def origins(self) -> dict[int, frozenset[int]]:
        """For each variable, the inputs and members of ``PREDEFINED`` that its value may depend on, including itself."""
        return self._values.origins(
            {self.root(e.id) for e in self.kernel.arguments if e.kind & 7 == 0} | set(PREDEFINED)
        )

    def find_reached(self, sources: Iterable[int]) -> set[int]:
        """Return the variables that may depend on the given variables, including these."""
        return self._values.find_reached(sources)

    def of(self, id_: int) -> frozenset[int]:
        """Return the origins of one variable."""
        return self.origins.get(id_, frozenset((id_,)))

    def products(self, id_: int) -> list[frozenset[int]]:
        """Return, for each product with a variable or a copy of it as a factor, the origins of the other factor."""
        return self._partners(id_, self._products)

    def sums(self, id_: int) -> list[frozenset[int]]:
        """Return, for each sum with a variable or a copy of it as a term, the origins of the other term."""
        return self._partners(id_, self._sums)

    def _partners(self, id_: int, pairs: Iterable[tuple[int, int]]) -> list[frozenset[int]]:
        partners = []
        for left, right in pairs:
            if id_ in self.of(left):
                partners.append(self.of(right))
            if id_ in self.of(right):
                partners.append(self.of(left))
        return partners

    def _settle(self) -> None:
        """Follow the addresses of messages back to their origins."""
        for inst, address, number in self._messages:
            origins = self.of(address) if address is not None else frozenset()
            if _is_slm(inst):
                self.slm.append(origins)
                self.slm_roots.append(address)
                continue
            if number is not None:
                self.surfaces[number].origins |= origins
            if inst.row.has(Trait.ATOMIC):
                self.counted |= origins
            if inst.row.has(Trait.ATOMIC | Trait.WRITES):
                self.written |= origins

    # One instruction.

    def _instruction(self, inst: Inst) -> None:
        row = inst.row
        touched = [a for a in accesses_of(inst, self._storage) if space_of(a.variable) is Space.GENERAL and a.field]
        reads = {number_of(a.variable) for a in touched if not a.writes and a.purpose is AccessPurpose.VALUE}
        writes = {number_of(a.variable) for a in touched if a.writes}
        self.read |= reads - {0}
        if row.has(Trait.MOVES_STATE):
            self._movs(inst)
            return
        target = inst.get("dst")
        if not _compares_with_zero(inst):
            self.computed |= reads
        self.targets |= writes
        if isinstance(target, General):
            into = self.root(target.var)
            self._values.add(reads, into)
            pairs = self._products if row.has(Trait.PRODUCT) else self._sums if row.has(Trait.SUM) else None
            factors = [self.root(f.var) for key in _SOURCES if isinstance(f := inst.get(key), General)]
            if pairs is not None and len(factors) > 1:
                pairs += [(factors[0], factor) for factor in factors[1:]]
                pairs += [(factors[1], factor) for factor in factors[2:]]
            return
        self.loaded |= writes
        self._message(inst)

    def _movs(self, inst: Inst) -> None:
        target, value = inst.get("dst"), inst.get("src0")
        if not isinstance(target, State):
            return
        self._state[target.sampler, target.var] = value.bits if isinstance(value, Immediate) else None
        if isinstance(value, General):
            (self.sampler_handles if target.sampler else self.surface_handles).add(self.root(value.var))

    def _message(self, inst: Inst) -> None:
        handle = inst.get("surface")
        if isinstance(handle, General):
            self.surface_handles.add(self.root(handle.var))
        address = next((v for key in _ADDRESSES if (v := _variable(inst.get(key))) is not None), None)
        number = self._surface(inst)
        self._messages.append((inst, None if address is None else self.root(address), number))
        sampler = inst.get("sampler")
        if isinstance(sampler, int) and not isinstance(sampler, bool):
            state = self._state.get((True, sampler))
            if state is not None:
                self.samplers.add(state)
        if number is None:
            return
        surface = self.surfaces.setdefault(number, Surface())
        if inst.row.has(Trait.IMAGE) or inst.get("u") is not None:
            surface.typed = True
            surface.sampled |= inst.row.has(Trait.SAMPLES | Trait.LOADS_PIXELS)
            surface.coordinates = max(surface.coordinates, _coordinates(inst))
        surface.written |= inst.row.has(Trait.ATOMIC | Trait.WRITES)

    def _surface(self, inst: Inst) -> int | None:
        """Return the binding table index of a message, if it is in the text."""
        memory = memory_of(inst)
        number = memory.number if memory.kind is MemoryKind.BINDING else None
        if memory.kind is MemoryKind.VARIABLE:
            number = self._state.get((False, memory.number))
        return number if number is not None and number < 240 else None


def _compares_with_zero(inst: Inst) -> bool:
    other = inst.get("src1")
    return inst.row.has(Trait.COMPARES) and isinstance(other, Immediate) and not other.bits


def _variable(value: Value) -> int | None:
    return value.var if isinstance(value, General | RawOperand) and value.var else None


def _is_slm(inst: Inst) -> bool:
    return memory_of(inst).is_shared


def _coordinates(inst: Inst) -> int:
    """Return the number of coordinates of a typed message; 0 if its operands do not determine it."""
    if "u" in inst.row.index:
        return sum(_variable(inst.get(key)) is not None for key in ("u", "v", "r"))
    payload = inst.get("payload")
    if inst.row.has(Trait.NO_LEVEL) and isinstance(payload, tuple):  # other messages also give a level of detail
        return len(payload) if len(payload) <= 3 else 0
    return 2 if inst.row.has(Trait.MEDIA) else 0
