"""The records of an object by version: data only, shared by reading and writing (writing is always 4.1).

Sources: seed 000, objects of Intel's tools and, for 3.x, objects in public drivers (docs/format.md, "The object").
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.codec.cursor import Record

if TYPE_CHECKING:
    from visa_lsp.program.model import FileVariable, Kernel

MAGIC: Final = b"CISA"
WRITTEN_VERSION: Final = (4, 1)
OLDEST_VERSION: Final = (3, 0)
# From this version on a value without meaning is damage; earlier versions allow any value there.
STRICT_FROM: Final = (4, 0)

FILE_HEADER: Final = Record(magic="I", major="B", minor="B")
PLACE: Final = Record(offset="I", size="I")
KERNEL_PLACE: Final = Record(offset="I", size="I", input_offset="I")
RELOCATION: Final = Record(symbolic_index="H", resolved_index="H")
GEN_BINARY: Final = Record(platform="B", offset="I", size="I")
SIZE_ENTRY: Final = Record(size="I", entry="I")
FUNCTION_SIZES: Final = Record(input_size="B", return_value_size="B")
FILE_VARIABLE: Final = Record(bits="B", num_elements="H")


class ObjectLayout(Struct, frozen=True, dict=True):
    """The records whose width depends on the version."""

    version: tuple[int, int]

    @property
    def is_strict(self) -> bool:
        """True if values without meaning count as damage."""
        return self.version >= STRICT_FROM

    @property
    def name_length(self) -> str:
        """Length of a kernel's name in the header: one byte before 3.7."""
        return "B" if self.version < (3, 7) else "H"

    @property
    def index(self) -> str:
        """Numbers of strings and general variables, and their counts: two bytes before 3.4."""
        return "H" if self.version < (3, 4) else "I"

    @property
    def input_count(self) -> str:
        """The number of inputs: one byte before 3.5."""
        return "B" if self.version < (3, 5) else "I"

    @cached_property
    def variable(self) -> Record:
        """var_info without its attributes."""
        return Record(
            name_index=self.index,
            bits="B",
            num_elements="H",
            alias_index=self.index,
            alias_offset="H",
            alias_scope="B",
            attribute_count="B",
        )

    @cached_property
    def state(self) -> Record:
        """Address, predicate, sampler, surface and vme variables."""
        return Record(name_index=self.index, num_elements="H", attribute_count="B")

    @cached_property
    def label(self) -> Record:
        """label_info."""
        return Record(name_index=self.index, kind="B", attribute_count="B")

    @cached_property
    def input(self) -> Record:
        """input_info."""
        return Record(kind="B", id=self.index, offset="h", size="H")

    @cached_property
    def attribute(self) -> Record:
        """attribute_info without its value."""
        return Record(name_index=self.index, size="B")


class BinaryPlace(Struct, frozen=True):
    """The offset and size of a Gen binary."""

    platform: int
    offset: int
    size: int


class BodyEntry(Struct, frozen=True):
    """A kernel or function as the file header lists it. ``path`` is its name in error messages."""

    is_kernel: bool
    name: str
    offset: int
    size: int
    path: str
    input_offset: int = 0
    linkage: int = 0
    variable_relocs: tuple[tuple[int, int], ...] = ()
    function_relocs: tuple[tuple[int, int], ...] = ()
    binaries: tuple[BinaryPlace, ...] = ()

    @property
    def is_external(self) -> bool:
        """A function that another file defines: it has no body here."""
        return not self.is_kernel and self.offset == 0 and self.size == 0


class Header(Struct, frozen=True):
    """The file header."""

    layout: ObjectLayout
    kernels: tuple[BodyEntry, ...]
    variables: tuple[FileVariable, ...]
    functions: tuple[BodyEntry, ...]

    @property
    def bodies(self) -> tuple[BodyEntry, ...]:
        """Kernels, then functions."""
        return self.kernels + self.functions


class ObjectBody(Struct, frozen=True):
    """A kernel object without its instructions, and their range in the file."""

    kernel: Kernel
    code_start: int
    code_end: int
