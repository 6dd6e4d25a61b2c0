"""Names of variables and arguments, and types in the syntax of C."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.isa import predefined
from visa_lsp.isa import types as ty
from visa_lsp.program.model import General, Kernel, RawOperand
from visa_lsp.program.text_form import names_of
from visa_lsp.sim.launch.layout import Geometry, LaunchLayout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType
    from visa_lsp.program.operand_text import OperandNames
    from visa_lsp.program.payload import KernelInfo

_C_TYPES: Final[dict[DataType, str]] = {
    ty.UD: "uint", ty.D: "int", ty.UW: "ushort", ty.W: "short", ty.UB: "uchar", ty.B: "char", ty.DF: "double",
    ty.F: "float", ty.UQ: "ulong", ty.Q: "long", ty.HF: "half", ty.BF: "bfloat", ty.BOOL: "bool",
}  # fmt: skip
_R0: Final = next(number for number, one in enumerate(predefined.VARIABLES) if one.name == "%r0")
_GROUP_IDS: Final = (1, 6, 7)  # dwords of r0
_TRIPLES: Final = (4, 8, 12)  # bytes: values of the launch, one per dimension


def c_type(type_: DataType) -> str:
    """Return the name of a type in C; that of vISA for other types."""
    return _C_TYPES.get(type_, type_.name)


class PointerArgument(Struct, frozen=True):
    """A pointer argument: its name, and the C type of its elements (empty if unknown)."""

    name: str
    element: str = ""


class ReadingNames(Struct, frozen=True):
    """The names in the pseudo-code of a body: those of the text, and those of ze_info for variables that a launch fills."""

    kernel: Kernel
    text: OperandNames
    variables: Mapping[int, str]
    grf_bytes: int
    simd: int
    surfaces: Mapping[int, PointerArgument]  # binding table index -> argument
    pointers: Mapping[int, PointerArgument]  # general variable with an address -> argument
    parameters: tuple[str, ...]
    # (general variable, byte) -> the name of the value that a launch puts there.
    parts: Mapping[tuple[int, int], str] = {}
    unsigned: frozenset[int] = frozenset()  # variables of type w without negative values

    def variable(self, number: int) -> str:
        """Return the name of a general variable."""
        return self.variables.get(number) or f"V{number}"

    def root(self, number: int, byte: int) -> tuple[int, int] | None:
        """Return the root variable of an alias, and the byte in it; None if their elements have different sizes."""
        size = self.text.types[number].size if number in self.text.types else 0
        for _ in range(len(self.kernel.variables)):
            declared = self.kernel.variable(number)
            if declared is None or not (declared.alias_index or declared.alias_offset) or declared.alias_scope:
                break
            number, byte = declared.alias_index, byte + declared.alias_offset
        own = self.text.types.get(number)
        return (number, byte) if own is not None and own.size == size and byte % size == 0 else None

    def elements(self, number: int) -> int:
        """Return the number of elements of a general variable."""
        found = self.kernel.variable(number)
        if found is not None:
            return found.num_elements
        known = predefined.VARIABLES[number] if 0 <= number < len(predefined.VARIABLES) else None
        return known.num_elements if known is not None else 0


def names_for(kernel: Kernel, platform: Platform, info: KernelInfo | None) -> ReadingNames:
    """Return the names of a body; ``info`` is its description in ze_info."""
    text = names_of(kernel, platform)
    taken: set[str] = set()
    variables = {number: _identifier(name, taken) for number, name in text.general.items()}
    surfaces: dict[int, PointerArgument] = {}
    pointers: dict[int, PointerArgument] = {}
    parts: dict[tuple[int, int], str] = {}
    renamed: dict[int, str] = {}
    parameters: list[str] = []
    if info is not None:
        renamed = _argument_names(kernel, platform, info, pointers, parts)
        for number, name in renamed.items():
            variables[number] = _identifier(name, taken)
        for binding in info.bindings:
            surfaces[binding.bti_value] = _argument(info, binding.arg_index)
        for one in info.arguments:
            type_name = one.type_name.partition(";")[0]
            qualifier = one.address_qualifier.strip("_")
            space = f"{qualifier} " if qualifier in ("global", "local", "constant") else ""
            parameters.append(f"{space}{type_name} {one.name}".replace("* ", " *"))
    simd = kernel.int_attribute("SimdSize") or 0
    if kernel.is_kernel and not _writes_r0(kernel):
        parts |= {(_R0, 4 * at): f"group_id[{axis}]" for axis, at in enumerate(_GROUP_IDS)}
    ids = frozenset(number for number, name in renamed.items() if name.startswith("local_id_"))
    return ReadingNames(
        kernel, text, variables, platform.grf_bytes, simd, surfaces, pointers, tuple(parameters), parts, ids
    )


def _writes_r0(kernel: Kernel) -> bool:
    aliases = {predefined.FIRST_VARIABLE + at for at, one in enumerate(kernel.variables) if one.alias_index == _R0}
    written = (inst.get("dst") for inst in kernel.instructions)
    return any(isinstance(target, General | RawOperand) and target.var in {_R0, *aliases} for target in written)


def _identifier(name: str, taken: set[str]) -> str:
    found = re.sub(r"\W", "_", name.removeprefix("%")) or "_"
    while found in taken:
        found += "_"
    taken.add(found)
    return found


def _argument(info: KernelInfo, index: int) -> PointerArgument:
    entry = next((one for one in info.arguments if one.index == index), None)
    if entry is None or not entry.name:
        return PointerArgument(f"arg{index}")
    element, star, _ = entry.type_name.partition(";")[0].rpartition("*")
    return PointerArgument(entry.name, element.strip() if star else "")


def _argument_names(
    kernel: Kernel,
    platform: Platform,
    info: KernelInfo,
    pointers: dict[int, PointerArgument],
    parts: dict[tuple[int, int], str],
) -> dict[int, str]:
    """Return names of the variables that a launch fills, by their place in the payload; add names of elements to ``parts``."""
    simd = kernel.int_attribute("SimdSize") or info.env.simd_size
    layout = LaunchLayout.of(info, Geometry(simd, platform.grf_bytes, (1, 1, 1), (1, 1, 1)), platform)
    if not layout.holds(kernel, info):
        return {}
    found: dict[int, str] = {}
    for entry in kernel.arguments:
        if entry.kind & 7:
            continue
        axis, within = divmod(entry.offset - platform.grf_bytes, layout.geometry.id_stride)
        if entry.offset < layout.cross_start and axis < layout.id_dimensions and within % 2 == 0:
            found[entry.id] = f"local_id_{'xyz'[axis]}" + (f"_{within // 2}" if within else "")
        for one in info.payload:
            if one.size and layout.cross(one.offset) == entry.offset and one.size == entry.size:
                found[entry.id] = _payload_name(info, one.arg_type, one.arg_index)
                if one.kind == "buffer":
                    pointers[entry.id] = _argument(info, one.arg_index)
            elif (
                one.size in _TRIPLES and one.arg_index < 0 and 0 <= layout.cross(one.offset) - entry.offset < entry.size
            ):
                first = layout.cross(one.offset) - entry.offset
                parts |= {(entry.id, first + 4 * axis): f"{one.arg_type}[{axis}]" for axis in range(one.size // 4)}
    return found


def _payload_name(info: KernelInfo, kind: str, index: int) -> str:
    if index < 0:
        return kind
    name = _argument(info, index).name
    return f"{name}_offset" if kind == "buffer_offset" else name
