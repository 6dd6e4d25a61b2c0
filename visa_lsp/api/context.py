"""Memory at addresses that outlives a launch, for kernels that follow pointers.

Invariants: addresses are never used again, so that a pointer to freed memory leads nowhere; allocations are 64 KiB apart at
least, so that an overrun of one does not reach the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.app.exec.undefined import UNDEFINED_BYTES, undefined_bytes
from visa_lsp.program.elements import DTYPES
from visa_lsp.sim.launch.config import BufferArg, LaunchError, PlacedMemory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from visa_lsp.sim.launch.config import Array

_FIRST: Final = 0x10_0000_0000  # beyond 32 bits, so that a pointer that was cut off is noticed
_GAP: Final = 1 << 16


class Pointer(int):
    """An address as an argument of a launch. Adding or subtracting bytes gives another; in arrays it is a number of 64 bits."""

    def __add__(self, other: int) -> Pointer:
        return Pointer(int(self) + int(other))

    def __sub__(self, other: int) -> Pointer:
        return Pointer(int(self) - int(other))

    def __repr__(self) -> str:
        return f"Pointer({int(self):#x})"


class Allocation:
    """Memory of a context: ``array`` has its contents, ``address`` is a Pointer to its first byte."""

    def __init__(self, address: int, array: Array) -> None:
        self.address = Pointer(address)
        """The address of the first byte."""
        self.array = array
        """The contents, which launches and you may change; a NumPy array without gaps."""

    def __repr__(self) -> str:
        return f"<allocation of {self.array.nbytes} bytes at {int(self.address):#x}>"


class Context:
    """Memory of several launches, with fixed addresses. Created by ``visa_lsp.Context()``."""

    def __init__(self) -> None:
        self._next = _FIRST
        self._live: dict[int, Allocation] = {}

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """The allocations that are not freed, by address."""
        return tuple(self._live.values())

    def allocate(self, count: int, dtype: DTypeLike = np.uint8) -> Allocation:
        """Return memory of ``count`` elements whose bytes are undefined until you or a launch writes them.

        They hold a pattern, by which a later launch recognizes them. Raises ValueError for fewer than one element.
        """
        element = np.dtype(dtype)
        if count < 1 or not element.itemsize or element.hasobject:
            raise ValueError(f"cannot allocate {count} elements of {element}")
        words = np.full(-(-count * element.itemsize // 8), UNDEFINED_BYTES, np.uint64)
        return self._place(words.view(np.uint8)[: count * element.itemsize].view(element))

    def copy(self, contents: ArrayLike) -> Allocation:
        """Return memory with a copy of an array or of numbers."""
        array = np.array(contents, order="C")
        if not array.size or not array.ndim or array.dtype.hasobject:
            raise ValueError("expected an array with one element at least")
        return self._place(array)

    def free(self, allocation: Allocation) -> None:
        """End an allocation: a launch that uses its addresses has a fault. Raises ValueError if it is none of this context."""
        if self._live.get(allocation.address) is not allocation:
            raise ValueError(f"{allocation!r} is not, or no longer, in this context")
        del self._live[allocation.address]

    def _place(self, array: Array) -> Allocation:
        allocation = Allocation(self._next, array)
        self._live[self._next] = allocation
        self._next += -(-array.nbytes // _GAP) * _GAP + _GAP
        return allocation

    def __repr__(self) -> str:
        return f"<Context: {len(self._live)} allocations, {sum(a.array.nbytes for a in self._live.values())} bytes>"


class PlacedAllocations:
    """The memory of a context for one launch, and arguments that point into it."""

    def __init__(self, context: Context) -> None:
        self.memory: list[PlacedMemory] = []
        for number, allocation in enumerate(context.allocations, 1):
            raw = allocation.array.reshape(-1)
            mask = undefined_bytes(raw)
            name = f"allocation {number} of {raw.nbytes} bytes"
            defined: dict[str, Any] = {} if mask is None else {"undefined": True, "defined": ~mask}
            self.memory.append(PlacedMemory(name, _plain(raw), int(allocation.address), in_place=True, **defined))

    def argument(self, key: int | str, address: int) -> BufferArg:
        """Return the buffer of a pointer. Raises LaunchError if it leads nowhere."""
        for region in self.memory:
            start = address - region.address
            if 0 <= start < region.array.nbytes:
                if start == 0:
                    return BufferArg(region.array, in_place=True)
                whole = region.array if start % region.array.itemsize == 0 else region.array.view(np.uint8)
                return BufferArg(whole[start // whole.itemsize :], in_place=True, whole=region.array)
        raise LaunchError(f"argument {key}: no allocation of the context has the address {address:#x}", key)


def _plain(raw: Array) -> Array:
    """Return the same memory with elements that a launch supports."""
    return raw if raw.dtype.name in DTYPES else raw.view(np.uint8)
