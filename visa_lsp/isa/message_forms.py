"""The forms of messages: what a row says about a message beyond the names of its operands.

``program.message`` makes the value of one message from a form, a row and the operands. Knows no rows and no operands.
"""

from __future__ import annotations

from enum import Enum

from visa_lsp.isa.lane import Effect, Meaning


class MemoryUse(Enum):
    """The use of memory by a message."""

    READ = "reads"
    WRITE = "writes"
    ATOMIC = "updates"
    TEST = "asks whether it is present"


class Elements(Enum):
    """The fields that give the elements of each lane, their sizes, and their order in the registers."""

    OWORDS = "n owords for the whole thread, side by side"
    ONE = "one element of 1 << eltsize bytes, in a dword"
    SMALL = "one element of 1 << n bytes, in a dword"
    CHANNELS = "the dwords that chan selects, each in registers of its own"
    QWORDS = "1 << n qwords, each in registers of its own"
    BLOCKS = "1 << n blocks: bytes side by side, dwords and qwords in registers of their own"
    WIDTH = "one element of the width in bits 5 and 6 of op, in a dword or qword"
    SHAPE = "datasize, with elems and order or, in a quad message, with chmask"


class ElementForm(Effect, frozen=True):
    """A message that moves or updates elements in memory, at an address per lane or at one for the thread.

    ``address`` and ``data`` are fields. ``unit`` is the number of bytes that an address counts, 0 for the size of an
    element. ``flat``: addresses belong to the flat address space whatever the operands are. ``alignment`` is that of
    addresses, 0 for the size of an element.
    """

    use: MemoryUse
    elements: Elements
    address: str = "src0"
    data: str = "dst"
    unit: int = 1
    flat: bool = False
    alignment: int = 1
    sources: tuple[str, ...] = ()  # the operands of an atomic
    fetches: bool = False  # a load into the null register only fetches lines


class TexelForm(Effect, frozen=True):
    """A message to texels of an image, at coordinates u, v and r of each lane. ``alpha``: of texels outside, alpha is 1."""

    use: MemoryUse
    data: str = "dst"
    alpha: bool = False
    sources: tuple[str, ...] = ()


class BlockForm(Effect, frozen=True):
    """A message that moves a rectangle for the whole thread.

    ``corner`` are the fields of x and y; empty for a matrix in flat memory, which six numbers describe. ``edge``: outside
    of the surface the nearest pixel is read.
    """

    use: MemoryUse
    data: str = "dst"
    corner: tuple[str, ...] = ()
    edge: bool = False


class SampleForm(Effect, frozen=True):
    """A message of the sampler. ``older``: the lanes are in the channel byte, and coordinates are operands of their own.

    ``floats``: its parameters are floats. ``gathers``: it returns one channel of four texels. ``finest``: its parameters
    are the coordinates alone, at level of detail 0, as in OpenCL.
    """

    older: bool = False
    floats: bool = False
    gathers: bool = False
    finest: bool = False


class FenceForm(Effect, frozen=True):
    """A fence; ``shared`` None: the field of the unit says which memory it orders."""

    shared: bool | None = None


MessageForm = ElementForm | TexelForm | BlockForm | SampleForm | FenceForm


def data_fields(meaning: Meaning | None) -> tuple[str, ...]:
    """Return the fields of a message that are data, not addresses; none for other instructions."""
    match meaning:
        case ElementForm(data=data, sources=sources) | TexelForm(data=data, sources=sources):
            return (data, *sources)
        case BlockForm(data=data):
            return (data,)
    return ()
