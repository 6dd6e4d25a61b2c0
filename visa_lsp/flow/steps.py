"""The neutral form of an instruction: what both a bound text and a resolved program can say of one.

A text with errors in it gives steps as well: what is not known is left out (a label that does not exist is a target that no
step defines; an instruction without a meaning has no accesses but those of the names that it mentions).
"""

from __future__ import annotations

from enum import Enum, IntEnum

from msgspec import Struct

from visa_lsp.isa.model import FlowClass

LabelKey = int | str  # a number in a program, a name in a text: one kind in one body


class Space(IntEnum):
    """The classes of variables, each with a numbering of its own. In brackets: what a mask has a bit for."""

    GENERAL = 0  # [byte]
    ADDRESS = 1  # [element]
    PREDICATE = 2  # [lane]
    SAMPLER = 3  # [element]
    SURFACE = 4  # [element]


def variable_key(space: Space, number: int) -> int:
    """Return one number for a variable of a body: equal for equal space and id."""
    return number << 3 | space


def space_of(key: int) -> Space:
    """Return the class of a variable."""
    return Space(key & 7)


def number_of(key: int) -> int:
    """Return the id of a variable in its class."""
    return key >> 3


class AccessPurpose(Enum):
    """What an instruction takes a value for, or does with a variable."""

    VALUE = "computes with it, sends it, or writes it"
    GUARD = "leaves out lanes by it"
    ADDRESSES = "finds a register by it"
    HANDLE = "finds a surface or sampler by it"
    TAKEN = "takes its address"


class Access(Struct, frozen=True, gc=False):
    """What one operand does to one variable. Aliases are resolved: ``variable`` is the key of a root.

    ``possible`` are the bits (bytes, elements or lanes, see ``Space``) that may be touched, ``certain`` those that are
    whenever all lanes of the instruction run. ``field`` is the operand's field in the row.
    """

    field: str
    variable: int
    writes: bool
    possible: int
    certain: int = 0
    purpose: AccessPurpose = AccessPurpose.VALUE

    @property
    def first(self) -> int:
        """The lowest bit that may be touched; -1 if there is none."""
        return (self.possible & -self.possible).bit_length() - 1


class Step(Struct, frozen=True, gc=False):
    """One instruction, label or directive of a body, in the order of the body.

    ``condition`` is the text of the predicate that guards it, empty without one. ``lanes`` and ``no_mask`` are its execution
    size and whether the execution mask does not matter. ``indirect_read`` and ``indirect_write``: it also touches registers
    that are known only when it runs.
    """

    flow: FlowClass = FlowClass.NEXT
    line: int = -1
    label: LabelKey | None = None  # of LABEL and SUBROUTINE: what it defines
    targets: tuple[LabelKey, ...] = ()
    condition: str = ""
    lanes: int = 1
    no_mask: bool = False
    accesses: tuple[Access, ...] = ()
    indirect_read: bool = False
    indirect_write: bool = False

    @property
    def guarded(self) -> bool:
        """Whether a predicate may leave out all of its lanes."""
        return any(a.purpose is AccessPurpose.GUARD for a in self.accesses)
