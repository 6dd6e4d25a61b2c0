"""The storage of a body's variables: aliases resolved to places in their root variables.

Numbers are the ids of the program. Variables of file scope, in older objects, count as roots with negative numbers.
A cycle of aliases ends where it closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.isa import predefined

if TYPE_CHECKING:
    from visa_lsp.program.model import Kernel

MAX_VARIABLE_BITS: Final = (
    1 << 16
)  # of one variable: four times the largest register file, because a text may claim any size
_R0, _UD_BYTES = 7, 4


class Location(Struct, frozen=True):
    """A general variable: its byte offset in the root variable number ``root``, its size and that of an element in bytes."""

    root: int
    offset: int
    size: int
    element: int


class Storage(Struct, frozen=True):
    """The general variables of a body by id, and the bytes of each root."""

    grf_bytes: int
    general: dict[int, Location]
    room: dict[int, int]

    def root(self, number: int) -> int:
        """Return the root of a variable; an unknown one is its own."""
        found = self.general.get(number)
        return number if found is None else found.root


def storage_of(kernel: Kernel, grf_bytes: int) -> Storage:
    """Return the storage of a resolved body."""
    declared = {n: (v.byte_size, v.type.size) for n, v in enumerate(kernel.variables, predefined.FIRST_VARIABLE)}
    aliases: dict[int, tuple[int, int]] = {}
    for number, variable in enumerate(kernel.variables, predefined.FIRST_VARIABLE):
        if variable.alias_scope:
            aliases[number] = (-1 - variable.alias_index, variable.alias_offset)
        elif variable.alias_index or variable.alias_offset:
            aliases[number] = (variable.alias_index, variable.alias_offset)
    return place(declared, aliases, grf_bytes)


def place(declared: dict[int, tuple[int, int]], aliases: dict[int, tuple[int, int]], grf_bytes: int) -> Storage:
    """Return the storage of variables given as ``id -> (bytes, bytes of an element)`` and ``id -> (base, byte offset in it)``."""
    sizes = {v.number: (v.num_elements * v.type.size, v.type.size) for v in predefined.VARIABLES}
    sizes[_R0] = (grf_bytes, _UD_BYTES)
    sizes |= declared
    ends: dict[int, tuple[int, int]] = {}
    general: dict[int, Location] = {}
    room: dict[int, int] = {}
    for number, (size, element) in sizes.items():
        chain: list[int] = []
        at = number
        while at in aliases and at not in ends and at not in chain:
            chain.append(at)
            at = aliases[at][0]
        # A chain may be as long as the body, so that its members share the result.
        root, offset = ends.get(at, (at, 0))
        for member in reversed(chain):
            offset += aliases[member][1]
            ends[member] = root, offset
        general[number] = Location(root, offset, size, element)
        room[root] = max(room.get(root, 0), min(offset + size, MAX_VARIABLE_BITS))
    return Storage(grf_bytes, general, room)
