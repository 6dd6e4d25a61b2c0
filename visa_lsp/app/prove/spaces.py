"""The memory of an access, and the offset in it: a buffer, shared local memory, private memory, or unknown.

Knows surfaces, pointers of arguments, and the marks of shared local memory; walks nothing. Invariant: an address
belongs to a buffer only if it is the buffer's pointer plus what may be an offset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from visa_lsp.app.prove.fences import GLOBAL_MEMORY, SHARED_MEMORY, Stretches
from visa_lsp.app.prove.terms import FALSE, TRUE, Atom, Claim, Sum, SumPool, atoms_of, both, negation
from visa_lsp.program.message import SLM_INDEX, STATELESS_INDEXES, MemoryKind
from visa_lsp.sim.messages import SLM_MASK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from visa_lsp.app.prove.payload import LaunchSymbols
    from visa_lsp.app.prove.registers import ItemRegisters
    from visa_lsp.program.message import MessageMemory
    from visa_lsp.program.payload import KernelInfo

MAX_POINTER_CHOICES: Final = 3  # conditions of an address that are followed, each both ways
Space = tuple[str, int]
SHARED: Final = "shared"
BUFFER: Final = "buffer"
UNKNOWN: Final = "unknown"
PRIVATE: Final = "private"
IMAGE: Final = "image"
VARIABLE: Final = "variable"
ARRAY: Final = "array"  # a variable that an indirect operand addresses
NO_POINTER: Final = "its address comes from no pointer"
PRIVATE_BASE: Final = "private_base"


@dataclass(frozen=True, slots=True, eq=False)
class ItemAccess:
    """An access of the work item: ``size`` bytes at ``offset`` of a memory, if ``path`` holds.

    ``intervals`` are the stretches between barriers that it may lie in, ``fences`` those between fences of its memory.
    ``why`` is the reason if its place or effect is not modelled. ``stored`` are the elements that it stores, as far as
    they are known.
    """

    instruction: int
    line: int
    write: bool
    atomic: bool
    space: Space
    offset: Sum
    size: int
    path: Claim
    intervals: frozenset[int]
    fences: Stretches
    why: str = ""
    stored: tuple[Sum, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LoadedElement:
    """The place of a loaded value: ``size`` bytes at ``offset`` of a memory."""

    space: Space
    offset: Sum
    size: int


class MemoryMap:
    """The memories of a kernel's arguments."""

    def __init__(self, pool: SumPool, info: KernelInfo, symbols: LaunchSymbols) -> None:
        self.pool, self.info, self.symbols = pool, info, symbols
        self.bindings = {one.bti_value: one.arg_index for one in info.bindings}
        self.images = {one.arg_index for one in info.payload if one.kind == "image"}
        self.flat: set[Space] = set()  # accessed by addresses of the flat memory, which may reach other buffers

    def pointer_cases(self, address: Sum) -> list[tuple[Claim, Sum]]:
        """Return an address that is chosen among pointers as one address for each of the pointers, with its condition."""
        cases: list[tuple[Claim, Sum]] = [(TRUE, address)]
        arguments = (*self.symbols.pointers.values(), *self.symbols.shared.values())
        pointers = {atom for value in arguments for atom, _ in value.factors}
        for _ in range(MAX_POINTER_CHOICES):
            tests = [next(choices_of(part, pointers), None) for _, part in cases]
            if not any(tests):
                break
            cases = [
                (both(condition, case), self.pool.assume(part, case) if test is not None else part)
                for (condition, part), test in zip(cases, tests, strict=True)
                for case in ((test, negation(test)) if test is not None else (TRUE,))
            ]
        return [one for one in cases if one[0] != FALSE]

    def space(
        self, memory: MessageMemory, address: Sum, registers: ItemRegisters, handle: Sum | None
    ) -> tuple[Space, Sum, str]:
        """Return the memory of an access, the offset in it, and the reason if it is unknown.

        ``handle`` is the value of the operand that names a surface.
        """
        if memory.is_scratch:
            return (PRIVATE, 0), address, "private memory is not modelled"
        if memory.is_flat:
            return self._flat(address)
        surface: int | None = memory.number
        if memory.kind is MemoryKind.VARIABLE:
            surface = registers.surfaces.get(memory.number)
        elif memory.kind is not MemoryKind.BINDING:
            surface = next((~index for index, one in self.symbols.handles.items() if one == handle), None)
        if memory.is_shared or surface == SLM_INDEX:
            return self._find_shared(address)
        if surface is not None and surface < 0:
            return (IMAGE if ~surface in self.images else BUFFER, ~surface), address, ""
        if surface in STATELESS_INDEXES:
            return self._flat(address)
        if surface is not None and surface in self.bindings:
            index = self.bindings[surface]
            if index in self.images:
                return (IMAGE, index), address, ""
            return (BUFFER, index), address, ""
        return (UNKNOWN, 0), address, "its surface is not known"

    @cached_property
    def _first_local(self) -> int | None:
        """The first local argument, which lies behind the kernel's own arrays: its value is 0, which compilers know."""
        return min((one.arg_index for one in self.info.payload if one.kind == "local"), default=None)

    def place_in_shared(self, access: ItemAccess) -> ItemAccess:
        """Return an access of the first local argument by its offset in shared local memory; others as they are."""
        if access.space != (SHARED, self._first_local):
            return access
        return replace(access, space=(SHARED, -1), offset=access.offset + self.info.env.slm_size)

    def _find_shared(self, address: Sum) -> tuple[Space, Sum, str]:
        own_bytes = (
            self.info.env.slm_size
        )  # of the kernel's own arrays, which it adds to the values of its local arguments
        for index, symbol in self.symbols.shared.items():
            atom = symbol.factors[0][0]
            if any(one is atom and factor == 1 for one, factor in address.factors):
                return (SHARED, index), self._remove_tag(address - symbol + -own_bytes), ""
        address = self._remove_tag(address)
        if self._first_local is not None and address.constant >= own_bytes:
            return (SHARED, self._first_local), address + -own_bytes, ""
        return (SHARED, -1), address, ""

    def _remove_tag(self, address: Sum) -> Sum:
        """Return an address of shared local memory without the bits that mark it as one."""
        return address - self.pool.quotient(address, SLM_MASK + 1) * (SLM_MASK + 1)

    def _flat(self, address: Sum) -> tuple[Space, Sum, str]:
        space_of_symbol = {symbol.factors[0][0]: (BUFFER, index) for index, symbol in self.symbols.pointers.items()}
        variables = enumerate(self.symbols.variables.values())
        space_of_symbol |= {symbol.factors[0][0]: (VARIABLE, number) for number, symbol in variables}
        space_of_symbol |= {atom: (PRIVATE, 0) for atom, _ in address.factors if atom.name.startswith(PRIVATE_BASE)}
        for base, factor in address.factors:
            if factor != 1 or base not in space_of_symbol:
                continue
            rest = address - Sum(((base, 1),), 0)
            # Addresses have 64 bits, so that multiples of 2^64 do not change an offset of less than 2^63.
            constant = (rest.constant + (1 << 63)) % (1 << 64) - (1 << 63)
            rest = Sum(tuple([pair for pair in rest.factors if pair[1] % (1 << 64)]), constant)
            low, high = self.pool.limits(rest)
            if (low < -(1 << 63) or high >= 1 << 63) and not any(atom.line for atom, _ in rest.factors):
                rest = self.pool.wrap(rest, 64, signed=True)
                low, high = self.pool.limits(rest)
            if low >= -(1 << 63) and high < 1 << 63 and not any(one in space_of_symbol for one in atoms_of(rest)):
                space = space_of_symbol[base]
                self.flat.add(space)
                return space, rest, "private memory is not modelled" if space[0] == PRIVATE else ""
        low, high = self.pool.limits(address)
        if low >= 0 and high < 1 << 32:
            return (UNKNOWN, 0), address, NO_POINTER
        return (UNKNOWN, 0), address, "its address does not come from one pointer argument"


def memory_of(space: Space) -> int:
    """Return the memory that a fence must cover for accesses of a space."""
    return SHARED_MEMORY if space[0] == SHARED else GLOBAL_MEMORY


def join_accesses(access: ItemAccess, other: ItemAccess) -> ItemAccess | None:
    """Return one access for two accesses of an instruction that overlap or are adjacent; None for others."""
    same = (access.instruction, access.space, access.path, access.intervals, access.fences, access.why) == (
        other.instruction, other.space, other.path, other.intervals, other.fences, other.why
    )  # fmt: skip
    apart = other.offset - access.offset
    if not same or access.atomic or not apart.is_constant or not 0 <= apart.constant <= access.size:
        return None
    stored = access.stored if access.stored == other.stored and not apart.constant else ()
    if access.stored and other.stored and apart.constant == access.size:
        stored = (*access.stored, *other.stored)
    return replace(access, size=max(access.size, apart.constant + other.size), stored=stored)


def choices_of(address: Sum, pointers: Collection[Atom]) -> Iterator[Claim]:
    """Yield the conditions that choose between parts of an address with pointers."""
    for atom in atoms_of(address):
        if atom.test is not None and any(one in pointers for one in atoms_of(*atom.parts)):
            yield atom.test
