"""The resolved program: text is lowered to it, objects decode to it, and it runs.

Values only: ids are those of the object format (docs/format.md, "Numbers of variables"), so that encoding is a walk and
decoding builds the same value. Lists are in the order of the object. Nothing here knows text, bytes or machines.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from visa_lsp.isa import predefined
from visa_lsp.isa.model import Mark
from visa_lsp.isa.operands import OperandModifier, Region

if TYPE_CHECKING:
    from visa_lsp.isa.model import Instruction
    from visa_lsp.isa.types import DataType, ExecControl


# Operands. Each is hashable and compares by value.


class General(Struct, frozen=True):
    """``V(row, col)<region>``. A destination's region has only ``horz_stride`` and may carry SAT as its modifier.

    ``row`` and ``col`` are as in text: the first element is ``row * (grf_bytes / type size) + col``.
    """

    var: int
    row: int
    col: int
    region: Region
    modifier: OperandModifier = OperandModifier.NONE


class Address(Struct, frozen=True):
    """``A(offset)<width>``: ``width`` consecutive elements of an address variable from ``offset`` on."""

    var: int
    offset: int
    width: int


class PredicateOperand(Struct, frozen=True):
    """A whole predicate variable as source or destination."""

    var: int


class Indirect(Struct, frozen=True):
    """``r[A(addr_offset), offset]<region>:type``; ``offset`` in bytes. Null ``vert_stride`` is multi-address."""

    var: int
    addr_offset: int
    offset: int
    type: DataType
    region: Region
    modifier: OperandModifier = OperandModifier.NONE


class Immediate(Struct, frozen=True):
    """``bits`` as written in the object: 32 bits, 64 for df, q, uq; not narrowed to the type."""

    type: DataType
    bits: int


class State(Struct, frozen=True):
    """``T6(offset)``: one element of a surface (``sampler`` False) or sampler variable."""

    sampler: bool
    var: int
    offset: int


class AddressOf(Struct, frozen=True):
    """``&V[offset]``; the object writes it as a general operand with region <0;1,0>.

    Decoding can distinguish the two only by the slot; lowering and decoding both yield ``AddressOf`` if the row's slot
    is a source of an address instruction.
    """

    var: int
    row: int
    col: int


VectorOperand = General | Address | PredicateOperand | Indirect | Immediate | State | AddressOf


class RawOperand(Struct, frozen=True):
    """``V.offset``, offset in bytes. Variable 0 is ``%null``."""

    var: int
    offset: int


NULL_RAW = RawOperand(0, 0)


class Combine(Enum):
    """The mapping of predicate bits to lanes: code of bits 13-14."""

    NONE = 0
    ANY = 1
    ALL = 2


class Predicate(Struct, frozen=True):
    """``(!P1.any)`` before an instruction."""

    var: int
    inverse: bool = False
    combine: Combine = Combine.NONE


# An item of a list field, or of an operand that fills several fields; None after an error of binding.
ListItem = VectorOperand | RawOperand | int | None
FieldValue = VectorOperand | RawOperand | Predicate | int | None | tuple[ListItem, ...]
Value: TypeAlias = "FieldValue | ExecControl"


class Inst(Struct, frozen=True, eq=False):
    """An instruction: a row and one value per field of the row, in the same order.

    ``line`` is the line of the text (from 0) if known, else -1; equality ignores it.
    """

    row: Instruction
    values: tuple[Value, ...]
    line: int = -1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inst) and self.row == other.row and self.values == other.values

    def __hash__(self) -> int:
        return hash((self.row, self.values))

    def get(self, name: str, default: Value = None) -> Value:
        """Return the value of a field; ``default`` if the row has no such field."""
        index = self.row.index.get(name)
        return default if index is None else self.values[index]


# Symbols. ``name`` is the text name; ``name_index`` its place in ``Kernel.strings``.


class Attribute(Struct, frozen=True):
    """An attribute of a kernel or variable; ``size`` and ``data`` as written."""

    name_index: int
    size: int
    data: bytes


class Variable(Struct, frozen=True):
    """A general variable. Alias 0 with offset 0 means none. Ids count from 32."""

    name_index: int
    type: DataType
    align: int
    num_elements: int
    alias_index: int = 0
    alias_offset: int = 0
    alias_scope: int = 0
    attributes: tuple[Attribute, ...] = ()

    @property
    def byte_size(self) -> int:
        """The number of bytes of storage."""
        return self.num_elements * self.type.size


class StateVariable(Struct, frozen=True):
    """An address, predicate, sampler or surface variable: they share one record."""

    name_index: int
    num_elements: int
    attributes: tuple[Attribute, ...] = ()


class LabelEntry(Struct, frozen=True):
    """A label; ``kind`` 0 block, 1 subroutine."""

    name_index: int
    kind: int
    attributes: tuple[Attribute, ...] = ()


class Input(Struct, frozen=True):
    """An input: ``kind`` is the class (0 general, 1 sampler, 2 surface) | provenance << 3; sizes are in bytes.

    ``reserved`` is true for registers that no caller fills (`.implicit_PSEUDO_INPUT`).
    """

    kind: int
    id: int
    offset: int
    size: int
    reserved: bool = False


class GenBinary(Struct, frozen=True):
    """Native code of a fat object."""

    platform: int
    data: bytes


class Kernel(Struct, frozen=True, dict=True):
    """A kernel (``is_kernel``) or a function (``.global_function``).

    ``strings`` is the whole pool as in the object: entry 0 is the name, then the predefined names, then the rest.
    """

    is_kernel: bool
    strings: tuple[str, ...]
    variables: tuple[Variable, ...] = ()
    addresses: tuple[StateVariable, ...] = ()
    predicates: tuple[StateVariable, ...] = ()
    labels: tuple[LabelEntry, ...] = ()
    samplers: tuple[StateVariable, ...] = ()
    surfaces: tuple[StateVariable, ...] = ()
    vmes: tuple[StateVariable, ...] = ()
    inputs: tuple[Input, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    instructions: tuple[Inst, ...] = ()
    input_size: int = 0  # functions, GRF registers
    return_value_size: int = 0
    gen_binaries: tuple[GenBinary, ...] = ()
    linkage: int = 0
    variable_relocs: tuple[tuple[int, int], ...] = ()
    function_relocs: tuple[tuple[int, int], ...] = ()

    @property
    def name(self) -> str:
        """The kernel's or function's name."""
        return self.strings[0]

    @property
    def arguments(self) -> tuple[Input, ...]:
        """The inputs that a caller or the runtime fills."""
        return tuple([entry for entry in self.inputs if not entry.reserved])

    def string(self, index: int) -> str:
        """Return a pool entry; empty for an index outside the pool."""
        return self.strings[index] if 0 <= index < len(self.strings) else ""

    def variable(self, id_: int) -> Variable | None:
        """Return the declared general variable of an id; None for predefined and unknown ids."""
        index = id_ - predefined.FIRST_VARIABLE
        return self.variables[index] if 0 <= index < len(self.variables) else None

    def variable_name(self, id_: int) -> str:
        """Return the name of a general variable, predefined ones included."""
        if 0 <= id_ < len(predefined.VARIABLES):
            return predefined.VARIABLES[id_].name
        variable = self.variable(id_)
        return self.string(variable.name_index) if variable else f"V{id_}"

    def variable_type(self, id_: int) -> DataType | None:
        """Return the element type of a general variable, predefined ones included."""
        if 0 <= id_ < len(predefined.VARIABLES):
            return predefined.VARIABLES[id_].type
        variable = self.variable(id_)
        return variable.type if variable else None

    def attribute(self, name: str) -> Attribute | None:
        """Return the kernel attribute of a name."""
        return next((a for a in self.attributes if self.string(a.name_index) == name), None)

    def int_attribute(self, name: str) -> int | None:
        """Return the bytes of an attribute as a little-endian integer; None if it is absent."""
        attribute = self.attribute(name)
        return None if attribute is None else int.from_bytes(attribute.data, "little")

    @cached_property
    def source_places(self) -> tuple[tuple[str, int] | None, ...]:
        """The file and line, from 1, of each instruction, by the ``FILE`` and ``LOC`` marks above it; None without them."""
        places: list[tuple[str, int] | None] = []
        name, place = "", None
        for inst in self.instructions:
            value = inst.get(inst.row.fields[0].name) if inst.row.marks_source else None
            if isinstance(value, int) and inst.row.marks_source is Mark.FILE:
                name, place = self.string(value), None
            elif isinstance(value, int):
                place = (name, value) if name and value else None
            places.append(place)
        return tuple(places)


class FileVariable(Struct, frozen=True):
    """A file-scope variable of older objects (seed 000 ``file_scope_var_info``)."""

    linkage: int
    name: str
    type: DataType
    align: int
    num_elements: int
    attributes: tuple[Attribute, ...] = ()


class Module(Struct, frozen=True):
    """An object file, or one text: kernels and functions in order."""

    version: tuple[int, int] = (4, 1)
    kernels: tuple[Kernel, ...] = ()
    variables: tuple[FileVariable, ...] = ()
    functions: tuple[Kernel, ...] = ()

    @property
    def bodies(self) -> tuple[Kernel, ...]:
        """The kernels, then the functions, in the order of the object."""
        return self.kernels + self.functions
