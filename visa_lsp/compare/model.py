"""The values of a comparison: bodies with the lines of their text, and the differences of two bodies.

Values only. Lines count from 0 here, and from 1 in print.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.program.model import Kernel
    from visa_lsp.program.operand_text import OperandNames

# A named thing of a body: the letter of its class (G A P S T as in declarations, L for labels) and its number in the object.
Ref: TypeAlias = tuple[str, int]
LABEL: Final = "L"


class ComparedBody(Struct, frozen=True):
    """A kernel or function in its text, or in the text printed of its object.

    ``lines`` has the line of each declaration (by ``Ref``); ``code`` of each instruction, ``inputs`` and ``attributes`` of each
    entry of the kernel. ``first`` and ``last`` are those of the whole body, ``grf_bytes`` the size of a GRF row there.
    """

    kernel: Kernel
    names: OperandNames
    first: int
    last: int
    lines: Mapping[Ref, int]
    code: tuple[int, ...]
    inputs: tuple[int, ...]
    attributes: tuple[int, ...]
    grf_bytes: int

    def name(self, ref: Ref) -> str:
        """Return the name of a variable or label in the text."""
        names = self.names
        letter, number = ref
        match letter:
            case "G":
                return names.of(names.general, "V", number)
            case "A":
                return names.of(names.address, letter, number)
            case "P":
                return names.of(names.predicate, letter, number)
            case "S":
                return names.of(names.sampler, letter, number)
            case "T":
                return names.of(names.surface, letter, number)
            case _:
                return names.labels.get(number, f"{LABEL}{number}")


class ChangeKind(Enum):
    """The kind of a change from the first body to the second."""

    INSERT = "insert"
    DELETE = "delete"
    CHANGE = "change"
    MOVE = "move"


class Lines(Struct, frozen=True, order=True):
    """The lines ``first`` to ``last``. On a side without lines, both are the line before which these would be."""

    first: int
    last: int


class Difference(Struct, frozen=True):
    """A difference; ``what`` describes it in the names of the first body, ``listing`` are the lines of a stretch of several.

    ``in_code`` is false for declarations, inputs, attributes and the line that opens the body.
    """

    kind: ChangeKind
    a: Lines
    b: Lines
    what: str
    listing: tuple[str, ...] = ()
    in_code: bool = False


class Figures(Struct, frozen=True):
    """Counts of a body: instructions without labels and source marks, messages among them, declared variables."""

    instructions: int
    sends: int
    variables: int
    simd: int | None


class KernelDiff(Struct, frozen=True):
    """The differences of two bodies; ``a`` or ``b`` is None if only the other program has the body.

    ``renamed`` counts the variables and labels with another name; ``names`` maps names of the second body to names of
    the first; ``pairs`` has the corresponding lines, in the order of the first.
    """

    name: str
    a: ComparedBody | None
    b: ComparedBody | None
    changes: tuple[Difference, ...]
    renamed: int = 0
    names: Mapping[str, str] = {}
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def same(self) -> bool:
        """True if nothing differs but names, order of declarations and comments."""
        return not self.changes
