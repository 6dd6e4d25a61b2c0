"""The neutral form of an instruction, common to bound texts and resolved programs.

A text with errors has steps too, without the unknown parts: an unknown label is a target that no step defines, and an
instruction without a meaning only accesses the names in it.
"""

from __future__ import annotations

from enum import Enum, IntEnum

from msgspec import Struct

from visa_lsp.isa.model import FlowClass

LabelKey = int | str  # a number in a program, a name in a text; the same kind throughout a body


class Space(IntEnum):
    """The classes of variables, each numbered separately. In brackets: the unit of a mask's bits."""

    GENERAL = 0  # [byte]
    ADDRESS = 1  # [element]
    PREDICATE = 2  # [lane]
    SAMPLER = 3  # [element]
    SURFACE = 4  # [element]


def variable_key(space: Space, number: int) -> int:
    """Return a number that identifies a variable of a body by space and id."""
    return number << 3 | space


def space_of(key: int) -> Space:
    """Return the class of a variable."""
    return Space(key & 7)


def number_of(key: int) -> int:
    """Return the id of a variable in its class."""
    return key >> 3


class AccessPurpose(Enum):
    """The purpose of an access."""

    VALUE = "computes with it, sends it, or writes it"
    GUARD = "leaves out lanes by it"
    ADDRESSES = "finds a register by it"
    HANDLE = "finds a surface or sampler by it"
    TAKEN = "takes its address"


class Access(Struct, frozen=True, gc=False):
    """The access of one operand to one variable. Aliases are resolved: ``variable`` is the key of a root.

    ``possible`` are the bits (bytes, elements or lanes, see ``Space``) that may be touched, ``certain`` those that are
    touched whenever all lanes of the instruction run. ``field`` is the operand's field in the row.
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
    """An instruction, label or directive of a body, in the order of the body.

    ``condition`` is the text of the predicate that guards it, empty without one. ``lanes`` is its execution size;
    ``no_mask``: the execution mask is ignored. ``indirect_read`` and ``indirect_write``: it also touches registers that
    are known only at run time.
    """

    flow: FlowClass = FlowClass.NEXT
    line: int = -1
    label: LabelKey | None = None  # the label defined by LABEL and SUBROUTINE
    targets: tuple[LabelKey, ...] = ()
    condition: str = ""
    lanes: int = 1
    no_mask: bool = False
    accesses: tuple[Access, ...] = ()
    indirect_read: bool = False
    indirect_write: bool = False

    @property
    def guarded(self) -> bool:
        """True if a predicate may disable all of its lanes."""
        return any(a.purpose is AccessPurpose.GUARD for a in self.accesses)
